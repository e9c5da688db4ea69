//! `senv reproduce`: the tables of the papers, ours beside theirs.

mod checksums;
mod data;
mod grid;
mod markdown;
mod page;
mod paper;
mod papers;
mod plan;
mod reading;
mod results;
mod runner;

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use clap::ValueEnum;
use senv_core::files::AtomicFile;

use self::{
    checksums::{Checksums, Origin},
    data::Data,
    paper::Paper,
    plan::Plan,
    results::{PaperResult, Results, TableSteps},
    runner::{Runner, State},
};
use crate::{
    failure::{Failure, Result},
    output::{self, duration},
};

/// Make the tables of the papers: train, evaluate, and print ours beside theirs.
///
/// Every figure is made by commands of senv, which stand in the report. They run one after the other, by starting this
/// program; what has run is kept in the folder of --output, so that the same command goes on where it was stopped. A data
/// set that is not there is a row that says so. Data are smaller than in the papers, so that all of it takes about an hour
/// on two cores; --list says what is run and how long each part takes. Models need about 15 GB in the folder.
///
/// It writes PAPER.md for each paper, with the checksums of the data files, report.html with all papers, and results.json.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  senv reproduce --list
  senv reproduce cse --data DIR --output OUT
  senv reproduce --data DIR --output OUT --text books.txt")]
pub(crate) struct Reproduce {
    /// Papers; all without any.
    #[arg(value_name = "PAPER", value_enum)]
    papers: Vec<Name>,
    /// The folder of the data sets: as sts/2014/TASK.tsv, sick/test.tsv and so on, or as their authors name the files.
    #[arg(long, value_name = "DIR", required_unless_present = "list")]
    data: Option<PathBuf>,
    /// The folder for models, results and reports; one that this command made, or a new one.
    #[arg(long, short, value_name = "FOLDER", required_unless_present = "list")]
    output: Option<PathBuf>,
    /// Running text to train on instead of that in the folder of the data sets: one sentence a line, a blank line between
    /// documents.
    #[arg(long, value_name = "FILE", num_args = 1..)]
    text: Vec<PathBuf>,
    /// Print tables, rows and commands with the minutes they take, and run nothing.
    #[arg(long)]
    list: bool,
    /// Write the reports of what has run so far, and run nothing.
    #[arg(long, conflicts_with = "list")]
    report: bool,
    /// Cut epochs, steps and dimensions down, to try all commands out in minutes; the figures mean nothing.
    #[arg(long)]
    quick: bool,
}

/// The papers by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Name {
    /// Pagliardini, Gupta and Jaggi, 2018.
    Sent2vec,
    /// Kenter, Borisov and de Rijke, 2016.
    SiameseCbow,
    /// Convolutional sentence embeddings: phrases, sentences, SICK.
    Cse,
    /// Skip-thoughts, fine-tuned on SNLI, beside bags of words and autoencoders.
    SkipThoughts,
    /// Paraphrase-thoughts.
    PThought,
}

impl Name {
    fn paper(self) -> Paper {
        match self {
            Self::Sent2vec => papers::sent2vec(),
            Self::SiameseCbow => papers::siamese_cbow(),
            Self::Cse => papers::cse(),
            Self::SkipThoughts => papers::skip_thoughts(),
            Self::PThought => papers::p_thought(),
        }
    }
}

/// A paper with the steps of its tables.
type Planned = (Paper, Vec<TableSteps>);

impl Reproduce {
    pub(crate) fn run(self, threads: usize) -> Result {
        let names = if self.papers.is_empty() { Name::value_variants().to_vec() } else { self.papers.clone() };
        let folder = self.output.clone().unwrap_or_else(|| PathBuf::from("OUT"));
        let data_folder = self.data.clone().unwrap_or_else(|| PathBuf::from("DATA"));
        if let Some(path) = self.data.as_ref().filter(|path| !path.is_dir()) {
            return Err(Failure::Usage(format!("{} is no folder; --data takes that of the data sets", path.display())));
        }
        if let Some(path) = self.text.iter().find(|path| !path.is_file()) {
            return Err(Failure::Usage(format!("there is no file {}; --text takes running text", path.display())));
        }
        let data = Data::new(&data_folder, &self.text);
        let mut plan = Plan::new(data, data_folder.clone(), folder.clone(), self.quick);
        let mut planned = Vec::new();
        for paper in names.iter().map(|name| name.paper()) {
            let steps = paper.tables.iter().map(|table| TableSteps::new(&mut plan, &paper, table)).collect();
            planned.push((paper, steps));
        }
        if self.list {
            return output::print(&list(&plan, &planned));
        }
        check_folder(&folder)?;
        let checksums = Checksums::new(&plan, &data_folder)?;
        let started = Instant::now();
        let mut runner = Runner::new(&plan, &folder, threads)?;
        let ended = if self.report { Ok(()) } else { self.run_all(&mut runner, &plan, &planned, &checksums) };
        runner.finish();
        let results = self.results(&plan, &runner.states, &planned, &checksums);
        write(&results, &folder)?;
        match ended {
            Err(Failure::Interrupted) => {
                output::warn("stopped on request; the same command goes on from here");
                return Err(Failure::Interrupted);
            }
            other => other?,
        }
        output::note(&format!("{} and more in {}", folder.join("report.html").display(), duration(started.elapsed())));
        let text: Vec<String> = results.papers.iter().map(|paper| paper.to_markdown(&results)).collect();
        output::print(&text.join("\n"))?;
        if runner.failed {
            return Err(
                std::io::Error::other("some commands failed; the rows say why, and their logs are named").into()
            );
        }
        Ok(())
    }

    /// Paper by paper, and within a paper what costs least first, so that a run that is stopped leaves as many rows as
    /// there can be.
    fn run_all(&self, runner: &mut Runner<'_>, plan: &Plan, planned: &[Planned], checksums: &Checksums) -> Result {
        let wanted = |(_, tables): &Planned| tables.iter().flat_map(TableSteps::wanted).collect::<Vec<usize>>();
        let all: Vec<usize> = planned.iter().flat_map(wanted).collect();
        for paper in planned {
            let mut steps = wanted(paper);
            steps.sort_by(|&a, &b| runner.cost(a).total_cmp(&runner.cost(b)));
            for step in steps {
                runner.announce(step, &all);
                if runner.run(step)? {
                    write(&self.results(plan, &runner.states, planned, checksums), runner.folder)?;
                }
            }
        }
        Ok(())
    }

    fn results(&self, plan: &Plan, states: &[State], planned: &[Planned], checksums: &Checksums) -> Results {
        let paper = |(paper, steps): &Planned| {
            let of_paper: Vec<usize> = steps.iter().flat_map(|steps| steps.in_order(plan)).collect();
            let Origin { data, versions } = checksums.origin(plan, states, &of_paper);
            let results = paper.tables.iter().zip(steps).map(|(table, steps)| steps.result(plan, states, table));
            let (name, title, about) = (paper.name, paper.title, paper.about);
            PaperResult { name, title, about, tables: results.collect(), data, versions }
        };
        Results {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            quick: self.quick,
            papers: planned.iter().map(paper).collect(),
        }
    }
}

/// Refuses a folder that holds something else.
fn check_folder(folder: &Path) -> Result {
    let is_ours = folder.join("runs").is_dir();
    let is_empty = fs::read_dir(folder).map_or(true, |mut entries| entries.next().is_none());
    if is_ours || is_empty {
        return Ok(());
    }
    let folder = folder.display();
    Err(Failure::Usage(format!("{folder} is there and holds no run of this command; give another --output")))
}

/// Writes all reports.
fn write(results: &Results, folder: &Path) -> Result {
    let file =
        |name: &str, text: &str| AtomicFile::write_with(folder.join(name), |file| file.write_all(text.as_bytes()));
    for paper in &results.papers {
        file(&format!("{}.md", paper.name), &paper.to_markdown(results))?;
    }
    file("report.html", &results.to_html(folder))?;
    Ok(file("results.json", &senv_eval::to_json(results))?)
}

/// Tables, rows and commands with the time they take, each command once.
fn list(plan: &Plan, planned: &[Planned]) -> String {
    let mut text = String::new();
    let states = vec![State::Open; plan.steps.len()];
    let mut known: Vec<String> = Vec::new();
    let time = |seconds: f64| duration(Duration::from_secs_f64(seconds));
    let mut total = 0.0;
    for (paper, steps) in planned {
        text += &format!("{}: {}\n", paper.name, paper.title);
        let mut of_paper = 0.0;
        for (table, steps) in paper.tables.iter().zip(steps) {
            let result = steps.result(plan, &states, table);
            text += &format!("  {}\n", table.title);
            for row in &result.rows {
                let data = if row.data.is_empty() { String::new() } else { format!(" ({})", row.data) };
                text += &format!("    row: {}{data}\n", row.name);
            }
            for command in result.commands {
                if !known.contains(&command.command) {
                    text += &format!("    {:>9}  {}\n", time(command.expected_seconds), command.command);
                    of_paper += command.expected_seconds;
                    known.push(command.command);
                }
            }
        }
        text += &format!("  {} in all on two quiet cores, beside what the papers above share\n\n", time(of_paper));
        total += of_paper;
    }
    text + &format!("{} in all on two quiet cores", time(total))
}
