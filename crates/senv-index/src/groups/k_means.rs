//! Divides rows into a given number of groups, each around the mean direction of its rows.
//!
//! Equation: `k-means-seeding`
//!
//! ```text
//! P(next centroid = x)  ∝  1 - max_c x · m_c              |x| = |m_c| = 1
//! ```
//!
//! Several rows are drawn with this probability; the next centroid is the one that leaves the least Σ (1 - max_c x ·
//! m_c). See Arthur and Vassilvitskii 2007, section 2.2 and their greedy variant; 1 - x · m is half the squared
//! distance. Then rows are assigned and centroids improved in turn, as in `spherical-k-means`.

use rayon::prelude::*;
use senv_core::{Table, kernels, rng::stream};

use super::{
    BLOCK, Groups, assign_groups, nearest,
    units::{Counts, fraction, unit_sample},
};
use crate::Result;

/// The number of rows on which the centroids are found, unless the groups need more.
const SAMPLE: usize = 50_000;
/// The number of those rows that each group needs.
const SAMPLE_OF_GROUP: usize = 100;
/// Improvement stops once fewer than one in this many rows change groups.
const STILL: usize = 2000;

/// Parameters of [`k_means`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KMeansParams {
    /// The number of groups; fewer if there are fewer distinct rows.
    pub n_groups: usize,
    /// The seed for the sample and the first centroids.
    pub seed: u64,
    /// The number of starts from different first centroids; the best result is kept. `None` chooses by the sampled rows
    /// times the groups: ten up to 5 million, three up to 20 million, else one.
    pub starts: Option<usize>,
    /// The maximum number of times each start improves its centroids. It stops earlier once few rows change groups.
    pub rounds: usize,
}

impl KMeansParams {
    /// `n_groups` groups, with seed 1, an automatic number of starts and at most 100 rounds.
    #[must_use]
    pub fn new(n_groups: usize) -> Self {
        Self { n_groups, seed: 1, starts: None, rounds: 100 }
    }
}

/// Divides rows into groups of similar direction: spherical k-means. Groups are numbered by descending size.
///
/// Centroids are found on 50,000 rows, or 100 per group if that is more; then all rows are assigned. The result depends
/// only on the rows and the parameters, not on the number of threads. Rows of zeros are in no group. `progress`
/// receives the approximate share that is done.
///
/// ```
/// use senv_core::Table;
/// use senv_index::{KMeansParams, k_means};
/// let rows = Table::from_vec(4, 2, vec![1.0, 0.1, 0.0, 2.0, 2.0, 0.1, 3.0, -0.1])?;
/// let groups = k_means(&rows, &KMeansParams::new(2), |_| {})?;
/// assert_eq!(groups.group_of, [Some(0), Some(1), Some(0), Some(0)]);
/// # Ok::<(), senv_index::Error>(())
/// ```
///
/// # Errors
/// [`Error::NonFinite`](crate::Error::NonFinite) if a value is not finite; [`senv_core::Error::InvalidParameter`] if
/// groups, starts or rounds are 0; [`senv_core::Error::TooLarge`] if the centroids do not fit in memory.
pub fn k_means(rows: &Table, params: &KMeansParams, progress: impl FnMut(f64)) -> Result<Groups> {
    divided(rows, Counts::ONCE, params, progress)?.ordered()
}

/// Does the same as [`k_means`] for rows that occur several times: `counts` has the number of occurrences of each. A
/// centroid is the mean direction of all occurrences, and groups are numbered by their number. Each row is compared
/// only once, so equal rows are always in one group.
///
/// ```
/// use senv_core::Table;
/// use senv_index::{KMeansParams, counted_k_means};
/// let rows = Table::from_vec(4, 2, vec![1.0, 0.1, 1.0, -0.1, 1.0, 0.0, 0.0, 2.0])?;
/// let groups = counted_k_means(&rows, &[1, 1, 1, 9], &KMeansParams::new(2), |_| {})?;
/// assert_eq!(groups.group_of, [Some(1), Some(1), Some(1), Some(0)]);
/// # Ok::<(), senv_index::Error>(())
/// ```
///
/// # Errors
/// [`senv_core::Error::ShapeMismatch`] if there is not one count per row; the errors of [`k_means`].
pub fn counted_k_means(
    rows: &Table,
    counts: &[u32],
    params: &KMeansParams,
    progress: impl FnMut(f64),
) -> Result<Groups> {
    let groups = divided(rows, Counts::new(rows, counts)?, params, progress)?;
    let mut sizes = vec![0_usize; groups.centroids.n_rows()];
    let in_groups = groups.group_of.iter().zip(counts).filter_map(|(group, &count)| Some(((*group)?, count)));
    in_groups.for_each(|(group, count)| sizes[group as usize] += count as usize);
    groups.ordered_by(sizes)
}

fn divided(rows: &Table, counts: Counts<'_>, params: &KMeansParams, mut progress: impl FnMut(f64)) -> Result<Groups> {
    let least = [("n_groups", params.n_groups), ("starts", params.starts.unwrap_or(1)), ("rounds", params.rounds)];
    for (name, value) in least {
        if value == 0 {
            let (requirement, got) = ("at least 1", "0".into());
            return Err(senv_core::Error::InvalidParameter { name, requirement, got }.into());
        }
    }
    crate::rows::check_finite(rows)?;
    let dim = rows.dim();
    let n_sample = SAMPLE.max(params.n_groups.saturating_mul(SAMPLE_OF_GROUP));
    let (sample, weights) = unit_sample(rows, counts, n_sample, params.seed, "groups.sample");
    let n_groups = params.n_groups.min(sample.len() / dim.max(1));
    let work = (sample.len() / dim.max(1)).saturating_mul(n_groups);
    let automatic = if work <= 5_000_000 { 10 } else { 1 + 2 * usize::from(work <= 20_000_000) };
    let starts = params.starts.unwrap_or(automatic);
    let mut best: Option<(f64, Vec<f32>)> = None;
    for start in 0..starts {
        let share = |share: f64| (start as f64 + share) / starts as f64 * 0.9;
        let params = KMeansParams { n_groups, ..*params };
        let found = centroids(&sample, &weights, dim, &params, start, |done| progress(share(done)));
        if best.as_ref().is_none_or(|best| found.0 > best.0) {
            best = Some(found);
        }
    }
    let values = best.map_or_else(Vec::new, |(_, values)| values);
    drop(sample);
    let table = Table::from_vec(values.len() / dim.max(1), dim, values)?;
    let groups = assign_groups(rows, table, -1.0)?;
    progress(1.0);
    Ok(groups)
}

/// Centroids for unit vectors with weights, and the weighted sum of the vectors' products with the nearest one.
pub(super) fn centroids(
    units: &[f32],
    weights: &[f64],
    dim: usize,
    &KMeansParams { n_groups, seed, rounds, .. }: &KMeansParams,
    start: usize,
    mut progress: impl FnMut(f64),
) -> (f64, Vec<f32>) {
    let n = units.len() / dim.max(1);
    if n == 0 || n_groups == 0 {
        return (0.0, Vec::new());
    }
    let mut centroids = first_centroids(units, weights, dim, n_groups, seed, start);
    let mut groups: Vec<u32> = Vec::new();
    let mut sum = 0.0;
    for round in 0..rounds {
        let near = all_nearest(units, &centroids, dim);
        let moved = near.iter().zip(&groups).filter(|(near, group)| near.0 != **group).count();
        let is_first = groups.is_empty();
        groups = near.iter().map(|near| near.0).collect();
        sum = near.iter().zip(weights).map(|(near, weight)| weight * f64::from(near.1)).sum();
        progress((round + 1) as f64 / rounds as f64);
        if !is_first && moved <= n / STILL {
            break;
        }
        improve(units, weights, dim, &near, &mut centroids);
    }
    (sum, centroids)
}

/// The nearest centroid to each unit vector.
fn all_nearest(units: &[f32], centroids: &[f32], dim: usize) -> Vec<(u32, f32)> {
    units.par_chunks(BLOCK * dim).flat_map_iter(|units| nearest(units, centroids, dim)).collect()
}

/// Moves each centroid to the mean direction of its vectors. A centroid without vectors moves to the vector farthest
/// from its own centroid.
fn improve(units: &[f32], weights: &[f64], dim: usize, near: &[(u32, f32)], centroids: &mut [f32]) {
    let mut members = vec![Vec::new(); centroids.len() / dim];
    near.iter().enumerate().for_each(|(row, near)| members[near.0 as usize].push(row));
    centroids.par_chunks_exact_mut(dim).zip(&members).for_each(|(centroid, members)| {
        let mut sum = vec![0_f64; dim];
        for &row in members {
            sum.iter_mut().zip(&units[row * dim..][..dim]).for_each(|(sum, &x)| *sum += weights[row] * f64::from(x));
        }
        let norm = sum.iter().map(|x| x * x).sum::<f64>().sqrt();
        // If members cancel out, the centroid stays.
        if norm > 1e-6 {
            centroid.iter_mut().zip(sum).for_each(|(c, x)| *c = (x / norm) as f32);
        }
    });
    let empty: Vec<usize> = (0..members.len()).filter(|&group| members[group].is_empty()).collect();
    if empty.is_empty() {
        return;
    }
    let mut far: Vec<usize> = (0..near.len()).collect();
    far.sort_by(|&a, &b| near[a].1.total_cmp(&near[b].1));
    for (group, row) in empty.into_iter().zip(far) {
        centroids[group * dim..][..dim].copy_from_slice(&units[row * dim..][..dim]);
    }
}

/// Initial centroids, far from each other.
fn first_centroids(units: &[f32], weights: &[f64], dim: usize, n_groups: usize, seed: u64, start: usize) -> Vec<f32> {
    let n = units.len() / dim;
    let mut stream = stream(seed, "groups.first", &[start as u64]);
    let n_trials = 2 + (n_groups as f64).ln() as usize;
    let unit = |row: usize| &units[row * dim..][..dim];
    // 1 minus the highest product so far.
    let mut far = vec![1.0_f32; n];
    let mut centroids = Vec::with_capacity(n_groups * dim);
    for number in 0..n_groups {
        let total: f64 = far.iter().zip(weights).map(|(&far, weight)| weight * f64::from(far)).sum();
        // All vectors are already centroids.
        if far.iter().map(|&far| f64::from(far)).sum::<f64>() <= 1e-5 * n as f64 {
            break;
        }
        let n_trials = if number == 0 { 1 } else { n_trials };
        let trials: Vec<usize> = (0..n_trials).map(|_| drawn(&far, weights, fraction(&mut stream) * total)).collect();
        let trial_units: Vec<f32> = trials.iter().flat_map(|&row| unit(row).iter().copied()).collect();
        // The distance that each trial would leave for every vector.
        let left: Vec<Vec<f32>> = units
            .par_chunks(BLOCK * dim)
            .zip(far.par_chunks(BLOCK))
            .map(|(units, far)| {
                let mut scores = vec![0.0; far.len() * n_trials];
                kernels::scores(units, far.len(), &trial_units, n_trials, dim, &mut scores);
                for (scores, &far) in scores.chunks_exact_mut(n_trials).zip(far) {
                    scores.iter_mut().for_each(|score| *score = far.min((1.0 - *score).max(0.0)));
                }
                scores
            })
            .collect();
        let sum = |trial: usize| -> f64 {
            let left = left.iter().flat_map(|left| left.iter().skip(trial).step_by(n_trials));
            left.zip(weights).map(|(&far, weight)| weight * f64::from(far)).sum()
        };
        let sums: Vec<f64> = (0..n_trials).map(sum).collect();
        let best = (0..n_trials).min_by(|&a, &b| sums[a].total_cmp(&sums[b])).unwrap_or(0);
        far.iter_mut()
            .zip(left.iter().flat_map(|left| left.iter().skip(best).step_by(n_trials)))
            .for_each(|(far, &left)| *far = left);
        centroids.extend_from_slice(unit(trials[best]));
    }
    centroids
}

/// The vector at this position of the running sum.
fn drawn(far: &[f32], weights: &[f64], place: f64) -> usize {
    let mut sum = 0.0;
    let found = far.iter().zip(weights).position(|(&far, weight)| {
        sum += weight * f64::from(far);
        sum > place
    });
    // Rounding can put the position past the end: take the last vector that can be drawn.
    found.or_else(|| far.iter().rposition(|&far| far > 0.0)).unwrap_or(0)
}
