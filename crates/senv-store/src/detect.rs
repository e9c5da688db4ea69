//! Detects the format of a file from its first bytes, never from its name.

use senv_core::text::wide_text;

use crate::{Error, Format, Result, byte_window::ByteWindow, number::number};

/// Bytes examined: two lines of the highest dimension with numbers of usual length.
const LOOK: usize = 4 << 20;

/// The longest header line of the word2vec formats.
pub(crate) const MAX_HEADER: usize = 64;

/// Rows and dimension declared in the first line of a word2vec file; a number that overflows becomes the largest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) rows: u64,
    pub(crate) dim: u64,
    /// Bytes of the line, including its end.
    pub(crate) len: usize,
}

/// The header at the start of `text`, if there is one: two runs of ASCII digits with one space or tab between them. A
/// space and `\r` can precede the end of the line.
pub(crate) fn header(text: &[u8]) -> Option<Header> {
    let end = memchr::memchr(b'\n', &text[..text.len().min(MAX_HEADER)])?;
    let line = &text[..end];
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let line = line.strip_suffix(b" ").unwrap_or(line);
    let middle = line.iter().position(|b| matches!(b, b' ' | b'\t'))?;
    let number = |digits: &[u8]| {
        let all_digits = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
        all_digits.then(|| digits.iter().fold(0u64, |n, d| n.saturating_mul(10).saturating_add(u64::from(d - b'0'))))
    };
    Some(Header { rows: number(&line[..middle])?, dim: number(&line[middle + 1..])?, len: end + 1 })
}

/// A line without its end: drops at most one `\r`, then at most one space.
pub(crate) fn trim_line(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    line.strip_suffix(b" ").unwrap_or(line)
}

/// The number of numeric fields at the end of the line, not counting the first field.
pub(crate) fn numbers_at_end(line: &[u8]) -> usize {
    let mut fields = line.rsplit(|&b| b == b' ');
    let n_fields = memchr::memchr_iter(b' ', line).count() + 1;
    fields.by_ref().take(n_fields - 1).take_while(|field| number(field).is_some_and(|(_, n)| n == field.len())).count()
}

/// Detects the format of the input; consumes only a byte-order mark.
pub(crate) fn detect(input: &mut ByteWindow) -> Result<Format> {
    let path = input.path().to_owned();
    let unknown = |found| Err(Error::UnknownFormat { path: path.clone(), found });
    let head = input.window(16)?;
    if head.is_empty() {
        return unknown("the file is empty");
    }
    let is_tensors = head.len() > 8 && head[8] == b'{' && head[4..8] == [0; 4];
    if is_tensors {
        return Ok(Format::Safetensors);
    }
    if head.starts_with(b"FiFu") {
        return Ok(Format::Finalfusion);
    }
    let foreign: [(&[u8], &str); 8] = [
        (b"\x93NUMPY", "this is a NumPy matrix, which has vectors but no words"),
        (
            b"\xba\x16\x4f\x2f",
            "this is a .bin model of fastText or Sent2Vec, not a file of word vectors: open it as a model, \
            uncompressed",
        ),
        (b"PK\x03\x04", "this is a ZIP archive (.npz, .pt, .docx): unpack it"),
        (b"\x89HDF", "this is an HDF5 file, which is not supported"),
        (b"\x28\xb5\x2f\xfd", "this is zstd data: expand it with `zstd -d`"),
        (b"BZh", "this is bzip2 data: expand it with `bunzip2`"),
        (b"PAR1", "this is a Parquet file, which is not supported"),
        (b"\x80\x04\x95", "this is a Python pickle, which is not supported because it can run code"),
    ];
    if let Some((_, found)) = foreign.iter().find(|(magic, _)| head.starts_with(magic)) {
        return unknown(found);
    }
    if let Some(found) = wide(input.window(LOOK)?) {
        return unknown(found);
    }
    skip_mark(input)?;
    let text = input.window(LOOK)?;
    let first_end = memchr::memchr(b'\n', text).unwrap_or(text.len());
    if let Some(header) = header(text) {
        let rest = &text[header.len..];
        let second = trim_line(&rest[..memchr::memchr(b'\n', rest).unwrap_or(rest.len())]);
        let numbers = numbers_at_end(second) as u64;
        let blanks = memchr::memchr_iter(b' ', second).count() as u64;
        return Ok(if blanks == header.dim && numbers == header.dim {
            Format::Word2vecText
        } else if blanks == 1 && numbers == 1 {
            // A word that is a number, and one dimension: two fields per line.
            Format::GloveText
        } else if is_binary(rest, header.dim) {
            Format::Word2vecBinary
        } else {
            Format::Word2vecText
        });
    }
    if numbers_at_end(trim_line(&text[..first_end])) == 0 {
        if is_tabbed(trim_line(&text[..first_end])) {
            return unknown(
                "the first line separates its numbers with tabs: replace them with spaces (tr '\\t' ' ' < FILE > NEW)",
            );
        }
        return unknown("the first line is neither a header nor a word with numbers");
    }
    Ok(Format::GloveText)
}

/// Whether a line is a word and numbers separated by tabs.
fn is_tabbed(line: &[u8]) -> bool {
    let mut fields = line.split(|&byte| byte == b'\t').skip(1).peekable();
    fields.peek().is_some() && fields.all(|field| number(field).is_some_and(|(_, n)| n == field.len()))
}

/// The description of text in UTF-16 or UTF-32.
fn wide(head: &[u8]) -> Option<&'static str> {
    const MARKED: &str = "this is text in UTF-16 or UTF-32: convert it to UTF-8 (iconv -f UTF-16 -t UTF-8, or UTF-32)";
    let has_mark = head.starts_with(b"\xFF\xFE") || head.starts_with(b"\xFE\xFF") || head.starts_with(b"\0\0\xFE\xFF");
    match wide_text(head) {
        _ if has_mark => Some(MARKED),
        Some((found, _)) if found.contains("UTF-32") => Some(
            "this is text in UTF-32 without a byte order mark: convert it to UTF-8 (iconv -f UTF-32LE -t UTF-8, or \
            UTF-32BE)",
        ),
        Some(_) => Some(
            "this is text in UTF-16 without a byte order mark: convert it to UTF-8 (iconv -f UTF-16LE -t UTF-8, or \
            UTF-16BE)",
        ),
        None => None,
    }
}

/// Drops a UTF-8 byte-order mark; only called before anything is consumed.
pub(crate) fn skip_mark(input: &mut ByteWindow) -> Result<()> {
    if input.position() == 0 && input.window(3)?.starts_with(b"\xef\xbb\xbf") {
        input.consume(3);
    }
    Ok(())
}

/// Whether the bytes after the first word are not text.
fn is_binary(rest: &[u8], dim: u64) -> bool {
    let Some(blank) = memchr::memchr(b' ', rest) else { return false };
    let numbers = &rest[blank + 1..];
    let numbers = &numbers[..numbers.len().min(usize::try_from(dim.saturating_mul(4)).unwrap_or(usize::MAX))];
    let control = numbers.iter().any(|&b| b == 0x7f || (b < b' ' && !matches!(b, b'\t' | b'\n' | b'\r')));
    control || std::str::from_utf8(numbers).is_err_and(|e| e.error_len().is_some())
}
