//! C-PHRASE: word vectors whose sums over the constituents of a parsed sentence predict the words around each
//! constituent.
//!
//! N. T. Pham, G. Kruszewski, A. Lazaridou and M. Baroni, "Jointly optimizing word representations for lexical and
//! sentential tasks with the C-PHRASE model", ACL 2015. Training is `c-phrase-context`. A sentence vector is the mean
//! of its word vectors, `feature-average`; it has the cosines of the sum. Trees are needed only in training.

mod trees;

use std::path::PathBuf;

use senv_core::{
    Corpus, Table, Tokenizer, Vocabulary,
    hyperparameters::{Hyperparameters, hyperparameters},
};
use senv_negative_sampling::{
    ConstituentTargets, Constituents, NegativeSamplingParams, Noise, Subsampling, Tables, fit,
};
use serde::{Deserialize, Serialize};

use crate::{
    average::{
        unknown_words::UnknownWords,
        weight_scheme::{WeightScheme, weights},
        weighting,
    },
    base::{file, fingerprint::Fingerprint, memory_text::MemoryText, text_size::TextSize, train_options::TrainOptions},
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

/// The lowest learning rate of word2vec, as a share of the initial one.
const LR_FLOOR: f64 = 1e-4;

hyperparameters! {
    /// Hyperparameters of C-PHRASE.
    ///
    /// The defaults adapt to the text: many epochs, a higher learning rate, and uSIF weights. Values that depend on the
    /// size of the text are automatic (`None`). [`CPhraseParams::paper`] has the settings of the paper.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct CPhraseParams {
        /// Embedding dimension.
        pub dim: usize = 100 => Training[from 1 to 65536];
        /// The maximum number of words to either side that a single word predicts.
        pub window: usize = 5 => Training[from 0 to 1000];
        /// Additional words to either side for each level of a constituent above its words.
        pub window_growth: usize = 2 => Training[from 0 to 1000];
        /// Whether words without a letter or a digit are left out of the trees.
        pub drop_punctuation: bool = false => Text;
        /// Minimum count; rarer words are unknown and left out of the trees.
        pub min_count: Option<u64> = None => Text;
        /// Subsampling threshold t of targets, a relative frequency: more frequent words are often skipped.
        ///
        /// By default 1e-4, or about 1 / (number of words in the text) if that is larger.
        @[serde(default, deserialize_with = "crate::base::configuration::infinity_of_null", skip_serializing_if = "Option::is_none")]
        pub subsample: Option<f64> = None => Training[above 0 or_infinite];
        /// The tokenizer for the words of the trees.
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

impl CPhraseParams {
    /// The settings of the paper: 300 dimensions, windows of 5 plus 2 per level, and a learning rate of 0.025. Minimum
    /// count, t, negatives and epochs are those of word2vec's program for large text.
    #[must_use]
    pub fn paper() -> Self {
        Self {
            dim: 300,
            window: 5,
            window_growth: 2,
            drop_punctuation: false,
            min_count: Some(5),
            subsample: Some(1e-5),
            tokenizer: Tokenizer::automatic().lowercase(true),
            weighting: None,
            unknown_words: UnknownWords::Skip,
            training: NegativeSamplingParams {
                epochs: Some(5),
                lr: Some(0.025),
                lr_floor: LR_FLOOR,
                negatives: 10,
                ..NegativeSamplingParams::default()
            },
        }
    }
}

impl System for CPhraseParams {
    type Model = CPhrase;
    type Input = [PathBuf];
    type Data<'a> = TextData<'a>;
    type Dev<'d> = ();
    const ABOUT: About = About {
        name: Self::KIND,
        summary: "C-PHRASE: words whose sums over the phrases of parsed sentences predict the words around the \
            phrases",
        examples: &[
            "senv train c-phrase --input trees.txt --output model.senv",
            "senv train c-phrase --input trees.txt.gz --output model.senv --window 5 --window-growth 2 --drop-punctuation",
        ],
        note: "The training text is parsed sentences in Penn Treebank format, (S (NP (NN rain)) (VP (VBZ falls))); a \
            sentence can\nspan several lines. The model itself encodes plain text.\n",
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
        self.read_trees(paths, start, options)
    }

    fn fit_on(&self, data: &TextData<'_>, options: &TrainOptions<'_>) -> Result<Trained<CPhrase>> {
        fit_text(self, data, options)
    }
}

impl CPhraseParams {
    /// Reads parsed sentences. The words are written to a temporary file, so they are counted like any text.
    fn read_trees<'a>(&self, paths: &[PathBuf], start: Start<'a>, options: &TrainOptions<'_>) -> Result<TextData<'a>> {
        self.check()?;
        let lines = options.text.of_lines();
        let parsed = trees::read(paths, self.drop_punctuation, &lines)?;
        let text = MemoryText::new(parsed.iter().map(|tree| tree.words.join(" ")))?;
        let options = TrainOptions { text: lines, ..options.clone() };
        let mut data = read_text(self, &[&text], start, &options)?;
        let constituents = trees::constituents(&parsed, &data.tokenizer, &data.vocabulary, &data.corpus)?;
        data.constituents = Some(constituents);
        data.paths = paths.to_vec();
        Ok(data)
    }
}

impl TextSystem for CPhraseParams {
    const READS_TREES: bool = true;

    fn resolve(&mut self, size: TextSize) {
        let Self { min_count, subsample, training, .. } = self;
        min_count.get_or_insert(size.min_count());
        subsample.get_or_insert(size.subsample(1e-4));
        training.epochs.get_or_insert(size.epochs(10.0, 2, 40));
        // On 94,000 words of trees, 0.05 diverges, 0.025 scores 63.5 on STS 2014, and 0.0125 scores 60.6.
        training.lr.get_or_insert(0.025);
    }

    fn min_count(&mut self) -> &mut Option<u64> {
        &mut self.min_count
    }

    /// Trains on sentences without trees: each is flat.
    fn fit_resolved(
        &self,
        vocabulary: Vocabulary,
        corpus: &Corpus,
        options: &TrainOptions<'_>,
    ) -> Result<Trained<CPhrase>> {
        self.fit_parsed(vocabulary, corpus, None, options)
    }

    fn fit_parsed(
        &self,
        vocabulary: Vocabulary,
        corpus: &Corpus,
        constituents: Option<&Constituents>,
        options: &TrainOptions<'_>,
    ) -> Result<Trained<CPhrase>> {
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
        let flat = Constituents::default();
        let constituents = constituents.unwrap_or(&flat);
        let examples = ConstituentTargets::new(constituents, self.window, self.window_growth, subsampling, n);
        let initial = || {
            let source = rows.map_or_else(|| initial::uniform_rows(n, self.dim, seed), Ok)?;
            Ok(Tables { source, target: Table::zeros(n, self.dim)? })
        };
        let report = InitialVectorReport::of(&vocabulary, start);
        // Other trees over the same words make a different run.
        let settings = format!("{} {}", file::to_json(self)?, fingerprint(constituents));
        let settings = initial::settings_from(settings, start);
        let mut outcome = fit(corpus, &examples, &noise, &self.training, &settings, initial, &options.run())?;
        let rows = std::mem::replace(&mut outcome.tables.source, Table::zeros(0, self.dim)?);
        Trained::new(&self.training, &outcome, report, Averaged::new(self.clone(), vocabulary, rows, corpus)?)
    }
}

/// A hash that changes with any tree.
fn fingerprint(constituents: &Constituents) -> String {
    Fingerprint::new().numbers(constituents.iter().flat_map(|c| [c.start, c.end].map(u64::from))).hex()
}

impl AveragedSystem for CPhraseParams {
    const KIND: &'static str = "c-phrase";

    fn weights(&mut self) -> (&mut Option<WeightScheme>, &mut UnknownWords) {
        (&mut self.weighting, &mut self.unknown_words)
    }
}

/// A trained C-PHRASE model.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let (trees, path) = (folder.path().join("trees.txt"), folder.path().join("model.senv"));
/// # std::fs::write(&trees, "(S (NP (DT the) (NN rain)) (VP (VBZ falls)))\n".repeat(20))?;
/// use senv::prelude::*;
/// use senv::{CPhrase, CPhraseParams};
/// let params = CPhraseParams { dim: 8, ..CPhraseParams::default() };
/// params.train(&trees)?.save(&path)?;
/// assert_eq!(CPhrase::open(&path)?.encode(&["the rain"])?.dim(), (1, 8));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type CPhrase = Averaged<CPhraseParams>;

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        file
    }

    fn params() -> CPhraseParams {
        let mut params = CPhraseParams {
            dim: 8,
            window: 1,
            window_growth: 1,
            min_count: Some(1),
            subsample: Some(f64::INFINITY),
            weighting: None,
            ..CPhraseParams::default()
        };
        params.training.epochs = Some(3);
        params
    }

    fn rows(trees: &str, threads: usize) -> Vec<f32> {
        let file = parsed(trees);
        let options = TrainOptions { threads, ..TrainOptions::default() };
        let trained = params().fit_files([file.path()], &options).unwrap();
        trained.model.encoder().rows().values().to_vec()
    }

    #[test]
    fn other_trees_over_the_same_words_make_another_model_at_any_number_of_threads() {
        let left = "(S (X (X (A a) (B b)) (C c)) (D d))\n".repeat(9);
        let right = "(S (A a) (X (B b) (X (C c) (D d))))\n".repeat(9);
        assert_eq!(rows(&left, 1), rows(&left, 3));
        assert_ne!(rows(&left, 1), rows(&right, 1));
        // Chains of unary nodes and labels make no difference.
        assert_eq!(rows(&left, 1), rows(&left.replace("(D d)", "(X (Y (Z d)))"), 1));
    }

    #[test]
    fn sentences_of_one_word_have_nothing_to_predict() {
        let file = parsed("(S (NN rain))\n(S (NN snow))\n");
        let error = params().fit_files([file.path()], &TrainOptions::default()).unwrap_err().to_string();
        assert!(error.contains("no sentence has two known tokens"), "{error}");
    }

    #[test]
    fn a_run_is_not_resumed_on_other_trees_over_the_same_words() {
        let (left, right) = ("(S (X (A a) (B b)) (C c))\n", "(S (A a) (X (B b) (C c)))\n");
        let of = |text: &str| {
            let mut trees = Constituents::default();
            let spans: &[(u32, u32)] = if text == left { &[(0, 2), (0, 3)] } else { &[(1, 3), (0, 3)] };
            trees.push(spans.iter().copied());
            fingerprint(&trees)
        };
        assert_ne!(of(left), of(right));
    }
}
