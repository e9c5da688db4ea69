//! Lines that begin a sentence although none ended before them: headings, items of lists, rows of tables and code.

/// What a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Line {
    /// A line of text; a sentence can begin and end within it or continue from the last line.
    Text,
    /// An item of a list, with the length of its marker.
    Item(usize),
    /// A heading, a row of a table, a rule, or a line of fenced code: a sentence of its own.
    Whole,
    /// A header of mail, which ends with its line.
    Header,
    /// A line that underlines a heading.
    Underline,
    /// A line that opens or closes code.
    Fence,
    /// A line of indented code.
    Code,
}

/// The line that starts at the beginning of a text, without its line end.
pub(super) fn first_line(text: &str) -> &str {
    &text[..memchr::memchr(b'\n', text.as_bytes()).unwrap_or(text.len())]
}

impl Line {
    /// Whether a sentence ends with the line.
    pub(super) fn is_whole(self) -> bool {
        !matches!(self, Line::Text | Line::Item(_))
    }
}

/// What a line is, by its beginning. The line has no blanks before it.
pub(super) fn line(text: &str) -> Line {
    match text.as_bytes().first() {
        Some(b'#') => {
            let rest = text.trim_start_matches('#');
            if text.len() - rest.len() <= 6 && rest.starts_with(' ') { Line::Whole } else { Line::Text }
        }
        Some(b'|') => Line::Whole,
        Some(b':') if text.starts_with(":::") => Line::Whole,
        Some(b'+') if text.starts_with("+-") || text.starts_with("+=") => Line::Whole,
        Some(b'B' | b'C' | b'D' | b'F' | b'R' | b'S' | b'T') if is_header(text) => Line::Header,
        // After the marks, a backtick opens or closes code within the line.
        Some(b'`') if text.starts_with("```") => {
            let has_more = first_line(text).trim_start_matches('`').contains('`');
            if has_more { Line::Text } else { Line::Fence }
        }
        Some(b'~') if text.starts_with("~~~") => Line::Fence,
        Some(&mark @ (b'=' | b'-' | b'*' | b'_')) if is_rule(first_line(text), mark) => {
            if first_line(text).trim_end().contains(' ') { Line::Whole } else { Line::Underline }
        }
        Some(byte) if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'*' | b'+' | b'(' | 0xc2 | 0xe2) => {
            marker(text).map_or(Line::Text, Line::Item)
        }
        _ => Line::Text,
    }
}

/// Whether a line is a header of mail.
fn is_header(line: &str) -> bool {
    const NAMES: &[&str] = &["Bcc", "Cc", "Date", "From", "Reply-To", "Sent", "Subject", "To"];
    NAMES.iter().any(|name| line.strip_prefix(name).is_some_and(|rest| rest.starts_with(": ")))
}

/// Whether a line consists of a mark: at least two of `=` or `-`, or three of another one. Blanks may be between three.
fn is_rule(line: &str, mark: u8) -> bool {
    let line = line.trim_end();
    let n_marks = line.bytes().take_while(|&byte| byte == mark).count();
    if n_marks == line.len() {
        return n_marks >= 3 || n_marks == 2 && matches!(mark, b'=' | b'-');
    }
    n_marks == 1
        && line.as_bytes()[1] == b' '
        && line.bytes().all(|byte| byte == mark || byte == b' ')
        && line.bytes().filter(|&byte| byte == mark).take(3).count() == 3
}

/// Whether a line of marks, as in reStructuredText, underlines the title before it. It is as long as the title.
pub(super) fn is_underline(title: &str, line: &str) -> bool {
    const MARKS: &[u8] = b"=-~^\"+";
    let Some(mark) = line.bytes().next().filter(|mark| MARKS.contains(mark)) else { return false };
    let line = line.trim_end();
    let title = title.trim();
    let n = line.len();
    n >= 4
        && title.len() <= 4 * (n + 2)
        && (title.chars().count().saturating_sub(1)..=title.chars().count() + 2).contains(&n)
        && line.bytes().all(|byte| byte == mark)
        && title.starts_with(|c: char| c.is_uppercase() || c.is_numeric())
        && !title.ends_with([':', ',', ';'])
}

/// The length of the marker of an item, with the blanks after it: `- `, `1. `, `(a) `.
fn marker(text: &str) -> Option<usize> {
    const LONGEST: usize = 8;
    let blank = text.bytes().take(LONGEST).position(|byte| byte == b' ' || byte == b'\t')?;
    let mark = &text[..blank];
    let is_bullet = {
        let mut characters = mark.chars();
        let first = characters.next()?;
        characters.next().is_none() && (matches!(first, '-' | '*' | '+' | '–') || super::marks::is_bullet(first))
    };
    let closed = |mark: &str| {
        let mark = mark.strip_prefix('(').unwrap_or(mark);
        let number = mark.strip_suffix([')', '.'])?.to_owned();
        Some(number)
    };
    let is_number = closed(mark).is_some_and(|number| is_enumerator(&number));
    (is_bullet || is_number).then(|| text.len() - text[blank..].trim_start_matches([' ', '\t']).len())
}

/// Whether a word numbers an item or a heading: `3`, `2.1`, `b`, `iv`.
pub(super) fn is_enumerator(word: &str) -> bool {
    let is_number = |part: &str| (1..=3).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit());
    let is_letter = word.len() == 1 && word.starts_with(|c: char| c.is_ascii_alphabetic());
    let is_roman = (1..=5).contains(&word.len())
        && (word.bytes().all(|byte| matches!(byte, b'I' | b'V' | b'X'))
            || word.bytes().all(|byte| matches!(byte, b'i' | b'v' | b'x')));
    is_letter || is_roman || word.split('.').all(is_number)
}

/// Whether a line begins a sentence although the line before it did not end one. `last` is that line without blanks at
/// its end; `in_list` is whether it belongs to an item.
pub(super) fn interrupts(kind: Line, text: &str, last: &str, in_list: bool) -> bool {
    match kind {
        Line::Whole | Line::Header | Line::Fence | Line::Code => true,
        Line::Text | Line::Underline => false,
        Line::Item(length) => {
            let mark = text[..length].trim_end();
            let is_first = mark.trim_matches(['(', ')', '.']) == "1";
            let is_bullet = !matches!(mark, "-" | "–") && !mark.ends_with([')', '.']);
            let is_upper = mark == "-" && text[length..].starts_with(char::is_uppercase);
            let has_ended = last.is_empty() || last.ends_with([':', ';', '.', '!', '?', ')', '"', '”']);
            in_list || is_first || is_bullet || is_upper || has_ended
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_recognized_by_their_beginnings() {
        for (text, expected) in [
            ("# A", Line::Whole),
            ("#1 of all", Line::Text),
            ("####### A", Line::Text),
            ("| a | b |", Line::Whole),
            ("```rust", Line::Fence),
            ("`a` is", Line::Text),
            ("---\nx", Line::Underline),
            ("====", Line::Underline),
            ("--", Line::Underline),
            ("+---+---+", Line::Whole),
            ("Subject: a", Line::Header),
            ("Dates: a", Line::Text),
            ("* * *", Line::Whole),
            ("- - x", Line::Item(2)),
            ("```a``` is", Line::Text),
            ("- a", Line::Item(2)),
            ("-a", Line::Text),
            ("12.  a", Line::Item(5)),
            ("2.1. a", Line::Item(5)),
            ("1914. a", Line::Text),
            ("(a) b", Line::Item(4)),
            ("iv. b", Line::Item(4)),
            ("• b", Line::Item(4)),
            ("It is", Line::Text),
            ("3.5 m", Line::Text),
            ("", Line::Text),
        ] {
            assert_eq!(line(text), expected, "{text:?}");
        }
    }
}
