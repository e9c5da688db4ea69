//! Exact search: every kept row is compared.

use rayon::prelude::*;
use senv_core::kernels;

use crate::{
    best::{Best, Scored},
    rows::StoredRows,
    scan::Keep,
};

/// Rows compared at a time.
const ROWS: usize = 256;
/// Fewer queries than these are compared with rows one by one.
const FEW: usize = 3;

/// The `k` rows of highest cosine with each of the unit vectors, in order. `units` are all queries, one after another.
pub(crate) fn nearest(
    rows: &StoredRows,
    inverse_norms: &[f32],
    units: &[f32],
    dim: usize,
    k: usize,
    keep: &Keep<'_>,
) -> Vec<Vec<Scored>> {
    let (n, m) = (inverse_norms.len(), units.len() / dim);
    let n_parts = rayon::current_num_threads();
    let part_rows = n.div_ceil(n_parts).next_multiple_of(ROWS).max(ROWS);
    let part = |part: usize| {
        let mut best = vec![Best::new(k); m];
        let (mut copy, mut space, mut scores) = (Vec::new(), Vec::new(), vec![0.0; ROWS * m]);
        let end = n.min((part + 1) * part_rows);
        for start in (part * part_rows..end).step_by(ROWS) {
            let block = start..end.min(start + ROWS);
            // The kernel is bit-identical in products of any height, so a few queries need no copy of the rows.
            if m < FEW {
                for (row, scores) in block.clone().zip(scores.chunks_exact_mut(m)) {
                    kernels::scores(rows.row(row, &mut space), 1, units, m, dim, scores);
                }
            } else {
                copy.clear();
                block.clone().for_each(|row| copy.extend_from_slice(rows.row(row, &mut space)));
                kernels::scores(&copy, block.len(), units, m, dim, &mut scores[..block.len() * m]);
            }
            for (row, scores) in block.zip(scores.chunks_exact(m)) {
                let inverse = inverse_norms[row];
                if inverse == 0.0 {
                    continue;
                }
                for (q, &score) in scores.iter().enumerate() {
                    if score * inverse < best[q].floor() {
                        continue;
                    }
                    let scored = Scored { score: cosine(score, inverse), row: row as u32 };
                    if best[q].wants(&scored) && keep(q, row) {
                        best[q].push(scored);
                    }
                }
            }
        }
        best
    };
    let parts: Vec<Vec<Best>> = (0..n.div_ceil(part_rows)).into_par_iter().map(part).collect();
    let merge = |a: Vec<Best>, b: Vec<Best>| a.into_iter().zip(b).map(|(a, b)| a.merge(b)).collect();
    let best = parts.into_iter().reduce(merge).unwrap_or_else(|| vec![Best::new(k); m]);
    best.into_iter().map(Best::into_sorted).collect()
}

/// The cosine of a row, given its product with a unit vector.
#[inline]
pub(crate) fn cosine(product: f32, inverse_norm: f32) -> f32 {
    (product * inverse_norm).clamp(-1.0, 1.0)
}

/// The cosine of row `i` with a unit vector, of the same bits as in [`nearest`].
pub(crate) fn cosine_of(rows: &StoredRows, inverse_norms: &[f32], i: usize, unit: &[f32], space: &mut Vec<f32>) -> f32 {
    let mut product = [0.0];
    kernels::scores(rows.row(i, space), 1, unit, 1, unit.len(), &mut product);
    cosine(product[0], inverse_norms[i])
}
