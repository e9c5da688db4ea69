//! The seams between the crates: what a part needs of another, it asks for here.

use ndarray::Array2;
use rayon::prelude::*;

use crate::{Error, Result, RowId, TokenId};

/// Rows of numbers that can be looked up: a trained table, a mapped file.
pub trait Rows: Send + Sync {
    /// Number of rows.
    fn n_rows(&self) -> usize;
    /// Numbers a row.
    fn dim(&self) -> usize;
    /// Row `i`; panics if there is none.
    fn row(&self, i: usize) -> &[f32];
}

/// The features of one sentence: rows, and the span of tokens that each is made of.
///
/// Features are grouped by the token they start at, in order, so that those which touch a token are found
/// without a search. Reused from sentence to sentence; it allocates only while it grows.
#[derive(Debug, Clone, Default)]
pub struct FeatureList {
    rows: Vec<RowId>,
    /// Last token of each feature, inclusive.
    ends: Vec<u32>,
    /// For each token, where its features begin in `rows`; one more at the end.
    first: Vec<u32>,
}

impl FeatureList {
    /// Forgets the last sentence.
    pub fn clear(&mut self) {
        self.rows.clear();
        self.ends.clear();
        self.first.clear();
    }

    /// Opens the next token; the features pushed from here on start at it.
    pub fn start_token(&mut self) {
        self.first.push(self.rows.len() as u32);
    }

    /// A feature from the open token to token `end` (inclusive).
    pub fn push(&mut self, row: RowId, end: usize) {
        self.rows.push(row);
        self.ends.push(end as u32);
    }

    /// Number of tokens opened.
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

/// Turns the tokens of a sentence into rows: its words, its n-grams.
pub trait Features: Send + Sync {
    /// Number of rows the features can name: the height of the source table.
    fn n_rows(&self) -> usize;

    /// The longest feature in tokens: 1 for words alone, 2 with bigrams.
    fn max_span(&self) -> usize;

    /// Writes the features of `tokens` into `out` (cleared first); every token is opened once.
    fn features_into(&self, tokens: &[TokenId], out: &mut FeatureList);
}

/// How much of a sentence the encoder knew.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Coverage {
    /// Tokens of the sentence.
    pub tokens: usize,
    /// Of these, known to the vocabulary.
    pub known: usize,
}

impl Coverage {
    /// Whether nothing was known: the embedding is then the zero vector.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.known == 0
    }
}

/// Memory that an encoder reuses from sentence to sentence.
#[derive(Debug, Clone, Default)]
pub struct Scratch {
    /// Text under work, such as a lower-cased token.
    pub text: String,
    /// Tokens of the sentence.
    pub tokens: Vec<TokenId>,
    /// Features of the sentence.
    pub features: FeatureList,
}

/// Turns a sentence into a vector of [`SentenceEncoder::dim`] numbers.
pub trait SentenceEncoder: Send + Sync {
    /// Numbers of a vector.
    fn dim(&self) -> usize;

    /// Writes the embedding of `sentence` to `out` (`dim` numbers); zero where no token is known. Allocates
    /// nothing once `scratch` is warm.
    fn encode_into(&self, sentence: &str, scratch: &mut Scratch, out: &mut [f32]) -> Coverage;

    /// The embeddings of many sentences, one a row, in the order given, on all threads of the present rayon pool.
    ///
    /// # Errors
    /// [`Error::TooLarge`] if the result does not fit into memory.
    fn encode_batch(&self, sentences: &[&str]) -> Result<(Array2<f32>, Vec<Coverage>)> {
        let (rows, dim) = (sentences.len(), self.dim());
        let too_large = || Error::TooLarge { rows, dim };
        let n = rows.checked_mul(dim).ok_or_else(too_large)?;
        let mut values = Vec::new();
        values.try_reserve_exact(n).map_err(|_| too_large())?;
        values.resize(n, 0.0);
        let mut coverage = vec![Coverage::default(); rows];
        values.par_chunks_mut(dim.max(1)).zip(&mut coverage).zip(sentences).for_each_init(
            Scratch::default,
            |scratch, ((out, coverage), sentence)| *coverage = self.encode_into(sentence, scratch, out),
        );
        let values = Array2::from_shape_vec((rows, dim), values).map_err(|_| too_large())?;
        Ok((values, coverage))
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

    /// Cosine of the embeddings of two sentences, in `[-1, 1]`; 0 where one of them has no known token.
    fn similarity(&self, a: &str, b: &str) -> f32 {
        let mut scratch = Scratch::default();
        let mut vectors = vec![0.0; 2 * self.dim()];
        let (u, v) = vectors.split_at_mut(self.dim());
        self.encode_into(a, &mut scratch, u);
        self.encode_into(b, &mut scratch, v);
        crate::kernels::cosine(u, v)
    }
}
