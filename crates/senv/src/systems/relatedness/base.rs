//! The model that fine-tuning starts from: its encoder, its words, and how it reads text.

use senv_core::{
    Table,
    arrays::{Parameters, TokenBatch},
    kernels,
};
use senv_encoders::{Average, Pooling};

use super::scored::Scored;
use crate::{
    data::reading::Reading,
    error::{Error, Result},
    gradient::{copy_table, encoder_form::EncoderForm, trainable_encoder::TrainableEncoder},
    model::{handle::Model, tunable::TunableEncoder},
};

/// Encoder and words of a model that can be fine-tuned.
pub(super) struct Base {
    pub(super) form: EncoderForm,
    pub(super) reading: Reading,
    pub(super) parameters: Parameters<f32>,
    pub(super) words: Table,
}

impl Base {
    /// # Errors
    /// [`Error::CannotTune`] if the sentence vector of the model is not computed by an encoder with a gradient here.
    pub(super) fn of(model: &Model) -> Result<Self> {
        if let Some(TunableEncoder { form, reading, parameters, words }) = model.tunable() {
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

/// A row for each word. Those of a weighted average carry their weights, so that the mean of rows is the weighted mean;
/// common components are not removed.
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

/// The root mean square of the values of sentence vectors that a head starts from, and of the sentence means of the
/// words that an encoder reads.
const SPREAD: f64 = 0.3;

/// Sentences that a scale is measured on.
const MEASURED: usize = 1000;

/// Brings words and sentence vectors to a scale that suits training with a head.
///
/// The words of an encoder that multiplies them by weights come to the length that those of an average get, and the
/// weights take it back: the steps of an optimizer such as Adam have one length whatever they change, and would leave
/// long words where they are. Sentence vectors are the same after it. Then, where their length is free, they come to
/// values that suit the head: an encoder trained by cosines may give vectors of any length, and the products of long ones
/// saturate the head before it has learned; cosines do not change.
pub(super) fn bring_to_scale(
    encoder: &dyn TrainableEncoder,
    words: &mut Table,
    parameters: &mut Parameters<f32>,
    scored: &Scored,
) -> Result<()> {
    let mut batch = TokenBatch::new();
    batch.assign(scored.sentences.iter().take(MEASURED))?;
    let mean = Average::new(words.dim(), Pooling::Mean);
    if let Some(factor) = factor_to_spread(&mean, words, &Parameters::new(), &batch)? {
        let factor = factor * std::env::var("SENV_WS").ok().and_then(|x| x.parse().ok()).unwrap_or(1.0);
        encoder.scale_words(factor, words, parameters);
    }
    if let Some(factor) = factor_to_spread(encoder, words, parameters, &batch)? {
        encoder.scale(factor, words, parameters);
    }
    Ok(())
}

/// The factor that brings the sentence vectors of these words to [`SPREAD`]; `None` for zeros and what is not finite.
fn factor_to_spread(
    encoder: &dyn TrainableEncoder,
    words: &Table,
    parameters: &Parameters<f32>,
    batch: &TokenBatch,
) -> Result<Option<f32>> {
    let rows = batch.gather(words)?;
    let vectors = encoder.encode(parameters, batch, rows.view())?;
    let squares: f64 = vectors.iter().map(|&x| f64::from(x) * f64::from(x)).sum();
    let spread = (squares / vectors.len().max(1) as f64).sqrt();
    Ok(Some((SPREAD / spread) as f32).filter(|factor| factor.is_normal()))
}
