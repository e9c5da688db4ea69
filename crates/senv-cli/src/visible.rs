//! Text of others in what is printed: control characters, which a terminal obeys, and tabs and line ends, by which a
//! name would forge columns and lines.

use std::{
    borrow::Cow,
    io::{self, Write},
};

/// What a terminal shows in the place of a control character.
const REPLACEMENT: &str = "\u{FFFD}";
/// The first byte of the characters U+0080 to U+00BF in UTF-8.
const C1_LEAD: u8 = 0xC2;

/// A text between tabs on a line: its tabs and line ends as `\t`, `\n` and `\r`.
pub(crate) fn cell(text: &str) -> Cow<'_, str> {
    if !text.contains(['\t', '\n', '\r']) {
        return text.into();
    }
    text.replace('\t', "\\t").replace('\n', "\\n").replace('\r', "\\r").into()
}

/// A text for a terminal, without control characters but for tabs and line ends.
pub(crate) fn for_terminal(text: &str) -> Cow<'_, str> {
    let is_control = |c: char| c.is_control() && !matches!(c, '\t' | '\n');
    if text.contains(is_control) { text.replace(is_control, REPLACEMENT).into() } else { text.into() }
}

/// Writes UTF-8 on, on a terminal without control characters; a character may come in two pieces.
pub(crate) struct Visible<W> {
    inner: W,
    is_terminal: bool,
    /// Whether the last byte was the first of a character that may be a control character.
    is_held: bool,
}

impl<W: Write> Visible<W> {
    pub(crate) fn new(inner: W, is_terminal: bool) -> Self {
        Self { inner, is_terminal, is_held: false }
    }
}

impl<W: Write> Write for Visible<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !self.is_terminal {
            return self.inner.write(bytes);
        }
        let mut shown = Vec::with_capacity(bytes.len());
        for &byte in bytes {
            match byte {
                0x80..=0x9F if std::mem::take(&mut self.is_held) => shown.extend_from_slice(REPLACEMENT.as_bytes()),
                _ => {
                    if std::mem::replace(&mut self.is_held, byte == C1_LEAD) {
                        shown.push(C1_LEAD);
                    }
                    match byte {
                        C1_LEAD => {}
                        b'\t' | b'\n' => shown.push(byte),
                        0..=0x1F | 0x7F => shown.extend_from_slice(REPLACEMENT.as_bytes()),
                        _ => shown.push(byte),
                    }
                }
            }
        }
        self.inner.write_all(&shown)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "a\x1b]0;title\x07b\x1b[2J\u{9b}31m\u{85}\u{7f}\rc\td\né¢\u{a0}\u{2028}\n";
    const SHOWN: &str =
        "a\u{FFFD}]0;title\u{FFFD}b\u{FFFD}[2J\u{FFFD}31m\u{FFFD}\u{FFFD}\u{FFFD}c\td\né¢\u{a0}\u{2028}\n";

    #[test]
    fn a_terminal_gets_no_control_characters_wherever_the_text_is_cut_and_a_file_gets_all() {
        assert_eq!(for_terminal(TEXT), SHOWN);
        for size in 1..TEXT.len() {
            let mut written = [Vec::new(), Vec::new()];
            for (out, is_terminal) in written.iter_mut().zip([true, false]) {
                let mut visible = Visible::new(out, is_terminal);
                TEXT.as_bytes().chunks(size).for_each(|piece| visible.write_all(piece).unwrap());
            }
            assert_eq!(String::from_utf8_lossy(&written[0]), SHOWN, "{size}");
            assert_eq!(written[1], TEXT.as_bytes());
        }
    }

    #[test]
    fn a_name_forges_no_column_and_no_line() {
        assert_eq!(cell("a b\\"), "a b\\");
        assert_eq!(cell("x\t1.0000\r\n0.9\tforged"), "x\\t1.0000\\r\\n0.9\\tforged");
    }
}
