//! Files whose lines are hardly sentences: line ends that are none, and lines of many sentences.

use std::{io::Read, path::Path};

use senv_core::text::TextBytes;

use crate::output::{self, bytes};

/// Bytes at the beginning of a file that are looked at.
const SAMPLE: u64 = 1 << 20;

/// Bytes of a line that no sentence has.
const LONG: usize = 32 << 10;

/// Says which files have no line ends but lone carriage returns, and which have a line of many sentences, each once.
/// `is_cut` is whether lines are cut into sentences.
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
                "{path} has no line ends but lone carriage returns, so that all of it is one line; tr '\\r' '\\n' < FILE makes \
                 lines of them"
            )),
            Some(Told::ReturnsWithin { number }) => output::note(&format!(
                "{path}:{number}: lone carriage returns within a line end none, so that it is one sentence; sed 's/\\r$//' FILE | \
                 tr '\\r' '\\n' makes lines of them"
            )),
            Some(Told::LongLine { number, length }) if !is_cut => output::note(&format!(
                "{path}:{number}: a line of {} and more is taken for one sentence; --split cuts text into sentences",
                bytes(length as u64)
            )),
            _ => {}
        }
    }
}

/// What is said of a file.
#[derive(Debug, PartialEq, Eq)]
enum Told {
    LoneReturns,
    /// The first line, counted from 1, with a carriage return before text.
    ReturnsWithin {
        number: usize,
    },
    /// A line, counted from 1, of so many bytes of what was looked at.
    LongLine {
        number: usize,
        length: usize,
    },
}

fn told(head: &[u8]) -> Option<Told> {
    let inner = head.trim_ascii();
    // What is no text is refused by name.
    if inner.contains(&0) {
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
