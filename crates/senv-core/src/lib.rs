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

#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod arrays {
    //! Arrays: the two precisions, matrix products, parameters.

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
    //! Text files -> lines, in bounded memory.

    pub use senv_text::*;
}

pub mod words {
    //! Words as numbers: the vocabulary, and what stands for a word that is not known.

    pub use senv_model::{add_signs, words::*};
}

/// The crate of the vectors and matrices in our signatures, of the version that fits: `senv_core::ndarray::Array2` is
/// the type that [`SentenceEncoderExt::encode`] returns, whatever version a program has itself.
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
    SentenceEncoderExt, StaticEncoder, Vocabulary, encode_batch_with, static_model,
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
