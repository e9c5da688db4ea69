//! The objective of BOW AE: to reconstruct each sentence from its vector.

use ndarray::{Array2, ArrayView2};
use senv_core::{
    Sentences,
    arrays::{Parameters, TokenBatch},
    rng::Stream,
};
use senv_encoders::Encoder;
use senv_losses::{HierarchicalSoftmax, MultiLabelLoss, RowGradients};

use super::{BowAutoencoder, BowAutoencoderParams, Reconstruction};
use crate::{
    error::Result,
    gradient::{
        GradientStep, Gradients, Objective, Source, StepReport, Weights, WordUpdates, present_words::PresentWords,
        through_encoder,
    },
};

/// Held-out sentences per batch.
const A_BATCH: usize = 256;

/// The output layer over the words.
#[derive(Debug, Clone)]
pub(super) enum Output {
    Full(MultiLabelLoss),
    Tree(HierarchicalSoftmax),
}

impl Output {
    pub(super) fn new(params: &BowAutoencoderParams, n_words: usize) -> Self {
        match params.reconstruction {
            Reconstruction::Full => Self::Full(MultiLabelLoss::new(params.dim, n_words)),
            Reconstruction::Tree => Self::Tree(HierarchicalSoftmax::new(params.dim, n_words)),
        }
    }

    pub(super) fn init(&self, rng: &mut Stream) -> Result<Parameters<f32>> {
        Ok(match self {
            Self::Full(loss) => loss.init(rng)?,
            Self::Tree(loss) => loss.init(rng)?,
        })
    }

    pub(super) fn losses(
        &self,
        parameters: &Parameters<f32>,
        h: ArrayView2<'_, f32>,
        sentences: &Sentences,
    ) -> Result<Vec<f64>> {
        Ok(match self {
            Self::Full(loss) => loss.forward(parameters, h, sentences)?,
            Self::Tree(loss) => loss.forward(parameters, h, sentences)?,
        })
    }

    /// The loss of a random guess: a coin toss for every word, or for every node on the path to each word.
    fn chance(&self, sentences: &Sentences) -> f64 {
        match self {
            Self::Full(loss) => loss.n_words as f64 * std::f64::consts::LN_2,
            Self::Tree(loss) => {
                let words: usize = sentences.iter().map(<[_]>::len).sum();
                words as f64 / sentences.len().max(1) as f64 * (loss.n_words as f64).ln()
            }
        }
    }

    pub(super) fn loss_and_gradients(
        &self,
        parameters: &Parameters<f32>,
        h: ArrayView2<'_, f32>,
        sentences: &Sentences,
        d_parameters: &mut Parameters<f32>,
    ) -> Result<(f64, Array2<f32>, Option<RowGradients<f32>>)> {
        match self {
            Self::Full(loss) => {
                let (loss, d_h) = loss.loss_and_gradients(parameters, h, sentences, 1.0, d_parameters)?;
                Ok((loss, d_h, None))
            }
            Self::Tree(loss) => {
                let (loss, d_h, rows) = loss.loss_and_gradients(parameters, h, sentences, 1.0)?;
                Ok((loss, d_h, Some(rows)))
            }
        }
    }
}

/// Sentences to be reconstructed.
pub(super) struct Autoencoding {
    pub(super) encoder: PresentWords,
    pub(super) output: Output,
    /// The distinct words of each sentence.
    pub(super) sentences: Sentences,
    pub(super) n: u32,
    /// Held-out sentences for validation.
    pub(super) dev: Option<Sentences>,
    /// Which word vectors are updated, and whether tree rows without a gradient are.
    pub(super) updates: WordUpdates,
    pub(super) identity: String,
}

/// The sentences of a step.
#[derive(Default)]
pub(super) struct ReconstructionBatch {
    batch: TokenBatch,
    sentences: Sentences,
}

impl ReconstructionBatch {
    /// Sets the batch to these sentences of a set.
    fn assign(&mut self, set: &Sentences, numbers: impl Iterator<Item = usize>) -> Result<()> {
        self.sentences.clear();
        numbers.for_each(|i| self.sentences.push(set.get(i).iter().copied()));
        Ok(self.batch.assign(self.sentences.iter())?)
    }
}

impl Objective for Autoencoding {
    type Batch = ReconstructionBatch;

    fn kind(&self) -> &'static str {
        BowAutoencoder::KIND
    }

    fn sources(&self) -> Vec<Source> {
        vec![Source { n_examples: self.n, weight: None }]
    }

    fn identity(&self) -> String {
        self.identity.clone()
    }

    /// The nodes of the tree; with dense updates, every node is updated in every step.
    fn row_groups(&self) -> Vec<usize> {
        let rows = matches!(self.output, Output::Tree(_)) && self.updates != WordUpdates::Dense;
        if rows { vec![1] } else { Vec::new() }
    }

    fn prepare(&self, step: &GradientStep<'_>, batch_of_step: &mut ReconstructionBatch) -> Result<()> {
        batch_of_step.assign(&self.sentences, step.examples.iter().map(|&i| i as usize))
    }

    fn gradients(
        &self,
        weights: &Weights,
        _: &GradientStep<'_>,
        ReconstructionBatch { batch, sentences }: &ReconstructionBatch,
        gradients: &mut Gradients,
    ) -> Result<StepReport> {
        let is_dense = self.row_groups().is_empty();
        through_encoder(&self.encoder, weights, batch, None, gradients, |h, of_output| {
            let d_output = &mut of_output.dense[0];
            let (loss, d_h, of_rows) =
                self.output.loss_and_gradients(&weights.parameters[1], h, sentences, d_output)?;
            if let Some(of_rows) = of_rows {
                if is_dense { of_rows.add_to(d_output, 0)? } else { *of_output.rows = vec![of_rows] }
            }
            let chance = Some(self.output.chance(sentences));
            Ok((StepReport { loss, chance, tokens: batch.n_tokens() as u64, ..StepReport::default() }, d_h))
        })
    }

    /// The negated mean loss of a held-out sentence, so larger is better.
    fn validate(&mut self, weights: &Weights) -> Result<Option<f64>> {
        let Some(dev) = &self.dev else { return Ok(None) };
        let (mut sum, mut batch_of_step) = (0.0, ReconstructionBatch::default());
        for first in (0..dev.len()).step_by(A_BATCH) {
            batch_of_step.assign(dev, first..dev.len().min(first + A_BATCH))?;
            let words = batch_of_step.batch.gather(&weights.words)?;
            let (h, _) = self.encoder.forward(&weights.parameters[0], &batch_of_step.batch, words.view())?;
            sum += self.output.losses(&weights.parameters[1], h.view(), &batch_of_step.sentences)?.iter().sum::<f64>();
        }
        Ok(Some(-sum / dev.len() as f64))
    }
}
