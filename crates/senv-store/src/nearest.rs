//! Exact nearest-neighbour search by cosine: every row is compared, on all cores.

use std::collections::TryReserveError;

use rayon::prelude::*;
use senv_core::{Rows, kernels};

use crate::Result;

/// Rows compared at a time: at dimension 300 they fill a third of an L2 cache of 1 MiB.
const ROWS: usize = 256;
/// Queries compared at a time.
const QUERIES: usize = 64;
/// A vector with a norm below this counts as zero, as in `senv_core::kernels::cosine`.
const TINY: f32 = 1e-12;

/// A row and its cosine with the query, in `[-1, 1]`.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Neighbour {
    /// The row.
    pub row: usize,
    /// Its cosine with the query.
    pub cosine: f32,
}

impl Neighbour {
    /// A row with its cosine.
    #[must_use]
    pub fn new(row: usize, cosine: f32) -> Self {
        Self { row, cosine }
    }

    /// Whether this ranks before `other`: by higher cosine, then by lower row.
    fn is_before(&self, other: &Self) -> bool {
        self.cosine > other.cosine || (self.cosine == other.cosine && self.row < other.row)
    }

    fn order(&self, other: &Self) -> std::cmp::Ordering {
        other.cosine.total_cmp(&self.cosine).then(self.row.cmp(&other.row))
    }
}

/// Rows with their norms, prepared for search.
///
/// Results are bit-identical for any number of threads, and for a query alone or in a batch. Equal cosines are ordered
/// by ascending row. Rows that are zero (norm below 1e-12) or have a NaN or infinite value are never neighbours.
///
/// For n rows of dimension d, building takes O(nd), a query takes O(nd + n log k), and memory is O(n + k) in addition
/// to the rows.
///
/// ```
/// use senv_core::Table;
/// use senv_store::NearestIndex;
/// let table = Table::from_vec(3, 2, vec![1.0, 0.0, 0.0, 2.0, 3.0, 4.0])?;
/// let index = NearestIndex::new(&table);
/// let nearest = index.nearest(&[0.0, 5.0], 2)?;
/// // cos((0, 5), (0, 2)) = 1, cos((0, 5), (3, 4)) = 20 / (5 · 5) = 0.8
/// assert_eq!((nearest[0].row, nearest[0].cosine), (1, 1.0));
/// assert_eq!(nearest[1].row, 2);
/// assert!((nearest[1].cosine - 0.8).abs() < 1e-6);
/// # Ok::<(), senv_store::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct NearestIndex<R> {
    rows: R,
    /// 1 / norm; 0 for a row that is never a neighbour.
    inverse_norms: Vec<f32>,
}

impl<R: Rows> NearestIndex<R> {
    /// Computes the norms of all rows; `rows` can be a table or a reference to one.
    #[must_use]
    pub fn new(rows: R) -> Self {
        let inverse_norms = (0..rows.n_rows())
            .into_par_iter()
            .map(|i| {
                let norm = kernels::norm(rows.row(i));
                if norm.is_finite() && norm >= TINY { 1.0 / norm } else { 0.0 }
            })
            .collect();
        Self { rows, inverse_norms }
    }

    /// The rows.
    #[must_use]
    pub fn rows(&self) -> &R {
        &self.rows
    }

    /// The `k` rows with the highest cosine to the query, nearest first. Fewer if there are fewer rows; none if the
    /// query is zero.
    ///
    /// # Errors
    /// [`senv_core::Error::ShapeMismatch`] if the query has a different dimension;
    /// [`senv_core::Error::InvalidParameter`] if it has a NaN or infinite value.
    pub fn nearest(&self, query: &[f32], k: usize) -> Result<Vec<Neighbour>> {
        self.nearest_where(query, k, |_| true)
    }

    /// Like [`NearestIndex::nearest`], among the rows that `keep` accepts, for example all but the query's own.
    ///
    /// # Errors
    /// The errors of [`NearestIndex::nearest`].
    pub fn nearest_where(
        &self,
        query: &[f32],
        k: usize,
        keep: impl Fn(usize) -> bool + Sync,
    ) -> Result<Vec<Neighbour>> {
        let mut found = self.search(&[query], k, &|_, row| keep(row))?;
        Ok(found.pop().unwrap_or_default())
    }

    /// The `k` nearest rows of each query, in query order. Faster than single queries: each row is fetched from memory
    /// once for 64 queries.
    ///
    /// # Errors
    /// The errors of [`NearestIndex::nearest`], for any of the queries.
    pub fn nearest_batch(&self, queries: &[&[f32]], k: usize) -> Result<Vec<Vec<Neighbour>>> {
        self.nearest_batch_where(queries, k, |_, _| true)
    }

    /// Like [`NearestIndex::nearest_batch`], among the rows for which `keep(query, row)` is true.
    ///
    /// # Errors
    /// The errors of [`NearestIndex::nearest`], for any of the queries.
    pub fn nearest_batch_where(
        &self,
        queries: &[&[f32]],
        k: usize,
        keep: impl Fn(usize, usize) -> bool + Sync,
    ) -> Result<Vec<Vec<Neighbour>>> {
        let mut found = Vec::with_capacity(queries.len());
        for (block, queries) in queries.chunks(QUERIES).enumerate() {
            found.extend(self.search(queries, k, &|query, row| keep(block * QUERIES + query, row))?);
        }
        Ok(found)
    }

    fn search(
        &self,
        queries: &[&[f32]],
        k: usize,
        keep: &(dyn Fn(usize, usize) -> bool + Sync),
    ) -> Result<Vec<Vec<Neighbour>>> {
        let (n, dim, m) = (self.rows.n_rows(), self.rows.dim(), queries.len());
        let mut units = Vec::with_capacity(m * dim);
        let mut is_zero = Vec::with_capacity(m);
        for query in queries {
            let (norm, unit) = unit(query, dim)?;
            is_zero.push(norm < TINY);
            units.extend(unit);
        }
        if dim == 0 || k == 0 || is_zero.iter().all(|&zero| zero) {
            return Ok(vec![Vec::new(); m]);
        }
        let empty = || vec![Best::new(k); m];
        let found = (0..n.div_ceil(ROWS))
            .into_par_iter()
            .fold(
                || (empty(), vec![f32::NEG_INFINITY; m], Vec::new(), vec![0.0; ROWS * m]),
                |(mut best, mut floors, mut copy, mut scores), block| {
                    let rows = block * ROWS..n.min((block + 1) * ROWS);
                    self.score(&units, m, rows.clone(), &mut copy, &mut scores);
                    for (i, row) in rows.enumerate() {
                        let inverse = self.inverse_norms[row];
                        if inverse == 0.0 {
                            continue;
                        }
                        // Most rows are rejected here, for all queries at the same time.
                        let scores = &scores[i * m..(i + 1) * m];
                        for (query, &score) in scores.iter().enumerate() {
                            if score * inverse < floors[query] {
                                continue;
                            }
                            let neighbour = Neighbour { row, cosine: (score * inverse).clamp(-1.0, 1.0) };
                            let best = &mut best[query];
                            if !is_zero[query] && best.wants(&neighbour) && keep(query, row) {
                                best.push(neighbour);
                                floors[query] = best.floor();
                            }
                        }
                    }
                    (best, floors, copy, scores)
                },
            )
            .map(|(best, ..)| best)
            .reduce(empty, |mut all, more| {
                for (all, more) in all.iter_mut().zip(more) {
                    more.heap.into_iter().for_each(|neighbour| {
                        if all.wants(&neighbour) {
                            all.push(neighbour);
                        }
                    });
                }
                all
            });
        Ok(found.into_iter().map(Best::into_sorted).collect())
    }

    /// Scores of these rows with all queries, `m` per row. The kernel is bit-identical for products of any height and
    /// width, so a single query can use the faster kernel.
    fn score(&self, units: &[f32], m: usize, rows: std::ops::Range<usize>, copy: &mut Vec<f32>, scores: &mut [f32]) {
        let (dim, n) = (self.rows.dim(), rows.len());
        if m < 3 {
            for (row, scores) in rows.zip(scores.chunks_exact_mut(m)) {
                kernels::scores(self.rows.row(row), 1, units, m, dim, scores);
            }
            return;
        }
        // Contiguous, because the rows of a table can be padded.
        copy.clear();
        rows.for_each(|row| copy.extend_from_slice(self.rows.row(row)));
        kernels::scores(copy, n, units, m, dim, &mut scores[..n * m]);
    }
}

/// Norm and unit vector of a query; the vector is zero if the norm is.
fn unit(query: &[f32], dim: usize) -> Result<(f32, Vec<f32>)> {
    if query.len() != dim {
        let (expected, got) = (dim, query.len());
        return Err(senv_core::Error::ShapeMismatch { what: "query", expected, got }.into());
    }
    if let Some(x) = query.iter().find(|x| !x.is_finite()) {
        let (requirement, got) = ("finite in every number", x.to_string());
        return Err(senv_core::Error::InvalidParameter { name: "query", requirement, got }.into());
    }
    // In f64, in which no square of an f32 overflows.
    let norm = query.iter().map(|&x| f64::from(x) * f64::from(x)).sum::<f64>().sqrt();
    let factor = if norm < f64::from(TINY) { 0.0 } else { 1.0 / norm };
    Ok((norm as f32, query.iter().map(|&x| (f64::from(x) * factor) as f32).collect()))
}

/// The best `k` so far: a heap with the worst on top.
#[derive(Debug, Clone)]
pub(crate) struct Best {
    k: usize,
    heap: Vec<Neighbour>,
}

impl Best {
    pub(crate) fn new(k: usize) -> Self {
        Self { k, heap: Vec::new() }
    }

    #[inline]
    pub(crate) fn wants(&self, neighbour: &Neighbour) -> bool {
        self.heap.len() < self.k || neighbour.is_before(&self.heap[0])
    }

    /// The cosine that a row must reach to be among the best.
    fn floor(&self) -> f32 {
        if self.heap.len() < self.k { f32::NEG_INFINITY } else { self.heap[0].cosine }
    }

    /// The rows among the best, in no order.
    pub(crate) fn rows(&self) -> impl Iterator<Item = usize> {
        self.heap.iter().map(|neighbour| neighbour.row)
    }

    /// Reserves memory for one more.
    pub(crate) fn try_reserve(&mut self) -> std::result::Result<(), TryReserveError> {
        self.heap.try_reserve(1)
    }

    /// Adds a neighbour that [`Best::wants`] accepted.
    pub(crate) fn push(&mut self, neighbour: Neighbour) {
        let heap = &mut self.heap;
        if heap.len() < self.k {
            heap.push(neighbour);
            let mut i = heap.len() - 1;
            while i > 0 && heap[(i - 1) / 2].is_before(&heap[i]) {
                heap.swap(i, (i - 1) / 2);
                i = (i - 1) / 2;
            }
            return;
        }
        heap[0] = neighbour;
        let mut i = 0;
        loop {
            let children = (2 * i + 1)..heap.len().min(2 * i + 3);
            let Some(worst) = children.reduce(|a, b| if heap[a].is_before(&heap[b]) { b } else { a }) else { break };
            if !heap[i].is_before(&heap[worst]) {
                break;
            }
            heap.swap(i, worst);
            i = worst;
        }
    }

    pub(crate) fn into_sorted(self) -> Vec<Neighbour> {
        let mut sorted = self.heap;
        sorted.sort_unstable_by(Neighbour::order);
        sorted
    }
}
