//! `senv encode` of many files into a folder.

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

/// The formats of the files of a folder: their endings.
const FORMATS: [&str; 8] = ["npy", "tsv", "csv", "jsonl", "json", "txt", "parquet", "arrow"];

/// How files become a folder.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct FolderArgs {
    /// The format of the files in the output folder [default: parquet where all inputs are Parquet or Arrow, else npy]
    #[arg(long, value_name = "FORMAT", value_parser = FORMATS, help_heading = "Large inputs")]
    output_format: Option<String>,
    /// Share the files among all processes that are given this folder and the same output, on any number of machines
    /// that see both.
    ///
    /// Each file is claimed by one of them. A process that dies is replaced; one that was only slow discards what it
    /// made. Each ends when all files are complete.
    #[arg(long, value_name = "FOLDER", help_heading = "Large inputs")]
    claims: Option<PathBuf>,
    /// Seconds without a sign of life after which a process counts as dead, and another one takes over its file; six
    /// signs are given in this time. The same for all processes.
    #[arg(long, value_name = "SECONDS", default_value_t = 60.0, value_parser = seconds, requires = "claims", help_heading = "Large inputs")]
    claim_timeout: f64,
    /// Of a folder: compare inputs and outputs with their checksums even where their length and time of change are as
    /// they were.
    #[arg(long, help_heading = "Large inputs")]
    check_hashes: bool,
}

fn seconds(text: &str) -> std::result::Result<f64, String> {
    let seconds = text.parse().ok().filter(|seconds| (0.1..=86_400.0).contains(seconds));
    seconds.ok_or_else(|| "expected seconds, from 0.1 to 86400".into())
}

impl FolderArgs {
    /// Whether an output is a folder.
    pub(super) fn is_folder(&self, output: &Path) -> bool {
        !is_dash(output)
            && (output.is_dir() || output.as_os_str().to_string_lossy().ends_with(['/', std::path::MAIN_SEPARATOR]))
    }

    /// Refuses options of folders where the output is none.
    pub(super) fn check_unused(&self, output: &Path) -> Result {
        let given = [
            ("--claims", self.claims.is_some()),
            ("--output-format", self.output_format.is_some()),
            ("--check-hashes", self.check_hashes),
        ];
        let Some((option, _)) = given.iter().find(|(_, is_given)| *is_given) else { return Ok(()) };
        let message = format!(
            "{option} is for a folder of outputs, and --output {} is none; end the name of a folder with /",
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

/// Encodes each file into one of its own.
pub(super) fn run(command: &Encode, inputs: &[PathBuf], threads: usize) -> Result {
    if let Some(Shard { .. }) = command.shard {
        let message =
            "--shard divides an input that becomes one file; processes share the files of a folder by --claims FOLDER";
        return Err(Failure::Usage(message.into()));
    }
    if inputs.iter().any(|path| is_dash(path)) {
        let message = "a folder gets a file for each input file, and standard input has no name; give --output FILE, or name files";
        return Err(Failure::Usage(message.into()));
    }
    let started = Instant::now();
    let (ending, format) = command.folder.format(inputs, command.digits)?;
    let model = command.model.open()?;
    model.prepare_for_many();
    command.text.note_tables(inputs);
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
            "{files} of other inputs in {} were made with other settings or another model ({first}); delete what is not needed",
            command.output.display()
        ));
    }
    if outcome.complete > 0 {
        output::note(&format!("{} complete already, or by others", plural(outcome.complete as u64, "file")));
    }
    output::note(&format!("{} in {}", plural(outcome.finished as u64, "new file"), command.output.display()));
    if outcome.finished > 0 {
        report_counts(counts, started);
    }
    // The last one is the error that the command ends with.
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
    output::note(&format!("{} failed; the same command tries {them} again", plural(n as u64, "file")));
    Err(last)
}

/// What decides how an output looks, beside the model.
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

/// Says what happens.
fn say(event: FolderEvent<'_>) {
    match event {
        FolderEvent::Again(path, why) => {
            output::note(&format!("{}: its output is made again: {why}", path.display()));
        }
        FolderEvent::TakenOver(path, from) => {
            output::note(&format!("{}: taken over from {from}, which gives no sign of life", path.display()));
        }
        FolderEvent::Finished(path, rows) => output::note(&format!("{}: {}", path.display(), plural(rows, "row"))),
        FolderEvent::Lost(path) => output::warn(&format!(
            "{}: another process has taken this file over, since this one gave no sign of life; what was made here is discarded \
             (a longer --claim-timeout helps)",
            path.display()
        )),
        FolderEvent::Waiting(n) => {
            output::note(&format!(
                "{} with other processes; waiting until they are complete",
                plural(n as u64, "file")
            ));
        }
        _ => {}
    }
}
