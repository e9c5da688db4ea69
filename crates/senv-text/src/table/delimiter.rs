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
/// The maximum number of bytes of a title.
const MOST_OF_TITLE: usize = 40;

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

/// How many fields the records of a sample have by a character.
struct Agreement {
    delimiter: u8,
    /// The fields of the first record, and whether they look like titles.
    n: usize,
    has_titles: bool,
    /// The number of further records, of those with as many fields, and of those with more than one.
    n_others: usize,
    n_equal: usize,
    n_parted: usize,
}

impl Agreement {
    fn of(sample: &[u8], delimiter: u8, is_whole: bool) -> Option<Self> {
        let counts = field_counts(sample, delimiter, is_whole);
        let (&n, others) = counts.split_first()?;
        let counted = |is: &dyn Fn(usize) -> bool| others.iter().filter(|&&count| is(count)).count();
        let (n_equal, n_parted) = (counted(&|count| count == n), counted(&|count| count > 1));
        let has_titles = n > 1 && are_titles(first_line(sample), delimiter);
        Some(Self { delimiter, n, has_titles, n_others: others.len(), n_equal, n_parted })
    }

    /// Whether the character separates fields: most records have as many as the first, or the first has titles. Titles
    /// count more than a few records with a field too few or too many.
    fn separates(&self) -> bool {
        let Self { n, has_titles, n_others, n_equal, n_parted, .. } = *self;
        let by_titles = has_titles && (n > 2 || 2 * n_parted >= n_others);
        n > 1 && (by_titles || 2 * n_equal > n_others && n_others > 0)
    }
}

/// The first line, without its end.
fn first_line(sample: &[u8]) -> &[u8] {
    let end = memchr::memchr2(b'\n', b'\r', sample).unwrap_or(sample.len());
    &sample[..end]
}

/// Whether the parts of a line look like titles of columns: short, different, and no parts of a sentence.
fn are_titles(line: &[u8], delimiter: u8) -> bool {
    let titles: Vec<&[u8]> = line.split(|&byte| byte == delimiter).collect();
    let is_title = |title: &&[u8]| {
        !title.is_empty()
            && title.len() <= MOST_OF_TITLE
            && title.trim_ascii().len() == title.len()
            && !title.ends_with(b".")
            && !title.ends_with(b"!")
            && !title.ends_with(b"?")
    };
    let is_new = |(i, title): (usize, &&[u8])| !titles[..i].contains(title);
    titles.iter().all(is_title) && titles.iter().enumerate().all(is_new)
}

/// The character between fields: the comma, unless the records agree on another ([`Agreement::separates`]) and not on
/// the comma.
pub(super) fn of_sample(sample: &[u8], is_whole: bool) -> u8 {
    let found = DELIMITERS.iter().filter_map(|&delimiter| Agreement::of(sample, delimiter, is_whole));
    let found: Vec<Agreement> = found.filter(Agreement::separates).collect();
    match found.first() {
        Some(Agreement { delimiter: b',', .. }) | None => b',',
        // Of several, the one with most fields.
        Some(_) => found.iter().rev().max_by_key(|found| found.n).map_or(b',', |found| found.delimiter),
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
    if table.delimiter.is_some() || table.format_of(path) != TableFormat::Csv {
        return Ok(None);
    }
    let Some((bytes, at_end)) = beginning(path)? else { return Ok(None) };
    let of_records = || sample(&bytes, at_end).map(|sample| of_sample(sample, at_end && sample.len() == bytes.len()));
    let found = declared(&bytes).or_else(of_records);
    Ok(found.filter(|&delimiter| delimiter != b','))
}

/// The character that seems to separate fields of a CSV or TSV file that is read as whole lines, because it is read
/// with another character. The first record and most of the next ones are then a single field. `None` for other files,
/// and for standard input and pipes.
///
/// ```
/// use senv_core::text::{TableText, unread_delimiter};
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("tickets.tsv");
/// std::fs::write(&path, "id;text\n1;Rain, then snow.\n2;Sun.\n")?;
/// assert_eq!(unread_delimiter(&path, &TableText::column("1"))?, Some(b';'));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`Error::Io`](senv_base::Error::Io) if the file cannot be read.
pub fn unread_delimiter(path: &Path, table: &TableText) -> Result<Option<u8>> {
    let usual = match table.format_of(path) {
        TableFormat::Csv => b',',
        TableFormat::Tsv => b'\t',
        TableFormat::JsonLines => return Ok(None),
    };
    let used = table.delimiter.or(recognized_delimiter(path, table)?).unwrap_or(usual);
    let Some((bytes, at_end)) = beginning(path)? else { return Ok(None) };
    let end = memchr::memchr_iter(b'\n', &bytes).nth(LINES - 1).map_or(bytes.len(), |end| end + 1);
    let (sample, is_whole) = (&bytes[behind_declared(&bytes)..end], at_end && end == bytes.len());
    let counts = field_counts(sample, used, is_whole);
    let n_single = counts.iter().filter(|&&n| n == 1).count();
    let is_one_field = counts.first() == Some(&1) && 2 * n_single > counts.len();
    if !is_one_field {
        return Ok(None);
    }
    let seems = |&delimiter: &u8| {
        let counts = field_counts(sample, delimiter, is_whole);
        let agreement = Agreement::of(sample, delimiter, is_whole);
        // Commas stand in any text, so only titles tell.
        let has_titles = agreement.is_some_and(|found| found.has_titles && found.separates());
        has_titles || delimiter != b',' && most_agree(&counts)
    };
    Ok(DELIMITERS.into_iter().filter(|&delimiter| delimiter != used).find(seems))
}

/// Whether more than half of at least two records have the same number of fields, above one.
fn most_agree(counts: &[usize]) -> bool {
    let equal = |n: usize| counts.iter().filter(|&&count| count == n).count();
    counts.len() > 1 && counts.iter().any(|&n| n > 1 && 2 * equal(n) > counts.len())
}

/// The first bytes of a file that is text and can be read twice, without a byte order mark, and whether they are all.
fn beginning(path: &Path) -> Result<Option<(Vec<u8>, bool)>> {
    if is_stdin(path) || !path.is_file() || arrow::is_arrow(path) {
        return Ok(None);
    }
    let mut source = decode::open(path, &Default::default())?;
    let mut bytes = Vec::new();
    let read = (&mut source.reader).take((BYTES + BOM.len()) as u64).read_to_end(&mut bytes);
    read.map_err(|e| source.error(path, e))?;
    let at_end = bytes.len() < BYTES;
    if bytes.starts_with(BOM) {
        bytes.drain(..BOM.len());
    }
    Ok(Some((bytes, at_end)))
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
            // A stray character, or a field too few, in one of a few records.
            ("a;b\n1;2\n1;2;3\n", b';'),
            ("id;text\n1;Rain; then snow.\n2;Sun.\n", b';'),
            ("id;text\n1;Rain.\n2\n", b';'),
            ("id;author;text\n1\n", b';'),
            ("1;Rain, then snow.\n2;Sun.\n3;Fog; rain.\n4;Hail.\n", b';'),
            // Only titles.
            ("a;b\n", b';'),
            ("id\tauthor\ttext", b'\t'),
            // Most records do not agree, and the first has no titles, or those are no titles.
            ("text\nHe came; he saw.\nHe left.\n", b','),
            ("He came; he saw.\nHe left.\n", b','),
            ("He came; he saw.\n", b','),
            ("He came;he left.\nRain.\n", b','),
            ("and/or;not\nRain.\nSnow.\nHail; fog.\n", b','),
            ("", b','),
        ] {
            assert_eq!(char::from(of(text)), char::from(expected), "{text:?}");
        }
    }

    #[test]
    fn a_file_read_as_whole_lines_is_told_if_most_lines_agree_on_another_character() {
        let folder = tempfile::tempdir().unwrap();
        let told = |name: &str, text: &str, delimiter| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            let table = TableText { delimiter, ..TableText::column("1") };
            unread_delimiter(&path, &table).unwrap().map(char::from)
        };
        assert_eq!(told("a.csv", "Tickets of May\nid;text\n1;Rain.\n2;Sun.\n", None), Some(';'));
        assert_eq!(told("a.csv", "id;text\n1;Rain.\n", Some(b'|')), Some(';'));
        assert_eq!(told("a.csv", "id;text\n1;Rain, snow.\n2;Sun.\n", Some(b',')), Some(';'));
        assert_eq!(told("a.tsv", "id,text\n1,Rain.\n", None), Some(','));
        // Read by that character, or one-column files of prose.
        assert_eq!(told("a.csv", "id;text\n1;Rain.\n", None), None);
        assert_eq!(told("a.csv", "id,text\n1,Rain; snow.\n", None), None);
        assert_eq!(told("a.csv", "text\nHe came; he saw.\nHe left.\nRain.\n", None), None);
        assert_eq!(told("a.tsv", "Rain, then snow.\nFog, then sun.\n", None), None);
        assert_eq!(told("a.jsonl", "a;b\n1;2\n", None), None);
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
