//! The types and numerics that all senv crates use.
//!
//! [`TextReader`] reads files as lines, [`Tokenizer`] splits lines into tokens, and [`Vocabulary`] maps tokens to ids
//! ([`TokenId`]). [`Corpus`] does all three in one pass. [`Sentences`] stores many sentences as one ragged batch. A
//! [`FeatureList`] names the rows ([`RowId`]) of a dense table ([`Table`], [`Rows`]) that a sentence refers to. A
//! [`SentenceEncoder`] encodes a sentence as a vector. [`ModelFile`] and [`ModelWriter`] read and write the model file.
//! This crate contains no metrics and reads no file formats of other projects.
//!
//! The crate needs no system library. With the feature `ndarray-linalg`, orthogonal initialization and least squares
//! compute QR factorizations with LAPACK. The final program chooses the library, for example `openblas-src` with its
//! feature `system`. Results then agree up to rounding, and their last bits depend on that library.

#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod arrays {
    //! Arrays: the two float precisions, matrix products, parameters.

    pub use senv_kernels::{Float, TableRows, Work, compiled_here};
    #[cfg(feature = "train")]
    pub use senv_training::{
        LinearMap, Occurrence, Parameters, Tensor, TokenBatch, least_squares, matmul, matmul_into,
    };
}

pub mod files {
    //! Files: the model file, the collection of a web page, atomic replacement, locks.

    pub use senv_model::files::*;
    #[cfg(feature = "write")]
    pub use senv_model::writing::*;
}

pub mod text {
    //! Reads text files as lines, in bounded memory.

    pub use senv_text::*;
}

pub mod words {
    //! The vocabulary, and vectors for unknown words.

    pub use senv_model::{add_signs, words::*};
}

/// The crate of the vectors and matrices in senv's signatures. `senv_core::ndarray::Array2` is the type that
/// [`SentenceEncoderExt::encode`] returns, regardless of the version of `ndarray` that a program depends on.
pub use ndarray;
#[cfg(feature = "random")]
pub use senv_base::rng;
pub use senv_base::{
    CancelToken, Control, Error, NoObserver, Observer, Progress, Quoted, Remedy, Result, RowId, Rows, TokenId, counts,
    error, memory, observer, quoted, threads,
};
pub use senv_kernels::{Table, compiled_here, kernels, math};
#[doc(hidden)]
pub use senv_model::encoding_methods;
#[cfg(feature = "write")]
pub use senv_model::writing::ModelWriter;
pub use senv_model::{
    Coverage, FeatureList, FewKnownWords, KnownWords, ModelFile, Normalized, Scratch, SentenceEncoder,
    SentenceEncoderExt, StaticEncoder, Terms, TextKind, Vocabulary, encode_batch_with, static_model,
};
pub use senv_text::{TextOptions, TextReader, Tokenizer};
#[cfg(feature = "train")]
pub use senv_training::{
    Corpus, CorpusOptions, RunOptions, Sentences, checkpoint, corpus, gradcheck, hyperparameters, init, named_values,
    optim, ranks,
};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
