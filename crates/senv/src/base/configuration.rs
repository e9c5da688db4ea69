//! The configuration of a model file, checked before anything is built from it.
//!
//! Every kind calls [`read`], which requires a check from its [`Configuration`], so a kind without one does not
//! compile. What a file says is not trusted: token ids must be in its vocabulary. Whatever needs memory or time must be
//! in the file or have a limit.

use senv_store::ModelFile;
use serde::{Deserialize, Deserializer, de::DeserializeOwned};

use crate::{Error, Result};

/// The settings of a kind of model, as stored in its files.
pub(crate) trait Configuration: DeserializeOwned {
    /// Refuses settings that do not fit the file or its vocabulary of `n_words` words, or that need excessive memory or
    /// time. The shapes of tensors are compared later, when they are read.
    fn check_for(&self, file: &ModelFile, n_words: usize) -> Result<()>;
}

/// Reads the configuration of a file with a vocabulary of `n_words` words.
///
/// # Errors
/// [`Error::BadModel`], naming the file, if it is missing, does not parse or does not pass its check;
/// [`senv_core::Error::MissingTokenizer`].
pub(crate) fn read<C: Configuration>(file: &ModelFile, n_words: usize) -> Result<C> {
    let bad = |reason: String| Error::BadModel { path: file.path().to_owned(), reason };
    let text = file.config().ok_or_else(|| bad("the configuration is missing".into()))?;
    file.expect_known_tokenizer()?;
    let config: C =
        serde_json::from_str(text).map_err(|error| bad(format!("cannot parse the configuration: {error}")))?;
    match config.check_for(file, n_words) {
        Ok(()) => Ok(config),
        Err(error @ Error::BadModel { .. }) => Err(error),
        Err(error) => Err(bad(format!("the configuration is damaged: {error}"))),
    }
}

/// Refuses a configuration that needs more values than the tensors of the file contain, before memory is allocated for
/// them. The number can be lower than the actual need. It is a float because products of what a file says can overflow
/// an integer.
pub(crate) fn expect_values(file: &ModelFile, what: &str, asked: f64) -> Result<()> {
    let bytes: usize = file.tensors().filter(|(_, dtype, ..)| dtype == "F32").map(|(.., bytes)| bytes).sum();
    let there = bytes / size_of::<f32>();
    if asked <= there as f64 {
        return Ok(());
    }
    let reason = format!(
        "{what} of the configuration would have {asked:.0} values, but all tensors together have \
        {there}"
    );
    Err(Error::BadModel { path: file.path().to_owned(), reason })
}

/// Refuses more layers than there are tensors.
pub(crate) fn expect_layers(file: &ModelFile, layers: usize) -> Result<()> {
    let there = file.tensors().len();
    if layers <= there {
        return Ok(());
    }
    let reason = format!("the configuration has {layers} layers, but the file has only {there} tensors");
    Err(Error::BadModel { path: file.path().to_owned(), reason })
}

/// Reads a threshold that JSON cannot represent: null means infinity, and an automatic threshold is not written.
pub(crate) fn infinity_of_null<'de, D: Deserializer<'de>>(value: D) -> std::result::Result<Option<f64>, D::Error> {
    Ok(Some(Option::<f64>::deserialize(value)?.unwrap_or(f64::INFINITY)))
}
