//! word2vec text and fastText `.vec`, against bytes written by hand.

use crate::common::*;
use senv_store::{Duplicates, Error, Format, InvalidUtf8, NonFinite, Position, ReadOptions};

const SMALL: &[u8] = b"2 3\n</s> 0.5 -1 2e-1\ncat 1 .25 3.\n";

#[test]
fn a_file_written_by_hand_is_read_in_all_its_variations() {
    let variations: [&[u8]; 8] = [
        SMALL,
        b"2 3\r\n</s> 0.5 -1 2e-1\r\ncat 1 .25 3.\r\n",
        b"2 3\n</s> 0.5 -1 2e-1 \ncat 1 .25 3. \n",
        b"2 3\n</s> 0.5 -1 2e-1\ncat 1 .25 3.",
        b"2 3\n</s> 0.5 -1 2e-1 \r\ncat 1 .25 3. ",
        b"\xef\xbb\xbf2 3\n</s> 0.5 -1 2e-1\ncat 1 .25 3.\n",
        b"2\t3\n</s> 0.5 -1 2e-1\ncat 1 .25 3.\n",
        b"002 3 \n</s> +0.5 -1e0 0.2\ncat 1 0.25 3\n",
    ];
    for bytes in variations {
        let text = String::from_utf8_lossy(bytes);
        for result in [read(bytes), read_as(bytes, Format::Word2vecText), read_in_drops(bytes, &ReadOptions::default())]
        {
            let (embeddings, report) = result.unwrap_or_else(|e| panic!("{text:?}: {e}"));
            assert_eq!(words(&embeddings), ["</s>", "cat"], "{text:?}");
            assert_eq!(values(&embeddings), [0.5, -1.0, 0.2, 1.0, 0.25, 3.0], "{text:?}");
            assert_eq!(
                (report.format, report.rows, report.duplicates, report.non_finite),
                (Format::Word2vecText, 2, 0, 0)
            );
        }
    }
}

#[test]
fn what_is_written_reads_back_to_the_same_bits() {
    let folder = Folder::new();
    let names = ["</s>", "naïve", "a\u{a0}b", "a\u{3000}b\u{2028}c", "x_y", "\u{85}", "7", "1e5"];
    for dim in [1, 2, 4, 8] {
        let n = 8 / dim;
        let original = embeddings(&names[..n], dim, &HARD);
        for format in [Format::Word2vecText, Format::FastTextVec] {
            let path = folder.path("vectors");
            original.write(&path, format, NonFinite::Error).unwrap();
            let (again, report) = senv_store::Embeddings::read(&path, &ReadOptions::default()).unwrap();
            assert_eq!((words(&again), bits(&again)), (words(&original), bits(&original)), "{dim} {format}");
            assert_eq!(report.format, Format::Word2vecText);
        }
    }
}

#[test]
fn the_bytes_that_are_written_are_those_of_the_format() {
    let folder = Folder::new();
    let path = folder.path("vectors");
    let small = embeddings(&["a", "b"], 2, &[0.1, -2.0, 1e-7, 3.5]);
    small.write(&path, Format::Word2vecText, NonFinite::Error).unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "2 2\na 0.1 -2.0\nb 1e-7 3.5\n");
    small.write(&path, Format::FastTextVec, NonFinite::Error).unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "2 2\na 0.1 -2.0 \nb 1e-7 3.5 \n");
}

#[test]
fn no_rows_are_rows_too_and_no_dimension_is_an_error() {
    assert_eq!(read(b"0 5\n").unwrap().0.len(), 0);
    assert!(matches!(error(b"0 0\n"), Error::ZeroDim { .. }));
    assert!(matches!(error(b"3 0\n"), Error::ZeroDim { .. }));
    assert_eq!(read(b"1 1\na 7\n").unwrap().0.get("a"), Some([7.0].as_slice()));
}

#[test]
fn impossible_headers_fail_at_once() {
    let rows = b"a 1 2\nb 3 4\n";
    for big in ["2147483648", "4294967296", "9223372036854775808", "18446744073709551615", "99999999999999999999999"] {
        for header in [format!("{big} 2\n"), format!("2 {big}\n"), format!("{big} {big}\n")] {
            let result = read_as(&[header.as_bytes(), rows].concat(), Format::Word2vecText);
            assert!(matches!(result, Err(Error::AboveLimit { .. })), "{header:?}: {result:?}");
        }
    }
    // 2^30 rows of 2^14 + 1: below the ceilings, far above the bytes; the product wraps in 32 bits.
    let result = read(&[b"1073741824 16385\n".as_slice(), rows].concat());
    assert!(matches!(result, Err(Error::DeclaredTooMuch { rows: 1_073_741_824, dim: 16_385, .. })), "{result:?}");
    let message = read(b"1000000000000000000 300\n").unwrap_err().to_string();
    assert!(message.contains("number of rows is 1000000000000000000"), "{message}");
    for header in ["-2 3\n", "+2 3\n", "2 3 4\n", "2  3\n", "2\n", "a b\n", "2 3", "2.0 3\n", " 2 3\n", ""] {
        let result = read_as(header.as_bytes(), Format::Word2vecText);
        let refused = matches!(result, Err(Error::BadHeader { .. } | Error::UnknownFormat { .. }));
        assert!(refused, "{header:?}: {result:?}");
    }
}

#[test]
fn a_row_too_few_or_too_many_is_an_error_unless_accepted() {
    let few = b"3 2\na 1 2\nb 3 4\n";
    let many = b"1 2\na 1 2\nb 3 4\n";
    assert!(matches!(error(many), Error::WrongRowCount { declared: 1, found: 2, .. }));
    // The header asks for more bytes than there are; from a stream, whose length is not known, the rows decide.
    assert!(matches!(error(few), Error::DeclaredTooMuch { .. }));
    let streamed = read_in_drops(few, &ReadOptions::default());
    assert!(matches!(streamed, Err(Error::WrongRowCount { declared: 3, found: 2, .. })));
    for bytes in [few.as_slice(), many] {
        let (embeddings, report) = read_with(bytes, &ReadOptions::default().accept_wrong_row_count(true)).unwrap();
        assert_eq!((embeddings.len(), report.rows), (2, 2));
    }
}

#[test]
fn a_word_with_a_control_character_is_named_by_its_line() {
    for word in ["a\0b", "\u{1b}[2J", "x\u{7f}"] {
        let error = error(format!("2 2\na 1 2\n{word} 3 4\n").as_bytes());
        assert!(matches!(error, Error::ControlCharacter { at: Position::Line(3), .. }), "{error}");
    }
}

#[test]
fn words_may_hold_blanks_and_the_first_rows_may_be_enough() {
    let bytes = b"3 2\nhello 1 0\nmy name 0 1\nto be or not 3 4\n";
    let (embeddings, _) = read(bytes).unwrap();
    assert_eq!(words(&embeddings), ["hello", "my name", "to be or not"]);
    assert_eq!(embeddings.get("my name"), Some([0.0, 1.0].as_slice()));
    for n in [1, 2, 3, 4] {
        let (first, report) = read_with(bytes, &ReadOptions::default().first_rows(n)).unwrap();
        assert_eq!((first.len() as u64, report.rows), (n.min(3), n.min(3)));
        assert_eq!(first.get("hello"), Some([1.0, 0.0].as_slice()));
    }
}

#[test]
fn a_wrong_row_is_named_by_line_and_word() {
    let Error::WrongDim { at: Position::Line(3), word, found: 1, expected: 2, path } = error(b"2 2\na 1 2\nb 3\n")
    else {
        panic!("another error")
    };
    assert_eq!(word, "b");
    let message = Error::WrongDim { path, at: Position::Line(3), word, found: 1, expected: 2 }.to_string();
    assert!(message.ends_with("file:3: \"b\" has 1 numbers, expected 2"), "{message}");
    assert!(matches!(error(b"2 2\na 1 2\nb 3 4 5\n"), Error::WrongDim { at: Position::Line(3), found: 3, .. }));
    for bad in ["x", "0x1p3", "1_000", "1,5", "", "1\u{a0}", "--1", "1e"] {
        let result = read(format!("2 2\na 1 2\nb 3 {bad}\n").as_bytes());
        // An empty last field is the blank at the end of a line, and a number is missing.
        let refused = match &result {
            Err(Error::BadNumber { at: Position::Line(3), word, number: 2, found, .. }) => word == "b" && found == bad,
            Err(Error::WrongDim { at: Position::Line(3), .. }) => bad.is_empty(),
            _ => false,
        };
        assert!(refused, "{bad:?}: {result:?}");
    }
    assert!(matches!(error(b"2 2\na 1 2\nb 3  4\n"), Error::BadNumber { at: Position::Line(3), .. }));
    let tabs = error(b"2 2\na\t1\t2\nb\t3\t4\n").to_string();
    assert!(tabs.contains("tab"), "{tabs}");
    assert!(matches!(error(b"2 2\na 1 2\n\nb 3 4\n"), Error::EmptyLine { at: Position::Line(3), .. }));
    assert!(matches!(error(b"2 2\na 1 2\nb 3 4\n\n"), Error::EmptyLine { at: Position::Line(4), .. }));
}

#[test]
fn lines_far_into_a_file_of_many_pieces_keep_their_numbers() {
    let mut text = String::from("40000 3\n");
    for i in 0..40_000 {
        text.push_str(&format!("word{i} {}.125 -0.5 1e-3\n", i));
    }
    let (embeddings, report) = read(text.as_bytes()).unwrap();
    assert_eq!(report.rows, 40_000);
    for i in [0, 1, 20_000, 39_999] {
        assert_eq!(embeddings.get(&format!("word{i}")), Some([i as f32 + 0.125, -0.5, 0.001].as_slice()));
    }
    let broken = text.replace("word33333 33333.125", "word33333 oops");
    let Error::BadNumber { at, word, number: 1, .. } = error(broken.as_bytes()) else { panic!("another error") };
    assert_eq!((at, word.as_str()), (Position::Line(33_335), "word33333"));
}

#[test]
fn the_first_of_equal_words_stays_and_the_others_are_counted() {
    let bytes = b"4 1\na 1\nb 2\na 3\nc 4\n";
    let (embeddings, report) = read(bytes).unwrap();
    assert_eq!(
        (words(&embeddings), values(&embeddings)),
        (vec!["a".into(), "b".into(), "c".into()], vec![1.0, 2.0, 4.0])
    );
    assert_eq!((report.rows, report.duplicates), (4, 1));
    let strict = read_with(bytes, &ReadOptions::default().duplicates(Duplicates::Error));
    assert!(matches!(strict, Err(Error::Duplicate { at: Position::Line(4), word, .. }) if word == "a"));
}

#[test]
fn words_that_are_not_utf8_follow_the_policy() {
    let bytes = b"3 1\na\xff 1\na\xfe 2\n\xed\xa0\x80 3\n";
    let Error::InvalidUtf8 { at: Position::Line(2), word, .. } = error(bytes) else { panic!("another error") };
    assert_eq!(word, "a\u{fffd}");
    let (embeddings, report) = read_with(bytes, &ReadOptions::default().invalid_utf8(InvalidUtf8::Replace)).unwrap();
    assert_eq!(embeddings.get("a\u{fffd}"), Some([1.0].as_slice()));
    assert_eq!((embeddings.len(), report.invalid_utf8, report.duplicates), (2, 3, 1));
}

#[test]
fn numbers_that_are_not_finite_are_counted_or_refused() {
    let bytes = b"2 3\na nan -NaN 1\nb inf -Infinity 1e999\n";
    let (embeddings, report) = read(bytes).unwrap();
    assert_eq!(report.non_finite, 5);
    assert!(embeddings.get("a").unwrap()[0].is_nan());
    assert_eq!(embeddings.get("b").unwrap(), [f32::INFINITY, f32::NEG_INFINITY, f32::INFINITY]);
    let strict = read_with(bytes, &ReadOptions::default().non_finite(NonFinite::Error));
    assert!(matches!(strict, Err(Error::NonFinite { at: Position::Line(2), .. })));

    let folder = Folder::new();
    let path = folder.path("vectors");
    for format in [Format::Word2vecText, Format::Word2vecBinary, Format::GloveText, Format::Safetensors] {
        assert!(matches!(embeddings.write(&path, format, NonFinite::Error), Err(Error::NonFinite { .. })), "{format}");
        assert!(!path.exists());
        embeddings.write(&path, format, NonFinite::Accept).unwrap();
        let again = senv_store::Embeddings::open(&path).unwrap();
        assert!(again.get("a").unwrap()[1].is_nan() && again.get("b") == embeddings.get("b"), "{format}");
        std::fs::remove_file(&path).unwrap();
    }
}

#[test]
fn long_words_and_endless_lines_stop_at_their_limits() {
    let word = "x".repeat(65_536);
    assert_eq!(read(format!("1 1\n{word} 1\n").as_bytes()).unwrap().0.get(&word), Some([1.0].as_slice()));
    let longer = format!("1 1\n{word}x 1\n");
    assert!(matches!(error(longer.as_bytes()), Error::TooLong { at: Position::Line(2), what: "the word", .. }));
    let endless = vec![b'x'; 20 << 20];
    let result = read_as(&[b"1 1\n".as_slice(), &endless].concat(), Format::Word2vecText);
    assert!(matches!(result, Err(Error::TooLong { at: Position::Line(2), what: "the line", .. })), "{result:?}");
    let result = read_as(&endless, Format::GloveText);
    assert!(matches!(result, Err(Error::TooLong { at: Position::Line(1), what: "the line", .. })), "{result:?}");
    let options = ReadOptions::default().max_dim(2).max_rows(1);
    assert!(matches!(read_with(b"1 3\na 1 2 3\n", &options), Err(Error::AboveLimit { found: 3, limit: 2, .. })));
    assert!(matches!(read_with(b"2 1\na 1\nb 1\n", &options), Err(Error::AboveLimit { found: 2, limit: 1, .. })));
    assert!(matches!(read_with(b"a 1\nb 1\n", &options), Err(Error::AboveLimit { found: 2, limit: 1, .. })));
}

#[test]
fn words_without_a_place_in_the_format_are_not_written() {
    let folder = Folder::new();
    let path = folder.path("vectors");
    for word in ["a b", "a\nb", "a\r", "", "\u{feff}a"] {
        let odd = embeddings(&[word], 1, &[1.0]);
        for format in [Format::Word2vecText, Format::FastTextVec, Format::GloveText, Format::Word2vecBinary] {
            let result = odd.write(&path, format, NonFinite::Error);
            assert!(matches!(result, Err(Error::UnwritableWord { .. })), "{word:?} {format}");
            assert!(!path.exists());
        }
        odd.save(&path).unwrap();
        assert_eq!(words(&senv_store::Embeddings::open(&path).unwrap()), [word]);
        std::fs::remove_file(&path).unwrap();
    }
}
