//! From a sentence to examples: what is the context, what is to be predicted. This choice is all that tells
//! Sent2Vec, CBOW, skip-gram, PV-DBOW, PV-DM, FastSent and C-PHRASE apart; the trainer is one.

mod constituents;
mod dbow;
mod masked;
mod memory;
mod neighbours;
mod window;

pub use constituents::{Constituent, ConstituentScratch, ConstituentTargets, Constituents};
pub use dbow::DistributedBagOfWords;
pub use masked::{MaskedFeatures, MaskedScratch, MaskedTargets};
pub use memory::{DistributedMemory, MemoryScratch, Surroundings, WindowSide};
pub use neighbours::NeighbouringSentences;
pub use window::{ContinuousBagOfWords, SkipGram};

use senv_core::{TokenId, corpus::BlockBuffer, rng::Stream};

use crate::plan::Plan;

/// Turns sentences into contexts and targets.
pub trait Examples: Send + Sync {
    /// Memory that planning reuses from sentence to sentence.
    type Scratch: Default + Send;

    /// Height of the source table: rows that contexts are made of.
    fn n_source_rows(&self) -> usize;

    /// Height of the target table: rows that are predicted and drawn as negatives, several for each where contexts are
    /// concatenated ([`Plan::concatenate`]).
    fn n_target_rows(&self) -> usize;

    /// Appends the examples of a sentence to the plan. `number` counts the sentences of the corpus from 0; every
    /// random choice comes from `rng`.
    fn plan(&self, sentence: &[TokenId], number: u64, rng: &mut Stream, scratch: &mut Self::Scratch, plan: &mut Plan);

    /// The same of sentence `i` of a block, for systems that look at the sentences around it; all others need
    /// [`Examples::plan`] alone.
    fn plan_in_block(
        &self,
        block: &BlockBuffer,
        i: usize,
        rng: &mut Stream,
        scratch: &mut Self::Scratch,
        plan: &mut Plan,
    ) {
        self.plan(block.sentence(i), block.first_sentence() + i as u64, rng, scratch, plan);
    }
}
