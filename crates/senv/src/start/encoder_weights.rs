//! The weights that words and an encoder start from: drawn, from given vectors, or those of a trained model.

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

/// Rows for `vocabulary` of the dimension `dim`, drawn with `seed` and taken from `vectors`, and the encoder's own
/// start by `rng`; of a model its words, those that it lacks drawn, and its encoder.
///
/// Words of a model keep their length here, unlike those that a head is trained on (`gradient/scale.rs`): the penalties
/// of pairs are towards these words and, for the encoder, towards 0, and would weigh other lengths otherwise.
///
/// # Errors
/// As [`Initial::rows`]; [`senv_core::Error::ShapeMismatch`] if the encoder of the model has another form.
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
