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

mod arrays;
mod base;
mod encoder;
pub mod error;
mod files;
#[cfg(feature = "train")]
pub mod optim;
mod run;
mod static_model;
mod text;
mod words;

#[cfg(feature = "train")]
pub use arrays::gradcheck;
pub use arrays::{init, kernels, math};
#[cfg(feature = "train")]
pub use files::checkpoint;
#[cfg(feature = "train")]
pub use run::hyperparameters;

#[cfg(feature = "train")]
pub use arrays::float::Float;
#[cfg(feature = "train")]
pub use arrays::least_squares::{LinearMap, least_squares};
#[cfg(feature = "train")]
pub use arrays::matmul::{matmul, matmul_into};
#[cfg(feature = "train")]
pub use arrays::parameters::{Parameters, Tensor};
pub use arrays::table::Table;
#[cfg(feature = "train")]
pub use arrays::token_batch::{Occurrence, TokenBatch};
pub use base::ids::{RowId, TokenId};
pub use base::memory::check_memory;
pub use base::observer::{Control, MAX_METRICS, Metric, NoObserver, Observer, Progress};
#[cfg(feature = "train")]
pub use base::rng::{Stream, stream};
pub use base::rows::Rows;
pub use base::shared_bytes::SharedBytes;
pub use base::threads::{spawn_others, startable_threads, thread_count};
pub use encoder::{Scratch, SentenceEncoder, encode_rows};
pub use error::{Error, Result};
#[cfg(feature = "write")]
pub use files::atomic_file::AtomicFile;
#[cfg(feature = "write")]
pub use files::file_lock::FileLock;
#[cfg(feature = "write")]
pub use files::model_file::ModelWriter;
pub use files::model_file::{FORMAT_VERSION, ModelFile, RawTensor, Verification};
#[cfg(feature = "write")]
pub use files::unfinished::remove_unfinished_files;
#[doc(hidden)]
pub use ndarray;
#[cfg(feature = "train")]
pub use run::run_options::RunOptions;
pub use static_model::{CompressedRows, RowEncoding, StaticEncoder};
pub use text::token::Tokenizer;
pub use text::{DEFAULT_MAX_LINE_BYTES, Expansion, InvalidUtf8, Line, TextBytes, TextOptions, TextReader};
#[cfg(feature = "train")]
pub use words::corpus::{BlockBuffer, Corpus, CorpusOptions};
pub use words::sentences::Sentences;
pub use words::unknown_words::look_up_all;
pub use words::vocabulary::{Vocabulary, VocabularyBuilder};
pub use words::{coverage::Coverage, features::FeatureList};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
