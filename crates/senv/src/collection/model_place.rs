//! The location of the model of a collection, and checks that it is still the same.

use std::{
    fs,
    path::{Path, PathBuf},
};

use senv_index::Collection;

use super::SentenceCollection;
use crate::{
    error::{Error, Result},
    model::{digest::model_digest, handle::Model},
};

/// Whether this is the name of the built-in English model, which has no path.
fn is_english(#[cfg_attr(not(feature = "english"), expect(unused))] path: &Path) -> bool {
    #[cfg(feature = "english")]
    return crate::base::english_name::is_english(path);
    #[cfg(not(feature = "english"))]
    false
}

/// Where the model of a collection comes from: a path, which the collection records, or a model in memory. A model in
/// memory must be passed again when the collection is opened
/// ([`SentenceCollection::open_with_model`](crate::SentenceCollection)).
///
/// Paths and models ([`Model`]) convert to it; for another encoder, use [`Model::from_encoder`].
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum ModelSource {
    /// A file, a Model2Vec folder, or the name `english`.
    Path(PathBuf),
    /// A model in memory.
    Model(Model),
}

macro_rules! paths {
    ($($path:ty),*) => {$(
        impl From<$path> for ModelSource {
            fn from(path: $path) -> Self {
                Self::Path(path.into())
            }
        }
    )*};
}

paths!(&str, String, &String, &Path, PathBuf, &PathBuf);

impl From<Model> for ModelSource {
    fn from(model: Model) -> Self {
        Self::Model(model)
    }
}

impl From<&Model> for ModelSource {
    fn from(model: &Model) -> Self {
        Self::Model(model.clone())
    }
}

/// A model, its digest, and its recorded name.
#[derive(Debug)]
pub(super) struct ModelPlace {
    pub(super) model: Model,
    /// The model with its order part as it is.
    pub(super) whole: Model,
    /// Whether the model in the file has an order part.
    pub(super) reads_order: bool,
    pub(super) digest: String,
    pub(super) path: String,
}

impl ModelPlace {
    /// Opens the model for a new collection; the path of a model in memory is empty.
    pub(super) fn open(source: ModelSource, order_weight: f64) -> Result<Self> {
        let (whole, digest, path) = match source {
            ModelSource::Path(path) => (Model::open(&path)?, model_digest(&path)?, kept_path(&path)?),
            ModelSource::Model(model) => {
                let digest = model.digest()?;
                (model, digest, String::new())
            }
        };
        let reads_order = whole.reads_order();
        Ok(Self { model: weighted(whole.clone(), order_weight)?, whole, reads_order, digest, path })
    }
}

/// The path to record: that of the file itself, with links, `.` and `..` resolved; for the English model, its name.
fn kept_path(path: &Path) -> Result<String> {
    if is_english(path) {
        return Ok(path.to_string_lossy().into_owned());
    }
    let real = fs::canonicalize(path).map_err(|e| senv_core::Error::io("find", path, e))?;
    real.into_os_string().into_string().map_err(|real| Error::ModelPath { model: real.into() })
}

/// The new path to record for the model of a collection, which must have this digest and is at `kept` so far.
pub(super) fn moved(folder: &Path, digest: &str, kept: &str, model: &Path) -> Result<String> {
    check(folder, digest, Path::new(kept), model)?;
    kept_path(model)
}

/// Refuses a model other than that of the collection, and anything but a file or folder, because a pipe would block.
fn check(folder: &Path, digest: &str, kept: &Path, model: &Path) -> Result<()> {
    if let Ok(metadata) = fs::metadata(model)
        && !is_english(model)
        && !metadata.is_file()
        && !metadata.is_dir()
    {
        return Err(senv_core::Error::not_a_file(model, &metadata).into());
    }
    match same(folder, digest, model, model_digest(model)?) {
        // The name has stayed, and the model in the program has changed.
        Err(Error::OtherModel { collection, expected, found, .. }) if is_english(kept) && is_english(model) => {
            Err(Error::OtherEnglish { collection, expected, found })
        }
        checked => checked,
    }
}

/// Refuses a model with another digest.
fn same(folder: &Path, digest: &str, model: &Path, found: String) -> Result<()> {
    if digest.is_empty() || found == digest {
        return Ok(());
    }
    let (collection, model, expected) = (folder.to_owned(), model.to_owned(), digest.to_owned());
    Err(Error::OtherModel { collection, model, expected, found })
}

/// Opens the model of a collection, which must have this digest: at `given`, or else at its original path, or else next
/// to the folder of the collection.
pub(super) fn open_again(folder: &Path, digest: &str, kept: &str, given: Option<ModelSource>) -> Result<Model> {
    let kept = Path::new(kept);
    let path = match given {
        Some(ModelSource::Path(path)) => path,
        Some(ModelSource::Model(model)) => {
            same(folder, digest, Path::new("the given model"), model.digest()?)?;
            return Ok(model);
        }
        None if kept.as_os_str().is_empty() => return Err(Error::ModelInMemory { collection: folder.to_owned() }),
        None if is_english(kept) || kept.exists() => kept.to_owned(),
        None => {
            // Resolves links, and folders such as `.`.
            let real = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
            let beside = kept.file_name().and_then(|name| Some(real.parent()?.join(name)));
            let beside = beside.filter(|path| path.exists());
            beside.ok_or_else(|| Error::ModelGone { collection: folder.to_owned(), model: kept.to_owned() })?
        }
    };
    check(folder, digest, kept, &path)?;
    Model::open(&path)
}

/// A model with its order part at this weight. A model without an order part is returned unchanged for the weights 0
/// (no part) and 1 (its own).
fn weighted(model: Model, order_weight: f64) -> Result<Model> {
    if [0.0, 1.0].contains(&order_weight) && !model.reads_order() {
        Ok(model)
    } else {
        model.with_order_weight(order_weight)
    }
}

/// The model of a collection with the weight of the order part that the collection has.
pub(super) fn weighted_for(rows: &Collection, whole: &Model) -> Result<Model> {
    match SentenceCollection::order_weight(rows) {
        Some(weight) => weighted(whole.clone(), weight),
        None => Ok(whole.clone()),
    }
}
