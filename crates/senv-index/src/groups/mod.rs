//! Groups of rows: a given number around centroids, or as many as the data has.

mod communities;
mod count;
mod k_means;
mod units;

pub use self::{
    communities::{communities, counted_communities},
    count::{GroupCount, cosine_silhouette, counted_group_count, counted_silhouette, group_count},
    k_means::{KMeansParams, counted_k_means, k_means},
};

use rayon::prelude::*;
use senv_core::{Rows, Table, kernels};

use crate::{
    Result,
    pairs::EQUAL_COSINE,
    rows::{check_finite, inverse_norm},
};

/// Rows compared with all centroids at the same time.
const BLOCK: usize = 64;
/// Centroids compared with rows at the same time; they stay in the second-level cache.
const CENTROIDS: usize = 512;

/// Rows in groups, each around a centroid.
#[derive(Debug, Clone)]
pub struct Groups {
    /// One unit vector per group.
    pub centroids: Table,
    /// The group of each row, from 0; `None` for a row in no group.
    pub group_of: Vec<Option<u32>>,
    /// The cosine of each row with its group's centroid, in `[-1, 1]`; 0 for a row in no group.
    pub cosines: Vec<f32>,
}

impl Groups {
    /// The number of rows in each group.
    #[must_use]
    pub fn sizes(&self) -> Vec<usize> {
        let mut sizes = vec![0; self.centroids.n_rows()];
        self.group_of.iter().flatten().for_each(|&group| sizes[group as usize] += 1);
        sizes
    }

    /// Numbers the groups by descending size, ties by their first rows.
    fn ordered(self) -> Result<Self> {
        let sizes = self.sizes();
        self.ordered_by(sizes)
    }

    /// Does the same by these sizes.
    fn ordered_by(self, sizes: Vec<usize>) -> Result<Self> {
        let mut first = vec![usize::MAX; sizes.len()];
        for (row, &group) in self.group_of.iter().enumerate().rev() {
            if let Some(group) = group {
                first[group as usize] = row;
            }
        }
        // Drops empty groups.
        let mut order: Vec<usize> = (0..sizes.len()).filter(|&group| sizes[group] > 0).collect();
        order.sort_by_key(|&group| (std::cmp::Reverse(sizes[group]), first[group]));
        let mut number = vec![0; sizes.len()];
        (0..).zip(&order).for_each(|(new, &old)| number[old] = new);
        let dim = self.centroids.dim();
        let values = order.iter().flat_map(|&group| self.centroids.row(group)[..dim].to_vec()).collect();
        Ok(Self {
            centroids: Table::from_vec(order.len(), dim, values)?,
            group_of: self.group_of.iter().map(|group| group.map(|group| number[group as usize])).collect(),
            cosines: self.cosines,
        })
    }
}

/// Assigns each row to the group of the nearest centroid if their cosine is at least `min_cosine`. The first of equally
/// near centroids wins. Centroids are unit vectors. Rows of zeros are in no group.
///
/// ```
/// use senv_core::Table;
/// let rows = Table::from_vec(2, 2, vec![3.0, 0.1, 0.1, -2.0])?;
/// let centroids = Table::from_vec(2, 2, vec![0.0, 1.0, 1.0, 0.0])?;
/// let groups = senv_index::assign_groups(&rows, centroids, 0.5)?;
/// assert_eq!(groups.group_of, [Some(1), None]);
/// # Ok::<(), senv_index::Error>(())
/// ```
///
/// # Errors
/// [`senv_core::Error::ShapeMismatch`] if the centroids have a different dimension;
/// [`Error::NonFinite`](crate::Error::NonFinite) if a value is not finite.
pub fn assign_groups(rows: &Table, centroids: Table, min_cosine: f32) -> Result<Groups> {
    let (n, dim) = (rows.n_rows(), rows.dim());
    if centroids.dim() != dim && centroids.n_rows() > 0 {
        return Err(senv_core::Error::ShapeMismatch { what: "a centroid", expected: dim, got: centroids.dim() }.into());
    }
    check_finite(rows)?;
    let packed: Vec<f32> = centroids.iter().flat_map(|row| row[..dim].to_vec()).collect();
    let nearest: Vec<(u32, f32)> = (0..n.div_ceil(BLOCK))
        .into_par_iter()
        .map_init(Vec::new, |units, block| {
            units.clear();
            let block = block * BLOCK..n.min((block + 1) * BLOCK);
            for row in block.clone() {
                let inverse = inverse_norm(rows.row(row));
                units.extend(rows.row(row)[..dim].iter().map(|x| x * inverse));
            }
            let near = nearest(units, &packed, dim);
            let of_row = |(unit, near): (&[f32], (u32, f32))| {
                if unit.iter().all(|&x| x == 0.0) { (u32::MAX, 0.0) } else { near }
            };
            units.chunks_exact(dim.max(1)).zip(near).map(of_row).collect::<Vec<_>>()
        })
        .flatten_iter()
        .collect();
    let least = min_cosine.min(EQUAL_COSINE);
    let is_in = |&(group, cosine): &(u32, f32)| group != u32::MAX && cosine >= least;
    Ok(Groups {
        group_of: nearest.iter().map(|near| is_in(near).then_some(near.0)).collect(),
        cosines: nearest.iter().map(|near| if is_in(near) { near.1.clamp(-1.0, 1.0) } else { 0.0 }).collect(),
        centroids,
    })
}

/// For each unit vector, the centroid of highest product (the first among equals) and that product.
fn nearest(units: &[f32], centroids: &[f32], dim: usize) -> Vec<(u32, f32)> {
    let n = units.len() / dim.max(1);
    let mut best = vec![(u32::MAX, f32::NEG_INFINITY); n];
    let mut scores = vec![0.0; n * CENTROIDS];
    for (part, centroids) in centroids.chunks(CENTROIDS * dim.max(1)).enumerate() {
        let n_centroids = centroids.len() / dim.max(1);
        let scores = &mut scores[..n * n_centroids];
        kernels::scores(units, n, centroids, n_centroids, dim, scores);
        for (best, scores) in best.iter_mut().zip(scores.chunks_exact(n_centroids)) {
            for (centroid, &score) in ((part * CENTROIDS) as u32..).zip(scores) {
                if score > best.1 {
                    *best = (centroid, score);
                }
            }
        }
    }
    best
}

#[cfg(test)]
mod tests;
