//! What all modules build on: parts of model files, the identity of data, options of a run, the size of a text.

pub(crate) mod configuration;
#[cfg(feature = "english")]
pub(crate) mod english_name;
pub(crate) mod file;
pub(crate) mod fingerprint;
pub(crate) mod left_texts;
pub(crate) mod memory_text;
pub(crate) mod range;
pub(crate) mod sealed;
pub(crate) mod text_files;
pub(crate) mod text_sample;
pub(crate) mod text_size;
pub(crate) mod train_options;
