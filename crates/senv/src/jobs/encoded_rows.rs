//! Sentences with their vectors.

use ndarray::ArrayView2;
use senv_core::Coverage;

/// Encoded rows.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct EncodedRows<'a> {
    /// The sentences.
    pub sentences: &'a [&'a str],
    /// The coverage of each sentence.
    pub coverage: &'a [Coverage],
    /// The sentence vectors, shape `(rows, dim)`.
    pub vectors: ArrayView2<'a, f32>,
}
