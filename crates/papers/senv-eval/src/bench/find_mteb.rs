//! Finds the files of MTEB's STS tasks in a folder.

use std::path::{Path, PathBuf};

use super::{
    find::{SICK_LABELLED, SICK_TRAIN, SICK_TRIAL, STSB_DEV, STSB_TEST, reported, sts_files},
    folder::DataFolder,
};

/// SICK in MTEB: all parts in one file.
const SICK_OF_MTEB: &[&str] = &["sickr-sts/test.jsonl"];

/// Returns the files of STS 2012 to 2016, of the STS benchmark and of SICK. A file that has a whole task, as those of
/// MTEB, takes the place of the files of its parts.
pub(crate) fn mteb_sts_files(folder: &DataFolder) -> Vec<PathBuf> {
    let years: Vec<(u16, &Path)> = sts_files(folder).collect();
    let is_whole = |path: &Path| path.to_string_lossy().to_lowercase().contains(".jsonl");
    let has_whole = |year: u16| years.iter().any(|&(of_year, path)| of_year == year && is_whole(path));
    let mut files: Vec<&Path> =
        years.iter().filter(|(year, path)| is_whole(path) || !has_whole(*year)).map(|(_, path)| *path).collect();
    files.extend(reported(folder, STSB_TEST, STSB_DEV).map(|(_, path)| path));
    match folder.find(SICK_OF_MTEB) {
        Some(all) => files.push(all),
        None => files.extend([SICK_TRAIN, SICK_TRIAL, SICK_LABELLED].into_iter().filter_map(|ends| folder.find(ends))),
    }
    files.into_iter().map(Path::to_owned).collect()
}
