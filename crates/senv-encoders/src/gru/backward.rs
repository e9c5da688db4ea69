//! The backward pass of a cell over a batch.
//!
//! Equation: `gru-backward`
//!
//! ```text
//! (B3)  ∂H_{t−1} = back(∂H_t) + ∂u_t U           `gru-gates`; with the reset before the product, U_n first, separately
//! (B2)  ∂U += Σ_t ∂u_tᵀ H_{t−1}                  one product for all steps (two with the reset before the product)
//! (B1)  ∂P_x = Σ ∂a over the places that read x   ∂W += ∂Pᵀ X    ∂b += Σ ∂P    ∂X += ∂P W, left to the caller
//! ```
//!
//! One thread sums over the positions of a word in a fixed order. During the pass, the gradients of all gates of all
//! words are in memory: `4 h n` values for `n` words, plus the size of the projections.

use ndarray::s;
use rayon::prelude::*;
use senv_core::{
    Result,
    arrays::{Float, matmul_into},
};

use super::{Cell, Gradients, GruActivations, Weights, gates};
use crate::{
    recurrent::{
        CellInput, InputGradients, ROWS, Recurrent, Upstream, projection_gradients, sentence_sums, view, view_mut,
    },
    rows::{matrix, row, zeros},
};

/// ∂u and ∂a_n of all packed rows. With the reset before the product, ∂u is ∂a and the second is empty.
struct GateGradients<F> {
    h: usize,
    u: Vec<F>,
    n: Vec<F>,
}

impl<F: Float> GateGradients<F> {
    /// Adds ∂a of packed row `i` to `out`.
    fn add_to(&self, i: usize, out: &mut [F]) {
        let h = self.h;
        let u = row(&self.u, 3 * h, i);
        if self.n.is_empty() {
            return F::add_to(u, out);
        }
        F::add_to(&u[..2 * h], &mut out[..2 * h]);
        F::add_to(row(&self.n, h, i), &mut out[2 * h..]);
    }
}

/// Adds the sum of the rows to `out`.
fn add_rows<F: Float>(rows: &[F], out: &mut [F]) {
    rows.chunks_exact(out.len()).for_each(|row| F::add_to(row, out));
}

impl Cell {
    /// Adds the gradients of the cell's parameters (except the context's matrix) to `d`.
    pub(crate) fn backward<F: Float>(
        &self,
        weights: &Weights<'_, F>,
        cell_input: &CellInput<'_, F>,
        activations: &GruActivations<F>,
        upstream: &Upstream<'_, F>,
        d: &mut Gradients<'_, F>,
    ) -> Result<InputGradients<F>> {
        let (h, steps) = (self.hidden, cell_input.steps);
        let mut d_h = match upstream.last {
            Some(last) => last.to_vec(),
            None => zeros(steps.n_sentences(), h)?,
        };
        let d_gates = self.through_time(weights, cell_input, activations, upstream, &mut d_h)?;
        self.recurrent_gradients(cell_input, activations, &d_gates, d)?;

        let projections = projection_gradients(cell_input, self.gates(), |i, out| d_gates.add_to(i, out))?;
        let n_rows = cell_input.rows.nrows();
        add_rows(&projections, d.bias); // (B1)
        let mut projections = projections;
        projections.truncate(n_rows * 3 * h);
        let projections = matrix(n_rows, 3 * h, projections)?;
        matmul_into(F::one(), projections.t(), cell_input.rows, F::one(), d.input.view_mut())?; // (B1)

        let mut context = Vec::new();
        if cell_input.context.is_some() {
            context = sentence_sums(steps, 3 * h, |i, out| d_gates.add_to(i, out))?;
        }
        let initial = if cell_input.initial.is_some() { d_h } else { Vec::new() };
        Ok(InputGradients { projections, initial, context })
    }

    /// (B3): `d_h` becomes the gradient of the initial states.
    fn through_time<F: Float>(
        &self,
        weights: &Weights<'_, F>,
        cell_input: &CellInput<'_, F>,
        activations: &GruActivations<F>,
        upstream: &Upstream<'_, F>,
        d_h: &mut [F],
    ) -> Result<GateGradients<F>> {
        let (h, steps, before_product) = (self.hidden, cell_input.steps, self.style.resets_before());
        let total = steps.total();
        let mut d = GateGradients { h, u: zeros(total, 3 * h)?, n: zeros(if before_product { 0 } else { total }, h)? };
        let first_rows = if before_product { 2 * h } else { 3 * h };
        let first_u = Recurrent::new(weights.recurrent.slice(s![..first_rows, ..]), steps)?;
        let u_n = Recurrent::new(weights.recurrent.slice(s![first_rows.., ..]), steps)?;
        let mut d_reset = zeros(if before_product { steps.n_sentences() } else { 0 }, h)?;
        for t in (0..steps.len()).rev() {
            let (at, active) = (steps.start(t), steps.active(t));
            let d_h = &mut d_h[..active * h];
            let (before, gates) = (activations.before(steps, t), &activations.gates[at * 3 * h..][..active * 3 * h]);
            let d_u = &mut d.u[at * 3 * h..][..active * 3 * h];
            let multiplied = t > 0 || cell_input.initial.is_some();
            let add_upstream = |i: usize, d_h: &mut [F]| {
                if let Some(states) = upstream.states {
                    F::add_to(row(states, h, at + i), d_h);
                }
            };
            let rows = d_h.par_chunks_exact_mut(h).zip(d_u.par_chunks_exact_mut(3 * h));
            let rows = rows.zip(gates.par_chunks_exact(3 * h).zip(before.par_chunks_exact(h)));
            if before_product {
                rows.enumerate().with_min_len(ROWS).for_each(|(i, ((d_h, d_a), (gates, before)))| {
                    add_upstream(i, d_h);
                    match self.style.z_keeps() {
                        true => gates::back_before::<F, true>(gates, before, d_h, d_a),
                        false => gates::back_before::<F, false>(gates, before, d_h, d_a),
                    }
                });
                if !multiplied {
                    continue;
                }
                let (d_a, q) = (view(d_u, active, 3 * h), &mut d_reset[..active * h]);
                u_n.times(d_a.slice(s![.., 2 * h..]), F::zero(), view_mut(q, active, h))?; // (B3)
                let rows = d_h.par_chunks_exact_mut(h).zip(d_u.par_chunks_exact_mut(3 * h));
                let rows = rows.zip(gates.par_chunks_exact(3 * h).zip(before.par_chunks_exact(h)));
                rows.zip(q.par_chunks_exact(h)).with_min_len(ROWS).for_each(|(((d_h, d_a), (gates, before)), q)| {
                    gates::back_reset(&gates[..h], before, q, d_h, &mut d_a[..h]);
                });
                let d_a = view(d_u, active, 3 * h);
                first_u.times(d_a.slice(s![.., ..2 * h]), F::one(), view_mut(d_h, active, h))?; // (B3)
            } else {
                let (u, d_n) = (&activations.extra[at * h..][..active * h], &mut d.n[at * h..][..active * h]);
                let rows = rows.zip(u.par_chunks_exact(h).zip(d_n.par_chunks_exact_mut(h)));
                rows.enumerate().with_min_len(ROWS).for_each(|(i, (((d_h, d_u), (gates, before)), (u, d_n)))| {
                    add_upstream(i, d_h);
                    match self.style.z_keeps() {
                        true => gates::back_after::<F, true>(gates, u, before, d_h, d_u, d_n),
                        false => gates::back_after::<F, false>(gates, u, before, d_h, d_u, d_n),
                    }
                });
                if multiplied {
                    first_u.times(view(d_u, active, 3 * h), F::one(), view_mut(d_h, active, h))?; // (B3)
                }
            }
        }
        Ok(d)
    }

    /// (B2), and the biases of the recurrent product.
    fn recurrent_gradients<F: Float>(
        &self,
        cell_input: &CellInput<'_, F>,
        activations: &GruActivations<F>,
        d_gates: &GateGradients<F>,
        d: &mut Gradients<'_, F>,
    ) -> Result<()> {
        let (h, steps) = (self.hidden, cell_input.steps);
        if let Some(d_bias) = &mut d.recurrent_bias {
            add_rows(&d_gates.u, d_bias);
        }
        // Zero states add nothing.
        let first = usize::from(cell_input.initial.is_none()).min(steps.len());
        let n = steps.total() - steps.start(first);
        let mut before = Vec::with_capacity(n * h);
        (first..steps.len()).for_each(|t| before.extend_from_slice(activations.before(steps, t)));
        let before = view(&before, n, h);
        let d_u = view(&d_gates.u[steps.start(first) * 3 * h..], n, 3 * h);
        if !self.style.resets_before() {
            return matmul_into(F::one(), d_u.t(), before, F::one(), d.recurrent.view_mut()); // (B2)
        }
        let (d_gates, d_n) = (d_u.slice(s![.., ..2 * h]), d_u.slice(s![.., 2 * h..]));
        let reset = view(&activations.extra[steps.start(first) * h..], n, h);
        matmul_into(F::one(), d_gates.t(), before, F::one(), d.recurrent.slice_mut(s![..2 * h, ..]))?; // (B2)
        matmul_into(F::one(), d_n.t(), reset, F::one(), d.recurrent.slice_mut(s![2 * h.., ..])) // (B2)
    }
}
