//! Words as numbers: the vocabulary, token ids, and a corpus of them.

mod base_forms;
mod bm25;
#[cfg(feature = "train")]
pub(crate) mod corpus;
pub(crate) mod coverage;
mod expansion;
pub(crate) mod features;
mod frequency_weight;
pub(crate) mod sentences;
pub(crate) mod unknown_words;
pub(crate) mod vocabulary;

pub use bm25::{Bm25, Bm25Params, WordQuery};
#[cfg(feature = "train")]
pub use corpus::{BlockBuffer, KeptReading};
pub use frequency_weight::{DEFAULT_SIF_A, sif_weight};
#[cfg(feature = "write")]
pub use sentences::SentencesWriter;
pub use unknown_words::{look_up_all, look_up_parts, unknown_word_value};
pub use vocabulary::VocabularyBuilder;
