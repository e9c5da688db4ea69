//! What belongs to a sentence after the mark that ends it: more marks, quotes, brackets, footnote marks and emoji.

use super::{
    following::{Beginning, Following},
    marks::{
        Stop, emoticon, footnote, is_closing, is_closing_bracket, is_either_quote, is_emoji, is_quote, is_straight,
        stop,
    },
};

/// No word in characters is longer, except addresses.
const LONGEST_WORD: usize = 24;

/// A mark that may end a sentence, and what belongs to it.
pub(super) struct Tail {
    /// Where the mark starts.
    pub(super) start: usize,
    /// Where what belongs to it ends.
    pub(super) end: usize,
    pub(super) kind: Stop,
    /// Whether the mark is one character.
    pub(super) is_single: bool,
    /// Whether a quotation ends after it.
    pub(super) has_quote: bool,
}

impl Tail {
    /// The mark at an offset, and what directly follows it. `is_quoted` is whether a straight quote is open before it.
    pub(super) fn new(text: &str, start: usize, mut is_quoted: bool) -> Self {
        let mut kind = None;
        let (mut end, mut n_marks, mut has_quote) = (start, 0, false);
        loop {
            let rest = &text[end..];
            let Some(c) = rest.chars().next() else { break };
            if let Some(next) = stop(c) {
                // The strongest of several marks counts.
                kind = match (kind, next) {
                    (None, _) => Some(next),
                    (Some(Stop::Unspaced), _) | (_, Stop::Unspaced) => Some(Stop::Unspaced),
                    (Some(Stop::Strong), _) | (_, Stop::Strong) => Some(Stop::Strong),
                    _ => Some(Stop::Ellipsis),
                };
                n_marks += 1;
                end += c.len_utf8();
                // The marks of an ellipsis may stand apart: ". . ."
                if c == '.' && text[end..].starts_with(" .") && !text[end + 2..].starts_with(char::is_alphanumeric) {
                    end += 1;
                }
            } else if is_straight(c) && !is_quoted && rest[c.len_utf8()..].starts_with(char::is_alphanumeric) {
                // The quote opens the next sentence.
                break;
            } else if is_closing(c) && !(is_either_quote(c) && rest[c.len_utf8()..].starts_with(char::is_alphanumeric))
            {
                has_quote |= is_quote(c);
                is_quoted &= !is_straight(c);
                end += c.len_utf8();
            } else if let Some(length) = footnote(rest).or_else(|| note_in_brackets(rest)) {
                end += length;
            } else if matches!(c, '¹' | '²' | '³' | '\u{2070}'..='\u{2079}' | '†' | '‡') || is_emoji(c) {
                end += c.len_utf8();
            } else {
                break;
            }
        }
        Self { start, end, kind: kind.unwrap_or(Stop::Period), is_single: n_marks == 1, has_quote }
    }

    /// Where what belongs to the mark ends, if that includes what follows a blank, at `next`. `closes` is whether that
    /// is a straight quote that closes.
    pub(super) fn spaced(&mut self, text: &str, next: usize, closes: bool) -> Option<usize> {
        let rest = &text[next..];
        let c = rest.chars().next()?;
        let behind = next + c.len_utf8();
        let is_apart =
            |rest: &str| rest.chars().next().is_none_or(|c| c.is_whitespace() || matches!(c, ',' | '.' | ')'));
        if c == '"' && closes {
            self.has_quote = true;
            return Some(behind + usize::from(rest[1..].starts_with('\'')));
        }
        if is_closing_bracket(c) && is_apart(&text[behind..]) {
            self.has_quote |= matches!(c, '”' | '»' | '›');
            return Some(behind);
        }
        if c == '\'' && rest.starts_with("''") && is_apart(&rest[2..]) {
            self.has_quote = true;
            return Some(next + 2);
        }
        if c == '[' {
            let is_note = footnote(rest).filter(|_| rest[1..].starts_with(|c: char| c.is_ascii_digit()));
            let note = is_note
                .or_else(|| ["[...]", "[…]"].iter().find(|mark| rest.starts_with(**mark)).map(|mark| mark.len()));
            return note.filter(|&length| is_apart(&rest[length..])).map(|length| next + length);
        }
        if is_emoji(c) {
            return Some(next + rest.find(|c| !is_emoji(c)).unwrap_or(rest.len()));
        }
        if stop(c).is_some() {
            let run = rest.find(|c| stop(c).is_none()).unwrap_or(rest.len());
            return is_apart(&rest[run..]).then_some(next + run);
        }
        emoticon(rest).map(|length| next + length)
    }

    /// Where the sentence ends if no blank follows and it ends nevertheless. `before` is the sentence before the mark.
    pub(super) fn end_without_blank(&self, before: &str, text: &str) -> Option<usize> {
        let rest = &text[self.end..];
        let (last, next) = (before.chars().next_back()?, rest.chars().next()?);
        let is_wide = |c: char| c >= '\u{2e80}' && c.is_alphanumeric();
        let ends = match self.kind {
            Stop::Unspaced => {
                // "「行く。」と言った" continues.
                let is_cited = self.has_quote && (next == 'と' || rest.starts_with("って") || is_wide_speech(rest));
                !is_cited && !next.is_lowercase() && Following::new(rest).beginning != Beginning::Continuation
            }
            Stop::Period if self.is_single && !(is_wide(next) && is_wide(last)) => {
                return raised_note(before, rest).map(|length| self.end + length);
            }
            Stop::Strong | Stop::Ellipsis | Stop::Period => {
                let are_wide = is_wide(next) && is_wide(last) && self.kind != Stop::Ellipsis;
                are_wide || is_word(before) && is_beginning(rest.strip_prefix(is_straight).unwrap_or(rest))
            }
        };
        ends.then_some(self.end)
    }
}

/// Whether a text begins with who spoke the words before it, in Chinese: "他问。".
fn is_wide_speech(text: &str) -> bool {
    /// Longest name and verb, in characters.
    const LONGEST: usize = 8;
    let mut last = None;
    for c in text.chars().take(LONGEST) {
        if matches!(c, '。' | '，' | '！') {
            return matches!(last, Some('说' | '說' | '问' | '問' | '道' | '喊' | '答' | '叫'));
        }
        last = Some(c);
    }
    false
}

/// The length of the number of a footnote in brackets or marks: `(4)`, `^4`, `<sup>4</sup>`.
fn note_in_brackets(rest: &str) -> Option<usize> {
    if !rest.starts_with(['(', '{', '\\', '^', '<']) {
        return None;
    }
    let (open, close) = [("(", ")"), ("{", "}"), ("\\[", "\\]"), ("^(", ")"), ("^", ""), ("<sup>", "</sup>")]
        .into_iter()
        .find(|(open, _)| rest.strip_prefix(open).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit())))?;
    let number = &rest[open.len()..];
    let n_digits = number.bytes().take(4).take_while(u8::is_ascii_digit).count();
    let behind = number[n_digits..].strip_prefix(close)?;
    let is_apart = behind.is_empty() || behind.starts_with(|c: char| c.is_whitespace() || matches!(c, '(' | '^' | '<'));
    (n_digits <= 3 && is_apart).then_some(open.len() + n_digits + close.len())
}

/// The length of the number of a footnote that was raised: "The rents rose.4 It is", "rose.4,5 It".
fn raised_note(before: &str, rest: &str) -> Option<usize> {
    let number = |text: &str| {
        Some(text.bytes().take(4).take_while(u8::is_ascii_digit).count()).filter(|length| (1..=3).contains(length))
    };
    let first = number(rest)?;
    let second = rest[first..].strip_prefix([',', '-', '–']);
    let length = second.and_then(|second| Some(rest.len() - second.len() + number(second)?)).unwrap_or(first);
    let word = before.rsplit(|c: char| !c.is_alphabetic()).next().unwrap_or_default();
    let mut behind = rest[length..].chars();
    let is_note = behind.next().is_some_and(char::is_whitespace) && behind.next().is_some_and(char::is_uppercase);
    (is_note && (4..=LONGEST_WORD).contains(&word.len()) && word.chars().all(char::is_lowercase)).then_some(length)
}

/// Whether a sentence ends with a word of letters alone, possibly with quotes.
fn is_word(sentence: &str) -> bool {
    let word = || sentence.chars().rev().take_while(|c| !c.is_whitespace()).take(LONGEST_WORD + 1);
    word().count() <= LONGEST_WORD && word().all(|c| c.is_alphabetic() || is_quote(c))
}

/// Whether a text begins as a sentence does: with a word of a capital and lower-case letters, or "I".
fn is_beginning(text: &str) -> bool {
    let mut letters = text.chars();
    letters.next().is_some_and(char::is_uppercase)
        && letters.next().is_some_and(|c| c.is_lowercase() || c == ' ' && text.starts_with('I'))
}
