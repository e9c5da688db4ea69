//! Trained models: what each can do, any of them behind one type, and how training went.

pub(crate) mod averaged;
pub(crate) mod handle;
pub(crate) mod saved;
pub(crate) mod trained;
