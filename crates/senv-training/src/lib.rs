//! The basis of training: corpora, seeded random streams, matrix products, initializers, optimizers, hyperparameters,
//! sums over ranks, and checkpoints.
//!
//! `senv-core` re-exports this crate; depend on that one.

#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod checkpoint;
pub mod corpus;
pub mod gradcheck;
pub mod hyperparameters;
pub mod init;
mod least_squares;
mod matmul;
pub mod optim;
mod parameters;
pub mod ranks;
mod run_options;
mod token_batch;

pub use corpus::{Corpus, CorpusOptions, Sentences};
pub use least_squares::{LinearMap, least_squares};
pub use matmul::{matmul, matmul_into};
pub use parameters::{Parameters, Tensor};
pub use run_options::RunOptions;
pub use token_batch::{Occurrence, TokenBatch};

pub use senv_base::rng;

// Used by the macros of this crate.
#[doc(hidden)]
pub use senv_base::{Error, Result};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
