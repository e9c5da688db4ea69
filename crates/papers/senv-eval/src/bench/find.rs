//! Finds the tasks of each protocol in a folder, in the layouts in which the data sets are distributed.

use std::path::{Path, PathBuf};

use senv_data::{LabeledSet, NliSet, ParaphraseSet, SentenceGroups, SickSet, StsTask};

use super::{folder::DataFolder, task_data::TaskData};
use crate::error::Result;

/// A task without its protocol, as found in a folder.
#[derive(Debug)]
pub(super) struct Found {
    /// Name of the task within its protocol.
    pub(super) name: String,
    /// The year, for STS.
    pub(super) year: Option<u16>,
    /// Files that the data is read from.
    pub(super) files: Vec<PathBuf>,
    /// The data.
    pub(super) data: TaskData,
}

impl Found {
    pub(super) fn new(name: &str, files: &[&Path], data: TaskData) -> Self {
        Self { name: name.to_owned(), year: None, files: files.iter().map(|&file| file.to_owned()).collect(), data }
    }
}

pub(super) const SICK_TRAIN: &[&str] = &["sick_train.txt", "sick/train.tsv"];
pub(super) const SICK_TRIAL: &[&str] = &["sick_trial.txt", "sick/trial.tsv", "sick/dev.tsv"];
pub(super) const SICK_TEST: &[&str] = &["sick_test_annotated.txt", "sick/test.tsv", "sickr-sts/test.jsonl"];
// SICK from MTEB has no labels.
pub(super) const SICK_LABELLED: &[&str] = &["sick_test_annotated.txt", "sick/test.tsv"];
pub(super) const SNLI_TEST: &[&str] = &["snli_1.0_test.txt", "snli_1.0_test.jsonl", "snli/test.tsv"];
pub(super) const SNLI_DEV: &[&str] = &["snli_1.0_dev.txt", "snli_1.0_dev.jsonl", "snli/dev.tsv"];
pub(super) const STSB_TRAIN: &[&str] = &["sts-train.csv", "stsb/train.tsv", "stsbenchmark/train.tsv"];
pub(super) const STSB_DEV: &[&str] =
    &["sts-dev.csv", "stsb/dev.tsv", "stsbenchmark/dev.tsv", "stsbenchmark-sts/validation.jsonl"];
pub(super) const STSB_TEST: &[&str] =
    &["sts-test.csv", "stsb/test.tsv", "stsbenchmark/test.tsv", "stsbenchmark-sts/test.jsonl"];
pub(super) const MSRP_TRAIN: &[&str] = &["msr_paraphrase_train.txt", "msrp/train.tsv"];
pub(super) const MSRP_TEST: &[&str] = &["msr_paraphrase_test.txt", "msrp/test.tsv"];
pub(super) const MR: &[&str] = &["rt-polarity.pos", "mr/all.tsv"];
pub(super) const CR: &[&str] = &["custrev.pos", "cr/all.tsv"];
pub(super) const SUBJ: &[&str] = &["subj.objective", "subj/all.tsv"];
pub(super) const MPQA: &[&str] = &["mpqa.pos", "mpqa/all.tsv"];
pub(super) const TREC_TRAIN: &[&str] = &["train_5500.label", "trec/train.tsv"];
pub(super) const TREC_TEST: &[&str] = &["trec_10.label", "trec/test.tsv"];
pub(super) const CAPTIONS: &[(&str, &[&str])] = &[
    ("five images", &["pthought-groups.tsv"]),
    ("COCO", &["coco/captions.tsv", "captions_val2017.json", "captions_val2014.json"]),
    ("Multi30k", &["flickr/multi30k.tsv"]),
    ("Flickr8k", &["flickr/flickr8k.tsv", "flickr8k.token.txt"]),
];

/// Returns the year in the name of a folder, such as `2014`, `STS14-en-test` or `sts2014-test`.
pub(crate) fn year_of(folder: &str) -> Option<u16> {
    if let Ok(year @ 2012..=2017) = folder.parse() {
        return Some(year);
    }
    let digits: String = folder.strip_prefix("sts")?.chars().take_while(char::is_ascii_digit).collect();
    match digits.parse().ok()? {
        year @ 2012..=2017 => Some(year),
        short @ 12..=17 => Some(2000 + short),
        _ => None,
    }
}

/// Iterates over the files of STS tasks, each with its year.
pub(super) fn sts_files(folder: &DataFolder) -> impl Iterator<Item = (u16, &Path)> {
    folder.files().filter_map(|(name, path)| {
        let (parents, file) = name.rsplit_once('/')?;
        let parent = parents.rsplit('/').next()?;
        let year = year_of(parent).filter(|_| !parent.contains("train"))?;
        let in_sts = parents.contains("sts") && file.ends_with(".tsv");
        let semeval = file.starts_with("sts.input.") && !file.contains(".all.");
        // MTEB has all tasks of a year in one file.
        let mteb = parent.ends_with("-sts") && file == "test.jsonl";
        (in_sts || semeval || mteb).then_some((year, path))
    })
}

pub(super) fn sts(folder: &DataFolder) -> Vec<Result<Found>> {
    let read = |(year, path): (u16, &Path)| -> Result<Found> {
        let data = StsTask::read(path)?;
        let name = data.name.clone();
        Ok(Found { year: Some(year), ..Found::new(&name, &[path], TaskData::Scored(data)) })
    };
    let mut tasks: Vec<Result<Found>> = sts_files(folder).map(read).collect();
    // Sort by year, then by name.
    tasks
        .sort_by_key(|task| task.as_ref().map_or((u16::MAX, String::new()), |t| (t.year.unwrap_or(0), t.name.clone())));
    // The same task in two layouts counts once.
    tasks.dedup_by(|a, b| matches!((a, b), (Ok(a), Ok(b)) if (a.year, &a.name) == (b.year, &b.name)));
    tasks
}

/// Returns the part to report on: the test set, or the development set if there is no test set.
pub(super) fn reported<'f>(folder: &'f DataFolder, test: &[&str], dev: &[&str]) -> Option<(&'static str, &'f Path)> {
    let part = |name, ends| folder.find(ends).map(|path| (name, path));
    part("test", test).or_else(|| part("dev", dev))
}

pub(super) fn stsb(folder: &DataFolder) -> Vec<Result<Found>> {
    let part = reported(folder, STSB_TEST, STSB_DEV);
    let read = |(name, path): (&str, &Path)| Ok(Found::new(name, &[path], TaskData::Scored(StsTask::read_stsb(path)?)));
    part.map(read).into_iter().collect()
}

pub(super) fn sick(folder: &DataFolder) -> Vec<Result<Found>> {
    let part = reported(folder, SICK_TEST, SICK_TRIAL);
    let read = |(name, path): (&str, &Path)| {
        // SICK from MTEB has scores without labels.
        let is_mteb = path.to_string_lossy().contains(".jsonl");
        let data = if is_mteb { StsTask::read(path)? } else { SickSet::read(path)?.task };
        Ok(Found::new(name, &[path], TaskData::Scored(data)))
    };
    part.map(read).into_iter().collect()
}

/// Reads the training, development and test sets in the same way. Returns nothing if there is no training set or no set
/// to report on. Without a test set the development set is reported on, and settings are not chosen on any set.
fn split<T>(
    folder: &DataFolder,
    [train, dev, test]: [&[&str]; 3],
    read: impl Fn(&Path) -> Result<T>,
    make: impl FnOnce(&'static str, &[&Path], T, Option<T>, T) -> Found,
) -> Vec<Result<Found>> {
    let (Some(train), Some((part, reported))) = (folder.find(train), reported(folder, test, dev)) else {
        return Vec::new();
    };
    let dev = folder.find(dev).filter(|_| part == "test");
    let files: Vec<&Path> = [Some(train), dev, Some(reported)].into_iter().flatten().collect();
    let all = || Ok(make(part, &files, read(train)?, dev.map(&read).transpose()?, read(reported)?));
    vec![all()]
}

pub(super) fn sick_probe(folder: &DataFolder) -> Vec<Result<Found>> {
    let read = |path: &Path| Ok(SickSet::read(path)?.task);
    split(folder, [SICK_TRAIN, SICK_TRIAL, SICK_TEST], read, |part, files, train, dev, test| {
        Found::new(part, files, TaskData::Trained { train, dev, test })
    })
}

pub(super) fn stsb_probe(folder: &DataFolder) -> Vec<Result<Found>> {
    let read = |path: &Path| Ok(StsTask::read_stsb(path)?);
    split(folder, [STSB_TRAIN, STSB_DEV, STSB_TEST], read, |part, files, train, dev, test| {
        Found::new(part, files, TaskData::Trained { train, dev, test })
    })
}

pub(super) fn sick_entailment(folder: &DataFolder) -> Vec<Result<Found>> {
    let read = |path: &Path| Ok(NliSet::read(path)?);
    split(folder, [SICK_TRAIN, SICK_TRIAL, SICK_TEST], read, |part, files, train, dev, test| {
        Found::new(part, files, TaskData::Entailment { train, dev, test })
    })
}

pub(super) fn own_entailment(folder: &DataFolder) -> Vec<Result<Found>> {
    reported_nli(folder, TaskData::Labels)
}

/// Finds the sets of premises and hypotheses to report on.
pub(super) fn reported_nli(folder: &DataFolder, data: fn(NliSet) -> TaskData) -> Vec<Result<Found>> {
    let sets = [("SICK", SICK_LABELLED, SICK_TRIAL), ("SNLI", SNLI_TEST, SNLI_DEV)];
    let found = sets.into_iter().filter_map(|(set, test, dev)| reported(folder, test, dev).map(|part| (set, part)));
    let read = |(set, (part, path)): (&str, (&str, &Path))| {
        Ok(Found::new(&format!("{set} {part}"), &[path], data(NliSet::read(path)?)))
    };
    found.map(read).collect()
}

pub(super) fn detection(folder: &DataFolder) -> Vec<Result<Found>> {
    let test = folder.find(MSRP_TEST).map(|path| ("MSRP test", path));
    let part = test.or_else(|| folder.find(MSRP_TRAIN).map(|path| ("MSRP train", path)));
    let read =
        |(name, path): (&str, &Path)| Ok(Found::new(name, &[path], TaskData::Paraphrases(ParaphraseSet::read(path)?)));
    part.map(read).into_iter().collect()
}

pub(super) fn ranking(folder: &DataFolder) -> Vec<Result<Found>> {
    let (train, test) = (folder.find(MSRP_TRAIN), folder.find(MSRP_TEST));
    let name = match (train, test) {
        (Some(_), Some(_)) => "MSRP",
        (Some(_), None) => "MSRP train",
        (None, Some(_)) => "MSRP test",
        (None, None) => return Vec::new(),
    };
    let files: Vec<&Path> = [train, test].into_iter().flatten().collect();
    let sets = files.iter().map(|file| Ok(ParaphraseSet::read(file)?)).collect::<Result<Vec<_>>>();
    vec![sets.map(|sets| Found::new(name, &files, TaskData::Pool(sets)))]
}

pub(super) fn msrp(folder: &DataFolder) -> Vec<Result<Found>> {
    let Some(train) = folder.find(MSRP_TRAIN) else { return Vec::new() };
    let test = folder.find(MSRP_TEST);
    let files: Vec<&Path> = [Some(train), test].into_iter().flatten().collect();
    let read = || -> Result<Found> {
        let mut learned = ParaphraseSet::read(train)?;
        let (name, tested) = match test {
            Some(test) => ("MSRP test", ParaphraseSet::read(test)?),
            // Without a test set, hold out the last quarter of the training set.
            None => ("MSRP train, last quarter", learned.split_off_last_quarter()),
        };
        Ok(Found::new(name, &files, TaskData::TrainedParaphrases { train: learned, test: tested }))
    };
    vec![read()]
}

/// Finds sentences with classes in one set, which is tested by cross-validation.
fn classes(folder: &DataFolder, name: &str, ends: &[&str]) -> Vec<Result<Found>> {
    let read = |path: &Path| -> Result<Found> {
        let test = LabeledSet::read(path)?;
        // SentEval has one file per class.
        let extension = path.extension().map_or_else(Default::default, |e| e.to_string_lossy().to_lowercase());
        let other = match &extension[..] {
            "pos" => Some(path.with_extension("neg")),
            "objective" => Some(path.with_extension("subjective")),
            _ => None,
        };
        let files: Vec<&Path> = std::iter::once(path).chain(other.as_deref()).collect();
        Ok(Found::new(name, &files, TaskData::Labeled { train: None, test }))
    };
    folder.find(ends).map(read).into_iter().collect()
}

pub(super) fn mr(folder: &DataFolder) -> Vec<Result<Found>> {
    classes(folder, "MR", MR)
}

pub(super) fn cr(folder: &DataFolder) -> Vec<Result<Found>> {
    classes(folder, "CR", CR)
}

pub(super) fn subj(folder: &DataFolder) -> Vec<Result<Found>> {
    classes(folder, "SUBJ", SUBJ)
}

pub(super) fn mpqa(folder: &DataFolder) -> Vec<Result<Found>> {
    classes(folder, "MPQA", MPQA)
}

pub(super) fn trec(folder: &DataFolder) -> Vec<Result<Found>> {
    let (Some(train), Some(test)) = (folder.find(TREC_TRAIN), folder.find(TREC_TEST)) else { return Vec::new() };
    let read = || -> Result<Found> {
        let data = TaskData::Labeled { train: Some(LabeledSet::read(train)?), test: LabeledSet::read(test)? };
        Ok(Found::new("TREC", &[train, test], data))
    };
    vec![read()]
}

pub(super) fn soup(_: &DataFolder) -> Vec<Result<Found>> {
    vec![Ok(Found::new("soup", &[], TaskData::Groups(SentenceGroups::soup())))]
}

pub(super) fn captions(folder: &DataFolder) -> Vec<Result<Found>> {
    let found = CAPTIONS.iter().filter_map(|(name, ends)| folder.find(ends).map(|path| (name, path)));
    let read =
        |(name, path): (&&str, &Path)| Ok(Found::new(name, &[path], TaskData::Captions(SentenceGroups::read(path)?)));
    found.map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::{Task, own::OwnData, protocols};

    #[test]
    fn folders_are_named_as_years_in_several_ways() {
        let years =
            ["2014", "sts14-en-test", "sts2012-test", "2012-train", "sts", "stsb", "sts99", "1999"].map(year_of);
        assert_eq!(years, [Some(2014), Some(2014), Some(2012), None, None, None, None, None]);
    }

    fn write(folder: &Path, path: &str, text: &str) {
        let path = folder.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    #[test]
    fn official_layouts_and_ours_give_the_same_tasks() {
        let keys = |folder: &Path| -> Vec<String> {
            let folder = DataFolder::open(folder).unwrap();
            let mut own = OwnData::default();
            let loaded = protocols().iter().flat_map(|protocol| Task::find(protocol, &folder, &mut own));
            loaded.map(|task| task.unwrap().key()).collect()
        };
        let ours = tempfile::tempdir().unwrap();
        let sick = "4.5\tENTAILMENT\ta\tb\n1\tCONTRADICTION\tc\td\n";
        write(ours.path(), "sts/2014/images.tsv", "5\ta\tb\n1\tc\td\n");
        write(ours.path(), "sts/2012-train/images.tsv", "5\ta\tb\n1\tc\td\n");
        write(ours.path(), "stsb/train.tsv", "5\ta\tb\n1\tc\td\n");
        write(ours.path(), "stsb/dev.tsv", "5\ta\tb\n1\tc\td\n");
        write(ours.path(), "stsb/test.tsv", "5\ta\tb\n1\tc\td\n");
        write(ours.path(), "sick/train.tsv", sick);
        write(ours.path(), "sick/test.tsv", sick);
        write(ours.path(), "snli/dev.tsv", "entailment\ta\tb\ncontradiction\tc\td\n");
        write(ours.path(), "msrp/train.tsv", "1\ta\tb\n0\tc\td\n");
        write(ours.path(), "order/paws-test.tsv", "1\ta b\tb a\n0\tc d\td c\n");
        write(ours.path(), "flickr/flickr8k.tsv", "1\ta\n1\tb\n");
        write(ours.path(), "coco/captions.tsv", "1\ta\n1\tb\n");
        let theirs = tempfile::tempdir().unwrap();
        let published = "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment\n1\ta\tb\t4.5\tENTAILMENT\n2\tc\td\t1\tCONTRADICTION\n";
        let stsb = "g\tf\t2012\t1\t5\ta\tb\ng\tf\t2012\t2\t1\tc\td\n";
        write(theirs.path(), "downstream/STS/STS14-en-test/STS.input.images.txt", "a\tb\nc\td\n");
        write(theirs.path(), "downstream/STS/STS14-en-test/STS.gs.images.txt", "5\n1\n");
        for part in ["train", "dev", "test"] {
            write(theirs.path(), &format!("downstream/STS/STSBenchmark/sts-{part}.csv"), stsb);
        }
        write(theirs.path(), "downstream/SICK/SICK_train.txt", published);
        write(theirs.path(), "downstream/SICK/SICK_test_annotated.txt", published);
        let snli = "{\"gold_label\": \"entailment\", \"sentence1\": \"a\", \"sentence2\": \"b\"}\n";
        write(
            theirs.path(),
            "snli_1.0/snli_1.0_dev.jsonl",
            &[snli, &snli.replace("entailment", "contradiction")].concat(),
        );
        let msrp = "Quality\t#1 ID\t#2 ID\t#1 String\t#2 String\n1\t1\t2\ta\tb\n0\t3\t4\tc\td\n";
        write(theirs.path(), "downstream/MRPC/msr_paraphrase_train.txt", msrp);
        let paws = "id\tsentence1\tsentence2\tlabel\n1\ta b\tb a\t1\n2\tc d\td c\t0\n";
        write(theirs.path(), "paws/final/test.tsv", paws);
        let coco = r#"{"annotations": [{"image_id": 1, "caption": "a"}, {"image_id": 1, "caption": "b"}]}"#;
        write(theirs.path(), "annotations/captions_val2014.json", coco);
        write(theirs.path(), "Flickr8k_text/Flickr8k.token.txt", "1.jpg#0\ta\n1.jpg#1\tb\n");
        write(ours.path(), "mr/all.tsv", "1\ta\n0\tb\n");
        write(ours.path(), "subj/all.tsv", "1\ta\n0\tb\n");
        write(ours.path(), "trec/train.tsv", "NUM\ta\nLOC\tb\n");
        write(ours.path(), "trec/test.tsv", "NUM\ta\nLOC\tb\n");
        for (name, text) in [("MR/rt-polarity", "pos neg"), ("SUBJ/subj", "objective subjective")] {
            for part in text.split(' ') {
                write(theirs.path(), &format!("downstream/{name}.{part}"), "a sentence\n");
            }
        }
        for name in ["train_5500.label", "TREC_10.label"] {
            write(theirs.path(), &format!("downstream/TREC/{name}"), "NUM:dist a ?\nLOC:city b ?\n");
        }
        let expected = [
            "sts/2014/images",
            "stsb/test",
            "sick/test",
            "detection/MSRP train",
            "ranking/MSRP train",
            "soup/soup",
            "p-coherence/COCO",
            "p-coherence/Flickr8k",
            "order-pairs/PAWS test",
            "order-entailment/SICK test",
            "order-entailment/SNLI dev",
            "order-templates/swapped roles",
            "order-templates/negation",
            "order-templates/numbers",
            "order-templates/more and less",
            "order-templates/before and after",
            "order-templates/attributes",
            "order-templates/conjuncts exchanged",
            "sick-probe/test",
            "stsb-probe/test",
            "sick-entailment/test",
            "own-entailment/SICK test",
            "own-entailment/SNLI dev",
            "msrp/MSRP train, last quarter",
            "mr/MR",
            "subj/SUBJ",
            "trec/TREC",
        ];
        assert_eq!(keys(ours.path()), expected);
        assert_eq!(keys(theirs.path()), expected);
        for task in mr(&DataFolder::open(theirs.path()).unwrap()) {
            assert_eq!(task.unwrap().files.len(), 2, "a file for each class");
        }
        let stsb_probe = protocols().iter().find(|protocol| protocol.name == "stsb-probe").unwrap();
        let opened = DataFolder::open(ours.path()).unwrap();
        for task in Task::find(stsb_probe, &opened, &mut OwnData::default()) {
            assert_eq!(task.unwrap().files.len(), 3, "training, development and test set");
        }
    }

    #[test]
    fn the_layout_of_mteb_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let lines = concat!(
            r#"{"sentence1": "a", "sentence2": "b", "score": 4}"#,
            "\n",
            r#"{"sentence1": "c", "sentence2": "d", "score": 1.5}"#,
            "\n",
        );
        for name in ["sts12-sts", "stsbenchmark-sts", "sickr-sts"] {
            write(folder.path(), &format!("{name}/test.jsonl"), lines);
        }
        let folder = DataFolder::open(folder.path()).unwrap();
        let mut own = OwnData::default();
        let first_three = protocols().iter().take(3).flat_map(|protocol| Task::find(protocol, &folder, &mut own));
        let loaded: Vec<Task> = first_three.collect::<Result<_>>().unwrap();
        assert_eq!(loaded.iter().map(Task::key).collect::<Vec<_>>(), ["sts/2012/test", "stsb/test", "sick/test"]);
        assert!(loaded.iter().all(|task| task.gold() == [4.0, 1.5]));
    }

    #[test]
    fn a_broken_file_is_an_error_of_its_task_alone() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), "sts/2014/images.tsv", "9\ta\tb\n");
        write(folder.path(), "sts/2014/other.tsv", "5\ta\tb\n1\tc\td\n");
        let loaded = sts(&DataFolder::open(folder.path()).unwrap());
        assert_eq!(loaded.iter().filter(|task| task.is_ok()).count(), 1);
        let error = loaded.into_iter().find_map(Result::err).unwrap().to_string();
        assert!(error.contains("images.tsv:1"), "{error}");
    }
}
