//! word2vec binary: a header line, then each word, a space and its values as little-endian f32.

use std::{
    borrow::Cow,
    io::{self, Write},
};

use senv_core::Rows;

use crate::{
    Embeddings, Error, Format, LoadReport, ReadOptions, Result,
    byte_window::ByteWindow,
    collect::{Collector, limit, shown},
    error::Position,
    text_read::read_header,
};

/// The longest word.
const MAX_WORD: usize = 4096;
/// Bytes read at a time.
const BLOCK: usize = 1 << 20;

/// Reads the rest of the input.
pub(crate) fn read(mut input: ByteWindow, options: &ReadOptions) -> Result<(Embeddings, LoadReport)> {
    let header = read_header(&mut input)?;
    let path = input.path().to_owned();
    if header.dim == 0 {
        return Err(Error::ZeroDim { path });
    }
    limit(&path, "the dimension", header.dim, options.max_dim as u64)?;
    limit(&path, "the number of rows", header.rows, options.max_rows)?;
    let dim = usize::try_from(header.dim).unwrap_or(usize::MAX);
    let mut expected = 0;
    if let Some(left) = input.left() {
        // One byte for the word, a space, the values.
        let needed = u128::from(header.rows) * (2 + 4 * u128::from(header.dim));
        if needed > u128::from(left) && !options.accept_wrong_row_count && options.first_rows >= header.rows {
            return Err(Error::DeclaredTooMuch { path, rows: header.rows, dim: header.dim, needed, left });
        }
        // Those declared, limited to what fits in the remaining bytes.
        expected = header.rows.min(left / (2 + 4 * header.dim));
    }
    let report = LoadReport::new(Format::Word2vecBinary);
    let mut rows = Collector::new(path, options, dim, expected, report)?;
    let max_word = options.max_word_bytes.min(MAX_WORD);
    let mut row = vec![0.0f32; dim];
    let accepts_any = options.accept_wrong_row_count;
    let is_at_end = |input: &mut ByteWindow| Ok::<_, Error>(matches!(input.window(2)?, b"" | b"\n"));
    while !rows.is_full() && (accepts_any || rows.rows() < header.rows) && !(accepts_any && is_at_end(&mut input)?) {
        read_row(&mut input, &mut rows, &mut row, max_word)?;
    }
    if rows.is_full() || accepts_any {
        return rows.finish();
    }
    // One line end after the last row, or none.
    let rest = input.window(2)?;
    if !matches!(rest, b"" | b"\n") {
        return Err(Error::TrailingBytes { path: input.path().to_owned(), end: input.position() });
    }
    rows.finish()
}

fn read_row(input: &mut ByteWindow, rows: &mut Collector<'_>, row: &mut [f32], max_word: usize) -> Result<()> {
    let record = 1 + max_word + 1 + 4 * rows.dim();
    if input.buffered().len() < record {
        input.window(record.max(BLOCK))?;
    }
    if input.buffered().first() == Some(&b'\n') {
        input.consume(1);
    }
    let at = Position::Byte(input.position());
    let window = input.buffered();
    let head = &window[..window.len().min(max_word + 1)];
    let Some(len) = memchr::memchr(b' ', head) else {
        if head.len() <= max_word {
            return Err(input.truncated("a word"));
        }
        return Err(Error::TooLong { path: input.path().to_owned(), at, what: "the word", limit: max_word });
    };
    let word = &window[..len];
    // Bytes of numbers read as a word have such characters: the rows are misaligned.
    if word.is_empty() || word.iter().any(u8::is_ascii_control) {
        let (path, word, dim) = (input.path().to_owned(), shown(word), row.len());
        return Err(Error::BadWord { path, at, word, dim });
    }
    let Some(bytes) = window.get(len + 1..len + 1 + 4 * row.len()) else {
        return Err(input.truncated("the values of a word"));
    };
    for (x, bytes) in row.iter_mut().zip(bytes.as_chunks::<4>().0) {
        *x = f32::from_le_bytes(*bytes);
    }
    rows.push(word, row, at)?;
    let consumed = len + 1 + 4 * row.len();
    input.consume(consumed);
    Ok(())
}

/// Writes the embeddings; the words must be writable. A line end follows each row.
pub(crate) fn write(embeddings: &Embeddings, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "{} {}", embeddings.len(), embeddings.dim())?;
    for i in 0..embeddings.len() {
        out.write_all(embeddings.word(i).as_bytes())?;
        out.write_all(b" ")?;
        out.write_all(&le_bytes(embeddings.row(i)))?;
        out.write_all(b"\n")?;
    }
    Ok(())
}

/// The little-endian bytes of values: without a copy on nearly all machines.
pub(crate) fn le_bytes(values: &[f32]) -> Cow<'_, [u8]> {
    if cfg!(target_endian = "little") {
        Cow::Borrowed(bytemuck::cast_slice(values))
    } else {
        Cow::Owned(values.iter().flat_map(|x| x.to_le_bytes()).collect())
    }
}
