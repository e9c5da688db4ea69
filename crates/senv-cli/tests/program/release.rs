//! `senv convert` of the released Skip-thoughts, on the small files of their layout.

use std::{fs, path::Path};

use crate::common::Folder;

/// A folder with the released files in `release`.
fn folder() -> Folder {
    let folder = Folder::new();
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../senv-models/tests/data/kiros");
    fs::create_dir(folder.path("release")).unwrap();
    for file in ["dictionary.txt", "utable.npy", "btable.npy", "uni_skip.npz", "bi_skip.npz", "expected.json"] {
        fs::copy(data.join(file), folder.path("release").join(file)).unwrap();
    }
    folder
}

#[test]
fn released_skip_thoughts_become_a_model_that_encodes_as_they_do_and_can_be_tuned() {
    let folder = folder();
    let convert = |to: &str, more: &[&str]| folder.run(&[&["convert", "release", to], more].concat());
    let ended = convert("plain.senv", &[]).ok();
    assert!(ended.err.contains("Skip-thoughts of 8 numbers a sentence, 7 words, written to"), "{}", ended.err);
    convert("end.senv", &["--end-token", "--tokenizer", "blank", "--lowercase", "yes"]).ok();
    let expected: serde_json::Value = serde_json::from_slice(&folder.read("release/expected.json")).unwrap();
    for case in expected["cases"].as_array().unwrap() {
        let model = if case["eos"] == true { "end.senv" } else { "plain.senv" };
        let got = folder.pipe(&["encode", "--model", model], case["text"].as_str().unwrap()).ok().out;
        let got: Vec<f64> = got.split_whitespace().map(|x| x.parse().unwrap()).collect();
        let expected: Vec<f64> = case["vector"].as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect();
        assert_eq!(got.len(), expected.len());
        assert!(got.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-6), "{case} {got:?}");
    }
    // Capitals are kept unless asked otherwise.
    let encode = |model: &str, text: &str| folder.pipe(&["encode", "--model", model], text).ok().out;
    assert_ne!(encode("plain.senv", "The CAT sat"), encode("plain.senv", "the cat sat"));
    assert_eq!(encode("end.senv", "The CAT sat"), encode("end.senv", "the cat sat"));

    folder.write("pairs.tsv", "entailment\tthe cat sat\tthe cat\nneutral\tthe cat\ton mat\n".repeat(4));
    let tune = ["train", "snli", "--train", "pairs.tsv", "--encoder", "plain.senv", "--hidden", "3", "--epochs", "1"];
    folder.run(&[&tune[..], &["--output", "tuned.senv"]].concat()).ok();
    assert_eq!(folder.run(&["info", "tuned.senv", "--json"]).ok().json()["kind"], "skip-thought");
    fs::remove_file(folder.path("release/bi_skip.npz")).unwrap();
    assert!(convert("uni.senv", &[]).ok().err.contains("Skip-thoughts of 4 numbers"));
}

#[test]
fn other_folders_and_settings_without_effect_are_refused() {
    let folder = folder();
    let run = |args: &[&str]| folder.run(&[&["convert"], args].concat());
    run(&["release", "words.txt"]).fails(2, &["a folder holds released Skip-thoughts", ".senv"]);
    run(&["release", "out.senv", "--from", "npy"]).fails(2, &["no --from"]);
    run(&["release", "no/out.senv"]).fails(1, &["there is no folder no"]);
    run(&["release/utable.npy", "out.senv", "--end-token"]).fails(2, &["--end-token goes with a folder"]);
    fs::remove_file(folder.path("release/uni_skip.npz")).unwrap();
    fs::remove_file(folder.path("release/bi_skip.npz")).unwrap();
    run(&["release", "out.senv"]).fails(1, &["uni_skip.npz"]);
    fs::remove_file(folder.path("release/dictionary.txt")).unwrap();
    run(&["release", "out.senv"]).fails(1, &["no dictionary.txt", "utable.npy with uni_skip.npz"]);
    assert!(!folder.has("out.senv"));
}
