//! word2vec binary, against bytes written by hand.

use crate::common::*;
use senv_store::{Embeddings, Error, Format, InvalidUtf8, NonFinite, Position, ReadOptions};

/// Two words of two values: 1.5, -2 and 0.25, 32.125 (whose bytes hold a blank and a line end).
fn small(newlines: bool) -> Vec<u8> {
    let end: &[u8] = if newlines { b"\n" } else { b"" };
    let first = [0x00, 0x00, 0xc0, 0x3f, 0x00, 0x00, 0x00, 0xc0];
    let second = [0x00, 0x00, 0x80, 0x3e, 0x0a, 0x20, 0x00, 0x42];
    [b"2 2\n</s> ".as_slice(), &first, end, b"cat ", &second, end].concat()
}

fn expected() -> [f32; 4] {
    [1.5, -2.0, 0.25, f32::from_bits(0x4200_200a)]
}

#[test]
fn a_file_written_by_hand_is_read_with_and_without_line_ends() {
    for newlines in [true, false] {
        let bytes = small(newlines);
        let options = ReadOptions::default();
        for result in [read(&bytes), read_as(&bytes, Format::Word2vecBinary), read_in_drops(&bytes, &options)] {
            let (embeddings, report) = result.unwrap();
            assert_eq!(
                (words(&embeddings), values(&embeddings)),
                (vec!["</s>".into(), "cat".into()], expected().to_vec())
            );
            assert_eq!((report.format, report.rows), (Format::Word2vecBinary, 2));
        }
    }
    let mut last_missing = small(true);
    last_missing.pop();
    assert_eq!(values(&read(&last_missing).unwrap().0), expected());
}

#[test]
fn what_is_written_has_the_bytes_of_the_format_and_reads_back_to_the_same_bits() {
    let folder = Folder::new();
    let path = folder.path("vectors.bin");
    let original = embeddings(&["</s>", "cat"], 2, &expected());
    original.write(&path, Format::Word2vecBinary, NonFinite::Error).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), small(true));
    for dim in [1, 2, 4, 8] {
        let names = ["a", "naïve", "a\u{a0}b", "x_y", "7", "\u{85}", "-", "1e5"];
        let original = embeddings(&names[..8 / dim], dim, &HARD);
        original.write(&path, Format::Word2vecBinary, NonFinite::Error).unwrap();
        let again = Embeddings::open(&path).unwrap();
        assert_eq!((words(&again), bits(&again)), (words(&original), bits(&original)));
    }
}

#[test]
fn a_file_that_is_cut_or_goes_on_is_an_error() {
    let bytes = small(true);
    for end in 0..bytes.len() - 1 {
        let result = read_as(&bytes[..end], Format::Word2vecBinary);
        assert!(result.is_err(), "the first {end} bytes");
        let streamed = read_in_drops(&bytes[..end], &ReadOptions::default().format(Format::Word2vecBinary));
        let refused =
            matches!(streamed, Err(Error::Truncated { .. } | Error::BadHeader { .. } | Error::UnknownFormat { .. }));
        assert!(refused, "the first {end} bytes: {streamed:?}");
    }
    for tail in [b"\n".as_slice(), b"x", b"cat 12345678\n"] {
        let result = read_as(&[bytes.as_slice(), tail].concat(), Format::Word2vecBinary);
        assert!(matches!(result, Err(Error::TrailingBytes { .. })), "{tail:?}: {result:?}");
    }
    let few = [b"3".as_slice(), &bytes[1..]].concat();
    assert!(matches!(error(&few), Error::DeclaredTooMuch { rows: 3, dim: 2, .. }));
}

#[test]
fn impossible_headers_fail_at_once() {
    let body = &small(true)[4..];
    for big in ["2147483648", "4294967296", "9223372036854775808", "18446744073709551615"] {
        for header in [format!("{big} 2\n"), format!("2 {big}\n")] {
            let result = read_as(&[header.as_bytes(), body].concat(), Format::Word2vecBinary);
            assert!(matches!(result, Err(Error::AboveLimit { .. })), "{header:?}: {result:?}");
        }
    }
    // 4 · 2^30 wraps to 0 in 32 bits.
    let result = read_as(b"1073741824 1\n", Format::Word2vecBinary);
    assert!(matches!(result, Err(Error::DeclaredTooMuch { .. })), "{result:?}");
    // The length of a stream is unknown; memory grows with what is read.
    let streamed = read_in_drops(b"2147483647 65536\na 1", &ReadOptions::default().format(Format::Word2vecBinary));
    assert!(matches!(streamed, Err(Error::Truncated { .. })), "{streamed:?}");
    assert!(matches!(read_as(b"2 0\n", Format::Word2vecBinary), Err(Error::ZeroDim { .. })));
    assert_eq!(read_as(b"0 2\n", Format::Word2vecBinary).unwrap().0.len(), 0);
}

#[test]
fn words_out_of_step_too_long_or_not_utf8_are_named_by_their_byte() {
    let one = |word: &[u8]| [b"1 1\n".as_slice(), word, b" \x00\x00\x80\x3f\n"].concat();
    let read_one = |word: &[u8]| read_as(&one(word), Format::Word2vecBinary);
    assert!(matches!(read_one(b"a\x00b"), Err(Error::BadWord { at: Position::Byte(4), .. })));
    assert!(matches!(read_one(b""), Err(Error::BadWord { at: Position::Byte(4), .. })));
    assert!(matches!(read_one(b"a\nb"), Err(Error::BadWord { at: Position::Byte(4), dim: 1, .. })));
    assert!(matches!(read_one(b"\n\na"), Err(Error::BadWord { .. })));
    assert_eq!(words(&read_one(&[b'x'; 4096]).unwrap().0)[0].len(), 4096);
    assert!(matches!(read_one(&[b'x'; 4097]), Err(Error::TooLong { at: Position::Byte(4), limit: 4096, .. })));
    assert!(matches!(read_one(b"caf\xe9"), Err(Error::InvalidUtf8 { at: Position::Byte(4), .. })));
    let options = ReadOptions::default().format(Format::Word2vecBinary).invalid_utf8(InvalidUtf8::Replace);
    let (embeddings, report) = read_with(&one(b"caf\xe9"), &options).unwrap();
    assert_eq!((words(&embeddings), report.invalid_utf8), (vec!["caf\u{fffd}".into()], 1));
}

#[test]
fn words_with_blanks_do_not_become_other_words_and_numbers() {
    // Rows as gensim writes phrases, which its own reader takes for something else, too.
    let rows: [(&str, [f32; 3]); 3] =
        [("hello", [1.0, 0.0, 0.0]), ("my name", [0.0, 1.0, 0.5]), ("is", [0.25, 0.0, 1.0])];
    let mut bytes = b"3 3\n".to_vec();
    for (word, row) in rows {
        bytes.extend_from_slice(word.as_bytes());
        bytes.push(b' ');
        row.iter().for_each(|x| bytes.extend_from_slice(&x.to_le_bytes()));
    }
    let error = read_as(&bytes, Format::Word2vecBinary).unwrap_err();
    assert!(matches!(error, Error::BadWord { at: Position::Byte(37), .. }), "{error}");
    assert!(error.to_string().contains("words contain spaces"), "{error}");
    let control = b"1 1\na\x07b \x00\x00\x80\x3f";
    let error = read_as(control, Format::Word2vecBinary).unwrap_err();
    assert!(matches!(error, Error::BadWord { at: Position::Byte(4), .. }), "{error}");
}

#[test]
fn a_header_may_be_wrong_and_the_first_rows_may_be_enough() {
    let rows: Vec<u8> = [1.0_f32, 2.0, 3.0].iter().flat_map(|x| [&b"a "[..], &x.to_le_bytes()].concat()).collect();
    let rows: Vec<u8> = rows.chunks(6).zip(b"abc").flat_map(|(row, word)| [&[*word], &row[1..]].concat()).collect();
    for declared in [1, 2, 3, 4, 1000] {
        let bytes = [format!("{declared} 1\n").as_bytes(), &rows].concat();
        let options = ReadOptions::default().format(Format::Word2vecBinary);
        let any = options.clone().accept_wrong_row_count(true);
        let (embeddings, report) = read_with(&bytes, &any).unwrap();
        assert_eq!((words(&embeddings).concat(), report.rows), ("abc".into(), 3), "{declared}");
        assert_eq!(read_with(&bytes, &options).is_ok(), declared == 3);
        let first = read_with(&bytes, &any.first_rows(2)).unwrap().0;
        assert_eq!(words(&first).concat(), "ab");
    }
}

#[test]
fn a_big_endian_copy_is_read_as_other_numbers_and_not_as_other_words() {
    let mut bytes = small(true);
    for start in [9, 13, 22, 26] {
        bytes[start..start + 4].reverse();
    }
    let (embeddings, _) = read(&bytes).unwrap();
    assert_eq!(words(&embeddings), ["</s>", "cat"]);
    assert_eq!(embeddings.get("</s>").unwrap()[0].to_bits(), 0x0000_c03f);
}
