//! The seven English STS tasks of MTEB, and the files that belong to them.

use std::{ffi::OsStr, path::Path};

use serde::Serialize;

use crate::bench::year_of;

/// One of the seven English STS tasks of MTEB.
///
/// Exhaustive on purpose: the mean is over these seven, and another list would be another figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub enum MtebSts {
    /// All tasks of SemEval 2012.
    #[serde(rename = "STS12")]
    Sts12,
    /// The tasks of 2013 without SMT, which is not public.
    #[serde(rename = "STS13")]
    Sts13,
    /// All tasks of 2014.
    #[serde(rename = "STS14")]
    Sts14,
    /// All tasks of 2015.
    #[serde(rename = "STS15")]
    Sts15,
    /// All tasks of 2016.
    #[serde(rename = "STS16")]
    Sts16,
    /// The test part of the STS benchmark.
    #[serde(rename = "STSBenchmark")]
    StsBenchmark,
    /// All pairs of SICK.
    #[serde(rename = "SICK-R")]
    SickR,
}

impl MtebSts {
    /// The seven tasks, in the order of MTEB's tables.
    pub const ALL: [Self; 7] =
        [Self::Sts12, Self::Sts13, Self::Sts14, Self::Sts15, Self::Sts16, Self::StsBenchmark, Self::SickR];

    /// Returns the name of the task in MTEB.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Sts12 => "STS12",
            Self::Sts13 => "STS13",
            Self::Sts14 => "STS14",
            Self::Sts15 => "STS15",
            Self::Sts16 => "STS16",
            Self::StsBenchmark => "STSBenchmark",
            Self::SickR => "SICK-R",
        }
    }

    /// Returns the number of pairs that MTEB evaluates.
    #[must_use]
    pub fn n_pairs(self) -> usize {
        match self {
            Self::Sts12 => 3108,
            Self::Sts13 => 1500,
            Self::Sts14 => 3750,
            Self::Sts15 => 3000,
            Self::Sts16 => 1186,
            Self::StsBenchmark => 1379,
            Self::SickR => 9927,
        }
    }

    /// Returns the task that a file belongs to, by its name and that of its folder; `None` if it belongs to none.
    ///
    /// A folder or a file is named after the year (`2014`, `STS14-en-test`, `sts14-sts`), or its name starts with
    /// `stsb` or `sick`. Letter case does not matter, nor do `-` and `_`. The published `sts-test.csv` and the other
    /// parts of the STS benchmark are known, too. Training data of a year (`2012-train`) belong to no task.
    ///
    /// ```
    /// use senv_eval::MtebSts;
    /// assert_eq!(MtebSts::of_file("sts/2014/images.tsv"), Some(MtebSts::Sts14));
    /// assert_eq!(MtebSts::of_file("STSBenchmark/sts-test.csv"), Some(MtebSts::StsBenchmark));
    /// assert_eq!(MtebSts::of_file("sick/train.tsv"), Some(MtebSts::SickR));
    /// assert_eq!(MtebSts::of_file("sts/2012-train/MSRpar.tsv"), None);
    /// ```
    #[must_use]
    pub fn of_file(path: impl AsRef<Path>) -> Option<Self> {
        let path = path.as_ref();
        // The folder counts also if the path is only a file name.
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let lower = |name: Option<&OsStr>| name.unwrap_or_default().to_string_lossy().to_lowercase();
        let names = [lower(path.parent().and_then(Path::file_name)), lower(path.file_name())];
        let starts_with = |start: &str| names.iter().any(|name| name.replace(['-', '_'], "").starts_with(start));
        if starts_with("sick") {
            return Some(Self::SickR);
        }
        let [_, file] = &names;
        let is_published_part = file.strip_prefix("sts-").is_some_and(|part| part.contains(".csv"));
        if starts_with("stsb") || is_published_part {
            return Some(Self::StsBenchmark);
        }
        if names.iter().any(|name| name.contains("train")) {
            return None;
        }
        match names.iter().find_map(|name| year_of(name))? {
            2012 => Some(Self::Sts12),
            2013 => Some(Self::Sts13),
            2014 => Some(Self::Sts14),
            2015 => Some(Self::Sts15),
            2016 => Some(Self::Sts16),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_belong_to_tasks_by_their_names_and_folders() {
        let of = |path: &str| MtebSts::of_file(path).map(MtebSts::name);
        for (path, name) in [
            ("sts/2012/MSRpar.tsv", "STS12"),
            ("STS13-en-test/STS.input.FNWN.txt", "STS13"),
            ("mteb/sts14-sts/test.jsonl", "STS14"),
            ("x/STS2016.input.plagiarism.txt", "STS16"),
            ("x/sts15.tsv.gz", "STS15"),
            ("stsb/dev.tsv", "STSBenchmark"),
            ("STS-B/test.tsv", "STSBenchmark"),
            ("x/sts-dev.csv", "STSBenchmark"),
            ("stsbenchmark-sts/test.jsonl", "STSBenchmark"),
            ("sickr-sts/test.jsonl", "SICK-R"),
            ("x/SICK_train.txt", "SICK-R"),
        ] {
            assert_eq!(of(path), Some(name), "{path}");
        }
        let none =
            ["sts/2012-train/MSRpar.tsv", "sts17-crosslingual-sts/test.jsonl", "x/images.tsv", "2017/a.tsv", "sts"];
        for path in none {
            assert_eq!(of(path), None, "{path}");
        }
    }

    #[test]
    fn the_sizes_are_those_of_the_published_tasks_together() {
        let sizes = MtebSts::ALL.map(MtebSts::n_pairs);
        // STS 2012: MSRpar, MSRvid, SMTeuroparl, OnWN, SMTnews. SICK: train, trial, test.
        assert_eq!((sizes[0], sizes[6]), (750 + 750 + 459 + 750 + 399, 4500 + 500 + 4927));
        assert_eq!(sizes[1], 189 + 750 + 561, "2013 without SMT");
    }

    #[test]
    fn json_has_the_names_of_mteb() {
        for task in MtebSts::ALL {
            assert_eq!(serde_json::to_value(task).unwrap(), task.name());
        }
    }
}
