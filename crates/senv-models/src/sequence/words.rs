//! Vocabularies with an end token and one for unknown words, and sentences in their numbers.

use std::path::{Path, PathBuf};

use senv_core::{Corpus, CorpusOptions, Error as CoreError, Observer, Sentences, TokenId, Tokenizer, Vocabulary};
use serde::{Deserialize, Serialize};

use super::{reading::UNKNOWN, telling::Example};
use crate::{Result, pairs::numbered};

/// The names of the end token and of the one for unknown words, as in the release of Skip-thoughts.
pub(crate) const SPECIAL: [&str; 2] = ["<eos>", "UNK"];

/// What becomes of a sentence that is longer than the limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LongSentences {
    /// Its beginning is read.
    #[default]
    Cut,
    /// The example is left out, as in the release of Skip-thoughts.
    Drop,
}

/// Sentences to learn from.
pub(crate) struct Text {
    pub(crate) vocabulary: Vocabulary,
    /// No longer than the limit.
    pub(crate) sentences: Sentences,
    /// Of each, whether it ends a document.
    pub(crate) ends: Vec<bool>,
    /// Of each, whether it was longer than the limit.
    pub(crate) long: Vec<bool>,
    pub(crate) identity: String,
}

/// The vocabulary of the special tokens and these words, most frequent first, as far as they are kept; and of every word
/// its number in it.
pub(crate) fn assemble(
    words: &Vocabulary,
    n_sentences: u64,
    limit: Option<usize>,
    keep: impl Fn(&str, u64) -> bool,
) -> Result<(Vocabulary, Vec<TokenId>)> {
    let room = limit.map_or(usize::MAX, |limit| limit.saturating_sub(SPECIAL.len()).max(1));
    let (mut kept, mut numbers, mut unknown) = (Vec::new(), Vec::with_capacity(words.len()), 0);
    for (_, token, count) in words.iter() {
        if kept.len() < room && !SPECIAL.contains(&token) && keep(token, count) {
            numbers.push(TokenId((SPECIAL.len() + kept.len()) as u32));
            kept.push((token, count));
        } else {
            numbers.push(UNKNOWN);
            unknown += count;
        }
    }
    if kept.is_empty() {
        let highest = words.counts().iter().copied().max().unwrap_or(0);
        return Err(CoreError::EmptyVocabulary { min_count: 0, distinct: words.len(), highest }.into());
    }
    let special = SPECIAL.into_iter().zip([n_sentences, unknown]);
    let vocabulary = Vocabulary::from_counts(special.chain(kept), words.corpus_tokens() + n_sentences)?;
    Ok((vocabulary, numbers))
}

/// What is asked of a text.
pub(crate) struct Wanted<'a> {
    pub(crate) tokenizer: &'a Tokenizer,
    pub(crate) min_count: u64,
    pub(crate) max_vocabulary: Option<usize>,
    pub(crate) max_tokens: usize,
}

impl Text {
    /// Reads files: a sentence a line, documents separated by blank lines. Unknown words keep their place.
    pub(crate) fn read(
        paths: &[impl AsRef<Path>],
        wanted: &Wanted<'_>,
        options: &CorpusOptions,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let paths: Vec<PathBuf> = paths.iter().map(|path| path.as_ref().to_owned()).collect();
        let options = CorpusOptions {
            tokenizer: wanted.tokenizer.clone(),
            min_count: 1,
            max_vocabulary: None,
            ..options.clone()
        };
        let (words, corpus) = Corpus::read(&paths, &options, observer)?;
        let enough = |_: &str, count: u64| count >= wanted.min_count;
        let (vocabulary, numbers) = assemble(&words, corpus.n_sentences(), wanted.max_vocabulary, enough)?;
        let (all, ends) = numbered(&corpus, |token| Some(numbers[token.index()]))?;
        let identity = format!("{:016x}", corpus.fingerprint());
        Ok(Self::new(vocabulary, &all, ends, wanted.max_tokens, identity))
    }

    pub(crate) fn new(
        vocabulary: Vocabulary,
        all: &Sentences,
        ends: Vec<bool>,
        max_tokens: usize,
        identity: String,
    ) -> Self {
        let (mut sentences, mut long) = (Sentences::new(), Vec::with_capacity(all.len()));
        for sentence in all.iter() {
            long.push(sentence.len() > max_tokens);
            sentences.push(sentence[..sentence.len().min(max_tokens)].iter().copied());
        }
        Self { vocabulary, sentences, ends, long, identity }
    }
}

impl Text {
    /// How many sentences there are.
    pub(crate) fn number(&self) -> Result<u32> {
        let n = self.sentences.len();
        Ok(u32::try_from(n).map_err(|_| CoreError::TooLarge { rows: n, dim: 1 })?)
    }

    /// The examples that may be learnt from, and a note on long sentences.
    pub(crate) fn admitted(
        &self,
        all: Vec<Example>,
        policy: LongSentences,
        max_tokens: usize,
        observer: &dyn Observer,
    ) -> Vec<Example> {
        let is_long = |example: &Example| example.iter().any(|&i| self.long[i as usize]);
        let long = self.long.iter().filter(|&&long| long).count();
        if policy == LongSentences::Cut {
            if long > 0 {
                observer.note(&format!("{long} sentences of more than {max_tokens} tokens were cut"));
            }
            return all;
        }
        let n = all.len();
        let kept: Vec<Example> = all.into_iter().filter(|example| !is_long(example)).collect();
        if kept.len() < n {
            let left_out = n - kept.len();
            observer
                .note(&format!("{left_out} examples with a sentence of more than {max_tokens} tokens were left out"));
        }
        kept
    }
}
