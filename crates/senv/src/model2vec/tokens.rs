//! `tokenizer.json` of Hugging Face's tokenizers: text -> ids, by WordPiece or by whole words.

use std::{collections::HashMap, path::Path};

use senv_core::Error;
use serde::Deserialize;
use serde_json::Value;

use super::{normalizer::Normalizer, pieces::Cut};
use crate::error::Result;

/// A token that is found in the text before it is cut.
#[derive(Debug, Clone, Deserialize)]
struct AddedToken {
    id: u32,
    content: String,
    #[serde(default)]
    single_word: bool,
    /// Whether it is looked for in normalized text.
    #[serde(default)]
    normalized: bool,
}

/// How a piece becomes ids.
#[derive(Debug, Clone)]
enum Lookup {
    /// Words, or their longest parts from left to right; the parts behind the first one are called otherwise.
    WordPiece { prefix: String, max_characters: usize },
    /// Words alone.
    WordLevel,
}

/// Text -> ids.
#[derive(Debug, Clone)]
pub(super) struct Tokens {
    normalizer: Option<Normalizer>,
    cut: Cut,
    lookup: Lookup,
    ids: HashMap<String, u32>,
    added: Vec<AddedToken>,
    unknown: Option<u32>,
}

impl Tokens {
    /// Reads the file at a path.
    pub(super) fn read(path: &Path) -> Result<Self> {
        let bytes = std::fs::read(path).map_err(|e| Error::io("read", path, e))?;
        Self::new(&bytes).map_err(|reason| Error::BadFile { path: path.to_owned(), reason }.into())
    }

    /// The same of its bytes; the error names what is not understood.
    fn new(bytes: &[u8]) -> std::result::Result<Self, String> {
        let json: Value = serde_json::from_slice(bytes).map_err(|error| format!("it is no JSON: {error}"))?;
        let unread = |part: String| format!("its tokenizer has {part}, which senv does not read");
        let normalizer = match &json["normalizer"] {
            Value::Null => None,
            part => Some(Normalizer::deserialize(part).map_err(|_| unread(format!("the normalizer {}", kinds(part))))?),
        };
        let cut = Cut::new(&json["pre_tokenizer"]).map_err(unread)?;
        let model = &json["model"];
        // Older files do not say the type of WordPiece.
        let is_word_piece =
            model["type"] == "WordPiece" || model["type"].is_null() && model["continuing_subword_prefix"].is_string();
        let lookup = match model["type"].as_str() {
            _ if is_word_piece => {
                let prefix = model["continuing_subword_prefix"].as_str().unwrap_or("##").to_owned();
                let max_characters = model["max_input_chars_per_word"].as_u64().unwrap_or(100) as usize;
                Lookup::WordPiece { prefix, max_characters }
            }
            Some("WordLevel") => Lookup::WordLevel,
            other => {
                let of = other.map_or("without a type".to_owned(), |kind| format!("{kind:?}"));
                return Err(unread(format!("a model {of}; of models WordPiece and WordLevel are read")));
            }
        };
        let vocabulary = model["vocab"].as_object().ok_or("its model has no vocabulary")?;
        let id = |(word, id): (&String, &Value)| {
            let id = id.as_u64().and_then(|id| u32::try_from(id).ok());
            id.map(|id| (word.clone(), id)).ok_or_else(|| format!("the id of {word:?} is no whole number"))
        };
        let ids: HashMap<String, u32> = vocabulary.iter().map(id).collect::<std::result::Result<_, _>>()?;
        let added = match &json["added_tokens"] {
            Value::Null => Vec::new(),
            added => Vec::<AddedToken>::deserialize(added).map_err(|error| format!("its added tokens: {error}"))?,
        };
        let unknown = model["unk_token"].as_str().and_then(|word| ids.get(word).copied());
        Ok(Self { normalizer, cut, lookup, ids, added, unknown })
    }

    /// Number of tokens, added ones among them.
    pub(super) fn n_ids(&self) -> usize {
        let new = self.added.iter().filter(|token| self.ids.get(&token.content) != Some(&token.id)).count();
        self.ids.len() + new
    }

    /// Tokens with their ids, added ones among them.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, u32)> {
        let new = self.added.iter().filter(|token| self.ids.get(&token.content) != Some(&token.id));
        let words = self.ids.iter().map(|(word, &id)| (word.as_str(), id));
        words.chain(new.map(|token| (token.content.as_str(), token.id)))
    }

    /// The id of unknown words, which is left out of averages.
    pub(super) fn unknown(&self) -> Option<u32> {
        self.unknown
    }

    /// Whether text is lower-cased.
    pub(super) fn is_lowercase(&self) -> bool {
        let is_lower = |text: &str| self.normalizer.as_ref().is_some_and(|normalizer| normalizer.apply(text) == "a");
        is_lower("A")
    }

    /// Calls `f` with the ids of a text; `None` for an unknown piece.
    pub(super) fn for_each(&self, text: &str, mut f: impl FnMut(Option<u32>)) {
        self.around(text, false, &mut f, &mut |text, f| {
            let normalized = self.normalizer.as_ref().map(|normalizer| normalizer.apply(text));
            let text = normalized.as_deref().unwrap_or(text);
            self.around(text, true, f, &mut |text, f| self.cut.for_each(text, |piece| self.look_up(piece, f)));
        });
    }

    /// Calls `f` with the added tokens of a text that are looked for at this stage, and `of_rest` with the text between them.
    fn around<F: FnMut(Option<u32>)>(
        &self,
        text: &str,
        normalized: bool,
        f: &mut F,
        of_rest: &mut impl FnMut(&str, &mut F),
    ) {
        let mut start = 0;
        while start < text.len() {
            // The first one, and of those that begin there the longest.
            let found = self.added.iter().filter(|token| token.normalized == normalized && !token.content.is_empty());
            let found = found.filter_map(|token| find(&text[start..], token).map(|at| (start + at, token)));
            let found = found.min_by_key(|(at, token)| (*at, std::cmp::Reverse(token.content.len())));
            let Some((at, token)) = found else { break };
            if at > start {
                of_rest(&text[start..at], f);
            }
            f(Some(token.id));
            start = at + token.content.len();
        }
        if start < text.len() {
            of_rest(&text[start..], f);
        }
    }

    fn look_up(&self, piece: &str, f: &mut impl FnMut(Option<u32>)) {
        let Lookup::WordPiece { prefix, max_characters } = &self.lookup else {
            return f(self.ids.get(piece).copied());
        };
        if piece.len() > *max_characters && piece.chars().count() > *max_characters {
            return f(None);
        }
        if let Some(&id) = self.ids.get(piece) {
            return f(Some(id));
        }
        let (mut start, mut parts, mut name) = (0, Vec::new(), String::new());
        while start < piece.len() {
            let ends = piece[start..].char_indices().map(|(at, c)| start + at + c.len_utf8());
            let longest = ends.collect::<Vec<_>>().into_iter().rev().find_map(|end| {
                name.clear();
                if start > 0 {
                    name.push_str(prefix);
                }
                name.push_str(&piece[start..end]);
                self.ids.get(&name).map(|&id| (end, id))
            });
            // One unknown part makes the whole word unknown.
            let Some((end, id)) = longest else { return f(None) };
            parts.push(id);
            start = end;
        }
        parts.into_iter().for_each(|id| f(Some(id)));
    }
}

/// Where a token first stands in a text.
fn find(text: &str, token: &AddedToken) -> Option<usize> {
    let is_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    let stands_alone = |&(at, found): &(usize, &str)| {
        !token.single_word
            || !is_word(text[..at].chars().next_back()) && !is_word(text[at + found.len()..].chars().next())
    };
    text.match_indices(&token.content).find(stands_alone).map(|(at, _)| at)
}

/// The types of a part and of those within it.
fn kinds(part: &Value) -> String {
    let own = part["type"].as_str().unwrap_or("without a type");
    match part["normalizers"].as_array() {
        Some(parts) => format!("{own:?} ({})", parts.iter().map(kinds).collect::<Vec<_>>().join(", ")),
        None => format!("{own:?}"),
    }
}
