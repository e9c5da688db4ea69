//! Text -> tokens.

mod bytes;
mod classes;
mod custom;
mod pattern;
mod script;
mod special;
mod unicode;
mod words;

use serde::{Deserialize, Serialize};

use bytes::low_bytes;
use classes::is_blank;
use custom::Custom;

pub use custom::Tokenize;

/// How a line of text is tokenized. The tokenizer is stored with a model, because a sentence must be tokenized as the
/// training text was.
///
/// There are three rules, each with or without lower-casing:
///
/// * [`Tokenizer::whitespace`] splits at ASCII white space and at nothing else, for text that is tokenized already, as
///   the Sent2Vec release does.
/// * [`Tokenizer::words`] splits plain English as the Penn Treebank does, with one change: a list, not the position,
///   distinguishes the full stop of a sentence from the dot of an abbreviation.
/// * [`Tokenizer::unicode`] finds the words of any script as Unicode does, and takes characters as tokens where a
///   script has no spaces between words. [`Tokenizer::automatic`] chooses between the two by the text.
///
/// [`Tokenizer::custom`] adds one that a program brings itself.
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
/// All rules keep every character that is not white space, and tokenizing the tokens joined by blanks again gives
/// the same tokens. Letters of any script are letters for all rules; text in a script without spaces between words
/// needs `unicode`, or `whitespace` where it was segmented beforehand.
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
    // Not mentioned where they are off, so that files are as they were before there were these choices.
    /// Whether a text may still change the rule; a model holds what was chosen.
    #[serde(default, skip_serializing_if = "is_off")]
    automatic: bool,
    #[serde(default, skip_serializing_if = "is_off")]
    strip_hashtags: bool,
    #[serde(default, skip_serializing_if = "is_off")]
    longest_first: bool,
}

fn is_off(choice: &bool) -> bool {
    !choice
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Rule {
    /// Files from before it had this name say `blank`.
    #[serde(alias = "blank")]
    Whitespace,
    Words,
    Unicode,
    Custom(Custom),
}

impl Tokenizer {
    const fn of(rule: Rule) -> Self {
        Self { rule, lowercase: false, automatic: false, strip_hashtags: false, longest_first: false }
    }

    /// The one that fits the text, chosen when training starts ([`Tokenizer::fitted_to_files`]): [`Tokenizer::unicode`]
    /// for scripts without spaces between words, else [`Tokenizer::words`], which it is until then.
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

    /// Whether the text decides on the rule.
    #[must_use]
    pub const fn is_automatic(&self) -> bool {
        self.automatic
    }

    /// Splits at ASCII white space (blank, tab, vertical tab, form feed, carriage return, line feed) and at the
    /// character NUL. A no-break space stays inside its token.
    #[must_use]
    pub const fn whitespace() -> Self {
        Self::of(Rule::Whitespace)
    }

    /// Splits English text into words, clitics and punctuation. White space is that of Unicode, and with it the
    /// characters that have no glyph: NUL, zero-width spaces, byte order and directional marks.
    #[must_use]
    pub const fn words() -> Self {
        Self::of(Rule::Words)
    }

    /// Finds words by Unicode Standard Annex 29, in any script, and takes a character as a token where a script is
    /// written without spaces between words. White space is that of [`Tokenizer::words`].
    ///
    /// * Han and Hiragana: each character is a token. In Chinese most characters mean something by themselves.
    /// * Katakana: a run is a token, which is nearly always one foreign word; its characters mean nothing.
    /// * Thai, Lao, Khmer, Myanmar: a consonant with the vowels, tone marks and subscript consonants that belong to it,
    ///   which is most of a syllable; in Myanmar with the consonant that ends it. Single characters would be too common
    ///   to distinguish sentences.
    /// * Everything else: words with the joints that Unicode defines (`don't`, `3.14`, `U.S`), one mark or emoji a
    ///   token; runs of one of the marks `.-=+*~#` are one token. English has no clitics, abbreviations, addresses or
    ///   emoticons here.
    #[must_use]
    pub const fn unicode() -> Self {
        Self::of(Rule::Unicode)
    }

    /// Whether text is lower-cased before it is split; off by default.
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

    /// Whether hashtags are taken as words, `tag` for `#tag`, as the programs of PP and CSE look them up; off by
    /// default. A token of nothing but `#` stays. No effect on [`Tokenizer::unicode`], for which `#` is a token of its
    /// own.
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

    /// Whether hashtags are taken as words.
    #[must_use]
    pub const fn strips_hashtags(&self) -> bool {
        self.strip_hashtags
    }

    /// Whether a vocabulary is asked for the longest form first; off by default, and on for word vectors of another
    /// origin, whose words were found by another tokenizer. Tokens that touch each other are looked up together, as
    /// many as are a word of the vocabulary, each form as it stands and then, with [`Tokenizer::lowercase`], in lower
    /// case: `don't` and `C++` are found where they have a row, and else their parts. No effect without a vocabulary
    /// (`Vocabulary::known_tokens`).
    #[must_use]
    pub const fn longest_first(mut self, on: bool) -> Self {
        self.longest_first = on;
        self
    }

    /// Whether a vocabulary is asked for the longest form first.
    #[must_use]
    pub const fn is_longest_first(&self) -> bool {
        self.longest_first
    }

    /// The name of the rule: `whitespace`, `words`, `unicode`, or that of [`Tokenizer::custom`].
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self.rule {
            Rule::Whitespace => "whitespace",
            Rule::Words => "words",
            Rule::Unicode => "unicode",
            Rule::Custom(custom) => custom.name(),
        }
    }

    /// Calls `f` with each token of `text` in order. `scratch` is for the lower-cased text; nothing is allocated
    /// once it has grown to the longest text.
    #[inline]
    pub fn for_each(&self, text: &str, scratch: &mut String, mut f: impl FnMut(&str)) {
        self.for_each_within(text, scratch, |text, start, end| f(&text[start..end]));
    }

    /// As [`Tokenizer::for_each`], with the whole text, lower-cased where the tokenizer does so, and the token as a
    /// byte range of it. Returns that text.
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

    /// The tokens of `text` in order.
    #[must_use]
    pub fn tokens(&self, text: &str) -> Vec<String> {
        let mut tokens = Vec::new();
        self.for_each(text, &mut String::new(), |token| tokens.push(token.to_owned()));
        tokens
    }
}

/// Where the word of a token starts: behind its `#`, unless there is nothing else.
fn word_of_hashtag(text: &str, start: usize, end: usize) -> usize {
    let word = text[start..end].trim_start_matches('#');
    if word.is_empty() { start } else { end - word.len() }
}

/// Calls `f` with start and end of each token between blanks.
#[inline]
fn blank(text: &[u8], mut f: impl FnMut(usize, usize)) {
    let mut start = 0;
    for (chunk, at) in text.chunks(64).zip((0..).step_by(64)) {
        let mut low = low_bytes(chunk);
        while low != 0 {
            let end = at + low.trailing_zeros() as usize;
            low &= low - 1;
            // The other control characters belong to tokens.
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

/// Lower case as Unicode has it (a capital sigma at the end of a word becomes the final one), in `scratch`.
#[doc(hidden)]
pub fn lowercase_into<'a>(text: &'a str, scratch: &'a mut String) -> &'a str {
    scratch.clear();
    let mut rest = text;
    loop {
        let ascii = ascii_prefix(rest.as_bytes());
        let from = scratch.len();
        scratch.push_str(&rest[..ascii]);
        scratch[from..].make_ascii_lowercase();
        rest = &rest[ascii..];
        let mut chars = rest.chars();
        match chars.next() {
            None => return scratch,
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
