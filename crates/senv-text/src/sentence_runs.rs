//! Speeds up the rules of Unicode for long runs of brackets, quotes and spaces after a full stop.
//!
//! For each character of such a run, rule SB8 looks ahead for a lower-case letter over the rest of the run.
//! `unicode-segmentation` 1.13 does not cache the result, so this takes quadratic time. The rules treat the run like
//! its first character (`Close*`, then `Sp*`) and skip format characters before looking ahead. So all characters except
//! the first are replaced by format characters of the same total length, which leaves the boundaries unchanged.

use std::{borrow::Cow, collections::HashMap};

use unicode_segmentation::UnicodeSegmentation;

/// The full stops after which SB8 looks ahead (`ATerm`).
const FULL_STOPS: [char; 4] = ['.', '\u{2024}', '\u{fe52}', '\u{ff0e}'];
/// The length in bytes at which replacing a run pays off.
const LONG: usize = 64;
/// A format character of two bytes (the soft hyphen).
const FORMAT: &[u8] = "\u{ad}".as_bytes();

/// Replaces long runs by format characters; sentence boundaries stay at the same bytes.
pub(super) fn with_short_runs(text: &str) -> Cow<'_, str> {
    let mut changed: Option<Vec<u8>> = None;
    let mut rules = Rules::default();
    for (at, stop) in text.match_indices(FULL_STOPS) {
        let mut from = at + stop.len();
        // Runs are rare.
        if text.as_bytes()[from..].get(..LONG).is_none_or(|head| head.iter().any(u8::is_ascii_alphanumeric)) {
            continue;
        }
        for blanks in [false, true] {
            let length =
                text[from..].chars().take_while(|&c| rules.is_of_run(blanks, c)).map(char::len_utf8).sum::<usize>();
            let end = from + length;
            let first = || text[from..end].char_indices().find(|&(_, c)| rules.is_of_its_own(blanks, c));
            if let Some((i, c)) = (length >= LONG).then(first).flatten() {
                let bytes = &mut changed.get_or_insert_with(|| text.as_bytes().to_vec())[from + i + c.len_utf8()..end];
                let odd = bytes.len() % 2;
                bytes[..odd].fill(if blanks { b' ' } else { b')' });
                bytes[odd..].chunks_exact_mut(2).for_each(|pair| pair.copy_from_slice(FORMAT));
            }
            from = end;
        }
    }
    // Whole characters were replaced by whole characters.
    changed.and_then(|bytes| String::from_utf8(bytes).ok()).map_or(Cow::Borrowed(text), Cow::Owned)
}

/// The rules for characters, determined by calling the segmenter.
#[derive(Default)]
struct Rules(HashMap<(bool, char), bool>);

impl Rules {
    /// Whether a complete sentence, with or without spaces after it, extends to include this character, which does not
    /// end a sentence itself.
    fn is_of_run(&mut self, blanks: bool, c: char) -> bool {
        if c.is_ascii_alphanumeric() || !blanks && c.is_whitespace() {
            return false;
        }
        *self.0.entry((blanks, c)).or_insert_with(|| {
            let sentence = format!("{}{c}B", if blanks { "! " } else { "!" });
            format!("{c}B").split_sentence_bounds().count() == 1 && sentence.split_sentence_bounds().last() == Some("B")
        })
    }

    /// Whether a character of a run is neither a format character nor a mark on the previous character.
    fn is_of_its_own(&mut self, blanks: bool, c: char) -> bool {
        if blanks { c.is_whitespace() } else { !self.is_of_run(true, c) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_become_format_characters_and_bounds_stay_where_they_were() {
        let closing = [")", "\"", "\u{201d}", "]\u{301}", "\u{ad}", "\u{301}"];
        let blank = [" ", "\t", "\u{a0}", "\u{3000}", " \u{200b}", "\u{301}"];
        let behind = ["B", "b", "1", ",", ".", "!", "\n", "\u{2028}b", ") b", "(b", "\u{e9}", "\u{c9}", ""];
        let mut n_changed = 0;
        for stop in ["a.", "A.", "1.", "\u{ff0e}", "!", "a"] {
            for (first, second) in closing.iter().flat_map(|first| blank.iter().map(move |second| (first, second))) {
                for (n, m) in [(0, 0), (1, 70), (70, 1), (65, 0), (0, 65), (67, 68)] {
                    for end in behind {
                        let text = format!("{stop}{}{}{end} C. d", first.repeat(n), second.repeat(m));
                        let short = with_short_runs(&text);
                        n_changed += usize::from(short != text);
                        let bounds =
                            |text: &str| text.split_sentence_bound_indices().map(|(at, _)| at).collect::<Vec<_>>();
                        assert_eq!(bounds(&short), bounds(&text), "{text:?}");
                    }
                }
            }
        }
        assert!(n_changed > 1000, "{n_changed}");
    }
}
