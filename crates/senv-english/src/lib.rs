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
//! English only: of other languages and of code it knows few words, hashes the rest, and gives vectors that say little.
//! [`MIN_KNOWN_SHARE`] tells such text. A sentence becomes the mean of the vectors of its words, and behind it stand
//! 258 values that read their order and negation ([`StaticEncoder`]); `model()?.truncate_dim(256)` is the mean alone.
//! What it was trained on, what it scores and what it gets wrong stands in `MODEL_CARD.md`. `senv
//! compress --model english --max-vocabulary 20000` makes a file of less than half of the size, for your own program.

#![cfg_attr(docsrs, feature(doc_cfg))]

use senv_core::{Result, StaticEncoder};

/// Share of known words ([`senv_core::KnownWords`]) below which a text is not English, or is code: of 1,000 sentences
/// of English, be it news, tweets or captions, .88 and more are known, of code .73 to .85, of other languages 0 to .60.
///
/// ```
/// let english = senv_english::model()?;
/// let text = ["El tren llegó tarde y volvimos a casa bajo la lluvia.", "Nadie esperaba en la puerta aquella noche."];
/// let few = english.known_words(text).few(senv_english::MIN_KNOWN_SHARE);
/// assert!(few.is_some_and(|few| few.to_string().contains("% of the words")));
/// # Ok::<(), senv_core::Error>(())
/// ```
pub const MIN_KNOWN_SHARE: f64 = 0.87;

/// Bytes that start on a cache line, so that the rows in them do.
#[repr(C, align(64))]
struct Aligned<B: ?Sized>(B);

static FILE: &Aligned<[u8]> = &Aligned(*include_bytes!("../data/english.senv"));

/// The model file: a senv model of kind `static`, which [`StaticEncoder::from_static`] and `senv` open.
pub static BYTES: &[u8] = &FILE.0;

/// The terms of the model, which models that training makes of it carry on.
pub const TERMS: &str =
    "CC BY-SA 4.0: made from the English model of senv (senv-english), whose sources MODEL_CARD.md lists";

/// The digest of the model, as `senv::model::model_digest` computes it, by which a collection knows its model.
pub const DIGEST: &str = "5a451330feb4c888";

/// The encoder. Its rows stay where they are in the program; what is made is the index of its words, in some
/// milliseconds: keep the encoder rather than making it anew for each sentence.
///
/// # Errors
/// If memory for the index is lacking, or the program file was damaged.
pub fn model() -> Result<StaticEncoder> {
    Ok(StaticEncoder::from_static(BYTES)?.with_terms(TERMS))
}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
