//! fastText: word vectors that are averages of character n-gram vectors, so unknown words have a vector too.
//!
//! Equation: `subword-vector`
//!
//! ```text
//! v_w = (x_w + Σ_{g in G(w)} z_g) / (1 + |G(w)|)        known word; x_w: its row, G(w): its character n-grams
//! v_w = (1/|G(w)|) Σ_{g in G(w)} z_g                    unknown word; without a vector if G(w) is empty
//! ```
//!
//! Bojanowski et al., "Enriching Word Vectors with Subword Information", TACL 2017, section 3.2, with the mean that the
//! program uses instead of the paper's sum. G(w) is `character-n-grams` (`senv-ngram`). A sentence vector is the mean
//! of its word vectors (`feature-average`). Models are not trained here but read from the program's files:
//! [`ReleasedBin`].

mod args;
mod layout;
mod matrix;
mod release;

use senv_core::{
    Coverage, Error as CoreError, ModelWriter, Rows, Scratch, SentenceEncoder, Table, Tokenizer, Vocabulary,
    files::Destination, kernels,
};
use senv_ngram::CharNgrams;
use senv_store::ModelFile;
use serde::{Deserialize, Serialize};

use crate::{
    average::encoder::{AverageEncoder, words},
    base::{
        configuration::Configuration,
        file::{self, ROWS},
        range::require,
    },
    error::{Error, Result},
    model::saved::{Abilities, OpenModel, SavedModel, model_file_methods},
};
use layout::LONGEST_CHAR_NGRAM;
pub use release::ReleasedBin;

/// Name of the table of character n-grams in a file.
const CHAR_NGRAMS: &str = "char_ngrams";
/// Name of the list of buckets that have a row, in order, if not all have one.
const KEPT_BUCKETS: &str = "char_ngram_buckets";

/// The character n-grams of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CharNgramConfig {
    /// Length of the shortest n-gram, in code points.
    pub min_n: usize,
    /// Length of the longest n-gram, in code points.
    pub max_n: usize,
    /// The number of hash buckets.
    pub n_buckets: u32,
}

/// The configuration of a fastText model, as stored in its file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FastTextConfig {
    /// Embedding dimension.
    pub dim: usize,
    /// The tokenizer.
    pub tokenizer: Tokenizer,
    /// The character n-grams; `None` for words only.
    pub char_ngrams: Option<CharNgramConfig>,
}

/// Means of fastText's word vectors; an unknown word has the mean vector of its character n-grams.
///
/// [`Abilities::average`](crate::model::Abilities::average) is the mean over known words only; weights, compression and
/// fine-tuning use it.
///
/// ```no_run
/// use senv_core::SentenceEncoder;
/// use senv::Model;
/// let model = Model::open("cc.de.300.bin")?;
/// assert_eq!(model.kind(), "fasttext");
/// println!("{:.3}", model.similarity("Donaudampfschiff", "Donaudampfer"));
/// # Ok::<(), senv::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct FastText {
    config: FastTextConfig,
    words: AverageEncoder,
    subwords: Option<Subwords>,
}

/// The character n-grams and their rows.
#[derive(Debug, Clone)]
struct Subwords {
    n_grams: CharNgrams,
    rows: Table,
    /// The buckets that have rows, in order; `None` for all.
    kept: Option<Vec<u32>>,
}

impl FastText {
    /// The name of this kind in model files.
    pub const KIND: &'static str = "fasttext";

    /// Creates a model from word vectors that already include those of their n-grams, and from the rows of the n-grams,
    /// if the configuration has n-grams. `kept` lists the buckets of these rows, in order, if they are not all.
    fn new(
        config: FastTextConfig,
        vocabulary: Vocabulary,
        rows: Table,
        n_grams: Option<Table>,
        kept: Option<Vec<u32>>,
    ) -> Result<Self> {
        let subwords = match (config.char_ngrams, n_grams) {
            (Some(CharNgramConfig { min_n, max_n, n_buckets }), Some(rows)) => {
                Some(Subwords { n_grams: CharNgrams::new(min_n, max_n, n_buckets)?, rows, kept })
            }
            _ => None,
        };
        let features = words(&vocabulary)?;
        Ok(Self { words: AverageEncoder::new(config.tokenizer.clone(), vocabulary, features, rows)?, config, subwords })
    }

    /// The configuration.
    #[must_use]
    pub fn config(&self) -> &FastTextConfig {
        &self.config
    }
}

impl Subwords {
    /// The row of a bucket, if it has one.
    fn row(&self, bucket: u32) -> Option<usize> {
        match &self.kept {
            None => Some(bucket as usize),
            Some(kept) => kept.binary_search(&bucket).ok(),
        }
    }

    /// Adds the vector of an unknown word to `sum`, whose length is the dimension. Returns whether the word has a
    /// vector.
    fn add(&self, word: &str, sum: &mut [f32]) -> bool {
        let mut n = 0_u32;
        self.n_grams.for_each(word, |n_gram| n += u32::from(self.row(n_gram.bucket).is_some()));
        let share = 1.0 / n as f32;
        self.n_grams.for_each(word, |n_gram| {
            if let Some(row) = self.row(n_gram.bucket) {
                kernels::axpy(share, self.rows.row(row), sum);
            }
        });
        n > 0
    }
}

impl Configuration for FastTextConfig {
    fn check_for(&self, _: &ModelFile, _: usize) -> Result<()> {
        file::check_dim(self.dim)?;
        let longest = self.char_ngrams.map_or(0, |n_grams| n_grams.max_n);
        // The time per unknown word is proportional to it.
        let bounded = longest <= LONGEST_CHAR_NGRAM as usize;
        require(bounded, "the longest character n-gram", "at most 255", longest as f64)
    }
}

impl OpenModel for FastText {
    const KIND: &'static str = Self::KIND;

    fn from_model_file(file: &ModelFile) -> Result<Self> {
        let (config, vocabulary, rows) = file::parts::<FastTextConfig>(Self::KIND, file)?;
        let bad = |reason: String| Error::BadModel { path: file.path().to_owned(), reason };
        file::expect_rows(file, &rows, vocabulary.len(), config.dim)?;
        let has_kept = config.char_ngrams.is_some() && file.contains(KEPT_BUCKETS);
        let kept = if has_kept { Some(file.u32s(KEPT_BUCKETS)?) } else { None };
        let n_grams = match config.char_ngrams {
            Some(CharNgramConfig { n_buckets, .. }) => {
                let is_damaged = |kept: &Vec<u32>| {
                    kept.last().is_some_and(|&last| last >= n_buckets) || kept.windows(2).any(|pair| pair[0] >= pair[1])
                };
                if kept.as_ref().is_some_and(is_damaged) {
                    return Err(bad(format!("{KEPT_BUCKETS}: out of order, or beyond {n_buckets} buckets")));
                }
                let table = file.table(CHAR_NGRAMS)?;
                let n_rows = kept.as_ref().map_or(n_buckets as usize, Vec::len);
                file::expect_table(file.path(), CHAR_NGRAMS, &table, n_rows, config.dim)?;
                Some(table)
            }
            None => None,
        };
        Self::new(config, vocabulary, rows, n_grams, kept).map_err(|error| match error {
            Error::Core(error @ CoreError::TooLarge { .. }) => error.into(),
            error => bad(error.to_string()),
        })
    }
}

impl SavedModel for FastText {
    fn kind(&self) -> &'static str {
        Self::KIND
    }

    fn vocabulary(&self) -> &Vocabulary {
        self.words.vocabulary()
    }

    fn tokenizer(&self) -> &Tokenizer {
        self.words.tokenizer()
    }

    /// The word vectors, which include those of their n-grams.
    fn rows(&self) -> Result<&Table> {
        Ok(self.words.rows())
    }

    fn config_json(&self) -> String {
        serde_json::to_string(&self.config).unwrap_or_default()
    }

    fn write(&self, to: Destination<'_>) -> Result<()> {
        let config = file::to_json(&self.config)?;
        let writer =
            ModelWriter::new(Self::KIND).config(&config).vocabulary(self.vocabulary()).table(ROWS, self.words.rows());
        let writer = match &self.subwords {
            Some(subwords) => writer.table(CHAR_NGRAMS, &subwords.rows),
            None => writer,
        };
        let writer = match self.subwords.as_ref().and_then(|subwords| subwords.kept.as_ref()) {
            Some(kept) => writer.u32s(KEPT_BUCKETS, kept),
            None => writer,
        };
        Ok(writer.write(to)?)
    }

    fn abilities(&self) -> Abilities<'_> {
        Abilities { average: Some(&self.words), ..Abilities::default() }
    }
}

senv_core::encoding_methods!([] FastText);
model_file_methods!([] FastText);

impl SentenceEncoder for FastText {
    fn dim(&self) -> usize {
        self.words.dim()
    }

    /// [`Coverage::hashed`] is the number of unknown words with a vector.
    fn encode_sentence(&self, sentence: &str, scratch: &mut Scratch, out: &mut [f32]) -> Coverage {
        let Some(subwords) = &self.subwords else { return self.words.encode_into(sentence, scratch, out) };
        let mut tokens = std::mem::take(&mut scratch.tokens);
        let Scratch { text, unknown, .. } = scratch;
        unknown.clear();
        unknown.resize(self.dim(), 0.0);
        let mut hashed = 0;
        let n = self.vocabulary().known_tokens_or(self.tokenizer(), sentence, text, &mut tokens, |word, _| {
            hashed += usize::from(subwords.add(word, unknown));
        });
        self.words.encode_tokens_and_unknown(&tokens, hashed, scratch, out);
        let coverage = Coverage { hashed, ..Coverage::new(n, tokens.len()) };
        scratch.tokens = tokens;
        coverage
    }
}
