//! Gated recurrent units: the cell in its four published variants, its parameters and their initialization.
//!
//! `gates.rs` has the equations of one step, `forward.rs` and `backward.rs` run a batch.

mod backward;
mod forward;
mod gates;
mod initial;
#[cfg(test)]
mod tests;

use ndarray::{ArrayView2, ArrayViewMut2};
use senv_core::{
    Error, Result,
    arrays::{Float, Parameters, Tensor},
    hyperparameters::named_values,
    rng::Stream,
};
use serde::{Deserialize, Serialize};

pub(crate) use forward::GruActivations;

use crate::recurrent::{CellInput, InputGradients, RecurrentCell, Steps, Upstream};

/// The variant of a gated recurrent unit. Papers, released weights and libraries differ, and weights trained in one
/// variant give wrong results in another.
///
/// ```text
/// r = σ(W_r x + b_r + U_r h⁻)    z = σ(W_z x + b_z + U_z h⁻)
/// ```
///
/// | variant | candidate n | new state h |
/// | --- | --- | --- |
/// | `Paper` | tanh(W_n x + b_n + U_n (r ∘ h⁻)) | (1 − z) ∘ h⁻ + z ∘ n |
/// | `Release` | tanh(W_n x + b_n + r ∘ (U_n h⁻)) | z ∘ h⁻ + (1 − z) ∘ n |
/// | `Torch` | tanh(W_n x + b_n + r ∘ (U_n h⁻ + c_n)), and c_r, c_z in the gates | z ∘ h⁻ + (1 − z) ∘ n |
/// | `Tf1` | tanh(W_n x + b_n + U_n (r ∘ h⁻)) | z ∘ h⁻ + (1 − z) ∘ n |
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum GruStyle {
    /// The equations of the Skip-thought paper (with biases, which it does not print).
    #[default]
    Paper,
    /// The code of the Skip-thoughts authors, and therefore their weights.
    Release,
    /// PyTorch and cuDNN.
    Torch,
    /// The GRU cell of TensorFlow 1, which P-thought uses.
    Tf1,
}

named_values!(GruStyle {
    Paper = "paper": "The equations of the Skip-thoughts paper",
    Release = "release": "The authors' code",
    Torch = "torch": "PyTorch and cuDNN",
    Tf1 = "tf1": "TensorFlow 1",
});

impl GruStyle {
    /// Whether the reset gate acts on the state before the product with U_n.
    fn resets_before(self) -> bool {
        matches!(self, Self::Paper | Self::Tf1)
    }

    /// Whether z is the share of the old state.
    fn z_keeps(self) -> bool {
        self != Self::Paper
    }
}

/// Initialization of the weights of a recurrent network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum GruInit {
    /// Skip-thoughts: orthogonal recurrent matrices, all others from U[−0.1, 0.1), biases 0.
    #[default]
    Orthogonal,
    /// P-thought, as in TensorFlow 1. Glorot's limits are for the joint matrix of input and state, once for both gates
    /// and once for the candidate. Biases are 1 for the gates and 0 for the candidate, so the cell initially keeps most
    /// of its state.
    Glorot,
}

/// The sizes and the variant of a cell; its parameters are consecutive tensors of a [`Parameters`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cell {
    /// The input dimension.
    pub(crate) input: usize,
    /// The hidden size.
    pub(crate) hidden: usize,
    /// The dimension of a vector that is added to the gates, through a matrix, at every step; 0 without one.
    pub(crate) context: usize,
    pub(crate) style: GruStyle,
}

/// The parameters of a cell.
///
/// Each tensor stacks the blocks of the reset gate r, the update gate z and the candidate n, in this order, with
/// `hidden` rows each. So W x is one matrix product for all three. PyTorch uses the same order; the Skip-thoughts
/// release stores the gates (r, z) and the candidate as two matrices, transposed.
#[derive(Clone, Copy)]
pub(crate) struct Weights<'a, F> {
    /// W, shape `(3 hidden, input)`.
    pub(crate) input: ArrayView2<'a, F>,
    /// U, shape `(3 hidden, hidden)`.
    pub(crate) recurrent: ArrayView2<'a, F>,
    /// b, `3 hidden` values.
    pub(crate) bias: &'a [F],
    /// c, `3 hidden` values.
    pub(crate) recurrent_bias: Option<&'a [F]>,
}

pub(crate) struct Gradients<'a, F> {
    pub(crate) input: ArrayViewMut2<'a, F>,
    pub(crate) recurrent: ArrayViewMut2<'a, F>,
    pub(crate) bias: &'a mut [F],
    pub(crate) recurrent_bias: Option<&'a mut [F]>,
}

impl Cell {
    /// The number of rows of a tensor, for r, z and n.
    pub(crate) fn gates(&self) -> usize {
        3 * self.hidden
    }

    /// Its tensors except `context`, starting at index `first`.
    pub(crate) fn weights<'a, F: Float>(&self, parameters: &'a Parameters<F>, first: usize) -> Weights<'a, F> {
        Weights {
            input: parameters[first].view(),
            recurrent: parameters[first + 1].view(),
            bias: parameters[first + 2].values(),
            recurrent_bias: (self.style == GruStyle::Torch).then(|| parameters[first + 3].values()),
        }
    }

    /// The gradients of its tensors except `context`, taken from the front of all. Names and shapes were already
    /// checked.
    pub(crate) fn gradients<'a, F: Float>(
        &self,
        tensors: &mut impl Iterator<Item = &'a mut Tensor<F>>,
    ) -> Gradients<'a, F> {
        let mut next = || tensors.next().unwrap_or_else(|| unreachable!("as many tensors as the form has"));
        Gradients {
            input: next().view_mut(),
            recurrent: next().view_mut(),
            bias: next().values_mut(),
            recurrent_bias: (self.style == GruStyle::Torch).then(|| next().values_mut()),
        }
    }
}

impl RecurrentCell for Cell {
    type Activations<F: Float> = GruActivations<F>;
    type Start = GruInit;

    fn input(&self) -> usize {
        self.input
    }

    fn hidden(&self) -> usize {
        self.hidden
    }

    fn context(&self) -> usize {
        self.context
    }

    fn width(&self) -> usize {
        self.gates()
    }

    fn state_dim(&self) -> usize {
        self.hidden
    }

    fn fill<F: Float>(
        &self,
        start: GruInit,
        name: &str,
        fan_in: usize,
        rng: &mut Stream,
        values: &mut [F],
    ) -> Result<()> {
        initial::fill(self, start, name, fan_in, rng, values)
    }

    fn form(&self) -> Vec<(&'static str, [usize; 2])> {
        let rows = self.gates();
        let recurrent_bias = (self.style == GruStyle::Torch).then_some(("recurrent_bias", [1, rows]));
        let context = (self.context > 0).then_some(("context", [rows, self.context]));
        [("input", [rows, self.input]), ("recurrent", [rows, self.hidden]), ("bias", [1, rows])]
            .into_iter()
            .chain(recurrent_bias)
            .chain(context)
            .collect()
    }

    fn check(&self) -> Result<()> {
        for (name, value) in [("input dimension", self.input), ("hidden size", self.hidden)] {
            if value == 0 {
                return Err(Error::InvalidParameter { name, requirement: "above 0", got: "0".into() });
            }
        }
        let too_large = || Error::TooLarge { rows: self.hidden, dim: self.input.saturating_add(self.context) };
        let rows = self.hidden.checked_mul(3).ok_or_else(too_large)?;
        let widest = self.input.max(self.hidden).max(self.context);
        rows.checked_mul(widest).filter(|&n| n <= isize::MAX as usize / 8).ok_or_else(too_large)?;
        Ok(())
    }

    fn input_weights<'a, F: Float>(&self, parameters: &'a Parameters<F>, first: usize) -> ArrayView2<'a, F> {
        self.weights(parameters, first).input
    }

    fn run<F: Float>(
        &self,
        parameters: &Parameters<F>,
        first: usize,
        cell_input: &CellInput<'_, F>,
        keep: bool,
    ) -> Result<GruActivations<F>> {
        let weights = self.weights(parameters, first);
        if keep { self.forward(&weights, cell_input) } else { self.encode(&weights, cell_input) }
    }

    fn states<F: Float>(activations: &GruActivations<F>) -> &[F] {
        activations.states()
    }

    fn whole_states<F: Float>(activations: &GruActivations<F>) -> Vec<F> {
        activations.states().to_vec()
    }

    fn last<'a, F: Float>(activations: &'a GruActivations<F>, steps: &Steps, i: usize) -> &'a [F] {
        activations.last(steps, i)
    }

    fn through<F: Float>(
        &self,
        parameters: &Parameters<F>,
        first: usize,
        cell_input: &CellInput<'_, F>,
        activations: &GruActivations<F>,
        upstream: &Upstream<'_, F>,
        d: Vec<&mut Tensor<F>>,
    ) -> Result<InputGradients<F>> {
        let mut d = self.gradients(&mut d.into_iter());
        self.backward(&self.weights(parameters, first), cell_input, activations, upstream, &mut d)
    }
}
