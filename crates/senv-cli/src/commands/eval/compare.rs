//! `senv eval compare`: compares two systems of `senv eval all`, task by task.

use std::path::{Path, PathBuf};

use clap::builder::RangedU64ValueParser;
use senv_eval::{BenchRecord, DEFAULT_COMPARISON_RESAMPLES, SystemRecord, compare_systems};
use senv_metrics::Bootstrap;

use crate::{
    failure::{Failure, Result},
    output,
};

/// Compare two systems of `senv eval all`, with intervals and tests.
///
/// Each FILE is the --json output of a run. Compares the first system of each, or those named by --systems; with one
/// FILE both are from that run. The difference on each task has a 95 % interval and two p-values with Holm correction
/// over the tasks. The paired bootstrap tests whether one number is higher. For means, the Wilcoxon signed-rank test
/// tells whether the scores of the items differ in level. The data must be byte-identical.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  senv eval compare new.json old.json
  senv eval compare all.json --systems new old
  senv eval compare new.json bert.json --systems new bert --json")]
pub(super) struct Compare {
    /// Runs of `senv eval all --json`.
    #[arg(required = true, num_args = 1..=2, value_name = "FILE")]
    runs: Vec<PathBuf>,
    /// Names of the two systems [default: the first of each run]
    #[arg(long, num_args = 2, value_names = ["FIRST", "SECOND"])]
    systems: Vec<String>,
    /// Number of bootstrap samples, 1000 to 1000000; more tasks need more of them to show a difference.
    #[arg(long, value_name = "N", default_value_t = DEFAULT_COMPARISON_RESAMPLES,
          value_parser = RangedU64ValueParser::<usize>::new().range(1_000..=1_000_000))]
    resamples: usize,
    /// Random seed of the bootstrap.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

impl Compare {
    pub(super) fn run(self) -> Result {
        let (first_path, second_path) = (&self.runs[0], self.runs.last().unwrap_or(&self.runs[0]));
        if self.runs.len() == 1 && self.systems.is_empty() {
            let message = "only one run is given; name two of its systems with --systems, or give another run";
            return Err(Failure::Usage(message.to_owned()));
        }
        let (first, second) = (BenchRecord::read(first_path)?, BenchRecord::read(second_path)?);
        let a = system(&first, first_path, self.systems.first())?;
        let b = system(&second, second_path, self.systems.get(1))?;
        let comparison =
            compare_systems((&first, a), (&second, b), Bootstrap { resamples: self.resamples, seed: self.seed })?;
        if self.json { output::print_json(&comparison) } else { output::print(&comparison.to_text()) }
    }
}

/// The system with this name, or the first.
fn system<'a>(record: &'a BenchRecord, path: &Path, name: Option<&String>) -> Result<&'a SystemRecord> {
    let found = match name {
        Some(name) => record.systems.iter().find(|system| &system.name == name),
        None => record.systems.first(),
    };
    found.ok_or_else(|| {
        let known = record.systems.iter().map(|system| &system.name[..]).collect::<Vec<_>>().join(", ");
        let wanted =
            name.map_or_else(|| "a system".to_owned(), |name| format!("{name}", name = senv_core::quoted(name)));
        Failure::Usage(format!("{} has no {wanted}; it has {known}", path.display()))
    })
}
