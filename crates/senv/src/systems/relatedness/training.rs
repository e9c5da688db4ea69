//! Training of encoder and head on scored pairs.

use std::sync::Arc;

use ndarray::{Array2, Axis, concatenate};
use senv_core::arrays::{Parameters, TokenBatch};
use senv_losses::{Predictions, RelatednessHead};

use super::{FilterStart, Relatedness, RelatednessParams, scored::Scored};
use crate::{
    error::Result,
    gradient::{
        GradientStep, Gradients, Objective, Source, StepReport, VectorDropout, Weights, scored_pairs::correlation,
        through_encoder, trainable_encoder::TrainableEncoder,
    },
};

/// The training objective of encoder and head on scored pairs.
pub(super) struct FineTuning<'p> {
    pub(super) params: &'p RelatednessParams,
    pub(super) encoder: Arc<dyn TrainableEncoder>,
    pub(super) head: RelatednessHead,
    pub(super) train: Scored,
    pub(super) dev: Option<Scored>,
    /// The initial parameters of the encoder.
    pub(super) start: Parameters<f32>,
    pub(super) identity: String,
}

/// The pairs of a step: first members, then second ones, and their gold scores.
#[derive(Default)]
pub(super) struct ScoredBatch {
    batch: TokenBatch,
    scores: Vec<f64>,
}

impl Objective for FineTuning<'_> {
    type Batch = ScoredBatch;

    fn kind(&self) -> &'static str {
        Relatedness::KIND
    }

    fn sources(&self) -> Vec<Source> {
        vec![Source { n_examples: self.train.gold.len() as u32, weight: None }]
    }

    fn identity(&self) -> String {
        self.identity.clone()
    }

    fn prepare(&self, step: &GradientStep<'_>, scored: &mut ScoredBatch) -> Result<()> {
        let n = self.train.gold.len();
        let first = step.examples.iter().map(|&i| self.train.sentences.get(i as usize));
        let second = step.examples.iter().map(|&i| self.train.sentences.get(n + i as usize));
        scored.batch.assign(first.chain(second))?;
        scored.scores.clear();
        scored.scores.extend(step.examples.iter().map(|&i| self.train.gold[i as usize]));
        Ok(())
    }

    fn gradients(
        &self,
        weights: &Weights,
        step: &GradientStep<'_>,
        ScoredBatch { batch, scores }: &ScoredBatch,
        gradients: &mut Gradients,
    ) -> Result<StepReport> {
        let targets = self.params.grid.targets::<f32>(scores)?;
        let dropout = Some(VectorDropout { rate: self.params.vector_dropout, step });
        let report = through_encoder(&*self.encoder, weights, batch, dropout, gradients, |vectors, of_head| {
            let (u, v) = vectors.split_at(Axis(0), scores.len());
            let (head, d_head) = (&weights.parameters[1], &mut of_head.dense[0]);
            let (predictions, seen) = self.head.forward(head, u, v)?;
            let loss = self.params.loss.forward(&predictions, targets.view())?;
            let d_logits = self.params.loss.backward(&predictions, targets.view(), 1.0);
            let (d_u, d_v) = self.head.backward(head, &seen, u, v, d_logits.view(), d_head)?;
            let guess = Predictions::from_logits(Array2::zeros(targets.raw_dim()));
            let chance = Some(self.params.loss.forward(&guess, targets.view())?);
            Ok((StepReport { loss, chance, ..StepReport::default() }, concatenate![Axis(0), d_u, d_v]))
        })?;
        let start = (self.params.filters == FilterStart::Universal).then_some(&self.start);
        let (fit, parameters) = (&self.params.fit, &weights.parameters);
        let (d_encoder, d_head) = gradients.d_parameters.split_at_mut(1);
        fit.penalty(self.params.l2_filters).backward_all(&parameters[0], start, 1.0, &mut d_encoder[0])?;
        fit.penalty(self.params.l2_head).backward_all(&parameters[1], None, 1.0, &mut d_head[0])?;
        Ok(report)
    }

    fn validate(&mut self, weights: &Weights) -> Result<Option<f64>> {
        let Some(dev) = &self.dev else { return Ok(None) };
        let mut batch = TokenBatch::new();
        batch.assign(dev.sentences.iter())?;
        let words = batch.gather(&weights.words)?;
        let (vectors, _) = self.encoder.forward(&weights.parameters[0], &batch, words.view())?;
        let (u, v) = vectors.view().split_at(Axis(0), dev.gold.len());
        let (predictions, _) = self.head.forward(&weights.parameters[1], u, v)?;
        let scores = predictions.scores(self.params.grid);
        Ok(Some(correlation(&dev.gold, &scores)))
    }
}
