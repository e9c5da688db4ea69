//! `senv eval sts --protocol mteb` and NanoBEIR's collections through the program.

use std::path::Path;

use crate::common::Folder;

const LINES: &str = "5\tThe cat saw the dog\tThe cat saw the dog\n3\tThe cat saw the dog\tThe dog found the cat\n\
    1\tA train left the station\tMy soup liked the bread\n0\tThe dog\tA train\n";

fn write(folder: &Folder, name: &str, text: &str) {
    std::fs::create_dir_all(folder.path(name).parent().unwrap()).unwrap();
    folder.write(name, text);
}

/// A folder with a model and parts of four tasks.
fn with_parts() -> Folder {
    let folder = Folder::with_model();
    write(&folder, "data/sts/2012/one.tsv", LINES);
    write(&folder, "data/sts/2012/two.tsv", LINES);
    write(&folder, "data/sts/2014/one.tsv", LINES);
    write(&folder, "data/stsb/dev.tsv", LINES);
    let sick = LINES.replace("0\t", "2\t").replace("\tThe cat saw the dog\t", "\tNEUTRAL\tThe cat saw the dog\t");
    let sick = sick.replace("\tA train left", "\tNEUTRAL\tA train left").replace("\tThe dog\t", "\tNEUTRAL\tThe dog\t");
    write(&folder, "data/sick/train.tsv", &sick);
    folder
}

const FILES: [&str; 5] = [
    "data/sts/2012/one.tsv",
    "data/sts/2012/two.tsv",
    "data/sts/2014/one.tsv",
    "data/stsb/dev.tsv",
    "data/sick/train.tsv",
];

#[test]
fn the_table_has_the_mean_of_those_tasks_that_are_there_and_says_what_differs() {
    let folder = with_parts();
    let eval =
        |more: &[&str]| folder.run(&[&["eval", "sts", "--model", "m.senv", "--protocol", "mteb"], more].concat());
    let text = eval(&FILES).ok().out;
    for line in
        ["STS12 ", "STSBenchmark ", "SICK-R ", "mean of 4 of 7 ", "missing: STS13, STS15, STS16", "TF-IDF", "m.senv"]
    {
        assert!(text.lines().any(|of| of.starts_with(line)), "{line:?} is missing in: {text}");
    }
    assert!(text.contains("STSBenchmark: 4 pairs of dev.tsv; MTEB has 1,379 of the test part"), "{text}");
    assert_eq!(eval(&["data"]).ok().out, text, "a folder has the same files");
    let json = eval(&[&FILES[..], &["--json", "--against", "m.senv"]].concat()).ok().json();
    assert_eq!((&json["protocol"], &json["tasks"][0]["task"]), (&"mteb".into(), &"STS12".into()));
    assert_eq!((&json["tasks"][0]["n_pairs"], &json["missing"][0]), (&8.into(), &"STS13".into()));
    let mean = &json["mean_spearman_rho_x100"];
    assert!(mean.is_f64() && json["floor"][0]["mean_spearman_rho_x100"].is_f64(), "{json}");
    assert_eq!(&json["against"]["mean_spearman_rho_x100"], mean, "the same model");
    assert_eq!(json["against"]["comparison"]["tasks"].as_array().unwrap().len(), 4);
}

#[test]
fn what_is_no_task_of_mteb_and_published_figures_are_refused() {
    let folder = with_parts();
    write(&folder, "data/sts/2012-train/one.tsv", LINES);
    let eval =
        |more: &[&str]| folder.run(&[&["eval", "sts", "--model", "m.senv", "--protocol", "mteb"], more].concat());
    eval(&["data/sts/2012-train/one.tsv"]).fails(1, &["one.tsv belongs to none of MTEB's seven", "name its folder"]);
    eval(&["data/sts/2012-train"]).fails(1, &["2012-train has no file of MTEB's seven"]);
    eval(&["data/stsb/dev.tsv", "--published"]).fails(2, &["--published does not go with --protocol mteb"]);
}

fn collection(folder: &Folder, name: &str) {
    let document = |id: u32, text: &str| format!("{{\"_id\": \"d{id}\", \"text\": \"{text}\"}}\n");
    let corpus = document(1, "The cat saw the dog.") + &document(2, "A train left the station.");
    write(folder, &format!("{name}/corpus.jsonl"), &corpus);
    write(folder, &format!("{name}/queries.jsonl"), "{\"_id\": \"q\", \"text\": \"train\"}\n");
    write(folder, &format!("{name}/qrels/test.tsv"), "query-id\tcorpus-id\tscore\nq\td2\t1\n");
}

#[test]
fn a_folder_of_collections_stands_for_all_and_nano_beir_has_a_mean() {
    let folder = Folder::with_model();
    for name in ["sets/NanoTouche2020", "sets/NanoFEVER", "sets/help"] {
        collection(&folder, name);
    }
    let eval = |more: &[&str]| folder.run(&[&["eval", "retrieval", "--model", "m.senv"], more].concat()).ok();
    let text = eval(&["sets"]).out;
    let places = ["NanoFEVER\n", "NanoTouche2020\n", "help\n", "mean of 2 of 13"].map(|part| text.find(part).unwrap());
    assert!(places.is_sorted() && text.contains("missing: NanoArguAna, "), "{text}");
    let json = eval(&["sets", "--json"]).json();
    assert_eq!(json["sets"].as_array().unwrap().len(), 3);
    assert_eq!(json["nano_beir"]["means"][0]["ndcg_at_10"]["value_x100"], 100.0);
    // Other collections work as before.
    let one = eval(&["sets/help", "--json"]).json();
    let path = |json: &serde_json::Value| Path::new(json["path"].as_str().unwrap()).to_owned();
    assert!(one["nano_beir"].is_null() && path(&one["sets"][0]).ends_with("sets/help"), "{one}");
    assert_eq!(one["sets"][0]["scores"], json["sets"][2]["scores"]);
}
