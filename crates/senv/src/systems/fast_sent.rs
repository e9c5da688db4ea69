//! FastSent: the sum of the word vectors of a sentence predicts the words of the adjacent sentences; FastSent+AE also
//! predicts its own words.
//!
//! F. Hill, K. Cho and A. Korhonen, "Learning Distributed Representations of Sentences from Unlabelled Data", NAACL
//! 2016. Training is `fast-sent-context`, with negative sampling instead of the release's hierarchical softmax. A
//!       sentence vector is the mean of its word vectors, `feature-average`; it has the cosines of the sum.

use std::path::PathBuf;

use senv_core::{
    Corpus, Table, Tokenizer, Vocabulary,
    hyperparameters::{Hyperparameters, hyperparameters},
};
use senv_negative_sampling::{NegativeSamplingParams, NeighbouringSentences, Noise, Subsampling, Tables, fit};
use serde::{Deserialize, Serialize};

use crate::{
    average::{
        unknown_words::UnknownWords,
        weight_scheme::{WeightScheme, weights},
        weighting,
    },
    base::{file, text_size::TextSize, train_options::TrainOptions},
    error::Result,
    model::trained::Trained,
    start::initial::{self, InitialVectorReport},
    system::{
        about::{About, NamedSettings},
        averaged::{Averaged, AveragedSystem},
        contract::{Common, System, Trainer},
        start::Start,
        text_data::TextData,
        text_system::{TextSystem, fit_text, read_text},
    },
};

/// Power of the counts in the noise distribution, as in word2vec.
const NOISE_POWER: f64 = 0.75;

/// The lowest learning rate, as a share of the initial one: from the release's 0.025 to its 1e-4.
const LR_FLOOR: f64 = 4e-3;

hyperparameters! {
    /// Hyperparameters of FastSent.
    ///
    /// The defaults adapt to the text: many epochs, a higher learning rate, subsampled targets, and uSIF weights.
    /// Values that depend on the size of the text are automatic (`None`). [`FastSentParams::paper`] has the settings of
    /// the release.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct FastSentParams {
        /// Embedding dimension.
        pub dim: usize = 100 => Training[from 1 to 65536];
        /// Whether a sentence also predicts its own words: FastSent+AE.
        pub autoencode: bool = false => Training;
        /// Minimum count; rarer words are unknown.
        pub min_count: Option<u64> = None => Text;
        /// Subsampling threshold t of targets, a relative frequency; 1 keeps all.
        ///
        /// By default 1e-3, or about 1 / (number of words in the text) if that is larger.
        @[serde(default, deserialize_with = "crate::base::configuration::infinity_of_null", skip_serializing_if = "Option::is_none")]
        pub subsample: Option<f64> = None => Training[above 0 or_infinite];
        /// The tokenizer.
        pub tokenizer: Tokenizer = Tokenizer::for_typed_text() => group;
        /// Weights of the trained words; `None` for a plain mean.
        pub weighting: Option<WeightScheme> = Some(WeightScheme::USIF) => group[weights];
        /// How a sentence vector treats unknown words.
        pub unknown_words: UnknownWords = UnknownWords::Hash => Weights;
        /// Hyperparameters of the trainer.
        pub training: NegativeSamplingParams = NegativeSamplingParams {
            lr_floor: LR_FLOOR,
            negatives: 5,
            ..NegativeSamplingParams::default()
        } => group;
    }
}

impl FastSentParams {
    /// The settings of the release, for a billion words: one epoch at 0.025, words that occur at least ten times, all
    /// of them targets.
    #[must_use]
    pub fn paper() -> Self {
        Self {
            dim: 100,
            autoencode: false,
            min_count: Some(10),
            subsample: Some(1.0),
            tokenizer: Tokenizer::automatic().lowercase(true),
            weighting: None,
            unknown_words: UnknownWords::Skip,
            training: NegativeSamplingParams {
                epochs: Some(1),
                lr: Some(0.025),
                lr_floor: LR_FLOOR,
                negatives: 5,
                ..NegativeSamplingParams::default()
            },
        }
    }
}

impl System for FastSentParams {
    type Model = FastSent;
    type Input = [PathBuf];
    type Data<'a> = TextData<'a>;
    type Dev<'d> = ();
    const ABOUT: About = About {
        name: Self::KIND,
        summary: "FastSent: words whose sum predicts the words of the sentences before and after",
        examples: &[
            "senv train fast-sent --input books.txt --output model.senv",
            "senv train fast-sent --input books.txt --output model.senv --autoencode",
        ],
        note: "",
        preset: "Start from a named preset instead of settings that fit the text; explicit options override it",
    };
    const NAMED_SETTINGS: &'static [NamedSettings<Self>] =
        &[NamedSettings { name: "paper", help: "As published", settings: Self::paper }];

    fn check(&self) -> Result<()> {
        self.check_ranges()?;
        Ok(self.training.check()?)
    }

    fn common(&mut self) -> Common<'_> {
        let Self { dim, tokenizer, training, .. } = self;
        Common { dim, tokenizer, trainer: Trainer::NegativeSampling(training) }
    }

    fn read_input<'a>(
        &mut self,
        paths: &'a [PathBuf],
        start: Start<'a>,
        options: &TrainOptions<'_>,
    ) -> Result<TextData<'a>> {
        read_text(self, paths, start, options)
    }

    fn fit_on(&self, data: &TextData<'_>, options: &TrainOptions<'_>) -> Result<Trained<FastSent>> {
        fit_text(self, data, options)
    }
}

impl TextSystem for FastSentParams {
    const TRAINS_ON_RANKS: bool = true;

    /// Sums are long vectors: training is unstable at a learning rate of 0.2.
    fn resolve(&mut self, size: TextSize) {
        let Self { min_count, subsample, training, .. } = self;
        min_count.get_or_insert(size.min_count());
        subsample.get_or_insert(size.subsample(1e-3));
        training.epochs.get_or_insert(size.epochs(10.0, 2, 40));
        training.lr.get_or_insert(0.1);
    }

    fn min_count(&mut self) -> &mut Option<u64> {
        &mut self.min_count
    }

    fn fit_resolved(
        &self,
        vocabulary: Vocabulary,
        corpus: &Corpus,
        options: &TrainOptions<'_>,
    ) -> Result<Trained<FastSent>> {
        let start = options.vectors;
        self.check()?;
        weighting::check(self.weighting, self.dim, &vocabulary)?;
        let (seed, n) = (self.training.seed, vocabulary.len());
        let rows = start.map(|start| initial::start_rows(&vocabulary, self.dim, start, seed)).transpose()?;
        let subsampling = Subsampling::new(
            vocabulary.counts(),
            vocabulary.corpus_tokens(),
            self.subsample.unwrap_or(f64::INFINITY),
            1,
        )?;
        let noise = Noise::new(vocabulary.counts(), NOISE_POWER)?;
        let examples = NeighbouringSentences::new(subsampling, n, self.autoencode);
        let initial = || {
            let source = rows.map_or_else(|| initial::uniform_rows(n, self.dim, seed), Ok)?;
            Ok(Tables { source, target: Table::zeros(n, self.dim)? })
        };
        let report = InitialVectorReport::of(&vocabulary, start);
        let settings = initial::settings_from(file::to_json(self)?, start);
        let mut outcome = fit(corpus, &examples, &noise, &self.training, &settings, initial, &options.run())?;
        let rows = std::mem::replace(&mut outcome.tables.source, Table::zeros(0, self.dim)?);
        Trained::new(&self.training, &outcome, report, Averaged::new(self.clone(), vocabulary, rows, corpus)?)
    }
}

impl AveragedSystem for FastSentParams {
    const KIND: &'static str = "fast-sent";

    fn weights(&mut self) -> (&mut Option<WeightScheme>, &mut UnknownWords) {
        (&mut self.weighting, &mut self.unknown_words)
    }
}

/// A trained FastSent model.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let (text, path) = (folder.path().join("text.txt"), folder.path().join("model.senv"));
/// # std::fs::write(&text, "rain falls\nclouds gather\n\nbread bakes\nflour rises\n\n".repeat(20))?;
/// use senv::prelude::*;
/// use senv::{FastSent, FastSentParams};
/// let params = FastSentParams { dim: 8, autoencode: true, ..FastSentParams::default() };
/// params.train(&text)?.save(&path)?;
/// assert_eq!(FastSent::open(&path)?.encode(&["rain falls"])?.dim(), (1, 8));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type FastSent = Averaged<FastSentParams>;
