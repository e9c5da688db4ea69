//! The step that systems with one encoder share. Rows are gathered and encoded, a loss gives the gradient of the
//! sentence vectors, and the encoder backpropagates it to words and parameters.

use ndarray::{Array2, ArrayView2};
use rand::RngExt;
use senv_core::{
    Error as CoreError,
    arrays::{Parameters, TokenBatch},
    rng::stream,
};
use senv_losses::RowGradients;

use super::{GradientStep, Gradients, Lap, StepReport, Weights, trainable_encoder::AnyEncoder};
use crate::error::Result;

/// The gradients that a loss writes in addition to those of the sentence vectors. They belong to the parameter groups
/// after the first, which is the encoder's.
#[derive(Debug)]
pub struct HeadGradients<'g> {
    /// Gradients of dense parameters, one entry per group.
    pub dense: &'g mut [Parameters<f32>],
    /// Gradients of [`Objective::row_groups`](super::Objective::row_groups).
    pub rows: &'g mut Vec<RowGradients<f32>>,
}

/// Vector dropout: the share of the values of each word vector that a step sets to 0.
#[derive(Debug, Clone, Copy)]
pub struct VectorDropout<'s> {
    /// The share, at least 0 and below 1.
    pub rate: f64,
    /// The step, which determines the dropped values.
    pub step: &'s GradientStep<'s>,
}

impl VectorDropout<'_> {
    /// The mask: 1 / (1 − rate) or 0 for each value of each distinct word; `None` for a rate of 0.
    fn mask(self, words: &Array2<f32>) -> Option<Array2<f32>> {
        if self.rate == 0.0 {
            return None;
        }
        let keep = (1.0 / (1.0 - self.rate)) as f32;
        let mut rng = stream(self.step.seed, "vector dropout", &[self.step.number]);
        Some(words.map(|_| if rng.random_bool(self.rate) { 0.0 } else { keep }))
    }
}

/// Computes loss and gradient of a batch, for [`Objective::gradients`](super::Objective::gradients). It gathers the
/// rows of the batch's words, encodes its sentences, and backpropagates the gradient of their vectors to words and
/// parameters. `loss` gets the sentence vectors, shape `(n_sentences, encoder.dim())`, and returns the report of the
/// step and their gradient. The parameters of the encoder are the first group of the weights. The time of each part is
/// added to the phases.
///
/// # Errors
/// Errors of shapes or memory; [`senv_core::Error::ShapeMismatch`] if the weights have no group for the encoder.
pub fn through_encoder(
    encoder: &dyn AnyEncoder,
    weights: &Weights,
    batch: &TokenBatch,
    dropout: Option<VectorDropout<'_>>,
    gradients: &mut Gradients,
    loss: impl FnOnce(ArrayView2<'_, f32>, HeadGradients<'_>) -> Result<(StepReport, Array2<f32>)>,
) -> Result<StepReport> {
    let mut lap = Lap::start();
    if weights.parameters.is_empty() || gradients.d_parameters.is_empty() {
        let (expected, got) = (1, weights.parameters.len());
        return Err(CoreError::ShapeMismatch { what: "groups of parameters of an encoder", expected, got }.into());
    }
    gradients.begin_words(batch, weights.words.dim())?;
    let Gradients { frozen, d_words, words, d_parameters, rows, phases, .. } = gradients;
    let (d_encoder, dense) = d_parameters.split_at_mut(1);
    batch.gather_into(&weights.words, words)?;
    let mask = dropout.and_then(|dropout| dropout.mask(words));
    if let Some(mask) = &mask {
        *words *= mask;
    }
    let parameters = &weights.parameters[0];
    let (vectors, saved) = encoder.forward(parameters, batch, words.view())?;
    lap.add_to(&mut phases.encode);
    let (report, d_vectors) = loss(vectors.view(), HeadGradients { dense, rows })?;
    lap.add_to(&mut phases.loss);
    let of_words = (!*frozen).then(|| d_words.view_mut());
    encoder.backward(parameters, batch, words.view(), &*saved, d_vectors.view(), of_words, &mut d_encoder[0])?;
    if let Some(mask) = mask.filter(|_| !*frozen) {
        *d_words *= &mask;
    }
    lap.add_to(&mut phases.backward);
    Ok(report)
}
