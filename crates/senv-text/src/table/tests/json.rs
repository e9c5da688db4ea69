//! Tests of JSON lines and arrays.

use super::*;

fn json(text: &str, field: &str) -> Read1 {
    read("t.json", text.as_bytes(), &TableText::column(field), 1000)
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
fn fields_of_json_lines_are_taken_by_name() {
    let text = "{\"id\":1,\"text\":\"A \\\"cat\\\"\\nsat.\"}\r\n\n{\"text\":null}\n {\"a\":{\"text\":\"x\",\"b\":[1,{}]},\"text\":\"caf\\u00e9\"}";
    assert_eq!(json(text, "text"), lines(&[(1, "A \"cat\" sat."), (3, ""), (4, "café")]));
    assert_eq!(json("{\"a\":{\"b\":{\"c\":\"deep\"}}}", "a.b.c"), lines(&[(1, "deep")]));
    assert_eq!(json("{\"a.b\":\"flat\"}", "a.b"), lines(&[(1, "flat")]));
    let error = |text: &str, field: &str, part: &str| {
        let error = json(text, field).unwrap_err();
        assert!(error.contains(part), "{error}");
    };
    error("{\"text\":\"a\"}\n{\"text\":3}\n", "text", "t.json:2: field \"text\" is a number, not text");
    error("{\"text\":[\"a\"]}", "text", "t.json:1: field \"text\" is a list");
    error("{\"id\":1,\"t\":2}", "text", "t.json:1: no field \"text\"; the fields are id, t");
    error("{\"a\":3}", "a.b", "no field \"a.b\"");
    error("{\"text\":\"a\"}\n{\"text\":\"b\"\n", "text", "t.json:2: not a JSON object");
    error("{\"text\":\"a\"}\n{\"text\":\"b\"\n", "text", "EOF while parsing an object at column 11");
    error("{\"text\":true}", "text", "t.json:1: field \"text\" is true or false, not text");
    error("{\"text\":\"a\",\"text\":\"a\"}", "text", "t.json:1: duplicate field \"text\"");
    error("[1]\n", "text", "t.json:1: not a JSON object");
    error(&format!("{{\"text\":\"{}\"}}", "a".repeat(2000)), "text", "t.json:1: the line is longer than 1000 bytes");
    assert!(json("{}", "3").is_err());
}

#[test]
fn the_records_of_an_array_are_read_one_after_another() {
    let text =
        "\u{feff}\n [\n{\"id\":1,\"text\":\"A [cat],\\n{sat}.\"},{\"text\":\"b\"}\n,\n{\n \"text\": null\n}\n]\n\n";
    assert_eq!(json(text, "text"), lines(&[(3, "A [cat], {sat}."), (3, "b"), (5, "")]));
    assert_eq!(json("[]", "text"), lines(&[]));
    assert_eq!(json(" \n", "text"), lines(&[]));
    let many = format!("[{}]", vec!["{\"text\":\"a\"}"; 20_000].join(","));
    let options = TextOptions { table: Some(TableText::column("text")), ..TextOptions::default() };
    let found = numbered("t.json", many.as_bytes(), &options);
    assert!(found.len() == 20_000 && found.iter().zip(1..).all(|((record, line, _), n)| (*record, *line) == (n, 1)));
    let error = |text: &str, part: &str| {
        let error = json(text, "text").unwrap_err();
        assert!(error.contains(part), "{error}");
    };
    error("[{\"text\":\"a\"},\n{\"text\":3}]", "t.json:2: field \"text\" is a number, not text");
    error("[{\"text\":\"a\"},\n3]", "t.json:2: not a JSON object");
    error("[{\"text\":\"a\"}\n", "t.json:1: the array that begins here has no end");
    error("[{\"text\":\"a\"}]\n{}", "t.json:2: text follows the end of the array");
    error("[{\"id\":1}]", "t.json:1: no field \"text\"; the fields are id");
    error(&format!("[\n{{\"text\":\"{}\"}}]", "a".repeat(2000)), "t.json:2: a record is longer than 1000 bytes");
    error(&format!("[\n{{\"text\":\"{}", "a".repeat(2000)), "t.json:2: a record is longer than 1000 bytes");
}

#[test]
fn a_field_may_be_missing_unless_no_record_has_it() {
    let columns = ["text", "year", "who"].map(|name| TableColumn::Name(name.into())).to_vec();
    let table = TableText { columns, ..TableText::column("text") };
    let text = "{\"text\":\"a\",\"year\":1}\n{\"year\":2}\n{\"text\":\"c\",\"who\":\"Ada\"}\n";
    let of = |text: &str| read("t.jsonl", text.as_bytes(), &table, 1000);
    assert_eq!(of(text), lines(&[(1, "a\t1\t"), (2, "\t2\t"), (3, "c\t\tAda")]));
    let error = of("\n{\"text\":\"a\",\"year\":1}\n").unwrap_err();
    assert!(error.contains("t.jsonl:2: no field \"who\"; the fields are text, year"), "{error}");
    assert_eq!(json("{\"year\":1}\n{\"text\":\"a\"}\n", "text"), lines(&[(1, ""), (2, "a")]));
    // Reading stops early.
    let many = "{\"year\":1}\n".repeat(40_000);
    let options = TextOptions { table: Some(TableText::column("text")), ..TextOptions::default() };
    let mut reader = TextReader::from_reader("t.jsonl", std::io::Cursor::new(many), &options).unwrap();
    let mut n = 0;
    let error = loop {
        match reader.next_line() {
            Ok(line) => n += usize::from(line.expect("an error before the end").text.is_empty()),
            Err(error) => break error.to_string(),
        }
    };
    assert!(n < 40_000 && error.contains("t.jsonl:1: no field \"text\"; the fields are year"), "{n} {error}");
}
