//! Bytes that are read in place: from a memory-mapped file, the program itself or the heap.

use std::{
    fmt,
    ops::{Deref, Range},
    sync::Arc,
};

use memmap2::Mmap;

/// A range of read-only bytes; clones and slices share the memory and keep it alive.
///
/// ```
/// use senv_core::files::SharedBytes;
/// let bytes = SharedBytes::from(&b"a model"[..]);
/// assert_eq!(bytes.slice(2..7)[..], *b"model");
/// ```
#[derive(Clone)]
pub struct SharedBytes {
    memory: Memory,
    range: Range<usize>,
}

#[derive(Clone)]
enum Memory {
    Map(Arc<Mmap>),
    Static(&'static [u8]),
    Heap(Arc<Vec<u8>>),
}

impl SharedBytes {
    /// Returns a range of the bytes.
    ///
    /// # Panics
    /// If the range is out of bounds.
    #[must_use]
    pub fn slice(&self, range: Range<usize>) -> Self {
        assert!(range.start <= range.end && range.end <= self.len(), "bytes {range:?} of {}", self.len());
        let start = self.range.start;
        Self { memory: self.memory.clone(), range: start + range.start..start + range.end }
    }

    /// Whether the address of the first byte is a multiple of `alignment`.
    #[must_use]
    pub fn is_aligned_to(&self, alignment: usize) -> bool {
        (self.as_ptr() as usize).is_multiple_of(alignment)
    }
}

impl Deref for SharedBytes {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        let all: &[u8] = match &self.memory {
            Memory::Map(map) => map,
            Memory::Static(bytes) => bytes,
            Memory::Heap(bytes) => bytes,
        };
        &all[self.range.clone()]
    }
}

impl From<Arc<Mmap>> for SharedBytes {
    fn from(map: Arc<Mmap>) -> Self {
        Self { range: 0..map.len(), memory: Memory::Map(map) }
    }
}

impl From<&'static [u8]> for SharedBytes {
    fn from(bytes: &'static [u8]) -> Self {
        Self { range: 0..bytes.len(), memory: Memory::Static(bytes) }
    }
}

/// The type of `include_bytes!`.
impl<const N: usize> From<&'static [u8; N]> for SharedBytes {
    fn from(bytes: &'static [u8; N]) -> Self {
        Self::from(&bytes[..])
    }
}

impl From<Vec<u8>> for SharedBytes {
    fn from(bytes: Vec<u8>) -> Self {
        Self { range: 0..bytes.len(), memory: Memory::Heap(Arc::new(bytes)) }
    }
}

impl fmt::Debug for SharedBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.memory {
            Memory::Map(_) => "of a file",
            Memory::Static(_) => "of the program",
            Memory::Heap(_) => "on the heap",
        };
        write!(f, "{} bytes {kind}", self.range.len())
    }
}
