//! An English sentence encoder inside the crate: no download, no training, no file to ship.
//!
//! ```
//! use senv_core::SentenceEncoder;
//! let english = senv_english::model()?;
//! let near = english.similarity("Rain is coming.", "A storm brings rain.");
//! assert!(near > english.similarity("Rain is coming.", "The bank lends money."));
//! # Ok::<(), senv_core::Error>(())
//! ```
//!
//! A sentence becomes the mean of the vectors of its words ([`StaticEncoder`]), so the order of words and negation are not
//! seen. What it was trained on, what it scores and what it gets wrong stands in `MODEL_CARD.md`. With the feature `small`
//! the table is smaller: [`SMALL`] says which one is built in.

use senv_core::{Result, StaticEncoder};

/// Whether the small model is built in.
pub const SMALL: bool = cfg!(feature = "small");

/// Bytes that start on a cache line, so that the rows in them do.
#[repr(C, align(64))]
struct Aligned<B: ?Sized>(B);

#[cfg(not(feature = "small"))]
static FILE: &Aligned<[u8]> = &Aligned(*include_bytes!("../data/english.senv"));
#[cfg(feature = "small")]
static FILE: &Aligned<[u8]> = &Aligned(*include_bytes!("../data/english-small.senv"));

/// The model file: a senv model of kind `static`, which [`StaticEncoder::from_static`] and `senv` open.
pub static BYTES: &[u8] = &FILE.0;

/// The encoder. Its rows stay where they are in the program; what is made is the index of its words, in some milliseconds:
/// keep the encoder rather than making it anew for each sentence.
///
/// # Errors
/// If memory for the index is lacking, or the program file was damaged.
pub fn model() -> Result<StaticEncoder> {
    StaticEncoder::from_static(BYTES)
}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
