//! `senv reproduce`: the tables of the papers, next to our results.

use std::{
    path::PathBuf,
    time::{Duration, Instant},
};

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use indicatif::ProgressBar;
use senv_reproduce::{Error, Options, PaperName, Remaining, Reproduction, ReproductionRun, RunObserver};

use crate::{
    failure::{Failure, Result},
    interrupt::Interrupt,
    output::{self, duration},
};

/// Reproduce the tables of the papers: train, evaluate and compare.
///
/// Prints our results next to those of the papers. The report names the senv commands behind every figure. They run one
/// after another as separate processes. The output folder keeps their results, so the same command continues a stopped
/// run. A missing data set is reported in its row. The data are smaller than in the papers, and rows that a claim
/// compares use three seeds. Everything takes about three and a half hours on two cores; --list shows what runs and how
/// long each part takes. Models need tens of gigabytes in the folder, less with --remove-models.
///
/// Writes PAPER.md for each paper with the checksums of the data files, report.html with all papers, claims.md with the
/// verdict on each claim of the papers, and results.json. `senv reproduce claims` prints the claims for what has run.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  senv reproduce cse --data DIR --output OUT
  senv reproduce --list
  senv reproduce claims --data DIR --output OUT
  senv reproduce --data DIR --output OUT --text books.txt")]
pub(crate) struct Reproduce {
    /// Papers to reproduce, or `claims` [default: all papers]
    ///
    /// `claims` prints what the papers claim and runs nothing.
    #[arg(value_name = "PAPER", value_parser = subjects())]
    subjects: Vec<Subject>,
    /// Folder of the data sets.
    ///
    /// Files are named sts/2014/TASK.tsv, sick/test.tsv and so on, or have the names that their authors gave them.
    #[arg(long, value_name = "DIR", required_unless_present = "list")]
    data: Option<PathBuf>,
    /// Folder for models, results and reports: a new one, or one that this command wrote.
    #[arg(long, short, value_name = "FOLDER", required_unless_present = "list")]
    output: Option<PathBuf>,
    /// Text to train on, instead of that in the data folder.
    ///
    /// One sentence per line, with a blank line between documents.
    #[arg(long, value_name = "FILE", num_args = 1..)]
    text: Vec<PathBuf>,
    /// List tables, rows and commands with their minutes, and run nothing.
    #[arg(long)]
    list: bool,
    /// Write reports of the runs so far, and run nothing.
    #[arg(long, conflicts_with = "list")]
    report: bool,
    /// Remove each model when no remaining command needs it.
    #[arg(long, conflicts_with_all = ["list", "report"])]
    remove_models: bool,
    /// Try all commands in minutes, with few epochs and one seed.
    ///
    /// Epochs, steps and dimensions are reduced, so the figures mean nothing.
    #[arg(long)]
    quick: bool,
}

/// What to reproduce: a paper, or the claims of the papers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Subject {
    Paper(PaperName),
    Claims,
}

/// The name for the claims.
const CLAIMS: &str = "claims";

/// The names of the papers, each with its help, and the claims.
fn subjects() -> impl TypedValueParser<Value = Subject> {
    let papers = PaperName::ALL.iter().map(|paper| PossibleValue::new(paper.name()).help(paper.about()));
    let claims = PossibleValue::new(CLAIMS).help("The claims of the papers, with verdicts on what has run");
    PossibleValuesParser::new(papers.chain([claims])).try_map(|name| match &name[..] {
        CLAIMS => Ok(Subject::Claims),
        name => name.parse::<PaperName>().map(Subject::Paper),
    })
}

impl Reproduce {
    pub(crate) fn run(self, threads: usize) -> Result {
        if let Some(path) = self.data.as_ref().filter(|path| !path.is_dir()) {
            return Err(Failure::Usage(format!("{} is not a folder; --data needs the data folder", path.display())));
        }
        if let Some(path) = self.text.iter().find(|path| !path.is_file()) {
            return Err(Failure::Usage(format!("there is no file {}; --text needs a text file", path.display())));
        }
        let reproduction = Reproduction::new(self.options(threads)?);
        if self.list {
            return output::print(&reproduction.list());
        }
        let mut run = ReproductionRun::open(&reproduction).map_err(failure)?;
        if self.subjects.contains(&Subject::Claims) {
            return output::print(&run.claims_to_markdown());
        }
        let started = Instant::now();
        let progress = RunProgress::new();
        let ended = if self.report { run.write_reports() } else { run.complete(&progress) };
        progress.bar.finish_and_clear();
        ended.map_err(failure)?;
        let folder = &reproduction.options().output;
        output::note(&format!(
            "{} written after {}",
            folder.join("report.html").display(),
            duration(started.elapsed())
        ));
        output::print(&run.to_markdown())?;
        if run.has_failed() {
            return Err(
                std::io::Error::other("some commands failed; their rows give the reason and the log file").into()
            );
        }
        Ok(())
    }

    /// The options from the arguments; a list has placeholders for missing folders.
    fn options(&self, threads: usize) -> Result<Options> {
        let folder = |given: &Option<PathBuf>, name: &str| given.clone().unwrap_or_else(|| PathBuf::from(name));
        let mut options = Options::new(folder(&self.data, "DATA"), folder(&self.output, "OUT"));
        let paper = |subject: &Subject| match subject {
            Subject::Paper(name) => Some(*name),
            Subject::Claims => None,
        };
        let papers: Vec<PaperName> = self.subjects.iter().filter_map(paper).collect();
        if !papers.is_empty() {
            options.papers = papers;
        }
        options.text.clone_from(&self.text);
        options.quick = self.quick;
        options.remove_models = self.remove_models;
        options.program = std::env::current_exe().map_err(|error| senv_core::Error::io("find", "senv", error))?;
        options.threads = threads;
        Ok(options)
    }
}

/// The failure for an error of a run.
fn failure(error: Error) -> Failure {
    match error {
        Error::NotARun { path } => {
            let folder = path.display();
            Failure::Usage(format!("{folder} exists and was not written by this command; give another --output"))
        }
        Error::Core(senv_core::Error::Interrupted { .. }) => {
            output::warn("stopped; run the same command to continue");
            Failure::Interrupted
        }
        error => error.into(),
    }
}

/// Shows the progress of a run and passes on a request to stop.
struct RunProgress {
    interrupt: Interrupt,
    bar: ProgressBar,
}

impl RunProgress {
    fn new() -> Self {
        Self { interrupt: Interrupt::install(), bar: output::spinner("{spinner} {elapsed}  {wide_msg}") }
    }

    fn note(&self, line: &str) {
        self.bar.suspend(|| output::note(line));
    }
}

impl RunObserver for RunProgress {
    fn remaining(&self, remaining: &Remaining) {
        let Remaining { commands, of, time, .. } = *remaining;
        self.note(&format!("{commands} of {of} commands left, about {}", duration(time)));
    }

    fn started(&self, command: &str) {
        self.bar.set_message(output::for_terminal(command).into_owned());
    }

    fn ended(&self, command: &str, outcome: std::result::Result<Duration, &str>) {
        let end = outcome.map_or_else(|reason| format!("FAILED: {reason}"), duration);
        self.note(&format!("{command}: {end}"));
    }

    fn stops(&self) -> bool {
        self.interrupt.is_requested()
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::args::Cli;

    /// Parses every command of these options; returns their number.
    fn parse(options: Options) -> usize {
        let reproduction = Reproduction::new(options);
        let parse = |command: &str| {
            if let Err(error) = Cli::try_parse_from(command.split_whitespace()) {
                panic!("{command}: {error}");
            }
        };
        reproduction.commands().map(parse).count()
    }

    #[test]
    fn every_command_is_one_of_the_program() {
        // Without data, a set counts as one file.
        assert!(parse(Options::new("none", "none")) > 200);
        let mut options = Options::new("none", "none");
        options.text = vec!["books.txt".into(), "news.txt".into()];
        options.quick = true;
        assert!(parse(options) > 200);
    }
}
