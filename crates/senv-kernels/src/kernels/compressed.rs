//! Loops that add a multiple of a compressed row to a vector: `y += c x`, with values `x` stored in fewer bits.
//!
//! Every level converts an element exactly to f32, multiplies, rounds, adds and rounds, without a fused multiply-add.
//! So all levels are bit-identical.

/// Values per block of 4-bit codes that is unpacked in one piece.
const BLOCK: usize = 64;

/// The exact value of a binary16, computed without a branch.
#[doc(hidden)]
#[inline(always)]
pub fn f16_to_f32(half: u16) -> f32 {
    let magnitude = u32::from(half & 0x7fff) << 13;
    // The exponents of the two formats differ by 112; the product makes subnormal values normal.
    let value = (f32::from_bits(magnitude) * f32::from_bits((127 + 112) << 23)).to_bits();
    let value = if magnitude >= 31 << 23 { magnitude | 255 << 23 } else { value };
    f32::from_bits(value | u32::from(half & 0x8000) << 16)
}

/// The two values in a byte.
#[inline(always)]
fn int4_pair(byte: u8) -> [i8; 2] {
    [((byte << 4) as i8) >> 4, (byte as i8) >> 4]
}

#[inline(always)]
pub(super) fn add_f32_row(c: f32, x: &[u8], y: &mut [f32]) {
    for (y, x) in y.iter_mut().zip(x.as_chunks::<4>().0) {
        *y += c * f32::from_le_bytes(*x);
    }
}

#[inline(always)]
pub(super) fn add_f16_row(c: f32, x: &[u8], y: &mut [f32]) {
    for (y, x) in y.iter_mut().zip(x.as_chunks::<2>().0) {
        *y += c * f16_to_f32(u16::from_le_bytes(*x));
    }
}

#[inline(always)]
pub(super) fn add_int8_row(c: f32, x: &[u8], y: &mut [f32]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y += c * f32::from(*x as i8);
    }
}

/// Bytes per block.
pub(super) type Int4Bytes = [u8; BLOCK / 2];

/// `y += c x` for the codes of a block of bytes, the lower half of each first.
#[inline(always)]
pub(super) fn add_int4_block(c: f32, x: &Int4Bytes, y: &mut [f32; BLOCK]) {
    let mut codes = [0; BLOCK];
    for (pair, &byte) in codes.as_chunks_mut::<2>().0.iter_mut().zip(x) {
        *pair = int4_pair(byte);
    }
    for (y, &code) in y.iter_mut().zip(&codes) {
        *y += c * f32::from(code);
    }
}

#[inline(always)]
pub(super) fn add_int4_row(c: f32, x: &[u8], y: &mut [f32]) {
    add_int4_row_by(c, x, y, add_int4_block);
}

/// `y += c x` with a level's own way to add a block.
#[inline(always)]
pub(super) fn add_int4_row_by(c: f32, x: &[u8], y: &mut [f32], add: impl Fn(f32, &Int4Bytes, &mut [f32; BLOCK])) {
    let (blocks, rest) = y.as_chunks_mut::<BLOCK>();
    let (x, x_rest) = x.split_at(blocks.len() * (BLOCK / 2));
    for (block, x) in blocks.iter_mut().zip(x.as_chunks::<{ BLOCK / 2 }>().0) {
        add(c, x, block);
    }
    for (pair, &byte) in rest.chunks_mut(2).zip(x_rest) {
        for (y, code) in pair.iter_mut().zip(int4_pair(byte)) {
            *y += c * f32::from(code);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::{dispatch, level::Level};
    use senv_base::hash::mix;

    /// Random bytes.
    fn bytes(n: usize, key: u64) -> Vec<u8> {
        (0..n as u64).map(|i| mix(key ^ i << 20) as u8).collect()
    }

    #[test]
    fn every_level_has_the_bits_of_the_scalar_reference_at_every_dimension() {
        type Add = fn(Level, f32, &[u8], &mut [f32]);
        type Value = fn(&[u8], usize) -> f32;
        let f32_value: Value = |x, i| f32::from_le_bytes(x[4 * i..][..4].try_into().unwrap());
        let f16_value: Value = |x, i| f16_to_f32(u16::from_le_bytes([x[2 * i], x[2 * i + 1]]));
        let int8_value: Value = |x, i| f32::from(x[i] as i8);
        let int4_value: Value = |x, i| {
            let code = if i % 2 == 0 { x[i / 2] & 15 } else { x[i / 2] >> 4 };
            f32::from(if code < 8 { code as i8 } else { code as i8 - 16 })
        };
        let forms: [(Add, Value, usize); 4] = [
            (dispatch::add_f32_row, f32_value, 8),
            (dispatch::add_f16_row, f16_value, 4),
            (dispatch::add_int8_row, int8_value, 2),
            (dispatch::add_int4_row, int4_value, 1),
        ];
        for n in (1..=130).chain([255, 256, 257, 300, 768]) {
            for (form, (add, value, half_bytes)) in forms.into_iter().enumerate() {
                for seed in 0..4 {
                    let mut x = bytes((n * half_bytes).div_ceil(2), mix(n as u64 ^ seed << 40 ^ (form as u64) << 50));
                    if form < 2 {
                        // Avoids NaN, whose payload is not specified.
                        let width = half_bytes / 2;
                        x.chunks_mut(width).for_each(|value| value[width - 1] &= 0xbb);
                    }
                    let c = 0.37 + seed as f32;
                    let start: Vec<f32> = bytes(n, seed).iter().map(|&b| f32::from(b) / 7.0 - 9.0).collect();
                    let expected: Vec<u32> = (0..n).map(|i| (start[i] + c * value(&x, i)).to_bits()).collect();
                    for level in Level::available() {
                        let mut y = start.clone();
                        add(level, c, &x, &mut y);
                        let y: Vec<u32> = y.iter().map(|y| y.to_bits()).collect();
                        assert_eq!(y, expected, "{level:?}, form {form}, {n} values");
                    }
                }
            }
        }
    }

    #[test]
    fn every_binary16_has_its_value() {
        for half in 0..=u16::MAX {
            let (exponent, fraction) = (i32::from(half >> 10 & 31), f64::from(half & 1023) / 1024.0);
            let magnitude = match exponent {
                0 => fraction * 2f64.powi(-14),
                31 if fraction == 0.0 => f64::INFINITY,
                31 => f64::NAN,
                _ => (1.0 + fraction) * 2f64.powi(exponent - 15),
            };
            let (got, expected) = (f16_to_f32(half), if half >> 15 == 1 { -magnitude } else { magnitude } as f32);
            assert!(got.to_bits() == expected.to_bits() || got.is_nan() && expected.is_nan(), "{half:04x}: {got}");
        }
    }
}
