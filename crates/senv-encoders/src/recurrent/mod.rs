//! Code shared by recurrent networks with any cell: the order of a batch, the products of its inputs, directions and
//! layers, and decoders.

mod cell;
mod decoder;
#[cfg(test)]
pub(crate) mod decoder_testing;
mod matrix;
pub(crate) mod pool;
mod projections;
mod stack;
mod steps;

use ndarray::{ArrayView2, ArrayViewMut2};

pub(crate) use cell::{CellInput, InputGradients, RecurrentCell, Upstream};
pub(crate) use decoder::{CoreSaved, DecoderCore, decoder_over_core};
pub(crate) use matrix::Recurrent;
pub use pool::StatePooling;
pub(crate) use projections::{project, projection_gradients, sentence_sums};
pub use stack::RecurrentTopology;
pub(crate) use stack::{Stack, StackSaved};
pub(crate) use steps::Steps;

/// The minimum number of rows per thread.
pub(crate) const ROWS: usize = 8;

/// A matrix over `values`, whose number matches the shape.
pub(crate) fn view<F>(values: &[F], rows: usize, columns: usize) -> ArrayView2<'_, F> {
    ArrayView2::from_shape((rows, columns), values).unwrap_or_else(|_| unreachable!("as long as its shape"))
}

/// A mutable matrix over `values`.
pub(crate) fn view_mut<F>(values: &mut [F], rows: usize, columns: usize) -> ArrayViewMut2<'_, F> {
    ArrayViewMut2::from_shape((rows, columns), values).unwrap_or_else(|_| unreachable!("as long as its shape"))
}
