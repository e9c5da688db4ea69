//! The words of a text that BM25 counts: words, compounds and their parts, stems.

use rust_stemmers::{Algorithm, Stemmer};
use senv_core::{
    Tokenizer,
    text::{Normalization, TextMarks},
};
use serde::{Deserialize, Serialize};

/// Whether words are reduced to English stems.
///
/// These are the words of an index and of its queries:
///
/// * Text is lowercased, and differences of typing do not count ([`Normalization::Typing`]). A word is a run of letters
///   and digits; `don't` is `do` and `n't`, and 3.5 is one word.
/// * A word with signs counts by its parts, and also as a whole if the sign is `+`, `#`, `@` or `&`: `C++` and `c`,
///   `#storm` and `storm`, `AT&T`, `at` and `t`. The name of a host counts with and without its first parts, so
///   `example.org` finds `www.example.org`. `U.S.A.` counts as `usa`.
/// * In scripts without spaces between words (Chinese, Japanese, Thai, Lao, Khmer, Burmese), each character is a word,
///   and so are two that follow each other.
/// * English words are reduced to stems by Porter's second algorithm (snowballstem.org, 2001), so `boxes` finds `box`
///   and `trained` finds `trains`. A few short nouns whose stems would be other words are exceptions: `news`, `lens`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Stemming {
    /// English stems, unless the texts have more function words of other languages than English ones.
    #[default]
    Automatic,
    /// English stems.
    English,
    /// Words as they are.
    None,
}

impl Stemming {
    /// English or none; where it is automatic, these texts decide.
    ///
    /// ```
    /// use senv_index::documents::Stemming;
    /// assert_eq!(Stemming::Automatic.for_texts(&["Der Zug ist da, und es regnet."]), Stemming::None);
    /// assert_eq!(Stemming::Automatic.for_texts(&["The train is here, and it rains."]), Stemming::English);
    /// ```
    #[must_use]
    pub fn for_texts(self, texts: &[impl AsRef<str>]) -> Self {
        match self {
            Self::Automatic if TextMarks::of(texts).looks_english() => Self::English,
            Self::Automatic => Self::None,
            decided => decided,
        }
    }
}

/// Splits text into the words of an index or a query, as [`Stemming`] describes.
#[derive(Debug, Clone)]
pub(crate) struct Words {
    tokenizer: Tokenizer,
    is_english: bool,
}

/// Texts that [`Words`] writes while it reads one, to reuse their memory.
#[derive(Debug, Default)]
pub(crate) struct WordSpace {
    tokens: String,
    lower: String,
    plain: String,
}

impl Words {
    /// The words of these texts, as `stemming` says.
    pub(super) fn of(texts: &[&str], stemming: Stemming) -> Self {
        Self::new(stemming.for_texts(texts))
    }

    /// Words with English stems or none; `Automatic` is none.
    pub(crate) fn new(stemming: Stemming) -> Self {
        let tokenizer = Tokenizer::words().lowercase(true).normalize(Normalization::Typing);
        Self { tokenizer, is_english: stemming == Stemming::English }
    }

    /// Finds stems, if words have any.
    pub(crate) fn stems(&self) -> Option<Stems> {
        self.is_english.then(|| Stems(Stemmer::create(Algorithm::English)))
    }

    /// Calls `f` with each word of a text.
    pub(crate) fn for_each(&self, text: &str, mut f: impl FnMut(&str)) {
        let stems = self.stems();
        self.for_each_unstemmed(text, &mut WordSpace::default(), |word, may_have_stem| match &stems {
            Some(stems) if may_have_stem => stems.with_stem(word, &mut f),
            _ => f(word),
        });
    }

    /// Calls `f` with each word of a text before it is reduced to its stem, and with whether it may have one.
    pub(crate) fn for_each_unstemmed(&self, text: &str, space: &mut WordSpace, mut f: impl FnMut(&str, bool)) {
        let WordSpace { tokens, lower, plain } = space;
        self.tokenizer.for_each(text, tokens, |token| {
            if token.bytes().all(|byte| byte.is_ascii_lowercase()) {
                return f(token, true);
            }
            if token.chars().any(char::is_alphanumeric) {
                parts(token, &mut |part| f(part, true));
            }
        });
        if may_have_wholes(text) {
            for_each_whole(text, lower, plain, &mut |whole| f(whole, false));
        }
    }
}

/// Calls `f` with the compounds of a text that count as a whole.
fn for_each_whole(text: &str, lower: &mut String, plain: &mut String, f: &mut impl FnMut(&str)) {
    // The pieces of this rule are those between spaces, and its contractions stay.
    let text = Tokenizer::whitespace().normalize(Normalization::Typing).normalized(text, plain);
    for piece in text.split_whitespace().filter(|piece| piece.contains(is_sign)) {
        lower.clear();
        lower.extend(piece.chars().flat_map(char::to_lowercase));
        wholes(lower, f);
    }
}

/// Whether a text may have compounds that count as a whole. Most sentences have none: their points end words.
fn may_have_wholes(text: &str) -> bool {
    let bytes = text.as_bytes();
    let is_inside = |at: usize| bytes.get(at + 1).is_some_and(|byte| !byte.is_ascii_whitespace());
    bytes.iter().enumerate().any(|(at, &byte)| match byte {
        b'+' | b'#' | b'@' | b'&' => true,
        b'.' => is_inside(at),
        // Other forms of these signs.
        byte => !byte.is_ascii(),
    })
}

/// Calls `f` with the letters and digits between the signs of a token, and with the token if it has no other form.
fn parts(token: &str, f: &mut impl FnMut(&str)) {
    // `n't`, `'s`, `o'clock`, 3.5 and 1,000 are one word.
    if token.contains('\'') || is_number(token) {
        return f(token);
    }
    for part in token.split(is_punctuation).filter(|part| part.contains(char::is_alphanumeric)) {
        if part.contains(is_unspaced) {
            characters(part, f);
        } else {
            f(part);
        }
    }
}

/// Calls `f` with each character of a run without spaces, and with each two that follow each other.
fn characters(run: &str, f: &mut impl FnMut(&str)) {
    let starts: Vec<usize> = run.char_indices().map(|(at, _)| at).chain([run.len()]).collect();
    for at in starts.windows(2) {
        f(&run[at[0]..at[1]]);
    }
    for at in starts.windows(3) {
        f(&run[at[0]..at[2]]);
    }
}

/// A letter of a script without spaces between words: Chinese, Japanese, Thai, Lao, Khmer, Burmese.
fn is_unspaced(c: char) -> bool {
    matches!(
        c,
        '\u{e00}'..='\u{eff}'
            | '\u{1000}'..='\u{109f}'
            | '\u{1780}'..='\u{17ff}'
            | '\u{3040}'..='\u{30ff}'
            | '\u{3400}'..='\u{4dbf}'
            | '\u{4e00}'..='\u{9fff}'
            | '\u{f900}'..='\u{faff}'
            | '\u{20000}'..='\u{323af}'
    )
}

/// Calls `f` with the compounds of a piece between blanks: with its signs, and names of hosts without their first
/// parts.
fn wholes(piece: &str, f: &mut impl FnMut(&str)) {
    let starts = |c: char| c.is_alphanumeric() || matches!(c, '#' | '@' | '.');
    let ends = |c: char| c.is_alphanumeric() || matches!(c, '+' | '#');
    let whole = piece.trim_start_matches(|c| !starts(c)).trim_end_matches(|c| !ends(c));
    if !whole.contains(char::is_alphabetic) {
        return;
    }
    if whole.contains(['+', '#', '@', '&']) || whole.starts_with('.') && !whole.starts_with("..") {
        f(whole);
    }
    let host = whole.split_once("://").map_or(whole, |(_, rest)| rest);
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host).split('/').next().unwrap_or_default();
    let pieces = || host.split('.');
    if pieces().count() > 2 && pieces().all(|piece| piece.chars().count() == 1 && piece.contains(char::is_alphabetic)) {
        // U.S.A.
        f(&pieces().collect::<String>());
    } else if pieces().all(|piece| piece.chars().count() > 1) {
        let mut rest = host;
        while rest.contains('.') {
            f(rest);
            rest = rest.split_once('.').map_or("", |(_, rest)| rest);
        }
    }
}

/// A sign that joins a word, or belongs to one.
fn is_sign(c: char) -> bool {
    matches!(c, '+' | '#' | '@' | '.' | '-' | '_' | '/' | '&' | ':')
}

/// Punctuation between the parts of a word. Marks of other scripts are not among it, as they belong to their letters.
fn is_punctuation(c: char) -> bool {
    c.is_ascii_punctuation() || matches!(c, '\u{2010}'..='\u{205e}')
}

fn is_number(token: &str) -> bool {
    token.starts_with(|c: char| c.is_numeric()) && token.chars().all(|c| c.is_numeric() || matches!(c, '.' | ',' | ':'))
}

/// Short nouns whose stems would merge with other words, or that it does not find: the word and its stem.
const EXCEPTIONS: [(&str, &str); 9] = [
    ("buses", "bus"),
    ("gases", "gas"),
    ("lens", "lens"),
    ("lenses", "lens"),
    ("news", "news"),
    ("pluses", "plus"),
    ("does", "does"),
    ("axes", "ax"),
    ("yes", "yes"),
];

/// Finds stems of English words.
pub(crate) struct Stems(Stemmer);

impl Stems {
    /// Calls `f` once, with the stem of an English word; other words stay as they are.
    pub(crate) fn with_stem(&self, word: &str, f: &mut impl FnMut(&str)) {
        if word.len() < 3 || !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
            return f(word);
        }
        match EXCEPTIONS.iter().find(|(exception, _)| *exception == word) {
            Some((_, stem)) => f(stem),
            None => f(&self.0.stem(word)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        let mut words = Vec::new();
        Words::new(Stemming::English).for_each(text, |word| words.push(word.to_owned()));
        words
    }

    #[test]
    fn parts_and_wholes_are_words() {
        let has = |text: &str, expected: &[&str]| assert_eq!(words(text), expected, "{text}");
        has("C++, C#; F#", &["c", "c", "f", "c++", "c#", "f#"]);
        has("a #storm (@ann)", &["a", "storm", "ann", "#storm", "@ann"]);
        has("see www.example.org.", &["see", "www", "exampl", "org", "www.example.org", "example.org"]);
        has(
            "ann@mail.example.org",
            &["ann", "mail", "exampl", "org", "ann@mail.example.org", "mail.example.org", "example.org"],
        );
        has("https://example.org/a/b", &["https", "exampl", "org", "a", "b", "example.org"]);
        has("AT&T", &["at", "t", "at&t"]);
        has(".NET", &["net", ".net"]);
        has("U.S.A.", &["u", "s", "a", "usa"]);
        // No compounds of their own.
        has(
            "wi-fi, TCP/IP, a_b e.g. ... 3.5 1,000 10:30 --",
            &["wi", "fi", "tcp", "ip", "a", "b", "e", "g", "3.5", "1,000", "10:30"],
        );
        has("o'clock o’clock oʼclock", &["o'clock"; 3]);
        has("the screen’s “ﬁne” – 1½ years…", &["the", "screen", "'s", "fine", "1", "1", "2", "year"]);
        // The vowels and marks of other scripts do not end a word.
        has("हिन्दी", &["हिन्दी"]);
        assert!(words("don't").contains(&"n't".to_owned()));
        assert_eq!(words("naïve café"), ["naïve", "café"]);
        assert_eq!(words("今天下雨"), ["今", "天", "下", "雨", "今天", "天下", "下雨"]);
        assert!(
            ["แมว", "猫"]
                .iter()
                .all(|word| words(&format!("{word}นั่ง")).contains(&word.chars().next().unwrap().to_string()))
        );
    }

    #[test]
    fn texts_without_wholes_are_told_by_their_signs() {
        let signs = ['a', 'b', '.', ' ', '-', '_', ':', '/', '\'', '!', '\t'];
        let mut n_left_out = 0;
        for number in 0..signs.len().pow(5) {
            let text: String = (0..5).map(|at| signs[number / signs.len().pow(at) % signs.len()]).collect();
            if !may_have_wholes(&text) {
                n_left_out += 1;
                let never = &mut |whole: &str| panic!("{text:?} has {whole:?}");
                for_each_whole(&text, &mut String::new(), &mut String::new(), never);
            }
        }
        assert!(n_left_out > 1000);
        for text in ["C++", "a #b", "x@y", "AT&T", "see example.org", ".NET", "U.S.A.", "Ｃ＋＋", "…"] {
            assert!(may_have_wholes(text), "{text}");
        }
        assert!(!may_have_wholes("The train - a night-train - is late. It rains."));
    }

    #[test]
    fn plurals_are_found_and_other_words_are_not_merged() {
        let stem = |word: &str| words(word).join(" ");
        for [plural, word] in [
            ["dresses", "dress"],
            ["boxes", "box"],
            ["cities", "city"],
            ["gases", "gas"],
            ["buses", "bus"],
            ["lenses", "lens"],
            ["viruses", "virus"],
            ["cases", "case"],
            ["houses", "house"],
            ["trains", "train"],
            ["trained", "train"],
            ["running", "run"],
        ] {
            assert_eq!(stem(plural), stem(word), "{plural}");
        }
        for [a, b] in [["news", "new"], ["lens", "len"], ["gas", "ga"], ["bus", "bu"], ["does", "doe"], ["yes", "ye"]] {
            assert_ne!(stem(a), stem(b));
        }
    }

    #[test]
    fn texts_of_other_languages_keep_their_words() {
        let of = |text: &str, word: &str| {
            let mut words = Vec::new();
            Words::of(&[text], Stemming::Automatic).for_each(word, |word| words.push(word.to_owned()));
            words
        };
        assert_eq!(of("The trains are late, and the buses too.", "trains"), ["train"]);
        // Titles without function words.
        assert_eq!(of("Garden chairs, green", "chairs"), ["chair"]);
        for text in [
            "Der Zug ist spät, und das Haus ist leer.",
            "Les trains sont en retard dans la ville.",
            "Los trenes llegan tarde a la ciudad.",
            "De trein is niet op tijd en het regent.",
        ] {
            assert_eq!(of(text, "trains"), ["trains"], "{text}");
        }
        let none = Words::of(&["The trains are late."], Stemming::None);
        let mut words = Vec::new();
        none.for_each("Trains", |word| words.push(word.to_owned()));
        assert_eq!(words, ["trains"]);
    }
}
