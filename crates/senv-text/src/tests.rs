use std::{
    io::{self, Read, Write},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use flate2::{Compression, write::GzEncoder};
use proptest::prelude::*;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

use super::*;
use senv_base::{Error, Result};

fn lines_of(mut reader: TextReader) -> Result<Vec<(u64, String)>> {
    let mut lines = Vec::new();
    while let Some(line) = reader.next_line()? {
        lines.push((line.number, line.text.to_owned()));
    }
    Ok(lines)
}

fn read(bytes: &[u8]) -> Result<Vec<(u64, String)>> {
    lines_of(TextReader::from_reader("text", io::Cursor::new(bytes.to_vec()), &TextOptions::default())?)
}

fn texts(bytes: &[u8]) -> Vec<String> {
    read(bytes).unwrap().into_iter().map(|(_, text)| text).collect()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    compress_to_vec(bytes, CompressionLevel::Fastest)
}

/// A skippable frame with five bytes inside.
const SKIPPABLE: &[u8] = b"\x5A\x2A\x4D\x18\x05\0\0\0junk!";

#[test]
fn lines_end_as_they_may() {
    assert_eq!(texts(b"a\r\n\r\n b \nc"), ["a", "", " b ", "c"]);
    assert_eq!(texts(b"a\n"), ["a"]);
    assert_eq!(texts(b"\n\n"), ["", ""]);
    assert_eq!(texts(b""), [""; 0]);
    assert_eq!(texts("\u{FEFF}a\n\u{FEFF}b".as_bytes()), ["a", "\u{FEFF}b"]);
    assert_eq!(texts("\u{FEFF}".as_bytes()), [""; 0]);
    assert_eq!(texts("\u{FEFF}\n".as_bytes()), [""]);
    assert_eq!(texts(b"ab\x1A\x04c\rd\n"), ["ab\x1A\x04c\rd"]);
    assert!(Line { text: " \t\0\r", path: Path::new("x"), number: 1, record: None }.is_blank());
}

#[test]
fn a_nul_is_no_text_and_is_named_by_its_line() {
    let error = read(b"a cat\nb\0d\n").unwrap_err().to_string();
    assert!(error.starts_with("text:2: byte 2 of the line is NUL, which text does not contain;"), "{error}");
    let with = |invalid_utf8| {
        let options = TextOptions { invalid_utf8, ..TextOptions::default() };
        lines_of(TextReader::from_reader("text", io::Cursor::new(b"ab\0\xE9\n".to_vec()), &options).unwrap()).unwrap()
    };
    assert_eq!(with(InvalidUtf8::Replace), [(1, "ab\u{FFFD}\u{FFFD}".into())]);
    assert_eq!(with(InvalidUtf8::Windows1252), [(1, "ab\u{FFFD}é".into())]);
}

#[test]
fn files_follow_one_another_with_line_numbers_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    };
    let paths =
        [file("a", b"1\n2"), file("empty", b""), file("b.txt", &gzip(b"3\n")), file("c.gz", &zstd(b"\xEF\xBB\xBF4"))];
    let mut reader = TextReader::open(&paths, &TextOptions::default()).unwrap();
    let mut seen = Vec::new();
    while let Some(line) = reader.next_line().unwrap() {
        seen.push((line.path.to_owned(), line.number, line.text.to_owned()));
    }
    let expected = [(0, 1, "1"), (0, 2, "2"), (2, 1, "3"), (3, 1, "4")];
    assert_eq!(seen, expected.map(|(file, number, text)| (paths[file].clone(), number, text.to_owned())));

    let missing = [paths[0].clone(), folder.path().join("missing")];
    let Err(Error::Io { path, error: source, .. }) = TextReader::open(&missing, &TextOptions::default()) else {
        panic!()
    };
    assert_eq!((path, source.kind()), (missing[1].clone(), io::ErrorKind::NotFound));
    let opened = TextReader::open(&[folder.path()], &TextOptions::default()).unwrap();
    assert!(matches!(lines_of(opened), Err(Error::Io { action: "read", .. })), "a folder");
    let zero = TextOptions { max_line_bytes: 0, ..TextOptions::default() };
    assert!(matches!(TextReader::open(&paths, &zero), Err(Error::InvalidParameter { name: "max_line_bytes", .. })));
}

#[test]
fn compressed_files_may_have_several_parts() {
    let text: Vec<u8> = (0..40_000).flat_map(|i| format!("line {} of {}\n", i, i * i % 1009).into_bytes()).collect();
    let plain = texts(&text);
    assert_eq!(plain.len(), 40_000);
    let (first, second) = text.split_at(text.len() / 3);
    for packed in [
        gzip(&text),
        [gzip(first), gzip(second)].concat(),
        [gzip(b""), gzip(&text)].concat(),
        zstd(&text),
        [SKIPPABLE, &zstd(first), SKIPPABLE, &zstd(b""), &zstd(second), SKIPPABLE].concat(),
    ] {
        assert!(texts(&packed) == plain);
    }
}

#[test]
fn damaged_compression_is_an_error_that_names_the_file() {
    let text: Vec<u8> =
        (0..3000_u32).flat_map(|i| format!("{} ", i.wrapping_mul(2_654_435_761)).into_bytes()).collect();
    let mut checksum = zstd(&text);
    *checksum.last_mut().unwrap() ^= 1;
    let mut bad_gz = gzip(&text);
    let n = bad_gz.len();
    bad_gz[n - 6] ^= 1;
    let mut cases =
        vec![checksum, bad_gz, [&zstd(&text), &SKIPPABLE[..10]].concat(), [&zstd(&text)[..], b"Plain"].concat()];
    for packed in [gzip(&text), zstd(&text)] {
        for end in [5, 20, packed.len() / 2, packed.len() - 1] {
            cases.push(packed[..end].to_vec());
        }
    }
    for (i, packed) in cases.iter().enumerate() {
        match read(packed) {
            Err(Error::Io { path, action: "decompress", .. }) => assert_eq!(path, Path::new("text")),
            other => panic!("case {i}: {:?}", other.map(|lines| lines.len())),
        }
    }
}

#[test]
fn invalid_utf8_is_named_or_replaced_and_never_ends_the_text() {
    let bytes = b"good\nba\xC3\xA4d \xFF byte\n\xFF\nend\xE2\x80";
    let Err(error) = read(bytes) else { panic!("invalid bytes were taken") };
    let message = error.to_string();
    assert!(matches!(error, Error::InvalidUtf8 { line: 2, byte: 7, .. }), "{message}");
    assert!(message.contains("text:2:") && message.contains("byte 7"), "{message}");

    let options = TextOptions { invalid_utf8: InvalidUtf8::Replace, ..TextOptions::default() };
    let mut reader = TextReader::from_reader("text", &bytes[..], &options).unwrap();
    let mut lines = Vec::new();
    while let Some(line) = reader.next_line().unwrap() {
        lines.push(line.text.to_owned());
    }
    assert_eq!(lines, ["good", "baäd \u{FFFD} byte", "\u{FFFD}", "end\u{FFFD}"]);
    assert_eq!(reader.n_replaced(), 3);

    // A line that is valid UTF-8 stays unchanged.
    let options = TextOptions { invalid_utf8: InvalidUtf8::Windows1252, ..TextOptions::default() };
    let mut reader = TextReader::from_reader("text", &b"caf\xC3\xA9\ncaf\xE9"[..], &options).unwrap();
    assert_eq!(reader.next_line().unwrap().map(|line| line.text), Some("café"));
    assert_eq!(reader.next_line().unwrap().map(|line| line.text), Some("café"));
}

#[test]
fn bytes_that_are_no_utf8_may_be_windows_1252() {
    // What Python's cp1252 gives, and U+0081 for a byte without a character.
    let bytes = b"\x80 It\x92s \x93good\x94 \x96 really\x85 \x9f\xa0\xff \x81";
    let options = TextOptions { invalid_utf8: InvalidUtf8::Windows1252, ..TextOptions::default() };
    let mut reader = TextReader::from_reader("text", &bytes[..], &options).unwrap();
    let line = reader.next_line().unwrap().map(|line| line.text.to_owned());
    assert_eq!(line.as_deref(), Some("€ It’s “good” – really… Ÿ\u{a0}ÿ \u{81}"));
}

/// A text with one endless line, which counts the bytes read.
struct Endless(Arc<AtomicUsize>);

impl Read for Endless {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        buffer.fill(b'x');
        self.0.fetch_add(buffer.len(), Ordering::Relaxed);
        Ok(buffer.len())
    }
}

#[test]
fn an_endless_line_is_refused_after_the_limit() {
    let taken = Arc::new(AtomicUsize::new(0));
    let reader = b"short\n\n".chain(Endless(Arc::clone(&taken)));
    let error = lines_of(TextReader::from_reader("text", reader, &TextOptions::default()).unwrap()).unwrap_err();
    assert!(matches!(error, Error::LineTooLong { line: 3, limit: DEFAULT_MAX_LINE_BYTES, .. }), "{error}");
    assert!(taken.load(Ordering::Relaxed) < DEFAULT_MAX_LINE_BYTES + (1 << 18), "{taken:?} bytes");

    // A compressed endless line is short; the error must come before all of it is decompressed.
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    io::copy(&mut Endless(Arc::default()).take(1 << 26), &mut encoder).unwrap();
    assert!(matches!(read(&encoder.finish().unwrap()), Err(Error::LineTooLong { line: 1, .. })));
}

#[test]
fn the_limit_is_exact() {
    let with_limit = |text: &[u8], max_line_bytes| {
        let options = TextOptions { max_line_bytes, ..TextOptions::default() };
        lines_of(TextReader::from_reader("text", io::Cursor::new(text.to_vec()), &options).unwrap())
    };
    for text in [&b"12345"[..], b"12345\n", b"12345\r\n1", b"\xEF\xBB\xBF12345\r\n", b"\n12345"] {
        assert!(with_limit(text, 5).is_ok(), "{text:?}");
        assert!(matches!(with_limit(text, 4), Err(Error::LineTooLong { limit: 4, .. })), "{text:?}");
    }
    let long = vec![b'y'; 3 << 20];
    assert_eq!(with_limit(&long, 3 << 20).unwrap()[0].1.len(), 3 << 20);
    assert!(with_limit(&long, (3 << 20) - 1).is_err());
    assert!(with_limit(&long, usize::MAX).is_ok());
}

/// Returns a few bytes at a time, like a terminal, and fails the test if more is read than needed.
struct Typed(Vec<&'static [u8]>);

impl Read for Typed {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.0.is_empty() {
            return Err(io::Error::other("nobody types"));
        }
        let next = self.0.remove(0);
        buffer[..next.len()].copy_from_slice(next);
        Ok(next.len())
    }
}

#[test]
fn a_line_is_given_out_as_soon_as_it_is_there() {
    let typed = Typed(vec![b"a\n", b"b", b"c\nd", b"e\n"]);
    let mut reader = TextReader::from_reader("-", typed, &TextOptions::default()).unwrap();
    for expected in ["a", "bc", "de"] {
        assert_eq!(reader.next_line().unwrap().unwrap().text, expected);
    }
    let Err(Error::Io { path, .. }) = reader.next_line() else { panic!("an error was expected") };
    assert_eq!(path, PathBuf::from("-"));
}

#[test]
fn blocks_hold_whole_lines_and_their_numbers() {
    let text: String = (1..=5000).map(|i| format!("{i}{}\n", "x".repeat(i % 97))).collect();
    let mut reader =
        BlockReader::from_reader("t".into(), io::Cursor::new(text.clone()), 1000, false, &TextOptions::default())
            .unwrap();
    let (mut block, mut all, mut n) = (TextBlock::default(), Vec::new(), 0);
    while reader.next_block(&mut block).unwrap() {
        assert!(block.bytes().ends_with(b"\n") && block.bytes().len() <= 1000);
        assert!(block.bytes().starts_with(block.number(0).to_string().as_bytes()));
        all.extend_from_slice(block.bytes());
        n += 1;
    }
    assert_eq!(all, text.as_bytes());
    assert!(n > 200);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_lines_or_an_error(bytes: Vec<u8>, parts in 1_usize..9) {
        struct Slow(io::Cursor<Vec<u8>>, usize);
        impl Read for Slow {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                let n = buffer.len().min(self.1);
                self.0.read(&mut buffer[..n])
            }
        }
        let options = TextOptions { invalid_utf8: InvalidUtf8::Replace, ..TextOptions::default() };
        let whole = lines_of(TextReader::from_reader("t", io::Cursor::new(bytes.clone()), &options).unwrap());
        let slow = lines_of(TextReader::from_reader("t", Slow(io::Cursor::new(bytes.clone()), parts), &options).unwrap());
        match (whole, slow) {
            (Ok(whole), Ok(slow)) => {
                prop_assert_eq!(&whole, &slow);
                let ends = bytes.iter().filter(|&&b| b == b'\n').count();
                prop_assert!(whole.len() == ends || whole.len() == ends + 1);
            }
            (whole, slow) => prop_assert!(whole.is_err() && slow.is_err()),
        }
    }
}
