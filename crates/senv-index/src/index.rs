//! An index: the codes of rows, the rows themselves, and the three stages of a search.

use std::ops::Range;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::{
    Error, Result,
    best::{Ranked, Scored},
    cells::nearest_cells,
    checks::Checks,
    codes::{Coder, QueryCode},
    exact,
    params::{DEFAULT_SHORTLIST, IndexParams, Search},
    planes::{Planes, block_bytes},
    recall::{Effort, K, Recall, SHORTLISTS},
    rows::{StoredRows, unit},
    scan::{self, Keep, ScanTask, Short, scan},
    values::Values,
};

/// Queries searched at the same time.
const QUERIES: usize = 1024;
/// The number of nearest cells searched first, and the factor for each later step.
const FIRST_CELLS: usize = 4;

/// A row and its cosine with the query, in `[-1, 1]`.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Neighbour {
    /// The row number.
    pub row: usize,
    /// The row's cosine with the query.
    pub cosine: f32,
}

/// The configuration of an index, as its file stores it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct IndexConfig {
    /// The version of the file's layout.
    pub(crate) version: u32,
    pub(crate) rows: usize,
    pub(crate) dim: usize,
    /// The parameters, with block lengths written out.
    pub(crate) params: IndexParams,
    /// The average share of each block in a row's squared length.
    pub(crate) shares: Vec<f64>,
    pub(crate) n_cells: usize,
    pub(crate) recall: Recall,
}

/// An index of rows, searched by cosine. A search first compares the top bits of 4-bit codes, then the whole codes of a
/// short list, and finally the best candidates exactly.
///
/// Results do not depend on the number of threads; equal cosines are ordered by ascending row. Zero rows (norm below
/// 1e-12) are never found, and a zero query finds nothing. An index with too few rows to measure recall compares all
/// rows exactly.
///
/// Codes take 128 bytes per row of 256 dimensions, factors 4, cells about 6. The rows for rescoring are extra.
///
/// ```
/// use senv_core::Table;
/// use senv_index::{IndexParams, Search, VectorIndex};
/// let table = Table::from_vec(3, 2, vec![1.0, 0.0, 0.0, 2.0, 3.0, 4.0])?;
/// let index = VectorIndex::build(table, &IndexParams::default())?;
/// let nearest = index.search(&[0.0, 5.0], &Search::new(2))?;
/// // cos((0, 5), (0, 2)) = 1, cos((0, 5), (3, 4)) = 20 / (5 · 5) = 0.8
/// assert_eq!((nearest[0].row, nearest[0].cosine), (1, 1.0));
/// assert_eq!(nearest[1].row, 2);
/// assert!((nearest[1].cosine - 0.8).abs() < 1e-6);
/// # Ok::<(), senv_index::Error>(())
/// ```
#[derive(Debug)]
pub struct VectorIndex {
    pub(crate) config: IndexConfig,
    pub(crate) coder: Coder,
    pub(crate) planes: Planes,
    pub(crate) rows: StoredRows,
    pub(crate) cells: Option<IndexCells>,
    /// The checks of an index in a file.
    pub(crate) checks: Option<Checks>,
}

/// The cells of an index; its top bits are stored in cell order.
#[derive(Debug)]
pub(crate) struct IndexCells {
    /// The centroids, as unit vectors.
    pub(crate) centroids: Vec<f32>,
    /// The first block of each cell, then the number of blocks.
    pub(crate) starts: Vec<u32>,
    pub(crate) lane_rows: Values<u32>,
}

/// A nonzero query, in both forms.
struct Query {
    unit: Vec<f32>,
    code: QueryCode,
}

impl VectorIndex {
    /// The number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.config.rows
    }

    /// Whether there are no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.config.rows == 0
    }

    /// The number of values in a row.
    #[must_use]
    pub fn dim(&self) -> usize {
        self.config.dim
    }

    /// The parameters it was built with, including the block lengths.
    #[must_use]
    pub fn params(&self) -> &IndexParams {
        &self.config.params
    }

    /// The recall measured when it was built.
    #[must_use]
    pub fn recall(&self) -> &Recall {
        &self.config.recall
    }

    /// The recall expected from a search for `wanted`, by the measurements. `None` if recall was not measured and no
    /// rows are stored for an exact comparison.
    #[must_use]
    pub fn expected_recall(&self, wanted: f32) -> Option<f32> {
        if self.rows.is_none() {
            return self.config.recall.of_estimates();
        }
        Some(self.config.recall.expected(wanted, self.len(), self.n_cells()))
    }

    /// The number of cells; 0 means no cells.
    #[must_use]
    pub fn n_cells(&self) -> usize {
        self.config.n_cells
    }

    /// Row `i` as stored for rescoring; `None` if it does not exist or no rows are stored.
    ///
    /// # Errors
    /// [`Error::Damaged`] if its bytes do not match their checksum.
    pub fn row(&self, i: usize) -> Result<Option<Vec<f32>>> {
        if i >= self.len() || self.rows.is_none() {
            return Ok(None);
        }
        self.check_row(i)?;
        Ok(Some(self.rows.row(i, &mut Vec::new()).to_vec()))
    }

    /// The rows nearest to a query, nearest first; fewer if the index has fewer, none for a zero query.
    ///
    /// # Errors
    /// [`senv_core::Error::ShapeMismatch`] if the query has a different dimension;
    /// [`senv_core::Error::InvalidParameter`] if it contains NaN or infinity, or a search setting is out of range;
    /// [`Error::Damaged`] if a part of the file that the search reads does not match its checksum.
    pub fn search(&self, query: &[f32], search: &Search<'_>) -> Result<Vec<Neighbour>> {
        Ok(self.search_batch(&[query], search)?.pop().unwrap_or_default())
    }

    /// The rows nearest to each query, in query order; the same as separate searches. Faster, as codes are fetched once
    /// for many queries.
    ///
    /// # Errors
    /// The errors of [`VectorIndex::search`], for any query.
    pub fn search_batch(&self, queries: &[&[f32]], search: &Search<'_>) -> Result<Vec<Vec<Neighbour>>> {
        search.check()?;
        let found = self.search_where(queries, search, search.keep, search.keep.is_some())?;
        let neighbour = |scored: Scored| Neighbour { row: scored.row as usize, cosine: scored.score };
        Ok(found.into_iter().map(|found| found.into_iter().map(neighbour).collect()).collect())
    }

    /// Searches like [`VectorIndex::search_batch`] among the rows that `keep` accepts. With `all_cells`, as for a
    /// filter, it searches every cell and takes twice the candidates.
    pub(crate) fn search_where(
        &self,
        queries: &[&[f32]],
        search: &Search<'_>,
        keep: Option<&Keep<'_>>,
        all_cells: bool,
    ) -> Result<Vec<Vec<Scored>>> {
        let prepare = |query: &&[f32]| {
            let unit = unit(query, self.dim())?;
            Ok(unit.map(|unit| Query { code: self.coder.query(&unit), unit }))
        };
        let mut found = Vec::with_capacity(queries.len());
        for (block, queries) in queries.chunks(QUERIES).enumerate() {
            let prepared: Vec<Option<Query>> = queries.iter().map(prepare).collect::<Result<_>>()?;
            // The nonzero queries and their positions in the batch.
            let (places, some): (Vec<usize>, Vec<Query>) =
                prepared.into_iter().enumerate().filter_map(|(place, query)| Some((place, query?))).unzip();
            let n = self.len();
            let kept = |query: usize, row: usize| {
                row < n && keep.is_none_or(|keep| keep(block * QUERIES + places[query], row))
            };
            let kept: Option<&Keep<'_>> = if keep.is_some() { Some(&kept) } else { None };
            let mut all = vec![Vec::new(); queries.len()];
            if !some.is_empty() && search.k > 0 && !self.is_empty() {
                for (place, scored) in places.iter().zip(self.search_units(&some, search, kept, all_cells)?) {
                    all[*place] = scored;
                }
            }
            found.extend(all);
        }
        Ok(found)
    }

    fn search_units(
        &self,
        queries: &[Query],
        search: &Search<'_>,
        keep: Option<&Keep<'_>>,
        all_cells: bool,
    ) -> Result<Vec<Vec<Scored>>> {
        let (shortlist, candidates, cells) = match self.effort(search) {
            Effort::Exact => return self.exact(queries, search.k, keep),
            Effort::Codes { shortlist, candidates, cells } => (shortlist, candidates, cells),
        };
        // A filter leaves rows that are closer in rank than all rows are, so the estimates mistake more of them.
        let twice = if all_cells { 2.0 } else { 1.0 };
        // Recall was measured for K neighbors; a smaller k needs the same number of candidates.
        let k = twice * search.k.max(K) as f64;
        let wanted = (f64::from(candidates) * k).ceil().min(self.len() as f64) as usize;
        let short = (f64::from(shortlist) * k).min(self.len() as f64) as usize;
        let short = short.max(wanted);
        let codes: Vec<&QueryCode> = queries.iter().map(|query| &query.code).collect();
        let found = match (&self.cells, cells.filter(|_| !all_cells)) {
            (Some(of), Some(n)) => {
                let (lists, numbers) = of.queries(queries, n as usize);
                let task = |list: CellList| {
                    let CellList { is_first, cell, queries } = list;
                    ScanTask { is_first, blocks: of.blocks(cell), queries: &numbers[queries] }
                };
                let tasks: Vec<ScanTask<'_>> = lists.into_iter().map(task).collect();
                self.scan(&tasks, &codes, short, keep)?
            }
            _ => {
                let all: Vec<u32> = (0..queries.len() as u32).collect();
                let task = ScanTask { is_first: false, blocks: 0..self.planes.n_blocks(), queries: &all };
                self.scan(std::slice::from_ref(&task), &codes, short, keep)?
            }
        };
        let rest = |(query, short): (&Query, Vec<Short>)| {
            let refined = self.refine(&short, &query.code, wanted)?;
            self.rescore(query, search.k, refined)
        };
        if queries.len() == 1 {
            queries.iter().zip(found).map(rest).collect()
        } else {
            queries.par_iter().zip(found).map(rest).collect()
        }
    }

    /// The part of the index that a search compares.
    fn effort(&self, search: &Search<'_>) -> Effort {
        let effort = match (search.candidates, search.shortlist) {
            (Some(candidates), shortlist) => {
                Effort::Codes { shortlist: shortlist.unwrap_or(DEFAULT_SHORTLIST), candidates, cells: search.cells }
            }
            _ => self.config.recall.effort(search.recall, self.len(), self.n_cells()),
        };
        match effort {
            // Without rows, the estimates are the best available.
            Effort::Exact if self.rows.is_none() => {
                Effort::Codes { shortlist: SHORTLISTS[SHORTLISTS.len() - 1], candidates: 1.0, cells: None }
            }
            effort => effort,
        }
    }

    fn exact(&self, queries: &[Query], k: usize, keep: Option<&Keep<'_>>) -> Result<Vec<Vec<Scored>>> {
        if let Some(checks) = &self.checks {
            checks.all_rows()?;
        }
        let units: Vec<f32> = queries.iter().flat_map(|query| query.unit.iter().copied()).collect();
        Ok(exact::nearest(&self.rows, self.len(), &units, self.dim(), k, keep))
    }

    /// The first stage: returns the short lists, in no particular order.
    pub(crate) fn scan(
        &self,
        tasks: &[ScanTask<'_>],
        queries: &[&QueryCode],
        wanted: usize,
        keep: Option<&Keep<'_>>,
    ) -> Result<Vec<Vec<Short>>> {
        let lane_rows = self.cells.as_ref().map(|cells| cells.lane_rows.as_slice());
        let check: &scan::Check<'_> = match &self.checks {
            Some(checks) => &|blocks| checks.blocks(blocks, block_bytes(self.dim())),
            None => &|_| Ok(()),
        };
        scan(self.planes.top(lane_rows, self.dim()), tasks, queries, wanted, keep, check)
    }

    /// The row numbers of a short list.
    ///
    /// # Errors
    /// [`Error::Damaged`] if a row does not exist.
    pub(crate) fn rows_of(&self, short: &[Short]) -> Result<Vec<u32>> {
        let lane_rows = self.cells.as_ref().map(|cells| cells.lane_rows.as_slice());
        let row = |short: &Short| lane_rows.map_or(short.slot, |rows| rows[short.slot as usize]);
        let rows: Vec<u32> = short.iter().map(row).collect();
        match (&self.checks, rows.iter().find(|&&row| row as usize >= self.len())) {
            (Some(checks), Some(&row)) => Err(checks.no_such_row(row as usize, self.len())),
            _ => Ok(rows),
        }
    }

    /// The second stage: the `wanted` rows of highest estimate on a short list, in order.
    pub(crate) fn refine(&self, short: &[Short], query: &QueryCode, wanted: usize) -> Result<Vec<Scored>> {
        let rows = self.rows_of(short)?;
        if let Some(checks) = &self.checks {
            rows.iter().try_for_each(|&row| checks.codes_of(row as usize))?;
        }
        Ok(self.planes.refine(short, &rows, query, wanted))
    }

    /// The third stage: the first `k` candidates by descending cosine.
    fn rescore(&self, query: &Query, k: usize, mut found: Vec<Scored>) -> Result<Vec<Scored>> {
        if self.rows.is_none() {
            found.truncate(k);
            found.iter_mut().for_each(|scored| scored.score = (scored.score * query.code.scale).clamp(-1.0, 1.0));
            return Ok(found);
        }
        self.rescored(&query.unit, k, found)
    }

    /// The `k` candidates of highest cosine with a unit vector, by descending cosine; requires stored rows.
    pub(crate) fn rescored(&self, unit: &[f32], k: usize, candidates: Vec<Scored>) -> Result<Vec<Scored>> {
        let mut space = Vec::new();
        let mut found = Vec::with_capacity(candidates.len());
        for Scored { row, .. } in candidates {
            self.check_row(row as usize)?;
            let cosine = exact::cosine_of(&self.rows, row as usize, unit, &mut space);
            // In an undamaged index a zero row has the factor 0, so it is never a candidate.
            found.extend(cosine.map(|score| Scored { score, row }));
        }
        found.sort_unstable_by(Scored::order);
        found.truncate(k);
        Ok(found)
    }

    /// The cosine of an existing row with a unit vector, 0 for a row that counts as zero; `None` if no rows are stored.
    pub(crate) fn cosine(&self, row: usize, unit: &[f32], space: &mut Vec<f32>) -> Result<Option<f32>> {
        if self.rows.is_none() {
            return Ok(None);
        }
        self.check_row(row)?;
        Ok(Some(exact::cosine_of(&self.rows, row, unit, space).unwrap_or(0.0)))
    }

    fn check_row(&self, row: usize) -> Result<()> {
        match &self.checks {
            Some(checks) => checks.row(row),
            None => Ok(()),
        }
    }
}

/// A cell and the range of its queries in a list.
struct CellList {
    /// Whether it is among the first few nearest cells of these queries.
    is_first: bool,
    cell: usize,
    queries: Range<usize>,
}

impl IndexCells {
    fn blocks(&self, cell: usize) -> Range<usize> {
        self.starts[cell] as usize..self.starts[cell + 1] as usize
    }

    /// Lists the cells among the `n` nearest of each query. Each cell has its range of queries in the returned list.
    /// Cells among a query's nearest few come first, as their rows set a floor that most other rows do not reach.
    fn queries(&self, queries: &[Query], n: usize) -> (Vec<CellList>, Vec<u32>) {
        let n_cells = self.starts.len() - 1;
        let n = n.min(n_cells);
        let nearest = |query: &Query| nearest_cells(&self.centroids, &query.unit);
        let nearest: Vec<Vec<u32>> = queries.par_iter().map(nearest).collect();
        let mut numbers = vec![0; n * queries.len()];
        let (mut lists, mut first, mut next) = (Vec::new(), 0, 0);
        while first < n {
            let ranks = first..(first * FIRST_CELLS).max(FIRST_CELLS).min(n);
            // Counts each cell's queries, then computes where they go.
            let mut places = vec![0; n_cells];
            nearest.iter().flat_map(|cells| &cells[ranks.clone()]).for_each(|&cell| places[cell as usize] += 1);
            for (cell, place) in places.iter_mut().enumerate().filter(|(_, count)| **count > 0) {
                let start = next;
                next += *place;
                *place = start;
                lists.push(CellList { is_first: first == 0, cell, queries: start..next });
            }
            for (query, cells) in (0_u32..).zip(&nearest) {
                for &cell in &cells[ranks.clone()] {
                    let place = &mut places[cell as usize];
                    numbers[*place] = query;
                    *place += 1;
                }
            }
            first = ranks.end;
        }
        (lists, numbers)
    }
}

/// Returns an error if a table is too large to index.
pub(crate) fn check_size(rows: usize, dim: usize) -> Result<()> {
    // Lanes, including those of partly filled cell blocks, are counted in 32 bits.
    let fits = rows <= u32::MAX as usize / 2 && (1..=1 << 16).contains(&dim);
    if fits { Ok(()) } else { Err(Error::TooManyRows { rows, dim }) }
}
