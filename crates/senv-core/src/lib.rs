//! The types and numerics that every senv crate uses.
//!
//! Files become lines ([`TextReader`]), lines become tokens ([`Tokenizer`]), tokens become token ids ([`Vocabulary`],
//! [`TokenId`]); [`Corpus`] does all of that in one pass. Many sentences form one ragged batch ([`Sentences`]),
//! features of a sentence name rows ([`FeatureList`], [`RowId`]) of a dense table ([`Table`], [`Rows`]), and a
//! [`SentenceEncoder`] encodes a sentence as a vector. [`ModelFile`] and [`ModelWriter`] read and write the model file.
//! This crate knows no metric and no file format of another project.
//!
//! It needs no library of the system. With the feature `ndarray-linalg`, orthogonal initialization and least squares
//! take their QR factors from LAPACK; the program that is built names the library, for example by `openblas-src` with
//! its feature `system`. Results agree to rounding and then depend on that library too.

pub mod arrays;
mod base;
pub mod documents;
mod encoder;
pub mod error;
pub mod files;
mod known_words;
#[cfg(feature = "train")]
pub mod optim;
#[cfg(feature = "train")]
pub mod ranks;
mod run;
#[cfg(feature = "write")]
mod saving;
pub mod static_model;
pub mod text;
pub mod words;

#[cfg(feature = "train")]
pub use arrays::gradcheck;
pub use arrays::{init, kernels, math};
#[cfg(feature = "train")]
pub use base::rng;
pub use base::{memory, observer, threads};
#[doc(hidden)]
pub use ndarray;
#[cfg(feature = "train")]
pub use run::hyperparameters;
#[cfg(feature = "train")]
pub use saving::checkpoint;

pub use arrays::table::Table;
pub use base::ids::{RowId, TokenId};
pub use base::observer::{Control, NoObserver, Observer, Progress};
pub use base::rows::Rows;
#[doc(hidden)]
pub use encoder::encode_all;
pub use encoder::{Scratch, SentenceEncoder, encode_rows};
pub use error::{Error, Remedy, Result};
pub use files::model_file::ModelFile;
#[cfg(feature = "write")]
pub use files::model_file::ModelWriter;
pub use known_words::{FewKnownWords, KnownWords};
#[cfg(feature = "train")]
pub use run::run_options::RunOptions;
pub use static_model::StaticEncoder;
pub use text::token::Tokenizer;
pub use text::{TextOptions, TextReader};
#[cfg(feature = "train")]
pub use words::corpus::{Corpus, CorpusOptions};
pub use words::sentences::Sentences;
pub use words::vocabulary::Vocabulary;
pub use words::{coverage::Coverage, features::FeatureList};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
