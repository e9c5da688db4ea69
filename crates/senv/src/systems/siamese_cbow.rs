//! Siamese CBOW: word vectors whose averages predict the neighbouring sentences.
//!
//! T. Kenter, A. Borisov and M. de Rijke, "Siamese CBOW: Optimizing Word Embeddings for Sentence Representations", ACL
//! 2016. A sentence between two others of its document is an example. Its neighbours are the positives and random
//!       sentences are the negatives; the loss is `softmax-over-cosines`. Three things differ from the release, which
//!       the paper leaves open or states otherwise. A negative is never the sentence or a neighbour, the last batch is
//!       kept even if it is smaller, and every epoch has a new random order.

use std::path::PathBuf;

use ndarray::{Axis, concatenate};
use rand::RngExt;
use senv_core::{
    Corpus, Error as CoreError, Sentences, Tokenizer, Vocabulary,
    arrays::{Parameters, TokenBatch},
    corpus::{StoredList, StoredListWriter},
    hyperparameters::{Hyperparameters, hyperparameters},
    optim::{Adam, UpdateRule},
    rng::{Stream, stream},
};
use senv_encoders::{Average, Pooling};
use senv_losses::{CandidateCounts, SoftmaxCosine};
use serde::{Deserialize, Serialize};

use crate::{
    average::{
        unknown_words::UnknownWords,
        weight_scheme::{WeightScheme, weights},
        weighting,
    },
    base::{file, text_size::TextSize, train_options::TrainOptions},
    data::numbered,
    error::{Error, Result},
    gradient::{
        Decay, FitParams, GradientStep, Gradients, Objective, Source, StepReport, Weights, fit,
        scored_pairs::{ScoredPairs, Validation},
        through_encoder,
    },
    model::trained::Trained,
    start::initial::{self, Initial},
    system::{
        about::{About, NamedSettings},
        averaged::{Averaged, AveragedSystem},
        contract::{Common, System, Trainer},
        start::Start,
        text_data::TextData,
        text_system::{TextSystem, fit_text, read_text},
    },
};

hyperparameters! {
    /// Hyperparameters of Siamese CBOW.
    ///
    /// The defaults adapt to the text: Adam, a temperature (the paper has none), more epochs, and SIF weights. Values
    /// that depend on the size of the text are automatic (`None`). [`SiameseCbowParams::paper`] has the settings of the
    /// paper. The minimum learning rate and the limit of 50 words per sentence are those of the release; the paper
    /// states neither.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct SiameseCbowParams {
        /// Embedding dimension.
        pub dim: usize = 300 => Training[from 1 to 65536];
        /// Minimum count; rarer words are unknown.
        pub min_count: Option<u64> = None => Text;
        /// Negatives per example: random sentences.
        pub negatives: usize = 2 => Training[from 1 to 1000000];
        /// Maximum words read per sentence.
        pub max_tokens: usize = 50 => Text[from 1 to 1000000];
        /// Temperature that divides the cosines before the softmax; 1 in the paper.
        pub temperature: f64 = 0.1 => Training[above 0];
        /// The tokenizer.
        pub tokenizer: Tokenizer = Tokenizer::for_typed_text() => group;
        /// Initial word vectors.
        pub initial: Initial = Initial::SIAMESE_CBOW => group;
        /// Weights of the trained words; `None` for a plain mean.
        pub weighting: Option<WeightScheme> = Some(WeightScheme::SIF) => group[weights];
        /// How a sentence vector treats unknown words.
        pub unknown_words: UnknownWords = UnknownWords::Hash => Weights;
        /// The training loop.
        pub fit: FitParams = FitParams {
            epochs: None,
            batch: 100,
            decay: Decay::Linear { warmup: 0.0, floor: 1e-4 },
            ..FitParams::default()
        } => group;
    }
}

impl SiameseCbowParams {
    /// Returns these settings with Adam at a learning rate of 1e-3, which also learns from little text.
    #[must_use]
    pub fn with_adam(mut self) -> Self {
        self.fit.rule = UpdateRule::default();
        self.fit.lr = Some(Adam::DEFAULT_LR);
        self
    }

    /// The settings of the paper (section 3.4). The loss of a batch is a mean as in the release; the paper does not
    /// say.
    ///
    /// Gradient descent at 1e-4 on the mean of a batch moves a word by a millionth per occurrence: it is meant for a
    /// thousand million words. [`SiameseCbowParams::with_adam`] does not depend on that scale.
    #[must_use]
    pub fn paper() -> Self {
        Self {
            dim: 300,
            min_count: Some(5),
            negatives: 2,
            max_tokens: 50,
            temperature: 1.0,
            tokenizer: Tokenizer::automatic().lowercase(true),
            initial: Initial::SIAMESE_CBOW,
            weighting: None,
            unknown_words: UnknownWords::Skip,
            fit: FitParams {
                epochs: Some(1),
                batch: 100,
                rule: UpdateRule::Sgd,
                lr: Some(1e-4),
                decay: Decay::Linear { warmup: 0.0, floor: 1e-4 },
                ..FitParams::default()
            },
        }
    }
}

impl System for SiameseCbowParams {
    type Model = SiameseCbow;
    type Input = [PathBuf];
    type Data<'a> = TextData<'a>;
    type Dev<'d> = &'d [ScoredPairs];
    const ABOUT: About = About {
        name: Self::KIND,
        summary: "Siamese CBOW: averages of words that are close to the sentences before and after",
        examples: &[
            "senv train siamese-cbow --input books.txt --output model.senv",
            "senv train siamese-cbow --input books.txt --output model.senv --init-vectors words.senv --dev sts-dev.tsv",
        ],
        note: "",
        preset: "Start from a named preset instead of settings that fit the text; explicit options override it",
    };
    const NAMED_SETTINGS: &'static [NamedSettings<Self>] = &[NamedSettings {
        name: "paper",
        help: "As published: gradient descent at 1e-4, for a billion words",
        settings: Self::paper,
    }];

    fn check(&self) -> Result<()> {
        self.check_ranges()?;
        self.fit.check()
    }

    fn common(&mut self) -> Common<'_> {
        let Self { dim, tokenizer, fit, .. } = self;
        Common { dim, tokenizer, trainer: Trainer::Gradient(fit) }
    }

    fn read_input<'a>(
        &mut self,
        paths: &'a [PathBuf],
        start: Start<'a>,
        options: &TrainOptions<'_, &[ScoredPairs]>,
    ) -> Result<TextData<'a>> {
        read_text(self, paths, start, options)
    }

    fn fit_on(&self, data: &TextData<'_>, options: &TrainOptions<'_, &[ScoredPairs]>) -> Result<Trained<SiameseCbow>> {
        fit_text(self, data, options)
    }
}

impl TextSystem for SiameseCbowParams {
    const VALIDATES: bool = true;

    fn dev(pairs: &[ScoredPairs]) -> Option<&[ScoredPairs]> {
        Some(pairs)
    }

    fn resolve(&mut self, size: TextSize) {
        self.min_count.get_or_insert(size.min_count());
        self.fit.epochs.get_or_insert(size.epochs(10.0, 1, 30));
    }

    fn min_count(&mut self) -> &mut Option<u64> {
        &mut self.min_count
    }

    fn fit_resolved(
        &self,
        vocabulary: Vocabulary,
        corpus: &Corpus,
        options: &TrainOptions<'_, &[ScoredPairs]>,
    ) -> Result<Trained<SiameseCbow>> {
        let (vectors, dev) = (options.vectors, options.dev.unwrap_or_default());
        weighting::check(self.weighting, self.dim, &vocabulary)?;
        let (rows, found) = self.initial.rows(&vocabulary, self.dim, vectors, self.fit.seed)?;
        let validation = Validation::new(dev, &self.tokenizer, &vocabulary)?;
        let settings =
            format!("{} {} {}", file::to_json(self)?, corpus.fingerprint(), initial::vectors_fingerprint(vectors));
        let mut objective = Neighbours::new(self, corpus, validation, settings)?;
        let start = || Ok(Weights { words: rows, parameters: vec![Parameters::new()] });
        let fitted = fit(&mut objective, start, &self.fit, &options.run())?;
        Trained::of_gradient(fitted, found, |weights| Averaged::new(self.clone(), vocabulary, weights.words, corpus))
    }
}

impl AveragedSystem for SiameseCbowParams {
    const KIND: &'static str = "siamese-cbow";

    fn weights(&mut self) -> (&mut Option<WeightScheme>, &mut UnknownWords) {
        (&mut self.weighting, &mut self.unknown_words)
    }
}

/// A trained Siamese CBOW model.
pub type SiameseCbow = Averaged<SiameseCbowParams>;

/// Sentences between two others of their document.
struct Neighbours<'p> {
    params: &'p SiameseCbowParams,
    sentences: Sentences,
    /// The middle sentences.
    middles: StoredList<u32>,
    /// Sentences with a known word, from which negatives are drawn.
    candidates: StoredList<u32>,
    encoder: Average,
    loss: SoftmaxCosine,
    validation: Validation,
    identity: String,
}

impl<'p> Neighbours<'p> {
    fn new(params: &'p SiameseCbowParams, corpus: &Corpus, validation: Validation, settings: String) -> Result<Self> {
        let ((sentences, ends), folder) = (numbered(corpus, Some)?, corpus.scratch_dir());
        let n = u32::try_from(sentences.len()).map_err(|_| CoreError::TooLarge { rows: sentences.len(), dim: 1 })?;
        let is_known = |&i: &u32| !sentences.get(i as usize).is_empty();
        let is_middle = |&i: &u32| {
            i > 0
                && i + 1 < n
                && ends[i as usize - 1] == 0
                && ends[i as usize] == 0
                && [i - 1, i, i + 1].iter().all(is_known)
        };
        let (mut middles, mut candidates) = (StoredListWriter::new(folder), StoredListWriter::new(folder));
        middles.extend((0..n).filter(is_middle))?;
        candidates.extend((0..n).filter(is_known))?;
        let (middles, candidates) = (middles.finish()?, candidates.finish()?);
        // A negative is none of three sentences, so there must be a fourth.
        if candidates.len() < 4 || middles.is_empty() {
            return Err(Error::NoExamples { kind: SiameseCbowParams::KIND });
        }
        let identity = format!("{settings} {}", validation.fingerprint().hex());
        let encoder = Average { dim: params.dim, pooling: Pooling::Mean };
        let loss = SoftmaxCosine { temperature: params.temperature };
        Ok(Self { params, sentences, middles, candidates, encoder, loss, validation, identity })
    }

    /// The sentences of the batch: the middle ones, then the two neighbours and the negatives of each.
    fn draw(&self, step: &GradientStep<'_>) -> Vec<u32> {
        let mut rng = stream(step.seed, "negatives", &[step.number]);
        let middles = step.examples.iter().map(|&example| self.middles[example as usize]);
        let mut numbers: Vec<u32> = middles.clone().collect();
        for middle in middles {
            numbers.extend([middle - 1, middle + 1]);
            numbers.extend((0..self.params.negatives).map(|_| self.negative(middle, &mut rng)));
        }
        numbers
    }

    fn negative(&self, middle: u32, rng: &mut Stream) -> u32 {
        loop {
            let drawn = self.candidates[rng.random_range(0..self.candidates.len())];
            if drawn.abs_diff(middle) > 1 {
                return drawn;
            }
        }
    }
}

impl Objective for Neighbours<'_> {
    type Batch = TokenBatch;

    fn kind(&self) -> &'static str {
        SiameseCbowParams::KIND
    }

    fn sources(&self) -> Vec<Source> {
        vec![Source { n_examples: self.middles.len() as u32, weight: None }]
    }

    fn identity(&self) -> String {
        self.identity.clone()
    }

    fn may_explode(&self) -> bool {
        false
    }

    fn prepare(&self, step: &GradientStep<'_>, batch: &mut TokenBatch) -> Result<()> {
        let numbers = self.draw(step);
        let limit = self.params.max_tokens;
        let sentence = |&number: &u32| {
            let tokens = self.sentences.get(number as usize);
            &tokens[..tokens.len().min(limit)]
        };
        Ok(batch.assign(numbers.iter().map(sentence))?)
    }

    fn gradients(
        &self,
        weights: &Weights,
        step: &GradientStep<'_>,
        batch: &TokenBatch,
        gradients: &mut Gradients,
    ) -> Result<StepReport> {
        let n = step.examples.len();
        let counts = CandidateCounts { positives: 2, negatives: self.params.negatives as u32 };
        through_encoder(&self.encoder, weights, batch, None, gradients, |vectors, _| {
            let (middle, candidates) = vectors.split_at(Axis(0), n);
            let (loss, losses) = self.loss.forward(middle, candidates, &vec![counts; n])?;
            let (d_middle, d_candidates) = self.loss.backward(&losses, 1.0);
            let chance = Some(f64::from(counts.positives + counts.negatives).ln());
            let report = StepReport { loss, chance, ..StepReport::default() };
            Ok((report, concatenate![Axis(0), d_middle, d_candidates]))
        })
    }

    fn validate(&mut self, weights: &Weights) -> Result<Option<f64>> {
        self.validation.score(&self.encoder, weights)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_paper_has_a_name_and_adam_is_the_default() {
        let paper = SiameseCbowParams::paper();
        assert_eq!((paper.dim, paper.min_count, paper.negatives, paper.temperature), (300, Some(5), 2, 1.0));
        let fit = &paper.fit;
        assert_eq!((fit.rule, fit.lr, fit.epochs, fit.batch), (UpdateRule::Sgd, Some(1e-4), Some(1), 100));
        assert_eq!(fit.decay, Decay::Linear { warmup: 0.0, floor: 1e-4 });
        for adam in [SiameseCbowParams::default(), paper.with_adam()] {
            assert_eq!((adam.fit.rule, adam.fit.lr), (UpdateRule::default(), Some(1e-3)));
        }
    }
}
