//! The vocabulary, token ids, and vectors for unknown words.

mod base_forms;
pub(crate) mod coverage;
pub(crate) mod features;
mod frequency_weight;
pub(crate) mod signs;
pub(crate) mod terms;
mod unknown_words;
pub(crate) mod vocabulary;

pub use frequency_weight::{DEFAULT_SIF_A, sif_weight};
pub use unknown_words::{look_up_all, look_up_parts, unknown_word_value};
pub use vocabulary::VocabularyBuilder;
