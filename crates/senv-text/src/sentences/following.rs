//! What comes after a mark that may end a sentence.

use super::{
    lines::is_enumerator,
    marks::{is_bullet, is_emoji},
    words::{BEGINNINGS, Lower, SPEECH, TITLES, is_in},
};

/// How the text after a mark begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Beginning {
    /// With a lower-case letter: the sentence continues.
    Lower,
    /// With a digit, possibly after a sign such as `$`.
    Digit,
    /// With another letter, or with nothing that has a case.
    Upper,
    /// With a mark such as a comma, which continues a sentence.
    Continuation,
    /// With a bullet, address or name that is written in lower case: the sentence ends.
    Always,
}

/// The text after a mark and the blanks behind it.
pub(super) struct Following<'a> {
    /// All of it.
    text: &'a str,
    pub(super) beginning: Beginning,
    /// The first word: letters and digits, after quotes and brackets.
    pub(super) word: &'a str,
    /// The text after that word.
    pub(super) rest: &'a str,
}

impl<'a> Following<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        /// More signs than this do not stand before a word.
        const N_SIGNS: usize = 8;
        let mut beginning = None;
        let mut from = text.len();
        for (n, (at, c)) in text.char_indices().enumerate() {
            if c.is_alphanumeric() || n == N_SIGNS {
                from = at;
                break;
            }
            if n == 0 && matches!(c, ',' | ';' | ':' | '&' | '、' | '，' | '；' | '：' | '،' | '؛') {
                beginning = Some(Beginning::Continuation);
            }
            if is_bullet(c) || is_emoji(c) || n == 0 && matches!(c, '@' | '#') {
                beginning = beginning.or(Some(Beginning::Always));
            }
        }
        let found = &text[from..];
        let word = &found[..word_length(found)];
        let beginning = beginning.unwrap_or_else(|| {
            let mut characters = word.chars();
            match characters.next() {
                Some(c) if c.is_lowercase() => {
                    let is_name = characters.next().is_some_and(char::is_uppercase) && word.len() > 2;
                    let is_address = ["http://", "https://", "www."].iter().any(|start| found.starts_with(start));
                    if is_name || is_address { Beginning::Always } else { Beginning::Lower }
                }
                Some(c) if c.is_numeric() => Beginning::Digit,
                _ => Beginning::Upper,
            }
        });
        Self { text, beginning, word, rest: &found[word.len()..] }
    }

    /// Whether the word begins sentences and is no name.
    pub(super) fn begins(&self) -> bool {
        let is_negation = || self.rest.strip_prefix(['\'', '’']).is_some_and(|rest| rest.starts_with('t'));
        Lower::new(self.word).is_in(BEGINNINGS) || is_negation()
    }

    /// Whether the word is a title before a name ("Mr.").
    pub(super) fn is_title(&self) -> bool {
        self.rest.starts_with('.')
            && self.word.starts_with(char::is_uppercase)
            && self.word.len() > 1
            && Lower::new(self.word).is_in(TITLES)
    }

    /// Whether the word after the first one is a verb, as in "Berg said". Then the first word begins a sentence.
    pub(super) fn is_subject(&self) -> bool {
        let rest = self.rest.strip_prefix(' ').unwrap_or_default();
        let word = &rest[..word_length(rest)];
        matches!(
            word,
            "is" | "was" | "are" | "were" | "has" | "had" | "will" | "would" | "said" | "says" | "did" | "can"
        )
    }

    /// Whether the text begins with this character.
    pub(super) fn starts_with(&self, c: char) -> bool {
        self.text.starts_with(c)
    }

    /// Whether the word is one capital with a full stop, as in a name.
    pub(super) fn is_initial(&self) -> bool {
        let mut characters = self.word.chars();
        characters.next().is_some_and(char::is_uppercase) && characters.next().is_none() && self.rest.starts_with('.')
    }

    /// Whether the text begins with a letter that numbers an item ("b. ", "ii) ").
    pub(super) fn is_enumerator(&self) -> bool {
        is_enumerator(self.word) && (self.rest.starts_with(". ") || self.rest.starts_with(") "))
    }

    /// Whether the text says who spoke the words before it: "Peter asked", "I said", "he cried".
    pub(super) fn is_speech_tag(&self) -> bool {
        /// Longest name, in words.
        const N_WORDS: usize = 3;
        /// Longest name and verb, in bytes.
        const LONGEST: usize = 96;
        if !self.text.starts_with(char::is_alphabetic) {
            return false;
        }
        let mut end = self.text.len().min(LONGEST);
        while !self.text.is_char_boundary(end) {
            end -= 1;
        }
        let mut words = self.text[..end].split_whitespace();
        let is_verb = |word: &str| is_in(SPEECH, word.trim_end_matches([',', '.', ':', ';']));
        for (n, word) in words.by_ref().take(N_WORDS + 1).enumerate() {
            if is_verb(word) {
                return n > 0 || self.beginning == Beginning::Lower;
            }
            let is_pronoun = n == 0 && matches!(word, "he" | "she" | "they" | "we" | "the" | "my" | "his" | "her");
            let is_name = word.starts_with(char::is_uppercase)
                && (word.ends_with(char::is_alphanumeric) || word.ends_with('.'))
                && (n > 0 || word == "I" || !is_in(BEGINNINGS, Lower::new(word).as_str()));
            let is_noun =
                n > 0 && self.beginning == Beginning::Lower && word.bytes().all(|byte| byte.is_ascii_lowercase());
            if !(is_pronoun || is_name || is_noun) {
                return false;
            }
        }
        false
    }
}

/// The length of the word at the start of a text.
pub(super) fn word_length(text: &str) -> usize {
    /// No word of a list is longer.
    const LONGEST: usize = 32;
    text.char_indices().find(|&(at, c)| at >= LONGEST || !c.is_alphanumeric()).map_or(text.len(), |(at, _)| at)
}
