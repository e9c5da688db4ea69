//! Models with damaged rows and NaN values, which no newly written file may hide. Also configurations that do not match
//! the rest of the file: `fuzz` makes them at random, and these were found earlier.

use senv_core::{ModelFile, ModelWriter, Table, Vocabulary};
use serde_json::{Value, json};

use crate::{
    common::Folder,
    fuzz::configuration::{config, with_config},
    systems::{SYSTEMS, samples, trained},
};

/// The position of the first byte of a tensor in the file.
fn start_of(folder: &Folder, model: &str, tensor: &str) -> usize {
    let bytes = folder.read(model);
    let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let header: serde_json::Value = serde_json::from_slice(&bytes[8..8 + length]).unwrap();
    8 + length + header[tensor]["data_offsets"][0].as_u64().unwrap() as usize
}

/// Writes `damaged.senv`: `from` with one bit of its rows flipped, so that every number stays finite.
fn damage(folder: &Folder, from: &str) {
    let mut bytes = folder.read(from);
    bytes[start_of(folder, from, "rows") + 401] ^= 1 << 4;
    folder.write("damaged.senv", bytes);
}

#[test]
fn a_flipped_bit_in_a_row_is_found_on_request_and_before_anything_is_written_anew() {
    let folder = Folder::with_model();
    damage(&folder, "m.senv");
    folder.write("other.txt", "cat 1 2\ndog 2 3\n");
    let says = ["damaged.senv: tensor \"rows\" is damaged (checksum "];
    // Opening maps the rows without reading them. It is fast, and damage is only found by a check.
    let encode = ["encode", "--model", "damaged.senv", "--input", "text.txt", "--output", "v.npy"];
    folder.run(&encode).ok();
    for command in [
        &["encode", "--model", "damaged.senv", "--input", "text.txt", "--verify"][..],
        &["similarity", "--model", "damaged.senv", "a cat", "a dog", "--verify"],
        &["nearest", "--model", "damaged.senv", "--query", "cat", "--verify"],
        &["info", "damaged.senv", "--verify"],
        &["convert", "damaged.senv", "out.txt", "--to", "glove-text"],
        &["compress", "--model", "damaged.senv", "--output", "out.senv"],
        &["train", "weighted", "--model", "damaged.senv", "--input", "text.txt", "--output", "out.senv"],
        &["train", "sent2vec", "--input", "text.txt", "--init-model", "damaged.senv", "--output", "out.senv"],
        &["train", "sent2vec", "--input", "text.txt", "--init-vectors", "damaged.senv", "--output", "out.senv"],
        &["expand-vocabulary", "--model", "damaged.senv", "--vectors", "other.txt", "--output", "out.senv"],
        &["expand-vocabulary", "--model", "m.senv", "--vectors", "damaged.senv", "--output", "out.senv"],
        &["combine", "--model", "damaged.senv", "--with", "m.senv", "--output", "out.senv"],
    ] {
        folder.run(command).fails(1, &says);
    }
    assert_eq!(folder.names(), ["damaged.senv", "m.senv", "other.txt", "text.txt", "v.npy"]);
}

#[test]
fn word_vectors_of_senv_with_a_flipped_bit_are_not_converted() {
    let folder = Folder::new();
    let numbers: String = (0..200).map(|i| format!(" {i}.5")).collect();
    folder.write("a.txt", format!("cat{numbers}\ndog{numbers}\n"));
    folder.run(&["convert", "a.txt", "a.senv"]).ok();
    damage(&folder, "a.senv");
    let says = ["damaged.senv: tensor \"rows\" is damaged"];
    folder.run(&["convert", "damaged.senv", "b.txt"]).fails(1, &says);
}

#[test]
fn a_sound_file_passes_and_says_what_was_compared() {
    let folder = Folder::with_model();
    let verified = |file: &str| folder.run(&["info", file, "--verify", "--json"]).ok().json()["verified"].clone();
    let of_model = verified("m.senv");
    assert!(of_model["tensors"].as_u64().unwrap() >= 4, "{of_model}");
    assert_eq!(of_model["tensors"], of_model["by_checksum"]);
    assert_eq!(verified("english")["tensors"], verified("english")["by_checksum"]);
    assert!(folder.run(&["info", "m.senv", "--verify"]).ok().out.contains("verified.by_checksum"));
    assert!(!folder.run(&["info", "m.senv"]).ok().out.contains("verified"));

    let table = Table::from_vec(1, 2, vec![1.0, 2.0]).unwrap();
    senv_core::checkpoint::save(folder.path("c"), "sent2vec", &1_u32, &[("source", &table)]).unwrap();
    assert_eq!(verified("c"), "the whole file, by its checksum");
    let mut bytes = folder.read("c");
    let n = bytes.len();
    bytes[n - 6] ^= 1;
    folder.write("c", bytes);
    folder.run(&["info", "c"]).ok();
    folder.run(&["info", "c", "--verify"]).fails(1, &["c: the checkpoint is damaged"]);
}

/// Word vectors with valid checksums and this value in the row of `dog`.
fn with_value(folder: &Folder, value: f32) {
    let vocabulary = Vocabulary::from_counts([("cat", 3), ("dog", 2), ("sat", 1)], 6).unwrap();
    let rows = Table::from_vec(3, 2, vec![1.0, 2.0, 0.5, value, 2.0, 1.0]).unwrap();
    ModelWriter::new("embeddings").vocabulary(&vocabulary).table("rows", &rows).save(folder.path("w.senv")).unwrap();
    assert!(ModelFile::open(folder.path("w.senv")).is_ok());
}

#[test]
fn rows_that_are_no_numbers_are_errors_that_name_word_and_file() {
    let folder = Folder::new();
    folder.write("text.txt", "cat sat\ncat dog\n");
    folder.write("pairs.tsv", "cat\tsat\ncat\tthe dog\n");
    for (value, found) in
        [(f32::NAN, "NaN"), (f32::INFINITY, "an infinite value"), (f32::NEG_INFINITY, "an infinite value")]
    {
        with_value(&folder, value);
        let row = format!("w.senv: row 1, of the word \"dog\", of tensor \"rows\" contains {found}");
        for command in [
            &["info", "w.senv", "--verify"][..],
            &["convert", "w.senv", "w.txt"],
            &["encode", "--model", "w.senv", "--input", "text.txt", "--verify"],
            &["train", "sent2vec", "--input", "text.txt", "--init-vectors", "w.senv", "--output", "out.senv"],
            &["train", "weighted", "--model", "w.senv", "--input", "text.txt", "--output", "out.senv"],
        ] {
            folder.run(command).fails(1, &[&row]);
        }
        // Values that are used are checked without a request.
        let used = ["w.senv: the vector of the word \"dog\" contains NaN or an infinite value", "senv info --verify"];
        for command in [
            &["encode", "--model", "w.senv", "--input", "text.txt"][..],
            &["encode", "--model", "w.senv", "--input", "text.txt", "--output", "v.npy"],
            &["similarity", "--model", "w.senv", "cat", "dog sat"],
            &["similarity", "--model", "w.senv", "--input", "pairs.tsv"],
            &["nearest", "--model", "w.senv", "--query", "cat"],
            &["nearest", "--model", "w.senv", "--query", "cat", "--input", "text.txt"],
            &["nearest", "--model", "w.senv", "--query", "dog", "--lines", "--input", "pairs.tsv"],
        ] {
            let ended = folder.run(command).fails(1, &used);
            assert!(!ended.out.contains("NaN") && !ended.out.contains("inf"), "{}", ended.out);
        }
        assert!(!folder.has("v.npy"));
        folder.run(&["similarity", "--model", "w.senv", "cat", "sat"]).ok();
    }
}

/// Sets all values under this key and returns their number.
fn set(config: &mut Value, key: &str, value: &Value) -> usize {
    match config {
        Value::Object(parts) => {
            let mut n = 0;
            for (name, part) in parts {
                if name == key {
                    *part = value.clone();
                    n += 1;
                } else {
                    n += set(part, key, value);
                }
            }
            n
        }
        Value::Array(parts) => parts.iter_mut().map(|part| set(part, key, value)).sum(),
        _ => 0,
    }
}

#[test]
fn configurations_that_do_not_fit_the_file_are_refused_by_every_kind_that_opens() {
    let folder = samples();
    let mut refused = Vec::new();
    for (name, _) in SYSTEMS {
        let bytes = &trained(name).model;
        for (key, value) in [
            // Tokens beyond the vocabularies of these models.
            ("end", json!(300_000)),
            ("unknown", json!(300_000)),
            // More layers than the tensors of the file. With 30,000 layers, opening took 25 s; with 2^32, it never
            // ended.
            ("layers", json!(30_000)),
            ("layers", json!(1_u64 << 32)),
            ("hidden", json!(1_u64 << 20)),
            ("n_filters", json!(1_u64 << 30)),
            // Each sentence took minutes.
            ("inference", json!({"epochs": 2_147_483_647, "lr": 0.1, "negatives": 5, "seed": 1})),
            ("inference", json!({"epochs": 20, "lr": 0.1, "negatives": 2_147_483_647, "seed": 1})),
        ] {
            let mut config = config(bytes).unwrap();
            // The recorded settings of training stay unchanged; they are not used.
            let mut params = config.as_object_mut().and_then(|config| config.remove("params"));
            let n = set(&mut config, key, &value);
            config.as_object_mut().unwrap().extend(params.take().map(|params| ("params".to_owned(), params)));
            if n == 0 {
                continue;
            }
            folder.write("other.senv", with_config(bytes, &config));
            for command in [
                &["encode", "--model", "other.senv", "--input", "sentences.txt"][..],
                &["info", "other.senv", "--verify"],
                &["info", "other.senv"],
            ] {
                let ended = folder.run(command).fails(1, &["other.senv"]);
                assert!(!ended.err.contains("panicked"), "{name}, {key}: {}", ended.err);
            }
            refused.push((*name, key));
        }
        // With its own configuration, the file is sound.
        folder.write("other.senv", with_config(bytes, &config(bytes).unwrap()));
        folder.run(&["info", "other.senv", "--verify"]).ok();
    }
    for expected in [
        ("skip-thought", "end"),
        ("relatedness-gru", "end"),
        ("relatedness-gru", "unknown"),
        ("relatedness-gru", "layers"),
        ("rnn-ae", "unknown"),
        ("sdae", "layers"),
        ("p-thought", "layers"),
        ("snli", "end"),
        ("relatedness", "n_filters"),
        ("cse", "n_filters"),
        ("gran", "hidden"),
        ("bilstm-average", "hidden"),
        ("relatedness-gran", "hidden"),
        ("pv-dbow", "inference"),
        ("pv-dm", "inference"),
    ] {
        assert!(refused.contains(&expected), "{expected:?} of {refused:?}");
    }
}
