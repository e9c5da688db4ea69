//! Builds an index of rows.

use std::sync::OnceLock;

use rayon::prelude::*;
use senv_core::{Rows, Table, memory::check_memory};

use crate::{
    Rescoring, Result,
    best::{Ranked, Scored},
    cells::{self, Cells, nibble_block_bytes},
    code_kernels::{NIBBLE_ROWS, PLANE_ROWS, pack_low, pack_nibbles, pack_top},
    codes::{CodeScratch, Coder, Factors, QueryCode},
    exact,
    file::VERSION,
    index::{IndexCells, IndexConfig, VectorIndex, check_size},
    params::IndexParams,
    planes::{Planes, arrange, blocks_of, low_bytes},
    recall::{CANDIDATES, K, Recall, SHORTLISTS, cell_steps, shares},
    rows::{StoredRows, check_finite, inverse_norm},
    scan::{Keep, ScanTask, Short},
    values::Values,
};

/// The number of rows on which the block shares are measured.
const SHARE_ROWS: usize = 10_000;
/// The factor by which measuring the recall of cells needs more queries.
const CELL_QUERIES: usize = 8;
/// Short-list rows for each wanted row in that measurement.
const CELL_SHORTLIST: u32 = 96;
const CELL_CANDIDATES: usize = 3;
/// Below this number of rows, a search compares all rows, which is as fast.
const MEASURED_FROM: usize = 2_000;

impl VectorIndex {
    /// Builds an index of rows on all threads of the current rayon pool. The result depends only on the rows and the
    /// parameters. One million rows of 256 dimensions take about 2 seconds of CPU time, 4 with cells.
    ///
    /// # Errors
    /// [`Error::NonFinite`](crate::Error::NonFinite) if a row contains NaN or infinity;
    /// [`Error::TooManyRows`](crate::Error::TooManyRows); [`senv_core::Error::InvalidParameter`] if the block lengths
    /// do not fit; [`senv_core::Error::TooLarge`] if memory is insufficient.
    pub fn build(rows: Table, params: &IndexParams) -> Result<Self> {
        let (n, dim) = (rows.n_rows(), rows.dim());
        check_size(n, dim)?;
        let blocks = params.blocks(dim)?;
        check_finite(&rows)?;
        let inverse_norms: Vec<f32> = (0..n).into_par_iter().map(|i| inverse_norm(rows.row(i))).collect();
        let shares = block_shares(&rows, &inverse_norms, &blocks);
        let coder = Coder::new(params.seed, &blocks, &shares);
        let n_cells = params.cells.of(n);
        let codes = encode(&coder, &rows, &inverse_norms, n_cells > 0)?;
        let params = IndexParams { blocks, ..params.clone() };
        let recall = Recall::default();
        let config = IndexConfig { version: VERSION, rows: n, dim, params, shares, n_cells, recall };
        let cells = (n_cells > 0)
            .then(|| cells::find(&coder, &codes.nibbles, &rows, &inverse_norms, n_cells, config.params.seed));
        // The measurement uses the top bits in row order; the top bits in cell order replace them later.
        let (top, top_factors) =
            arrange(&codes.tops, &codes.top_factors, &|lane| Some(lane).filter(|&row| row < n), blocks_of(n), dim)?;
        let planes = Planes {
            top: top.into(),
            top_factors: Values::Heap(top_factors),
            low: codes.low.into(),
            factors: Values::Heap(codes.factors),
        };
        let mut index =
            Self { config, coder, planes, rows: StoredRows::F32(rows, OnceLock::new()), cells: None, checks: None };
        index.config.recall = index.measure(&inverse_norms, cells.as_ref())?;
        if let Some(cells) = cells {
            index.divide(&codes.tops, &codes.top_factors, cells)?;
        }
        let rescoring = index.config.params.rescoring;
        if rescoring != Rescoring::F32
            && let StoredRows::F32(rows, _) = std::mem::replace(&mut index.rows, StoredRows::None)
        {
            index.rows = StoredRows::new(rows, rescoring)?;
        }
        Ok(index)
    }

    /// [`VectorIndex::build`] for rows in any storage: in a file, computed, or from another library. Each row is read
    /// once, in order, and copied.
    ///
    /// ```
    /// use senv_core::Rows;
    /// use senv_index::{IndexParams, Search, VectorIndex};
    ///
    /// /// Unit vectors in the plane, one degree apart.
    /// struct Circle(Vec<[f32; 2]>);
    ///
    /// impl Rows for Circle {
    ///     fn n_rows(&self) -> usize {
    ///         self.0.len()
    ///     }
    ///
    ///     fn dim(&self) -> usize {
    ///         2
    ///     }
    ///
    ///     fn row(&self, i: usize) -> &[f32] {
    ///         &self.0[i]
    ///     }
    /// }
    ///
    /// let circle = Circle((0..360_u16).map(|degree| f32::from(degree).to_radians().sin_cos().into()).collect());
    /// let index = VectorIndex::build_from(&circle, &IndexParams::default())?;
    /// assert_eq!(index.search(&circle.0[40], &Search::new(1))?[0].row, 40);
    /// # Ok::<(), senv_index::Error>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`VectorIndex::build`]; [`senv_core::Error::ShapeMismatch`] if the rows differ in length.
    pub fn build_from<R: Rows + ?Sized>(rows: &R, params: &IndexParams) -> Result<Self> {
        let (n, expected) = (rows.n_rows(), rows.dim());
        check_size(n, expected)?;
        let mut table = Table::zeros(n, expected)?;
        for i in 0..n {
            let row = rows.row(i);
            if row.len() != expected {
                return Err(senv_core::Error::ShapeMismatch { what: "a row", expected, got: row.len() }.into());
            }
            table.row_mut(i).copy_from_slice(row);
        }
        Self::build(table, params)
    }

    /// Orders the top bits by cell.
    fn divide(&mut self, tops: &[u8], factors: &[u16], cells: Cells) -> Result<()> {
        let order = cells::order(&cells.cell_of, self.config.n_cells);
        let mut is_row = vec![false; order.lane_rows.len()];
        for (&start, &end) in order.starts.iter().zip(&order.ends) {
            is_row[start as usize * PLANE_ROWS..end].fill(true);
        }
        let row = |lane: usize| is_row[lane].then(|| order.lane_rows[lane] as usize);
        let (top, top_factors) = arrange(tops, factors, &row, is_row.len() / PLANE_ROWS, self.config.dim)?;
        (self.planes.top, self.planes.top_factors) = (top.into(), Values::Heap(top_factors));
        let (starts, lane_rows) = (order.starts, Values::Heap(order.lane_rows));
        self.cells = Some(IndexCells { centroids: cells.centroids, starts, lane_rows });
        Ok(())
    }

    /// Measures recall on evenly spaced rows, each against all others.
    fn measure(&self, inverse_norms: &[f32], cells: Option<&Cells>) -> Result<Recall> {
        let wanted = self.config.params.recall_queries;
        if wanted == 0 || self.len() < MEASURED_FROM {
            return Ok(Recall::default());
        }
        let Sample { rows, units, codes } = self.sample(wanted, inverse_norms);
        let others = |query: usize, row: usize| rows[query] != row;
        let truth = exact::nearest(&self.rows, self.len(), &units, self.dim(), K, Some(&others));
        let short = self.short_lists(&codes, SHORTLISTS[SHORTLISTS.len() - 1], &others)?;
        let most = (CANDIDATES[CANDIDATES.len() - 1] * K as f32) as usize;
        let (mut short_places, mut places) = (Vec::new(), Vec::new());
        for ((truth, mut short), code) in truth.iter().zip(short).zip(&codes) {
            let refined = self.refine(&short, code, most)?;
            short.sort_unstable_by(Short::order);
            let rows = self.rows_of(&short)?;
            for scored in truth {
                let on_list = rows.iter().position(|&other| other == scored.row);
                short_places.push(on_list.unwrap_or(usize::MAX));
                // If the longest list lacks a row, the list missed it, not the estimate.
                let place = refined.iter().position(|other| other.row == scored.row);
                places.push(place.unwrap_or(if on_list.is_some() { usize::MAX } else { 0 }));
            }
        }
        let of_shortlists = shares(&short_places, SHORTLISTS.iter().map(|&n| n as usize * K));
        let of_candidates = shares(&places, CANDIDATES.iter().map(|c| (c * K as f32) as usize));
        Ok(Recall {
            queries: rows.len(),
            shortlists: SHORTLISTS.into_iter().zip(of_shortlists).collect(),
            candidates: CANDIDATES.into_iter().zip(of_candidates).collect(),
            cells: cells.map_or(Ok(Vec::new()), |cells| self.measure_cells(inverse_norms, cells))?,
        })
    }

    /// Measures the recall of cells, against a search of all cells. It varies widely between queries, so this takes
    /// more queries than the other measurements.
    fn measure_cells(&self, inverse_norms: &[f32], cells: &Cells) -> Result<Vec<(u32, f32)>> {
        let wanted = self.config.params.recall_queries.saturating_mul(CELL_QUERIES);
        let Sample { rows, units, codes } = self.sample(wanted, inverse_norms);
        let others = |query: usize, row: usize| rows[query] != row;
        let short = self.short_lists(&codes, CELL_SHORTLIST, &others)?;
        let places = |((short, code), unit): ((&Vec<Short>, &QueryCode), &[f32])| {
            let candidates = self.refine(short, code, CELL_CANDIDATES * K)?;
            let found = self.rescored(unit, K, candidates)?;
            let nearest = cells::nearest_cells(&cells.centroids, unit);
            let place = |scored: &Scored| {
                let cell = cells.cell_of[scored.row as usize];
                nearest.iter().position(|&other| other == cell).unwrap_or(usize::MAX)
            };
            Ok(found.iter().map(place).collect())
        };
        let queries = short.par_iter().zip(&codes).zip(units.par_chunks_exact(self.dim()));
        let places: Vec<Vec<usize>> = queries.map(places).collect::<Result<_>>()?;
        let steps = cell_steps(self.config.n_cells);
        let of_cells = shares(&places.concat(), steps.iter().map(|&step| step as usize));
        Ok(steps.into_iter().zip(of_cells).collect())
    }

    /// Samples up to `wanted` evenly spaced rows that are not zero.
    fn sample(&self, wanted: usize, inverse_norms: &[f32]) -> Sample {
        let step = (self.len() / wanted.min(self.len())).max(1);
        let rows: Vec<usize> =
            (0..self.len()).step_by(step).take(wanted).filter(|&row| inverse_norms[row] != 0.0).collect();
        let mut units = Vec::with_capacity(rows.len() * self.dim());
        for &row in &rows {
            units.extend(self.rows.row(row, &mut Vec::new()).iter().map(|x| x * inverse_norms[row]));
        }
        let codes = units.chunks_exact(self.dim()).map(|unit| self.coder.query(unit)).collect();
        Sample { rows, units, codes }
    }

    /// Short lists with `shortlist` rows for each of the ten wanted, from all rows except the query's own.
    fn short_lists(&self, codes: &[QueryCode], shortlist: u32, others: &Keep<'_>) -> Result<Vec<Vec<Short>>> {
        let codes: Vec<&QueryCode> = codes.iter().collect();
        let all: Vec<u32> = (0..codes.len() as u32).collect();
        let task = ScanTask { is_first: false, blocks: 0..self.planes.n_blocks(), queries: &all };
        self.scan(std::slice::from_ref(&task), &codes, (shortlist as usize * K).min(self.len()), Some(others))
    }
}

/// Rows used as queries.
struct Sample {
    rows: Vec<usize>,
    /// Their unit vectors, concatenated.
    units: Vec<f32>,
    codes: Vec<QueryCode>,
}

/// The share of each block of dimensions in a row's squared length, averaged over evenly spaced rows.
fn block_shares(rows: &Table, inverse_norms: &[f32], blocks: &[usize]) -> Vec<f64> {
    let mut sums = vec![0.0; blocks.len()];
    if blocks.len() > 1 {
        for row in (0..rows.n_rows()).step_by((rows.n_rows() / SHARE_ROWS).max(1)) {
            let mut rest = rows.row(row);
            for (sum, &len) in sums.iter_mut().zip(blocks) {
                let (block, behind) = rest.split_at(len);
                rest = behind;
                *sum += block.iter().map(|&x| f64::from(x * inverse_norms[row]).powi(2)).sum::<f64>();
            }
        }
    }
    let total: f64 = sums.iter().sum();
    let dim: usize = blocks.iter().sum();
    // Without rows, all dimensions count equally. A block that is zero in all rows gets a small share.
    let share =
        |(&sum, &len): (&f64, &usize)| if total > 0.0 { (sum / total).max(1e-6) } else { len as f64 / dim as f64 };
    sums.iter().zip(blocks).map(share).collect()
}

/// Codes of all rows, in their order.
struct RowCodes {
    /// The top bits of each row.
    tops: Vec<u8>,
    top_factors: Vec<u16>,
    low: Vec<u8>,
    factors: Vec<u16>,
    /// All bits in blocks of sixteen rows, to find cells; empty without cells.
    nibbles: Vec<u8>,
}

/// Top bits, lower bits and factors of some rows.
type Parts<'a> = (&'a mut [u8], &'a mut [u8], &'a mut [Factors]);

fn encode(coder: &Coder, rows: &Table, inverse_norms: &[f32], with_nibbles: bool) -> Result<RowCodes> {
    let (n, dim) = (rows.n_rows(), rows.dim());
    let (top_bytes, row_bytes, nibble_bytes) = (dim.div_ceil(8), low_bytes(dim), nibble_block_bytes(dim));
    let mut tops = vec![0; check_memory::<u8>(n, top_bytes)?];
    let mut low = vec![0; check_memory::<u8>(n, row_bytes)?];
    let n_nibbles = if with_nibbles { check_memory::<u8>(n.div_ceil(NIBBLE_ROWS), nibble_bytes)? } else { 0 };
    let mut nibbles = vec![0; n_nibbles];
    let mut factors = vec![Factors::default(); n];
    // Encodes up to sixteen rows; `nibbles` is their block, or empty.
    let code_rows = |scratch: &mut CodeScratch, block: usize, (tops, low, factors): Parts<'_>, nibbles: &mut [u8]| {
        let rest = tops.chunks_exact_mut(top_bytes).zip(low.chunks_exact_mut(row_bytes)).zip(factors);
        for (lane, ((top, low), factors)) in rest.enumerate() {
            let row = block * NIBBLE_ROWS + lane;
            *factors = coder.encode_row(rows.row(row), inverse_norms[row], scratch);
            pack_top(&scratch.codes, top);
            pack_low(&scratch.codes, low);
            pack_nibbles(&scratch.codes, lane, nibbles);
        }
    };
    let parts = tops
        .par_chunks_mut(NIBBLE_ROWS * top_bytes)
        .zip(low.par_chunks_mut(NIBBLE_ROWS * row_bytes))
        .zip(factors.par_chunks_mut(NIBBLE_ROWS))
        .map(|((tops, low), factors)| (tops, low, factors))
        .enumerate();
    if with_nibbles {
        let parts = parts.zip(nibbles.par_chunks_exact_mut(nibble_bytes));
        parts.for_each_init(CodeScratch::default, |scratch, ((block, parts), nibbles)| {
            code_rows(scratch, block, parts, nibbles);
        });
    } else {
        parts.for_each_init(CodeScratch::default, |scratch, (block, parts)| {
            code_rows(scratch, block, parts, &mut []);
        });
    }
    let (top_factors, factors) = factors.into_iter().map(|factors| (factors.top, factors.whole)).unzip();
    Ok(RowCodes { tops, top_factors, low, factors, nibbles })
}
