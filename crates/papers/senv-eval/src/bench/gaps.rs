//! Parts of data sets that a folder lacks although it has other data of the same protocol, and what is used instead.

use super::{
    find::{
        CAPTIONS, MSRP_TEST, MSRP_TRAIN, SICK_LABELLED, SICK_TEST, SICK_TRIAL, SNLI_DEV, SNLI_TEST, STSB_DEV,
        STSB_TEST, sts_files,
    },
    find_order::{PAWS_DEV, PAWS_TEST},
    folder::DataFolder,
    protocols::Protocol,
};

/// A part of a data set that papers report on.
struct Part {
    name: &'static str,
    /// The protocols that report on it.
    protocols: &'static [&'static str],
    /// Endings of the paths of its files.
    files: &'static [&'static str],
    /// Files that are used without it, and how they are used.
    instead: &'static [&'static str],
    how: &'static str,
}

const DEV: &str = "using the development part instead";

static PARTS: [Part; 9] = [
    Part {
        name: "STS benchmark, test part",
        protocols: &["stsb", "stsb-probe"],
        files: STSB_TEST,
        instead: STSB_DEV,
        how: DEV,
    },
    Part {
        name: "SICK, test part",
        protocols: &["sick", "sick-probe", "sick-entailment"],
        files: SICK_TEST,
        instead: SICK_TRIAL,
        how: DEV,
    },
    Part {
        name: "SICK with labels, test part",
        protocols: &["own-entailment", "order-entailment"],
        files: SICK_LABELLED,
        instead: SICK_TRIAL,
        how: DEV,
    },
    Part {
        name: "SNLI, test part",
        protocols: &["own-entailment", "order-entailment"],
        files: SNLI_TEST,
        instead: SNLI_DEV,
        how: DEV,
    },
    Part { name: "PAWS, test part", protocols: &["order-pairs"], files: PAWS_TEST, instead: PAWS_DEV, how: DEV },
    Part {
        name: "MSRP, test part",
        protocols: &["detection"],
        files: MSRP_TEST,
        instead: MSRP_TRAIN,
        how: "using the training part instead",
    },
    Part {
        name: "MSRP, test part",
        protocols: &["msrp"],
        files: MSRP_TEST,
        instead: MSRP_TRAIN,
        how: "using the last quarter of the training part instead",
    },
    Part {
        name: "MSRP, test part",
        protocols: &["ranking"],
        files: MSRP_TEST,
        instead: MSRP_TRAIN,
        how: "the pool is the training part only",
    },
    Part {
        name: "MSRP, training part",
        protocols: &["ranking"],
        files: MSRP_TRAIN,
        instead: MSRP_TEST,
        how: "the pool is the test part only",
    },
];

impl Part {
    fn gap(&self, folder: &DataFolder) -> Option<String> {
        if folder.find(self.files).is_some() {
            return None;
        }
        let how = if folder.find(self.instead).is_some() { format!(", {}", self.how) } else { String::new() };
        Some(absent(self.name, &how, self.files))
    }
}

/// Describes a missing part.
fn absent(name: &str, how: &str, files: &[&str]) -> String {
    format!("{name}: not in the folder{how}; it needs {}", files.join(" or "))
}

/// Describes what a protocol lacks if it has some of its data, one line per gap.
pub(super) fn gaps(folder: &DataFolder, protocol: &Protocol) -> Vec<String> {
    let parts = PARTS.iter().filter(|part| part.protocols.contains(&protocol.name));
    let mut lines: Vec<String> = parts.filter_map(|part| part.gap(folder)).collect();
    if protocol.name == "sts" {
        let is_absent = |year: &u16| sts_files(folder).all(|(other, _)| other != *year);
        lines.extend((2012..=2016).filter(is_absent).map(|year| {
            let official = format!("STS{}-en-test/STS.input.TASK.txt with STS.gs.TASK.txt", year - 2000);
            absent(&format!("STS {year}"), "", &[&format!("sts/{year}/TASK.tsv"), &official])
        }));
    }
    if protocol.name == "p-coherence" {
        let absent_sets = CAPTIONS.iter().filter(|(_, files)| folder.find(files).is_none());
        lines.extend(absent_sets.map(|(name, files)| absent(&format!("captions of {name}"), "", files)));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::protocols;

    #[test]
    fn absent_parts_are_named_with_what_stands_in_for_them() {
        let folder = tempfile::tempdir().unwrap();
        let sts = ["sts/2012/a.tsv", "sts/2014/a.tsv", "stsb/dev.tsv"];
        for path in sts.into_iter().chain(["sick/test.tsv", "msrp/train.tsv", "snli/dev.tsv", "coco/captions.tsv"]) {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        let folder = DataFolder::open(folder.path()).unwrap();
        let of = |name: &str| gaps(&folder, protocols().iter().find(|protocol| protocol.name == name).unwrap());
        let starts = |lines: &[String], expected: &[&str]| {
            assert_eq!(lines.len(), expected.len(), "{lines:?}");
            for (line, start) in lines.iter().zip(expected) {
                assert!(line.starts_with(start), "{line} does not start with {start}");
            }
        };
        starts(&of("sts"), &["STS 2013: not in the folder; it needs sts/2013/TASK.tsv", "STS 2015: ", "STS 2016: "]);
        let dev = "using the development part instead; it needs sts-test.csv or ";
        starts(&of("stsb"), &[&format!("STS benchmark, test part: not in the folder, {dev}")]);
        starts(&of("sick"), &[]);
        starts(&of("own-entailment"), &["SNLI, test part: not in the folder, using the development part"]);
        starts(&of("msrp"), &["MSRP, test part: not in the folder, using the last quarter of the training part"]);
        starts(&of("ranking"), &["MSRP, test part: not in the folder, the pool is the training part only"]);
        starts(&of("p-coherence"), &["captions of five images: ", "captions of Multi30k: ", "captions of Flickr8k: "]);
        starts(&of("soup"), &[]);
        starts(&of("order-entailment"), &["SNLI, test part: not in the folder, using the development part"]);
        starts(&of("order-pairs"), &["PAWS, test part: not in the folder; it needs paws-test.tsv"]);
    }

    #[test]
    fn parts_are_of_protocols_that_there_are() {
        for name in PARTS.iter().flat_map(|part| part.protocols) {
            assert!(protocols().iter().any(|protocol| protocol.name == *name), "{name}");
        }
    }
}
