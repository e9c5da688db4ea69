//! Estimates how many groups rows form.
//!
//! Equation: `cosine-silhouette`
//!
//! ```text
//! a_i = mean 1 - x_i · x_j over the others of the group     b_i = least mean 1 - x_i · x_j over the rows of another group
//! s_i = (b_i - a_i) / max(a_i, b_i)                         s_i = 0 for a row alone in its group
//! ```
//!
//! (Rousseeuw 1987, with cosine distances.) A mean of products with unit vectors is the product with their mean. So
//! each row needs only one product per group.

use rayon::prelude::*;
use senv_core::{Rows, Table, kernels};

use super::{
    BLOCK, KMeansParams,
    k_means::centroids,
    nearest,
    units::{Counts, unit_sample},
};
use crate::{
    Result,
    rows::{check_finite, inverse_norm},
};

/// The number of rows on which group counts are tried.
const SAMPLE: usize = 10_000;
/// The largest number tried.
const MOST: usize = 300;
/// The factor from each number tried to the next.
const STEP: f64 = 1.2;

/// A number of groups, and the measure that chose it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct GroupCount {
    /// The number with the highest silhouette; 1 if no two rows differ.
    pub n_groups: usize,
    /// The mean silhouette of these groups, in `[-1, 1]`; near or below 0 if the rows do not form groups.
    pub silhouette: f64,
    /// All numbers tried, in ascending order, with their mean silhouettes.
    pub tried: Vec<(usize, f64)>,
}

/// Suggests how many groups to divide rows into. Tries numbers up to 300 and the square root of the number of rows, and
/// picks the highest mean silhouette on a sample of 10,000 rows. `progress` receives the approximate share that is
/// done.
///
/// ```
/// use senv_core::Table;
/// let row = |i: usize| [[1.0, 0.1, 0.0], [0.0, 1.0, 0.1], [0.1, 0.0, 1.0]][i % 3].map(|x: f32| x + (i % 7) as f32 * 0.01);
/// let rows = Table::from_vec(60, 3, (0..60).flat_map(row).collect())?;
/// assert_eq!(senv_index::group_count(&rows, 1, |_| {})?.n_groups, 3);
/// # Ok::<(), senv_index::Error>(())
/// ```
///
/// # Errors
/// [`Error::NonFinite`](crate::Error::NonFinite) if a value is not finite.
pub fn group_count(rows: &Table, seed: u64, progress: impl FnMut(f64)) -> Result<GroupCount> {
    suggested(rows, Counts::ONCE, seed, progress)
}

/// Does the same as [`group_count`] for rows that occur several times: `counts` has the number of occurrences of each.
///
/// # Errors
/// [`senv_core::Error::ShapeMismatch`] if there is not one count per row; the errors of [`group_count`].
pub fn counted_group_count(rows: &Table, counts: &[u32], seed: u64, progress: impl FnMut(f64)) -> Result<GroupCount> {
    suggested(rows, Counts::new(rows, counts)?, seed, progress)
}

fn suggested(rows: &Table, counts: Counts<'_>, seed: u64, mut progress: impl FnMut(f64)) -> Result<GroupCount> {
    check_finite(rows)?;
    let dim = rows.dim();
    let (units, weights) = unit_sample(rows, counts, SAMPLE, seed, "groups.count");
    let most = MOST.min((rows.n_rows() as f64).sqrt() as usize);
    let mut numbers = vec![2_usize];
    while let Some(&last) = numbers.last().filter(|&&last| last < most) {
        numbers.push(most.min((last + 1).max((last as f64 * STEP) as usize)));
    }
    numbers.retain(|&n| n <= most);
    let all: usize = numbers.iter().sum();
    let (mut tried, mut done) = (Vec::new(), 0);
    for &n_groups in &numbers {
        let (_, found) =
            centroids(&units, &weights, dim, &KMeansParams { seed, ..KMeansParams::new(n_groups) }, 0, |_| {});
        let n_found = found.len() / dim.max(1);
        let groups: Vec<u32> = units
            .par_chunks((BLOCK * dim).max(1))
            .flat_map_iter(|units| nearest(units, &found, dim))
            .map(|near| near.0)
            .collect();
        done += n_groups;
        progress(done as f64 / all as f64);
        // There are fewer distinct rows than groups.
        if n_found < n_groups {
            break;
        }
        tried.push((n_groups, of_units(&units, &weights, dim, &groups, n_found)));
    }
    let best = tried.iter().copied().reduce(|a, b| if b.1 > a.1 { b } else { a });
    let (n_groups, silhouette) = best.unwrap_or((1, 0.0));
    Ok(GroupCount { n_groups, silhouette, tried })
}

/// The mean silhouette over all rows in a group, in `[-1, 1]`; `None` with fewer than two groups.
///
/// ```
/// use senv_core::Table;
/// use senv_index::{KMeansParams, cosine_silhouette, k_means};
/// let rows = Table::from_vec(4, 2, vec![1.0, 0.0, 0.0, 2.0, 2.0, 0.0, 0.0, 3.0])?;
/// let groups = k_means(&rows, &KMeansParams::new(2), |_| {})?;
/// assert_eq!(cosine_silhouette(&rows, &groups.group_of), Some(1.0));
/// # Ok::<(), senv_index::Error>(())
/// ```
#[must_use]
pub fn cosine_silhouette(rows: &Table, group_of: &[Option<u32>]) -> Option<f64> {
    silhouette(rows, Counts::ONCE, group_of)
}

/// Does the same as [`cosine_silhouette`] for rows that occur several times: `counts` has the number of occurrences of
/// each.
///
/// # Errors
/// [`senv_core::Error::ShapeMismatch`] if there is not one count per row.
pub fn counted_silhouette(rows: &Table, counts: &[u32], group_of: &[Option<u32>]) -> Result<Option<f64>> {
    Ok(silhouette(rows, Counts::new(rows, counts)?, group_of))
}

fn silhouette(rows: &Table, counts: Counts<'_>, group_of: &[Option<u32>]) -> Option<f64> {
    let dim = rows.dim();
    let in_groups: Vec<(usize, u32)> =
        group_of.iter().enumerate().filter_map(|(row, group)| group.map(|group| (row, group))).collect();
    let mut names: Vec<u32> = in_groups.iter().map(|&(_, group)| group).collect();
    names.sort_unstable();
    names.dedup();
    let groups: Vec<u32> =
        in_groups.iter().map(|(_, group)| names.partition_point(|name| name < group) as u32).collect();
    let weights: Vec<f64> = in_groups.iter().map(|&(row, _)| counts.of(row)).collect();
    let unit = |i: usize, units: &mut Vec<f32>| {
        let row = rows.row(in_groups[i].0);
        let inverse = inverse_norm(row);
        units.extend(row[..dim].iter().map(|x| x * inverse));
    };
    (names.len() > 1).then(|| mean_silhouette(dim, &weights, &groups, names.len(), unit))
}

fn of_units(units: &[f32], weights: &[f64], dim: usize, groups: &[u32], n_groups: usize) -> f64 {
    mean_silhouette(dim, weights, groups, n_groups, |i, out| out.extend_from_slice(&units[i * dim..][..dim]))
}

/// The mean silhouette of vectors in groups. `unit` appends a vector, which avoids a second copy of all.
fn mean_silhouette(
    dim: usize,
    weights: &[f64],
    groups: &[u32],
    n_groups: usize,
    unit: impl Fn(usize, &mut Vec<f32>) + Sync,
) -> f64 {
    let mut sums = vec![0_f64; n_groups * dim];
    let mut sizes = vec![0_f64; n_groups];
    let mut row = Vec::new();
    for (i, &group) in groups.iter().enumerate() {
        row.clear();
        unit(i, &mut row);
        sizes[group as usize] += weights[i];
        sums[group as usize * dim..][..dim]
            .iter_mut()
            .zip(&row)
            .for_each(|(sum, &x)| *sum += weights[i] * f64::from(x));
    }
    let means: Vec<f32> = sums.iter().enumerate().map(|(i, sum)| (sum / sizes[i / dim].max(1.0)) as f32).collect();
    let of_block = |(units, products): &mut (Vec<f32>, Vec<f32>), block: usize| {
        let block = block * BLOCK..groups.len().min((block + 1) * BLOCK);
        units.clear();
        block.clone().for_each(|i| unit(i, units));
        products.resize(block.len() * n_groups, 0.0);
        kernels::scores(units, block.len(), &means, n_groups, dim, products);
        let of_row = |((products, &own), &weight): ((&[f32], &u32), &f64)| {
            let (own, size) = (own as usize, sizes[own as usize]);
            if size < 2.0 {
                return 0.0;
            }
            let within = 1.0 - (f64::from(products[own]) * size - 1.0) / (size - 1.0);
            let others = products.iter().enumerate().filter(|&(group, _)| group != own && sizes[group] > 0.0);
            let nearest = others.map(|(_, &product)| 1.0 - f64::from(product)).fold(f64::INFINITY, f64::min);
            let larger = within.max(nearest);
            if larger > 1e-6 { weight * (nearest - within) / larger } else { 0.0 }
        };
        let of_block = products.chunks_exact(n_groups).zip(&groups[block.clone()]).zip(&weights[block]);
        of_block.map(of_row).sum::<f64>()
    };
    let blocks = (0..groups.len().div_ceil(BLOCK)).into_par_iter();
    let sums: Vec<f64> = blocks.map_init(|| (Vec::new(), Vec::new()), of_block).collect();
    sums.iter().sum::<f64>() / weights.iter().sum::<f64>().max(1.0)
}
