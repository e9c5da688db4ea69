//! Training of encoder and classifier on labelled pairs.

use std::sync::Arc;

use ndarray::{Axis, concatenate};
use senv_core::{Observer, Sentences, Vocabulary, arrays::TokenBatch};
use senv_losses::{NLI_LABELS, NliHead};

use super::{NliPairs, Snli};
use crate::{
    data::reading::Reading,
    error::Result,
    gradient::{
        GradientStep, Gradients, Objective, Source, StepReport, Weights, through_encoder,
        trainable_encoder::TrainableEncoder,
    },
    sequence::LongSentences,
};

/// Pairs per batch of prediction.
pub(super) const A_BATCH: usize = 256;

/// Labelled pairs as token ids.
pub(super) struct Labelled {
    /// The premises, then the hypotheses.
    sentences: Sentences,
    labels: Vec<u32>,
}

impl Labelled {
    /// Converts pairs to token ids, with a note on long sentences that uses `name`.
    ///
    /// # Errors
    /// [`Error::AllTooLong`](crate::Error::AllTooLong) if every pair is left out.
    pub(super) fn new(
        pairs: &NliPairs,
        reading: &Reading,
        vocabulary: &Vocabulary,
        policy: LongSentences,
        name: &str,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let (mut scratch, mut premise, mut hypothesis) = (String::new(), Vec::new(), Vec::new());
        let (mut sentences, mut hypotheses, mut labels, mut n_long) =
            (Sentences::new(), Sentences::new(), Vec::new(), 0);
        for (label, first, second) in &pairs.pairs {
            let mut cut = |text: &str, tokens| reading.read_to_train(vocabulary, text, &mut scratch, tokens).unread > 0;
            let cut = usize::from(cut(first, &mut premise)) + usize::from(cut(second, &mut hypothesis));
            if cut > 0 && policy == LongSentences::Drop {
                n_long += 1;
                continue;
            }
            n_long += cut;
            sentences.push(premise.iter().copied());
            hypotheses.push(hypothesis.iter().copied());
            labels.push(*label);
        }
        let what = match policy {
            LongSentences::Cut => "sentences",
            LongSentences::Drop => "pairs with a sentence",
        };
        policy.report((n_long, labels.len()), &format!("{name}{what}"), reading.max_tokens, observer)?;
        hypotheses.iter().for_each(|sentence| sentences.push(sentence.iter().copied()));
        Ok(Self { sentences, labels })
    }

    /// The premises, then the hypotheses.
    pub(super) fn sentences(&self) -> &Sentences {
        &self.sentences
    }

    /// The sentences of these pairs: premises, then hypotheses.
    fn assign(&self, examples: &[u32], labelled: &mut LabelledBatch) -> Result<()> {
        let n = self.labels.len();
        let premises = examples.iter().map(|&i| self.sentences.get(i as usize));
        let hypotheses = examples.iter().map(|&i| self.sentences.get(n + i as usize));
        labelled.labels.clear();
        labelled.labels.extend(examples.iter().map(|&i| self.labels[i as usize]));
        Ok(labelled.batch.assign(premises.chain(hypotheses))?)
    }

    /// A string that identifies the pairs.
    pub(super) fn identity(&self) -> String {
        let mut hash = 0u64;
        let numbers = self.sentences.iter().flatten().map(|token| token.0).chain(self.labels.iter().copied());
        for number in numbers {
            hash = (hash.rotate_left(23) ^ u64::from(number)).wrapping_mul(0xD6E8_FEB8_6659_FD93);
        }
        format!("{} pairs {hash:016x}", self.labels.len())
    }
}

/// The objective: `nli-head` on two vectors of one encoder.
pub(super) struct Pairs {
    pub(super) encoder: Arc<dyn TrainableEncoder>,
    pub(super) head: NliHead,
    pub(super) train: Labelled,
    pub(super) dev: Option<Labelled>,
    pub(super) identity: String,
}

/// Premises, then hypotheses, and their labels.
#[derive(Default)]
pub(super) struct LabelledBatch {
    batch: TokenBatch,
    labels: Vec<u32>,
}

impl Objective for Pairs {
    type Batch = LabelledBatch;

    fn kind(&self) -> &'static str {
        Snli::KIND
    }

    fn sources(&self) -> Vec<Source> {
        vec![Source { n_examples: self.train.labels.len() as u32, weight: None }]
    }

    fn identity(&self) -> String {
        self.identity.clone()
    }

    fn prepare(&self, step: &GradientStep<'_>, batch: &mut LabelledBatch) -> Result<()> {
        self.train.assign(step.examples, batch)
    }

    fn gradients(
        &self,
        weights: &Weights,
        _: &GradientStep<'_>,
        LabelledBatch { batch, labels }: &LabelledBatch,
        gradients: &mut Gradients,
    ) -> Result<StepReport> {
        through_encoder(&*self.encoder, weights, batch, None, gradients, |vectors, of_head| {
            let (u, v) = vectors.split_at(Axis(0), labels.len());
            let head = &weights.parameters[1];
            let predictions = self.head.forward(head, u, v)?;
            let loss = predictions.loss(labels)?;
            let (d_u, d_v) = self.head.backward(head, &predictions, labels, 1.0, &mut of_head.dense[0])?;
            let chance = Some((NLI_LABELS.len() as f64).ln());
            let report = StepReport { loss, chance, tokens: batch.n_tokens() as u64, ..StepReport::default() };
            Ok((report, concatenate![Axis(0), d_u, d_v]))
        })
    }

    /// The share of held-out pairs with the right label.
    fn validate(&mut self, weights: &Weights) -> Result<Option<f64>> {
        let Some(dev) = &self.dev else { return Ok(None) };
        let examples: Vec<u32> = (0..dev.labels.len() as u32).collect();
        let (mut right, mut labelled) = (0.0, LabelledBatch::default());
        for examples in examples.chunks(A_BATCH) {
            dev.assign(examples, &mut labelled)?;
            let LabelledBatch { batch, labels } = &labelled;
            let words = batch.gather(&weights.words)?;
            let vectors = self.encoder.encode(&weights.parameters[0], batch, words.view())?;
            if vectors.iter().any(|x| !x.is_finite()) {
                return Ok(Some(f64::NAN));
            }
            let (u, v) = vectors.view().split_at(Axis(0), labels.len());
            right += self.head.forward(&weights.parameters[1], u, v)?.accuracy(labels)? * labels.len() as f64;
        }
        Ok(Some(right / dev.labels.len() as f64))
    }
}
