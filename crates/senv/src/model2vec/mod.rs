//! Model2Vec folders: static vectors of subwords, averaged as in that program.
//!
//! ```text
//! v(S) = Σ_{t in S} w_t E_{m(t)} / n        v(S) / |v(S)| where the folder says `normalize`
//! ```
//!
//! t are the ids of the first `max_length` tokens without unknown ones, and n is their number. E are the rows, m is the
//! mapping of ids to rows, and w are the weights, if the folder has them. Before that, the text is cut to `max_length`
//! times the median length of a token.
//!
//! Supported tokenizers are of the types WordPiece and WordLevel, with the normalizers and pre-tokenizers of BERT,
//! those of Unicode, and those written by [`write_model2vec`](crate::write_model2vec). With the feature `tokenizers`,
//! Hugging Face's crate reads all others. Unsupported parts are refused by name.

pub(crate) mod card;
#[cfg(all(test, feature = "tokenizers"))]
mod other_tests;
mod tensors;
#[cfg(test)]
mod tests;
mod tokens;

use std::path::{Path, PathBuf};

use senv_core::{
    Coverage, Error, RowId, Rows, Scratch, SentenceEncoder, Table, Tokenizer, Vocabulary, files::Destination, kernels,
};
use serde_json::{Value, json};

use self::{tensors::Tensors, tokens::Tokens};
use crate::{error::Result, model::saved::SavedModel};

/// The number of tokens of a text to read if the folder does not set it.
const MAX_LENGTH: usize = 512;

/// A model in a Model2Vec folder.
#[derive(Debug, Clone)]
pub struct Model2Vec {
    tokens: Tokens,
    rows: Table,
    /// The row of each id, and its weight.
    row_of: Vec<u32>,
    weights: Option<Vec<f32>>,
    normalize: bool,
    /// The maximum number of tokens and characters of a text to read.
    max_length: Option<(usize, usize)>,
    vocabulary: Vocabulary,
    tokenizer: Tokenizer,
}

/// The files of a folder.
struct Layout {
    config: PathBuf,
    tensors: PathBuf,
    tokenizer: PathBuf,
    /// The tensor of the rows.
    rows: &'static [&'static str],
    is_sentence_transformers: bool,
}

impl Layout {
    /// Finds the files of a folder, in its root or where Sentence Transformers puts them.
    fn of(folder: &Path) -> Option<Self> {
        let is_there =
            |folder: &Path| ["model.safetensors", "tokenizer.json"].iter().all(|name| folder.join(name).is_file());
        let files = |folder: &Path, config: &Path, rows, is_sentence_transformers| Self {
            config: config.to_owned(),
            tensors: folder.join("model.safetensors"),
            tokenizer: folder.join("tokenizer.json"),
            rows,
            is_sentence_transformers,
        };
        let (own, other) = (folder.join("config.json"), folder.join("config_sentence_transformers.json"));
        let within = folder.join("0_StaticEmbedding");
        if is_there(folder) && own.is_file() {
            return Some(files(folder, &own, &["embeddings", "0"], false));
        }
        if is_there(folder) && other.is_file() {
            return Some(files(folder, &other, &["embedding.weight", "embeddings"], true));
        }
        (is_there(&within) && other.is_file())
            .then(|| files(&within, &other, &["embedding.weight", "embeddings"], true))
    }
}

impl Model2Vec {
    /// The name of its kind.
    pub const KIND: &'static str = "model2vec";

    /// Whether a folder has the files of such a model.
    #[must_use]
    pub fn is_one(folder: impl AsRef<Path>) -> bool {
        Layout::of(folder.as_ref()).is_some()
    }

    /// Opens a folder and reads the rows into memory as f32. A license in the first lines of its `README.md` becomes
    /// the terms of the model ([`Vocabulary::terms`]).
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let folder = folder.path().join("model2vec");
    /// use senv::{Model, Model2Vec, Tokenizer, Vocabulary, write_model2vec, average::AverageEncoder};
    /// let vocabulary = Vocabulary::from_counts([("cat", 2), ("dog", 1)], 3)?;
    /// let model: Model = AverageEncoder::random(&Tokenizer::words(), &vocabulary, &["cat", "dog"], 8, 1)?.into();
    /// write_model2vec(&model, &folder)?;
    /// let same = Model2Vec::open(&folder)?;
    /// assert!((same.similarity("cat and dog", "cat") - model.similarity("cat and dog", "cat")).abs() < 1e-6);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`senv_core::Error::BadFile`] for unsupported parts, which it names, and for tensors whose shapes do not match.
    /// [`senv_core::Error::Io`] if a file cannot be read. [`senv_core::Error::TooLarge`] if the rows do not fit into
    /// memory.
    pub fn open(folder: impl AsRef<Path>) -> Result<Self> {
        let folder = folder.as_ref();
        let bad = |path: &Path, reason: String| Error::BadFile { path: path.to_owned(), reason };
        let layout = Layout::of(folder).ok_or_else(|| {
            let reason = "not a Model2Vec model: the folder needs config.json, model.safetensors and tokenizer.json";
            bad(folder, reason.into())
        })?;
        let config = read_json(&layout.config)?;
        let kind = config["model_type"].as_str();
        if !layout.is_sentence_transformers && kind.is_some_and(|kind| kind != Self::KIND) {
            let reason = format!("a model of type {:?}, which senv does not read", kind.unwrap_or_default());
            return Err(bad(&layout.config, reason).into());
        }
        let tokens = Tokens::read(&layout.tokenizer)?;
        let tensors = Tensors::open(&layout.tensors)?;
        let rows = tensors.table(layout.rows)?;
        let n_ids = tokens.all().iter().map(|&(_, id)| id as usize + 1).max().unwrap_or(0).max(tokens.n_ids());
        // There are at most as many ids as rows, which are already in memory.
        let row_of: Vec<u32> = match tensors.integers("mapping")? {
            Some(mapping) => mapping,
            None => (0..n_ids.min(rows.n_rows()) as u32).collect(),
        };
        let weights = tensors.numbers("weights")?;
        let n_weights = weights.as_ref().map_or(n_ids, Vec::len);
        let outside = row_of.iter().find(|&&row| row as usize >= rows.n_rows());
        if row_of.len() < n_ids || n_weights < n_ids || outside.is_some() {
            let reason = format!(
                "{n_ids} tokens, {} rows, {} mapped rows and {n_weights} weights do not fit together",
                rows.n_rows(),
                row_of.len()
            );
            return Err(bad(&layout.tensors, reason).into());
        }
        if let Some(row) = rows.iter().position(|row| row.iter().any(|x| !x.is_finite())) {
            return Err(bad(&layout.tensors, format!("row {row} contains NaN or an infinite value")).into());
        }
        let max_length = match &config["max_length"] {
            Value::Null if config.get("max_length").is_some() => None,
            value => Some(value.as_u64().map_or(MAX_LENGTH, |n| n as usize)),
        };
        let max_length = max_length.map(|n| (n, n.saturating_mul(median_length(&tokens))));
        let normalize = match layout.is_sentence_transformers {
            true => normalizes(folder)?,
            false => config["normalize"].as_bool().unwrap_or(false),
        };
        let mut words = tokens.all();
        words.sort_unstable_by_key(|&(word, id)| (id, word));
        let n_words = words.len() as u64;
        let vocabulary = Vocabulary::from_counts(words.iter().map(|&(word, _)| (word, 1)), n_words)?;
        let vocabulary = vocabulary.with_terms(card::terms_of(folder).as_deref());
        let tokenizer = Tokenizer::words().lowercase(tokens.is_lowercase());
        Ok(Self { tokens, rows, row_of, weights, normalize, max_length, vocabulary, tokenizer })
    }
}

/// Returns the median number of characters of a token, rounded down.
fn median_length(tokens: &Tokens) -> usize {
    let mut lengths: Vec<usize> = tokens.all().iter().map(|(word, _)| word.chars().count()).collect();
    lengths.sort_unstable();
    let middle = lengths.len() / 2;
    match lengths.len() {
        0 => 0,
        n if n.is_multiple_of(2) => (lengths[middle - 1] + lengths[middle]) / 2,
        _ => lengths[middle],
    }
}

/// Whether a folder of Sentence Transformers normalizes.
fn normalizes(folder: &Path) -> Result<bool> {
    let path = folder.join("modules.json");
    if !path.is_file() {
        return Ok(false);
    }
    let modules = read_json(&path)?;
    let is_normalize = |module: &Value| module["type"].as_str().is_some_and(|kind| kind.ends_with(".Normalize"));
    Ok(modules.as_array().is_some_and(|modules| modules.iter().any(is_normalize)))
}

fn read_json(path: &Path) -> Result<Value> {
    let bytes = std::fs::read(path).map_err(|e| Error::io("read", path, e))?;
    let reason =
        |error: serde_json::Error| Error::BadFile { path: path.to_owned(), reason: format!("not JSON: {error}") };
    Ok(serde_json::from_slice(&bytes).map_err(reason)?)
}

senv_core::encoding_methods!([] Model2Vec);

impl SentenceEncoder for Model2Vec {
    fn dim(&self) -> usize {
        self.rows.dim()
    }

    fn encode_sentence(&self, sentence: &str, scratch: &mut Scratch, out: &mut [f32]) -> Coverage {
        out.fill(0.0);
        let (most, most_characters) = self.max_length.unwrap_or((usize::MAX, usize::MAX));
        let text = match sentence.len() > most_characters {
            true => sentence.char_indices().nth(most_characters).map_or(sentence, |(end, _)| &sentence[..end]),
            false => sentence,
        };
        // Most tokens have about five bytes.
        let (mut n_tokens, mut n, mut rows) = (0, 0, Vec::with_capacity(text.len() / 4));
        self.tokens.for_each(text, &mut scratch.text, |id| {
            n_tokens += 1;
            let Some(id) = id.filter(|&id| Some(id) != self.tokens.unknown() && n_tokens <= most) else { return };
            n += 1;
            let row = self.row_of[id as usize];
            match &self.weights {
                None => rows.push(RowId(row)),
                Some(weights) => kernels::axpy(weights[id as usize], &self.rows.row(row as usize)[..out.len()], out),
            }
        });
        if !rows.is_empty() {
            kernels::sum_rows(self.rows.values(), self.rows.stride(), &rows, 1.0, out);
        }
        if n > 0 {
            let norm = if self.normalize { kernels::norm(out) } else { n as f32 };
            kernels::scale(if norm > 0.0 { 1.0 / norm } else { 0.0 }, out);
        }
        Coverage::new(n_tokens, n)
    }
}

impl SavedModel for Model2Vec {
    fn kind(&self) -> &'static str {
        Self::KIND
    }

    fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    fn tokenizer(&self) -> &Tokenizer {
        &self.tokenizer
    }

    fn rows(&self) -> Result<&Table> {
        Ok(&self.rows)
    }

    fn config_json(&self) -> String {
        let config = json!({
            "dim": self.rows.dim(), "tokens": self.tokens.n_ids(), "rows": self.rows.n_rows(), "normalize": self.normalize,
            "max_length": self.max_length.map(|(tokens, _)| tokens), "weights": self.weights.is_some(),
        });
        config.to_string()
    }

    fn write(&self, to: Destination<'_>) -> Result<()> {
        let reason = "a Model2Vec model cannot be saved; copy its folder".to_owned();
        Err(Error::BadFile { path: to.path().to_owned(), reason }.into())
    }
}
