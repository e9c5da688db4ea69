//! Words and their embeddings.

use std::path::Path;

use senv_core::{Rows, Table, TokenId, Tokenizer, Vocabulary};

use crate::{Error, Result, error::Position};

/// A vocabulary and a table with one row per token.
///
/// ```
/// use senv_core::{Table, Vocabulary};
/// use senv_store::Embeddings;
/// let vocabulary = Vocabulary::from_counts([("cat", 3), ("sat", 2)], 5)?;
/// let embeddings = Embeddings::new(vocabulary, Table::from_vec(2, 2, vec![1.0, 0.0, 0.5, 0.5])?)?;
/// assert_eq!(embeddings.get("sat"), Some([0.5, 0.5].as_slice()));
/// assert_eq!(embeddings.get("dog"), None);
/// # Ok::<(), senv_store::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Embeddings {
    vocabulary: Vocabulary,
    table: Table,
    tokenizer: Option<Tokenizer>,
}

impl Embeddings {
    /// Creates embeddings of these tokens; row `i` belongs to token `i`.
    ///
    /// # Errors
    /// [`senv_core::Error::ShapeMismatch`] unless the table has one row per token;
    /// [`senv_core::Error::InvalidParameter`] if its dimension is 0.
    pub fn new(vocabulary: Vocabulary, table: Table) -> Result<Self> {
        let (expected, got) = (vocabulary.len(), table.n_rows());
        if expected != got {
            return Err(senv_core::Error::ShapeMismatch { what: "table of embeddings", expected, got }.into());
        }
        if table.dim() == 0 {
            let (requirement, got) = ("1 or more", "0".into());
            return Err(senv_core::Error::InvalidParameter { name: "dim", requirement, got }.into());
        }
        Ok(Self { vocabulary, table, tokenizer: None })
    }

    /// Sets the tokenizer that finds these words in text. Only a model file stores it.
    #[must_use]
    pub fn with_tokenizer(self, tokenizer: Option<Tokenizer>) -> Self {
        Self { tokenizer, ..self }
    }

    /// Sets the terms of use of the words and rows, unless they are `None`.
    pub(crate) fn with_terms(self, terms: Option<&str>) -> Self {
        let Some(terms) = terms else { return self };
        Self { vocabulary: self.vocabulary.with_terms(Some(terms)), ..self }
    }

    /// The tokenizer that finds these words in text, if it is known: files of other programs do not record it.
    #[must_use]
    pub fn tokenizer(&self) -> Option<&Tokenizer> {
        self.tokenizer.as_ref()
    }

    /// Returns an error if a row has a NaN or infinite value; `path` is the file of the rows.
    ///
    /// # Errors
    /// [`Error::NonFinite`] with the first such row.
    pub fn check_finite_of(&self, path: impl AsRef<Path>) -> Result<()> {
        self.check_finite(path.as_ref()).map_err(|error| match error {
            Error::NonFinite { path, at: Position::Line(n), word } => {
                Error::NonFinite { path, at: Position::Row(n), word }
            }
            error => error,
        })
    }

    pub(crate) fn check_finite(&self, path: &Path) -> Result<()> {
        match self.table.iter().position(|row| row.iter().any(|x| !x.is_finite())) {
            Some(i) => {
                let (path, word) = (path.to_owned(), self.word(i).to_owned());
                Err(Error::NonFinite { path, at: Position::Line(i as u64 + 1), word })
            }
            None => Ok(()),
        }
    }

    /// The row of a word; `None` if the word is unknown.
    #[inline]
    #[must_use]
    pub fn get(&self, word: &str) -> Option<&[f32]> {
        self.vocabulary.id(word).map(|id| self.table.row(id.index()))
    }

    /// The word of row `i`.
    ///
    /// # Panics
    /// If `i` is not below [`Embeddings::len`].
    #[must_use]
    pub fn word(&self, i: usize) -> &str {
        self.vocabulary.token(TokenId(i as u32))
    }

    /// Iterates over words and rows in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &[f32])> + '_ {
        (0..self.len()).map(|i| (self.word(i), self.table.row(i)))
    }

    /// Number of words.
    #[must_use]
    pub fn len(&self) -> usize {
        self.vocabulary.len()
    }

    /// Whether there are no words.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.vocabulary.is_empty()
    }

    /// The embedding dimension.
    #[must_use]
    pub fn dim(&self) -> usize {
        self.table.dim()
    }

    /// The words and their counts; counts are 0 if the file had none.
    #[must_use]
    pub fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    /// The rows.
    #[must_use]
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// Vocabulary and rows, by value.
    #[must_use]
    pub fn into_parts(self) -> (Vocabulary, Table) {
        (self.vocabulary, self.table)
    }
}

impl Rows for Embeddings {
    fn n_rows(&self) -> usize {
        self.len()
    }

    fn dim(&self) -> usize {
        self.table.dim()
    }

    #[inline]
    fn row(&self, i: usize) -> &[f32] {
        self.table.row(i)
    }
}
