//! Formats and destinations of `encode` and `convert`, and files that open as models.

use crate::common::Folder;

#[test]
fn the_ending_of_an_output_is_its_format_and_others_are_refused() {
    let folder = Folder::with_model();
    let sentences = "the cat saw the dog\n\nthe bread\n";
    folder.write("s.txt", sentences);
    let encode = |name: &str, more: &[&str]| {
        let args = ["encode", "--model", "m.senv", "--input", "s.txt", "--output", name];
        folder.run(&[&args[..], more].concat())
    };
    let read = |name: &str, more: &[&str]| {
        encode(name, more).ok();
        String::from_utf8(folder.read(name)).unwrap()
    };
    let numbers = |text: &str, separator: char| -> Vec<Vec<f32>> {
        text.lines().map(|line| line.split(separator).map(|x| x.parse().unwrap()).collect()).collect()
    };
    let plain = numbers(&read("v", &[]), ' ');
    assert_eq!((plain.len(), plain[0].len()), (3, 12));
    for (name, separator) in [("v.txt", ' '), ("v.tsv", '\t'), ("v.csv", ','), ("V.CSV", ',')] {
        assert_eq!(numbers(&read(name, &[]), separator), plain, "{name}");
    }
    let whole: Vec<Vec<f32>> = serde_json::from_str(&read("v.json", &[])).unwrap();
    let lines = read("v.jsonl", &[]);
    let lines: Vec<Vec<f32>> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&whole, &lines), (&plain, &plain));
    assert!(read("d.json", &["--digits", "2"]).lines().nth(1).unwrap().split(',').count() >= 12);
    folder.write("s.txt", "");
    assert_eq!(serde_json::from_str::<Vec<f32>>(&read("none.json", &[])).unwrap(), [0.0; 0]);
    assert_eq!(read("none.csv", &[]), "");
    if cfg!(not(feature = "arrow")) {
        encode("v.parquet", &[]).fails(2, &["v.parquet", "--features arrow"]);
    }
    for name in ["v.vec", "v.txt.gz", "v.senv"] {
        encode(name, &[]).fails(2, &[name, ".npy, .csv, .tsv, .json, .jsonl, .txt"]);
        assert!(!folder.has(name));
    }
}

#[test]
fn more_lines_than_a_batch_are_one_json_array() {
    let folder = Folder::with_model();
    folder.write("many.txt", crate::common::text(3000));
    folder.run(&["encode", "--model", "m.senv", "--input", "many.txt", "--output", "v.json"]).ok();
    let rows: Vec<Vec<f32>> = serde_json::from_slice(&folder.read("v.json")).unwrap();
    assert!(rows.len() == 3000 && rows.iter().all(|row| row.len() == 12));
}

#[test]
fn word_vectors_go_to_standard_output_where_their_format_can() {
    let folder = Folder::with_model();
    for format in ["glove-text", "word2vec-text", "fasttext-vec", "word2vec-binary"] {
        folder.run(&["convert", "m.senv", "file", "--to", format, "--force"]).ok();
        let output = folder.command(&["convert", "m.senv", "-", "--to", format]).output().unwrap();
        assert!(output.status.success() && output.stdout == folder.read("file"), "{format}");
    }
    for format in ["senv", "npy"] {
        folder.run(&["convert", "m.senv", "-", "--to", format]).fails(2, &["cannot be written to standard output"]);
    }
    folder.run(&["convert", "m.senv", "-"]).fails(2, &["--to"]);
    folder.train("text.txt", "-", &[]).fails(2, &["--output -", "give a file"]);
    folder.train("text.txt", "n.senv", &["--checkpoint", "-"]).fails(2, &["--checkpoint -"]);
    folder.run(&["eval", "norms", "--model", "m.senv", "--svg", "-"]).fails(2, &["--svg -"]);
    assert_eq!(folder.names(), ["file", "m.senv", "text.txt"], "no file of the name -");
}

#[test]
fn a_folder_for_a_model_is_called_a_folder() {
    let folder = Folder::with_model();
    std::fs::create_dir(folder.path("models")).unwrap();
    folder.write("pairs.tsv", crate::common::pairs(20));
    for args in [
        &["encode", "--model", "models"][..],
        &["similarity", "--model", "models", "a", "b"],
        &["info", "models"],
        &["expand-vocabulary", "--model", "m.senv", "--vectors", "models", "--output", "n.senv"],
        &["train", "weighted", "--model", "models", "--input", "text.txt", "--output", "n.senv"],
        &["train", "pp", "--pairs", "pairs.tsv", "--init-vectors", "models", "--output", "n.senv"],
    ] {
        folder.run(args).fails(1, &["models is a folder; expected a senv model or a file of word vectors"]);
    }
    folder.write("models/dictionary.txt", "the\n");
    folder.run(&["info", "models"]).fails(1, &["senv convert FOLDER out.senv"]);
}

#[test]
fn blank_lines_between_documents_are_no_unknown_sentences() {
    let folder = Folder::with_text(60);
    let args = ["train", "rnn-ae", "--input", "text.txt", "--output", "ae.senv", "--hidden", "6", "--dim", "6"];
    folder.run(&[&args[..], &["--epochs", "1", "--min-count", "1"]].concat()).ok();
    let lines = "the cat saw the dog\n\n \nqqq zzz\n";
    let encoded = folder.pipe(&["encode", "--model", "ae.senv"], lines).ok();
    for says in ["2 sentences encoded", "2 blank lines: zero vectors", "1 sentence without a known word"] {
        assert!(encoded.err.contains(says), "{}", encoded.err);
    }
    let decoded = folder.pipe(&["decode", "--model", "ae.senv"], lines).ok();
    assert_eq!(decoded.out.lines().count(), 2, "{}", decoded.out);
    assert!(decoded.err.contains("1 sentence without a known word"), "{}", decoded.err);
}

/// fastText ends a line at the token `</s>`.
#[test]
fn a_mark_of_a_sentence_end_within_a_line_divides_nothing() {
    let folder = Folder::with_model();
    folder.write("text.vec", "cat 1 0\ndog 0 1\n</s> 5 5\n");
    let encode = |model: &str, text: &str| folder.pipe(&["encode", "--model", model], text).ok().out;
    assert_eq!(encode("m.senv", "the cat </s> saw the dog\n").lines().count(), 1);
    assert_ne!(encode("m.senv", "the cat </s> saw the dog\n"), encode("m.senv", "the cat\n"));
    let row = encode("text.vec", "cat </s> dog\n");
    assert_eq!(row, "2.0 2.0\n", "a word like others");
}
