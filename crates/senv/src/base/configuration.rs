//! The configuration of a model file, checked before anything is made of it.
//!
//! Every kind goes through [`read`], which asks its [`Configuration`] for the check: a kind without one does not
//! compile. What a file says is not believed: token ids must be those of its vocabulary, and what it asks memory or
//! time for must be there, or be bounded.

use senv_store::ModelFile;
use serde::{Deserialize, Deserializer, de::DeserializeOwned};

use crate::{Error, Result};

/// The settings of a kind of models, as its files keep them.
pub(crate) trait Configuration: DeserializeOwned {
    /// Refuses what does not fit the file or its vocabulary of `n_words`, or would take memory or time out of
    /// proportion. The shapes of tensors are compared afterwards, when they are read.
    fn check_for(&self, file: &ModelFile, n_words: usize) -> Result<()>;
}

/// The configuration of a file with a vocabulary of `n_words`.
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

/// Refuses a configuration that asks for more values than the tensors of the file hold, before memory is taken for
/// them. The number may be lower than what is really asked for; it is no integer because products of what a file says
/// overflow.
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

/// A threshold of which JSON has no number: infinity is written as null, and what is automatic is not written.
pub(crate) fn infinity_of_null<'de, D: Deserializer<'de>>(value: D) -> std::result::Result<Option<f64>, D::Error> {
    Ok(Some(Option::<f64>::deserialize(value)?.unwrap_or(f64::INFINITY)))
}
