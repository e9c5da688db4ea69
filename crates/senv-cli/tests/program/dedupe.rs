//! `senv dedupe`: which sentences stay, and what is said of the others.

use serde_json::{Value, json};

use crate::common::Folder;

const TEXT: &str = "\
The train to London is late.

The soup needs more salt.
the train to London is late
The soup needs more salt.
Dark clouds gathered over the hills.
The train to London is late again today.
qzxjk
qzxjk
";

fn kept(folder: &Folder, more: &[&str]) -> Vec<String> {
    let ended = folder.run(&[&["dedupe", "text.txt"], more].concat()).ok();
    ended.out.lines().map(str::to_owned).collect()
}

#[test]
fn what_repeats_an_earlier_sentence_is_dropped_and_reported() {
    let folder = Folder::new();
    folder.write("text.txt", TEXT);
    let first = ["The train to London is late.", "The soup needs more salt.", "Dark clouds gathered over the hills."];
    let lines = kept(&folder, &["--threshold", ".85"]);
    assert_eq!(lines[..3], first);
    assert_eq!(lines.last().unwrap(), "qzxjk");
    let ended = folder.run(&["dedupe", "text.txt", "--threshold", ".85", "--report"]).ok();
    assert!(ended.err.contains("8 sentences:"), "{}", ended.err);
    let rows: Vec<Vec<&str>> = ended.out.lines().map(|line| line.split('\t').collect()).collect();
    assert_eq!(rows[0][1..], ["4", "1", "the train to London is late", "The train to London is late."]);
    assert_eq!(rows[1][..3], ["1.0000", "5", "3"]);
    assert_eq!(rows.last().unwrap()[..3], ["1.0000", "9", "8"]);
    assert_eq!(rows.len() + lines.len(), 8);
    // The cosine is that of senv similarity.
    let cosine = folder.run(&["similarity", rows[0][3], rows[0][4]]).ok().out;
    let [ours, other] = [rows[0][0], cosine.trim()].map(|cosine| cosine.parse::<f32>().unwrap());
    assert!((ours - other).abs() <= 0.00006, "{ours} {other}");
    // As JSON, and what is kept.
    let out = folder.run(&["dedupe", "text.txt", "--report", "--json"]).ok().out;
    let dropped: Value = serde_json::from_str(out.lines().next().unwrap()).unwrap();
    assert_eq!((&dropped["line"], &dropped["kept"]["line"]), (&json!(4), &json!(1)));
    let out = folder.run(&["dedupe", "text.txt", "--json"]).ok().out;
    assert_eq!(serde_json::from_str::<Value>(out.lines().nth(1).unwrap()).unwrap()["line"], 3);
    // The same on any number of threads.
    let threads = |n| folder.run(&["--threads", n, "dedupe", "text.txt", "--report", "--threshold", ".5"]).ok().out;
    assert_eq!(threads("1"), threads("2"));
}

#[test]
fn the_longest_is_kept_and_another_text_is_compared_against() {
    let folder = Folder::new();
    folder.write("text.txt", TEXT);
    let lines = kept(&folder, &["--threshold", ".84", "--keep", "longest"]);
    assert_eq!(lines[0], "The soup needs more salt.");
    assert!(lines.contains(&"The train to London is late again today.".into()), "{lines:?}");
    assert!(lines.iter().filter(|line| line.contains("train")).count() == 1, "{lines:?}");
    folder.write("old.txt", "The soup needs more salt!\nDark clouds gathered over the hills.\n");
    let lines = kept(&folder, &["--threshold", ".85", "--against", "old.txt"]);
    assert_eq!(lines[0], "The train to London is late.");
    assert!(lines.iter().all(|line| !line.contains("soup") && !line.contains("clouds")), "{lines:?}");
    let report = ["dedupe", "text.txt", "--against", "old.txt", "--report"];
    let out = folder.run(&report).ok().out;
    assert!(out.contains("\ttext.txt:3\told.txt:1\tThe soup"), "{out}");
}

#[test]
fn scarce_and_odd_input_has_a_defined_result() {
    let folder = Folder::new();
    folder.write("text.txt", "A cat.\n");
    assert_eq!(kept(&folder, &[]), ["A cat."]);
    folder.write("text.txt", "A cat.\n".repeat(3000));
    assert_eq!(kept(&folder, &["--threshold", "1"]), ["A cat."]);
    // A threshold that everything with a known word meets, and sentences that have none.
    folder.write("text.txt", TEXT);
    assert_eq!(kept(&folder, &["--threshold", "-1"]), ["The train to London is late."]);
    assert_eq!(kept(&folder, &["--threshold", "1"]).len(), 6);
    folder.write("text.txt", "\n \n");
    folder.run(&["dedupe", "text.txt"]).fails(1, &["text.txt holds no text"]);
    folder.run(&["dedupe", "absent.txt"]).fails(1, &["cannot open absent.txt"]);
    folder.run(&["dedupe", "-", "--against", "-"]).fails(2, &["standard input can be read once"]);
    for threshold in ["1.1", "nan", "x"] {
        folder.run(&["dedupe", "text.txt", "--threshold", threshold]).fails(2, &["--threshold"]);
    }
}
