//! Any encoder on pairs: the objective that PP, CSE and GRAN share.
//!
//! A step draws one pair from each group of its batch, encodes both sides, and trains each sentence to be closer to its
//! partner than to other sentences of the batch, by the margin loss of the papers or by a softmax over cosines.

use std::collections::HashMap;

use ndarray::{Array2, ArrayView2, Axis, concatenate};
use rand::RngExt;
use senv_core::{
    Result as CoreResult, Sentences, Tokenizer,
    arrays::TokenBatch,
    hyperparameters::{
        Hyperparameter, Hyperparameters, Section, belongs_to, hyperparameters, named_values, set_value, variants,
    },
    observer::Metric,
    rng::stream,
};
use senv_losses::{InfoNce, L2, MarginLoss};
use serde::{Deserialize, Serialize};

use crate::{
    data::{PairData, PairSource},
    error::Result,
    gradient::{
        GradientStep, Gradients, Objective, Source, StepReport, VectorDropout, Weights,
        corruption::keep_words,
        scored_pairs::{ScoredPairs, Validation},
        through_encoder,
        trainable_encoder::AnyEncoder,
    },
};

/// The loss of a batch of pairs.
///
/// Exhaustive on purpose: settings are read from it loss by loss.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PairLoss {
    /// The margin loss of PP and CSE.
    Margin(MarginLoss),
    /// Softmax over the cosines of the whole batch, with a temperature.
    SoftmaxCosine(InfoNce),
}

/// Losses by name.
enum LossName {
    Margin,
    SoftmaxCosine,
}
named_values!(LossName {
    Margin = "margin": "Margin loss of the papers: a pair must be closer than other sentences of the batch by a margin",
    SoftmaxCosine = "softmax-cosine": "Softmax over the cosines of the whole batch, with a temperature",
});

impl Default for PairLoss {
    fn default() -> Self {
        Self::Margin(MarginLoss::default())
    }
}

impl Hyperparameters for PairLoss {
    fn hyperparameters(&self) -> Vec<Hyperparameter> {
        let (name, own, other) = match self {
            Self::Margin(loss) => (LossName::Margin, loss.hyperparameters(), InfoNce::default().hyperparameters()),
            Self::SoftmaxCosine(loss) => {
                (LossName::SoftmaxCosine, loss.hyperparameters(), MarginLoss::default().hyperparameters())
            }
        };
        let loss = Hyperparameter::of("loss", &["Loss."], Section::Training, None, &name);
        variants([loss].into_iter().chain(own).collect(), [other])
    }

    /// Another loss comes with its defaults.
    fn set(&mut self, name: &str, text: &str) -> CoreResult<bool> {
        if name == "loss" {
            let mut loss = LossName::Margin;
            set_value(&mut loss, name, text)?;
            match (loss, &*self) {
                (LossName::Margin, Self::SoftmaxCosine(_)) => *self = Self::Margin(MarginLoss::default()),
                (LossName::SoftmaxCosine, Self::Margin(_)) => *self = Self::SoftmaxCosine(InfoNce::default()),
                _ => {}
            }
            return Ok(true);
        }
        let (known, other, owner) = match self {
            Self::Margin(loss) => (loss.set(name, text)?, InfoNce::default().set(name, text), "loss = softmax-cosine"),
            Self::SoftmaxCosine(loss) => {
                (loss.set(name, text)?, MarginLoss::default().set(name, text), "loss = margin")
            }
        };
        if !known && other? {
            return Err(belongs_to(name, text, owner));
        }
        Ok(known)
    }

    fn check_ranges(&self) -> CoreResult<()> {
        match self {
            Self::Margin(loss) => loss.check_ranges(),
            Self::SoftmaxCosine(loss) => loss.check_ranges(),
        }
    }
}

hyperparameters! {
    /// Hyperparameters of training on pairs beside the loop's [`FitParams`](crate::gradient::FitParams).
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct PairParams {
        /// The loss.
        pub loss: PairLoss = PairLoss::default() => group;
        /// Share of the words that are dropped from a sentence in each step; one word always stays.
        pub word_dropout: f64 = 0.0 => Training[from 0 below 1];
        /// Share of the values of each word vector that are set to 0 in each step, the others scaled up to make up for
        /// it.
        ///
        /// A word has one mask in all sentences of a batch, where the papers draw one for each occurrence: batches hold
        /// each distinct word once, and a mask an occurrence would multiply the rows that are gathered and updated.
        pub vector_dropout: f64 = 0.0 => Training[from 0 below 1];
        /// Probability that the words of both sentences of a pair are shuffled.
        pub scramble: f64 = 0.0 => Training[from 0 to 1];
    }
}

/// An encoder, its pairs and its loss.
pub(crate) struct PairObjective<'d> {
    kind: &'static str,
    encoder: &'d dyn AnyEncoder,
    sources: &'d [PairSource],
    params: &'d PairParams,
    validation: Validation,
    identity: String,
    /// On all weights of the encoder.
    penalty: L2,
    /// Whether its gradients are watched, for they may grow beyond use.
    pub(crate) may_explode: bool,
}

/// The pairs of a step.
#[derive(Default)]
pub(crate) struct PairBatch {
    batch: TokenBatch,
    /// First members, second members, hard negatives.
    sentences: Sentences,
    /// Of each sentence, a number that equal ones share.
    texts: Vec<u32>,
    n_hard: usize,
}

impl<'d> PairObjective<'d> {
    #[allow(clippy::too_many_arguments)]
    pub(crate) fn new(
        kind: &'static str,
        encoder: &'d dyn AnyEncoder,
        data: &'d PairData,
        params: &'d PairParams,
        tokenizer: &Tokenizer,
        dev: &[ScoredPairs],
        settings: &str,
        penalty: L2,
    ) -> Self {
        let validation = Validation::new(dev, tokenizer, &data.vocabulary);
        let identity = format!("{settings} {} {}", data.fingerprint(), validation.fingerprint().hex());
        Self { kind, encoder, sources: &data.sources, params, validation, identity, penalty, may_explode: false }
    }

    /// Draws the pairs of a step.
    fn draw(&self, step: &GradientStep<'_>, out: &mut PairBatch) {
        let source = &self.sources[step.source];
        let mut rng = stream(step.seed, "pairs", &[step.number]);
        let drawn: Vec<_> = step.examples.iter().map(|&group| source.draw(group, &mut rng)).collect();
        let hard = drawn.iter().filter_map(|pair| pair.hard);
        let hard: Vec<u32> = if self.uses_hard_negatives() { hard.collect() } else { Vec::new() };
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
        out.n_hard = hard.len();
    }

    fn uses_hard_negatives(&self) -> bool {
        matches!(self.params.loss, PairLoss::SoftmaxCosine(_))
    }

    fn loss(
        &self,
        step: &GradientStep<'_>,
        vectors: ArrayView2<'_, f32>,
        PairBatch { texts: of_sentences, n_hard, .. }: &PairBatch,
    ) -> Result<(StepReport, Array2<f32>)> {
        let n = step.examples.len();
        let (first, rest) = vectors.split_at(Axis(0), n);
        let (second, hard) = rest.split_at(Axis(0), n);
        let mut texts: Vec<u32> = (0..n).flat_map(|i| [of_sentences[i], of_sentences[n + i]]).collect();
        texts.extend_from_slice(&of_sentences[2 * n..]);
        Ok(match &self.params.loss {
            PairLoss::Margin(margin) => {
                let mut rng = stream(step.seed, "negatives", &[step.number]);
                let (loss, saved) = margin.forward(first, second, &texts, &mut rng)?;
                let (d_first, d_second) = margin.backward(&saved, 1.0);
                let active = saved.n_active() as f64 / saved.n_hinges() as f64;
                let active = Some(Metric { name: "active hinges", value: active });
                let n_hinges = saved.negatives().iter().flatten().count();
                let chance = Some(margin.margin * n_hinges as f64 / n as f64);
                (
                    StepReport { loss, chance, metrics: [active, None], ..StepReport::default() },
                    concatenate![Axis(0), d_first, d_second],
                )
            }
            PairLoss::SoftmaxCosine(softmax) => {
                let hard = (*n_hard > 0).then_some(hard);
                let (loss, saved) = softmax.forward(first, second, hard, &texts)?;
                let (d_first, d_second, d_hard) = softmax.backward(&saved, 1.0)?;
                let d_hard = d_hard.unwrap_or_else(|| Array2::zeros((0, vectors.ncols())));
                let chance = Some(((n + n_hard) as f64).ln());
                (StepReport { loss, chance, ..StepReport::default() }, concatenate![Axis(0), d_first, d_second, d_hard])
            }
        })
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
            self.loss(step, vectors, drawn)
        })?;
        self.penalty.backward_all(&weights.parameters[0], None, 1.0, &mut gradients.d_parameters[0])?;
        Ok(report)
    }

    fn validate(&mut self, weights: &Weights) -> Result<Option<f64>> {
        if self.validation.is_empty() { Ok(None) } else { self.validation.score(self.encoder, weights) }
    }
}
