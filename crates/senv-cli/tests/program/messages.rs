//! Messages about files and arguments that are not what they seem.

use crate::common::{Folder, pairs, text};

#[test]
fn utf16_of_any_script_is_named_and_never_replaced() {
    let folder = Folder::new();
    for (name, text) in [
        ("german.txt", "Grüße aus Köln, die Lieferung ist leider noch nicht angekommen\nBitte melden Sie sich\n"),
        ("russian.tsv", "id\ttext\n1\tПоезд опаздывает\n"),
        ("chinese.txt", "今天天气很好。\n我们去公园散步。\n"),
    ] {
        folder.write(name, text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>());
        for command in [
            &["split", name][..],
            &["dedupe", name, "--invalid-utf8", "replace"],
            &["dedupe", name, "--column", "1", "--text-format", "tsv"],
            &["index", name, "--column", "text=1", "--output", "i"],
            &["train", "sent2vec", "--input", name, "--output", "m"],
        ] {
            let ended = folder.run(command);
            assert!(!ended.err.contains("replace"), "{}", ended.err);
            ended.fails(1, &[name, "in UTF-16 without a byte order mark", "iconv -f UTF-16LE -t UTF-8"]);
        }
    }
    let vectors = "grün 1 0\nrot 0 1\n".encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    folder.write("v.vec", &vectors);
    folder.run(&["convert", "v.vec", "v.senv"]).fails(1, &["v.vec", "UTF-16", "iconv -f UTF-16LE"]);
    folder.write("w.vec", [b"\xFF\xFE", &vectors[..]].concat());
    folder.run(&["info", "w.vec"]).fails(1, &["w.vec", "UTF-16", "iconv -f UTF-16 "]);
}

#[test]
fn options_of_all_commands_may_stand_before_the_system() {
    let folder = Folder::with_text(300);
    let train =
        ["train", "-q", "--threads", "1", "sent2vec", "--input", "text.txt", "--output", "m.senv", "--epochs", "1"];
    let ended = folder.run(&train).ok();
    assert!(folder.has("m.senv") && !ended.err.contains("epoch"), "{}", ended.err);
    let others = ["train", "--seed", "2", "sent2vec", "--input", "text.txt", "--output", "n.senv"];
    folder.run(&others).fails(2, &["a system comes first: senv train sent2vec"]);
    folder.run(&["train", "sentvec", "--output", "n.senv"]).fails(2, &["no such system; the systems are sent2vec"]);
}

#[test]
fn rows_above_the_declared_number_are_not_counted_wrong() {
    let folder = Folder::new();
    folder.write("h.txt", "1 2\na 1 2\nb 1 3\nc 1 4\nd 2 2\n");
    folder.run(&["info", "h.txt"]).fails(1, &["declares 1 row, but the file has more than 1:", "--accept-row-count"]);
    folder.write("tabs.vec", "a\t1\t2\nb\t1\t3\n");
    folder.run(&["convert", "tabs.vec", "t.senv"]).fails(1, &["tr '\\t' ' ' < FILE"]);
    folder.write("counted.vec", "2 2\na\t1\t2\nb\t1\t3\n");
    folder.run(&["convert", "counted.vec", "t.senv"]).fails(1, &["tr '\\t' ' ' < FILE"]);
    let rows =
        [&b"2 2\nNew York "[..], &[0, 0, 128, 63, 0, 0, 0, 64], b"\nb ", &[0, 0, 128, 63, 0, 0, 0, 64], b"\n"].concat();
    folder.write("blanks.bin", rows);
    let ended = folder.run(&["convert", "blanks.bin", "b.senv"]);
    assert!(!ended.err.contains("\\u{"), "{}", ended.err);
    ended.fails(1, &["blanks.bin", "words contain spaces; for words with spaces, save it as text", "binary=False"]);
}

#[test]
fn carriage_returns_are_told_of_text_alone() {
    let folder = Folder::new();
    folder.write("base.txt", b"SQLite format 3\0\x10\0\x01\x01\0@  \0\rx\0");
    let ended = folder.run(&["dedupe", "base.txt"]);
    assert!(!ended.err.contains("carriage"), "{}", ended.err);
    ended.fails(1, &["an SQLite database"]);
    folder.write("mixed.txt", "A bird.\nThe cat sat on the mat.\rA dog ran home.\n");
    let err = folder.run(&["dedupe", "mixed.txt"]).ok().err;
    assert!(err.contains("mixed.txt:2: lone carriage returns") && err.contains("tr '\\r' '\\n'"), "{err}");
}

#[test]
fn judgements_without_a_relevant_document_are_named_as_such() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("d")).unwrap();
    std::fs::create_dir(folder.path("d/qrels")).unwrap();
    folder.write("d/corpus.jsonl", "{\"_id\":\"d1\",\"title\":\"\",\"text\":\"Rain falls.\"}\n");
    folder.write("d/queries.jsonl", "{\"_id\":\"q1\",\"text\":\"weather\"}\n");
    for (judgements, says) in [
        ("query-id\tcorpus-id\tscore\nq1\td1\t0\n", "contains no relevant document: no grade is above 0"),
        (
            "query-id\tcorpus-id\tscore\n",
            "contains no relevant document; give a header, then lines of query, document and grade",
        ),
        ("q1 d1 1\n", "1 columns, expected query, document and grade"),
    ] {
        folder.write("d/qrels/test.tsv", judgements);
        let ended = folder.run(&["eval", "retrieval", "--model", "english", "d"]);
        assert!(!ended.err.contains("one sentence per line"), "{}", ended.err);
        ended.fails(1, &["test.tsv", says]);
    }
    folder.write("d/qrels/test.tsv", "q1\td1\t1\n");
    folder.run(&["eval", "retrieval", "--model", "english", "d"]).ok();
}

#[test]
fn words_of_any_script_are_shown_as_they_are() {
    let folder = Folder::new();
    folder.write("text.txt", "The train is late.\nRain falls.\n");
    let err = folder.run(&["nearest", "text.txt", "--query", "คริสต์ที่"]).err;
    assert!(err.contains("\"คริสต์ที่\""), "{err}");
}

#[test]
fn a_map_of_few_sentences_takes_a_perplexity_that_fits() {
    let folder = Folder::new();
    folder.write("g.tsv", "a\tThe cat sat.\na\tA kitten sat.\nb\tRain falls.\nb\tIt rains.\n");
    let map = ["eval", "map", "--model", "english", "g.tsv"];
    let out = folder.run(&map).ok().out;
    assert!(out.contains("perplexity 1,"), "{out}");
    folder.run(&[&map[..], &["--perplexity", "5"]].concat()).fails(2, &["perplexity", "got 5 for 4 sentences"]);
    folder.write("three.tsv", "a\tThe cat sat.\na\tA kitten sat.\nb\tRain falls.\n");
    folder.run(&["eval", "map", "--model", "english", "three.tsv"]).fails(2, &["at least 4"]);
}

#[test]
fn data_too_few_for_a_trial_are_told_and_errors_come_first() {
    let folder = Folder::new();
    folder.write("text.txt", text(100));
    folder.write("pairs.tsv", pairs(20));
    for (input, says) in [("--input", " of 100 lines can be held out"), ("--pairs", " of 20 lines can be held out")] {
        let file = if input == "--input" { "text.txt" } else { "pairs.tsv" };
        let err = folder.run(&["train", input, file, "--output", "m.senv", "--force"]).ok().err;
        assert!(!err.contains("comparing ways to start"), "{err}");
        let license = senv::Terms::new(senv_english::TERMS);
        if license.is_permissive() {
            assert!(err.contains("not enough data for a trial of ways to start: ") && err.contains(says), "{err}");
            let start = format!("start: fine-tuned from English ({}), without a trial", license.license());
            assert!(err.contains(&start), "{err}");
        } else {
            let start = format!("start: from scratch; senv's English model is under {}", license.license());
            assert!(err.contains(&start), "{err}");
        }
    }
    folder.write("p.csv", "a cat sat,a kitten sat\nrain falls,it rains\n");
    let ended = folder.run(&["train", "--pairs", "p.csv", "--output", "n.senv"]);
    assert!(!ended.err.contains("about") && !ended.err.contains("start:"), "{}", ended.err);
    ended.fails(1, &["p.csv:1: 1 column; expected 2"]);
    #[cfg(unix)]
    {
        let ended = folder.run(&["train", "/dev/null", "--output", "n.senv"]);
        assert!(!ended.err.contains("words:"), "{}", ended.err);
        ended.fails(1, &["/dev/null contains no text"]);
    }
}

#[test]
fn scores_from_0_to_5_choose_their_grid() {
    let folder = Folder::with_model();
    folder.write("s.tsv", "0.1\tA dog runs\tSnow falls\n4.5\tA dog runs\tThe dog is running\n3\tA cat\tA kitten\n");
    let train = ["train", "relatedness", "--model", "english", "--train", "s.tsv", "--epochs", "1", "--force"];
    let train = |more: &[&str]| folder.run(&[&train[..], &["--output", "r.senv"], more].concat());
    let err = train(&[]).ok().err;
    assert!(err.contains("--grid 0-5"), "{err}");
    train(&["--grid", "1-5"]).fails(1, &["the score 0.1 is outside the scale from 1 to 5", "--grid"]);
    folder.write("s.tsv", "0.1\tA dog runs\tSnow falls\n9\tA dog runs\tThe dog is running\n");
    train(&[]).fails(1, &["--grid"]);
}
