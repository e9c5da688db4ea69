//! A piece of the text, with its ids as stored.

use serde::{Deserialize, Serialize};

/// The ids of one piece of text, as stored: the length of each sentence, then all ids.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Piece {
    /// Its index in the text.
    pub(super) number: u64,
    /// The set of provisional ids that its ids belong to.
    pub(super) set: usize,
    pub(super) file: usize,
    pub(super) start: u64,
    pub(super) n_sentences: usize,
    pub(super) n_ids: usize,
    /// Whether a blank line precedes the first sentence.
    pub(super) starts_document: bool,
    pub(super) n_replaced: u64,
}

impl Piece {
    /// The word after its last, unless that overflows.
    pub(super) fn end(&self) -> Option<u64> {
        self.start.checked_add(self.n_sentences as u64)?.checked_add(self.n_ids as u64)
    }
}
