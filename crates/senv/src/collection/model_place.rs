//! The model of a collection: where it lies, and whether it is still the same.

use std::{fs, path::Path};

#[cfg(feature = "english")]
use senv_store::ModelFile;

use super::weighted;
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

/// The digest of the model that is given so.
#[cfg(feature = "english")]
pub(super) fn digest(path: &Path) -> Result<String> {
    digest_of(path, is_english(path))
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
    /// Whether the model in the file has a part that reads word order.
    pub(super) reads_order: bool,
    pub(super) digest: String,
    pub(super) path: String,
}

impl ModelPlace {
    /// Opens the model for a new collection.
    pub(super) fn open(path: &Path, order_weight: f64) -> Result<Self> {
        let english = is_english(path);
        let model = open(path, english)?;
        let reads_order = model.reads_order();
        let (model, digest) = (weighted(model, order_weight)?, digest_of(path, english)?);
        Ok(Self { model, reads_order, digest, path: kept_path(path, english)? })
    }
}

/// The path under which a model is kept: that of the file itself, behind links, without `.` and `..`.
fn kept_path(path: &Path, english: bool) -> Result<String> {
    if english {
        return Ok(ENGLISH.to_owned());
    }
    let real = fs::canonicalize(path).map_err(|e| senv_core::Error::io("find", path, e))?;
    real.into_os_string().into_string().map_err(|real| Error::ModelPath { model: real.into() })
}

/// The path under which the model of a collection is kept from now on, which must have this digest.
pub(super) fn moved(folder: &Path, digest: &str, model: &Path) -> Result<String> {
    let english = is_english(model);
    check(folder, digest, model, english)?;
    kept_path(model, english)
}

/// Refuses another model than the one of the collection, and what is no file or folder: a pipe would be waited for.
fn check(folder: &Path, digest: &str, model: &Path, english: bool) -> Result<()> {
    if let Ok(metadata) = fs::metadata(model)
        && !english
        && !metadata.is_file()
        && !metadata.is_dir()
    {
        return Err(senv_core::Error::not_a_file(model, &metadata).into());
    }
    let found = digest_of(model, english)?;
    if !digest.is_empty() && found != digest {
        let (collection, model, expected) = (folder.to_owned(), model.to_owned(), digest.to_owned());
        return Err(Error::OtherModel { collection, model, expected, found });
    }
    Ok(())
}

/// Opens the model of a collection, which must have this digest: at `given`, or else where it lay when the collection
/// was made, or else beside the folder of the collection.
pub(super) fn open_again(folder: &Path, digest: &str, kept: &str, given: Option<&Path>) -> Result<Model> {
    let kept = Path::new(kept);
    let english = given.map_or_else(|| is_name_of_english(kept), is_english);
    let path = match given {
        Some(path) => path.to_owned(),
        None if english || kept.exists() => kept.to_owned(),
        None => {
            // Behind links, and of a folder such as `.`, too.
            let real = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
            let beside = kept.file_name().and_then(|name| Some(real.parent()?.join(name)));
            let beside = beside.filter(|path| path.exists());
            beside.ok_or_else(|| Error::ModelGone { collection: folder.to_owned(), model: kept.to_owned() })?
        }
    };
    check(folder, digest, &path, english)?;
    open(&path, english)
}
