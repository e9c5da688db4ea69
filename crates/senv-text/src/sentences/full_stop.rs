//! Whether a sentence continues after a full stop, because the word before it is an abbreviation, an initial or the
//! number of an item.

use super::{
    following::{Beginning, Following, word_length},
    lines::is_enumerator,
    marks::is_opening,
    times::begins_clause,
    words::{
        ANY_CASE, BEFORE_LETTERS, BEFORE_NUMBERS, BEGINNINGS, CAPITAL_BEFORE_NUMBERS, CAPITAL_EITHER, DATES, EITHER,
        KINDS, Lower, NEVER_LAST, NO_HEADINGS, STATES, TITLES, UNITS, ZONES,
    },
};

/// The maximum number of bytes examined before a full stop.
const LONGEST: usize = 64;

/// The end of a text, at most [`LONGEST`] bytes of it.
fn end_of(text: &str) -> &str {
    let mut from = text.len().saturating_sub(LONGEST);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    &text[from..]
}

/// The words before a full stop.
pub(super) struct Before<'a> {
    /// The last word: up to a blank, bracket, quote or dash.
    pub(super) word: &'a str,
    lower: Lower,
    /// Whether a blank or the start of the sentence is before that word, possibly with opening signs.
    pub(super) is_whole: bool,
    /// The text before the word, without blanks at its end.
    pub(super) rest: &'a str,
}

impl<'a> Before<'a> {
    pub(super) fn new(text: &'a str) -> Option<Self> {
        let end = end_of(text);
        let is_edge =
            |c: char| c.is_whitespace() || is_opening(c) || matches!(c, '/' | '+' | '=' | '&' | '|' | ',' | ':');
        let word = end.rsplit(is_edge).next().unwrap_or_default();
        // A longer word is in no list.
        if word.len() == end.len() && end.len() < text.len() {
            return None;
        }
        let head = &text[..text.len() - word.len()];
        let is_whole = head.is_empty() || head.ends_with(|c: char| c.is_whitespace() || is_opening(c) && c != '-');
        let rest = head.trim_end_matches(|c: char| is_opening(c));
        Some(Self { word, lower: Lower::new(word), is_whole, rest: rest.trim_end() })
    }

    /// Whether nothing is before the word in its sentence.
    pub(super) fn is_first(&self) -> bool {
        self.rest.is_empty()
    }

    /// The word before the word.
    pub(super) fn last(&self) -> &'a str {
        end_of(self.rest).rsplit(|c: char| !c.is_alphanumeric()).next().unwrap_or_default()
    }

    fn is_capitalized(&self) -> bool {
        self.word.starts_with(char::is_uppercase)
    }

    /// Whether a number is before the word.
    fn is_after_number(&self) -> bool {
        self.last().starts_with(|c: char| c.is_numeric()) || self.rest.ends_with(['½', '¼', '¾'])
    }
}

/// Whether the sentence continues after a time with which it begins: "At 8 a.m. Ann left". A word that begins sentences
/// has no capital within one, except "I".
fn is_time(text: &str, before: &Before<'_>, following: &Following<'_>, was_question: bool) -> bool {
    let lower = &before.lower;
    if !(2..=5).contains(&before.word.len()) {
        return false;
    }
    let is_abbreviation = matches!(lower.as_str(), "a.m" | "p.m")
        || before.is_capitalized() && lower.is_in(DATES) && lower.is_in(BEFORE_NUMBERS)
        || before.is_after_number() && lower.is_in(UNITS);
    is_abbreviation && !was_question && (!following.begins() || following.word == "I") && begins_clause(text)
}

/// Whether the sentence continues after `text`, which is what it has before a single full stop. `was_question` is
/// whether the sentence before it was a question.
pub(super) fn continues(text: &str, following: &Following<'_>, was_question: bool) -> bool {
    let Some(before) = Before::new(text) else { return false };
    if before.word.is_empty() {
        return false;
    }
    is_number_of_item(&before, following, was_question)
        || is_time(text, &before, following, was_question)
        || is_abbreviation(&before, following, was_question)
        || is_initial(&before, following)
}

/// Whether the word before a full stop is in lower case and no abbreviation.
pub(super) fn is_word(text: &str) -> bool {
    let lists = [NEVER_LAST, TITLES, BEFORE_NUMBERS, EITHER, UNITS];
    Before::new(text).is_some_and(|before| {
        before.word.len() > 1
            && before.word.bytes().all(|byte| byte.is_ascii_lowercase())
            && before.lower.as_str() != "etc"
            && !lists.iter().any(|list| before.lower.is_in(list))
    })
}

/// Whether the sentence so far is only the number of an item or heading: "1.", "b.", "Chapter 2.", "P.S.".
fn is_number_of_item(before: &Before<'_>, following: &Following<'_>, was_question: bool) -> bool {
    let number = before.word;
    if !before.is_whole {
        return false;
    }
    if before.is_first() {
        let is_letter = number.len() == 1 && !number.starts_with(|c: char| c.is_ascii_digit());
        let is_answer = was_question && !number.contains('.') && !is_letter;
        return is_enumerator(number) && !is_answer || matches!(number, "P.S" | "P.P.S" | "N.B" | "PS" | "NB");
    }
    let is_named = number.starts_with(|c: char| c.is_ascii_digit()) && number.len() <= 8 || is_enumerator(number);
    let kind = Lower::new(before.rest.strip_suffix('.').unwrap_or(before.rest));
    let is_kind = before.rest.starts_with(char::is_uppercase)
        && !(kind.is_in(NO_HEADINGS) && following.begins())
        && (kind.is_in(KINDS) || before.rest.ends_with('.') && kind.is_in(BEFORE_LETTERS));
    let is_first_item = number == "1" && before.rest.ends_with(':');
    is_named && is_kind || is_first_item
}

/// Whether a sentence begins with a letter that numbers an item ("a. ", "(a) ").
pub(super) fn begins_with_enumerator(text: &str) -> bool {
    let mark = text.strip_prefix('(').unwrap_or(text);
    let number = &mark[..word_length(mark)];
    let behind = &mark[number.len()..];
    number.starts_with(|c: char| c.is_ascii_alphabetic())
        && is_enumerator(number)
        && (behind.starts_with(". ") || behind.starts_with(") "))
}

fn is_abbreviation(before: &Before<'_>, following: &Following<'_>, was_question: bool) -> bool {
    let lower = &before.lower;
    let is_number = following.beginning == Beginning::Digit;
    // "Pat. No. 5"
    let number = following.rest.strip_prefix(". ").unwrap_or_default();
    let is_short = before.is_capitalized() && before.word.len() <= 4;
    if is_short && following.word == "No" && number.starts_with(char::is_numeric) {
        return true;
    }
    // "IE" and "MS" are names.
    let is_name = before.word.len() <= 2 && before.word.bytes().all(|byte| byte.is_ascii_uppercase());
    if lower.is_in(NEVER_LAST) {
        return !is_name;
    }
    if before.is_after_number() && lower.is_in(UNITS) {
        let unit = following.rest.trim_start();
        let has_unit = || {
            let unit = unit.strip_prefix('-').unwrap_or(unit);
            Lower::new(&unit[..word_length(unit)]).is_in(UNITS)
        };
        return is_number && has_unit();
    }
    let is_title = lower.is_in(TITLES) && (before.is_capitalized() || lower.is_in(ANY_CASE));
    // "Ft. 5" is no name.
    if is_title && !is_number && !following.starts_with('(') {
        return !(is_name || matches!(lower.as_str(), "card" | "pt")) || !following.begins();
    }
    let is_capital_letter = before.word.len() == 1 && before.is_capitalized() && before.word != "P";
    let is_written_so = before.is_capitalized() || !lower.is_in(CAPITAL_BEFORE_NUMBERS);
    if lower.is_in(BEFORE_NUMBERS) && is_written_so && !is_capital_letter {
        if is_number || following.starts_with('#') || following.starts_with('§') {
            return lower.as_str() != "no" || is_number_of_thing(before, was_question);
        }
        if lower.is_in(BEFORE_LETTERS) && is_letter_or_roman(following, before.is_capitalized()) {
            return true;
        }
        if lower.is_in(DATES) && Lower::new(following.word).is_in(DATES) {
            return true;
        }
    }
    match lower.as_str() {
        // After these a sentence begins with any capital.
        "a.m" | "am" | "p.m" | "pm" => {
            let next = Lower::new(following.word);
            let is_zone =
                next.is_in(ZONES) && (following.word.len() > 3 || following.word.chars().all(char::is_uppercase));
            return lower.as_str().contains('.') && (is_zone || next.is_in(DATES));
        }
        "etc" => return following.word.is_empty(),
        "al" if is_number => return true,
        _ => {}
    }
    let is_state = || before.is_capitalized() && before.rest.ends_with(',') && lower.is_in(STATES);
    let is_either = lower.is_in(EITHER) && (before.is_capitalized() || !lower.is_in(CAPITAL_EITHER));
    (is_either || is_state())
        && !following.begins()
        && !following.is_title()
        && !(is_firm(lower) && following.is_subject())
}

/// Whether a word ends the names of firms.
fn is_firm(lower: &Lower) -> bool {
    matches!(lower.as_str(), "co" | "corp" | "cos" | "inc" | "ltd" | "plc")
}

/// Whether "no" is an abbreviation of "number" before a number, and not an answer.
fn is_number_of_thing(before: &Before<'_>, was_question: bool) -> bool {
    let last = Lower::new(before.last());
    let is_said =
        last.is_in(&["a", "answer", "answered", "is", "or", "replied", "said", "say", "says", "voted", "was"]);
    let is_aside = before.rest.ends_with(':')
        || before.rest.strip_suffix(',').is_some_and(|rest| !rest.ends_with(char::is_numeric));
    let is_answer = (is_said || is_aside) && !before.is_capitalized();
    !(is_answer || before.is_first() && was_question)
}

/// Whether a single letter or a Roman number follows, as in "Fig. A" and "Vol. II".
fn is_letter_or_roman(following: &Following<'_>, is_capitalized: bool) -> bool {
    let word = following.word;
    let is_roman = !word.is_empty() && word.bytes().all(|byte| matches!(byte, b'I' | b'V' | b'X' | b'L'));
    let is_letter = word.len() == 1 && word.starts_with(|c: char| c.is_ascii_uppercase());
    let is_label = word.len() <= 3
        && word.starts_with(|c: char| c.is_ascii_uppercase())
        && word[1..].bytes().all(|byte| byte.is_ascii_digit());
    let is_word = matches!(word, "A" | "I");
    (is_roman || is_letter || is_label) && (is_capitalized || !is_word)
}

/// Whether the word is an initial of a name or an acronym with full stops that belongs to the next word.
fn is_initial(before: &Before<'_>, following: &Following<'_>) -> bool {
    let word = before.word;
    let is_capital = |part: &str| {
        let mut characters = part.chars();
        characters.next().is_some_and(char::is_uppercase) && characters.next().is_none()
    };
    let n_letters = word.split('.').count();
    if !word.split('.').all(is_capital) {
        return is_degree(word) && !following.begins() && !following.is_title();
    }
    // "5 C"
    let is_unit = matches!(word, "C" | "F" | "K" | "V" | "W") && before.last().len() <= 3;
    if is_unit && before.is_after_number() {
        return false;
    }
    // "AT&T"
    if !before.is_whole {
        return false;
    }
    if n_letters > 1 {
        return !following.begins() && !following.is_title();
    }
    if following.starts_with('(') {
        let is_name = before.last().starts_with(char::is_uppercase) && !following.begins();
        let is_author = before.rest.ends_with([',', '.']);
        return if following.beginning == Beginning::Digit { is_author } else { is_name };
    }
    if following.beginning == Beginning::Digit {
        // "W. 42nd St."
        let is_ordinal = following.word.ends_with(|c: char| c.is_ascii_lowercase());
        return matches!(word, "N" | "E" | "S" | "W") && is_ordinal;
    }
    let last = before.last();
    let last_lower = Lower::new(last);
    let is_label = matches!(last_lower.as_str(), "a" | "an" | "the" | "letter") && before.rest.ends_with(last)
        || last_lower.is_in(KINDS) && before.rest.ends_with(last);
    if following.is_initial() {
        return true;
    }
    if is_label {
        return false;
    }
    if word == "I" {
        let is_name = last.starts_with(char::is_uppercase) && !last_lower.is_in(BEGINNINGS);
        return is_name && !following.begins();
    }
    !following.begins()
}

/// Whether a word is a degree such as "Ph.D" or an acronym such as "U.S.A.F" with longer parts.
fn is_degree(word: &str) -> bool {
    word.contains('.')
        && word
            .split('.')
            .all(|part| (1..=2).contains(&part.len()) && part.starts_with(|c: char| c.is_ascii_uppercase()))
}
