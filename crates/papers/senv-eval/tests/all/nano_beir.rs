//! NanoBEIR's collections in a folder, with tiny ones of our own.

use std::{fs, path::Path};

use senv_eval::{
    NANO_BEIR, NanoBeirResult, RetrievalMethod, RetrievalResult, RetrievalSet, evaluate_retrieval, nano_beir_name,
    retrieval_folders, to_json,
};
use senv_index::documents::Join;
use senv_metrics::Bootstrap;

use crate::letters::Letters;

/// Writes a collection whose queries `q0`, `q1`, ... are texts, each with one relevant document by number.
fn collection(folder: &Path, documents: &[&str], queries: &[(&str, usize)]) {
    fs::create_dir_all(folder.join("qrels")).unwrap();
    let line = |id: String, text: &str| format!("{{\"_id\": \"{id}\", \"text\": \"{text}\"}}\n");
    let corpus: String = documents.iter().enumerate().map(|(i, text)| line(format!("d{i}"), text)).collect();
    let asked: String = queries.iter().enumerate().map(|(i, (text, _))| line(format!("q{i}"), text)).collect();
    let judged: String = queries.iter().enumerate().map(|(i, (_, d))| format!("q{i}\td{d}\t1\n")).collect();
    fs::write(folder.join("corpus.jsonl"), corpus).unwrap();
    fs::write(folder.join("queries.jsonl"), asked).unwrap();
    fs::write(folder.join("qrels/test.tsv"), format!("query-id\tcorpus-id\tscore\n{judged}")).unwrap();
}

fn evaluate(folders: &[impl AsRef<Path>], bootstrap: Bootstrap) -> Vec<RetrievalResult> {
    let of = |folder| {
        evaluate_retrieval(&Letters, &RetrievalSet::read(folder).unwrap(), Join::default(), bootstrap).unwrap()
    };
    folders.iter().map(of).collect()
}

const DOCUMENTS: &[&str] = &["aaa", "bbb", "ccc"];

#[test]
fn the_collections_of_a_folder_are_found_in_the_order_of_nano_beir() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["zoo", "NanoTouche2020", "nano-scifact", "NanoArguAna", "apes"] {
        collection(&folder.path().join(name), DOCUMENTS, &[("a", 0)]);
    }
    fs::create_dir(folder.path().join("empty")).unwrap();
    fs::write(folder.path().join("readme.txt"), "").unwrap();
    let found = retrieval_folders(folder.path()).unwrap();
    let expected =
        ["NanoArguAna", "nano-scifact", "NanoTouche2020", "apes", "zoo"].map(|name| folder.path().join(name));
    assert_eq!(found, expected);
    // A collection, a folder without one and an absent one stand for themselves.
    for one in ["zoo", "empty", "absent"] {
        assert_eq!(retrieval_folders(folder.path().join(one)).unwrap(), [folder.path().join(one)]);
    }
}

#[test]
fn names_are_those_of_the_collections_in_any_spelling() {
    for name in NANO_BEIR {
        assert_eq!(nano_beir_name(Path::new("data").join(name)), Some(name));
        assert_eq!(nano_beir_name(format!("{}Retrieval", name.trim_end_matches("Retrieval"))), Some(name));
        assert_eq!(nano_beir_name(name.to_lowercase()), Some(name));
        assert_eq!(nano_beir_name(name.trim_start_matches("Nano")), None);
    }
    assert_eq!((nano_beir_name("NanoNQ2"), nano_beir_name("/"), nano_beir_name("")), (None, None, None));
}

/// By vectors, the first collection finds both documents (nDCG 1), and the second one of two at the third of three
/// places: (1 + 1 / log2(4)) / 2 = .75.
#[test]
fn the_mean_is_over_collections_and_not_over_queries() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    collection(&path("NanoNQ"), &["aaa", "aab", "abb"], &[("a", 0), ("a", 2)]);
    collection(&path("NanoFEVER"), DOCUMENTS, &[("a", 0), ("b", 1), ("c", 2), ("ccc", 2)]);
    collection(&path("own"), DOCUMENTS, &[("a", 2)]);
    let without = Bootstrap { resamples: 0, seed: 1 };
    let results = evaluate(&[path("NanoNQ"), path("own"), path("NanoFEVER")], without);
    let nano = NanoBeirResult::of(&results, without).unwrap().unwrap();
    assert_eq!((nano.collections, nano.missing.len()), (vec!["NanoFEVER", "NanoNQ"], 11));
    let mean = nano.means.iter().find(|mean| mean.method == RetrievalMethod::Documents).unwrap().ndcg_at_10;
    assert!((mean.value_x100 - 100.0 * (1.0 + 0.75) / 2.0).abs() < 1e-9, "{mean:?}");
    assert_eq!(mean.interval_x100, None);
    let nano = NanoBeirResult::of(&results, without).unwrap().unwrap();
    let text = nano.to_text();
    assert!(text.contains("mean of 2 of 13") && text.contains("missing: NanoArguAna, NanoClimateFEVER"), "{text}");
    assert!(text.find("NanoFEVER ") < text.find("NanoNQ ") && text.contains("87.5") && !text.contains("own"), "{text}");
    let json: serde_json::Value = serde_json::from_str(&to_json(&nano)).unwrap();
    assert_eq!((&json["collections"][1], json["means"].as_array().unwrap().len()), (&"NanoNQ".into(), 4));
}

#[test]
fn the_interval_of_the_mean_is_narrower_than_those_of_its_collections() {
    let folder = tempfile::tempdir().unwrap();
    let queries: Vec<(&str, usize)> = (0..40).map(|i| ("a", [0, 2][i % 2])).collect();
    let names = ["NanoNQ", "NanoFEVER", "NanoSciFact"].map(|name| folder.path().join(name));
    names.iter().for_each(|name| collection(name, &["aaa", "aab", "abb"], &queries));
    let bootstrap = Bootstrap { resamples: 300, seed: 2 };
    let results = evaluate(&names, bootstrap);
    let nano = NanoBeirResult::of(&results, bootstrap).unwrap().unwrap();
    let width = |interval: Option<(f64, f64)>| interval.map(|(low, high)| high - low).unwrap();
    let of_mean = width(nano.means[1].ndcg_at_10.interval_x100);
    let of_one = width(results[0].scores[1].ndcg_at_10.interval_x100);
    // A mean of three varies 1 / √3 as much, up to the noise of 300 draws.
    assert!((of_mean / of_one * 3f64.sqrt() - 1.0).abs() < 0.2, "{of_mean} {of_one}");
}

#[test]
fn other_collections_have_no_mean() {
    let folder = tempfile::tempdir().unwrap();
    collection(folder.path(), DOCUMENTS, &[("a", 0)]);
    let bootstrap = Bootstrap { resamples: 0, seed: 1 };
    assert_eq!(NanoBeirResult::of(&evaluate(&[folder.path()], bootstrap), bootstrap).unwrap(), None);
}
