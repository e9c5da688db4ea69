//! The English model that is part of the program.

use std::path::Path;

use super::static_model::StaticModel;
use crate::{error::Result, model::handle::Model};

/// The name of the model, wherever a path of a model is asked for.
const NAME: &str = "english";

/// Whether a path is the name of the English model ([`english`]), which every way of opening a model takes for that
/// model. A file of this name in the working folder is `./english`.
///
/// ```
/// assert!(senv::is_english("english") && !senv::is_english("./english"));
/// ```
#[must_use]
pub fn is_english(path: impl AsRef<Path>) -> bool {
    path.as_ref().as_os_str() == NAME
}

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
