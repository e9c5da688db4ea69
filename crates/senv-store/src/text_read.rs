//! Reads formats with one line per word: word2vec text and fastText `.vec` (with a header), GloVe text (without one).
//!
//! The file is read in blocks of whole lines. The lines of a block are parsed on all threads and collected in order, so
//! the result and the first error do not depend on the threads.

use rayon::prelude::*;

use crate::{
    Embeddings, Error, Format, LoadReport, ReadOptions, Result,
    byte_window::ByteWindow,
    collect::{Collector, shown},
    detect::{self, MAX_HEADER, header, numbers_at_end, skip_mark, trim_line},
    error::Position,
    number::number,
};

/// Bytes read at a time.
const BLOCK: usize = 8 << 20;
/// Bytes parsed at a time by one thread.
const PIECE: usize = 1 << 18;
/// The longest number that `%f` prints.
const MAX_NUMBER: usize = 64;

/// Reads the rest of the input as text in this format.
pub(crate) fn read(mut input: ByteWindow, format: Format, options: &ReadOptions) -> Result<(Embeddings, LoadReport)> {
    skip_mark(&mut input)?;
    let mut line = 1;
    let (dim, declared) = if format == Format::GloveText {
        (first_dim(&mut input, options)?, None)
    } else {
        let header = read_header(&mut input)?;
        line += 1;
        (header.dim, Some(header.rows))
    };
    let expected = reserve(&input, options, dim, declared)?;
    let dim = usize::try_from(dim).unwrap_or(usize::MAX);
    let mut rows = Collector::new(input.path().to_owned(), options, dim, expected, LoadReport::new(format))?;
    let many = declared.filter(|_| !options.accept_wrong_row_count);
    while let Some(end) = next_block(&mut input, options, dim, line)? {
        let block = &input.buffered()[..end];
        let parse = |piece| parse(piece, dim);
        let pieces = cut(block);
        // A short file is not worth several threads.
        let pieces: Vec<Piece<'_>> = match pieces[..] {
            [piece] => vec![parse(piece)],
            _ => pieces.into_par_iter().map(parse).collect(),
        };
        for piece in pieces {
            for (i, (word, row)) in piece.words.iter().zip(piece.values.chunks_exact(dim)).enumerate() {
                if rows.is_full() {
                    return rows.finish();
                }
                if many == Some(rows.rows()) {
                    return Err(wrong_count(&input, rows.rows(), rows.rows() + 1));
                }
                rows.push(word, row, Position::Line(line + i as u64))?;
            }
            line += piece.words.len() as u64;
            if let Some(fault) = piece.fault {
                return Err(fault.at(&input, line, dim));
            }
        }
        input.consume(end);
    }
    match many.filter(|_| !rows.is_full()) {
        Some(declared) if declared != rows.rows() => Err(wrong_count(&input, declared, rows.rows())),
        _ => rows.finish(),
    }
}

fn wrong_count(input: &ByteWindow, declared: u64, found: u64) -> Error {
    Error::WrongRowCount { path: input.path().to_owned(), declared, found }
}

/// Reads and consumes the header line.
pub(crate) fn read_header(input: &mut ByteWindow) -> Result<detect::Header> {
    skip_mark(input)?;
    let path = input.path().to_owned();
    let text = input.window(MAX_HEADER)?;
    if text.is_empty() {
        return Err(Error::UnknownFormat { path, found: "the file is empty" });
    }
    let Some(header) = header(text) else {
        let line = text.split(|&b| b == b'\n').next().unwrap_or_default();
        return Err(Error::BadHeader { path, found: shown(line) });
    };
    input.consume(header.len);
    Ok(header)
}

/// Rows to allocate immediately: those declared, if they fit in the remaining bytes.
fn reserve(input: &ByteWindow, options: &ReadOptions, dim: u64, declared: Option<u64>) -> Result<u64> {
    let Some(rows) = declared else { return Ok(0) };
    let path = input.path().to_owned();
    if dim == 0 {
        return Err(Error::ZeroDim { path });
    }
    crate::collect::limit(&path, "the dimension", dim, options.max_dim as u64)?;
    crate::collect::limit(&path, "the number of rows", rows, options.max_rows)?;
    let Some(left) = input.left() else { return Ok(0) };
    // A space and a digit for each value, and the line end, which the last line may lack.
    let needed = (u128::from(rows) * (2 * u128::from(dim) + 1)).saturating_sub(1);
    match needed <= u128::from(left) {
        true => Ok(rows),
        false if options.accept_wrong_row_count || options.first_rows < rows => Ok(0),
        false => Err(Error::DeclaredTooMuch { path, rows, dim, needed, left }),
    }
}

/// The dimension of a file without a header: the number of values at the end of its first line.
fn first_dim(input: &mut ByteWindow, options: &ReadOptions) -> Result<u64> {
    let most = longest_line(options, options.max_dim);
    let mut look = PIECE;
    loop {
        let text = input.window(look)?;
        let (end, complete) = match memchr::memchr(b'\n', text) {
            Some(end) => (end, true),
            None => (text.len(), false),
        };
        if complete || text.len() < look {
            let line = trim_line(&text[..end]);
            let (numbers, found) = (numbers_at_end(line), shown(line));
            let path = input.path().to_owned();
            return match numbers {
                0 if found.is_empty() && input.ended() && input.buffered().is_empty() => {
                    Err(Error::UnknownFormat { path, found: "the file is empty" })
                }
                0 => Err(Error::BadNumber { path, at: Position::Line(1), word: found.clone(), number: 1, found }),
                n => Ok(n as u64),
            };
        }
        if look > most {
            let path = input.path().to_owned();
            return Err(Error::TooLong { path, at: Position::Line(1), what: "the line", limit: most });
        }
        look *= 2;
    }
}

fn longest_line(options: &ReadOptions, dim: usize) -> usize {
    dim.saturating_mul(MAX_NUMBER).saturating_add(options.max_word_bytes).saturating_add(3)
}

/// Length of the whole lines in the window; `None` at the end of the input.
fn next_block(input: &mut ByteWindow, options: &ReadOptions, dim: usize, line: u64) -> Result<Option<usize>> {
    let most = longest_line(options, dim);
    let mut look = BLOCK;
    loop {
        let text = input.window(look)?;
        if text.is_empty() {
            return Ok(None);
        }
        let len = text.len();
        if let Some(end) = memchr::memrchr(b'\n', text).filter(|_| len >= look) {
            return Ok(Some(end + 1));
        }
        if len < look {
            return Ok(Some(len));
        }
        if len > most {
            let path = input.path().to_owned();
            return Err(Error::TooLong { path, at: Position::Line(line), what: "the line", limit: most });
        }
        look *= 2;
    }
}

/// Splits a block into pieces of whole lines.
fn cut(block: &[u8]) -> Vec<&[u8]> {
    let mut pieces = Vec::with_capacity(block.len() / PIECE + 1);
    let mut rest = block;
    while !rest.is_empty() {
        let from = rest.len().min(PIECE) - 1;
        let end = memchr::memchr(b'\n', &rest[from..]).map_or(rest.len(), |n| from + n + 1);
        let (piece, after) = rest.split_at(end);
        pieces.push(piece);
        rest = after;
    }
    pieces
}

/// The rows of one piece, up to its first error.
struct Piece<'a> {
    words: Vec<&'a [u8]>,
    values: Vec<f32>,
    fault: Option<Fault<'a>>,
}

/// The error of a line.
enum Fault<'a> {
    Empty,
    Dim { word: &'a [u8], found: usize },
    Number { word: &'a [u8], number: usize, found: &'a [u8] },
}

impl Fault<'_> {
    fn at(self, input: &ByteWindow, line: u64, expected: usize) -> Error {
        let (path, at) = (input.path().to_owned(), Position::Line(line));
        match self {
            Self::Empty => Error::EmptyLine { path, at },
            Self::Dim { word, found } => Error::WrongDim { path, at, word: shown(word), found, expected },
            Self::Number { word, number, found } => {
                Error::BadNumber { path, at, word: shown(word), number, found: shown(found) }
            }
        }
    }
}

fn parse(text: &[u8], dim: usize) -> Piece<'_> {
    let mut piece = Piece { words: Vec::new(), values: Vec::with_capacity(text.len() / 8), fault: None };
    let text = text.strip_suffix(b"\n").unwrap_or(text);
    let mut start = 0;
    for end in memchr::memchr_iter(b'\n', text).chain([text.len()]) {
        let line = trim_line(&text[start..end]);
        start = end + 1;
        let kept = piece.values.len();
        match parse_line(line, dim, &mut piece.values) {
            Some(word) => piece.words.push(word),
            None => {
                piece.values.truncate(kept);
                match parse_odd_line(line, dim, &mut piece.values) {
                    Ok(word) => piece.words.push(word),
                    Err(fault) => {
                        piece.values.truncate(kept);
                        piece.fault = Some(fault);
                        break;
                    }
                }
            }
        }
    }
    piece
}

/// Parses a line of a word without spaces and `dim` values.
#[inline]
fn parse_line<'a>(line: &'a [u8], dim: usize, values: &mut Vec<f32>) -> Option<&'a [u8]> {
    let word = &line[..memchr::memchr(b' ', line)?];
    let mut rest = &line[word.len()..];
    for _ in 0..dim {
        // The space, at which `number` stops.
        let (value, n) = number(rest.get(1..)?)?;
        values.push(value);
        rest = &rest[1 + n..];
    }
    rest.is_empty().then_some(word)
}

/// Parses any other line, whose word can contain spaces, or returns its error.
fn parse_odd_line<'a>(line: &'a [u8], dim: usize, values: &mut Vec<f32>) -> Result<&'a [u8], Fault<'a>> {
    if line.is_empty() {
        return Err(Fault::Empty);
    }
    let first = &line[..memchr::memchr(b' ', line).unwrap_or(line.len())];
    let found = memchr::memchr_iter(b' ', line).count();
    // A word that ends in a number is more likely a row with one value too many.
    if found < dim || (found > dim && numbers_at_end(line) > dim) {
        return Err(Fault::Dim { word: first, found });
    }
    let from = memchr::memrchr_iter(b' ', line).nth(dim - 1).unwrap_or_default();
    for (i, field) in line[from + 1..].split(|&b| b == b' ').enumerate() {
        match number(field) {
            Some((value, n)) if n == field.len() => values.push(value),
            _ => return Err(Fault::Number { word: first, number: i + 1, found: field }),
        }
    }
    Ok(&line[..from])
}
