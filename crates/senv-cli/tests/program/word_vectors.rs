//! Word vectors from other programs, whose words come from other tokenizers.

use serde_json::Value;

use crate::common::Folder;

/// The vectors of these sentences with the word vectors in this file.
fn vectors(folder: &Folder, model: &str, sentences: &[&str]) -> Vec<Vec<f32>> {
    folder.write("s.txt", sentences.join("\n") + "\n");
    folder.run(&["encode", "--model", model, "--input", "s.txt", "--output", "s.jsonl", "--force"]).ok();
    let text = String::from_utf8(folder.read("s.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn cosine(folder: &Folder, model: &str, a: &str, b: &str) -> f64 {
    let answer: Value = folder.run(&["similarity", "--model", model, "--json", a, b]).ok().json();
    answer["cosine"].as_f64().unwrap()
}

#[test]
fn one_row_with_capitals_leaves_lower_case_vectors_lower_case() {
    let folder = Folder::new();
    let lower = "the 1 0 0\ncat 0 0 1\nsat 0 1 0\ndog 0 2 0\n";
    folder.write("lower.vec", lower);
    let plain = vectors(&folder, "lower.vec", &["The Cat", "the CAT sat"]);
    assert_eq!(plain, [vec![0.5, 0.0, 0.5], vec![1.0 / 3.0; 3]]);
    for row in ["UNK", "<UNK>", "UUUNKKK", "XD", "É"] {
        folder.write("more.vec", format!("{lower}{row} .1 .1 .1\n"));
        assert_eq!(vectors(&folder, "more.vec", &["The Cat", "the CAT sat"]), plain, "{row}");
        let said = folder.run(&["similarity", "--model", "more.vec", "The cat", "a dog"]).ok().err;
        assert!(
            said.contains("1 of 5 words in more.vec have capitals") && said.contains("--lowercase false"),
            "{said}"
        );
    }
    // The unchanged word is looked up first, so its row is found.
    assert_eq!(vectors(&folder, "more.vec", &["É"]), [vec![0.1; 3]]);
    // The choice can be made with an option, and is stored.
    folder.run(&["convert", "more.vec", "cased.senv", "--lowercase", "false"]).ok();
    assert_eq!(vectors(&folder, "cased.senv", &["The Cat sat"]), [vec![0.0, 1.0, 0.0]]);
    folder
        .run(&["convert", "more.vec", "cased.vec", "--lowercase", "false", "--force"])
        .fails(2, &["--lowercase", ".senv"]);
}

#[test]
fn words_that_the_tokenizer_would_split_are_found_as_a_whole() {
    let folder = Folder::new();
    folder.write("g.vec", "6 3\nI 1 0 0\ndon't 0 -1 0\nlike 0 0 1\nit 0 1 0\nC++ 1 1 0\nmy 1 0 1\n");
    let apart = cosine(&folder, "g.vec", "I don't like it", "I like it");
    assert!(apart < 0.9, "{apart}");
    assert_eq!(vectors(&folder, "g.vec", &["don't", "C++!"]), [[0.0, -1.0, 0.0], [1.0, 1.0, 0.0]]);
    for query in ["don't", "C++"] {
        let answer = folder.run(&["nearest", "--model", "g.vec", "--query", query]).ok();
        assert!(!answer.err.contains("known"), "{}", answer.err);
    }
    folder.run(&["convert", "g.vec", "g.senv", "--tokenizer", "unicode"]).ok();
    assert_eq!(vectors(&folder, "g.senv", &["don't", "I like it."])[0], [0.0, -1.0, 0.0]);
}

#[test]
fn a_word_whose_row_is_zero_is_known() {
    let folder = Folder::new();
    folder.write("w.vec", "a 1 0\nnil 0 0\nb 0 1\n");
    folder.run(&["nearest", "--model", "w.vec", "--query", "nil"]).fails(1, &["\"nil\"", "add up to zero"]);
    let two = folder.run(&["nearest", "--model", "w.vec", "--query", "nil", "--query", "a"]).ok();
    assert!(two.err.contains("add up to zero") && !two.err.contains("is known"), "{}", two.err);
    folder.write("s.txt", "nil\n\na\nzebra\nnil nil\n");
    let said = folder.run(&["encode", "--model", "w.vec", "--input", "s.txt", "--output", "s.npy"]).ok().err;
    for part in
        ["1 blank line: zero", "1 sentence without a known word", "2 sentences with word vectors that add up to zero"]
    {
        assert!(said.contains(part), "{part}: {said}");
    }
}

#[test]
fn english_is_a_name_and_a_file_of_that_name_has_a_path() {
    let folder = Folder::with_model();
    std::fs::copy(folder.path("m.senv"), folder.path("english")).unwrap();
    let dim = |model: &str| folder.run(&["info", model, "--json"]).ok().json()["dim"].as_u64().unwrap();
    assert_eq!([dim("english"), dim("./english"), dim("m.senv")], [514, 12, 12]);
    let vector = |model: &str| vectors(&folder, model, &["the cat saw the dog"])[0].len();
    assert_eq!([vector("english"), vector("./english")], [514, 12]);
    folder.run(&["index", "text.txt", "--output", "e.index", "--model", "english"]).ok();
    folder.run(&["search", "e.index", "--query", "the cat"]).ok();
    let weighted = ["train", "weighted", "--model", "english", "--input", "text.txt", "--output", "w.senv"];
    folder.run(&weighted).ok();
    folder.write("scored.tsv", crate::common::scored(30));
    let head = ["train", "relatedness", "--model", "english", "--train", "scored.tsv", "--output", "r.senv"];
    folder.run(&head).ok();
    folder.train("text.txt", "english", &["--force"]).fails(2, &["./english"]);
}

#[test]
fn a_wrong_header_and_the_first_rows_have_options_that_exist() {
    let folder = Folder::new();
    let rows = "hello 1 0\nmy name 0 1\nis 1 1\n";
    for declared in [2, 4, 9000] {
        folder.write("v.vec", format!("{declared} 2\n{rows}"));
        let refused = folder.run(&["convert", "v.vec", "v.txt", "--to", "word2vec-text"]);
        refused.fails(1, &["v.vec", "header", "--accept-row-count"]);
        folder.run(&["convert", "v.vec", "v.senv", "--accept-row-count", "--force"]).ok();
        let info = folder.run(&["info", "v.senv", "--json"]).ok().json();
        assert_eq!(info["words"], 3, "{info}");
    }
    folder.run(&["convert", "v.vec", "one.txt", "--first", "1", "--to", "glove-text"]).ok();
    assert_eq!(folder.read("one.txt"), b"hello 1.0 0.0\n");
    let first = ["convert", "english", "few.txt", "--first", "2", "--to", "word2vec-text"];
    folder.run(&first).fails(2, &["--first"]);
    // Phrases count as words.
    let near = folder.run(&["nearest", "--model", "v.senv", "--query", "my name", "-k", "1"]).ok();
    assert!(!near.err.contains("known"), "{}", near.err);
    folder.write("t.vec", "2 2\nhello\t1\t0\nis\t1\t1\n");
    folder.run(&["convert", "t.vec", "t.senv"]).fails(1, &["t.vec", "tab"]);
}

#[test]
fn text_that_is_no_text_is_refused_by_name() {
    let folder = Folder::new();
    let utf16: Vec<u8> = "The cat sat.\nA dog ran.\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    folder.write("utf16.txt", &utf16);
    folder.write("base.txt", b"SQLite format 3\0\x10\0\x01\x01\0@  \0\0");
    folder.write("a.tar", [&b"text.txt"[..], &[0; 249], b"ustar\x0000", &[0; 248], b"The cat.\n"].concat());
    folder.write("late.txt", b"The cat sat.\nA dog\0 ran.\n");
    for (name, says) in [
        ("utf16.txt", "in UTF-16"),
        ("base.txt", "an SQLite database"),
        ("a.tar", "a tar archive"),
        ("late.txt", "late.txt:2: byte 6 of the line is NUL"),
    ] {
        for command in [
            &["encode", "--output", "v.npy", "--input", name][..],
            &["dedupe", name],
            &["train", "sent2vec", "--output", "m.senv", "--input", name],
            &["index", name, "--output", "c"],
        ] {
            folder.run(command).fails(1, &[name, says]);
        }
    }
    folder.run(&["dedupe", "late.txt", "--invalid-utf8", "replace"]).ok();
}

#[test]
fn quotes_of_tsv_are_text_in_every_command() {
    let folder = Folder::new();
    let text = "id\ttext\n1\t\"Hello there\n2\tthe plain line\n3\tclosing\" here\n4\t\"quoted\"\n";
    folder.write("q.tsv", text);
    let kept = folder.run(&["dedupe", "q.tsv", "--column", "text"]).ok();
    assert_eq!(kept.out, "\"Hello there\nthe plain line\nclosing\" here\n\"quoted\"\n");
    assert!(kept.err.contains("q.tsv:5") && kept.err.contains("--quotes"), "{}", kept.err);
    folder.run(&["index", "q.tsv", "--column", "text", "--column", "id", "--output", "q"]).ok();
    let hits = folder.run(&["search", "q", "--query", "quoted", "-k", "1"]).ok().out;
    assert!(hits.contains("\"quoted\""), "{hits}");
    folder.write("r.tsv", "id\ttext\n1\t\"Hello\tthere\"\n2\t\"b\nc\"\n");
    let read = folder.run(&["dedupe", "r.tsv", "--column", "text", "--quotes"]).ok();
    assert_eq!(read.out, "Hello there\nb c\n");
    assert!(!read.err.contains("--quotes"), "{}", read.err);
}

#[test]
fn a_matrix_with_a_value_that_is_no_number_is_named_and_not_the_output() {
    let folder = Folder::new();
    let mut header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }".to_owned();
    header += &" ".repeat(117 - header.len());
    let mut bytes = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
    bytes.extend(header.as_bytes());
    bytes.push(b'\n');
    [1.0, 2.0, f32::NAN, 4.0].iter().for_each(|x| bytes.extend(x.to_le_bytes()));
    folder.write("x.npy", bytes);
    folder.write("x.words.txt", "a\nb\n");
    for output in ["-", "y.bin", "y.senv"] {
        folder
            .run(&["convert", "x.npy", output, "--to", if output == "y.senv" { "senv" } else { "word2vec-text" }])
            .fails(1, &["x.npy, row 2: the row of \"b\" contains NaN"]);
    }
}

#[test]
fn the_values_of_a_folder_of_model2vec_are_counted_as_they_are_written() {
    let folder = Folder::new();
    let ended = folder.run(&["convert", "english", "m2v", "--to", "model2vec"]).ok();
    assert!(ended.err.contains("50,000 words of 256 dimensions written to m2v"), "{}", ended.err);
    assert!(ended.err.contains("word order is dropped"), "{}", ended.err);
}
