//! Trained models: what each can do, one type for all of them, and how training went.

pub(crate) mod decode;
pub(crate) mod digest;
pub(crate) mod encoder_model;
pub(crate) mod expansion;
mod finite;
pub(crate) mod handle;
mod named_encoder;
pub(crate) mod reverse_dictionary;
pub(crate) mod saved;
pub(crate) mod score_pairs;
pub(crate) mod trained;
pub(crate) mod tunable;
pub(crate) mod word_vectors;

pub use {
    decode::{Decode, DecodeParams, DecodedSentence},
    digest::model_digest,
    encoder_model::{EncoderModel, EncoderSystem},
    expansion::{ExpansionReport, VocabularyExpansion},
    handle::Model,
    reverse_dictionary::{DefinedWord, ReverseDictionary},
    saved::{Abilities, EncodingCost, ExpandVocabulary, OpenModel, SavedModel},
    score_pairs::ScorePairs,
    trained::Trained,
    tunable::TunableEncoder,
};
