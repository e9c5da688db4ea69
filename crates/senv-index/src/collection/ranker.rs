//! What a ranking by words and meaning counts: the rows or documents of a collection, their lengths, and how often a
//! word occurs in them.

use std::collections::HashMap;

use super::{
    Collection,
    segment::Segment,
    segment_documents::{Grouped, norm},
};
use crate::{
    Error, Rescoring, Result,
    documents::{Bm25Params, Join, Scoring, Words},
    rows::TINY,
};

/// In place of the number of a row or document that is not ranked.
const NONE: u32 = u32::MAX;

/// The rows or documents of a collection, prepared for rankings by words and meaning. It reads no text: words are those
/// stored with the rows ([`CollectionParams::words`](crate::CollectionParams::words)).
///
/// It belongs to the state of the collection that made it. Memory is some 20 bytes per row.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("sentences");
/// use senv_core::Table;
/// use senv_index::{Collection, CollectionParams, NewRows, documents::RankBy};
/// let mut collection = Collection::create(&path, &CollectionParams::new(2).column("text").words("text"))?;
/// let texts = ["Trains leave from platform 9.", "Rain falls.", "The train is late."].map(String::from).to_vec();
/// let vectors = Table::from_vec(3, 2, vec![1.0, 0.1, 0.0, 1.0, 1.0, 0.0])?;
/// collection.add(NewRows::new(vectors).texts(vec![texts]))?;
///
/// let ranker = collection.ranker(|_| true)?;
/// let best = ranker.rank(&collection, "platform 9", &[1.0, 0.0], RankBy::Hybrid)?.best(1)?;
/// assert_eq!(best[0].position, 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct CollectionRanker {
    /// What is ranked at each position.
    pub(super) of_positions: Vec<u32>,
    /// The positions of each row or document that is ranked.
    pub(super) positions: Grouped,
    pub(super) documents: Option<DocumentLengths>,
    pub(super) join: Join,
    words: Words,
    scoring: Scoring,
    /// The number of words of each.
    lengths: Vec<u32>,
    generation: u64,
}

/// Lengths of vectors, for the cosines of documents.
#[derive(Debug, Clone)]
pub(super) struct DocumentLengths {
    /// The length of the vector at each position.
    pub(super) of_positions: Vec<f32>,
    /// 1 / the length of the sum of the vectors of each document; 0 if it has none.
    pub(super) inverse: Vec<f32>,
}

/// A document, while its rows are gathered.
struct Document {
    segment: usize,
    /// Its first row that is ranked.
    row: usize,
    /// The length of the sum of its vectors, as far as it is known.
    norm: f32,
    /// Whether it has rows in other segments, or that are not ranked.
    is_partial: bool,
    /// The lengths of the vectors of all its rows, and of those that are ranked.
    lengths: [f32; 2],
}

impl Collection {
    /// Prepares a ranking of the rows that are not deleted and whose positions `keep` accepts.
    ///
    /// # Errors
    /// [`Error::NoWords`] if the collection has no words; [`Error::Damaged`]; [`Error::TooManyRows`] for more than 2³²
    /// positions.
    pub fn ranker(&self, mut keep: impl FnMut(usize) -> bool) -> Result<CollectionRanker> {
        self.check_positions()?;
        let mut of_positions = Vec::with_capacity(self.n_positions());
        let mut n = 0;
        for (segment, start) in self.segments.iter().zip(&self.starts) {
            for row in 0..segment.len() {
                let is_ranked = !segment.deleted.get(row) && keep(start + row);
                of_positions.push(if is_ranked { n } else { NONE });
                n += u32::from(is_ranked);
            }
        }
        let positions = Grouped::of(n as usize, of_positions.len(), |position| of_positions[position]);
        self.ranker_of(of_positions, positions, None)
    }

    /// Prepares a ranking of documents: rows with the same text in the column of
    /// [`CollectionParams::documents`](crate::CollectionParams::documents), as far as they are not deleted and `keep`
    /// accepts their positions. The vector of a document is the sum of those of its rows.
    ///
    /// # Errors
    /// The errors of [`Collection::ranker`]; [`Error::NoWords`] if the collection has no documents.
    pub fn document_ranker(&self, mut keep: impl FnMut(usize) -> bool) -> Result<CollectionRanker> {
        self.check_positions()?;
        let none = || Error::NoWords { path: self.folder.clone(), what: "documents" };
        let column = self.column(self.document_column().ok_or_else(none)?)?;
        let (mut of_positions, mut row_norms) = (vec![NONE; self.n_positions()], Vec::new());
        let mut documents: Vec<Document> = Vec::new();
        let mut of_hashes: HashMap<(u64, u32), u32> = HashMap::new();
        for (number, segment) in self.segments.iter().enumerate() {
            let tables = segment.documents()?.ok_or_else(none)?;
            let start = self.starts[number];
            let mut of_segment = vec![NONE; tables.first_rows.len()];
            let mut counts = vec![[0_u32; 2]; tables.first_rows.len()];
            let mut lengths = vec![[0_f32; 2]; tables.first_rows.len()];
            for (row, &own) in tables.of_rows.iter().enumerate() {
                let own = own as usize;
                counts[own][0] += 1;
                lengths[own][0] += tables.row_norms[row];
                if segment.deleted.get(row) || !keep(start + row) {
                    continue;
                }
                counts[own][1] += 1;
                lengths[own][1] += tables.row_norms[row];
                if of_segment[own] == NONE {
                    let next = documents.len() as u32;
                    // Within a segment, names differ.
                    let found = match self.segments.len() {
                        1 => next,
                        _ => numbered(&mut of_hashes, tables.hashes[own], next, |other| {
                            let Document { segment: of, row: first, .. } = documents[other as usize];
                            let name = |segment: &Segment, row| segment.text(column, row);
                            Ok(of != number && name(&self.segments[of], first)? == name(segment, row)?)
                        })?,
                    };
                    if found == next {
                        let (norm, lengths) = (0.0, [0.0; 2]);
                        documents.push(Document { segment: number, row, norm, is_partial: false, lengths });
                    }
                    of_segment[own] = found;
                }
                of_positions[start + row] = of_segment[own];
            }
            for (own, &document) in of_segment.iter().enumerate().filter(|(_, document)| **document != NONE) {
                let document = &mut documents[document as usize];
                document.is_partial |= counts[own][0] != counts[own][1] || document.segment != number;
                document.norm += tables.norms[own];
                document.lengths.iter_mut().zip(lengths[own]).for_each(|(sum, length)| *sum += length);
            }
            row_norms.extend_from_slice(tables.row_norms);
        }
        let positions = Grouped::of(documents.len(), of_positions.len(), |position| of_positions[position]);
        let mut inverse = Vec::with_capacity(documents.len());
        for (number, document) in documents.iter().enumerate() {
            let Document { norm, is_partial, lengths: [all, ranked], .. } = *document;
            let norm = match (is_partial, self.params().rescoring) {
                (false, _) => norm,
                // Its rows are about as much alike as all were.
                (true, Rescoring::None) => norm * ranked / all.max(TINY),
                (true, _) => self.norm_of_sum(positions.rows(number))?,
            };
            inverse.push(if norm >= TINY { 1.0 / norm } else { 0.0 });
        }
        self.ranker_of(of_positions, positions, Some(DocumentLengths { of_positions: row_norms, inverse }))
    }

    /// A position of each document in each segment, of a row that is not deleted; so a document can have several. This
    /// reads no name.
    ///
    /// # Errors
    /// [`Error::NoWords`] if the collection has no documents; [`Error::Damaged`].
    pub fn document_positions(&self) -> Result<Vec<usize>> {
        let none = || Error::NoWords { path: self.folder.clone(), what: "documents" };
        self.document_column().ok_or_else(none)?;
        let mut positions = Vec::new();
        for (segment, &start) in self.segments.iter().zip(&self.starts) {
            let tables = segment.documents()?.ok_or_else(none)?;
            let mut is_listed = vec![false; tables.first_rows.len()];
            for (row, &document) in tables.of_rows.iter().enumerate().filter(|(row, _)| !segment.deleted.get(*row)) {
                if !std::mem::replace(&mut is_listed[document as usize], true) {
                    positions.push(start + row);
                }
            }
        }
        Ok(positions)
    }

    fn check_positions(&self) -> Result<()> {
        if self.n_positions() >= NONE as usize {
            return Err(Error::TooManyRows { rows: self.n_positions(), dim: self.dim() });
        }
        Ok(())
    }

    /// The length of the sum of the stored vectors at these positions.
    fn norm_of_sum(&self, positions: &[u32]) -> Result<f32> {
        let mut sum = vec![0_f64; self.dim()];
        for &position in positions {
            let vector = self.vector(position as usize)?.unwrap_or_default();
            sum.iter_mut().zip(vector).for_each(|(sum, x)| *sum += f64::from(x));
        }
        Ok(norm(sum.into_iter()))
    }

    /// Adds up the words of what is ranked.
    fn ranker_of(
        &self,
        of_positions: Vec<u32>,
        positions: Grouped,
        documents: Option<DocumentLengths>,
    ) -> Result<CollectionRanker> {
        let none = || Error::NoWords { path: self.folder.clone(), what: "words" };
        let (stemming, n) = (self.stemming().ok_or_else(none)?, positions.len());
        let (mut lengths, mut total) = (vec![0_u32; n], 0_u64);
        for (segment, &start) in self.segments.iter().zip(&self.starts) {
            let of_rows = segment.words().ok_or_else(none)?.lengths()?;
            for (&length, &number) in of_rows.iter().zip(&of_positions[start..]) {
                if let Some(sum) = lengths.get_mut(number as usize) {
                    *sum = sum.saturating_add(length);
                    total += u64::from(length);
                }
            }
        }
        let (words, generation) = (Words::new(stemming), self.manifest.generation);
        let scoring = Scoring::new(&Bm25Params { stemming, ..Bm25Params::default() }, n, total);
        let join = Join::default();
        Ok(CollectionRanker { of_positions, positions, documents, join, words, scoring, lengths, generation })
    }
}

/// The number of the document with this hash for which `same` holds; `next` if there is none.
fn numbered(
    of_hashes: &mut HashMap<(u64, u32), u32>,
    hash: u64,
    next: u32,
    same: impl Fn(u32) -> Result<bool>,
) -> Result<u32> {
    // Different names can have the same hash.
    for turn in 0.. {
        match of_hashes.get(&(hash, turn)) {
            Some(&other) if same(other)? => return Ok(other),
            Some(_) => {}
            None => {
                of_hashes.insert((hash, turn), next);
                break;
            }
        }
    }
    Ok(next)
}

impl CollectionRanker {
    /// Sets how rankings are joined.
    ///
    /// # Errors
    /// [`senv_core::Error::InvalidParameter`] if a weight is out of range ([`Join::check`]).
    pub fn joined_by(self, join: Join) -> Result<Self> {
        join.check()?;
        Ok(Self { join, ..self })
    }

    /// The number of rows or documents that are ranked.
    #[must_use]
    pub fn len(&self) -> usize {
        self.positions.len()
    }

    /// Whether nothing is ranked.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The score of each row or document by the words of a query, as [`Bm25`](crate::documents::Bm25) has it; 0 if it
    /// has none of them.
    ///
    /// # Errors
    /// [`Error::Damaged`]; [`senv_core::Error::InvalidParameter`] if the collection is not in the state that was
    /// ranked.
    pub fn word_scores(&self, collection: &Collection, query: &str) -> Result<Vec<f32>> {
        let mut scores = vec![0.0; self.len()];
        let mut counts = vec![0_u32; self.len()];
        for word in self.words_of(query) {
            let having = self.count(collection, &word, &mut counts)?;
            let idf = self.scoring.idf(having.len());
            for number in having {
                let number = number as usize;
                scores[number] += self.scoring.term(idf, counts[number], self.lengths[number]);
                counts[number] = 0;
            }
        }
        Ok(scores)
    }

    /// Whether a row or document that is ranked has a word of the query.
    ///
    /// # Errors
    /// The errors of [`CollectionRanker::word_scores`].
    pub fn has_word_of(&self, collection: &Collection, query: &str) -> Result<bool> {
        let mut counts = vec![0_u32; self.len()];
        for word in self.words_of(query) {
            if !self.count(collection, &word, &mut counts)?.is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn words_of(&self, query: &str) -> Vec<String> {
        let mut words = Vec::new();
        self.words.for_each(query, |word| words.push(word.to_owned()));
        words
    }

    /// Those that have a word, and in `counts`, which were 0, how often.
    fn count(&self, collection: &Collection, word: &str, counts: &mut [u32]) -> Result<Vec<u32>> {
        self.check(collection)?;
        let mut having = Vec::new();
        for (segment, &start) in collection.segments.iter().zip(&collection.starts) {
            let Some(words) = segment.words() else { continue };
            words.for_each_row(segment.path(), word, segment.len(), |row, n| {
                let number = self.of_positions[start + row];
                if let Some(count) = counts.get_mut(number as usize) {
                    if *count == 0 {
                        having.push(number);
                    }
                    *count = count.saturating_add(n);
                }
            })?;
        }
        Ok(having)
    }

    /// Refuses another collection, or another state of it.
    pub(super) fn check(&self, collection: &Collection) -> Result<()> {
        let same = (self.generation, self.of_positions.len());
        if same == (collection.manifest.generation, collection.n_positions()) {
            return Ok(());
        }
        let (name, requirement) = ("collection", "in the state that was ranked; rank it again after a change");
        let got = format!("change {} of {}", collection.manifest.generation, collection.folder.display());
        Err(senv_core::Error::InvalidParameter { name, requirement, got }.into())
    }
}
