//! Sentences from vectors: what a model with decoders can do.

use crate::error::Result;

/// A sentence that a decoder generated.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct DecodedSentence {
    /// Its words, separated by spaces.
    pub text: String,
    /// ln of its probability.
    pub log_probability: f64,
    /// Whether the decoder reached the end token before the length limit.
    pub ended: bool,
}

/// Interpolation between two sentence vectors, and the beam search that starts from the result.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interpolation {
    /// The position between the sentences: 0 is the first, 1 the second.
    pub share: f32,
    /// Beam width, at least 1.
    pub width: usize,
    /// The maximum length in words, end token included.
    pub longest: usize,
}

/// The decoders of a model, which generate sentences from vectors.
pub trait Decode {
    /// The names of the decoders, by number. Skip-thoughts predict the `previous` and the `next` sentence, and a
    /// combined model also has `previous-2` and `next-2`. Autoencoders reconstruct the sentence `itself`. P-thought
    /// also predicts a `paraphrase`.
    fn names(&self) -> Vec<&'static str>;

    /// Decodes the vector of `sentence` with decoder number `decoder` by a beam search of this width, most probable
    /// first. Sentences have at most `longest` words, end token included.
    ///
    /// # Errors
    /// [`Error::NoDecoder`](crate::Error::NoDecoder) if no decoder has this number; an error if memory runs out.
    fn decode(&self, sentence: &str, decoder: usize, width: usize, longest: usize) -> Result<Vec<DecodedSentence>>;

    /// Decodes a vector between those of two sentences.
    ///
    /// # Errors
    /// The errors of [`Decode::decode`].
    fn decode_between(
        &self,
        first: &str,
        second: &str,
        decoder: usize,
        at: &Interpolation,
    ) -> Result<Vec<DecodedSentence>>;
}
