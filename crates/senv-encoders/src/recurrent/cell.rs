//! The interface between a stack of layers and a cell.

use std::fmt::Debug;

use ndarray::{Array2, ArrayView2};
use senv_core::{
    Result,
    arrays::{Float, Parameters, Tensor},
    rng::Stream,
};

use super::Steps;
use crate::encoder::check_size;

/// The inputs of a cell for a batch.
pub(crate) struct CellInput<'a, F> {
    /// The packed order of the batch.
    pub(crate) steps: &'a Steps,
    /// Input rows, shape `(n_rows, input)`.
    pub(crate) rows: ArrayView2<'a, F>,
    /// The input row for each packed row, `n_rows` for a zero vector; `None` if they are the same.
    pub(crate) index: Option<&'a [u32]>,
    /// Initial states in sorted order, [`state_dim`](RecurrentCell::state_dim) values each; `None` for zeros.
    pub(crate) initial: Option<&'a [F]>,
    /// The values added to the gates of a sentence at every step, in sorted order, with the width of the gates.
    pub(crate) context: Option<&'a [F]>,
}

impl<F: Float> CellInput<'_, F> {
    /// The projection row for packed row `i`.
    pub(crate) fn row(&self, i: usize) -> usize {
        self.index.map_or(i, |index| index[i] as usize)
    }
}

/// Gradients from the layer above.
#[derive(Default)]
pub(crate) struct Upstream<'a, F> {
    /// Gradients of the states of all packed rows.
    pub(crate) states: Option<&'a [F]>,
    /// Gradients of the states after the last words, in sorted order.
    pub(crate) last: Option<&'a [F]>,
}

/// Gradients of the inputs of a cell.
pub(crate) struct InputGradients<F> {
    /// Gradients of the projections, one row per input row: ∂X is this times
    /// [`input_weights`](RecurrentCell::input_weights).
    pub(crate) projections: Array2<F>,
    /// Gradients of the initial states, in sorted order; empty if these were zeros.
    pub(crate) initial: Vec<F>,
    /// Gradients of what the context adds, in sorted order; empty without a context.
    pub(crate) context: Vec<F>,
}

/// A cell whose tensors are consecutive tensors of a [`Parameters`].
pub(crate) trait RecurrentCell: Debug + Copy + PartialEq + Sync {
    /// The activations of a pass.
    type Activations<F: Float>: Debug + Clone + Send + Sync;

    /// How its tensors are initialized.
    type Start: Debug + Copy + PartialEq;

    /// The input dimension.
    fn input(&self) -> usize;

    /// The hidden size.
    fn hidden(&self) -> usize;

    /// The dimension of the vector that its last tensor, `context`, multiplies; 0 without one.
    fn context(&self) -> usize;

    /// The width of a row of gates.
    fn width(&self) -> usize;

    /// The number of values that a step needs from the previous step, the hidden ones first.
    fn state_dim(&self) -> usize;

    /// Fills the tensor of this name, which belongs to the cell or is `state`, the layer that computes first states;
    /// `fan_in` is its number of columns.
    fn fill<F: Float>(
        &self,
        start: Self::Start,
        name: &str,
        fan_in: usize,
        rng: &mut Stream,
        values: &mut [F],
    ) -> Result<()>;

    /// Appends its initial tensors, named `prefix.input` and so on.
    fn push<F: Float>(
        &self,
        prefix: &str,
        start: Self::Start,
        rng: &mut Stream,
        parameters: &mut Parameters<F>,
    ) -> Result<()> {
        for (name, shape) in self.form() {
            let place = parameters.push_zeros(format!("{prefix}.{name}"), shape)?;
            self.fill(start, name, shape[1], rng, parameters[place].values_mut())?;
        }
        Ok(())
    }

    /// Names and shapes of its tensors.
    fn form(&self) -> Vec<(&'static str, [usize; 2])>;

    fn n_tensors(&self) -> usize {
        self.form().len()
    }

    /// The number of values of its tensors, as a float to avoid overflow.
    fn n_values(&self) -> f64 {
        self.form().iter().map(|(_, [rows, columns])| *rows as f64 * *columns as f64).sum()
    }

    /// Returns an error if a size is 0 or too large.
    fn check(&self) -> Result<()>;

    /// Returns an error unless the tensors starting at index `first` have its names and shapes.
    fn check_tensors<F: Float>(&self, parameters: &Parameters<F>, first: usize) -> Result<()> {
        for (i, (_, [rows, columns])) in self.form().into_iter().enumerate() {
            let shape = parameters[first + i].shape();
            check_size("rows of tensor of a recurrent cell", rows, shape[0])?;
            check_size("columns of tensor of a recurrent cell", columns, shape[1])?;
        }
        Ok(())
    }

    /// The matrix of its inputs.
    fn input_weights<'a, F: Float>(&self, parameters: &'a Parameters<F>, first: usize) -> ArrayView2<'a, F>;

    /// The states of all words of a batch; unless `keep`, without the activations that only the backward pass needs.
    fn run<F: Float>(
        &self,
        parameters: &Parameters<F>,
        first: usize,
        cell_input: &CellInput<'_, F>,
        keep: bool,
    ) -> Result<Self::Activations<F>>;

    /// The states of all packed rows.
    fn states<F: Float>(activations: &Self::Activations<F>) -> &[F];

    /// The whole states of all packed rows, [`state_dim`](Self::state_dim) values each.
    fn whole_states<F: Float>(activations: &Self::Activations<F>) -> Vec<F>;

    /// The state of the sentence at sorted position `i` after its last word; its initial state if it is empty.
    fn last<'a, F: Float>(activations: &'a Self::Activations<F>, steps: &Steps, i: usize) -> &'a [F];

    /// Adds the gradients of its tensors to `d`, except `context`, and returns those of its inputs.
    fn through<F: Float>(
        &self,
        parameters: &Parameters<F>,
        first: usize,
        cell_input: &CellInput<'_, F>,
        activations: &Self::Activations<F>,
        upstream: &Upstream<'_, F>,
        d: Vec<&mut Tensor<F>>,
    ) -> Result<InputGradients<F>>;
}
