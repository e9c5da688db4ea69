//! What the recurrent systems share: how text becomes tokens, an encoder with decoders, what it learns from, what it says.

mod form;
mod model;
mod reading;
mod telling;
mod training;
mod words;

pub use form::{OutputForm, SequenceForm};
pub(crate) use model::Part;
pub use model::{Said, SequenceConfig, SequenceModel, SequenceSystem};
pub use reading::Reading;
pub(crate) use reading::{END, encode_many, encode_one, gather};
pub(crate) use telling::Example;
pub(crate) use training::{Data, Settings, Trainable};
pub use words::LongSentences;
pub(crate) use words::{SPECIAL, Text, assemble, known};
