//! A collection whose documents or sentences are ranked by words and by meaning.

use std::collections::HashMap;

use ndarray::Array2;
use senv_core::{SentenceEncoder, memory::check_memory};
use senv_index::{
    CollectionRanker, RankedRow, Ranking,
    documents::{DocumentRanker, Join, RankBy, best},
};

use super::{SentenceCollection, new_sentences::TEXT};
use crate::error::Result;

/// Sentences encoded per batch if a collection stores no vectors.
const CHUNK: usize = 1024;

/// A document found by a search.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct DocumentHit {
    /// Its name: the value of the document column; empty if sentences are ranked individually.
    pub name: String,
    /// The score; higher is better. Scores are comparable only within a query, except those of [`RankBy::Words`] and
    /// cosines.
    pub score: f64,
    /// Cosine of its nearest sentence with the query, in `[-1, 1]`; 0 if one of them has no vector.
    pub cosine: f32,
    /// The nearest sentence.
    pub text: String,
    /// The position of that sentence in the collection; if sentences are ranked individually, those of all equal
    /// sentences.
    pub positions: Vec<usize>,
}

/// The documents or sentences of a [`SentenceCollection`], for searches by words and meaning.
#[derive(Debug)]
pub struct RankedCollection {
    ranker: Ranker,
    /// The column of the names of documents.
    column: Option<String>,
}

/// Where words and vectors are.
#[derive(Debug)]
enum Ranker {
    /// In the files of the collection.
    Stored(CollectionRanker),
    /// In memory, from the texts, for a collection without words.
    Read(ReadTexts),
}

/// Documents or sentences in memory.
#[derive(Debug)]
struct ReadTexts {
    ranker: DocumentRanker,
    /// The position of each sentence, document by document.
    positions: Vec<usize>,
    is_of_documents: bool,
}

impl SentenceCollection {
    /// Prepares the sentences that are not deleted and whose positions `keep` accepts. Sentences with the same value in
    /// `column` form a document, in the order of the collection. Without a column, each sentence is ranked
    /// individually, by its words and its vector.
    ///
    /// A collection with words ([`SentenceCollectionParams::words`](super::SentenceCollectionParams::words)) is ranked
    /// in place: a search reads its words and codes, and the vectors and texts of the best. Documents are those of the
    /// column `document`; their vectors are the sums of those of their sentences. Memory is some 20 bytes per sentence.
    ///
    /// Without words, or for another column, all sentences are loaded. Memory is then `4 dim` bytes for each sentence
    /// and document, plus that of their words ([`senv_index::documents::Bm25`]), and documents are encoded as a whole.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("my.index");
    /// use senv::{SentenceCollection, collection::{NewSentences, SentenceCollectionParams}, documents::RankBy};
    /// let params = SentenceCollectionParams { columns: vec!["document".into()], ..Default::default() };
    /// let mut collection = SentenceCollection::create_with(&path, "english", &params)?;
    /// let texts = ["The train is late.", "Take a bus.", "Storms bring rain."].map(String::from).to_vec();
    /// let documents = ["travel", "travel", "weather"].map(String::from).to_vec();
    /// collection.add_sentences(NewSentences::new(texts).column("document", documents))?;
    /// let ranked = collection.ranked(Some("document"), |_| true)?;
    /// let hits = ranked.search(&collection, "a delayed train", 1, RankBy::Hybrid, -1.0)?;
    /// assert_eq!((hits[0].name.as_str(), hits[0].text.as_str()), ("travel", "The train is late."));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`senv_index::Error::UnknownColumn`] if the column does not exist; [`senv_core::Error::TooLarge`] if the vectors
    /// do not fit in memory; errors of reading the collection.
    pub fn ranked(&self, column: Option<&str>, keep: impl FnMut(usize) -> bool) -> Result<RankedCollection> {
        let ranker = match column {
            None if self.rows.has_words() => Ranker::Stored(self.rows.ranker(keep)?),
            Some(name) if self.rows.document_column() == Some(name) => Ranker::Stored(self.rows.document_ranker(keep)?),
            column => Ranker::Read(self.read_texts(column, keep)?),
        };
        Ok(RankedCollection { ranker, column: column.map(str::to_owned) })
    }

    /// Loads sentences and their vectors.
    fn read_texts(&self, column: Option<&str>, mut keep: impl FnMut(usize) -> bool) -> Result<ReadTexts> {
        let rows = &self.rows;
        let mut of_names: HashMap<String, usize> = HashMap::new();
        // Sentences in collection order, with their documents.
        let mut sentences: Vec<(usize, usize)> = Vec::new();
        for position in 0..rows.n_positions() {
            if rows.id(position)?.is_none() || !keep(position) {
                continue;
            }
            let document = match column {
                None => sentences.len(),
                Some(column) => {
                    let next = of_names.len();
                    *of_names.entry(rows.text(position, column)?).or_insert(next)
                }
            };
            sentences.push((document, position));
        }
        // Moves later additions to a document next to its other sentences.
        sentences.sort_by_key(|&(document, _)| document);
        let positions: Vec<usize> = sentences.iter().map(|&(_, position)| position).collect();
        let vectors = self.vectors_of(&positions)?;
        if column.is_none() {
            let texts = positions.iter().map(|&position| Ok(rows.text(position, TEXT)?)).collect::<Result<Vec<_>>>()?;
            let none = Array2::zeros((0, vectors.ncols()));
            let ranker = DocumentRanker::from_vectors(&texts, vectors, none, vec![0; texts.len()])?;
            return Ok(ReadTexts { ranker, positions, is_of_documents: false });
        }
        let (mut texts, mut ends) = (Vec::with_capacity(of_names.len()), Vec::new());
        for sentences in sentences.chunk_by(|a, b| a.0 == b.0) {
            let mut text = String::new();
            for &(_, position) in sentences {
                text.push_str(&rows.text(position, TEXT)?);
                text.push('\n');
            }
            texts.push(text);
            ends.push(ends.last().copied().unwrap_or(0) + sentences.len());
        }
        let whole: Vec<&str> = texts.iter().map(String::as_str).collect();
        let (of_documents, _) = self.model.encode_batch(&whole)?;
        let ranker = DocumentRanker::from_vectors(&texts, of_documents, vectors, ends)?;
        Ok(ReadTexts { ranker, positions, is_of_documents: true })
    }

    /// The vectors of these sentences, encoded again if none are stored.
    fn vectors_of(&self, positions: &[usize]) -> Result<Array2<f32>> {
        let dim = self.rows.dim();
        let n = check_memory::<f32>(positions.len(), dim)?;
        let too_large = || senv_core::Error::TooLarge { rows: positions.len(), dim };
        let mut values: Vec<f32> = Vec::new();
        values.try_reserve_exact(n).map_err(|_| too_large())?;
        for chunk in positions.chunks(CHUNK) {
            let mut texts = Vec::new();
            for &position in chunk {
                match self.rows.vector(position)? {
                    Some(vector) => values.extend(vector),
                    None => texts.push(self.rows.text(position, TEXT)?),
                }
            }
            // A collection stores the vectors of all sentences, or of none.
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            values.extend(self.model.encode_batch(&texts)?.0);
        }
        Ok(Array2::from_shape_vec((positions.len(), dim), values).map_err(|_| too_large())?)
    }
}

impl ReadTexts {
    /// The nearest sentence of a document, and its cosine.
    fn nearest(&self, vector: &[f32], cosines: &[f32], document: usize) -> Result<(usize, f32)> {
        if !self.is_of_documents {
            return Ok((self.positions[document], self.ranker.document_cosine(vector, document)?));
        }
        let places = self.ranker.sentences(document);
        let place = places.clone().reduce(|a, b| if cosines[b] > cosines[a] { b } else { a }).unwrap_or(places.start);
        Ok((self.positions[place], cosines[place]))
    }
}

/// What a query finds, as many as are asked for.
enum Found<'a> {
    Stored(Ranking<'a>),
    Read { texts: &'a ReadTexts, vector: Vec<f32>, scores: Vec<Option<f64>>, cosines: Vec<f32> },
}

impl Found<'_> {
    /// The `n` best.
    fn best(&mut self, n: usize) -> Result<Vec<RankedRow>> {
        match self {
            Self::Stored(ranking) => Ok(ranking.best(n)?),
            Self::Read { texts, vector, scores, cosines } => {
                let row = |document: usize| {
                    let (position, cosine) = texts.nearest(vector, cosines, document)?;
                    Ok(RankedRow { score: scores[document].unwrap_or_default(), position, cosine })
                };
                best(scores, n).into_iter().map(row).collect()
            }
        }
    }
}

impl RankedCollection {
    /// Sets how the rankings are joined.
    ///
    /// # Errors
    /// [`senv_core::Error::InvalidParameter`] if a weight is out of range.
    pub fn joined_by(self, join: Join) -> Result<Self> {
        let ranker = match self.ranker {
            Ranker::Stored(ranker) => Ranker::Stored(ranker.joined_by(join)?),
            Ranker::Read(texts) => Ranker::Read(ReadTexts { ranker: texts.ranker.joined_by(join)?, ..texts }),
        };
        Ok(Self { ranker, ..self })
    }

    /// Number of documents, or of sentences if they are ranked individually.
    #[must_use]
    pub fn len(&self) -> usize {
        match &self.ranker {
            Ranker::Stored(ranker) => ranker.len(),
            Ranker::Read(texts) => texts.ranker.len(),
        }
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether all sentences were loaded, because the collection has no words, or other documents.
    #[must_use]
    pub fn is_in_memory(&self) -> bool {
        matches!(self.ranker, Ranker::Read(_))
    }

    /// Whether a document has a word of the query. If none has, and the model knows no word of it either, what is found
    /// has nothing to do with the query. `collection` must be the one that was ranked.
    ///
    /// # Errors
    /// Errors of reading the collection.
    pub fn has_word_of(&self, collection: &SentenceCollection, query: &str) -> Result<bool> {
        Ok(match &self.ranker {
            Ranker::Stored(ranker) => ranker.has_word_of(&collection.rows, query)?,
            Ranker::Read(texts) => texts.ranker.has_word_of(query),
        })
    }

    /// The `k` best documents for a query, each with its nearest sentence, best first; equal ones in order. Equal
    /// sentences that are ranked individually are one hit. Documents with a cosine below `min_cosine` are left out; a
    /// query without known words finds nothing. `collection` must be the one that was ranked.
    ///
    /// # Errors
    /// Errors of reading the collection; [`senv_core::Error::InvalidParameter`] if it was changed since.
    pub fn search(
        &self,
        collection: &SentenceCollection,
        query: &str,
        k: usize,
        by: RankBy,
        min_cosine: f32,
    ) -> Result<Vec<DocumentHit>> {
        let vector = collection.model.encode_one(query).to_vec();
        let mut found = match &self.ranker {
            Ranker::Stored(ranker) => {
                Found::Stored(ranker.rank(&collection.rows, query, &vector, by)?.min_cosine(min_cosine)?)
            }
            Ranker::Read(texts) => {
                let (scores, cosines) =
                    (texts.ranker.scores(query, &vector, by)?, texts.ranker.sentence_cosines(&vector)?);
                Found::Read { texts, vector, scores, cosines }
            }
        };
        let (mut hits, mut of_texts): (Vec<DocumentHit>, HashMap<String, usize>) = (Vec::new(), HashMap::new());
        // Requests more than needed, because some may be equal or too far.
        let mut wanted = k.saturating_mul(2).saturating_add(10);
        loop {
            let ranked = found.best(wanted)?;
            hits.clear();
            of_texts.clear();
            for &RankedRow { score, position, cosine } in ranked.iter().filter(|row| row.cosine >= min_cosine) {
                let text = collection.rows.text(position, TEXT)?;
                let name = match &self.column {
                    Some(column) => collection.rows.text(position, column)?,
                    None => {
                        if let Some(&hit) = of_texts.get(&text) {
                            hits[hit].positions.push(position);
                            continue;
                        }
                        of_texts.insert(text.clone(), hits.len());
                        String::new()
                    }
                };
                hits.push(DocumentHit { name, score, cosine, text, positions: vec![position] });
            }
            // One more than needed, so all copies of the last one were seen.
            if hits.len() > k || ranked.len() < wanted {
                hits.truncate(k);
                return Ok(hits);
            }
            wanted = wanted.saturating_mul(4);
        }
    }
}

#[cfg(all(test, feature = "english"))]
mod tests {
    use super::*;
    use crate::collection::{NewSentences, SentenceCollectionParams};

    fn collection(
        folder: &std::path::Path,
        rescoring: senv_index::Rescoring,
        column: &str,
        words: bool,
    ) -> SentenceCollection {
        let index = senv_index::IndexParams { rescoring, ..Default::default() };
        let params = SentenceCollectionParams { columns: vec![column.into()], index, words, ..Default::default() };
        let mut collection = SentenceCollection::create_with(folder, "english", &params).unwrap();
        let add = |collection: &mut SentenceCollection, sentences: &[(&str, &str)]| {
            let (texts, of) = sentences.iter().map(|&(text, of)| (text.to_owned(), of.to_owned())).unzip();
            collection.add_sentences(NewSentences::new(texts).column(column, of)).unwrap()
        };
        add(
            &mut collection,
            &[("The train is late.", "travel"), ("Storms bring rain.", "weather"), ("qzx 17", "travel")],
        );
        // More sentences of the first document, and a deleted one.
        let ids = add(&mut collection, &[("A bus is faster.", "travel"), ("Buy a ticket for the bus.", "gone")]);
        collection.delete(&ids[1..]).unwrap();
        collection
    }

    #[test]
    fn documents_are_found_by_their_sentences_whatever_is_kept_of_the_vectors() {
        use senv_index::Rescoring;
        // Stored words and documents; a column whose documents are not stored; no words.
        let kinds = [("document", true, false), ("of", true, true), ("document", false, true)];
        for (rescoring, (column, words, reads)) in
            [Rescoring::F32, Rescoring::None].into_iter().flat_map(|rescoring| kinds.map(|kind| (rescoring, kind)))
        {
            let folder = tempfile::tempdir().unwrap();
            let collection = collection(&folder.path().join("c"), rescoring, column, words);
            let ranked = collection.ranked(Some(column), |_| true).unwrap();
            assert_eq!((ranked.len(), ranked.is_in_memory()), (2, reads));
            let both = ranked.search(&collection, "rain on a train", 5, RankBy::Hybrid, -1.0).unwrap();
            let mut names: Vec<&str> = both.iter().map(|hit| hit.name.as_str()).collect();
            names.sort_unstable();
            assert_eq!(names, ["travel", "weather"]);
            let hits = |by, least| ranked.search(&collection, "the bus", 5, by, least).unwrap();
            for by in [RankBy::Words, RankBy::Document, RankBy::BestSentence, RankBy::Hybrid] {
                let hits = hits(by, -1.0);
                // Only one document has a word of the query.
                let n = if by == RankBy::Words { 1 } else { 2 };
                assert_eq!((hits.len(), hits[0].name.as_str()), (n, "travel"), "{by:?}");
                assert_eq!((hits[0].text.as_str(), hits[0].positions[0]), ("A bus is faster.", 3), "{by:?}");
                let cosine = collection.search("the bus", 1).unwrap()[0].cosine;
                let tolerance = if rescoring == Rescoring::None { 0.05 } else { 1e-4 };
                assert!((hits[0].cosine - cosine).abs() < tolerance, "{} {cosine}", hits[0].cosine);
            }
            // Only near ones.
            let near = hits(RankBy::Words, 0.3);
            assert_eq!((near.len(), hits(RankBy::Hybrid, 0.9).len()), (1, 0), "{near:?}");
            let some = collection.ranked(Some(column), |position| position != 3).unwrap();
            assert_eq!(
                some.search(&collection, "the late bus", 1, RankBy::BestSentence, -1.0).unwrap()[0].positions,
                [0]
            );
            assert!(collection.ranked(Some("author"), |_| true).is_err());
        }
    }

    #[test]
    fn sentences_are_found_by_words_that_the_model_does_not_know() {
        for words in [true, false] {
            let folder = tempfile::tempdir().unwrap();
            let mut collection = collection(&folder.path().join("c"), senv_index::Rescoring::F16, "of", words);
            let ranked = collection.ranked(None, |_| true).unwrap();
            assert_eq!(ranked.is_in_memory(), !words);
            assert!(ranked.has_word_of(&collection, "a qzx").unwrap());
            assert!(!ranked.has_word_of(&collection, "zqx").unwrap());
            let hits = ranked.search(&collection, "qzx", 2, RankBy::Hybrid, -1.0).unwrap();
            assert_eq!((ranked.len(), hits[0].text.as_str(), hits[0].name.as_str()), (4, "qzx 17", ""));
            let late = ranked.search(&collection, "a late train", 1, RankBy::Hybrid, -1.0).unwrap();
            assert!(late[0].text == "The train is late." && late[0].cosine > 0.7, "{late:?}");
            let none = collection.ranked(None, |_| false).unwrap();
            assert!(none.is_empty() && none.search(&collection, "rain", 3, RankBy::Hybrid, -1.0).unwrap().is_empty());
            // Equal sentences are one hit; an addition is seen once it is ranked again.
            let twice = vec!["qzx 17".to_owned(), "qzx 17".into()];
            let of = vec![String::new(); 2];
            collection.add_sentences(NewSentences::new(twice).column("of", of)).unwrap();
            assert_eq!(ranked.search(&collection, "qzx", 2, RankBy::Words, -1.0).is_err(), words);
            let again = collection.ranked(None, |_| true).unwrap();
            let hits = again.search(&collection, "qzx", 2, RankBy::Words, -1.0).unwrap();
            assert_eq!((hits.len(), &hits[0].positions[..]), (1, &[2, 5, 6][..]));
        }
    }
}
