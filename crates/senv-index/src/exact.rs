//! Exact search, which compares every stored row.

use rayon::prelude::*;
use senv_core::kernels;

use crate::{
    best::{Best, Scored},
    rows::{StoredRows, inverse_norm},
    scan::Keep,
};

/// Rows compared at a time.
const ROWS: usize = 256;
/// Below this number of queries, rows are compared in place.
const FEW: usize = 3;
/// The number of rows compared in place at a time, so they stay in the first-level cache until their norms are known.
const FEW_ROWS: usize = 16;

/// For each unit vector, the `k` rows of highest cosine among the first `n`, in order. `units` has all queries,
/// concatenated.
pub(crate) fn nearest(
    rows: &StoredRows,
    n: usize,
    units: &[f32],
    dim: usize,
    k: usize,
    keep: Option<&Keep<'_>>,
) -> Vec<Vec<Scored>> {
    let m = units.len() / dim;
    let n_parts = rayon::current_num_threads();
    let part_rows = n.div_ceil(n_parts).next_multiple_of(ROWS).max(ROWS);
    // A few queries are limited by reading the rows and computing their norms, so the norms are kept.
    let known = if m < FEW { rows.inverse_norms() } else { None };
    let part = |part: usize| {
        let mut best = vec![Best::<Scored>::new(k); m];
        let (mut copy, mut space, mut scores) = (Vec::new(), Vec::new(), vec![0.0; ROWS * m]);
        let mut inverse_norms = [0.0; ROWS];
        let mut found = Vec::new();
        let end = n.min((part + 1) * part_rows);
        for start in (part * part_rows..end).step_by(ROWS) {
            let block = start..end.min(start + ROWS);
            // The kernel is bit-identical for any number of rows, so a few queries need no copy.
            if m < FEW {
                for start in block.clone().step_by(FEW_ROWS) {
                    let few = start..block.end.min(start + FEW_ROWS);
                    let at = start - block.start;
                    let (scores, inverse) = (&mut scores[at * m..(at + few.len()) * m], &mut inverse_norms[at..]);
                    match rows.contiguous(&few) {
                        Some(values) => {
                            kernels::scores(values, few.len(), units, m, dim, scores);
                            match known {
                                Some(known) => inverse[..few.len()].copy_from_slice(&known[few]),
                                None => {
                                    values.chunks_exact(dim).zip(inverse).for_each(|(row, x)| *x = inverse_norm(row))
                                }
                            }
                        }
                        None => {
                            for ((row, scores), inverse) in few.zip(scores.chunks_exact_mut(m)).zip(inverse) {
                                let row = rows.row(row, &mut space);
                                *inverse = inverse_norm(row);
                                kernels::scores(row, 1, units, m, dim, scores);
                            }
                        }
                    }
                }
                if known.is_none() {
                    found.extend_from_slice(&inverse_norms[..block.len()]);
                }
            } else {
                copy.clear();
                for (row, inverse) in block.clone().zip(&mut inverse_norms) {
                    let row = rows.row(row, &mut space);
                    *inverse = inverse_norm(row);
                    copy.extend_from_slice(row);
                }
                kernels::scores(&copy, block.len(), units, m, dim, &mut scores[..block.len() * m]);
            }
            for ((row, scores), inverse) in block.zip(scores.chunks_exact(m)).zip(inverse_norms) {
                if inverse == 0.0 {
                    continue;
                }
                for (q, &score) in scores.iter().enumerate() {
                    if score * inverse < best[q].floor() {
                        continue;
                    }
                    let scored = Scored { score: cosine(score, inverse), row: row as u32 };
                    if best[q].wants(&scored) && keep.is_none_or(|keep| keep(q, row)) {
                        best[q].push(scored);
                    }
                }
            }
        }
        (best, found)
    };
    let parts: (Vec<Vec<Best<Scored>>>, Vec<Vec<f32>>) = (0..n.div_ceil(part_rows)).into_par_iter().map(part).unzip();
    let (parts, found) = parts;
    if m < FEW && known.is_none() {
        rows.keep_inverse_norms(n, found);
    }
    let merge = |a: Vec<Best<Scored>>, b: Vec<Best<Scored>>| a.into_iter().zip(b).map(|(a, b)| a.merge(b)).collect();
    let best = parts.into_iter().reduce(merge).unwrap_or_else(|| vec![Best::new(k); m]);
    best.into_iter().map(Best::into_sorted).collect()
}

/// The cosine of a row, from its product with a unit vector.
#[inline]
pub(crate) fn cosine(product: f32, inverse_norm: f32) -> f32 {
    (product * inverse_norm).clamp(-1.0, 1.0)
}

/// The cosine of row `i` with a unit vector, bit-identical to [`nearest`]; `None` for a row that counts as zero.
pub(crate) fn cosine_of(rows: &StoredRows, i: usize, unit: &[f32], space: &mut Vec<f32>) -> Option<f32> {
    let row = rows.row(i, space);
    let inverse = inverse_norm(row);
    let mut product = [0.0];
    kernels::scores(row, 1, unit, 1, unit.len(), &mut product);
    (inverse != 0.0).then(|| cosine(product[0], inverse))
}
