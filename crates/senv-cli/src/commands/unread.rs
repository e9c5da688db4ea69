//! Sentences so long that a recurrent encoder does not read their ends.

use std::ops::AddAssign;

use senv_core::Coverage;

use crate::output::{self, plural};

/// Such sentences, and the tokens at their ends.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Unread {
    sentences: u64,
    tokens: u64,
}

impl Unread {
    /// Counts a sentence, if it is such a one.
    pub(crate) fn add(&mut self, coverage: &Coverage) {
        self.sentences += u64::from(coverage.unread > 0);
        self.tokens += coverage.unread as u64;
    }

    /// Says how many there were, if there were any.
    pub(crate) fn warn(self) {
        if self.sentences > 0 {
            let (sentences, tokens) = (plural(self.sentences, "sentence"), plural(self.tokens, "token"));
            output::warn(&format!(
                "{sentences} longer than a recurrent model reads: the last {tokens} are not part of the vectors; put one \
                 sentence on a line"
            ));
        }
    }
}

impl AddAssign for Unread {
    fn add_assign(&mut self, other: Self) {
        self.sentences += other.sentences;
        self.tokens += other.tokens;
    }
}
