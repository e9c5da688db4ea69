//! `senv decode`, `expand-vocabulary` and `combine` through the program.

use crate::common::Folder;
use senv::{RnnAutoencoderParams, SkipThoughtParams, TrainOptions, gradient::FitParams};

/// Six sentences of a story, which is repeated.
const STORY: [&str; 6] = [
    "the train left the station",
    "rain fell on the bridge",
    "the driver saw a light",
    "he pulled the brake",
    "the train stood still",
    "a horse crossed the track",
];

/// Small models that have memorized the story.
fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("text.txt", (STORY.join("\n") + "\n\n").repeat(4));
    let text = [folder.path("text.txt")];
    let fit = FitParams { epochs: Some(150), batch: 8, lr: Some(0.02), ..FitParams::default() };
    let options = TrainOptions::default();
    for (bi, name) in [(false, "uni.senv"), (true, "bi.senv")] {
        let params = SkipThoughtParams { dim: 8, sentence_dim: 16, bi, fit: fit.clone(), ..Default::default() };
        params.fit_files(&text, &options).unwrap().model.save(folder.path(name)).unwrap();
    }
    let params = RnnAutoencoderParams { dim: 8, hidden: 20, fit, ..Default::default() };
    params.fit_files(&text, &options).unwrap().model.save(folder.path("ae.senv")).unwrap();
    // Vectors of the words in the story and two others.
    let mut words: Vec<&str> =
        STORY.iter().flat_map(|sentence| sentence.split(' ')).chain(["engine", "snow"]).collect();
    words.sort_unstable();
    words.dedup();
    let line = |(i, word): (usize, &&str)| format!("{word} {} {} {}\n", i % 5, (i * i) % 7, i % 3);
    folder.write("vectors.txt", words.iter().enumerate().map(line).collect::<String>());
    folder
}

#[test]
fn decoders_say_what_they_have_learnt_on_lines_json_and_between_sentences() {
    let folder = folder();
    let decode = |args: &[&str]| folder.run(&[&["decode", "--model"], args].concat());
    let said = decode(&["ae.senv", STORY[2], STORY[3]]).ok().out;
    let lines: Vec<Vec<&str>> = said.lines().map(|line| line.split('\t').collect()).collect();
    assert_eq!(lines.len(), 2, "{said}");
    for (line, sentence) in lines.iter().zip(&STORY[2..]) {
        assert_eq!((line[0], line[1], line[3]), (*sentence, "itself", *sentence), "{said}");
        assert!(line[2].parse::<f64>().unwrap() <= 0.0);
    }
    // The same from a file, in its order, with any number of threads.
    let all = STORY.join("\n");
    let args = ["decode", "--model", "ae.senv", "--decoder", "0", "--threads", "3"];
    let piped = folder.pipe(&args, &all).ok().out;
    let sentences: Vec<&str> = piped.lines().map(|line| line.rsplit('\t').next().unwrap()).collect();
    assert_eq!(sentences, STORY);

    let both = decode(&["uni.senv", STORY[2], "--n", "2", "--json"]).ok().json();
    assert_eq!(both["known_tokens"], 5);
    let names: Vec<&str> = both["said"].as_array().unwrap().iter().map(|s| s["decoder"].as_str().unwrap()).collect();
    assert_eq!(names, ["previous", "previous", "next", "next"]);
    assert_eq!((&both["said"][0]["text"], &both["said"][2]["text"]), (&STORY[1].into(), &STORY[3].into()));
    assert!(both["said"][2]["log_probability"].as_f64() >= both["said"][3]["log_probability"].as_f64());
    assert_eq!(both["said"][2]["ended"], true);
    let next = decode(&["uni.senv", STORY[2], "--decoder", "next", "--beam", "1", "--longest", "2"]).ok().out;
    assert!(next.ends_with("\the pulled …\n") && next.contains("\tnext\t"), "{next}");

    let between = decode(&["ae.senv", "--between", "1", STORY[0], STORY[3]]).ok().out;
    let lines: Vec<Vec<&str>> = between.lines().map(|line| line.split('\t').collect()).collect();
    let shares: Vec<&str> = lines.iter().map(|line| line[0]).collect();
    assert_eq!((shares, lines[0][3], lines[2][3]), (vec!["0.000", "0.500", "1.000"], STORY[0], STORY[3]));

    let unknown = decode(&["ae.senv", "xyzzy"]).ok();
    assert!(unknown.err.contains("1 sentence without a known word"), "{}", unknown.err);
}

#[test]
fn combined_models_say_what_their_parts_say_and_take_more_words() {
    let folder = folder();
    folder.run(&["combine", "--model", "uni.senv", "--with", "bi.senv", "--output", "both.senv"]).ok();
    let info = folder.run(&["info", "both.senv", "--json"]).ok().json();
    assert_eq!((&info["kind"], &info["dim"], &info["word_dim"]), (&"skip-thought".into(), &32.into(), &8.into()));
    assert_eq!(info["parameters"]["parts"].as_array().unwrap().len(), 2);
    assert_eq!(info["tensors"]["part2.encoder.backward1.recurrent"], "F32 [192]");
    assert!(info["tensors"]["rows2"].as_str().unwrap().ends_with(", 8]"));
    let text = folder.run(&["info", "both.senv"]).ok().out;
    assert!(text.contains("parameters.parts.2.hidden ") && text.contains("tensors.part1.decoder1."), "{text}");
    let decode = |model: &str, decoder: &str| {
        let args = ["decode", "--model", model, "--decoder", decoder, STORY[1]];
        folder.run(&args).ok().out.rsplit('\t').next().unwrap().to_owned()
    };
    assert_eq!(decode("both.senv", "next-2"), decode("bi.senv", "next"));
    assert_eq!(decode("both.senv", "0"), decode("uni.senv", "previous"));
    let vector = folder.pipe(&["encode", "--model", "both.senv"], STORY[0]).ok().out;
    assert_eq!(vector.split_whitespace().count(), 32);

    let expand = |model: &str, more: &[&str]| {
        let args = ["expand-vocabulary", "--model", model, "--vectors", "vectors.txt", "--output", "large.senv"];
        folder.run(&[&args[..], more].concat())
    };
    let report = expand("both.senv", &["--json"]).ok().json();
    assert_eq!((&report["added_words"], &report["map"]), (&2.into(), &"affine".into()));
    // The story has 20 words, all among the vectors.
    assert_eq!(report["shared_words"], 20);
    assert!(report["root_mean_squared_error"].as_f64().unwrap() > 0.0);
    let words = folder.run(&["info", "large.senv", "--json"]).ok().json()["words"].as_u64();
    assert_eq!(words, report["words"].as_u64());
    assert_eq!(words, info["words"].as_u64().map(|n| n + 2));
    // A new word is known, and the vectors of old words are unchanged.
    let coverage = |model: &str| {
        let args = ["decode", "--model", model, "--decoder", "0", "--json", "the engine stood still"];
        folder.run(&args).ok().json()["known_tokens"].clone()
    };
    assert_eq!((coverage("both.senv"), coverage("large.senv")), (3.into(), 4.into()));
    let same = |model: &str| folder.pipe(&["encode", "--model", model], STORY[0]).ok().out;
    assert_eq!(same("both.senv"), same("large.senv"));
    assert!(expand("uni.senv", &["--map", "linear"]).ok().err.contains("2 words added"));

    // SNLI models, trained from scratch or fine-tuned. The map fits their word vectors after training.
    folder
        .write("judged.tsv", format!("entailment\t{}\t{}\nneutral\t{}\t{}\n", STORY[0], STORY[4], STORY[1], STORY[2]));
    for (encoder, more, added) in [("bow", &["--dim", "2"][..], 8), ("uni.senv", &[], 2)] {
        let args = ["train", "snli", "--train", "judged.tsv", "--encoder", encoder, "--hidden", "3", "--epochs", "2"];
        folder.run(&[&args[..], more, &["--output", "snli.senv"]].concat()).ok();
        let report = expand("snli.senv", &["--json"]).ok().json();
        assert_eq!((&report["map"], &report["added_words"]), (&"affine".into(), &added.into()), "{report}");
        assert_eq!(folder.run(&["info", "large.senv", "--json"]).ok().json()["kind"], "snli");
        assert_eq!(same("snli.senv"), same("large.senv"));
        let new = |model: &str| folder.pipe(&["encode", "--model", model], "the engine stood").ok().out;
        assert_ne!(new("snli.senv"), new("large.senv"));
    }
}

#[test]
fn what_cannot_be_said_expanded_or_combined_is_refused() {
    let folder = folder();
    folder.train("text.txt", "sent2vec.senv", &[]).ok();
    let run = |args: &[&str]| folder.run(args);
    let decoders = ["a sent2vec model without decoders", "skip-thought", "rnn-ae or p-thought"];
    run(&["decode", "--model", "sent2vec.senv", "a"]).fails(1, &decoders);
    let decode = |more: &[&str]| run(&[&["decode", "--model", "uni.senv", "a train"], more].concat());
    decode(&["--decoder", "paraphrase"]).fails(2, &["no decoder \"paraphrase\"", "previous (0), next (1)"]);
    decode(&["--decoder", "2"]).fails(2, &["no decoder \"2\""]);
    decode(&["--beam", "2", "--n", "3"]).fails(2, &["a beam of width 2 gives at most 2 texts"]);
    decode(&["--between", "2"]).fails(2, &["--between needs two sentences, got 1"]);
    assert_eq!(decode(&["--beam", "0"]).code, Some(2));
    assert_eq!(decode(&["--input", "text.txt"]).code, Some(2));
    run(&["decode", "--model", "uni.senv", "--input", "absent.txt"]).fails(1, &["cannot open absent.txt"]);

    let expand = |model: &str, vectors: &str, more: &[&str]| {
        run(&[&["expand-vocabulary", "--model", model, "--vectors", vectors], more].concat())
    };
    let to = ["--output", "out.senv"];
    expand("sent2vec.senv", "vectors.txt", &to).fails(1, &["words cannot be added to a sent2vec model"]);
    expand("uni.senv", "vectors.txt", &["--output", "uni.senv"])
        .fails(2, &["uni.senv is also an input", "another --output"]);
    expand("uni.senv", "vectors.txt", &["--output", "vectors.txt"]).fails(2, &["vectors.txt is also an input"]);
    expand("uni.senv", "vectors.txt", &["--output", "no/out.senv"]).fails(1, &["the folder no does not exist"]);
    expand("uni.senv", "vectors.txt", &["--map", "same", "--output", "out.senv"]).fails(1, &["3, expected 8"]);
    folder.write("few.txt", "train 1 0 0\nrain 0 1 0\nengine 0 0 1\n");
    expand("uni.senv", "few.txt", &to).fails(2, &["got "]);
    folder.write("nan.txt", "train 1 0\nrain 0 1\nthe 1 1\nfell 2 1\nengine 0 nan\n");
    expand("uni.senv", "nan.txt", &to).fails(1, &["nan.txt:5: the row of \"engine\" contains NaN"]);

    let combine = |a: &str, b: &str| run(&["combine", "--model", a, "--with", b, "--output", "out.senv"]);
    combine("uni.senv", "ae.senv").fails(2, &["ae.senv is of kind rnn-ae"]);
    folder.run(&["combine", "--model", "uni.senv", "--with", "bi.senv", "--output", "both.senv"]).ok();
    combine("both.senv", "uni.senv").fails(2, &["got a combined model"]);
    assert!(!folder.has("out.senv"));
    for command in ["decode", "expand-vocabulary", "combine"] {
        assert!(run(&[command, "--help"]).ok().out.contains("Example"));
    }
}
