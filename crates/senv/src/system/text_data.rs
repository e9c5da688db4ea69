//! Text that was read for a system, with what was chosen by it.

use std::{borrow::Cow, path::PathBuf};

use senv_core::{Corpus, Tokenizer, Vocabulary};
use senv_negative_sampling::Constituents;
use senv_store::Embeddings;

use crate::base::text_size::TextSize;

/// Text that was read for a system ([`TextSystem::read`](crate::TextSystem::read)): what [`TextSystem::fit_data`](crate::TextSystem::fit_data) trains on.
#[derive(Debug)]
pub struct TextData<'a> {
    /// The known words.
    pub vocabulary: Vocabulary,
    /// The text as ids of them.
    pub corpus: Corpus,
    /// The constituents of its sentences, where it was read as trees.
    pub constituents: Option<Constituents>,
    /// The vectors that training starts from.
    pub vectors: Option<Cow<'a, Embeddings>>,
    /// How it was tokenized.
    pub tokenizer: Tokenizer,
    /// Words that occur less often are unknown.
    pub min_count: u64,
    /// How long it is.
    pub size: TextSize,
    /// The files.
    pub paths: Vec<PathBuf>,
}
