//! Tests of records that are left out.

use super::*;

/// The lines with their records, and the line and reason of each record that was left out.
type Left = (Vec<(u64, u64, String)>, Vec<(u64, String)>);

/// Reads with room for this number of bad records, in pieces of several sizes.
fn leaving_out(name: &str, bytes: &[u8], most: u64, max: usize) -> Result<Left, String> {
    let of = |piece| {
        let bad = BadRecords::up_to(most);
        let table = TableText { bad_records: Some(bad.clone()), ..TableText::column("text") };
        let options = TextOptions { table: Some(table), max_line_bytes: max, ..TextOptions::default() };
        let input = Pieces(std::io::Cursor::new(bytes.to_vec()), piece);
        let mut reader = TextReader::from_reader(name, input, &options).map_err(|error| error.to_string())?;
        let mut lines = Vec::new();
        while let Some(line) = reader.next_line().map_err(|error| error.to_string())? {
            lines.push((line.record.unwrap(), line.number, line.text.to_owned()));
        }
        assert_eq!(bad.n(), bad.first().len() as u64);
        Ok((lines, bad.first().into_iter().map(|bad| (bad.line, bad.reason)).collect()))
    };
    let whole = of(1 << 20);
    for piece in [1, 2, 3, 7, 64] {
        assert_eq!(of(piece), whole, "{piece} bytes at a time");
    }
    whole
}

fn lines_of(left: &Left) -> Vec<u64> {
    left.1.iter().map(|(line, _)| *line).collect()
}

#[test]
fn records_without_the_column_or_with_wrong_text_are_left_out() {
    let text = b"id,text\n1,a\n2\n3,b,c\n4,\xe9\n5,\0\n6,d\n";
    let left = leaving_out("t.csv", text, 9, 100).unwrap();
    assert_eq!(left.0, expected(&[(1, 2, "a"), (6, 7, "d")]));
    assert_eq!(lines_of(&left), [3, 4, 5, 6]);
    assert!(left.1[0].1.starts_with("the record has 1 column, so"), "{:?}", left.1);
    // One fewer is too few.
    let error = leaving_out("t.csv", text, 3, 100).unwrap_err();
    assert!(error.contains("t.csv:6: byte 1 of the cell in column \"text\" is NUL"), "{error}");
    assert!(leaving_out("t.csv", text, 0, 100).unwrap_err().contains("t.csv:3: the record has 1 column"));
    // A wrong title concerns all records.
    assert!(leaving_out("t.csv", b"id,words\n1,a\n", 9, 100).unwrap_err().contains("no column \"text\""));
    assert!(leaving_out("t.csv", b"\"id,text\n1,a\n", 9, 100).unwrap_err().contains("never closed"));
}

#[test]
fn behind_a_wrong_quote_reading_goes_on_with_the_next_line() {
    let text = b"id,text\r\n1,\"open\r\n2,a\r\n3,5\" wide\r\n4,\"b\" c\r\n5,\"d\r\ne\"\r\n6,\"f";
    let left = leaving_out("t.csv", text, 9, 100).unwrap();
    assert_eq!(left.0, expected(&[(2, 3, "a"), (3, 4, "5\" wide"), (5, 6, "d e")]));
    assert_eq!(lines_of(&left), [4, 5, 8]);
    // The limit on a record ends one whose quote is never closed.
    let long = format!("id,text\n1,\"open\n{}", "2,a\n".repeat(1500));
    let left = leaving_out("t.csv", long.as_bytes(), 1, 1000).unwrap();
    assert_eq!((left.0.len(), left.0[0].1, left.0[1499].1), (1500, 3, 1502));
    // Without a line end there is nothing to go on with until the next one.
    let long = format!("id,text\n1,\"{}\n2,a\n3,{}\n4,b", "x".repeat(5000), "y".repeat(5000));
    let left = leaving_out("t.csv", long.as_bytes(), 2, 1000).unwrap();
    assert_eq!(left.0, expected(&[(2, 3, "a"), (4, 5, "b")]));
}

#[test]
fn objects_that_are_none_or_lack_the_text_are_left_out() {
    let long = "x".repeat(300);
    let text =
        format!("{{\"text\":\"a\"}}\n{{\"text\":\n{{\"text\":[]}}\n{{\"text\":\"{long}\"}}\n\n{{\"text\":\"b\"}}");
    let left = leaving_out("t.jsonl", text.as_bytes(), 3, 100).unwrap();
    assert_eq!(left.0, expected(&[(1, 1, "a"), (5, 6, "b")]));
    assert_eq!(lines_of(&left), [2, 3, 4]);
    assert!(leaving_out("t.jsonl", text.as_bytes(), 2, 100).unwrap_err().contains("t.jsonl:4: the line is longer"));
    let left =
        leaving_out("t.json", b"[{\"text\":1},\n{\"text\":\"a\"},3,{\"text\":{}},{\"text\":\"b\"}]", 3, 100).unwrap();
    assert_eq!(left.0, expected(&[(2, 2, "a"), (5, 2, "b")]));
    assert_eq!(lines_of(&left), [1, 2, 2]);
}

#[test]
fn a_record_that_is_read_twice_counts_once_and_ten_are_described() {
    let text = format!("id,text\n0,a\n{}", "1\n".repeat(25));
    let bad = BadRecords::up_to(25);
    let table = TableText { bad_records: Some(bad.clone()), ..TableText::column("text") };
    let options = TextOptions { table: Some(table), ..TextOptions::default() };
    for _ in 0..2 {
        assert_eq!(numbered("t.csv", text.as_bytes(), &options), expected(&[(1, 2, "a")]));
    }
    assert_eq!((bad.n(), bad.first().len(), bad.first()[9].line), (25, 10, 12));
    assert_eq!(format!("{bad:?}"), "BadRecords(25)");
}
