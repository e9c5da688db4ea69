//! What every encoder does: a sentence becomes a vector.

use std::sync::Arc;

use ndarray::{Array1, Array2};
use rayon::prelude::*;

use crate::words::{coverage::Coverage, features::FeatureList};
use senv_base::{Error, Result, TokenId, memory::check_memory};
use senv_kernels::kernels;

/// Buffers that an encoder reuses from sentence to sentence.
#[derive(Debug, Clone, Default)]
pub struct Scratch {
    /// Temporary text, such as a lower-cased token.
    pub text: String,
    /// Tokens of the sentence.
    pub tokens: Vec<TokenId>,
    /// Features of the sentence.
    pub features: FeatureList,
    /// Temporary values, such as the sums of a convolution.
    pub values: Vec<f32>,
    /// Sum of the vectors of unknown words, where an encoder has such vectors.
    pub unknown: Vec<f32>,
}

/// For implementations of [`SentenceEncoder::encode_batch`]: encodes each sentence with a function that writes its
/// `dim` values, one row a sentence, in the order given, on all threads of the current rayon pool.
///
/// # Errors
/// [`Error::TooLarge`] if the result does not fit into memory.
pub fn encode_batch_with(
    sentences: &[&str],
    dim: usize,
    encode: impl Fn(&str, &mut Scratch, &mut [f32]) -> Coverage + Sync,
) -> Result<(Array2<f32>, Vec<Coverage>)> {
    let rows = sentences.len();
    let n = check_memory::<f32>(rows, dim)?;
    let mut values = vec![0.0; n];
    let mut coverage = vec![Coverage::default(); rows];
    values
        .par_chunks_mut(dim.max(1))
        .zip(&mut coverage)
        .zip(sentences)
        .for_each_init(Scratch::default, |scratch, ((out, coverage), sentence)| {
            *coverage = encode(sentence, scratch, out)
        });
    let values = Array2::from_shape_vec((rows, dim), values).map_err(|_| Error::TooLarge { rows, dim })?;
    Ok((values, coverage))
}

/// Encodes a sentence as a vector of [`SentenceEncoder::dim`] values.
///
/// Models and `dyn SentenceEncoder` have `encode` besides, which takes any slice of strings:
/// [`encode_batch`](SentenceEncoder::encode_batch) without the coverage.
pub trait SentenceEncoder: Send + Sync {
    /// Embedding dimension.
    fn dim(&self) -> usize;

    /// What an encoder has to do: writes the embedding of `sentence` to `out`, which holds [`SentenceEncoder::dim`]
    /// values; zero where no token has a vector. To be called through [`SentenceEncoder::encode_into`], which checks
    /// that.
    fn encode_sentence(&self, sentence: &str, scratch: &mut Scratch, out: &mut [f32]) -> Coverage;

    /// Writes the embedding of `sentence` to `out`; zero where no token has a vector. Allocates nothing once the
    /// buffers of `scratch` have grown.
    ///
    /// # Panics
    /// Unless `out` holds [`SentenceEncoder::dim`] values.
    fn encode_into(&self, sentence: &str, scratch: &mut Scratch, out: &mut [f32]) -> Coverage {
        assert!(out.len() == self.dim(), "out holds {} values, the encoder writes {}", out.len(), self.dim());
        self.encode_sentence(sentence, scratch, out)
    }

    /// The embeddings of many sentences, one a row, in the order given, on all threads of the current rayon pool.
    ///
    /// The number of threads changes nothing. The other sentences may, in models that multiply batches of them with
    /// matrices (recurrent encoders): the order of a sum follows the shape of the batch, so the same sentence among
    /// others, or encoded alone, may differ in the last bits.
    ///
    /// # Errors
    /// [`Error::TooLarge`] if the result does not fit into memory.
    fn encode_batch(&self, sentences: &[&str]) -> Result<(Array2<f32>, Vec<Coverage>)> {
        encode_batch_with(sentences, self.dim(), |sentence, scratch, out| self.encode_into(sentence, scratch, out))
    }

    /// The embedding of one sentence, shape `(dim,)`; zero where no token has a vector.
    ///
    /// ```
    /// use senv_core::{Coverage, Scratch, SentenceEncoder};
    ///
    /// /// Counts words.
    /// struct Length;
    /// impl SentenceEncoder for Length {
    ///     fn dim(&self) -> usize {
    ///         1
    ///     }
    ///     fn encode_sentence(&self, sentence: &str, _: &mut Scratch, out: &mut [f32]) -> Coverage {
    ///         let n = sentence.split_whitespace().count();
    ///         out[0] = n as f32;
    ///         Coverage::new(n, n)
    ///     }
    /// }
    /// let encoder: Box<dyn SentenceEncoder> = Box::new(Length);
    /// assert_eq!(encoder.encode_one("a cat sat").to_vec(), [3.0]);
    /// assert_eq!(encoder.encode(&["a cat", "sat"])?.dim(), (2, 1));
    /// # Ok::<(), senv_core::Error>(())
    /// ```
    fn encode_one(&self, sentence: &str) -> Array1<f32> {
        let mut vector = vec![0.0; self.dim()];
        self.encode_into(sentence, &mut Scratch::default(), &mut vector);
        Array1::from_vec(vector)
    }

    /// Cosine of the embeddings of two sentences, in `[-1, 1]`; 0 where one of them is the zero vector.
    fn similarity(&self, a: &str, b: &str) -> f32 {
        let mut scratch = Scratch::default();
        let mut vectors = vec![0.0; 2 * self.dim()];
        let (u, v) = vectors.split_at_mut(self.dim());
        self.encode_into(a, &mut scratch, u);
        self.encode_into(b, &mut scratch, v);
        kernels::cosine(u, v)
    }
}

impl dyn SentenceEncoder + '_ {
    /// The embeddings of many sentences, one a row, in the order given, on all threads of the current rayon pool.
    ///
    /// # Errors
    /// [`Error::TooLarge`] if the result does not fit into memory.
    pub fn encode<S: AsRef<str>>(&self, sentences: &[S]) -> Result<Array2<f32>> {
        let sentences: Vec<&str> = sentences.iter().map(AsRef::as_ref).collect();
        Ok(self.encode_batch(&sentences)?.0)
    }
}

macro_rules! encodes_as_what_it_points_to {
    ($($pointer:ty),*) => {$(
        impl<E: SentenceEncoder + ?Sized> SentenceEncoder for $pointer {
            fn dim(&self) -> usize {
                (**self).dim()
            }

            fn encode_sentence(&self, sentence: &str, scratch: &mut Scratch, out: &mut [f32]) -> Coverage {
                (**self).encode_sentence(sentence, scratch, out)
            }

            fn encode_batch(&self, sentences: &[&str]) -> Result<(Array2<f32>, Vec<Coverage>)> {
                (**self).encode_batch(sentences)
            }
        }
    )*};
}

encodes_as_what_it_points_to!(&E, Box<E>, Arc<E>);

/// Gives a type the calls of [`SentenceEncoder`] as methods of its own, so that its users need not import the trait.
#[doc(hidden)]
#[macro_export]
macro_rules! encoding_methods {
    ([$($generics:tt)*] $type:ty) => {
        impl<$($generics)*> $type {
            /// Embedding dimension.
            #[must_use]
            pub fn dim(&self) -> usize {
                $crate::SentenceEncoder::dim(self)
            }

            /// The embeddings of many sentences, one a row, in the order given, on all threads of the current rayon
            /// pool.
            ///
            /// # Errors
            /// [`senv_core::Error::TooLarge`]($crate::Error::TooLarge) if the result does not fit into memory.
            pub fn encode<Text: AsRef<str>>(&self, sentences: &[Text]) -> $crate::Result<$crate::ndarray::Array2<f32>> {
                <dyn $crate::SentenceEncoder>::encode(self, sentences)
            }

            /// The embedding of one sentence, shape `(dim,)`; zero where no token has a vector.
            #[must_use]
            pub fn encode_one(&self, sentence: &str) -> $crate::ndarray::Array1<f32> {
                $crate::SentenceEncoder::encode_one(self, sentence)
            }

            /// Cosine of the embeddings of two sentences, in `[-1, 1]`; 0 where one of them is the zero vector.
            #[must_use]
            pub fn similarity(&self, a: &str, b: &str) -> f32 {
                $crate::SentenceEncoder::similarity(self, a, b)
            }
        }
    };
}
