//! The forward pass of a cell over a batch.
//!
//! Equation: `lstm`
//!
//! ```text
//! (F1)  P = X Wᵀ + b            one product for all steps; X: input rows, each once however often it is read
//! (F2)  u_t = H_{t−1} Uᵀ + A    H: states of the sentences that have a word t; A: what a context adds, if there is one
//! (F3)  C_t, H_t = cell(P[words of t], u_t, C_{t−1})       `lstm-gates`
//! ```
//!
//! Without initial states, states and cells start at zero, and step 0 needs no product. The pass saves for `n` words
//! and `s` sentences: gates, tanh of the cells, and both states and cells, each with `s` initial rows before those of
//! the words.

use rayon::prelude::*;
use senv_core::{
    Error, Result,
    arrays::{Float, matmul_into},
};

use super::{LstmCell, Weights, gates};
use crate::{
    recurrent::{CellInput, ROWS, RecurrentCell, Steps, project, view, view_mut},
    rows::{row, zeros},
};

/// The activations of a forward pass, for the backward pass.
#[derive(Debug, Clone)]
pub(crate) struct LstmActivations<F> {
    /// i, f, g and o of all packed rows.
    pub(super) gates: Vec<F>,
    /// tanh of the cells of all packed rows.
    pub(super) squashed: Vec<F>,
    /// The initial cells in sorted order, then those of all packed rows; the states likewise.
    cells: Vec<F>,
    states: Vec<F>,
    n_sentences: usize,
    hidden: usize,
}

impl<F: Float> LstmActivations<F> {
    /// The states of all packed rows.
    pub(super) fn states(&self) -> &[F] {
        &self.states[self.n_sentences * self.hidden..]
    }

    /// The states of all packed rows, each followed by its cell.
    pub(super) fn whole_states(&self) -> Vec<F> {
        let (h, first) = (self.hidden, self.n_sentences * self.hidden);
        let rows = self.states[first..].chunks_exact(h).zip(self.cells[first..].chunks_exact(h));
        rows.flat_map(|(state, cell)| state.iter().chain(cell)).copied().collect()
    }

    /// The state of the sentence at sorted position `i` after its last word; its initial state if it is empty.
    pub(super) fn last(&self, steps: &Steps, i: usize) -> &[F] {
        row(&self.states, self.hidden, steps.last(i).map_or(i, |at| self.n_sentences + at))
    }

    /// The states before step `t`.
    pub(super) fn before(&self, steps: &Steps, t: usize) -> &[F] {
        &self.states[self.place_before(steps, t)..][..steps.active(t) * self.hidden]
    }

    pub(super) fn cells_before(&self, steps: &Steps, t: usize) -> &[F] {
        &self.cells[self.place_before(steps, t)..][..steps.active(t) * self.hidden]
    }

    pub(super) fn cells_of(&self, steps: &Steps, t: usize) -> &[F] {
        &self.cells[(self.n_sentences + steps.start(t)) * self.hidden..][..steps.active(t) * self.hidden]
    }

    fn place_before(&self, steps: &Steps, t: usize) -> usize {
        (if t == 0 { 0 } else { self.n_sentences + steps.start(t - 1) }) * self.hidden
    }
}

impl LstmCell {
    /// The states of all words of a batch; unless `keep`, without the activations that only the backward pass needs.
    pub(super) fn forward<F: Float>(
        &self,
        weights: &Weights<'_, F>,
        cell_input: &CellInput<'_, F>,
        keep: bool,
    ) -> Result<LstmActivations<F>> {
        let (h, width, steps) = (self.hidden, self.width(), cell_input.steps);
        let n_sentences = steps.n_sentences();
        let projections = project(weights.input, weights.bias, cell_input)?; // (F1)
        let n_states = n_sentences.checked_add(steps.total()).ok_or(Error::TooLarge { rows: usize::MAX, dim: h })?;
        let kept = if keep || steps.len() == 0 { steps.total() } else { steps.active(0) };
        let mut activations = LstmActivations {
            gates: zeros(kept, width)?,
            squashed: zeros(kept, h)?,
            cells: zeros(n_states, h)?,
            states: zeros(n_states, h)?,
            n_sentences,
            hidden: h,
        };
        if let Some(initial) = cell_input.initial {
            for (i, initial) in initial.chunks_exact(2 * h).enumerate() {
                activations.states[i * h..(i + 1) * h].copy_from_slice(&initial[..h]);
                activations.cells[i * h..(i + 1) * h].copy_from_slice(&initial[h..]);
            }
        }
        let recurrent = weights.recurrent.t();
        for t in 0..steps.len() {
            let (at, active) = (steps.start(t), steps.active(t));
            let first = activations.place_before(steps, t);
            let (earlier, states) = activations.states.split_at_mut((n_sentences + at) * h);
            let (earlier_cells, cells) = activations.cells.split_at_mut((n_sentences + at) * h);
            let (before, cells_before) = (&earlier[first..][..active * h], &earlier_cells[first..][..active * h]);
            let room = if keep { at } else { 0 };
            let gates = &mut activations.gates[room * width..][..active * width];
            let squashed = &mut activations.squashed[room * h..][..active * h];
            if t > 0 || cell_input.initial.is_some() {
                let out = view_mut(gates, active, width);
                matmul_into(F::one(), view(before, active, h), recurrent, F::zero(), out)?; // (F2)
            }
            let rows = gates.par_chunks_exact_mut(width).zip(cells_before.par_chunks_exact(h));
            let written = cells[..active * h].par_chunks_exact_mut(h).zip(squashed.par_chunks_exact_mut(h));
            let rows = rows.zip(written.zip(states[..active * h].par_chunks_exact_mut(h)));
            rows.enumerate().with_min_len(ROWS).for_each(|(i, ((gates, cell_before), ((cell, squashed), out)))| {
                let a = row(&projections, width, cell_input.row(at + i));
                if let Some(context) = cell_input.context {
                    F::add_to(row(context, width, i), gates); // (F2)
                }
                gates::step(a, weights.peepholes, cell_before, gates, cell, squashed, out); // (F3)
            });
        }
        Ok(activations)
    }
}
