//! Sentences from vectors: what a model with decoders can do.

use crate::error::Result;

/// A sentence that a decoder said.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct DecodedSentence {
    /// Its words, separated by spaces.
    pub text: String,
    /// ln of its probability.
    pub log_probability: f64,
    /// Whether it came to its end before the limit.
    pub ended: bool,
}

/// Which decoder generates text, and its beam search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DecodeParams {
    /// The decoder, a position in [`Decode::names`]; default 0.
    pub decoder: usize,
    /// The beam width, at least 1; default 5.
    pub width: usize,
    /// The most words of a sentence, its end token included; default 30.
    pub longest: usize,
}

impl Default for DecodeParams {
    fn default() -> Self {
        Self { decoder: 0, width: 5, longest: 30 }
    }
}

/// Decoders of a model: sentences from vectors.
pub trait Decode {
    /// Their names, by number: Skip-thoughts predict the `previous` sentence and the `next`, in a combined model by
    /// `previous-2` and `next-2` as well; autoencoders reconstruct the sentence `itself`, and P-thought predicts a
    /// `paraphrase` besides.
    fn names(&self) -> Vec<&'static str>;

    /// Generates text from the vector of a sentence, the most probable first.
    ///
    /// # Errors
    /// [`Error::NoDecoder`](crate::Error::NoDecoder) if the model has no such decoder; if memory is lacking.
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
