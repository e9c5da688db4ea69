//! Encoding many files into a folder.

use std::{fs, path::Path};

use crate::common::{Ended, Folder, text};

/// A folder with a small model and some text files in `data`.
pub(crate) fn folder(n_files: usize, n_lines: usize) -> Folder {
    let folder = Folder::with_model();
    fs::create_dir(folder.path("data")).unwrap();
    let all = text(n_files * n_lines);
    let lines: Vec<&str> = all.lines().collect();
    for (i, lines) in lines.chunks(n_lines).enumerate() {
        folder.write(&format!("data/{i:03}.txt"), lines.join("\n") + "\n");
    }
    folder
}

pub(crate) fn encode(folder: &Folder, output: &str, more: &[&str]) -> Ended {
    let args = ["encode", "--model", "m.senv", "--input", "data/*.txt", "--output", output, "--output-format", "tsv"];
    folder.run(&[&args[..], more].concat())
}

/// Names and bytes of all outputs.
pub(crate) fn outputs(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let entries =
        fs::read_dir(folder).unwrap().map(Result::unwrap).filter(|entry| entry.file_type().unwrap().is_file());
    let mut files: Vec<_> =
        entries.map(|entry| (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap())).collect();
    files.sort();
    files
}

pub(crate) fn count(folder: &Path) -> usize {
    fs::read_dir(folder).unwrap().count()
}
