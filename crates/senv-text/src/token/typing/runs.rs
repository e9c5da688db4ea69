//! Runs of marks: `!!!`, `...`, `--`, two apostrophes for a quotation mark.

use crate::token::classes::is_blank;

/// Appends a text with its runs shortened. Text outside ASCII is copied; each of its characters counts as a letter.
pub(super) fn fold_into(text: &str, to: &mut String) {
    let bytes = text.as_bytes();
    let mut start = 0;
    while start < bytes.len() {
        if is_blank(bytes[start]) {
            to.push(char::from(bytes[start]));
            start += 1;
            continue;
        }
        let length = bytes[start..].iter().take_while(|&&byte| !is_blank(byte)).count();
        fold_piece(&text[start..start + length], to);
        start += length;
    }
}

/// The byte before or after a run.
fn is_digit(byte: Option<u8>) -> bool {
    byte.is_some_and(|byte| byte.is_ascii_digit())
}

fn is_letter(byte: Option<u8>) -> bool {
    byte.is_some_and(|byte| byte.is_ascii_alphabetic() || byte >= 0x80)
}

fn is_word(byte: Option<u8>) -> bool {
    is_digit(byte) || is_letter(byte)
}

/// Appends a piece of text without white space.
fn fold_piece(piece: &str, to: &mut String) {
    let bytes = piece.as_bytes();
    let (from, mut at, mut copied) = (to.len(), 0, 0);
    while at < bytes.len() {
        let mark = bytes[at];
        let length = match mark {
            b'.' | b'!' | b'?' => run(bytes, at, |byte| matches!(byte, b'.' | b'!' | b'?')),
            b'-' | b'\'' | b'`' | b',' => run(bytes, at, |byte| byte == mark),
            b'h' | b'H' | b'f' | b'F' | b'w' | b'W' => {
                to.push_str(&piece[copied..at]);
                copied = at;
                // An address starts a word and stays up to the marks at its end.
                at += if is_word(last(to, from)) { 1 } else { address(bytes, at).max(1) };
                continue;
            }
            _ => {
                at += 1;
                continue;
            }
        };
        to.push_str(&piece[copied..at]);
        copied = at;
        let marks = &piece[at..at + length];
        let (before, after) = (last(to, from), bytes.get(at + length).copied());
        let short = match mark {
            b'-' => dashes(marks, before, after),
            b'\'' => apostrophes(marks, before, after),
            b'`' => backticks(marks, before, after),
            b',' => (length == 2 && opens(before) && is_letter(after)).then_some("\""),
            _ if length == 1 => None,
            _ => stops(marks, before, after),
        };
        at += length;
        if let Some(short) = short {
            to.push_str(short);
            copied = at;
        }
    }
    to.push_str(&piece[copied..]);
}

/// The last byte of this piece in the output.
fn last(to: &str, from: usize) -> Option<u8> {
    to.as_bytes()[from..].last().copied().filter(|&byte| byte != b' ')
}

fn run(bytes: &[u8], at: usize, is_part: impl Fn(u8) -> bool) -> usize {
    bytes[at..].iter().take_while(|&&byte| is_part(byte)).count()
}

/// The length of the address at `at`, without the punctuation at its end; 0 if there is none.
fn address(bytes: &[u8], at: usize) -> usize {
    let rest = &bytes[at..];
    let starts = |start: &[u8]| rest.get(..start.len()).is_some_and(|found| found.eq_ignore_ascii_case(start));
    if ![&b"http://"[..], b"https://", b"ftp://", b"file://", b"www."].into_iter().any(starts) {
        return 0;
    }
    rest.len() - rest.iter().rev().take_while(|byte| b".,;:!?'\")]>".contains(byte)).count()
}

/// Runs of `.`, `!` and `?`.
fn stops(marks: &str, before: Option<u8>, after: Option<u8>) -> Option<&'static str> {
    let separates = is_word(after);
    if marks.bytes().all(|mark| mark == b'.') {
        let is_path = |byte: Option<u8>| matches!(byte, Some(b'/' | b'\\'));
        // 1..10, 0..n, ..5, ../a
        let is_range = is_digit(before) && (is_digit(after) || marks.len() == 2 && is_letter(after));
        if is_path(before) || is_path(after) || is_range || (!is_word(before) && is_digit(after)) {
            return None;
        }
        return Some(if separates { ". " } else { "." });
    }
    // a?.b is code.
    if marks == "?." && is_word(before) && separates {
        return None;
    }
    Some(match (marks.contains('?'), separates) {
        (true, false) => "?",
        (true, true) => "? ",
        (false, false) => "!",
        (false, true) => "! ",
    })
}

/// Runs of hyphens.
fn dashes(marks: &str, before: Option<u8>, after: Option<u8>) -> Option<&'static str> {
    if marks.len() < 2 {
        return None;
    }
    match (before, after) {
        (None, None) => Some("-"),
        _ if marks.len() > 3 => None,
        _ if is_digit(before) && is_digit(after) => Some(if marks.len() == 2 { "-" } else { " - " }),
        // Not in `<!--`.
        (Some(before), None) if ends(before) && before != b'!' => Some(" -"),
        (Some(before), Some(after)) if ends(before) && begins(after) => Some(" - "),
        _ => None,
    }
}

/// Whether a byte can stand before a dash: the end of a word or sentence, or of a quotation.
fn ends(byte: u8) -> bool {
    is_word(Some(byte)) || b".,!?\"')]".contains(&byte)
}

fn begins(byte: u8) -> bool {
    is_word(Some(byte)) || b"\"'`([".contains(&byte)
}

/// Whether a quotation can start after a byte.
fn opens(before: Option<u8>) -> bool {
    before.is_none_or(|byte| b"([".contains(&byte))
}

/// `''` is a quotation mark, or an apostrophe that was doubled.
fn apostrophes(marks: &str, before: Option<u8>, after: Option<u8>) -> Option<&'static str> {
    (marks.len() == 2).then_some(if is_letter(before) && is_letter(after) { "'" } else { "\"" })
}

/// A backtick between letters is an apostrophe, and two are a quotation mark. Others quote code.
fn backticks(marks: &str, before: Option<u8>, after: Option<u8>) -> Option<&'static str> {
    match marks.len() {
        1 if is_letter(before) && is_letter(after) => Some("'"),
        2 => Some("\""),
        _ => None,
    }
}
