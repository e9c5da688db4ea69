//! Notes on files whose lines are unlikely to be sentences: lone carriage returns, and lines of many sentences.

use std::{io::Read, path::Path};

use senv_core::text::{TextBytes, is_binary};

use crate::output::{self, bytes};

/// The number of bytes at the start of a file that are checked.
const SAMPLE: u64 = 1 << 20;

/// The length in bytes at which a line is too long for one sentence.
const LONG: usize = 32 << 10;

/// Notes files whose only line ends are lone carriage returns, and files with a line of many sentences, each once.
/// `is_cut` says whether lines are split into sentences.
pub(crate) fn note_line_ends(paths: &[impl AsRef<Path>], is_cut: bool) {
    for path in paths.iter().map(AsRef::as_ref) {
        // A pipe can be read once.
        if !path.is_file() {
            continue;
        }
        let mut head = Vec::new();
        if TextBytes::open(path).map(|file| file.take(SAMPLE).read_to_end(&mut head)).is_err() {
            continue;
        }
        let path = path.display();
        match told(&head) {
            Some(Told::LoneReturns) => output::note(&format!(
                "{path} has lone carriage returns instead of line ends, so it is one line; tr '\\r' '\\n' < FILE fixes it"
            )),
            Some(Told::ReturnsWithin { number }) => output::note(&format!(
                "{path}:{number}: lone carriage returns do not end a line, so this is one sentence; \
                 sed 's/\\r$//' FILE | tr '\\r' '\\n' splits it"
            )),
            Some(Told::LongLine { number, length }) if !is_cut => output::note(&format!(
                "{path}:{number}: a line of at least {} is read as one sentence; --split splits text into sentences",
                bytes(length as u64)
            )),
            _ => {}
        }
    }
}

/// What a note says about a file.
#[derive(Debug, PartialEq, Eq)]
enum Told {
    LoneReturns,
    /// The first line (from 1) with a carriage return before text.
    ReturnsWithin {
        number: usize,
    },
    /// A line (from 1), and how many of its bytes were checked.
    LongLine {
        number: usize,
        length: usize,
    },
}

fn told(head: &[u8]) -> Option<Told> {
    let inner = head.trim_ascii();
    // Binary files are refused elsewhere.
    if inner.contains(&0) || is_binary(head) {
        return None;
    }
    if !inner.contains(&b'\n') && inner.contains(&b'\r') {
        return Some(Told::LoneReturns);
    }
    let has_return = |line: &[u8]| line.trim_ascii_end().contains(&b'\r');
    if let Some(at) = head.split(|&byte| byte == b'\n').position(has_return) {
        return Some(Told::ReturnsWithin { number: at + 1 });
    }
    let (number, line) = head.split(|&byte| byte == b'\n').enumerate().find(|(_, line)| line.len() >= LONG)?;
    Some(Told::LongLine { number: number + 1, length: line.len() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lone_returns_and_long_lines_are_told_and_usual_lines_are_not() {
        assert_eq!(told(b"one\rtwo\r"), Some(Told::LoneReturns));
        for usual in [&b"one\r\ntwo\r\n"[..], b"one\ntwo", b"one", b"one\r\n", b"one\r", b""] {
            assert_eq!(told(usual), None, "{usual:?}");
        }
        assert_eq!(told(b"one\r\ntwo\rthree\r\n"), Some(Told::ReturnsWithin { number: 2 }));
        for usual in [&b"one\r\r\ntwo\n"[..], b"one\r \ntwo\n", b"SQLite format 3\0 a\rb"] {
            assert_eq!(told(usual), None, "{usual:?}");
        }
        let long = |n| [&b"a\n"[..], &vec![b'x'; n], b"\n"].concat();
        assert_eq!(told(&long(LONG - 1)), None);
        assert_eq!(told(&long(LONG)), Some(Told::LongLine { number: 2, length: LONG }));
    }
}
