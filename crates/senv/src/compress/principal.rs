//! Rows on their principal axes, the directions in which the rows of frequent words differ most. Weaker axes can be
//! amplified, and the weakest dropped.
//!
//! Equation: `principal-rows`
//!
//! ```text
//! M = Σ_t √n_t x_t x_tᵀ = U diag(λ) Uᵀ,   λ_1 ≥ λ_2 ≥ …      x_t: row of token t, n_t: its count, at least 1; not centred
//! g_i = (λ_1/λ_i)^α                                           α: how much weaker axes gain
//! r_t = U diag(g) Uᵀ x_t                                      all axes are kept: rows keep their coordinates
//! r_t,i = g_i u_i·x_t,   i = 1 … dim                          only the first are kept
//! ```
//!
//! With α = 0 and all axes, the cosines of means do not change. α = 1/2 makes all axes equally strong, as Su et al.
//! 2021 ("Whitening Sentence Representations") do with sentence vectors. Smaller values are better for trained rows. If
//! all axes are kept, rows return to their old coordinates, whose values have similar sizes, as storage in few bits
//! requires.

use senv_core::{Error as Core, Rows, Table, Vocabulary, kernels};
use senv_store::SecondMoment;

use crate::{base::range::require, error::Result};

/// Returns the rows of `table`, one per token, with `dim` axes or all, and the whitening α from 0 to 0.5.
///
/// # Errors
/// [`senv_core::Error::InvalidParameter`] if the whitening is out of range, if the table has fewer independent
/// directions than are to be kept, or if it contains NaN or infinite values. [`senv_core::Error::TooLarge`] if memory
/// runs out.
pub(crate) fn on_principal_axes(
    table: &Table,
    vocabulary: &Vocabulary,
    dim: Option<usize>,
    whitening: f64,
) -> Result<Table> {
    require((0.0..=0.5).contains(&whitening), "whitening", "from 0 to 0.5", whitening)?;
    let mut moment = SecondMoment::new(table.dim())?;
    let mut weighted = vec![0.0_f32; table.dim()];
    for (i, &count) in vocabulary.counts().iter().enumerate() {
        let weight = (count.max(1) as f64).powf(0.25) as f32;
        weighted.iter_mut().zip(table.row(i)).for_each(|(to, x)| *to = weight * x);
        moment.add(&weighted)?;
    }
    let axes = moment.common_components(dim.unwrap_or(table.dim()), true)?;
    let n_axes = axes.lambdas().len();
    if let Some(dim) = dim.filter(|&dim| dim == 0 || dim != n_axes) {
        let requirement = "from 1 to the number of independent directions of the rows";
        return Err(Core::InvalidParameter { name: "principal axes", requirement, got: dim.to_string() }.into());
    }
    // Shares of the sum have the same ratios as the eigenvalues.
    let gain = |&share: &f32| (f64::from(axes.lambdas()[0]) / f64::from(share)).powf(whitening) as f32;
    let gains: Vec<f32> = axes.lambdas().iter().map(gain).collect();
    let mut rows = Table::zeros(table.n_rows(), dim.unwrap_or(table.dim()))?;
    let mut along = vec![0.0; n_axes];
    for i in 0..table.n_rows() {
        for ((along, axis), gain) in along.iter_mut().zip(axes.vectors().iter()).zip(&gains) {
            *along = gain * kernels::dot(axis, table.row(i));
        }
        let row = rows.row_mut(i);
        if dim.is_some() {
            row.copy_from_slice(&along);
        } else {
            axes.vectors().iter().zip(&along).for_each(|(axis, &x)| kernels::axpy(x, axis, row));
        }
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> (Table, Vocabulary) {
        let rows = [
            [-3.0, -2.75, -2.0, -3.0],
            [-2.0, -2.0, -2.0, -1.75],
            [1.0, 1.0, 1.5, 2.5],
            [-1.0, -1.25, 0.0, -1.5],
            [-1.0, -0.5, -1.0, -0.25],
        ];
        let vocabulary = Vocabulary::from_counts([("a", 16), ("b", 9), ("c", 4), ("d", 1), ("e", 0)], 30).unwrap();
        (Table::from_vec(5, 4, rows.concat()).unwrap(), vocabulary)
    }

    /// numpy 2.4: `l, u = eigh((x * sqrt(max(n, 1))[:, None]).T @ x)`, the largest first, with the entry of the largest
    /// magnitude in each column of `u` positive; `(x @ u[:, :2]) * (l[0] / l[:2]) ** 0.25`.
    #[test]
    fn rows_agree_with_numpy() {
        let (table, vocabulary) = table();
        let rows = on_principal_axes(&table, &vocabulary, Some(2), 0.25).unwrap();
        let expected = [
            [-5.429_035, 0.216_308_36],
            [-3.837_691, 1.125_479_6],
            [3.031_195, 2.909_723_4],
            [-1.977_697_4, -1.038_164_5],
            [-1.323_454_5, 1.539_866_5],
        ];
        for (row, expected) in rows.iter().zip(expected) {
            assert!(row.iter().zip(expected).all(|(x, y)| (x - y).abs() < 2e-5), "{row:?} {expected:?}");
        }
    }

    fn is_near(a: &Table, b: &Table) -> bool {
        a.iter().zip(b.iter()).all(|(a, b)| a.iter().zip(b).all(|(x, y)| (x - y).abs() < 1e-4))
    }

    #[test]
    fn all_axes_without_whitening_keep_every_product_and_the_coordinates() {
        let (table, vocabulary) = table();
        for dim in [None, Some(4)] {
            let rows = on_principal_axes(&table, &vocabulary, dim, 0.0).unwrap();
            for (i, j) in (0..5).flat_map(|i| (0..5).map(move |j| (i, j))) {
                let product = |table: &Table| kernels::dot(table.row(i), table.row(j));
                assert!((product(&table) - product(&rows)).abs() < 1e-4, "{dim:?}");
            }
            let same = is_near(&table, &rows);
            assert_eq!(same, dim.is_none());
        }
    }

    #[test]
    fn both_coordinates_have_the_same_products() {
        let (table, vocabulary) = table();
        let [old, axes] = [None, Some(4)].map(|dim| on_principal_axes(&table, &vocabulary, dim, 0.3).unwrap());
        for (i, j) in (0..5).flat_map(|i| (0..5).map(move |j| (i, j))) {
            let (x, y) = (kernels::dot(old.row(i), old.row(j)), kernels::dot(axes.row(i), axes.row(j)));
            assert!((x - y).abs() < 1e-3, "{x} {y}");
        }
    }

    #[test]
    fn full_whitening_makes_the_axes_alike() {
        let (table, vocabulary) = table();
        let rows = on_principal_axes(&table, &vocabulary, Some(3), 0.5).unwrap();
        let moment = |i: usize, j: usize| -> f64 {
            let weights = [4.0, 3.0, 2.0, 1.0, 1.0];
            rows.iter().zip(weights).map(|(row, w)| w * f64::from(row[i]) * f64::from(row[j])).sum()
        };
        for (i, j) in (0..3).flat_map(|i| (0..3).map(move |j| (i, j))) {
            let expected = if i == j { moment(0, 0) } else { 0.0 };
            assert!((moment(i, j) - expected).abs() < 1e-3 * moment(0, 0), "{i} {j}: {}", moment(i, j));
        }
    }

    #[test]
    fn what_is_out_of_range_is_an_error() {
        let (table, vocabulary) = table();
        for (dim, whitening) in [(0, 0.0), (5, 0.0), (2, -0.1), (2, 0.51), (2, f64::NAN)] {
            assert!(on_principal_axes(&table, &vocabulary, Some(dim), whitening).is_err(), "{dim} {whitening}");
        }
        assert!(on_principal_axes(&table, &vocabulary, Some(4), 0.5).is_ok());
        let flat = Table::from_vec(5, 4, [1.0, 2.0, 0.0, 0.0].repeat(5)).unwrap();
        assert!(on_principal_axes(&flat, &vocabulary, Some(2), 0.0).is_err(), "one direction");
        let same = on_principal_axes(&flat, &vocabulary, None, 0.25).unwrap();
        assert!(is_near(&same, &flat));
        let nan = Table::from_vec(5, 4, vec![f32::NAN; 20]).unwrap();
        assert!(on_principal_axes(&nan, &vocabulary, None, 0.0).is_err());
    }
}
