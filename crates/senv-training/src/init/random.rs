//! Random numbers in arrays and tables.
//!
//! Equation: `glorot-uniform`
//!
//! ```text
//! uniform   x ~ U[−a, a)            normal   x ~ N(0, sd²)
//! Glorot    x ~ U[−a, a)            a = √(6 / (fan_in + fan_out))
//! ```
//!
//! Small arrays draw from a [`Stream`] in order. [`uniform_rows`] fills tables of millions of rows. The values of a row
//! depend only on the seed and its index, so threads fill rows independently.

use std::ops::Range;

use ndarray::NdFloat;
use rand::{Rng, RngExt};
use rand_distr::StandardNormal;
use rayon::prelude::*;

use crate::rng::Stream;
use senv_base::{Error, Result, hash::mix};
use senv_kernels::{Table, kernels::fill_uniform};

/// Fills `out` with values from U[−limit, limit).
///
/// ```
/// let mut weights = [0.0_f32; 6];
/// senv_core::init::uniform(&mut senv_core::rng::stream(7, "weights", &[]), &mut weights, 0.1)?;
/// assert!(weights.iter().all(|w| w.abs() <= 0.1));
/// # Ok::<(), senv_core::Error>(())
/// ```
///
/// # Errors
/// [`Error::InvalidParameter`] if `limit` is negative, infinite or NaN.
pub fn uniform<F: NdFloat>(rng: &mut Stream, out: &mut [F], limit: f64) -> Result<()> {
    at_least_zero("limit", limit)?;
    for x in out {
        // 53 bits mapped to [−1, 1): the values depend only on the stream.
        let unit = (rng.next_u64() >> 11) as f64 / (1_u64 << 52) as f64 - 1.0;
        *x = F::from(unit * limit).unwrap_or_else(F::nan);
    }
    Ok(())
}

/// Fills `out` with values from N(0, sd²).
///
/// # Errors
/// [`Error::InvalidParameter`] if `sd` is negative, infinite or NaN.
pub fn normal<F: NdFloat>(rng: &mut Stream, out: &mut [F], sd: f64) -> Result<()> {
    at_least_zero("sd", sd)?;
    for x in out {
        let unit: f64 = rng.sample(StandardNormal);
        *x = F::from(unit * sd).unwrap_or_else(F::nan);
    }
    Ok(())
}

/// Fills `out`, the matrix between `fan_in` inputs and `fan_out` outputs, with the uniform values of Glorot and Bengio.
///
/// # Errors
/// [`Error::InvalidParameter`] if there are neither inputs nor outputs; [`Error::ShapeMismatch`] if `out` does not have
/// `fan_in * fan_out` values.
///
/// # References
/// X. Glorot, Y. Bengio: Understanding the Difficulty of Training Deep Feedforward Neural Networks, AISTATS 2010,
/// equation 16.
pub fn glorot_uniform<F: NdFloat>(rng: &mut Stream, out: &mut [F], fan_in: usize, fan_out: usize) -> Result<()> {
    let expected = fan_in.saturating_mul(fan_out);
    if out.len() != expected {
        return Err(Error::ShapeMismatch { what: "matrix to initialize", expected, got: out.len() });
    }
    let fans = fan_in as f64 + fan_out as f64;
    if fans == 0.0 {
        let requirement = "above 0";
        return Err(Error::InvalidParameter { name: "fan_in + fan_out", requirement, got: fans.to_string() });
    }
    uniform(rng, out, (6.0 / fans).sqrt())
}

/// Fills `rows` of `table` with values from U[−limit, limit], on all threads of the current rayon pool.
///
/// Row `i` depends only on `seed` and `i`: it is bit-identical at any number of threads, in any order and for any
/// division into ranges. The padding of the rows is not changed. Values are on a grid of 2³² points; their mean is
/// within 2⁻³² of 0.
///
/// ```
/// use senv_core::{Rows, Table, init};
/// let mut table = Table::zeros(1000, 30)?;
/// init::uniform_rows(&mut table, 0..1000, 1.0 / 30.0, 7)?;
/// let mut again = Table::zeros(1000, 30)?;
/// init::uniform_rows(&mut again, 999..1000, 1.0 / 30.0, 7)?;
/// assert_eq!(table.row(999), again.row(999));
/// assert_eq!(again.row(998), [0.0; 30]);
/// # Ok::<(), senv_core::Error>(())
/// ```
///
/// # Errors
/// [`Error::ShapeMismatch`] if `rows` end after the table; [`Error::InvalidParameter`] if `limit` is negative, infinite
/// or NaN.
pub fn uniform_rows(table: &mut Table, rows: Range<usize>, limit: f32, seed: u64) -> Result<()> {
    at_least_zero("limit", limit.into())?;
    if rows.end > table.n_rows() {
        return Err(Error::ShapeMismatch { what: "end of the rows to fill", expected: table.n_rows(), got: rows.end });
    }
    let (dim, stride) = (table.dim(), table.stride());
    if rows.is_empty() || dim == 0 {
        return Ok(());
    }
    let key = mix(mix(seed) ^ u64::from_le_bytes(*b"row keys"));
    let values = &mut table.values_mut()[rows.start * stride..rows.end * stride];
    // A few thousand values per task: enough work for a thread, and small enough to balance.
    let together = 65_536_usize.div_ceil(stride);
    values.par_chunks_mut(together * stride).enumerate().for_each(|(piece, values)| {
        for (i, row) in values.chunks_exact_mut(stride).enumerate() {
            let row_number = rows.start + piece * together + i;
            fill_uniform(&mut row[..dim], mix(key ^ row_number as u64), limit);
        }
    });
    Ok(())
}

/// Returns an error unless `value` is finite and not negative.
fn at_least_zero(name: &'static str, value: f64) -> Result<()> {
    if value.is_finite() && value >= 0.0 {
        return Ok(());
    }
    Err(Error::InvalidParameter { name, requirement: "finite and not negative", got: value.to_string() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::stream;
    use senv_base::Rows;

    /// Mean and variance.
    fn moments(values: impl Iterator<Item = f64>) -> (f64, f64) {
        let (n, sum, squares) =
            values.fold((0.0, 0.0, 0.0), |(n, sum, squares), x| (n + 1.0, sum + x, squares + x * x));
        let mean = sum / n;
        (mean, squares / n - mean * mean)
    }

    /// χ² of `values` in [−1, 1] over `cells` equal cells, as the distance from its mean in standard deviations.
    fn chi_square(values: impl Iterator<Item = f64>, cells: usize) -> f64 {
        let mut counts = vec![0_u64; cells];
        for x in values {
            counts[(((x + 1.0) / 2.0 * cells as f64) as usize).min(cells - 1)] += 1;
        }
        let expected = counts.iter().sum::<u64>() as f64 / cells as f64;
        let chi: f64 = counts.iter().map(|&n| (n as f64 - expected).powi(2) / expected).sum();
        (chi - (cells - 1) as f64) / (2.0 * (cells - 1) as f64).sqrt()
    }

    #[test]
    fn rows_are_uniform_within_and_across() {
        let (rows, dim, limit) = (4000, 101, 0.25_f32);
        let mut table = Table::zeros(rows, dim).unwrap();
        uniform_rows(&mut table, 0..rows, limit, 3).unwrap();
        let unit = |x: &f32| f64::from(*x) / f64::from(limit);
        let all = || table.iter().flatten().map(unit);
        // 404,000 values: the mean has sd √(1/3n) = 9e-4, the variance √(4/45n) = 4.7e-4. Five of each.
        let (mean, variance) = moments(all());
        assert!(mean.abs() < 4.5e-3 && (variance - 1.0 / 3.0).abs() < 2.4e-3, "{mean} {variance}");
        assert!(chi_square(all(), 1000).abs() < 4.0);
        // One column over all rows, and adjacent values in both directions, are independent too.
        for column in [0, 1, 2, 99, 100] {
            assert!(chi_square(table.iter().map(|row| unit(&row[column])), 50).abs() < 4.0, "column {column}");
        }
        for (down, right) in [(0, 1), (0, 2), (1, 0), (1, 1), (2, 0)] {
            let products = (0..rows - down).flat_map(|i| (0..dim - right).map(move |j| (i, j)));
            let (mean, _) =
                moments(products.map(|(i, j)| unit(&table.row(i)[j]) * unit(&table.row(i + down)[j + right])));
            assert!(mean.abs() < 5.0 / 3.0 / ((rows * dim) as f64).sqrt(), "{down} {right}: {mean}");
        }
    }

    #[test]
    fn rows_depend_on_seed_and_number_alone_and_padding_stays_zero() {
        let filled = |threads: usize, ranges: &[(usize, usize)], seed| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let mut table = Table::zeros(5000, 37).unwrap();
            pool.install(|| ranges.iter().try_for_each(|r| uniform_rows(&mut table, r.0..r.1, 1.0, seed))).unwrap();
            table.values().iter().map(|x| x.to_bits()).collect::<Vec<_>>()
        };
        let whole = filled(1, &[(0, 5000)], 9);
        assert_eq!(filled(2, &[(0, 5000)], 9), whole);
        assert_eq!(filled(5, &[(3000, 5000), (0, 1), (1, 3000)], 9), whole);
        assert_ne!(filled(1, &[(0, 5000)], 10), whole);
        assert!(whole.chunks(48).all(|row| row[37..].iter().all(|&x| x == 0)));
        let mut rows: Vec<_> = whole.chunks(48).collect();
        rows.sort();
        rows.dedup();
        assert_eq!(rows.len(), 5000, "two rows are equal");
        // Users rely on the values of a seed: changing them is a breaking change. Another program that follows the
        // comments above computed these.
        assert_eq!(whole[..3], [1054544451, 1061066770, 1043130759]);
        assert_eq!(whole[4999 * 48 + 36], 1058892750);
    }

    #[test]
    fn widths_and_ranges_that_make_no_sense_are_errors() {
        let mut table = Table::zeros(3, 2).unwrap();
        assert!(matches!(uniform_rows(&mut table, 1..4, 1.0, 0), Err(Error::ShapeMismatch { got: 4, .. })));
        for limit in [-0.1, f32::NAN, f32::INFINITY] {
            assert!(matches!(uniform_rows(&mut table, 0..3, limit, 0), Err(Error::InvalidParameter { .. })));
        }
        uniform_rows(&mut table, 3..3, 1.0, 0).unwrap();
        uniform_rows(&mut table, 0..3, 0.0, 0).unwrap();
        assert!(table.iter().flatten().all(|&x| x == 0.0));
        uniform_rows(&mut Table::zeros(3, 0).unwrap(), 0..3, 1.0, 0).unwrap();

        let mut rng = stream(1, "test", &[]);
        assert!(uniform(&mut rng, &mut [0.0_f32], f64::NAN).is_err());
        assert!(normal(&mut rng, &mut [0.0_f32], -1.0).is_err());
        assert!(glorot_uniform(&mut rng, &mut [0.0_f32; 5], 2, 3).is_err());
        assert!(glorot_uniform::<f64>(&mut rng, &mut [], 0, 0).is_err());
        assert!(glorot_uniform::<f64>(&mut rng, &mut [], 0, 3).is_ok());
    }

    #[test]
    fn streams_fill_arrays_by_their_laws() {
        let n = 200_000;
        let mut values = vec![0.0_f64; n];
        uniform(&mut stream(1, "uniform", &[]), &mut values, 2.0).unwrap();
        assert!(values.iter().all(|x| (-2.0..2.0).contains(x)));
        assert!(chi_square(values.iter().map(|x| x / 2.0), 1000).abs() < 4.0);

        normal(&mut stream(1, "normal", &[]), &mut values, 3.0).unwrap();
        let (mean, variance) = moments(values.iter().map(|x| x / 3.0));
        assert!(mean.abs() < 5.0 / (n as f64).sqrt() && (variance - 1.0).abs() < 5.0 * (2.0 / n as f64).sqrt());
        // 68.27 % are within one standard deviation.
        let inside = values.iter().filter(|x| x.abs() < 3.0).count() as f64 / n as f64;
        assert!((inside - 0.6827).abs() < 5.0 * (0.6827_f64 * 0.3173 / n as f64).sqrt());

        let mut matrix = vec![0.0_f32; 300 * 200];
        glorot_uniform(&mut stream(1, "glorot", &[]), &mut matrix, 300, 200).unwrap();
        let limit = (6.0_f64 / 500.0).sqrt();
        assert!(matrix.iter().all(|&x| f64::from(x).abs() <= limit * (1.0 + 1e-7)));
        assert!(chi_square(matrix.iter().map(|&x| f64::from(x) / limit), 200).abs() < 4.0);

        let mut again = vec![0.0_f32; 300 * 200];
        glorot_uniform(&mut stream(1, "glorot", &[]), &mut again, 300, 200).unwrap();
        assert_eq!(matrix, again);
    }
}
