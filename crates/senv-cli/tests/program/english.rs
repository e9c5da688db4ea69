//! The built-in model, and `senv compress`, which makes such models.

use crate::{
    common::{Folder, text},
    systems::samples,
};

#[test]
fn without_a_model_the_english_one_is_used_and_named_where_it_knows_little() {
    let folder = Folder::new();
    let lines = ["A kitten naps on the couch.", "The parliament voted on the budget.", "Rain fell all day long."];
    folder.write("text.txt", lines.join("\n"));
    let found = folder.run(&["nearest", "--input", "text.txt", "--query", "It was a wet day.", "--k", "1"]).ok();
    assert!(found.out.ends_with("Rain fell all day long.\n"), "{}", found.out);
    assert_eq!(found.err, "");
    let pair = ["similarity", "He bought a car.", "He purchased an automobile.", "--json", "--quiet"];
    let ended = folder.run(&pair).ok();
    assert!(ended.json()["cosine"].as_f64().unwrap() > 0.5 && ended.err.is_empty(), "{} {}", ended.out, ended.err);
    folder.run(&["encode", "--input", "text.txt", "--output", "v.npy"]).ok();
    let words = folder.run(&["nearest", "--query", "doctor", "--k", "5"]).ok().out;
    assert!(words.contains("physician") || words.contains("surgeon"), "{words}");
    folder.run(&["similarity", "--model", "english", "a", "b"]).ok();
    let info = folder.run(&["info", "english", "--json"]).ok().json();
    assert_eq!((&info["kind"], &info["words"]), (&"static".into(), &50_000.into()), "{info}");
    folder.run(&["similarity", "--model", "english.senv", "a", "b"]).fails(1, &["english.senv"]);

    // The model has vectors for unknown words, so nothing else shows that the language is another one.
    folder.write("german.txt", "Der Zug kam zu spät.\nWir gingen im Regen nach Hause.\n");
    folder.write("german.tsv", "Der Zug kam zu spät.\tWir gingen im Regen nach Hause.\n");
    let commands: [&[&str]; 4] = [
        &["similarity", "Der Zug kam zu spät.", "Wir gingen im Regen nach Hause."],
        &["similarity", "--input", "german.tsv"],
        &["nearest", "--input", "german.txt", "--query", "Es regnete den ganzen Tag."],
        &["encode", "--input", "german.txt"],
    ];
    for args in commands {
        let said = folder.run(args).ok().err;
        assert_eq!(said.matches("the built-in model is for English only").count(), 1, "{args:?}: {said}");
    }
    // The model in use is named on request.
    folder.write("sts.tsv", "5\ta cat\ta kitten\n1\ta cat\ta train\n3\ta cat\ta dog\n");
    let said = folder.run(&["eval", "sts", "sts.tsv", "--no-floor", "--resamples", "0", "-v"]).ok().err;
    assert!(said.contains("using the built-in English model"), "{said}");
}

#[test]
fn compressed_models_are_small_and_nearly_as_good() {
    let folder = samples();
    folder.run(&["train", "--input", "text.txt", "--dim", "64", "--output", "m.senv"]).ok();
    let compress = |more: &[&str]| folder.run(&[&["compress", "--model", "m.senv", "--force"], more].concat());
    let report = compress(&["--output", "c.senv", "--report", "sts.tsv", "--json"]).ok().json();
    let of = |i: usize, name: &str| report[i][name].as_f64().unwrap();
    assert!(of(1, "megabytes") < 0.4 * of(0, "megabytes"), "{report}");
    assert!((of(1, "pearson_r_x100") - of(0, "pearson_r_x100")).abs() < 3.0, "{report}");
    assert!(of(1, "sentences_per_second") > 1000.0);
    assert!(compress(&["--output", "c.senv", "--report", "sts.tsv"]).ok().out.contains("thousand sentences/s"));
    let info = folder.run(&["info", "c.senv", "--json"]).ok().json();
    assert_eq!((&info["kind"], &info["parameters"]["encoding"]), (&"static".into(), &"int4".into()), "{info}");

    compress(&["--output", "s.senv", "--dim", "16", "--max-vocabulary", "100", "--encoding", "int8"]).ok();
    let info = folder.run(&["info", "s.senv", "--json"]).ok().json();
    assert_eq!(
        (info["dim"].as_u64(), info["words"].as_u64().or(info["n_words"].as_u64())),
        (Some(16), Some(100)),
        "{info}"
    );
    compress(&["--output", "s.senv", "--dim", "65"]).fails(2, &["65"]);
    compress(&["--output", "m.senv"]).fails(2, &["m.senv"]);
    // The rows include uSIF weights except for the division over a sentence. N-grams are not words.
    let train = ["train", "sent2vec", "--input", "text.txt", "--dim", "32", "--output", "u.senv", "--force"];
    folder.run(&train).ok();
    let usif = ["compress", "--model", "u.senv", "--output", "x.senv", "--report", "sts.tsv", "--json"];
    let report = folder.run(&usif).ok().json();
    let change = report[1]["pearson_r_x100"].as_f64().unwrap() - report[0]["pearson_r_x100"].as_f64().unwrap();
    assert!(change.abs() < 6.0, "{report}");
    folder.run(&[&train[..], &["--word-ngrams", "2"]].concat()).ok();
    folder.run(&["compress", "--model", "u.senv", "--output", "x.senv", "--force"]).fails(1, &["n-grams"]);

    // A damaged table is an error that names the file.
    let whole = folder.read("c.senv");
    for n in [0, 9, 200, whole.len() / 2, whole.len() - 1] {
        folder.write("damaged.senv", &whole[..n]);
        let ended = folder.run(&["encode", "--model", "damaged.senv", "--input", "sentences.txt", "--output", "-"]);
        assert_eq!(ended.code, Some(1), "{n}: {}", ended.err);
        assert!(ended.err.contains("damaged.senv"), "{}", ended.err);
    }

    // Training can start from the compressed model.
    folder
        .run(&[
            "train",
            "sent2vec",
            "--input",
            "text.txt",
            "--init-model",
            "c.senv",
            "--epochs",
            "1",
            "--output",
            "g.senv",
        ])
        .ok();
}

#[test]
fn pairs_go_on_from_the_model_in_the_program() {
    let folder = Folder::new();
    folder.write("pairs.tsv", "a red car\ta red automobile\nthe cat sleeps\tthe zyzzogeton naps\n");
    let train = ["train", "pp", "--pairs", "pairs.tsv", "--loss", "softmax-cosine", "--epochs", "1", "--batch", "2"];
    let to = ["--init-model", "english", "--no-check", "--output", "m.senv"];
    folder.run(&[&train[..], &to[..]].concat()).ok();
    let near =
        folder.run(&["similarity", "--model", "m.senv", "He bought a new car.", "He purchased an automobile."]).ok();
    assert!(near.out.trim().parse::<f64>().unwrap() > 0.5, "words keep their vectors: {}", near.out);
    folder
        .run(&["train", "pp", "--pairs", "pairs.tsv", "--init-vectors", "nowhere", "--output", "n.senv"])
        .fails(1, &["nowhere"]);
}

#[test]
fn two_seeds_make_one_small_table() {
    let folder = Folder::new();
    folder.write("text.txt", text(400));
    let train = |seed: &str, name: &str| {
        let args = [
            "train",
            "sent2vec",
            "--input",
            "text.txt",
            "--dim",
            "12",
            "--epochs",
            "1",
            "--min-count",
            "1",
            "--word-ngrams",
            "1",
            "--weights",
            "none",
        ];
        folder.run(&[&args[..], &["--seed", seed, "--no-check", "--output", name]].concat()).ok();
    };
    train("1", "a.senv");
    train("2", "b.senv");
    let both = ["compress", "--model", "a.senv", "--with", "b.senv"];
    let dim = |name: &str| {
        folder.run(&["encode", "--model", name, "--input", "text.txt", "--output", "v.json", "--force"]).ok();
        let rows: Vec<Vec<f32>> = serde_json::from_slice(&folder.read("v.json")).unwrap();
        rows[0].len()
    };
    folder.run(&[&both[..], &["--output", "ab.senv"]].concat()).ok();
    assert_eq!(dim("ab.senv"), 24);
    folder.run(&[&both[..], &["--principal", "8", "--whitening", ".25", "--output", "few.senv"]].concat()).ok();
    assert_eq!(dim("few.senv"), 8);
    // For models of different words, the result has the words of both and the terms of the English model.
    folder
        .run(&["compress", "--model", "a.senv", "--with", "english", "--encoding", "int8", "--output", "wide.senv"])
        .ok();
    // Terms of its own, and those of both.
    let terms = |model: &str| folder.run(&["info", model, "--json"]).ok().json()["terms"].clone();
    folder.run(&["compress", "--model", "a.senv", "--terms", "CC BY 4.0: by a test", "--output", "own.senv"]).ok();
    assert_eq!(terms("own.senv"), "CC BY 4.0: by a test");
    let again = ["compress", "--model", "own.senv", "--max-vocabulary", "9", "--output", "less.senv"];
    folder.run(&[&again[..], &["--terms", "MIT"]].concat()).fails(2, &["--terms", "CC BY 4.0: by a test"]);
    folder.run(&again).ok();
    assert_eq!(terms("less.senv"), "CC BY 4.0: by a test");
    let english = folder.run(&["info", "english", "--json"]).ok().json();
    let info = folder.run(&["info", "wide.senv", "--json"]).ok().json();
    assert_eq!(dim("wide.senv") as u64, 12 + english["word_dim"].as_u64().unwrap());
    assert!(info["words"].as_u64() >= english["words"].as_u64() && info["terms"] == english["terms"], "{info}");
    for (more, needed) in [
        (&["--principal", "25"][..], "principal axes"),
        (&["--principal", "0"], "principal axes"),
        (&["--principal", "8", "--whitening", ".6"], "whitening"),
        (&["--unknown-length=-1"], "unknown_length"),
    ] {
        folder.run(&[&both[..], more, &["--output", "x.senv"]].concat()).fails(2, &[needed]);
    }
    folder.run(&[&both[..], &["--output", "b.senv", "--force"]].concat()).fails(2, &["b.senv"]);
    assert!(!folder.has("x.senv"));
}

#[test]
fn a_folder_of_model2vec_is_written_and_never_replaced_unasked() {
    let folder = Folder::with_model();
    let convert = |more: &[&str]| folder.run(&[&["convert", "m.senv", "out", "--to", "model2vec"], more].concat());
    convert(&[]).ok();
    for name in ["out/model.safetensors", "out/tokenizer.json", "out/config.json", "out/README.md"] {
        assert!(folder.has(name), "{name}");
    }
    convert(&[]).fails(2, &["out already exists", "--force"]);
    convert(&["--force"]).ok();
    folder.run(&["convert", "m.senv", "x.vec", "--from", "model2vec"]).fails(2, &["need no conversion"]);
}

#[test]
fn the_terms_of_the_model_go_with_its_words_into_every_format() {
    let folder = Folder::new();
    folder.run(&["compress", "--model", "english", "--max-vocabulary", "300", "--output", "small.senv"]).ok();
    let terms_of = |model: &str| folder.run(&["info", model, "--json"]).ok().json()["terms"].clone();
    for output in ["w.vec", "w.bin", "w.npy", "w.senv"] {
        let said = folder.run(&["convert", "small.senv", output]).ok().err;
        assert!(said.contains(senv_english::TERMS), "{output}: {said}");
        assert_eq!(folder.has(&format!("{output}.license")), output != "w.senv", "{output}");
        folder.run(&["convert", output, "back.senv"]).ok();
        assert_eq!(terms_of("back.senv"), senv_english::TERMS, "{output}");
    }
    let said = folder.run(&["convert", "small.senv", "-", "--to", "glove-text"]).ok().err;
    assert!(said.contains(&format!("{} (nowhere in it)", senv_english::TERMS)), "{said}");
    // Vectors without terms leave none behind, and those of somebody else are not replaced unasked.
    folder.write("own.txt", "cat 1 0.5\ndog 1 0.75\n");
    folder.run(&["convert", "own.txt", "w.vec", "--force"]).ok();
    assert!(!folder.has("w.vec.license"));
    folder.write("w.w2v.license", "SPDX-License-Identifier: MIT\n");
    let convert = ["convert", "small.senv", "w.w2v"];
    folder.run(&convert).fails(2, &["w.w2v.license exists", "--force"]);
    folder.run(&[&convert[..], &["--force"]].concat()).ok();

    folder.run(&["convert", "small.senv", "folder", "--to", "model2vec"]).ok();
    let card = String::from_utf8(folder.read("folder/README.md")).unwrap();
    assert!(card.starts_with("---\n") && card.contains("\nlicense: ") && card.contains(senv_english::TERMS), "{card}");
    assert_eq!(terms_of("folder"), senv_english::TERMS);
}
