//! Whether a file was written by senv.

use std::{
    fs::File,
    io::{BufRead, BufReader, Read},
    path::Path,
};

use senv_core::files::WebCollection;
use senv_store::{Embeddings, ModelFile, is_text_of_rows};

use super::Content;

/// The number of bytes of a file that are checked: the first lines of the widest vectors.
const LOOKED_AT: u64 = 1 << 20;

/// Whether the first row was written by `senv encode`, in any of its formats.
fn is_vectors(bytes: &[u8]) -> bool {
    // A shard without lines.
    bytes == b"[\n]\n" || is_text_of_rows(bytes, (bytes.len() as u64) < LOOKED_AT)
}

/// Whether the file has this content and was written by senv.
pub(super) fn is(path: &Path, content: Content<'_>) -> bool {
    match content {
        // Collections for the web page and groups have the same file format.
        Content::Model => ModelFile::open(path).is_ok_and(|file| senv::kinds().contains(&file.kind())),
        Content::Checkpoint => senv_core::checkpoint::kind(path).is_ok(),
        Content::Matrix => rows_of_matrix(&start_of(path)).is_some(),
        #[cfg(feature = "arrow")]
        Content::VectorTable => is_vector_table(path),
        Content::WordsOf(matrix) => rows_of_matrix(&start_of(matrix)).is_some_and(|rows| lines(path) == Some(rows)),
        Content::License => Embeddings::is_own_license(path),
        Content::Vectors => is_vectors(&start_of(path)),
        // Plain text and the formats of other programs do not say who wrote them.
        Content::WordVectors | Content::Sentences => false,
        Content::Report => is_report(&String::from_utf8_lossy(&start_of(path))),
        Content::WebCollection => ModelFile::open(path).is_ok_and(|file| file.kind() == WebCollection::KIND),
        Content::Groups => ModelFile::open(path).is_ok_and(|file| file.kind() == senv::jobs::TextGroups::KIND),
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

/// The first bytes; empty for a file that cannot be read.
fn start_of(path: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    match File::open(path).and_then(|file| file.take(LOOKED_AT).read_to_end(&mut bytes)) {
        Ok(_) => bytes,
        Err(_) => Vec::new(),
    }
}

/// The number of lines of a file.
fn lines(path: &Path) -> Option<u64> {
    let mut reader = BufReader::new(File::open(path).ok()?);
    let mut n = 0;
    while reader.skip_until(b'\n').ok()? > 0 {
        n += 1;
    }
    Some(n)
}

/// The number of rows of a row-major f32 matrix, the only kind that senv writes.
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

/// Whether it is a benchmark report in any of its formats.
fn is_report(text: &str) -> bool {
    let starts = ["{\"senv_bench\":", "# Bench of sentence embeddings\n", senv_eval::REPORT_START];
    starts.iter().any(|start| text.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

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
