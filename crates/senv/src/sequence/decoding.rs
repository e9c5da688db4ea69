//! Sentences that a model with decoders generates, also between two sentences.

use crate::{
    data::reading::gather,
    error::Result,
    model::decode::{Decode, DecodeParams, DecodedSentence},
    sequence::{SequenceModel, SequenceSystem},
};

impl<S: SequenceSystem> SequenceModel<S> {
    /// Generates text from a linear interpolation of two sentence vectors, the most probable first; a `share` of 0 is
    /// the first vector, and 1 the second. The vectors are not normalized.
    ///
    /// # Errors
    /// [`Error::NoDecoder`](crate::Error::NoDecoder) if the model has no such decoder; an error if memory runs out.
    pub fn decode_between(
        &self,
        first: &str,
        second: &str,
        share: f32,
        params: &DecodeParams,
    ) -> Result<Vec<DecodedSentence>> {
        let (part, _) = self.place(params.decoder)?;
        let mut texts = [Vec::new(), Vec::new()];
        for (text, tokens) in [first, second].into_iter().zip(&mut texts) {
            self.config.reading.read(&self.vocabulary, text, &mut String::new(), tokens);
        }
        let (batch, words) = gather(&part.words, &[&texts[0], &texts[1]])?;
        let vectors = part.seq2seq.networks.encode(&part.parameters[0], &batch, words.view())?;
        let (u, v) = (vectors.row(0), vectors.row(1));
        let vector: Vec<f32> = u.iter().zip(v).map(|(u, v)| (1.0 - share) * u + share * v).collect();
        self.decode_vector(&vector, params)
    }
}

impl<S: SequenceSystem> Decode for SequenceModel<S> {
    fn names(&self) -> Vec<&'static str> {
        S::decoder_names(&self.config.parts.iter().map(|part| part.decoders).collect::<Vec<_>>())
    }

    fn decode(&self, sentence: &str, params: &DecodeParams) -> Result<Vec<DecodedSentence>> {
        Self::decode(self, sentence, params)
    }

    fn decode_between(
        &self,
        first: &str,
        second: &str,
        share: f32,
        params: &DecodeParams,
    ) -> Result<Vec<DecodedSentence>> {
        Self::decode_between(self, first, second, share, params)
    }
}
