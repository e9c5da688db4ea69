//! Rows as 4-bit codes, queries as 8-bit integers, and the estimate of their cosine.
//!
//! Equation: `nibble-code`
//!
//! ```text
//! x, y            unit vectors of a row and of a query, rotated
//! s_j = σ_b / √n_b    typical size of a value in block b of n_b dimensions; Σ σ_b² = 1
//! u_j = ⌊x_j / (Δ s_j)⌋ + 8, limited to 0..15            Δ = 0.3352, best for values from a normal distribution
//! v_j = (2 u_j − 15) Δ s_j / 2                           the middle of the interval of u_j
//! w_j = round(y_j Δ s_j / 2 / a)                         a = max_j |y_j Δ s_j / 2| / 127
//!
//! x·y ≈ a (2 Σ w_j u_j − 15 Σ w_j) / x·v
//! ```
//!
//! Were w exact, the sum would be y·v. A random rotation makes the error of v orthogonal to x in expectation once it is divided
//! by x·v, so the estimate is unbiased (Gao and Long 2024, RaBitQ, section 3.2; Max 1960 for Δ). A row stores u and 1 / x·v. The
//! sum is one of integers: exact, and the same on every machine.

use senv_core::kernels::{NIBBLE_ROWS, nibble_block_bytes, nibble_query_len, pack_nibbles};

use crate::rotation::Rotation;

/// Width of an interval where the values have a standard deviation of 1.
const STEP: f64 = 0.3352;

/// Turns rows into codes and queries into integers.
#[derive(Debug, Clone)]
pub(crate) struct Coder {
    rotation: Rotation,
    /// Half an interval, for every dimension.
    halves: Vec<f32>,
}

/// A query as the scan takes it.
#[derive(Debug, Clone)]
pub(crate) struct QueryCode {
    /// w, padded to whole steps.
    pub(crate) values: Vec<i8>,
    /// 15 Σ w
    pub(crate) offset: i32,
    /// a
    pub(crate) scale: f32,
}

/// Space for the work of [`Coder::encode_row`].
#[derive(Debug, Default, Clone)]
pub(crate) struct CodeScratch {
    rotated: Vec<f32>,
    codes: Vec<u8>,
}

impl Coder {
    /// Codes for vectors of blocks of these lengths, each at least 1; `shares` are the σ² of the blocks.
    pub(crate) fn new(seed: u64, lengths: &[usize], shares: &[f64]) -> Self {
        let half = |(&len, &share): (&usize, &f64)| {
            let half = (STEP / 2.0 * (share / len as f64).sqrt()) as f32;
            std::iter::repeat_n(half.max(f32::MIN_POSITIVE), len)
        };
        Self { rotation: Rotation::new(seed, lengths), halves: lengths.iter().zip(shares).flat_map(half).collect() }
    }

    /// Values of a vector.
    pub(crate) fn dim(&self) -> usize {
        self.rotation.dim()
    }

    /// Bytes of a block of sixteen rows.
    pub(crate) fn block_bytes(&self) -> usize {
        nibble_block_bytes(self.dim()).unwrap_or(usize::MAX)
    }

    /// Writes the codes of a row into a lane of a block that is zero there, and returns 1 / x·v; 0 for a row that is zero or
    /// not finite, whose codes are 0.
    pub(crate) fn encode_row(
        &self,
        row: &[f32],
        inverse_norm: f32,
        scratch: &mut CodeScratch,
        lane: usize,
        block: &mut [u8],
    ) -> f32 {
        if inverse_norm == 0.0 {
            return 0.0;
        }
        let CodeScratch { rotated, codes } = scratch;
        rotated.clear();
        rotated.extend(row.iter().map(|x| x * inverse_norm));
        self.rotation.rotate(rotated);
        codes.resize(rotated.len(), 0);
        let mut parts = [0_f32; 8];
        let all = codes.chunks_mut(8).zip(rotated.chunks(8).zip(self.halves.chunks(8)));
        for (codes, (xs, halves)) in all {
            for (((part, code), &x), &half) in parts.iter_mut().zip(codes).zip(xs).zip(halves) {
                // Truncated after a shift by 8 whole intervals: the floor. Beyond the ends the conversion is limited.
                let u = (x / (2.0 * half) + 8.0).clamp(0.0, 15.0) as i32;
                *code = u as u8;
                *part += x * ((2 * u - 15) as f32 * half);
            }
        }
        pack_nibbles(codes, lane, block);
        let dot = ((parts[0] + parts[4]) + (parts[1] + parts[5])) + ((parts[2] + parts[6]) + (parts[3] + parts[7]));
        // Each product but those of the two middle intervals is positive, and those are when the signs agree, as they do.
        if dot.is_finite() && dot > 0.0 && (1.0 / dot).is_finite() { 1.0 / dot } else { 0.0 }
    }

    /// A unit vector as the scan takes it.
    pub(crate) fn query(&self, unit: &[f32]) -> QueryCode {
        let mut y = unit.to_vec();
        self.rotation.rotate(&mut y);
        y.iter_mut().zip(&self.halves).for_each(|(y, half)| *y *= half);
        let largest = y.iter().fold(0_f32, |largest, y| largest.max(y.abs()));
        let scale = if largest > 0.0 { largest / 127.0 } else { 1.0 };
        let mut values = vec![0; nibble_query_len(self.dim())];
        let mut sum = 0;
        for (value, y) in values.iter_mut().zip(&y) {
            *value = (y / scale).round_ties_even().clamp(-127.0, 127.0) as i8;
            sum += i32::from(*value);
        }
        QueryCode { values, offset: 15 * sum, scale }
    }
}

/// Blocks that hold this many rows.
pub(crate) fn blocks_of(rows: usize) -> usize {
    rows.div_ceil(NIBBLE_ROWS)
}

#[cfg(test)]
mod tests {
    use rand::Rng;
    use senv_core::{kernels, rng::stream};

    use super::*;

    /// Values from a normal distribution, roughly.
    fn unit(n: usize, key: u64) -> Vec<f32> {
        let mut stream = stream(key, "test", &[n as u64]);
        let mut value = || (0..6).map(|_| (stream.next_u64() >> 40) as f32 / (1 << 24) as f32 - 0.5).sum::<f32>();
        let mut x: Vec<f32> = (0..n).map(|_| value()).collect();
        let norm = kernels::norm(&x);
        x.iter_mut().for_each(|x| *x /= norm);
        x
    }

    /// The estimates of the cosines of each row with each query.
    fn estimates(coder: &Coder, rows: &[Vec<f32>], queries: &[Vec<f32>]) -> Vec<Vec<f32>> {
        let blocks = blocks_of(rows.len());
        let mut codes = vec![0; blocks * coder.block_bytes()];
        let mut factors = vec![0.0; blocks * NIBBLE_ROWS];
        let mut scratch = CodeScratch::default();
        for (r, row) in rows.iter().enumerate() {
            let block = &mut codes[r / NIBBLE_ROWS * coder.block_bytes()..][..coder.block_bytes()];
            factors[r] = coder.encode_row(row, 1.0, &mut scratch, r % NIBBLE_ROWS, block);
        }
        let estimate = |query: &Vec<f32>| {
            let query = coder.query(query);
            let mut sums = vec![0; factors.len()];
            kernels::nibble_scores(&codes, &query.values, coder.dim(), &mut sums);
            let value = |(&sum, &factor)| query.scale * kernels::nibble_estimate(sum, query.offset, factor);
            sums.iter().zip(&factors).map(value).take(rows.len()).collect()
        };
        queries.iter().map(estimate).collect()
    }

    #[test]
    fn estimates_are_near_the_cosine_and_right_on_average() {
        for (lengths, shares) in [(vec![256], vec![1.0]), (vec![300], vec![1.0]), (vec![64, 200], vec![0.25, 0.75])] {
            let dim = lengths.iter().sum();
            let rows: Vec<_> = (0..200).map(|i| unit(dim, i)).collect();
            // Half a row, half something else: cosines from -1 to 1.
            let queries: Vec<Vec<f32>> = (0..20)
                .map(|i| {
                    let (a, b) = (&rows[i], unit(dim, 1000 + i as u64));
                    let mut y: Vec<f32> = a.iter().zip(b).map(|(a, b)| a * (i as f32 / 10.0 - 1.0) + b * 0.5).collect();
                    kernels::l2_normalize(&mut y);
                    y
                })
                .collect();
            let (mut sum, mut squares, mut n) = (0.0, 0.0, 0.0);
            for seed in 0..5 {
                let coder = Coder::new(seed, &lengths, &shares);
                for (query, estimates) in queries.iter().zip(estimates(&coder, &rows, &queries)) {
                    for (row, estimate) in rows.iter().zip(estimates) {
                        let error = f64::from(estimate) - f64::from(kernels::dot(row, query));
                        (sum, squares, n) = (sum + error, squares + error * error, n + 1.0);
                    }
                }
            }
            // The error of a 4-bit value is some tenth of its size, and the mean of d of them 1 / √d of that.
            let rmse = (squares / n).sqrt();
            assert!(rmse < 0.13 / (dim as f64).sqrt(), "{lengths:?}: {rmse}");
            assert!((sum / n).abs() < 5e-4, "{lengths:?}: bias {}", sum / n);
        }
    }

    #[test]
    fn a_row_is_estimated_to_be_one_with_itself() {
        let coder = Coder::new(1, &[96], &[1.0]);
        let rows: Vec<_> = (0..40).map(|i| unit(96, i)).collect();
        for (r, estimates) in estimates(&coder, &rows, &rows).iter().enumerate() {
            assert!((estimates[r] - 1.0).abs() < 0.01, "{}", estimates[r]);
        }
    }

    #[test]
    fn a_zero_row_has_the_factor_zero_and_a_zero_query_the_sum_zero() {
        let coder = Coder::new(1, &[5], &[1.0]);
        let mut block = vec![0; coder.block_bytes()];
        assert_eq!(coder.encode_row(&[0.0; 5], 0.0, &mut CodeScratch::default(), 3, &mut block), 0.0);
        assert!(block.iter().all(|&byte| byte == 0));
        let query = coder.query(&[0.0; 5]);
        assert_eq!((query.offset, query.values), (0, vec![0; 8]));
    }

    #[test]
    fn a_row_that_is_one_value_alone_has_a_code() {
        for dim in [1, 2, 3, 8, 300] {
            let coder = Coder::new(1, &[dim], &[1.0]);
            for i in [0, dim - 1] {
                let mut row = vec![0.0; dim];
                row[i] = -1.0;
                let cosine = estimates(&coder, &[row.clone()], &[row])[0][0];
                assert!((cosine - 1.0).abs() < 0.02, "{dim}, {i}: {cosine}");
            }
        }
    }
}
