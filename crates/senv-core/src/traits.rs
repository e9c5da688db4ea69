//! The traits between the crates: what one part needs of another is a trait here.

use ndarray::Array2;
use rayon::prelude::*;

use crate::{Error, Result, RowId, TokenId};

/// Rows of a table that can be looked up: a trained table, a memory-mapped file.
pub trait Rows: Send + Sync {
    /// Number of rows.
    fn n_rows(&self) -> usize;
    /// Values in a row.
    fn dim(&self) -> usize;
    /// Row `i`; panics if there is none.
    fn row(&self, i: usize) -> &[f32];
}

impl<R: Rows + ?Sized> Rows for &R {
    fn n_rows(&self) -> usize {
        (**self).n_rows()
    }

    fn dim(&self) -> usize {
        (**self).dim()
    }

    fn row(&self, i: usize) -> &[f32] {
        (**self).row(i)
    }
}

/// The features of one sentence: rows, and the span of tokens of each.
///
/// Features are grouped by their first token, in order, so that those which contain a token are found without a search.
/// Reused from sentence to sentence; it allocates only while it grows.
#[derive(Debug, Clone, Default)]
pub struct FeatureList {
    rows: Vec<RowId>,
    /// Last token of each feature, inclusive.
    ends: Vec<u32>,
    /// For each token, the start of its features in `rows`; one more at the end.
    first: Vec<u32>,
}

impl FeatureList {
    /// Clears the last sentence.
    pub fn clear(&mut self) {
        self.rows.clear();
        self.ends.clear();
        self.first.clear();
    }

    /// Begins the next token; the features pushed from here on start at it.
    pub fn start_token(&mut self) {
        self.first.push(self.rows.len() as u32);
    }

    /// A feature from the current token to token `end` (inclusive).
    pub fn push(&mut self, row: RowId, end: usize) {
        self.rows.push(row);
        self.ends.push(end as u32);
    }

    /// Resizes the list to `n_tokens` tokens and `n_features` features and returns its three arrays for direct writing:
    /// the row of each feature, its last token (inclusive), and, for each token, the position of its first feature. The
    /// arrays may hold old values: write every entry, positions ascending, then [`FeatureList::truncate`] to the number
    /// of features written.
    ///
    /// # Panics
    /// If there are more than 2^32 features.
    pub fn resize(&mut self, n_tokens: usize, n_features: usize) -> (&mut [RowId], &mut [u32], &mut [u32]) {
        assert!(u32::try_from(n_features).is_ok(), "a sentence of {n_features} features; 2^32 is the most");
        self.rows.resize(n_features, RowId(0));
        self.ends.resize(n_features, 0);
        self.first.resize(n_tokens, 0);
        (&mut self.rows, &mut self.ends, &mut self.first)
    }

    /// Removes the features from position `n_features` on; none of them may be the first of a token.
    pub fn truncate(&mut self, n_features: usize) {
        self.rows.truncate(n_features);
        self.ends.truncate(n_features);
    }

    /// Keeps the features for which `keep(start, end)` (first and last token, inclusive) is true, in their order; it is
    /// called once for each feature, in order.
    pub fn retain(&mut self, mut keep: impl FnMut(usize, usize) -> bool) {
        let (mut i, mut kept) = (0, 0);
        for token in 0..self.first.len() {
            let end = self.first.get(token + 1).map_or(self.rows.len(), |&e| e as usize);
            self.first[token] = kept as u32;
            while i < end {
                if keep(token, self.ends[i] as usize) {
                    self.rows[kept] = self.rows[i];
                    self.ends[kept] = self.ends[i];
                    kept += 1;
                }
                i += 1;
            }
        }
        self.truncate(kept);
    }

    /// Row, first and last token (inclusive) of every feature, in order.
    pub fn iter(&self) -> impl Iterator<Item = (RowId, usize, usize)> + '_ {
        (0..self.n_tokens())
            .flat_map(move |token| self.starting_at(token).map(move |i| (self.rows[i], token, self.end_of(i))))
    }

    /// Number of tokens begun.
    #[must_use]
    pub fn n_tokens(&self) -> usize {
        self.first.len()
    }

    /// The rows of the whole sentence, repeated as often as they occur.
    #[must_use]
    pub fn rows(&self) -> &[RowId] {
        &self.rows
    }

    /// Positions in [`FeatureList::rows`] of the features that start at `token`.
    #[must_use]
    pub fn starting_at(&self, token: usize) -> std::ops::Range<usize> {
        let end = self.first.get(token + 1).map_or(self.rows.len(), |&e| e as usize);
        self.first[token] as usize..end
    }

    /// The last token (inclusive) of the feature at position `i` of [`FeatureList::rows`].
    #[must_use]
    pub fn end_of(&self, i: usize) -> usize {
        self.ends[i] as usize
    }
}

/// How many tokens of a sentence are in the vocabulary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Coverage {
    /// Tokens of the sentence.
    pub tokens: usize,
    /// Of these, tokens in the vocabulary.
    pub known: usize,
    /// Of the others, tokens that have a vector all the same: one that a hash of their characters decides, or that of the
    /// word which stands for all unknown ones.
    pub hashed: usize,
    /// Of the others, tokens at the end that have a vector and were not read: recurrent encoders, whose memory grows with
    /// the sentence, have a bound. 0 where the whole sentence was read.
    pub unread: usize,
}

impl Coverage {
    /// So many tokens, of which so many are known and the others have no vector.
    #[must_use]
    pub const fn new(tokens: usize, known: usize) -> Self {
        Self { tokens, known, hashed: 0, unread: 0 }
    }

    /// Whether no token has a vector: the embedding is then the zero vector.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.known + self.hashed == 0
    }
}

/// Buffers that an encoder reuses from sentence to sentence.
#[derive(Debug, Clone, Default)]
pub struct Scratch {
    /// Temporary text, such as a lower-cased token.
    pub text: String,
    /// Tokens of the sentence.
    pub tokens: Vec<TokenId>,
    /// Features of the sentence.
    pub features: FeatureList,
    /// Temporary values, such as the sums of a convolution.
    pub values: Vec<f32>,
    /// Sum of the vectors of unknown words, where an encoder has such vectors.
    pub unknown: Vec<f32>,
}

/// [`SentenceEncoder::encode_batch`] for an encoder that is a function: one row of `dim` values a sentence, in the
/// order given, on all threads of the current rayon pool.
///
/// # Errors
/// [`Error::TooLarge`] if the result does not fit into memory.
pub fn encode_rows(
    sentences: &[&str],
    dim: usize,
    encode: impl Fn(&str, &mut Scratch, &mut [f32]) -> Coverage + Sync,
) -> Result<(Array2<f32>, Vec<Coverage>)> {
    let rows = sentences.len();
    let n = crate::check_memory::<f32>(rows, dim)?;
    let mut values = vec![0.0; n];
    let mut coverage = vec![Coverage::default(); rows];
    values
        .par_chunks_mut(dim.max(1))
        .zip(&mut coverage)
        .zip(sentences)
        .for_each_init(Scratch::default, |scratch, ((out, coverage), sentence)| {
            *coverage = encode(sentence, scratch, out)
        });
    let values = Array2::from_shape_vec((rows, dim), values).map_err(|_| Error::TooLarge { rows, dim })?;
    Ok((values, coverage))
}

/// Encodes a sentence as a vector of [`SentenceEncoder::dim`] values.
pub trait SentenceEncoder: Send + Sync {
    /// Embedding dimension.
    fn dim(&self) -> usize;

    /// Writes the embedding of `sentence` to `out` (`dim` values); zero where no token has a vector. Allocates nothing once
    /// the buffers of `scratch` have grown.
    fn encode_into(&self, sentence: &str, scratch: &mut Scratch, out: &mut [f32]) -> Coverage;

    /// The embeddings of many sentences, one a row, in the order given, on all threads of the current rayon pool.
    ///
    /// The number of threads changes nothing. The other sentences may, in models that multiply batches of them with
    /// matrices (recurrent encoders): the order of a sum follows the shape of the batch, so the same sentence among others,
    /// or encoded alone, may differ in the last bits.
    ///
    /// # Errors
    /// [`Error::TooLarge`] if the result does not fit into memory.
    fn encode_batch(&self, sentences: &[&str]) -> Result<(Array2<f32>, Vec<Coverage>)> {
        encode_rows(sentences, self.dim(), |sentence, scratch, out| self.encode_into(sentence, scratch, out))
    }

    /// The embeddings of many sentences, one a row, in the order given.
    ///
    /// # Errors
    /// [`Error::TooLarge`] if the result does not fit into memory.
    fn encode<S: AsRef<str>>(&self, sentences: &[S]) -> Result<Array2<f32>>
    where
        Self: Sized,
    {
        let sentences: Vec<&str> = sentences.iter().map(AsRef::as_ref).collect();
        Ok(self.encode_batch(&sentences)?.0)
    }

    /// Cosine of the embeddings of two sentences, in `[-1, 1]`; 0 where one of them is the zero vector.
    fn similarity(&self, a: &str, b: &str) -> f32 {
        let mut scratch = Scratch::default();
        let mut vectors = vec![0.0; 2 * self.dim()];
        let (u, v) = vectors.split_at_mut(self.dim());
        self.encode_into(a, &mut scratch, u);
        self.encode_into(b, &mut scratch, v);
        crate::kernels::cosine(u, v)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list() -> FeatureList {
        let mut features = FeatureList::default();
        for (token, ends) in [vec![0, 1], vec![], vec![2, 3], vec![3]].into_iter().enumerate() {
            features.start_token();
            ends.into_iter().for_each(|end| features.push(RowId((10 * token + end) as u32), end));
        }
        features
    }

    fn spans(features: &FeatureList) -> Vec<(u32, usize, usize)> {
        features.iter().map(|(row, start, end)| (row.0, start, end)).collect()
    }

    #[test]
    fn features_come_back_with_their_spans() {
        assert_eq!(spans(&list()), [(0, 0, 0), (1, 0, 1), (22, 2, 2), (23, 2, 3), (33, 3, 3)]);
    }

    #[test]
    fn what_is_kept_stays_in_its_group() {
        let mut features = list();
        features.retain(|start, end| start != end);
        assert_eq!(spans(&features), [(1, 0, 1), (23, 2, 3)]);
        assert_eq!(features.n_tokens(), 4);
        assert_eq!((features.starting_at(1), features.starting_at(2), features.starting_at(3)), (1..1, 1..2, 2..2));
        features.retain(|_, _| false);
        assert_eq!((features.rows().len(), features.n_tokens()), (0, 4));
    }

    #[test]
    fn a_list_written_in_one_go_is_the_list_that_was_pushed() {
        let mut features = list();
        features.push(RowId(7), 3);
        let (rows, ends, first) = features.resize(4, 6);
        rows[..5].copy_from_slice(&[0, 1, 22, 23, 33].map(RowId));
        ends[..5].copy_from_slice(&[0, 1, 2, 3, 3]);
        first.copy_from_slice(&[0, 2, 2, 4]);
        features.truncate(5);
        assert_eq!(spans(&features), spans(&list()));
    }
}
