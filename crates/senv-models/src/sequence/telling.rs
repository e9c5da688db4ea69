//! The objective of the systems with decoders: from the vector of one sentence, others are told word by word.
//!
//! Equation: `sequence-objective`
//!
//! ```text
//! (F1)  L = Σ_k α_k L_k          L_k: `token-nll` or its likes of decoder k, added up or averaged over its tokens
//! ```
//!
//! Skip-thoughts: the sentences before and after, α = (1, 1). RNN AE: the sentence itself. P-thought: the sentence itself
//! and a paraphrase, α = (1, α) from `dual-decoder-objective`.

use ndarray::Array2;
use senv_core::{Sentences, TokenBatch, TokenId};
use senv_encoders::{Encoder, GruDecoder};
use senv_losses::Reduction;

use super::{check_gradients, form::Machine, reading::END};
use crate::{
    Result,
    fit::{Gradients, Objective, Source, Step, StepReport, Weights},
};

/// A sentence to be encoded, and those to be told.
pub(crate) type Example = [u32; 3];

/// Held-out examples that are told at a time.
const A_BATCH: usize = 128;

/// Sentences, and the examples among them.
pub(crate) struct ExampleSet {
    /// Without end tokens.
    pub(crate) sentences: Sentences,
    pub(crate) examples: Vec<Example>,
}

/// Encoder and decoders on sentences.
pub(crate) struct Telling {
    pub(crate) kind: &'static str,
    pub(crate) machine: Machine,
    pub(crate) train: ExampleSet,
    /// Held out, to validate with.
    pub(crate) dev: Option<ExampleSet>,
    /// α of each decoder.
    pub(crate) weights: Vec<f64>,
    /// Read after the last word by the encoder.
    pub(crate) end: Option<TokenId>,
    /// Word vectors that stay as they are need no gradient.
    pub(crate) frozen: bool,
    pub(crate) identity: String,
    pub(crate) told: Told,
}

/// The sentences of a step: those read, then those that each decoder tells. Memory is kept from step to step.
#[derive(Default)]
pub(crate) struct Told {
    batches: [TokenBatch; 3],
    sentences: Sentences,
}

impl Told {
    /// Takes these examples of a set for so many decoders.
    fn assign<'e>(
        &mut self,
        set: &ExampleSet,
        examples: impl Iterator<Item = &'e Example> + Clone,
        n_decoders: usize,
        end: Option<TokenId>,
    ) -> Result<()> {
        for (which, batch) in self.batches[..=n_decoders].iter_mut().enumerate() {
            self.sentences.clear();
            for example in examples.clone() {
                let sentence = set.sentences.get(example[which] as usize);
                self.sentences.push(sentence.iter().copied().chain(if which == 0 { end } else { Some(END) }));
            }
            batch.assign(self.sentences.iter())?;
        }
        Ok(())
    }
}

impl Telling {
    /// Adds word gradients up, by token.
    fn merge(&self, parts: &[Array2<f32>], dim: usize, gradients: &mut Gradients) {
        let parts = || self.told.batches.iter().zip(parts);
        gradients.tokens.clear();
        if self.frozen {
            gradients.d_words = Array2::zeros((0, dim));
            return;
        }
        gradients.tokens.extend(parts().flat_map(|(batch, _)| batch.distinct()));
        gradients.tokens.sort_unstable();
        gradients.tokens.dedup();
        gradients.d_words = Array2::zeros((gradients.tokens.len(), dim));
        for (batch, d_words) in parts() {
            for (token, d) in batch.distinct().iter().zip(d_words.rows()) {
                let place = gradients.tokens.partition_point(|other| other < token);
                let mut row = gradients.d_words.row_mut(place);
                row += &d;
            }
        }
    }
}

impl Objective for Telling {
    fn kind(&self) -> &'static str {
        self.kind
    }

    fn sources(&self) -> Vec<Source> {
        vec![Source { n_examples: self.train.examples.len() as u32, weight: None }]
    }

    fn identity(&self) -> String {
        self.identity.clone()
    }

    fn gradients(&mut self, weights: &Weights, step: &Step<'_>, gradients: &mut Gradients) -> Result<StepReport> {
        let (set, n_decoders) = (&self.train, self.weights.len());
        let examples = step.examples.iter().map(|&i| &set.examples[i as usize]);
        self.told.assign(set, examples, n_decoders, self.end)?;
        let Machine { form, encoder, output, .. } = &self.machine;
        let source = &self.told.batches[0];
        let source_words = source.gather(&weights.words)?;
        let (vectors, saved) = encoder.forward(&weights.parameters[0], source, source_words.view())?;
        let mut d_vectors = Array2::zeros(vectors.raw_dim());
        let mut parts = vec![Array2::zeros(source_words.raw_dim())];
        let mut report = StepReport { tokens: source.n_tokens() as u64, ..StepReport::default() };
        for (k, &weight) in self.weights.iter().enumerate() {
            let decoder = self.machine.decoder(k)?;
            let (of_decoder, of_output) = self.machine.groups(k);
            let batch = &self.told.batches[1 + k];
            let words = batch.gather(&weights.words)?;
            let parameters = &weights.parameters[of_decoder];
            let (hidden, told) = decoder.forward(parameters, batch, words.view(), vectors.view())?;
            let (of_k, d_hidden) = output.loss_and_gradients(
                &weights.parameters[of_output],
                hidden.view(),
                &GruDecoder::targets(batch),
                weight,
                (step.seed, [step.number, k as u64]),
                &mut gradients.d_parameters[of_output],
            )?;
            let per_token = if form.reduction == Reduction::Sum { batch.n_tokens() as f64 } else { 1.0 };
            report.loss += weight * of_k / per_token; // (F1)
            report.nll[k] = Some(of_k / per_token);
            report.tokens += batch.n_tokens() as u64;
            let mut d_words = Array2::zeros(words.raw_dim());
            decoder.backward(
                parameters,
                batch,
                words.view(),
                vectors.view(),
                &told,
                d_hidden.view(),
                (!self.frozen).then(|| d_words.view_mut()),
                d_vectors.view_mut(),
                &mut gradients.d_parameters[of_decoder],
            )?;
            parts.push(d_words);
        }
        encoder.backward(
            &weights.parameters[0],
            source,
            source_words.view(),
            &saved,
            d_vectors.view(),
            parts[0].view_mut(),
            &mut gradients.d_parameters[0],
        )?;
        self.merge(&parts, form.dim, gradients);
        if report.loss.is_finite() {
            check_gradients(gradients, step.number)?;
        }
        Ok(report)
    }

    /// The mean of ln p over the held-out tokens of all decoders, weighed by α: judged against all words, and the better
    /// the larger, as scores are.
    fn validate(&mut self, weights: &Weights) -> Result<Option<f64>> {
        let Some(dev) = &self.dev else { return Ok(None) };
        let Machine { encoder, output, .. } = &self.machine;
        let (mut sum, mut n) = (0.0, 0.0);
        for examples in dev.examples.chunks(A_BATCH) {
            self.told.assign(dev, examples.iter(), self.weights.len(), self.end)?;
            let source = &self.told.batches[0];
            let words = source.gather(&weights.words)?;
            let vectors = encoder.encode(&weights.parameters[0], None, source, words.view())?;
            for (k, &weight) in self.weights.iter().enumerate() {
                let (of_decoder, of_output) = self.machine.groups(k);
                let batch = &self.told.batches[1 + k];
                let words = batch.gather(&weights.words)?;
                let decoder = self.machine.decoder(k)?;
                let parameters = &weights.parameters[of_decoder];
                let (hidden, _) = decoder.forward(parameters, batch, words.view(), vectors.view())?;
                let targets = GruDecoder::targets(batch);
                let losses = output.losses(&weights.parameters[of_output], hidden.view(), &targets)?;
                sum += weight * losses.iter().sum::<f64>();
                n += weight * losses.len() as f64;
            }
        }
        Ok(Some(-sum / n))
    }
}
