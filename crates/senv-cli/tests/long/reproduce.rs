//! `senv reproduce` on a folder of small data sets, with every command of every recipe.

use std::{collections::BTreeSet, fmt::Write as _, fs};

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::{
    common::{Ended, Folder, text},
    running::stopped,
};

/// Sentence `i` of a small artificial language.
fn sentence(i: usize) -> String {
    let who = ["the cat", "the dog", "my train", "a baker", "the bank", "she"][i % 6];
    let what = ["saw", "liked", "left", "found", "passed"][i / 6 % 5];
    let whom = ["her bread", "the station", "me", "the soup"][i / 30 % 4];
    format!("{who} {what} {whom} near number{}", i % 7)
}

/// Pairs of these sentences after a first cell, with an ending for each.
fn pairs(n: usize, end: &str, first: impl Fn(usize) -> String) -> String {
    let second = |i: usize| sentence(3 * i + [0, 6, 30, 31, 37][i % 5]);
    (0..n).map(|i| format!("{}{}{end}\t{}{end}\n", first(i), sentence(3 * i), second(i))).collect()
}

/// Ending of training pairs. Without it, they would be left out as sentences of the evaluations.
const FOR_TRAINING: &str = " in the evening";

/// A folder `data` with a sample of every data set that a recipe needs, except CR and TREC.
fn with_data() -> Folder {
    let folder = Folder::new();
    let put = |name: &str, content: String| {
        let path = folder.path("data").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    };
    // Documents of ten sentences. They contain two words of each evaluation sentence.
    let mut lines: Vec<String> = text(120).lines().map(str::to_owned).collect();
    lines.extend((0..240).map(sentence));
    let mut documents = String::new();
    for document in lines.chunks(10) {
        let _ = writeln!(documents, "{}\n", document.join("\n"));
    }
    for name in ["bbc", "brown", "wikitext2", "reuters", "abc", "speeches"] {
        put(&format!("corpus/{name}.txt"), documents.clone());
    }
    for name in ["wikipedia-00", "wikipedia-01", "novels-00", "novels-01", "imdb-00", "imdb-01", "imdb-02"] {
        // The format is detected from the content, not from the name.
        put(&format!("corpus/{name}.txt.gz"), documents.clone());
    }
    let gold = |i: usize| format!("{}\t", [5, 4, 3, 1, 2][i % 5]);
    for (year, tasks) in [
        (2012, &["MSRpar", "MSRvid", "OnWN", "SMTeuroparl", "SMTnews"][..]),
        (2013, &["FNWN", "OnWN", "headlines"]),
        (2014, &["OnWN", "deft-forum", "deft-news", "headlines", "images", "tweet-news"]),
        // Data sets that few users have, under the names that those users give them.
        (2015, &["answers-forums"]),
    ] {
        tasks.iter().for_each(|task| put(&format!("sts/{year}/{task}.tsv"), pairs(20, "", gold)));
    }
    let labels = ["ENTAILMENT", "NEUTRAL", "CONTRADICTION"];
    let sick = |i: usize| format!("{}\t{}\t", [5, 4, 3, 1, 2][i % 5], labels[i % 3]);
    let snli = |i: usize| labels[i % 3].to_lowercase() + "\t";
    let binary = |i: usize| format!("{}\t", i % 2);
    for part in ["train", "dev"] {
        put(&format!("stsb/{part}.tsv"), pairs(40, "", gold));
    }
    for part in ["train", "trial"] {
        put(&format!("sick/{part}.tsv"), pairs(40, "", sick));
    }
    for part in ["cad-train", "cad-dev", "dev", "test"] {
        put(&format!("snli/{part}.tsv"), pairs(40, "", snli));
    }
    put("msrp/train.tsv", pairs(80, "", binary));
    for set in ["mr", "subj", "mpqa"] {
        let lines: String = (0..60).map(|i| format!("{}\t{}\n", i % 2, sentence(i))).collect();
        put(&format!("{set}/all.tsv"), lines);
    }
    let groups = |end: &str| (0..100).map(|i| format!("{}\t{}{end}\n", i / 5, sentence(i))).collect::<String>();
    put("flickr/multi30k.tsv", groups(FOR_TRAINING));
    put("coco/captions.tsv", groups(""));
    put("small/pthought-groups.tsv", (0..25).map(|i| format!("{}\t{}\n", i / 5, sentence(i))).collect());
    for name in ["ppdb", "meteor-phrases", "simplewiki", "turk", "asset", "onestop", "wikisplit"] {
        put(&format!("pairs/{name}.tsv"), pairs(40, FOR_TRAINING, |_| String::new()));
    }
    let all: String = (0..240).map(|i| sentence(i) + " ").collect();
    let defined: BTreeSet<&str> = all.split_whitespace().collect();
    let define = |(i, word): (usize, &&str)| format!("{word}\t{}{FOR_TRAINING}\n", sentence(i));
    put("definitions/oewn.tsv.gz", defined.iter().enumerate().map(define).collect());
    let tree =
        |i: usize| format!("(S {})\n", sentence(i).split(' ').map(|word| format!("(W {word})")).collect::<String>());
    put("trees/treebank.txt", (0..60).map(tree).collect());
    let words = ["the", "cat", "dog", "saw", "liked", "bread", "soup", "near"];
    let vector = |i: usize| format!("{} 0.{i} -0.5 0.{}\n", words[i], 9 - i);
    put("vectors/glove-6B-50d-5k.txt", (0..words.len()).map(vector).collect());
    folder
}

const QUICK: [&str; 6] = ["reproduce", "--quick", "--data", "data", "--output", "out"];

fn reproduce(folder: &Folder, papers: &[&str]) -> Ended {
    folder.run(&[&QUICK[..1], papers, &QUICK[1..]].concat())
}

fn results(folder: &Folder) -> Value {
    serde_json::from_slice(&folder.read("out/results.json")).unwrap()
}

fn list<'a>(value: &'a Value, field: &str) -> &'a [Value] {
    value[field].as_array().unwrap_or_else(|| panic!("no {field} in {value}"))
}

#[test]
fn every_row_of_every_paper_has_its_figures_and_nothing_is_run_twice() {
    let folder = with_data();
    let ended = reproduce(&folder, &[]).ok();
    let results = results(&folder);
    let mut missing = BTreeSet::new();
    let mut n_figures = 0;
    for paper in list(&results, "papers") {
        for table in list(paper, "tables") {
            let columns = list(table, "columns");
            // A row of only published figures has none of ours.
            for row in list(table, "rows").iter().filter(|row| row["n_models"] != 0) {
                for (cell, column) in list(row, "cells").iter().zip(columns) {
                    match cell["why_not"].as_str() {
                        // The text is so small that no word falls into these bins.
                        Some("not in these data") if table["title"] == "Figure 1: norm and frequency" => {}
                        // Only one task of 2015 is in the folder.
                        Some("not in these data") if column["title"].as_str().unwrap().starts_with("2015 ") => {}
                        Some("not in these data") => panic!("{}: {column}", table["title"]),
                        Some(reason) => drop(missing.insert(reason.to_owned())),
                        // Columns without figures have no mean.
                        None if column["path"] == "" && list(cell, "ours").is_empty() => {}
                        None => {
                            let is_there = !list(cell, "ours").is_empty() || cell["words"].is_string();
                            assert!(is_there, "{}: {} of {}", table["title"], column["title"], row["name"]);
                            n_figures += 1;
                        }
                    }
                }
            }
        }
    }
    // A joined model has no training of its own, so it has no time.
    assert!(missing.remove("it joins models that are trained separately"), "{missing:?}");
    // Exactly what the folder lacks.
    let lacks =
        ["cr/all.tsv", "trec/train.tsv", "sts/2013/SMT.tsv", "sts/2016/", "small/cse-examples.tsv", "stsb/test.tsv"];
    assert_eq!(missing.len(), lacks.len(), "{missing:?}");
    for lack in lacks {
        assert!(missing.iter().any(|reason| reason.starts_with("no data: ") && reason.contains(lack)), "{missing:?}");
    }
    assert!(n_figures > 700, "{n_figures}");
    for part in [
        "# Sent2Vec",
        "# Siamese CBOW",
        "# CSE",
        "# Skip-thoughts",
        "# P-thought",
        "the figures mean nothing",
        "*paper: ",
    ] {
        assert!(ended.out.contains(part), "{part} is missing");
    }
    for name in ["sent2vec", "siamese-cbow", "cse", "skip-thoughts", "p-thought"] {
        let report = String::from_utf8(folder.read(&format!("out/{name}.md"))).unwrap();
        assert!(report.contains("```sh\nsenv train ") && report.contains("$DATA/"), "{name}");
    }
    // The report lists the checksum of every file that was read, including those that `eval all` found.
    let read = [("cse", "pairs/ppdb.tsv"), ("skip-thoughts", "msrp/train.tsv"), ("p-thought", "coco/captions.tsv")];
    for (name, file) in read {
        let line = format!("{}  {file}\n", &checksum(&folder.read(&format!("data/{file}")))[..16]);
        let report = String::from_utf8(folder.read(&format!("out/{name}.md"))).unwrap();
        let (_, data) = report.split_once("\n## Data\n").unwrap();
        assert_eq!(data.matches(&line).count(), 1, "{name}: {data}");
    }
    let report = String::from_utf8(folder.read("out/skip-thoughts.md")).unwrap();
    for part in [
        "--learning-curve --svg $OUT/figures/curve-combined.svg --force --json --hold-out  # ",
        "--train $DATA/snli/cad-train.tsv $DATA/snli/dev.tsv --dev $DATA/snli/cad-dev.tsv --json ",
    ] {
        assert!(report.contains(part), "{part} is missing in {report}");
    }
    let page = String::from_utf8(folder.read("out/report.html")).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains("<svg role=\"img\"") && page.ends_with("</html>\n"));
    assert!(!page.contains("src=") && !page.contains("@import"), "the page loads something");

    figures_are_those_of_the_commands(&folder, &results);
    a_task_that_is_seldom_at_hand_fills_its_row(&results);
    // Once everything has run, the claims have verdicts. Printing them again runs nothing.
    let claims = String::from_utf8(folder.read("out/claims.md")).unwrap();
    assert!(claims.matches("\n| **").count() > 100 && !claims.contains("**not run**"), "{claims}");
    assert_eq!(reproduce(&folder, &["claims"]).ok().out.trim(), claims.trim());
    assert!(folder.has("out/figures/scbow-epochs.svg") && folder.has("out/figures/scatter-p-one-bi.svg"));

    // A second run finds all results. A deleted model is not missed, because its figures exist.
    fs::remove_file(folder.path("out/cse-both.senv")).unwrap();
    let again = reproduce(&folder, &[]).ok();
    assert!(!again.err.contains("senv "), "{}", again.err);
    assert_eq!(again.out, ended.out);
    // A single paper, from the same folder.
    let alone = reproduce(&folder, &["cse"]).ok();
    assert!(ended.out.contains(alone.out.trim()) && alone.out.starts_with("# CSE"), "{}", alone.out);
}

/// SHA-256 in hexadecimal.
fn checksum(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A command from the report prints the figure of the report when it is run again.
fn figures_are_those_of_the_commands(folder: &Folder, results: &Value) {
    let paper = list(results, "papers").iter().find(|paper| paper["name"] == "cse").unwrap();
    let table = &list(paper, "tables")[2];
    let commands = list(table, "commands").iter().map(|command| command["command"].as_str().unwrap());
    let command = commands.into_iter().find(|command| command.contains("eval sts --model $OUT/cse-both.senv")).unwrap();
    let mut words: Vec<String> = Vec::new();
    for word in command.split(' ').skip(1) {
        let word = word.replace("$DATA", "data").replace("$OUT", "out");
        match word.split_once("/*") {
            Some((dir, ending)) => {
                let mut names: Vec<String> = fs::read_dir(folder.path(dir))
                    .unwrap()
                    .map(|entry| format!("{dir}/{}", entry.unwrap().file_name().to_str().unwrap()))
                    .filter(|name| name.ends_with(ending))
                    .collect();
                names.sort();
                words.extend(names);
            }
            None => words.push(word),
        }
    }
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let printed = folder.run(&words).ok().json();
    let row = list(table, "rows").iter().find(|row| row["name"] == "CSE, cumulative").unwrap();
    for (i, cell) in list(row, "cells").iter().take(3).enumerate() {
        assert_eq!(cell["ours"][0], printed["years"][i]["plain_mean_over_tasks"]["pearson_r_x100"]);
    }
    assert_eq!(row["cells"][2]["theirs"], 76.3);
}

/// The row of 2015 has our figure for one task, and only the paper's figures for the others.
fn a_task_that_is_seldom_at_hand_fills_its_row(results: &Value) {
    let paper = list(results, "papers").iter().find(|paper| paper["name"] == "cse").unwrap();
    let table = &list(paper, "tables")[0];
    let place = |title: &str| list(table, "columns").iter().position(|column| column["title"] == title).unwrap();
    let row = list(table, "rows").iter().find(|row| row["name"] == "CSE, cumulative").unwrap();
    let cell = |title: &str| &row["cells"][place(title)];
    assert!(list(cell("2015 answers-forums"), "ours").len() == 1 && cell("2015 answers-forums")["theirs"] == 73.5);
    assert_eq!(cell("mean of 2015")["ours"], cell("2015 answers-forums")["ours"]);
    assert_eq!(cell("mean of 2015")["theirs"], 73.5);
    let absent = cell("2016 plagiarism");
    assert!(list(absent, "ours").is_empty() && absent["theirs"] == 82.6);
    assert_eq!(absent["why_not"], "no data: sts/2016/*.tsv");
    assert_eq!(cell("2015 belief")["why_not"], "not in these data");
}

#[cfg(unix)]
#[test]
fn a_run_that_was_stopped_goes_on_where_it_was() {
    let folder = with_data();
    // A machine that finishes the rest before the signal arrives may try again.
    let (stopped, _) = stopped(&folder, ("out/pp-phrases.senv", 2), &["first", "second", "third", "fourth"], |_| {
        [&QUICK[..1], &["cse"], &QUICK[1..]].concat()
    });
    assert_eq!(stopped.code, Some(130), "{}", stopped.err);
    assert!(stopped.err.contains("run the same command to continue"), "{}", stopped.err);
    assert!(stopped.out.is_empty() && folder.has("out/cse.md"));
    // Reports the results so far, and runs nothing.
    let so_far = folder.run(&[&QUICK[..1], &["cse", "--report"], &QUICK[1..]].concat()).ok();
    assert!(so_far.out.contains("# not run, about") && so_far.out.contains(": not run"), "{}", so_far.out);
    assert!(!so_far.err.contains("senv "), "{}", so_far.err);
    let ended = reproduce(&folder, &["cse"]).ok();
    assert!(!ended.err.contains("senv train sent2vec"), "the first model was trained again: {}", ended.err);
    assert!(ended.err.contains("cse-both.senv"), "{}", ended.err);
}

#[test]
fn a_command_that_fails_is_a_row_that_says_so() {
    let folder = with_data();
    fs::write(folder.path("data/sick/trial.tsv"), "five\tNEUTRAL\ta b\tc d\n").unwrap();
    let ended = reproduce(&folder, &["cse"]).fails(1, &["some commands failed"]);
    assert!(ended.err.contains("FAILED: ") && ended.err.contains("trial.tsv"), "{}", ended.err);
    let results = results(&folder);
    let tables = list(&results["papers"][0], "tables");
    let reason = tables[1]["rows"][0]["cells"][0]["why_not"].as_str().unwrap();
    assert!(reason.contains("trial.tsv") && reason.contains("log: "), "{reason}");
    let table_4 = &tables[2];
    assert!(list(table_4, "rows").iter().all(|row| row["cells"][0]["ours"].as_array().is_some_and(|o| o.len() == 1)));
}

#[test]
fn the_list_runs_nothing() {
    let folder = Folder::new();
    let ended = folder.run(&["reproduce", "--list", "cse"]).ok();
    for part in
        ["Table 5: windows of the filters", "row: window 4", "--windows 4 --filters 300 ", "in total on two idle cores"]
    {
        assert!(ended.out.contains(part), "{part} is missing in {}", ended.out);
    }
    assert!(folder.names().is_empty());
}

#[test]
fn folders_that_are_not_of_this_command_are_refused() {
    let folder = Folder::with_text(5);
    folder.run(&["reproduce", "--data", "none", "--output", "out"]).fails(2, &["none is not a folder", "--data"]);
    let args = ["reproduce", "--data", ".", "--output", "out", "--text", "none.txt"];
    folder.run(&args).fails(2, &["no file none.txt", "--text"]);
    folder
        .run(&["reproduce", "--data", ".", "--output", "."])
        .fails(2, &["was not written by this command", "--output"]);
    folder.run(&["reproduce", "--data", ".", "--output", "text.txt"]).fails(1, &["text.txt"]);
    folder.run(&["reproduce", "lda", "--data", "."]).fails(2, &["lda", "sent2vec"]);
    folder.run(&["reproduce"]).fails(2, &["--data", "--output"]);
    assert_eq!(folder.names(), ["text.txt"]);
}

#[test]
fn an_empty_folder_gives_rows_that_say_so() {
    let folder = Folder::new();
    fs::create_dir(folder.path("data")).unwrap();
    let ended = folder.run(&["reproduce", "p-thought", "--data", "data", "--output", "out"]).ok();
    assert!(ended.out.contains("no data: coco/captions.tsv") && ended.out.contains("0.743"), "{}", ended.out);
    assert!(!ended.err.contains("senv train"), "{}", ended.err);
}
