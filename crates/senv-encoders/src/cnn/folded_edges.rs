//! Corrections for the words at the ends of a sentence, for the folded linear encoder.
//!
//! Equation: `cnn-folded`
//!
//! ```text
//! (F1)  Q_w = Σ_j W[j] x_w + b              L_w,p = −Σ_{j>p} W[j] x_w − b           R_w,q = −Σ_{j<h−1−q} W[j] x_w
//! (F2)  c = Σ_t Q_{w(t)} + Σ_{p<h−1} L_{w(p),p} + Σ_{q<h−1} R_{w(n−1−q),q}          n ≥ h words
//! ```
//!
//! Offset j of a window covers word t only if 0 ≤ t − j ≤ n − h. So no window covers the word at position p from the
//! left at offsets above p. Likewise, none covers the word at position q from the right at offsets below h − 1 − q. As
//! n ≥ h, no offset is in both sets. Of n biases, h − 1 are subtracted, which leaves one per window. In a padded
//! sentence n includes the padding, whose words are zero and left out of the sums; the biases are then counted
//! separately.

use ndarray::{Array2, ArrayView2, s};
use senv_core::{arrays::Parameters, kernels};

use super::{Block, SumPooledCnn};

/// The table of L and R: a row for each word and position, with positions from the left before those from the right. A
/// row has n_filters columns for each window wider than a word.
#[derive(Debug, Clone)]
pub(super) struct Edges {
    /// These windows, with the first column of each.
    blocks: Vec<(Block, usize)>,
    /// The number of positions from one end: the width of the widest window minus one.
    n_left: usize,
}

impl Edges {
    pub(super) fn new(cnn: &SumPooledCnn) -> Self {
        let (mut blocks, mut column) = (Vec::new(), 0);
        for &block in cnn.blocks.iter().filter(|block| block.width > 1) {
            blocks.push((block, column));
            column += block.n_filters;
        }
        Self { blocks, n_left: cnn.longest - 1 }
    }

    /// The number of rows per word.
    pub(super) fn n_places(&self) -> usize {
        2 * self.n_left
    }

    /// The number of columns.
    pub(super) fn width(&self) -> usize {
        self.blocks.last().map_or(0, |(block, column)| column + block.n_filters)
    }

    /// The filters of L and R, for rows with a stride of `stride` values: filters, shape `(n_places * stride, d)`, and
    /// the signed biases. A window that is too narrow for a position has zeros there.
    pub(super) fn filters(
        &self,
        cnn: &SumPooledCnn,
        parameters: &Parameters<f32>,
        stride: usize,
    ) -> (Array2<f32>, Vec<f32>) {
        let mut filters = Array2::zeros((self.n_places() * stride, cnn.dim));
        let mut biases = vec![0.0; self.n_places() * stride];
        for (block, column) in &self.blocks {
            for place in 0..block.width - 1 {
                let left = place * stride + column;
                let mut rows = filters.slice_mut(s![left..left + block.n_filters, ..]);
                (place + 1..block.width).for_each(|j| rows -= &cnn.offset(parameters, block, j));
                let bias = parameters[block.filter + 1].values();
                kernels::axpy(-1.0, bias, &mut biases[left..left + block.n_filters]);
                let right = (self.n_left + place) * stride + column;
                let mut rows = filters.slice_mut(s![right..right + block.n_filters, ..]);
                (0..block.width - 1 - place).for_each(|j| rows -= &cnn.offset(parameters, block, j));
            }
        }
        (filters, biases)
    }

    /// The rows for a sentence that needs no padding, each as the position of its word and the position of its row.
    pub(super) fn places(&self, n: usize) -> impl Iterator<Item = (usize, usize)> {
        let n_left = self.n_left;
        (0..n_left).map(|p| (p, p)).chain((0..n_left).map(move |q| (n - 1 - q, n_left + q)))
    }

    /// The rows for a single window, in a sentence of `padded` words.
    pub(super) fn places_of(&self, block: &Block, padded: usize) -> impl Iterator<Item = (usize, usize)> {
        let (n_left, edge) = (self.n_left, block.width - 1);
        (0..edge).map(|p| (p, p)).chain((0..edge).map(move |q| (padded - 1 - q, n_left + q)))
    }

    /// The windows wider than a word, with their columns in a row.
    pub(super) fn blocks(&self) -> impl Iterator<Item = (&Block, std::ops::Range<usize>)> {
        self.blocks.iter().map(|(block, column)| (block, *column..column + block.n_filters))
    }
}

impl SumPooledCnn {
    /// Σ_j W\[j\], shape `(dim, d)`.
    pub(super) fn summed_filters(&self, parameters: &Parameters<f32>) -> Array2<f32> {
        let mut summed = Array2::zeros((self.out_dim(), self.dim));
        for block in &self.blocks {
            let mut rows = summed.slice_mut(s![block.columns(), ..]);
            (0..block.width).for_each(|j| rows += &self.offset(parameters, block, j));
        }
        summed
    }

    /// W\[j\] of a window, shape `(n_filters, d)`.
    fn offset<'p>(&self, parameters: &'p Parameters<f32>, block: &Block, j: usize) -> ArrayView2<'p, f32> {
        parameters[block.filter].view().slice_move(s![.., j * self.dim..(j + 1) * self.dim])
    }
}
