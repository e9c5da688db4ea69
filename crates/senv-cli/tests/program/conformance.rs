//! Checks the promises of every system for every kind of model that the library can open; registered systems are tested
//! automatically. `pinned` tests that any number of threads writes the same files, and the tests of the library resume
//! runs.

use std::{
    collections::BTreeSet,
    panic::{AssertUnwindSafe, catch_unwind},
};

use senv_core::{Scratch, SentenceEncoder};

use crate::{
    common::Folder,
    systems::{SYSTEMS, arguments, bring, bring_starts, samples, trained},
};

fn vectors(folder: &Folder, model: &str, input: &str) -> Vec<u8> {
    folder.run(&["encode", "--model", model, "--input", input, "--output", "v.npy", "--force", "--quiet"]).ok();
    folder.read("v.npy")
}

#[test]
fn every_registered_kind_trains_saves_opens_and_refuses_damage() {
    let folder = samples();
    folder.write("unknown.txt", "zyzzyva qoph\n");
    // Kinds without training: word vectors, compressed models, and the models that `release` converts and damages.
    let mut kinds = BTreeSet::from(["embeddings", "static", "fasttext"].map(str::to_owned));
    for (name, arguments) in SYSTEMS {
        let model = format!("{name}.senv");
        let trained = trained(name);
        assert_eq!(trained.files, [&model[..]], "a finished run leaves no checkpoint");
        if let Some(phases) = trained.json.get("phase_seconds") {
            let of = |phase: &str| phases[phase].as_f64().unwrap();
            assert!(["encode", "loss", "backward", "update"].iter().all(|phase| of(phase) > 0.0), "{name}: {phases}");
        }
        bring(&folder, name);
        let info = folder.run(&["info", &model, "--json"]).ok().json();
        kinds.insert(info["kind"].as_str().unwrap().to_owned());
        assert!(info["parameters"].is_object(), "{name}: {info}");
        assert!(info["dim"].as_u64().unwrap() > 0);
        let listed = info["hyperparameters"].as_object().unwrap();
        let stored = info["parameters"].to_string();
        for (flag, value) in arguments.split(' ').zip(arguments.split(' ').skip(1)) {
            if flag == "--dim" {
                assert!(stored.contains(&format!("\"dim\":{value}")), "{name}: {stored}");
            }
            // A setting on the command line is listed under the same name.
            let listed = flag.strip_prefix("--").and_then(|name| listed.get(name));
            if let Some(kept) = listed.filter(|_| !value.starts_with("--")) {
                let [kept, value] = [kept.as_str().unwrap(), value].map(|text| text.parse::<f64>().map_err(|_| text));
                assert_eq!(kept, value, "{name}: {flag}");
            }
        }

        // A slice of a different length is rejected before anything is written to it.
        let opened = senv::Model::open(folder.path(&model)).unwrap();
        for n in [opened.dim() - 1, opened.dim() + 1] {
            let mut out = vec![f32::NAN; n];
            let write = || opened.encode_into("the cat saw the dog", &mut Scratch::default(), &mut out);
            assert!(catch_unwind(AssertUnwindSafe(write)).is_err(), "{name}");
            assert!(out.iter().all(|x| x.is_nan()), "{name}");
        }

        // A sentence has the same vector alone and among others, up to rounding in products of different shape.
        let among = opened.encode(&["the bread", "the cat saw the dog", ""]).unwrap();
        let alone = opened.encode_one("the cat saw the dog");
        let largest = alone.iter().fold(0.0_f32, |largest, x| largest.max(x.abs()));
        let differs = |(a, b): (&f32, &f32)| (a - b).abs() > 1e-6 * largest;
        assert!(!among.row(1).iter().zip(&alone).any(differs), "{name}: {alone} and {}", among.row(1));

        // Reading from memory gives the same model as reading from the file, at any alignment.
        let mut bytes = vec![0];
        opened.write_to(&mut bytes).unwrap();
        assert!(bytes[1..] == folder.read(&model), "{name}");
        assert_eq!(opened.digest().unwrap(), senv::model::model_digest(folder.path(&model)).unwrap(), "{name}");
        let bytes: &'static [u8] = bytes.leak();
        for at in [1, 0, 2, 3] {
            let shifted: &'static [u8] = [vec![0; at], bytes[1..].to_vec()].concat().leak();
            let again = senv::Model::from_static(&shifted[at..]).unwrap();
            let sentence = "the cat saw the dog";
            assert_eq!(again.encode_one(sentence), opened.encode_one(sentence), "{name} at {at}");
        }

        // Sentences without known words get zero vectors, except in models with vectors for unknown words.
        let unknown = vectors(&folder, &model, "unknown.txt");
        let values = unknown[unknown.len() - 4 * info["dim"].as_u64().unwrap() as usize..].chunks(4);
        let is_zero = values.map(|x| f32::from_le_bytes(x.try_into().unwrap())).all(|x| x == 0.0);
        let hashed = info["parameters"].to_string().contains("\"unknown_words\":\"hash\"");
        let may = ["random-bow", "rnn-ae", "sdae", "sdae-gru", "skip-thought", "snli"].contains(name);
        assert!(if is_zero { !hashed } else { hashed || may }, "{name}");

        // A truncated file, or one with a changed byte in its header, is an error that names the file.
        let whole = folder.read(&model);
        let cut_at = [0, 1, 9, 200, whole.len() / 2, whole.len() - 1];
        let mut damaged: Vec<Vec<u8>> = cut_at.iter().map(|&n| whole[..n.min(whole.len() - 1)].to_vec()).collect();
        damaged.push(whole.iter().enumerate().map(|(i, &byte)| if i == 20 { byte ^ 0x20 } else { byte }).collect());
        for (i, bytes) in damaged.iter().enumerate() {
            folder.write("damaged.senv", bytes);
            let ended = folder.run(&["encode", "--model", "damaged.senv", "--input", "sentences.txt", "--output", "-"]);
            assert_eq!(ended.code, Some(1), "{name}, damage {i}: {}", ended.err);
            assert!(ended.err.contains("damaged.senv") && !ended.err.contains("panicked"), "{name}: {}", ended.err);
        }
    }
    let registered: BTreeSet<String> = senv::systems::kinds().into_iter().map(str::to_owned).collect();
    assert_eq!(kinds, registered, "a kind without a line in SYSTEMS is not tested");
}

#[test]
fn rates_that_are_no_number_and_empty_files_are_errors() {
    let folder = samples();
    folder.write("empty", "");
    for (name, _) in SYSTEMS {
        bring_starts(&folder, name);
        let train = |arguments: &[&str]| {
            let command = [&["train"], arguments, &["--output", "other.senv", "--quiet"]].concat();
            folder.run(&command)
        };
        let arguments = arguments(name);
        if !["weighted", "random-bow", "recipe"].contains(name) {
            let ended = train(&[&arguments[..], &["--lr", "nan"]].concat());
            assert_eq!(ended.code, Some(2), "{name}: {}", ended.err);
        }
        // The first file argument, whatever its option, is empty.
        let first = ["--input", "--pairs", "--train", "--definitions", "--captions"];
        let Some(file) = arguments.iter().position(|a| first.contains(a)) else { continue };
        let mut empty = arguments.clone();
        empty[file + 1] = "empty";
        // These can train on a second source alone, so a few of its pairs are enough here.
        empty.iter_mut().filter(|a| **a == "text.txt:1").for_each(|a| *a = "sentences.txt:1");
        let ended = train(&empty);
        if ["pp", "student-cosine"].contains(name) {
            assert_eq!(ended.code, Some(0), "{}", ended.err);
        } else {
            assert_eq!(ended.code, Some(1), "{name}: {} {}", ended.out, ended.err);
            assert!(ended.err.contains("empty") || ended.err.contains("no "), "{name}: {}", ended.err);
        }
        assert!(!ended.err.contains("panicked"), "{name}: {}", ended.err);
    }
    assert!(!folder.has("other.senv.checkpoint"));
}
