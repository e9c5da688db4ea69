//! What the recurrent systems share: text as token ids, the encoder-decoder, its objective, training and decoding.

mod cell;
pub(crate) mod decoding;
mod form;
mod model;
mod objective;
mod training;
pub(crate) mod vocabulary_expansion;
mod words;

pub use cell::SequenceCell;
pub use form::{OutputForm, SequenceForm};
pub(crate) use model::EncoderPart;
pub use model::{SequenceConfig, SequenceModel, SequenceSystem};
pub(crate) use objective::Example;
pub(crate) use training::{Data, Settings, Trainable};
pub use words::LongSentences;
pub(crate) use words::{Text, TextWriter, assemble, each_sentence, known};
