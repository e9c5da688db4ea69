//! Shards: parts of an input that are encoded separately and joined.

use std::{fs, io::Write};

use crate::common::{Folder, text};

/// A folder with a small model, and text of several blocks: plain, as gzip, as CSV and as JSON lines.
fn folder() -> Folder {
    let folder = Folder::with_model();
    let lines = text(24_000);
    assert!(lines.len() > 4 << 18);
    folder.write("long.txt", &lines);
    folder.write("short.txt", text(50));
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gz.write_all(lines.as_bytes()).unwrap();
    folder.write("long.txt.gz", gz.finish().unwrap());
    let records = || lines.lines().take(13_000).enumerate();
    let csv: String = records().map(|(i, line)| format!("{i},\"{line}\n{i}\"\n")).collect();
    folder.write("t.csv", format!("id,text\n{csv}"));
    let jsonl: String = records().map(|(i, line)| format!("{{\"id\": {i}, \"text\": \"{line}\"}}\n")).collect();
    folder.write("t.jsonl", jsonl);
    folder
}

/// Encodes `n` shards and returns their names.
fn shards(folder: &Folder, n: usize, ending: &str, input: &[&str]) -> Vec<String> {
    let encode = |number: usize| {
        let (shard, output) = (format!("{number}/{n}"), format!("part{number}.{ending}"));
        let threads = (number % 3 + 1).to_string();
        let args = ["--model", "m.senv", "--shard", &shard, "--output", &output, "--force", "--threads", &threads];
        folder.run(&[&["encode"], input, &args[..]].concat()).ok();
        output
    };
    (1..=n).map(encode).collect()
}

#[test]
fn encoded_shards_join_to_the_bytes_of_the_whole() {
    let folder = folder();
    let inputs: [&[&str]; 5] = [
        &["long.txt"],
        &["long.txt.gz"],
        &["short.txt", "long.txt", "short.txt"],
        &["t.csv", "--column", "text"],
        &["t.jsonl", "--field", "text"],
    ];
    for (i, (input, ending)) in inputs.into_iter().zip(["txt", "npy", "tsv", "jsonl", "json"]).enumerate() {
        let whole = format!("whole.{ending}");
        folder.run(&[&["encode"], input, &["--model", "m.senv", "--output", &whole]].concat()).ok();
        for n in [1, 3, 12] {
            let parts = shards(&folder, n, ending, input);
            let sizes: Vec<u64> = parts.iter().map(|part| fs::metadata(folder.path(part)).unwrap().len()).collect();
            assert!(n == 1 || sizes.iter().filter(|size| **size > 1000).count() >= 3, "{input:?} {sizes:?}");
            let joined = format!("joined.{ending}");
            let names: Vec<&str> = parts.iter().map(String::as_str).collect();
            folder.run(&[&["join"], &names[..], &["--output", &joined, "--force"]].concat()).ok();
            assert!(folder.read(&joined) == folder.read(&whole), "{input:?} in {n}");
            if !["npy", "json"].contains(&ending) {
                let cat: Vec<u8> = parts.iter().flat_map(|part| folder.read(part)).collect();
                assert!(cat == folder.read(&whole), "{input:?} in {n}");
            }
        }
        // Encoding a single shard again gives the same result.
        let before = folder.read(&format!("part2.{ending}"));
        let args = ["--model", "m.senv", "--shard", "2/12", "--output"];
        folder.run(&[&["encode"], input, &args[..], &[&format!("part2.{ending}")]].concat()).ok();
        assert!(folder.read(&format!("part2.{ending}")) == before, "{i}");
    }
}

#[test]
fn shards_of_a_recurrent_model_have_the_bits_of_the_whole() {
    let folder = Folder::with_text(300);
    let settings = ["--dim", "6", "--sentence-dim", "8", "--epochs", "1", "--min-count", "1"];
    folder.run(&[&["train", "skip-thought", "--input", "text.txt", "--output", "s.senv"], &settings[..]].concat()).ok();
    folder.write("long.txt", text(14_000));
    folder.run(&["encode", "long.txt", "--model", "s.senv", "--output", "whole.npy"]).ok();
    for number in ["1", "2", "3"] {
        let (shard, output) = (format!("{number}/3"), format!("{number}.npy"));
        let args =
            ["encode", "long.txt", "--model", "s.senv", "--threads", number, "--shard", &shard, "--output", &output];
        folder.run(&args).ok();
    }
    folder.run(&["join", "1.npy", "2.npy", "3.npy", "--output", "joined.npy"]).ok();
    assert!(folder.read("joined.npy") == folder.read("whole.npy"));
}

#[test]
fn what_cannot_be_divided_is_refused_with_a_remedy() {
    let folder = folder();
    let shard = ["encode", "--model", "m.senv", "--shard"];
    folder.pipe(&[&shard[..], &["1/2"]].concat(), "a line\n").fails(1, &["standard input", "write it to a file"]);
    for bad in ["0/2", "3/2", "2", "x/2"] {
        folder.run(&[&shard[..], &[bad, "long.txt"]].concat()).fails(2, &["I/N, as in 2/8", bad]);
    }
    fs::create_dir(folder.path("out")).unwrap();
    folder.run(&[&shard[..], &["1/2", "long.txt", "--output", "out"]].concat()).fails(2, &["--claims FOLDER"]);
    folder.write("bad.txt", [text(12_000).as_bytes(), b"caf\xe9\n", text(12_000).as_bytes()].concat());
    folder.run(&[&shard[..], &["1/3", "bad.txt", "--output", "o.npy"]].concat()).ok();
    folder
        .run(&[&shard[..], &["2/3", "bad.txt", "--output", "p.npy"]].concat())
        .fails(1, &["bad.txt:12001:", "--invalid-utf8 replace"]);
    let few = folder.run(&[&shard[..], &["1/2", "short.txt", "--output", "q.npy"]].concat()).ok();
    assert!(few.err.contains("shard 1/2 is empty"), "{}", few.err);
    // Shards that do not match.
    folder.run(&[&shard[..], &["2/2", "short.txt", "--output", "q.tsv"]].concat()).ok();
    folder.run(&["join", "q.npy", "q.tsv", "--output", "r.npy"]).fails(1, &["q.tsv", "its format differs"]);
    for first in ["q.npy", "out"] {
        let says = &["absent.npy does not exist; give the outputs of all shards"];
        folder.run(&["join", first, "absent.npy", "--output", "r.npy"]).fails(1, says);
    }
    folder.run(&["join", "q.npy", "--output", "q.npy"]).fails(2, &["is also an input"]);
    folder.run(&["join", "q.npy", "out", "--output", "r.npy"]).fails(2, &["out is a folder"]);
    assert!(!folder.has("r.npy"));
}

#[test]
fn a_collection_of_a_shard_of_another_text_is_refused_and_of_a_copy_is_not() {
    let folder = folder();
    let lines = String::from_utf8(folder.read("short.txt")).unwrap();
    folder.write("copy.txt", &lines);
    folder.write("other.txt", lines.replacen("the", "a", 1));
    for (shard, input) in [("1/2", "short.txt"), ("2/2", "copy.txt"), ("2/2", "other.txt")] {
        let output = format!("{input}.index");
        folder.run(&["index", "--model", "m.senv", input, "--shard", shard, "--output", &output]).ok();
    }
    let join = |other: &str| folder.run(&["join", "short.txt.index", other, "--output", "joined.index"]);
    join("other.txt.index").fails(1, &["other.txt.index", "a different input than short.txt.index"]);
    assert!(!folder.has("joined.index"));
    join("copy.txt.index").ok();
}

#[test]
fn collections_of_shards_join_to_the_bytes_of_the_whole() {
    let folder = folder();
    let index = |more: &[&str]| {
        folder.run(
            &[&["index", "--model", "m.senv", "t.csv", "--column", "text", "--column", "number=id"], more].concat(),
        )
    };
    index(&["--output", "whole.index"]).ok();
    for shard in ["1/2", "2/2"] {
        let ended = index(&["--shard", shard, "--output", &format!("{}.index", &shard[..1])]).ok();
        assert!(ended.err.contains(&format!("shard {shard} of 13,000 sentences")), "{}", ended.err);
    }
    // A shard that is made again is the same.
    index(&["--shard", "1/2", "--output", "1.index"]).fails(2, &["--force"]);
    index(&["--shard", "1/2", "--output", "1.index", "--force"]).ok();
    folder.run(&["join", "2.index", "1.index", "--output", "joined.index"]).ok();
    let files = |name: &str| {
        let mut files: Vec<_> = fs::read_dir(folder.path(name)).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        files
            .into_iter()
            .map(|path| (path.file_name().unwrap().to_owned(), fs::read(path).unwrap()))
            .collect::<Vec<_>>()
    };
    assert!(files("joined.index") == files("whole.index"));
    folder.run(&["join", "1.index", "--output", "other.index"]).fails(1, &["shard 2/2 is missing"]);
    folder.run(&["join", "1.index", "whole.index", "--output", "other.index"]).fails(1, &["it is not a shard"]);
    folder.run(&["join", "1.index", "2.index", "--output", "joined.index"]).fails(2, &["--force"]);
    folder.run(&["join", "1.index", "2.index", "--output", "1.index", "--force"]).fails(2, &["one of the shards"]);
    folder.run(&["join", "1.index", "2.index", "--output", "joined.index", "--force"]).ok();
    assert!(!folder.has("other.index"));
    let pipe = ["index", "--model", "m.senv", "--shard", "1/1", "--output", "pipe.index"];
    folder.pipe(&pipe, text(10)).ok();
    folder.run(&["index", "--add", "--shard", "1/2", "short.txt", "--output", "whole.index"]).fails(2, &["--shard"]);
}

#[cfg(feature = "arrow")]
#[test]
fn tables_of_shards_join_to_the_rows_of_the_whole() {
    use senv_core::text::ArrowBatches;
    let folder = folder();
    let encode = |more: &[&str]| folder.run(&[&["encode", "--model", "m.senv"], more].concat()).ok();
    encode(&["long.txt", "--output", "text.parquet"]);
    for ending in ["parquet", "arrow"] {
        for (case, (input, more)) in
            [("long.txt", &[][..]), ("text.parquet", &["--column", "text", "--vector-column", "again"])]
                .iter()
                .enumerate()
        {
            let at = |name: &str| format!("{name}{case}.{ending}");
            encode(&[&[*input], *more, &["--output", &at("whole")]].concat());
            for shard in ["1/3", "2/3", "3/3"] {
                encode(&[&[*input], *more, &["--shard", shard, "--output", &at(&shard[..1])]].concat());
            }
            folder.run(&["join", &at("1"), &at("2"), &at("3"), "--output", &at("joined")]).ok();
            let rows = |name: &str| {
                let mut batches = ArrowBatches::open(folder.path(&at(name)), None).unwrap();
                let schema = batches.schema().clone();
                let mut rows = Vec::new();
                while let Some(batch) = batches.next_batch().unwrap() {
                    rows.extend((0..batch.num_rows()).map(|row| format!("{:?}", batch.slice(row, 1).columns())));
                }
                (schema, rows)
            };
            let whole = rows("whole");
            assert_eq!(whole.1.len(), 24_000);
            assert!(rows("joined") == whole, "{input} {ending}");
        }
    }
}
