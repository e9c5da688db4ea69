//! `tokenizer.json` of Hugging Face's tokenizers: text -> ids.

mod normalizer;
#[cfg(feature = "tokenizers")]
mod other;
mod own;
mod pieces;
mod trie;

use std::path::Path;

use senv_core::Error;

#[cfg(feature = "tokenizers")]
use self::other::OtherTokens;
use self::own::OwnTokens;
use crate::error::Result;

/// Text -> ids.
#[derive(Debug, Clone)]
pub(super) enum Tokens {
    /// WordPiece and WordLevel.
    Own(Box<OwnTokens>),
    /// All others.
    #[cfg(feature = "tokenizers")]
    Other(Box<OtherTokens>),
}

impl Tokens {
    /// Reads the file at a path.
    pub(super) fn read(path: &Path) -> Result<Self> {
        let bytes = std::fs::read(path).map_err(|e| Error::io("read", path, e))?;
        Self::new(&bytes).map_err(|reason| Error::BadFile { path: path.to_owned(), reason }.into())
    }

    /// Reads the bytes of such a file; the error names what is unsupported.
    fn new(bytes: &[u8]) -> std::result::Result<Self, String> {
        let own = OwnTokens::new(bytes).map(|tokens| Self::Own(Box::new(tokens)));
        #[cfg(feature = "tokenizers")]
        let own = own.or_else(|reason| {
            let other = OtherTokens::new(bytes).map(|tokens| Self::Other(Box::new(tokens)));
            other.map_err(|error| format!("{reason}, and the tokenizers crate does not either: {error}"))
        });
        own
    }

    /// Returns the number of tokens, including added ones.
    pub(super) fn n_ids(&self) -> usize {
        match self {
            Self::Own(tokens) => tokens.n_ids(),
            #[cfg(feature = "tokenizers")]
            Self::Other(tokens) => tokens.all().len(),
        }
    }

    /// Returns tokens with their ids, including added ones.
    pub(super) fn all(&self) -> Vec<(&str, u32)> {
        match self {
            Self::Own(tokens) => tokens.iter().collect(),
            #[cfg(feature = "tokenizers")]
            Self::Other(tokens) => tokens.all().iter().map(|(word, id)| (word.as_str(), *id)).collect(),
        }
    }

    /// Returns the id of unknown words, which is left out of averages.
    pub(super) fn unknown(&self) -> Option<u32> {
        match self {
            Self::Own(tokens) => tokens.unknown(),
            #[cfg(feature = "tokenizers")]
            Self::Other(tokens) => tokens.unknown(),
        }
    }

    /// Whether text is lower-cased.
    pub(super) fn is_lowercase(&self) -> bool {
        match self {
            Self::Own(tokens) => tokens.is_lowercase(),
            #[cfg(feature = "tokenizers")]
            Self::Other(tokens) => tokens.is_lowercase(),
        }
    }

    /// Calls `f` with the ids of a text; `None` for an unknown piece. `scratch` is a buffer for pieces that must be
    /// rewritten.
    pub(super) fn for_each(&self, text: &str, scratch: &mut String, f: impl FnMut(Option<u32>)) {
        match self {
            Self::Own(tokens) => tokens.for_each(text, scratch, f),
            #[cfg(feature = "tokenizers")]
            Self::Other(tokens) => tokens.for_each(text, f),
        }
    }
}
