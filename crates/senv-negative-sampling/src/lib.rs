#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod block_order;
mod checkpoints;
mod coefficients;
mod deterministic;
mod error;
mod examples;
mod fit;
mod hogwild;
mod infer;
mod noise;
pub mod objective;
mod overlay;
mod pace;
mod params;
mod plan;
mod run;
mod spin;
mod step;
mod subsampling;
mod synchronisation;
mod tables;

pub use error::{Error, Result};
pub use examples::{
    Constituent, ConstituentScratch, ConstituentTargets, Constituents, ContinuousBagOfWords, DistributedBagOfWords,
    DistributedMemory, Examples, MaskedFeatures, MaskedScratch, MaskedTargets, MemoryScratch, NeighbouringSentences,
    SkipGram, Surroundings, WindowSide,
};
pub use fit::{Outcome, fit};
pub use infer::{Inference, infer, infer_among_words};
pub use noise::{Negatives, Noise, NoiseSource};
pub use objective::Composition;
pub use params::{
    DEFAULT_EPOCHS, DEFAULT_LR, DEFAULT_NEGATIVES, NegativeSamplingParams, NegativeSharing, Schedule, TextOrder,
};
pub use plan::Plan;
pub use subsampling::{Subsampling, keep_probability};
pub use tables::Tables;
