//! Cells: rows grouped by nearest centroid, so a single query is compared only with the rows of a few cells.
//!
//! Equation: `spherical-k-means`
//!
//! ```text
//! cell(x) = argmax_c x·m_c            m_c = Σ_{cell(x) = c} x / |Σ_{cell(x) = c} x|        |x| = 1
//! ```
//!
//! (Dhillon and Modha 2001.) Rows are assigned by their codes, with the centroids as queries. These sums are of
//! integers, so cells do not depend on the number of threads. Only rounding in the means can depend on the machine. The
//! means are summed in f64 in row order.

use rand::Rng;
use rayon::prelude::*;
use senv_core::{Rows, Table, kernels, rng::stream};

use crate::{
    code_kernels::{self, NIBBLE_ROWS, PLANE_ROWS},
    codes::{Coder, QueryCode},
};

/// Sampled rows per cell for finding the centroids.
const SAMPLE: usize = 40;
/// The number of times the centroids are improved.
const ROUNDS: usize = 8;
/// Blocks whose rows are assigned at the same time.
const BLOCKS: usize = 8;

/// Unit vectors, one per cell, and the cell of each row.
#[derive(Debug)]
pub(crate) struct Cells {
    pub(crate) centroids: Vec<f32>,
    pub(crate) cell_of: Vec<u32>,
}

/// Finds centroids and assigns all rows; rows of norm 0 go to cell 0. `nibbles` has the codes of all rows in blocks of
/// sixteen.
pub(crate) fn find(
    coder: &Coder,
    nibbles: &[u8],
    rows: &Table,
    inverse_norms: &[f32],
    n_cells: usize,
    seed: u64,
) -> Cells {
    let dim = coder.dim();
    let sample = sample(inverse_norms, n_cells.saturating_mul(SAMPLE), seed);
    let block_bytes = nibble_block_bytes(dim);
    // The sample's codes, copied from those of the rows.
    let mut bytes = vec![0; sample.len().div_ceil(NIBBLE_ROWS) * block_bytes];
    let blocks = bytes.par_chunks_exact_mut(block_bytes).zip(sample.par_chunks(NIBBLE_ROWS));
    blocks.for_each(|(block, rows)| {
        for (lane, &row) in rows.iter().enumerate() {
            copy_lane(nibbles, row, block_bytes, block, lane);
        }
    });
    // The sample is in random order.
    let mut centroids = vec![0.0; n_cells * dim];
    for (centroid, &row) in centroids.chunks_exact_mut(dim).zip(sample.iter().cycle()) {
        let unit = rows.row(row as usize).iter().map(|x| x * inverse_norms[row as usize]);
        centroid.iter_mut().zip(unit).for_each(|(c, x)| *c = x);
    }
    for _ in 0..ROUNDS {
        let cell_of = assign(coder, &bytes, sample.len(), &centroids);
        let mut members = vec![Vec::new(); n_cells];
        cell_of.iter().zip(&sample).for_each(|(&cell, &row)| members[cell as usize].push(row as usize));
        centroids.par_chunks_exact_mut(dim).zip(&members).for_each(|(centroid, members)| {
            let mut sum = vec![0_f64; dim];
            for &row in members {
                let inverse = f64::from(inverse_norms[row]);
                sum.iter_mut().zip(rows.row(row)).for_each(|(sum, &x)| *sum += f64::from(x) * inverse);
            }
            let norm = sum.iter().map(|x| x * x).sum::<f64>().sqrt();
            // A cell without rows keeps its centroid.
            if norm > 1e-6 {
                centroid.iter_mut().zip(sum).for_each(|(c, x)| *c = (x / norm) as f32);
            }
        });
    }
    let cell_of = assign(coder, nibbles, rows.n_rows(), &centroids);
    Cells { centroids, cell_of }
}

/// Up to `n` rows that are not zero, in random order.
fn sample(inverse_norms: &[f32], n: usize, seed: u64) -> Vec<u32> {
    let mut rows: Vec<u32> =
        (0..inverse_norms.len() as u32).filter(|&row| inverse_norms[row as usize] != 0.0).collect();
    let mut stream = stream(seed, "index.cells", &[]);
    let n = n.min(rows.len());
    for i in 0..n {
        let left = (rows.len() - i) as u64;
        rows.swap(i, i + ((u128::from(stream.next_u64()) * u128::from(left)) >> 64) as usize);
    }
    rows.truncate(n);
    rows
}

/// The cell of each of the first `n` rows of codes; the first cell wins ties.
fn assign(coder: &Coder, bytes: &[u8], n: usize, centroids: &[f32]) -> Vec<u32> {
    let dim = coder.dim();
    let queries: Vec<QueryCode> = centroids.par_chunks_exact(dim).map(|centroid| coder.query(centroid)).collect();
    let values: Vec<i8> = queries.iter().flat_map(|query| query.nibble_values()).copied().collect();
    let mut cell_of = vec![0; n];
    let step = BLOCKS * NIBBLE_ROWS;
    let block_bytes = nibble_block_bytes(dim);
    let work = cell_of.par_chunks_mut(step).zip(bytes.par_chunks(BLOCKS * block_bytes));
    work.for_each_init(Vec::new, |sums, (cell_of, bytes)| {
        let lanes = bytes.len() / block_bytes * NIBBLE_ROWS;
        sums.resize(lanes * queries.len(), 0);
        code_kernels::nibble_scores(bytes, &values, dim, sums);
        let mut highest = [f32::NEG_INFINITY; BLOCKS * NIBBLE_ROWS];
        let mut cells = [0; BLOCKS * NIBBLE_ROWS];
        for (cell, (query, sums)) in (0_u32..).zip(queries.iter().zip(sums.chunks_exact(lanes))) {
            for ((highest, best), &sum) in highest.iter_mut().zip(&mut cells).zip(sums) {
                // The row's factor is the same for all centroids.
                let score = code_kernels::nibble_estimate(sum, query.offset(), query.scale);
                *best = if score > *highest { cell } else { *best };
                *highest = highest.max(score);
            }
        }
        cell_of.copy_from_slice(&cells[..cell_of.len()]);
    });
    cell_of
}

/// Copies a row's codes to a lane of a block that is zero there.
fn copy_lane(bytes: &[u8], row: u32, block_bytes: usize, block: &mut [u8], lane: usize) {
    let (from, lane_from) = (row as usize / NIBBLE_ROWS * block_bytes, row as usize % NIBBLE_ROWS);
    let steps = bytes[from..from + block_bytes].as_chunks::<64>().0.iter().zip(block.as_chunks_mut::<64>().0);
    for (from, to) in steps {
        to[lane * 4..][..4].copy_from_slice(&from[lane_from * 4..][..4]);
    }
}

/// Bytes in a block of sixteen rows of codes.
pub(crate) fn nibble_block_bytes(dim: usize) -> usize {
    code_kernels::nibble_block_bytes(dim).unwrap_or(usize::MAX)
}

/// The order of rows by cell. Each cell starts a block.
#[derive(Debug)]
pub(crate) struct CellOrder {
    /// The row of each lane; 0 for empty lanes.
    pub(crate) lane_rows: Vec<u32>,
    /// The end of each cell's filled lanes; empty lanes come after them.
    pub(crate) ends: Vec<usize>,
    /// The first block of each cell, then the number of blocks.
    pub(crate) starts: Vec<u32>,
}

/// Orders rows by cell, and by row within each cell.
pub(crate) fn order(cell_of: &[u32], n_cells: usize) -> CellOrder {
    let mut counts = vec![0_u32; n_cells];
    cell_of.iter().for_each(|&cell| counts[cell as usize] += 1);
    let mut starts = vec![0_u32];
    for &count in &counts {
        starts.push(starts[starts.len() - 1] + count.div_ceil(PLANE_ROWS as u32));
    }
    let mut lane_rows = vec![0; starts[n_cells] as usize * PLANE_ROWS];
    let mut ends: Vec<usize> = starts[..n_cells].iter().map(|&start| start as usize * PLANE_ROWS).collect();
    for (row, &cell) in (0_u32..).zip(cell_of) {
        let lane = &mut ends[cell as usize];
        lane_rows[*lane] = row;
        *lane += 1;
    }
    CellOrder { lane_rows, ends, starts }
}

/// The cells ordered by descending product of their centroid with a unit vector.
pub(crate) fn nearest_cells(centroids: &[f32], unit: &[f32]) -> Vec<u32> {
    let dim = unit.len();
    let n = centroids.len() / dim;
    let mut scores = vec![0.0; n];
    kernels::scores(centroids, n, unit, 1, dim, &mut scores);
    // Integer keys sort faster. They order scores descending, then cells ascending.
    let key = |(cell, score): (u64, &f32)| {
        let bits = score.to_bits();
        let rising = if bits >> 31 == 1 { !bits } else { bits | 1 << 31 };
        u64::from(!rising) << 32 | cell
    };
    let mut keys: Vec<u64> = (0..).zip(&scores).map(key).collect();
    keys.sort_unstable();
    keys.into_iter().map(|key| key as u32).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_come_by_falling_product_and_equal_ones_by_number() {
        let centroids = [0.1, -0.5, 0.0, 0.9, -2.0, 0.9, 1e-30, -0.5];
        assert_eq!(nearest_cells(&centroids, &[1.0]), [3, 5, 0, 6, 2, 1, 7, 4]);
        assert_eq!(nearest_cells(&centroids, &[-1.0])[..3], [4, 1, 7]);
    }
}
