//! Sentences that a model with decoders generates, also between two sentences.

use crate::{
    data::reading::gather,
    error::{Error, Result},
    model::decode::{Decode, DecodedSentence, Interpolation},
    sequence::{SequenceModel, SequenceSystem},
};

impl<S: SequenceSystem> SequenceModel<S> {
    /// Decodes a linear interpolation of two sentence vectors, most probable hypothesis first. Decoders are counted as
    /// in [`decode`](Self::decode); vectors are not normalized.
    ///
    /// # Errors
    /// [`Error::NoDecoder`] if no decoder has this number; an error if memory runs out.
    pub fn decode_between(
        &self,
        first: &str,
        second: &str,
        decoder: usize,
        at: &Interpolation,
    ) -> Result<Vec<DecodedSentence>> {
        let mut before = 0;
        let owns = |decoders: usize, before: &mut usize| {
            *before += decoders;
            decoder < *before
        };
        let part = self.parts.iter().find(|part| owns(part.seq2seq.form.decoders, &mut before));
        let part = part.ok_or_else(|| Error::NoDecoder { n: self.n_decoders(), asked: decoder })?;
        let mut texts = [Vec::new(), Vec::new()];
        for (text, tokens) in [first, second].into_iter().zip(&mut texts) {
            self.config.reading.read(&self.vocabulary, text, &mut String::new(), tokens);
        }
        let (batch, words) = gather(&part.words, &[&texts[0], &texts[1]])?;
        let vectors = part.seq2seq.networks.encode(&part.parameters[0], &batch, words.view())?;
        let (u, v) = (vectors.row(0), vectors.row(1));
        let vector: Vec<f32> = u.iter().zip(v).map(|(u, v)| (1.0 - at.share) * u + at.share * v).collect();
        self.decode_vector(&vector, decoder, at.width, at.longest)
    }
}

impl<S: SequenceSystem> Decode for SequenceModel<S> {
    fn names(&self) -> Vec<&'static str> {
        S::decoder_names(&self.config.parts.iter().map(|part| part.decoders).collect::<Vec<_>>())
    }

    fn decode(&self, sentence: &str, decoder: usize, width: usize, longest: usize) -> Result<Vec<DecodedSentence>> {
        Self::decode(self, sentence, decoder, width, longest)
    }

    fn decode_between(
        &self,
        first: &str,
        second: &str,
        decoder: usize,
        at: &Interpolation,
    ) -> Result<Vec<DecodedSentence>> {
        Self::decode_between(self, first, second, decoder, at)
    }
}
