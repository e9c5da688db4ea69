//! How work is written so that nothing is lost: atomic replacement, checkpoints, locks. Its public path is `files`.

#[cfg(feature = "write")]
pub(crate) mod atomic_file;
#[cfg(feature = "train")]
pub mod checkpoint;
#[cfg(feature = "write")]
pub(crate) mod file_lock;
#[cfg(feature = "write")]
pub(crate) mod unfinished;
