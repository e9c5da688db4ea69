//! Turns sentences into examples: what the context is, and what is predicted. Only this choice distinguishes Sent2Vec,
//! CBOW, skip-gram, PV-DBOW, PV-DM, FastSent and C-PHRASE; they share one trainer.

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
    /// Scratch memory for planning, reused between sentences.
    type Scratch: Default + Send;

    /// The height of the source table, whose rows make up contexts.
    fn n_source_rows(&self) -> usize;

    /// The height of the target table, whose rows are predicted and drawn as negatives. Concatenated contexts need
    /// several rows per target ([`Plan::concatenate`]).
    fn n_target_rows(&self) -> usize;

    /// Appends the examples of a sentence to the plan. `number` counts the sentences of the corpus from 0. Every random
    /// choice comes from `rng`.
    fn plan(&self, sentence: &[TokenId], number: u64, rng: &mut Stream, scratch: &mut Self::Scratch, plan: &mut Plan);

    /// Like [`Examples::plan`], for sentence `i` of a block. Only systems that use the sentences around it implement
    /// this method.
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
