//! Whether a text is English, by its words of grammar, and whether it is program code, by its signs.

use std::{collections::HashSet, ops::AddAssign, sync::LazyLock};

/// Words that occur in nearly every English text, and in few others.
const ENGLISH: &str = "the of and to is that for with this it by be not from have has which but they you we his her \
    their been were will would can if about how what when who";

/// Words that occur in nearly every text of another language that is written in Latin letters, and in few English ones.
const OTHERS: &str = "der und das nicht ist ein eine zu mit den von le la les des est dans une que et du pour los las \
    el por para una del con il che di della non het een niet en och att som det ikke og på nie się na jest \
    je ve bir bu için não uma os é ao şi nu este și az és hogy nem";

/// Words of English grammar: articles, pronouns, prepositions, conjunctions, auxiliary verbs, and the parts of
/// contractions. They say little about what a sentence is about.
const FUNCTION_WORDS: &str = "a about above across after again against all almost along already also although always \
    am among an and another any anybody anyone anything are around as at away be became because become been \
    before behind being below between both but by can cannot could did do does doing done down during each either \
    else enough even ever every everybody everyone everything few for from further get gets getting give given go \
    goes going gone got had has have having he hence her here hers herself him himself his how however i if in \
    indeed instead into is it its itself just least less let like made make makes making many may maybe me might mine \
    more most much must my myself near neither never no nobody none nor not nothing now of off often on once one only \
    onto or other others ought our ours ourselves out over own per perhaps please put quite rather really said same \
    say says seem seems several shall she should since so some somebody someone something sometimes soon still such \
    than that the their theirs them themselves then there therefore these they thing things this those though through \
    thus to together too toward towards two under unless until up upon us use used using very via want wants was way we \
    well were what whatever when whenever where whether which while who whom whose why will with within without would \
    yes yet you your yours yourself ain don ll re ve isn aren wasn weren hasn haven hadn doesn didn won wouldn couldn \
    shouldn n't 's 'm 're 've 'll 'd n’t ’s ’m ’re ’ve ’ll ’d dont doesnt didnt cant wont isnt im ive";

/// How many texts, and words of each, decide.
const SAMPLE: (usize, usize) = (1000, 200);

/// The share of English function words among the tokens: .15 to .37 of sentences, .03 to .16 of titles. Other languages
/// have up to .04 of them, and more of their own (`docs/experiments/known-words.md`).
const MIN_ENGLISH: f64 = 0.04;

/// The share of tokens with signs of code: .16 to .46 in code, .00 to .08 in sentences.
const MIN_CODE: f64 = 0.12;

/// Whether a lowercase word belongs to English grammar: `the`, `under`, `would`, `n't`.
///
/// ```
/// assert!(senv_text::is_english_function_word("between") && !senv_text::is_english_function_word("bridge"));
/// ```
#[must_use]
pub fn is_english_function_word(word: &str) -> bool {
    static WORDS: LazyLock<HashSet<&str>> = LazyLock::new(|| FUNCTION_WORDS.split_whitespace().collect());
    WORDS.contains(word)
}

/// Counts that tell the language of a text, and code from language.
///
/// ```
/// use senv_text::TextMarks;
/// let english = TextMarks::of(&["The train was late, so we walked home with a friend."]);
/// assert!(english.is_english() && !english.is_code());
/// let german = TextMarks::of(&["Der Zug war zu spät, und wir gingen nach Hause."]);
/// assert!(!german.is_english() && !german.looks_english());
/// assert!(TextMarks::of(&["let n_rows = cfg.n_rows.unwrap_or_default();"]).is_code());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TextMarks {
    /// Tokens between blanks.
    pub tokens: u64,
    /// Function words that are frequent in English only.
    pub english: u64,
    /// Function words that are frequent in another language only.
    pub others: u64,
    /// Tokens with signs of code: operators, brackets inside words, identifiers of several words.
    pub code: u64,
}

impl TextMarks {
    /// Counts in 1,000 evenly spaced texts, and in 200 tokens of each.
    #[must_use]
    pub fn of(texts: &[impl AsRef<str>]) -> Self {
        let step = texts.len().div_ceil(SAMPLE.0).max(1);
        let mut marks = Self::default();
        texts.iter().step_by(step).for_each(|text| marks.add(text.as_ref()));
        marks
    }

    /// Counts in the first 200 tokens of another text.
    pub fn add(&mut self, text: &str) {
        static LISTS: LazyLock<[HashSet<&str>; 2]> =
            LazyLock::new(|| [ENGLISH, OTHERS].map(|list| list.split_whitespace().collect()));
        let [english, others] = &*LISTS;
        let mut lower = String::new();
        for token in text.split_whitespace().take(SAMPLE.1) {
            self.tokens += 1;
            self.code += u64::from(is_of_code(token));
            let word = token.trim_matches(|c: char| !c.is_alphanumeric());
            if word.contains(char::is_alphabetic) {
                lower.clear();
                lower.extend(word.chars().flat_map(char::to_lowercase));
                self.english += u64::from(english.contains(&lower[..]));
                self.others += u64::from(others.contains(&lower[..]));
            }
        }
    }

    /// Whether no fewer function words are English than of other languages. A list without any looks English.
    #[must_use]
    pub const fn looks_english(self) -> bool {
        self.english >= self.others
    }

    /// Whether the text is English sentences or titles: at least 4 % of the tokens are English function words, and more
    /// than those of other languages.
    #[must_use]
    pub fn is_english(self) -> bool {
        self.english > self.others && self.english as f64 >= MIN_ENGLISH * self.tokens as f64
    }

    /// Whether the text is program code: at least 12 % of the tokens have signs of code.
    #[must_use]
    pub fn is_code(self) -> bool {
        self.tokens > 0 && self.code as f64 >= MIN_CODE * self.tokens as f64
    }
}

impl TextMarks {
    /// Returns the counts since `before`.
    #[must_use]
    pub const fn since(self, before: Self) -> Self {
        Self {
            tokens: self.tokens.saturating_sub(before.tokens),
            english: self.english.saturating_sub(before.english),
            others: self.others.saturating_sub(before.others),
            code: self.code.saturating_sub(before.code),
        }
    }
}

impl AddAssign for TextMarks {
    fn add_assign(&mut self, other: Self) {
        self.tokens += other.tokens;
        self.english += other.english;
        self.others += other.others;
        self.code += other.code;
    }
}

/// Operators and brackets that language has not.
const SIGNS: [&str; 22] = [
    "::", "->", "=>", "==", "!=", "<=", ">=", "+=", "-=", "&&", "||", ":=", "</", "/>", "()", "[]", "{}", "++", "#[",
    "//", "/*", "*/",
];

/// Whether a token between blanks has signs of code.
fn is_of_code(token: &str) -> bool {
    if matches!(token, "=" | "{" | "}" | "(" | ")" | "[" | "]" | "<" | ">" | "|" | "&" | "*" | "+" | "\\") {
        return true;
    }
    // Addresses of web pages have two slashes.
    if !token.contains("://") && SIGNS.iter().any(|sign| token.contains(sign)) || token.ends_with([';', '{', '}']) {
        return true;
    }
    let mut before = [' ', ' '];
    let is_letter = |c: char| c.is_alphanumeric();
    for c in token.chars() {
        let [first, last] = before;
        let is_inside = is_letter(first) && is_letter(c);
        // a_b, f(x, v[i, a<b, a{b, key=value
        if is_inside && matches!(last, '_' | '(' | '[' | '<' | '{' | '=') && !is_plural(token) {
            return true;
        }
        // camelCase: a lowercase letter before a capital, in a token that starts with a lowercase letter.
        if last.is_lowercase() && c.is_uppercase() && starts_lowercase(token) && !token.starts_with('i') {
            return true;
        }
        before = [last, c];
    }
    false
}

/// Whether a bracket only holds an ending, as in `file(s)`.
fn is_plural(token: &str) -> bool {
    ["(s)", "(es)", "(ies)"].iter().any(|ending| token.contains(ending))
}

fn starts_lowercase(token: &str) -> bool {
    token.trim_start_matches(|c: char| !c.is_alphanumeric()).starts_with(char::is_lowercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_are_told_by_their_function_words() {
        for text in ["Der Zug ist spät, und das Haus ist leer.", "Los trenes llegan tarde a la ciudad."] {
            let marks = TextMarks::of(&[text]);
            assert!(!marks.looks_english() && !marks.is_english(), "{text}: {marks:?}");
        }
        // Lists and texts in other scripts have no function words of either kind.
        for text in ["Garden chairs, green", "火车晚点了", "Юнит сервис"] {
            let marks = TextMarks::of(&[text]);
            assert!(marks.looks_english() && !marks.is_english(), "{text}: {marks:?}");
        }
        // 1 of 25 words is 4 %, 1 of 26 less.
        for (n, expected) in [(24, true), (25, false)] {
            let text = format!("of{}", " granite".repeat(n));
            assert_eq!(TextMarks::of(&[&text]).is_english(), expected, "{n}");
        }
        assert!(!TextMarks::default().is_english() && !TextMarks::default().is_code());
    }

    #[test]
    fn code_is_told_by_signs_that_language_has_not() {
        let of = |text: &str| text.split_whitespace().filter(|token| is_of_code(token)).count();
        for (text, expected) in [
            ("for (idx, row) in rows.iter_mut().enumerate() {", 2),
            ("if (count != NULL && ptr->next) return x;", 4),
            ("def load_file(path): value = readAll(path)", 3),
            ("export PATH=/usr/bin:$PATH", 0),
            ("name=value key=3", 2),
            ("The file(s) at https://example.org/a are (mostly) old; see page 3.", 1),
            ("iPhone and eBay, McDonald and JavaScript: a/b, and/or, 5-6, C++", 2),
            ("She said [to him] that <nothing> is lost.", 0),
        ] {
            assert_eq!(of(text), expected, "{text}");
        }
        let prose = ["She said that the old man (her uncle) had left; nobody knew where to."; 3];
        assert!(!TextMarks::of(&prose).is_code());
    }

    #[test]
    fn a_sample_is_evenly_spaced_and_the_beginning_of_each_text() {
        let mut texts = vec!["und ".repeat(300); 2500];
        texts[0] = "the".to_owned();
        let marks = TextMarks::of(&texts);
        // Every third text: the first is "the", 833 others have 200 words.
        assert_eq!((marks.tokens, marks.english, marks.others), (1 + 833 * 200, 1, 833 * 200));
        let mut sum = TextMarks::of(&["the a_b"]);
        sum += TextMarks::of(&["und x"]);
        assert_eq!(sum, TextMarks { tokens: 4, english: 1, others: 1, code: 1 });
    }

    #[test]
    fn function_words_are_words_of_grammar() {
        for word in ["the", "would", "between", "n't", "’s", "this", "is", "to", "in"] {
            assert!(is_english_function_word(word), "{word}");
        }
        for word in ["printer", "The", "cat", "new", "time", "help", ""] {
            assert!(!is_english_function_word(word), "{word}");
        }
        // The marks of English are words of its grammar.
        assert!(ENGLISH.split_whitespace().all(is_english_function_word));
    }
}
