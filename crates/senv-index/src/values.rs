//! Numbers on the heap or in a memory-mapped file.

use std::path::Path;

use bytemuck::Pod;
use senv_core::files::{RawTensor, SharedBytes};

use crate::{Error, Result};

/// Numbers that are read in place.
#[derive(Debug, Clone)]
pub(crate) enum Values<T> {
    Heap(Vec<T>),
    /// Aligned, and whole values.
    Shared(SharedBytes),
}

impl<T: Pod> Values<T> {
    /// Little-endian values of a file.
    ///
    /// # Errors
    /// [`Error::Damaged`] if they do not start at a multiple of their width, or the machine is big-endian.
    pub(crate) fn from_file(path: &Path, name: &str, bytes: SharedBytes) -> Result<Self> {
        let width = size_of::<T>();
        if cfg!(target_endian = "big") || !bytes.is_aligned_to(width) || !bytes.len().is_multiple_of(width) {
            let reason = format!("its values are no multiples of {width} bytes from the start of the file");
            return Err(Error::Damaged { path: path.to_owned(), what: format!("tensor {name:?}"), reason });
        }
        Ok(Self::Shared(bytes))
    }

    #[inline]
    pub(crate) fn as_slice(&self) -> &[T] {
        match self {
            Self::Heap(values) => values,
            Self::Shared(bytes) => bytemuck::cast_slice(bytes),
        }
    }
}

/// A tensor of one axis, copied.
pub(crate) fn tensor<T: Pod>(dtype: &str, values: &[T]) -> RawTensor {
    let bytes: &[u8] = bytemuck::cast_slice(values);
    RawTensor { dtype: dtype.to_owned(), shape: vec![values.len()], bytes: bytes.to_vec().into() }
}
