//! GloVe text, compressed input, and detection of formats.

use std::io::Write;

use crate::common::*;
use flate2::{Compression, write::GzEncoder};
use senv_store::{Embeddings, Error, Format, NonFinite, Position, ReadOptions};

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn a_file_written_by_hand_is_read_with_blanks_in_words() {
    let text = b"the 0.5 -1\n. . . 1 2\nat name@domain.com 3 4\n7 5 6\n<unk> 0 0";
    for bytes in
        [text.to_vec(), [text.as_slice(), b"\n"].concat(), [b"\xef\xbb\xbf".as_slice(), text].concat(), gzip(text)]
    {
        let (embeddings, report) = read(&bytes).unwrap();
        assert_eq!(words(&embeddings), ["the", ". . .", "at name@domain.com", "7", "<unk>"]);
        assert_eq!(values(&embeddings), [0.5, -1.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 0.0, 0.0]);
        assert_eq!((report.format, report.rows), (Format::GloveText, 5));
    }
    let crlf = b"a\xc2\xa0b 1 2\r\nc\xe2\x80\xa8 3 4\r\n";
    assert_eq!(words(&read(crlf).unwrap().0), ["a\u{a0}b", "c\u{2028}"]);
}

#[test]
fn rows_of_another_dimension_are_refused_by_line() {
    assert!(matches!(error(b"a 1 2\nb 1\n"), Error::WrongDim { at: Position::Line(2), found: 1, expected: 2, .. }));
    // A value too many is no word with a blank.
    assert!(matches!(error(b"a 1 2\nb 1 2 3\n"), Error::WrongDim { at: Position::Line(2), found: 3, expected: 2, .. }));
    assert!(matches!(error(b"a 1 2\nb c d 1 x\n"), Error::BadNumber { at: Position::Line(2), number: 2, .. }));
    assert!(matches!(error(b"a 1 2\n\nb 1 2\n"), Error::EmptyLine { at: Position::Line(2), .. }));
}

#[test]
fn what_is_written_reads_back_to_the_same_bits() {
    let folder = Folder::new();
    let path = folder.path("vectors.txt");
    for dim in [1, 2, 4, 8] {
        let names = ["the", "naïve", "a\u{a0}b", "x_y", "7", "\u{85}", "-", "1e5"];
        let original = embeddings(&names[..8 / dim], dim, &HARD);
        original.write(&path, Format::GloveText, NonFinite::Error).unwrap();
        let again = Embeddings::open(&path).unwrap();
        assert_eq!((words(&again), bits(&again)), (words(&original), bits(&original)));
    }
    embeddings(&["a", "b"], 2, &[0.1, -2.0, 1e-7, 3.5]).write(&path, Format::GloveText, NonFinite::Error).unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "a 0.1 -2.0\nb 1e-7 3.5\n");
}

#[test]
fn the_second_line_tells_a_header_from_a_word_that_is_a_number() {
    // "2 1" as a word and its number, and as a header.
    let (embeddings, report) = read(b"2 3\nx 5\ny 6\n").unwrap();
    assert_eq!((report.format, words(&embeddings)), (Format::GloveText, vec!["2".into(), "x".into(), "y".into()]));
    let (embeddings, report) = read(b"2 1\nx 5\ny 6\n").unwrap();
    assert_eq!((report.format, words(&embeddings)), (Format::Word2vecText, vec!["x".into(), "y".into()]));
    // Three numbers are no header.
    let (embeddings, report) = read(b"2 1 3\nx 5 4\n").unwrap();
    assert_eq!((report.format, embeddings.dim()), (Format::GloveText, 2));
    // The word decides nothing, the bytes after it do.
    let binary = b"1 2\nx \x00\x00\x80\x3f\x00\x00\x80\x3f";
    assert_eq!(read(binary).unwrap().1.format, Format::Word2vecBinary);
}

#[test]
fn files_of_other_programs_are_refused_by_name() {
    let found = |bytes: &[u8]| match error(bytes) {
        Error::UnknownFormat { found, .. } => found,
        other => panic!("{other}"),
    };
    assert_eq!(found(b""), "the file is empty");
    for (bytes, word) in [
        (b"\x93NUMPY\x01\x00".as_slice(), "NumPy matrix"),
        (b"\xba\x16\x4f\x2f\x0c\x00\x00\x00", "a .bin model of fastText"),
        (b"PK\x03\x04....", "ZIP"),
        (b"\x80\x04\x95\x10....", "Python pickle"),
        (b"\x28\xb5\x2f\xfd....", "zstd"),
        (b"Dear reader,\nthis is a letter.\n", "neither"),
        (b"\n\n\n", "neither"),
        (b"\x7fELF\x02\x01\x01\x00", "neither"),
    ] {
        assert!(found(bytes).contains(word), "{bytes:?}: {}", found(bytes));
    }
    let folder = Folder::new();
    let missing = Embeddings::open(folder.path("missing"));
    assert!(matches!(missing, Err(Error::Core(senv_core::Error::Io { .. }))), "{missing:?}");
    let of_folder = Embeddings::open(folder.path(""));
    assert!(
        matches!(of_folder, Err(Error::Core(senv_core::Error::NotAFile { found: "a folder", .. }))),
        "{of_folder:?}"
    );
    assert!(matches!(read_as(b"", Format::GloveText), Err(Error::UnknownFormat { .. })));
}

#[test]
fn compressed_files_are_read_member_by_member_and_bombs_are_not() {
    let two = [gzip(b"2 1\na 1\n"), gzip(b"b 2\n")].concat();
    assert_eq!(words(&read(&two).unwrap().0), ["a", "b"]);
    let cut = &two[..two.len() - 5];
    assert!(matches!(error(cut), Error::Core(senv_core::Error::Io { .. })));
    // 64 MiB of zeros take 64 KiB: a thousand times less.
    let bomb = gzip(&vec![0; 64 << 20]);
    let message = read_as(&bomb, Format::GloveText).unwrap_err().to_string();
    assert!(message.contains("200 times"), "{message}");
    let text = "a 0.5 0.25\n".repeat(10);
    let options = ReadOptions::default().max_expansion(50, 200);
    assert!(read_with(&gzip(text.as_bytes()), &options).unwrap_err().to_string().contains("50 bytes"));
    let model = Folder::new();
    embeddings(&["a"], 1, &[1.0]).save(model.path("m")).unwrap();
    let message = error(&gzip(&std::fs::read(model.path("m")).unwrap())).to_string();
    assert!(
        message.contains("give the uncompressed file")
            || message.contains("no senv")
            || message.contains("safetensors"),
        "{message}"
    );
}
