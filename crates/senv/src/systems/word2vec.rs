//! Averages of word2vec vectors, the usual baseline: CBOW or skip-gram with negative sampling.
//!
//! T. Mikolov, K. Chen, G. Corrado and J. Dean, "Efficient Estimation of Word Representations in Vector Space", 2013.
//! The settings of the paper are those of T. Kenter, A. Borisov and M. de Rijke, "Siamese CBOW", ACL 2016, section 3.2.
//! The windows are `window-context`, the average is `feature-average`.

use std::path::PathBuf;

use senv_core::{
    Corpus, Table, Tokenizer, Vocabulary,
    hyperparameters::{Hyperparameters, hyperparameters, named_values},
};
use senv_negative_sampling::{ContinuousBagOfWords, NegativeSamplingParams, Noise, SkipGram, Subsampling, Tables, fit};
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

/// Power of the counts in the noise distribution of word2vec.
const NOISE_POWER: f64 = 0.75;

/// The lowest learning rate of the program, as a share of the initial one.
const LR_FLOOR: f64 = 1e-4;

/// The direction of the prediction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Architecture {
    /// The surrounding words predict the word.
    Cbow,
    /// The word predicts the surrounding words.
    SkipGram,
}

named_values!(Architecture {
    Cbow = "cbow": "The surrounding words predict the word",
    SkipGram = "skip-gram": "The word predicts the surrounding words",
});

hyperparameters! {
    /// Hyperparameters of word2vec.
    ///
    /// The defaults adapt to the text: skip-gram at a high learning rate, many epochs, and uSIF weights. Values that
    /// depend on the size of the text are automatic (`None`). [`Word2VecParams::paper`] has the settings of a paper,
    /// [`Word2VecParams::release`] those of the authors' program.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct Word2VecParams {
        /// Embedding dimension.
        pub dim: usize = 100 => Training[from 1 to 65536];
        /// Direction of the prediction.
        pub architecture: Architecture = Architecture::SkipGram => Training;
        /// The maximum number of words to either side.
        pub window: usize = 5 => Training[from 1 to 1000];
        /// Minimum count; rarer words are unknown.
        pub min_count: Option<u64> = None => Text;
        /// Subsampling threshold t, a relative frequency: more frequent words are often skipped.
        ///
        /// By default 1e-5, or about 1 / (number of words in the text) if that is larger.
        @[serde(default, deserialize_with = "crate::base::configuration::infinity_of_null", skip_serializing_if = "Option::is_none")]
        pub subsample: Option<f64> = None => Training[above 0 or_infinite];
        /// The tokenizer.
        pub tokenizer: Tokenizer = Tokenizer::for_typed_text() => group;
        /// Weights of the trained words; `None` for a plain mean.
        pub weighting: Option<WeightScheme> = Some(WeightScheme::USIF) => group[weights];
        /// How a sentence vector treats unknown words.
        pub unknown_words: UnknownWords = UnknownWords::Hash => Weights;
        /// Hyperparameters of the trainer.
        pub training: NegativeSamplingParams =
            NegativeSamplingParams { lr_floor: LR_FLOOR, negatives: 5, ..NegativeSamplingParams::default() } => group;
    }
}

impl Word2VecParams {
    /// The settings of the Siamese CBOW paper (section 3.2): 300 dimensions, minimum count 5, windows of 5, t = 1e-5, 5
    /// negatives. It states no learning rate and no number of epochs; both are the program's, 0.05 (CBOW) and 5.
    #[must_use]
    pub fn paper() -> Self {
        Self {
            dim: 300,
            architecture: Architecture::Cbow,
            window: 5,
            min_count: Some(5),
            subsample: Some(1e-5),
            tokenizer: Tokenizer::automatic().lowercase(true),
            weighting: None,
            unknown_words: UnknownWords::Skip,
            training: NegativeSamplingParams {
                epochs: Some(5),
                lr: Some(Self::default_lr(Architecture::Cbow)),
                lr_floor: LR_FLOOR,
                negatives: 5,
                ..NegativeSamplingParams::default()
            },
        }
    }

    /// The defaults of the authors' program: 100 dimensions and t = 1e-3; otherwise [`Word2VecParams::paper`].
    #[must_use]
    pub fn release() -> Self {
        Self { dim: 100, subsample: Some(1e-3), ..Self::paper() }
    }

    /// The learning rate of the authors' program: 0.05 for CBOW, 0.025 for skip-gram.
    #[must_use]
    pub fn default_lr(architecture: Architecture) -> f32 {
        match architecture {
            Architecture::Cbow => 0.05,
            Architecture::SkipGram => 0.025,
        }
    }
}

impl System for Word2VecParams {
    type Model = Word2Vec;
    type Input = [PathBuf];
    type Data<'a> = TextData<'a>;
    type Dev<'d> = ();
    const ABOUT: About = About {
        name: Self::KIND,
        summary: "word2vec: word vectors; a sentence is the mean of its words",
        examples: &["senv train word2vec --input text.txt --output words.senv --architecture skip-gram --window 10"],
        note: "",
        preset: "Start from a named preset instead of settings that fit the text; explicit options override it",
    };
    const NAMED_SETTINGS: &'static [NamedSettings<Self>] = &[
        NamedSettings {
            name: "paper",
            help: "The Siamese CBOW paper, section 3.2: 300 dimensions, t = 1e-5",
            settings: Self::paper,
        },
        NamedSettings {
            name: "release",
            help: "The defaults of the authors' code: 100 dimensions, t = 1e-3",
            settings: Self::release,
        },
    ];

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

    fn fit_on(&self, data: &TextData<'_>, options: &TrainOptions<'_>) -> Result<Trained<Word2Vec>> {
        fit_text(self, data, options)
    }
}

impl TextSystem for Word2VecParams {
    const TRAINS_ON_RANKS: bool = true;

    /// Sets the program's learning rate, which depends on the architecture.
    fn follow(&mut self, is_changed: &dyn Fn(&str) -> bool) {
        if is_changed("architecture") && !is_changed("lr") {
            self.training.lr = Some(Self::default_lr(self.architecture));
        }
    }

    fn resolve(&mut self, size: TextSize) {
        let Self { architecture, min_count, subsample, training, .. } = self;
        min_count.get_or_insert(size.min_count());
        subsample.get_or_insert(size.subsample(1e-5));
        training.epochs.get_or_insert(size.epochs(15.0, 2, 60));
        training.lr.get_or_insert(match architecture {
            Architecture::Cbow => Self::default_lr(Architecture::Cbow),
            Architecture::SkipGram => 0.1,
        });
    }

    fn min_count(&mut self) -> &mut Option<u64> {
        &mut self.min_count
    }

    fn fit_resolved(
        &self,
        vocabulary: Vocabulary,
        corpus: &Corpus,
        options: &TrainOptions<'_>,
    ) -> Result<Trained<Word2Vec>> {
        let start = options.vectors;
        self.check()?;
        weighting::check(self.weighting, self.dim, &vocabulary)?;
        let seed = self.training.seed;
        let rows = start.map(|start| initial::start_rows(&vocabulary, self.dim, start, seed)).transpose()?;
        let n = vocabulary.len();
        let subsampling = Subsampling::new(
            vocabulary.counts(),
            vocabulary.corpus_tokens(),
            self.subsample.unwrap_or(f64::INFINITY),
            1,
        )?;
        let noise = Noise::new(vocabulary.counts(), NOISE_POWER)?;
        let initial = || {
            let source = rows.map_or_else(|| initial::uniform_rows(n, self.dim, seed), Ok)?;
            Ok(Tables { source, target: Table::zeros(n, self.dim)? })
        };
        let report = InitialVectorReport::of(&vocabulary, start);
        let settings = initial::settings_from(file::to_json(self)?, start);
        let mut outcome = match self.architecture {
            Architecture::Cbow => {
                let examples = ContinuousBagOfWords::new(self.window, subsampling, n);
                fit(corpus, &examples, &noise, &self.training, &settings, initial, &options.run())?
            }
            Architecture::SkipGram => {
                let examples = SkipGram::new(self.window, subsampling, n);
                fit(corpus, &examples, &noise, &self.training, &settings, initial, &options.run())?
            }
        };
        let rows = std::mem::replace(&mut outcome.tables.source, Table::zeros(0, self.dim)?);
        Trained::new(&self.training, &outcome, report, Averaged::new(self.clone(), vocabulary, rows, corpus)?)
    }
}

impl AveragedSystem for Word2VecParams {
    const KIND: &'static str = "word2vec";

    fn weights(&mut self) -> (&mut Option<WeightScheme>, &mut UnknownWords) {
        (&mut self.weighting, &mut self.unknown_words)
    }
}

/// Trained word vectors; a sentence is the mean of its words.
pub type Word2Vec = Averaged<Word2VecParams>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_without_subsampling_opens_again() {
        let folder = tempfile::tempdir().unwrap();
        let (text, path) = (folder.path().join("text.txt"), folder.path().join("m.senv"));
        std::fs::write(&text, "the train to the coast is late\n".repeat(20)).unwrap();
        let params = Word2VecParams { dim: 8, subsample: Some(f64::INFINITY), ..Word2VecParams::default() };
        let model = params.train(&text).unwrap();
        model.save(&path).unwrap();
        assert_eq!(Word2Vec::open(&path).unwrap().params().subsample, Some(f64::INFINITY));
    }

    #[test]
    fn each_preset_has_the_settings_of_its_source() {
        let paper = Word2VecParams::paper();
        assert_eq!((paper.dim, paper.min_count, paper.window, paper.subsample), (300, Some(5), 5, Some(1e-5)));
        assert_eq!((paper.training.negatives, paper.training.lr, paper.training.epochs), (5, Some(0.05), Some(5)));
        let release = Word2VecParams::release();
        assert_eq!((release.dim, release.min_count, release.window, release.subsample), (100, Some(5), 5, Some(1e-3)));
        assert_eq!(release.training, paper.training);
        assert_eq!(paper.training.lr_floor, 1e-4);
    }
}
