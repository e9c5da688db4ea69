//! Sent2Vec: sentence vectors as averages of word and n-gram vectors, trained to predict each word of a sentence from
//! the others.
//!
//! M. Pagliardini, P. Gupta and M. Jaggi, "Unsupervised Learning of Sentence Embeddings using Compositional n-Gram
//! Features", NAACL 2018. The equations are documented with the code that computes them: `feature-average`
//! ([`crate::average::AverageEncoder`]), `sent2vec-context`, `negative-sampling-objective`, `keep-probability` and
//! `noise-distribution` (`senv-negative-sampling`).

use std::path::PathBuf;

use senv_core::{
    Corpus, FeatureList, Remedy, RowId, Table, TokenId, Tokenizer, Vocabulary,
    hyperparameters::{Hyperparameters, hyperparameters, named_values},
    init,
    rng::Stream,
};
use senv_negative_sampling::{
    Error as TrainingError, MaskedFeatures, MaskedTargets, NegativeSamplingParams, NegativeSharing, Noise, Schedule,
    Subsampling, Tables, TextOrder, fit,
};
use senv_ngram::{Dropout, DropoutMask, DropoutScheme, NgramScheme, WordNgramParams, WordNgrams};
use serde::{Deserialize, Serialize};

use crate::{
    average::{
        ngram_buckets,
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

/// Power of the counts in the noise distribution (section 2.1 of the paper).
const NOISE_POWER: f64 = 0.5;

/// Initial vectors of n-grams.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum NgramStart {
    /// Zero: an n-gram that never occurs in training adds nothing to a sentence vector.
    Zero,
    /// Uniform in ±1/dim, like words: the release.
    Uniform,
}

named_values!(NgramStart {
    Zero = "zero": "At zero: an untrained n-gram adds nothing",
    Uniform = "uniform": "At random, like word vectors, as in the released code",
});

hyperparameters! {
    /// Hyperparameters of Sent2Vec. [`TextSystem::check`] reports values out of range.
    ///
    /// The defaults adapt to the text: a high learning rate, many epochs, rare words as targets, long initial rows, no
    /// placeholder, and uSIF weights. Values that depend on the size of the text are automatic (`None`): they are
    /// chosen when training starts. [`Sent2VecParams::preset`] has the settings of the paper and of the release, which
    /// are for billions of words.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct Sent2VecParams {
        /// Embedding dimension.
        pub dim: usize = 100 => Training[from 1 to 65536];
        /// Longest n-gram in words: 1 for words only, 2 to add bigrams.
        pub word_ngrams: usize = 1 => Training[from 1 to 255];
        /// Hash buckets for n-grams; by default the number of distinct n-grams in the text, at most 2,000,000.
        ///
        /// Ignored for words only. A trained model records the number.
        pub buckets: Option<u32> = None => Training[at_least 1];
        /// Hash function of n-grams.
        @[serde(default, skip_serializing_if = "is_token_ids")]
        pub hashing: NgramScheme = NgramScheme::TokenIds => Training;
        /// Tokens (or n-grams) of a sentence left out of its n-grams in training.
        pub dropout: usize = 4 => Training;
        /// What is dropped.
        pub dropout_scheme: DropoutScheme = DropoutScheme::Tokens => Training;
        /// Minimum count; rarer words are unknown.
        pub min_count: Option<u64> = None => Text;
        /// Minimum count of targets; rarer words are never targets.
        pub min_target_count: Option<u64> = None => Training;
        /// Subsampling threshold t of targets, a relative frequency: more frequent words are often skipped.
        ///
        /// By default 1e-4, or about 1 / (number of words in the text) if that is larger.
        @[serde(default, deserialize_with = "crate::base::configuration::infinity_of_null", skip_serializing_if = "Option::is_none")]
        pub subsample: Option<f64> = None => Training[above 0 or_infinite];
        /// Whether a placeholder replaces the target, as in the release, or the target is left out, as in the paper.
        pub placeholder: bool = false => Training;
        /// Mean length of the random initial word vectors; without it U(-1/dim, 1/dim), as in the release.
        ///
        /// Long rows keep rare words apart, so a sentence vector depends on which of them it contains.
        pub initial_length: Option<f32> = Some(12.0) => Training[above 0];
        /// Initial vectors of n-grams.
        pub ngram_start: NgramStart = NgramStart::Zero => Training;
        /// The tokenizer.
        pub tokenizer: Tokenizer = Tokenizer::for_typed_text() => group;
        /// Weights of the trained words; `None` for a plain mean.
        pub weighting: Option<WeightScheme> = Some(WeightScheme::USIF) => group[weights];
        /// How a sentence vector treats unknown words.
        pub unknown_words: UnknownWords = UnknownWords::Hash => Weights;
        /// Hyperparameters of the trainer.
        pub training: NegativeSamplingParams = NegativeSamplingParams::default() => group;
    }
}

/// Named settings.
///
/// `docs/experiments/sent2vec-settings.md` lists how they differ from each other, from the paper and from the release,
/// and how each difference affects the score.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Preset {
    /// The method as the paper states it, with its settings for words only on the Toronto books, the smallest of its
    /// texts.
    ///
    /// The target is left out, n-grams are dropped once per sentence and hashed as in fastText, the text is in random
    /// order, and every target draws its own negatives. `dropout` is that of the books too, for `word_ngrams` of 2.
    Paper,
    /// The authors' program without options. Its manual expects tokenized text and says that other texts need other
    /// settings.
    Release,
    /// Toronto books, words, by the authors' program: table 5 in appendix A of the paper.
    BooksUni,
    /// Toronto books, words and bigrams.
    BooksBi,
    /// Toronto books, words and bigrams, with the L1 regularization of appendix B: a row of tables 6 and 7.
    ///
    /// With the initial rows of the authors' program, this strength keeps every row where it started. Words start in
    /// ±1/700 and target rows at zero. The first step moves a value of a target row by less than half of 1/700 = 7.1e-4
    /// of the learning rate. For the mean of a sentence, it is about 1e-4. The threshold takes back 5e-4 of it, and
    /// while target rows are zero, words have no gradient. The published program has no L1 regularization, and the
    /// paper does not state how these models were initialized. A run that learns nothing gives a warning;
    /// `initial_length` of 1, or `training.l1` of 5e-5, trains.
    BooksBiL1,
    /// Wikipedia, words.
    WikiUni,
    /// Wikipedia, words and bigrams.
    WikiBi,
    /// Wikipedia, words and bigrams, with the L1 regularization of appendix B. For its initial values see
    /// [`Preset::BooksBiL1`].
    WikiBiL1,
    /// Tweets, words.
    TwitterUni,
    /// Tweets, words and bigrams.
    TwitterBi,
}

impl Preset {
    /// Appendix B: the strength of L1 regularization, which is not in table 5.
    fn l1(self) -> f32 {
        if matches!(self, Self::BooksBiL1 | Self::WikiBiL1) { 5e-4 } else { 0.0 }
    }

    /// Table 5: dimension, n, minimum counts of words and of targets, epochs, subsampling threshold, dropped n-grams.
    fn table_5(self) -> Option<(usize, usize, u64, u64, u32, f64, usize)> {
        Some(match self {
            Self::Release => return None,
            Self::Paper => (700, 1, 5, 8, 13, 1e-5, 7),
            Self::BooksUni => (700, 1, 5, 8, 13, 1e-5, 0),
            Self::BooksBi | Self::BooksBiL1 => (700, 2, 5, 5, 12, 5e-6, 7),
            Self::WikiUni => (600, 1, 8, 20, 9, 1e-5, 0),
            Self::WikiBi | Self::WikiBiL1 => (700, 2, 8, 20, 9, 5e-6, 4),
            Self::TwitterUni => (700, 1, 20, 20, 3, 1e-6, 0),
            Self::TwitterBi => (700, 2, 20, 20, 3, 1e-6, 3),
        })
    }
}

impl Sent2VecParams {
    /// The settings of the paper: [`Preset::Paper`].
    #[must_use]
    pub fn paper() -> Self {
        Self::preset(Preset::Paper)
    }

    /// The settings of a preset.
    #[must_use]
    pub fn preset(preset: Preset) -> Self {
        let release = Self::release();
        let Some((dim, n, min_count, min_target_count, epochs, subsample, dropout)) = preset.table_5() else {
            return release;
        };
        // The published models were trained by the program on text that was already tokenized.
        let published = Self {
            dim,
            word_ngrams: n,
            min_count: Some(min_count),
            min_target_count: Some(min_target_count),
            subsample: Some(subsample),
            dropout,
            tokenizer: Tokenizer::automatic().lowercase(true),
            training: NegativeSamplingParams {
                epochs: Some(epochs),
                lr: Some(0.2),
                l1: preset.l1(),
                ..release.training.clone()
            },
            ..release
        };
        if preset != Preset::Paper {
            return published;
        }
        Self {
            hashing: NgramScheme::TokenHashes,
            dropout_scheme: DropoutScheme::Paper,
            placeholder: false,
            training: NegativeSamplingParams { text_order: TextOrder::Shuffled, ..published.training.clone() },
            ..published
        }
    }

    /// The authors' program, called as `fasttext sent2vec -input .. -output ..`. Lists every field, so none is
    /// inherited.
    fn release() -> Self {
        Self {
            dim: 100,
            word_ngrams: 1,
            buckets: Some(ngram_buckets::PAPER),
            hashing: NgramScheme::TokenIds,
            dropout: 2,
            dropout_scheme: DropoutScheme::Release,
            min_count: Some(5),
            min_target_count: Some(0),
            subsample: Some(1e-4),
            placeholder: true,
            initial_length: None,
            ngram_start: NgramStart::Uniform,
            tokenizer: Tokenizer::whitespace().lowercase(false),
            weighting: None,
            unknown_words: UnknownWords::Skip,
            training: NegativeSamplingParams {
                epochs: Some(5),
                lr: Some(0.05),
                lr_floor: 0.0,
                negatives: 10,
                negatives_shared: NegativeSharing::None,
                text_order: TextOrder::Given,
                l1: 0.0,
                schedule: Schedule::Deterministic,
                seed: 1,
            },
        }
    }

    /// Buckets of a model; the paper's number if not set.
    fn n_buckets(&self) -> u32 {
        self.buckets.unwrap_or(ngram_buckets::PAPER)
    }

    /// The largest absolute initial value of a row.
    fn initial_limit(&self) -> f32 {
        let dim = self.dim as f32;
        // The variance of U(-l, l) is l²/3.
        self.initial_length.map_or(1.0 / dim, |length| length * (3.0 / dim).sqrt())
    }

    fn n_grams(&self, n_buckets: u32) -> WordNgramParams {
        let first_row = u32::from(self.placeholder);
        WordNgramParams { max_n: self.word_ngrams, n_buckets, scheme: self.hashing, first_row }
    }
}

/// Whether this is the hash function that files do not record.
fn is_token_ids(scheme: &NgramScheme) -> bool {
    *scheme == NgramScheme::TokenIds
}

impl System for Sent2VecParams {
    type Model = Sent2Vec;
    type Input = [PathBuf];
    type Data<'a> = TextData<'a>;
    type Dev<'d> = ();
    const ABOUT: About = About {
        name: Self::KIND,
        summary: "Sent2Vec: words and n-grams that predict the other words of their sentence",
        examples: &[
            "senv train sent2vec --input text.txt --output model.senv",
            "senv train sent2vec --input a.gz b.zst --output model.senv --dim 300 --word-ngrams 2 --epochs 10",
            "senv train sent2vec --input wiki.txt --output wiki.senv --preset wiki-bi --checkpoint-every 2h",
            "senv train sent2vec --input text.txt --output model.senv --weights usif",
        ],
        note: "",
        preset: "Start from a named preset instead of settings that fit the text; explicit options override it",
    };
    const NAMED_SETTINGS: &'static [NamedSettings<Self>] = &[
        NamedSettings {
            name: "paper",
            help: "The method as printed in the paper, with its settings for words on the Toronto books",
            settings: Self::paper,
        },
        NamedSettings {
            name: "release",
            help: "The defaults of the authors' code, which splits text at whitespace and keeps case",
            settings: || Self::preset(Preset::Release),
        },
        NamedSettings {
            name: "books-uni",
            help: "The published model of the Toronto books, words only: the authors' code with the options of the \
                paper",
            settings: || Self::preset(Preset::BooksUni),
        },
        NamedSettings {
            name: "books-bi",
            help: "Toronto books, words and bigrams",
            settings: || Self::preset(Preset::BooksBi),
        },
        NamedSettings {
            name: "books-bi-l1",
            help: "Toronto books, words and bigrams, with L1 regularization; it learns nothing from the short initial \
                rows of the authors' code, so add --initial-length 1",
            settings: || Self::preset(Preset::BooksBiL1),
        },
        NamedSettings { name: "wiki-uni", help: "Wikipedia, words", settings: || Self::preset(Preset::WikiUni) },
        NamedSettings {
            name: "wiki-bi",
            help: "Wikipedia, words and bigrams",
            settings: || Self::preset(Preset::WikiBi),
        },
        NamedSettings {
            name: "wiki-bi-l1",
            help: "Wikipedia, words and bigrams, with L1 regularization, as books-bi-l1",
            settings: || Self::preset(Preset::WikiBiL1),
        },
        NamedSettings { name: "twitter-uni", help: "Tweets, words", settings: || Self::preset(Preset::TwitterUni) },
        NamedSettings {
            name: "twitter-bi",
            help: "Tweets, words and bigrams",
            settings: || Self::preset(Preset::TwitterBi),
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

    fn fit_on(&self, data: &TextData<'_>, options: &TrainOptions<'_>) -> Result<Trained<Sent2Vec>> {
        fit_text(self, data, options)
    }
}

impl TextSystem for Sent2VecParams {
    const TRAINS_ON_RANKS: bool = true;

    /// A step at rate `lr` moves the mean of n rows by `lr/n` of its gradient, so short sentences need lower rates. On
    /// 262,000 sentences of 7 words, 0.27 is stable and 0.5 is not, also in the authors' program. A few short sentences
    /// among longer ones have the same effect, so the mean is harmonic.
    fn resolve(&mut self, size: TextSize) {
        let most = if size.is_large() { 0.5 } else { 0.8 };
        let Self { min_count, min_target_count, subsample, training, .. } = self;
        min_count.get_or_insert(size.min_count());
        min_target_count.get_or_insert(size.min_count());
        subsample.get_or_insert(size.subsample(1e-4));
        training.epochs.get_or_insert(size.epochs(20.0, 3, 60));
        training.lr.get_or_insert((0.045 * size.sentence).clamp(0.1, most) as f32);
    }

    fn min_count(&mut self) -> &mut Option<u64> {
        &mut self.min_count
    }

    fn fit_resolved(
        &self,
        vocabulary: Vocabulary,
        corpus: &Corpus,
        options: &TrainOptions<'_>,
    ) -> Result<Trained<Sent2Vec>> {
        let start = options.vectors;
        self.check()?;
        weighting::check(self.weighting, self.dim, &vocabulary)?;
        if self.word_ngrams > 1 && self.buckets.is_none() {
            let n = ngram_buckets::of_text(&vocabulary, corpus, self.n_grams(u32::MAX), options.ranks)?;
            options.observer.note_with(&ngram_buckets::note(n), &[Remedy::Buckets]);
            options.observer.go_on("counting n-grams")?;
            return Self { buckets: Some(n), ..self.clone() }.fit_resolved(vocabulary, corpus, options);
        }
        let seed = self.training.seed;
        let rows = start.map(|start| initial::start_rows(&vocabulary, self.dim, start, seed)).transpose()?;
        let features = self.features(&vocabulary)?;
        let min_target = self.min_target_count.unwrap_or(1).max(1);
        let highest = vocabulary.counts().iter().copied().max().unwrap_or(0);
        if highest < min_target && corpus.n_tokens() > 0 {
            return Err(TrainingError::NoTargets { least: min_target, highest }.into());
        }
        let subsampling = Subsampling::new(
            vocabulary.counts(),
            vocabulary.corpus_tokens(),
            self.subsample.unwrap_or(f64::INFINITY),
            min_target,
        )?;
        let noise = Noise::new(vocabulary.counts(), NOISE_POWER)?;
        let dropout = Dropout { scheme: self.dropout_scheme, n_dropped: self.dropout };
        let n_words = features.n_rows() - features.params().n_buckets as usize;
        let examples = MaskedTargets::new(WithDropout { features: &features, dropout }, subsampling, vocabulary.len());
        let initial = || {
            let mut source = Table::zeros(features.n_rows(), self.dim)?;
            let mut target = Table::zeros(vocabulary.len(), self.dim)?;
            source.touch();
            target.touch();
            options.observer.go_on("allocating the tables")?;
            let drawn = match self.ngram_start {
                NgramStart::Zero => 0..n_words,
                NgramStart::Uniform => 0..features.n_rows(),
            };
            init::uniform_rows(&mut source, drawn, self.initial_limit(), self.training.seed)?;
            for (id, row) in vocabulary.iter().zip(rows.iter().flat_map(Table::iter)).map(|((id, ..), row)| (id, row)) {
                source.row_mut(features.token_row(id).index()).copy_from_slice(row);
            }
            Ok(Tables { source, target })
        };
        let report = InitialVectorReport::of(&vocabulary, start);
        let settings = initial::settings_from(file::to_json(self)?, start);
        let mut outcome = fit(corpus, &examples, &noise, &self.training, &settings, initial, &options.run())?;
        let rows = std::mem::replace(&mut outcome.tables.source, Table::zeros(0, self.dim)?);
        Trained::new(&self.training, &outcome, report, Averaged::new(self.clone(), vocabulary, rows, corpus)?)
    }
}

/// Training features: n-grams with dropout, and the placeholder.
struct WithDropout<'a> {
    features: &'a WordNgrams,
    dropout: Dropout,
}

impl MaskedFeatures for WithDropout<'_> {
    type Drawn = DropoutMask;

    fn n_rows(&self) -> usize {
        self.features.n_rows()
    }

    fn max_span(&self) -> usize {
        self.features.max_span()
    }

    fn draw_into(&self, tokens: &[TokenId], rng: &mut Stream, mask: &mut DropoutMask, out: &mut FeatureList) {
        if self.features.max_span() == 1 {
            self.features.features_into(tokens, out);
        } else if self.dropout.scheme == DropoutScheme::Release {
            mask.clear(); // drawn for each target
            self.features.features_into(tokens, out);
        } else {
            self.features.features_with_dropout_into(tokens, self.dropout, rng, mask, out);
        }
    }

    fn drop_for_target(&self, n_tokens: usize, rng: &mut Stream, mask: &mut DropoutMask, dropped: &mut Vec<usize>) {
        if self.features.max_span() > 1 && self.dropout.scheme == DropoutScheme::Release {
            self.dropout.draw(n_tokens, 0, rng, mask);
            dropped.extend(mask.iter());
        }
    }

    fn placeholders(&self, tokens: &[TokenId], position: usize, mask: &DropoutMask, each: &mut dyn FnMut(RowId)) {
        let Some(row) = self.features.placeholder_row() else { return };
        each(row);
        if self.features.max_span() > 1 {
            let dropped = self.dropout.scheme.drops_tokens().then_some(mask);
            self.features.placeholder_n_grams(tokens, position, dropped, |row, _, _| each(row));
        }
    }
}

impl AveragedSystem for Sent2VecParams {
    const KIND: &'static str = "sent2vec";

    fn weights(&mut self) -> (&mut Option<WeightScheme>, &mut UnknownWords) {
        (&mut self.weighting, &mut self.unknown_words)
    }

    fn features(&self, vocabulary: &Vocabulary) -> Result<WordNgrams> {
        Ok(WordNgrams::new(vocabulary, self.n_grams(self.n_buckets()))?)
    }
}

/// A trained Sent2Vec model.
///
/// ```
/// use senv_core::SentenceEncoder;
/// use senv::{Sent2Vec, Sent2VecParams, TextSystem};
///
/// # let folder = tempfile::tempdir()?;
/// # let (text, path) = (folder.path().join("text.txt"), folder.path().join("model.senv"));
/// std::fs::write(&text, "the cat sat on the mat\nthe dog sat on the rug\n".repeat(20))?;
/// let params = Sent2VecParams { dim: 8, word_ngrams: 2, ..Default::default() };
/// let trained = params.fit_files(&text, &Default::default())?;
/// trained.model.save(&path)?;
///
/// let model = Sent2Vec::open(&path)?;
/// let vectors = model.encode(&["the cat sat", "the dog sat"])?;
/// assert_eq!(vectors.dim(), (2, 8));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type Sent2Vec = Averaged<Sent2VecParams>;
