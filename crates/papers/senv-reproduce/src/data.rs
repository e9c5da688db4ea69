//! The data sets that commands name, and the files that contain them.

use std::path::{Path, PathBuf};

/// A data set: its name in commands and its candidate files, best first. Files separated by spaces in one string belong
/// together. An asterisk matches all files of a folder with this ending.
type Set = (&'static str, &'static [&'static str]);

const SETS: &[Set] = &[
    ("small-text", &["corpus/bbc.txt corpus/brown.txt corpus/wikitext2.txt"]),
    (
        "news",
        &["corpus/bbc.txt corpus/brown.txt corpus/wikitext2.txt corpus/reuters.txt corpus/abc.txt corpus/speeches.txt"],
    ),
    (
        "text",
        &[
            "corpus/bbc.txt corpus/brown.txt corpus/wikitext2.txt corpus/reuters.txt corpus/abc.txt corpus/speeches.txt corpus/wikipedia-00.txt.gz corpus/wikipedia-01.txt.gz",
        ],
    ),
    (
        "all-text",
        &[
            "corpus/bbc.txt corpus/brown.txt corpus/wikitext2.txt corpus/reuters.txt corpus/abc.txt corpus/speeches.txt corpus/wikipedia-00.txt.gz corpus/wikipedia-01.txt.gz corpus/novels-00.txt.gz corpus/novels-01.txt.gz corpus/imdb-00.txt.gz corpus/imdb-01.txt.gz corpus/imdb-02.txt.gz",
        ],
    ),
    ("trees", &["trees/treebank.txt.gz", "trees/treebank.txt"]),
    ("sts12", &["sts/2012/*.tsv"]),
    ("sts13", &["sts/2013/*.tsv"]),
    ("sts13-smt", &["sts/2013/SMT.tsv"]),
    ("sts14", &["sts/2014/*.tsv"]),
    ("sts15", &["sts/2015/*.tsv"]),
    ("sts16", &["sts/2016/*.tsv"]),
    ("stsb-train", &["stsb/train.tsv", "stsb/sts-train.csv", "sts-train.csv"]),
    ("stsb-dev", &["stsb/dev.tsv", "stsb/sts-dev.csv", "sts-dev.csv"]),
    (
        "stsb-test",
        &["stsb/test.tsv", "stsb/sts-test.csv", "sts-test.csv", "stsb/dev.tsv", "stsb/sts-dev.csv", "sts-dev.csv"],
    ),
    ("stsb-test-part", &["stsb/test.tsv", "stsb/sts-test.csv", "sts-test.csv"]),
    ("sick-train", &["sick/train.tsv", "sick/SICK_train.txt", "SICK_train.txt"]),
    ("sick-trial", &["sick/trial.tsv", "sick/SICK_trial.txt", "SICK_trial.txt"]),
    (
        "sick-test",
        &[
            "sick/test.tsv",
            "sick/SICK_test_annotated.txt",
            "SICK_test_annotated.txt",
            "sick/trial.tsv",
            "sick/SICK_trial.txt",
            "SICK_trial.txt",
        ],
    ),
    (
        "msrp",
        &[
            "msrp/train.tsv msrp/test.tsv",
            "msr_paraphrase_train.txt msr_paraphrase_test.txt",
            "msrp/train.tsv",
            "msr_paraphrase_train.txt",
        ],
    ),
    ("msrp-train", &["msrp/train.tsv", "msr_paraphrase_train.txt"]),
    ("msrp-test", &["msrp/test.tsv", "msr_paraphrase_test.txt"]),
    ("mr", &["mr/all.tsv", "rt-polarity.pos", "MR/rt-polarity.pos"]),
    ("cr", &["cr/all.tsv", "custrev.pos", "CR/custrev.pos"]),
    ("subj", &["subj/all.tsv", "subj.objective", "SUBJ/subj.objective"]),
    ("mpqa", &["mpqa/all.tsv", "mpqa.pos", "MPQA/mpqa.pos"]),
    ("trec-train", &["trec/train.tsv", "train_5500.label", "TREC/train_5500.label"]),
    ("trec-test", &["trec/test.tsv", "TREC_10.label", "TREC/TREC_10.label"]),
    ("snli-train", &["snli/train.tsv", "snli_1.0/snli_1.0_train.jsonl", "snli/cad-train.tsv snli/dev.tsv"]),
    ("snli-dev", &["snli/dev.tsv", "snli_1.0/snli_1.0_dev.jsonl", "snli/cad-dev.tsv"]),
    ("snli-test", &["snli/test.tsv", "snli_1.0/snli_1.0_test.jsonl"]),
    ("flickr", &["flickr/multi30k.tsv"]),
    ("coco", &["coco/captions.tsv", "captions_val2017.json", "annotations/captions_val2017.json"]),
    ("cse-examples", &["small/cse-examples.tsv"]),
    ("caption-groups", &["small/pthought-groups.tsv"]),
    ("phrases", &["pairs/meteor-phrases.tsv.gz", "pairs/meteor-phrases.tsv"]),
    ("words", &["pairs/ppdb.tsv"]),
    ("simplifications", &["pairs/simplewiki.tsv pairs/turk.tsv pairs/asset.tsv pairs/onestop.tsv pairs/wikisplit.tsv"]),
    ("glove", &["vectors/glove-6B-50d-5k.txt"]),
    ("definitions", &["definitions/oewn.tsv.gz"]),
];

/// Where to look for data sets.
#[derive(Debug, Clone)]
pub(crate) struct Data {
    folder: PathBuf,
    text: Vec<PathBuf>,
}

/// A data set that was found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Found {
    /// The data set as written in a command: files, or a pattern for the shell.
    pub(crate) shown: Vec<String>,
    /// The files of the data set.
    pub(crate) paths: Vec<PathBuf>,
}

impl Data {
    /// Creates the data sets of a folder. If `text` is not empty, it replaces the running text in the folder.
    pub(crate) fn new(folder: &Path, text: &[PathBuf]) -> Self {
        Self { folder: folder.to_owned(), text: text.to_vec() }
    }

    /// Finds the files of a set. A development set excludes files that the training set uses. If the training part of
    /// SNLI is missing, its development part is used for training, and the development part of the counterfactual pairs
    /// replaces it.
    ///
    /// # Errors
    /// Lists the candidate files if the set is missing.
    pub(crate) fn find(&self, name: &str) -> Result<Found, String> {
        let is_text = matches!(name, "text" | "all-text" | "news" | "small-text");
        if is_text && !self.text.is_empty() {
            let shown = self.text.iter().map(|path| path.display().to_string()).collect();
            return Ok(Found { shown, paths: self.text.clone() });
        }
        let Some((_, candidates)) = SETS.iter().find(|(set, _)| *set == name) else {
            return Err(format!("no data set is named {name}"));
        };
        let taken = name.strip_suffix("-dev").and_then(|set| self.find(&format!("{set}-train")).ok());
        let is_free = |found: &Found| {
            let is_taken = |path: &PathBuf| taken.as_ref().is_some_and(|taken| taken.paths.contains(path));
            !found.paths.iter().any(is_taken)
        };
        candidates.iter().filter_map(|files| self.files(files)).find(is_free).ok_or_else(|| {
            let list: Vec<String> = candidates.iter().map(|files| files.replace(' ', ", ")).collect();
            format!("no data: {}", list.join("; or "))
        })
    }

    /// Returns all of these files, or `None` if one is missing.
    fn files(&self, files: &str) -> Option<Found> {
        let mut found = Found::default();
        for name in files.split(' ') {
            found.shown.push(format!("$DATA/{name}"));
            match name.split_once('*') {
                Some((folder, ending)) => found.paths.extend(self.list(folder, ending)?),
                None => found.paths.push(self.folder.join(name)),
            }
        }
        let is_whole = !found.paths.is_empty() && found.paths.iter().all(|path| path.is_file());
        is_whole.then_some(found)
    }

    /// Returns the files of a folder with this ending, sorted as a shell does; `None` if there are none.
    fn list(&self, folder: &str, ending: &str) -> Option<Vec<PathBuf>> {
        let entries = std::fs::read_dir(self.folder.join(folder)).ok()?;
        let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
        let mut paths: Vec<PathBuf> = paths
            .filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().ends_with(ending)))
            .collect();
        paths.sort();
        (!paths.is_empty()).then_some(paths)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_candidate_that_is_whole_is_taken() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["sick/trial.tsv", "sts/2014/b.tsv", "sts/2014/a.tsv", "sts/2014/notes.txt", "msrp/train.tsv"] {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "x").unwrap();
        }
        let data = Data::new(folder.path(), &[]);
        let shown = |name: &str| data.find(name).map(|found| found.shown);
        assert_eq!(shown("sick-test").unwrap(), ["$DATA/sick/trial.tsv"]);
        let paths = ["a", "b"].map(|name| folder.path().join(format!("sts/2014/{name}.tsv"))).to_vec();
        assert_eq!(data.find("sts14"), Ok(Found { shown: vec!["$DATA/sts/2014/*.tsv".to_owned()], paths }));
        assert_eq!(shown("msrp").unwrap(), ["$DATA/msrp/train.tsv"]);
        assert_eq!(shown("sts15").unwrap_err(), "no data: sts/2015/*.tsv");
        assert!(shown("stsb-test").unwrap_err().contains("stsb/test.tsv; or stsb/sts-test.csv"));
        assert!(shown("nothing").is_err());
        std::fs::write(folder.path().join("sick/test.tsv"), "x").unwrap();
        assert_eq!(shown("sick-test").unwrap(), ["$DATA/sick/test.tsv"]);
    }

    #[test]
    fn a_development_set_is_not_what_is_trained_on() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("snli")).unwrap();
        let put = |name: &str| std::fs::write(folder.path().join("snli").join(name), "x").unwrap();
        let data = Data::new(folder.path(), &[]);
        let shown = |name: &str| data.find(name).map(|found| found.shown);
        put("dev.tsv");
        put("cad-train.tsv");
        assert_eq!(shown("snli-train").unwrap(), ["$DATA/snli/cad-train.tsv", "$DATA/snli/dev.tsv"]);
        assert!(shown("snli-dev").unwrap_err().contains("snli/cad-dev.tsv"));
        put("cad-dev.tsv");
        assert_eq!(shown("snli-dev").unwrap(), ["$DATA/snli/cad-dev.tsv"]);
        put("train.tsv");
        assert_eq!(shown("snli-train").unwrap(), ["$DATA/snli/train.tsv"]);
        assert_eq!(shown("snli-dev").unwrap(), ["$DATA/snli/dev.tsv"]);
    }

    #[test]
    fn given_text_stands_for_all_text() {
        let data = Data::new(Path::new("nowhere"), &[PathBuf::from("books.txt")]);
        for name in ["text", "all-text", "news", "small-text"] {
            assert_eq!(data.find(name).unwrap().shown, ["books.txt"]);
        }
        assert!(data.find("mr").is_err());
    }
}
