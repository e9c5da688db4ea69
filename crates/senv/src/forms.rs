//! Types used in the settings of systems, from the crates of encoders, losses and negative sampling. A program that
//! uses them needs no other crate of senv.

pub use senv_encoders::{
    Activation, Conditioning, GranGate, GruInit, GruStyle, LstmInit, Padding, RecurrentTopology, StatePooling, Window,
};
pub use senv_losses::{
    Combine, InfoNce, InfoNceDirections, MarginLoss, NegativeCandidates, NliHeadForm, Prefix, RelatednessLoss,
    ScoreGrid, Selection, TargetRanking,
};
pub use senv_negative_sampling::{
    Composition, Constituents, Inference, NegativeSamplingParams, NegativeSharing, Schedule, WindowSide,
};
