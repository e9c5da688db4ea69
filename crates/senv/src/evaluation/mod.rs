//! Models in the evaluation of `senv-eval`, beside what takes no training.

mod heads;
mod systems;
mod untrained;

pub use self::{
    systems::{BenchEvent, BenchRun, BenchSystem, norm_profile_of, read_sentence_vectors},
    untrained::{Untrained, UntrainedSts},
};
