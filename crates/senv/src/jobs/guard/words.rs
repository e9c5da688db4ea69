//! The words of a text, with what each names.

use std::borrow::Cow;

use senv_core::{Tokenizer, text::Normalization};
use unicode_normalization::UnicodeNormalization;

use super::{numbers, signs};

/// Typing is not read as a difference.
const TYPING: Tokenizer = Tokenizer::words().normalize(Normalization::Typing);

/// Days and months. "March" and "may" are left out, because they are words of their own.
const DATES: [&str; 17] = [
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
    "january",
    "february",
    "april",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// The short forms of days and months that are no words of their own.
const SHORT_DATES: [&str; 18] = [
    "jan", "feb", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec", "tue", "tues", "wed", "thu", "thur",
    "thurs", "fri",
];

/// Words that negate, which count as one word. "n't" counts too.
const NEGATIONS: [&str; 26] = [
    "not", "no", "never", "nothing", "nobody", "none", "neither", "nor", "nowhere", "without", "cannot", "dont",
    "doesnt", "didnt", "isnt", "arent", "wasnt", "werent", "wont", "wouldnt", "couldnt", "shouldnt", "cant", "hasnt",
    "havent", "aint",
];

/// Forms of "do", which a negation brings along ("doesn't work", "dont work"), and the "per" of "per cent".
const WITHOUT_MEANING: [&str; 4] = ["do", "does", "did", "per"];

/// What joins the numbers of a date, a time or a range.
const JOINS: [&str; 4] = ["/", "-", ":", "."];

/// The key of a negation, which no word has.
const NEGATION: u64 = 1;

/// What a word is, which decides how it is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A word whose forms are the same word.
    Word,
    /// A word in capitals, which can stand for the first letters of others.
    Acronym,
    /// Part of an identifier: only the same spelling is the same.
    Code,
    /// A number, a word with digits, a letter, a day or month.
    Exact,
    Negation,
}

/// A word of a text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Word {
    /// Its place in [`Words::text`].
    pub(super) start: u32,
    pub(super) end: u32,
    /// The hash of its common spelling: equal for "two" and "2".
    pub(super) key: u64,
    pub(super) kind: Kind,
    /// How rare it is: 0 for a function word, [`ALWAYS`] for numbers, codes, names and the like.
    pub(super) rarity: f32,
    pub(super) is_unknown: bool,
    /// Starts with a capital.
    pub(super) is_capital: bool,
    /// The number of its part of the text, from 0. A dash, a semicolon, a colon or a parenthesis starts a part.
    pub(super) part: u32,
    /// A number that is joined to the one before it, as in a date.
    pub(super) is_joined: bool,
}

/// The rarity of a word that is always compared.
pub(super) const ALWAYS: f32 = f32::INFINITY;

/// The words of a text, in lower case.
#[derive(Debug, Default)]
pub(super) struct Words {
    /// All words one after another, so that neighbors can be read as one word.
    pub(super) text: String,
    pub(super) words: Vec<Word>,
}

/// What the vocabulary knows of a word.
#[derive(Debug, Clone, Copy)]
pub(super) struct Known {
    pub(super) rarity: f32,
    pub(super) is_unknown: bool,
}

/// Where a word stands.
struct Place {
    /// At the start of a sentence.
    is_first: bool,
    /// Joined to another word by an underscore.
    is_joined: bool,
    part: u32,
    /// Directly after a number.
    after_number: bool,
    /// A number that is joined to the one before it.
    is_in_range: bool,
    is_negative: bool,
}

/// How a text is written.
struct Style {
    /// Many words start with a small letter, so that a capital one is a name.
    has_names: bool,
    /// Most words are in capitals, so that these mean nothing.
    is_capital: bool,
}

impl Style {
    fn of(text: &str) -> Self {
        let (mut small, mut capital, mut all) = (0, 0, 0);
        // Titles have small letters in short words.
        for word in text.split(|c: char| !c.is_alphabetic()).filter(|word| word.len() > 3) {
            small += usize::from(word.starts_with(char::is_lowercase));
            capital += usize::from(word.chars().all(char::is_uppercase));
            all += 1;
        }
        Self { has_names: 3 * small >= all, is_capital: 2 * capital > all }
    }
}

impl Words {
    /// Reads a text; `known` looks a word up, in lower case and as written.
    pub(super) fn of(text: &str, known: impl Fn(&str, &str) -> Known) -> Self {
        let mut plain = String::new();
        let text = TYPING.normalized(text, &mut plain);
        let style = Style::of(text);
        let mut words = Self::default();
        let (mut before, mut part, mut after_number) = (0, 0, false);
        while let Some((start, end)) = next_run(text, before) {
            let gap = &text[before..start];
            part += u32::from(before > 0 && starts_part(gap));
            let follows_apostrophe = gap.ends_with('\'') && before > 0;
            if !(follows_apostrophe && words.clitic(&text[start..end])) {
                let is_first = before == 0 || gap.contains(['.', '!', '?', ':', ';', '"']);
                let is_joined = gap.ends_with('_') || text[end..].starts_with('_');
                let run = &text[start..end];
                let is_number = run.starts_with(|c: char| c.is_ascii_digit());
                let mut place =
                    Place { is_first, is_joined, part, after_number: false, is_in_range: false, is_negative: false };
                if is_number {
                    let (signs, is_negative) = signs::before_number(gap, before == 0);
                    signs.for_each(|sign| words.add_sign(sign, part));
                    (place.is_in_range, place.is_negative) = (after_number && JOINS.contains(&gap), is_negative);
                } else {
                    place.after_number = after_number && matches!(gap, "" | " ");
                }
                words.add(run, &style, place, &known);
                if let Some(sign) = signs::after_number(&text[end..]).filter(|_| is_number) {
                    words.add_sign(sign, part);
                }
                after_number = is_number;
            }
            before = end;
        }
        words
    }

    /// The letters of a word.
    pub(super) fn get(&self, word: &Word) -> &str {
        &self.text[word.start as usize..word.end as usize]
    }

    /// A word for a reader.
    pub(super) fn shown(&self, word: &Word) -> &str {
        if word.kind == Kind::Negation { "not" } else { self.get(word) }
    }

    /// Reads what follows an apostrophe, if it is no word: "n't" becomes a negation, and the rest is left out.
    fn clitic(&mut self, run: &str) -> bool {
        let is_negation = run.eq_ignore_ascii_case("t") && self.text.ends_with('n');
        if is_negation && let Some(last) = self.words.last_mut() {
            let word = &self.text[last.start as usize..];
            let kept = match word {
                "can" => "can",
                "won" => "will",
                _ => &word[..word.len() - 1],
            }
            .to_owned();
            self.text.truncate(last.start as usize);
            self.text.push_str(&kept);
            (last.end, last.key, last.rarity, last.is_unknown) = (self.text.len() as u32, hash(&kept), 0.0, false);
            let (start, end, part) = (last.end, last.end, last.part);
            self.words.push(Word {
                start,
                end,
                key: NEGATION,
                kind: Kind::Negation,
                rarity: ALWAYS,
                is_unknown: false,
                is_capital: false,
                part,
                is_joined: false,
            });
            return true;
        }
        ["s", "t", "d", "m", "ll", "re", "ve"].iter().any(|clitic| run.eq_ignore_ascii_case(clitic))
    }

    fn add_sign(&mut self, sign: char, part: u32) {
        let start = self.text.len() as u32;
        self.text.push(sign);
        let (end, key) = (self.text.len() as u32, hash(sign.encode_utf8(&mut [0; 4])));
        let (kind, rarity, is_unknown, is_capital, is_joined) = (Kind::Exact, ALWAYS, false, false, false);
        self.words.push(Word { start, end, key, kind, rarity, is_unknown, is_capital, part, is_joined });
    }

    fn add(&mut self, run: &str, style: &Style, place: Place, known: &impl Fn(&str, &str) -> Known) {
        let Place { is_first, is_joined, part, after_number, is_in_range, is_negative } = place;
        let is_cent = run.eq_ignore_ascii_case("cent") && self.text.ends_with("per");
        let start = self.text.len();
        if is_negative {
            self.text.push('-');
        }
        let is_dotted = run.contains('.') && !run.contains(|c: char| c.is_ascii_digit());
        match after_number.then(|| signs::unit(&run.to_lowercase())).flatten() {
            Some(unit) => self.text.push_str(unit),
            None => run.chars().filter(|&c| !(is_dotted && c == '.')).for_each(|c| self.text.extend(c.to_lowercase())),
        }
        let word = &self.text[start..];
        let mut letters = run.chars().filter(|c| c.is_alphabetic());
        let (is_capital, all_capital) = (run.starts_with(char::is_uppercase), letters.all(char::is_uppercase));
        let mut kind = Kind::Exact;
        let (mut rarity, mut is_unknown) = (ALWAYS, false);
        let key = if let Some(positive) = word.strip_prefix('-') {
            hash(&format!("-{}", numbers::of_digits(positive)))
        } else if word.contains(|c: char| c.is_ascii_digit()) {
            hash(&numbers::of_digits(word))
        } else if let Some(unit) = signs::unit(word).filter(|_| after_number) {
            hash(unit)
        } else if let Some((digits, always)) = numbers::of_word(word) {
            // "Zero" is a part of a name.
            let is_name = is_capital && style.has_names && !is_first;
            rarity = if always || is_name { ALWAYS } else { 0.0 };
            hash(digits)
        } else if let Some(digits) = numbers::of_roman(run) {
            hash(digits)
        } else if DATES.contains(&word) || SHORT_DATES.contains(&word) {
            // Hyphens keep it from being a word of the text.
            hash(&format!("-{}-", &word[..3]))
        } else if NEGATIONS.contains(&word) {
            kind = Kind::Negation;
            NEGATION
        } else if word.chars().nth(1).is_none() && !stands_alone(word) || word.ends_with(['+', '#']) {
            // A letter that stands for something; "a" and "I" mostly do not.
            rarity = if matches!(word, "a" | "i") { 0.0 } else { ALWAYS };
            hash(word)
        } else {
            let found = known(word, run);
            (rarity, is_unknown) = (found.rarity, found.is_unknown);
            let has_inner_capital =
                run.as_bytes().windows(2).any(|w| w[0].is_ascii_lowercase() && w[1].is_ascii_uppercase());
            kind = Kind::Word;
            if has_inner_capital || is_joined {
                (kind, rarity) = (Kind::Code, ALWAYS);
            } else if all_capital && is_capital && !style.is_capital {
                kind = Kind::Acronym;
                rarity = if rarity > 0.0 { ALWAYS } else { 0.0 };
            } else if is_capital && style.has_names && !is_first && rarity > 0.0 {
                rarity = ALWAYS;
            }
            if WITHOUT_MEANING.contains(&word) {
                rarity = 0.0;
            }
            match signs::of_word(word).or(is_cent.then_some('%')) {
                Some(sign) => hash(sign.encode_utf8(&mut [0; 4])),
                None => hash(&without_accents(word)),
            }
        };
        let end = self.text.len() as u32;
        let start = start as u32;
        self.words.push(Word { start, end, key, kind, rarity, is_unknown, is_capital, part, is_joined: is_in_range });
    }
}

/// Whether what stands between two words starts a part of the text.
fn starts_part(gap: &str) -> bool {
    gap.contains(['(', ')', ';', '[', ']']) || gap.contains(" - ") || gap.contains("--") || gap.contains(": ")
}

/// Whether a word is a character of a script without spaces between words, where it is a word like others.
fn stands_alone(word: &str) -> bool {
    word.chars().all(is_of_words_without_spaces)
}

fn is_of_words_without_spaces(c: char) -> bool {
    matches!(c, '\u{E00}'..='\u{EFF}' | '\u{1000}'..='\u{109F}' | '\u{1780}'..='\u{17FF}' | '\u{3040}'..='\u{309F}'
        | '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' | '\u{20000}'..='\u{3FFFF}')
}

fn is_part(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '\u{300}'..='\u{36F}')
}

/// The next word of a text, from a place on: letters and digits, a number with its marks, `U.S`, `C++`.
fn next_run(text: &str, from: usize) -> Option<(usize, usize)> {
    let start = from + text[from..].find(is_part)?;
    let mut rest = text[start..].char_indices().peekable();
    let (_, first) = rest.next()?;
    let mut end = start + first.len_utf8();
    if is_of_words_without_spaces(first) {
        return Some((start, end));
    }
    let mut last = first;
    let mut n = 1;
    // Letters with full stops between them, as long as each is a single one.
    let mut is_dotted = first.is_alphabetic();
    while let Some((at, c)) = rest.next() {
        let next = rest.peek().map(|&(_, next)| next);
        let joins = match c {
            '.' | ',' if last.is_ascii_digit() => next.is_some_and(|c| c.is_ascii_digit()),
            '.' if is_dotted && n % 2 == 1 => {
                let mut following = text[start + at + 1..].chars();
                following.next().is_some_and(char::is_alphabetic) && !following.next().is_some_and(is_part)
            }
            // "S23+", but not "5+".
            '+' if last.is_ascii_digit() && first.is_alphabetic() => !next.is_some_and(is_part),
            '+' | '#' => last.is_alphabetic() && !next.is_some_and(is_part) || last == c && !next.is_some_and(is_part),
            c => is_part(c) && !is_of_words_without_spaces(c) && !"+#".contains(last),
        };
        if !(joins || c == '+' && last.is_alphabetic() && next == Some('+')) {
            break;
        }
        is_dotted &= (n % 2 == 1) == (c == '.');
        end = start + at + c.len_utf8();
        (last, n) = (c, n + 1);
    }
    Some((start, end))
}

/// A word without accents, which many leave out: `cafe` for `café`.
fn without_accents(word: &str) -> Cow<'_, str> {
    if word.is_ascii() {
        return Cow::Borrowed(word);
    }
    Cow::Owned(word.nfd().filter(|c| !matches!(c, '\u{300}'..='\u{36F}')).collect())
}

/// FNV-1a; other texts than two equal ones have the same with a probability of about 2^-64.
fn hash(word: &str) -> u64 {
    word.bytes().fold(0xCBF2_9CE4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01B3))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(text: &str) -> Vec<&str> {
        let (mut from, mut found) = (0, Vec::new());
        while let Some((start, end)) = next_run(text, from) {
            found.push(&text[start..end]);
            from = end;
        }
        found
    }

    /// The words that every text with them is about, if no word is rare.
    fn always(text: &str) -> Vec<String> {
        let words = Words::of(text, |_, _| Known { rarity: 0.5, is_unknown: false });
        words.words.iter().filter(|word| word.rarity == ALWAYS).map(|word| words.get(word).to_owned()).collect()
    }

    #[test]
    fn a_text_is_read_as_words_numbers_and_codes() {
        assert_eq!(
            runs("A log-in to apache_airflow (v2.0.1), 1,000 users."),
            ["A", "log", "in", "to", "apache", "airflow", "v2.0.1", "1,000", "users"]
        );
        assert_eq!(runs("U.S. law, e.g. at 3 p.m."), ["U.S", "law", "e.g", "at", "3", "p.m"]);
        assert_eq!(runs("C++, C# and F#; a+b 5+ S23+"), ["C++", "C#", "and", "F#", "a", "b", "5", "S23+"]);
        assert_eq!(runs("我爱 tea"), ["我", "爱", "tea"]);
        assert!(runs(" -- ...").is_empty());
    }

    #[test]
    fn numbers_codes_names_and_negations_are_always_compared() {
        assert_eq!(always("the two trains of 1914 to Leeds are late on Monday"), ["two", "1914", "leeds", "monday"]);
        assert_eq!(always("call getUserName or user_id with the USB key"), ["getusername", "user", "id", "usb"]);
        assert_eq!(always("vitamin B and a letter"), ["b"]);
        assert_eq!(always("words of a language (Taiwan)"), ["taiwan"]);
        assert_eq!(always("Managing The Data Of Trains"), Vec::<String>::new(), "a title has no names");
        assert_eq!(always("it wasn't here"), [""]);
        assert_eq!(always("one of the first"), Vec::<String>::new());
    }

    #[test]
    fn a_contraction_is_its_words() {
        let words = Words::of("It isn't Tom's; they won't", |_, _| Known { rarity: 0.5, is_unknown: false });
        let read: Vec<&str> = words.words.iter().map(|word| words.get(word)).collect();
        assert_eq!(read, ["it", "is", "", "tom", "they", "will", ""]);
        let words = Words::of("Tom 's train is n't", |_, _| Known { rarity: 0.5, is_unknown: false });
        assert_eq!(words.words.iter().filter(|word| word.rarity == ALWAYS).count(), 1, "split by a tokenizer");
    }
}
