//! The trait of all encoders.

use ndarray::{Array2, ArrayView2, ArrayViewMut2};
use senv_core::{
    Error, Result,
    arrays::{Float, Parameters, TokenBatch},
    rng::Stream,
};

/// Encodes a batch of sentences from the vectors of their words, and computes the backward pass.
///
/// | name | meaning | shape |
/// | --- | --- | --- |
/// | `words` | vectors of the distinct tokens of the batch, in the order of [`TokenBatch::distinct`] | `(n_distinct, d)` |
/// | `out` | sentence vectors, in the order of the batch | `(n_sentences, dim)` |
///
/// A sentence without words has the zero vector and no gradient. An encoder contains only sizes and options; the
/// trained [`Parameters`] are passed in.
pub trait Encoder<F: Float> {
    /// The saved state that [`backward`](Encoder::backward) needs from [`forward`](Encoder::forward).
    type Saved;

    /// The sentence dimension.
    #[must_use]
    fn dim(&self) -> usize;

    /// The initial parameters; none for an encoder that only pools word vectors.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] or [`Error::TooLarge`] if a size is invalid.
    fn init(&self, rng: &mut Stream) -> Result<Parameters<F>>;

    /// The sentence vectors, and the saved state for [`backward`](Encoder::backward).
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] if words or parameters do not match the encoder or the batch; [`Error::TooLarge`] if
    /// the result does not fit in memory.
    fn forward(
        &self,
        parameters: &Parameters<F>,
        batch: &TokenBatch,
        words: ArrayView2<'_, F>,
    ) -> Result<(Array2<F>, Self::Saved)>;

    /// Adds the gradients of a loss to `d_words` and `d_parameters`, given `d_out`, its gradient with respect to the
    /// sentence vectors. `parameters`, `batch` and `words` are those of the forward pass. For frozen word vectors, omit
    /// `d_words`; their gradients are then not computed.
    ///
    /// # Errors
    /// The errors of [`forward`](Encoder::forward), also if a gradient differs in shape from its parameter. If `saved`
    /// does not match, [`Error::ShapeMismatch`], or [`Error::InvalidParameter`] if all sizes agree. A state saved for
    /// another batch of the same shapes is not detected.
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

/// The passes of an encoder, for any precision; [`encoder_of_passes`] turns them into an [`Encoder`].
pub(crate) trait Passes {
    type Saved<F: Float>;

    fn dim(&self) -> usize;

    fn init<F: Float>(&self, rng: &mut Stream) -> Result<Parameters<F>>;

    fn forward<F: Float>(
        &self,
        parameters: &Parameters<F>,
        batch: &TokenBatch,
        words: ArrayView2<'_, F>,
    ) -> Result<(Array2<F>, Self::Saved<F>)>;

    #[allow(clippy::too_many_arguments)]
    fn backward<F: Float>(
        &self,
        parameters: &Parameters<F>,
        batch: &TokenBatch,
        words: ArrayView2<'_, F>,
        saved: &Self::Saved<F>,
        d_out: ArrayView2<'_, F>,
        d_words: Option<ArrayViewMut2<'_, F>>,
        d_parameters: &mut Parameters<F>,
    ) -> Result<()>;
}

/// Implements [`Encoder`] with the [`Passes`] of an encoder, given the type of its saved state; both passes are
/// compiled here.
macro_rules! encoder_of_passes {
    ($trait:ident for $encoder:ident, $saved:ty) => {
        impl<F: senv_core::arrays::Float> $trait<F> for $encoder {
            type Saved = $saved;

            fn dim(&self) -> usize {
                $crate::encoder::Passes::dim(self)
            }

            fn init(&self, rng: &mut senv_core::rng::Stream) -> senv_core::Result<senv_core::arrays::Parameters<F>> {
                senv_core::arrays::compiled_here!(
                    self,
                    |this: &'a $encoder,
                     rng: &'a mut senv_core::rng::Stream|
                     -> senv_core::Result<senv_core::arrays::Parameters<F>> {
                        $crate::encoder::Passes::init(this, rng)
                    }
                )
            }

            fn forward(
                &self,
                parameters: &senv_core::arrays::Parameters<F>,
                batch: &senv_core::arrays::TokenBatch,
                words: ndarray::ArrayView2<'_, F>,
            ) -> senv_core::Result<(ndarray::Array2<F>, Self::Saved)> {
                senv_core::arrays::compiled_here!(self, |this: &'a $encoder,
                                                         parameters: &'a senv_core::arrays::Parameters<F>,
                                                         batch: &'a senv_core::arrays::TokenBatch,
                                                         words: ndarray::ArrayView2<'a, F>|
                 -> senv_core::Result<(ndarray::Array2<F>, $saved)> {
                    $crate::encoder::Passes::forward(this, parameters, batch, words)
                })
            }

            fn backward(
                &self,
                parameters: &senv_core::arrays::Parameters<F>,
                batch: &senv_core::arrays::TokenBatch,
                words: ndarray::ArrayView2<'_, F>,
                saved: &Self::Saved,
                d_out: ndarray::ArrayView2<'_, F>,
                d_words: Option<ndarray::ArrayViewMut2<'_, F>>,
                d_parameters: &mut senv_core::arrays::Parameters<F>,
            ) -> senv_core::Result<()> {
                senv_core::arrays::compiled_here!(self, |this: &'a $encoder,
                                                         parameters: &'a senv_core::arrays::Parameters<F>,
                                                         batch: &'a senv_core::arrays::TokenBatch,
                                                         words: ndarray::ArrayView2<'a, F>,
                                                         saved: &'a $saved,
                                                         d_out: ndarray::ArrayView2<'a, F>,
                                                         d_words: Option<ndarray::ArrayViewMut2<'a, F>>,
                                                         d_parameters: &'a mut senv_core::arrays::Parameters<F>|
                 -> senv_core::Result<()> {
                    let passes = $crate::encoder::Passes::backward;
                    passes(this, parameters, batch, words, saved, d_out, d_words, d_parameters)
                })
            }
        }
    };
}
pub(crate) use encoder_of_passes;

/// Returns an error unless two sizes agree.
pub(crate) fn check_size(what: &'static str, expected: usize, got: usize) -> Result<()> {
    if expected == got { Ok(()) } else { Err(Error::ShapeMismatch { what, expected, got }) }
}

/// Returns an error unless `words` belong to the batch and have dimension `dim`.
pub(crate) fn check_words<F: Float>(batch: &TokenBatch, dim: usize, words: ArrayView2<'_, F>) -> Result<()> {
    check_size("rows of vectors of the distinct words", batch.distinct().len(), words.nrows())?;
    check_size("columns of vectors of the distinct words", dim, words.ncols())
}

/// Returns an error unless gradients have the shapes of their values.
pub(crate) fn check_gradients<F: Float>(
    batch: &TokenBatch,
    dim: usize,
    d_out: ArrayView2<'_, F>,
    words: ArrayView2<'_, F>,
    d_words: Option<&ArrayViewMut2<'_, F>>,
) -> Result<()> {
    check_size("rows of gradient of the sentence vectors", batch.len(), d_out.nrows())?;
    check_size("columns of gradient of the sentence vectors", dim, d_out.ncols())?;
    let Some(d_words) = d_words else { return Ok(()) };
    check_size("rows of gradient of the words", words.nrows(), d_words.nrows())?;
    check_size("columns of gradient of the words", words.ncols(), d_words.ncols())
}
