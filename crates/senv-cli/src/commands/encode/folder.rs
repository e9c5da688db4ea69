//! `senv encode` with many files and a folder of outputs.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use senv::{
    jobs::{ClaimParams, CoverageCounts, FolderEvent, FolderJob, FolderParams},
    model::model_digest,
};
use senv_core::text::Shard;

use super::{Encode, format::Format, report as report_counts};
use crate::{
    failure::{Failure, Result},
    output::{self, plural},
    report,
    text::{is_arrow, is_dash},
};

/// The formats of the files in a folder: their extensions.
const FORMATS: [&str; 8] = ["npy", "tsv", "csv", "jsonl", "json", "txt", "parquet", "arrow"];

/// Arguments for a folder of outputs.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct FolderArgs {
    /// Format of the files in an output folder [default: parquet if all inputs are Parquet or Arrow, else npy]
    #[arg(long, value_name = "FORMAT", value_parser = FORMATS, help_heading = "Large inputs")]
    output_format: Option<String>,
    /// Share the files among all processes with this folder and the same output.
    ///
    /// The processes can run on any number of machines that see both folders. Each file is claimed by one of them. If a
    /// process dies, another takes over its file; a process that was only slow discards its result. All processes end
    /// when all files are complete.
    #[arg(long, value_name = "FOLDER", help_heading = "Large inputs")]
    claims: Option<PathBuf>,
    /// Seconds after which a silent process counts as dead and another takes over its file. Processes report six times
    /// in this period. Use the same value for all of them.
    #[arg(long, value_name = "SECONDS", default_value_t = 60.0, value_parser = seconds, requires = "claims", help_heading = "Large inputs")]
    claim_timeout: f64,
    /// Compare the checksums of inputs and outputs of a folder even if length and modification time are unchanged.
    #[arg(long, help_heading = "Large inputs")]
    check_hashes: bool,
}

fn seconds(text: &str) -> std::result::Result<f64, String> {
    let seconds = text.parse().ok().filter(|seconds| (0.1..=86_400.0).contains(seconds));
    seconds.ok_or_else(|| "expected a number of seconds from 0.1 to 86400".into())
}

impl FolderArgs {
    /// Whether an output is a folder.
    pub(super) fn is_folder(&self, output: &Path) -> bool {
        !is_dash(output)
            && (output.is_dir() || output.as_os_str().to_string_lossy().ends_with(['/', std::path::MAIN_SEPARATOR]))
    }

    /// Refuses options for folders if the output is not one.
    pub(super) fn check_unused(&self, output: &Path) -> Result {
        let given = [
            ("--claims", self.claims.is_some()),
            ("--output-format", self.output_format.is_some()),
            ("--check-hashes", self.check_hashes),
        ];
        let Some((option, _)) = given.iter().find(|(_, is_given)| *is_given) else { return Ok(()) };
        let message = format!(
            "{option} needs a folder of outputs, and --output {} is not one; end the name of a folder with /",
            output.display()
        );
        Err(Failure::Usage(message))
    }

    fn format(&self, inputs: &[PathBuf], digits: Option<u8>) -> Result<(&str, Format)> {
        let by_inputs = || if inputs.iter().all(|path| is_arrow(path)) { "parquet" } else { "npy" };
        let ending = self.output_format.as_deref().unwrap_or_else(by_inputs);
        Ok((ending, Format::of(&Path::new("vectors").with_extension(ending), digits)?))
    }
}

/// Encodes each file into a separate output.
pub(super) fn run(command: &Encode, inputs: &[PathBuf], threads: usize) -> Result {
    if let Some(Shard { .. }) = command.shard {
        let message =
            "--shard is for one output file; to share the files of a folder among processes, use --claims FOLDER";
        return Err(Failure::Usage(message.into()));
    }
    if inputs.iter().any(|path| is_dash(path)) {
        let message = "an output folder has one file per input file, and standard input has no name; give --output FILE, or \
                       input files";
        return Err(Failure::Usage(message.into()));
    }
    let started = Instant::now();
    let (ending, format) = command.folder.format(inputs, command.digits)?;
    let model = command.model.open()?;
    model.prepare_for_many();
    command.text.check_tables(inputs)?;
    let claims = command.folder.claims.as_ref().map(|folder| ClaimParams {
        timeout: Duration::from_secs_f64(command.folder.claim_timeout),
        ..ClaimParams::new(folder)
    });
    let params = FolderParams {
        ending: ending.into(),
        model: model_digest(&command.model.model)?,
        settings: settings(command, ending),
        claims,
        check_hashes: command.folder.check_hashes,
        force: command.force,
    };
    let job = FolderJob::open(&command.output, inputs, params)?;
    let mut counts = CoverageCounts::default();
    let outcome = job.run(
        |input, output| {
            let of_file = command.encode(&model, &[input.to_owned()], output, format, threads);
            let of_file = of_file.map_err(report::of_step)?;
            counts += of_file;
            Ok::<_, Failure>(of_file.lines)
        },
        say,
    )?;
    let durable = if outcome.finished > 0 { job.sync() } else { Ok(()) };
    let left = job.left_of_other_settings()?;
    if let Some(first) = left.first() {
        let files = plural(left.len() as u64, "file");
        output::warn(&format!(
            "{files} of other inputs in {} were made with other settings or another model ({first}); delete those you do not \
             need",
            command.output.display()
        ));
    }
    if outcome.complete > 0 {
        output::note(&format!("{} already complete", plural(outcome.complete as u64, "file")));
    }
    output::note(&format!("{} in {}", plural(outcome.finished as u64, "new file"), command.output.display()));
    if outcome.finished > 0 {
        report_counts(counts, started);
    }
    // The command ends with the last error.
    let n = outcome.failed.len();
    let mut failed = outcome.failed.into_iter();
    let Some((_, last)) = failed.next_back() else { return Ok(durable?) };
    if let Err(error) = durable {
        output::warn(&report::message(&error));
    }
    for (path, failure) in failed {
        if let Failure::Failed(error) = failure {
            output::warn(&format!("{} failed: {}", path.display(), report::message(error.as_ref())));
        }
    }
    let them = if n == 1 { "it" } else { "them" };
    output::note(&format!("{} failed; run the same command to try {them} again", plural(n as u64, "file")));
    Err(last)
}

/// The settings, besides the model, that change an output.
fn settings(command: &Encode, ending: &str) -> BTreeMap<String, String> {
    let mut settings = command.text.settings();
    settings.extend(command.model.settings());
    #[cfg(feature = "arrow")]
    if matches!(ending, "parquet" | "arrow") {
        settings.extend(command.table.settings());
    }
    settings.push(("--output-format", ending.to_owned()));
    settings.extend(command.digits.map(|digits| ("--digits", digits.to_string())));
    settings.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// Reports an event.
fn say(event: FolderEvent<'_>) {
    match event {
        FolderEvent::Again(path, why) => {
            output::note(&format!("{}: encoding again: {why}", path.display()));
        }
        FolderEvent::TakenOver(path, from) => {
            output::note(&format!("{}: taken over from {from}, which does not respond", path.display()));
        }
        FolderEvent::Finished(path, rows) => output::note(&format!("{}: {}", path.display(), plural(rows, "row"))),
        FolderEvent::Lost(path) => output::warn(&format!(
            "{}: another process took over this file because this one did not respond; its result is discarded (use a longer \
             --claim-timeout)",
            path.display()
        )),
        FolderEvent::Waiting(n) => {
            output::note(&format!("waiting for {} of other processes", plural(n as u64, "file")));
        }
        _ => {}
    }
}
