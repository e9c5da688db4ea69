//! The forward pass of a cell over a batch.
//!
//! Equation: `gru`
//!
//! ```text
//! (F1)  P = X Wᵀ + b            one product for all steps; X: input rows, each once however often it is read
//! (F2)  u_t = H_{t−1} Uᵀ        H: states of the sentences that have a word t; with the reset before the product,
//!                               U_r and U_z first, then u_n = (r ∘ H_{t−1}) U_nᵀ
//! (F3)  H_t = cell(P[words of t], u_t)       `gru-gates`
//! ```
//!
//! A zero state is not multiplied: if initial states are zero, step 0 needs no product.
//!
//! The pass saves for `n` words and `s` sentences: gates, shape `(n, 3 h)`; u_n or r ∘ h⁻, shape `(n, h)`; and states,
//! `(s + n, h)`.

use ndarray::{ArrayView2, s};
use rayon::prelude::*;
use senv_core::{
    Error, Result,
    arrays::{Float, matmul_into},
};

use super::{Cell, Weights, gates};
use crate::{
    recurrent::{CellInput, ROWS, Steps, project, view, view_mut},
    rows::{row, zeros},
};

/// The activations of a forward pass, for the backward pass.
#[derive(Debug, Clone)]
pub(crate) struct GruActivations<F> {
    /// r, z and n of all packed rows, `3 h` values each.
    pub(super) gates: Vec<F>,
    /// u_n with its bias (reset after the product), or r ∘ h⁻ (before).
    pub(super) extra: Vec<F>,
    /// Initial states in sorted order, then the states of all packed rows.
    pub(super) states: Vec<F>,
    n_sentences: usize,
    hidden: usize,
}

impl<F: Float> GruActivations<F> {
    /// The states of all packed rows.
    pub(crate) fn states(&self) -> &[F] {
        &self.states[self.n_sentences * self.hidden..]
    }

    /// The state of the sentence at sorted position `i` after its last word; its initial state if it is empty.
    pub(crate) fn last(&self, steps: &Steps, i: usize) -> &[F] {
        row(&self.states, self.hidden, steps.last(i).map_or(i, |at| self.n_sentences + at))
    }

    /// The states before step `t`.
    pub(super) fn before(&self, steps: &Steps, t: usize) -> &[F] {
        let at = if t == 0 { 0 } else { self.n_sentences + steps.start(t - 1) };
        &self.states[at * self.hidden..][..steps.active(t) * self.hidden]
    }
}

impl Cell {
    /// The states of all words of a batch.
    pub(crate) fn forward<F: Float>(
        &self,
        weights: &Weights<'_, F>,
        cell_input: &CellInput<'_, F>,
    ) -> Result<GruActivations<F>> {
        self.run(weights, cell_input, true)
    }

    /// The same states, without the activations that only the backward pass needs.
    pub(crate) fn encode<F: Float>(
        &self,
        weights: &Weights<'_, F>,
        cell_input: &CellInput<'_, F>,
    ) -> Result<GruActivations<F>> {
        self.run(weights, cell_input, false)
    }

    fn run<F: Float>(
        &self,
        weights: &Weights<'_, F>,
        cell_input: &CellInput<'_, F>,
        keep: bool,
    ) -> Result<GruActivations<F>> {
        let (h, steps, n_sentences) = (self.hidden, cell_input.steps, cell_input.steps.n_sentences());
        let projections = self.project(weights, cell_input)?; // (F1)
        let n_states = n_sentences.checked_add(steps.total()).ok_or(Error::TooLarge { rows: usize::MAX, dim: h })?;
        let kept = if keep || steps.len() == 0 { steps.total() } else { steps.active(0) };
        let mut activations = GruActivations {
            gates: zeros(kept, 3 * h)?,
            extra: zeros(kept, h)?,
            states: zeros(n_states, h)?,
            n_sentences,
            hidden: h,
        };
        if let Some(initial) = cell_input.initial {
            activations.states[..initial.len()].copy_from_slice(initial);
        }
        let recurrent = weights.recurrent.t();
        for t in 0..steps.len() {
            let (at, active) = (steps.start(t), steps.active(t));
            let (earlier, out) = activations.states.split_at_mut((n_sentences + at) * h);
            let first = if t == 0 { 0 } else { n_sentences + steps.start(t - 1) };
            let before = &earlier[first * h..][..active * h];
            let out = &mut out[..active * h];
            let step = GruStep {
                h,
                before,
                is_zero: t == 0 && cell_input.initial.is_none(),
                a: |i: usize| row(&projections, 3 * h, cell_input.row(at + i)),
                context: |i: usize| cell_input.context.map(|context| row(context, 3 * h, i)),
            };
            let room = if keep { at } else { 0 };
            let gates = &mut activations.gates[room * 3 * h..][..active * 3 * h];
            let extra = &mut activations.extra[room * h..][..active * h];
            if self.style.resets_before() {
                step.reset_before(recurrent, gates, extra)?;
            } else {
                let bias = weights.recurrent_bias.map(|bias| &bias[2 * h..]);
                step.reset_after(recurrent, bias, gates, extra)?;
            }
            let keeps = self.style.z_keeps();
            let rows = gates.par_chunks_exact(3 * h).zip(before.par_chunks_exact(h)).zip(out.par_chunks_exact_mut(h));
            rows.with_min_len(ROWS).for_each(|((gates, before), out)| match keeps {
                true => gates::blend::<F, true>(gates, before, out),
                false => gates::blend::<F, false>(gates, before, out),
            });
        }
        Ok(activations)
    }

    /// (F1), with a row for the zero vector at the end.
    fn project<F: Float>(&self, weights: &Weights<'_, F>, cell_input: &CellInput<'_, F>) -> Result<Vec<F>> {
        let mut bias = weights.bias.to_vec();
        if let Some(recurrent) = weights.recurrent_bias {
            F::add_to(&recurrent[..2 * self.hidden], &mut bias[..2 * self.hidden]);
        }
        project(weights.input, &bias, cell_input)
    }
}

/// One step of all sentences that have a word there.
struct GruStep<'s, F, A, C> {
    h: usize,
    /// The previous states.
    before: &'s [F],
    /// Whether they are all 0.
    is_zero: bool,
    /// The projection of sentence `i`'s word.
    a: A,
    /// The values that its context adds.
    context: C,
}

impl<'s, F, A, C> GruStep<'s, F, A, C>
where
    F: Float,
    A: Fn(usize) -> &'s [F] + Sync,
    C: Fn(usize) -> Option<&'s [F]> + Sync,
{
    fn reset_after(
        &self,
        recurrent: ArrayView2<'_, F>,
        bias: Option<&[F]>,
        gates: &mut [F],
        extra: &mut [F],
    ) -> Result<()> {
        let (h, n) = (self.h, self.before.len() / self.h);
        if !self.is_zero {
            matmul_into(F::one(), view(self.before, n, h), recurrent, F::zero(), view_mut(gates, n, 3 * h))?; // (F2)
        }
        let rows = gates.par_chunks_exact_mut(3 * h).zip(extra.par_chunks_exact_mut(h)).enumerate();
        rows.with_min_len(ROWS).for_each(|(i, (gates, u))| {
            let (a, context) = ((self.a)(i), (self.context)(i));
            let (gates, n) = gates.split_at_mut(2 * h);
            gates::reset_and_update(a, context, gates);
            gates::candidate_after(&a[2 * h..], context.map(|context| &context[2 * h..]), bias, &gates[..h], n, u);
        });
        Ok(())
    }

    fn reset_before(&self, recurrent: ArrayView2<'_, F>, gates: &mut [F], extra: &mut [F]) -> Result<()> {
        let (h, n) = (self.h, self.before.len() / self.h);
        if !self.is_zero {
            let mut out = view_mut(gates, n, 3 * h);
            let (before, out) = (view(self.before, n, h), out.slice_mut(s![.., ..2 * h]));
            matmul_into(F::one(), before, recurrent.slice(s![.., ..2 * h]), F::zero(), out)?; // (F2)
        }
        let rows = gates.par_chunks_exact_mut(3 * h).zip(extra.par_chunks_exact_mut(h));
        rows.zip(self.before.par_chunks_exact(h)).enumerate().with_min_len(ROWS).for_each(
            |(i, ((gates, reset), before))| {
                gates::reset_and_update((self.a)(i), (self.context)(i), &mut gates[..2 * h]);
                gates::multiply(&gates[..h], before, reset);
            },
        );
        if !self.is_zero {
            let mut out = view_mut(gates, n, 3 * h);
            let (reset, out) = (view(extra, n, h), out.slice_mut(s![.., 2 * h..]));
            matmul_into(F::one(), reset, recurrent.slice(s![.., 2 * h..]), F::zero(), out)?; // (F2)
        }
        gates.par_chunks_exact_mut(3 * h).enumerate().with_min_len(ROWS).for_each(|(i, gates)| {
            let context = (self.context)(i).map(|context| &context[2 * h..]);
            gates::candidate_before(&(self.a)(i)[2 * h..], context, &mut gates[2 * h..]);
        });
        Ok(())
    }
}
