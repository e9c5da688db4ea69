//! Builds an index of rows.

use rayon::prelude::*;
use senv_core::{Rows, Table, kernels::NIBBLE_ROWS, memory::check_memory};

use crate::{
    Rescoring, Result,
    cells::{self, Cells, FlatCodes},
    codes::{CodeScratch, Coder, blocks_of},
    exact,
    index::{IndexCells, IndexConfig, VectorIndex, check_size},
    params::IndexParams,
    recall::{CANDIDATES, K, Recall, cell_steps, shares},
    rows::{StoredRows, check_finite, inverse_norm},
    scan::Job,
    values::Values,
};

/// Rows that the shares of the blocks are measured on.
const SHARE_ROWS: usize = 10_000;
/// Below so many rows a search compares all of them: that is as fast.
const MEASURED_FROM: usize = 2_000;

impl VectorIndex {
    /// Builds an index of rows, on all threads of the current rayon pool; it depends on the rows and the parameters alone. One
    /// million rows of 256 dimensions take some 3.5 seconds of CPU time, with cells 7; rows kept as int8 take much longer.
    ///
    /// # Errors
    /// [`Error::NonFinite`](crate::Error::NonFinite) for a row with NaN or an infinite number;
    /// [`Error::TooManyRows`](crate::Error::TooManyRows); [`senv_core::Error::InvalidParameter`] for lengths of blocks that do
    /// not fit; [`senv_core::Error::TooLarge`] if memory is lacking.
    pub fn build(rows: Table, params: &IndexParams) -> Result<Self> {
        let (n, dim) = (rows.n_rows(), rows.dim());
        check_size(n, dim)?;
        let blocks = params.blocks(dim)?;
        check_finite(&rows)?;
        let norms = |rows: &Table| -> Vec<f32> { (0..n).into_par_iter().map(|i| inverse_norm(rows.row(i))).collect() };
        let inverse_norms = norms(&rows);
        let shares = block_shares(&rows, &inverse_norms, &blocks);
        let coder = Coder::new(params.seed, &blocks, &shares);
        let flat = encode(&coder, &rows, &inverse_norms)?;
        let n_cells = params.cells.of(n);
        let params = IndexParams { blocks, ..params.clone() };
        let config = IndexConfig { rows: n, dim, params, shares, n_cells, recall: Recall::default() };
        let cells =
            (n_cells > 0).then(|| cells::find(&coder, &flat, &rows, &inverse_norms, n_cells, config.params.seed));
        // The codes of the rows in their order serve the measurement too; those of the cells replace them.
        let mut index = Self {
            config,
            coder,
            codes: flat.bytes.into(),
            factors: Values::Heap(flat.factors),
            inverse_norms: Values::Heap(inverse_norms),
            rows: StoredRows::F32(rows),
            cells: None,
            checks: None,
        };
        index.config.recall = index.measure(cells.as_ref())?;
        if let Some(cells) = cells {
            index.divide(cells);
        }
        let rescoring = index.config.params.rescoring;
        if rescoring != Rescoring::F32
            && let StoredRows::F32(rows) = std::mem::replace(&mut index.rows, StoredRows::None)
        {
            index.rows = StoredRows::new(rows, rescoring)?;
            // Cosines are those of the rows as they are kept.
            if !index.rows.is_none() {
                let rows = &index.rows;
                let norm = |space: &mut Vec<f32>, i| inverse_norm(rows.row(i, space));
                index.inverse_norms = Values::Heap((0..n).into_par_iter().map_init(Vec::new, norm).collect());
            }
        }
        Ok(index)
    }

    /// Orders the codes by cell.
    fn divide(&mut self, cells: Cells) {
        let Values::Heap(factors) = std::mem::replace(&mut self.factors, Values::Heap(Vec::new())) else { return };
        let flat = FlatCodes { bytes: self.codes.to_vec(), factors };
        let ordered = cells::order(&flat, self.coder.block_bytes(), &cells.cell_of, self.config.n_cells);
        self.codes = ordered.codes.bytes.into();
        self.factors = Values::Heap(ordered.codes.factors);
        let (starts, lane_rows) = (ordered.starts, Values::Heap(ordered.lane_rows));
        self.cells = Some(IndexCells { centroids: cells.centroids, starts, lane_rows });
    }

    /// Recall on rows at even distances, each among all others.
    fn measure(&self, cells: Option<&Cells>) -> Result<Recall> {
        let wanted = self.config.params.recall_queries;
        if wanted == 0 || self.len() < MEASURED_FROM {
            return Ok(Recall::default());
        }
        let inverse_norms = self.inverse_norms.as_slice();
        let step = (self.len() / wanted.min(self.len())).max(1);
        let rows: Vec<usize> =
            (0..self.len()).step_by(step).take(wanted).filter(|&row| inverse_norms[row] != 0.0).collect();
        let dim = self.dim();
        let mut units = Vec::with_capacity(rows.len() * dim);
        for &row in &rows {
            units.extend(self.rows.row(row, &mut Vec::new()).iter().map(|x| x * inverse_norms[row]));
        }
        let others = |query: usize, row: usize| rows[query] != row;
        let truth = exact::nearest(&self.rows, inverse_norms, &units, dim, K, &others);
        let codes: Vec<_> = units.chunks_exact(dim).map(|unit| self.coder.query(unit)).collect();
        let all: Vec<u32> = (0..codes.len() as u32).collect();
        let job = Job { blocks: 0..blocks_of(self.len()), queries: &all };
        let most = (CANDIDATES[CANDIDATES.len() - 1] * K as f32) as usize;
        let estimated = self.scan(std::slice::from_ref(&job), &codes, most, &others)?;
        let (mut places, mut cell_places) = (Vec::new(), Vec::new());
        for ((truth, estimated), unit) in truth.iter().zip(&estimated).zip(units.chunks_exact(dim)) {
            let nearest = cells.map(|cells| cells::nearest_cells(&cells.centroids, unit));
            for scored in truth {
                let place = estimated.iter().position(|other| other.row == scored.row);
                places.push(place.unwrap_or(usize::MAX));
                if let (Some(cells), Some(nearest)) = (cells, &nearest) {
                    let cell = cells.cell_of[scored.row as usize];
                    cell_places.extend(nearest.iter().position(|&other| other == cell));
                }
            }
        }
        let candidates = shares(&places, CANDIDATES.iter().map(|c| (c * K as f32) as usize));
        let steps = if cells.is_some() { cell_steps(self.config.n_cells) } else { Vec::new() };
        let of_cells = shares(&cell_places, steps.iter().map(|&step| step as usize));
        Ok(Recall {
            queries: rows.len(),
            candidates: CANDIDATES.into_iter().zip(candidates).collect(),
            cells: steps.into_iter().zip(of_cells).collect(),
        })
    }
}

/// The share of each block of dimensions in the squared length of a row, on average over rows at even distances.
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
    // Without a row each dimension counts as much as the others; a block that is zero in all rows gets a little.
    let share =
        |(&sum, &len): (&f64, &usize)| if total > 0.0 { (sum / total).max(1e-6) } else { len as f64 / dim as f64 };
    sums.iter().zip(blocks).map(share).collect()
}

/// Codes of all rows, in their order.
fn encode(coder: &Coder, rows: &Table, inverse_norms: &[f32]) -> Result<FlatCodes> {
    let (n_blocks, block_bytes) = (blocks_of(rows.n_rows()), coder.block_bytes());
    let mut bytes = vec![0; check_memory::<u8>(n_blocks, block_bytes)?];
    let mut factors = vec![0.0; n_blocks * NIBBLE_ROWS];
    let blocks = bytes.par_chunks_exact_mut(block_bytes).zip(factors.par_chunks_exact_mut(NIBBLE_ROWS)).enumerate();
    blocks.for_each_init(CodeScratch::default, |scratch, (number, (block, factors))| {
        let first = number * NIBBLE_ROWS;
        for (lane, row) in (first..rows.n_rows().min(first + NIBBLE_ROWS)).enumerate() {
            factors[lane] = coder.encode_row(rows.row(row), inverse_norms[row], scratch, lane, block);
        }
    });
    Ok(FlatCodes { bytes, factors })
}
