//! What every encoder can do.

use ndarray::{Array2, ArrayView2, ArrayViewMut2};
use senv_core::{Error, Float, Parameters, Result, Stream, TokenBatch};

/// From a batch of sentences and the vectors of its words to a vector a sentence, and back.
///
/// | name | meaning | shape |
/// | --- | --- | --- |
/// | `words` | vectors of the distinct tokens of the batch, in the order of [`TokenBatch::distinct`] | `(n_distinct, d)` |
/// | `out` | sentence vectors, in the order of the batch | `(n_sentences, dim)` |
///
/// A sentence without words has the zero vector, and no gradient comes from it. An encoder holds its form alone; what it
/// learns are [`Parameters`], which are passed in.
pub trait Encoder<F: Float> {
    /// What [`backward`](Encoder::backward) needs from [`forward`](Encoder::forward).
    type Saved;

    /// Numbers in a sentence vector.
    #[must_use]
    fn dim(&self) -> usize;

    /// The parameters before training; none for an encoder that only adds words up.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] or [`Error::TooLarge`] if the form makes no sense.
    fn init(&self, rng: &mut Stream) -> Result<Parameters<F>>;

    /// The sentence vectors, and what [`backward`](Encoder::backward) needs.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] if words or parameters do not fit the encoder or the batch; [`Error::TooLarge`] if the
    /// result does not fit into memory.
    fn forward(
        &self,
        parameters: &Parameters<F>,
        batch: &TokenBatch,
        words: ArrayView2<'_, F>,
    ) -> Result<(Array2<F>, Self::Saved)>;

    /// Adds to `d_words` and to `d_parameters` the gradients of a loss, given `d_out`, its gradient with respect to the
    /// sentence vectors. `parameters`, `batch` and `words` are those of the forward pass. Without `d_words` the work for them
    /// is saved: for words that stay as they are.
    ///
    /// # Errors
    /// As for [`forward`](Encoder::forward); also if the gradients have other shapes than what they are gradients of, or
    /// `saved` does not fit: [`Error::ShapeMismatch`], or [`Error::InvalidParameter`] where all sizes agree. A state saved
    /// for another batch of the same form is not recognized.
    #[allow(clippy::too_many_arguments)]
    fn backward(
        &self,
        parameters: &Parameters<F>,
        batch: &TokenBatch,
        words: ArrayView2<'_, F>,
        saved: &Self::Saved,
        d_out: ArrayView2<'_, F>,
        d_words: Option<ArrayViewMut2<'_, F>>,
        d_parameters: &mut Parameters<F>,
    ) -> Result<()>;
}

/// Refuses two sizes that must agree and do not.
pub(crate) fn check_size(what: &'static str, expected: usize, got: usize) -> Result<()> {
    if expected == got { Ok(()) } else { Err(Error::ShapeMismatch { what, expected, got }) }
}

/// Refuses words that are not those of the batch, of `dim` values each.
pub(crate) fn check_words<F: Float>(batch: &TokenBatch, dim: usize, words: ArrayView2<'_, F>) -> Result<()> {
    check_size("vectors of the distinct words, in rows,", batch.distinct().len(), words.nrows())?;
    check_size("vectors of the distinct words, in columns,", dim, words.ncols())
}

/// Refuses gradients that are not of the shapes of what they are the gradients of.
pub(crate) fn check_gradients<F: Float>(
    batch: &TokenBatch,
    dim: usize,
    d_out: ArrayView2<'_, F>,
    words: ArrayView2<'_, F>,
    d_words: Option<&ArrayViewMut2<'_, F>>,
) -> Result<()> {
    check_size("gradient of the sentence vectors, in rows,", batch.len(), d_out.nrows())?;
    check_size("gradient of the sentence vectors, in columns,", dim, d_out.ncols())?;
    let Some(d_words) = d_words else { return Ok(()) };
    check_size("gradient of the words, in rows,", words.nrows(), d_words.nrows())?;
    check_size("gradient of the words, in columns,", words.ncols(), d_words.ncols())
}
