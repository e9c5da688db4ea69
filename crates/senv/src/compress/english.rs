//! The English model that is part of the program.

use super::static_model::StaticModel;
use crate::{error::Result, model::handle::Model};

/// The English model of `senv-english`, without training and without a file: English only, means of words.
///
/// ```
/// let english = senv::english()?;
/// assert!(english.similarity("Rain is coming.", "A storm brings rain.") > english.similarity("Rain is coming.", "He paid by card."));
/// # Ok::<(), senv::Error>(())
/// ```
///
/// # Errors
/// If memory for the index of its words is lacking.
pub fn english() -> Result<Model> {
    Ok(StaticModel::from(senv_english::model()?).into())
}
