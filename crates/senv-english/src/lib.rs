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
//! English only. The encoder knows few words of other languages and of code; it hashes the rest, so those vectors carry
//! little meaning. [`MIN_KNOWN_SHARE`] detects such text. The vector of a sentence is the mean of its word vectors,
//! followed by 258 values for word order and negation ([`StaticEncoder`]); `model()?.truncate_dim(256)` keeps only the
//! mean. `MODEL_CARD.md` lists the training data, the scores and the known weaknesses. `senv compress --model english
//! --max-vocabulary 20000` writes a file of less than half the size for your own program.

#![cfg_attr(docsrs, feature(doc_cfg))]

use senv_core::{Result, StaticEncoder};

/// The share of known words ([`senv_core::KnownWords`]) below which a text is not English, or is code. In 1,000 English
/// sentences from news, tweets or captions, the share is 0.88 or more. In code it is 0.73 to 0.85, and in other
/// languages 0 to 0.60.
///
/// ```
/// let english = senv_english::model()?;
/// let text = ["El tren llegó tarde y volvimos a casa bajo la lluvia.", "Nadie esperaba en la puerta aquella noche."];
/// let few = english.known_words(text).few(senv_english::MIN_KNOWN_SHARE);
/// assert!(few.is_some_and(|few| few.to_string().contains("% of the words")));
/// # Ok::<(), senv_core::Error>(())
/// ```
pub const MIN_KNOWN_SHARE: f64 = 0.87;

/// Aligns bytes to a cache line, so the rows in them are aligned too.
#[repr(C, align(64))]
struct Aligned<B: ?Sized>(B);

static FILE: &Aligned<[u8]> = &Aligned(*include_bytes!("../data/english.senv"));

/// The model file: a senv model of kind `static`, which [`StaticEncoder::from_static`] and `senv` open.
pub static BYTES: &[u8] = &FILE.0;

/// The terms of use of the model, which models trained from it inherit.
pub const TERMS: &str =
    "CC BY-SA 4.0: made from the English model of senv (senv-english), whose sources MODEL_CARD.md lists";

/// The digest of the model, as computed by `senv::model::model_digest`. A collection identifies its model by it.
pub const DIGEST: &str = "4c60256fa412f6f9";

/// Opens the encoder. Its rows are used in place; building the index of its words takes some milliseconds. So keep the
/// encoder instead of opening it for each sentence.
///
/// # Errors
/// If there is no memory for the index, or the program file is damaged.
pub fn model() -> Result<StaticEncoder> {
    Ok(StaticEncoder::from_static(BYTES)?.with_terms(TERMS))
}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
