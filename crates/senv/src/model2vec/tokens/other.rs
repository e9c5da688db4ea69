//! Tokenizers read by the crate `tokenizers` because senv does not implement them: Unigram, BPE, and any normalizer and
//! pre-tokenizer.

use std::panic::{self, AssertUnwindSafe};

use serde_json::Value;
use tokenizers::Tokenizer;

/// Text -> ids.
#[derive(Debug, Clone)]
pub(in crate::model2vec) struct OtherTokens {
    tokenizer: Tokenizer,
    /// Tokens by id.
    all: Vec<(String, u32)>,
    unknown: Option<u32>,
}

impl OtherTokens {
    /// Reads the bytes of a file. Its truncation and padding are for other models and ignored.
    pub(super) fn new(bytes: &[u8]) -> Result<Self, String> {
        let json: Value = serde_json::from_slice(bytes).map_err(|error| format!("it is not JSON: {error}"))?;
        // Some damaged files make the crate panic.
        let read = panic::catch_unwind(AssertUnwindSafe(|| Tokenizer::from_bytes(bytes)));
        let mut tokenizer = read.map_err(|_| "it is damaged".to_owned())?.map_err(|error| error.to_string())?;
        tokenizer.with_padding(None);
        tokenizer.with_truncation(None).map_err(|error| error.to_string())?;
        let mut all: Vec<(String, u32)> = tokenizer.get_vocab(true).into_iter().collect();
        all.sort_unstable_by(|a, b| (a.1, &a.0).cmp(&(b.1, &b.0)));
        // Unigram has an id; all others have a token.
        let model = &json["model"];
        let unknown = match model["unk_token"].as_str() {
            Some(token) => tokenizer.token_to_id(token),
            None => model["unk_id"].as_u64().and_then(|id| u32::try_from(id).ok()),
        };
        Ok(Self { tokenizer, all, unknown })
    }

    pub(super) fn all(&self) -> &[(String, u32)] {
        &self.all
    }

    pub(super) fn unknown(&self) -> Option<u32> {
        self.unknown
    }

    pub(super) fn is_lowercase(&self) -> bool {
        let ids = |text| {
            let mut ids = Vec::new();
            self.for_each(text, |id| ids.push(id));
            ids
        };
        ids("A") == ids("a")
    }

    /// Calls `f` with the ids of a text. If the tokenizer fails on a text, such as on an unknown word without a token
    /// for those, the text is one unknown piece.
    pub(super) fn for_each(&self, text: &str, mut f: impl FnMut(Option<u32>)) {
        match self.tokenizer.encode_fast(text, false) {
            Ok(encoding) => encoding.get_ids().iter().for_each(|&id| f(Some(id))),
            Err(_) => f(None),
        }
    }
}
