//! `senv convert` on models of other programs, with small files of their layouts: the released Skip-thoughts, and the
//! `.bin` files of fastText and the Sent2Vec program.

use std::{fs, path::Path};

use crate::common::Folder;

/// A folder with the released files in `release`.
fn folder() -> Folder {
    let folder = Folder::new();
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../senv/tests/data/released_skip_thoughts");
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
    assert!(ended.err.contains("Skip-thoughts of 8 dimensions, 7 words, written to"), "{}", ended.err);
    convert("end.senv", &["--end-token", "--tokenizer", "whitespace", "--lowercase", "yes"]).ok();
    let expected: serde_json::Value = serde_json::from_slice(&folder.read("release/expected.json")).unwrap();
    for case in expected["cases"].as_array().unwrap() {
        let model = if case["eos"] == true { "end.senv" } else { "plain.senv" };
        let got = folder.pipe(&["encode", "--model", model], case["text"].as_str().unwrap()).ok().out;
        let got: Vec<f64> = got.split_whitespace().map(|x| x.parse().unwrap()).collect();
        let expected: Vec<f64> = case["vector"].as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect();
        assert_eq!(got.len(), expected.len());
        assert!(got.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-6), "{case} {got:?}");
    }
    // Case is kept unless an option changes it.
    let encode = |model: &str, text: &str| folder.pipe(&["encode", "--model", model], text).ok().out;
    assert_ne!(encode("plain.senv", "The CAT sat"), encode("plain.senv", "the cat sat"));
    assert_eq!(encode("end.senv", "The CAT sat"), encode("end.senv", "the cat sat"));

    folder.write("pairs.tsv", "entailment\tthe cat sat\tthe cat\nneutral\tthe cat\ton mat\n".repeat(4));
    let tune = ["train", "snli", "--train", "pairs.tsv", "--encoder", "plain.senv", "--hidden", "3", "--epochs", "1"];
    folder.run(&[&tune[..], &["--output", "tuned.senv"]].concat()).ok();
    assert_eq!(folder.run(&["info", "tuned.senv", "--json"]).ok().json()["kind"], "skip-thought");
    fs::remove_file(folder.path("release/bi_skip.npz")).unwrap();
    assert!(convert("uni.senv", &[]).ok().err.contains("Skip-thoughts of 4 dimensions"));
}

#[test]
fn other_folders_and_settings_without_effect_are_refused() {
    let folder = folder();
    let run = |args: &[&str]| folder.run(&[&["convert"], args].concat());
    run(&["release", "words.txt"]).fails(2, &["a folder of released Skip-thoughts can only become", ".senv"]);
    run(&["release", "out.senv", "--from", "npy"]).fails(2, &["no --from"]);
    run(&["release", "no/out.senv"]).fails(1, &["the folder no does not exist"]);
    run(&["release/utable.npy", "out.senv", "--end-token"]).fails(2, &["--end-token needs a folder"]);
    fs::remove_file(folder.path("release/uni_skip.npz")).unwrap();
    fs::remove_file(folder.path("release/bi_skip.npz")).unwrap();
    run(&["release", "out.senv"]).fails(1, &["uni_skip.npz"]);
    fs::remove_file(folder.path("release/dictionary.txt")).unwrap();
    run(&["release", "out.senv"]).fails(1, &["no dictionary.txt", "utable.npy with uni_skip.npz"]);
    assert!(!folder.has("out.senv"));
}

/// A folder with the files of both programs.
fn bins() -> Folder {
    let folder = Folder::new();
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../senv/tests/data/fast_text");
    for file in ["sent2vec.bin", "skipgram.bin", "supervised.bin", "pruned.ftz", "quantized.ftz"] {
        fs::copy(data.join(file), folder.path(file)).unwrap();
    }
    folder
}

#[test]
fn bin_files_of_fast_text_and_sent2vec_become_models_or_are_opened_as_they_are() {
    let folder = bins();
    let run = |args: &[&str]| folder.run(&[&["convert"], args].concat());
    let encode = |model: &str, text: &str| folder.pipe(&["encode", "--model", model], text).ok().out;
    let err = run(&["sent2vec.bin", "s.senv"]).ok().err;
    assert!(err.contains("sent2vec model of 4 dimensions, 11 words, written to s.senv"), "{err}");
    assert!(err.contains("tokenized by \"whitespace\" and not lower-cased"), "{err}");
    assert_eq!(folder.run(&["info", "s.senv", "--json"]).ok().json()["kind"], "sent2vec");
    assert_eq!(encode("sent2vec.bin", "the cat sat"), encode("s.senv", "the cat sat"));
    assert_ne!(encode("s.senv", "The cat sat!"), encode("s.senv", "the cat sat"));
    run(&["sent2vec.bin", "lower.senv", "--tokenizer", "words", "--lowercase", "yes"]).ok();
    assert_eq!(encode("lower.senv", "The Cat sat"), encode("s.senv", "the cat sat"));
    run(&["skipgram.bin", "f.senv"]).ok();
    assert_eq!(encode("f.senv", "catnip"), encode("skipgram.bin", "catnip"));
    assert_ne!(encode("f.senv", "catnip"), encode("f.senv", "zürich"), "unknown words have vectors");
    let model = folder.read("f.senv");
    for len in [0, 9, 200, model.len() / 2, model.len() - 1] {
        folder.write("damaged.senv", &model[..len]);
        folder.run(&["encode", "--model", "damaged.senv", "--input", "f.senv"]).fails(1, &["damaged.senv"]);
    }
    // Only words, in the formats of other programs.
    run(&["skipgram.bin", "f.vec"]).ok();
    assert!(String::from_utf8(folder.read("f.vec")).unwrap().starts_with("11 5\nthe "));
    folder.run(&["nearest", "--model", "sent2vec.bin", "--query", "cat"]).ok();
}

#[test]
fn bin_files_that_cannot_be_read_are_refused() {
    let folder = bins();
    let run = |args: &[&str]| folder.run(&[&["convert"], args].concat());
    run(&["sent2vec.bin", "s.senv", "--end-token"]).fails(2, &["--end-token needs a folder"]);
    run(&["sent2vec.bin", "s.vec", "--lowercase", "yes"])
        .fails(2, &["--lowercase", "can only be stored in a senv model"]);
    run(&["sent2vec.bin", "sent2vec.bin", "--to", "senv", "--force"]).fails(2, &["sent2vec.bin"]);
    let whole = folder.read("skipgram.bin");
    folder.write("cut.bin", &whole[..whole.len() - 9]);
    run(&["cut.bin", "s.senv"]).fails(1, &["cut.bin", "truncated"]);
    folder.run(&["encode", "--model", "cut.bin", "--input", "cut.bin"]).fails(1, &["cut.bin", "truncated"]);
    let mut labels = whole;
    labels[8 + 4 * 7] = 3;
    folder.write("labels.bin", &labels);
    run(&["labels.bin", "s.senv"]).fails(1, &["labels.bin", "the output matrix"]);
    assert!(!folder.has("s.senv"));
    // Classifiers, quantized models, and a quantized model after conversion.
    for name in ["supervised.bin", "pruned.ftz", "quantized.ftz"] {
        run(&[name, "s.senv", "--force"]).ok();
        let vectors = |model| folder.pipe(&["encode", "--model", model], "the naïve cats\nzebra\n").ok().out;
        assert_eq!(vectors(name), vectors("s.senv"));
        folder.run(&["info", name]).ok();
    }
}
