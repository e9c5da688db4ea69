//! A run in its output folder: finished commands, remaining commands, and reports.

use std::{fs, io::Write, path::Path};

use senv_core::files::AtomicFile;

use crate::{
    checksums::{Checksums, Origin},
    error::{Error, Result},
    observer::RunObserver,
    report::{
        judge::judge,
        results::{PaperResult, Planned, Results, TableResult, TableSteps},
    },
    reproduction::Reproduction,
    runner::Runner,
};

/// A [`Reproduction`] in its output folder, which keeps finished commands so that a stopped run can resume.
#[derive(Debug)]
pub struct ReproductionRun<'a> {
    of: &'a Reproduction,
    checksums: Checksums,
    runner: Runner<'a>,
}

impl<'a> ReproductionRun<'a> {
    /// Opens the output folder, creates it if it does not exist, and reads the results of earlier runs. Reads the data
    /// sets to compute their checksums.
    ///
    /// # Errors
    /// [`Error::NotARun`] if the folder contains other files; [`Error::Core`] or [`Error::Eval`] if a folder cannot be
    /// created or a data set cannot be read.
    pub fn open(of: &'a Reproduction) -> Result<Self> {
        let options = of.options();
        check_folder(&options.output)?;
        let checksums = Checksums::new(&of.plan, &options.data)?;
        Ok(Self { of, checksums, runner: Runner::new(&of.plan, options)? })
    }

    /// Runs the remaining commands, and writes the reports after each figure and at the end: `PAPER.md` for each paper,
    /// `claims.md`, `report.html` with all papers, and `results.json`.
    ///
    /// It runs paper by paper, and the cheapest evaluations of a paper first, so that a stopped run leaves as many
    /// complete rows as possible. A failed command is not an error: its rows state the reason. See
    /// [`ReproductionRun::has_failed`].
    ///
    /// # Errors
    /// [`senv_core::Error::Interrupted`] if the observer stops the run; [`senv_core::Error::Io`] if the program cannot
    /// be started or a result cannot be stored. The reports are written in each case.
    pub fn complete(&mut self, observer: &dyn RunObserver) -> Result<()> {
        let ended = self.run_all(observer);
        self.write_reports()?;
        ended
    }

    fn run_all(&mut self, observer: &dyn RunObserver) -> Result<()> {
        let wanted = |(_, tables): &Planned| tables.iter().flat_map(TableSteps::wanted).collect::<Vec<usize>>();
        let all: Vec<usize> = self.of.papers.iter().flat_map(wanted).collect();
        for paper in &self.of.papers {
            let mut steps = wanted(paper);
            steps.sort_by(|&a, &b| self.runner.cost(a).total_cmp(&self.runner.cost(b)));
            for step in steps {
                self.runner.announce(step, &all, observer);
                if self.runner.run(step, observer)? {
                    self.write_reports()?;
                }
            }
        }
        Ok(())
    }

    /// Writes the reports of everything that has run so far.
    ///
    /// # Errors
    /// [`senv_core::Error::Io`] if a report cannot be written.
    pub fn write_reports(&self) -> Result<()> {
        let results = self.results();
        let folder = &self.of.options().output;
        let file =
            |name: &str, text: &str| AtomicFile::write_with(folder.join(name), |file| file.write_all(text.as_bytes()));
        for drawing in results.papers.iter().flat_map(|paper| &paper.tables).flat_map(|table| &table.drawings) {
            if let Some(curve) = &drawing.curve {
                file(&drawing.file, &curve.to_svg())?;
            }
        }
        for paper in &results.papers {
            file(&format!("{}.md", paper.name), &paper.to_markdown(&results))?;
        }
        file("claims.md", &results.claims_to_markdown())?;
        file("report.html", &results.to_html(folder))?;
        Ok(file("results.json", &senv_eval::to_json(&results))?)
    }

    /// Returns the reports of the papers in Markdown, in order.
    #[must_use]
    pub fn to_markdown(&self) -> String {
        let results = self.results();
        let papers: Vec<String> = results.papers.iter().map(|paper| paper.to_markdown(&results)).collect();
        papers.join("\n")
    }

    /// Returns the claims of the papers in Markdown, with the verdicts so far.
    #[must_use]
    pub fn claims_to_markdown(&self) -> String {
        self.results().claims_to_markdown()
    }

    /// Returns whether a command has failed since the folder was opened.
    #[must_use]
    pub fn has_failed(&self) -> bool {
        self.runner.failed
    }

    fn results(&self) -> Results {
        let (plan, states) = (&self.of.plan, &self.runner.states[..]);
        let paper = |(paper, steps): &Planned| {
            let of_paper: Vec<usize> = steps.iter().flat_map(|steps| steps.in_order(plan)).collect();
            let Origin { data, versions } = self.checksums.origin(plan, states, &of_paper);
            let results = paper.tables.iter().zip(steps).map(|(table, steps)| steps.result(plan, states, table));
            let tables: Vec<TableResult> = results.collect();
            let claims = paper.claims.iter().map(|claim| judge(claim, paper, &tables)).collect();
            let (name, title, about) = (paper.name.name(), paper.title, paper.about);
            PaperResult { name, title, about, tables, claims, data, versions }
        };
        Results {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            quick: self.of.options().quick,
            papers: self.of.papers.iter().map(paper).collect(),
        }
    }
}

/// Rejects a folder that contains other files.
fn check_folder(folder: &Path) -> Result<()> {
    let is_ours = folder.join("runs").is_dir();
    let is_empty = fs::read_dir(folder).map_or(true, |mut entries| entries.next().is_none());
    if is_ours || is_empty { Ok(()) } else { Err(Error::NotARun { path: folder.to_owned() }) }
}

#[cfg(test)]
mod tests {
    use std::{cell::RefCell, path::PathBuf};

    use senv_core::Error as CoreError;

    use super::*;
    use crate::{observer::Remaining, options::Options, paper_name::PaperName};

    /// Creates the folders of a run, with a text to train on and no data set.
    fn options(folder: &Path) -> Options {
        for name in ["data", "out"] {
            fs::create_dir(folder.join(name)).unwrap();
        }
        let text = folder.join("text.txt");
        fs::write(&text, "a text\n").unwrap();
        let mut options = Options::new(folder.join("data"), folder.join("out"));
        options.papers = vec![PaperName::Cse];
        options.text = vec![text];
        options
    }

    /// Records its calls, and stops a run if told to.
    #[derive(Default)]
    struct Notes {
        heard: RefCell<Vec<String>>,
        stops: bool,
    }

    impl RunObserver for Notes {
        fn remaining(&self, remaining: &Remaining) {
            self.heard.borrow_mut().push(format!("{} of {} left", remaining.commands, remaining.of));
        }

        fn started(&self, command: &str) {
            self.heard.borrow_mut().push(command.to_owned());
        }

        fn stops(&self) -> bool {
            self.stops
        }
    }

    #[test]
    fn a_run_that_is_stopped_leaves_its_reports() {
        let folder = tempfile::tempdir().unwrap();
        let reproduction = Reproduction::new(options(folder.path()));
        let mut run = ReproductionRun::open(&reproduction).unwrap();
        let observer = Notes { stops: true, ..Notes::default() };
        let error = run.complete(&observer).unwrap_err();
        assert!(matches!(error, Error::Core(CoreError::Interrupted { .. })), "{error}");
        // With only this text, the words are all that can be trained.
        assert_eq!(*observer.heard.borrow(), ["1 of 1 left"]);
        let report = fs::read_to_string(folder.path().join("out/cse.md")).unwrap();
        assert_eq!(report, run.to_markdown());
        assert!(
            report.contains("all rows: no data: sts/2012/") && report.contains("# not run, about 1:00 min"),
            "{report}"
        );
        assert!(["report.html", "results.json"].iter().all(|name| folder.path().join("out").join(name).is_file()));
        assert!(!run.has_failed());
    }

    #[test]
    fn a_program_that_is_not_there_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let mut options = options(folder.path());
        options.program = folder.path().join("none");
        let reproduction = Reproduction::new(options);
        let observer = Notes::default();
        let error = ReproductionRun::open(&reproduction).unwrap().complete(&observer).unwrap_err();
        assert!(matches!(error, Error::Core(CoreError::Io { action: "start", .. })), "{error}");
        let heard = observer.heard.borrow();
        assert!(heard.len() == 2 && heard[1].starts_with("senv train sent2vec --input "), "{heard:?}");
    }

    #[test]
    fn what_ran_before_is_known_and_not_run_again() {
        let folder = tempfile::tempdir().unwrap();
        let reproduction = Reproduction::new(options(folder.path()));
        ReproductionRun::open(&reproduction).unwrap();
        let step = reproduction.plan.steps.iter().find(|step| step.shown.starts_with("senv train sent2vec ")).unwrap();
        let record = |seconds: &str| {
            let version = env!("CARGO_PKG_VERSION");
            let text = format!(
                "{{\"command\":\"\",\"seconds\":{seconds},\"threads\":2,\"version\":\"{version}\",\"output\":null}}"
            );
            fs::write(folder.path().join(format!("out/runs/{}.json", step.key)), text).unwrap();
        };
        record("61.5");
        let mut run = ReproductionRun::open(&reproduction).unwrap();
        let observer = Notes::default();
        run.complete(&observer).unwrap();
        assert!(observer.heard.borrow().is_empty(), "{:?}", observer.heard.borrow());
        assert!(run.to_markdown().contains("$OUT/words.senv  # 1:01 min, 2 threads"), "{}", run.to_markdown());
        // A damaged record is ignored.
        record("soon");
        let run = ReproductionRun::open(&reproduction).unwrap();
        assert!(run.to_markdown().contains("$OUT/words.senv  # not run, about 1:00 min"), "{}", run.to_markdown());
    }

    #[test]
    fn a_folder_that_holds_something_else_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let options = options(folder.path());
        let open = |output: PathBuf| {
            let options = Options { output, ..options.clone() };
            ReproductionRun::open(&Reproduction::new(options)).map(|_| ())
        };
        fs::write(folder.path().join("out/notes.txt"), "x").unwrap();
        let error = open(folder.path().join("out")).unwrap_err();
        assert!(matches!(&error, Error::NotARun { path } if path.ends_with("out")), "{error}");
        open(folder.path().join("new/inside")).unwrap();
        // The folder of an earlier run may contain other files.
        fs::write(folder.path().join("new/inside/notes.txt"), "x").unwrap();
        open(folder.path().join("new/inside")).unwrap();
        // The path is not a folder.
        let error = open(folder.path().join("text.txt")).unwrap_err();
        assert!(matches!(error, Error::Core(CoreError::Io { .. })), "{error}");
        // Nothing is created if the data folder does not exist.
        let output = folder.path().join("other");
        let none = Options { data: folder.path().join("none"), output: output.clone(), ..options.clone() };
        let error = ReproductionRun::open(&Reproduction::new(none)).map(|_| ()).unwrap_err();
        assert!(matches!(error, Error::Eval(_)) && error.to_string().contains("none"), "{error}");
        assert!(!output.exists());
    }
}
