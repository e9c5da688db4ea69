//! Notes on tab-separated files with quoted cells, whose quotes are treated as text.

use std::path::{Path, PathBuf};

use clap::ArgMatches;
use senv_core::{TextOptions, TextReader};

use crate::output;

/// The number of records at the start of a file that are checked.
const SAMPLE: usize = 1000;

/// Arguments that are files of pairs, read with `--quotes` if the command has it.
const OF_OPTION: [&str; 5] = ["pairs", "captions", "nli", "stage2", "paraphrases"];
/// Other arguments of `senv train` and `senv tune` that are files of tab-separated cells.
const OF_TRAINING: [&str; 10] =
    ["pairs", "captions", "nli", "passages", "dev", "gate", "definitions", "dev_captions", "dev_pairs", "select"];
/// Systems whose `--train` is a file of labelled or scored pairs.
const WITH_TRAIN: [&str; 3] = ["snli", "relatedness", "order"];
/// Arguments of `senv eval` that are such files, by the name of the evaluation.
const OF_EVALUATION: [(&str, &[&str]); 9] = [
    ("sts", &["tasks"]),
    ("latency", &["tasks"]),
    ("nli", &["files", "train", "dev"]),
    ("classify", &["files", "test"]),
    ("p-coherence", &["captions"]),
    ("ranking", &["pairs"]),
    ("order", &["pairs", "nli"]),
    ("dictionary", &["definitions"]),
    ("map", &["file"]),
];

/// The command that removes the quotes around cells.
const WITHOUT: &str = "python3 -c 'import csv, sys; [print(*cells, sep=\"\\t\") for cells in csv.reader(sys.stdin, \
                       delimiter=\"\\t\")]' < FILE > NEW removes them";

/// Notes which files of pairs have quoted cells that are read with their quotes.
pub(crate) fn note_pairs(matches: &ArgMatches) {
    let (mut names, mut within) = (Vec::new(), matches);
    while let Some((name, matches)) = within.subcommand() {
        names.push(name);
        within = matches;
    }
    let files = |id: &str| -> Vec<PathBuf> {
        let raw = within.try_get_raw(id).ok().flatten();
        raw.map(|values| values.map(PathBuf::from).map(without_weight).collect()).unwrap_or_default()
    };
    let quotes = within.try_get_one::<bool>("quotes").ok().flatten();
    let note = |ids: &[&str]| {
        for &id in ids {
            let has_option = quotes.is_some() && OF_OPTION.contains(&id);
            if has_option && quotes == Some(&true) {
                continue;
            }
            let remedy = if has_option { "--quotes reads them as in CSV" } else { WITHOUT };
            for path in files(id) {
                note_quotes(&path, "a cell", remedy);
            }
        }
    };
    match names[..] {
        ["train", system] if WITH_TRAIN.contains(&system) => {
            note(&["train"]);
            note(&OF_TRAINING);
            note(&["paraphrases"]);
        }
        ["train" | "tune", ..] => {
            note(&OF_TRAINING);
            note(&["stage2"]);
        }
        // A first argument without a second one is a file of pairs.
        ["similarity"] => note(if files("second").is_empty() { &["input", "first"] } else { &["input"] }),
        ["eval", of] => {
            OF_EVALUATION.iter().filter(|(name, _)| *name == of).for_each(|(_, ids)| note(ids));
        }
        _ => {}
    }
}

/// The file in `FILE:WEIGHT`.
pub(crate) fn without_weight(path: PathBuf) -> PathBuf {
    let file = path.to_str().and_then(|text| text.rsplit_once(':')).map(|(file, _)| PathBuf::from(file));
    file.filter(|_| !path.exists()).unwrap_or(path)
}

/// Notes that a file has quoted cells whose quotes are treated as text, and the remedy.
pub(crate) fn note_quotes(path: &Path, cell: &str, remedy: &str) {
    // A pipe can be read once.
    if !path.is_file() {
        return;
    }
    let Ok(mut reader) = TextReader::open(&[path], &TextOptions::default()) else { return };
    for _ in 0..SAMPLE {
        let Ok(Some(line)) = reader.next_line() else { return };
        if line.text.contains('\t') && line.text.split('\t').any(is_quoted) {
            let (path, number) = (path.display(), line.number);
            output::note(&format!("{path}:{number}: quotes around {cell} are treated as text; {remedy}"));
            return;
        }
    }
}

/// Whether a cell is quoted, with the quotes inside doubled: a sentence with direct speech is not.
fn is_quoted(cell: &str) -> bool {
    let inner = cell.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    inner.is_some_and(|inner| !inner.replace("\"\"", "").contains('"'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_in_quotes_are_told_from_speech() {
        for quoted in ["\"a cat\"", "\"\"", "\"he said \"\"no\"\"\""] {
            assert!(is_quoted(quoted), "{quoted}");
        }
        for text in ["", "\"", "a \"cat\"", "\"no,\" he said", "\"no,\" he said, \"never\""] {
            assert!(!is_quoted(text), "{text}");
        }
    }

    #[test]
    fn a_weight_is_no_part_of_the_file() {
        assert_eq!(without_weight("a.tsv:2.5".into()), PathBuf::from("a.tsv"));
        assert_eq!(without_weight("a.tsv".into()), PathBuf::from("a.tsv"));
    }
}
