//! What systems share.

pub(crate) mod about;
pub(crate) mod averaged;
pub(crate) mod contract;
mod encoder_pairs;
pub(crate) mod new_words;
pub(crate) mod pair_stages;
pub(crate) mod pair_system;
pub(crate) mod staged_pairs;
pub(crate) mod start;
pub(crate) mod text_data;
pub(crate) mod text_system;
pub(crate) mod training_data;

pub use crate::start::initial::{Initial, InitialVectorReport, vectors_fingerprint};
pub use {
    about::{About, NamedSettings},
    averaged::{Averaged, AveragedSystem},
    contract::{Common, System, Trainer},
    pair_stages::stage_files,
    pair_system::{PairModel, PairSystem, PairSystemParams},
    staged_pairs::StagedPairs,
    start::Start,
    text_data::TextData,
    text_system::TextSystem,
    training_data::{SampledInput, TrainingData, Unread},
};
