//! Recognizes published sets among data with their names, by the number of their items.
//!
//! The sizes are those of the papers and of their authors' files. Some copies lack pairs, to keep test sentences out of
//! training; their sizes are listed, too.

use std::ops::RangeInclusive;

use super::task_data::TaskData;
use crate::published::rows::plain_name;

/// The scored pairs of STS tasks by year and name.
const STS: &[(u16, &str, usize)] = &[
    (2012, "MSRpar", 750),
    (2012, "MSRvid", 750),
    (2012, "SMTeuroparl", 459),
    (2012, "OnWN", 750),
    (2012, "SMTnews", 399),
    (2013, "FNWN", 189),
    (2013, "headlines", 750),
    (2013, "OnWN", 561),
    (2013, "SMT", 750),
    (2014, "deft-forum", 450),
    (2014, "deft-news", 300),
    (2014, "headlines", 750),
    (2014, "images", 750),
    (2014, "OnWN", 750),
    (2014, "tweet-news", 750),
    (2015, "answers-forums", 375),
    (2015, "answers-students", 750),
    (2015, "belief", 375),
    (2015, "headlines", 750),
    (2015, "images", 750),
    (2016, "answer-answer", 254),
    (2016, "headlines", 249),
    (2016, "plagiarism", 230),
    (2016, "postediting", 244),
    (2016, "question-question", 209),
    // All tasks of a year in one file, as MTEB has them.
    (2012, "test", 3108),
    (2013, "test", 1500),
    (2014, "test", 3750),
    (2015, "test", 3000),
    (2016, "test", 1186),
];

/// Numbers of items, each as a range, because copies differ in empty lines.
type Sizes = &'static [RangeInclusive<usize>];

/// Test and development part; the test part and all of SICK in MTEB.
const SICK: Sizes = &[4927..=4927, 500..=500, 9927..=9927];
const SICK_TRAIN: Sizes = &[4500..=4500];
/// Test and development part; the latter also without the pairs of STS 2015 and 2016.
const STSB: Sizes = &[1379..=1379, 1500..=1500, 895..=895];
const STSB_TRAIN: Sizes = &[5749..=5749, 4435..=4435];
/// The test part, the training part, and both.
const MSRP: Sizes = &[1725..=1725, 4076..=4076, 5801..=5801];
/// Images: COCO's validation parts of 2017 and 2014, and the test part of Karpathy's split without held-out images.
const COCO: Sizes = &[5000..=5000, 40504..=40504, 4137..=4137];
const MR: Sizes = &[10662..=10662];
const CR: Sizes = &[3770..=3775];
const SUBJ: Sizes = &[10_000..=10_000];
/// Three phrases are empty.
const MPQA: Sizes = &[10603..=10606];
const TREC: Sizes = &[500..=500];
const TREC_TRAIN: Sizes = &[5452..=5452];

/// Whether data that were found under the name of a published set have its size. True for protocols without published
/// figures.
pub(super) fn is_published(protocol: &str, year: Option<u16>, name: &str, data: &TaskData) -> bool {
    let (train, test) = data.sizes();
    let is = |n: usize, sizes: Sizes| sizes.iter().any(|size| size.contains(&n));
    match protocol {
        "sts" => STS.iter().any(|&(of_year, of_name, n)| {
            Some(of_year) == year && plain_name(of_name) == plain_name(name) && n == test
        }),
        "stsb" => is(test, STSB),
        "stsb-probe" => is(test, STSB) && is(train, STSB_TRAIN),
        "sick" => is(test, SICK),
        "sick-probe" | "sick-entailment" => is(test, SICK) && is(train, SICK_TRAIN),
        "detection" => is(test, MSRP),
        // Training pairs can be the rest of one file.
        "msrp" | "ranking" => is(train + test, MSRP),
        "p-coherence" if name == "COCO" => is(test, COCO),
        "mr" => is(test, MR),
        "cr" => is(test, CR),
        "subj" => is(test, SUBJ),
        "mpqa" => is(test, MPQA),
        "trec" => is(test, TREC) && is(train, TREC_TRAIN),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use senv_data::{Scale, StsPair, StsTask};

    use super::*;

    fn scored(n: usize) -> StsTask {
        let pair = StsPair { relatedness: 1.0, first: "a".into(), second: "b".into() };
        StsTask {
            name: String::new(),
            year: None,
            path: "a.tsv".into(),
            scale: Scale::STS,
            pairs: vec![pair; n],
            n_unscored: 0,
            n_empty_sentences: 0,
        }
    }

    #[test]
    fn a_set_is_known_by_its_name_and_size() {
        let sts = |year, name, n| is_published("sts", Some(year), name, &TaskData::Scored(scored(n)));
        assert!(sts(2014, "images", 750) && sts(2014, "Deft_Forum", 450) && sts(2016, "test", 1186));
        assert!(!sts(2014, "images", 749) && !sts(2013, "images", 750) && !sts(2014, "mine", 750));
        let stsb = |n| is_published("stsb", None, "dev", &TaskData::Scored(scored(n)));
        assert!(stsb(1500) && stsb(895) && stsb(1379) && !stsb(60));
        let probe = |train, test| {
            let data = TaskData::Trained { train: scored(train), dev: None, test: scored(test) };
            is_published("sick-probe", None, "test", &data)
        };
        assert!(probe(4500, 4927) && probe(4500, 500) && !probe(400, 4927) && !probe(4500, 40));
        assert!(is_published("pairs", None, "any", &TaskData::Scored(scored(3))), "no figures are published");
    }

    #[test]
    fn each_published_task_of_sts_has_a_size() {
        for system in crate::published::sts::published_sts() {
            for value in &system.values {
                let Some(year) = value.year else { continue };
                let has = STS.iter().any(|&(of_year, name, _)| of_year == year && name == value.task);
                assert!(has, "{year} {} of {}", value.task, system.system);
            }
        }
    }
}
