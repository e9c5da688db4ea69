//! Short vectors whose products bound cosines, so most pairs of rows are never compared in full.
//!
//! Equation: `head-bound`
//!
//! ```text
//! x · y  <=  Qᵀx · Qᵀy + √(1 - |Qᵀx|²) √(1 - |Qᵀy|²)      for unit vectors x, y and orthonormal columns of Q
//! head(x) = (Qᵀx, √(1 - |Qᵀx|²))                          so that the right side is head(x) · head(y)
//! ```
//!
//! This follows from the Cauchy-Schwarz inequality for the parts of x and y outside the columns. The columns are the
//! directions in which a sample of the rows is largest (orthogonal iteration on their second moments). They make the
//! rest small and the bound tight, but the bound is valid for any columns.

use rand::Rng;
use rayon::prelude::*;
use senv_core::{Rows, Table, kernels, rng::stream};

/// The maximum by which rounding lowers a bound, for vectors of `dim` values.
///
/// A product of unit vectors is summed in at least 16 lanes, so its error is at most (dim / 16 + 8) 2⁻²⁴. A head of up
/// to 128 values has √128 times that error, and so has each of the two heads of a bound. The rest adds less than
/// 0.0001.
pub(super) fn slack(dim: usize) -> f32 {
    1e-4 + dim as f32 * 2.0_f32.powi(-22)
}

/// The maximum number of sampled rows that choose the directions.
const SAMPLE: usize = 8192;
/// One in this many rows is sampled.
const SAMPLE_OF: usize = 4;
/// The number of rows whose pairs choose the width.
const WIDTH_SAMPLE: usize = 512;
/// Below this number, rows are compared in full.
const FEW: usize = 1024;
/// The widths to choose from: multiples of 16, to fill whole registers.
const WIDTHS: [usize; 6] = [16, 32, 48, 64, 96, 128];
/// The time to compare two rows at arbitrary positions exactly, in units of one head value.
const EXACT: f64 = 4000.0;
/// The number of 8-bit values that take as long as one f32 value.
const INT8_GAIN: f64 = 12.0;
/// The largest integer in an 8-bit head.
pub(super) const LARGEST: f32 = 127.0;
/// The number of iteration steps.
const STEPS: usize = 6;
/// The steps between orthonormalizations; the directions do not have to be exact.
const STEPS_TOGETHER: usize = 2;
/// Rows whose heads are computed at the same time.
const BLOCK: usize = 256;

/// The heads of rows, concatenated.
#[derive(Debug)]
pub(super) struct Heads {
    pub(super) width: usize,
    pub(super) values: Vec<f32>,
    /// Whether the last value of a head is the length of the part outside the directions.
    pub(super) has_rest: bool,
}

impl Heads {
    /// Heads of the rows at these positions, for cosines at or above a threshold; `int8` says whether they will be
    /// rounded to 8 bits. `inverse` is 1 / the norm of every row of the table.
    pub(super) fn new(rows: &Table, inverse: &[f32], positions: &[u32], threshold: f32, int8: bool) -> Self {
        let dim = rows.dim();
        if positions.len() < FEW || dim <= WIDTHS[0] {
            return Self::of(rows, inverse, positions, None, dim);
        }
        let most = WIDTHS.iter().copied().filter(|&width| width < dim).max().unwrap_or(WIDTHS[0]);
        let n_sample = SAMPLE.min(positions.len() / SAMPLE_OF);
        let sample: Vec<u32> = positions.iter().copied().step_by(positions.len() / n_sample).take(n_sample).collect();
        let directions = directions(rows, inverse, &sample, most - 1);
        let few: Vec<u32> = sample.iter().copied().step_by((sample.len() / WIDTH_SAMPLE).max(SAMPLE_OF)).collect();
        let (heads, widths) = (Self::of(rows, inverse, &few, Some(&directions), most), WIDTHS);
        let (width, cost) = best_width(&heads, &widths, dim, threshold, int8);
        // Whole rows in 8 bits have no rest, and exclude pairs that few directions cannot.
        let whole = int8.then(|| padded(dim)).filter(|_| {
            let whole = Self::of(rows, inverse, &few, None, padded(dim));
            best_width(&whole, &[padded(dim)], dim, threshold, int8).1 < cost.min(dim as f64)
        });
        match whole {
            Some(width) => Self::of(rows, inverse, positions, None, width),
            None if cost < dim as f64 => {
                Self::of(rows, inverse, positions, Some(&directions[..(width - 1) * dim]), width)
            }
            None => Self::of(rows, inverse, positions, None, dim),
        }
    }

    /// Heads of this width by these directions, one fewer than the width. Without directions, the whole unit vectors,
    /// padded with zeros to the width.
    fn of(rows: &Table, inverse: &[f32], positions: &[u32], directions: Option<&[f32]>, width: usize) -> Self {
        let dim = rows.dim();
        let n = width - 1;
        let mut values = vec![0.0; positions.len() * width];
        let blocks = values.par_chunks_mut((BLOCK * width).max(1)).zip(positions.par_chunks(BLOCK));
        blocks.for_each_init(
            || (Vec::new(), vec![0.0; BLOCK * n]),
            |(units, products), (heads, positions)| {
                units.clear();
                for &row in positions {
                    units.extend(rows.row(row as usize)[..dim].iter().map(|x| x * inverse[row as usize]));
                }
                let Some(directions) = directions else {
                    for (head, unit) in heads.chunks_exact_mut(width).zip(units.chunks_exact(dim)) {
                        head[..dim].copy_from_slice(unit);
                    }
                    return;
                };
                kernels::scores(units, positions.len(), directions, n, dim, &mut products[..positions.len() * n]);
                for (head, products) in heads.chunks_exact_mut(width).zip(products.chunks_exact(n)) {
                    head[..n].copy_from_slice(products);
                    let squares: f64 = products.iter().map(|&x| f64::from(x) * f64::from(x)).sum();
                    // Rounded up, so the root of a small difference is not too small.
                    head[n] = (1.0 - squares + f64::from(slack(dim))).max(0.0).sqrt() as f32;
                }
            },
        );
        Self { width, values, has_rest: width != dim }
    }

    pub(super) fn get(&self, i: usize) -> &[f32] {
        &self.values[i * self.width..][..self.width]
    }
}

/// The width of whole rows in 8 bits, including a rest of zero.
fn padded(dim: usize) -> usize {
    (dim + 1).next_multiple_of(16)
}

/// The width for the fastest comparison and its cost, judged on all pairs of some rows. Whole f32 rows cost their
/// dimension.
fn best_width(heads: &Heads, widths: &[usize], dim: usize, threshold: f32, int8: bool) -> (usize, f64) {
    let n = heads.values.len() / heads.width;
    let widths: Vec<usize> = widths.iter().copied().filter(|&width| width <= heads.width).collect();
    // The rest outside the first `width` directions.
    let rest = |i: usize, width: usize| {
        let squares: f32 = heads.get(i)[width - 1..].iter().map(|x| x * x).sum();
        squares.sqrt()
    };
    let rests: Vec<Vec<f32>> = (0..n).map(|i| widths.iter().map(|&width| rest(i, width)).collect()).collect();
    let largest = heads.values.iter().fold(0.0_f32, |largest, x| largest.max(x.abs()));
    let floor = |width: usize| threshold - slack(dim) - if int8 { expected_slack(width, largest) } else { 0.0 };
    let floors: Vec<f32> = widths.iter().map(|&width| floor(width)).collect();
    let mut above = vec![0_u64; widths.len()];
    for i in 0..n {
        for j in 0..i {
            let (mut product, mut start) = (0.0, 0);
            for (w, &width) in widths.iter().enumerate() {
                product += kernels::dot(&heads.get(i)[start..width - 1], &heads.get(j)[start..width - 1]);
                start = width - 1;
                above[w] += u64::from(product + rests[i][w] * rests[j][w] >= floors[w]);
            }
        }
    }
    let pairs = (n * n.saturating_sub(1) / 2).max(1) as f64;
    let gain = if int8 { INT8_GAIN } else { 1.0 };
    let cost = |w: usize| widths[w] as f64 / gain + EXACT * above[w] as f64 / pairs;
    let of_widths = widths.iter().enumerate().map(|(w, &width)| (width, cost(w)));
    of_widths.min_by(|(_, a), (_, b)| a.total_cmp(b)).unwrap_or((dim, f64::INFINITY))
}

/// How far an 8-bit bound is above one of f32, for heads of this width and largest value.
fn expected_slack(width: usize, largest: f32) -> f32 {
    // The error is uniform over a step; no row's error is much above the mean.
    let rounding = 1.25 * largest / LARGEST * (width as f32 / 12.0).sqrt();
    2.0 * rounding + 3.0 * rounding * rounding
}

/// `n` orthonormal directions, concatenated, in which these rows of length 1 are large.
fn directions(rows: &Table, inverse: &[f32], sample: &[u32], n: usize) -> Vec<f32> {
    let dim = rows.dim();
    let units: Vec<f32> = sample
        .iter()
        .flat_map(|&row| rows.row(row as usize)[..dim].iter().map(move |x| x * inverse[row as usize]))
        .collect();
    let mut moments = vec![0.0; dim * dim];
    kernels::add_product(&units, 1, dim, dim, sample.len(), &units, dim, &mut moments);
    let mut stream = stream(0, "pairs.directions", &[]);
    let mut q: Vec<f32> = (0..n * dim).map(|_| (stream.next_u64() >> 40) as f32 / (1 << 23) as f32 - 1.0).collect();
    let mut next = vec![0.0; n * dim];
    for step in 1..=STEPS {
        kernels::scores(&q, n, &moments, dim, dim, &mut next);
        std::mem::swap(&mut q, &mut next);
        if step.is_multiple_of(STEPS_TOGETHER) {
            orthonormalize(&mut q, dim);
        }
    }
    q
}

/// Makes rows orthonormal, each against those before it, twice to correct rounding. A row that depends on the others
/// becomes zero; it is not a direction, and the bound holds without it.
fn orthonormalize(q: &mut [f32], dim: usize) {
    for i in 0..q.len() / dim {
        let (before, rest) = q.split_at_mut(i * dim);
        let row = &mut rest[..dim];
        let mut wide: Vec<f64> = row.iter().map(|&x| f64::from(x)).collect();
        let length = norm(&wide);
        for _ in 0..2 {
            for other in before.chunks_exact(dim) {
                let product: f64 = wide.iter().zip(other).map(|(&x, &y)| x * f64::from(y)).sum();
                wide.iter_mut().zip(other).for_each(|(x, &y)| *x -= product * f64::from(y));
            }
        }
        let left = norm(&wide);
        let scale = if left > 1e-6 * length { 1.0 / left } else { 0.0 };
        row.iter_mut().zip(&wide).for_each(|(x, &y)| *x = (y * scale) as f32);
    }
}

fn norm(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of any length near several directions.
    fn table(n: usize, dim: usize) -> Table {
        let mut stream = stream(4, "test", &[n as u64]);
        let mut next = || (stream.next_u64() >> 40) as f32 / (1 << 23) as f32 - 1.0;
        let centres: Vec<f32> = (0..40 * dim).map(|_| next()).collect();
        let mut values = Vec::new();
        for i in 0..n {
            let centre = &centres[i % 40 * dim..][..dim];
            values.extend(centre.iter().map(|x| 3.0 * (x + 0.6 * next())));
        }
        Table::from_vec(n, dim, values).unwrap()
    }

    #[test]
    fn no_product_of_heads_is_below_the_cosine_and_few_are_above_the_threshold() {
        for dim in [24, 100, 256] {
            let rows = table(6000, dim);
            let inverse: Vec<f32> = rows.iter().map(|row| 1.0 / kernels::norm(row)).collect();
            let positions: Vec<u32> = (0..6000).collect();
            let heads = Heads::new(&rows, &inverse, &positions, 0.9, false);
            assert!(heads.width < dim || dim < 64, "{} {dim}", heads.width);
            for i in (0..6000).step_by(37) {
                for j in (0..i).step_by(41) {
                    let bound = kernels::dot(heads.get(i), heads.get(j));
                    let cosine = kernels::cosine(rows.row(i), rows.row(j));
                    assert!(bound >= cosine - slack(dim) / 10.0, "{dim}: {i} {j}: {bound} {cosine}");
                    assert!(bound <= 1.0 + 2.0 * slack(dim));
                }
            }
        }
    }

    #[test]
    fn few_rows_and_thresholds_that_exclude_nothing_take_whole_rows() {
        let rows = table(6000, 48);
        let inverse: Vec<f32> = rows.iter().map(|row| 1.0 / kernels::norm(row)).collect();
        let positions: Vec<u32> = (0..6000).collect();
        assert_eq!(Heads::new(&rows, &inverse, &positions[..100], 0.9, false).width, 48);
        assert_eq!(Heads::new(&rows, &inverse, &positions, -1.0, false).width, 48);
    }
}
