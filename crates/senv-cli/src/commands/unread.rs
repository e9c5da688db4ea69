//! Sentences so long that a recurrent encoder does not read their ends.

use senv::jobs::CoverageCounts;

use crate::output::{self, plural};

/// Says how many there were, if there were any.
pub(crate) fn warn_of_unread(counts: &CoverageCounts) {
    if counts.unread > 0 {
        let (sentences, tokens) = (plural(counts.unread, "sentence"), plural(counts.unread_tokens, "token"));
        output::warn(&format!(
            "{sentences} longer than a recurrent model reads: the last {tokens} are not part of the vectors; put one \
             sentence on a line"
        ));
    }
}
