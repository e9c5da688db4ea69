//! Files: the model file and checkpoints, atomic replacement, locks.

#[cfg(feature = "write")]
pub(crate) mod atomic_file;
#[cfg(feature = "train")]
pub mod checkpoint;
#[cfg(feature = "write")]
pub(crate) mod file_lock;
pub(crate) mod model_file;
#[cfg(feature = "write")]
pub(crate) mod unfinished;
