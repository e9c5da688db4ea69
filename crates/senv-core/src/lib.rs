//! The types and numerics that every senv crate uses.
//!
//! Files become lines ([`TextReader`]), lines become tokens ([`Tokenizer`]), tokens become token ids ([`Vocabulary`],
//! [`TokenId`]); [`Corpus`] does all of that in one pass. Many sentences form one ragged batch ([`Sentences`]),
//! features of a sentence name rows ([`Features`], [`RowId`]) of a dense table ([`Table`], [`Rows`]), and a
//! [`SentenceEncoder`] encodes a sentence as a vector. [`ModelFile`] and [`ModelWriter`] read and write the model file.
//! This crate knows no metric and no file format of another project.
//!
//! It needs no library of the system. With the feature `ndarray-linalg`, orthogonal initialization and least squares
//! take their QR factors from LAPACK; the program that is built names the library, for example by `openblas-src` with
//! its feature `system`. Results agree to rounding and then depend on that library too.

#[cfg(feature = "write")]
mod atomic_file;
#[cfg(feature = "train")]
pub mod checkpoint;
#[cfg(feature = "train")]
mod corpus;
pub mod error;
#[cfg(feature = "write")]
mod file_lock;
#[cfg(feature = "train")]
mod float;
#[cfg(feature = "train")]
pub mod gradcheck;
#[cfg(feature = "train")]
pub mod hyperparameters;
mod ids;
pub mod init;
pub mod kernels;
#[cfg(feature = "train")]
mod least_squares;
pub mod math;
#[cfg(feature = "train")]
mod matmul;
mod memory;
mod model_file;
mod observer;
#[cfg(feature = "train")]
pub mod optim;
#[cfg(feature = "train")]
mod parameters;
mod rng;
#[cfg(feature = "train")]
mod run_options;
mod sentences;
mod shared_bytes;
mod static_model;
mod table;
mod text;
mod threads;
mod token;
#[cfg(feature = "train")]
mod token_batch;
mod traits;
#[cfg(feature = "write")]
mod unfinished;
mod unknown_words;
mod vocabulary;

#[cfg(feature = "write")]
pub use atomic_file::AtomicFile;
#[cfg(feature = "train")]
pub use corpus::{BlockBuffer, Corpus, CorpusOptions};
pub use error::{Error, Result};
#[cfg(feature = "write")]
pub use file_lock::FileLock;
#[cfg(feature = "train")]
pub use float::Float;
pub use ids::{RowId, TokenId};
#[cfg(feature = "train")]
pub use least_squares::{LinearMap, least_squares};
#[cfg(feature = "train")]
pub use matmul::{matmul, matmul_into};
pub use memory::check_memory;
#[cfg(feature = "write")]
pub use model_file::ModelWriter;
pub use model_file::{FORMAT_VERSION, ModelFile, RawTensor, Verification};
pub use observer::{Control, MAX_METRICS, Metric, NoObserver, Observer, Progress};
#[cfg(feature = "train")]
pub use parameters::{Parameters, Tensor};
#[cfg(feature = "train")]
pub use rng::{Stream, stream};
#[cfg(feature = "train")]
pub use run_options::RunOptions;
pub use sentences::Sentences;
pub use shared_bytes::SharedBytes;
pub use static_model::{CompressedRows, RowEncoding, StaticEncoder};
pub use table::{Backing, Table};
pub use text::{DEFAULT_MAX_LINE_BYTES, InvalidUtf8, Line, TextOptions, TextReader};
pub use threads::{spawn_others, startable_threads, thread_count};
pub use token::Tokenizer;
#[cfg(feature = "train")]
pub use token_batch::{Occurrence, TokenBatch};
pub use traits::{Coverage, FeatureList, Features, Rows, Scratch, SentenceEncoder, encode_rows};
#[cfg(feature = "write")]
pub use unfinished::remove_unfinished_files;
pub use unknown_words::look_up_all;
pub use vocabulary::{Vocabulary, VocabularyBuilder};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
