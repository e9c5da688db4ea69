//! Tests of table records, read in pieces of any size.

use std::io::Read;

use super::*;
use crate::{InvalidUtf8, Split, TextOptions, TextReader};

mod json;
mod leaving_out;
mod places;

/// Returns a given number of bytes at a time.
struct Pieces(std::io::Cursor<Vec<u8>>, usize);

impl Read for Pieces {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let n = buffer.len().min(self.1);
        self.0.read(&mut buffer[..n])
    }
}

type Read1 = std::result::Result<Vec<(u64, String)>, String>;

fn read(name: &str, bytes: &[u8], table: &TableText, max: usize) -> Read1 {
    let of = |piece| {
        let options = TextOptions { table: Some(table.clone()), max_line_bytes: max, ..TextOptions::default() };
        let input = Pieces(std::io::Cursor::new(bytes.to_vec()), piece);
        let mut reader = TextReader::from_reader(name, input, &options).map_err(|error| error.to_string())?;
        let mut lines = Vec::new();
        while let Some(line) = reader.next_line().map_err(|error| error.to_string())? {
            lines.push((line.number, line.text.to_owned()));
        }
        Ok(lines)
    };
    let whole = of(1 << 20);
    for piece in [1, 2, 3, 7, 64] {
        assert_eq!(of(piece), whole, "{piece} bytes at a time");
    }
    whole
}

fn csv(bytes: &str, column: &str) -> Read1 {
    read("t.csv", bytes.as_bytes(), &TableText::column(column), 1000)
}

fn lines(expected: &[(u64, &str)]) -> Read1 {
    Ok(expected.iter().map(|&(number, text)| (number, text.to_owned())).collect())
}

#[test]
fn fields_are_taken_by_title_or_number_with_quotes_and_line_ends() {
    let text = "id,text,more\r\n1,\"A \"\"cat\"\", who\r\nsat.\",x\r\n\r\n2,A dog.,\r\n3,\"\",y\n4,\"tab\there\"";
    let expected = [(2, "A \"cat\", who sat."), (5, "A dog."), (6, ""), (7, "tab here")];
    assert_eq!(csv(text, "text"), lines(&expected));
    assert_eq!(csv(&format!("\u{feff}{text}"), "text"), lines(&expected));
    let numbers = [(1, "text"), (2, "A \"cat\", who sat."), (5, "A dog."), (6, ""), (7, "tab here")];
    assert_eq!(csv(text, "2"), lines(&numbers));
    let table = TableText { has_header: true, ..TableText::column("2") };
    assert_eq!(read("t.csv", text.as_bytes(), &table, 1000), lines(&expected));
    // An exact title comes before a number: where there is a header, where the number is too high, and `03`.
    let titled = "pre,k,01,02,03,4\n1,2,a,b,c,d\n";
    let by = |column: &str, has_header: bool| {
        read("t.csv", titled.as_bytes(), &TableText { has_header, ..TableText::column(column) }, 1000)
    };
    assert_eq!(by("03", false), lines(&[(2, "c")]));
    assert_eq!((by("4", true), by("3", true)), (lines(&[(2, "d")]), lines(&[(2, "a")])));
    assert_eq!(by("4", false), lines(&[(1, "02"), (2, "b")]), "without a header, a number is a number");
    assert_eq!(csv("text,2020\na,b\n", "2020"), lines(&[(2, "b")]));
    assert_eq!(csv("x,y\n1,2\n", "02"), lines(&[(1, "y"), (2, "2")]));
    assert!(csv("x,y\n1,2\n", "9").unwrap_err().contains("the record has 2 columns, so there is no column 9"));
    // Several columns are separated by tabs.
    let columns = vec![TableColumn::Name("text".into()), TableColumn::Number(1)];
    let table = TableText { columns, ..TableText::column("text") };
    assert_eq!(read("t.csv", text.as_bytes(), &table, 1000).unwrap()[1], (5, "A dog.\t2".into()));
    // Chosen by the extension, or by a given format.
    assert_eq!(read("t.tsv", b"a\ttext\n1\ttwo, three\n", &TableText::column("text"), 99), lines(&[(2, "two, three")]));
    let table = TableText { format: Some(TableFormat::Tsv), ..TableText::column("1") };
    assert_eq!(read("t.csv", b"a,b\tc", &table, 99), lines(&[(1, "a,b")]));
    assert_eq!(csv("", "text"), lines(&[]));
    assert_eq!(csv("text\n", "text"), lines(&[]));
    assert_eq!(csv("\n\ntext\n\n\none", "text"), lines(&[(6, "one")]));
}

#[test]
fn tables_that_are_broken_are_errors_with_their_line() {
    let error = |text: &str, column: &str, part: &str| {
        let error = csv(text, column).unwrap_err();
        assert!(error.contains(part), "{error}");
    };
    error("id,text\n1\n", "text", "t.csv:2: the record has 1 column, so there is no column 2 (text)");
    error("1,2\n3,4\n\n5\n", "2", "t.csv:4: the record has 1 column, so there is no column 2");
    error("id,words\n", "text", "t.csv:1: no column \"text\"; the columns are id, words");
    error("id, text\n7, \"Rain falls.\"\n", "1", "t.csv:2: a space precedes the quotes around a field");
    error("a,text\nx,y\n\"line\nline\",\"open\n\n\nmore", "text", "t.csv:4: the quote that opens here");
    error("text\n\"", "text", "t.csv:2: the quote that opens here");
    let cut = "t.csv:3: the record has 3 columns, but the first record has 1; quote fields that contain a comma";
    error("text\na\na,b,c\n", "text", cut);
    error("n,text\n1,a\n2,b,c\n", "n", "t.csv:3: the record has 3 columns, but the first record has 2");
    let titled = TableText { has_header: true, ..TableText::column("1") };
    assert!(read("t.tsv", b"a\tb\n1\t2\t3\n", &titled, 99).unwrap_err().contains("a tab ends a field"));
    // Empty ones are no error, nor are more of them without titles.
    assert_eq!(csv("text\na,, \nb\n", "text"), lines(&[(2, "a"), (3, "b")]));
    assert_eq!(csv("a\na,b,c\n", "1"), lines(&[(1, "a"), (2, "a")]));
    let long = format!("text\nshort\n\"{}", "word\n".repeat(4000));
    error(&long, "text", "t.csv:3: a record is longer than 1000 bytes; a closing quote may be missing");
    let text = b"text\n\xff\n";
    assert!(read("t.csv", text, &TableText::column("text"), 99).unwrap_err().contains("t.csv:2: byte 1"));
    assert!(read("t.csv", b"PAR1\x15", &TableText::column("1"), 99).unwrap_err().contains("a Parquet file"));
    for columns in [vec![], vec![TableColumn::Number(0)]] {
        let table = TableText { columns, ..TableText::column("1") };
        assert!(read("t.csv", b"a", &table, 99).is_err());
    }
}

#[test]
fn a_carriage_return_alone_ends_a_line() {
    assert_eq!(csv("id,text\r1,a\r\r2,b\r", "text"), lines(&[(2, "a"), (4, "b")]));
    assert_eq!(csv("id,text\r\n1,\"a\rb\"\r\n\r\n2,c\n", "text"), lines(&[(2, "a b"), (5, "c")]));
    assert!(csv("text\ra\r\"b\"c\r", "text").unwrap_err().contains("t.csv:3: text follows"));
}

#[test]
fn spaces_before_fields_are_left_out_where_asked() {
    let text = "id, text\n7, \"Rain, then snow.\"\n 8,  plain  \n9, \"two\n lines\" , x\n";
    let table = TableText { skip_initial_space: true, ..TableText::column("text") };
    let expected = [(2, "Rain, then snow."), (3, "plain  "), (4, "two  lines")];
    assert_eq!(read("t.csv", text.replace(" , x", "").as_bytes(), &table, 1000), lines(&expected));
    let by_number = TableText { has_header: true, ..TableText { skip_initial_space: true, ..TableText::column("1") } };
    let ids = read("t.csv", text.replace(" , x", "").as_bytes(), &by_number, 1000);
    assert_eq!(ids, lines(&[(2, "7"), (3, "8"), (4, "9")]));
}

#[test]
fn quotes_of_tsv_are_part_of_the_text_unless_they_are_asked_for() {
    let text = b"id\ttext\n1\t\"Hello there\n2\tthe plain line\n3\tclosing\" here\n4\t\"quoted\"\n";
    let plain = [(2, "\"Hello there"), (3, "the plain line"), (4, "closing\" here"), (5, "\"quoted\"")];
    assert_eq!(read("t.tsv", text, &TableText::column("text"), 1000), lines(&plain));
    let quoted = b"id\ttext\n1\t\"Hello\tthere\nyou\"\n2\tb\n";
    let table = TableText { quotes: true, ..TableText::column("text") };
    assert_eq!(read("t.tsv", quoted, &table, 1000), lines(&[(2, "Hello there you"), (4, "b")]));
}

#[test]
fn a_quote_that_meets_a_later_one_merges_no_records() {
    let quoted = TableText { quotes: true, ..TableText::column("text") };
    let text = b"id\ttext\n0\ta\n1\t\"open\n2\ta screen of 5\" and more\n3\tb\n";
    let error = read("t.tsv", text, &quoted, 1000).unwrap_err();
    assert!(error.contains("t.tsv:4: text follows the closing quote of the field that starts in line 3"), "{error}");
    assert!(csv("text\n\"a\"b\n", "text").unwrap_err().contains("t.csv:2: text follows"));
    assert_eq!(csv("text\n\"a\" \n5\" wide\n", "text"), lines(&[(2, "a "), (3, "5\" wide")]));
    let cut = read("t.tsv", b"id\ttext\n1\t\"a\tb\"\n", &TableText::column("text"), 1000).unwrap_err();
    assert!(cut.contains("--quotes"), "{cut}");
}

#[test]
fn two_columns_of_one_title_are_refused_by_title_and_read_by_number() {
    let text = "id,text,text\n1,a,b\n";
    assert!(csv(text, "text").unwrap_err().contains("columns 2 and 3 are both named \"text\"; give a number"));
    let titled = TableText { has_header: true, ..TableText::column("3") };
    assert_eq!(read("t.csv", text.as_bytes(), &titled, 1000), lines(&[(2, "b")]));
    assert_eq!(csv(text, "id"), lines(&[(2, "1")]));
}

/// The numbers of records and lines, and the text, with these options.
fn numbered(name: &str, bytes: &[u8], options: &TextOptions) -> Vec<(u64, u64, String)> {
    let mut reader = TextReader::from_reader(name, std::io::Cursor::new(bytes.to_vec()), options).unwrap();
    let mut lines = Vec::new();
    while let Some(line) = reader.next_line().unwrap() {
        lines.push((line.record.unwrap(), line.number, line.text.to_owned()));
    }
    lines
}

/// The text of `numbered`, which has these numbers.
fn expected(lines: &[(u64, u64, &str)]) -> Vec<(u64, u64, String)> {
    lines.iter().map(|&(record, number, text)| (record, number, text.to_owned())).collect()
}

fn given_semicolon() -> TableText {
    TableText { delimiter: Some(b';'), ..TableText::column("text") }
}

#[test]
fn fields_are_separated_by_the_given_character_or_by_one_that_the_records_agree_on() {
    let text = "id;text\n1;\"A; cat,\nwho\"\n2;A dog.\n";
    let found = [(2, "A; cat, who"), (4, "A dog.")];
    assert_eq!(csv(text, "text"), lines(&found));
    let given = given_semicolon();
    assert_eq!(read("t.csv", text.as_bytes(), &given, 1000), lines(&found));
    assert_eq!(read("t.tsv", b"id;text\n1;a\tb\n", &given, 1000), lines(&[(2, "a b")]));
    assert_eq!(csv("id|text\n1|a;b\n2|c\n", "text"), lines(&[(2, "a;b"), (3, "c")]));
    assert_eq!(csv("id\ttext\n1\ta, b\n", "text"), lines(&[(2, "a, b")]));
    // As spreadsheets write it: the line is no record.
    assert_eq!(csv("\u{feff}sep=|\r\nid|text\r\n1|a;b,c\r\n", "text"), lines(&[(3, "a;b,c")]));
    assert_eq!(read("t.csv", b"sep=;\nid;text\n1;a\n", &given_semicolon(), 1000), lines(&[(3, "a")]));
    let long = format!("id;text\n{}", "1;a\n".repeat(30_000));
    let options = TextOptions { table: Some(TableText::column("text")), ..TextOptions::default() };
    assert_eq!(numbered("t.csv", long.as_bytes(), &options).len(), 30_000);
    // A given character is not questioned.
    let comma = TableText { delimiter: Some(b','), ..TableText::column("text") };
    assert!(read("t.csv", text.as_bytes(), &comma, 1000).unwrap_err().contains("no column \"text\""));
    for delimiter in [b'"', b'\n', 0xE9] {
        let table = TableText { delimiter: Some(delimiter), ..TableText::column("1") };
        assert!(read("t.csv", b"a", &table, 99).unwrap_err().contains("delimiter must be an ASCII character"));
    }
    let cut = csv("id;text\n1;a\n2;b;c\n3;a\n", "text").unwrap_err();
    assert!(cut.contains("t.csv:3: the record has 3 columns, but the first record has 2"), "{cut}");
    let untitled = csv("1 Rain.;2 Snow.\n1;a\n2;b;c\n3;a;b;c\n", "text").unwrap_err();
    assert!(untitled.contains("no column \"text\"; the columns are 1 Rain.;2 Snow."), "{untitled}");
    let cut = read("t.csv", b"id;text\n2;b;c\n", &given, 99).unwrap_err();
    assert!(cut.contains("t.csv:2: the record has 3 columns, but the first record has 2; quote fields"), "{cut}");
}

#[test]
fn records_are_counted_without_titles_and_empty_lines() {
    let options = TextOptions { table: Some(TableText::column("text")), ..TextOptions::default() };
    let text = b"id,text\n1,\"a\nb\"\n\n2,c\n";
    assert_eq!(numbered("t.csv", text, &options), expected(&[(1, 2, "a b"), (2, 5, "c")]));
    let options = TextOptions { split: Some(Split::Lines), ..options };
    assert_eq!(numbered("t.csv", text, &options), expected(&[(1, 2, "a"), (1, 2, "b"), (2, 5, "c")]));
}

#[test]
fn paragraphs_of_a_cell_stay_paragraphs_where_sentences_are_cut() {
    let options = |split| TextOptions { table: Some(TableText::column("text")), split, ..TextOptions::default() };
    let text = b"id,text\r\n1,\"\r\nThe old\r\nmill stands\r\n\r\n \r\nRain falls. It\r\nis late\r\n\"\r\n2,and so\r\n";
    let cut = [
        (1, 2, "The old mill stands"),
        (1, 2, ""),
        (1, 2, ""),
        (1, 2, "Rain falls."),
        (1, 2, "It is late"),
        (2, 10, "and so"),
    ];
    assert_eq!(numbered("t.csv", text, &options(Some(Split::Paragraphs))), expected(&cut));
    let json = br#"{"text":"The old\nmill stands\n\nRain falls"}"#;
    let cut = [(1, 1, "The old mill stands"), (1, 1, ""), (1, 1, "Rain falls")];
    assert_eq!(numbered("t.jsonl", json, &options(Some(Split::Paragraphs))), expected(&cut));
    let of_lines = [(1, 1, "The old"), (1, 1, "mill stands"), (1, 1, ""), (1, 1, "Rain falls")];
    assert_eq!(numbered("t.jsonl", json, &options(Some(Split::Lines))), expected(&of_lines));
    assert_eq!(numbered("t.jsonl", json, &options(None)), expected(&[(1, 1, "The old mill stands  Rain falls")]));
    // On request, line ends of the first column are kept without splitting.
    let columns = vec![TableColumn::Name("text".into()), TableColumn::Name("text".into())];
    let table = TableText { columns, line_ends: true, ..TableText::column("text") };
    let kept = TextOptions { table: Some(table), ..TextOptions::default() };
    let found = numbered("t.csv", b"text\n\"a\n\nb\tc\"\n", &kept);
    assert_eq!(found, expected(&[(1, 2, "a\u{b}\u{b}b c\ta  b c")]));
}

#[test]
fn windows_1252_is_read_in_titles_and_fields() {
    let windows = InvalidUtf8::Windows1252;
    let of = |column| TextOptions {
        table: Some(TableText::column(column)),
        invalid_utf8: windows,
        ..TextOptions::default()
    };
    let text = b"id;stra\xdfe\n1;\x84Caf\xe9\x93\n2;Gr\xfc\xdfe\n";
    assert_eq!(numbered("t.csv", text, &of("straße")), expected(&[(1, 2, "„Café“"), (2, 3, "Grüße")]));
    let mut reader = TextReader::from_reader("t.csv", &text[..], &of("text")).unwrap();
    let error = reader.next_line().unwrap_err().to_string();
    assert!(error.contains("the columns are id, straße"), "{error}");
}
