//! Whether a file is what senv itself writes.

use std::{
    fs::File,
    io::{BufRead, BufReader, Read},
    path::Path,
};

use senv_core::files::WebCollection;
use senv_store::ModelFile;

use super::Content;
use crate::number::{Digits, push_row};

/// Bytes of a file that are looked at: the first lines of the widest vectors.
const LOOKED_AT: u64 = 1 << 20;

/// Values of a row below which it may be anybody's table.
const FEWEST: usize = 8;

/// Whether the file holds such content, written by senv.
pub(super) fn is(path: &Path, content: Content<'_>) -> bool {
    match content {
        // Collections for the web page and groups are files of the same format.
        Content::Model => ModelFile::open(path).is_ok_and(|file| senv::kinds().contains(&file.kind())),
        Content::Checkpoint => senv_core::checkpoint::kind(path).is_ok(),
        Content::Matrix => rows_of_matrix(&start_of(path)).is_some(),
        Content::VectorTable => is_vector_table(path),
        Content::WordsOf(matrix) => rows_of_matrix(&start_of(matrix)).is_some_and(|rows| lines(path) == Some(rows)),
        Content::Vectors => is_vectors(&start_of(path)),
        // The formats of other programs do not say who wrote them, nor does plain text.
        Content::WordVectors | Content::Sentences => false,
        Content::Report => is_report(&String::from_utf8_lossy(&start_of(path))),
        Content::WebCollection => ModelFile::open(path).is_ok_and(|file| file.kind() == WebCollection::KIND),
        Content::Groups => ModelFile::open(path).is_ok_and(|file| file.kind() == senv::TextGroups::KIND),
        Content::GroupsPage => {
            let text = start_of(path);
            let text = String::from_utf8_lossy(&text);
            text.starts_with("<!DOCTYPE html>\n") && text.contains("\n<title>Groups of sentences</title>\n")
        }
        Content::Search => true,
        Content::Points => start_of(path).starts_with(b"set\tthreshold\tprecision\trecall\n"),
        Content::Drawing => is_drawing(&String::from_utf8_lossy(&start_of(path))),
    }
}

#[cfg(feature = "arrow")]
fn is_vector_table(path: &Path) -> bool {
    let table = senv_core::text::ArrowBatches::open(path, None);
    table.is_ok_and(|table| table.schema().metadata().contains_key(senv_store::VectorTableWriter::KEY))
}

/// Without the feature none is written.
#[cfg(not(feature = "arrow"))]
fn is_vector_table(_: &Path) -> bool {
    false
}

/// The first bytes; none of a file that cannot be read.
fn start_of(path: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    match File::open(path).and_then(|file| file.take(LOOKED_AT).read_to_end(&mut bytes)) {
        Ok(_) => bytes,
        Err(_) => Vec::new(),
    }
}

/// Lines of a file.
fn lines(path: &Path) -> Option<u64> {
    let mut reader = BufReader::new(File::open(path).ok()?);
    let mut n = 0;
    while reader.skip_until(b'\n').ok()? > 0 {
        n += 1;
    }
    Some(n)
}

/// The rows of a matrix of f32 in row order, which is all that senv writes.
fn rows_of_matrix(bytes: &[u8]) -> Option<u64> {
    let header = bytes.strip_prefix(b"\x93NUMPY\x01\x00")?.get(2..)?;
    let shape = header.strip_prefix(b"{'descr': '<f4', 'fortran_order': False, 'shape': (")?;
    let shape = std::str::from_utf8(shape.split(|&b| b == b')').next()?).ok()?;
    let (rows, dim) = shape.split_once(", ")?;
    dim.parse::<u64>().ok()?;
    rows.parse().ok()
}

/// Whether it has the frame of every figure.
fn is_drawing(text: &str) -> bool {
    let mut lines = text.lines();
    let frame = lines
        .next()
        .and_then(|first| first.strip_prefix("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 480 "));
    frame.is_some_and(|rest| rest.ends_with("\" font-family=\"sans-serif\" font-size=\"14\">"))
        && lines.next() == Some("<rect class=\"background\" width=\"100%\" height=\"100%\" fill=\"white\"/>")
}

/// Whether it is what the bench writes in any of its forms.
fn is_report(text: &str) -> bool {
    let starts = ["{\"senv_bench\":", "# Bench of sentence embeddings\n", senv_eval::REPORT_START];
    starts.iter().any(|start| text.starts_with(start))
}

/// Whether the first row is one of `senv encode`, in any of its formats.
fn is_vectors(bytes: &[u8]) -> bool {
    // Of a shard without a line.
    if bytes == b"[\n]\n" {
        return true;
    }
    let whole = (bytes.len() as u64) < LOOKED_AT;
    let mut lines = bytes.split_inclusive(|&b| b == b'\n').filter(|line| whole || line.ends_with(b"\n"));
    let first = lines.next().unwrap_or_default();
    let line = if first == b"[\n" { lines.next().unwrap_or_default() } else { first };
    let Ok(line) = std::str::from_utf8(line) else { return false };
    let line = line.trim_end_matches('\n').trim_end_matches(',');
    let line = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')).unwrap_or(line);
    [b' ', b'\t', b','].into_iter().any(|separator| is_row(line, separator))
}

/// Whether these are so many numbers that senv would write them just so: in the fewest digits of an f32, or all with as
/// many digits after the point.
fn is_row(line: &str, separator: u8) -> bool {
    let cells = || line.split(char::from(separator));
    let row: Option<Vec<f32>> = cells().map(|cell| cell.parse().ok()).collect();
    let Some(row) = row.filter(|row| row.len() >= FEWEST) else { return false };
    let digits = cells().next().and_then(|cell| cell.split_once('.')).map_or(0, |(_, digits)| digits.len());
    let forms = [Some(Digits::Shortest), (1..=9).contains(&digits).then_some(Digits::Fixed(digits as u8))];
    forms.into_iter().flatten().any(|digits| {
        let mut again = Vec::new();
        push_row(&row, separator, digits, &mut again);
        again.strip_suffix(b"\n") == Some(line.as_bytes())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_vectors_are_told_from_other_tables() {
        assert!(is_vectors(b"[\n]\n") && !is_vectors(b"[]\n"));
        let row = [0.25_f32, -1.5, 0.1, 3.0, 1e-7, 0.0, 2.5e8, -0.333_333_34];
        for digits in [Digits::Shortest, Digits::Fixed(4)] {
            for separator in [b' ', b'\t', b','] {
                let mut text = Vec::new();
                push_row(&row, separator, digits, &mut text);
                assert!(is_vectors(&text), "{digits:?}");
                text.extend_from_slice(b"whatever follows");
                assert!(is_vectors(&text));
            }
        }
        assert!(is_vectors(b"[0.5,0.5,0.5,0.5,0.5,0.5,0.5,0.25]\n"), "JSON lines");
        assert!(is_vectors(b"[\n[0.5,0.5,0.5,0.5,0.5,0.5,0.5,0.25],\n"), "JSON");
        let others: [&[u8]; 7] = [
            b"",
            b"5.1,3.5,1.4,0.2\n",
            b"1 2 3 4 5 6 7 8 9\n",
            b"0.12345678901 0.5 0.5 0.5 0.5 0.5 0.5 0.5\n",
            b"the 0.5 0.5 0.5 0.5 0.5 0.5 0.5 0.5\n",
            b"0.5  0.5 0.5 0.5 0.5 0.5 0.5 0.5\n",
            b"My notes of today.\n",
        ];
        assert!(!others.iter().any(|text| is_vectors(text)));
    }

    #[test]
    fn matrices_of_other_programs_are_told_by_their_type() {
        let header = |dict: &str| [b"\x93NUMPY\x01\x00\x76\x00", dict.as_bytes()].concat();
        let of = |dict: &str| rows_of_matrix(&header(dict));
        assert_eq!(of("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 12), }"), Some(3));
        assert_eq!(of("{'descr': '<i8', 'fortran_order': False, 'shape': (3, 12), }"), None);
        assert_eq!(of("{'descr': '<f4', 'fortran_order': True, 'shape': (3, 12), }"), None);
        assert_eq!(of("{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }"), None);
        assert_eq!(rows_of_matrix(b"PK\x03\x04"), None);
    }
}
