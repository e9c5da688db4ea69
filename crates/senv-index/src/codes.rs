//! Rows as 4-bit codes, queries as 8-bit integers, and the estimate of their cosine.
//!
//! Equation: `nibble-code`
//!
//! ```text
//! x, y            unit vectors of a row and of a query, rotated
//! s_j = σ_b / √n_b    typical size of a value in block b of n_b dimensions; Σ σ_b² = 1
//! u_j = ⌊x_j / (Δ s_j)⌋ + 8, limited to 0..15            Δ = 0.3352, best for values from a normal distribution
//! v_j = (2 u_j − 15) Δ s_j / 2                           the middle of the interval of u_j
//! w_j = round(y_j Δ s_j / 2 / a)      a = max_g Σ_{j in g} |y_j Δ s_j / 2| / 61 over groups g of four dimensions
//!
//! x·y ≈ a (2 Σ w_j u_j − 15 Σ w_j) / x·v
//!
//! t_j = ⌊u_j / 8⌋                     the top bit of u_j: the sign of x_j
//! v'_j = (2 t_j − 1) Δ s_j / 2
//!
//! x·y ≈ a (2 Σ w_j t_j − Σ w_j) / x·v'      by the top bits only
//! ```
//!
//! If w were exact, the sums would be y·v and y·v'. After a random rotation, the error of v divided by x·v is
//! orthogonal to x in expectation. So the estimate is unbiased (Gao and Long 2024, RaBitQ, section 3.2; Max 1960 for
//! Δ). A row stores u, 1 / x·v and 1 / x·v'. The sums are of integers: exact, and the same on every machine.

use crate::{
    code_kernels::{self, PlaneQuery, nibble_query_len},
    rotation::Rotation,
    values::upper_half,
};

/// The width of an interval for values with a standard deviation of 1.
const STEP: f64 = 0.3352;

/// Turns rows into codes and queries into integers.
#[derive(Debug, Clone)]
pub(crate) struct Coder {
    rotation: Rotation,
    /// Half an interval, for each dimension.
    halves: Vec<f32>,
}

/// A query, prepared for comparison with codes.
#[derive(Debug, Clone)]
pub(crate) struct QueryCode {
    /// w
    pub(crate) planes: PlaneQuery,
    /// Σ w
    pub(crate) sum: i32,
    /// a
    pub(crate) scale: f32,
}

impl QueryCode {
    /// The value subtracted from twice the sum of products with top bits.
    pub(crate) fn top_offset(&self) -> i32 {
        self.sum
    }

    /// The value subtracted from twice the sum of products with codes.
    pub(crate) fn offset(&self) -> i32 {
        15 * self.sum
    }

    /// w in the form `nibble_scores` takes.
    pub(crate) fn nibble_values(&self) -> &[i8] {
        &self.planes.values()[..nibble_query_len(self.planes.dim())]
    }
}

/// The stored factors of a row: upper halves of f32 values, both 0 for a row that is never found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Factors {
    /// 1 / x·v'
    pub(crate) top: u16,
    /// 1 / x·v
    pub(crate) whole: u16,
}

/// Scratch space for [`Coder::encode_row`].
#[derive(Debug, Default, Clone)]
pub(crate) struct CodeScratch {
    rotated: Vec<f32>,
    /// u
    pub(crate) codes: Vec<u8>,
}

impl Coder {
    /// Creates codes for vectors with blocks of these lengths, each at least 1; `shares` are the σ² of the blocks.
    pub(crate) fn new(seed: u64, lengths: &[usize], shares: &[f64]) -> Self {
        let half = |(&len, &share): (&usize, &f64)| {
            let half = (STEP / 2.0 * (share / len as f64).sqrt()) as f32;
            std::iter::repeat_n(half.max(f32::MIN_POSITIVE), len)
        };
        Self { rotation: Rotation::new(seed, lengths), halves: lengths.iter().zip(shares).flat_map(half).collect() }
    }

    /// The length of a vector.
    pub(crate) fn dim(&self) -> usize {
        self.rotation.dim()
    }

    /// Computes a row's codes, into the scratch space, and its factors. The codes of a row that is zero or not finite
    /// are 0.
    pub(crate) fn encode_row(&self, row: &[f32], inverse_norm: f32, scratch: &mut CodeScratch) -> Factors {
        let CodeScratch { rotated, codes } = scratch;
        codes.clear();
        codes.resize(row.len(), 0);
        if inverse_norm == 0.0 {
            return Factors::default();
        }
        rotated.clear();
        rotated.extend(row.iter().map(|x| x * inverse_norm));
        self.rotation.rotate(rotated);
        let [top, whole] = code_kernels::quantize_4_bits(rotated, &self.halves, codes);
        // Each product outside the two middle intervals is positive. So are those of the middle intervals if the signs
        // agree, and they do.
        let inverse = |dot: f32| Some(1.0 / dot).filter(|x| dot.is_finite() && dot > 0.0 && x.is_finite());
        match (inverse(top), inverse(whole)) {
            (Some(top), Some(whole)) => Factors { top: upper_half(top), whole: upper_half(whole) },
            _ => Factors::default(),
        }
    }

    /// Prepares a unit vector for comparison with codes.
    pub(crate) fn query(&self, unit: &[f32]) -> QueryCode {
        let mut y = unit.to_vec();
        self.rotation.rotate(&mut y);
        y.iter_mut().zip(&self.halves).for_each(|(y, half)| *y *= half);
        // Rounding increases each of four values by at most a half.
        let most = (PlaneQuery::MOST - 2) as f32;
        let largest = y.chunks(4).map(|y| y.iter().map(|y| y.abs()).sum()).fold(0_f32, f32::max);
        let scale = if largest > 0.0 { largest / most } else { 1.0 };
        let values: Vec<i8> = y.iter().map(|y| (y / scale).round_ties_even().clamp(-most, most) as i8).collect();
        let sum = values.iter().map(|&w| i32::from(w)).sum();
        QueryCode { planes: PlaneQuery::new(&values), sum, scale }
    }
}

#[cfg(test)]
mod tests {
    use rand::Rng;
    use senv_core::{kernels, rng::stream};

    use super::*;

    /// Roughly normally distributed values.
    fn unit(n: usize, key: u64) -> Vec<f32> {
        let mut stream = stream(key, "test", &[n as u64]);
        let mut value = || (0..6).map(|_| (stream.next_u64() >> 40) as f32 / (1 << 24) as f32 - 0.5).sum::<f32>();
        let mut x: Vec<f32> = (0..n).map(|_| value()).collect();
        let norm = kernels::norm(&x);
        x.iter_mut().for_each(|x| *x /= norm);
        x
    }

    /// Estimates of the cosine of each row with each query, by the codes and by only their top bits.
    fn estimates(coder: &Coder, rows: &[Vec<f32>], queries: &[Vec<f32>]) -> Vec<Vec<[f32; 2]>> {
        let mut scratch = CodeScratch::default();
        let codes: Vec<(Vec<u8>, Factors)> = rows
            .iter()
            .map(|row| {
                let factors = coder.encode_row(row, 1.0, &mut scratch);
                (scratch.codes.clone(), factors)
            })
            .collect();
        let estimate = |query: &Vec<f32>| {
            let query = coder.query(query);
            let value = |(codes, factors): &(Vec<u8>, Factors)| {
                let product = |code: fn(u8) -> u8| -> i32 {
                    codes.iter().zip(query.planes.values()).map(|(&u, &w)| i32::from(code(u)) * i32::from(w)).sum()
                };
                let top = code_kernels::plane_estimate(product(|u| u >> 3), query.top_offset(), factors.top);
                let whole = code_kernels::plane_estimate(product(|u| u), query.offset(), factors.whole);
                [query.scale * whole, query.scale * top]
            };
            codes.iter().map(value).collect()
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
            // The error of a 4-bit value is about a tenth of its size, that of a sign six tenths. The mean of d of them
            // has 1 / √d of that error.
            for (number, most, bias) in [(0, 0.13, 5e-4), (1, 0.8, 2e-3)] {
                let (mut sum, mut squares, mut n) = (0.0, 0.0, 0.0);
                for seed in 0..5 {
                    let coder = Coder::new(seed, &lengths, &shares);
                    for (query, estimates) in queries.iter().zip(estimates(&coder, &rows, &queries)) {
                        for (row, estimate) in rows.iter().zip(estimates) {
                            let error = f64::from(estimate[number]) - f64::from(kernels::dot(row, query));
                            (sum, squares, n) = (sum + error, squares + error * error, n + 1.0);
                        }
                    }
                }
                let rmse = (squares / n).sqrt();
                assert!(rmse < most / (dim as f64).sqrt(), "{lengths:?}: {rmse}");
                assert!((sum / n).abs() < bias, "{lengths:?}: bias {}", sum / n);
            }
        }
    }

    #[test]
    fn a_row_is_estimated_to_be_one_with_itself() {
        let coder = Coder::new(1, &[96], &[1.0]);
        let rows: Vec<_> = (0..40).map(|i| unit(96, i)).collect();
        for (r, estimates) in estimates(&coder, &rows, &rows).iter().enumerate() {
            let [whole, top] = estimates[r];
            assert!((whole - 1.0).abs() < 0.01 && (top - 1.0).abs() < 0.02, "{whole} {top}");
        }
    }

    #[test]
    fn a_zero_row_has_the_factor_zero_and_a_zero_query_the_sum_zero() {
        let coder = Coder::new(1, &[5], &[1.0]);
        let mut scratch = CodeScratch { rotated: Vec::new(), codes: vec![7; 9] };
        assert_eq!(coder.encode_row(&[0.0; 5], 0.0, &mut scratch), Factors::default());
        assert_eq!(scratch.codes, [0; 5]);
        let query = coder.query(&[0.0; 5]);
        assert_eq!((query.offset(), query.top_offset(), query.nibble_values()), (0, 0, &[0; 8][..]));
    }

    #[test]
    fn a_row_that_is_one_value_alone_has_a_code() {
        for dim in [1, 2, 3, 8, 300] {
            let coder = Coder::new(1, &[dim], &[1.0]);
            for i in [0, dim - 1] {
                let mut row = vec![0.0; dim];
                row[i] = -1.0;
                let [cosine, _] = estimates(&coder, &[row.clone()], &[row])[0][0];
                assert!((cosine - 1.0).abs() < 0.02, "{dim}, {i}: {cosine}");
            }
        }
    }
}
