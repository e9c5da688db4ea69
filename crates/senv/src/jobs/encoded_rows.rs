//! Sentences with their vectors.

use ndarray::ArrayView2;
use senv_core::Coverage;

/// Rows that were encoded.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct EncodedRows<'a> {
    /// Their sentences.
    pub sentences: &'a [&'a str],
    /// How much of each is known.
    pub coverage: &'a [Coverage],
    /// Their vectors, shape `(rows, dim)`.
    pub vectors: ArrayView2<'a, f32>,
}
