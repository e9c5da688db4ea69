//! Where an error is, and which records have no text.

use super::*;
use crate::BlankRecords;

/// The error of reading a column, with the name of the file.
fn error(name: &str, bytes: &[u8], table: &TableText) -> String {
    let options = TextOptions { table: Some(table.clone()), ..TextOptions::default() };
    let mut reader = TextReader::from_reader(name, std::io::Cursor::new(bytes.to_vec()), &options).unwrap();
    loop {
        match reader.next_line() {
            Ok(Some(_)) => {}
            Ok(None) => panic!("no error in {name}"),
            Err(error) => return error.to_string().split("; ").next().unwrap().to_owned(),
        }
    }
}

#[test]
fn bad_bytes_are_counted_in_the_cell_whose_column_is_named_and_in_the_line_of_json() {
    let not_utf8 = "is not valid UTF-8";
    let of = |column: &str| TableText::column(column);
    let text = b"id,text\n1,ok\n2,\"two\nlin\xE9s\"\n";
    let expected = format!("a.csv:3: byte 8 of the cell in column \"text\" {not_utf8}");
    assert_eq!(error("a.csv", text, &of("text")), expected);
    let both = TableText { columns: vec!["text".into(), "id".into()], ..of("text") };
    let expected = format!("a.csv:2: byte 3 of the cell in column \"id\" {not_utf8}");
    assert_eq!(error("a.csv", b"id,text\n12\xE9,ok\n", &both), expected);
    let expected = format!("a.tsv:2: byte 4 of the cell in column \"2\" {not_utf8}");
    assert_eq!(error("a.tsv", b"1\tok\n2\tcaf\xE9\n", &of("2")), expected);
    let quoted = TableText { quotes: true, ..of("2") };
    let expected = format!("a.tsv:2: byte 5 of the cell in column \"2\" {not_utf8}");
    assert_eq!(error("a.tsv", b"1\tok\n2\t\"\"\"caf\xE9\"\n", &quoted), expected);
    let expected = "a.csv:2: byte 2 of the cell in column \"text\" is NUL, which text does not contain";
    assert_eq!(error("a.csv", b"id,text\n1,o\0k\n", &of("text")), expected);

    let expected = format!("a.jsonl:2: byte 13 of the line {not_utf8}");
    assert_eq!(error("a.jsonl", b"{\"text\":\"ok\"}\n{\"text\":\"caf\xE9\"}\n", &of("text")), expected);
    let array = b"[{\"text\":\"ok\"}, {\"n\": 1,\n  \"text\":\"caf\xE9\"}]";
    assert_eq!(error("a.json", array, &of("text")), format!("a.json:2: byte 14 of the line {not_utf8}"));
    let array = b"[{\"text\":\"ok\"}, {\"text\":\"caf\xE9\"}]";
    assert_eq!(error("a.json", array, &of("text")), format!("a.json:1: byte 29 of the line {not_utf8}"));
    let array = b"[{\"text\":\"ok\"},\n{\"text\":\n oops}]";
    assert_eq!(error("a.json", array, &of("text")), "a.json:3: not a JSON object: expected value at column 2");
}

#[test]
fn records_without_text_are_counted_once_and_the_first_are_named() {
    let seen = |name: &str, text: &str, column: &str, times: usize| {
        let blank = BlankRecords::default();
        let table = TableText { blank_records: Some(blank.clone()), ..TableText::column(column) };
        for _ in 0..times {
            read(name, text.as_bytes(), &table, 100).unwrap();
        }
        let lines: Vec<u64> = blank.first().into_iter().map(|(_, line)| line).collect();
        (blank.n(), lines)
    };
    let json = "{\"text\":\"a\"}\n{\"id\":2}\n\n{\"text\":null}\n{\"text\":\" \"}\n{\"id\":5}\n{\"text\":\"b\"}\n";
    assert_eq!(seen("a.jsonl", json, "text", 2), (4, vec![2, 4, 5]));
    assert_eq!(seen("a.json", "[{\"text\":\"a\"},\n{\"id\":2}]", "text", 1), (1, vec![2]));
    assert_eq!(seen("a.csv", "id,text\n1,a\n2,\n3,\"\nb\"\n4,\" \"\n", "text", 1), (2, vec![3, 6]));
    assert_eq!(seen("a.csv", "id,text\n1,a\n", "text", 1), (0, vec![]));
}
