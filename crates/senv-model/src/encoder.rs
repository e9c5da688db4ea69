//! The traits of sentence encoders.
//!
//! Encoders implement [`SentenceEncoder`], which can be a trait object. Callers use [`SentenceEncoderExt`], which works
//! with any encoder.

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
    /// The tokens of the sentence.
    pub tokens: Vec<TokenId>,
    /// The features of the sentence.
    pub features: FeatureList,
    /// Temporary values, such as the sums of a convolution.
    pub values: Vec<f32>,
    /// The sum of the vectors of unknown words, if the encoder has such vectors.
    pub unknown: Vec<f32>,
}

/// Implements [`SentenceEncoder::encode_batch`]: encodes each sentence with a function that writes its `dim` values.
/// Returns one row per sentence, in the given order, and uses all threads of the current rayon pool.
///
/// # Errors
/// [`Error::TooLarge`] if the result does not fit in memory; the error of a sentence.
pub fn encode_batch_with(
    sentences: &[&str],
    dim: usize,
    encode: impl Fn(&str, &mut Scratch, &mut [f32]) -> Result<Coverage> + Sync,
) -> Result<(Array2<f32>, Vec<Coverage>)> {
    let rows = sentences.len();
    let n = check_memory::<f32>(rows, dim)?;
    let mut values = vec![0.0; n];
    let mut coverage = vec![Coverage::default(); rows];
    values.par_chunks_mut(dim.max(1)).zip(&mut coverage).zip(sentences).try_for_each_init(
        Scratch::default,
        |scratch, ((out, coverage), sentence)| {
            *coverage = encode(sentence, scratch, out)?;
            Ok(())
        },
    )?;
    let values = Array2::from_shape_vec((rows, dim), values).map_err(|_| Error::TooLarge { rows, dim })?;
    Ok((values, coverage))
}

/// Encodes a sentence as a vector of [`SentenceEncoder::dim`] values.
///
/// Use [`SentenceEncoderExt::encode`], which every encoder has, for many sentences. Vectors do not have length 1,
/// because the length carries information too. [`SentenceEncoderExt::normalized`] gives them length 1 if a vector store
/// needs it.
pub trait SentenceEncoder: Send + Sync {
    /// The embedding dimension.
    fn dim(&self) -> usize;

    /// Writes the embedding of `sentence` to `out`, which has [`SentenceEncoder::dim`] values; zero if no token has a
    /// vector. Implement this method, but call [`SentenceEncoder::encode_into`], which checks the length.
    fn encode_sentence(&self, sentence: &str, scratch: &mut Scratch, out: &mut [f32]) -> Coverage;

    /// Writes the embedding of `sentence` to `out`; zero if no token has a vector. Allocates nothing once the buffers
    /// of `scratch` have grown.
    ///
    /// # Panics
    /// If `out` does not have [`SentenceEncoder::dim`] values.
    #[track_caller]
    fn encode_into(&self, sentence: &str, scratch: &mut Scratch, out: &mut [f32]) -> Coverage {
        if let Err(error) = check_output(self.dim(), out) {
            panic!("{error}");
        }
        self.encode_sentence(sentence, scratch, out)
    }

    /// Like [`SentenceEncoder::encode_into`], but returns an error instead of panicking. Encoders that can fail, for
    /// example because they call a service, implement this too and wrap failures with [`Error::other`].
    /// [`SentenceEncoder::encode_batch`] calls it.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] if `out` does not have [`SentenceEncoder::dim`] values; the errors of the encoder.
    fn try_encode_into(&self, sentence: &str, scratch: &mut Scratch, out: &mut [f32]) -> Result<Coverage> {
        check_output(self.dim(), out)?;
        Ok(self.encode_sentence(sentence, scratch, out))
    }

    /// Returns the embeddings of many sentences, one row per sentence in the given order. Uses all threads of the
    /// current rayon pool.
    ///
    /// The result does not depend on the number of threads. In models that multiply batches of sentences with matrices
    /// (recurrent encoders), it can depend on the other sentences. The order of a sum follows the shape of the batch
    /// there, so a sentence encoded alone or with others may differ in the last bits.
    ///
    /// # Errors
    /// [`Error::TooLarge`] if the result does not fit in memory; the errors of [`SentenceEncoder::try_encode_into`].
    fn encode_batch(&self, sentences: &[&str]) -> Result<(Array2<f32>, Vec<Coverage>)> {
        encode_batch_with(sentences, self.dim(), |sentence, scratch, out| self.try_encode_into(sentence, scratch, out))
    }

    /// Returns the embedding of one sentence, shape `(dim,)`; zero if no token has a vector.
    ///
    /// ```
    /// use senv_core::{Coverage, Scratch, SentenceEncoder, SentenceEncoderExt};
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

    /// Returns the cosine of the embeddings of two sentences, in `[-1, 1]`; 0 if one of them is the zero vector.
    fn similarity(&self, a: &str, b: &str) -> f32 {
        let mut scratch = Scratch::default();
        let mut vectors = vec![0.0; 2 * self.dim()];
        let (u, v) = vectors.split_at_mut(self.dim());
        self.encode_into(a, &mut scratch, u);
        self.encode_into(b, &mut scratch, v);
        kernels::cosine(u, v)
    }
}

/// Methods for callers of any encoder: a model, a pointer to one, a generic parameter, a trait object.
///
/// ```
/// use std::sync::Arc;
/// use senv_core::{Result, SentenceEncoder, SentenceEncoderExt};
///
/// fn shape<E: SentenceEncoder + ?Sized>(encoder: &E, texts: &[String]) -> Result<(usize, usize)> {
///     Ok(encoder.encode(texts)?.dim())
/// }
/// fn of_any(encoder: Arc<dyn SentenceEncoder>) -> Result<(usize, usize)> {
///     Ok(encoder.encode(&["a cat", "a dog"])?.dim())
/// }
/// ```
pub trait SentenceEncoderExt: SentenceEncoder {
    /// Returns the embeddings of many sentences, one row per sentence in the given order. Uses all threads of the
    /// current rayon pool. This is [`encode_batch`](SentenceEncoder::encode_batch) without the coverage. Vectors have
    /// length 1 only if the encoder is [`Normalized`].
    ///
    /// # Errors
    /// [`Error::TooLarge`] if the result does not fit in memory.
    fn encode<Text: AsRef<str>>(&self, sentences: &[Text]) -> Result<Array2<f32>> {
        let sentences: Vec<&str> = sentences.iter().map(AsRef::as_ref).collect();
        Ok(self.encode_batch(&sentences)?.0)
    }

    /// Returns this encoder with vectors of length 1, as most vector databases expect.
    ///
    /// ```
    /// use senv_core::{SentenceEncoder, SentenceEncoderExt};
    /// # fn test(encoder: &impl SentenceEncoder) -> senv_core::Result<()> {
    /// let vectors = encoder.normalized().encode(&["The train is late.", "Rain is coming."])?;
    /// # Ok(()) }
    /// ```
    fn normalized(&self) -> Normalized<&Self> {
        Normalized(self)
    }
}

impl<E: SentenceEncoder + ?Sized> SentenceEncoderExt for E {}

/// An encoder whose vectors have length 1, so their dot product is the cosine; zero if no token has a vector.
///
/// Cosines equal those of the wrapped encoder, up to rounding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Normalized<E>(pub E);

impl<E: SentenceEncoder> SentenceEncoder for Normalized<E> {
    fn dim(&self) -> usize {
        self.0.dim()
    }

    fn encode_sentence(&self, sentence: &str, scratch: &mut Scratch, out: &mut [f32]) -> Coverage {
        let coverage = self.0.encode_sentence(sentence, scratch, out);
        kernels::l2_normalize(out);
        coverage
    }

    fn try_encode_into(&self, sentence: &str, scratch: &mut Scratch, out: &mut [f32]) -> Result<Coverage> {
        let coverage = self.0.try_encode_into(sentence, scratch, out)?;
        kernels::l2_normalize(out);
        Ok(coverage)
    }

    fn encode_batch(&self, sentences: &[&str]) -> Result<(Array2<f32>, Vec<Coverage>)> {
        let (vectors, coverage) = self.0.encode_batch(sentences)?;
        let mut vectors =
            if vectors.is_standard_layout() { vectors } else { vectors.as_standard_layout().into_owned() };
        for row in vectors.rows_mut() {
            row.into_slice().map(kernels::l2_normalize);
        }
        Ok((vectors, coverage))
    }
}

fn check_output(expected: usize, out: &[f32]) -> Result<()> {
    let got = out.len();
    if got == expected {
        Ok(())
    } else {
        Err(Error::ShapeMismatch { what: "output slice for a vector", expected, got })
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

            fn try_encode_into(&self, sentence: &str, scratch: &mut Scratch, out: &mut [f32]) -> Result<Coverage> {
                (**self).try_encode_into(sentence, scratch, out)
            }

            fn encode_batch(&self, sentences: &[&str]) -> Result<(Array2<f32>, Vec<Coverage>)> {
                (**self).encode_batch(sentences)
            }
        }
    )*};
}

encodes_as_what_it_points_to!(&E, Box<E>, Arc<E>);

/// Gives a type the methods of [`SentenceEncoder`], so its users do not have to import the trait.
#[doc(hidden)]
#[macro_export]
macro_rules! encoding_methods {
    ([$($generics:tt)*] $type:ty) => {
        impl<$($generics)*> $type {
            /// The embedding dimension.
            #[must_use]
            pub fn dim(&self) -> usize {
                $crate::SentenceEncoder::dim(self)
            }

            /// Returns the embeddings of many sentences, one row per sentence in the given order. Uses all threads of
            /// the current rayon pool. Vectors have length 1 only if the encoder is `normalized`.
            ///
            /// # Errors
            /// [`senv_core::Error::TooLarge`]($crate::Error::TooLarge) if the result does not fit in memory.
            pub fn encode<Text: AsRef<str>>(&self, sentences: &[Text]) -> $crate::Result<$crate::ndarray::Array2<f32>> {
                $crate::SentenceEncoderExt::encode(self, sentences)
            }

            /// Returns this encoder with vectors of length 1, as most vector databases expect.
            #[must_use]
            pub fn normalized(&self) -> $crate::Normalized<&Self> {
                $crate::Normalized(self)
            }

            /// Returns the embedding of one sentence, shape `(dim,)`; zero if no token has a vector.
            #[must_use]
            pub fn encode_one(&self, sentence: &str) -> $crate::ndarray::Array1<f32> {
                $crate::SentenceEncoder::encode_one(self, sentence)
            }

            /// Returns the cosine of the embeddings of two sentences, in `[-1, 1]`; 0 if one of them is the zero
            /// vector.
            #[must_use]
            pub fn similarity(&self, a: &str, b: &str) -> f32 {
                $crate::SentenceEncoder::similarity(self, a, b)
            }
        }
    };
}

crate::encoding_methods!([E: SentenceEncoder] Normalized<E>);
