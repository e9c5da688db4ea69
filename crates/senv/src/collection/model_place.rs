//! The model of a collection: where it lies, and whether it is still the same.

use std::path::{Path, PathBuf};

#[cfg(feature = "english")]
use senv_store::ModelFile;

use crate::{
    error::{Error, Result},
    model::{digest::model_digest, handle::Model},
};

/// The name that stands for the English model that is part of senv, where no file has it.
pub(super) const ENGLISH: &str = "english";

/// Whether the name was given for it; a folder of that name is no model.
fn is_english(path: &Path) -> bool {
    is_name_of_english(path) && !path.is_file()
}

/// Whether the name that a collection keeps is its: paths of files are kept as a whole.
fn is_name_of_english(kept: &Path) -> bool {
    cfg!(feature = "english") && kept == Path::new(ENGLISH)
}

/// The digest of the model at a path, or of the English one.
fn digest_of(path: &Path, #[cfg_attr(not(feature = "english"), expect(unused))] english: bool) -> Result<String> {
    #[cfg(feature = "english")]
    if english {
        return Ok(crate::model::digest::of_model(&ModelFile::from_static(senv_english::BYTES)?));
    }
    model_digest(path)
}

fn open(path: &Path, #[cfg_attr(not(feature = "english"), expect(unused))] english: bool) -> Result<Model> {
    #[cfg(feature = "english")]
    if english {
        return crate::compress::english::english();
    }
    Model::open(path)
}

/// A model, its digest, and the name under which it is found again.
#[derive(Debug)]
pub(super) struct ModelPlace {
    pub(super) model: Model,
    pub(super) digest: String,
    pub(super) path: PathBuf,
}

impl ModelPlace {
    /// Opens the model for a new collection.
    pub(super) fn open(path: &Path) -> Result<Self> {
        let english = is_english(path);
        let (model, digest) = (open(path, english)?, digest_of(path, english)?);
        let absolute = || std::path::absolute(path).map_err(|e| senv_core::Error::io("find", path, e));
        let path = if english { path.to_owned() } else { absolute()? };
        Ok(Self { model, digest, path })
    }
}

/// Opens the model of a collection, which must have this digest: at `given`, or else where it lay when the collection was
/// made, or else beside the folder of the collection.
pub(super) fn open_again(folder: &Path, digest: &str, kept: &str, given: Option<&Path>) -> Result<Model> {
    let kept = Path::new(kept);
    let english = given.map_or_else(|| is_name_of_english(kept), is_english);
    let path = match given {
        Some(path) => path.to_owned(),
        None if english || kept.exists() => kept.to_owned(),
        None => {
            let beside = kept.file_name().and_then(|name| Some(folder.parent()?.join(name)));
            let beside = beside.filter(|path| path.exists());
            beside.ok_or_else(|| Error::ModelGone { collection: folder.to_owned(), model: kept.to_owned() })?
        }
    };
    let found = digest_of(&path, english)?;
    if !digest.is_empty() && found != digest {
        let (collection, expected) = (folder.to_owned(), digest.to_owned());
        return Err(Error::OtherModel { collection, model: path, expected, found });
    }
    open(&path, english)
}
