//! The kinds of model files: those of the systems, and those that a program adds.

use std::{
    any::TypeId,
    sync::{PoisonError, RwLock},
};

use senv_store::ModelFile;

use super::REGISTRY;
use crate::{
    base::file,
    error::{Error, Result},
    model::{handle::Model, saved::OpenModel},
};

/// A kind of model file, and how it is read.
#[derive(Clone, Copy)]
pub(super) struct Kind {
    pub(super) name: &'static str,
    pub(super) read: fn(&ModelFile) -> Result<Model>,
}

pub(super) const fn kind<M: OpenModel>() -> Kind {
    Kind { name: M::KIND, read: |file| Ok(M::from_model_file(file)?.into()) }
}

/// Kinds that the program added.
static ADDED: RwLock<Vec<(Kind, TypeId)>> = RwLock::new(Vec::new());

fn find(name: &str) -> Option<Kind> {
    let is_it = |kind: &&Kind| kind.name == name;
    let own = REGISTRY.iter().copied().flatten().find(is_it).copied();
    own.or_else(|| {
        ADDED.read().unwrap_or_else(PoisonError::into_inner).iter().map(|(kind, _)| kind).find(is_it).copied()
    })
}

/// The names of all kinds of models, those of [`register`] last.
#[must_use]
pub fn kinds() -> Vec<&'static str> {
    let added = ADDED.read().unwrap_or_else(PoisonError::into_inner);
    REGISTRY.iter().copied().flatten().chain(added.iter().map(|(kind, _)| kind)).map(|kind| kind.name).collect()
}

/// Adds a kind of model for as long as the program runs, so that [`Model::open`] and all that opens models (collections,
/// starts of training, evaluations) know its files. To be called once, before the first of them is opened; a second call
/// for the same kind changes nothing.
///
/// ```no_run
/// # fn test<MyModel: senv::model::OpenModel>() -> senv::Result<()> {
/// senv::register::<MyModel>()?;
/// let model = senv::open("mine.senv")?;
/// # Ok(()) }
/// ```
///
/// # Errors
/// [`Error::KindTaken`] if a system, or another type, has a kind of this name.
pub fn register<M: OpenModel>() -> Result<()> {
    let new = kind::<M>();
    let taken = || Err(Error::KindTaken { kind: M::KIND });
    if REGISTRY.iter().copied().flatten().any(|kind| kind.name == M::KIND) {
        return taken();
    }
    let mut added = ADDED.write().unwrap_or_else(PoisonError::into_inner);
    match added.iter().find(|(kind, _)| kind.name == M::KIND) {
        Some(&(_, of)) if of == TypeId::of::<M>() => Ok(()),
        Some(_) => taken(),
        None => {
            added.push((new, TypeId::of::<M>()));
            Ok(())
        }
    }
}

/// The model of an open file.
pub(super) fn read(file: &ModelFile) -> Result<Model> {
    match find(file::present_kind(file.kind())) {
        Some(kind) => (kind.read)(file),
        None => {
            let (path, kind) = (file.path().to_owned(), file.kind().to_owned());
            Err(Error::NotAnEncoder { path, kind, known: kinds() })
        }
    }
}
