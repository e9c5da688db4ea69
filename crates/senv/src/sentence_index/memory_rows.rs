//! Sentences and vectors in memory that can be added and deleted.

use std::borrow::Cow;

use senv_core::{Rows, Table};
use senv_index::{Found, Id, IndexParams, Search, VectorIndex};
use senv_store::NearestIndex;

use super::memory_ids::MemoryIds;

use crate::{
    collection::search::{Keep, SearchedSentences},
    error::Result,
};

/// The number of rows at which codes are compared first. Below it, an exact search takes less than 5 ms of CPU time
/// (256 dimensions, 50 ns per row). Codes take 6 ns per row, but making them takes as long as 75 exact searches.
pub(super) const CODES_FROM: usize = 100_000;

/// Sentences with ids and vectors. Each addition makes a segment. Earlier segments that are not longer than what
/// follows them are merged into it, so each row moves only a few times.
#[derive(Debug)]
pub(super) struct MemoryRows {
    dim: usize,
    texts: Vec<String>,
    pub(super) ids: MemoryIds,
    segments: Vec<Segment>,
}

#[derive(Debug)]
struct Segment {
    /// Its first position.
    start: usize,
    nearest: Nearest,
}

#[derive(Debug)]
enum Nearest {
    Exact(NearestIndex<Table>),
    Codes(Box<VectorIndex>),
}

impl Nearest {
    fn new(table: Table) -> Result<Self> {
        Ok(match table.n_rows() < CODES_FROM {
            true => Self::Exact(NearestIndex::new(table)),
            false => Self::Codes(Box::new(VectorIndex::build(table, &IndexParams::default())?)),
        })
    }

    fn len(&self) -> usize {
        match self {
            Self::Exact(rows) => rows.rows().n_rows(),
            Self::Codes(rows) => rows.len(),
        }
    }

    /// Appends row `i` to `values`.
    fn push_row(&self, i: usize, values: &mut Vec<f32>) -> Result<()> {
        match self {
            Self::Exact(rows) => values.extend_from_slice(rows.rows().row(i)),
            // Rows are stored in full, so every number below the length has one.
            Self::Codes(rows) => values.extend(rows.row(i)?.unwrap_or_default()),
        }
        Ok(())
    }
}

impl MemoryRows {
    pub(super) fn new(dim: usize, ids: MemoryIds) -> Self {
        Self { dim, texts: Vec::new(), ids, segments: Vec::new() }
    }

    pub(super) fn len(&self) -> usize {
        self.ids.len()
    }

    /// The id at a position; `None` if it was deleted, or there is no such position.
    pub(super) fn id(&self, position: usize) -> Option<Id> {
        self.ids.is_live(position).then(|| self.ids.of(position))
    }

    /// The sentence at a position that is not deleted.
    pub(super) fn text(&self, position: usize) -> &str {
        &self.texts[position]
    }

    /// Ids and sentences in the order of their positions.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Id, &str)> {
        (0..self.texts.len()).filter_map(|position| Some((self.id(position)?, self.text(position))))
    }

    /// Adds sentences with these distinct ids, replacing those that already have them.
    pub(super) fn put(&mut self, texts: Vec<String>, ids: Vec<Id>, vectors: Table) -> Result<()> {
        let (start, n) = (self.texts.len(), texts.len());
        if n > 0 {
            let nearest = self.joined(vectors)?;
            self.segments.push(Segment { start: start + n - nearest.len(), nearest });
        }
        self.texts.extend(texts);
        self.ids.push(ids);
        Ok(())
    }

    /// Merges the new rows with the last segments that are not longer than what follows them.
    fn joined(&mut self, vectors: Table) -> Result<Nearest> {
        let mut n = vectors.n_rows();
        let mut first = self.segments.len();
        while first > 0 && self.segments[first - 1].nearest.len() <= n {
            first -= 1;
            n += self.segments[first].nearest.len();
        }
        if first == self.segments.len() {
            return Nearest::new(vectors);
        }
        let mut values = values_for(n, self.dim)?;
        for segment in &self.segments[first..] {
            (0..segment.nearest.len()).try_for_each(|row| segment.nearest.push_row(row, &mut values))?;
        }
        vectors.iter().for_each(|row| values.extend_from_slice(row));
        let nearest = Nearest::new(Table::from_vec(n, self.dim, values)?)?;
        self.segments.truncate(first);
        Ok(nearest)
    }

    /// Frees deleted rows; positions change.
    pub(super) fn compact(&mut self) -> Result<()> {
        let mut whole = Self::new(self.dim, self.ids.emptied());
        let (texts, ids, vectors) = self.kept()?;
        whole.put(texts, ids, vectors)?;
        *self = whole;
        Ok(())
    }

    /// The rows that were not deleted.
    pub(super) fn kept(&self) -> Result<(Vec<String>, Vec<Id>, Table)> {
        let mut values = values_for(self.len(), self.dim)?;
        let (mut texts, mut ids) = (Vec::with_capacity(self.len()), Vec::with_capacity(self.len()));
        for segment in &self.segments {
            for row in 0..segment.nearest.len() {
                let position = segment.start + row;
                if let Some(id) = self.id(position) {
                    segment.nearest.push_row(row, &mut values)?;
                    texts.push(self.texts[position].clone());
                    ids.push(id);
                }
            }
        }
        let vectors = Table::from_vec(ids.len(), self.dim, values)?;
        Ok((texts, ids, vectors))
    }
}

/// An empty list with capacity for this number of rows.
fn values_for(rows: usize, dim: usize) -> Result<Vec<f32>> {
    let mut values = Vec::new();
    let too_large = |_| senv_core::Error::TooLarge { rows, dim };
    values.try_reserve_exact(senv_core::memory::check_memory::<f32>(rows, dim)?).map_err(too_large)?;
    Ok(values)
}

impl SearchedSentences for MemoryRows {
    fn nearest(&self, queries: &[&[f32]], k: usize, recall: f32, keep: Option<&Keep<'_>>) -> Result<Vec<Vec<Found>>> {
        if let Some(query) = queries.iter().find(|query| query.len() != self.dim) {
            let (what, expected, got) = ("query", self.dim, query.len());
            return Err(senv_core::Error::ShapeMismatch { what, expected, got }.into());
        }
        let mut found: Vec<Vec<Found>> = vec![Vec::new(); queries.len()];
        for segment in &self.segments {
            let start = segment.start;
            let kept = |query: usize, row: usize| {
                self.ids.is_live(start + row) && keep.is_none_or(|keep| keep(query, start + row))
            };
            let hit = |row: usize, cosine: f32| Found { id: self.ids.of(start + row), position: start + row, cosine };
            match &segment.nearest {
                Nearest::Exact(rows) => {
                    let of_segment = rows.nearest_batch_where(queries, k, kept)?;
                    for (found, of_segment) in found.iter_mut().zip(of_segment) {
                        found.extend(of_segment.into_iter().map(|near| hit(near.row, near.cosine)));
                    }
                }
                Nearest::Codes(rows) => {
                    let search = Search::new(k).recall(recall);
                    let is_all = keep.is_none() && !self.ids.has_deleted();
                    let of_segment = if is_all {
                        rows.search_batch(queries, &search)?
                    } else {
                        rows.search_batch(queries, &search.keep(&kept))?
                    };
                    for (found, of_segment) in found.iter_mut().zip(of_segment) {
                        found.extend(of_segment.into_iter().map(|near| hit(near.row, near.cosine)));
                    }
                }
            }
        }
        for found in &mut found {
            // Positions ascend from segment to segment, and among equal ones within a segment.
            found.sort_by(|a, b| b.cosine.total_cmp(&a.cosine));
            found.truncate(k);
        }
        Ok(found)
    }

    fn sentence(&self, position: usize) -> Result<Cow<'_, str>> {
        Ok(self.texts[position].as_str().into())
    }

    fn n_positions(&self) -> usize {
        self.texts.len()
    }

    fn positions_where(&self, wanted: &(dyn Fn(&str) -> bool + Sync)) -> Result<Vec<bool>> {
        let is_wanted = |(position, text): (usize, &String)| self.ids.is_live(position) && wanted(text);
        Ok(self.texts.iter().enumerate().map(is_wanted).collect())
    }
}
