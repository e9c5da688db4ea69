//! `senv eval all`: every protocol on every system, in one report.

mod systems;

use std::{fs, io::Write, path::PathBuf, time::Instant};

use clap::builder::RangedU64ValueParser;
use indicatif::ProgressBar;
use senv::evaluation::{BenchEvent, BenchRun};
use senv_core::{Error as CoreError, files::AtomicFile};
use senv_eval::{BenchData, BenchOptions, BenchRecord, Drawing, Protocol, choose_protocols, protocols};

use crate::{
    destination::{Content, Destination, ForceArg},
    failure::{Failure, Result},
    interrupt::LastWords,
    output::{self, duration, plural},
    report::go_on,
};

use self::systems::VectorsArg;
use super::shared::open_data;

/// Run every protocol on every model, on published and your own data.
///
/// Your own data can have any names, in the folder or in folders inside it; compressed files work, too:
///
/// * Scored pairs: .csv, .tsv or .jsonl with sentence1, sentence2 and score, or lines of two texts and a number.
/// * Labeled text: the same with text and label, or lines of LABEL<TAB>TEXT. NAME-train.csv and NAME-test.csv belong
///   together, as do NAME/train.csv and NAME/test.csv (or dev, valid and so on), whatever their sizes; a note names
///   them. Of a file that is alone, every fifth text of each label is tested.
/// * Retrieval: folders with corpus.jsonl, queries.jsonl and qrels/test.tsv, as in BEIR.
///
/// They appear under the names of their files. A file that is not recognized is named with the reason. Published sets
/// are found by name: in the layouts of their authors, of SentEval, SemEval and MTEB, or as sts/YEAR/TASK.tsv,
/// sick/test.tsv and so on. Published figures appear below a set of their name and size. A missing set is reported in
/// one line.
///
/// Each number has a 95 % interval, and a mark if it differs significantly from the first model. With fewer than 20
/// pairs, texts or queries, "too few" is in their place. Own data come first. Vectors from other
/// programs appear in the same tables: --vectors F.npy --sentences F.txt, one vector per line. Each sentence is encoded
/// once.
///
/// The report is a self-contained HTML file. The JSON has the score of every item; `senv eval compare` reads it.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  senv eval all --data DIR
  senv eval all --models a.senv b.senv glove.txt --data DIR --report out.html --json out.json
  senv eval all --models a.senv b.senv --data DIR --figures plots
  senv eval all --data my-data --only pairs,labels,retrieval
  senv eval all --models a.senv --vectors bert.npy --sentences bert.txt --data DIR --only sts,sick")]
pub(super) struct All {
    /// Folder of the data sets.
    #[arg(long, value_name = "DIR")]
    data: PathBuf,
    /// Models or word vectors [default: english, unless --vectors is given]
    ///
    /// Marks refer to the first one.
    #[arg(long, short, value_name = "FILE", num_args = 1..)]
    models: Vec<PathBuf>,
    #[command(flatten)]
    vectors: VectorsArg,
    /// Write a report to this file.
    #[arg(long, value_name = "FILE.html")]
    report: Option<PathBuf>,
    /// Write all numbers, with the score of every item, to this file.
    #[arg(long, value_name = "FILE.json")]
    json: Option<PathBuf>,
    /// Write the tables to this file.
    #[arg(long, value_name = "FILE.md")]
    markdown: Option<PathBuf>,
    /// Write a picture of quality against model size to this file.
    #[arg(long, value_name = "FILE.svg")]
    picture: Option<PathBuf>,
    /// Write the plots of the report as SVG files into this folder, which is created if needed
    ///
    /// The files are named after what they show, such as quality-size.svg and quality-speed.svg. Only quality-speed.svg
    /// differs from run to run.
    #[arg(long, value_name = "DIR")]
    figures: Option<PathBuf>,
    #[command(flatten)]
    force: ForceArg,
    /// Run only these protocols, separated by commas; `senv eval protocols` lists them.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    only: Vec<String>,
    /// Leave out these protocols.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    skip: Vec<String>,
    /// Leave out protocols that train on the vectors, and entailment by the models' own classifiers; use 500 bootstrap
    /// samples.
    #[arg(long)]
    fast: bool,
    /// Leave out baselines without training: word overlap, TF-IDF, random vectors, SIF and uSIF weights.
    #[arg(long)]
    no_baselines: bool,
    /// Random seed of bootstrap, folds and random vectors.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Number of bootstrap samples, 500 to 100000; fewer cannot show a difference after Holm correction [default: 1000]
    #[arg(long, value_name = "N", value_parser = RangedU64ValueParser::<usize>::new().range(500..=100_000))]
    resamples: Option<usize>,
}

/// List the protocols of `senv eval all` with their data.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  senv eval protocols")]
pub(super) struct Protocols {}

impl Protocols {
    pub(super) fn run(self) -> Result {
        let mut text = String::new();
        for protocol in protocols() {
            let Protocol { name, title, metric, needs, paper, .. } = protocol;
            text += &format!("{name}\n  {title}: {metric} ({paper})\n  needs {needs}\n");
        }
        output::print(&text)
    }
}

/// The number of bootstrap samples with `--fast`: enough to show a difference after Holm correction over a table.
const FAST_RESAMPLES: usize = 500;

impl All {
    pub(super) fn run(self) -> Result {
        self.check_outputs()?;
        let started = Instant::now();
        let bar = output::spinner("{spinner} {msg}  {elapsed}");
        let bar_at_end = bar.clone();
        let last_words = LastWords::set(move || {
            bar_at_end.finish_and_clear();
            output::warn("stopped; nothing was written");
        });
        let mut chosen = choose_protocols(&self.only, &self.skip).map_err(|error| Failure::Usage(error.to_string()))?;
        if self.fast {
            chosen.retain(|protocol| !protocol.section.trains());
        }
        let data = BenchData::read(&open_data(&self.data)?, &chosen)?;
        let sentences = data.sentences();
        let note =
            format!("{} in {}", plural(sentences.len() as u64, "sentence"), plural(data.tasks.len() as u64, "task"));
        let is_without = |protocol: &&&Protocol| data.tasks.iter().all(|task| task.protocol != **protocol);
        let without = chosen.iter().filter(is_without).count();
        output::note(&format!("{note}; {} without data", plural(without as u64, "protocol")));
        if !data.notes.is_empty() {
            let n = plural(data.notes.len() as u64, "note");
            output::note(&format!(
                "{n} on the files, such as what belongs together and what is not recognized: below the tables"
            ));
        }
        let options = BenchOptions { seed: self.seed };
        let usual = senv_metrics::DEFAULT_RESAMPLES;
        let resamples = self.resamples.unwrap_or(if self.fast { FAST_RESAMPLES } else { usual });
        let bootstrap = senv_metrics::Bootstrap { resamples, seed: self.seed };
        let progress = BenchProgress { bar };
        let on_event = |event: BenchEvent<'_>| progress.show(event);
        let mut run = BenchRun::new(&data, options, bootstrap, &on_event);
        let ended = systems::run(&mut run, &self.models, &self.vectors, !self.no_baselines, &sentences, &progress);
        progress.bar.finish_and_clear();
        ended?;
        let record = data.record(command_line(), &options, bootstrap, run.records)?;
        let (text, reports) = (record.to_text()?, self.reports(&record)?);
        let drawings = if self.figures.is_some() { record.drawings()? } else { Vec::new() };
        drop(last_words);
        for (path, report) in reports {
            let written = AtomicFile::write_with(path, |file| file.write_all(report.as_bytes()));
            go_on(path.as_ref(), written.map_err(Failure::from))?;
        }
        self.write_figures(&drawings)?;
        output::print(&text)?;
        output::note(&format!("done in {}", duration(started.elapsed())));
        Ok(())
    }

    /// The outputs with their options.
    fn outputs(&self) -> impl Iterator<Item = (&PathBuf, &'static str)> {
        let outputs = [
            (&self.report, "--report"),
            (&self.json, "--json"),
            (&self.markdown, "--markdown"),
            (&self.picture, "--picture"),
        ];
        outputs.into_iter().filter_map(|(path, option)| path.as_ref().map(|path| (path, option)))
    }

    fn check_outputs(&self) -> Result {
        let inputs: Vec<PathBuf> = self.models.iter().chain(self.vectors.files()).cloned().collect();
        for (path, option) in self.outputs() {
            let content = if option == "--picture" { Content::Drawing } else { Content::Report };
            Destination { path, option, content, force: Some(self.force.force) }.check(&inputs)?;
        }
        // A wrong folder wastes no run.
        match &self.figures {
            Some(folder) => Ok(fs::create_dir_all(folder).map_err(|error| CoreError::io("create", folder, error))?),
            None => Ok(()),
        }
    }

    /// Writes the drawings into the folder of --figures, after a check that all of them can be written.
    fn write_figures(&self, drawings: &[Drawing]) -> Result {
        let Some(folder) = &self.figures else { return Ok(()) };
        let inputs: Vec<PathBuf> = self.models.iter().chain(self.vectors.files()).cloned().collect();
        let files: Vec<(PathBuf, &Drawing)> =
            drawings.iter().map(|drawing| (folder.join(format!("{}.svg", drawing.name)), drawing)).collect();
        for (path, _) in &files {
            let (content, force) = (Content::Drawing, Some(self.force.force));
            Destination { path, option: "--figures", content, force }.check(&inputs)?;
        }
        for (path, drawing) in &files {
            let written = AtomicFile::write_with(path, |file| file.write_all(drawing.to_file().as_bytes()));
            go_on(path, written.map_err(Failure::from))?;
        }
        let n = plural(files.len() as u64, "figure");
        output::note(&format!("{n} written to {}", folder.display()));
        Ok(())
    }

    /// The text of every output; all are made before the first is written.
    fn reports(&self, record: &BenchRecord) -> Result<Vec<(&PathBuf, String)>> {
        let report = |(path, option)| {
            let text = match option {
                "--report" => record.to_html()?,
                "--json" => record.to_json(),
                "--picture" => record.quality_against_size()?.ok_or_else(|| {
                    Failure::Usage("--picture needs two models or more, and similarity tasks in --data".into())
                })?,
                _ => record.to_markdown()?,
            };
            Ok((path, text))
        };
        self.outputs().map(report).collect()
    }
}

/// The command as it was typed, with quotes around arguments with blanks.
fn command_line() -> String {
    let quoted = |argument: String| match argument.chars().any(|c| c.is_whitespace() || "\"'$&;|<>*?".contains(c)) {
        true => format!("'{}'", argument.replace('\'', "'\\''")),
        false => argument,
    };
    let arguments = std::env::args_os().skip(1).map(|argument| quoted(argument.to_string_lossy().into_owned()));
    std::iter::once("senv".to_owned()).chain(arguments).collect::<Vec<_>>().join(" ")
}

/// Shows progress on a terminal. A signal ends the benchmark at any point: a classifier can take minutes, and nothing
/// is written before the end.
struct BenchProgress {
    bar: ProgressBar,
}

impl BenchProgress {
    /// Shows what comes next, and prints a line about what is done.
    fn show(&self, event: BenchEvent<'_>) {
        let next = |what: String| self.bar.set_message(output::for_terminal(&what).into_owned());
        match event {
            BenchEvent::Encoding(system, n) => next(format!("{system}: encoding {}", plural(n as u64, "sentence"))),
            BenchEvent::Task(system, task) => next(format!("{system}: {task}")),
            BenchEvent::Untrained => next("baselines".to_owned()),
            BenchEvent::Done(system, time) => {
                self.bar.suspend(|| output::note(&format!("{system}: {}", duration(time))));
            }
            _ => {}
        }
    }

    /// Runs something that may print.
    fn apart<T>(&self, print: impl FnOnce() -> T) -> T {
        self.bar.suspend(print)
    }
}
