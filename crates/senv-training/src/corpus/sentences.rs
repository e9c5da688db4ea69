//! Many sentences in two vectors: all tokens, and the end of each sentence.
use std::path::Path;

use super::stored_list::{StoredList, StoredListWriter};
use senv_base::{Error, Result, TokenId};

/// A ragged batch of sentences: ids back to back, with one offset per sentence.
///
/// ```
/// use senv_core::{Sentences, TokenId};
/// let mut sentences = Sentences::new();
/// sentences.push([TokenId(3), TokenId(1)]);
/// sentences.push([]);
/// assert_eq!(sentences.len(), 2);
/// assert_eq!(sentences.get(0), [TokenId(3), TokenId(1)]);
/// assert_eq!(sentences.iter().map(<[TokenId]>::len).collect::<Vec<_>>(), [2, 0]);
/// assert_eq!([vec![TokenId(3), TokenId(1)], vec![]].into_iter().collect::<Sentences>(), sentences);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sentences {
    ids: StoredList<TokenId>,
    offsets: StoredList<u64>,
}

impl Default for Sentences {
    fn default() -> Self {
        Self::new()
    }
}

impl<S: IntoIterator<Item = TokenId>> Extend<S> for Sentences {
    fn extend<I: IntoIterator<Item = S>>(&mut self, sentences: I) {
        sentences.into_iter().for_each(|sentence| self.push(sentence));
    }
}

impl<S: IntoIterator<Item = TokenId>> FromIterator<S> for Sentences {
    fn from_iter<I: IntoIterator<Item = S>>(sentences: I) -> Self {
        let mut all = Self::new();
        all.extend(sentences);
        all
    }
}

impl Sentences {
    /// Creates an empty batch.
    #[must_use]
    pub fn new() -> Self {
        Self { ids: StoredList::default(), offsets: vec![0].into() }
    }

    /// Creates a batch from its parts. `offsets` starts with 0, never decreases, and ends with `ids.len()`.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] if the offsets do not fit the ids.
    pub fn from_parts(ids: Vec<TokenId>, offsets: Vec<usize>) -> Result<Self> {
        let last = offsets.last().copied().unwrap_or(usize::MAX);
        if last != ids.len() {
            return Err(Error::ShapeMismatch { what: "last offset", expected: ids.len(), got: last });
        }
        if offsets[0] != 0 || offsets.windows(2).any(|w| w[0] > w[1]) {
            return Err(Error::ShapeMismatch { what: "first offset", expected: 0, got: offsets[0] });
        }
        Ok(Self {
            ids: ids.into(),
            offsets: offsets.into_iter().map(|offset| offset as u64).collect::<Vec<_>>().into(),
        })
    }

    /// Appends a sentence in memory.
    pub fn push(&mut self, tokens: impl IntoIterator<Item = TokenId>) {
        let ids = self.ids.to_mut();
        ids.extend(tokens);
        self.offsets.to_mut().push(ids.len() as u64);
    }

    /// The number of sentences.
    #[must_use]
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether there are no sentences.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of tokens in all sentences.
    #[must_use]
    pub fn n_tokens(&self) -> usize {
        self.ids.len()
    }

    /// Sentence `i`.
    ///
    /// # Panics
    /// If `i` is not below [`Sentences::len`].
    #[must_use]
    pub fn get(&self, i: usize) -> &[TokenId] {
        let offsets = &self.offsets[i..i + 2];
        &self.ids[offsets[0] as usize..offsets[1] as usize]
    }

    /// Iterates over the sentences in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[TokenId]> + '_ {
        (0..self.len()).map(|i| self.get(i))
    }

    /// Removes all sentences and keeps the memory.
    pub fn clear(&mut self) {
        self.ids.to_mut().clear();
        self.offsets.to_mut().truncate(1);
    }
}

/// Writes many sentences once: up to 16 MiB stay in memory, and more go to temporary files without names.
///
/// ```
/// use senv_core::{TokenId, corpus::SentencesWriter};
/// let mut writer = SentencesWriter::new(None)?;
/// writer.push([TokenId(3), TokenId(1)])?;
/// writer.push([])?;
/// let sentences = writer.finish()?;
/// assert_eq!((sentences.len(), sentences.get(0)), (2, &[TokenId(3), TokenId(1)][..]));
/// # Ok::<(), senv_core::Error>(())
/// ```
#[derive(Debug)]
pub struct SentencesWriter {
    ids: StoredListWriter<TokenId>,
    offsets: StoredListWriter<u64>,
}
impl SentencesWriter {
    /// Starts without sentences. If files are needed, they are created in `folder`, or by default in the system's
    /// temporary folder.
    ///
    /// # Errors
    /// [`Error::Io`] if a temporary file cannot be written.
    pub fn new(folder: Option<&Path>) -> Result<Self> {
        let mut offsets = StoredListWriter::new(folder);
        offsets.push(0)?;
        Ok(Self { ids: StoredListWriter::new(folder), offsets })
    }

    /// The number of sentences so far.
    #[must_use]
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether there are no sentences yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Appends a sentence.
    ///
    /// # Errors
    /// [`Error::Io`] if a temporary file cannot be written.
    pub fn push(&mut self, tokens: impl IntoIterator<Item = TokenId>) -> Result<()> {
        self.ids.extend(tokens)?;
        self.offsets.push(self.ids.len() as u64)
    }

    /// Returns the sentences.
    ///
    /// # Errors
    /// [`Error::Io`] if a temporary file cannot be written or mapped.
    pub fn finish(self) -> Result<Sentences> {
        Ok(Sentences { ids: self.ids.finish()?, offsets: self.offsets.finish()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_that_do_not_fit_are_refused() {
        assert!(Sentences::from_parts(vec![TokenId(1)], vec![0, 1]).is_ok());
        for offsets in [vec![], vec![0], vec![1, 1], vec![0, 2], vec![0, 1, 0, 1]] {
            assert!(Sentences::from_parts(vec![TokenId(1)], offsets).is_err());
        }
    }

    #[test]
    fn clearing_keeps_the_batch_usable() {
        let mut sentences = Sentences::new();
        sentences.push([TokenId(1)]);
        sentences.clear();
        assert!(sentences.is_empty());
        sentences.push([TokenId(2)]);
        assert_eq!(sentences.get(0), [TokenId(2)]);
    }
}
