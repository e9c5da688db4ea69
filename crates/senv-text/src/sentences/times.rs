//! Times and dates at the beginning of a sentence: "At 8 a.m. Ann left", "In Dec. Paul came".

use super::words::{DATES, Lower, UNITS, is_in};

/// The first words of a clause that begins with a time.
#[rustfmt::skip]
const PREPOSITIONS: &[&str] = &[
    "about", "after", "around", "at", "before", "between", "by", "during", "for", "from", "in", "on", "since",
    "to", "until", "within",
];
/// Other words of such a time.
#[rustfmt::skip]
const OTHERS: &[&str] = &[
    "a", "a.m", "about", "almost", "and", "approximately", "as", "day", "each", "early", "eight", "eleven", "evening",
    "every", "exactly", "fifteen", "five", "following", "four", "half", "last", "late", "later", "least", "less",
    "long", "mid", "midnight", "more", "morning", "nearly", "next", "night", "nine", "noon", "not", "of", "one", "only",
    "or", "over", "p.m", "past", "precisely", "quarter", "right", "same", "seven", "sharp", "shortly", "six", "soon",
    "ten", "than", "that", "the", "thirty", "this", "three", "today", "tomorrow", "tonight", "twelve", "twenty", "two",
    "under", "well", "yesterday",
];
/// Words before which a clause ends, if a comma is before them.
const AFTER_COMMA: &[&str] = &["and", "because", "but", "for", "or", "so", "that", "when", "while"];
/// Words after which a clause begins without a comma.
const SUBORDINATE: &[&str] = &["although", "because", "that", "when", "whenever", "where", "while"];

/// Whether a clause consists only of a time so far, so that its subject follows. `text` is the sentence before the full
/// stop.
pub(super) fn begins_clause(text: &str) -> bool {
    /// A time has at most this many words.
    const N_WORDS: usize = 10;
    let mut has_preposition = false;
    for (n, word) in text.rsplit([' ', '\n', '-', '–']).filter(|word| !word.is_empty()).take(N_WORDS + 1).enumerate()
    {
        let end = word.trim_end_matches([',', '.', ';', ':']);
        let lower = Lower::new(end.trim_start_matches(|c: char| !c.is_alphanumeric()));
        if has_preposition && word.ends_with([',', ';', ':']) && !is_time(&lower) {
            return false;
        }
        if has_preposition && (lower.is_in(SUBORDINATE) || lower.is_in(AFTER_COMMA) && is_after_comma(text, word)) {
            return true;
        }
        let is_preposition = lower.is_in(PREPOSITIONS);
        has_preposition |= is_preposition;
        if n == N_WORDS || !(is_preposition || is_time(&lower)) {
            return false;
        }
    }
    has_preposition
}

/// Whether a word may be part of a time.
fn is_time(word: &Lower) -> bool {
    let text = word.as_str();
    text.starts_with(|c: char| c.is_ascii_digit())
        || is_in(PREPOSITIONS, text)
        || [OTHERS, DATES, UNITS].iter().any(|list| word.is_in(list))
}

/// Whether a comma is before a word, which is a part of the text.
fn is_after_comma(text: &str, word: &str) -> bool {
    let at = word.as_ptr().addr() - text.as_ptr().addr();
    text[..at].trim_end().ends_with([',', ';'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_begins_a_clause_if_nothing_else_is_in_it() {
        for list in [PREPOSITIONS, OTHERS, AFTER_COMMA, SUBORDINATE] {
            assert!(list.is_sorted_by(|a, b| a < b), "{list:?}");
        }
        for text in [
            "At 8 a.m",
            "\"By 9:30 a.m",
            "In early Dec",
            "Shortly after 8 p.m",
            "On Monday, Nov. 3, at 8 p.m",
            "We slept, and at 8 a.m",
            "He said that at 8 a.m",
        ] {
            assert!(begins_clause(text), "{text}");
        }
        for text in
            ["We met at 8 p.m", "8 a.m", "We met on Monday, at 8 p.m", "It opens at 7 and at 8 p.m", "", "It is Dec"]
        {
            assert!(!begins_clause(text), "{text}");
        }
    }
}
