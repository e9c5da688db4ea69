//! Rows on their principal axes: the directions in which the rows of frequent words differ most come first, so that fewer
//! dimensions hold most of the table, also of several tables side by side.
//!
//! Equation: `principal-rows`
//!
//! ```text
//! x_t = [y_t,1 ; y_t,2 ; …]                                            y_t,m: row of token t in model m
//! M = Σ_t √n_t x_t x_tᵀ,   M u_i = λ_i u_i,  λ_1 ≥ λ_2 ≥ …            n_t: count of token t, at least 1; not centred
//! r_t,i = (λ_1/λ_i)^α u_i·x_t,   i = 1 … dim                           α: how much weaker axes gain
//! ```
//!
//! Cosines of the means are those of the models, averaged, where all axes are kept and α is 0. A small α draws the axes
//! nearer to each other, as Arora, Liang and Ma 2017 and Su et al. 2021 ("Whitening Sentence Representations", α = 1/2) do
//! with sentence vectors.

use senv_core::{Error as Core, Rows, Table, Vocabulary, kernels};
use senv_store::SecondMoment;

use crate::{Result, fit::require};

/// How rows are brought to their principal axes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Principal {
    /// Dimensions that are kept, from 1 to those of all tables together.
    pub dim: usize,
    /// α: how much weaker axes gain, from 0 (not at all) to 0.5 (all axes count the same).
    pub whitening: f64,
}

impl Principal {
    /// Checks what does not depend on the tables.
    ///
    /// # Errors
    /// [`senv_core::Error::InvalidParameter`] for a whitening out of range.
    pub fn check(&self) -> Result<()> {
        require((0.0..=0.5).contains(&self.whitening), "whitening", "from 0 to 0.5", self.whitening)
    }

    /// The rows of `table`, one for each token, on their principal axes.
    ///
    /// # Errors
    /// [`senv_core::Error::InvalidParameter`] if the table has fewer independent directions than are to be kept, or holds NaN
    /// or infinite values; [`senv_core::Error::TooLarge`] if memory is lacking.
    pub(crate) fn rows(&self, table: &Table, vocabulary: &Vocabulary) -> Result<Table> {
        self.check()?;
        let mut moment = SecondMoment::new(table.dim())?;
        let mut weighted = vec![0.0_f32; table.dim()];
        for (i, &count) in vocabulary.counts().iter().enumerate() {
            let weight = (count.max(1) as f64).powf(0.25) as f32;
            weighted.iter_mut().zip(table.row(i)).for_each(|(to, x)| *to = weight * x);
            moment.add(&weighted)?;
        }
        let axes = moment.common_components(self.dim, true)?;
        if axes.lambdas().len() != self.dim || self.dim == 0 {
            let requirement = "from 1 to the number of independent directions of the rows";
            return Err(
                Core::InvalidParameter { name: "principal axes", requirement, got: self.dim.to_string() }.into()
            );
        }
        // Shares of the sum have the same ratios as the eigenvalues.
        let first = f64::from(axes.lambdas()[0]);
        let gains: Vec<f32> =
            axes.lambdas().iter().map(|&share| (first / f64::from(share)).powf(self.whitening) as f32).collect();
        let mut rows = Table::zeros(table.n_rows(), self.dim)?;
        for i in 0..table.n_rows() {
            for ((to, axis), gain) in rows.row_mut(i).iter_mut().zip(axes.vectors().iter()).zip(&gains) {
                *to = gain * kernels::dot(axis, table.row(i));
            }
        }
        Ok(rows)
    }
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

    /// numpy 2.4: `l, u = eigh((x * sqrt(max(n, 1))[:, None]).T @ x)`, the largest first, of each column of `u` the entry of
    /// the largest magnitude positive; `(x @ u[:, :2]) * (l[0] / l[:2]) ** 0.25`.
    #[test]
    fn rows_agree_with_numpy() {
        let (table, vocabulary) = table();
        let rows = Principal { dim: 2, whitening: 0.25 }.rows(&table, &vocabulary).unwrap();
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

    #[test]
    fn all_axes_without_whitening_keep_every_product() {
        let (table, vocabulary) = table();
        let rows = Principal { dim: 4, whitening: 0.0 }.rows(&table, &vocabulary).unwrap();
        for (i, j) in (0..5).flat_map(|i| (0..5).map(move |j| (i, j))) {
            let (before, after) = (kernels::dot(table.row(i), table.row(j)), kernels::dot(rows.row(i), rows.row(j)));
            assert!((before - after).abs() < 1e-4, "{before} {after}");
        }
    }

    #[test]
    fn full_whitening_makes_the_axes_alike() {
        let (table, vocabulary) = table();
        let rows = Principal { dim: 3, whitening: 0.5 }.rows(&table, &vocabulary).unwrap();
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
            assert!(Principal { dim, whitening }.rows(&table, &vocabulary).is_err(), "{dim} {whitening}");
        }
        assert!(Principal { dim: 4, whitening: 0.5 }.rows(&table, &vocabulary).is_ok());
        let flat = Table::from_vec(5, 4, [1.0, 2.0, 0.0, 0.0].repeat(5)).unwrap();
        assert!(Principal { dim: 2, whitening: 0.0 }.rows(&flat, &vocabulary).is_err(), "one direction");
        let nan = Table::from_vec(5, 4, vec![f32::NAN; 20]).unwrap();
        assert!(Principal { dim: 2, whitening: 0.0 }.rows(&nan, &vocabulary).is_err());
    }
}
