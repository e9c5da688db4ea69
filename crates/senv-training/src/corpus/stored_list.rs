//! Lists of any length that are written once and then read: short ones in memory, longer ones in a temporary file.

use std::{fmt, ops::Deref, sync::Arc};

use bytemuck::Pod;
use memmap2::Mmap;

/// A list in memory, or in a mapped temporary file without a name. The system keeps often-read parts of the file in
/// memory.
///
/// ```
/// use senv_core::corpus::{StoredList, StoredListWriter};
/// let mut writer = StoredListWriter::new(None);
/// (0..10_u32).try_for_each(|number| writer.push(number))?;
/// let list = writer.finish()?;
/// assert_eq!(list[3..5], [3, 4]);
/// assert_eq!(list, StoredList::from((0..10).collect::<Vec<u32>>()));
/// # Ok::<(), senv_core::Error>(())
/// ```
#[derive(Clone)]
pub struct StoredList<T> {
    /// The list, if it is not in a file.
    memory: Vec<T>,
    file: Option<Arc<Mmap>>,
}

impl<T: Pod> StoredList<T> {
    /// Whether the list is in a file.
    #[must_use]
    pub fn is_in_file(&self) -> bool {
        self.file.is_some()
    }

    /// Returns the list as a growable vector. A list in a file is copied into memory.
    pub fn to_mut(&mut self) -> &mut Vec<T> {
        if let Some(map) = self.file.take() {
            self.memory = bytemuck::cast_slice(&map).to_vec();
        }
        &mut self.memory
    }
}

impl<T: Pod> Deref for StoredList<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        self.file.as_ref().map_or(&self.memory, |map| bytemuck::cast_slice(map))
    }
}

impl<T> From<Vec<T>> for StoredList<T> {
    fn from(memory: Vec<T>) -> Self {
        Self { memory, file: None }
    }
}

impl<T> Default for StoredList<T> {
    fn default() -> Self {
        Vec::new().into()
    }
}

impl<T: Pod + fmt::Debug> fmt::Debug for StoredList<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl<T: Pod + PartialEq> PartialEq for StoredList<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: Pod + Eq> Eq for StoredList<T> {}
pub use writer::StoredListWriter;
mod writer {
    #![allow(unsafe_code)] // for the map

    use std::{
        fs::File,
        io::Write,
        path::{Path, PathBuf},
        sync::Arc,
    };

    use bytemuck::Pod;
    use memmap2::Mmap;

    use super::StoredList;
    use senv_base::{Error, Result};

    /// The maximum number of bytes of a list in memory.
    const IN_MEMORY: usize = 8 << 20;

    /// The number of bytes written at a time.
    const AT_A_TIME: usize = 1 << 20;

    /// Writes a [`StoredList`]. Up to 8 MiB stay in memory. A longer list goes to an unnamed temporary file, which the
    /// system removes when the process ends for any reason.
    #[derive(Debug)]
    pub struct StoredListWriter<T> {
        /// Values that are not in the file yet.
        pending: Vec<T>,
        file: Option<File>,
        in_file: usize,
        folder: PathBuf,
        in_memory: usize,
    }

    impl<T: Pod> StoredListWriter<T> {
        /// Starts an empty list. If it needs a file, it is created in `folder`, or by default in the system's temporary
        /// folder.
        #[must_use]
        pub fn new(folder: Option<&Path>) -> Self {
            Self::with_memory(folder, IN_MEMORY)
        }

        /// Like [`StoredListWriter::new`], with a file above `in_memory` bytes.
        pub(crate) fn with_memory(folder: Option<&Path>, in_memory: usize) -> Self {
            let folder = folder.map_or_else(std::env::temp_dir, Path::to_owned);
            Self { pending: Vec::new(), file: None, in_file: 0, folder, in_memory }
        }

        /// The number of values so far.
        #[must_use]
        pub fn len(&self) -> usize {
            self.in_file + self.pending.len()
        }

        /// Whether there are no values yet.
        #[must_use]
        pub fn is_empty(&self) -> bool {
            self.len() == 0
        }

        /// Appends a value.
        ///
        /// # Errors
        /// [`Error::Io`] if the temporary file cannot be written.
        pub fn push(&mut self, value: T) -> Result<()> {
            let most = if self.file.is_none() { self.in_memory } else { AT_A_TIME };
            // Checked before the list grows, because a full vector would double.
            if size_of::<T>() * (self.pending.len() + 1) > most {
                self.write()?;
            }
            self.pending.push(value);
            Ok(())
        }

        /// Appends values.
        ///
        /// # Errors
        /// [`Error::Io`] if the temporary file cannot be written.
        pub fn extend(&mut self, values: impl IntoIterator<Item = T>) -> Result<()> {
            values.into_iter().try_for_each(|value| self.push(value))
        }

        fn write(&mut self) -> Result<()> {
            let folder = &self.folder;
            if self.file.is_none() {
                let created = tempfile::tempfile_in(folder);
                self.file = Some(created.map_err(|e| Error::io("create a temporary file in", folder, e))?);
            }
            if let Some(file) = &mut self.file {
                let written = file.write_all(bytemuck::cast_slice(&self.pending));
                written.map_err(|e| Error::io("write the temporary file in", folder, e))?;
            }
            self.in_file += self.pending.len();
            self.pending.clear();
            self.pending.shrink_to(AT_A_TIME / size_of::<T>());
            Ok(())
        }

        /// Returns the list.
        ///
        /// # Errors
        /// [`Error::Io`] if the temporary file cannot be written or mapped.
        pub fn finish(mut self) -> Result<StoredList<T>> {
            if self.file.is_some() && !self.pending.is_empty() {
                self.write()?;
            }
            let Some(file) = self.file else { return Ok(self.pending.into()) };
            // SAFETY: the map is read-only, and its bytes are read as a type for which every pattern is valid. The file
            // has no name and its only handle ends here, so nobody writes into it or truncates it.
            let map = unsafe { Mmap::map(&file) };
            let map = map.map_err(|e| Error::io("map the temporary file in", &self.folder, e))?;
            Ok(StoredList { memory: Vec::new(), file: Some(Arc::new(map)) })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use senv_base::Error;

    #[test]
    fn lists_are_the_same_in_memory_and_in_a_file() {
        let folder = tempfile::tempdir().unwrap();
        for (n, in_memory, in_file) in
            [(0, 0, false), (1, 0, true), (100, 400, false), (101, 400, true), (700_000, 8, true)]
        {
            let mut writer = StoredListWriter::with_memory(Some(folder.path()), in_memory);
            writer.extend((0..n).map(|i: u32| i.wrapping_mul(2_654_435_761))).unwrap();
            assert_eq!((writer.len(), writer.is_empty()), (n as usize, n == 0));
            let mut list = writer.finish().unwrap();
            assert_eq!(list.is_in_file(), in_file);
            let expected: Vec<u32> = (0..n).map(|i| i.wrapping_mul(2_654_435_761)).collect();
            assert!(list == StoredList::from(expected.clone()) && list.clone() == list);
            assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "the file has no name");
            list.to_mut().push(7);
            assert!(!list.is_in_file() && list[..n as usize] == expected[..] && list[n as usize] == 7);
        }
    }

    #[test]
    fn a_folder_that_is_not_there_is_an_error() {
        let missing = tempfile::tempdir().unwrap().path().join("missing");
        let error = StoredListWriter::with_memory(Some(&missing), 0).push(1_u8).unwrap_err();
        assert!(matches!(&error, Error::Io { path, .. } if *path == missing), "{error}");
    }
}
