//! `senv eval nli` through the program.

use crate::common::Folder;
use senv::{NliPairs, SnliEncoder, SnliParams, TrainOptions, gradient::FitParams};

/// The same action: entailment; with `no`: contradiction; different actions: neutral.
fn pairs(n: usize, first: usize) -> String {
    let names = ["dog", "cat", "man", "girl"];
    let deeds = ["runs", "sleeps", "eats"];
    let line = |i: usize| {
        let (who, deed, other) = (names[i % 4], deeds[i / 4 % 3], deeds[(i / 4 + 1) % 3]);
        match i % 3 {
            0 => format!("entailment\ta {who} {deed} here\ta {who} {deed}\n"),
            1 => format!("neutral\ta {who} {deed} here\ta {who} {other}\n"),
            _ => format!("contradiction\ta {who} {deed} here\tno {who} {deed}\n"),
        }
    };
    (first..first + n).map(line).collect()
}

fn folder() -> Folder {
    let folder = Folder::with_text(200);
    folder.write("train.tsv", pairs(120, 0));
    folder.write("test.tsv", pairs(30, 500) + "-\tx\ty\n");
    let text = pairs(120, 0);
    let lines = text.lines().map(|line| {
        let cells: Vec<&str> = line.split('\t').collect();
        (cells[0], cells[1], cells[2])
    });
    let labelled = NliPairs::new("train.tsv", lines).unwrap();
    let fit = FitParams { epochs: Some(40), batch: 16, lr: Some(0.02), ..FitParams::default() };
    let params = SnliParams { encoder: SnliEncoder::Bow, dim: 16, hidden: 24, fit, ..SnliParams::default() };
    params.fit(&labelled, &TrainOptions::default()).unwrap().model.save(folder.path("snli.senv")).unwrap();
    folder
}

#[test]
fn a_model_is_judged_by_its_own_classifier_or_one_learnt_on_its_vectors() {
    let folder = folder();
    let eval = |args: &[&str]| folder.run(&[&["eval", "nli", "--model"], args].concat());
    let own = eval(&["snli.senv", "test.tsv", "--json"]).ok().json();
    let set = &own["sets"][0];
    assert_eq!((&set["n_pairs"], &set["n_unlabelled"]), (&30.into(), &1.into()));
    // With labels in a different order, accuracy would be a third of this.
    assert!(set["accuracy"].as_f64().unwrap() > 0.9, "{own}");
    assert!(own["trained"].is_null());
    let text = eval(&["snli.senv", "test.tsv", "--published"]).ok().out;
    for part in ["test.tsv", "  contradiction", "given", "SNLI RNN [1]", "skipped 1 pairs without a label"] {
        assert!(text.contains(part), "{part:?} is missing in:\n{text}");
    }

    folder.train("text.txt", "sent2vec.senv", &[]).ok();
    let trained = ["--train", "train.tsv", "--dev", "test.tsv", "test.tsv", "--json"];
    let frozen = eval(&[&["snli.senv"], &trained[..]].concat()).ok().json();
    assert!(frozen["sets"][0]["accuracy"].as_f64().unwrap() > 0.9, "{frozen}");
    assert_eq!((&frozen["trained"]["features"], &frozen["trained"]["n_pairs"]), (&"all".into(), &120.into()));
    let tried = frozen["trained"]["dev_accuracies"].as_array().unwrap();
    let best = tried.iter().map(|pair| pair[1].as_f64().unwrap()).fold(0.0, f64::max);
    assert_eq!(frozen["sets"][0]["accuracy"].as_f64(), Some(best), "the C that is best on these pairs is taken");
    // The same with any number of threads.
    let other = eval(&[&["snli.senv", "--threads", "3"], &trained[..]].concat()).ok().json();
    assert_eq!(other["trained"], frozen["trained"]);
    let noted = eval(&["sent2vec.senv", "--train", "train.tsv", "test.tsv"]).ok();
    assert!(noted.err.contains("trained a classifier on 120 pairs, C = 1"), "{}", noted.err);

    let sick = |line: &str| {
        let cells: Vec<&str> = line.split('\t').collect();
        format!("3.5\t{}\t{}\t{}\n", cells[0].to_uppercase(), cells[1], cells[2])
    };
    folder.write("sick.tsv", pairs(30, 500).lines().map(sick).collect::<String>());
    let json = eval(&["snli.senv", "sick.tsv", "--json"]).ok().json();
    assert_eq!(json["sets"][0]["accuracy"], set["accuracy"]);
    let json = eval(&["snli.senv", "--train", "sick.tsv", "test.tsv", "--json"]).ok().json();
    assert_eq!(json["trained"]["features"], "symmetric");
}

#[test]
fn a_model_without_a_classifier_and_bad_lines_are_refused() {
    let folder = folder();
    folder.train("text.txt", "sent2vec.senv", &[]).ok();
    let eval = |args: &[&str]| folder.run(&[&["eval", "nli", "--model"], args].concat());
    eval(&["sent2vec.senv", "test.tsv"]).fails(2, &["a sent2vec model has no classifier", "--train FILE"]);
    folder.write("bad.tsv", "neutral\ta\tb\nmaybe\ta\tb\n");
    eval(&["snli.senv", "bad.tsv"]).fails(1, &["bad.tsv:2", "unknown label \"maybe\""]);
    eval(&["snli.senv", "--train", "bad.tsv", "test.tsv"]).fails(1, &["bad.tsv:2"]);
    folder.write("scored.tsv", "3\tNEUTRAL\ta\tb\n9\tNEUTRAL\ta\tb\n");
    eval(&["snli.senv", "scored.tsv"]).fails(1, &["scored.tsv:2", "outside the scale"]);
    folder.write("empty.tsv", "");
    eval(&["snli.senv", "empty.tsv"]).fails(1, &["contains no pair"]);
    assert_eq!(eval(&["snli.senv", "--dev", "test.tsv", "test.tsv"]).code, Some(2));
    assert!(folder.run(&["eval", "nli", "--help"]).ok().out.contains("Examples:"));
}

#[test]
fn a_model_learns_from_any_file_that_one_is_judged_on() {
    let folder = Folder::new();
    let plain = pairs(60, 0);
    let cells = |line: &str| -> [String; 3] { std::array::from_fn(|i| line.split('\t').nth(i).unwrap().to_owned()) };
    let lines = |write: fn([String; 3]) -> String| plain.lines().map(cells).map(write).collect::<String>();
    let object = |[label, first, second]: [String; 3]| {
        format!(
            "{{\"captionID\": \"1\", \"gold_label\": \"{label}\", \
             \"sentence1\": \"{first}\", \"sentence2\": \"{second}\"}}\n"
        )
    };
    folder.write("train.tsv", &plain);
    let header = "gold_label\tsentence1_parse\tsentence1\tsentence2\tpairID\n".to_owned();
    let published = lines(|[label, first, second]| format!("{label}\t( a )\t{first}\t{second}\t7\n"));
    folder.write("snli_1.0_train.txt", header + &published + "-\t( a )\tA cat.\tA dog.\t8\n");
    folder.write("snli_1.0_train.jsonl", lines(object) + &object(["-", "A cat.", "A dog."].map(Into::into)));
    folder.write("sick.tsv", lines(|[label, a, b]| format!("3\t{}\t{a}\t{b}\n", label.to_uppercase())));
    let train = |file: &str, output: &str| {
        let args =
            ["train", "snli", "--dim", "4", "--hidden", "3", "--epochs", "1", "--train", file, "--output", output];
        folder.run(&args)
    };
    train("train.tsv", "plain.senv").ok();
    for (file, unlabelled) in [("snli_1.0_train.txt", true), ("snli_1.0_train.jsonl", true), ("sick.tsv", false)] {
        let ended = train(file, "m.senv").ok();
        assert_eq!(ended.err.contains(&format!("{file}: skipped 1 pair without a label")), unlabelled);
        assert_eq!(folder.read("m.senv"), folder.read("plain.senv"), "{file}");
    }
    let piped = ["train", "snli", "--dim", "4", "--hidden", "3", "--epochs", "1", "--train", "-", "--output", "m.senv"];
    folder.pipe(&piped, &plain).ok();
    assert_eq!(folder.read("m.senv"), folder.read("plain.senv"), "standard input");
    for (name, text) in
        [("bad.txt", "gold_label\tsentence1\tsentence2\nmaybe\ta\tb\n"), ("bad.tsv", "neutral\ta\tb\nmaybe\ta\tb\n")]
    {
        folder.write(name, text);
        train(name, "n.senv")
            .fails(1, &[&format!("{name}:2"), "unknown label \"maybe\"", "expected ENTAILMENT, NEUTRAL"]);
    }
    folder.write("bad.jsonl", "{\"gold_label\": \"neutral\", \"sentence1\": \"a\"}\n");
    train("bad.jsonl", "n.senv").fails(1, &["bad.jsonl:1", "missing field `sentence2`", "on each line"]);
    assert!(!folder.has("n.senv"));
}

#[test]
fn the_bench_has_the_classifier_of_the_model_beside_one_learnt_on_its_vectors() {
    let folder = folder();
    std::fs::create_dir_all(folder.path("data/snli")).unwrap();
    std::fs::copy(folder.path("test.tsv"), folder.path("data/snli/test.tsv")).unwrap();
    std::fs::create_dir_all(folder.path("data/sts/2014")).unwrap();
    folder.write(
        "data/sts/2014/a.tsv",
        "5\ta dog runs\ta dog runs here\n1\ta cat eats\tno man sleeps\n3\ta dog\ta cat\n",
    );
    folder.train("text.txt", "other.senv", &[]).ok();
    let bench = |models: &[&str]| {
        let all = ["eval", "all", "--data", "data", "--no-baselines", "--json", "out.json", "--models"];
        folder.run(&[&all[..], models].concat()).ok();
        serde_json::from_slice::<serde_json::Value>(&folder.read("out.json")).unwrap()
    };
    let record = bench(&["snli.senv", "other.senv"]);
    let result = |system: usize| {
        let results = record["systems"][system]["results"].as_array().unwrap();
        results.iter().find(|result| result["task"] == "own-entailment/SNLI test").unwrap()
    };
    let own = folder.run(&["eval", "nli", "--model", "snli.senv", "test.tsv", "--json"]).ok().json();
    let accuracy = 100.0 * own["sets"][0]["accuracy"].as_f64().unwrap();
    assert!((result(0)["value"].as_f64().unwrap() - accuracy).abs() < 1e-9, "{}", result(0));
    assert!(
        result(1)["value"].is_null() && result(1)["note"].as_str().unwrap().contains("classifier"),
        "{}",
        result(1)
    );
    // Without a classifier in any model, the report has no such task.
    let record = bench(&["other.senv"]);
    assert!(record["tasks"].as_array().unwrap().iter().all(|task| task["protocol"] != "own-entailment"), "{record}");
}
