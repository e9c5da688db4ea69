#![doc = include_str!("../README.md")]
mod coefficients;
mod deterministic;
mod error;
mod examples;
mod fit;
mod hogwild;
mod infer;
mod noise;
pub mod objective;
mod order;
mod overlay;
mod pace;
mod params;
mod plan;
mod run;
mod spin;
mod step;
mod subsampling;

pub use error::{Error, Result};
pub use examples::{
    ContinuousBagOfWords, DistributedBagOfWords, Examples, MaskedFeatures, MaskedScratch, MaskedTargets,
    NeighbouringSentences, SkipGram,
};
pub use fit::{Outcome, Tables, fit};
pub use infer::{Inference, infer};
pub use noise::Noise;
pub use params::{
    DEFAULT_EPOCHS, DEFAULT_LR, DEFAULT_NEGATIVES, NegativeSamplingParams, NegativeSharing, Schedule, TextOrder,
};
pub use plan::Plan;
pub use subsampling::{Subsampling, keep_probability};
