//! The initial weights of words and an encoder: random, from given vectors, or those of a trained model.

use senv_core::{Table, Vocabulary, arrays::Parameters, rng::Stream};
use senv_store::Embeddings;

use super::initial::{Initial, InitialVectorReport};
use crate::{
    error::Result,
    gradient::{Weights, copy_table, trainable_encoder::AnyEncoder},
};

/// A model to fine-tune: its words and its encoder.
#[derive(Clone, Copy)]
pub(crate) struct TrainedEncoder<'m> {
    pub(crate) vocabulary: &'m Vocabulary,
    pub(crate) words: &'m Table,
    pub(crate) parameters: &'m Parameters<f32>,
}

/// Returns rows for `vocabulary` of the dimension `dim`, drawn with `seed` or taken from `vectors`, and the encoder's
/// own start from `rng`. From a model it takes the encoder and the words, and draws those that the model lacks.
///
/// Words of a model keep their length here, unlike those that a head is trained on (`gradient/scale.rs`). The penalties
/// of pairs pull toward these words and, for the encoder, toward 0, so other lengths would change their weight.
///
/// # Errors
/// The errors of [`Initial::rows`]; [`senv_core::Error::ShapeMismatch`] if the encoder of the model has a different
/// form.
pub(crate) fn encoder_weights(
    encoder: &dyn AnyEncoder,
    rng: &mut Stream,
    (initial, dim, seed): (&Initial, usize, u64),
    vocabulary: &Vocabulary,
    vectors: Option<&Embeddings>,
    start: Option<TrainedEncoder<'_>>,
) -> Result<(Weights, InitialVectorReport)> {
    let Some(start) = start else {
        let (words, found) = initial.rows(vocabulary, dim, vectors, seed)?;
        return Ok((Weights { words, parameters: vec![encoder.init(rng)?] }, found));
    };
    start.parameters.expect_form_of(&encoder.init(rng)?)?;
    let embeddings = Embeddings::new(start.vocabulary.clone(), copy_table(start.words)?)?;
    let initial = Initial { frequency_weight: None, ..initial.clone() };
    let (words, found) = initial.rows(vocabulary, dim, Some(&embeddings), seed)?;
    Ok((Weights { words, parameters: vec![start.parameters.clone()] }, found))
}
