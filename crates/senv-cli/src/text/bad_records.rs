//! `--skip-bad`: the records that were left out, over all files that a command reads.

use std::sync::OnceLock;

use senv_core::text::BadRecords;
use serde_json::json;

use crate::{
    failure::{Failure, Result},
    output::{self, grouped, plural},
};

static LEFT_OUT: OnceLock<BadRecords> = OnceLock::new();

/// Leaves out up to this number of records. All readers of a run share them.
pub(crate) fn up_to(n: u64) -> BadRecords {
    LEFT_OUT.get_or_init(|| BadRecords::up_to(n)).clone()
}

/// Lists what was left out, on standard error, and with `is_json` also as a last object on standard output.
pub(crate) fn report(is_json: bool) -> Result {
    let Some(bad) = LEFT_OUT.get().filter(|bad| bad.n() > 0) else { return Ok(()) };
    let first = bad.first();
    let more = bad.n() - first.len() as u64;
    output::warn(&format!("left out {}", plural(bad.n(), "bad record")));
    for bad in &first {
        output::note(&format!("{}:{}: {}", bad.path.display(), bad.line, bad.reason));
    }
    if more > 0 {
        output::note(&format!("and {} more", grouped(more)));
    }
    if is_json {
        let first: Vec<_> = first
            .iter()
            .map(|bad| json!({ "file": bad.path.display().to_string(), "line": bad.line, "reason": bad.reason }))
            .collect();
        let mut out = output::stdout();
        output::write_json_line(&mut out, &json!({ "bad_records": bad.n(), "first_bad_records": first }))
            .and_then(|()| std::io::Write::flush(&mut out))
            .map_err(Failure::stdout)?;
    }
    Ok(())
}
