//! Makes texts equal that differ only in how they were typed.
//!
//! Three steps follow each other. `characters` replaces what is outside ASCII: quotes, dashes, spaces, ligatures,
//! characters without a glyph. `runs` shortens repeated marks. `contractions` finds `dont` among the words of
//! [`Tokenizer::words`](super::Tokenizer::words). Most texts are ASCII and need none of it, so a scan over the bytes
//! comes first, and a look at each word.

mod characters;
mod contractions;
mod runs;

use std::cell::Cell;

use serde::{Deserialize, Serialize};

pub(super) use contractions::{CLITICS, Contractions, expand_into, may_be_listed};

/// What is done to a text before it is split into tokens ([`Tokenizer::normalize`](super::Tokenizer::normalize)).
///
/// A sentence can be typed in many ways that mean the same: with a straight or a curly apostrophe, with `...` or `…`.
/// Without normalization these are different tokens with different vectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Normalization {
    /// Text is split as it is. The rule of models from before this setting, of vector files and of papers.
    #[default]
    None,
    /// Forms that differ only in typing become the plain one:
    ///
    /// | typed | becomes |
    /// | --- | --- |
    /// | composed and decomposed letters, ligatures, full-width and styled letters (`ﬁ`, `Ａ`, `𝗔`) | the composed plain letters (NFC) |
    /// | apostrophes: curly, modifier, prime, acute, and a backtick between letters | `'` |
    /// | quotation marks of every kind, ` `` ` and `''`; `「」` stay | `"`, single ones `'` |
    /// | hyphens, en dashes, minus signs, `--` between digits | `-` |
    /// | em dashes, and `--` or `---` between words or spaces | `-` between spaces |
    /// | `…` and runs of `.` | `.` |
    /// | runs of `!` and `?` | `?` if the run has one, otherwise `!` |
    /// | zero-width and directional characters, soft hyphens, variation selectors | nothing |
    /// | spaces outside ASCII | a space |
    /// | `½`, `⁄`, `µ` | `1/2`, `/`, `μ` |
    ///
    /// [`Tokenizer::words`](super::Tokenizer::words) also reads contractions without an apostrophe as those with it:
    /// `dont` is `do` and `n't`. Bare forms that are words of their own (`wont`, `its`, `well`, `were`, `id`, `ill`,
    /// `lets`) stay. `dont` and `im`, which are frequent words in French and German, count only in an English text.
    ///
    /// Numbers (`3.14`, `1,000`), ranges (`1..10`), options (`--help`), paths (`../a`), addresses, `C++` and `:-)`
    /// stay.
    Typing,
}

impl Normalization {
    /// Whether text is split as it is.
    #[must_use]
    pub const fn is_none(&self) -> bool {
        matches!(self, Self::None)
    }

    /// The name: `none` or `typing`.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Typing => "typing",
        }
    }
}

thread_local! {
    /// The buffer of [`with_plain`], whose memory is reused from text to text.
    static PLAIN: Cell<String> = const { Cell::new(String::new()) };
}

/// Calls `f` with the text after the steps that concern characters.
pub(super) fn with_plain<R>(text: &str, f: impl FnOnce(&str) -> R) -> R {
    if is_plain(text.as_bytes()) {
        return f(text);
    }
    let mut plain = PLAIN.take();
    plain.clear();
    let result = f(if fold_into(text, &mut plain) { &plain } else { text });
    PLAIN.set(plain);
    result
}

/// Writes the text after the steps that concern characters to `to`, which is empty, or returns false if it is the text
/// itself.
#[inline(never)]
pub(super) fn fold_into(text: &str, to: &mut String) -> bool {
    if text.chars().all(characters::is_plain) && !may_have_runs(text.as_bytes()) {
        return false;
    }
    match characters::fold(text) {
        Some(folded) => runs::fold_into(&folded, to),
        None => runs::fold_into(text, to),
    }
    if to == text {
        to.clear();
        return false;
    }
    true
}

/// Marks of which two adjacent ones can be a run.
const fn is_mark(byte: u8) -> bool {
    matches!(byte, b',' | b'-' | b'.' | b'!' | b'?' | b'\'')
}

/// Whether a text has neither characters outside ASCII nor backticks nor adjacent marks, so its characters stay.
pub(super) fn is_plain(bytes: &[u8]) -> bool {
    let mut is_after_mark = false;
    bytes.iter().all(|&byte| {
        let was_after_mark = std::mem::replace(&mut is_after_mark, is_mark(byte));
        byte.is_ascii() && byte != b'`' && !(is_after_mark && was_after_mark)
    })
}

/// Like the opposite of [`is_plain`], for a text that may have letters outside ASCII.
fn may_have_runs(bytes: &[u8]) -> bool {
    bytes.contains(&b'`') || bytes.windows(2).any(|pair| is_mark(pair[0]) && is_mark(pair[1]))
}

#[cfg(test)]
mod tests;
