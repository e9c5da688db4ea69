//! Pooling: the mean or sum of the word vectors of a sentence.
//!
//! Equation: `average-pooling`

use ndarray::{Array2, ArrayView2, ArrayViewMut2};
use rayon::prelude::*;
use senv_core::{
    Error, Result,
    arrays::{Float, Parameters, TokenBatch},
    rng::Stream,
};
use serde::{Deserialize, Serialize};

use crate::{
    encoder::{Encoder, check_gradients, check_words},
    rows::{AT_A_TIME, add_by_rows, flat, matrix, row, zeros},
};

/// How to pool word vectors into one vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Pooling {
    /// Their mean.
    #[default]
    Mean,
    /// Their sum; the lengths of word vectors can then learn frequency weights.
    Sum,
}

/// Mean or sum pooling of word vectors, the encoder of PP and of Siamese CBOW.
///
/// ```text
/// (F1)  e_s = c_s Σ_t x_{s,t}            c_s = 1/n_s for the mean, 1 for the sum;   x: shape (d,)
/// (B1)  ∂L/∂x_u += Σ_{(s,t): word u} c_s ∂L/∂e_s
/// ```
///
/// A repeated word counts each time; a sentence without words has the zero vector. There are no parameters, and the
/// forward pass saves nothing. One thread sums each sentence (F1) and each distinct word (B1) in a fixed order. In f32,
/// (F1) is `senv_core::kernels::sum_rows`, which also encodes with trained averages (`feature-average`). In f64, used
/// for gradient checks, it is a plain loop.
///
/// ```
/// use ndarray::array;
/// use senv_core::{TokenId, arrays::{Parameters, TokenBatch}};
/// use senv_encoders::{Average, Encoder, Pooling};
/// let mut batch = TokenBatch::new();
/// batch.assign([&[TokenId(4), TokenId(9), TokenId(4)][..], &[]])?;
/// let words = array![[3.0f32, 0.0], [0.0, 6.0]]; // of tokens 4 and 9
/// let (vectors, ()) = Average::new(2, Pooling::Mean).forward(&Parameters::new(), &batch, words.view())?;
/// assert_eq!(vectors, array![[2.0, 2.0], [0.0, 0.0]]);
/// # Ok::<(), senv_core::Error>(())
/// ```
///
/// # References
/// J. Wieting, M. Bansal, K. Gimpel, K. Livescu: Towards Universal Paraphrastic Sentence Embeddings, ICLR 2016,
/// section 3.1. T. Kenter, A. Borisov, M. de Rijke: Siamese CBOW, ACL 2016, section 2.2.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Average {
    /// The word dimension, which is also the sentence dimension; above 0.
    pub dim: usize,
    /// Mean or sum.
    pub pooling: Pooling,
}

impl Average {
    /// Creates an encoder for word vectors of dimension `dim`.
    #[must_use]
    pub fn new(dim: usize, pooling: Pooling) -> Self {
        Self { dim, pooling }
    }

    /// The factor c for a sentence of `n` words.
    fn share<F: Float>(self, n: usize) -> F {
        match self.pooling {
            Pooling::Mean if n > 0 => F::of(1.0 / n as f64),
            _ => F::one(),
        }
    }

    fn check<F: Float>(self, batch: &TokenBatch, words: ArrayView2<'_, F>) -> Result<()> {
        if self.dim == 0 {
            return Err(Error::InvalidParameter { name: "dim", requirement: "above 0", got: "0".into() });
        }
        check_words(batch, self.dim, words)
    }
}

crate::encoder::encoder_of_passes!(Encoder for Average, ());

impl crate::encoder::Passes for Average {
    type Saved<F: Float> = ();

    fn dim(&self) -> usize {
        self.dim
    }

    fn init<F: Float>(&self, _: &mut Stream) -> Result<Parameters<F>> {
        Ok(Parameters::new())
    }

    fn forward<F: Float>(
        &self,
        _: &Parameters<F>,
        batch: &TokenBatch,
        words: ArrayView2<'_, F>,
    ) -> Result<(Array2<F>, Self::Saved<F>)> {
        self.check(batch, words)?;
        let dim = self.dim;
        let words = words.as_standard_layout();
        let words = flat(&words);
        let mut out = zeros(batch.len(), dim)?;
        out.par_chunks_mut(AT_A_TIME * dim).enumerate().for_each(|(chunk, out)| {
            for (i, out) in out.chunks_exact_mut(dim).enumerate() {
                let sentence = batch.sentence(chunk * AT_A_TIME + i);
                F::sum_rows(words, dim, sentence, self.share(sentence.len()), out); // (F1)
            }
        });
        Ok((matrix(batch.len(), dim, out)?, ()))
    }

    fn backward<F: Float>(
        &self,
        _: &Parameters<F>,
        batch: &TokenBatch,
        words: ArrayView2<'_, F>,
        _: &Self::Saved<F>,
        d_out: ArrayView2<'_, F>,
        d_words: Option<ArrayViewMut2<'_, F>>,
        _: &mut Parameters<F>,
    ) -> Result<()> {
        self.check(batch, words)?;
        let dim = self.dim;
        check_gradients(batch, dim, d_out, words, d_words.as_ref())?;
        let Some(d_words) = d_words else { return Ok(()) };
        let d_out = d_out.as_standard_layout();
        let d_out = flat(&d_out);
        add_by_rows(d_words, |d_words| {
            d_words.par_chunks_mut(AT_A_TIME * dim).enumerate().for_each(|(chunk, d_words)| {
                for (i, d_word) in d_words.chunks_exact_mut(dim).enumerate() {
                    for place in batch.occurrences(chunk * AT_A_TIME + i) {
                        let sentence = place.sentence as usize;
                        let share = self.share(batch.sentence(sentence).len());
                        F::axpy(share, row(d_out, dim, sentence), d_word); // (B1)
                    }
                }
            });
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{batch, check_gradients_of, matrix_of, same_bits_at_any_number_of_threads};
    use ndarray::array;

    #[test]
    fn gradients_match_central_differences() {
        let batch = batch(&[&[3, 1, 3, 7, 1, 1], &[], &[1], &[7, 3]]);
        for pooling in [Pooling::Mean, Pooling::Sum] {
            let encoder = Average::new(4, pooling);
            check_gradients_of(&encoder, &Parameters::new(), &batch, 4);
        }
    }

    #[test]
    fn means_and_sums_by_hand_and_gradients_are_added_to_what_is_there() {
        let batch = batch(&[&[5, 2, 5], &[], &[2]]);
        let words = array![[1.0f32, 10.0], [2.0, 20.0]]; // of 2 and 5
        let none = Parameters::new();
        let mean = Average::new(2, Pooling::Mean);
        let (out, ()) = mean.forward(&none, &batch, words.view()).unwrap();
        assert_eq!(out, array![[5.0 * (1.0f32 / 3.0), 50.0 * (1.0 / 3.0)], [0.0, 0.0], [1.0, 10.0]]);
        let sum = Average::new(2, Pooling::Sum);
        let (out, ()) = sum.forward(&none, &batch, words.view()).unwrap();
        assert_eq!(out, array![[5.0, 50.0], [0.0, 0.0], [1.0, 10.0]]);

        let d_out = array![[3.0f32, 6.0], [100.0, 100.0], [1.0, 2.0]];
        let backward = |encoder: Average, mut d_words: Array2<f32>| {
            let view = if d_words.nrows() == 2 { d_words.view_mut() } else { d_words.view_mut().reversed_axes() };
            encoder
                .backward(&none, &batch, words.view(), &(), d_out.view(), Some(view), &mut Parameters::new())
                .unwrap();
            d_words
        };
        assert_eq!(backward(sum, array![[0.0, 0.5], [1.0, 0.0]]), array![[4.0, 8.5], [7.0, 12.0]]);
        let third = 1.0f32 / 3.0;
        let expected = array![[1.0 + 3.0 * third, 2.0 + 6.0 * third], [6.0 * third, 12.0 * third]];
        assert!((backward(mean, Array2::zeros((2, 2))) - expected).iter().all(|d| d.abs() < 1e-6));
        // A gradient that is not row-major.
        let mut columns = Array2::zeros((2, 2)).reversed_axes();
        sum.backward(&none, &batch, words.view(), &(), d_out.view(), Some(columns.view_mut()), &mut Parameters::new())
            .unwrap();
        assert_eq!(columns, array![[4.0, 8.0], [6.0, 12.0]]);
    }

    #[test]
    fn any_number_of_threads_gives_the_same_bits() {
        same_bits_at_any_number_of_threads(&Average::new(37, Pooling::Mean), 37);
    }

    #[test]
    fn shapes_that_do_not_fit_are_refused() {
        let batch = batch(&[&[5, 2, 5], &[]]);
        let encoder = Average::new(3, Pooling::Mean);
        let none = Parameters::new();
        let forward = |encoder: Average, rows, columns| {
            let words = matrix_of::<f32>(rows, columns, 1);
            encoder.forward(&none, &batch, words.view()).map(|_| ())
        };
        assert!(forward(encoder, 2, 3).is_ok());
        assert!(matches!(forward(encoder, 3, 3), Err(Error::ShapeMismatch { expected: 2, got: 3, .. })));
        assert!(matches!(forward(encoder, 2, 4), Err(Error::ShapeMismatch { expected: 3, got: 4, .. })));
        assert!(matches!(forward(Average::new(0, Pooling::Sum), 2, 0), Err(Error::InvalidParameter { .. })));
        let words = matrix_of::<f32>(2, 3, 1);
        for (d_out, d_words) in [((1, 3), (2, 3)), ((2, 2), (2, 3)), ((2, 3), (1, 3)), ((2, 3), (2, 4))] {
            let (d_out, mut d_words) = (Array2::zeros(d_out), Array2::zeros(d_words));
            let result = encoder.backward(
                &none,
                &batch,
                words.view(),
                &(),
                d_out.view(),
                Some(d_words.view_mut()),
                &mut Parameters::new(),
            );
            assert!(matches!(result, Err(Error::ShapeMismatch { .. })));
        }
    }

    #[test]
    fn sentences_and_words_beyond_those_of_one_thread_have_their_own_places() {
        let sentences = crate::testing::random_sentences(3 * AT_A_TIME, 9, 3 * AT_A_TIME, 5);
        let batch = crate::testing::assigned(&sentences);
        assert!(batch.distinct().len() > 2 * AT_A_TIME);
        let (words, d_out) = (matrix_of::<f64>(batch.distinct().len(), 2, 1), matrix_of::<f64>(batch.len(), 2, 2));
        let encoder = Average::new(2, Pooling::Mean);
        let out = encoder.forward(&Parameters::new(), &batch, words.view()).unwrap().0;
        let (d_words, _) = crate::testing::gradients(&encoder, &Parameters::new(), &batch, words.view(), d_out.view());
        let (mut expected, mut d_expected) =
            (Array2::<f64>::zeros(out.raw_dim()), Array2::<f64>::zeros(words.raw_dim()));
        for i in 0..batch.len() {
            let share = 1.0 / batch.sentence(i).len().max(1) as f64;
            for &u in batch.sentence(i) {
                expected.row_mut(i).scaled_add(share, &words.row(u as usize));
                d_expected.row_mut(u as usize).scaled_add(share, &d_out.row(i));
            }
        }
        assert!((out - expected).iter().chain((d_words - d_expected).iter()).all(|d| d.abs() < 1e-13));
    }
}
