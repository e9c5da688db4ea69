//! Tests of table records, read in pieces of any size.

use std::io::Read;

use super::*;
use crate::{TextOptions, TextReader};

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
fn numbers_of_json_keep_their_digits_and_true_and_false_are_kept_beside_the_text() {
    let columns = ["text", "id", "x", "done"].map(|name| TableColumn::Name(name.into())).to_vec();
    let table = TableText { columns, ..TableText::column("text") };
    let text = b"{\"id\":18446744073709551617,\"x\":1.10,\"done\":true,\"text\":\"a\"}\n\
        {\"id\":18446744073709551616,\"x\":-0.0e+10,\"done\":false,\"text\":\"b\"}";
    let expected = [(1, "a\t18446744073709551617\t1.10\ttrue"), (2, "b\t18446744073709551616\t-0.0e+10\tfalse")];
    assert_eq!(read("t.jsonl", text, &table, 1000), lines(&expected));
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

#[test]
fn fields_of_json_lines_are_taken_by_name() {
    let json = |text: &str, field: &str| read("t.jsonl", text.as_bytes(), &TableText::column(field), 1000);
    let text = "{\"id\":1,\"text\":\"A \\\"cat\\\"\\nsat.\"}\r\n\n{\"text\":null}\n {\"a\":{\"text\":\"x\",\"b\":[1,{}]},\"text\":\"caf\\u00e9\"}";
    assert_eq!(json(text, "text"), lines(&[(1, "A \"cat\" sat."), (3, ""), (4, "café")]));
    assert_eq!(json("{\"a\":{\"b\":{\"c\":\"deep\"}}}", "a.b.c"), lines(&[(1, "deep")]));
    assert_eq!(json("{\"a.b\":\"flat\"}", "a.b"), lines(&[(1, "flat")]));
    let error = |text: &str, field: &str, part: &str| {
        let error = json(text, field).unwrap_err();
        assert!(error.contains(part), "{error}");
    };
    error("{\"text\":\"a\"}\n{\"text\":3}\n", "text", "t.jsonl:2: field \"text\" is a number, not text");
    error("{\"text\":[\"a\"]}", "text", "t.jsonl:1: field \"text\" is a list");
    error("{\"id\":1,\"t\":2}", "text", "t.jsonl:1: no field \"text\"; the fields are id, t");
    error("{\"a\":3}", "a.b", "no field \"a.b\"");
    error("{\"text\":\"a\"}\n{\"text\":\"b\"\n", "text", "t.jsonl:2: not a JSON object");
    error("{\"text\":\"a\"}\n{\"text\":\"b\"\n", "text", "EOF while parsing an object at column 11");
    error("{\"text\":true}", "text", "t.jsonl:1: field \"text\" is true or false, not text");
    error("{\"text\":\"a\",\"text\":\"a\"}", "text", "t.jsonl:1: duplicate field \"text\"");
    error("[1]\n", "text", "t.jsonl:1: not a JSON object");
    error(&format!("{{\"text\":\"{}\"}}", "a".repeat(2000)), "text", "t.jsonl:1: the line is longer than 1000 bytes");
    assert!(json("{}", "3").is_err());
}
