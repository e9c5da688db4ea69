//! `senv train student`: its inputs, and what its models can do.

use crate::systems::samples;

const TEXTS: [&str; 4] = ["--texts", "sentences.txt", "--text-vectors", "sentences.npy"];

#[test]
fn a_student_is_a_table_like_others() {
    let folder = samples();
    let train = [&["train", "student", "--dim", "24", "--output", "s.senv"], &TEXTS[..]].concat();
    let loss = |epochs: &str| {
        let args = [&train[..], &["--epochs", epochs, "--json"]].concat();
        folder.run(&args).ok().json()["loss"].as_f64().unwrap()
    };
    let (first, last) = (loss("1"), loss("30"));
    assert!(last < first, "{first} {last}");
    let info = folder.run(&["info", "s.senv", "--json"]).ok().json();
    assert_eq!((info["kind"].as_str(), info["dim"].as_u64()), (Some("student"), Some(24)), "{info}");
    folder.run(&["compress", "--model", "s.senv", "--output", "small.senv", "--quiet"]).ok();
    let near = folder.run(&["nearest", "sentences.txt", "--model", "small.senv", "--query", "horse", "--k", "1"]).ok();
    assert_eq!(near.out.lines().count(), 1, "{}", near.out);
    // Another one goes on from it, with its dimension and its words.
    let again = ["train", "student", "--init-model", "s.senv", "--epochs", "1", "--output", "t.senv"];
    let again = folder.run(&[&again[..], &TEXTS].concat()).ok();
    assert!(again.err.contains("learning rate") && again.err.contains("already trained"), "{}", again.err);
    let again = folder.run(&["info", "t.senv", "--json"]).ok().json();
    assert_eq!((&again["words"], &again["dim"]), (&info["words"], &info["dim"]));
}

#[test]
fn files_and_matrices_that_do_not_fit_are_named() {
    let folder = samples();
    let train = |args: &[&str]| folder.run(&[&["train", "student", "--output", "s.senv"], args].concat());
    train(&[]).fails(2, &["--texts"]);
    train(&TEXTS[..2]).fails(2, &["--text-vectors"]);
    train(&TEXTS[2..]).fails(2, &["--texts"]);
    train(&["--passages", "pairs.tsv", "--query-vectors", "first.npy"]).fails(2, &["--passage-vectors"]);
    train(&["--texts", "sentences.txt", "text.txt", "--text-vectors", "sentences.npy"])
        .fails(2, &["--texts has 2 files, but --text-vectors has 1"]);
    train(&["--texts", "text.txt", "--text-vectors", "sentences.npy"])
        .fails(1, &["sentences.npy", "rows", "text.txt has", "one row for each line"]);
    train(&["--texts", "sentences.txt", "--text-vectors", "sentences.txt"]).fails(1, &["sentences.txt"]);
    train(&["--texts", "sentences.txt", "--text-vectors", "absent.npy"]).fails(1, &["absent.npy"]);
    train(&["--texts", "sentences.txt:0", "--text-vectors", "sentences.npy"]).fails(2, &["weight", "above 0"]);
    train(&["--passages", "text.txt", "--query-vectors", "first.npy", "--passage-vectors", "second.npy"])
        .fails(1, &["text.txt:1", "two sentences"]);
    assert!(!folder.has("s.senv"));
}
