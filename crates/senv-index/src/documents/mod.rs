//! Ranks documents by their words and by their meaning.
//!
//! Equation: `hybrid-score`
//!
//! ```text
//! score(q, d) = 2 z(BM25(q, d)) + z(cos(q, d)) + z(max_{s in d} cos(q, s))      z(x) = (x - mean) / deviation, over all documents
//! ```
//!
//! s are the sentences of a document; all vectors have length 1. With z-scores, a score counts by how far it stands out
//! among its kind. [`Join`] has other weights, and ranks instead.

mod bm25;
mod join;
mod words;

pub use bm25::{Bm25, Bm25Params};
pub use join::{Join, JoinMethod};
pub use words::Stemming;
pub(crate) use {
    bm25::Scoring,
    join::Spread,
    words::{WordSpace, Words},
};

use std::ops::Range;

use ndarray::Array2;
use rayon::prelude::*;

use senv_core::{Error, Result, SentenceEncoder, kernels, text::sentences};

/// Rows whose cosines one thread computes at a time.
const ROWS: usize = 4096;

/// The scores that rank documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum RankBy {
    /// The words of the query ([`Bm25`]).
    Words,
    /// The cosine of the query with the whole document.
    Document,
    /// The cosine of the query with the nearest sentence.
    BestSentence,
    /// All three, joined.
    #[default]
    Hybrid,
}

/// Documents in memory, with their words, and vectors for all documents and sentences.
///
/// ```
/// use senv_core::{StaticEncoder, Table, Tokenizer, Vocabulary};
/// use senv_index::documents::{DocumentRanker, RankBy};
/// use senv_core::static_model::{CompressedRows, RowEncoding};
/// let vocabulary = Vocabulary::from_counts([("cat", 3), ("rain", 2), ("dog", 1)], 6)?;
/// let table = Table::from_vec(3, 2, vec![1.0, 0.0, 0.0, 1.0, 0.9, 0.1])?;
/// let rows = CompressedRows::compress(&table, RowEncoding::F32)?;
/// let encoder = StaticEncoder::new(Tokenizer::words().lowercase(true), vocabulary, rows, None)?;
/// let documents = ["It was a cat. It slept.", "The rain fell. We stayed.", "A dog."];
/// let ranker = DocumentRanker::new(&encoder, &documents)?;
/// let vector = encoder.encode_one("dog").to_vec();
/// let scores = ranker.scores("dog", &vector, RankBy::Hybrid)?;
/// assert!(scores[2] > scores[0] && scores[0] > scores[1]);
/// # Ok::<(), senv_core::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct DocumentRanker {
    dim: usize,
    words: Bm25,
    /// Unit vectors, or zeros.
    documents: Vec<f32>,
    sentences: Vec<f32>,
    /// The end of each document's sentences.
    ends: Vec<usize>,
    join: Join,
}

impl DocumentRanker {
    /// Splits documents into sentences ([`senv_core::text::sentences`]) and encodes both. Takes `4 dim` bytes per
    /// document and per sentence, plus what [`Bm25`] takes.
    ///
    /// # Errors
    /// The errors of the encoder; [`Error::TooLarge`] if the vectors do not fit in memory.
    pub fn new<E: SentenceEncoder + ?Sized>(encoder: &E, documents: &[impl AsRef<str>]) -> Result<Self> {
        let whole: Vec<&str> = documents.iter().map(AsRef::as_ref).collect();
        let (mut parts, mut ends) = (Vec::new(), Vec::with_capacity(whole.len()));
        for document in &whole {
            parts.extend(sentences(document));
            ends.push(parts.len());
        }
        let (of_documents, _) = encoder.encode_batch(&whole)?;
        let (of_sentences, _) = encoder.encode_batch(&parts)?;
        Self::from_vectors(&whole, of_documents, of_sentences, ends)
    }

    /// Uses known vectors: a row per document and a row per sentence. The sentences of document `i` end before
    /// `ends[i]`.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] if numbers of rows or columns do not match.
    pub fn from_vectors(
        documents: &[impl AsRef<str>],
        document_vectors: Array2<f32>,
        sentence_vectors: Array2<f32>,
        ends: Vec<usize>,
    ) -> Result<Self> {
        let n = documents.len();
        let is_ascending = ends.is_sorted() && ends.last().copied().unwrap_or(0) == sentence_vectors.nrows();
        let is_one_dim = document_vectors.ncols() == sentence_vectors.ncols();
        if document_vectors.nrows() != n || ends.len() != n || !is_ascending || !is_one_dim {
            let (name, requirement) = ("ends", "one row per document and per sentence, of the same dimension");
            let got = format!(
                "{n} documents, {} ends, vectors of {:?} and {:?}",
                ends.len(),
                document_vectors.dim(),
                sentence_vectors.dim()
            );
            return Err(Error::InvalidParameter { name, requirement, got });
        }
        let words = Bm25::new(documents.iter().map(AsRef::as_ref), &Bm25Params::default());
        let dim = document_vectors.ncols();
        Ok(Self {
            dim,
            words,
            documents: units(document_vectors),
            sentences: units(sentence_vectors),
            ends,
            join: Join::default(),
        })
    }

    /// Sets how its rankings are joined.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] if a weight is out of range ([`Join::check`]).
    pub fn joined_by(self, join: Join) -> Result<Self> {
        join.check()?;
        Ok(Self { join, ..self })
    }

    /// The number of documents.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are no documents.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The numbers of a document's sentences.
    ///
    /// # Panics
    /// If the document does not exist.
    #[must_use]
    pub fn sentences(&self, document: usize) -> Range<usize> {
        let start = if document == 0 { 0 } else { self.ends[document - 1] };
        start..self.ends[document]
    }

    /// The cosine of a query with every sentence, in `[-1, 1]`; 0 if either has no vector. `query` is a vector of the
    /// encoder.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] if the vector has a different length than those of the documents.
    pub fn sentence_cosines(&self, query: &[f32]) -> Result<Vec<f32>> {
        Ok(self.cosines(&self.sentences, &self.unit(query)?))
    }

    /// The cosine of a query with a whole document.
    ///
    /// # Errors
    /// The errors of [`DocumentRanker::sentence_cosines`].
    ///
    /// # Panics
    /// If the document does not exist.
    pub fn document_cosine(&self, query: &[f32], document: usize) -> Result<f32> {
        Ok(kernels::dot(&self.unit(query)?, &self.documents[document * self.dim..][..self.dim]))
    }

    /// Whether a document has a word of the query.
    #[must_use]
    pub fn has_word_of(&self, query: &str) -> bool {
        self.words.has_word_of(query)
    }

    /// The score of every document for a query and its vector; higher is better. `None` if the ranking does not find
    /// the document: it has no word of the query, no vector, or neither. Word scores and cosines are comparable across
    /// queries; joined scores compare only documents of one query.
    ///
    /// # Errors
    /// The errors of [`DocumentRanker::sentence_cosines`].
    pub fn scores(&self, query: &str, vector: &[f32], by: RankBy) -> Result<Vec<Option<f64>>> {
        let unit = self.unit(vector)?;
        let widened = |scores: Vec<f32>| -> Vec<f64> { scores.into_iter().map(f64::from).collect() };
        let words = || widened(self.words.scores(query));
        let documents = || widened(self.cosines(&self.documents, &unit));
        let sentences = || {
            let cosines = self.cosines(&self.sentences, &unit);
            let of = |document| self.sentences(document).map(|i| cosines[i]).filter(|&cosine| cosine != 0.0);
            widened((0..self.len()).map(|document| of(document).reduce(f32::max).unwrap_or(0.0)).collect())
        };
        let alone = |scores: Vec<f64>| Ok(scores.into_iter().map(found).collect());
        match by {
            RankBy::Words => return alone(words()),
            RankBy::Document => return alone(documents()),
            RankBy::BestSentence => return alone(sentences()),
            RankBy::Hybrid => {}
        }
        let (words, documents, sentences) = (words(), documents(), sentences());
        let [by_words, by_documents, by_sentences] =
            [&words, &documents, &sentences].map(|scores| self.join.parts(scores));
        let mut scores = self.join.sums(&by_words, &by_documents, &by_sentences);
        if scores.iter().all(|&score| score == 0.0) {
            // With one document, or equal scores, nothing stands out: take the sum of the raw scores.
            scores = self.join.sums(&words, &documents, &sentences);
        }
        // A document that no part finds is not found, wherever its sum would be.
        let is_found = |i: usize| self.join.finds([words[i], documents[i], sentences[i]]);
        Ok(scores.into_iter().enumerate().map(|(i, score)| is_found(i).then_some(score)).collect())
    }

    fn unit(&self, query: &[f32]) -> Result<Vec<f32>> {
        let (expected, got) = (self.dim, query.len());
        if got != expected {
            return Err(Error::ShapeMismatch { what: "vector of a query", expected, got });
        }
        let mut unit = query.to_vec();
        normalize(&mut unit);
        Ok(unit)
    }

    /// The products of rows with a unit vector.
    fn cosines(&self, rows: &[f32], unit: &[f32]) -> Vec<f32> {
        let dim = self.dim.max(1);
        let mut cosines = vec![0.0; rows.len() / dim];
        cosines.par_chunks_mut(ROWS).zip(rows.par_chunks(ROWS * dim)).for_each(|(cosines, rows)| {
            kernels::scores(unit, 1, rows, cosines.len(), dim, cosines);
        });
        cosines
    }
}

/// A score of words or a cosine; `None` for 0, as nothing was found.
fn found(score: f64) -> Option<f64> {
    (score != 0.0).then_some(score)
}

/// The positions of the `k` highest scores, highest first; the earlier of equal scores first. Documents without a score
/// are not among them.
///
/// ```
/// assert_eq!(senv_index::documents::best(&[Some(0.5), Some(2.0), None, Some(0.5), Some(1.0)], 3), [1, 4, 0]);
/// ```
#[must_use]
pub fn best(scores: &[Option<f64>], k: usize) -> Vec<usize> {
    let score = |i: usize| scores[i].unwrap_or(f64::NEG_INFINITY);
    let mut order: Vec<usize> = (0..scores.len()).filter(|&i| scores[i].is_some()).collect();
    let by_score = |&a: &usize, &b: &usize| score(b).total_cmp(&score(a)).then(a.cmp(&b));
    if k < order.len() {
        order.select_nth_unstable_by(k, by_score);
        order.truncate(k);
    }
    order.sort_unstable_by(by_score);
    order
}

/// Rows scaled to length 1; zeros for rows without a direction.
fn units(rows: Array2<f32>) -> Vec<f32> {
    let dim = rows.ncols().max(1);
    let mut values =
        if rows.is_standard_layout() { rows.into_raw_vec_and_offset().0 } else { rows.iter().copied().collect() };
    values.par_chunks_mut(dim).for_each(normalize);
    values
}

fn normalize(row: &mut [f32]) {
    let norm = kernels::norm(row);
    let inverse = if norm > 0.0 && norm.is_finite() { 1.0 / norm } else { 0.0 };
    row.iter_mut().for_each(|x| *x = if inverse == 0.0 { 0.0 } else { *x * inverse });
}

#[cfg(test)]
mod tests {
    use super::{join::standardized, *};
    use senv_core::{Coverage, Scratch};

    /// Counts of the letters a, b and c.
    struct Letters;

    impl SentenceEncoder for Letters {
        fn dim(&self) -> usize {
            3
        }

        fn encode_sentence(&self, sentence: &str, _: &mut Scratch, out: &mut [f32]) -> Coverage {
            for (value, letter) in out.iter_mut().zip(["a", "b", "c"]) {
                *value = sentence.matches(letter).count() as f32;
            }
            Coverage::default()
        }
    }

    #[test]
    fn documents_are_ranked_by_words_by_themselves_and_by_their_best_sentence() {
        let ranker = DocumentRanker::new(&Letters, &["aaa. Bbb bb.", "ab ab. Word.", "word", ""]).unwrap();
        let found = |query: &str, by| ranker.scores(query, Letters.encode_one(query).as_slice().unwrap(), by).unwrap();
        let scores =
            |query: &str, by| -> Vec<f64> { found(query, by).into_iter().map(Option::unwrap_or_default).collect() };
        assert_eq!(ranker.sentences(1), 2..4);
        assert_eq!((ranker.len(), ranker.sentences(3).len()), (4, 0));
        let by_words = scores("word", RankBy::Words);
        assert!(by_words[2] > by_words[1] && by_words[1] > 0.0 && by_words[0] == 0.0);
        let near = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-6);
        // cos((1, 0), (3, 4)), cos((1, 0), (2, 2)).
        assert!(near(&scores("a", RankBy::Document), &[0.6, 0.5_f64.sqrt(), 0.0, 0.0]));
        assert!(near(&scores("a", RankBy::BestSentence), &[1.0, 0.5_f64.sqrt(), 0.0, 0.0]));
        assert_eq!(ranker.sentence_cosines(&[2.0, 0.0, 0.0]).unwrap(), [1.0, 0.0, 0.5_f32.sqrt(), 0.0, 0.0]);
        let all = [RankBy::Words, RankBy::Document, RankBy::BestSentence].map(|by| standardized(&scores("a word", by)));
        let sum: Vec<f64> = (0..4).map(|i| 2.0 * all[0][i] + all[1][i] + all[2][i]).collect();
        assert!(near(&scores("a word", RankBy::Hybrid)[..3], &sum[..3]));
        // The last document has no words and no vector. No word of the last query is known.
        let is_found = |query, by| found(query, by).iter().map(Option::is_some).collect::<Vec<_>>();
        assert_eq!(is_found("a word", RankBy::Hybrid), [true, true, true, false]);
        assert_eq!(is_found("word", RankBy::Words), [false, true, true, false]);
        assert_eq!(is_found("a", RankBy::BestSentence), [true, true, false, false]);
        assert_eq!(found("xyz", RankBy::Hybrid), [None; 4]);
    }

    #[test]
    fn weights_and_ranks_join_as_they_are_asked_to() {
        let ranker = DocumentRanker::new(&Letters, &["aaa. Bbb bb.", "ab ab. Word.", "word", ""]).unwrap();
        let scores = |join: Join, by| {
            let ranker = ranker.clone().joined_by(join).unwrap();
            ranker.scores("a word", Letters.encode_one("a word").as_slice().unwrap(), by).unwrap()
        };
        let words = Join { meaning: 0.0, ..Join::default() };
        let by_words = best(&ranker.scores("a word", &[0.0; 3], RankBy::Words).unwrap(), 2);
        assert_eq!(best(&scores(words, RankBy::Hybrid), 2), by_words);
        let meaning = Join { words: 0.0, ..Join::default() };
        assert_eq!(best(&scores(meaning, RankBy::Hybrid), 1), [0]);
        // By words: the third, then the second. By the whole document and the nearest sentence: the second or the
        // first.
        let ranks = scores(Join { method: JoinMethod::ReciprocalRanks, words: 1.0, meaning: 1.0 }, RankBy::Hybrid);
        let [first, second] = [1.0 / 61.0, 1.0 / 62.0];
        let expected = [second + first, second + first + second, first, 0.0];
        let is_near = |(rank, expected): (&Option<f64>, f64)| (rank.unwrap_or_default() - expected).abs() < 1e-12;
        assert!(ranks.iter().zip(expected).all(is_near), "{ranks:?} {expected:?}");
        assert!(ranker.joined_by(Join { words: -1.0, ..Join::default() }).is_err());
    }

    #[test]
    fn odd_sets_have_defined_scores() {
        let none: [&str; 0] = [];
        let empty = DocumentRanker::new(&Letters, &none).unwrap();
        assert!(empty.is_empty() && empty.scores("a", &[1.0; 3], RankBy::Hybrid).unwrap().is_empty());
        let rows = ndarray::arr2(&[[f32::NAN, 1.0], [1.0, 0.0]]);
        let ranker = DocumentRanker::from_vectors(&["a", "b"], rows.clone(), rows.clone(), vec![1, 2]).unwrap();
        assert_eq!(ranker.scores("x", &[1.0, 0.0], RankBy::Document).unwrap(), [None, Some(1.0)]);
        for vector in [&[][..], &[1.0], &[1.0; 3]] {
            let is_other = |error| matches!(error, Error::ShapeMismatch { expected: 2, .. });
            assert!(is_other(ranker.scores("x", vector, RankBy::Document).unwrap_err()));
            assert!(is_other(ranker.document_cosine(vector, 0).unwrap_err()));
        }
        for ends in [vec![1], vec![2, 1], vec![1, 3]] {
            assert!(DocumentRanker::from_vectors(&["a", "b"], rows.clone(), rows.clone(), ends).is_err());
        }
    }
}
