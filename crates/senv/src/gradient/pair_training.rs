//! Training of any encoder on pairs with any loss: the objective that PP, CSE and GRAN share.
//!
//! A step draws one pair from each group of its batch and encodes both sides. It trains each sentence to be closer to
//! its partner than to other sentences of the batch, with the margin loss of the papers or a softmax over cosines.

use std::collections::HashMap;

use ndarray::Axis;
use rand::RngExt;
use senv_core::{Sentences, Tokenizer, Vocabulary, arrays::TokenBatch, hyperparameters::hyperparameters, rng::stream};
use senv_losses::L2;
use serde::{Deserialize, Serialize};

use crate::{
    base::file,
    data::{PairData, PairSource},
    error::Result,
    gradient::{
        BatchLoss, GradientStep, Gradients, Objective, PairLoss, PairVectors, Source, StepReport, VectorDropout,
        Weights,
        corruption::keep_words,
        scored_pairs::{ScoredPairs, Validation},
        through_encoder,
        trainable_encoder::AnyEncoder,
    },
};

hyperparameters! {
    /// Hyperparameters of training on pairs, in addition to the loop's [`FitParams`](crate::gradient::FitParams).
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct PairParams {
        /// The loss.
        pub loss: PairLoss = PairLoss::default() => group;
        /// Share of the words dropped from a sentence in each step; at least one word is kept.
        pub word_dropout: f64 = 0.0 => Training[from 0 below 1];
        /// Share of the values of each word vector set to 0 in each step; the others are scaled up to compensate.
        ///
        /// A word has one mask in all sentences of a batch; the papers draw one for each occurrence. Batches contain
        /// each distinct word once, and a mask per occurrence would multiply the rows that are gathered and updated.
        pub vector_dropout: f64 = 0.0 => Training[from 0 below 1];
        /// Probability that the words of both sentences of a pair are shuffled.
        pub scramble: f64 = 0.0 => Training[from 0 to 1];
    }
}

/// The objective of an encoder, pairs and a loss, to train with [`fit`](super::fit): any
/// [`Encoder`](senv_encoders::Encoder) in f32 and any [`BatchLoss`].
///
/// ```
/// use senv::Tokenizer;
/// use senv::data::{PairData, PairOptions};
/// use senv::gradient::{FitParams, PairLoss, PairObjective, PairParams, Weights, WordEncoder, fit};
/// use senv::parts::core::RunOptions;
/// use senv::parts::encoders::{Average, Pooling};
///
/// let pairs = [("rain falls", "it pours"), ("ships sail", "boats leave")];
/// let data = PairData::of_pairs(pairs, &PairOptions::default())?;
/// let (encoder, loss, params) = (Average::new(8, Pooling::Mean), PairLoss::default(), PairParams::default());
/// let mut objective = PairObjective::new("mine", &encoder, &loss, &data, &params);
/// let initial = || Ok(Weights::random(data.vocabulary.len(), 8, &encoder, 1)?);
/// let settings = FitParams { epochs: Some(50), ..FitParams::default() };
/// let outcome = fit(&mut objective, initial, &settings, &RunOptions::default())?;
/// let model = WordEncoder::new(Tokenizer::words(), data.vocabulary.clone(), encoder, outcome.weights)?;
/// assert!(model.similarity("rain falls", "it pours") > model.similarity("rain falls", "ships sail"));
/// # Ok::<(), senv::Error>(())
/// ```
pub struct PairObjective<'d> {
    kind: &'static str,
    encoder: &'d dyn AnyEncoder,
    loss: &'d dyn BatchLoss,
    sources: &'d [PairSource],
    vocabulary: &'d Vocabulary,
    params: &'d PairParams,
    validation: Validation,
    identity: String,
    /// L2 penalty on all weights of the encoder.
    penalty: L2,
    /// Whether its gradients can explode and are checked.
    pub(crate) may_explode: bool,
}

/// The pairs of a step.
#[derive(Debug, Default)]
pub struct PairBatch {
    batch: TokenBatch,
    /// First members, second members, hard negatives.
    sentences: Sentences,
    /// A number for each sentence, shared by equal sentences.
    texts: Vec<u32>,
}

impl<'d> PairObjective<'d> {
    /// Creates the objective of your encoder, loss and pairs; gradients are checked because they may explode. `params`
    /// sets dropout and shuffling; its loss is used only if it is also the `loss` argument.
    #[must_use]
    pub fn new(
        kind: &'static str,
        encoder: &'d dyn AnyEncoder,
        loss: &'d dyn BatchLoss,
        data: &'d PairData,
        params: &'d PairParams,
    ) -> Self {
        let settings = format!("{encoder:?} {} {}", loss.identity(), file::to_json(params).unwrap_or_default());
        let objective = Self::of_system(kind, encoder, data, params, Validation::none(), &settings, L2::default());
        Self { loss, may_explode: true, ..objective }
    }

    /// Adds validation by scored pairs: the weights with the highest correlation of cosines and scores are kept.
    ///
    /// # Errors
    /// [`senv_core::Error::InvalidParameter`] for a set with fewer than two pairs, a score that is not finite, or equal
    /// scores only.
    pub fn validated_by(mut self, dev: &[ScoredPairs], tokenizer: &Tokenizer) -> Result<Self> {
        self.validation = Validation::new(dev, tokenizer, self.vocabulary)?;
        self.identity = format!("{} {}", self.identity, self.validation.fingerprint().hex());
        Ok(self)
    }

    /// The objective of a system of this crate, with the loss of `params`.
    pub(crate) fn of_system(
        kind: &'static str,
        encoder: &'d dyn AnyEncoder,
        data: &'d PairData,
        params: &'d PairParams,
        validation: Validation,
        settings: &str,
        penalty: L2,
    ) -> Self {
        let identity = format!("{settings} {} {}", data.fingerprint(), validation.fingerprint().hex());
        let (sources, vocabulary) = (&data.sources[..], &data.vocabulary);
        let (loss, may_explode) = (&params.loss, false);
        Self { kind, encoder, loss, sources, vocabulary, params, validation, identity, penalty, may_explode }
    }

    /// Draws the pairs of a step.
    fn draw(&self, step: &GradientStep<'_>, out: &mut PairBatch) {
        let source = &self.sources[step.source];
        let mut rng = stream(step.seed, "pairs", &[step.number]);
        let drawn: Vec<_> = step.examples.iter().map(|&group| source.draw(group, &mut rng)).collect();
        let hard = drawn.iter().filter_map(|pair| pair.hard);
        let hard: Vec<u32> = if self.loss.uses_hard_negatives() { hard.collect() } else { Vec::new() };
        let numbers = drawn.iter().map(|pair| pair.first).chain(drawn.iter().map(|pair| pair.second));
        let (mut known, mut kept) = (HashMap::new(), Vec::new());
        out.sentences.clear();
        out.texts.clear();
        let scrambled: Vec<bool> = if self.params.scramble > 0.0 {
            drawn.iter().map(|_| rng.random_bool(self.params.scramble)).collect()
        } else {
            Vec::new()
        };
        for (i, number) in numbers.chain(hard.iter().copied()).enumerate() {
            let sentence = source.sentence(number);
            let next = known.len() as u32;
            out.texts.push(*known.entry(sentence).or_insert(next));
            keep_words(sentence, self.params.word_dropout, &mut rng, &mut kept);
            if i < 2 * drawn.len() && scrambled.get(i % drawn.len()).copied().unwrap_or(false) {
                rand::seq::SliceRandom::shuffle(kept.as_mut_slice(), &mut rng);
            }
            out.sentences.push(kept.iter().copied());
        }
    }
}

impl Objective for PairObjective<'_> {
    type Batch = PairBatch;

    fn kind(&self) -> &'static str {
        self.kind
    }

    fn sources(&self) -> Vec<Source> {
        let of = |source: &PairSource| Source { n_examples: source.n_groups() as u32, weight: source.weight() };
        self.sources.iter().map(of).collect()
    }

    fn identity(&self) -> String {
        self.identity.clone()
    }

    fn may_explode(&self) -> bool {
        self.may_explode
    }

    fn prepare(&self, step: &GradientStep<'_>, batch: &mut PairBatch) -> Result<()> {
        self.draw(step, batch);
        Ok(batch.batch.assign(batch.sentences.iter())?)
    }

    fn gradients(
        &self,
        weights: &Weights,
        step: &GradientStep<'_>,
        drawn: &PairBatch,
        gradients: &mut Gradients,
    ) -> Result<StepReport> {
        let dropout = Some(VectorDropout { rate: self.params.vector_dropout, step });
        let report = through_encoder(self.encoder, weights, &drawn.batch, dropout, gradients, |vectors, _| {
            let n = step.examples.len();
            let (first, rest) = vectors.split_at(Axis(0), n);
            let (second, hard) = rest.split_at(Axis(0), n);
            let of_sentences = &drawn.texts;
            let mut texts: Vec<u32> = (0..n).flat_map(|i| [of_sentences[i], of_sentences[n + i]]).collect();
            texts.extend_from_slice(&of_sentences[2 * n..]);
            let pairs = PairVectors { first, second, hard, texts: &texts };
            let (report, gradients) = self.loss.loss(step, &pairs)?;
            Ok((report, gradients.stacked(&pairs)?))
        })?;
        self.penalty.backward_all(&weights.parameters[0], None, 1.0, &mut gradients.d_parameters[0])?;
        Ok(report)
    }

    fn validate(&mut self, weights: &Weights) -> Result<Option<f64>> {
        if self.validation.is_empty() { Ok(None) } else { self.validation.score(self.encoder, weights) }
    }
}
