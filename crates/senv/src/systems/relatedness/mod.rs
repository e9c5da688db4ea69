//! Fine-tuning on pairs with scores: an encoder and the head that predicts a score from two of its vectors.
//!
//! The head is `relatedness-head` (K. S. Tai, R. Socher and C. D. Manning, ACL 2015), as PP, CSE and their kin are
//! fine-tuned on SICK. Encoder and head are trained together, with an L2 penalty of the encoder towards its initial parameters
//! ("universal"), or filters that start at random with a penalty towards 0 ("random"). CSE-random of that paper (section 4.2)
//! also starts at the word vectors that CSE itself was trained from, which are then given beside the model. Before that, the vectors of an
//! average or of a linear CSE are brought to a common scale, which cosines leave free and the head does not.

mod base;
mod scored;
mod training;

use std::path::Path;

use ndarray::{Array2, Axis};
use senv_core::{
    Coverage, Result as CoreResult, Scratch, SentenceEncoder, Table, TokenId, Tokenizer, Vocabulary,
    arrays::Parameters,
    encode_batch_with,
    hyperparameters::{Hyperparameters, hyperparameters, named_values},
    rng::stream,
};
use senv_encoders::Encoder;
use senv_losses::{Combine, RelatednessHead, RelatednessLoss, ScoreGrid};
use senv_store::ModelFile;
use serde::{Deserialize, Serialize};

use base::{Base, bring_to_scale};
use scored::{Scored, TextReading};
use training::FineTuning;

use crate::{
    base::{
        configuration::{self, Configuration},
        file,
        fingerprint::Fingerprint,
        train_options::TrainOptions,
    },
    data::reading::{encode_batch_by_length, gather},
    error::{Error, Result},
    gradient::{
        FitParams, Weights, fit,
        scored_pairs::ScoredPairs,
        trainable_encoder::{EncoderForm, TrainableEncoder},
    },
    model::{
        handle::Model,
        saved::{EncodingCost, ReadModel, SavedModel},
        score_pairs::ScorePairs,
        trained::Trained,
    },
    start::initial::{self, InitialVectorReport},
};

/// The initial filters of the encoder, and the value that their penalty is towards.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FilterStart {
    /// Those of the model, with the penalty towards them.
    Universal,
    /// Random ones, with the penalty towards 0. Word vectors start at those of the model, or at those that are given.
    Random,
}

named_values!(FilterStart {
    Universal = "universal": "At those of the model, with the penalty towards them",
    Random = "random": "At random, with the penalty towards 0",
});

hyperparameters! {
    /// Hyperparameters of fine-tuning; the defaults are those of CSE on SICK.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    pub struct RelatednessParams {
        /// Hidden units of the relatedness head; 50 in the papers.
        pub hidden: usize = senv_losses::DEFAULT_HIDDEN => Training[from 1 to 65536];
        /// Scale of the scores: 1-5 for SICK, 0-5 for STS, senteval for 0 to 5 on the classes 1 to 5.
        pub grid: ScoreGrid = ScoreGrid::default() => Training;
        /// Input of the head beside the difference of the two vectors.
        pub combine: Combine = Combine::default() => Training;
        /// Loss.
        pub loss: RelatednessLoss = RelatednessLoss::Kl { mean_over_classes: false } => Training;
        /// Initial parameters of the encoder: filters, or the matrices of a recurrent one.
        pub filters as filters_start: FilterStart = FilterStart::Universal => Training;
        /// Whether the vectors of an average or of linear filters are scaled to values that suit the head before training.
        @[serde(default = "rescaled")]
        pub rescale: bool = rescaled() => Training;
        /// L2 penalty λ of filters and biases of the encoder.
        pub l2_filters: f64 = 1e-6 => Training[at_least 0];
        /// L2 penalty λ of the head.
        pub l2_head: f64 = 1e-6 => Training[at_least 0];
        /// Share of the values of each word vector that are set to 0 in each step.
        pub vector_dropout: f64 = 0.0 => Training[from 0 below 1];
        /// The training loop.
        pub fit: FitParams = FitParams { epochs: Some(10), batch: 32, l2_words: 1e-6, ..FitParams::default() } => group;
    }
}

/// Cosines leave the scale of vectors free, the head does not.
fn rescaled() -> bool {
    true
}

/// The settings of a tuned model, as its file keeps them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RelatednessConfig {
    /// The kind of the model it was tuned from.
    pub base: String,
    /// The encoder.
    pub encoder: EncoderForm,
    /// Dimension of the word vectors.
    pub dim: usize,
    /// How text becomes token ids: a tokenizer, or the rules of a recurrent encoder.
    #[serde(rename = "tokenizer")]
    reading: TextReading,
    /// The head.
    pub head: RelatednessHead,
    /// What it was tuned with.
    pub params: RelatednessParams,
}

impl RelatednessParams {
    /// Checks every range.
    ///
    /// # Errors
    /// [`senv_core::Error::InvalidParameter`] naming the first parameter that is out of range.
    pub fn check(&self) -> Result<()> {
        self.check_ranges()?;
        self.fit.check()
    }

    /// Tunes a copy of `base` on scored pairs, validated on others: the best weights by Pearson's r there are kept. The
    /// words are those of the model. They start at its vectors, or at those of the options, where words that these lack are
    /// drawn; the penalty is towards where they start.
    ///
    /// # Errors
    /// [`crate::Error::InitialVectorsDim`] if the vectors of the options have another dimension;
    /// [`Error::CannotTune`] for a model without a trainable encoder: n-grams, PV-DBOW, combined Skip-thoughts; [`Error::BadLine`] for a score
    /// outside the grid; whatever is wrong with the parameters, the memory, or the training itself.
    pub fn fit(
        &self,
        base: &Model,
        train: &ScoredPairs,
        options: &TrainOptions<'_, &ScoredPairs>,
    ) -> Result<Trained<Relatedness>> {
        self.check()?;
        let Base { form, reading, parameters, mut words } = Base::of(base)?;
        let dim = words.dim();
        let encoder = form.encoder(dim)?;
        let head = RelatednessHead {
            hidden: self.hidden,
            grid: self.grid,
            combine: self.combine,
            ..RelatednessHead::new(encoder.dim())
        };
        let seed = self.fit.seed;
        let mut start = match self.filters {
            FilterStart::Universal => parameters,
            FilterStart::Random => encoder.init(&mut stream(seed, "filters", &[]))?,
        };
        let vocabulary = base.vocabulary().clone();
        let mut found = InitialVectorReport { words: vocabulary.len(), found: vocabulary.len() };
        if let Some(vectors) = options.vectors {
            let rows = initial::start_rows(&vocabulary, dim, vectors, seed)?;
            for ((id, ..), row) in vocabulary.iter().zip(rows.iter()) {
                words.row_mut(id.index()).copy_from_slice(row);
            }
            found = InitialVectorReport::count(&vocabulary, vectors);
        }
        let train = Scored::new(train, self.grid, (&reading, &encoder), &vocabulary)?;
        let dev = options.dev.map(|dev| Scored::new(dev, self.grid, (&reading, &encoder), &vocabulary)).transpose()?;
        let config = RelatednessConfig {
            base: base.kind().to_owned(),
            encoder: form,
            dim,
            reading,
            head: head.clone(),
            params: self.clone(),
        };
        if self.rescale {
            bring_to_scale(&encoder, &mut words, &mut start, &train)?;
        }
        let weights = Weights { words, parameters: vec![start.clone(), head.init(&mut stream(seed, "head", &[]))?] };
        let data = [Some(&train), dev.as_ref()].into_iter().flatten();
        let data = data.fold(Fingerprint::new(), |sum, set| sum.sentences(&set.sentences).scores(&set.gold));
        let base = data.vocabulary(&vocabulary).table(&weights.words).parameters(&start);
        let identity = format!("{} {}", file::to_json(&config)?, base.hex());
        let mut objective = FineTuning { params: self, encoder, head, train, dev, start, identity };
        let fitted = fit(&mut objective, || Ok(weights), &self.fit, &options.run())?;
        Trained::of_gradient(fitted, found, |Weights { words, parameters }| {
            Relatedness::new(config, vocabulary, words, file::exactly(parameters))
        })
    }
}

/// A tuned encoder with its head.
#[derive(Debug, Clone)]
pub struct Relatedness {
    config: RelatednessConfig,
    vocabulary: Vocabulary,
    words: Table,
    encoder: TrainableEncoder,
    /// Those of the encoder, those of the head.
    parameters: [Parameters<f32>; 2],
}

impl Relatedness {
    /// The name of this kind in model files.
    pub const KIND: &'static str = "relatedness";

    fn new(
        config: RelatednessConfig,
        vocabulary: Vocabulary,
        words: Table,
        parameters: [Parameters<f32>; 2],
    ) -> Result<Self> {
        let encoder = config.encoder.encoder(config.dim)?;
        Ok(Self { config, vocabulary, words, encoder, parameters })
    }

    /// Its settings.
    #[must_use]
    pub fn config(&self) -> &RelatednessConfig {
        &self.config
    }

    /// The words it knows.
    #[must_use]
    pub fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    /// The word vectors, before the filters.
    #[must_use]
    pub fn words(&self) -> &Table {
        &self.words
    }

    /// How related two sentences are, on the scale of the scores it was trained on.
    ///
    /// # Errors
    /// If memory is lacking.
    pub fn score(&self, first: &str, second: &str) -> Result<f64> {
        let dim = self.encoder.dim();
        let (mut scratch, mut vectors) = (Scratch::default(), Array2::zeros((2, dim)));
        for (text, mut row) in [first, second].into_iter().zip(vectors.outer_iter_mut()) {
            if let Some(out) = row.as_slice_mut() {
                self.encode_into(text, &mut scratch, out);
            }
        }
        let (u, v) = vectors.view().split_at(Axis(0), 1);
        let (predictions, _) = self.config.head.forward(&self.parameters[1], u, v)?;
        Ok(predictions.scores(self.config.head.grid).first().copied().unwrap_or(f64::NAN))
    }

    fn is_recurrent(&self) -> bool {
        matches!(self.encoder, TrainableEncoder::Gru(_) | TrainableEncoder::Lstm(_))
    }

    /// Writes the model to a file by atomic replacement.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        file::save_with(Self::KIND, &self.config, &self.vocabulary, &self.words, &self.parameters, path.as_ref())
    }

    /// Opens a model; its word vectors are memory-mapped.
    ///
    /// # Errors
    /// If the file is no such model of senv, or damaged.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::from_file(&ModelFile::open(path)?)
    }
}

impl Configuration for RelatednessConfig {
    fn check_for(&self, file: &ModelFile, n_words: usize) -> Result<()> {
        self.reading.check(n_words)?;
        self.encoder.check(self.dim, file)?;
        let gives = self.encoder.encoder(self.dim)?.dim();
        let dim = self.head.dim;
        if dim != gives {
            let reason = format!("the head reads {dim} numbers, the encoder gives {gives}");
            return Err(Error::BadModel { path: file.path().to_owned(), reason });
        }
        configuration::expect_values(file, "the head", self.head.n_values())
    }
}

impl ReadModel for Relatedness {
    const KIND: &'static str = Self::KIND;

    fn from_file(file: &ModelFile) -> Result<Self> {
        let (config, vocabulary, words) = file::parts::<RelatednessConfig>(Self::KIND, file)?;
        file::expect_rows(file, &words, vocabulary.len(), config.dim)?;
        let cheap = config.encoder.cheap().encoder(config.dim)?;
        let forms = [cheap.init(&mut stream(0, "form", &[]))?, config.head.init(&mut stream(0, "form", &[]))?];
        Self::new(config, vocabulary, words, file::groups(file, &forms)?)
    }
}

impl SavedModel for Relatedness {
    fn kind(&self) -> &'static str {
        Self::KIND
    }

    fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    fn tokenizer(&self) -> &Tokenizer {
        self.config.reading.tokenizer()
    }

    fn rows(&self) -> Result<&Table> {
        Ok(&self.words)
    }

    fn config_json(&self) -> serde_json::Value {
        serde_json::to_value(&self.config).unwrap_or_default()
    }

    fn hyperparameters(&self) -> Vec<senv_core::hyperparameters::Hyperparameter> {
        self.config.params.hyperparameters()
    }

    fn write(&self, path: &Path) -> Result<()> {
        self.save(path)
    }

    fn cost(&self) -> EncodingCost {
        if self.is_recurrent() { EncodingCost::LessInBatches } else { EncodingCost::PerSentence }
    }

    fn head(&self) -> Option<&dyn ScorePairs> {
        Some(self)
    }
}

impl ScorePairs for Relatedness {
    fn score_pair(&self, first: &str, second: &str) -> Result<f64> {
        self.score(first, second)
    }
}

senv_core::encoding_methods!([] Relatedness);

impl SentenceEncoder for Relatedness {
    fn dim(&self) -> usize {
        self.encoder.dim()
    }

    fn encode_into(&self, sentence: &str, scratch: &mut Scratch, out: &mut [f32]) -> Coverage {
        let mut tokens = std::mem::take(&mut scratch.tokens);
        let coverage = self.config.reading.read(&self.vocabulary, sentence, &mut scratch.text, &mut tokens);
        self.encoder.arrange(&mut tokens);
        let encoded = self.encoder.encode_into(&self.parameters[0], &self.words, &tokens, &mut scratch.values, out);
        // Shapes were checked when the model was made; tokens come from its vocabulary.
        debug_assert!(encoded.is_ok());
        if encoded.is_err() {
            out.fill(0.0);
        }
        scratch.tokens = tokens;
        coverage
    }
    fn encode_batch(&self, sentences: &[&str]) -> CoreResult<(Array2<f32>, Vec<Coverage>)> {
        if !self.is_recurrent() {
            let encode = |text: &str, scratch: &mut Scratch, out: &mut [f32]| self.encode_into(text, scratch, out);
            return encode_batch_with(sentences, self.dim(), encode);
        }
        let read = |text: &str, scratch: &mut String, out: &mut Vec<TokenId>| {
            self.config.reading.read(&self.vocabulary, text, scratch, out)
        };
        encode_batch_by_length(sentences, self.dim(), read, |sentences| {
            let (batch, words) = gather(&self.words, sentences)?;
            self.encoder.encode(&self.parameters[0], &batch, words.view())
        })
    }
}
