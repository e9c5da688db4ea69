//! `senv dedupe`: the sentences it keeps, and its report of the others.

use serde_json::{Value, json};

use crate::common::Folder;

const TEXT: &str = "\
The train to London is late.

The soup needs more salt.
the train to London is late
The soup needs more salt.
Dark clouds gathered over the hills.
The train to London is late again today.
qzxjk
qzxjk
";

fn kept(folder: &Folder, more: &[&str]) -> Vec<String> {
    let ended = folder.run(&[&["dedupe", "text.txt"], more].concat()).ok();
    ended.out.lines().map(str::to_owned).collect()
}

#[test]
fn a_threshold_of_1_means_equal_up_to_rounding() {
    let folder = Folder::new();
    let words: Vec<&str> =
        "the train to london was late again because of heavy rain on monday and nobody said when it \
        would come so we walked home along the river in the dark"
            .split_whitespace()
            .collect();
    // Sentences of different words, each followed by one with the same words in another order.
    let mut text = String::new();
    for i in 0..60 {
        let mut sentence: Vec<&str> = (0..12).map(|j| words[(i * 7 + j * j + i * j) % words.len()]).collect();
        text += &(sentence.join(" ") + "\n");
        sentence.rotate_left(1 + i % 11);
        sentence.swap(0, 5);
        text += &(sentence.join(" ") + "\n");
    }
    folder.write("text.txt", &text);
    let lines = kept(&folder, &["--threshold", "1", "--order", "0"]);
    assert!(lines.len() <= 60, "{} of 120 kept", lines.len());
    folder.run(&["compress", "--model", "english", "--max-vocabulary", "5000", "--output", "small.senv"]).ok();
    let lines = kept(&folder, &["--threshold", "1", "--order", "0", "--model", "small.senv"]);
    assert!(lines.len() <= 60, "{} of 120 kept", lines.len());
}

#[test]
fn what_repeats_an_earlier_sentence_is_dropped_and_reported() {
    let folder = Folder::new();
    folder.write("text.txt", TEXT);
    let first = ["The train to London is late.", "The soup needs more salt.", "Dark clouds gathered over the hills."];
    let lines = kept(&folder, &["--threshold", ".85"]);
    assert_eq!(lines[..3], first);
    assert_eq!(lines.last().unwrap(), "qzxjk");
    let ended = folder.run(&["dedupe", "text.txt", "--threshold", ".85", "--report"]).ok();
    assert!(ended.err.contains("8 sentences:"), "{}", ended.err);
    let rows: Vec<Vec<&str>> = ended.out.lines().map(|line| line.split('\t').collect()).collect();
    assert_eq!(rows[0][1..], ["4", "1", "the train to London is late", "The train to London is late."]);
    assert_eq!(rows[1][..3], ["1.0000", "5", "3"]);
    assert_eq!(rows.last().unwrap()[..3], ["1.0000", "9", "8"]);
    assert_eq!(rows.len() + lines.len(), 8);
    // The cosine equals that of senv similarity.
    let cosine = folder.run(&["similarity", rows[0][3], rows[0][4]]).ok().out;
    let [ours, other] = [rows[0][0], cosine.trim()].map(|cosine| cosine.parse::<f32>().unwrap());
    assert!((ours - other).abs() <= 0.00006, "{ours} {other}");
    // The dropped sentence as JSON, with the sentence that is kept.
    let out = folder.run(&["dedupe", "text.txt", "--report", "--json"]).ok().out;
    let dropped: Value = serde_json::from_str(out.lines().next().unwrap()).unwrap();
    assert_eq!((&dropped["line"], &dropped["kept"]["line"]), (&json!(4), &json!(1)));
    let out = folder.run(&["dedupe", "text.txt", "--json"]).ok().out;
    assert_eq!(serde_json::from_str::<Value>(out.lines().nth(1).unwrap()).unwrap()["line"], 3);
    // The same with any number of threads.
    let threads = |n| folder.run(&["--threads", n, "dedupe", "text.txt", "--report", "--threshold", ".5"]).ok().out;
    assert_eq!(threads("1"), threads("2"));
}

#[test]
fn the_longest_is_kept_and_another_text_is_compared_against() {
    let folder = Folder::new();
    folder.write("text.txt", TEXT);
    let lines = kept(&folder, &["--threshold", ".84", "--keep", "longest"]);
    assert_eq!(lines[0], "The soup needs more salt.");
    assert!(lines.contains(&"The train to London is late again today.".into()), "{lines:?}");
    assert!(lines.iter().filter(|line| line.contains("train")).count() == 1, "{lines:?}");
    folder.write("old.txt", "The soup needs more salt!\nDark clouds gathered over the hills.\n");
    let lines = kept(&folder, &["--threshold", ".85", "--against", "old.txt"]);
    assert_eq!(lines[0], "The train to London is late.");
    assert!(lines.iter().all(|line| !line.contains("soup") && !line.contains("clouds")), "{lines:?}");
    let report = ["dedupe", "text.txt", "--against", "old.txt", "--report"];
    let out = folder.run(&report).ok().out;
    assert!(out.contains("\ttext.txt:3\told.txt:1\tThe soup"), "{out}");
}

#[test]
fn numbers_and_emoji_tell_sentences_apart() {
    let folder = Folder::new();
    let distinct = ["Order 66 shipped 🚀", "Order 67 shipped 🚀", "Order 66 shipped 🙂"];
    folder.write("text.txt", [distinct.join("\n"), distinct.join("\n")].join("\n"));
    for threshold in ["1", ".95"] {
        assert_eq!(kept(&folder, &["--threshold", threshold]), distinct, "{threshold}");
    }
    // With and without emoji, a sentence is the same.
    folder.write("text.txt", "See you soon\nSee you soon 😀\nIt rains 🌧️☔\nIt rains\nSee you soon 🎉\n");
    assert_eq!(kept(&folder, &[]), ["See you soon", "It rains 🌧️☔"]);
}

#[test]
fn near_sentences_that_name_different_things_are_kept_and_reported_with_their_words() {
    let folder = Folder::new();
    let text = "\
Provider package for openfaas functions on a server
Provider package for postgres databases on a server
Provider packages for Postgres: databases on a server
Provider package for postgres databases on 2 servers
";
    folder.write("text.txt", text);
    let lines: Vec<&str> = text.lines().collect();
    // The third is near the first, which names another thing, and repeats the second.
    assert_eq!(kept(&folder, &["--threshold", ".6"]), [lines[0], lines[1], lines[3]]);
    assert_eq!(kept(&folder, &["--threshold", ".6", "--no-guard"]), [lines[0]]);
    let report = ["dedupe", "text.txt", "--threshold", ".6", "--report"];
    let ended = folder.run(&report).ok();
    let rows: Vec<Vec<&str>> = ended.out.lines().map(|line| line.split('\t').collect()).collect();
    assert_eq!((rows.len(), &rows[0][1..3]), (3, &["3", "2"][..]), "{}", ended.out);
    assert_eq!((&rows[1][1..3], rows[1].len()), (&["2", "1"][..], 6), "{}", ended.out);
    assert!(rows[1][5].starts_with("kept: postgres") && rows[1][5].contains(" / openfaas"), "{}", ended.out);
    assert!(ended.err.contains("3 kept, 2 of them near others that name different things, 1 dropped"), "{}", ended.err);
    let out = folder.run(&[&report[..], &["--json"]].concat()).ok().out;
    let objects: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&objects[1]["line"], &objects[1]["near"]["line"]), (&json!(2), &json!(1)));
    assert_eq!(objects[1]["words"][0], "postgres");
    assert_eq!(objects[3], json!({"sentences": 4, "kept": 3, "kept_apart": 2, "dropped": 1}));
    let groups = folder.run(&["dedupe", "text.txt", "--threshold", ".6", "--report=groups"]).ok().out;
    assert!(groups.lines().count() == 4 && groups.contains("\tkept: "), "{groups}");
    let with = |threads| folder.run(&[&["--threads", threads], &report[..]].concat()).ok().out;
    assert_eq!(with("1"), with("2"));
    // The other jobs have it as an option.
    let mine = |more: &[&str]| folder.run(&[&["mine", "text.txt", "--min-score", ".5"], more].concat()).ok().out;
    assert_eq!((mine(&[]).lines().count(), mine(&["--guard"]).lines().count()), (6, 1));
    assert_eq!(mine(&["--guard", "--margin"]).lines().count(), 1);
    folder.write("new.txt", lines[2]);
    folder.write("old.txt", [lines[0], lines[3], lines[1]].join("\n"));
    let compare = |more: &[&str]| {
        folder.run(&[&["compare", "new.txt", "old.txt", "--threshold", ".6", "--only", "both"], more].concat()).ok().out
    };
    assert!(compare(&["--guard"]).contains("\t1\t3\t"), "{}", compare(&["--guard"]));
    folder.write("old.txt", [lines[0], lines[3]].join("\n"));
    assert_eq!((compare(&[]).lines().count(), compare(&["--guard"]).lines().count()), (1, 0));
}

/// A sentence is compared with those that are kept, and not with those that were dropped.
#[test]
fn a_chain_of_near_duplicates_keeps_every_second_one() {
    let folder = Folder::new();
    // At 0°, 20°, 40° and 60°: neighbors have a cosine of .94, others at most .77.
    folder.write("chain.vec", "a 1 0\nb .9396926 .3420201\nc .7660444 .6427876\nd .5 .8660254\n");
    folder.write("text.txt", "a\nb\nc\nd\n");
    let chain = |threshold| kept(&folder, &["--model", "chain.vec", "--threshold", threshold, "--no-guard"]);
    assert_eq!(chain(".9"), ["a", "c"]);
    assert_eq!(chain(".7"), ["a", "d"]);
    assert_eq!(chain(".95"), ["a", "b", "c", "d"]);
}

#[test]
fn scarce_and_odd_input_has_a_defined_result() {
    let folder = Folder::new();
    folder.write("text.txt", "A cat.\n");
    assert_eq!(kept(&folder, &[]), ["A cat."]);
    folder.write("text.txt", "A cat.\n".repeat(3000));
    assert_eq!(kept(&folder, &["--threshold", "1"]), ["A cat."]);
    // Every sentence with a known word reaches this threshold; others have no vector.
    folder.write("text.txt", TEXT);
    assert_eq!(kept(&folder, &["--threshold", "-1", "--no-guard"]), ["The train to London is late."]);
    assert_eq!(kept(&folder, &["--threshold", "1"]).len(), 6);
    folder.write("text.txt", "\n \n");
    folder.run(&["dedupe", "text.txt"]).fails(1, &["text.txt contains no text"]);
    folder.run(&["dedupe", "absent.txt"]).fails(1, &["cannot open absent.txt"]);
    folder.run(&["dedupe", "-", "--against", "-"]).fails(2, &["standard input can be read only once"]);
    for threshold in ["1.1", "nan", "x"] {
        folder.run(&["dedupe", "text.txt", "--threshold", threshold]).fails(2, &["--threshold"]);
    }
}

const TABLE: &str = "\
id,author,body
1,ann,The train is late.

2,bob,The train is late.
3,ann,\"The train, it seems,
is late.\"
4,ann,The train is late!
5,bob,The soup is cold.
6,ann,
";

#[test]
fn records_of_a_table_are_kept_whole_and_compared_within_groups() {
    let folder = Folder::new();
    folder.write("t.csv", TABLE);
    let table = ["dedupe", "t.csv", "--column", "body"];
    let run = |more: &[&str]| folder.run(&[&table, more].concat()).ok();
    assert_eq!(
        run(&["--records"]).out,
        "id,author,body\n1,ann,The train is late.\n3,ann,\"The train, it seems,\nis late.\"\n5,bob,The soup is cold.\n"
    );
    let by = run(&["--by", "author", "--report"]).out;
    assert_eq!(by, "0.9268\t4\t1\tThe train is late!\tThe train is late.\n");
    let ended = run(&["--by", "id", "--to", "1"]);
    assert!(ended.out.lines().count() == 5 && ended.err.contains("more than 1"), "{}", ended.err);
    // Both columns of the other text are compared.
    folder.write("old.csv", "author,body\nbob,The soup is cold!\nann,The soup is cold.\n");
    let out = run(&["--by", "author", "--against", "old.csv", "--report", "--json"]).out;
    let mut dropped: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(dropped.pop().unwrap(), json!({"sentences": 5, "kept": 3, "kept_apart": 0, "dropped": 2}));
    let lines: Vec<_> =
        dropped.iter().map(|pair| (&pair["line"], &pair["kept"]["line"], &pair["kept"]["file"])).collect();
    assert_eq!(lines, [(&json!(7), &json!(2), &json!("t.csv")), (&json!(8), &json!(2), &json!("old.csv"))]);
    // A field of JSON lines.
    folder.write("t.jsonl", "{\"a\":1,\"t\":\"one cat\"}\n{\"a\":2,\"t\":\"one cat\"}\n{\"t\":\"two dogs\"}\n");
    let out = folder.run(&["dedupe", "t.jsonl", "--field", "t", "--records"]).ok().out;
    assert_eq!(out, "{\"a\":1,\"t\":\"one cat\"}\n{\"t\":\"two dogs\"}\n");
    // Errors say what is not possible.
    for (arguments, said) in [
        (&["dedupe", "t.csv", "--records"][..], "--records needs a table"),
        (&["dedupe", "t.csv", "--by", "author"], "--by needs a table"),
        (&["dedupe", "t.csv", "--column", "body", "--by", "editor"], "no column \"editor\""),
        (&["dedupe", "t.csv", "--column", "body", "--by", "author", "--split"], "--by and --records"),
        (&["dedupe", "t.csv", "t.jsonl", "--column", "body", "--records"], "t.jsonl has JSON lines, but t.csv has the"),
    ] {
        let ended = folder.run(arguments);
        assert!(ended.code != Some(0) && ended.err.contains(said), "{arguments:?}: {}", ended.err);
    }
    folder.write("other.csv", "body,id\nA dog.,7\n");
    folder
        .run(&["dedupe", "t.csv", "other.csv", "--column", "body", "--records"])
        .fails(2, &["other.csv has the columns body, id, but t.csv has the columns id, author, body"]);
}

#[test]
fn groups_are_reported_the_largest_first() {
    let folder = Folder::new();
    folder.write("text.txt", TEXT);
    let out = folder.run(&["dedupe", "text.txt", "--threshold", ".84", "--report=groups"]).ok().out;
    // Nearest first. Groups of the same size keep the order of the text.
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines[0], "3\t1\tThe train to London is late.");
    assert!(lines[1].starts_with("  0.98") && lines[1].contains("\t4\t") && lines[2].contains("\t7\t"), "{out}");
    assert_eq!(
        lines[3..],
        [
            "2\t3\tThe soup needs more salt.",
            "  1.0000\t5\tThe soup needs more salt.",
            "2\t8\tqzxjk",
            "  1.0000\t9\tqzxjk"
        ]
    );
    let out = folder.run(&["dedupe", "text.txt", "--threshold", ".84", "--report=groups", "--json"]).ok().out;
    let group: Value = serde_json::from_str(out.lines().next().unwrap()).unwrap();
    assert_eq!((&group["line"], &group["dropped"][1]["line"]), (&json!(1), &json!(7)));
}

#[test]
fn the_threshold_is_lowered_until_so_many_are_left() {
    let folder = Folder::new();
    folder.write("text.txt", TEXT);
    let to = |wanted| folder.run(&["dedupe", "text.txt", "--threshold", ".99", "--to", wanted]).ok();
    let ended = to("4");
    assert_eq!(ended.out.lines().count(), 4, "{}", ended.err);
    assert!(ended.err.contains("at threshold 0."), "{}", ended.err);
    assert_eq!(to("50%").out, ended.out);
    assert_eq!(to(".5").out, ended.out);
    assert_eq!(to("1").out.lines().count(), 1);
    for wanted in ["0", "1.5", "-1", "x", "0%"] {
        let to = format!("--to={wanted}");
        folder.run(&["dedupe", "text.txt", &to]).fails(2, &["a share between 0 and 1"]);
    }
}

#[test]
fn a_collection_is_a_text_and_what_others_are_compared_against() {
    let folder = Folder::new();
    folder.write("text.txt", TEXT);
    folder.write("new.txt", "the train to London is late\nA cat sleeps.\n");
    folder.run(&["index", "text.txt", "--index", "my.index"]).ok();
    folder.run(&["index", "--index", "my.index", "--delete-ids", "0"]).ok();
    let out = folder.run(&["dedupe", "my.index", "--threshold", ".99", "--json"]).ok().out;
    let lines: Vec<u64> =
        out.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["line"].as_u64().unwrap()).collect();
    assert_eq!(lines, [3, 4, 6, 7, 8], "{out}");
    let ended = folder.run(&["dedupe", "new.txt", "--against", "my.index", "--report"]).ok();
    assert!(
        ended.out.starts_with("1.0000\tnew.txt:1\ttext.txt:4\t") && ended.out.lines().count() == 1,
        "{}",
        ended.out
    );
    folder.run(&["cluster", "my.index", "--groups", "2"]).ok();
    folder.run(&["compare", "my.index", "new.txt"]).ok();
    std::fs::create_dir(folder.path("none")).unwrap();
    folder.run(&["dedupe", "none"]).fails(1, &["none: no text files"]);
}
