//! Files that belong to a published set by their names, whether or not a protocol reads them.

use crate::bench::{
    find::{
        CAPTIONS, CR, MPQA, MR, MSRP_TEST, MSRP_TRAIN, SICK_TEST, SICK_TRAIN, SICK_TRIAL, SNLI_DEV, SNLI_TEST,
        STSB_DEV, STSB_TEST, STSB_TRAIN, SUBJ, TREC_TEST, TREC_TRAIN, year_of,
    },
    find_order::{PAWS_DEV, PAWS_TEST},
};

/// Returns whether a file has the name of a published set. The name is the path inside the folder as
/// [`DataFolder::files`](crate::bench::DataFolder::files) has it.
pub(super) fn is_of_known_set(name: &str) -> bool {
    let is_named = |end: &&str| name.strip_suffix(end).is_some_and(|before| before.ends_with('/'));
    let captions = CAPTIONS.iter().map(|&(_, ends)| ends);
    let mut known = KNOWN.iter().copied().chain(captions);
    if known.any(|ends| ends.iter().any(is_named)) {
        return true;
    }
    let Some((parents, file)) = name.rsplit_once('/') else { return false };
    let parent = parents.rsplit('/').next().unwrap_or_default();
    let is_semeval = file.starts_with("sts.input.") || file.starts_with("sts.gs.");
    let of_year = year_of(parent).is_some() || parent.split('-').next().is_some_and(|year| year_of(year).is_some());
    is_semeval || (of_year && parents.contains("sts") && (file.ends_with(".tsv") || file.ends_with(".jsonl")))
}

/// Endings of the paths of files that protocols read, except captions.
const KNOWN: &[&[&str]] = &[
    SICK_TRAIN, SICK_TRIAL, SICK_TEST, SNLI_TEST, SNLI_DEV, STSB_TRAIN, STSB_DEV, STSB_TEST, MSRP_TRAIN, MSRP_TEST, MR,
    CR, SUBJ, MPQA, TREC_TRAIN, TREC_TEST, PAWS_TEST, PAWS_DEV, ALSO,
];

/// Further files of these sets, which no protocol names: the other class of SentEval's sets, and training parts.
const ALSO: &[&str] = &[
    "rt-polarity.neg",
    "custrev.neg",
    "subj.subjective",
    "mpqa.neg",
    "paws-train.tsv",
    "paws/train.tsv",
    "paws/final/train.tsv",
    "snli/train.tsv",
    "snli_1.0_train.txt",
    "snli_1.0_train.jsonl",
    "sickr-sts/train.jsonl",
    "sickr-sts/validation.jsonl",
    "stsbenchmark-sts/train.jsonl",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_published_sets_are_known_in_full_only() {
        let known = [
            "/sick/trial.tsv",
            "/deep/er/stsb/train.tsv",
            "/sts-dev.csv",
            "/subj/subj.subjective",
            "/sts/2012-train/msrpar.tsv",
            "/sts/2014/own.tsv",
            "/sts12-sts/test.jsonl",
            "/2013/sts.gs.fnwn.txt",
            "/coco/captions.tsv",
            "/order/paws-train.tsv",
        ];
        assert!(known.iter().all(|name| is_of_known_set(name)), "{known:?}");
        let own = [
            "/tickets.csv",
            "/my-sick/trials.tsv",
            "/2014/own.tsv",
            "/notsts-dev.csv",
            "/mr/train.tsv",
            "/sts/notes/a.tsv",
            "/coco/captions-single.tsv",
        ];
        assert!(!own.iter().any(|name| is_of_known_set(name)), "{own:?}");
    }
}
