//! Splits text into tokens.

mod bytes;
mod classes;
mod custom;
mod pattern;
mod script;
mod special;
mod typing;
mod unicode;
mod words;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use bytes::low_bytes;
use classes::is_blank;
use custom::Custom;
use typing::{CLITICS, Contractions, may_be_listed};

pub use custom::Tokenize;
pub use typing::Normalization;

/// The rules that split a line of text into tokens. A model stores its tokenizer, because sentences must be tokenized
/// like the training text.
///
/// There are three rules, each with or without lower-casing:
///
/// * [`Tokenizer::whitespace`] splits only at ASCII white space, as the Sent2Vec release does, for text that is already
///   tokenized.
/// * [`Tokenizer::words`] splits plain English like the Penn Treebank, with one change: a list of abbreviations, not
///   the position, decides whether a final period belongs to the word.
/// * [`Tokenizer::unicode`] finds words of any script by the rules of Unicode, and uses characters as tokens in scripts
///   without spaces between words. [`Tokenizer::automatic`] chooses between `words` and `unicode` by the text.
///
/// [`Tokenizer::custom`] adds a tokenizer that a program supplies.
///
/// | text | tokens of `words` |
/// | --- | --- |
/// | `(don't, it's, we'll)` | `(` `do` `n't` `,` `it` `'s` `,` `we` `'ll` `)` |
/// | `cannot` | `can` `not` |
/// | `well-known AT&T O'Brien` | `well-known` `AT&T` `O'Brien` |
/// | `Mr. Hall, U.S., e.g. 3 p.m.` | `Mr.` `Hall` `,` `U.S.` `,` `e.g.` `3` `p.m.` |
/// | `1,234.5 12:30 1/2 -5 'n .5` | `1,234.5` `12:30` `1/2` `-5` `'n` `.5` |
/// | `50% $3 and/or` | `50` `%` `$` `3` `and` `/` `or` |
/// | `great.The end...` | `great` `.` `The` `end` `...` |
/// | `see https://a.org/b_(c), x@y.org` | `see` `https://a.org/b_(c)` `,` `x@y.org` |
/// | `@name #tag :-) <unk> -LRB-` | `@name` `#tag` `:-)` `<unk>` `-LRB-` |
/// | `“No”—1914–18…` | `“` `No` `”` `—` `1914` `–` `18` `…` |
///
/// | text | tokens of `unicode` |
/// | --- | --- |
/// | `我爱北京，2024年` | `我` `爱` `北` `京` `，` `2024` `年` |
/// | `東京タワーに行く` | `東` `京` `タワー` `に` `行` `く` |
/// | `ประเทศไทย` | `ป` `ระ` `เท` `ศ` `ไท` `ย` |
/// | `မြန်မာ` | `မြန်` `မာ` |
/// | `don't well-known U.S. 1,234.5 ...` | `don't` `well` `-` `known` `U.S` `.` `1,234.5` `...` |
///
/// Each rule can follow a normalization ([`Tokenizer::normalize`]), so the same sentence typed differently has the same
/// tokens. [`Tokenizer::for_typed_text`] is the default of training.
///
/// Without it, all rules keep every character that is not white space. Tokenizing the tokens joined by spaces gives the
/// same tokens again. All rules treat letters of any script as letters. Text in a script without spaces between words
/// needs `unicode`, or `whitespace` if it is already segmented.
///
/// ```
/// use senv_core::Tokenizer;
/// let words = Tokenizer::words().lowercase(true);
/// assert_eq!(words.tokens("The cat didn't sit."), ["the", "cat", "did", "n't", "sit", "."]);
/// assert_eq!(Tokenizer::whitespace().tokens("The cat didn't sit."), ["The", "cat", "didn't", "sit."]);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tokenizer {
    rule: Rule,
    lowercase: bool,
    // Omitted if off, so files stay as they were before these options existed.
    /// Whether a text may still change the rule; a model stores the choice.
    #[serde(default, skip_serializing_if = "is_off")]
    automatic: bool,
    #[serde(default, skip_serializing_if = "is_off")]
    strip_hashtags: bool,
    #[serde(default, skip_serializing_if = "is_off")]
    longest_first: bool,
    #[serde(default, skip_serializing_if = "Normalization::is_none")]
    normalization: Normalization,
}

fn is_off(choice: &bool) -> bool {
    !choice
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Rule {
    /// Files from before the current name use `blank`.
    #[serde(alias = "blank")]
    Whitespace,
    Words,
    Unicode,
    Custom(Custom),
}

impl Tokenizer {
    const fn of(rule: Rule) -> Self {
        Self {
            rule,
            lowercase: false,
            automatic: false,
            strip_hashtags: false,
            longest_first: false,
            normalization: Normalization::None,
        }
    }

    /// The default of training: the rule that fits the text ([`Tokenizer::automatic`]), in lower case, after
    /// [`Normalization::Typing`].
    ///
    /// ```
    /// use senv_core::Tokenizer;
    /// let tokenizer = Tokenizer::for_typed_text();
    /// assert_eq!(tokenizer.tokens("I can’t log in…"), tokenizer.tokens("i can't log in."));
    /// ```
    #[must_use]
    pub const fn for_typed_text() -> Self {
        Self::automatic().lowercase(true).normalize(Normalization::Typing)
    }

    /// The rule that fits the text, chosen when training starts ([`Tokenizer::fitted_to_files`]):
    /// [`Tokenizer::unicode`] for scripts without spaces between words, otherwise [`Tokenizer::words`]. Until then it
    /// acts as [`Tokenizer::words`].
    ///
    /// ```
    /// use senv_core::{NoObserver, Tokenizer};
    /// let tokenizer = Tokenizer::automatic().lowercase(true);
    /// assert_eq!(tokenizer.tokens("It rains."), ["it", "rains", "."]);
    /// assert_eq!(tokenizer.fitted_to_text(["今日は雨です。"], &NoObserver), Tokenizer::unicode().lowercase(true));
    /// ```
    #[must_use]
    pub const fn automatic() -> Self {
        Self { automatic: true, ..Self::of(Rule::Words) }
    }

    /// Whether the text determines the rule.
    #[must_use]
    pub const fn is_automatic(&self) -> bool {
        self.automatic
    }

    /// Splits at ASCII white space (space, tab, vertical tab, form feed, carriage return, line feed) and NUL. A
    /// no-break space stays inside its token.
    #[must_use]
    pub const fn whitespace() -> Self {
        Self::of(Rule::Whitespace)
    }

    /// Splits English text into words, clitics and punctuation. White space is that of Unicode plus characters without
    /// a glyph: NUL, zero-width spaces, byte order marks and directional marks.
    #[must_use]
    pub const fn words() -> Self {
        Self::of(Rule::Words)
    }

    /// Finds words in any script by Unicode Standard Annex 29, and uses characters as tokens in scripts without spaces
    /// between words. White space is the same as for [`Tokenizer::words`].
    ///
    /// * Han and Hiragana: each character is a token. In Chinese, most characters have a meaning of their own.
    /// * Katakana: a run is a token, usually one foreign word. Its characters have no meaning of their own.
    /// * Thai, Lao, Khmer, Myanmar: a consonant with its vowels, tone marks and subscript consonants, which is most of
    ///   a syllable; in Myanmar also the consonant that ends it. Single characters would be too common to distinguish
    ///   sentences.
    /// * Everything else: words, including the connecting characters that Unicode defines (`don't`, `3.14`, `U.S`), and
    ///   one token per mark or emoji. A run of one of the marks `.-=+*~#` is one token. This rule has no English
    ///   clitics, abbreviations, addresses or emoticons.
    #[must_use]
    pub const fn unicode() -> Self {
        Self::of(Rule::Unicode)
    }

    /// Sets whether text is lower-cased before it is split; off by default.
    #[must_use]
    pub const fn lowercase(mut self, on: bool) -> Self {
        self.lowercase = on;
        self
    }

    /// Whether text is lower-cased.
    #[must_use]
    pub const fn is_lowercase(&self) -> bool {
        self.lowercase
    }

    /// Sets what is done to text before it is lower-cased and split; nothing by default. A model file stores it, and
    /// has a format version that earlier readers refuse, as they would find other tokens.
    ///
    /// ```
    /// use senv_core::{Tokenizer, text::Normalization};
    /// let words = Tokenizer::words().normalize(Normalization::Typing);
    /// assert_eq!(words.tokens("“Don’t!!!”"), ["\"", "Do", "n't", "!", "\""]);
    /// assert_eq!(words.tokens("It isnt"), ["It", "is", "n't"]);
    /// ```
    #[must_use]
    pub const fn normalize(mut self, normalization: Normalization) -> Self {
        self.normalization = normalization;
        self
    }

    /// What is done to text before it is lower-cased and split.
    #[must_use]
    pub const fn normalization(&self) -> Normalization {
        self.normalization
    }

    /// The text that this tokenizer splits, before it is lower-cased: `text` itself if the normalization changes
    /// nothing, otherwise its plain form, written to `buffer` (cleared first).
    ///
    /// ```
    /// use senv_core::{Tokenizer, text::Normalization};
    /// let words = Tokenizer::words().normalize(Normalization::Typing);
    /// let mut buffer = String::new();
    /// assert_eq!(words.normalized("It isn’t here…", &mut buffer), "It isn't here.");
    /// assert_eq!(words.normalized("dont wait", &mut buffer), "don't wait");
    /// assert_eq!(Tokenizer::words().normalized("It isn’t here…", &mut buffer), "It isn’t here…");
    /// ```
    pub fn normalized<'t>(&self, text: &'t str, buffer: &'t mut String) -> &'t str {
        if self.normalization.is_none() {
            return text;
        }
        buffer.clear();
        let is_folded = !typing::is_plain(text.as_bytes()) && typing::fold_into(text, buffer);
        let folded = is_folded.then(|| std::mem::take(buffer));
        let is_words = matches!(self.rule, Rule::Words);
        if is_words && typing::expand_into(folded.as_deref().unwrap_or(text), buffer) {
            return buffer;
        }
        match folded {
            Some(folded) => {
                *buffer = folded;
                buffer
            }
            None => text,
        }
    }

    /// Whether a tokenizer in a model's JSON configuration has a normalization, at any depth. Such a file has format
    /// version 2.
    #[must_use]
    pub fn normalizes_in(configuration: &str) -> bool {
        // Most configurations have none; these are not parsed.
        let names_one = configuration.contains("\"normalization\"");
        names_one && serde_json::from_str(configuration).is_ok_and(|json| normalizes(&json))
    }

    /// Sets whether hashtags are read as words, `tag` for `#tag`, as the programs of PP and CSE look them up; off by
    /// default. A token of only `#` stays. Has no effect on [`Tokenizer::unicode`], for which `#` is a separate token.
    ///
    /// ```
    /// let words = senv_core::Tokenizer::words().strip_hashtags(true);
    /// assert_eq!(words.tokens("#rain in #Rome # 1"), ["rain", "in", "Rome", "#", "1"]);
    /// ```
    #[must_use]
    pub const fn strip_hashtags(mut self, on: bool) -> Self {
        self.strip_hashtags = on;
        self
    }

    /// Whether hashtags are read as words.
    #[must_use]
    pub const fn strips_hashtags(&self) -> bool {
        self.strip_hashtags
    }

    /// Sets whether the longest form found in the vocabulary is preferred. Off by default, and on for word vectors from
    /// other programs, whose words come from another tokenizer. Adjacent tokens without white space between them are
    /// joined if the vocabulary contains the result. Each form is looked up unchanged, then, with
    /// [`Tokenizer::lowercase`], in lower case. So `don't` and `C++` are found if they have a row, and otherwise their
    /// parts. Has no effect without a vocabulary (`Vocabulary::known_tokens`).
    #[must_use]
    pub const fn longest_first(mut self, on: bool) -> Self {
        self.longest_first = on;
        self
    }

    /// Whether the longest form found in the vocabulary is preferred.
    #[must_use]
    pub const fn is_longest_first(&self) -> bool {
        self.longest_first
    }

    /// The name of the rule: `whitespace`, `words`, `unicode`, or the one given to [`Tokenizer::custom`].
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self.rule {
            Rule::Whitespace => "whitespace",
            Rule::Words => "words",
            Rule::Unicode => "unicode",
            Rule::Custom(custom) => custom.name(),
        }
    }

    /// Calls `f` with each token of `text` in order. `scratch` is a buffer for the lower-cased text; once it has grown
    /// to the longest text, nothing is allocated.
    #[inline]
    pub fn for_each(&self, text: &str, scratch: &mut String, mut f: impl FnMut(&str)) {
        self.for_each_within(text, scratch, |text, start, end| f(&text[start..end]));
    }

    /// Like [`Tokenizer::for_each`], but also passes the whole text, lower-cased if the tokenizer does so, and the byte
    /// range of the token in it. Returns that text.
    #[inline]
    #[doc(hidden)]
    pub fn for_each_within<'t>(
        &self,
        text: &'t str,
        scratch: &'t mut String,
        mut f: impl FnMut(&str, usize, usize),
    ) -> &'t str {
        let strips = self.strip_hashtags;
        let mut f = |text: &str, start: usize, end: usize| {
            f(text, if strips { word_of_hashtag(text, start, end) } else { start }, end);
        };
        if !self.normalization.is_none() {
            self.for_each_typed(text, scratch, f);
            return scratch;
        }
        if let Rule::Custom(custom) = self.rule {
            return custom.for_each_within(text, self.lowercase, scratch, &mut f);
        }
        let text = if self.lowercase { lowercase_into(text, scratch) } else { text };
        match self.rule {
            Rule::Whitespace => blank(text.as_bytes(), |start, end| f(text, start, end)),
            Rule::Words => words::for_each(text, f),
            Rule::Unicode => unicode::for_each(text, |start, end| f(text, start, end)),
            Rule::Custom(_) => {}
        }
        text
    }

    /// Like [`Tokenizer::for_each_within`], after the normalization; the whole text is in `scratch`.
    #[inline]
    fn for_each_typed(&self, text: &str, scratch: &mut String, mut f: impl FnMut(&str, usize, usize)) {
        if matches!(self.rule, Rule::Words) {
            return self.for_each_typed_word(text, scratch, f);
        }
        typing::with_plain(text, |text| match self.rule {
            Rule::Custom(custom) => {
                custom.for_each_within(text, self.lowercase, scratch, &mut f);
            }
            _ => {
                scratch.clear();
                self.copy_onto(text, scratch);
                let whole = scratch.as_str();
                let each = |start, end| f(whole, start, end);
                if matches!(self.rule, Rule::Unicode) {
                    unicode::for_each(whole, each);
                } else {
                    blank(whole.as_bytes(), each);
                }
            }
        });
    }

    /// Like [`Tokenizer::for_each_typed`], for the rule `words`. The text is normalized from the first piece on that
    /// can change, or that is not ASCII.
    #[inline]
    fn for_each_typed_word(&self, text: &str, scratch: &mut String, mut f: impl FnMut(&str, usize, usize)) {
        scratch.clear();
        scratch.push_str(CLITICS);
        scratch.push_str(text);
        if self.lowercase {
            scratch[CLITICS.len()..].make_ascii_lowercase();
        }
        let Some(at) = each_typed_word(scratch, 0, |piece| !typing::is_plain(piece), &mut f) else { return };
        scratch.truncate(CLITICS.len() + at);
        typing::with_plain(&text[at..], |rest| self.copy_onto(rest, scratch));
        each_word_of_rest(scratch, at, &mut f);
    }

    /// Appends a text, lower-cased if the tokenizer does so.
    fn copy_onto(&self, text: &str, scratch: &mut String) {
        if self.lowercase {
            lowercase_onto(text, scratch);
        } else {
            scratch.push_str(text);
        }
    }

    /// Returns the tokens of `text` in order.
    #[must_use]
    pub fn tokens(&self, text: &str) -> Vec<String> {
        let mut tokens = Vec::new();
        self.for_each(text, &mut String::new(), |token| tokens.push(token.to_owned()));
        tokens
    }
}

/// Calls `f` with the words of a text from byte `at` on, up to a piece for which `ends` returns true; returns where
/// that is. `whole` is the second parts of contractions followed by the text, so all tokens are ranges of it.
#[inline]
fn each_typed_word(
    whole: &str,
    at: usize,
    ends: impl Fn(&[u8]) -> bool,
    f: &mut impl FnMut(&str, usize, usize),
) -> Option<usize> {
    let contractions = Contractions::of(&whole[CLITICS.len()..]);
    let offset = CLITICS.len() + at;
    let found = words::for_each_until(&whole[offset..], ends, |_, start, end| {
        let (from, to) = (offset + start, offset + end);
        if may_be_listed(&whole.as_bytes()[from..to]) {
            each_part(whole, from, to, &contractions, f);
        } else {
            f(whole, from, to);
        }
    });
    found.map(|start| at + start)
}

/// Like [`each_typed_word`], up to the end.
#[cold]
#[inline(never)]
fn each_word_of_rest(whole: &str, at: usize, f: &mut impl FnMut(&str, usize, usize)) {
    each_typed_word(whole, at, |_| false, f);
}

/// Calls `f` with the parts of a word that may be a contraction, or with the word. Few words come here, so the code for
/// all others is short.
#[cold]
#[inline(never)]
fn each_part(
    whole: &str,
    from: usize,
    to: usize,
    contractions: &Contractions<'_>,
    f: &mut impl FnMut(&str, usize, usize),
) {
    match contractions.find(from - CLITICS.len(), to - CLITICS.len()) {
        Some((bare, (clitic_start, clitic_end))) => {
            f(whole, from, to - bare);
            f(whole, clitic_start, clitic_end);
        }
        None => f(whole, from, to),
    }
}

/// Whether a JSON value has a tokenizer with a normalization.
fn normalizes(value: &Value) -> bool {
    match value {
        Value::Object(object) => {
            let is_tokenizer = object.contains_key("rule") && object.contains_key("lowercase");
            let normalization = object.get("normalization").and_then(Value::as_str);
            is_tokenizer && normalization.is_some_and(|name| name != Normalization::None.name())
                || object.values().any(normalizes)
        }
        Value::Array(values) => values.iter().any(normalizes),
        _ => false,
    }
}

/// The start of the word in a token: after its `#`, unless there is nothing else.
fn word_of_hashtag(text: &str, start: usize, end: usize) -> usize {
    let word = text[start..end].trim_start_matches('#');
    if word.is_empty() { start } else { end - word.len() }
}

/// Calls `f` with the start and end of each token between white space.
#[inline]
fn blank(text: &[u8], mut f: impl FnMut(usize, usize)) {
    let mut start = 0;
    for (chunk, at) in text.chunks(64).zip((0..).step_by(64)) {
        let mut low = low_bytes(chunk);
        while low != 0 {
            let end = at + low.trailing_zeros() as usize;
            low &= low - 1;
            // Other control characters belong to tokens.
            if !is_blank(text[end]) {
                continue;
            }
            if end > start {
                f(start, end);
            }
            start = end + 1;
        }
    }
    if start < text.len() {
        f(start, text.len());
    }
}

/// Lower-cases text into `scratch` by the rules of Unicode; a capital sigma at the end of a word becomes a final sigma.
#[doc(hidden)]
pub fn lowercase_into<'a>(text: &'a str, scratch: &'a mut String) -> &'a str {
    scratch.clear();
    lowercase_onto(text, scratch);
    scratch
}

/// Appends the lower-cased text.
fn lowercase_onto(text: &str, scratch: &mut String) {
    let mut rest = text;
    loop {
        let ascii = ascii_prefix(rest.as_bytes());
        let from = scratch.len();
        scratch.push_str(&rest[..ascii]);
        scratch[from..].make_ascii_lowercase();
        rest = &rest[ascii..];
        let mut chars = rest.chars();
        match chars.next() {
            None => return,
            Some('Σ') if ends_word(scratch, chars.as_str()) => scratch.push('ς'),
            Some(c) => scratch.extend(c.to_lowercase()),
        }
        rest = chars.as_str();
    }
}

fn ascii_prefix(bytes: &[u8]) -> usize {
    let whole: usize = bytes.chunks(32).take_while(|chunk| chunk.is_ascii()).map(<[u8]>::len).sum();
    whole + bytes[whole..].iter().take_while(|byte| byte.is_ascii()).count()
}

fn ends_word(before: &str, after: &str) -> bool {
    before.chars().next_back().is_some_and(char::is_alphabetic)
        && !after.chars().next().is_some_and(char::is_alphabetic)
}

#[cfg(test)]
mod tests;
