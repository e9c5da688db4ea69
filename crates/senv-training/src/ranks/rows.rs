//! Combines rows of a table that every rank has changed.
//!
//! Equation: `adaptive-sum`
//!
//! ```text
//! (F1)  d_r = x_r − x                                                        a row that was x on all ranks and is x_r on rank r
//! (F2)  a ⊕ b = (1 − a·b / (2 |a|²)) a + (1 − a·b / (2 |b|²)) b              1 for the weight of a move that is 0
//! (F3)  x ← x + ((d_0 ⊕ d_1) ⊕ (d_2 ⊕ d_3)) ⊕ ((d_4 ⊕ d_5) ⊕ …)              on all ranks
//! ```
//!
//! Changes in one direction give their mean, and orthogonal changes their sum, as if one rank had made them one after
//! another. This is S. Maleki, M. Musuvathi, T. Mytkowicz and others, "Scaling Distributed Training with Adaptive
//! Summation", MLSys 2021, applied to each row separately. The mean by itself loses most of what one rank has learned
//! about a rare word, and the sum overshoots for frequent words.
//!
//! The rows are divided among the ranks in stretches. Every rank sends each stretch to its owner; the owner computes
//! (F3) in f64 and sends the result to all. So the bits depend only on the number of ranks. They depend neither on
//! which rank is first nor on the order that a message library prefers. A rank sends and receives 2 (R − 1) / R times
//! the rows, as in a ring.

use super::{Reduce, partners};
use senv_base::Result;
use senv_kernels::Table;

/// The maximum number of values in a stretch. It bounds the memory that a rank needs in addition to its tables: 4 MiB
/// per rank.
const STRETCH: usize = 1 << 20;

/// Computes (F3) for the first `n_rows` rows of a table, or all if there are fewer. `before` contains their old values,
/// equal on every rank. Both tables contain the result afterwards. Returns the number of bytes that this rank sent.
///
/// # Errors
/// [`Error::Rank`](senv_base::Error::Rank) if another rank has ended.
///
/// # Panics
/// If the tables have different shapes.
pub fn combine_rows(ranks: &dyn Reduce, table: &mut Table, before: &mut Table, n_rows: usize) -> Result<u64> {
    assert_eq!((before.n_rows(), before.stride()), (table.n_rows(), table.stride()), "shapes of the tables");
    let (n_ranks, stride) = (ranks.n_ranks(), table.stride().max(1));
    if n_ranks == 1 {
        return Ok(0);
    }
    let n_rows = n_rows.min(table.n_rows());
    let at_a_time = (STRETCH / stride).max(1) * n_ranks;
    let (mut sent, mut received) = (0, Vec::new());
    for first in (0..n_rows).step_by(at_a_time) {
        let part = first * stride..n_rows.min(first + at_a_time) * stride;
        let (values, before) = (&mut table.values_mut()[part.clone()], &mut before.values_mut()[part]);
        sent += combine_part(ranks, values, before, stride, &mut received)?;
        before.copy_from_slice(values);
    }
    Ok(sent)
}

/// Computes (F3) for rows of which each rank owns a stretch.
fn combine_part(
    ranks: &dyn Reduce,
    values: &mut [f32],
    before: &[f32],
    stride: usize,
    received: &mut Vec<f32>,
) -> Result<u64> {
    let (n_ranks, n_rows) = (ranks.n_ranks(), values.len() / stride);
    let start = |rank: usize| n_rows * rank / n_ranks * stride;
    let stretch = |rank: usize| start(rank)..start(rank + 1);
    let own = stretch(ranks.rank());
    let n = own.len();
    let mut sent = 0;
    received.resize(n * n_ranks, 0.0);
    for (to, from) in partners(ranks) {
        let out = bytemuck::cast_slice(&values[stretch(to)]);
        sent += out.len() as u64;
        ranks.exchange(to, out, from, bytemuck::cast_slice_mut(&mut received[from * n..][..n]))?;
    }
    received[ranks.rank() * n..][..n].copy_from_slice(&values[own.clone()]);

    let mut moves = vec![vec![0.0f64; stride]; n_ranks];
    for i in (0..n).step_by(stride) {
        let before = &before[own.start + i..][..stride];
        for (moved, of_rank) in moves.iter_mut().zip(received.chunks_exact(n)) {
            let row = of_rank[i..][..stride].iter().zip(before);
            moved.iter_mut().zip(row).for_each(|(d, (&x, &b))| *d = f64::from(x) - f64::from(b));
        }
        let row = values[own.start + i..][..stride].iter_mut().zip(before);
        row.zip(adaptive_sum(&mut moves)).for_each(|((x, &b), &d)| *x = (f64::from(b) + d) as f32);
    }

    let out = values[own].to_vec();
    let out: &[u8] = bytemuck::cast_slice(&out);
    for (to, from) in partners(ranks) {
        sent += out.len() as u64;
        ranks.exchange(to, out, from, bytemuck::cast_slice_mut(&mut values[stretch(from)]))?;
    }
    Ok(sent)
}

/// Computes (F2) for neighbors, then for neighboring results, and so on. The final result is in the first element.
pub(super) fn adaptive_sum(moves: &mut [Vec<f64>]) -> &[f64] {
    let mut apart = 1;
    while apart < moves.len() {
        for i in (0..moves.len() - apart).step_by(2 * apart) {
            let (left, right) = moves.split_at_mut(i + apart);
            let (a, b) = (&mut left[i], &right[0]);
            let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
            let ab = dot(a, b);
            let weight = |square: f64| if square > 0.0 { 1.0 - ab / (2.0 * square) } else { 1.0 };
            let (of_a, of_b) = (weight(dot(a, a)), weight(dot(b, b)));
            a.iter_mut().zip(b).for_each(|(a, &b)| *a = of_a * *a + of_b * b);
        }
        apart *= 2;
    }
    &moves[0]
}
