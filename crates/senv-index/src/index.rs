//! An index: codes of rows, the rows themselves, and the two stages of a search.

use rayon::prelude::*;
use senv_core::{files::SharedBytes, kernels::NIBBLE_ROWS};
use serde::{Deserialize, Serialize};

use crate::{
    Error, Result,
    best::Scored,
    cells::nearest_cells,
    checks::Checks,
    codes::{Coder, QueryCode},
    exact,
    params::{IndexParams, Search},
    recall::{Effort, K, Recall},
    rows::{StoredRows, unit},
    scan::{self, Codes, Job, Keep, scan},
    values::Values,
};

/// Queries that are searched for at once.
const QUERIES: usize = 1024;
/// From so many queries on, all codes are compared with all of them: few queries have cells in common, and each cell would be
/// fetched for one or two.
const FEW: usize = 4;
/// From so many queries on, each cell has several queries, and cells are worth their while again.
const MANY: usize = 32;

/// A row and its cosine with the query, in `[-1, 1]`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Neighbour {
    /// The row.
    pub row: usize,
    /// Its cosine with the query.
    pub cosine: f32,
}

/// What an index says of itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct IndexConfig {
    pub(crate) rows: usize,
    pub(crate) dim: usize,
    /// With the lengths of the blocks written out.
    pub(crate) params: IndexParams,
    /// The share of each block in the squared length of a row, on average.
    pub(crate) shares: Vec<f64>,
    pub(crate) n_cells: usize,
    pub(crate) recall: Recall,
}

/// Rows that are searched by cosine: their 4-bit codes first, then the best candidates exactly.
///
/// Results do not depend on the number of threads; equal cosines are ordered by ascending row. Rows that are zero (norm below
/// 1e-12) are never neighbours, and a query that is zero has none. An index of few rows, for which recall cannot be measured,
/// compares all of them exactly.
///
/// Codes take 128 bytes a row of 256 dimensions, factors and norms 8, cells 4; the rows for rescoring come to that.
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
    pub(crate) codes: SharedBytes,
    pub(crate) factors: Values<f32>,
    pub(crate) inverse_norms: Values<f32>,
    pub(crate) rows: StoredRows,
    pub(crate) cells: Option<IndexCells>,
    /// Of an index in a file.
    pub(crate) checks: Option<Checks>,
}

/// Cells of an index; its codes are in their order.
#[derive(Debug)]
pub(crate) struct IndexCells {
    /// Unit vectors.
    pub(crate) centroids: Vec<f32>,
    /// The first block of each cell, and the end.
    pub(crate) starts: Vec<u32>,
    /// The row of each lane.
    pub(crate) lane_rows: Values<u32>,
}

/// A query that is not zero, in both forms.
struct Query {
    unit: Vec<f32>,
    code: QueryCode,
}

impl VectorIndex {
    /// Number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.config.rows
    }

    /// Whether there is no row.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.config.rows == 0
    }

    /// Values in a row.
    #[must_use]
    pub fn dim(&self) -> usize {
        self.config.dim
    }

    /// How it was built, the lengths of its blocks written out.
    #[must_use]
    pub fn params(&self) -> &IndexParams {
        &self.config.params
    }

    /// The recall that was measured when it was built.
    #[must_use]
    pub fn recall(&self) -> &Recall {
        &self.config.recall
    }

    /// The recall, as it was measured, of what a search for this recall looks at; `None` where it was not measured, and rows are
    /// not compared exactly either, because none are kept.
    #[must_use]
    pub fn expected_recall(&self, wanted: f32) -> Option<f32> {
        if self.rows.is_none() {
            return self.config.recall.of_estimates();
        }
        Some(self.config.recall.expected(wanted, self.n_cells()))
    }

    /// Number of cells; 0 is none.
    #[must_use]
    pub fn n_cells(&self) -> usize {
        self.config.n_cells
    }

    /// Row `i` as it is kept for rescoring; `None` if there is no such row, or no rows are kept.
    ///
    /// # Errors
    /// [`Error::Damaged`] if its bytes do not fit their checksum.
    pub fn row(&self, i: usize) -> Result<Option<Vec<f32>>> {
        if i >= self.len() || self.rows.is_none() {
            return Ok(None);
        }
        self.check_row(i)?;
        Ok(Some(self.rows.row(i, &mut Vec::new()).to_vec()))
    }

    /// The rows nearest to a query, the nearest first; fewer if there are fewer, none for a query that is zero.
    ///
    /// # Errors
    /// [`senv_core::Error::ShapeMismatch`] for a query of another dimension; [`senv_core::Error::InvalidParameter`] for one with
    /// NaN or an infinite number, or a search outside its ranges; [`Error::Damaged`] if a part of a file that is looked at does
    /// not fit its checksum.
    pub fn search(&self, query: &[f32], search: &Search<'_>) -> Result<Vec<Neighbour>> {
        Ok(self.search_batch(&[query], search)?.pop().unwrap_or_default())
    }

    /// The rows nearest to each of the queries, in the order of the queries. Faster than one by one: codes are fetched once for
    /// many queries. In a batch of 4 to 31 all cells are looked at, so a query may find more of its nearest rows than alone.
    ///
    /// # Errors
    /// As [`VectorIndex::search`], for any of the queries.
    pub fn search_batch(&self, queries: &[&[f32]], search: &Search<'_>) -> Result<Vec<Vec<Neighbour>>> {
        search.check()?;
        let all = |_, _: usize| true;
        let keep: &Keep<'_> = search.keep.unwrap_or(&all);
        let found = self.search_where(queries, search, keep, search.keep.is_some())?;
        let neighbour = |scored: Scored| Neighbour { row: scored.row as usize, cosine: scored.score };
        Ok(found.into_iter().map(|found| found.into_iter().map(neighbour).collect()).collect())
    }

    /// As [`VectorIndex::search_batch`], among the rows that `keep` accepts; with `all_cells`, as for a filter, no cell
    /// is passed over and there are twice the candidates.
    pub(crate) fn search_where(
        &self,
        queries: &[&[f32]],
        search: &Search<'_>,
        keep: &Keep<'_>,
        all_cells: bool,
    ) -> Result<Vec<Vec<Scored>>> {
        let prepare = |query: &&[f32]| {
            let unit = unit(query, self.dim())?;
            Ok(unit.map(|unit| Query { code: self.coder.query(&unit), unit }))
        };
        let mut found = Vec::with_capacity(queries.len());
        for (block, queries) in queries.chunks(QUERIES).enumerate() {
            let prepared: Vec<Option<Query>> = queries.iter().map(prepare).collect::<Result<_>>()?;
            // Those that are not zero, and which of the batch they are.
            let (places, some): (Vec<usize>, Vec<Query>) =
                prepared.into_iter().enumerate().filter_map(|(place, query)| Some((place, query?))).unzip();
            // A damaged file may name a row that is not there.
            let n = self.len();
            let keep = |query: usize, row: usize| row < n && keep(block * QUERIES + places[query], row);
            let mut all = vec![Vec::new(); queries.len()];
            if !some.is_empty() && search.k > 0 && !self.is_empty() {
                for (place, scored) in places.iter().zip(self.search_units(&some, search, &keep, all_cells)?) {
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
        keep: &Keep<'_>,
        all_cells: bool,
    ) -> Result<Vec<Vec<Scored>>> {
        let (candidates, cells) = match self.effort(search) {
            Effort::Exact => return self.exact(queries, search.k, keep),
            Effort::Codes { candidates, cells } => (candidates, cells),
        };
        // Rows that a filter leaves lie nearer to each other in rank than all do, so that more of them are mistaken.
        let candidates = if all_cells { 2.0 * candidates } else { candidates };
        // The recall was measured for so many neighbours; fewer of them need as many candidates.
        let wanted = (f64::from(candidates) * search.k.max(K) as f64).ceil().min(self.len() as f64) as usize;
        let codes: Vec<QueryCode> = queries.iter().map(|query| query.code.clone()).collect();
        let in_cells = |_: &u32| !all_cells && !(FEW..MANY).contains(&queries.len());
        let mut found = match (&self.cells, cells.filter(in_cells)) {
            (Some(of), Some(n)) => {
                let lists = of.queries(queries, n as usize);
                let job = |(cell, queries)| Job { blocks: of.blocks(cell), queries };
                let jobs: Vec<Job<'_>> = lists.iter().map(Vec::as_slice).enumerate().map(job).collect();
                self.scan(&jobs, &codes, wanted, keep)?
            }
            _ => {
                let all: Vec<u32> = (0..queries.len() as u32).collect();
                let job = Job { blocks: 0..self.n_blocks(), queries: &all };
                self.scan(std::slice::from_ref(&job), &codes, wanted, keep)?
            }
        };
        let rescore = |(query, found): (&Query, &mut Vec<Scored>)| self.rescore(query, search.k, found);
        if queries.len() == 1 {
            queries.iter().zip(&mut found).try_for_each(rescore)?;
        } else {
            queries.par_iter().zip(&mut found).try_for_each(rescore)?;
        }
        Ok(found)
    }

    /// What a search looks at.
    fn effort(&self, search: &Search<'_>) -> Effort {
        let effort = match search.candidates {
            Some(candidates) => Effort::Codes { candidates, cells: search.cells },
            None => self.config.recall.effort(search.recall, self.n_cells()),
        };
        match effort {
            // Without rows the estimates are the best there is.
            Effort::Exact if self.rows.is_none() => Effort::Codes { candidates: 1.0, cells: None },
            effort => effort,
        }
    }

    fn exact(&self, queries: &[Query], k: usize, keep: &Keep<'_>) -> Result<Vec<Vec<Scored>>> {
        if let Some(checks) = &self.checks {
            checks.all_rows()?;
        }
        let units: Vec<f32> = queries.iter().flat_map(|query| query.unit.iter().copied()).collect();
        Ok(exact::nearest(&self.rows, self.inverse_norms.as_slice(), &units, self.dim(), k, keep))
    }

    fn n_blocks(&self) -> usize {
        self.factors.as_slice().len() / NIBBLE_ROWS
    }

    /// The first stage.
    pub(crate) fn scan(
        &self,
        jobs: &[Job<'_>],
        queries: &[QueryCode],
        wanted: usize,
        keep: &Keep<'_>,
    ) -> Result<Vec<Vec<Scored>>> {
        let codes = Codes {
            bytes: &self.codes,
            factors: self.factors.as_slice(),
            lane_rows: self.cells.as_ref().map(|cells| cells.lane_rows.as_slice()),
            dim: self.dim(),
            block_bytes: self.coder.block_bytes(),
        };
        let check: &scan::Check<'_> = match &self.checks {
            Some(checks) => &|blocks| checks.blocks(blocks, codes.block_bytes),
            None => &|_| Ok(()),
        };
        scan(codes, jobs, queries, wanted, keep, check)
    }

    /// The second stage: candidates by falling cosine, the first `k`.
    fn rescore(&self, query: &Query, k: usize, found: &mut Vec<Scored>) -> Result<()> {
        if self.rows.is_none() {
            found.truncate(k);
            found.iter_mut().for_each(|scored| scored.score = (scored.score * query.code.scale).clamp(-1.0, 1.0));
            return Ok(());
        }
        let mut space = Vec::new();
        for scored in &mut *found {
            let row = scored.row as usize;
            self.check_row(row)?;
            scored.score = exact::cosine_of(&self.rows, self.inverse_norms.as_slice(), row, &query.unit, &mut space);
        }
        found.sort_unstable_by(Scored::order);
        found.truncate(k);
        Ok(())
    }

    fn check_row(&self, row: usize) -> Result<()> {
        match &self.checks {
            Some(checks) => checks.row(row, self.len()),
            None => Ok(()),
        }
    }
}

impl IndexCells {
    fn blocks(&self, cell: usize) -> std::ops::Range<usize> {
        self.starts[cell] as usize..self.starts[cell + 1] as usize
    }

    /// For each cell the queries that have it among their `n` nearest.
    fn queries(&self, queries: &[Query], n: usize) -> Vec<Vec<u32>> {
        let mut lists = vec![Vec::new(); self.starts.len() - 1];
        let cells: Vec<Vec<u32>> =
            queries.par_iter().map(|query| nearest_cells(&self.centroids, &query.unit)).collect();
        for (query, cells) in (0..).zip(cells) {
            cells.iter().take(n).for_each(|&cell| lists[cell as usize].push(query));
        }
        lists
    }
}

/// The error for a table that is too large to be indexed.
pub(crate) fn check_size(rows: usize, dim: usize) -> Result<()> {
    // Lanes are counted in 32 bits, those of cells that end within a block too.
    let fits = rows <= u32::MAX as usize / 2 && (1..=1 << 16).contains(&dim);
    if fits { Ok(()) } else { Err(Error::TooManyRows { rows, dim }) }
}
