//! Training sets of pairs: paraphrases, captions of one image, entailed sentences, neighbors in running text.
//!
//! Files become [`PairSource`]s with one vocabulary. A source is a list of groups: a pair, an image, a premise, or a
//! sentence and the next. A step draws one pair from each group of its batch.

mod anchors;
mod decontaminate;
mod input;
mod kept;
mod kind;
mod numbers;
mod numbers_file;
mod read;
pub(crate) mod reading;
mod running;
mod source;
mod taken;
pub(crate) mod tf_idf;
mod tsv;

pub use crate::base::{memory_text::MemoryText, text_files::TextFiles, text_sample::TextSample, text_size::TextSize};
pub use {
    reading::Reading,
    tf_idf::{TfIdf, TfIdfParams},
};

pub use decontaminate::HeldOut;
pub use input::{PairFiles, PairInput, PairOptions, SecondStage, SourceReport};
pub use kind::PairKind;
pub use read::PairData;
pub(crate) use read::check_weight;
pub(crate) use running::{numbered, read_sentences};
pub use source::{PairSource, SampledPair};
pub(crate) use tsv::{check_beginning as check_pairs, pair_cells};
