//! Records without text, over all files that a command reads: other commands than `encode` skip them.

use std::sync::OnceLock;

use senv_core::text::BlankRecords;

use crate::output::{self, grouped, plural};

static SEEN: OnceLock<BlankRecords> = OnceLock::new();

/// What counts them. All readers of a run share it.
pub(crate) fn seen() -> BlankRecords {
    SEEN.get_or_init(BlankRecords::default).clone()
}

/// Notes how many there were, and the first places.
pub(crate) fn note() {
    let Some(blank) = SEEN.get().filter(|blank| blank.n() > 0) else { return };
    let (n, first) = (blank.n(), blank.first());
    let more = match n - first.len() as u64 {
        0 => String::new(),
        more => format!(" and {} more", grouped(more)),
    };
    let places: Vec<String> = first.iter().map(|(path, line)| format!("{}:{line}", path.display())).collect();
    let have = if n == 1 { "has" } else { "have" };
    output::note(&format!("{} {have} no text in the column: {}{more}", plural(n, "record"), places.join(", ")));
}
