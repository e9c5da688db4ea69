//! Errors are one line with a remedy, have the right exit code, and lose nothing.

use std::io::Write;

use crate::common::{Folder, text};

#[test]
fn wrong_usage_ends_with_2() {
    let folder = Folder::with_text(50);
    for args in
        [&["dance"][..], &["train"], &["compress"], &["similarity", "--model", "m", "only one"], &["train", "sent2vec"]]
    {
        assert_eq!(folder.run(args).code, Some(2), "{args:?}");
    }
    let train = |more: &[&str]| folder.train("text.txt", "m.senv", more);
    assert_eq!(train(&["--checkpoint-every", "often"]).code, Some(2));
    assert_eq!(train(&["--threads", "1025"]).code, Some(2));
    let base = ["train", "sent2vec", "--input", "text.txt", "--output", "m.senv", "--min-count", "1"];
    let run = |more: &[&str]| folder.run(&[&base[..], more].concat());
    run(&["--dim", "0"]).fails(2, &["dim must be", "got 0"]);
    run(&["--lr", "NaN"]).fails(2, &["lr must be", "got NaN"]);
    run(&["--lr", "-0.1"]).fails(2, &["lr must be"]);
    run(&["--epochs", "0"]).fails(2, &["epochs must be"]);
    run(&["--negatives", "0"]).fails(2, &["negatives must be"]);
    run(&["--subsample", "NaN"]).fails(2, &["must be"]);
    run(&["--word-ngrams", "0"]).fails(2, &["must be"]);
    run(&["--l1", "-1"]).fails(2, &["l1 must be"]);
    folder.train("-", "m.senv", &["--resume"]).fails(2, &["standard input", "give it as a file"]);
    folder.train("text.txt", "text.txt", &[]).fails(2, &["text.txt is also an input", "--output"]);
    assert_eq!(folder.read("text.txt"), text(50).as_bytes());
    assert_eq!(folder.names(), ["text.txt"]);
}

#[test]
fn bad_text_is_named() {
    let folder = Folder::new();
    let train = |name: &str, more: &[&str]| folder.train(name, "m.senv", more);
    train("absent.txt", &[]).fails(1, &["cannot open absent.txt", "No such file"]);
    folder.write("empty.txt", "");
    train("empty.txt", &[]).fails(1, &["empty.txt contains no text"]);
    folder.write("blank.txt", "\n \n\n");
    train("blank.txt", &[]).fails(1, &["blank.txt contains no text"]);

    let mut bytes = text(30).into_bytes();
    bytes.extend_from_slice(b"the caf\xe9 was closed\n");
    bytes.extend_from_slice(text(30).as_bytes());
    folder.write("latin.txt", &bytes);
    train("latin.txt", &[])
        .fails(1, &["latin.txt:31: byte 8", "--invalid-utf8 windows-1252", "--invalid-utf8 replace"]);
    train("latin.txt", &["--invalid-utf8", "replace"]).ok();
    folder.run(&["encode", "--model", "m.senv", "--input", "latin.txt"]).fails(1, &["latin.txt:31: byte 8"]);
    let replaced = ["encode", "--model", "m.senv", "--input", "latin.txt", "--invalid-utf8", "replace"];
    assert_eq!(folder.run(&replaced).ok().out.lines().count(), 61);

    folder.write("long.txt", "word ".repeat(1000));
    train("long.txt", &["--max-line-bytes", "100"]).fails(1, &["long.txt:1: the line is longer than 100 bytes"]);
    folder.write("rare.txt", "every word here is another one\n");
    let rare = ["train", "sent2vec", "--input", "rare.txt", "--output", "r.senv"];
    folder.run(&rare).fails(1, &["vocabulary is empty", "--min-count"]);
    folder.write("single.txt", "one\none\none\none\none\none\n");
    train("single.txt", &[]).fails(1, &["two known tokens"]);
    assert!(!folder.has("r.senv"));
}

#[test]
fn a_sentence_that_goes_on_over_many_lines_says_how_to_cut_each_by_itself() {
    let folder = Folder::with_model();
    folder.write("words.txt", "word\n".repeat(300_000));
    let says = "words.txt:1: the sentence that starts here spans";
    folder.run(&["split", "words.txt"]).fails(1, &[says, "(--by lines)"]);
    folder.run(&["encode", "words.txt", "--split", "--model", "m.senv"]).fails(1, &[says, "(--split=lines)"]);
    assert_eq!(folder.run(&["split", "--by", "lines", "words.txt"]).ok().out.lines().count(), 300_000);
}

#[test]
fn a_compressed_file_that_becomes_more_than_text_is_refused_by_every_command_that_reads_it() {
    let folder = Folder::with_model();
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    gz.write_all(&b"cat\n".repeat(70_000)).unwrap();
    folder.write("a.gz", gz.finish().unwrap());
    let commands: [&[&str]; 8] = [
        &["encode", "a.gz", "--model", "m.senv", "--output", "a.npy"],
        &["encode", "a.gz", "--model", "m.senv", "--output", "a.npy", "--shard", "1/2"],
        &["index", "a.gz", "--model", "m.senv", "--output", "a.index"],
        &["train", "sent2vec", "a.gz", "--output", "a.senv"],
        &["train", "a.gz", "--output", "a.senv"],
        &["dedupe", "a.gz", "--model", "m.senv"],
        &["split", "a.gz"],
        &["sample", "a.gz", "--random", "3", "--model", "m.senv"],
    ];
    for command in commands {
        let says = ["a.gz: ", "not plausible for text", "accept any expansion (--any-expansion)"];
        folder.run(command).fails(1, &says);
    }
    for command in &commands[..3] {
        folder.run(&[command, &["--any-expansion", "--force"][..]].concat()).ok();
    }
}

#[test]
fn a_file_that_is_no_text_is_named() {
    let folder = Folder::with_text(50);
    folder.train("text.txt", "m.senv", &[]).ok();
    folder.write("wide.txt", b"\xFF\xFEa\0 \0c\0a\0t\0\n\0");
    folder.write("table.parquet", b"PAR1\x15\x04\x15\x0A\xE2\xFFPAR1");
    folder.write("text.xz", b"\xFD7zXZ\0\0\x04\xE6\xD6\xB4\x46");
    folder.write("paper.pdf", b"%PDF-1.7\n%\xE2\xE3\xCF\xD3\n");
    for (name, found, remedy) in [
        ("wide.txt", "wide.txt is in UTF-16", "iconv"),
        ("table.parquet", "table.parquet is a Parquet file", "one sentence per line"),
        ("text.xz", "text.xz is compressed by xz", "decompress it first"),
        ("paper.pdf", "paper.pdf is a PDF document", "extract its text"),
        ("m.senv", "m.senv is a senv model", "give it as the model"),
    ] {
        folder.run(&["encode", "--model", "m.senv", "--input", name]).fails(1, &[found, remedy]);
        folder.train(name, "n.senv", &["--invalid-utf8", "replace"]).fails(1, &[found, remedy]);
    }
    assert!(!folder.has("n.senv"));
}

#[test]
fn a_place_that_takes_no_file_is_found_before_the_training() {
    let folder = Folder::with_text(50);
    folder.train("text.txt", "nowhere/m.senv", &[]).fails(1, &["the folder nowhere does not exist", "create it"]);
    std::fs::create_dir(folder.path("taken")).unwrap();
    folder.train("text.txt", "taken", &[]).fails(1, &["cannot create taken"]);
    assert_eq!(folder.names(), ["taken", "text.txt"]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_loses_no_model() {
    let folder = Folder::with_text(300);
    folder.train("text.txt", "m.senv", &[]).ok();
    // Writing to this device fails like writing to a full disk.
    let full = folder.train("text.txt", "/dev/full", &["--checkpoint", "c"]);
    full.fails(1, &["cannot write /dev/full", "No space left", "saved as", "senv-rescued-"]);
    assert_eq!(std::fs::read(folder.rescued("full")).unwrap(), folder.read("m.senv"));

    let encode = ["encode", "--model", "m.senv", "--input", "text.txt", "--output"];
    folder.run(&[&encode[..], &["/dev/full"]].concat()).fails(1, &["cannot write /dev/full", "No space left"]);
    let stdout = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let output = folder.command(&[&encode[..], &["-"]].concat()).stdout(stdout).output().unwrap();
    crate::common::Ended::from(output).fails(1, &["cannot write to standard output", "No space left"]);
}

#[test]
fn a_failed_run_leaves_an_older_output_alone() {
    let folder = Folder::with_model();
    folder.write("v.npy", "older");
    folder.write("latin.txt", b"the cat\nthe caf\xe9\n");
    let args = ["encode", "--model", "m.senv", "--input", "latin.txt", "--output", "v.npy", "--force"];
    folder.run(&args).fails(1, &["latin.txt:2"]);
    assert_eq!(folder.read("v.npy"), b"older");
    assert_eq!(folder.names(), ["latin.txt", "m.senv", "text.txt", "v.npy"]);
}

#[test]
fn damaged_and_foreign_models_are_refused() {
    let folder = Folder::with_model();
    let info = |name: &str| folder.run(&["similarity", "--model", name, "the cat", "the dog"]);
    info("absent.senv").fails(1, &["cannot open absent.senv"]);
    let bytes = folder.read("m.senv");
    for length in [0, 4, 100, bytes.len() / 2, bytes.len() - 1] {
        folder.write("cut.senv", &bytes[..length]);
        info("cut.senv").fails(1, &["cut.senv"]);
    }
    let mut flipped = bytes.clone();
    flipped[60] ^= 0x10;
    folder.write("flipped.senv", &flipped);
    info("flipped.senv").fails(1, &["flipped.senv"]);
    folder.write("foreign.bin", b"PK\x03\x04 something packed");
    info("foreign.bin").fails(1, &["ZIP archive"]);
    folder.write("huge.bin", b"1000000000000000000 300\nthe ");
    info("huge.bin").fails(1, &["huge.bin"]);
}
