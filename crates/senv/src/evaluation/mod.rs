//! Models in the evaluation of `senv-eval`, and baselines without training.

mod definitions;
mod groups_page;
mod heads;
mod label_places;
mod systems;
mod untrained;

pub use self::{
    definitions::definition_sets,
    groups_page::groups_page,
    systems::{BenchEvent, BenchRun, BenchSystem, norm_profile_of, read_sentence_vectors},
    untrained::{Untrained, UntrainedSts},
};
