//! Gradients of an output layer for batches that use few words.

use ndarray::{Array1, Array2};
use rayon::prelude::*;
use senv_core::{
    TokenId,
    arrays::{Float, Parameters},
};

use crate::{
    error::{Result, check_size},
    rows::flat_mut,
};

/// Gradients of some rows of an output matrix and of their biases; they are 0 elsewhere. Pass them to
/// [`TableOptimizer::update_rows`](senv_core::optim::TableOptimizer::update_rows), or use [`add_to`](Self::add_to) for
/// a dense update.
#[derive(Debug, Clone, PartialEq)]
pub struct RowGradients<F> {
    /// The rows, ascending, each once.
    pub rows: Vec<TokenId>,
    /// The gradients of these rows of the matrix, shape `(n_rows, dim)`.
    pub d_w: Array2<F>,
    /// The gradients of their biases, shape `(n_rows,)`.
    pub d_b: Array1<F>,
}

/// A gradient term. It adds `c` times row `input` of the inputs to row `row` of the matrix, and `c` to the row's bias.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Term<F> {
    pub(crate) row: u32,
    pub(crate) input: u32,
    pub(crate) c: F,
}

impl<F: Float> RowGradients<F> {
    /// Zeros for these rows, which are ascending and distinct.
    pub(crate) fn zeros(rows: Vec<u32>, dim: usize) -> Self {
        let n = rows.len();
        Self { rows: rows.into_iter().map(TokenId).collect(), d_w: Array2::zeros((n, dim)), d_b: Array1::zeros(n) }
    }

    /// Adds the terms, whose rows ascend and are all in `rows`; `input` returns an input by index. Terms are added in
    /// order at any number of threads.
    pub(crate) fn add_terms<'a>(&mut self, terms: &[Term<F>], input: impl Fn(u32) -> &'a [F] + Sync) {
        let dim = self.d_w.ncols().max(1);
        let rows = flat_mut(&mut self.d_w).par_chunks_mut(dim).zip(self.d_b.as_slice_mut().unwrap_or_default());
        rows.zip(&self.rows).for_each(|((d_w, d_b), row)| {
            let first = terms.partition_point(|term| term.row < row.0);
            for term in terms[first..].iter().take_while(|term| term.row == row.0) {
                F::axpy(term.c, input(term.input), d_w);
                *d_b += term.c;
            }
        });
    }

    /// The sum with the gradients of another part of a loss for the same matrix, over the rows of both.
    ///
    /// # Errors
    /// [`senv_core::Error::ShapeMismatch`] if the rows differ in length.
    pub fn plus(self, other: Self) -> Result<Self> {
        check_size("row of an output layer", self.d_w.ncols(), other.d_w.ncols())?;
        let mut all: Vec<u32> = self.rows.iter().chain(&other.rows).map(|row| row.0).collect();
        all.sort_unstable();
        all.dedup();
        let mut sum = Self::zeros(all, self.d_w.ncols());
        for part in [self, other] {
            let mut place = 0;
            for ((row, d_w), d_b) in part.rows.iter().zip(part.d_w.rows()).zip(&part.d_b) {
                while sum.rows[place] < *row {
                    place += 1;
                }
                let mut to = sum.d_w.row_mut(place);
                to += &d_w;
                sum.d_b[place] += *d_b;
            }
        }
        Ok(sum)
    }

    /// Adds these gradients to those of the matrix at index `place` and of the bias after it.
    ///
    /// # Errors
    /// [`senv_core::Error::ShapeMismatch`] if the tensors do not exist or do not have these rows.
    pub fn add_to(&self, d_parameters: &mut Parameters<F>, place: usize) -> Result<()> {
        check_size("tensors of an output layer", place + 2, d_parameters.len().min(place + 2))?;
        let [n_words, dim] = d_parameters[place].shape();
        check_size("row of an output layer", dim, self.d_w.ncols())?;
        check_size("biases of an output layer", n_words, d_parameters[place + 1].values().len())?;
        if let Some(last) = self.rows.last().filter(|row| row.index() >= n_words) {
            check_size("rows of an output layer", last.index() + 1, n_words)?;
        }
        for (row, d) in self.rows.iter().zip(self.d_w.rows()) {
            let out = &mut d_parameters[place].values_mut()[row.index() * dim..][..dim];
            out.iter_mut().zip(d).for_each(|(out, &d)| *out += d);
        }
        let biases = d_parameters[place + 1].values_mut();
        self.rows.iter().zip(&self.d_b).for_each(|(row, &d)| biases[row.index()] += d);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn terms_are_summed_by_row_and_added_where_they_belong() {
        let inputs = [[1.0, 2.0], [10.0, 20.0]];
        let terms = [(1, 0, 2.0), (1, 1, 0.5), (4, 1, -1.0)].map(|(row, input, c)| Term { row, input, c });
        let mut gradients = RowGradients::<f64>::zeros(vec![1, 3, 4], 2);
        gradients.add_terms(&terms, |i| &inputs[i as usize]);
        assert_eq!(gradients.d_w, array![[7.0, 14.0], [0.0, 0.0], [-10.0, -20.0]]);
        assert_eq!(gradients.d_b, array![2.5, 0.0, -1.0]);
        let mut d = Parameters::new();
        d.push("w", [5, 2], vec![1.0; 10]).unwrap();
        d.push("b", [1, 5], vec![0.0; 5]).unwrap();
        gradients.add_to(&mut d, 0).unwrap();
        assert_eq!(d[0].values(), [1.0, 1.0, 8.0, 15.0, 1.0, 1.0, 1.0, 1.0, -9.0, -19.0]);
        assert_eq!(d[1].values(), [0.0, 2.5, 0.0, 0.0, -1.0]);
        let mut other = RowGradients::<f64>::zeros(vec![0, 3, 4], 2);
        other.d_w.fill(0.25);
        other.d_b.fill(8.0);
        let sum = gradients.clone().plus(other.clone()).unwrap();
        assert_eq!(sum.rows, [0, 1, 3, 4].map(TokenId));
        assert_eq!(sum.d_w, array![[0.25, 0.25], [7.0, 14.0], [0.25, 0.25], [-9.75, -19.75]]);
        assert_eq!(sum.d_b, array![8.0, 2.5, 8.0, 7.0]);
        assert_eq!(other.plus(gradients.clone()).unwrap(), sum);
        assert!(sum.plus(RowGradients::zeros(vec![1], 3)).is_err());
        assert!(gradients.add_to(&mut d, 1).is_err());
        for (rows, dim) in [(4, 2), (5, 3)] {
            let mut d = Parameters::new();
            d.push("w", [rows, dim], vec![1.0; rows * dim]).unwrap();
            d.push("b", [1, rows], vec![0.0; rows]).unwrap();
            assert!(gradients.add_to(&mut d, 0).is_err());
        }
    }

    #[test]
    fn tensors_without_these_rows_are_refused_with_the_sizes_expected_and_given() {
        let gradients = |last| RowGradients::<f64>::zeros(vec![1, last], 2);
        let tensors = |shapes: &[[usize; 2]]| {
            let mut d = Parameters::new();
            shapes.iter().enumerate().for_each(|(i, &shape)| assert!(d.push_zeros(i.to_string(), shape).is_ok()));
            d
        };
        let sizes = |last, shapes: &[[usize; 2]], place| match gradients(last).add_to(&mut tensors(shapes), place) {
            Err(crate::Error::Core(senv_core::Error::ShapeMismatch { expected, got, .. })) => (expected, got),
            other => unreachable!("{other:?}"),
        };
        let layer = [[5, 2], [1, 5]];
        assert_eq!(sizes(4, &[], 0), (2, 0));
        assert_eq!(sizes(4, &layer[..1], 0), (2, 1));
        assert_eq!(sizes(4, &layer, 1), (3, 2));
        assert_eq!(sizes(4, &layer, 2), (4, 2));
        assert_eq!(sizes(5, &layer, 0), (6, 5));
        assert_eq!(sizes(6, &layer, 0), (7, 5));
        assert!(gradients(4).add_to(&mut tensors(&[[1, 1], [5, 2], [1, 5], [1, 1]]), 1).is_ok());
    }
}
