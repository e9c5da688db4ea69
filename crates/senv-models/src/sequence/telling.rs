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

/// Encoder and decoders on sentences.
pub(crate) struct Telling {
    pub(crate) kind: &'static str,
    pub(crate) machine: Machine,
    /// Without end tokens.
    pub(crate) sentences: Sentences,
    pub(crate) examples: Vec<Example>,
    /// α of each decoder.
    pub(crate) weights: Vec<f64>,
    /// Read after the last word by the encoder.
    pub(crate) end: Option<TokenId>,
    /// Word vectors that stay as they are need no gradient.
    pub(crate) frozen: bool,
    pub(crate) identity: String,
}

/// Word gradients of one batch.
type Part = (TokenBatch, Array2<f32>);

impl Telling {
    fn batch(&self, step: &Step<'_>, which: usize, end: Option<TokenId>) -> Result<TokenBatch> {
        let sentence = |&i: &u32| -> Vec<TokenId> {
            let tokens = self.sentences.get(self.examples[i as usize][which] as usize);
            tokens.iter().copied().chain(end).collect()
        };
        let sentences: Vec<Vec<TokenId>> = step.examples.iter().map(sentence).collect();
        let mut batch = TokenBatch::new();
        batch.assign(sentences.iter().map(Vec::as_slice))?;
        Ok(batch)
    }

    /// Adds word gradients up, by token.
    fn merge(&self, parts: &[Part], dim: usize, gradients: &mut Gradients) {
        gradients.tokens.clear();
        if self.frozen {
            gradients.d_words = Array2::zeros((0, dim));
            return;
        }
        gradients.tokens.extend(parts.iter().flat_map(|(batch, _)| batch.distinct()));
        gradients.tokens.sort_unstable();
        gradients.tokens.dedup();
        gradients.d_words = Array2::zeros((gradients.tokens.len(), dim));
        for (batch, d_words) in parts {
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
        vec![Source { n_examples: self.examples.len() as u32, weight: None }]
    }

    fn identity(&self) -> String {
        self.identity.clone()
    }

    fn gradients(&mut self, weights: &Weights, step: &Step<'_>, gradients: &mut Gradients) -> Result<StepReport> {
        let Machine { form, encoder, output, .. } = &self.machine;
        let source = self.batch(step, 0, self.end)?;
        let source_words = source.gather(&weights.words)?;
        let (vectors, saved) = encoder.forward(&weights.parameters[0], &source, source_words.view())?;
        let mut d_vectors = Array2::zeros(vectors.raw_dim());
        let (mut loss, mut parts) = (0.0, Vec::new());
        for (k, &weight) in self.weights.iter().enumerate() {
            let decoder = self.machine.decoder(k)?;
            let (of_decoder, of_output) = self.machine.groups(k);
            let batch = self.batch(step, 1 + k, Some(END))?;
            let words = batch.gather(&weights.words)?;
            let parameters = &weights.parameters[of_decoder];
            let (hidden, told) = decoder.forward(parameters, &batch, words.view(), vectors.view())?;
            let (of_k, d_hidden) = output.loss_and_gradients(
                &weights.parameters[of_output],
                hidden.view(),
                &GruDecoder::targets(&batch),
                weight,
                (step.seed, [step.number, k as u64]),
                &mut gradients.d_parameters[of_output],
            )?;
            let per_token = if form.reduction == Reduction::Sum { batch.n_tokens() as f64 } else { 1.0 };
            loss += weight * of_k / per_token; // (F1)
            let mut d_words = Array2::zeros(words.raw_dim());
            decoder.backward(
                parameters,
                &batch,
                words.view(),
                vectors.view(),
                &told,
                d_hidden.view(),
                (!self.frozen).then(|| d_words.view_mut()),
                d_vectors.view_mut(),
                &mut gradients.d_parameters[of_decoder],
            )?;
            parts.push((batch, d_words));
        }
        let mut d_words = Array2::zeros(source_words.raw_dim());
        encoder.backward(
            &weights.parameters[0],
            &source,
            source_words.view(),
            &saved,
            d_vectors.view(),
            d_words.view_mut(),
            &mut gradients.d_parameters[0],
        )?;
        parts.push((source, d_words));
        self.merge(&parts, form.dim, gradients);
        if loss.is_finite() {
            check_gradients(gradients, step.number)?;
        }
        Ok(StepReport { loss, active: None })
    }
}
