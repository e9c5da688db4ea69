//! The pairs of MTEB's STS tasks, pooled from files.

use std::path::{Path, PathBuf};

use senv_data::{SickSet, StsTask};

use super::task::MtebSts;
use crate::{
    bench::{DataFolder, mteb_sts_files},
    error::{Error, Result},
};

/// The pairs of those STS tasks of MTEB whose files are there. The files of a task are one list of pairs.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct MtebStsSet {
    /// The tasks, in MTEB's order.
    pub tasks: Vec<MtebSts>,
    /// The pairs of each, named as the task.
    pub pairs: Vec<StsTask>,
    /// The files of each.
    pub files: Vec<Vec<PathBuf>>,
    /// Files of the STS benchmark that are left out, because MTEB takes only the test part, and others only stand in
    /// for it.
    pub left_out: Vec<PathBuf>,
}

impl MtebStsSet {
    /// Reads files of scored pairs, and joins those of a task ([`MtebSts::of_file`]). In a folder, the files of the
    /// tasks are found by name, as `senv eval all` does.
    ///
    /// The STS benchmark is its test part, or else its development part, or else what is given. Files are read as by
    /// [`StsTask::read`], [`StsTask::read_stsb`] and [`SickSet::read`].
    ///
    /// # Errors
    /// [`Error::NotMtebSts`] for a file that belongs to no task, or a folder without one; [`Error::NothingToDo`]
    /// without a file; the errors of the readers.
    pub fn read(paths: &[impl AsRef<Path>]) -> Result<Self> {
        let mut files: Vec<(MtebSts, PathBuf)> = Vec::new();
        for path in paths.iter().map(AsRef::as_ref) {
            let unknown = |what| Error::NotMtebSts { path: path.to_owned(), what };
            if path.is_dir() {
                let found = mteb_sts_files(&DataFolder::open(path)?);
                let found = found.into_iter().filter_map(|file| Some((MtebSts::of_file(&file)?, file)));
                let before = files.len();
                files.extend(found);
                if files.len() == before {
                    return Err(unknown("has no file of"));
                }
            } else {
                files.push((MtebSts::of_file(path).ok_or_else(|| unknown("belongs to none of"))?, path.to_owned()));
            }
        }
        if files.is_empty() {
            return Err(Error::NothingToDo { what: "files of scored pairs" });
        }
        let mut set = Self { tasks: Vec::new(), pairs: Vec::new(), files: Vec::new(), left_out: Vec::new() };
        for task in MtebSts::ALL {
            let mut of_task: Vec<PathBuf> =
                files.iter().filter(|(of, _)| *of == task).map(|(_, file)| file.clone()).collect();
            if task == MtebSts::StsBenchmark {
                let best = of_task.iter().map(|file| benchmark_part(file)).min();
                let (kept, left) = of_task.into_iter().partition(|file| Some(benchmark_part(file)) == best);
                (of_task, set.left_out) = (kept, left);
            }
            let parts = of_task.iter().map(|file| read(task, file)).collect::<Result<Vec<_>>>()?;
            if let Some(pooled) = pool(task, parts) {
                set.tasks.push(task);
                set.pairs.push(pooled);
                set.files.push(of_task);
            }
        }
        Ok(set)
    }

    /// Returns the tasks that are not there, in MTEB's order.
    #[must_use]
    pub fn missing(&self) -> Vec<MtebSts> {
        MtebSts::ALL.into_iter().filter(|task| !self.tasks.contains(task)).collect()
    }
}

/// Returns the place of a part of the STS benchmark: 0 for the test part, 1 for the development part, 2 for others.
fn benchmark_part(file: &Path) -> usize {
    let name = file.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let has = |parts: &[&str]| parts.iter().any(|part| name.contains(part));
    if has(&["test"]) {
        0
    } else if has(&["dev", "val"]) {
        1
    } else {
        2
    }
}

fn read(task: MtebSts, file: &Path) -> Result<StsTask> {
    let is_object = file.to_string_lossy().to_lowercase().contains(".jsonl");
    Ok(match task {
        // SICK from MTEB has scores without labels.
        MtebSts::SickR if !is_object => SickSet::read(file)?.task,
        MtebSts::StsBenchmark => StsTask::read_stsb(file)?,
        _ => StsTask::read(file)?,
    })
}

/// Joins the files of a task; `None` without one.
fn pool(task: MtebSts, parts: Vec<StsTask>) -> Option<StsTask> {
    let mut parts = parts.into_iter();
    let mut all = StsTask { name: task.name().to_owned(), year: None, ..parts.next()? };
    for part in parts {
        all.pairs.extend(part.pairs);
        all.n_unscored += part.n_unscored;
        all.n_empty_sentences += part.n_empty_sentences;
    }
    Some(all)
}
