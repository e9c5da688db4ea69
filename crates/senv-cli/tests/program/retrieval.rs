//! `senv eval retrieval` on a few documents, and on damaged files.

use serde_json::Value;

use crate::common::Folder;

const CORPUS: &str = "\
{\"_id\":\"1\",\"title\":\"Trains\",\"text\":\"The train to London is late. Passengers wait.\"}
{\"_id\":\"2\",\"title\":\"\",\"text\":\"The soup needs more salt and pepper.\"}
{\"_id\":\"3\",\"text\":\"Dark clouds gathered over the hills. Rain fell all night.\"}
";
const QUERIES: &str = "{\"_id\":\"a\",\"text\":\"weather, storms\"}\n{\"_id\":\"b\",\"text\":\"seasoning a soup\"}\n{\"_id\":\"c\",\"text\":\"x\"}\n";
const JUDGEMENTS: &str = "query-id\tcorpus-id\tscore\na\t3\t1\nb\t2\t2\nb\t1\t0\n";

fn folder(corpus: &str, queries: &str, judgements: &str) -> Folder {
    let folder = Folder::new();
    std::fs::create_dir_all(folder.path("set/qrels")).unwrap();
    folder.write("set/corpus.jsonl", corpus);
    folder.write("set/queries.jsonl", queries);
    folder.write("set/qrels/test.tsv", judgements);
    folder
}

#[test]
fn documents_are_found_by_their_words_and_by_their_meaning() {
    let folder = folder(CORPUS, QUERIES, JUDGEMENTS);
    let out = folder.run(&["eval", "retrieval", "set", "--json"]).ok().out;
    let report: Value = serde_json::from_str(&out).unwrap();
    let set = &report["sets"][0];
    assert_eq!([&set["n_documents"], &set["n_sentences"], &set["n_queries"]], [3, 6, 2]);
    let mrr = |i: usize| set["scores"][i]["mrr"]["value_x100"].as_f64().unwrap();
    // The document of the first query contains none of its words, but the vectors find it.
    assert!(mrr(0) < 100.0 && mrr(1) == 100.0 && mrr(2) == 100.0 && mrr(3) == 100.0, "{set}");
    let out = folder.run(&["eval", "retrieval", "set", "--resamples", "0"]).ok().out;
    assert!(
        out.contains("words (BM25)") && out.contains("2 queries, 3 documents of 6 sentences") && !out.contains('±'),
        "{out}"
    );
}

#[test]
fn broken_files_are_named_with_their_line() {
    let fails = |corpus: &str, queries: &str, judgements: &str, parts: &[&str]| {
        folder(corpus, queries, judgements).run(&["eval", "retrieval", "set"]).fails(1, parts);
    };
    fails(CORPUS, QUERIES, "a\t9\t1\n", &["test.tsv:1: no document \"9\"", "corpus.jsonl"]);
    fails(CORPUS, QUERIES, "z\t3\t1\n", &["test.tsv:1: no query \"z\"", "queries.jsonl"]);
    fails(CORPUS, QUERIES, "a 0 3 1\nb 0 2 1\n", &["test.tsv:1: ", "TREC", "awk"]);
    fails(CORPUS, QUERIES, "a\t3\t1\na\t3\tx\n", &["test.tsv:2: the grade \"x\" is not a number"]);
    fails(
        CORPUS,
        QUERIES,
        "a\t3\t1\na\t3\t2\n",
        &["test.tsv:2: document \"3\" has the grades 1 and 2 for query \"a\""],
    );
    fails(CORPUS, QUERIES, "a\t3\n", &["test.tsv:1: "]);
    fails(CORPUS, QUERIES, "a\t3\t0\na\t1\t-1\n", &["test.tsv contains no relevant document: no grade is above 0"]);
    fails("", QUERIES, "", &["corpus.jsonl contains no text"]);
    fails("{\"_id\":\"1\"}\n", QUERIES, JUDGEMENTS, &["corpus.jsonl:1: not a record", "text"]);
    fails(&CORPUS.repeat(2), QUERIES, JUDGEMENTS, &["corpus.jsonl:4: duplicate document \"1\""]);
    let file = Folder::new();
    file.write("corpus.jsonl", CORPUS);
    file.run(&["eval", "retrieval", "corpus.jsonl"]).fails(1, &["corpus.jsonl is a file", "give the folder"]);
    Folder::new().run(&["eval", "retrieval", "absent"]).fails(1, &["absent/corpus.jsonl"]);
}

#[test]
fn a_judgement_that_is_repeated_counts_once() {
    let scores = |judgements: &str| {
        let ended = folder(CORPUS, QUERIES, judgements).run(&["eval", "retrieval", "set", "--json"]).ok();
        (ended.json()["sets"][0]["scores"].clone(), ended.err)
    };
    let (once, _) = scores(JUDGEMENTS);
    let (twice, said) = scores(&format!("{JUDGEMENTS}b\t2\t2\nb\t2\t2.0\n"));
    assert_eq!(once, twice);
    assert!(said.contains("2 repeated judgments, each counted once"), "{said}");
}

/// A ranking that finds nothing has no points, whichever document is relevant.
#[test]
fn the_order_of_the_documents_gives_no_points() {
    let queries = "{\"_id\":\"a\",\"text\":\"xqzzt vrumpf\"}\n";
    for document in ["1", "2", "3"] {
        let folder = folder(CORPUS, queries, &format!("a\t{document}\t1\n"));
        let set = folder.run(&["eval", "retrieval", "set", "--json"]).ok().json()["sets"][0].clone();
        for metric in ["ndcg_at_10", "mrr", "recall_at_100"] {
            assert_eq!(set["scores"][0][metric]["value_x100"], 0.0, "{document} {metric}");
        }
    }
}

#[test]
fn judgements_of_missing_documents_count_as_not_found_and_those_of_missing_queries_are_skipped() {
    let set = |judgements: &str| {
        let ended = folder(CORPUS, QUERIES, judgements).run(&["eval", "retrieval", "set", "--json"]).ok();
        (ended.json()["sets"][0].clone(), ended.err)
    };
    let (with, said) = set(&format!("{JUDGEMENTS}a\t99\t1\nz\t1\t1\nc\t98\t1\nc\t1\t0\n"));
    assert!(
        said.contains("skipped 1 judgment of missing queries") && said.contains("test.tsv:6: no query \"z\""),
        "{said}"
    );
    assert!(said.contains("2 judgments of missing documents, which count as not found"), "{said}");
    assert!(said.contains("test.tsv:5: no document \"99\""), "{said}");
    let numbers = ["n_queries", "n_judgements_of_missing_documents", "n_judgements_of_missing_queries"];
    assert_eq!(numbers.map(|name| with[name].clone()), [3, 2, 1]);
    // Query a has one of its two documents, b has its only one, and c has none.
    let (without, _) = set(JUDGEMENTS);
    let recall = |set: &Value| set["scores"][3]["recall_at_100"]["value_x100"].as_f64().unwrap();
    assert_eq!((recall(&without), recall(&with)), (100.0, 50.0));
}

#[test]
fn judged_queries_without_a_relevant_document_are_named() {
    let ended =
        folder(CORPUS, QUERIES, &format!("{JUDGEMENTS}c\t1\t0\n")).run(&["eval", "retrieval", "set", "--json"]).ok();
    assert!(ended.err.contains("left out 1 query without a relevant document"), "{}", ended.err);
    let set = &ended.json()["sets"][0];
    assert_eq!([&set["n_queries"], &set["n_queries_without_relevant"]], [2, 1]);
}

#[test]
fn a_query_that_is_a_document_is_left_out_of_its_own_ranking() {
    let queries = "{\"_id\":\"2\",\"text\":\"The soup needs more salt and pepper.\"}\n";
    let corpus = format!("{CORPUS}{{\"_id\":\"4\",\"text\":\"Salt and pepper are needed in soup.\"}}\n");
    let folder = folder(&corpus, queries, "2\t4\t1\n");
    let run = |more: &[&str]| folder.run(&[&["eval", "retrieval", "set", "--json"], more].concat()).ok();
    let mrr = |ended: &crate::common::Ended| ended.json()["sets"][0]["scores"][1]["mrr"]["value_x100"].as_f64();
    let with = run(&[]);
    assert_eq!(mrr(&with), Some(50.0), "the query finds itself first");
    assert!(with.err.contains("--leave-out-query"), "{}", with.err);
    let without = run(&["--leave-out-query"]);
    assert_eq!(mrr(&without), Some(100.0));
    assert!(!without.err.contains("--leave-out-query"), "{}", without.err);
}

#[test]
fn retrieval_is_measured_as_index_and_search_rank() {
    let folder = folder(CORPUS, QUERIES, JUDGEMENTS);
    let run = |more: &[&str]| {
        folder.run(&[&["eval", "retrieval", "set", "--json"], more].concat()).ok().json()["sets"].clone()
    };
    assert_eq!(run(&[]), run(&["--order", "0"]));
}
