//! The backward pass of a GRAN over a batch.
//!
//! Equation: `gran-backward`
//!
//! ```text
//! (B6)  ∂a_t from ∂out                                 `state-pooling`
//! (B5)  ∂y_t, ∂x, ∂h, ∂a_{t−1} += back(∂a_t)           `gran-gates`, from the last step to the first
//! (B4)  gate 4: ∂W_a += Σ_t ∂y_tᵀ a_{t−1}    ∂a_{t−1} += ∂y_t W_a
//!       ∂b += Σ ∂y      ∂P[word] += ∂y       ∂Q = ∂y;        gate 7: ∂P[word] += ∂y ∘ Q    ∂Q = ∂y ∘ P[word]
//! (B3)  ∂W_h += ∂Qᵀ H       ∂H += ∂Q W_h
//! (B2)  ∂W_x += ∂Pᵀ X       ∂X += ∂P W_x
//! (B1)  ∂X += back of the LSTM of ∂H                   `lstm-backward`
//! ```

use ndarray::{ArrayView2, ArrayViewMut2};
use rayon::prelude::*;
use senv_core::{
    Result,
    arrays::{Float, Parameters, TokenBatch, matmul_into},
};

use super::{
    GranEncoder, GranSaved,
    gates::{self, OperandGradients, Operands},
};
use crate::{
    encoder::{check_gradients, check_words},
    recurrent::{ROWS, RecurrentCell, Upstream, pool, projection_gradients, view, view_mut},
    rows::{add_by_rows, flat, row, zeros},
};

/// Gradients of all packed rows: ∂y, and the parts of ∂x and ∂h that come only through the gated vectors (empty if
/// there are none).
struct GateGradients<F> {
    y: Vec<F>,
    x: Vec<F>,
    h: Vec<F>,
}

impl GranEncoder {
    /// Adds the gradients of the words and the parameters, as in [`Encoder::backward`](crate::Encoder::backward).
    #[allow(clippy::too_many_arguments)]
    pub(super) fn through<F: Float>(
        &self,
        parameters: &Parameters<F>,
        batch: &TokenBatch,
        words: ArrayView2<'_, F>,
        saved: &GranSaved<F>,
        d_out: ArrayView2<'_, F>,
        mut d_words: Option<ArrayViewMut2<'_, F>>,
        d_parameters: &mut Parameters<F>,
    ) -> Result<()> {
        check_words(batch, self.word_dim(), words)?;
        self.check_parameters(parameters)?;
        self.check_parameters(d_parameters)?;
        check_gradients(batch, self.out_dim(), d_out, words, d_words.as_ref())?;
        self.check_saved(batch, saved)?;
        let (k, width, h) = (self.out_dim(), self.width(), self.hidden());
        let (steps, total) = (&saved.steps, saved.steps.total());
        let weights = self.weights(parameters);
        let d_out = d_out.as_standard_layout();
        let d_out = steps.sorted(flat(&d_out), k);
        let d_gated = pool::backward(self.pooling, &saved.gated, steps, k, &d_out)?; // (B6)
        let rows = words.as_standard_layout();
        let GateGradients { y: d_y, x: d_x, h: d_h } = self.through_gates(parameters, flat(&rows), saved, d_gated)?;
        let mut tensors: Vec<_> = d_parameters.iter_mut().collect();
        let mut own = tensors.split_off(self.lstm.n_tensors());

        // (B4), in packed row order.
        if let Some(memory) = own.get_mut(3).filter(|_| steps.len() > 1) {
            let first = steps.start(1);
            let mut before = Vec::with_capacity((total - first) * k);
            for t in 1..steps.len() {
                before.extend_from_slice(&saved.gated[steps.start(t - 1) * k..][..steps.active(t) * k]);
            }
            let d_y = view(&d_y[first * width..], total - first, width);
            matmul_into(F::one(), d_y.t(), view(&before, total - first, k), F::one(), memory.view_mut())?;
        }
        let d_bias = own[2].values_mut();
        d_y.chunks_exact(width).for_each(|d_y| F::add_to(d_y, d_bias));
        let (mut d_p, mut d_q) = (None, None);
        if let Some((p, q)) = &saved.factors {
            let times = |factor: &dyn Fn(usize) -> usize, of: &[F]| -> Vec<F> {
                let rows = d_y.chunks_exact(width).enumerate();
                rows.flat_map(|(i, d)| d.iter().zip(row(of, width, factor(i))).map(|(&d, &x)| d * x)).collect()
            };
            d_p = Some(times(&|i| i, q));
            d_q = Some(times(&|i| saved.words[i] as usize, p));
        }
        let d_p = d_p.as_deref().unwrap_or(&d_y);
        let d_q = view(d_q.as_deref().unwrap_or(&d_y), total, width);

        // (B3)
        let mut d_states = if d_h.is_empty() { zeros(total, h)? } else { d_h };
        matmul_into(F::one(), d_q.t(), view(saved.states(), total, h), F::one(), own[1].view_mut())?;
        matmul_into(F::one(), d_q, weights.state, F::one(), view_mut(&mut d_states, total, h))?;

        // (B2)
        let cell_input = saved.cell_input(words);
        let mut d_p = projection_gradients(&cell_input, width, |i, out| F::add_to(row(d_p, width, i), out))?;
        d_p.truncate(words.nrows() * width);
        let d_p = view(&d_p, words.nrows(), width);
        matmul_into(F::one(), d_p.t(), words, F::one(), own[0].view_mut())?;

        // (B1)
        let upstream = Upstream { states: Some(&d_states), last: None };
        let d_lstm = self.lstm.through(parameters, 0, &cell_input, &saved.lstm, &upstream, tensors)?;
        let Some(d_words) = &mut d_words else { return Ok(()) };
        matmul_into(
            F::one(),
            d_lstm.projections.view(),
            self.lstm.input_weights(parameters, 0),
            F::one(),
            d_words.view_mut(),
        )?;
        matmul_into(F::one(), d_p, weights.input, F::one(), d_words.view_mut())?;
        if d_x.is_empty() {
            return Ok(());
        }
        let of_gate = projection_gradients(&cell_input, k, |i, out| F::add_to(row(&d_x, k, i), out))?;
        add_by_rows(d_words.view_mut(), |d_words| F::add_to(&of_gate[..d_words.len()], d_words))
    }

    /// (B5), and ∂a_{t−1} of (B4).
    fn through_gates<F: Float>(
        &self,
        parameters: &Parameters<F>,
        rows: &[F],
        saved: &GranSaved<F>,
        mut d_gated: Vec<F>,
    ) -> Result<GateGradients<F>> {
        let (k, width, h) = (self.out_dim(), self.width(), self.hidden());
        let (steps, total) = (&saved.steps, saved.steps.total());
        let mut d = GateGradients {
            y: zeros(total, width)?,
            x: zeros(if self.gate.has_word() { total } else { 0 }, k)?,
            h: zeros(if self.gate.has_state() { total } else { 0 }, k)?,
        };
        let remembers = self.gate.remembers();
        let nothing = zeros(1, k)?;
        let memory = self.weights(parameters).memory;
        for t in (0..steps.len()).rev() {
            let (at, active) = (steps.start(t), steps.active(t));
            let before_at = if t > 0 { steps.start(t - 1) } else { 0 };
            let (earlier, later) = d_gated.split_at_mut(at * k);
            let d_out = &later[..active * k];
            let mut unused = zeros(if remembers && t == 0 { active } else { 0 }, k)?;
            let d_before: &mut [F] = match (remembers, t) {
                (true, 0) => &mut unused,
                (true, _) => &mut earlier[before_at * k..][..active * k],
                _ => &mut [],
            };
            let gates = &saved.gates[at * width..][..active * width];
            let d_y = &mut d.y[at * width..][..active * width];
            let of_x = rows_or_none(&mut d.x, at, active, k);
            let of_h = rows_or_none(&mut d.h, at, active, k);
            let of_before = rows_or_none(d_before, 0, active, k);
            let gradients = of_x.into_par_iter().zip(of_h).zip(of_before);
            let work = d_y.par_chunks_exact_mut(width).zip(gates.par_chunks_exact(width)).zip(gradients);
            work.enumerate().with_min_len(ROWS).for_each(|(i, ((d_y, gates), ((d_x, d_h), d_before)))| {
                let operands = Operands {
                    x: row(rows, self.word_dim(), saved.words[at + i] as usize),
                    h: row(saved.states(), h, at + i),
                    before: if t > 0 { row(&saved.gated, k, before_at + i) } else { &nothing },
                };
                let d = OperandGradients { x: d_x, h: d_h, before: d_before };
                gates::back(self.gate, operands, gates, row(d_out, k, i), d_y, d);
            });
            if let Some(memory) = memory.filter(|_| t > 0) {
                let d_before = view_mut(&mut earlier[before_at * k..][..active * k], active, k);
                matmul_into(F::one(), view(d_y, active, width), memory, F::one(), d_before)?;
            }
        }
        Ok(d)
    }
}

/// `n` rows of `k` values starting at row `at`, or the same number of empty slices if there are no values.
fn rows_or_none<F>(values: &mut [F], at: usize, n: usize, k: usize) -> Vec<&mut [F]> {
    if values.is_empty() {
        return (0..n).map(|_| &mut [][..]).collect();
    }
    values[at * k..][..n * k].chunks_exact_mut(k).collect()
}
