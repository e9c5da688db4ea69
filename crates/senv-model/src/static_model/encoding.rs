//! The storage of row values.

use serde::{Deserialize, Serialize};

use senv_kernels::kernels;

/// The type in which [`CompressedRows`](crate::static_model::CompressedRows) store values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum RowEncoding {
    /// Four bytes per value, exact.
    F32,
    /// Two bytes per value: IEEE binary16.
    F16,
    /// One byte per value: an integer from -127 to 127.
    Int8,
    /// Half a byte per value: an integer from -7 to 7, two per byte, the first in the lower half. In rows of odd
    /// dimension the last half byte is 0.
    Int4,
}

impl RowEncoding {
    /// All encodings, most exact first.
    pub const ALL: [Self; 4] = [Self::F32, Self::F16, Self::Int8, Self::Int4];

    /// The name in model files: `f32`, `f16`, `int8` or `int4`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::F16 => "f16",
            Self::Int8 => "int8",
            Self::Int4 => "int4",
        }
    }

    /// `out += c q` for the stored values q of a row: [`RowEncoding::row_bytes`] bytes. Every SIMD level gives the same
    /// bits.
    ///
    /// ```
    /// use senv_core::static_model::RowEncoding;
    /// let mut out = [1.0; 3];
    /// RowEncoding::Int8.add_row(0.5, &[4, 0xfe, 0], &mut out);
    /// assert_eq!(out, [3.0, 0.0, 1.0]);
    /// ```
    ///
    /// # Panics
    /// If the number of bytes does not match `out`.
    #[inline]
    pub fn add_row(self, c: f32, stored: &[u8], out: &mut [f32]) {
        match self {
            Self::F32 => kernels::add_f32(c, stored, out),
            Self::F16 => kernels::add_f16(c, stored, out),
            Self::Int8 => kernels::add_int8(c, stored, out),
            Self::Int4 => kernels::add_int4(c, stored, out),
        }
    }

    /// The type name of the tensor in model files.
    pub(crate) const fn dtype(self) -> &'static str {
        match self {
            Self::F32 => "F32",
            Self::F16 => "F16",
            Self::Int8 => "I8",
            Self::Int4 => "U8",
        }
    }

    /// The elements of the tensor per row of `dim` values.
    pub(crate) const fn columns(self, dim: usize) -> usize {
        match self {
            Self::Int4 => dim.div_ceil(2),
            _ => dim,
        }
    }

    /// The bytes of a row of `dim` values; `None` on overflow.
    #[must_use]
    pub const fn row_bytes(self, dim: usize) -> Option<usize> {
        let width = match self {
            Self::F32 => 4,
            Self::F16 => 2,
            Self::Int8 | Self::Int4 => 1,
        };
        self.columns(dim).checked_mul(width)
    }
}

/// The binary16 nearest to a value, ties to even; infinity beyond 65,519.
pub(crate) fn f32_to_f16(x: f32) -> u16 {
    let (sign, magnitude) = ((x.to_bits() >> 16) as u16 & 0x8000, x.to_bits() & 0x7fff_ffff);
    let half = match magnitude {
        0x7f80_0001.. => 0x7e00,
        0x4780_0000.. => 0x7c00,
        // The exponents differ by 112; a carry out of the fraction raises the exponent, up to infinity.
        0x3880_0000.. => (magnitude + 0xfff + (magnitude >> 13 & 1) - (112 << 23)) >> 13,
        // At 0.5, the last bit of f32 equals that of a subnormal binary16.
        _ => (f32::from_bits(magnitude) + 0.5).to_bits() - 0.5_f32.to_bits(),
    };
    sign | half as u16
}

#[cfg(test)]
mod tests {
    use super::*;
    use senv_kernels::kernels::f16_to_f32;

    #[test]
    fn binary16_comes_back_and_values_between_go_to_the_nearest() {
        for half in (0..=0x7c00).chain(0x8000..=0xfc00) {
            assert_eq!(f32_to_f16(f16_to_f32(half)), half);
        }
        for half in 0..0x7bff {
            let (low, high) = (f16_to_f32(half), f16_to_f32(half + 1));
            let middle = (low + high) / 2.0;
            assert_eq!(f32_to_f16(middle), half + half % 2, "of two the even one");
            assert_eq!(f32_to_f16(f32::from_bits(middle.to_bits() - 1)), half);
            assert_eq!(f32_to_f16(-f32::from_bits(middle.to_bits() + 1)), 0x8000 | (half + 1));
        }
        assert_eq!([65_519.0, 65_520.0, f32::MAX, -f32::INFINITY].map(f32_to_f16), [0x7bff, 0x7c00, 0x7c00, 0xfc00]);
        assert!(f16_to_f32(f32_to_f16(f32::NAN)).is_nan());
        assert_eq!(f32_to_f16(f32::from_bits(1)), 0);
    }

    #[test]
    fn rows_are_whole_bytes() {
        let bytes = |dim: usize| RowEncoding::ALL.map(|encoding| encoding.row_bytes(dim));
        assert_eq!(bytes(7), [Some(28), Some(14), Some(7), Some(4)]);
        assert_eq!(bytes(usize::MAX), [None, None, Some(usize::MAX), Some(usize::MAX / 2 + 1)]);
        let json = RowEncoding::ALL.map(|encoding| serde_json::to_string(&encoding).unwrap());
        assert_eq!(json, RowEncoding::ALL.map(|encoding| format!("\"{}\"", encoding.name())));
    }
}
