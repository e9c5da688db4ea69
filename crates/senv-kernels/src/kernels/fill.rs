//! Uniform random values from a key, a whole row at a time, with the widest multiplications of the processor.
//!
//! Uses integer arithmetic and one multiplication per value: bit-identical on every processor.
#![allow(unsafe_code)]

use senv_base::hash::{GOLDEN, mix};

/// Values generated together, so hashing and converting are each one loop over whole vectors.
const BLOCK: usize = 64;

/// Fills `row` with values from U[−limit, limit] that depend only on `key`: SplitMix64 in counter form, two values per
/// output.
#[doc(hidden)]
pub fn fill_uniform(row: &mut [f32], key: u64, limit: f32) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512dq") {
        // SAFETY: the feature was just detected.
        return unsafe { avx512(row, key, limit) };
    } else if is_x86_feature_detected!("avx2") {
        // SAFETY: the feature was just detected.
        return unsafe { avx2(row, key, limit) };
    }
    plain(row, key, limit);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512dq")]
fn avx512(row: &mut [f32], key: u64, limit: f32) {
    plain(row, key, limit);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn avx2(row: &mut [f32], key: u64, limit: f32) {
    plain(row, key, limit);
}

/// The only definition, compiled with the target features of its caller.
#[inline(always)]
fn plain(row: &mut [f32], key: u64, limit: f32) {
    let scale = limit / (1_u64 << 31) as f32;
    // The lower and upper halves as signed integers, distributed evenly around 0. An extreme rounds to the limit.
    let pair = |j: u64| {
        let bits = mix(key.wrapping_add(j.wrapping_mul(GOLDEN)));
        [bits as i32 as f32 * scale, (bits >> 32) as i32 as f32 * scale]
    };
    let (blocks, rest) = row.as_chunks_mut::<BLOCK>();
    let mut j = 0;
    for block in blocks {
        for out in block.as_chunks_mut::<2>().0 {
            *out = pair(j);
            j += 1;
        }
    }
    for out in rest.chunks_mut(2) {
        out.copy_from_slice(&pair(j)[..out.len()]);
        j += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_level_gives_the_same_bits_at_every_length() {
        for n in (0..200).chain([700, 1023]) {
            let key = mix(n as u64);
            let make = |fill: &dyn Fn(&mut [f32])| {
                let mut row = vec![9.0; n];
                fill(&mut row);
                row.iter().map(|x| x.to_bits()).collect::<Vec<_>>()
            };
            let expected = make(&|row| plain(row, key, 0.3));
            assert_eq!(make(&|row| fill_uniform(row, key, 0.3)), expected);
            #[cfg(target_arch = "x86_64")]
            if is_x86_feature_detected!("avx2") {
                // SAFETY: the feature was just detected.
                assert_eq!(make(&|row| unsafe { avx2(row, key, 0.3) }), expected);
            }
            // A shorter row is a prefix of a longer one.
            let mut longer = vec![0.0; n + 7];
            fill_uniform(&mut longer, key, 0.3);
            assert!(longer.iter().zip(&expected).all(|(x, &bits)| x.to_bits() == bits));
        }
    }
}
