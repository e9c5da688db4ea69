//! What a run is made of beside its data: hyperparameters, options, random streams, threads, progress.

#[cfg(feature = "train")]
pub mod hyperparameters;
pub(crate) mod observer;
pub(crate) mod rng;
#[cfg(feature = "train")]
pub(crate) mod run_options;
pub(crate) mod threads;
