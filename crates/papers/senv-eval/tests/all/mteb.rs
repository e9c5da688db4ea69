//! MTEB's protocol for STS, with an encoder whose cosines can be computed by hand.

use std::{
    fs,
    path::{Path, PathBuf},
};

use senv_eval::{
    Error, MtebSts, MtebStsResult, MtebStsSet, StsResult, evaluate_mteb_sts, evaluate_sts_scorer, to_json,
};
use senv_metrics::Bootstrap;

use crate::letters::Letters;

const WITHOUT: Bootstrap = Bootstrap { resamples: 0, seed: 1 };

/// A folder with these files, and their paths.
fn folder(files: &[(&str, &str)]) -> (tempfile::TempDir, Vec<PathBuf>) {
    let folder = tempfile::tempdir().unwrap();
    let write = |(name, text): &(&str, &str)| {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    };
    let paths = files.iter().map(write).collect();
    (folder, paths)
}

/// Cosines 1, 0.5 and 0 for falling gold scores.
const ORDERED: &str = "5\ta\ta\n3\tab\tbc\n1\ta\tb\n";
const SICK: &str = "5\tENTAILMENT\ta\ta\n3\tNEUTRAL\tab\tbc\n1\tNEUTRAL\ta\tb\n";

fn close(got: Option<f64>, rho: f64) {
    // Cosines are f32, but ranks are exact unless cosines are equal.
    assert!((got.unwrap() - 100.0 * rho).abs() < 1e-9, "{got:?}, expected {rho}");
}

/// Year 2013: gold 5, 3, 1, 0, 2, 1 against cosines 1, .5, 0, 1, .5, 0. Ranks deviate by (2.5, 1.5, -1, -2.5, .5, -1)
/// and (2, 0, -2, 2, 0, -2), so ρ = 4 / √(17·16). The mean over the two files, of 1 and -.5, is another number.
#[test]
fn the_pairs_of_a_year_are_one_list_and_the_mean_is_over_the_tasks_that_are_there() {
    let (_folder, files) = folder(&[
        ("sts/2013/first.tsv", ORDERED),
        ("stsb/test.tsv", ORDERED),
        ("sick/train.tsv", SICK),
        ("sick/trial.tsv", SICK),
        ("sts/2013/second.tsv", "0\tc\tc\n2\tab\tbc\n1\ta\tb\n\tnobody\tjudged\n"),
    ]);
    let set = MtebStsSet::read(&files).unwrap();
    assert_eq!(set.tasks, [MtebSts::Sts13, MtebSts::StsBenchmark, MtebSts::SickR], "in MTEB's order");
    let result = evaluate_mteb_sts(&Letters, &set, WITHOUT).unwrap();
    let rho = 4.0 / (17.0f64 * 16.0).sqrt();
    for (task, (n, expected)) in result.tasks.iter().zip([(6, rho), (3, 1.0), (6, 1.0)]) {
        assert_eq!(task.n_pairs, n);
        close(task.spearman_rho_x100, expected);
    }
    close(result.mean_spearman_rho_x100, (rho + 2.0) / 3.0);
    assert_eq!(result.missing, [MtebSts::Sts12, MtebSts::Sts14, MtebSts::Sts15, MtebSts::Sts16]);
    assert_eq!((result.tasks[0].files.len(), result.is_as_mteb()), (2, false));
    let text = result.to_text();
    for line in [
        "mean of 3 of 7",
        "missing: STS12, STS14, STS15, STS16",
        "STS13: 6 pairs; MTEB has 1,500",
        "STSBenchmark: 3 pairs of test.tsv; MTEB has 1,379 of the test part",
        "SICK-R: 6 pairs; MTEB has 9,927 of the training, trial and test parts",
        "STS13: 1 pair without a gold score, skipped",
        "compare this mean only with means of the same files",
    ] {
        assert!(text.contains(line), "{line:?} is missing in: {text}");
    }
    assert!(!text.contains('±'), "{text}");
}

#[test]
fn intervals_hold_their_values() {
    let lines: String = (0..60).map(|i| format!("{}\ta{}\ta\n", i % 6, "b".repeat((i % 6 + i % 4) % 7))).collect();
    let (_folder, files) = folder(&[("2012/a.tsv", &lines), ("2014/b.tsv", &lines)]);
    let set = MtebStsSet::read(&files).unwrap();
    let result = evaluate_mteb_sts(&Letters, &set, Bootstrap { resamples: 200, seed: 3 }).unwrap();
    let width = |value: Option<f64>, interval: Option<(f64, f64)>| {
        let (value, (low, high)) = (value.unwrap(), interval.unwrap());
        assert!(low < value && value < high, "{low} {value} {high}");
        high - low
    };
    let of_tasks: Vec<f64> = result.tasks.iter().map(|of| width(of.spearman_rho_x100, of.interval_x100)).collect();
    let of_mean = width(result.mean_spearman_rho_x100, result.mean_interval_x100);
    assert!(of_tasks.iter().all(|&width| of_mean < width), "{of_mean} {of_tasks:?}");
    assert!(result.to_text().contains("bootstrap over the pairs, 200 draws, seed 3"));
    let json: serde_json::Value = serde_json::from_str(&to_json(&result)).unwrap();
    assert_eq!((&json["tasks"][0]["task"], &json["missing"][0]), (&"STS12".into(), &"STS13".into()));
    assert!(json["mean_interval_x100"][0].is_f64() && json["tasks"][1]["spearman_rho_x100"].is_f64());
}

#[test]
fn the_benchmark_is_its_test_part_or_else_the_development_part() {
    let (_folder, files) =
        folder(&[("stsb/train.tsv", ORDERED), ("stsb/dev.tsv", "1\ta\tb\n2\ta\ta\n"), ("stsb/test.tsv", ORDERED)]);
    let names = |files: &[PathBuf]| -> Vec<String> {
        files.iter().map(|file| file.file_name().unwrap().to_string_lossy().into_owned()).collect()
    };
    let all = MtebStsSet::read(&files).unwrap();
    assert_eq!((names(&all.files[0]), all.pairs[0].pairs.len()), (vec!["test.tsv".to_owned()], 3));
    assert_eq!(names(&all.left_out), ["train.tsv", "dev.tsv"]);
    let text = evaluate_mteb_sts(&Letters, &all, WITHOUT).unwrap().to_text();
    assert!(text.contains("train.tsv") && text.contains("MTEB takes the test part of the STS benchmark"), "{text}");
    let dev = MtebStsSet::read(&files[..2]).unwrap();
    assert_eq!(
        (names(&dev.files[0]), names(&dev.left_out)),
        (vec!["dev.tsv".to_owned()], vec!["train.tsv".to_owned()])
    );
    let text = evaluate_mteb_sts(&Letters, &dev, WITHOUT).unwrap().to_text();
    assert!(text.contains("STSBenchmark: 2 pairs of dev.tsv; MTEB has 1,379 of the test part"), "{text}");
}

#[test]
fn the_task_that_mteb_lacks_is_named() {
    let (_folder, files) = folder(&[("2013/FNWN.tsv", ORDERED), ("2013/SMT.tsv", ORDERED)]);
    let text =
        |files: &[PathBuf]| evaluate_mteb_sts(&Letters, &MtebStsSet::read(files).unwrap(), WITHOUT).unwrap().to_text();
    assert!(text(&files).contains("STS13: 6 pairs; MTEB has 1,500, without SMT\n"), "{}", text(&files));
    assert!(text(&files[..1]).contains("STS13: 3 pairs; MTEB has 1,500\n"));
}

#[test]
fn a_folder_is_searched_as_by_the_bench() {
    let object = concat!(
        r#"{"sentence1": "a", "sentence2": "b", "score": 4}"#,
        "\n",
        r#"{"sentence1": "a", "sentence2": "a", "score": 5}"#,
        "\n",
    );
    let (all, _) = folder(&[
        ("sts/2012/a.tsv", ORDERED),
        ("sts/2012-train/a.tsv", ORDERED),
        ("sts/2014/a.tsv", ORDERED),
        ("mteb/sts14-sts/test.jsonl", object),
        ("stsb/train.tsv", ORDERED),
        ("stsb/dev.tsv", ORDERED),
        ("sick/train.tsv", SICK),
        ("sick/trial.tsv", SICK),
        ("notes.txt", "not data\n"),
    ]);
    let sizes = |folder: &Path| -> Vec<(&str, usize)> {
        let set = MtebStsSet::read(&[folder]).unwrap();
        set.tasks.iter().map(|task| task.name()).zip(set.pairs.iter().map(|task| task.pairs.len())).collect()
    };
    // The file of MTEB has all tasks of its year.
    assert_eq!(sizes(all.path()), [("STS12", 3), ("STS14", 2), ("STSBenchmark", 3), ("SICK-R", 6)]);
    let (mteb, _) = folder(&[("sickr-sts/test.jsonl", object), ("sick/train.tsv", SICK)]);
    assert_eq!(sizes(mteb.path()), [("SICK-R", 2)]);
}

#[test]
fn files_and_folders_without_a_task_are_errors() {
    let (folder, files) =
        folder(&[("sts/2012-train/a.tsv", ORDERED), ("2017/b.tsv", ORDERED), ("2012/c.tsv", "6\ta\tb\n")]);
    let message = |path: &Path| MtebStsSet::read(&[path]).unwrap_err().to_string();
    for file in &files[..2] {
        let said = message(file);
        assert!(said.contains("belongs to none of MTEB's seven English STS tasks; name its folder"), "{said}");
    }
    assert!(message(&folder.path().join("sts")).contains("sts has no file of MTEB's seven English STS tasks"));
    assert!(message(&files[2]).contains("c.tsv:1: the gold score 6"));
    assert!(message(&folder.path().join("2012/absent.tsv")).contains("absent.tsv"));
    let nothing = MtebStsSet::read(&[] as &[PathBuf]).unwrap_err();
    assert!(matches!(nothing, Error::NothingToDo { .. }), "{nothing}");
}

/// As many pairs as MTEB has: nothing is said about differences.
#[test]
fn all_seven_tasks_with_all_pairs_are_as_in_mteb() {
    let name = |task: MtebSts| match task {
        MtebSts::StsBenchmark => "stsb/test.tsv".to_owned(),
        MtebSts::SickR => "sick/all.tsv".to_owned(),
        year => format!("20{}/all.tsv", &year.name()[3..]),
    };
    let line = |task: MtebSts, i: usize| {
        let label = if task == MtebSts::SickR { "NEUTRAL\t" } else { "" };
        format!("{}\t{label}{i}\tb\n", 1 + i % 5)
    };
    let texts = MtebSts::ALL.map(|task| (name(task), (0..task.n_pairs()).map(|i| line(task, i)).collect::<String>()));
    let files: Vec<(&str, &str)> = texts.iter().map(|(name, text)| (&name[..], &text[..])).collect();
    let (_folder, files) = folder(&files);
    let set = MtebStsSet::read(&files).unwrap();
    let scorer = |pairs: &[(&str, &str)]| Ok(pairs.iter().map(|(a, _)| a.parse::<f64>().unwrap() % 5.0).collect());
    let of = |set: &MtebStsSet| -> StsResult { evaluate_sts_scorer(&scorer, &set.pairs).unwrap() };
    let result = MtebStsResult::of(&set, &of(&set)).unwrap();
    assert!(result.is_as_mteb(), "{:?}", result.differences);
    close(result.mean_spearman_rho_x100, 1.0);
    let text = result.to_text();
    assert!(text.contains("mean of 7 of 7") && !text.contains("missing") && !text.contains("compare"), "{text}");
    let parts = MtebStsSet::read(&files[..2]).unwrap();
    let error = MtebStsResult::of(&set, &of(&parts)).unwrap_err();
    assert!(matches!(error, Error::DifferentPairs { .. }), "{error}");
}
