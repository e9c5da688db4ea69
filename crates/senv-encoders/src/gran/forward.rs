//! The forward pass of a GRAN over a batch.
//!
//! Equation: `gran`
//!
//! ```text
//! (F1)  H = LSTM(X)                                `lstm`, one direction, with peepholes
//! (F2)  P = X W_xᵀ + b, of gate 7 without b        one product for all places of a word
//! (F3)  Q = H W_hᵀ                                 one product for all steps
//! (F4)  y_t = P[words of t] + Q_t                  of gate 7: P[words of t] ∘ Q_t + b; of gate 4 plus a_{t−1} W_aᵀ
//! (F5)  a_t = gate(y_t; x_t, h_t, a_{t−1})         `gran-gates`, a_{−1} = 0
//! (F6)  out = mean or last of a_t                  `state-pooling`
//! ```

use ndarray::{Array2, ArrayView2};
use rayon::prelude::*;
use senv_core::{
    Result,
    arrays::{Float, Parameters, TokenBatch, matmul_into},
};

use super::{
    GranEncoder,
    gates::{self, GranGate, Operands},
};
use crate::{
    encoder::check_words,
    lstm::{LstmActivations, LstmCell},
    recurrent::{CellInput, ROWS, RecurrentCell, Steps, pool, project, view, view_mut},
    rows::{flat, matrix, row, zeros},
};

/// The saved state for the backward pass of [`GranEncoder`]: activations of the LSTM, and gates and gated vectors of
/// all words.
#[derive(Debug, Clone)]
pub struct GranSaved<F> {
    pub(super) steps: Steps,
    /// The distinct word of each packed row.
    pub(super) words: Vec<u32>,
    pub(super) lstm: LstmActivations<F>,
    /// P, with one more row than distinct words, and Q of all packed rows; only for gate 7.
    pub(super) factors: Option<(Vec<F>, Vec<F>)>,
    /// σ of y and y₂, or tanh(y), of all packed rows.
    pub(super) gates: Vec<F>,
    /// a of all packed rows.
    pub(super) gated: Vec<F>,
}

impl<F: Float> GranSaved<F> {
    pub(super) fn cell_input<'a>(&'a self, words: ArrayView2<'a, F>) -> CellInput<'a, F> {
        CellInput { steps: &self.steps, rows: words, index: Some(&self.words), initial: None, context: None }
    }

    /// The states of the LSTM of all packed rows.
    pub(super) fn states(&self) -> &[F] {
        LstmCell::states(&self.lstm)
    }
}

impl GranEncoder {
    /// Computes sentence vectors and the state for the backward pass; unless `keep`, less of the LSTM's is stored.
    pub(super) fn run<F: Float>(
        &self,
        parameters: &Parameters<F>,
        batch: &TokenBatch,
        words: ArrayView2<'_, F>,
        keep: bool,
    ) -> Result<(Array2<F>, GranSaved<F>)> {
        check_words(batch, self.word_dim(), words)?;
        self.check_parameters(parameters)?;
        let steps = Steps::of(batch)?;
        let of_places = steps.words(batch, false);
        let input = CellInput { steps: &steps, rows: words, index: Some(&of_places), initial: None, context: None };
        let lstm = self.lstm.run(parameters, 0, &input, keep)?; // (F1)
        let weights = self.weights(parameters);
        let (k, width, total) = (self.out_dim(), self.width(), steps.total());
        let is_product = self.gate == GranGate::Product;
        let no_bias = zeros(1, width)?;
        let p = project(weights.input, if is_product { &no_bias } else { weights.bias }, &input)?; // (F2)
        let mut gates = zeros(total, width)?;
        let states = view(LstmCell::states(&lstm), total, self.hidden());
        matmul_into(F::one(), states, weights.state.t(), F::zero(), view_mut(&mut gates, total, width))?; // (F3)
        let q = is_product.then(|| gates.clone());
        let rows = words.as_standard_layout();
        let (rows, states) = (flat(&rows), LstmCell::states(&lstm));
        let nothing = zeros(1, k)?;
        let mut gated = zeros(total, k)?;
        for t in 0..steps.len() {
            let (at, active) = (steps.start(t), steps.active(t));
            let (earlier, later) = gated.split_at_mut(at * k);
            let before = if t > 0 { &earlier[steps.start(t - 1) * k..][..active * k] } else { &[] };
            let gates = &mut gates[at * width..][..active * width];
            if let Some(memory) = weights.memory.filter(|_| t > 0) {
                let y = view_mut(gates, active, width);
                matmul_into(F::one(), view(before, active, k), memory.t(), F::one(), y)?; // (F4)
            }
            let written = later[..active * k].par_chunks_exact_mut(k);
            gates.par_chunks_exact_mut(width).zip(written).enumerate().with_min_len(ROWS).for_each(
                |(i, (gates, out))| {
                    let word = of_places[at + i] as usize;
                    let p = row(&p, width, word);
                    if is_product {
                        let factors = p.iter().zip(weights.bias);
                        gates.iter_mut().zip(factors).for_each(|(y, (&p, &b))| *y = *y * p + b); // (F4)
                    } else {
                        F::add_to(p, gates); // (F4)
                    }
                    let operands = Operands {
                        x: row(rows, self.word_dim(), word),
                        h: row(states, self.hidden(), at + i),
                        before: if t > 0 { row(before, k, i) } else { &nothing },
                    };
                    gates::step(self.gate, operands, gates, out); // (F5)
                },
            );
        }
        let mut out = zeros(batch.len(), k)?;
        for i in 0..batch.len() {
            let to = &mut out[steps.sentence(i) * k..][..k];
            pool::forward(self.pooling, &gated, &steps, i, to); // (F6)
        }
        let saved = GranSaved { steps, words: of_places, lstm, factors: q.map(|q| (p, q)), gates, gated };
        Ok((matrix(batch.len(), k, out)?, saved))
    }
}
