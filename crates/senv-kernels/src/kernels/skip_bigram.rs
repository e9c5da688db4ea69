//! Gated skip-bigrams, in forms that compile to the vector instructions of every level.
//!
//! ```text
//! q += b h + s a g,   then h = f h + a and g = f g + b          elementwise, for each word
//! ```
//!
//! Training uses one step on rows of f32. Encoding uses rows of eight-bit codes and processes a whole sentence by
//! blocks of columns, whose states stay in registers. No level fuses a product and a sum, so all levels are
//! bit-identical.

/// Columns per block of [`skip_bigrams`](crate::kernels::skip_bigrams).
pub const SKIP_BIGRAM_BLOCK: usize = 16;
/// Bytes per block in the row of a word.
pub const SKIP_BIGRAM_BYTES: usize = 3 * SKIP_BIGRAM_BLOCK;
/// The quantization step of f.
const F_STEP: f32 = 1.0 / 255.0;

/// The row of a word for [`skip_bigrams`](crate::kernels::skip_bigrams), in blocks of columns. Each block contains the
/// codes of a and of b, from -127 to 127, then those of f, from 0 to 255. There is one scale for a and one for b.
#[derive(Debug, Clone, Copy, Default)]
pub struct SkipBigramRow<'a> {
    /// The codes of all blocks.
    pub codes: &'a [[u8; SKIP_BIGRAM_BYTES]],
    /// The scales of a and b.
    pub scales: [f32; 2],
}

/// The states of a block of columns: h, g and q, then the sums of a, b, a b and f.
pub type SkipBigramState = [[f32; SKIP_BIGRAM_BLOCK]; 7];

/// Runs one step on `[a, b, f]` with s = `sign`; all slices have the same length.
#[inline(always)]
pub(super) fn skip_bigram_step([a, b, f]: [&[f32]; 3], sign: f32, h: &mut [f32], g: &mut [f32], q: &mut [f32]) {
    let n = q.len();
    let (a, b, f, h, g) = (&a[..n], &b[..n], &f[..n], &mut h[..n], &mut g[..n]);
    for j in 0..n {
        q[j] += b[j] * h[j] + sign * (a[j] * g[j]);
        h[j] = f[j] * h[j] + a[j];
        g[j] = f[j] * g[j] + b[j];
    }
}

/// Runs the steps of these words, in order, on every block of `states`. The first `antisymmetric` blocks use s = -1 and
/// keep no sums; the others use s = 1. Every word has as many blocks.
#[inline(always)]
pub(super) fn skip_bigrams(words: &[SkipBigramRow<'_>], antisymmetric: usize, states: &mut [SkipBigramState]) {
    let (first, second) = states.split_at_mut(antisymmetric.min(states.len()));
    for (i, state) in first.iter_mut().enumerate() {
        block::<false>(words, i, state);
    }
    for (i, state) in second.iter_mut().enumerate() {
        block::<true>(words, antisymmetric + i, state);
    }
}

/// Runs the steps on block `i`.
#[inline(always)]
fn block<const NEAR: bool>(words: &[SkipBigramRow<'_>], i: usize, state: &mut SkipBigramState) {
    let [mut h, mut g, mut q, mut sum_a, mut sum_b, mut sum_ab, mut sum_f] = *state;
    for word in words {
        let codes = &word.codes[i];
        let [scale_a, scale_b] = word.scales;
        for j in 0..SKIP_BIGRAM_BLOCK {
            let a = scale_a * f32::from(codes[j] as i8);
            let b = scale_b * f32::from(codes[SKIP_BIGRAM_BLOCK + j] as i8);
            let f = F_STEP * f32::from(codes[2 * SKIP_BIGRAM_BLOCK + j]);
            let (forward, back) = (b * h[j], a * g[j]);
            q[j] += if NEAR { forward + back } else { forward - back };
            h[j] = f * h[j] + a;
            g[j] = f * g[j] + b;
            if NEAR {
                sum_a[j] += a;
                sum_b[j] += b;
                sum_ab[j] += a * b;
                sum_f[j] += f;
            }
        }
    }
    *state = [h, g, q, sum_a, sum_b, sum_ab, sum_f];
}

/// Columns whose shares are computed at a time.
const SHARES: usize = 32;

/// `out = 2 / (n (n − 1)) Σ p_t` over t = 1 .. n − 1, with p_1 = 1 and p_{t+1} = 1 + f p_t; 0 for n < 2.
#[inline(always)]
pub(super) fn mean_shares(f: &[f32], n: usize, out: &mut [f32]) {
    let normalizer = if n < 2 { 0.0 } else { (2.0 / (n as f64 * (n as f64 - 1.0))) as f32 };
    let one = |f: f32| {
        let (mut p, mut sum) = (0.0f32, 0.0f32);
        for _ in 1..n {
            p = 1.0 + f * p;
            sum += p;
        }
        normalizer * sum
    };
    let (blocks, rest) = f.as_chunks::<SHARES>();
    let (out_blocks, out_rest) = out.as_chunks_mut::<SHARES>();
    for (f, out) in blocks.iter().zip(out_blocks) {
        let (mut p, mut sum) = ([0.0f32; SHARES], [0.0f32; SHARES]);
        for _ in 1..n {
            for j in 0..SHARES {
                p[j] = 1.0 + f[j] * p[j];
                sum[j] += p[j];
            }
        }
        for j in 0..SHARES {
            out[j] = normalizer * sum[j];
        }
    }
    for (&f, out) in rest.iter().zip(out_rest) {
        *out = one(f);
    }
}

#[cfg(test)]
mod tests {
    use crate::kernels::{dispatch, level::Level, portable};

    /// Values that are not round numbers.
    fn values(n: usize, seed: usize) -> Vec<f32> {
        (0..n).map(|i| ((i * 7 + seed * 13 + 1) as f32 * 0.37).sin()).collect()
    }

    #[test]
    fn every_level_gives_the_bits_of_the_portable_code_at_every_length() {
        for n in 0..130 {
            let inputs = [values(n, 1), values(n, 2), values(n, 3)];
            let states = [values(n, 4), values(n, 5), values(n, 6)];
            let abf = inputs.each_ref().map(|x| &x[..]);
            let [mut h, mut g, mut q] = states.clone();
            portable::skip_bigram_step(abf, -1.0, &mut h, &mut g, &mut q);
            for j in 0..n {
                let [a, b, f] = abf.map(|x| x[j]);
                let [h0, g0, q0] = [0, 1, 2].map(|k| states[k][j]);
                assert_eq!([h[j], g[j], q[j]], [f * h0 + a, f * g0 + b, q0 + (b * h0 - a * g0)]);
            }
            for level in Level::available() {
                let [mut h2, mut g2, mut q2] = states.clone();
                dispatch::skip_bigram_step(level, abf, -1.0, &mut h2, &mut g2, &mut q2);
                assert_eq!([&h2, &g2, &q2], [&h, &g, &q], "{level:?} {n}");
            }
        }
    }

    #[test]
    fn a_sentence_in_blocks_is_its_steps_at_every_level() {
        use super::{SKIP_BIGRAM_BLOCK as BLOCK, SKIP_BIGRAM_BYTES, SkipBigramRow, SkipBigramState};
        for (antisymmetric, near) in [(1, 1), (2, 3), (0, 1), (3, 0)] {
            let blocks = antisymmetric + near;
            let codes: Vec<Vec<[u8; SKIP_BIGRAM_BYTES]>> = (0..7usize)
                .map(|w| {
                    let block = |i: usize| std::array::from_fn(|j| ((w * 59 + i * 31 + j * 101 + 3) % 256) as u8);
                    (0..blocks).map(block).collect()
                })
                .collect();
            let words: Vec<SkipBigramRow<'_>> = codes
                .iter()
                .enumerate()
                .map(|(w, codes)| SkipBigramRow { codes, scales: [0.01 + 0.003 * w as f32, 0.02 - 0.001 * w as f32] })
                .collect();
            let first: Vec<SkipBigramState> = (0..blocks)
                .map(|i| std::array::from_fn(|k| std::array::from_fn(|j| ((i + 2 * k + 3 * j) as f32 * 0.7).sin())))
                .collect();
            let mut states = first.clone();
            portable::skip_bigrams(&words, antisymmetric, &mut states);
            for i in 0..blocks {
                let sign = if i < antisymmetric { -1.0 } else { 1.0 };
                let [mut h, mut g, mut q, mut a_sum, .., mut f_sum] = first[i];
                for word in &words {
                    let of = |from: usize, scale: f32| -> [f32; BLOCK] {
                        std::array::from_fn(|j| scale * f32::from(word.codes[i][from + j] as i8))
                    };
                    let (a, b) = (of(0, word.scales[0]), of(BLOCK, word.scales[1]));
                    let f: [f32; BLOCK] =
                        std::array::from_fn(|j| f32::from(word.codes[i][2 * BLOCK + j]) * super::F_STEP);
                    portable::skip_bigram_step([&a, &b, &f], sign, &mut h, &mut g, &mut q);
                    (0..BLOCK).for_each(|j| a_sum[j] += a[j]);
                    (0..BLOCK).for_each(|j| f_sum[j] += f[j]);
                }
                assert_eq!([states[i][0], states[i][1], states[i][2]], [h, g, q], "{i}");
                if i >= antisymmetric {
                    assert_eq!([states[i][3], states[i][6]], [a_sum, f_sum], "{i}");
                } else {
                    assert_eq!(states[i][3..], first[i][3..], "{i}");
                }
            }
            for level in Level::available() {
                let mut got = first.clone();
                dispatch::skip_bigrams(level, &words, antisymmetric, &mut got);
                assert_eq!(got, states, "{level:?}");
            }
        }
    }

    #[test]
    fn mean_shares_are_the_closed_form_at_every_level() {
        for len in [0, 1, 31, 32, 33, 70] {
            let f: Vec<f32> = (0..len).map(|i| i as f32 / 71.0).collect();
            for n in [0, 1, 2, 3, 12, 40] {
                let mut expected = vec![7.0; len];
                portable::mean_shares(&f, n, &mut expected);
                for (&f, &got) in f.iter().zip(&expected) {
                    let (f, m) = (f64::from(f), n as f64);
                    let closed = 2.0 * (m * (1.0 - f) - 1.0 + f.powi(n as i32)) / ((1.0 - f).powi(2) * m * (m - 1.0));
                    let closed = if n < 2 { 0.0 } else { closed };
                    assert!((f64::from(got) - closed).abs() < 1e-6, "{n} {f}: {got} {closed}");
                }
                for level in Level::available() {
                    let mut got = vec![7.0; len];
                    dispatch::mean_shares(level, &f, n, &mut got);
                    assert_eq!(got, expected, "{level:?} {len} {n}");
                }
            }
        }
    }
}
