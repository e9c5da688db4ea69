//! Tokenizers of the types WordPiece and WordLevel.

use std::collections::HashMap;

use senv_core::Vocabulary;
use serde::Deserialize;
use serde_json::Value;

use super::{normalizer::Normalizer, pieces::Cut, trie::Trie};

/// A token that is found in the text before it is split.
#[derive(Debug, Clone, Deserialize)]
struct AddedToken {
    id: u32,
    content: String,
    #[serde(default)]
    single_word: bool,
    /// Whether it is searched for in normalized text.
    #[serde(default)]
    normalized: bool,
}

/// A hint about what can read the others.
const HINT: &str = if cfg!(feature = "tokenizers") { "" } else { "; a build with the feature `tokenizers` reads more" };

/// Subwords: the longest are taken from left to right, and those after the first one have names with a prefix.
#[derive(Debug, Clone)]
struct Parts {
    /// The number of characters of the longest word that is split.
    max_characters: usize,
    first: Trie,
    behind: Trie,
}

/// Text -> ids.
#[derive(Debug, Clone)]
pub(in crate::model2vec) struct OwnTokens {
    normalizer: Option<Normalizer>,
    cut: Cut,
    /// The subwords of WordPiece; without them, whole words are looked up.
    parts: Option<Parts>,
    /// The words, and the id of each.
    words: Vocabulary,
    ids: Vec<u32>,
    added: Vec<AddedToken>,
    /// The first bytes of added tokens.
    beginnings: Vec<u8>,
    unknown: Option<u32>,
}

impl OwnTokens {
    /// Reads the bytes of a file; the error names what is unsupported.
    pub(super) fn new(bytes: &[u8]) -> std::result::Result<Self, String> {
        let json: Value = serde_json::from_slice(bytes).map_err(|error| format!("it is not JSON: {error}"))?;
        let unread = |part: String| format!("its tokenizer has {part}, which senv does not read{HINT}");
        let normalizer = match &json["normalizer"] {
            Value::Null => None,
            part => Some(Normalizer::deserialize(part).map_err(|_| unread(format!("the normalizer {}", kinds(part))))?),
        };
        let cut = Cut::new(&json["pre_tokenizer"]).map_err(unread)?;
        let model = &json["model"];
        // Older files do not state the type of WordPiece.
        let is_word_piece =
            model["type"] == "WordPiece" || model["type"].is_null() && model["continuing_subword_prefix"].is_string();
        match model["type"].as_str() {
            _ if is_word_piece => {}
            Some("WordLevel") => {}
            other => {
                let of = other.map_or("without a type".to_owned(), |kind| format!("{kind:?}"));
                return Err(unread(format!("a model {of} (only WordPiece and WordLevel are supported)")));
            }
        }
        let vocabulary = model["vocab"].as_object().ok_or("its model has no vocabulary")?;
        let id = |(word, id): (&String, &Value)| {
            let id = id.as_u64().and_then(|id| u32::try_from(id).ok());
            id.map(|id| (word.clone(), id))
                .ok_or_else(|| format!("the id of {word} is not an integer", word = senv_core::quoted(word)))
        };
        let ids: HashMap<String, u32> = vocabulary.iter().map(id).collect::<std::result::Result<_, _>>()?;
        let added = match &json["added_tokens"] {
            Value::Null => Vec::new(),
            added => Vec::<AddedToken>::deserialize(added).map_err(|error| format!("bad added tokens: {error}"))?,
        };
        let unknown = model["unk_token"].as_str().and_then(|word| ids.get(word).copied());
        // Tokenizers number subwords from the most frequent to the rarest, and a vocabulary finds its most frequent
        // words fastest.
        let most = ids.values().copied().max().map_or(0, u64::from) + 1;
        let counts: Vec<(&String, u64)> = ids.iter().map(|(word, &id)| (word, most - u64::from(id))).collect();
        let n = counts.iter().map(|(_, count)| count).sum();
        let words = Vocabulary::from_counts(counts, n);
        let words = words.map_err(|error| error.to_string())?;
        let parts = is_word_piece.then(|| {
            let prefix = model["continuing_subword_prefix"].as_str().unwrap_or("##");
            let max_characters = model["max_input_chars_per_word"].as_u64().unwrap_or(100) as usize;
            let all = || ids.iter().map(|(word, &id)| (word.as_str(), id));
            let behind = all().filter_map(|(word, id)| Some((word.strip_prefix(prefix)?, id)));
            Parts { max_characters, first: Trie::new(all()), behind: Trie::new(behind) }
        });
        let ids = words.iter().map(|(_, word, _)| ids[word]).collect();
        let mut beginnings: Vec<u8> = added.iter().filter_map(|token| token.content.bytes().next()).collect();
        beginnings.sort_unstable();
        beginnings.dedup();
        Ok(Self { normalizer, cut, parts, words, ids, added, beginnings, unknown })
    }

    /// Returns the number of tokens, including added ones.
    pub(super) fn n_ids(&self) -> usize {
        self.ids.len() + self.new_tokens().count()
    }

    /// Returns tokens with their ids, including added ones.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, u32)> {
        let words = self.words.iter().zip(&self.ids).map(|((_, word, _), &id)| (word, id));
        words.chain(self.new_tokens().map(|token| (token.content.as_str(), token.id)))
    }

    /// Returns added tokens that are not words of the model.
    fn new_tokens(&self) -> impl Iterator<Item = &AddedToken> {
        self.added.iter().filter(|token| self.id(&token.content) != Some(token.id))
    }

    fn id(&self, word: &str) -> Option<u32> {
        self.words.id(word).map(|place| self.ids[place.index()])
    }

    /// Returns the id of unknown words, which is left out of averages.
    pub(super) fn unknown(&self) -> Option<u32> {
        self.unknown
    }

    /// Whether text is lower-cased.
    pub(super) fn is_lowercase(&self) -> bool {
        let is_lower = |text: &str| self.normalizer.as_ref().is_some_and(|normalizer| normalizer.apply(text) == "a");
        is_lower("A")
    }

    /// Calls `f` with the ids of a text; `None` for an unknown piece.
    pub(super) fn for_each(&self, text: &str, piece: &mut String, mut f: impl FnMut(Option<u32>)) {
        let is_bert = matches!((&self.normalizer, &self.cut), (Some(Normalizer::Bert { .. }), Cut::Bert));
        let has_normalized = self.added.iter().any(|token| token.normalized);
        let mut parts = Vec::new();
        self.around(text, false, &mut f, &mut |text, f| {
            if let Some(normalizer) = self.normalizer.as_ref().filter(|_| is_bert && !has_normalized) {
                return normalizer.pieces_of_bert(text, piece, |piece| self.look_up(piece, &mut parts, f));
            }
            let normalized = self.normalizer.as_ref().map(|normalizer| normalizer.apply(text));
            let text = normalized.as_deref().unwrap_or(text);
            self.around(text, true, f, &mut |text, f| {
                self.cut.for_each(text, |piece| self.look_up(piece, &mut parts, f))
            });
        });
    }

    /// Calls `f` with the added tokens of a text that are searched for at this stage, and `of_rest` with the text
    /// between them.
    fn around<F: FnMut(Option<u32>)>(
        &self,
        text: &str,
        normalized: bool,
        f: &mut F,
        of_rest: &mut impl FnMut(&str, &mut F),
    ) {
        let mut start = 0;
        while start < text.len() && self.may_hold_added(&text.as_bytes()[start..]) {
            // The first one, or the longest of those that start at the same position.
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

    /// Whether the text contains a byte with which an added token starts.
    fn may_hold_added(&self, text: &[u8]) -> bool {
        let is_there = match self.beginnings[..] {
            [] => None,
            [a] => memchr::memchr(a, text),
            [a, b] => memchr::memchr2(a, b, text),
            [a, b, c] => memchr::memchr3(a, b, c, text),
            _ => text.iter().position(|byte| self.beginnings.contains(byte)),
        };
        is_there.is_some()
    }

    fn look_up(&self, piece: &str, parts: &mut Vec<u32>, f: &mut impl FnMut(Option<u32>)) {
        let Some(Parts { max_characters, first, behind }) = &self.parts else {
            return f(self.id(piece));
        };
        if piece.len() > *max_characters && piece.chars().count() > *max_characters {
            return f(None);
        }
        if let Some(id) = self.id(piece) {
            return f(Some(id));
        }
        parts.clear();
        let (mut rest, mut trie) = (piece.as_bytes(), first);
        while !rest.is_empty() {
            // One unknown part makes the whole word unknown.
            let Some((n, id)) = trie.longest(rest) else { return f(None) };
            parts.push(id);
            rest = &rest[n..];
            trie = behind;
        }
        parts.iter().for_each(|&id| f(Some(id)));
    }
}

/// Finds the first occurrence of a token in a text.
fn find(text: &str, token: &AddedToken) -> Option<usize> {
    let is_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    let stands_alone = |&(at, found): &(usize, &str)| {
        !token.single_word
            || !is_word(text[..at].chars().next_back()) && !is_word(text[at + found.len()..].chars().next())
    };
    text.match_indices(&token.content).find(stands_alone).map(|(at, _)| at)
}

/// Returns the types of a part and of those within it.
fn kinds(part: &Value) -> String {
    let own = part["type"].as_str().unwrap_or("without a type");
    match part["normalizers"].as_array() {
        Some(parts) => format!("{own:?} ({})", parts.iter().map(kinds).collect::<Vec<_>>().join(", ")),
        None => format!("{own:?}"),
    }
}
