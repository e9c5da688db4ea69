//! The base model of fine-tuning: its encoder, its words, and how it reads text.

use senv_core::{
    Table,
    arrays::{Parameters, TokenBatch},
    kernels,
};

use super::scored::Scored;
use crate::{
    data::reading::Reading,
    error::{Error, Result},
    gradient::{copy_table, encoder_form::EncoderForm, scale, trainable_encoder::TrainableEncoder},
    model::{handle::Model, tunable::TunableEncoder},
};

/// The encoder and the words of a model that can be fine-tuned.
pub(super) struct Base {
    pub(super) form: EncoderForm,
    pub(super) reading: Reading,
    pub(super) parameters: Parameters<f32>,
    pub(super) words: Table,
}

impl Base {
    /// # Errors
    /// [`Error::CannotTune`] if the sentence vectors of the model are not computed by a trainable encoder.
    pub(super) fn of(model: &Model) -> Result<Self> {
        if let Some(TunableEncoder { form, reading, parameters, words }) = model.abilities().tunable {
            let (reading, parameters) = (reading.clone(), parameters.clone());
            return Ok(Self { form, reading, parameters, words: copy_table(words)? });
        }
        match model.word_average() {
            Ok(average) if average.features().max_span() == 1 => Ok(Self {
                form: EncoderForm::Average,
                reading: Reading::known_words(average.tokenizer().clone(), usize::MAX),
                parameters: Parameters::new(),
                words: weighted_words(&average)?,
            }),
            _ => Err(Error::CannotTune { kind: model.kind() }),
        }
    }
}

/// A row for each word. Rows of a weighted average include their weights, so the mean of rows is the weighted mean.
/// Common components are not removed.
fn weighted_words(average: &crate::average::AverageEncoder) -> Result<Table> {
    let mut words = Table::zeros(average.vocabulary().len(), senv_core::Rows::dim(average.rows()))?;
    for (i, (_, _, row)) in average.words().enumerate() {
        words.row_mut(i).copy_from_slice(row);
        if let Some(weighting) = average.weighting() {
            kernels::scale(weighting.words()[i], words.row_mut(i));
        }
    }
    Ok(words)
}

/// The root mean square of the values of sentence vectors at the start of training.
const SPREAD: f64 = 0.3;

/// Scales words and sentence vectors for training with a head.
///
/// First scales word vectors for the optimizer, without changing sentence vectors. Then scales sentence vectors of
/// arbitrary length for the head. An encoder trained by cosines can give vectors of any length, and the products of
/// long ones saturate the head before it has learned. Cosines do not change.
pub(super) fn bring_to_scale(
    encoder: &dyn TrainableEncoder,
    words: &mut Table,
    parameters: &mut Parameters<f32>,
    scored: &Scored,
) -> Result<()> {
    let mut batch = TokenBatch::new();
    batch.assign(scored.sentences.iter().take(scale::MEASURED))?;
    scale::bring_words_to_scale(encoder, words, parameters, &batch)?;
    if let Some(factor) = scale::factor_to(SPREAD, encoder, words, parameters, &batch)? {
        encoder.scale(factor, words, parameters);
    }
    Ok(())
}
