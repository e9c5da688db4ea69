//! Quotes around the cells of tables and of files of pairs.

use crate::common::{Folder, pairs};

const NOTE: &str = "quotes around a cell";

#[test]
fn index_reads_tsv_as_other_commands_do() {
    let folder = Folder::new();
    folder.write("t.tsv", "id\tbody\n0\t\"bird\"\n1\t\"a cat\tsat\"\n2\tdog\n");
    let says = "t.tsv:3: the record has 3 columns, but the first record has 2";
    folder.run(&["nearest", "t.tsv", "--column", "body", "--query", "cat"]).fails(1, &[says, "--quotes"]);
    for (output, more) in [("i", &[][..]), ("d", &["--documents"])] {
        let index = ["index", "t.tsv", "--column", "text=body", "--output", output];
        let ended = folder.run(&[&index, more].concat());
        assert!(ended.err.contains(NOTE), "{}", ended.err);
        ended.fails(1, &[says, "--quotes"]);
        let read = folder.run(&[&index, more, &["--quotes"]].concat()).ok();
        assert!(!read.err.contains(NOTE), "{}", read.err);
        let hits = folder.run(&["search", output, "--query", "cat", "-k", "1"]).ok().out;
        assert!(hits.contains("a cat sat") && !hits.contains('"'), "{hits}");
    }
    folder.run(&["index", "t.tsv", "--quotes", "--output", "j"]).fails(2, &["--column"]);
    // The same by column number, and without an extension that identifies a table.
    folder.write("t.txt", "1\t\"a\tcat\"\n\n2\tdog\n");
    folder.run(&["index", "t.txt", "--column", "text=2", "--quotes", "--output", "k"]).ok();
    let hits = folder.run(&["search", "k", "--query", "cat", "--json", "-k", "1"]).ok().out;
    assert!(hits.contains("a cat"), "{hits}");
}

/// The pairs with quotes around each cell, as a spreadsheet program writes them.
fn quoted(pairs: &str) -> String {
    pairs.lines().map(|line| format!("\"{}\"\n", line.replace('\t', "\"\t\""))).collect()
}

#[test]
fn quotes_of_pairs_are_told_and_read_where_that_is_asked_for() {
    let folder = Folder::new();
    folder.write("plain.tsv", pairs(60));
    folder.write("q.tsv", quoted(&pairs(60)));
    let labelled: String = pairs(60).lines().map(|pair| format!("entailment\t{pair}\n")).collect();
    folder.write("l.tsv", quoted(&labelled));
    let small = ["--dim", "8", "--epochs", "1", "--batch", "8", "--no-check", "--force"];
    let train = |what: &str, file: &str, output: &str, more: &[&str]| {
        folder.run(&[&["train", "pp", what, file, "--output", output], &small[..], more].concat())
    };
    let told = train("--pairs", "q.tsv", "told.senv", &[]).ok();
    assert!(told.err.contains(&format!("q.tsv:1: {NOTE} are treated as text; --quotes")), "{}", told.err);
    assert_eq!(told.err.matches(NOTE).count(), 1, "{}", told.err);
    let read = train("--pairs", "q.tsv", "read.senv", &["--quotes"]).ok();
    assert!(!read.err.contains(NOTE), "{}", read.err);
    train("--pairs", "plain.tsv", "plain.senv", &[]).ok();
    let vectors = |model: &str| folder.run(&["similarity", "--model", model, "the cat sat", "a dog ran"]).ok().out;
    assert_eq!(vectors("read.senv"), vectors("plain.senv"));
    train("--nli", "l.tsv", "nli.senv", &["--quotes"]).ok();
    folder.run(&["encode", "plain.tsv", "--quotes", "--output", "v.npy"]).fails(2, &["--column"]);
}

#[test]
fn every_command_on_pairs_tells_of_quotes() {
    let folder = Folder::new();
    folder.write("two.tsv", "\"a cat sat\"\t\"a kitten sat\"\n\"rain falls\"\t\"it rains\"\n");
    folder.write("three.tsv", "\"1\"\t\"a cat sat\"\t\"a kitten sat\"\n\"2\"\t\"rain falls\"\t\"it rains\"\n");
    for (command, has_option) in [
        (&["train", "--pairs", "two.tsv", "--output", "m"][..], true),
        (&["train", "cse", "--captions", "two.tsv", "--output", "m"], true),
        (&["train", "snli", "--train", "three.tsv", "--output", "m"], false),
        (&["train", "relatedness", "--model", "english", "--train", "three.tsv", "--output", "m"], false),
        (&["train", "order", "--init-model", "english", "--train", "three.tsv", "--output", "m"], false),
        (&["train", "dict-rep", "--definitions", "two.tsv", "--target-vectors", "none", "--output", "m"], false),
        (&["train", "p-thought", "--pairs", "two.tsv", "--init-vectors", "none", "--output", "m"], false),
        (&["eval", "sts", "--model", "english", "three.tsv"], false),
        (&["eval", "p-coherence", "--model", "english", "two.tsv"], false),
        (&["eval", "order", "--model", "english", "--nli", "three.tsv"], false),
        (&["eval", "nli", "--model", "english", "three.tsv"], false),
        (&["similarity", "--input", "two.tsv"], false),
    ] {
        // The note appears whether or not the command succeeds.
        let file = command.iter().find(|name| name.ends_with(".tsv")).unwrap();
        let err = folder.run(command).err;
        assert!(err.contains(&format!("{file}:1: {NOTE} are treated as text")), "{command:?}: {err}");
        assert_eq!(err.contains("--quotes"), has_option, "{command:?}: {err}");
        assert_eq!(err.contains("python3 -c"), !has_option, "{command:?}: {err}");
    }
    let speech = "\"No,\" he said, \"never.\"\tHe said no.\n";
    folder.write("speech.tsv", speech);
    let err = folder.run(&["similarity", "--input", "speech.tsv"]).ok().err;
    assert!(!err.contains(NOTE), "{err}");
}
