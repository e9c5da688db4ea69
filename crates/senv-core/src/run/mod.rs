//! What a run is made of beside its data: hyperparameters and options.

#[cfg(feature = "train")]
pub mod hyperparameters;
#[cfg(feature = "train")]
pub(crate) mod run_options;
