//! Sentences from vectors: what a model with decoders can do.

use crate::error::Result;

/// A sentence that a decoder generated.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct DecodedSentence {
    /// Its words, separated by spaces.
    pub text: String,
    /// ln of its probability.
    pub log_probability: f64,
    /// Whether the decoder reached the end token before the length limit.
    pub ended: bool,
}

/// Which decoder generates text, and its beam search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DecodeParams {
    /// The decoder, a position in [`Decode::names`]; default 0.
    pub decoder: usize,
    /// The beam width, at least 1; default 5.
    pub width: usize,
    /// The maximum number of words in a sentence, including its end token; default 30.
    pub longest: usize,
}

impl Default for DecodeParams {
    fn default() -> Self {
        Self { decoder: 0, width: 5, longest: 30 }
    }
}

/// Decoders of a model: sentences from vectors.
pub trait Decode {
    /// The names of the decoders, by number. Skip-thoughts predict the `previous` and the `next` sentence, and a
    /// combined model also has `previous-2` and `next-2`. Autoencoders reconstruct the sentence `itself`. P-thought
    /// also predicts a `paraphrase`.
    fn names(&self) -> Vec<&'static str>;

    /// Generates text from the vector of a sentence, the most probable first.
    ///
    /// # Errors
    /// [`Error::NoDecoder`](crate::Error::NoDecoder) if the model has no such decoder; an error if memory runs out.
    fn decode(&self, sentence: &str, params: &DecodeParams) -> Result<Vec<DecodedSentence>>;

    /// Generates text from a vector between those of two sentences: a `share` of 0 is the first, and 1 the second.
    ///
    /// # Errors
    /// The errors of [`Decode::decode`].
    fn decode_between(
        &self,
        first: &str,
        second: &str,
        share: f32,
        params: &DecodeParams,
    ) -> Result<Vec<DecodedSentence>>;
}
