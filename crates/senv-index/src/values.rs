//! Numbers on the heap or in a memory-mapped file.

use std::path::Path;

use bytemuck::Pod;
use senv_core::files::{RawTensor, SharedBytes};

use crate::{Error, Result};

/// Numbers, read in place.
#[derive(Debug, Clone)]
pub(crate) enum Values<T> {
    Heap(Vec<T>),
    /// Aligned whole values.
    Shared(SharedBytes),
}

impl<T: Pod> Values<T> {
    /// Reads little-endian values from a file.
    ///
    /// # Errors
    /// [`Error::Damaged`] if they do not start at a multiple of their width, or the machine is big-endian.
    pub(crate) fn from_file(path: &Path, name: &str, bytes: SharedBytes) -> Result<Self> {
        let width = size_of::<T>();
        if cfg!(target_endian = "big") || !bytes.is_aligned_to(width) || !bytes.len().is_multiple_of(width) {
            let reason = format!("its values are not aligned to {width} bytes in the file");
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

/// Copies values to a tensor with one axis.
pub(crate) fn tensor<T: Pod>(dtype: &str, values: &[T]) -> RawTensor {
    let bytes: &[u8] = bytemuck::cast_slice(values);
    RawTensor { dtype: dtype.to_owned(), shape: vec![values.len()], bytes: bytes.to_vec().into() }
}

/// The upper half of a finite, nonnegative number, rounded to the nearest, ties to even: 8 significant bits.
pub(crate) fn upper_half(x: f32) -> u16 {
    let bits = x.to_bits();
    // The largest number is not rounded to infinity.
    ((bits + 0x7fff + (bits >> 16 & 1)) >> 16).min(0x7f7f) as u16
}

/// Whether the number with this upper half is finite.
pub(crate) fn is_finite_half(half: u16) -> bool {
    half & 0x7f80 != 0x7f80
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_the_nearest_and_the_largest_stays_finite() {
        let back = |x: f32| f32::from_bits(u32::from(upper_half(x)) << 16);
        for x in [0.0, 1.0, 1.5, 6.25, 1e30] {
            assert!((back(x) - x).abs() <= x / 512.0, "{x}: {}", back(x));
        }
        // Half a step above 1: to the even one below; above 1 and a step: to the even one above.
        assert_eq!((back(1.0 + 1.0 / 256.0), back(1.0 + 3.0 / 256.0)), (1.0, 1.0 + 4.0 / 256.0));
        assert!(back(f32::MAX).is_finite() && is_finite_half(upper_half(f32::MAX)));
        assert!(!is_finite_half(0x7f80) && !is_finite_half(0xffc0) && is_finite_half(0));
    }
}
