//! Sentences from vectors: what a model with decoders can do.

use crate::error::Result;

/// A sentence that a decoder said.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct DecodedSentence {
    /// Its words, separated by spaces.
    pub text: String,
    /// ln of its probability.
    pub log_probability: f64,
    /// Whether it came to its end before the limit.
    pub ended: bool,
}

/// Interpolation between two sentence vectors, and the beam search from there.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interpolation {
    /// 0 is the first sentence, 1 the second.
    pub share: f32,
    /// Beam width, at least 1.
    pub width: usize,
    /// Words of a sentence at most, the end token counted.
    pub longest: usize,
}

/// Decoders of a model: sentences from vectors.
pub trait Decode {
    /// Their names, by number: Skip-thoughts predict the `previous` sentence and the `next`, in a combined model by
    /// `previous-2` and `next-2` as well; autoencoders reconstruct the sentence `itself`, and P-thought predicts a
    /// `paraphrase` besides.
    fn names(&self) -> Vec<&'static str>;

    /// What decoder `decoder` makes of a sentence, the likeliest first, by a beam of this width; sentences of at most
    /// `longest` words, the end token counted.
    ///
    /// # Errors
    /// [`Error::NoDecoder`](crate::Error::NoDecoder) if there is none of this number; if memory is lacking.
    fn decode(&self, sentence: &str, decoder: usize, width: usize, longest: usize) -> Result<Vec<DecodedSentence>>;

    /// The same of a vector between those of two sentences.
    ///
    /// # Errors
    /// As [`Decode::decode`].
    fn decode_between(
        &self,
        first: &str,
        second: &str,
        decoder: usize,
        at: &Interpolation,
    ) -> Result<Vec<DecodedSentence>>;
}
