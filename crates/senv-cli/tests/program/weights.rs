//! Word weights in a model, methods without training and intervals of `senv eval sts`, and buckets chosen by the size
//! of the text.

use crate::common::Folder;
use serde_json::Value;

fn info(folder: &Folder, model: &str) -> Value {
    folder.run(&["info", model, "--json"]).ok().json()
}

#[test]
fn every_averaging_system_takes_weights_and_info_shows_them() {
    let folder = Folder::with_pairs();
    folder.write("text.txt", crate::common::text(300));
    let text = ["--input", "text.txt", "--dim", "12"];
    let pairs = ["--pairs", "pairs.tsv", "--dim", "12", "--epochs", "1"];
    for (system, data) in [("sent2vec", &text[..]), ("word2vec", &text), ("siamese-cbow", &text), ("pp", &pairs)] {
        let train = |weights: &[&str]| folder.run(&[&["train", system, "--output", "m.senv"], data, weights].concat());
        train(&["--weights", "none"]).ok();
        assert_eq!(info(&folder, "m.senv")["weights"], "none", "{system}");
        let plain = folder.run(&["encode", "--model", "m.senv", "--input", "text.txt"]).ok().out;
        for (weights, a, components) in
            [(&["--weights", "sif", "--sif-a", "0.01"][..], Some(0.01), 1), (&["--weights", "usif"], None, 5)]
        {
            train(weights).ok();
            let facts = info(&folder, "m.senv");
            assert_eq!(facts["weights"]["scheme"], weights[1], "{system}");
            assert_eq!(facts["weights"]["common_components"], components);
            assert_eq!(facts["parameters"]["weighting"]["sif"]["a"].as_f64(), a);
            assert!(facts["tensors"]["word_weights"].is_string());
            assert_ne!(folder.run(&["encode", "--model", "m.senv", "--input", "text.txt"]).ok().out, plain, "{system}");
        }
        train(&["--weights", "none", "--sif-a", "0.01"]).fails(2, &["--sif-a 0.01: it belongs to weights = sif"]);
        train(&["--weights", "usif", "--sif-a", "0.01"]).fails(2, &["--sif-a 0.01: it belongs to weights = sif"]);
        train(&["--weights", "sif", "--sif-a", "0"]).fails(2, &["sif_a must be finite and above 0"]);
    }
}

#[test]
fn weighting_a_model_of_bigrams_keeps_them_and_words_find_their_neighbours_as_before() {
    let folder = Folder::with_text(300);
    folder.train("text.txt", "bi.senv", &["--word-ngrams", "2", "--buckets", "400"]).ok();
    folder.run(&["train", "weighted", "--model", "bi.senv", "--input", "text.txt", "--output", "w.senv"]).ok();
    let (base, weighted) = (info(&folder, "bi.senv"), info(&folder, "w.senv"));
    assert_eq!(base["rows"], weighted["rows"]);
    assert_eq!(weighted["parameters"]["n_grams"]["n_buckets"], 400);
    let words = |model: &str| folder.run(&["nearest", "--model", model, "--query", "cat", "--k", "4"]).ok().out;
    assert_eq!(words("bi.senv"), words("w.senv"), "word vectors carry no weights, and queries among them neither");
}

#[test]
fn buckets_follow_from_the_text_and_that_is_said() {
    let folder = Folder::with_text(300);
    let train = |more: &[&str]| {
        let args = ["train", "sent2vec", "--input", "text.txt", "--output", "bi.senv", "--dim", "12", "--epochs", "5"];
        folder.run(&[&args[..], &["--min-count", "1", "--word-ngrams", "2", "--force"], more].concat()).ok().err
    };
    let said = train(&[]);
    assert!(said.contains("n-grams have 1,000 buckets") && said.contains("--buckets"), "{said}");
    assert_eq!(info(&folder, "bi.senv")["parameters"]["buckets"], 1000);
    let said = train(&["--buckets", "300"]);
    assert!(!said.contains("buckets"), "{said}");
    assert_eq!(info(&folder, "bi.senv")["parameters"]["buckets"], 300);
}

#[test]
fn sts_is_printed_above_the_floor_unless_it_is_left_out() {
    let folder = Folder::with_model();
    folder.write(
        "sts.tsv",
        "5\tthe cat sat\tthe cat sat\n3\tthe cat sat\ta cat ran\n1\tthe dog\tsnow and rain\n0\ta\tb\n",
    );
    let eval = |more: &[&str]| folder.run(&[&["eval", "sts", "--model", "m.senv", "sts.tsv"], more].concat()).ok();
    let table = eval(&[]).out;
    for system in ["without training", "word overlap", "TF-IDF", "random vectors", "random vectors, SIF", "m.senv"] {
        assert!(table.lines().any(|line| line.starts_with(system)), "{system} is missing: {table}");
    }
    let json = eval(&["--json"]).json();
    let systems: Vec<&str> =
        json["floor"].as_array().unwrap().iter().map(|of| of["system"].as_str().unwrap()).collect();
    assert_eq!(systems, ["word overlap", "TF-IDF", "random vectors", "random vectors, SIF"]);
    // Equal sentences come first and sentences without a common word last, so word overlap follows the gold scores.
    let overlap = json["floor"][0]["tasks"][0]["pearson_r_x100"].as_f64().unwrap();
    assert!(overlap > 80.0, "{overlap}");
    assert_eq!(eval(&["--json"]).json(), json, "the same random vectors each time");
    assert!(!eval(&["--no-floor"]).out.contains("TF-IDF"));
    assert!(eval(&["--no-floor", "--json"]).json().get("floor").is_none());
    // Word vectors without counts are compared with untrained methods, too, with counts of the evaluated sentences.
    folder.write("vectors.txt", "the 1 0 0\ncat 0 1 0\nsat 0 0 1\ndog 1 1 0\n");
    let vectors = folder.run(&["eval", "sts", "--model", "vectors.txt", "sts.tsv", "--json"]).ok().json();
    assert_eq!(vectors["floor"].as_array().unwrap().len(), 4);
}

#[test]
fn sts_has_intervals_unless_there_are_no_draws() {
    let folder = Folder::new();
    folder.write("words.txt", "a 1 0\nb 4 1\nc 1 1\nd 1 4\ne 0 1\n");
    let words = ["a", "b", "c", "d", "e"];
    let pairs = (0..30).map(|i| format!("{}\ta\t{}\n", 5.0 - (i % 5) as f64 + (i % 3) as f64 / 4.0, words[i % 5]));
    let pairs: String = pairs.map(|pair| pair.replace("5.25", "5").replace("5.5", "5")).collect();
    folder.write("sts.tsv", pairs);
    let eval = |more: &[&str]| folder.run(&[&["eval", "sts", "--model", "words.txt", "sts.tsv"], more].concat());
    let text = eval(&[]).ok().out;
    assert!(text.contains(" ±") && text.contains("1000 draws, seed 1"), "{text}");
    let json = eval(&["--json", "--resamples", "300"]).ok().json();
    let intervals = &json["intervals"];
    assert_eq!((&intervals["resamples"], &intervals["seed"]), (&300.into(), &1.into()));
    let ends = |of: &serde_json::Value| [&of[0], &of[1]].map(|end| end.as_f64().unwrap());
    let [low, high] = ends(&intervals["tasks"][0]["pearson_r_x100"]);
    let r = json["tasks"][0]["pearson_r_x100"].as_f64().unwrap();
    assert!(low < r && r < high, "{json}");
    assert_eq!(ends(&intervals["overall"]["plain_mean_over_tasks"]["pearson_r_x100"]), [low, high], "of one task");
    assert!(!eval(&["--resamples", "0"]).ok().out.contains('±'));
    assert!(eval(&["--resamples", "0", "--json"]).ok().json().get("intervals").is_none());
    eval(&["--resamples", "many"]).fails(2, &["--resamples"]);
}

#[test]
fn a_row_stands_for_unknown_words_and_is_kept_with_weights() {
    let folder = Folder::new();
    folder.write("words.txt", "cat 4 0\ndog 0 8\nUUUNKKK 1 -2\n");
    folder.write("two.txt", "cat Ishmael\nQueequeg dog\n");
    let encode = |args: &[&str]| folder.run(&[&["encode", "--input", "two.txt", "--model"], args].concat()).ok().out;
    // (4 + 1) / 2 and (0 - 2) / 2; (0 + 1) / 2 and (8 - 2) / 2.
    assert_eq!(encode(&["words.txt", "--unknown-row", "UUUNKKK"]), "2.5 -1.0\n0.5 3.0\n");
    assert_eq!(encode(&["words.txt"]), "4.0 0.0\n0.0 8.0\n");
    let unknown = ["encode", "--input", "two.txt", "--model", "words.txt", "--unknown-row", "unk"];
    folder.run(&unknown).fails(2, &["unknown_row must be", "one of the words with a vector", "\"unk\""]);
    let train = ["train", "weighted", "--model", "words.txt", "--input", "two.txt", "--components", "0", "--output"];
    folder.run(&[&train[..], &["w.senv", "--unknown-row", "UUUNKKK", "--a", "0.25"]].concat()).ok();
    // The weights are .25 / (.25 + p): 1/2 for cat and dog, and 1 for the row for unknown words, which is not a word of
    // the text.
    assert_eq!(encode(&["w.senv"]), "1.5 -1.0\n0.5 1.0\n");
    assert_eq!(info(&folder, "w.senv")["parameters"]["params"]["unknown_row"], "UUUNKKK");
    folder
        .run(&["compress", "--model", "w.senv", "--output", "small.senv"])
        .fails(1, &["one of its words represents unknown words"]);
    folder
        .run(&[&train[..], &["x.senv", "--unknown-row", "UUUNKKK", "--unknown-words", "hash"]].concat())
        .fails(2, &["cannot be used with"]);
    let unknown = ["nearest", "--model", "words.txt", "--unknown-row", "UUUNKKK", "--query", "xyzzy"];
    let ended = folder.run(&unknown);
    assert!(!ended.out.contains("UUUNKKK"), "{}", ended.out);
}

#[test]
fn components_of_each_side_are_found_on_the_task() {
    let folder = Folder::new();
    folder.write("words.txt", "a 2 0 1\nb 4 0 -1\nc 0 3 1\nd 0 3 -1\n");
    folder.write("text.txt", "c\nd\n");
    // First sentences lose the first axis and second ones the second, so the cosines are 1 and -1. With the components
    // of the text, which has the second axis, they are 1/√5 for a and 1/√17 for b, times 1 and -1.
    folder.write("task.tsv", "5\ta\tc\n5\ta\tc\n0\ta\td\n0\ta\td\n5\tb\td\n0\tb\tc\n");
    folder.run(&["train", "weighted", "--model", "words.txt", "--input", "text.txt", "--output", "w.senv"]).ok();
    let eval = |args: &[&str]| folder.run(&[&["eval", "sts", "task.tsv", "--json", "--no-floor"], args].concat());
    let r = |value: serde_json::Value| value["tasks"][0]["pearson_r_x100"].as_f64().unwrap();
    let per_side = eval(&["--model", "w.senv", "--components-per-side"]).ok().json();
    assert!((r(per_side.clone()) - 100.0).abs() < 1e-3);
    assert_eq!(per_side["tasks"][0]["known_token_share"], 1.0);
    let (a, b) = (5_f64.sqrt().recip(), 17_f64.sqrt().recip());
    let expected = 100.0 * (4.0 * a + 2.0 * b) / (6.0 * (4.0 * a * a + 2.0 * b * b)).sqrt();
    assert!((r(eval(&["--model", "w.senv"]).ok().json()) - expected).abs() < 1e-3, "{expected}");
    eval(&["--model", "words.txt", "--components-per-side"])
        .fails(2, &["--components-per-side", "senv train weighted"]);
}

#[test]
fn hashtags_are_looked_up_as_words_where_the_model_was_trained_so() {
    let folder = Folder::with_text(200);
    folder.train("text.txt", "tags.senv", &["--strip-hashtags", "true", "--no-check"]).ok();
    assert_eq!(info(&folder, "tags.senv")["parameters"]["tokenizer"]["strip_hashtags"], true);
    folder.train("text.txt", "plain.senv", &["--no-check"]).ok();
    folder.write("tag.txt", "#cat\n");
    folder.write("word.txt", "cat\n");
    let encode = |model: &str, input: &str| folder.run(&["encode", "--model", model, "--input", input]).ok().out;
    assert_eq!(encode("tags.senv", "tag.txt"), encode("tags.senv", "word.txt"));
    assert_ne!(encode("plain.senv", "tag.txt"), encode("plain.senv", "word.txt"));
    assert_eq!(encode("tags.senv", "word.txt"), encode("plain.senv", "word.txt"), "a text without hashtags");
}
