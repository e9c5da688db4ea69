//! The data behind a report: the files that its commands read, with their checksums.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use senv_eval::{DataFile, DataFolder, Result, sha256_of_file};
use serde_json::Value;

use crate::{plan::Plan, runner::CommandState};

/// The data files of a plan with their checksums. Each file is read once.
#[derive(Debug)]
pub(crate) struct Checksums {
    files: BTreeMap<PathBuf, DataFile>,
}

/// The data and the versions that produced the figures of a paper.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Origin {
    /// The files that its commands read, by path.
    pub(crate) data: Vec<DataFile>,
    /// The versions of senv that ran the commands: one, unless the program was replaced between two runs.
    pub(crate) versions: Vec<String>,
}

impl Checksums {
    /// Reads the files of all steps.
    ///
    /// # Errors
    /// Returns an error if the folder or a file cannot be read.
    pub(crate) fn new(plan: &Plan, folder: &Path) -> Result<Self> {
        let data = DataFolder::open(folder)?;
        let paths: BTreeSet<&PathBuf> = plan.steps.iter().flat_map(|step| &step.data).collect();
        let checksum = |path: &PathBuf| -> Result<(PathBuf, DataFile)> {
            let file = if path.starts_with(folder) {
                data.checksum(path)?
            } else {
                // The file is outside the data folder.
                DataFile { path: path.display().to_string(), sha256: sha256_of_file(path)? }
            };
            Ok((path.clone(), file))
        };
        Ok(Self { files: paths.into_iter().map(checksum).collect::<Result<_>>()? })
    }

    /// Returns the files and versions of these steps. The files that the bench finds itself are taken from its record.
    pub(crate) fn origin(&self, plan: &Plan, states: &[CommandState], steps: &[usize]) -> Origin {
        let (mut files, mut versions) = (BTreeMap::new(), BTreeSet::new());
        for &step in steps {
            if let CommandState::Done(record) = &states[step] {
                versions.insert(record.version.clone());
                files.extend(of_bench(&record.output).map(|file| (file.path, file.sha256)));
            }
            let step = &plan.steps[step];
            if step.missing.is_none() {
                let known = step.data.iter().filter_map(|path| self.files.get(path)).cloned();
                files.extend(known.map(|file| (file.path, file.sha256)));
            }
        }
        let data = files.into_iter().map(|(path, sha256)| DataFile { path, sha256 }).collect();
        Origin { data, versions: versions.into_iter().collect() }
    }
}

/// Returns the data files listed in a bench record; none for other output.
fn of_bench(output: &Value) -> impl Iterator<Item = DataFile> {
    let tasks = output["tasks"].as_array().into_iter().flatten();
    let files = tasks.flat_map(|task| task["files"].as_array().into_iter().flatten());
    files.filter_map(|file| serde_json::from_value(file.clone()).ok())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{
        data::Data,
        paper::{Evaluation, Paper},
        paper_name::PaperName,
        runner::Record,
    };

    fn done(output: Value) -> CommandState {
        let (command, version) = (String::new(), "0.9.9".to_owned());
        CommandState::Done(Record { command, seconds: 1.0, threads: 0, version, output })
    }

    #[test]
    fn files_of_commands_and_of_the_bench_are_listed_once() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("mr")).unwrap();
        std::fs::write(folder.path().join("mr/all.tsv"), "abc").unwrap();
        let plan = |command| {
            let data = Data::new(folder.path(), &[]);
            let mut plan = Plan::new(data, folder.path().to_owned(), "out".into(), false);
            let paper = Paper {
                name: PaperName::Cse,
                title: "",
                about: "",
                models: Vec::new(),
                tables: Vec::new(),
                claims: Vec::new(),
            };
            plan.evaluation(&paper, &Evaluation { command, seconds: 1.0 }, "english");
            plan
        };
        let known = plan("eval classify @mr");
        let checksums = Checksums::new(&known, folder.path()).unwrap();
        // The checksum of "abc", from FIPS 180-2.
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        let mr = DataFile { path: "mr/all.tsv".to_owned(), sha256: abc.to_owned() };
        let open = checksums.origin(&known, &[CommandState::Open], &[0]);
        assert_eq!(open, Origin { data: vec![mr.clone()], versions: Vec::new() });
        // The bench read another file, and this one in an earlier version.
        let bench = json!({"tasks": [
            {"files": [{"path": "a/b.tsv", "sha256": "12"}, {"path": "mr/all.tsv", "sha256": "34"}]},
            {"files": []}, {"path": "no file"},
        ]});
        let other = DataFile { path: "a/b.tsv".to_owned(), sha256: "12".to_owned() };
        let found = checksums.origin(&known, &[done(bench)], &[0, 0]);
        assert_eq!(found, Origin { data: vec![other, mr], versions: vec!["0.9.9".to_owned()] });
        assert_eq!(checksums.origin(&known, &[done(Value::Null)], &[]), Origin::default());
        // A command that cannot run reads nothing.
        let half = plan("eval classify @mr @subj");
        assert_eq!(checksums.origin(&half, &[CommandState::Open], &[0]), Origin::default());
    }

    #[test]
    fn a_text_from_elsewhere_keeps_its_path_and_one_that_is_gone_is_an_error() {
        let [folder, other] = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let text = other.path().join("books.txt");
        std::fs::write(&text, "abc").unwrap();
        let data = Data::new(folder.path(), std::slice::from_ref(&text));
        let mut plan = Plan::new(data, folder.path().to_owned(), "out".into(), false);
        let paper = Paper {
            name: PaperName::Cse,
            title: "",
            about: "",
            models: Vec::new(),
            tables: Vec::new(),
            claims: Vec::new(),
        };
        plan.evaluation(&paper, &Evaluation { command: "eval x @text", seconds: 1.0 }, "english");
        let checksums = Checksums::new(&plan, folder.path()).unwrap();
        let origin = checksums.origin(&plan, &[CommandState::Open], &[0]);
        assert_eq!((origin.data.len(), &origin.data[0].path), (1, &text.display().to_string()));
        std::fs::remove_file(&text).unwrap();
        let error = Checksums::new(&plan, folder.path()).err().unwrap().to_string();
        assert!(error.contains("books.txt"), "{error}");
    }
}
