//! Selects a few rows far from each other and close to the rest, as a sample of the data.
//!
//! Equation: `diverse-rows`
//!
//! ```text
//! next = argmax_i  λ x_i · m - (1 - λ) max_{j chosen} x_i · x_j            |x| = 1,  m = Σ x_i / |Σ x_i|
//! ```
//!
//! With λ = 0 each row is the farthest from those already chosen (Gonzalez 1985). With λ > 0 it is also close to the
//! mean of all rows (maximal marginal relevance, Carbonell and Goldstein 1998, with the mean as the query).

use rayon::prelude::*;
use senv_core::{Rows, Table, kernels};

use crate::{
    Result,
    rows::{check_finite, inverse_norm},
};

/// Rows processed together by one thread.
const CHUNK: usize = 4096;

/// The positions of `n` rows, in the order chosen. Each maximizes `typical cos(x, m) - (1 - typical) max cos(x, y)`,
/// where m is the mean of all rows' unit vectors and y an already chosen row; the first row wins ties.
///
/// `typical` is from 0 to 1. At 0 each row is the farthest from all chosen ones; at 1 the rows are those nearest to the
/// mean. The first row is always the nearest to the mean. Rows of zeros are never chosen, nor is a row with a cosine of
/// 1 with a chosen one, so fewer than `n` can be returned. Takes `n` products with every row; the result does not
/// depend on the number of threads. `progress` receives the number of chosen rows.
///
/// ```
/// use senv_core::Table;
/// let rows = Table::from_vec(4, 2, vec![1.0, 0.1, 1.0, 0.2, 0.0, 1.0, 1.0, 0.15])?;
/// assert_eq!(senv_index::diverse_rows(&rows, 2, 0.0, |_| {})?, [1, 2]);
/// # Ok::<(), senv_index::Error>(())
/// ```
///
/// # Errors
/// [`Error::NonFinite`](crate::Error::NonFinite) if a value is not finite; [`senv_core::Error::InvalidParameter`] if
/// `typical` is outside `[0, 1]`.
pub fn diverse_rows(rows: &Table, n: usize, typical: f32, mut progress: impl FnMut(usize)) -> Result<Vec<usize>> {
    if !(0.0..=1.0).contains(&typical) {
        let (name, requirement, got) = ("typical", "from 0 to 1", typical.to_string());
        return Err(senv_core::Error::InvalidParameter { name, requirement, got }.into());
    }
    check_finite(rows)?;
    let inverse: Vec<f32> = rows.iter().map(inverse_norm).collect();
    let dim = rows.dim();
    let mean = mean(rows, &inverse);
    // For each row: its product with the mean, and the highest with a chosen row. Rows that cannot be chosen have a
    // cosine of 1.
    let mut states: Vec<(f32, f32)> = vec![(0.0, f32::NEG_INFINITY); rows.n_rows()];
    let products = |state: &mut [(f32, f32)], unit: &[f32], set: fn(&mut (f32, f32), f32)| {
        state.par_chunks_mut(CHUNK).enumerate().for_each(|(chunk, states)| {
            for (row, state) in (chunk * CHUNK..).zip(states) {
                set(state, kernels::dot(&rows.row(row)[..dim], unit) * inverse[row]);
            }
        });
    };
    products(&mut states, &mean, |state, product| state.0 = product);
    let mut chosen = Vec::new();
    let is_open = |row: usize, highest: f32| inverse[row] != 0.0 && highest < 1.0 - 1e-6;
    while chosen.len() < n {
        let score = |(relevance, highest): (f32, f32)| match highest {
            f32::NEG_INFINITY => relevance,
            highest => typical * relevance - (1.0 - typical) * highest,
        };
        let best = states
            .par_chunks(CHUNK)
            .enumerate()
            .filter_map(|(chunk, states)| {
                let open = (chunk * CHUNK..).zip(states).filter(|&(row, state)| is_open(row, state.1));
                open.map(|(row, &state)| (score(state), row)).reduce(|a, b| if b.0 > a.0 { b } else { a })
            })
            .reduce_with(|a, b| if b.0 > a.0 || b.0 == a.0 && b.1 < a.1 { b } else { a });
        let Some((_, row)) = best else { break };
        chosen.push(row);
        let unit: Vec<f32> = rows.row(row)[..dim].iter().map(|x| x * inverse[row]).collect();
        products(&mut states, &unit, |state, product| state.1 = state.1.max(product));
        states[row].1 = 1.0;
        progress(chosen.len());
    }
    Ok(chosen)
}

/// The mean of the unit vectors, as a unit vector; zeros if they cancel out.
fn mean(rows: &Table, inverse: &[f32]) -> Vec<f32> {
    let mut sum = vec![0_f64; rows.dim()];
    for (row, &inverse) in rows.iter().zip(inverse) {
        sum.iter_mut().zip(row).for_each(|(sum, &x)| *sum += f64::from(x) * f64::from(inverse));
    }
    let norm = sum.iter().map(|x| x * x).sum::<f64>().sqrt();
    sum.iter().map(|x| if norm > 1e-9 { (x / norm) as f32 } else { 0.0 }).collect()
}
