//! The files of a text: one path, or several.

use std::path::{Path, PathBuf};

use super::memory_text::MemoryText;

/// Text files to train on: a path, or an array, slice or vector of paths. Several files are one text, read in order.
///
/// ```
/// use senv::data::TextFiles;
/// assert_eq!("a.txt".paths(), ["a.txt"].paths());
/// assert_eq!(vec!["a.txt", "b.txt"].paths().len(), 2);
/// ```
pub trait TextFiles: sealed::Sealed {
    /// Returns the paths.
    fn paths(&self) -> Vec<PathBuf>;
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! path {
    ($($of:ty),*) => {$(
        impl sealed::Sealed for $of {}
        impl TextFiles for $of {
            fn paths(&self) -> Vec<PathBuf> {
                vec![AsRef::<Path>::as_ref(self).to_owned()]
            }
        }
    )*};
}

path!(str, String, Path, PathBuf, MemoryText);

macro_rules! several {
    ($([$($constant:tt)*] $of:ty),*) => {$(
        impl<T: AsRef<Path>, $($constant)*> sealed::Sealed for $of {}
        impl<T: AsRef<Path>, $($constant)*> TextFiles for $of {
            fn paths(&self) -> Vec<PathBuf> {
                self.iter().map(|path| path.as_ref().to_owned()).collect()
            }
        }
    )*};
}

several!([] [T], [const N: usize] [T; N], [] Vec<T>);

impl<T: TextFiles + ?Sized> sealed::Sealed for &T {}
impl<T: TextFiles + ?Sized> TextFiles for &T {
    fn paths(&self) -> Vec<PathBuf> {
        (**self).paths()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_path_or_several_name_a_text() {
        let (a, b) = (PathBuf::from("a"), PathBuf::from("b"));
        for one in ["a".paths(), "a".to_owned().paths(), a.paths(), (&&*a).paths(), ["a"].paths(), vec![&a].paths()] {
            assert_eq!(one, std::slice::from_ref(&a));
        }
        let both = [a.clone(), b];
        assert_eq!((["a", "b"].paths(), both.as_slice().paths()), (both.to_vec(), both.to_vec()));
        let text = MemoryText::new(["a b"]).unwrap();
        assert_eq!(text.paths(), [text.as_ref()]);
    }
}
