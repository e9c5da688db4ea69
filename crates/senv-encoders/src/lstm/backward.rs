//! The backward pass of a cell over a batch.
//!
//! Equation: `lstm-backward`
//!
//! ```text
//! (B3)  ∂C_{t−1}, ∂a_t = back(∂H_t, ∂C_t)    ∂H_{t−1} = ∂a_t U          `lstm-gates`
//! (B2)  ∂U += Σ_t ∂a_tᵀ H_{t−1}              ∂p_i += Σ ∂a_i ∘ c⁻    ∂p_f += Σ ∂a_f ∘ c⁻    ∂p_o += Σ ∂a_o ∘ c
//! (B1)  ∂P_x = Σ ∂a over the places that read x   ∂W += ∂Pᵀ X    ∂b += Σ ∂P    ∂X += ∂P W, left to the caller
//!       ∂A_s = Σ ∂a over the words of sentence s
//! ```
//!
//! During the pass, the gradients of all gates of all words are in memory: `4 h n` values for `n` words.

use rayon::prelude::*;
use senv_core::{
    Result,
    arrays::{Float, Tensor, matmul_into},
};

use super::{LstmActivations, LstmCell, Weights, gates};
use crate::{
    recurrent::{
        CellInput, InputGradients, ROWS, Recurrent, RecurrentCell, Upstream, projection_gradients, sentence_sums, view,
        view_mut,
    },
    rows::{matrix, row, zeros},
};

impl LstmCell {
    /// Adds the gradients of the tensors to `d`, except the context's matrix; returns those of the inputs.
    pub(super) fn backward<F: Float>(
        &self,
        weights: &Weights<'_, F>,
        cell_input: &CellInput<'_, F>,
        activations: &LstmActivations<F>,
        upstream: &Upstream<'_, F>,
        mut d: Vec<&mut Tensor<F>>,
    ) -> Result<InputGradients<F>> {
        let (h, width, steps) = (self.hidden, self.width(), cell_input.steps);
        let (d_a, initial) = self.through_time(weights, cell_input, activations, upstream)?;

        // (B2); zero states add nothing.
        let first = usize::from(cell_input.initial.is_none()).min(steps.len());
        let n = steps.total() - steps.start(first);
        let mut before = Vec::with_capacity(n * h);
        (first..steps.len()).for_each(|t| before.extend_from_slice(activations.before(steps, t)));
        let d_u = view(&d_a[steps.start(first) * width..], n, width);
        matmul_into(F::one(), d_u.t(), view(&before, n, h), F::one(), d[1].view_mut())?;
        if self.peepholes {
            self.add_peephole_gradients(cell_input, activations, &d_a, d[3].values_mut());
        }

        // (B1)
        let add_to = |i: usize, out: &mut [F]| F::add_to(row(&d_a, width, i), out);
        let mut projections = projection_gradients(cell_input, width, add_to)?;
        let d_bias = d[2].values_mut();
        projections.chunks_exact(width).for_each(|row| F::add_to(row, d_bias));
        let n_rows = cell_input.rows.nrows();
        projections.truncate(n_rows * width);
        let projections = matrix(n_rows, width, projections)?;
        matmul_into(F::one(), projections.t(), cell_input.rows, F::one(), d[0].view_mut())?;
        let context = match cell_input.context {
            Some(_) => sentence_sums(steps, width, add_to)?,
            None => Vec::new(),
        };
        Ok(InputGradients { projections, initial, context })
    }

    /// (B3): ∂a of all packed rows, and the gradients of the initial states, empty if these were zeros.
    fn through_time<F: Float>(
        &self,
        weights: &Weights<'_, F>,
        cell_input: &CellInput<'_, F>,
        activations: &LstmActivations<F>,
        upstream: &Upstream<'_, F>,
    ) -> Result<(Vec<F>, Vec<F>)> {
        let (h, width, steps) = (self.hidden, self.width(), cell_input.steps);
        let mut d_h = match upstream.last {
            Some(last) => last.to_vec(),
            None => zeros(steps.n_sentences(), h)?,
        };
        let mut d_c = zeros(steps.n_sentences(), h)?;
        let mut d_a = zeros(steps.total(), width)?;
        let recurrent = Recurrent::new(weights.recurrent, steps)?;
        for t in (0..steps.len()).rev() {
            let (at, active) = (steps.start(t), steps.active(t));
            let (d_h, d_c) = (&mut d_h[..active * h], &mut d_c[..active * h]);
            let d_a = &mut d_a[at * width..][..active * width];
            let gates = &activations.gates[at * width..][..active * width];
            let squashed = &activations.squashed[at * h..][..active * h];
            let rows = d_h.par_chunks_exact_mut(h).zip(d_c.par_chunks_exact_mut(h));
            let rows = rows.zip(d_a.par_chunks_exact_mut(width).zip(gates.par_chunks_exact(width)));
            let cells = activations.cells_before(steps, t).par_chunks_exact(h).zip(squashed.par_chunks_exact(h));
            rows.zip(cells).enumerate().with_min_len(ROWS).for_each(
                |(i, (((d_h, d_c), (d_a, gates)), (c_before, squashed)))| {
                    if let Some(states) = upstream.states {
                        F::add_to(row(states, h, at + i), d_h);
                    }
                    gates::back(gates, weights.peepholes, c_before, squashed, d_h, d_c, d_a);
                },
            );
            if t > 0 || cell_input.initial.is_some() {
                recurrent.times(view(d_a, active, width), F::zero(), view_mut(d_h, active, h))?;
            }
        }
        let mut initial = Vec::new();
        if cell_input.initial.is_some() {
            let rows = d_h.chunks_exact(h).zip(d_c.chunks_exact(h));
            initial = rows.flat_map(|(d_h, d_c)| d_h.iter().chain(d_c)).copied().collect();
        }
        Ok((d_a, initial))
    }

    /// (B2) for the peepholes, in packed row order.
    fn add_peephole_gradients<F: Float>(
        &self,
        cell_input: &CellInput<'_, F>,
        activations: &LstmActivations<F>,
        d_a: &[F],
        d: &mut [F],
    ) {
        let (h, width, steps) = (self.hidden, self.width(), cell_input.steps);
        for t in 0..steps.len() {
            let d_a = d_a[steps.start(t) * width..][..steps.active(t) * width].chunks_exact(width);
            let cells =
                activations.cells_before(steps, t).chunks_exact(h).zip(activations.cells_of(steps, t).chunks_exact(h));
            for (d_a, (before, cell)) in d_a.zip(cells) {
                // For i, f and o; g has no peephole.
                for (d, (gate, c)) in d.chunks_exact_mut(h).zip([(0, before), (1, before), (3, cell)]) {
                    let d_gate = &d_a[gate * h..][..h];
                    d.iter_mut().zip(d_gate.iter().zip(c)).for_each(|(d, (&a, &c))| *d += a * c);
                }
            }
        }
    }
}
