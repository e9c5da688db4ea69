//! What every encoder does: a sentence becomes a vector.

use ndarray::Array2;
use rayon::prelude::*;

use crate::{
    Error, Result,
    arrays::kernels,
    base::{ids::TokenId, memory::check_memory},
    words::{coverage::Coverage, features::FeatureList},
};

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

/// [`SentenceEncoder::encode_batch`] for an encoder that is a function: one row of `dim` values a sentence, in the
/// order given, on all threads of the current rayon pool.
///
/// # Errors
/// [`Error::TooLarge`] if the result does not fit into memory.
pub fn encode_rows(
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
pub trait SentenceEncoder: Send + Sync {
    /// Embedding dimension.
    fn dim(&self) -> usize;

    /// Writes the embedding of `sentence` to `out` (`dim` values); zero where no token has a vector. Allocates nothing once
    /// the buffers of `scratch` have grown.
    fn encode_into(&self, sentence: &str, scratch: &mut Scratch, out: &mut [f32]) -> Coverage;

    /// The embeddings of many sentences, one a row, in the order given, on all threads of the current rayon pool.
    ///
    /// The number of threads changes nothing. The other sentences may, in models that multiply batches of them with
    /// matrices (recurrent encoders): the order of a sum follows the shape of the batch, so the same sentence among others,
    /// or encoded alone, may differ in the last bits.
    ///
    /// # Errors
    /// [`Error::TooLarge`] if the result does not fit into memory.
    fn encode_batch(&self, sentences: &[&str]) -> Result<(Array2<f32>, Vec<Coverage>)> {
        encode_rows(sentences, self.dim(), |sentence, scratch, out| self.encode_into(sentence, scratch, out))
    }

    /// The embeddings of many sentences, one a row, in the order given.
    ///
    /// # Errors
    /// [`Error::TooLarge`] if the result does not fit into memory.
    fn encode<S: AsRef<str>>(&self, sentences: &[S]) -> Result<Array2<f32>>
    where
        Self: Sized,
    {
        let sentences: Vec<&str> = sentences.iter().map(AsRef::as_ref).collect();
        Ok(self.encode_batch(&sentences)?.0)
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
