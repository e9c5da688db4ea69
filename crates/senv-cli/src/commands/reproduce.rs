//! `senv reproduce`: the tables of the papers, ours beside theirs.

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

/// Make the tables of the papers: train, evaluate, and print ours beside theirs.
///
/// Every figure is made by commands of senv, which stand in the report. They run one after the other, by starting this
/// program; what has run is kept in the folder of --output, so that the same command goes on where it was stopped. A
/// data set that is not there is a row that says so. Data are smaller than in the papers, and rows that a claim
/// compares have three seeds, so that all of it takes about four hours and a half on two cores; --list says what is run
/// and how long each part takes. Models need tens of gigabytes in the folder, fewer with --remove-models.
///
/// It writes PAPER.md for each paper, with the checksums of the data files, report.html with all papers, claims.md
/// (what the papers claim, each with its verdict), and results.json. `senv reproduce claims` prints the claims of what
/// has run.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  senv reproduce --list
  senv reproduce cse --data DIR --output OUT
  senv reproduce claims --data DIR --output OUT
  senv reproduce --data DIR --output OUT --text books.txt")]
pub(crate) struct Reproduce {
    /// Papers; all without any. With `claims` among them, what they claim is printed, and nothing is run.
    #[arg(value_name = "PAPER", value_parser = subjects())]
    subjects: Vec<Subject>,
    /// The folder of the data sets: as sts/2014/TASK.tsv, sick/test.tsv and so on, or as their authors name the files.
    #[arg(long, value_name = "DIR", required_unless_present = "list")]
    data: Option<PathBuf>,
    /// The folder for models, results and reports; one that this command made, or a new one.
    #[arg(long, short, value_name = "FOLDER", required_unless_present = "list")]
    output: Option<PathBuf>,
    /// Running text to train on instead of that in the folder of the data sets: one sentence a line, a blank line
    /// between documents.
    #[arg(long, value_name = "FILE", num_args = 1..)]
    text: Vec<PathBuf>,
    /// Print tables, rows and commands with the minutes they take, and run nothing.
    #[arg(long)]
    list: bool,
    /// Write the reports of what has run so far, and run nothing.
    #[arg(long, conflicts_with = "list")]
    report: bool,
    /// Remove a model once nothing that is left reads it.
    #[arg(long, conflicts_with_all = ["list", "report"])]
    remove_models: bool,
    /// Cut epochs, steps and dimensions down and take one seed, to try all commands out in minutes; the figures mean
    /// nothing.
    #[arg(long)]
    quick: bool,
}

/// What is asked for: a paper, or the claims of the papers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Subject {
    Paper(PaperName),
    Claims,
}

/// The name that stands for the claims.
const CLAIMS: &str = "claims";

/// The names of the papers, each with its help, and the claims.
fn subjects() -> impl TypedValueParser<Value = Subject> {
    let papers = PaperName::ALL.iter().map(|paper| PossibleValue::new(paper.name()).help(paper.about()));
    let claims = PossibleValue::new(CLAIMS).help("What the papers claim, with the verdict of what has run");
    PossibleValuesParser::new(papers.chain([claims])).try_map(|name| match &name[..] {
        CLAIMS => Ok(Subject::Claims),
        name => name.parse::<PaperName>().map(Subject::Paper),
    })
}

impl Reproduce {
    pub(crate) fn run(self, threads: usize) -> Result {
        if let Some(path) = self.data.as_ref().filter(|path| !path.is_dir()) {
            return Err(Failure::Usage(format!("{} is no folder; --data takes that of the data sets", path.display())));
        }
        if let Some(path) = self.text.iter().find(|path| !path.is_file()) {
            return Err(Failure::Usage(format!("there is no file {}; --text takes running text", path.display())));
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
        output::note(&format!("{} and more in {}", folder.join("report.html").display(), duration(started.elapsed())));
        output::print(&run.to_markdown())?;
        if run.has_failed() {
            return Err(
                std::io::Error::other("some commands failed; the rows say why, and their logs are named").into()
            );
        }
        Ok(())
    }

    /// What the arguments ask for; a list has names for the folders that are not given.
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

/// What an error of a run is to the program.
fn failure(error: Error) -> Failure {
    match error {
        Error::NotARun { path } => {
            let folder = path.display();
            Failure::Usage(format!("{folder} is there and holds no run of this command; give another --output"))
        }
        Error::Core(senv_core::Error::Interrupted { .. }) => {
            output::warn("stopped on request; the same command goes on from here");
            Failure::Interrupted
        }
        error => error.into(),
    }
}

/// Shows how a run goes on, and passes on the wish to stop.
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
        self.note(&format!("{commands} of {of} left, about {}", duration(time)));
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

    /// Parses every command of these options; returns how many there are.
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
        // Without data, a set stands for one file.
        assert!(parse(Options::new("none", "none")) > 200);
        let mut options = Options::new("none", "none");
        options.text = vec!["books.txt".into(), "news.txt".into()];
        options.quick = true;
        assert!(parse(options) > 200);
    }
}
