//! The words at the ends of a sentence in the folded form of the linear encoder.
//!
//! Equation: `cnn-folded`
//!
//! ```text
//! (F1)  Q_w = Σ_j W[j] x_w                  L_w,p = −Σ_{j>p} W[j] x_w           R_w,q = −Σ_{j<h−1−q} W[j] x_w
//! (F2)  c = N b + Σ_t Q_{w(t)} + Σ_{p<h−1} L_{w(p),p} + Σ_{q<h−1} R_{w(n−1−q),q}     n: words after padding, n ≥ h
//! ```
//!
//! Offset j of a window lies on word t only if 0 ≤ t − j ≤ n − h: the word at place p from the left is not seen under
//! offsets above p, that at place q from the right not under offsets below h − 1 − q. As n ≥ h no offset is in both sets.
//! Words of the padding are zero and left out of the sums.

use ndarray::{Array2, ArrayView2, s};
use senv_core::Parameters;

use super::{Block, SumPooledCnn};

/// What must be added for the word at one place from one end, for one window.
#[derive(Debug, Clone, Copy)]
pub(super) struct Edge {
    pub(super) block: Block,
    /// Words between it and that end.
    place: usize,
    from_left: bool,
    /// First column in the table of corrections.
    pub(super) column: usize,
}

impl Edge {
    /// The position of its word in a sentence of `padded` words.
    pub(super) fn position(&self, padded: usize) -> usize {
        if self.from_left { self.place } else { padded - 1 - self.place }
    }

    /// The offsets under which that word is not seen.
    fn unseen(&self) -> std::ops::Range<usize> {
        if self.from_left { self.place + 1..self.block.width } else { 0..self.block.width - 1 - self.place }
    }
}

impl SumPooledCnn {
    /// All edges. Those of one word lie side by side.
    pub(super) fn edges(&self) -> Vec<Edge> {
        let mut edges = Vec::new();
        let mut column = 0;
        for from_left in [true, false] {
            for place in 0..self.longest - 1 {
                for &block in self.blocks.iter().filter(|block| place < block.width - 1) {
                    edges.push(Edge { block, place, from_left, column });
                    column += block.n_filters;
                }
            }
        }
        edges
    }

    /// Σ_j W\[j\], shape `(dim, d)`.
    pub(super) fn summed_filters(&self, parameters: &Parameters<f32>) -> Array2<f32> {
        let mut summed = Array2::zeros((self.out_dim(), self.dim));
        for block in &self.blocks {
            let mut rows = summed.slice_mut(s![block.columns(), ..]);
            (0..block.width).for_each(|j| rows += &self.offset(parameters, block, j));
        }
        summed
    }

    /// The filters behind the corrections, a row for each of their columns, d columns.
    pub(super) fn edge_filters(&self, parameters: &Parameters<f32>, edges: &[Edge]) -> Array2<f32> {
        let n_columns = edges.last().map_or(0, |edge| edge.column + edge.block.n_filters);
        let mut filters = Array2::zeros((n_columns, self.dim));
        for edge in edges {
            let mut rows = filters.slice_mut(s![edge.column..edge.column + edge.block.n_filters, ..]);
            edge.unseen().for_each(|j| rows -= &self.offset(parameters, &edge.block, j));
        }
        filters
    }

    /// W\[j\] of a window, shape `(n_filters, d)`.
    fn offset<'p>(&self, parameters: &'p Parameters<f32>, block: &Block, j: usize) -> ArrayView2<'p, f32> {
        parameters[block.filter].view().slice_move(s![.., j * self.dim..(j + 1) * self.dim])
    }
}
