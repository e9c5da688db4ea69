//! Search for distinct sentences: equal ones are one hit.

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
};

use senv_core::Table;
use senv_index::{Collection, Found, Id, Search};

use super::{SentenceCollection, new_sentences::TEXT};
use crate::error::Result;

/// The maximum number of rows requested before equal sentences are looked up in the whole text.
const MOST_ROWS: usize = 2048;

/// A sentence found by a search.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct SentenceHit {
    /// Its id; that of the first of equal sentences.
    pub id: Id,
    /// Cosine of its vector with that of the query, in `[-1, 1]`; an estimate if
    /// [`estimates_cosines`](crate::SentenceCollection::estimates_cosines).
    pub cosine: f32,
    /// The sentence.
    pub text: String,
    /// Its positions in the collection and those of all equal sentences, ascending.
    pub positions: Vec<usize>,
}

/// Settings of a search in a collection of sentences.
#[derive(Clone, Copy)]
pub struct SentenceSearch<'a> {
    /// The number of distinct sentences to find.
    pub k: usize,
    /// The recall; `None` for that of the collection.
    pub recall: Option<f32>,
    /// Sentences with a lower cosine are left out.
    pub min_cosine: f32,
    /// A filter by query number and position; `None` accepts all. [`Filter::positions`](super::Filter::positions)
    /// returns which positions meet a condition.
    pub keep: Option<&'a (dyn Fn(usize, usize) -> bool + Sync)>,
}

impl SentenceSearch<'_> {
    /// Searches for the `k` nearest sentences.
    #[must_use]
    pub fn new(k: usize) -> Self {
        Self { k, recall: None, min_cosine: f32::NEG_INFINITY, keep: None }
    }
}

impl std::fmt::Debug for SentenceSearch<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { k, recall, min_cosine, keep } = self;
        let mut f = f.debug_struct("SentenceSearch");
        f.field("k", k).field("recall", recall).field("min_cosine", min_cosine).field("keep", &keep.is_some()).finish()
    }
}

impl SentenceCollection {
    /// The `k` sentences nearest to the query, nearest first; equal ones are one hit. Empty for a query without a known
    /// word.
    ///
    /// # Errors
    /// The errors of [`Collection::search`].
    pub fn search(&self, query: &str, k: usize) -> Result<Vec<SentenceHit>> {
        Ok(self.search_batch(&[query], &SentenceSearch::new(k))?.pop().unwrap_or_default())
    }

    /// The sentences nearest to each query; faster than single searches.
    ///
    /// # Errors
    /// The errors of [`Collection::search_batch`].
    pub fn search_batch(
        &self,
        queries: &[impl AsRef<str>],
        search: &SentenceSearch<'_>,
    ) -> Result<Vec<Vec<SentenceHit>>> {
        let vectors = Table::from(self.model.encode(queries)?);
        self.search_vectors(&vectors.iter().collect::<Vec<_>>(), search)
    }

    /// Like [`SentenceCollection::search_batch`], for encoded queries.
    ///
    /// # Errors
    /// The errors of [`Collection::search_batch`].
    pub fn search_vectors(&self, queries: &[&[f32]], search: &SentenceSearch<'_>) -> Result<Vec<Vec<SentenceHit>>> {
        let recall = search.recall.unwrap_or_else(|| Self::recall(&self.rows));
        self::search(&self.rows, queries, search, recall)
    }
}

/// Sentences with vectors, on disk or in memory.
pub(crate) trait SearchedSentences {
    /// The `k` positions nearest to each query, in order, that `keep(query, position)` accepts.
    fn nearest(&self, queries: &[&[f32]], k: usize, recall: f32, keep: Option<&Keep<'_>>) -> Result<Vec<Vec<Found>>>;

    /// The sentence at a position.
    fn sentence(&self, position: usize) -> Result<Cow<'_, str>>;

    /// The number of positions, including those of deleted sentences.
    fn n_positions(&self) -> usize;

    /// For each position, whether `wanted` accepts its sentence.
    fn positions_where(&self, wanted: &(dyn Fn(&str) -> bool + Sync)) -> Result<Vec<bool>>;
}

/// A filter by query number and position.
pub(crate) type Keep<'a> = dyn Fn(usize, usize) -> bool + Sync + 'a;

impl SearchedSentences for Collection {
    fn nearest(&self, queries: &[&[f32]], k: usize, recall: f32, keep: Option<&Keep<'_>>) -> Result<Vec<Vec<Found>>> {
        let search = Search::new(k).recall(recall);
        Ok(match keep {
            Some(keep) => self.search_batch(queries, &search.keep(keep)),
            None => self.search_batch(queries, &search),
        }?)
    }

    fn sentence(&self, position: usize) -> Result<Cow<'_, str>> {
        Ok(self.text(position, TEXT)?.into())
    }

    fn n_positions(&self) -> usize {
        self.n_positions()
    }

    fn positions_where(&self, wanted: &(dyn Fn(&str) -> bool + Sync)) -> Result<Vec<bool>> {
        Ok(self.positions_where(TEXT, wanted)?)
    }
}

/// The nearest distinct sentences of each query.
pub(crate) fn search(
    rows: &impl SearchedSentences,
    queries: &[&[f32]],
    search: &SentenceSearch<'_>,
    recall: f32,
) -> Result<Vec<Vec<SentenceHit>>> {
    let all = |_: usize, _: usize| true;
    let keep: &Keep<'_> = search.keep.unwrap_or(&all);
    let mut hits = vec![Vec::new(); queries.len()];
    let mut open: Vec<usize> = (0..queries.len()).collect();
    let mut wanted = search.k.saturating_add(search.k.clamp(2, 10));
    while search.k > 0 && !open.is_empty() {
        let vectors: Vec<&[f32]> = open.iter().map(|&query| queries[query]).collect();
        let of_open = |query: usize, position: usize| keep(open[query], position);
        let kept: Option<&Keep<'_>> = if search.keep.is_some() { Some(&of_open) } else { None };
        let found = rows.nearest(&vectors, wanted, recall, kept)?;
        let mut incomplete = Vec::new();
        for (&query, found) in open.iter().zip(&found) {
            let is_all = found.len() < wanted;
            match grouped(rows, found, is_all, search)? {
                Some(of_query) => hits[query] = of_query,
                None if wanted >= MOST_ROWS.max(search.k) => {
                    hits[query] = thorough(rows, queries[query], search, recall, &|position| keep(query, position))?;
                }
                None => incomplete.push(query),
            }
        }
        open = incomplete;
        wanted = wanted.saturating_mul(4);
    }
    Ok(hits)
}

/// Groups the rows found into hits, nearest first; `None` if there may be more sentences, or more copies of a sentence.
fn grouped(
    rows: &impl SearchedSentences,
    found: &[Found],
    is_all: bool,
    search: &SentenceSearch<'_>,
) -> Result<Option<Vec<SentenceHit>>> {
    let mut hits: Vec<SentenceHit> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for found in found.iter().take_while(|found| found.cosine >= search.min_cosine) {
        let text = rows.sentence(found.position)?;
        match places.get(&*text) {
            Some(&place) => hits[place].positions.push(found.position),
            None => {
                let text = text.into_owned();
                places.insert(text.clone(), hits.len());
                let (id, cosine) = (found.id.clone(), found.cosine);
                hits.push(SentenceHit { id, cosine, text, positions: vec![found.position] });
            }
        }
    }
    let last = found.last().map_or(f32::NEG_INFINITY, |found| found.cosine);
    // Equal sentences have equal cosines, so a row with a lower cosine shows that all of them were found.
    let is_complete = is_all || last < search.min_cosine || hits.get(search.k - 1).is_some_and(|hit| hit.cosine > last);
    hits.truncate(search.k);
    Ok(is_complete.then_some(hits))
}

/// Like [`search`], for sentences with thousands of copies: finds all copies of the sentences found in the whole text,
/// then searches among the rest.
fn thorough(
    rows: &impl SearchedSentences,
    query: &[f32],
    search: &SentenceSearch<'_>,
    recall: f32,
    keep: &(dyn Fn(usize) -> bool + Sync),
) -> Result<Vec<SentenceHit>> {
    let mut hits: Vec<SentenceHit> = Vec::new();
    let mut seen: HashSet<String> = HashSet::new();
    let mut rest = vec![true; rows.n_positions()];
    while hits.len() < search.k {
        let is_left = |_: usize, position: usize| rest[position] && keep(position);
        let found = rows.nearest(&[query], search.k, recall, Some(&is_left))?.pop().unwrap_or_default();
        let mut new = Vec::new();
        for found in found.iter().take_while(|found| found.cosine >= search.min_cosine) {
            let text = rows.sentence(found.position)?.into_owned();
            if seen.insert(text.clone()) {
                let (id, cosine) = (found.id.clone(), found.cosine);
                new.push(SentenceHit { id, cosine, text, positions: Vec::new() });
            }
        }
        if new.is_empty() {
            break;
        }
        let places: HashMap<&str, usize> = new.iter().enumerate().map(|(i, hit)| (hit.text.as_str(), i)).collect();
        let mut positions = vec![Vec::new(); new.len()];
        let equal = rows.positions_where(&|text| places.contains_key(text))?;
        for position in (0..equal.len()).filter(|&position| equal[position]) {
            rest[position] = false;
            if let Some(&place) = places.get(&*rows.sentence(position)?).filter(|_| keep(position)) {
                positions[place].push(position);
            }
        }
        new.iter_mut().zip(positions).for_each(|(hit, positions)| hit.positions = positions);
        hits.extend(new);
    }
    hits.truncate(search.k);
    Ok(hits)
}
