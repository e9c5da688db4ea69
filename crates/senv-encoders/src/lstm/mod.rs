//! Long short-term memory: the cell, its parameters, and a pass over a batch in both directions.
//!
//! `gates.rs` has the equations of one step.

mod backward;
mod forward;
mod gates;
#[cfg(test)]
mod tests;

use ndarray::ArrayView2;
use senv_core::{
    Error, Result,
    arrays::{Float, Parameters, Tensor},
    hyperparameters::named_values,
    init,
    rng::Stream,
};
use serde::{Deserialize, Serialize};

pub(crate) use forward::LstmActivations;

use crate::recurrent::{CellInput, InputGradients, RecurrentCell, Steps, Upstream};

/// Initialization of the weights of an LSTM; biases are 0, except the forget gate's in `Orthogonal`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum LstmInit {
    /// Orthogonal recurrent matrices, inputs from Glorot's limits, and peepholes 0. The bias of the forget gate is 1,
    /// so the cell initially keeps most of its contents.
    #[default]
    Orthogonal,
    /// All matrices and peepholes from N(0, 0.1²), as in the release of GRAN's authors.
    Normal,
    /// All values, including biases, from U(−1/√h, 1/√h), as in PyTorch.
    Torch,
}

named_values!(LstmInit {
    Orthogonal = "orthogonal": "Orthogonal recurrent matrices, a forget bias of 1",
    Normal = "normal": "N(0, 0.1²), as in the GRAN authors' code",
    Torch = "torch": "Uniform, as in PyTorch",
});

/// The sizes and the variant of a cell; its parameters are consecutive tensors of a [`Parameters`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LstmCell {
    /// The input dimension.
    pub(crate) input: usize,
    /// The hidden size.
    pub(crate) hidden: usize,
    /// The dimension of a vector that is added to the gates, through a matrix, at every step; 0 without one.
    pub(crate) context: usize,
    /// Whether the gates see the cell.
    pub(crate) peepholes: bool,
    /// Whether the state is gated.
    pub(crate) output_gate: bool,
}

/// The parameters of a cell. Each tensor stacks the blocks of i, f, g and o, as in PyTorch; peepholes stack those of i,
/// f and o.
#[derive(Clone, Copy)]
struct Weights<'a, F> {
    input: ArrayView2<'a, F>,
    recurrent: ArrayView2<'a, F>,
    bias: &'a [F],
    peepholes: Option<&'a [F]>,
}

impl LstmCell {
    /// The number of peephole values.
    fn n_peepholes(&self) -> usize {
        if self.peepholes { (2 + usize::from(self.output_gate)) * self.hidden } else { 0 }
    }

    fn weights<'a, F: Float>(&self, parameters: &'a Parameters<F>, first: usize) -> Weights<'a, F> {
        Weights {
            input: parameters[first].view(),
            recurrent: parameters[first + 1].view(),
            bias: parameters[first + 2].values(),
            peepholes: self.peepholes.then(|| parameters[first + 3].values()),
        }
    }
}

impl RecurrentCell for LstmCell {
    type Activations<F: Float> = LstmActivations<F>;
    type Start = LstmInit;

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
        (3 + usize::from(self.output_gate)) * self.hidden
    }

    /// The number of values of the state and the cell.
    fn state_dim(&self) -> usize {
        2 * self.hidden
    }

    fn fill<F: Float>(
        &self,
        start: LstmInit,
        name: &str,
        fan_in: usize,
        rng: &mut Stream,
        values: &mut [F],
    ) -> Result<()> {
        let h = self.hidden;
        match (start, name) {
            (LstmInit::Orthogonal, "recurrent") => {
                values.chunks_exact_mut(h * h).try_for_each(|values| init::orthogonal(rng, values, h, h))
            }
            (LstmInit::Orthogonal, "input" | "context" | "state") => {
                init::uniform(rng, values, (6.0 / (fan_in as f64 + h as f64)).sqrt())
            }
            (LstmInit::Orthogonal, "bias") => {
                values[h..2 * h].fill(F::one());
                Ok(())
            }
            (LstmInit::Normal, "input" | "recurrent" | "peepholes" | "context" | "state") => {
                init::normal(rng, values, 0.1)
            }
            (LstmInit::Torch, _) => init::uniform(rng, values, 1.0 / (h as f64).sqrt()),
            _ => Ok(()),
        }
    }

    fn form(&self) -> Vec<(&'static str, [usize; 2])> {
        let rows = self.width();
        let peepholes = self.peepholes.then_some(("peepholes", [1, self.n_peepholes()]));
        let context = (self.context > 0).then_some(("context", [rows, self.context]));
        [("input", [rows, self.input]), ("recurrent", [rows, self.hidden]), ("bias", [1, rows])]
            .into_iter()
            .chain(peepholes)
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
        let rows = self.hidden.checked_mul(4).ok_or_else(too_large)?;
        let widest = self.input.max(self.hidden).max(self.context);
        rows.checked_mul(widest).filter(|&n| n <= isize::MAX as usize / 8).ok_or_else(too_large)?;
        Ok(())
    }

    fn input_weights<'a, F: Float>(&self, parameters: &'a Parameters<F>, first: usize) -> ArrayView2<'a, F> {
        parameters[first].view()
    }

    fn run<F: Float>(
        &self,
        parameters: &Parameters<F>,
        first: usize,
        cell_input: &CellInput<'_, F>,
        keep: bool,
    ) -> Result<LstmActivations<F>> {
        self.forward(&self.weights(parameters, first), cell_input, keep)
    }

    fn states<F: Float>(activations: &LstmActivations<F>) -> &[F] {
        activations.states()
    }

    fn whole_states<F: Float>(activations: &LstmActivations<F>) -> Vec<F> {
        activations.whole_states()
    }

    fn last<'a, F: Float>(activations: &'a LstmActivations<F>, steps: &Steps, i: usize) -> &'a [F] {
        activations.last(steps, i)
    }

    fn through<F: Float>(
        &self,
        parameters: &Parameters<F>,
        first: usize,
        cell_input: &CellInput<'_, F>,
        activations: &LstmActivations<F>,
        upstream: &Upstream<'_, F>,
        d: Vec<&mut Tensor<F>>,
    ) -> Result<InputGradients<F>> {
        self.backward(&self.weights(parameters, first), cell_input, activations, upstream, d)
    }
}
