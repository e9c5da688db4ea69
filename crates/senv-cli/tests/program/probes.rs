//! `senv eval classify`, `msrp`, `histograms` and `map`, and the variants of `sick`, through the program.

use crate::common::Folder;

/// Sentences about animals and about trains.
fn sentences() -> Vec<(usize, String)> {
    let (animals, trains) = (["cat", "dog"], ["train", "engine", "bridge", "station"]);
    let sentence = |i: usize| match i % 2 {
        0 => (0, format!("The {} saw the {} {}", animals[i / 2 % 2], animals[i / 4 % 2], "again ".repeat(i / 8))),
        _ => (1, format!("The {} passed the {} {}", trains[i / 2 % 4], trains[i / 8 % 4], "again ".repeat(i / 32))),
    };
    (0..48).map(sentence).collect()
}

#[test]
fn sentences_are_classified_by_folds_and_on_a_test_set() {
    let folder = Folder::with_model();
    let lines = |label: fn(usize) -> &'static str| -> String {
        sentences().iter().map(|(class, text)| format!("{}\t{text}\n", label(*class))).collect()
    };
    folder.write("all.tsv", lines(|class| ["animal", "train"][class]));
    let of_class = |wanted: usize| -> String {
        sentences().iter().filter(|(class, _)| *class == wanted).map(|(_, text)| format!("{text}\n")).collect()
    };
    folder.write("set.neg", of_class(0));
    folder.write("set.pos", of_class(1));
    let trec: String = sentences().iter().map(|(class, text)| format!("{}:x {text}\n", ["A", "T"][*class])).collect();
    folder.write("train.label", &trec);
    let eval = |more: &[&str]| folder.run(&[&["eval", "classify", "--model", "m.senv"], more].concat());
    let json = eval(&["all.tsv", "set.pos", "--folds", "4", "--inner-folds", "3", "--seed", "2", "--json"]).ok().json();
    for result in json["results"].as_array().unwrap() {
        assert!(result["accuracy"].as_f64().unwrap() > 0.9, "{result}");
        assert_eq!((&result["n_sentences"], result["folds"].as_array().unwrap().len()), (&48.into(), 4));
        assert_eq!((&result["majority_accuracy"], &result["options"]["seed"]), (&0.5.into(), &2.into()));
    }
    assert_eq!(json["results"][0]["classes"][1], "train");
    let path = json["results"][0]["options"]["path"].as_array().unwrap();
    assert_eq!((path.len(), &path[0], &path[16]), (17, &(1.0 / 256.0).into(), &256.0.into()));
    // One C is neither too small nor too large; with several, the larger ones are better here.
    let one =
        eval(&["all.tsv", "--folds", "4", "--inner-folds", "3", "--c-powers", "-20", "-20", "--json"]).ok().json();
    assert_eq!(one["results"][0]["n_folds_with_c_at_edge"], 0);
    let small = ["all.tsv", "--folds", "4", "--inner-folds", "3", "--c-powers", "-24", "-4"];
    let edge = eval(&[&small[..], &["--json"]].concat()).ok().json();
    let folds = edge["results"][0]["folds"].as_array().unwrap();
    let n = folds.iter().filter(|fold| fold["is_c_at_edge"] == true).count();
    assert_eq!(edge["results"][0]["n_folds_with_c_at_edge"], n);
    assert_eq!(eval(&small).ok().out.contains("the best C is at the edge of"), n > 0);
    eval(&["all.tsv", "--c-powers", "3", "2"]).fails(2, &["--c-powers", "LOW is above HIGH"]);
    let text = eval(&["train.label", "--test", "train.label", "--one-vs-rest", "--inner-folds", "3"]).ok().out;
    assert!(text.contains("trained on train.label, C by 3 folds") && text.contains("train.label "), "{text}");
    let message = eval(&["all.tsv", "--folds", "100"]).fails(1, &[]).err;
    assert!(message.contains("cannot divide 48 examples into 100 folds"), "{message}");
    let message = eval(&["all.tsv", "set.pos", "--test", "all.tsv"]).fails(2, &[]).err;
    assert!(message.contains("a single FILE"), "{message}");
}

#[test]
fn paraphrases_are_told_and_spread_over_histograms() {
    let folder = Folder::with_model();
    let texts = sentences();
    let line = |i: usize| {
        let (same, other) = (&texts[(i + 2) % 48].1, &texts[(i + 1) % 48].1);
        format!("{}\t{}\t{}\n", i % 2, texts[i].1, if i % 2 == 1 { same } else { other })
    };
    folder.write("pairs.tsv", (0..48).map(line).collect::<String>());
    let msrp = ["eval", "msrp", "--model", "m.senv", "--train", "pairs.tsv", "pairs.tsv"];
    let run = |more: &[&str]| folder.run(&[&msrp[..], more].concat()).ok();
    let json = run(&["--script", "sent-eval", "--learning-curve", "--svg", "curve.svg", "--json"]).json();
    assert!(json["accuracy"].as_f64().unwrap() > 0.7, "{json}");
    assert_eq!(json["learning_curve"]["points"].as_array().unwrap().len(), 9);
    assert!(folder.read("curve.svg").starts_with(b"<svg "));
    let text = run(&[]).out;
    assert!(text.contains("by the F1 of 10 folds") && text.contains("all are paraphrases"), "{text}");
    // Holding out the last quarter gives the same result as two separate files.
    folder.write("first.tsv", (0..36).map(line).collect::<String>());
    folder.write("last.tsv", (36..48).map(line).collect::<String>());
    let judge = |train: &str, more: &[&str]| {
        folder.run(&[&["eval", "msrp", "--model", "m.senv", "--json", "--train", train][..], more].concat())
    };
    let mut held = judge("pairs.tsv", &["--hold-out"]).ok().json();
    let mut files = judge("first.tsv", &["last.tsv"]).ok().json();
    assert_eq!((&held["n_training_pairs"], &held["n_pairs"]), (&36.into(), &12.into()));
    for path in ["train_path", "path"] {
        (held[path], files[path]) = (().into(), ().into());
    }
    assert_eq!(held, files);
    judge("pairs.tsv", &["--hold-out", "last.tsv"]).fails(2, &["--hold-out", "cannot be used with"]);
    judge("pairs.tsv", &[]).fails(2, &["FILE"]);
    let histograms = |more: &[&str]| folder.run(&[&["eval", "histograms", "--model", "m.senv"], more].concat());
    let text = histograms(&["pairs.tsv", "--svg", "cosines.svg", "--words-svg", "words.svg"]).ok().out;
    assert!(text.contains("overlap of paraphrases and other pairs"), "{text}");
    assert!(folder.read("cosines.svg").starts_with(b"<svg ") && folder.read("words.svg").starts_with(b"<svg "));
    folder.write("sick.tsv", "4.5\tENTAILMENT\tThe cat saw the dog\tThe dog saw the cat\n1\tNEUTRAL\ta cat\ta train\n");
    let json = histograms(&["sick.tsv", "--by", "label", "--bins", "10", "--json"]).ok().json();
    assert_eq!(
        (&json["cosines"]["groups"][2]["n"], &json["cosines"]["overlaps"][0]["coefficient"]),
        (&1.into(), &().into())
    );
    assert!(histograms(&["sick.tsv", "--by", "score"]).ok().out.contains("score from 3 on"));
    assert!(histograms(&["pairs.tsv", "--bins", "0"]).fails(2, &[]).err.contains("from 1 to 10000"));
    let points = ["eval", "ranking", "--model", "m.senv", "pairs.tsv", "--points", "points.tsv"];
    folder.run(&points).ok();
    let points = String::from_utf8(folder.read("points.tsv")).unwrap();
    let lines: Vec<Vec<&str>> = points.lines().map(|line| line.split('\t').collect()).collect();
    assert_eq!(lines[0], ["set", "threshold", "precision", "recall"]);
    assert_eq!((lines[1][0], lines.last().unwrap()[3]), ("pairs.tsv", "1"));
}

#[test]
fn sentences_are_laid_out_on_a_plane() {
    let folder = Folder::with_model();
    let lines: String = sentences().iter().take(24).map(|(class, text)| format!("{class}\t{text}\n")).collect();
    folder.write("groups.tsv", &lines);
    let eval = |more: &[&str]| folder.run(&[&["eval", "map", "--model", "m.senv", "groups.tsv"], more].concat());
    let json = eval(&["--steps", "300", "--svg", "map.svg", "--json"]).ok().json();
    assert!(json["silhouette"].as_f64().unwrap() > 0.3, "{json}");
    assert_eq!(json, eval(&["--steps", "300", "--json"]).ok().json(), "the same seed");
    assert_eq!(String::from_utf8(folder.read("map.svg")).unwrap().matches("<circle").count(), 24);
    assert!(eval(&["--perplexity", "8"]).fails(2, &[]).err.contains("below a third"));
}

#[test]
fn relatedness_is_trained_in_the_forms_of_the_scripts() {
    let folder = Folder::with_model();
    let line = |i: usize| {
        let (a, b) = (["cat", "dog", "train"][i % 3], ["cat", "dog", "train"][i / 3 % 3]);
        let score = if a == b {
            5
        } else if a == "train" || b == "train" {
            1
        } else {
            4
        };
        format!("{score}\tNEUTRAL\tThe {a} saw me {}\tThe {b} saw me\n", i / 9)
    };
    folder.write("sick.tsv", (0..36).map(line).collect::<String>());
    for form in ["regression", "skip-thoughts", "sent-eval"] {
        let args = ["eval", "sick", "--model", "m.senv", "--train", "sick.tsv", "--dev", "sick.tsv", "sick.tsv"];
        let json = folder.run(&[&args[..], &["--form", form, "--json"]].concat()).ok().json();
        assert_eq!(json["trained"]["form"], form);
        assert_eq!(json["trained"]["c"].is_null(), form != "regression");
        assert!(json["results"][1]["tasks"][0]["pearson_r_x100"].as_f64().unwrap() > 50.0, "{json}");
    }
}
