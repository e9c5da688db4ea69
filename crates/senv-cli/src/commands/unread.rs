//! Sentences too long for a recurrent encoder to read to the end.

use senv::jobs::CoverageCounts;

use crate::output::{self, plural};

/// Warns about such sentences, if there were any.
pub(crate) fn warn_of_unread(counts: &CoverageCounts) {
    if counts.unread > 0 {
        let (sentences, tokens) = (plural(counts.unread, "sentence"), plural(counts.unread_tokens, "token"));
        output::warn(&format!(
            "{sentences} too long for the recurrent model, which ignored the last {tokens}; put one sentence per line"
        ));
    }
}
