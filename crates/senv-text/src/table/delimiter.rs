//! Recognizes the character between the fields of CSV.

use std::{io::Read, path::Path};

use csv_core::{ReadRecordResult, ReaderBuilder};

use super::{TableFormat, TableText, arrow};
use crate::decode::{self, BOM, is_stdin};
use senv_base::Result;

/// The characters that are tried, the usual one first.
const DELIMITERS: [u8; 4] = *b",;\t|";
/// The number of lines, and of bytes, that are examined.
const LINES: usize = 21;
const BYTES: usize = 1 << 16;

/// The line with which spreadsheets say which character separates fields, without its end.
const DECLARED: usize = "sep=;".len();

/// The character that the first line declares, if it does.
pub(super) fn declared(bytes: &[u8]) -> Option<u8> {
    match bytes {
        [b's', b'e', b'p', b'=', delimiter, b'\n' | b'\r', ..]
            if delimiter.is_ascii_punctuation() || *delimiter == b'\t' =>
        {
            Some(*delimiter)
        }
        _ => None,
    }
}

/// The bytes after the line that declares the character. Its line end stays, as an empty line.
pub(super) fn behind_declared(bytes: &[u8]) -> usize {
    if declared(bytes).is_some() { DECLARED } else { 0 }
}

/// The start of a file that decides; `None` if more bytes have to be read. Depends on the text alone, not on how its
/// bytes arrive.
pub(super) fn sample(bytes: &[u8], at_end: bool) -> Option<&[u8]> {
    let mut ends = memchr::memchr2_iter(b'\n', b'\r', bytes);
    let first = ends.next();
    let is_usual = |line: &[u8]| !line.iter().any(|byte| DELIMITERS[1..].contains(byte));
    if let Some(end) = first.filter(|&end| is_usual(&bytes[..end])) {
        return Some(&bytes[..end]);
    }
    let enough = ends.nth(LINES - 2).map(|end| end + 1).or((bytes.len() >= BYTES).then_some(BYTES));
    enough.map(|end| &bytes[..end.min(BYTES)]).or(at_end.then_some(bytes))
}

/// The character between fields: the comma, unless the records, except one in ten, have as many fields as the first by
/// another character and not by comma.
pub(super) fn of_sample(sample: &[u8], is_whole: bool) -> u8 {
    let equal = |&delimiter: &u8| {
        let counts = field_counts(sample, delimiter, is_whole);
        let n = *counts.first().filter(|&&n| n > 1 && counts.len() > 1)?;
        // One bad record of ten is no reason to read all others wrongly.
        let n_others = counts.iter().filter(|&&count| count != n).count();
        (10 * n_others <= counts.len()).then_some((n, delimiter))
    };
    let found: Vec<(usize, u8)> = DELIMITERS.iter().filter_map(equal).collect();
    // Of several, the one with most fields.
    let most = found.iter().rev().max_by_key(|(n, _)| n);
    match found.first() {
        Some(&(_, b',')) | None => b',',
        Some(_) => most.map_or(b',', |&(_, delimiter)| delimiter),
    }
}

/// The number of fields of each record; without the last one, which may not be complete, unless the file ends there.
fn field_counts(sample: &[u8], delimiter: u8, is_whole: bool) -> Vec<usize> {
    let mut reader = ReaderBuilder::new().delimiter(delimiter).build();
    // A field has at most as many bytes as the sample, and a record as many fields.
    let (mut fields, mut ends) = (vec![0; sample.len() + 1], vec![0; sample.len() + 2]);
    let (mut counts, mut rest, mut n_fields) = (Vec::new(), sample, 0);
    loop {
        let (result, n_in, _, n_ends) = reader.read_record(rest, &mut fields, &mut ends);
        (rest, n_fields) = (&rest[n_in..], n_fields + n_ends);
        match result {
            ReadRecordResult::Record => counts.push(std::mem::take(&mut n_fields)),
            // What follows is the end of the file, or not known.
            ReadRecordResult::InputEmpty if is_whole => {}
            _ => return counts,
        }
    }
}

/// The character between the fields of a CSV file, if it is recognized ([`TableText::delimiter`]) and not the comma.
/// `None` for other files, and for standard input and pipes, which can be read once.
///
/// ```
/// use senv_core::text::{TableText, recognized_delimiter};
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("tickets.csv");
/// std::fs::write(&path, "id;text\n1;Rain, then snow.\n2;Sun.\n")?;
/// assert_eq!(recognized_delimiter(&path, &TableText::column("text"))?, Some(b';'));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`Error::Io`](senv_base::Error::Io) if the file cannot be read.
pub fn recognized_delimiter(path: &Path, table: &TableText) -> Result<Option<u8>> {
    let is_csv = table.delimiter.is_none() && table.format_of(path) == TableFormat::Csv;
    if !is_csv || is_stdin(path) || !path.is_file() || arrow::is_arrow(path) {
        return Ok(None);
    }
    let mut source = decode::open(path, &Default::default())?;
    let mut bytes = Vec::new();
    let read = (&mut source.reader).take((BYTES + BOM.len()) as u64).read_to_end(&mut bytes);
    read.map_err(|e| source.error(path, e))?;
    let at_end = bytes.len() < BYTES;
    let bytes = bytes.strip_prefix(BOM).unwrap_or(&bytes);
    let of_records = || sample(bytes, at_end).map(|sample| of_sample(sample, at_end && sample.len() == bytes.len()));
    let found = declared(bytes).or_else(of_records);
    Ok(found.filter(|&delimiter| delimiter != b','))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> u8 {
        of_sample(sample(text.as_bytes(), true).unwrap(), true)
    }

    #[test]
    fn another_character_is_recognized_where_records_agree_on_it_and_not_on_the_comma() {
        for (text, expected) in [
            ("id,text\n1,a\n", b','),
            ("id;text\n1;Rain, then snow.\n2;Sun.\n", b';'),
            ("id\ttext\n1\tA, b, c.\n", b'\t'),
            ("id|text|n\n1|a;b|2\n3|c|4", b'|'),
            ("id;text\n1;\"a;b\nc\"\n2;d\n", b';'),
            ("id;price;text\n1;3,50;x\n2;4,10;y\n", b';'),
            // Both agree: the comma stays.
            ("a;b,c\n1;2,3\n", b','),
            // Of several, the one with most fields.
            ("a;b|c|d\n1;2|3|4\n", b'|'),
            ("a;b\n1;2\n1;2\n1;2\n1;2\n1;2\n1;2\n1;2\n1;2\n1;2;3\n", b';'),
            // Records that do not agree, or only one, say nothing.
            ("a;b\n1;2\n1;2\n1;2\n1;2\n1;2\n1;2\n1;2\n1;2;3\n", b','),
            ("text\nHe came; he saw.\nHe left.\n", b','),
            ("He came; he saw.\nHe left.\n", b','),
            ("a;b\n", b','),
            ("a;b", b','),
            ("", b','),
        ] {
            assert_eq!(char::from(of(text)), char::from(expected), "{text:?}");
        }
    }

    #[test]
    fn the_line_of_a_spreadsheet_declares_the_character() {
        for (text, expected) in [
            ("sep=;\nid;text\n", Some(b';')),
            ("sep=\t\r\n", Some(b'\t')),
            ("sep=a\n", None),
            ("sep=;", None),
            ("sep=;text\n", None),
        ] {
            assert_eq!(declared(text.as_bytes()), expected, "{text:?}");
            assert_eq!(behind_declared(text.as_bytes()), if expected.is_some() { 5 } else { 0 });
        }
    }

    #[test]
    fn the_sample_depends_on_the_text_alone() {
        let text = format!("id;text\n{}", "1;a\n".repeat(100));
        let whole = sample(text.as_bytes(), true).unwrap();
        assert_eq!(whole.iter().filter(|&&byte| byte == b'\n').count(), LINES);
        for n in 0..text.len() {
            let part = sample(&text.as_bytes()[..n], false);
            assert!(part.is_none_or(|part| part == whole), "{n}");
        }
        let long = format!("a;b\n{}", "x".repeat(2 * BYTES));
        assert_eq!(sample(long.as_bytes(), false).unwrap().len(), BYTES);
        // Nothing more is read for the usual delimiter.
        assert_eq!(sample(b"id,text\n1,a", false), Some(&b"id,text"[..]));
    }
}
