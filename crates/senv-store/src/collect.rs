//! Collects the rows of a file into a vocabulary and a table, under the policies of [`ReadOptions`].

use std::{borrow::Cow, path::PathBuf};

use senv_core::{Table, Vocabulary, words::VocabularyBuilder};

use crate::{Duplicates, Embeddings, Error, LoadReport, NonFinite, ReadOptions, Result, error::Position};

/// Collects words and rows.
pub(crate) struct Collector<'a> {
    path: PathBuf,
    options: &'a ReadOptions,
    dim: usize,
    words: VocabularyBuilder,
    values: Vec<f32>,
    report: LoadReport,
}

impl<'a> Collector<'a> {
    /// Creates a collector of rows of dimension `dim`.
    ///
    /// `rows` is the number of rows known to fit in the bytes of the file, for which memory is allocated immediately; 0
    /// if unknown.
    pub(crate) fn new(
        path: PathBuf,
        options: &'a ReadOptions,
        dim: usize,
        rows: u64,
        report: LoadReport,
    ) -> Result<Self> {
        if dim == 0 {
            return Err(Error::ZeroDim { path });
        }
        limit(&path, "the dimension", dim as u64, options.max_dim as u64)?;
        let rows = rows.min(options.first_rows);
        limit(&path, "the number of rows", rows, options.max_rows)?;
        let mut values = Vec::new();
        let too_large = || senv_core::Error::TooLarge { rows: rows as usize, dim };
        let n = usize::try_from(rows).ok().and_then(|rows| rows.checked_mul(dim)).ok_or_else(too_large)?;
        values.try_reserve_exact(n).map_err(|_| too_large())?;
        Ok(Self { path, options, dim, words: VocabularyBuilder::default(), values, report })
    }

    pub(crate) fn dim(&self) -> usize {
        self.dim
    }

    /// Rows so far.
    pub(crate) fn rows(&self) -> u64 {
        self.report.rows
    }

    /// Whether all requested rows are present.
    pub(crate) fn is_full(&self) -> bool {
        self.report.rows >= self.options.first_rows
    }

    /// Adds the next row.
    pub(crate) fn push(&mut self, word: &[u8], row: &[f32], at: Position) -> Result<()> {
        debug_assert_eq!(row.len(), self.dim);
        self.report.rows += 1;
        if word.iter().any(u8::is_ascii_control) {
            return Err(Error::ControlCharacter { path: self.path.clone(), at, word: shown(word) });
        }
        limit(&self.path, "the number of rows", self.report.rows, self.options.max_rows)?;
        if word.len() > self.options.max_word_bytes {
            let (path, limit) = (self.path.clone(), self.options.max_word_bytes);
            return Err(Error::TooLong { path, at, what: "the word", limit });
        }
        let Ok(word) = self.options.invalid_utf8.decode(word) else {
            let word = String::from_utf8_lossy(word).into_owned();
            return Err(Error::InvalidUtf8 { path: self.path.clone(), at, word });
        };
        self.report.invalid_utf8 += u64::from(matches!(word, Cow::Owned(_)));
        let known = self.words.len();
        self.words.try_add(&word)?;
        if self.words.len() == known {
            if self.options.duplicates == Duplicates::Error {
                return Err(Error::Duplicate { path: self.path.clone(), at, word: word.into_owned() });
            }
            self.report.duplicates += 1;
            return Ok(());
        }
        let bad = row.iter().filter(|x| !x.is_finite()).count();
        if bad > 0 && self.options.non_finite == NonFinite::Error {
            return Err(Error::NonFinite { path: self.path.clone(), at, word: word.into_owned() });
        }
        self.report.non_finite += bad as u64;
        self.values.try_reserve(self.dim).map_err(|_| senv_core::Error::TooLarge { rows: known + 1, dim: self.dim })?;
        self.values.extend_from_slice(row);
        Ok(())
    }

    /// Returns the embeddings; these files have no counts, so counts are 0.
    pub(crate) fn finish(self) -> Result<(Embeddings, LoadReport)> {
        let vocabulary = Vocabulary::from_counts(self.words.iter().map(|(word, _)| (word, 0)), 0)?;
        let table = Table::from_vec(vocabulary.len(), self.dim, self.values)?;
        Ok((Embeddings::new(vocabulary, table)?, self.report))
    }
}

/// Returns an error for a size above its limit.
pub(crate) fn limit(path: &std::path::Path, what: &'static str, found: u64, limit: u64) -> Result<()> {
    if found > limit {
        return Err(Error::AboveLimit { path: path.to_owned(), what, found, limit });
    }
    Ok(())
}

/// Bytes as text for an error message, shortened to one line.
pub(crate) fn shown(bytes: &[u8]) -> String {
    let cut = &bytes[..bytes.len().min(60)];
    let mut text = String::from_utf8_lossy(cut).into_owned();
    if cut.len() < bytes.len() {
        text.push('…');
    }
    text
}
