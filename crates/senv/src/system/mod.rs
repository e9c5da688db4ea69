//! What systems have in common.

pub(crate) mod new_words;
pub(crate) mod pair_system;
pub(crate) mod text_system;
