//! `senv eval all`, `compare` and `protocols` through the program.

use std::{
    fmt::Write as _,
    io::{BufReader, Read},
};

use crate::{
    common::Folder,
    running::{hear, signal, work_for},
};

/// Sentences of a small artificial language. `i` chooses the words.
fn sentence(i: usize) -> String {
    let who = ["the cat", "the dog", "my train", "a baker", "the bank", "some rain"][i % 6];
    let what = ["saw", "liked", "left", "found", "passed"][i / 6 % 5];
    let whom = ["the bread", "the station", "a bridge", "the soup"][i / 30 % 4];
    format!("{who} {what} {whom}")
}

/// Pairs with a score: the number of common parts, of three.
fn scored(n: usize, low: usize, label: bool) -> String {
    let mut text = String::new();
    for i in 0..n {
        let (a, b) = (sentence(7 * i), sentence(7 * i + [0, 1, 6, 30, 31, 37][i % 6]));
        let same = a.split(' ').zip(b.split(' ')).filter(|(a, b)| a == b).count();
        let gold = (low as f64).max(5.0 * same as f64 / 5.0);
        let label = if label { "NEUTRAL\t" } else { "" };
        let _ = writeln!(text, "{gold}\t{label}{a}\t{b}");
    }
    text
}

fn read(folder: &Folder, name: &str) -> String {
    String::from_utf8(folder.read(name)).unwrap()
}

/// A folder with a model and data of most protocols.
fn with_data() -> Folder {
    let folder = Folder::with_model();
    for path in ["data/sts/2014", "data/sick", "data/msrp", "data/coco"] {
        std::fs::create_dir_all(folder.path(path)).unwrap();
    }
    folder.write("data/sts/2014/made.tsv", scored(60, 0, false));
    folder.write("data/sts/2014/other.tsv", scored(50, 0, false));
    // With the number of pairs of SICK's trial part, below which published figures appear.
    folder.write("data/sick/test.tsv", scored(500, 1, true));
    let pairs: String = (0..40).map(|i| format!("{}\t{}\t{}\n", i % 2, sentence(i), sentence(i + i % 2))).collect();
    folder.write("data/msrp/train.tsv", pairs);
    let captions: String = (0..40).map(|i| format!("{}\t{}\n", i / 4, sentence(i))).collect();
    // One caption is in no other data set.
    folder.write("data/coco/captions.tsv", captions + "0\tthe cat left alone\n");
    folder
}

const ALL: [&str; 7] = ["eval", "all", "--data", "data", "--fast", "--models", "m.senv"];

#[test]
fn a_run_writes_page_json_and_markdown() {
    let folder = with_data();
    let outputs = ["--report", "out.html", "--json", "out.json", "--markdown", "out.md"];
    let ended = folder.run(&[&ALL[..], &outputs].concat()).ok();
    let baselines = ["word overlap", "TF-IDF", "m + SIF", "m + uSIF", "random vectors", "chance"];
    for part in ["Similarity", "STS\n", "2014 (own)", "paper: BOW autoencoder"].into_iter().chain(baselines) {
        assert!(ended.out.contains(part.trim_end()), "{part} is missing in {}", ended.out);
    }
    assert!(ended.out.contains("missing: stsb: no data in the folder"), "{}", ended.out);
    let record: serde_json::Value = serde_json::from_str(&read(&folder, "out.json")).unwrap();
    assert_eq!((&record["senv_bench"], &record["seed"], &record["resamples"]), (&1.into(), &1.into(), &500.into()));
    let model = &record["systems"][0];
    assert_eq!(model["name"], "m");
    assert_eq!(model["sha256"].as_str().unwrap().len(), 64);
    let sts = &model["results"][0];
    assert_eq!((&sts["task"], sts["scores"].as_array().unwrap().len()), (&"sts/2014/made".into(), 60));
    let (low, high) = (sts["interval"][0].as_f64().unwrap(), sts["interval"][1].as_f64().unwrap());
    assert!(low < sts["value"].as_f64().unwrap() && sts["value"].as_f64().unwrap() < high);
    assert_eq!(record["tasks"][0]["files"][0]["sha256"].as_str().unwrap().len(), 64);
    let weighted = record["systems"].as_array().unwrap().iter().find(|system| system["name"] == "m + SIF").unwrap();
    assert_eq!(weighted["sha256"], model["sha256"], "made of the model");
    let page = read(&folder, "out.html");
    for part in
        ["<svg ", "STS 2014 (own)", "95 %", "Sent2Vec uni books", "senv eval all --data data", "prefers-color-scheme"]
    {
        assert!(page.contains(part), "{part} is missing in the page");
    }
    for outside in ["http-equiv", "<script", "src=", "@import", "url("] {
        assert!(!page.contains(outside), "{outside}: nothing is loaded from elsewhere");
    }
    let markdown = read(&folder, "out.md");
    for part in
        ["| system | mean | STS 2014 (own) | SICK test |", "| sts 2014 made | 60 | ", "## How these numbers were made"]
    {
        assert!(markdown.contains(part), "{part} is missing in {markdown}");
    }
    for sum in [&model["sha256"], &record["tasks"][0]["files"][0]["sha256"]] {
        let sum = sum.as_str().unwrap();
        assert!(markdown.contains(sum) && page.contains(&format!("<code>{sum}</code>")), "{sum}");
    }
    // The cell of a task has the same interval as the JSON.
    let shown = format!("<span class=\"pm\">{low:.2} to {high:.2}</span>");
    assert!(page.matches(&shown).count() >= 1, "{shown}");
    // A file of the same kind is overwritten, and any other file is not.
    folder.run(&[&ALL[..], &outputs].concat()).ok();
    folder.write("out.html", "my page");
    folder.run(&[&ALL[..], &outputs].concat()).fails(2, &["out.html exists", "--force"]);
}

#[test]
fn figures_are_files_with_fixed_names() {
    let folder = with_data();
    folder.run(&["compress", "--model", "m.senv", "--output", "small.senv"]).ok();
    let both = ["eval", "all", "--data", "data", "--fast", "--models", "m.senv", "small.senv", "--only", "sts,sick"];
    let run = |more: &[&str]| folder.run(&[&both[..], more].concat());
    let ended = run(&["--figures", "new/plots", "--json", "out.json", "--picture", "picture.svg"]).ok();
    let record: serde_json::Value = serde_json::from_str(&read(&folder, "out.json")).unwrap();
    for (i, file) in ["m.senv", "small.senv"].into_iter().enumerate() {
        let size = std::fs::metadata(folder.path(file)).unwrap().len();
        assert_eq!(record["systems"][i]["bytes"], size, "{file}");
    }
    for system in record["systems"].as_array().unwrap().iter().skip(2) {
        assert!(system["bytes"].is_null(), "{} has no file", system["name"]);
    }
    let names = || {
        let files = std::fs::read_dir(folder.path("new/plots")).unwrap();
        let mut names: Vec<String> = files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    };
    let expected = [
        "means-similarity.svg",
        "norms-m.svg",
        "norms-small.svg",
        "quality-size.svg",
        "quality-speed.svg",
        "scores-m-sick-test.svg",
        "scores-word-overlap-sick-test.svg",
        "sts-tasks.svg",
    ];
    assert_eq!(names(), expected);
    assert!(ended.err.contains("8 figures written to new/plots"), "{}", ended.err);
    let size = read(&folder, "new/plots/quality-size.svg");
    for part in ["<title>Quality against size</title>", "size of the model", ">small</text>", " MB</title>"] {
        assert!(size.contains(part), "{part} is missing in {size}");
    }
    assert_eq!(size, read(&folder, "picture.svg"));
    // Existing figures are replaced, with the same bytes.
    let before = expected.map(|name| read(&folder, &format!("new/plots/{name}")));
    run(&["--figures", "new/plots", "--picture", "picture.svg", "--threads", "1"]).ok();
    for (name, before) in expected.into_iter().zip(before) {
        assert!(name == "quality-speed.svg" || read(&folder, &format!("new/plots/{name}")) == before, "{name}");
    }
    assert_eq!(names(), expected);
    // A drawing by somebody else is not replaced; other outputs are already written by then.
    folder.write("new/plots/quality-size.svg", "<svg>mine</svg>");
    let refused = ["new/plots/quality-size.svg", "--force"];
    run(&["--figures", "new/plots", "--markdown", "out.md"]).fails(2, &refused);
    assert_eq!(read(&folder, "new/plots/quality-size.svg"), "<svg>mine</svg>");
    assert!(folder.has("out.md"));
    run(&["--figures", "new/plots", "--force"]).ok();
    assert_eq!(read(&folder, "new/plots/quality-size.svg"), size);
    run(&["--figures", "m.senv"]).fails(1, &["m.senv"]);
}

/// The size of a file of sentence vectors is not the size of a model.
#[test]
fn one_model_has_no_drawing_of_sizes() {
    let folder = with_data();
    folder.run(&["eval", "sentences", "--data", "data", "--only", "sts", "--output", "s.txt"]).ok();
    folder.run(&["encode", "--model", "m.senv", "--input", "s.txt", "--output", "other.npy"]).ok();
    let arguments = ["--only", "sts", "--vectors", "other.npy", "--sentences", "s.txt", "--figures", "plots"];
    folder.run(&[&ALL[..], &arguments, &["--json", "out.json"]].concat()).ok();
    let record: serde_json::Value = serde_json::from_str(&read(&folder, "out.json")).unwrap();
    assert!(record["systems"][0]["bytes"].is_u64() && record["systems"][1]["bytes"].is_null());
    assert!(folder.has("plots/quality-speed.svg") && !folder.has("plots/quality-size.svg"));
    folder.run(&[&ALL[..], &["--picture", "p.svg"]].concat()).fails(2, &["two models"]);
}

#[test]
fn runs_are_the_same_at_any_number_of_threads() {
    let folder = with_data();
    let mut runs = ["1", "3"].map(|threads| {
        folder.run(&[&ALL[..], &["--json", "out.json", "--threads", threads]].concat()).ok();
        let mut record: serde_json::Value = serde_json::from_str(&read(&folder, "out.json")).unwrap();
        for system in record["systems"].as_array_mut().unwrap() {
            system["sentences_per_second"].take();
        }
        record["command"].take();
        record
    });
    let second = runs[1].take();
    assert_eq!(runs[0], second);
}

#[test]
fn vectors_of_another_program_stand_beside_the_model() {
    let folder = with_data();
    folder.run(&[&ALL[..], &["--json", "own.json"]].concat()).ok();
    // The model's own vectors, in the form that another program would provide.
    let record: serde_json::Value = serde_json::from_str(&read(&folder, "own.json")).unwrap();
    let mut sentences = std::collections::BTreeSet::new();
    for file in ["data/sts/2014/made.tsv", "data/sts/2014/other.tsv", "data/sick/test.tsv", "data/msrp/train.tsv"] {
        let text = read(&folder, file);
        sentences.extend(text.lines().flat_map(|line| {
            let cells: Vec<String> = line.split('\t').map(str::to_owned).collect();
            cells[cells.len() - 2..].to_vec()
        }));
    }
    let list: String = sentences.iter().map(|sentence| format!("{sentence}\n")).collect();
    folder.write("other.txt", &list);
    folder.run(&["encode", "--model", "m.senv", "--input", "other.txt", "--output", "other.npy"]).ok();
    let arguments = [
        "--vectors",
        "other.npy",
        "--sentences",
        "other.txt",
        "--json",
        "both.json",
        "--only",
        "sts,detection,p-coherence",
    ];
    folder.run(&[&ALL[..], &arguments].concat()).ok();
    let both: serde_json::Value = serde_json::from_str(&read(&folder, "both.json")).unwrap();
    let theirs = &both["systems"][1];
    assert_eq!((&theirs["name"], &theirs["kind"]), (&"other".into(), &"vectors".into()));
    assert_eq!(theirs["results"][0]["value"], record["systems"][0]["results"][0]["value"], "the same vectors");
    let captions = theirs["results"].as_array().unwrap().last().unwrap();
    assert!(captions["value"].is_null() && captions["note"].as_str().unwrap().contains("sentence"), "{captions}");
}

#[test]
fn vectors_that_do_not_fit_are_refused() {
    let folder = with_data();
    folder.write("two.txt", "the cat saw the bread\nthe dog liked the soup\n");
    folder.write("three.txt", "the cat saw the bread\nthe dog liked the soup\na baker\n");
    folder.run(&["encode", "--model", "m.senv", "--input", "two.txt", "--output", "two.npy"]).ok();
    let run = |more: &[&str]| folder.run(&[&["eval", "all", "--data", "data", "--fast"], more].concat());
    run(&["--vectors", "two.npy", "--sentences", "three.txt"])
        .fails(1, &["two.npy", "2 rows, but there are 3 lines in three.txt"]);
    run(&["--vectors", "two.npy", "--sentences", "two.txt", "--sentences", "three.txt"])
        .fails(2, &["1 times and --sentences 2"]);
    run(&["--vectors", "two.npy"]).fails(2, &["--sentences"]);
    let mut bytes = std::fs::read(folder.path("two.npy")).unwrap();
    let end = bytes.len();
    bytes[end - 4..].copy_from_slice(&f32::NAN.to_le_bytes());
    std::fs::write(folder.path("nan.npy"), bytes).unwrap();
    run(&["--vectors", "nan.npy", "--sentences", "two.txt"]).fails(1, &["the dog liked the soup", "not finite"]);
}

#[test]
fn bad_folders_models_and_names_are_refused() {
    let folder = with_data();
    std::fs::create_dir(folder.path("empty")).unwrap();
    let run = |arguments: &[&str]| folder.run(&[&["eval", "all"], arguments].concat());
    run(&["--data", "empty", "--models", "m.senv"]).fails(1, &["no data sets in the folder"]);
    run(&["--data", "none", "--models", "m.senv"]).fails(1, &["cannot open none"]);
    run(&["--data", "data/sick/test.tsv"])
        .fails(2, &["data/sick/test.tsv is a file", "--data needs a folder", "that it is in"]);
    run(&["--data", "data", "--models", "m.senv", "--figures", "m.senv"])
        .fails(1, &["m.senv: there is one of this name"]);
    folder.run(&["eval", "sentences", "--data", "m.senv", "--output", "s.txt"]).fails(2, &["m.senv is a file"]);
    run(&["--data", "data", "--models", "none.senv"]).fails(1, &["none.senv"]);
    run(&["--data", "data", "--models", "m.senv", "m.senv"]).fails(2, &["m.senv is given twice"]);
    run(&["--data", "data", "--models", "m.senv", "--only", "stss"])
        .fails(2, &["unknown protocol \"stss\"", "sts, stsb"]);
    run(&["--data", "data", "--models", "m.senv", "--json", "m.senv"]).fails(2, &["m.senv"]);
    // Folders distinguish two files of the same name.
    std::fs::create_dir(folder.path("b")).unwrap();
    std::fs::copy(folder.path("m.senv"), folder.path("b/m.senv")).unwrap();
    let out = run(&["--data", "data", "--models", "m.senv", "b/m.senv", "--only", "sts", "--fast"]).ok().out;
    assert!(out.contains("b/m.senv"), "{out}");
}

#[test]
fn two_runs_are_compared_on_the_same_data_alone() {
    let folder = with_data();
    folder.run(&[&ALL[..], &["--json", "a.json"]].concat()).ok();
    let compare = |more: &[&str]| folder.run(&[&["eval", "compare"], more].concat());
    let text = compare(&["a.json", "--systems", "m", "random vectors"]).ok().out;
    assert!(text.contains("sts 2014 made") && text.contains("Holm"), "{text}");
    let json = compare(&["a.json", "a.json", "--json"]).ok().json();
    assert_eq!(json["tasks"][0]["difference"], 0.0);
    compare(&["a.json"]).fails(2, &["--systems"]);
    compare(&["a.json", "--systems", "m", "nobody"]).fails(2, &["\"nobody\"", "word overlap"]);
    compare(&["m.senv", "a.json"]).fails(1, &["m.senv"]);
    folder.write("x.json", "{\"a\": 1}");
    compare(&["x.json", "a.json"]).fails(1, &["x.json", "not a bench record"]);
    folder.write("data/sts/2014/made.tsv", scored(59, 0, false));
    folder.run(&[&ALL[..], &["--json", "b.json"]].concat()).ok();
    compare(&["a.json", "b.json"]).fails(1, &["different pairs", "sts/2014/made"]);
}

/// Interrupts the training of a classifier, which takes the program minutes.
#[cfg(unix)]
#[test]
fn ctrl_c_ends_a_run_at_once_and_leaves_old_outputs_as_they_are() {
    let folder = with_data();
    let outputs = ["--report", "out.html", "--json", "out.json", "--markdown", "out.md"];
    folder.run(&[&ALL[..], &outputs[..4]].concat()).ok();
    let before = (folder.names(), read(&folder, "out.html"), read(&folder, "out.json"));
    std::fs::create_dir(folder.path("data/mr")).unwrap();
    let reviews: String = (0..20_000).map(|i| format!("{}\t{} number{}\n", i % 2, sentence(i), i / 3)).collect();
    folder.write("data/mr/all.tsv", reviews);
    folder.run(&["train", "sent2vec", "text.txt", "--dim", "400", "--epochs", "1", "--output", "large.senv"]).ok();
    let before = (folder.names(), before.1, before.2);
    let long = ["eval", "all", "--data", "data", "--models", "large.senv"];
    for number in [2, 15] {
        let mut child = folder.spawn(&[&long[..], &outputs].concat());
        // The first message comes after the data were read.
        let mut said = BufReader::new(child.stderr.take().unwrap());
        assert_eq!(hear(&mut said, "sentences in").lines().count(), 1);
        // By then everything is encoded.
        work_for(&mut child, 0.5);
        signal(&child, number);
        let mut rest = String::new();
        said.read_to_string(&mut rest).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(128 + number), "{rest}");
        assert!(rest.contains("stopped; nothing was written"), "{rest}");
        assert!(!rest.contains("large: "), "it continued to the end of the first system: {rest}");
        assert_eq!((folder.names(), read(&folder, "out.html"), read(&folder, "out.json")), before);
    }
}

#[test]
fn the_sentences_for_another_program_are_those_that_the_bench_asks_for() {
    let folder = with_data();
    let sentences = ["eval", "sentences", "--data", "data", "--output"];
    let write = |more: &[&str]| folder.run(&[&sentences[..], more].concat());
    let ended = write(&["all.txt"]).ok();
    let text = read(&folder, "all.txt");
    let n = text.lines().count();
    assert!(ended.err.replace(',', "").contains(&format!("all.txt written ({n} sentences)")), "{}", ended.err);
    assert!(ended.err.contains("left out: stsb: no data in the folder"), "{}", ended.err);
    assert_eq!(text.lines().collect::<std::collections::BTreeSet<_>>().len(), n, "each once");
    folder.run(&["encode", "--model", "m.senv", "--input", "all.txt", "--output", "all.npy"]).ok();
    let all = ["eval", "all", "--data", "data", "--fast", "--no-baselines", "--json", "out.json"];
    folder.run(&[&all[..], &["--vectors", "all.npy", "--sentences", "all.txt"]].concat()).ok();
    let record: serde_json::Value = serde_json::from_str(&read(&folder, "out.json")).unwrap();
    let results = record["systems"][0]["results"].as_array().unwrap();
    assert!(results.len() > 4 && results.iter().all(|result| result["note"].is_null()), "{results:?}");
    // Only captions. A file of somebody else is not lost.
    write(&["captions.txt", "--only", "p-coherence"]).ok();
    assert_eq!(read(&folder, "captions.txt").lines().count(), 41);
    write(&["captions.txt"]).fails(2, &["captions.txt exists and may not be from senv", "--force"]);
    write(&["captions.txt", "--force"]).ok();
    assert_eq!(read(&folder, "captions.txt"), text);
    write(&["data/coco/captions.tsv", "--force"]).fails(2, &["is also an input"]);
    write(&["none.txt", "--only", "lda"]).fails(2, &["lda"]);
    write(&["none.txt", "--only", "trec"]).fails(1, &[]);
    assert!(!folder.has("none.txt"));
}

#[test]
fn own_data_of_any_name_are_in_every_output() {
    let folder = Folder::with_model();
    for path in ["data/intents", "data/answers/qrels"] {
        std::fs::create_dir_all(folder.path(path)).unwrap();
    }
    let pairs: String = scored(60, 0, false)
        .lines()
        .fold("score,sentence1,sentence2\n".to_owned(), |text, line| text + &line.replace('\t', ",") + "\n");
    folder.write("data/tickets.csv", pairs);
    let labeled = |range: std::ops::Range<usize>| -> String {
        range.map(|i| format!("{}\t{}\n", ["animal", "person"][usize::from(i % 6 > 1)], sentence(i))).collect()
    };
    folder.write("data/intents/train.tsv", labeled(0..80));
    folder.write("data/intents/test.tsv", labeled(80..120));
    let record = |i: usize| format!("{{\"_id\": \"{i}\", \"text\": \"{}.\\n{}.\"}}\n", sentence(i), sentence(i + 31));
    folder.write("data/answers/corpus.jsonl", (0..30).map(record).collect::<String>());
    folder.write("data/answers/queries.jsonl", "{\"_id\": \"q\", \"text\": \"the cat left the bread\"}\n");
    folder.write("data/answers/qrels/test.tsv", "query\tdocument\tgrade\nq\t12\t1\nq\t18\t2\n");
    folder.write("data/notes.md", "about\n");
    let all = ["eval", "all", "--data", "data", "--models", "m.senv"];
    let outputs = ["--report", "out.html", "--json", "out.json", "--markdown", "out.md"];
    let ended = folder.run(&[&all[..], &outputs].concat()).ok();
    for part in
        ["Own scored pairs", "tickets", "Own labeled text", "intents", "Retrieval", "answers", "notes.md: not a"]
    {
        assert!(ended.out.contains(part), "{part} is missing in {}", ended.out);
        let page = read(&folder, "out.html");
        assert!(page.contains(part) || part.contains(": "), "{part} is missing in the page");
        assert!(read(&folder, "out.md").contains(part), "{part} is missing in the Markdown");
    }
    assert!(ended.err.contains("2 notes on the files"), "{}", ended.err);
    assert!(ended.out.contains("intents/train.tsv, intents/test.tsv: one set, trained on the first"), "{}", ended.out);
    let json: serde_json::Value = serde_json::from_str(&read(&folder, "out.json")).unwrap();
    let notes = json["notes"].as_array().unwrap();
    assert!(notes.iter().any(|note| note["files"] == serde_json::json!(["notes.md"])), "{notes:?}");
    let results = json["systems"][0]["results"].as_array().unwrap();
    let value = |task: &str| results.iter().find(|result| result["task"] == task).unwrap()["value"].clone();
    assert!(value("pairs/tickets").as_f64().unwrap() > 20.0 && value("labels/intents").as_f64().unwrap() > 50.0);
    // The figures of the single command, by the nearest sentence.
    let single = folder.run(&["eval", "retrieval", "--model", "m.senv", "data/answers", "--json"]).ok().json();
    let by_sentence = &single["sets"][0]["scores"][2];
    assert_eq!(by_sentence["method"], "sentences");
    let (ours, theirs) = (value("retrieval/answers").as_f64(), by_sentence["ndcg_at_10"]["value_x100"].as_f64());
    // The record keeps the score of each query as f32.
    assert!((ours.unwrap() - theirs.unwrap()).abs() < 1e-4, "{ours:?} {theirs:?}");
    // Another program gets each document and each sentence of it as a line.
    folder.run(&["eval", "sentences", "--data", "data", "--only", "retrieval,pairs", "--output", "all.txt"]).ok();
    folder.run(&["encode", "--model", "m.senv", "--input", "all.txt", "--output", "all.npy"]).ok();
    let only = ["--only", "retrieval,pairs", "--no-baselines", "--vectors", "all.npy", "--sentences", "all.txt"];
    folder.run(&[&["eval", "all", "--data", "data", "--json", "two.json"], &only[..]].concat()).ok();
    let two: serde_json::Value = serde_json::from_str(&read(&folder, "two.json")).unwrap();
    let same = two["systems"][0]["results"].as_array().unwrap();
    assert_eq!(
        (same.len(), &same[0]["value"], &same[1]["value"]),
        (2, &value("pairs/tickets"), &value("retrieval/answers"))
    );
    // Nothing that is known.
    std::fs::create_dir(folder.path("other")).unwrap();
    folder.write("other/table.csv", "id,subject,owner,state\n1,a,b,c\n");
    let none = ["eval", "all", "--data", "other", "--models", "m.senv"];
    folder
        .run(&none)
        .fails(1, &["no data sets in the folder other", "sentence1, sentence2 and score", "table.csv: the"]);
}

#[test]
fn the_protocols_are_listed() {
    let text = Folder::new().run(&["eval", "protocols"]).ok().out;
    assert!(text.contains("ranking\n  Paraphrase ranking") && text.contains("needs sts-test.csv"), "{text}");
}
