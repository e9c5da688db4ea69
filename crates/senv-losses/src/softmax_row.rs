//! The inner loops of an in-batch softmax: one row of scores at a time, and transposition.

use rayon::prelude::*;
use senv_core::arrays::Float;

use crate::rows::ROWS_A_THREAD;

/// The number of partial maxima and sums, which makes the steps of a loop over a row independent.
const LANES: usize = 16;

/// Reduces the values of `x`, always in the same order.
fn reduce<F: Float>(x: &[F], start: F, op: impl Fn(F, F) -> F) -> F {
    let mut lanes = [start; LANES];
    let chunks = x.chunks_exact(LANES);
    let rest = chunks.remainder();
    for chunk in chunks {
        lanes.iter_mut().zip(chunk).for_each(|(lane, &x)| *lane = op(*lane, x));
    }
    lanes.iter_mut().zip(rest).for_each(|(lane, &x)| *lane = op(*lane, x));
    lanes[1..].iter().fold(lanes[0], |all, &lane| op(all, lane))
}

/// Replaces the scores of one anchor by `c (p − q)` and returns −ln p of the target. Here p is the softmax of the
/// scores without the `masked` ones, and q is 1 at the `target`. Masked entries become 0.
///
/// The other probabilities are summed without the target's, so both results keep their precision as that sum goes to 0.
pub(crate) fn softmax_row<F: Float>(row: &mut [F], target: usize, masked: &[u32], c: f64) -> f64 {
    masked.iter().for_each(|&j| row[j as usize] = F::neg_infinity());
    // This ignores NaN, but the sum of the others contains it.
    let top = reduce(row, F::neg_infinity(), |a, b| if b > a { b } else { a });
    row.iter_mut().for_each(|x| *x -= top);
    let own_score = row[target].wide();
    F::exp_in_place(row);
    masked.iter().for_each(|&j| row[j as usize] = F::zero());
    let own = std::mem::replace(&mut row[target], F::zero()).wide();
    let others = reduce(row, F::zero(), |a, b| a + b).wide();
    let total = own + others;
    F::scale(F::of(c / total), row);
    row[target] = F::of(-c * others / total);
    if own_score == 0.0 { others.ln_1p() } else { total.ln() - own_score }
}

/// Replaces the scores of one anchor by `c (p − t)` and returns −Σ t ln p. Here p is the softmax of the scores without
/// the `masked` ones, and t is `share` times that of the `taught` scores without them, plus the rest at the `target`.
/// Masked entries become 0, and `taught` becomes t.
pub(crate) fn taught_row<F: Float>(
    row: &mut [F],
    taught: &mut [F],
    (target, share): (usize, f64),
    masked: &[u32],
    c: f64,
) -> f64 {
    let from_top = |x: &mut [F]| {
        masked.iter().for_each(|&j| x[j as usize] = F::neg_infinity());
        let top = reduce(x, F::neg_infinity(), |a, b| if b > a { b } else { a });
        masked.iter().for_each(|&j| x[j as usize] = top);
        x.iter_mut().for_each(|x| *x -= top);
    };
    let total = |x: &mut [F]| {
        F::exp_in_place(x);
        masked.iter().for_each(|&j| x[j as usize] = F::zero());
        reduce(x, F::zero(), |a, b| a + b).wide()
    };
    from_top(taught);
    let sum = total(taught);
    F::scale(F::of(share / sum), taught);
    taught[target] += F::of(1.0 - share);
    from_top(row);
    let expected = F::dot(taught, row).wide();
    let sum = total(row);
    F::scale(F::of(c / sum), row);
    F::axpy(F::of(-c), taught, row);
    sum.ln() - expected
}

/// Applies [`softmax_row`] to all rows of `width` scores, on all threads. The target of row i is i; its masked entries
/// are `masked(i)`. Returns the sum of −ln p.
pub(crate) fn softmax_rows<'a, F: Float>(
    rows: &mut [F],
    width: usize,
    masked: impl Fn(usize) -> &'a [u32] + Sync,
    c: f64,
) -> f64 {
    let rows = rows.par_chunks_mut(width.max(1)).enumerate().with_min_len(ROWS_A_THREAD);
    let losses: Vec<f64> = rows.map(|(i, row)| softmax_row(row, i, masked(i), c)).collect();
    losses.iter().sum()
}

/// Rows and columns of a tile.
const TILE: usize = 32;

/// Calls `op(out[i][j], x[j][i])` for all i, j below `n`; the rows of `x` and `out` have `width` and `out_width`
/// values.
///
/// It uses a tile on the stack: at widths that are powers of two, the cache lines of a column would evict each other.
pub(crate) fn transpose<F: Float>(
    x: &[F],
    width: usize,
    out: &mut [F],
    out_width: usize,
    n: usize,
    op: impl Fn(&mut F, F) + Sync,
) {
    out.par_chunks_mut(TILE * out_width.max(1)).enumerate().for_each(|(band, rows)| {
        let first = band * TILE;
        let height = TILE.min(n - first);
        let mut tile = [F::zero(); TILE * TILE];
        for start in (0..n).step_by(TILE) {
            let end = n.min(start + TILE);
            for (line, j) in tile.chunks_exact_mut(TILE).zip(start..end) {
                line[..height].copy_from_slice(&x[j * width + first..][..height]);
            }
            for (i, row) in rows.chunks_mut(out_width).enumerate() {
                let column = tile[i..].iter().step_by(TILE);
                row[start..end].iter_mut().zip(column).for_each(|(out, &x)| op(out, x));
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        rows::{flat, flat_mut, row},
        testing::matrix,
    };
    use ndarray::Array2;
    use senv_core::math;

    #[test]
    fn a_row_is_its_softmax() {
        for n in [1, 2, 15, 16, 17, 50] {
            let x = matrix::<f64>(1, n, n as u64);
            let masked: Vec<u32> = (0..n as u32).filter(|j| j % 4 == 1).collect();
            let target = n / 2 / 4 * 4;
            let mut got = row(&x, 0).to_vec();
            got[masked.first().map_or(0, |&j| j as usize)] = if masked.is_empty() { 0.5 } else { 1e4 };
            let mut p = got.clone();
            let loss = softmax_row(&mut got, target, &masked, 3.0);
            masked.iter().for_each(|&j| p[j as usize] = f64::NEG_INFINITY);
            let expected = math::log_sum_exp(&p) - p[target];
            math::softmax_in_place(&mut p);
            p[target] -= 1.0;
            assert!((loss - expected).abs() < 1e-14, "{n}");
            assert!(got.iter().zip(&p).all(|(got, p)| (got - 3.0 * p).abs() < 1e-14), "{n}");
        }
    }

    #[test]
    fn a_taught_row_is_its_definition() {
        for n in [2, 15, 16, 17, 50] {
            let (x, y) = (matrix::<f64>(1, n, n as u64), matrix::<f64>(1, n, 99 + n as u64));
            let masked: Vec<u32> = (0..n as u32).filter(|j| j % 4 == 1 && n > 2).collect();
            for (target, share) in [(0, 1.0), (n / 2 / 4 * 4, 0.7)] {
                let (mut got, mut taught) = (row(&x, 0).to_vec(), row(&y, 0).to_vec());
                let (mut p, mut t) = (got.clone(), taught.clone());
                got[masked.first().map_or(0, |&j| j as usize)] += if masked.is_empty() { 0.0 } else { 1e4 };
                let loss = taught_row(&mut got, &mut taught, (target, share), &masked, 3.0);
                for x in [&mut p, &mut t] {
                    masked.iter().for_each(|&j| x[j as usize] = f64::NEG_INFINITY);
                    math::softmax_in_place(x);
                }
                t.iter_mut().for_each(|t| *t *= share);
                t[target] += 1.0 - share;
                let ln = |(t, p): (&f64, &f64)| if *t == 0.0 { 0.0 } else { -t * p.ln() };
                let expected: f64 = t.iter().zip(&p).map(ln).sum();
                assert!((loss - expected).abs() < 1e-13, "{n} {loss} {expected}");
                assert!(taught.iter().zip(&t).all(|(got, t)| (got - t).abs() < 1e-14), "{n}");
                let right = |((got, p), t): ((&f64, &f64), &f64)| (got - 3.0 * (p - t)).abs() < 1e-13;
                assert!(got.iter().zip(&p).zip(&t).all(right), "{n}");
            }
        }
    }

    #[test]
    fn small_shares_keep_their_digits_and_large_differences_stay_finite() {
        let mut scores = [0.0f32, -40.0, -40.0];
        let loss = softmax_row(&mut scores, 0, &[], 1.0);
        let share = 2.0 * (-40f64).exp();
        assert!((loss / share - 1.0).abs() < 1e-5 && (f64::from(scores[0]) / -share - 1.0).abs() < 1e-5);
        let mut scores = [-150.0f32, 0.0, f32::NEG_INFINITY];
        assert_eq!(softmax_row(&mut scores, 0, &[], 1.0), 150.0);
        assert_eq!(scores, [-1.0, 1.0, 0.0]);
        for place in 0..3 {
            let mut scores = [0.0f32; 3];
            scores[place] = f32::NAN;
            assert!(softmax_row(&mut scores, 0, &[], 1.0).is_nan(), "{place}");
        }
    }

    #[test]
    fn rows_become_columns() {
        for (n, extra) in [(1, 0), (31, 2), (32, 0), (33, 5), (100, 1)] {
            let x = matrix::<f32>(n, n + extra, 1);
            let mut out = Array2::zeros((n, n + 1));
            transpose(flat(&x), n + extra, flat_mut(&mut out), n + 1, n, |out, x| *out += x);
            for i in 0..n {
                assert!((0..n).all(|j| out[(i, j)] == x[(j, i)]) && out[(i, n)] == 0.0, "{n} {extra}");
            }
        }
    }
}
