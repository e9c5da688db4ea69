//! Kinds of model files, including those that a program adds.

use std::{
    any::TypeId,
    sync::{PoisonError, RwLock},
};

use senv_store::ModelFile;

use crate::{
    error::{Error, Result},
    model::{handle::Model, saved::OpenModel},
};

/// A kind of model file, and how to read it.
#[derive(Clone, Copy)]
pub(super) struct Kind {
    pub(super) name: &'static str,
    pub(super) read: fn(&ModelFile) -> Result<Model>,
}

pub(super) const fn kind<M: OpenModel>() -> Kind {
    Kind { name: M::KIND, read: |file| Ok(M::from_model_file(file)?.into()) }
}

/// Kinds that the program added, with the types of their models.
static ADDED: RwLock<Vec<(Kind, TypeId)>> = RwLock::new(Vec::new());

/// The kinds that the program added.
pub(super) fn added() -> Vec<Kind> {
    ADDED.read().unwrap_or_else(PoisonError::into_inner).iter().map(|(kind, _)| *kind).collect()
}

/// Adds a kind, unless it is already there.
///
/// # Errors
/// [`Error::KindTaken`] if another type has its name.
pub(super) fn add<M: OpenModel>() -> Result<()> {
    let mut added = ADDED.write().unwrap_or_else(PoisonError::into_inner);
    match added.iter().find(|(kind, _)| kind.name == M::KIND) {
        Some(&(_, of)) if of == TypeId::of::<M>() => Ok(()),
        Some(_) => Err(Error::KindTaken { kind: M::KIND }),
        None => {
            added.push((kind::<M>(), TypeId::of::<M>()));
            Ok(())
        }
    }
}
