//! `senv eval order`, and its part of `senv eval all`.

use serde_json::Value;

use crate::common::Folder;

const PAIRS: &str = "\
1\tThe dog chased the cat.\tThe cat was chased by the dog.
0\tThe dog chased the cat.\tThe soup needs more salt.
1\tA man is asleep.\tA man is sleeping.
0\tA man is asleep.\tThe train to London is late.
";

const NLI: &str = "\
entailment\tA man plays a guitar.\tA man plays an instrument.
contradiction\tA man plays a guitar.\tRain fell all night.
neutral\tA man plays a guitar.\tA man plays a song that he wrote.
-\tA man sings.\tA man is sad.
";

#[test]
fn without_arguments_the_english_model_is_judged_on_templates() {
    let folder = Folder::new();
    let ended = folder.run(&["eval", "order", "--verbose"]).ok();
    assert!(ended.err.contains("using the built-in English model"), "{}", ended.err);
    let row_of = |out: &str, name: &str| {
        let line = out.lines().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("{out}"));
        line[name.len()..].split_whitespace().map(str::to_owned).collect::<Vec<_>>()
    };
    // The model reads word order, so there are no ties.
    assert_eq!(row_of(&ended.out, "attributes")[..2], ["120", "0"], "{}", ended.out);
    assert!(row_of(&ended.out, "attributes")[2].parse::<f64>().unwrap() > 0.55, "{}", ended.out);
    let ended = folder.run(&["eval", "order", "--order", "0"]).ok();
    let row = |name: &str| row_of(&ended.out, name);
    // For an average of words, both sentences are equally near, and the same holds for word overlap and TF-IDF.
    for name in ["swapped roles", "more and less", "before and after", "attributes", "conjuncts exchanged"] {
        assert_eq!(row(name)[..7], ["120", "120", "0.500", "±0.000", "0.500", "0.500", "0.500"], "{name}");
    }
    for name in ["negation", "numbers"] {
        assert_eq!((&row(name)[0][..], &row(name)[1][..], &row(name)[5][..]), ("120", "60", "0.500"), "{name}");
    }
    assert!(row("mean")[0].parse::<f64>().unwrap() > 0.5, "{}", ended.out);
    assert!(!ended.out.contains("ROC AUC"), "{}", ended.out);
    let plain = folder.run(&["eval", "order", "--no-floor", "--resamples", "0"]).ok().out;
    assert!(!plain.contains('±') && !plain.contains("TF-IDF"), "{plain}");
}

#[test]
fn pairs_and_entailments_are_judged_by_their_cosines() {
    let folder = Folder::new();
    folder.write("paws.tsv", PAIRS);
    folder.write("nli.tsv", NLI);
    let command = ["eval", "order", "--pairs", "paws.tsv", "paws.tsv", "--nli", "nli.tsv"];
    let json = folder.run(&[&command[..], &["--json", "--svg", "order.svg"]].concat()).ok().json();
    assert_eq!(json["model"], "english");
    assert_eq!(json["pairs"].as_array().unwrap().len(), 2);
    let pairs = &json["pairs"][0];
    let number = |of: &Value, key: &str| of[key]["value"].as_f64().unwrap();
    assert_eq!((number(pairs, "roc_auc"), number(pairs, "average_precision")), (1.0, 1.0), "{pairs}");
    assert_eq!((&pairs["n_pairs"], &pairs["share_of_paraphrases"]), (&4.into(), &0.5.into()));
    let nli = &json["nli"][0];
    assert_eq!((number(nli, "roc_auc"), &nli["n_unlabeled"]), (1.0, &1.into()), "{nli}");
    let cosine = |label: usize| nli["labels"][label]["mean_cosine"].as_f64().unwrap();
    assert!(cosine(0) < cosine(2), "{nli}");
    assert_eq!(json["templates"].as_array().unwrap().len(), 8);
    assert_eq!(json["templates"][7]["phenomenon"], "contractions");
    assert_eq!(json["templates"][0]["phenomenon"], "swapped-roles");
    let floor: Vec<&Value> = json["floor"].as_array().unwrap().iter().map(|of| &of["system"]).collect();
    assert_eq!(floor, ["word overlap", "TF-IDF"]);
    let svg = String::from_utf8(folder.read("order.svg")).unwrap();
    for part in ["<svg ", "swapped roles", "conjuncts exchanged", "english", "TF-IDF"] {
        assert!(svg.contains(part), "{part} is missing in {svg}");
    }
    let text = folder.run(&command).ok().out;
    assert_eq!(text.matches("paws.tsv").count(), 2, "{text}");
    for part in ["ROC AUC", "average\n", "nli.tsv: skipped 1 pairs without a label"] {
        assert!(text.contains(part.trim_end()), "{part} is missing in {text}");
    }
    folder.write("order.svg", "my drawing");
    folder.run(&[&command[..], &["--svg", "order.svg"]].concat()).fails(2, &["order.svg exists", "--force"]);
}

#[test]
fn a_bad_line_is_named_with_file_and_number() {
    let folder = Folder::new();
    let fails = |option: &str, text: &str, says: &[&str]| {
        folder.write("bad.tsv", text);
        folder.run(&["eval", "order", option, "bad.tsv"]).fails(1, says);
    };
    fails("--pairs", "1\ta\tb\n7\ta\tb\n", &["bad.tsv:2", "\"7\" is neither 0 nor 1"]);
    fails("--pairs", "1\ta\n", &["bad.tsv:1", "expected 3"]);
    fails("--nli", "neutral\ta\tb\nmaybe\ta\tb\n", &["bad.tsv:2", "unknown label \"maybe\""]);
    for option in ["--pairs", "--nli"] {
        folder.run(&["eval", "order", option, "absent.tsv"]).fails(1, &["cannot open absent.tsv"]);
    }
    folder.run(&["eval", "order", "--model", "absent.senv"]).fails(1, &["absent.senv"]);
}

#[test]
fn the_bench_has_a_table_and_a_figure() {
    let folder = Folder::new();
    std::fs::create_dir_all(folder.path("data/order")).unwrap();
    std::fs::create_dir_all(folder.path("data/snli")).unwrap();
    folder.write("data/order/paws-val.tsv", PAIRS);
    folder.write("data/snli/dev.tsv", NLI);
    let only = "order-pairs,order-entailment,order-templates";
    let run = ["eval", "all", "--data", "data", "--fast", "--only", only, "--report", "out.html", "--json", "out.json"];
    let text = folder.run(&run).ok().out;
    for part in ["Word order", "dev AUC", "Templates", "missing: order-pairs: PAWS, test part: not in the folder"] {
        assert!(text.contains(part), "{part} is missing in {text}");
    }
    let page = String::from_utf8(folder.read("out.html")).unwrap();
    for part in ["<h3>Word order: means", "<h3>Word order, phenomenon by phenomenon"] {
        assert!(page.contains(part), "{part} is missing in the page");
    }
    let record: Value = serde_json::from_slice(&folder.read("out.json")).unwrap();
    let value = |system: usize, task: &str| {
        let results = record["systems"][system]["results"].as_array().unwrap();
        results.iter().find(|result| result["task"] == task).unwrap()["value"].as_f64().unwrap()
    };
    assert_eq!(value(0, "order-pairs/PAWS dev"), 100.0);
    let n_systems = record["systems"].as_array().unwrap().len();
    assert!(n_systems > 4, "{n_systems}");
    // Systems that add up words are at chance if both sentences have the same words.
    for system in 0..n_systems {
        let name = &record["systems"][system]["name"];
        assert_eq!(value(system, "order-templates/swapped roles"), 50.0, "{name}");
    }
}
