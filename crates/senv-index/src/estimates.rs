//! Estimates of the cosines of all rows with a query, by their codes (`nibble-code`).

use rayon::prelude::*;

use crate::{
    Result,
    code_kernels::{self, PLANE_ROWS},
    index::VectorIndex,
    planes::{block_bytes, low_bytes},
};

/// Blocks of top bits, and rows, that a thread takes at a time.
const BLOCKS: usize = 64;
const ROWS: usize = BLOCKS * PLANE_ROWS;

impl VectorIndex {
    /// Writes an estimate of the cosine of each row with a unit vector, within `[-1, 1]`; 0 for a row that is never
    /// found.
    pub(crate) fn estimate(&self, unit: &[f32], out: &mut [f32]) -> Result<()> {
        let query = self.coder.query(unit);
        let (dim, planes) = (self.dim(), &self.planes);
        let mut sums = vec![0_i32; planes.n_blocks() * PLANE_ROWS];
        sums.par_chunks_mut(ROWS).enumerate().try_for_each(|(number, sums)| {
            let blocks = number * BLOCKS..number * BLOCKS + sums.len() / PLANE_ROWS;
            if let Some(checks) = &self.checks {
                checks.blocks(blocks.clone(), block_bytes(dim))?;
            }
            let bytes = &planes.top[blocks.start * block_bytes(dim)..blocks.end * block_bytes(dim)];
            code_kernels::top_scores(bytes, &[&query.planes], sums);
            Ok::<_, crate::Error>(())
        })?;
        if let Some(cells) = &self.cells {
            // From the order of cells to that of rows, so that the lower bits are read in order.
            let mut of_rows = vec![0; self.len()];
            let lanes = cells.lane_rows.as_slice().iter().zip(planes.top_factors.as_slice());
            for (sum, (&row, &factor)) in sums.iter().zip(lanes) {
                match of_rows.get_mut(row as usize) {
                    Some(of_row) if factor != 0 => *of_row = *sum,
                    None if factor != 0 => {
                        if let Some(checks) = &self.checks {
                            return Err(checks.no_such_row(row as usize, self.len()));
                        }
                    }
                    _ => {}
                }
            }
            sums = of_rows;
        }
        out.par_chunks_mut(ROWS).zip(sums.par_chunks(ROWS)).enumerate().try_for_each(|(number, (out, sums))| {
            let rows = number * ROWS..number * ROWS + out.len();
            if let Some(checks) = &self.checks {
                checks.factors.check(rows.start * 2..rows.end * 2)?;
                checks.low.check(rows.start * low_bytes(dim)..rows.end * low_bytes(dim))?;
            }
            let numbers: Vec<u32> = (rows.start as u32..rows.end as u32).collect();
            let mut low = vec![0; out.len()];
            code_kernels::low_scores(&planes.low, &numbers, &query.planes, &mut low);
            let factors = &planes.factors.as_slice()[rows];
            for (((out, top), low), &factor) in out.iter_mut().zip(sums).zip(low).zip(factors) {
                let estimate = query.scale * code_kernels::plane_estimate(8 * top + low, query.offset(), factor);
                // A damaged file can have factors that are not finite.
                *out = if factor != 0 && estimate.is_finite() { estimate.clamp(-1.0, 1.0) } else { 0.0 };
            }
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use rand::Rng;
    use senv_core::{Rows, Table, kernels, rng::stream};

    use super::*;
    use crate::{CellCount, IndexParams};

    #[test]
    fn every_row_has_an_estimate_near_its_cosine_with_and_without_cells() {
        let (n, dim) = (5000, 70);
        let mut stream = stream(5, "test", &[]);
        let mut value = || (0..4).map(|_| (stream.next_u64() >> 40) as f32 / (1 << 24) as f32 - 0.5).sum::<f32>();
        let mut values: Vec<f32> = (0..n * dim).map(|_| value()).collect();
        values[3 * dim..4 * dim].fill(0.0);
        let table = Table::from_vec(n, dim, values).unwrap();
        let mut unit = table.row(17).to_vec();
        kernels::l2_normalize(&mut unit);
        for cells in [CellCount::Exactly(0), CellCount::Exactly(20)] {
            let index = VectorIndex::build(table.clone(), &IndexParams { cells, ..Default::default() }).unwrap();
            let mut estimates = vec![9.0; n];
            index.estimate(&unit, &mut estimates).unwrap();
            let mut squares = 0.0;
            for (row, &estimate) in estimates.iter().enumerate() {
                squares += f64::from(estimate - kernels::cosine(table.row(row), &unit)).powi(2);
            }
            let rmse = (squares / n as f64).sqrt();
            assert!(rmse < 0.13 / (dim as f64).sqrt(), "{rmse}");
            assert_eq!(estimates[3], 0.0);
            assert!(estimates[17] > 0.99);
        }
    }
}
