//! The built-in English model.

use super::static_model::StaticModel;
use crate::{error::Result, model::handle::Model};

/// Opens the built-in model of `senv-english`, without training or a file. It is for English only.
///
/// A vector has 514 values: the average of the words of the sentence, and a part for their order and negation, which
/// [`Model::without_order`] leaves out.
///
/// ```
/// let english = senv::english()?;
/// assert!(english.similarity("Rain is coming.", "A storm brings rain.") > english.similarity("Rain is coming.", "He paid by card."));
/// # Ok::<(), senv::Error>(())
/// ```
///
/// # Errors
/// If memory for the index of its words runs out.
pub fn english() -> Result<Model> {
    Ok(StaticModel::from(senv_english::model()?).into())
}
