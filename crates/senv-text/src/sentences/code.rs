//! Code: between fences, or indented by four blanks or a tab.

use super::lines::{Line, line};

/// Code that was opened and is not yet closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Code {
    /// The mark of a fence, or a blank for indented code.
    mark: u8,
    /// How many marks the fence has.
    length: usize,
    /// How often its first line is quoted.
    pub(super) depth: usize,
}

impl Code {
    /// The code that a fence opens at the start of a line.
    pub(super) fn fence(line: &str, depth: usize) -> Self {
        let mark = line.as_bytes().first().copied().unwrap_or(b'`');
        Self { mark, length: line.bytes().take_while(|&byte| byte == mark).count(), depth }
    }

    pub(super) fn indented(depth: usize) -> Self {
        Self { mark: b' ', length: 0, depth }
    }

    pub(super) fn is_fenced(&self) -> bool {
        self.mark != b' '
    }

    /// Whether a line closes the code: it has at least as many marks, and nothing else.
    pub(super) fn is_closed_by(&self, line: &str) -> bool {
        let rest = line.trim_start_matches(char::from(self.mark));
        self.is_fenced() && line.len() - rest.len() >= self.length && rest.trim_end().is_empty()
    }
}

/// Whether a line is indented by four blanks or a tab. `before` is the text before its first character.
pub(super) fn is_indented(before: &str) -> bool {
    let n_blanks = before.bytes().rev().take(4).take_while(|&byte| byte == b' ').count();
    let before = &before[..before.len() - n_blanks];
    before.ends_with('\t') || n_blanks == 4 && !before.ends_with('>')
}

/// Whether an indented line is code and not text. Text begins with a capital or has many words, and has no signs of
/// code.
pub(super) fn is_code(text: &str) -> bool {
    /// Text of more words is not code, unless it has signs of code.
    const N_WORDS: usize = 5;
    let text = text.trim_end();
    let Some(first) = text.chars().next() else { return false };
    if matches!(line(text), Line::Item(_)) || !first.is_ascii() || first == '>' {
        return false;
    }
    if first == '#' || text.starts_with("//") || text.starts_with("/*") {
        return true;
    }
    let is_plain = |word: &str| {
        let word = word.trim_matches(|c: char| matches!(c, '"' | '\'' | '(' | ')' | ',' | '.' | ';' | ':' | '!' | '?'));
        word.chars().all(|c| c.is_alphabetic() || matches!(c, '-' | '\'' | '’'))
            && !(word.len() > 1 && word.chars().all(char::is_uppercase))
    };
    let has_signs = text.contains(['{', '}', '=', '<', '>', '\\', '|', '$', '_'])
        || text.ends_with([';', '('])
        || text.contains("()")
        || text.contains("::");
    let (n_words, n_plain) = text
        .split_whitespace()
        .take(2 * N_WORDS)
        .fold((0, 0), |(n, n_plain), word| (n + 1, n_plain + usize::from(is_plain(word))));
    let is_prose = n_plain > N_WORDS && 4 * n_plain >= 3 * n_words;
    let is_sentence = first.is_uppercase() && text.ends_with(['.', '?', '!', ',', '"']);
    match has_signs {
        true => !is_prose,
        false => first.is_lowercase() && n_words <= N_WORDS && !text.ends_with(['.', '?', '!', ',']) && !is_sentence,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_and_text_are_told_apart() {
        for text in
            ["make all", "let a = 5;", "def mill(self):", "# A note", "SELECT name FROM mills WHERE age > 3", "$ ls"]
        {
            assert!(is_code(text), "{text}");
        }
        for text in [
            "It was a dark night and the rain fell",
            "and so it rained for many years",
            "- rope",
            "The Mill",
            "\"Yes.",
            "1. Rope",
        ] {
            assert!(!is_code(text), "{text}");
        }
    }

    #[test]
    fn a_fence_is_closed_by_one_that_is_not_shorter() {
        let code = Code::fence("````md", 0);
        for (line, expected) in [("````", true), ("`````  ", true), ("```", false), ("```` x", false), ("~~~~", false)]
        {
            assert_eq!(code.is_closed_by(line), expected, "{line}");
        }
    }
}
