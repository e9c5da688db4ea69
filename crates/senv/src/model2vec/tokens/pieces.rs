//! Normalized text -> the pieces to look up.

use senv_core::Tokenizer;
use serde_json::Value;
use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory};

/// How text is split into pieces.
#[derive(Debug, Clone)]
pub(super) enum Cut {
    /// Whitespace separates, and each punctuation mark is a piece.
    Bert,
    /// Whitespace separates.
    WhitespaceSplit,
    /// Runs of letters, digits and underscores, and runs of punctuation.
    Whitespace,
    /// The rule of a senv tokenizer.
    Own(Tokenizer),
}

impl Cut {
    /// Reads a `pre_tokenizer`; the error names the unsupported part.
    pub(super) fn new(json: &Value) -> Result<Self, String> {
        match json["type"].as_str() {
            Some("BertPreTokenizer") => Ok(Self::Bert),
            Some("WhitespaceSplit") => Ok(Self::WhitespaceSplit),
            Some("Whitespace") => Ok(Self::Whitespace),
            Some("Sequence") => match json["pretokenizers"].as_array().map(Vec::as_slice) {
                Some([one]) => Self::new(one),
                _ => Err("a sequence of pre-tokenizers".into()),
            },
            Some("Split") => {
                let pattern = json["pattern"]["Regex"].as_str();
                let is_removed = json["behavior"] == "Removed" && json["invert"] == true;
                [Tokenizer::words(), Tokenizer::whitespace()]
                    .into_iter()
                    .find(|tokenizer| is_removed && pattern.is_some() && tokenizer.pattern().as_deref() == pattern)
                    .map(Self::Own)
                    .ok_or_else(|| "the pre-tokenizer \"Split\" with a custom pattern".into())
            }
            Some(other) => Err(format!("the pre-tokenizer {other:?}")),
            None => Err("no pre-tokenizer".into()),
        }
    }

    /// Calls `f` with the pieces.
    pub(super) fn for_each(&self, text: &str, mut f: impl FnMut(&str)) {
        match self {
            Self::Own(tokenizer) => tokenizer.for_each(text, &mut String::new(), f),
            Self::WhitespaceSplit => text.split_whitespace().for_each(f),
            Self::Bert => {
                for word in text.split_whitespace() {
                    let mut start = 0;
                    for (at, mark) in word.char_indices().filter(|&(_, c)| is_mark(c)) {
                        let end = at + mark.len_utf8();
                        [&word[start..at], &word[at..end]]
                            .into_iter()
                            .filter(|piece| !piece.is_empty())
                            .for_each(&mut f);
                        start = end;
                    }
                    if start < word.len() {
                        f(&word[start..]);
                    }
                }
            }
            Self::Whitespace => {
                for word in text.split_whitespace() {
                    let mut rest = word;
                    while let Some(first) = rest.chars().next() {
                        let is_other = |c: char| is_word(c) != is_word(first);
                        let end = rest.find(is_other).unwrap_or(rest.len());
                        f(&rest[..end]);
                        rest = &rest[end..];
                    }
                }
            }
        }
    }
}

/// Whether a character is punctuation or an ASCII symbol.
pub(super) fn is_mark(c: char) -> bool {
    c.is_ascii_punctuation() || !c.is_ascii() && c.general_category_group() == GeneralCategoryGroup::Punctuation
}

/// Whether `\w` matches a character.
fn is_word(c: char) -> bool {
    c.is_alphanumeric()
        || matches!(c.general_category(), GeneralCategory::ConnectorPunctuation)
        || c.general_category_group() == GeneralCategoryGroup::Mark
        || matches!(c, '\u{200c}' | '\u{200d}')
}
