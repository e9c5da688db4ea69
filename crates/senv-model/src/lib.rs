//! Sentence encoders in files: the encoder trait, vocabulary and features, the model file, and an encoder that needs
//! only a table of compressed rows.
//!
//! `senv-core` re-exports this crate; depend on that one.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod encoder;
pub mod files;
mod known_words;
pub mod static_model;
pub mod words;
#[cfg(feature = "write")]
pub mod writing;

pub use encoder::{Normalized, Scratch, SentenceEncoder, SentenceEncoderExt, encode_batch_with};
pub use files::model_file::ModelFile;
pub use known_words::{FewKnownWords, KnownWords, TextKind};
pub use static_model::StaticEncoder;
pub use words::{coverage::Coverage, features::FeatureList, signs::add_signs, terms::Terms, vocabulary::Vocabulary};

// Used by the macros of this crate.
#[doc(hidden)]
pub use ndarray;
#[doc(hidden)]
pub use senv_base::{Error, Result};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
