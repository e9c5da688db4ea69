//! Sent2Vec: sentence vectors as averages of word and n-gram vectors that were trained to predict the words of a
//! sentence from its others.
//!
//! M. Pagliardini, P. Gupta and M. Jaggi, "Unsupervised Learning of Sentence Embeddings using Compositional n-Gram
//! Features", NAACL 2018. The equations stand where they are computed: `feature-average` ([`AverageEncoder`]),
//! `sent2vec-context`, `negative-sampling-objective`, `keep-probability` and `noise-distribution`
//! (`senv-negative-sampling`).

use std::path::Path;

use senv_core::{
    Corpus, CorpusOptions, Coverage, Error as CoreError, FeatureList, Features, Observer, RowId, Scratch,
    SentenceEncoder, Stream, Table, TokenId, Tokenizer, Vocabulary, init,
};
use senv_negative_sampling::{MaskedFeatures, MaskedTargets, Noise, Params, Subsampling, Tables, fit};
use senv_ngram::{Dropout, DropoutMask, DropoutScheme, NgramScheme, WordNgramParams, WordNgrams};
use senv_store::Embeddings;
use serde::{Deserialize, Serialize};

use crate::{AverageEncoder, Result, Trained, file, initial, training};

/// Power of the counts in the noise distribution (P1, section 2.3).
const NOISE_POWER: f64 = 0.5;

/// How the rows of n-grams start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NgramStart {
    /// At zero: an n-gram that training never met adds nothing to a sentence.
    Zero,
    /// Uniform in ±1/dim, as words do: the release.
    Uniform,
}

/// What Sent2Vec can be told. Public fields with defaults; [`Sent2VecParams::check`] says what is out of range.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sent2VecParams {
    /// Numbers of a vector, from 1 to 65,536.
    pub dim: usize,
    /// Longest n-gram in words: 1 for words alone.
    pub word_ngrams: usize,
    /// Hash buckets for n-grams; without meaning for words alone.
    pub buckets: u32,
    /// How many tokens (or n-grams) of a sentence are left out of its n-grams in training.
    pub dropout: usize,
    /// Whether tokens (the release) or n-grams (the paper) are dropped.
    pub dropout_scheme: DropoutScheme,
    /// Words that occur less often are unknown.
    pub min_count: u64,
    /// Words that occur less often are no targets.
    pub min_target_count: u64,
    /// Subsampling threshold t of targets.
    pub subsample: f64,
    /// Whether a placeholder takes the place of the target (the release) or the target is left out (the paper).
    pub placeholder: bool,
    /// How the rows of n-grams start.
    pub ngram_start: NgramStart,
    /// How text is cut into tokens.
    pub tokenizer: Tokenizer,
    /// Parameters of the trainer.
    pub training: Params,
}

impl Default for Sent2VecParams {
    fn default() -> Self {
        Self {
            dim: 100,
            word_ngrams: 1,
            buckets: 2_000_000,
            dropout: 4,
            dropout_scheme: DropoutScheme::Release,
            min_count: 5,
            min_target_count: 5,
            subsample: 1e-5,
            placeholder: true,
            ngram_start: NgramStart::Zero,
            tokenizer: Tokenizer::words().lowercase(true),
            training: Params::default(),
        }
    }
}

/// The settings of the published models (P1, table 5 of the supplement).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Preset {
    BooksUni,
    BooksBi,
    WikiUni,
    WikiBi,
    TwitterUni,
    TwitterBi,
}

impl Sent2VecParams {
    /// The settings of a published model: dimension, counts, learning rate, epochs, threshold, dropout, negatives.
    #[must_use]
    pub fn preset(preset: Preset) -> Self {
        // dim, n, min count, min target count, epochs, t, dropped
        let (dim, n, min_count, min_target_count, epochs, subsample, dropout) = match preset {
            Preset::BooksUni => (700, 1, 5, 8, 13, 1e-5, 0),
            Preset::BooksBi => (700, 2, 5, 5, 12, 5e-6, 7),
            Preset::WikiUni => (600, 1, 8, 20, 9, 1e-5, 0),
            Preset::WikiBi => (700, 2, 8, 20, 9, 5e-6, 4),
            Preset::TwitterUni => (700, 1, 20, 20, 3, 1e-6, 0),
            Preset::TwitterBi => (700, 2, 20, 20, 3, 1e-6, 3),
        };
        Self {
            dim,
            word_ngrams: n,
            min_count,
            min_target_count,
            subsample,
            dropout,
            training: Params { epochs, lr: 0.2, negatives: 10, ..Params::default() },
            ..Self::default()
        }
    }

    /// Checks every range.
    ///
    /// # Errors
    /// [`senv_core::Error::InvalidParameter`] naming the first parameter that is out of range.
    pub fn check(&self) -> Result<()> {
        file::check_dim(self.dim)?;
        if self.word_ngrams == 0 || self.word_ngrams > senv_ngram::MAX_ORDER {
            return Err(CoreError::InvalidParameter {
                name: "word n-grams",
                requirement: "from 1 to 255",
                got: self.word_ngrams.to_string(),
            }
            .into());
        }
        if self.word_ngrams > 1 && self.buckets == 0 {
            let got = self.buckets.to_string();
            return Err(CoreError::InvalidParameter { name: "buckets", requirement: "at least 1", got }.into());
        }
        file::check_subsample(self.subsample)?;
        Ok(self.training.check()?)
    }

    /// Trains on text files (one sentence a line; plain, `.gz`, `.zst`, or `-`). `options` says how to read them;
    /// its tokenizer and minimum count are replaced by those of the parameters.
    ///
    /// # Errors
    /// Whatever is wrong with the text, the parameters, the memory, or the training itself.
    pub fn fit_files(
        &self,
        paths: &[impl AsRef<Path>],
        options: &CorpusOptions,
        observer: &dyn Observer,
    ) -> Result<Trained<Sent2Vec>> {
        self.check()?;
        let (vocabulary, corpus) = training::read(paths, &self.tokenizer, self.min_count, options, observer)?;
        self.fit(vocabulary, &corpus, observer)
    }

    /// Trains on a corpus that is coded in `vocabulary`.
    ///
    /// # Errors
    /// As [`Sent2VecParams::fit_files`].
    pub fn fit(&self, vocabulary: Vocabulary, corpus: &Corpus, observer: &dyn Observer) -> Result<Trained<Sent2Vec>> {
        self.fit_from(vocabulary, corpus, None, observer)
    }

    /// Trains on a corpus, from given word vectors: of a model ([`crate::Model::to_embeddings`]) or a file.
    ///
    /// Words that `start` lacks are drawn as long as its vectors are on average. Target rows and the rows of n-grams are
    /// kept in no model, so they start as without `start`. With [`CorpusOptions::keep`] the vocabulary holds all words of
    /// `start`, though the text may lack them.
    ///
    /// # Errors
    /// As [`Sent2VecParams::fit_files`]; [`senv_core::Error::ShapeMismatch`] if the vectors have another dimension,
    /// [`senv_core::Error::InvalidParameter`] if one of them is not finite.
    pub fn fit_from(
        &self,
        vocabulary: Vocabulary,
        corpus: &Corpus,
        start: Option<&Embeddings>,
        observer: &dyn Observer,
    ) -> Result<Trained<Sent2Vec>> {
        self.check()?;
        let seed = self.training.seed;
        let rows = start.map(|start| initial::start_rows(&vocabulary, self.dim, start, seed)).transpose()?;
        let features = self.features(&vocabulary)?;
        let min_target = self.min_target_count.max(1);
        let subsampling =
            Subsampling::new(vocabulary.counts(), vocabulary.corpus_tokens(), self.subsample, min_target)?;
        let noise = Noise::new(vocabulary.counts(), NOISE_POWER)?;
        let dropout = Dropout { scheme: self.dropout_scheme, n_dropped: self.dropout };
        let n_words = features.n_rows() - self.n_buckets();
        let examples = MaskedTargets::new(Drawn { features: &features, dropout }, subsampling, vocabulary.len());
        let initial = || {
            let mut source = Table::zeros(features.n_rows(), self.dim)?;
            let mut target = Table::zeros(vocabulary.len(), self.dim)?;
            source.touch();
            target.touch();
            let drawn = match self.ngram_start {
                NgramStart::Zero => 0..n_words,
                NgramStart::Uniform => 0..features.n_rows(),
            };
            init::uniform_rows(&mut source, drawn, 1.0 / self.dim as f32, self.training.seed)?;
            for (id, row) in vocabulary.iter().zip(rows.iter().flat_map(Table::iter)).map(|((id, ..), row)| (id, row)) {
                source.row_mut(features.token_row(id).index()).copy_from_slice(row);
            }
            Ok(Tables { source, target })
        };
        let settings = initial::settings_from(file::to_json(self)?, start);
        let mut outcome = fit(corpus, &examples, &noise, &self.training, &settings, initial, observer)?;
        let rows = std::mem::replace(&mut outcome.tables.source, Table::zeros(0, self.dim)?);
        let encoder = AverageEncoder::new(self.tokenizer.clone(), vocabulary, features, rows)?;
        Ok(Trained::new(&outcome, Sent2Vec { params: self.clone(), encoder }))
    }

    fn n_buckets(&self) -> usize {
        if self.word_ngrams > 1 { self.buckets as usize } else { 0 }
    }

    fn features(&self, vocabulary: &Vocabulary) -> Result<WordNgrams> {
        Ok(WordNgrams::new(
            vocabulary,
            WordNgramParams {
                max_n: self.word_ngrams,
                n_buckets: self.buckets,
                scheme: NgramScheme::TokenIds,
                first_row: u32::from(self.placeholder),
            },
        )?)
    }
}

/// Training features: n-grams with dropout, and the placeholder.
struct Drawn<'a> {
    features: &'a WordNgrams,
    dropout: Dropout,
}

impl MaskedFeatures for Drawn<'_> {
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
        } else {
            self.features.features_with_dropout_into(tokens, self.dropout, rng, mask, out);
        }
    }

    fn placeholders(&self, tokens: &[TokenId], position: usize, mask: &DropoutMask, each: &mut dyn FnMut(RowId)) {
        let Some(row) = self.features.placeholder_row() else { return };
        each(row);
        if self.features.max_span() > 1 {
            let dropped = (self.dropout.scheme == DropoutScheme::Release).then_some(mask);
            self.features.placeholder_n_grams(tokens, position, dropped, |row, _, _| each(row));
        }
    }
}

/// A trained Sent2Vec model.
///
/// ```
/// use senv_core::{Corpus, NoObserver, SentenceEncoder};
/// use senv_models::{Sent2Vec, Sent2VecParams};
///
/// # let folder = tempfile::tempdir()?;
/// # let (text, path) = (folder.path().join("text.txt"), folder.path().join("model.senv"));
/// std::fs::write(&text, "the cat sat on the mat\nthe dog sat on the rug\n".repeat(20))?;
/// let params = Sent2VecParams { dim: 8, min_count: 1, min_target_count: 1, ..Default::default() };
/// let trained = params.fit_files(&[&text], &Default::default(), &NoObserver)?;
/// trained.model.save(&path)?;
///
/// let model = Sent2Vec::open(&path)?;
/// let vectors = model.encode(&["the cat sat", "the dog sat"])?;
/// assert_eq!(vectors.dim(), (2, 8));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Sent2Vec {
    params: Sent2VecParams,
    encoder: AverageEncoder,
}

impl Sent2Vec {
    /// The name of this kind in model files.
    pub const KIND: &'static str = "sent2vec";

    /// What it was trained with.
    #[must_use]
    pub fn params(&self) -> &Sent2VecParams {
        &self.params
    }

    /// Words, features and rows.
    #[must_use]
    pub fn encoder(&self) -> &AverageEncoder {
        &self.encoder
    }

    /// Writes the model to a file, which appears whole or not at all.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        file::save(Self::KIND, &self.params, self.encoder.vocabulary(), self.encoder.rows(), path.as_ref())
    }

    /// Opens a model; its rows are mapped, not read.
    ///
    /// # Errors
    /// If the file is no Sent2Vec model, or damaged.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let (params, vocabulary, rows) = file::open::<Sent2VecParams>(Self::KIND, path)?;
        let features = params.features(&vocabulary)?;
        file::expect_rows(path, &rows, features.n_rows(), params.dim)?;
        Ok(Self { encoder: AverageEncoder::new(params.tokenizer.clone(), vocabulary, features, rows)?, params })
    }
}

impl SentenceEncoder for Sent2Vec {
    fn dim(&self) -> usize {
        self.encoder.dim()
    }

    fn encode_into(&self, sentence: &str, scratch: &mut Scratch, out: &mut [f32]) -> Coverage {
        self.encoder.encode_into(sentence, scratch, out)
    }
}
