//! Untrusted text in output. It can have control characters that a terminal obeys, and characters that change direction
//! or end a line. With tabs and line ends, a name could forge columns and lines.

use std::{
    borrow::Cow,
    io::{self, Write},
};

/// What a terminal shows instead of a control character.
const REPLACEMENT: &str = "\u{FFFD}";
/// The maximum number of bytes of a character that is hidden from terminals.
const MOST: usize = 3;

/// Whether a terminal may obey a character, or show the text around it elsewhere: control characters except tabs and
/// line ends, direction marks, and line and paragraph separators.
fn is_hidden(c: char) -> bool {
    match c {
        '\t' | '\n' => false,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => true,
        c => c.is_control(),
    }
}

/// Whether bytes are the start of such a character of several bytes.
fn may_be_hidden(bytes: &[u8]) -> bool {
    matches!(bytes, [0xC2 | 0xD8 | 0xE2] | [0xE2, 0x80 | 0x81])
}

/// Escapes a cell of a tab-separated line: tabs and line ends become `\t`, `\n` and `\r`.
pub(crate) fn cell(text: &str) -> Cow<'_, str> {
    if !text.contains(['\t', '\n', '\r']) {
        return text.into();
    }
    text.replace('\t', "\\t").replace('\n', "\\n").replace('\r', "\\r").into()
}

/// Escapes a line: line ends become `\n` and `\r`.
pub(crate) fn line(text: &str) -> Cow<'_, str> {
    if !text.contains(['\n', '\r']) {
        return text.into();
    }
    text.replace('\n', "\\n").replace('\r', "\\r").into()
}

/// A text for a terminal, without characters that it may obey, except tabs and line ends.
pub(crate) fn for_terminal(text: &str) -> Cow<'_, str> {
    if text.contains(is_hidden) { text.replace(is_hidden, REPLACEMENT).into() } else { text.into() }
}

/// Passes UTF-8 on, to a terminal without such characters; a character may arrive in pieces.
pub(crate) struct Visible<W> {
    inner: W,
    is_terminal: bool,
    /// The last bytes, while they may start such a character.
    held: Vec<u8>,
}

impl<W: Write> Visible<W> {
    pub(crate) fn new(inner: W, is_terminal: bool) -> Self {
        Self { inner, is_terminal, held: Vec::with_capacity(MOST) }
    }
}

impl<W: Write> Write for Visible<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !self.is_terminal {
            return self.inner.write(bytes);
        }
        let mut shown = Vec::with_capacity(bytes.len());
        for &byte in bytes {
            self.held.push(byte);
            if may_be_hidden(&self.held) {
                continue;
            }
            // A byte that starts a character while another is unfinished is checked by itself.
            if self.held.len() > 1 && !(0x80..=0xBF).contains(&byte) {
                self.held.pop();
                shown.append(&mut self.held);
                self.held.push(byte);
                if may_be_hidden(&self.held) {
                    continue;
                }
            }
            match std::str::from_utf8(&self.held) {
                Ok(text) if text.contains(is_hidden) => shown.extend_from_slice(REPLACEMENT.as_bytes()),
                _ => shown.extend_from_slice(&self.held),
            }
            self.held.clear();
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

    const TEXT: &str = "a\x1b]0;title\x07b\x1b[2J\u{9b}31m\u{85}\u{7f}\rc\td\né¢\u{a0}\u{2028}\u{202e}\u{202f}\u{2069}\u{206a}\u{61c}\u{61b}\u{200d}\n";
    const SHOWN: &str = "a\u{FFFD}]0;title\u{FFFD}b\u{FFFD}[2J\u{FFFD}31m\u{FFFD}\u{FFFD}\u{FFFD}c\td\né¢\u{a0}\u{FFFD}\u{FFFD}\u{202f}\
                         \u{FFFD}\u{206a}\u{FFFD}\u{61b}\u{200d}\n";

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
        assert_eq!([line("a\tb"), line("a\nerror: b\r")], ["a\tb", "a\\nerror: b\\r"]);
    }
}
