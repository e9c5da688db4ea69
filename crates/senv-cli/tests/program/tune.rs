//! `senv tune` through the program: it tries every combination once, keeps the best, and continues when called again.

use crate::common::{Folder, pairs};

const GRID: &str = "# what is tried\nmargin = 0.2, 0.6\nlr = 0.01 1e-6\n";

fn tune<'a>(system: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let args = ["tune", system, "--pairs", "pairs.tsv", "--grid", "grid.txt", "--select", "dev.tsv", "--output", "out"];
    [&args, &["--dim", "8", "--batch", "16", "--epochs", "3"][..], more].concat()
}

#[test]
fn a_search_runs_every_combination_once_and_goes_on_where_it_stopped() {
    let folder = Folder::with_pairs();
    folder.write("grid.txt", GRID);
    let json = folder.run(&tune("pp", &["--seeds", "3", "--json"])).ok().json();
    let table = String::from_utf8(folder.read("out/results.tsv")).unwrap();
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines[0], "seed\tmargin\tlr\tscore\tstep\tseconds");
    let starts: Vec<String> =
        lines[1..5].iter().map(|line| line.split('\t').take(3).collect::<Vec<_>>().join(" ")).collect();
    assert_eq!(starts, ["1 0.2 0.01", "1 0.2 1e-6", "1 0.6 0.01", "1 0.6 1e-6"]);
    assert_eq!(lines.len(), 1 + 4 + 2, "two further seeds: {table}");
    assert_eq!(json["best"]["lr"], "0.01", "{json}");
    let mut scores: Vec<f64> = json["scores"].as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect();
    scores.sort_by(f64::total_cmp);
    assert_eq!((scores.len(), json["median"].as_f64().unwrap()), (3, scores[1]));
    let info = folder.run(&["info", "out/best.senv", "--json"]).ok().json();
    assert_eq!(info["kind"], "pp");
    let best_seed = json["runs"]
        .as_array()
        .unwrap()
        .iter()
        .max_by(|a, b| a["score"].as_f64().unwrap().total_cmp(&b["score"].as_f64().unwrap()));
    assert_eq!(info["parameters"]["fit"]["seed"], best_seed.unwrap()["seed"]);

    // After two lines are removed, the same table is restored, and nothing else runs.
    let short = lines[..5].join("\n") + "\n";
    folder.write("out/results.tsv", &short);
    let again = folder.run(&tune("pp", &["--seeds", "3"])).ok();
    assert!(!again.err.contains("run 1/4") && again.err.contains("seed 2/3: margin"), "{}", again.err);
    assert!(again.out.contains("best: --margin") && again.out.contains("median of 3 seeds"), "{}", again.out);
    let without_seconds =
        |text: &str| -> Vec<String> { text.lines().map(|line| line.rsplit_once('\t').unwrap().0.to_owned()).collect() };
    let table_again = String::from_utf8(folder.read("out/results.tsv")).unwrap();
    assert_eq!(without_seconds(&table_again), without_seconds(&table));

    folder.run(&tune("pp", &["--word-dropout", "0.2"])).fails(1, &["out/settings.json", "another --output"]);
    folder.write("grid.txt", "margin = 0.2\n");
    folder.run(&tune("pp", &[])).fails(1, &["out/results.tsv", "another grid"]);
}

#[test]
fn the_grid_of_the_cse_paper_is_read_and_searched() {
    let folder = Folder::with_pairs();
    folder.write("grid.txt", include_str!("../../../../examples/grids/cse-paper.txt"));
    let small = ["--preset", "paper", "--filters", "2", "--epochs", "1", "--dim", "4", "--seeds", "1"];
    let args = ["tune", "cse", "--pairs", "pairs.tsv", "--grid", "grid.txt", "--select", "dev.tsv", "--output", "out"];
    let ended = folder.run(&[&args[..], &small].concat()).ok();
    let table = String::from_utf8(folder.read("out/results.tsv")).unwrap();
    assert!(table.starts_with("seed\tmargin\tl2-words\tl2-filters\tbatch\tscore"), "{table}");
    assert_eq!(table.lines().count(), 1 + 3 * 3 * 4 * 4, "{}", ended.err);
}

#[test]
fn cse_is_searched_over_windows_and_a_lost_run_is_a_line_of_the_table() {
    let folder = Folder::with_pairs();
    folder.write("grid.txt", "windows = 1,2 1\nlr = 0.001 1e30\n");
    let more = ["--seeds", "1", "--filters", "4", "--optimizer", "sgd", "--clip", "inf"];
    let ended = folder.run(&tune("cse", &more)).ok();
    let table = String::from_utf8(folder.read("out/results.tsv")).unwrap();
    assert!(table.contains("\n1\t1,2\t1e30\tNaN\t"), "{table}");
    assert_eq!(table.lines().count(), 5, "{table}");
    assert!(ended.out.lines().last().unwrap().contains("--lr 0.001"), "{}", ended.out);
}

#[test]
fn a_second_stage_goes_on_from_the_first_with_the_settings_of_the_run() {
    let folder = Folder::with_pairs();
    folder.write("phrases.tsv", pairs(20));
    folder.write("grid.txt", "margin = 0.2 0.6\n");
    let stages = ["--stage2", "phrases.tsv", "--stage2-epochs", "2", "--filters", "4", "--seeds", "1", "--json"];
    let json = folder.run(&tune("cse", &stages)).ok().json();
    let margin = json["best"]["margin"].as_str().unwrap();
    // The same two stages in one run of `senv train` give the same weights to the last bit.
    let args = ["train", "cse", "--pairs", "pairs.tsv", "--stage2", "phrases.tsv", "--stage2-epochs", "2"];
    let more =
        ["--filters", "4", "--dim", "8", "--batch", "16", "--epochs", "3", "--dev", "dev.tsv", "--output", "m.senv"];
    folder.run(&[&args[..], &more, &["--margin", margin]].concat()).ok();
    let vectors = |model: &str| {
        let args = ["encode", "--model", model, "--input", "dev.tsv", "--lines", "--output", "v.tsv"];
        folder.run(&args).ok();
        folder.read("v.tsv")
    };
    assert_eq!(vectors("out/best.senv"), vectors("m.senv"));
    // A different second stage makes a different search.
    folder.write("phrases.tsv", pairs(21));
    folder.run(&tune("cse", &stages)).fails(1, &["out/settings.json", "another --output"]);
}

#[test]
fn what_cannot_be_tried_is_said_before_the_first_run() {
    let folder = Folder::with_pairs();
    for (grid, says) in [
        ("colour = red\n", "--colour"),
        ("margin = 0.2 wide\n", "wide"),
        ("windows = 1 2\n", "--windows"),
        ("temperature = 0.1\n", "--temperature 0.1: it belongs to loss = softmax-cosine"),
        ("", "no hyperparameter"),
    ] {
        folder.write("grid.txt", grid);
        folder.run(&tune("pp", &[])).fails(2, &[says]);
    }
    folder.write("grid.txt", GRID);
    folder.write("dev.tsv", "1\tthe cat\tthe dog\n");
    folder.run(&tune("pp", &[])).fails(1, &["dev.tsv", "at least two"]);
    assert_eq!(folder.read("pairs.tsv"), pairs(120).as_bytes());
    assert!(!folder.has("out"));
}

#[test]
fn pairs_in_a_script_without_spaces_are_searched_with_the_tokenizer_for_it() {
    let folder = Folder::new();
    folder.write("pairs.tsv", "猫坐在垫子上\t垫子上有猫\n小镇下雨了\t雨下在小镇\n狗躺在地毯上\t地毯上有狗\n".repeat(5));
    folder.write("dev.tsv", "5\t猫坐在垫子上\t垫子上有猫\n1\t小镇下雨了\t地毯上有狗\n2\t狗躺在地毯上\t垫子上有猫\n");
    folder.write("grid.txt", "lr = 0.01 0.02\n");
    assert!(folder.run(&tune("pp", &[])).ok().err.contains("tokenizer is unicode"));
    let info = folder.run(&["info", "out/best.senv", "--json"]).ok().json();
    assert_eq!(info["parameters"]["tokenizer"]["rule"], "unicode");
}

#[test]
fn a_grid_that_nobody_can_wait_for_is_refused_before_it_is_built() {
    let folder = Folder::with_pairs();
    let values: Vec<String> = (1..=2000).map(|i| format!("{i}e-6")).collect();
    let line = |name: &str| format!("{name} = {}\n", values.join(" "));
    folder.write("grid.txt", line("lr") + &line("margin") + &line("l2-words"));
    folder.run(&tune("pp", &[])).fails(2, &["the grid has 8000000000 combinations; at most 10000 are allowed"]);
}
