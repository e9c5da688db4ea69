//! `senv eval sick`, `senv eval stsb` and the pairs that two models score most differently, through the program.

use crate::common::Folder;

const SICK: &str = "\
4.8\tENTAILMENT\tThe cat saw the dog\tThe dog saw the cat
2.5\tNEUTRAL\tThe cat saw the dog\tA train left the station
1\tCONTRADICTION\tMy soup liked the bread\tA train left the station
";

#[test]
fn sick_is_read_in_both_layouts_and_scored() {
    let folder = Folder::with_model();
    folder.write("trial.tsv", SICK);
    let mut published = String::from("pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment\n");
    for (i, line) in SICK.lines().enumerate() {
        let cells: Vec<&str> = line.split('\t').collect();
        published += &format!("{i}\t{}\t{}\t{}\t{}\n", cells[2], cells[3], cells[0], cells[1]);
    }
    folder.write("SICK_trial.txt", &published);
    let eval = |more: &[&str]| folder.run(&[&["eval", "sick", "--model", "m.senv"], more].concat()).ok();
    let [short, long] = ["trial.tsv", "SICK_trial.txt"].map(|file| eval(&[file, "--json"]).json());
    assert_eq!(short["model"], "m.senv");
    let (short, long) = (&short["results"][0], &long["results"][0]);
    assert_eq!((&short["scored_by"], &short["tasks"][0]["n_pairs"]), (&"cosine".into(), &3.into()));
    for key in ["pearson_r_x100", "spearman_rho_x100", "mse"] {
        assert!(short["tasks"][0][key].is_f64(), "{key}");
        assert_eq!(short["tasks"][0][key], long["tasks"][0][key], "{key}");
    }
    assert!(short["together"].is_null());
    let both = eval(&["trial.tsv", "SICK_trial.txt"]).out;
    assert!(both.lines().any(|line| line.starts_with("all pairs together  cosine")), "{both}");
    assert!(!both.contains("CSE-universal"));
    let table = eval(&["trial.tsv", "--published"]).out;
    assert!(table.contains("CSE-universal") && table.contains("CSE paper, Table 3, on the test part"), "{table}");
    let json = eval(&["trial.tsv", "--published", "--json"]).json();
    assert!(json["published"].as_array().unwrap().len() > 20);
}

#[test]
fn the_sts_benchmark_is_read_in_both_layouts_and_scored() {
    let folder = Folder::with_model();
    folder.write(
        "dev.tsv",
        "5\tThe cat saw the dog\tThe dog saw the cat\n0\tThe \"cat\tA train left\n2\ta bird\tthe bird\n",
    );
    let line = |score: &str, a: &str, b: &str| format!("main\tfile\t2012\t7\t{score}\t{a}\t{b}\n");
    let published = line("5.000", "The cat saw the dog", "The dog saw the cat")
        + &line("0", "The \"cat", "A train left").replace("left\n", "left\tsome source\n")
        + &line("2", "a bird", "the bird");
    folder.write("sts-dev.csv", published);
    let eval = |file: &str| folder.run(&["eval", "stsb", "--model", "m.senv", file, "--json"]).ok().json();
    let (short, long) = (eval("dev.tsv"), eval("sts-dev.csv"));
    for key in ["n_pairs", "pearson_r_x100", "spearman_rho_x100", "mse"] {
        assert!(short["results"][0]["tasks"][0][key].is_number(), "{key}");
        assert_eq!(short["results"][0]["tasks"][0][key], long["results"][0]["tasks"][0][key], "{key}");
    }
    let table = folder.run(&["eval", "stsb", "--model", "m.senv", "dev.tsv", "--published"]).ok().out;
    assert!(table.contains("spearman rho x100") && table.contains("P-thought"), "{table}");
}

#[test]
fn scores_are_drawn_over_those_of_people() {
    let folder = Folder::with_model();
    folder.write("trial.tsv", SICK);
    let eval = |more: &[&str]| folder.run(&[&["eval", "sick", "--model", "m.senv", "trial.tsv"], more].concat());
    eval(&["--svg", "cosines.svg"]).ok();
    let svg = String::from_utf8(folder.read("cosines.svg")).unwrap();
    assert!(svg.matches("<circle").count() == 3 && svg.contains("3 pairs, cosine"), "{svg}");
    eval(&["--svg", "predicted.svg", "--train", "trial.tsv"]).ok();
    let svg = String::from_utf8(folder.read("predicted.svg")).unwrap();
    assert!(svg.matches("<circle").count() == 3 && svg.contains("3 pairs, supervised"), "{svg}");
    eval(&["--svg", "trial.tsv", "--force"]).fails(2, &["trial.tsv"]);
    assert_eq!(folder.read("trial.tsv"), SICK.as_bytes());
}

#[test]
fn data_sets_are_counted() {
    let folder = Folder::new();
    folder.write("trial.tsv", SICK);
    folder.write("groups.tsv", "1\ta dog runs\n1\ta running dog\n2\train\n1\ta dog\n");
    folder.write("text.txt", "It rains.\n\nIt rains.\nIt does not.\n");
    let args = ["eval", "sizes", "--text", "text.txt", "--sick", "trial.tsv", "--groups", "groups.tsv"];
    let sizes = folder.run(&[&args[..], &["--json"]].concat()).ok().json();
    let set = |i: usize, field: &str| sizes["sets"][i][field].clone();
    assert_eq!(
        (set(0, "name"), set(0, "n_sentences"), set(0, "n_distinct_sentences")),
        ("text".into(), 3.into(), 2.into())
    );
    assert_eq!((set(0, "n_tokens"), set(0, "n_distinct_tokens"), set(0, "n_pairs")), (10.into(), 5.into(), ().into()));
    assert_eq!((set(1, "name"), set(1, "n_pairs"), set(1, "n_sentences")), ("SICK".into(), 3.into(), 6.into()));
    assert_eq!((set(2, "n_groups"), set(2, "n_pairs"), set(2, "mean_length")), (2.into(), 6.into(), 2.25.into()));
    let table = folder.run(&args).ok().out;
    assert!(table.lines().any(|line| line.starts_with("groups ") && line.contains(" 2.25 ")), "{table}");
    folder.run(&["eval", "sizes"]).fails(2, &["--text"]);
    folder.run(&["eval", "sizes", "--sts", "none.tsv"]).fails(1, &["none.tsv"]);
}

#[test]
fn a_bad_line_is_named_with_file_and_number() {
    let folder = Folder::with_model();
    let fails = |what: &str, text: &str, says: &[&str]| {
        folder.write("bad.tsv", text);
        folder.run(&["eval", what, "--model", "m.senv", "bad.tsv"]).fails(1, says);
    };
    fails("sick", &format!("{SICK}0.5\tNEUTRAL\ta\tb\n"), &["bad.tsv:4", "0.5", "1 to 5"]);
    fails("sick", "3\tPERHAPS\ta\tb\n", &["bad.tsv:1", "PERHAPS", "ENTAILMENT"]);
    fails("sick", "3\ta\tb\n", &["bad.tsv:1", "expected 4"]);
    fails("sick", "", &["bad.tsv", "no scored pair"]);
    fails("stsb", "3\ta\tb\n5.5\ta\tb\n", &["bad.tsv:2", "5.5", "0 to 5"]);
    fails("stsb", "3\ta\n", &["bad.tsv:1", "expected 3"]);
    for what in ["sick", "stsb"] {
        folder.run(&["eval", what, "--model", "m.senv", "absent.tsv"]).fails(1, &["cannot open absent.tsv"]);
        assert_eq!(folder.run(&["eval", what, "--model", "m.senv"]).code, Some(2));
        assert!(folder.run(&["eval", what, "--help"]).ok().out.contains("Examples:"));
    }
}

#[test]
fn the_pairs_on_which_two_models_differ_are_shown() {
    let folder = Folder::with_model();
    folder.train("text.txt", "other.senv", &["--epochs", "1", "--seed", "9"]).ok();
    folder.write("pairs.tsv", "5\tThe cat saw\tthe dog saw\n1\tmy soup\ta train left\n2\tbread\tthe station\n");
    let args = ["eval", "sts", "--model", "m.senv", "--against", "other.senv", "pairs.tsv", "--differences", "2"];
    let text = folder.run(&args).ok().out;
    assert!(text.contains("closer to the gold score: m.senv in") && text.contains("of 3 pairs"), "{text}");
    let json = folder.run(&[&args[..], &["--json"]].concat()).ok().json();
    let pairs = json["against"]["differences"]["pairs"].as_array().unwrap();
    let size = |pair: &serde_json::Value| (pair["first"].as_f64().unwrap() - pair["second"].as_f64().unwrap()).abs();
    assert_eq!(pairs.len(), 2);
    assert!(size(&pairs[0]) >= size(&pairs[1]) && size(&pairs[0]) > 0.0);
    let alone = ["eval", "sts", "--model", "m.senv", "pairs.tsv", "--differences", "2"];
    assert_eq!(folder.run(&alone).code, Some(2), "two models are needed");
}

#[test]
fn pairs_of_one_score_train_a_head_and_have_no_correlation() {
    let folder = Folder::with_model();
    let pairs: String = (0..12).map(|i| format!("3\tthe cat saw {i}\tthe dog left {}\n", i * 2 % 7)).collect();
    folder.write("same.tsv", pairs);
    folder.run(&["train", "relatedness", "--model", "m.senv", "--train", "same.tsv", "--output", "r.senv"]).ok();
    let results = folder.run(&["eval", "stsb", "--model", "r.senv", "same.tsv", "--json"]).ok().json();
    for by in 0..2_usize {
        let task = &results["results"][by]["tasks"][0];
        assert!(task["pearson_r_x100"].is_null() && task["mse"].is_f64(), "{task}");
    }
}
