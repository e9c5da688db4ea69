//! Recognizes files that are not text by their first bytes.

use std::path::Path;

use super::{InvalidUtf8, table::arrow, wide::wide_text};
use senv_base::Error;

/// How far into a file the description of a senv model is searched for.
const MODEL_HEAD: usize = 1 << 10;
/// How many bytes tell whether a file is binary; fewer than the least do not.
const LEAST: usize = 32;
const SAMPLE: usize = 1 << 12;

/// What a file is if it is not readable text, and the remedy; `None` for record batches, which may be read.
#[derive(Clone, Copy)]
struct Foreign {
    found: &'static str,
    remedy: Option<&'static str>,
}

const fn foreign_file(found: &'static str, remedy: &'static str) -> Foreign {
    Foreign { found, remedy: Some(remedy) }
}

const fn batches(found: &'static str) -> Foreign {
    Foreign { found, remedy: None }
}

/// First bytes of file formats, which UTF-8 text does not have.
///
/// If the first bytes are all printable, the control characters that follow them in such files are included, so a
/// sentence may start with the same letters. UTF-32 comes before UTF-16, whose mark it starts with.
const BEGINNINGS: &[(&[u8], Foreign)] = &[
    (b"\xFF\xFE\0\0", foreign_file("in UTF-32", "convert it to UTF-8 (iconv -f UTF-32 -t UTF-8)")),
    (b"\0\0\xFE\xFF", foreign_file("in UTF-32", "convert it to UTF-8 (iconv -f UTF-32 -t UTF-8)")),
    (b"\xFF\xFE", foreign_file("in UTF-16", "convert it to UTF-8 (iconv -f UTF-16 -t UTF-8)")),
    (b"\xFE\xFF", foreign_file("in UTF-16", "convert it to UTF-8 (iconv -f UTF-16 -t UTF-8)")),
    (
        b"\xFD7zXZ\0",
        foreign_file(
            "compressed by xz",
            "decompress it first (xz -dk), or recompress it with gzip or \
        zstd",
        ),
    ),
    (
        b"PK\x03\x04",
        foreign_file(
            "a ZIP archive (such as .zip, .xlsx, .docx or .npz)",
            "unpack it, or save the table or document as text",
        ),
    ),
    (b"PAR1\x15", batches("a Parquet file")),
    (b"ARROW1\0\0", batches("an Arrow file")),
    (b"\x93NUMPY", foreign_file("a NumPy array", "give the text that its vectors were made from")),
    (
        b"SQLite format 3\0",
        foreign_file("an SQLite database", "export the text to a file (sqlite3 -csv FILE 'select ...')"),
    ),
    (b"\x89HDF\r", foreign_file("an HDF5 file", "export its text to a file, one sentence per line")),
    (b"\xBA\x16\x4F\x2F", foreign_file("a fastText or Sent2Vec model", "give it as the model, and text as the input")),
];

/// Whether the first bytes of a file are not text in any encoding: no UTF-8, and with control characters that older
/// encodings have as rarely as UTF-8. Random bytes have one in nine.
///
/// ```
/// # use senv_text::is_binary;
/// let noise: Vec<u8> = (0..64).map(|i| (i * 37 + 129) as u8).collect();
/// assert!(is_binary(&noise));
/// assert!(!is_binary(b"Un caf\xe9 et un th\xe9 \xe0 la cr\xe8me, s'il vous pla\xeet."));
/// ```
#[doc(hidden)]
#[must_use]
pub fn is_binary(head: &[u8]) -> bool {
    let sample = &head[..head.len().min(SAMPLE)];
    let is_control = |byte: &&u8| matches!(byte, 0..=8 | 0x0E..=0x1A | 0x1C..=0x1F | 0x7F);
    let n_controls = sample.iter().filter(is_control).count();
    // The last character may not be complete.
    let is_utf8 = std::str::from_utf8(sample).map_or_else(|error| error.error_len().is_none(), |_| true);
    sample.len() >= LEAST && 32 * n_controls >= sample.len() && !is_utf8
}

/// The error for a file that starts with these bytes, if they belong to a known format other than text, or, where
/// invalid bytes are errors, to none.
pub(super) fn foreign(head: &[u8], path: &Path, has_column: bool, invalid_utf8: InvalidUtf8) -> Option<Error> {
    let known = BEGINNINGS.iter().find(|(beginning, _)| head.starts_with(beginning)).map(|&(_, foreign)| foreign);
    let Foreign { found, remedy } = match known {
        Some(foreign) => foreign,
        None if is_bzip2(head) => {
            foreign_file("compressed by bzip2", "decompress it first (bzip2 -dk), or recompress it with gzip or zstd")
        }
        None if head.starts_with(&[0xFF; 4]) && head.get(6..8) == Some(&[0, 0]) => batches("an Arrow stream"),
        None if is_tar(head) => foreign_file("a tar archive", "unpack it first (tar -xf)"),
        None if is_pdf(head) => {
            foreign_file("a PDF document", "extract its text first (pdftotext), one sentence per line")
        }
        None if is_safetensors(head) => {
            let head = &head[..head.len().min(MODEL_HEAD)];
            let is_model = memchr::memmem::find(head, b"senv").is_some();
            let found = if is_model { "a senv model" } else { "a safetensors file" };
            foreign_file(found, "give it as the model, and text as the input")
        }
        None => {
            let head = settled(head, path);
            let is_noise = invalid_utf8 == InvalidUtf8::Error && is_binary(head);
            let noise = || ("a binary file", "give a text file");
            let (found, remedy) = wide_text(head).or_else(|| is_noise.then(noise))?;
            foreign_file(found, remedy)
        }
    };
    let path = path.to_owned();
    Some(match remedy {
        Some(remedy) => Error::NotText { path, found, remedy },
        None => arrow::not_text(path, found, has_column),
    })
}

/// The available bytes, independent of how they arrive: for a pipe, those of the first line.
fn settled<'a>(head: &'a [u8], path: &Path) -> &'a [u8] {
    match memchr::memchr(b'\n', head) {
        Some(end) if head.contains(&0) && !path.is_file() => &head[..=end],
        _ => head,
    }
}

/// `BZh`, the block size, and the mark of the first block or, if there is none, of the end.
fn is_bzip2(head: &[u8]) -> bool {
    matches!(head, [b'B', b'Z', b'h', b'1'..=b'9', 0x31, 0x41, 0x59, 0x26, 0x53, 0x59, ..])
        || matches!(head, [b'B', b'Z', b'h', b'1'..=b'9', 0x17, 0x72, 0x45, 0x38, 0x50, 0x90, ..])
}

/// The POSIX mark in the header of the first file.
fn is_tar(head: &[u8]) -> bool {
    head.get(257..262) == Some(b"ustar")
}

/// A first line that is only `%PDF-` and a version.
fn is_pdf(head: &[u8]) -> bool {
    matches!(head, [b'%', b'P', b'D', b'F', b'-', b'0'..=b'9', b'.', b'0'..=b'9', b'\r' | b'\n', ..])
}

/// A header length below 2^32, then the JSON object of the header.
fn is_safetensors(head: &[u8]) -> bool {
    matches!(head, [_, _, _, _, 0, 0, 0, 0, b'{', b'"', ..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(head: &[u8]) -> Option<String> {
        foreign(head, Path::new("a"), false, InvalidUtf8::Error).map(|error| error.to_string())
    }

    #[test]
    fn files_that_are_no_text_are_named() {
        for (head, found) in [
            (&b"\xFF\xFEa\0\n\0"[..], "a is in UTF-16"),
            (b"\xFE\xFF\0a\0\n", "a is in UTF-16"),
            (b"\xFF\xFE\0\0a\0\0\0", "a is in UTF-32"),
            (b"\xFD7zXZ\0\0\x04", "a is compressed by xz"),
            (b"BZh91AY&SY\x12\x34", "a is compressed by bzip2"),
            (b"BZh9\x17\x72\x45\x38\x50\x90\0\0\0\0", "a is compressed by bzip2"),
            (b"PK\x03\x04\x14\0", "a is a ZIP archive"),
            (b"PAR1\x15\x04", "a is a Parquet file"),
            (b"ARROW1\0\0\xFF", "a is an Arrow file"),
            (b"\xFF\xFF\xFF\xFF\x10\x01\0\0", "a is an Arrow stream"),
            (b"\x93NUMPY\x01\0", "a is a NumPy array"),
            (b"%PDF-1.7\n%\xE2\xE3", "a is a PDF document"),
            (b"\x89HDF\r\n\x1A\n", "a is an HDF5 file"),
            (b"\xBA\x16\x4F\x2F\x0C\0\0\0", "a is a fastText"),
            (b"A\0 \0c\0a\0t\0\n\0", "a is in UTF-16 without a byte order mark"),
            (b"\0A\0 \0c\0a\0t\0\n", "a is in UTF-16 without a byte order mark"),
            (b"SQLite format 3\0\x10\0\x01\x01", "a is an SQLite database"),
            (&[&b"text.txt"[..], &[0; 249], b"ustar\x0000"].concat(), "a is a tar archive"),
            (b"\x40\0\0\0\0\0\0\0{\"__metadata__\":{\"senv\":\"1\"}", "a is a senv model"),
            (b"\x40\0\0\0\0\0\0\0{\"embeddings\":", "a is a safetensors file"),
        ] {
            let message = message(head).unwrap_or_else(|| panic!("{found}"));
            assert!(message.starts_with(found) && message.contains("; "), "{message}");
        }
    }

    #[test]
    fn noise_is_a_binary_file_and_text_in_old_encodings_or_with_a_few_controls_is_not() {
        let noise: Vec<u8> = (0..4000_u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
        assert_eq!(message(&noise).unwrap(), "a is a binary file, not text; give a text file");
        assert!(foreign(&noise, Path::new("a"), false, InvalidUtf8::Replace).is_none());
        assert!(!is_binary(&noise[..LEAST - 1]));
        let cyrillic: Vec<u8> = (0..600).map(|i| if i % 7 == 0 { b' ' } else { 0xC0 + (i % 64) as u8 }).collect();
        let one = [&b"\x01"[..], &cyrillic[..]].concat();
        let colored = "\u{1b}[31mError\u{1b}[0m in caf\u{e9}: \u{1}\u{2}\u{3} and a bell \u{7}".as_bytes();
        for text in [&cyrillic[..], &one, colored, &colored[..colored.len() - 1]] {
            assert!(!is_binary(text), "{text:?}");
        }
    }

    #[test]
    fn sentences_that_begin_with_the_same_letters_are_text() {
        for head in [
            "",
            "P",
            "PK is a killer.",
            "PAR1 is the mark of Parquet.",
            "SQLite format 3 is a format",
            "A\0",
            "ARROW1 too",
            "BZh9 as well",
            "BZh91AY",
            "%PDF-1.7 is how it begins",
            "%PDF-1.7",
            "NUMPY",
            "\u{FEFF}text",
            "ÿþ",
            "{\"text\": \"a cat\"}",
        ] {
            assert_eq!(message(head.as_bytes()), None, "{head}");
        }
    }
}
