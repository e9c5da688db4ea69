//! A collection whose documents or sentences are ranked by words and by meaning.

use std::collections::HashMap;

use ndarray::Array2;
use senv_core::{SentenceEncoder, memory::check_memory};
use senv_index::documents::{DocumentRanker, Join, RankBy, best};

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

/// The documents or sentences of a [`SentenceCollection`], in memory, for searches by words and meaning.
#[derive(Debug)]
pub struct RankedCollection {
    ranker: DocumentRanker,
    /// The name of each document, and the position of each sentence, document by document.
    names: Vec<String>,
    positions: Vec<usize>,
    is_of_documents: bool,
}

impl SentenceCollection {
    /// Loads the sentences that are not deleted and whose positions `keep` accepts. Sentences with the same value in
    /// `column` form a document, in the order of the collection. Without a column, each sentence is ranked
    /// individually, by its words and its vector.
    ///
    /// Memory is `4 dim` bytes for each sentence and document, plus that of their words
    /// ([`senv_index::documents::Bm25`]).
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
    pub fn ranked(&self, column: Option<&str>, mut keep: impl FnMut(usize) -> bool) -> Result<RankedCollection> {
        let rows = &self.rows;
        let (mut names, mut of_names): (Vec<String>, HashMap<String, usize>) = (Vec::new(), HashMap::new());
        // Sentences in collection order, with their documents.
        let mut sentences: Vec<(usize, usize)> = Vec::new();
        for position in 0..rows.n_positions() {
            if rows.id(position)?.is_none() || !keep(position) {
                continue;
            }
            let document = match column {
                None => sentences.len(),
                Some(column) => {
                    let name = rows.text(position, column)?;
                    match of_names.get(&name) {
                        Some(&document) => document,
                        None => {
                            names.push(name.clone());
                            *of_names.entry(name).or_insert(names.len() - 1)
                        }
                    }
                }
            };
            sentences.push((document, position));
        }
        // Moves later additions to a document next to its other sentences.
        sentences.sort_by_key(|&(document, _)| document);
        let positions: Vec<usize> = sentences.iter().map(|&(_, position)| position).collect();
        let vectors = self.vectors_of(&positions)?;
        if column.is_none() {
            names.resize(positions.len(), String::new());
            let texts = positions.iter().map(|&position| Ok(rows.text(position, TEXT)?)).collect::<Result<Vec<_>>>()?;
            let none = Array2::zeros((0, vectors.ncols()));
            let ranker = DocumentRanker::from_vectors(&texts, vectors, none, vec![0; texts.len()])?;
            return Ok(RankedCollection { ranker, names, positions, is_of_documents: false });
        }
        let (mut texts, mut ends) = (Vec::with_capacity(names.len()), Vec::with_capacity(names.len()));
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
        Ok(RankedCollection { ranker, names, positions, is_of_documents: true })
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

impl RankedCollection {
    /// Sets how the rankings are joined.
    ///
    /// # Errors
    /// [`senv_core::Error::InvalidParameter`] if a weight is out of range.
    pub fn joined_by(self, join: Join) -> Result<Self> {
        Ok(Self { ranker: self.ranker.joined_by(join)?, ..self })
    }

    /// Number of documents, or of sentences if they are ranked individually.
    #[must_use]
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Whether a document has a word of the query. If none has, and the model knows no word of it either, what is found
    /// has nothing to do with the query.
    #[must_use]
    pub fn has_word_of(&self, query: &str) -> bool {
        self.ranker.has_word_of(query)
    }

    /// The `k` best documents for a query, each with its nearest sentence, best first; equal ones in order. Equal
    /// sentences that are ranked individually are one hit. Documents with a cosine below `min_cosine` are left out; a
    /// query without known words finds nothing. `collection` must be the one that was ranked.
    ///
    /// # Errors
    /// Errors of reading the collection.
    pub fn search(
        &self,
        collection: &SentenceCollection,
        query: &str,
        k: usize,
        by: RankBy,
        min_cosine: f32,
    ) -> Result<Vec<DocumentHit>> {
        let vector = collection.model.encode_one(query).to_vec();
        let scores = self.ranker.scores(query, &vector, by)?;
        if scores.iter().all(Option::is_none) {
            return Ok(Vec::new());
        }
        let cosines = self.ranker.sentence_cosines(&vector)?;
        let place = |document: usize| -> Result<(usize, f32)> {
            if !self.is_of_documents {
                return Ok((document, self.ranker.document_cosine(&vector, document)?));
            }
            let places = self.ranker.sentences(document);
            let place =
                places.clone().reduce(|a, b| if cosines[b] > cosines[a] { b } else { a }).unwrap_or(places.start);
            Ok((place, cosines[place]))
        };
        let (mut hits, mut of_texts): (Vec<DocumentHit>, HashMap<String, usize>) = (Vec::new(), HashMap::new());
        let mut taken = 0;
        // Requests more than needed, because some may be equal or too far.
        let mut wanted = k.saturating_mul(2).saturating_add(10);
        loop {
            let ranked = best(&scores, wanted);
            for &document in &ranked[taken..] {
                let (place, cosine) = place(document)?;
                if cosine < min_cosine {
                    continue;
                }
                let position = self.positions[place];
                let text = collection.rows.text(position, TEXT)?;
                if !self.is_of_documents {
                    if let Some(&hit) = of_texts.get(&text) {
                        hits[hit].positions.push(position);
                        continue;
                    }
                    of_texts.insert(text.clone(), hits.len());
                }
                let (name, positions) = (self.names[document].clone(), vec![position]);
                let score = scores[document].unwrap_or_default();
                hits.push(DocumentHit { name, score, cosine, text, positions });
            }
            // One more than needed, so all copies of the last one were seen.
            if hits.len() > k || ranked.len() < wanted {
                hits.truncate(k);
                return Ok(hits);
            }
            taken = ranked.len();
            wanted = wanted.saturating_mul(4);
        }
    }
}

#[cfg(all(test, feature = "english"))]
mod tests {
    use super::*;
    use crate::collection::{NewSentences, SentenceCollectionParams};

    fn collection(folder: &std::path::Path, rescoring: senv_index::Rescoring) -> SentenceCollection {
        let index = senv_index::IndexParams { rescoring, ..Default::default() };
        let params = SentenceCollectionParams { columns: vec!["of".into()], index, ..Default::default() };
        let mut collection = SentenceCollection::create_with(folder, "english", &params).unwrap();
        let add = |collection: &mut SentenceCollection, sentences: &[(&str, &str)]| {
            let (texts, of) = sentences.iter().map(|&(text, of)| (text.to_owned(), of.to_owned())).unzip();
            collection.add_sentences(NewSentences::new(texts).column("of", of)).unwrap()
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
        for rescoring in [Rescoring::F32, Rescoring::None] {
            let folder = tempfile::tempdir().unwrap();
            let collection = collection(&folder.path().join("c"), rescoring);
            let ranked = collection.ranked(Some("of"), |_| true).unwrap();
            assert_eq!((ranked.len(), ranked.names.clone()), (2, vec!["travel".into(), "weather".into()]));
            for by in [RankBy::Words, RankBy::Document, RankBy::BestSentence, RankBy::Hybrid] {
                let hits = ranked.search(&collection, "the bus", 5, by, -1.0).unwrap();
                // Only one document has a word of the query.
                let n = if by == RankBy::Words { 1 } else { 2 };
                assert_eq!((hits.len(), hits[0].name.as_str()), (n, "travel"), "{by:?}");
                assert_eq!((hits[0].text.as_str(), hits[0].positions[0]), ("A bus is faster.", 3), "{by:?}");
                let cosine = collection.search("the bus", 1).unwrap()[0].cosine;
                let tolerance = if rescoring == Rescoring::None { 0.05 } else { 1e-4 };
                assert!((hits[0].cosine - cosine).abs() < tolerance, "{} {cosine}", hits[0].cosine);
            }
            let some = collection.ranked(Some("of"), |position| position != 3).unwrap();
            assert_eq!(
                some.search(&collection, "the late bus", 1, RankBy::BestSentence, -1.0).unwrap()[0].positions,
                [0]
            );
            assert!(collection.ranked(Some("author"), |_| true).is_err());
        }
    }

    #[test]
    fn sentences_are_found_by_words_that_the_model_does_not_know() {
        let folder = tempfile::tempdir().unwrap();
        let collection = collection(&folder.path().join("c"), senv_index::Rescoring::F16);
        let ranked = collection.ranked(None, |_| true).unwrap();
        let hits = ranked.search(&collection, "qzx", 2, RankBy::Hybrid, -1.0).unwrap();
        assert_eq!((ranked.len(), hits[0].text.as_str(), hits[0].name.as_str()), (4, "qzx 17", ""));
        let late = ranked.search(&collection, "a late train", 1, RankBy::Hybrid, -1.0).unwrap();
        assert!(late[0].text == "The train is late." && late[0].cosine > 0.7, "{late:?}");
        let none = collection.ranked(None, |_| false).unwrap();
        assert!(none.is_empty() && none.search(&collection, "rain", 3, RankBy::Hybrid, -1.0).unwrap().is_empty());
    }
}
