//! Vocabularies with an end token and a token for unknown words, and sentences as their ids.

use std::path::{Path, PathBuf};

use senv_core::{
    Corpus, CorpusOptions, Error as CoreError, Observer, Result as CoreResult, Sentences, TokenId, Vocabulary,
    corpus::{SentencesWriter, StoredList, StoredListWriter},
    hyperparameters::named_values,
};
use serde::{Deserialize, Serialize};

use super::objective::{Example, ExampleSet};
use crate::{
    data::{
        read_sentences,
        reading::{END, SPECIAL, UNKNOWN},
    },
    error::{Error, Result},
};

/// The treatment of sentences longer than the limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum LongSentences {
    /// The sentence is cut at the limit.
    #[default]
    Cut,
    /// The example is left out, as in the release of Skip-thoughts.
    Drop,
}

named_values!(LongSentences {
    Cut = "cut": "Cut to the limit",
    Drop = "drop": "Left out, with their example",
});

impl LongSentences {
    /// Notes the treatment of `n_long` sentences that were cut or examples that were left out, each `what` exceeding
    /// the limit: `sentences`, or `pairs with a sentence`.
    ///
    /// # Errors
    /// [`Error::AllTooLong`] if leaving them out leaves no example.
    pub(crate) fn report(
        self,
        (n_long, n_left): (usize, usize),
        what: &str,
        max_tokens: usize,
        observer: &dyn Observer,
    ) -> Result<()> {
        let done = match self {
            Self::Drop if n_long > 0 && n_left == 0 => {
                return Err(Error::AllTooLong { n: n_long, what: what.to_owned(), limit: max_tokens });
            }
            Self::Cut => "cut",
            Self::Drop => "left out",
        };
        if n_long > 0 {
            observer.note(&format!("{n_long} {what} of more than {max_tokens} tokens were {done}"));
        }
        Ok(())
    }
}

/// Returns the vocabulary of the special tokens and these words, most frequent first, if they are frequent enough and
/// kept; and the id of every word. The text has `left_out` more tokens that are not among the words.
pub(crate) fn assemble(
    words: &Vocabulary,
    left_out: u64,
    n_sentences: u64,
    limit: Option<usize>,
    min_count: u64,
    keep: impl Fn(&str) -> bool,
) -> Result<(Vocabulary, Vec<TokenId>)> {
    let room = limit.map_or(usize::MAX, |limit| limit.saturating_sub(SPECIAL.len()).max(1));
    let (mut kept, mut numbers, mut unknown) = (Vec::new(), Vec::with_capacity(words.len()), left_out);
    for (_, token, count) in words.iter() {
        if kept.len() < room && !SPECIAL.contains(&token) && count >= min_count && keep(token) {
            numbers.push(TokenId((SPECIAL.len() + kept.len()) as u32));
            kept.push((token, count));
        } else {
            numbers.push(UNKNOWN);
            unknown += count;
        }
    }
    if kept.is_empty() {
        let highest = words.counts().iter().copied().max().unwrap_or(0);
        return Err(CoreError::EmptyVocabulary { min_count, distinct: words.len(), highest }.into());
    }
    let special = SPECIAL.into_iter().zip([n_sentences, unknown]);
    let vocabulary = Vocabulary::from_counts(special.chain(kept), words.corpus_tokens() + n_sentences)?;
    Ok((vocabulary, numbers))
}

/// Returns the id in `vocabulary` of every word of another text, or that of unknown words.
pub(crate) fn known(vocabulary: &Vocabulary, words: &Vocabulary) -> Vec<TokenId> {
    let number = |token| vocabulary.id(token).filter(|&id| id != END).unwrap_or(UNKNOWN);
    words.iter().map(|(_, token, _)| number(token)).collect()
}

/// Returns every sentence as an example to reconstruct.
pub(crate) fn each_sentence(text: &Text) -> Result<StoredList<Example>> {
    text.examples(text.numbers().filter(|&i| !text.is_blank(i)).map(|i| [i, i, i]))
}

/// Sentences of a training or held-out set.
pub(crate) struct Text {
    /// The sentences, within the limit.
    pub(crate) sentences: Sentences,
    /// For each sentence, whether it ends a document.
    ends: StoredList<u8>,
    /// For each sentence, whether it exceeded the limit.
    long: StoredList<u8>,
    /// The folder of its temporary files.
    folder: Option<PathBuf>,
    pub(crate) identity: String,
}

/// Writes a [`Text`].
pub(crate) struct TextWriter {
    sentences: SentencesWriter,
    ends: StoredListWriter<u8>,
    long: StoredListWriter<u8>,
    folder: Option<PathBuf>,
    max_tokens: usize,
}

impl TextWriter {
    pub(crate) fn new(folder: Option<&Path>, max_tokens: usize) -> CoreResult<Self> {
        let (ends, long) = (StoredListWriter::new(folder), StoredListWriter::new(folder));
        Ok(Self {
            sentences: SentencesWriter::new(folder)?,
            ends,
            long,
            folder: folder.map(Path::to_owned),
            max_tokens,
        })
    }

    /// Appends a sentence, cut at the limit.
    pub(crate) fn push(
        &mut self,
        sentence: impl ExactSizeIterator<Item = TokenId>,
        ends_document: bool,
    ) -> CoreResult<()> {
        self.long.push(u8::from(sentence.len() > self.max_tokens))?;
        self.ends.push(u8::from(ends_document))?;
        self.sentences.push(sentence.take(self.max_tokens))
    }

    pub(crate) fn finish(self, identity: String) -> CoreResult<Text> {
        let (sentences, ends, long) = (self.sentences.finish()?, self.ends.finish()?, self.long.finish()?);
        u32::try_from(sentences.len()).map_err(|_| CoreError::TooLarge { rows: sentences.len(), dim: 1 })?;
        Ok(Text { sentences, ends, long, folder: self.folder, identity })
    }
}

impl Text {
    /// Reads files with one sentence per line and blank lines between documents. `number` assigns an id to each word,
    /// and can return further results. Unknown words keep their position.
    pub(crate) fn read<T>(
        paths: &[impl AsRef<Path>],
        options: &CorpusOptions,
        max_tokens: usize,
        observer: &dyn Observer,
        number: impl FnOnce(&Vocabulary, &Corpus) -> Result<(T, Vec<TokenId>)>,
    ) -> Result<(T, Self)> {
        let paths: Vec<PathBuf> = paths.iter().map(|path| path.as_ref().to_owned()).collect();
        let options = CorpusOptions { keep_unknown: true, ..options.clone() };
        let (words, corpus) = Corpus::read(&paths, &options, observer)?;
        let (more, numbers) = number(&words, &corpus)?;
        let mut text = TextWriter::new(corpus.scratch_dir(), max_tokens)?;
        read_sentences(&corpus, |sentence, ends_document| {
            let number = |token: &TokenId| numbers.get(token.index()).copied().unwrap_or(UNKNOWN);
            text.push(sentence.iter().map(number), ends_document)
        })?;
        Ok((more, text.finish(format!("{:016x}", corpus.fingerprint()))?))
    }

    /// Stores examples in the same way as its sentences.
    pub(crate) fn examples(&self, examples: impl Iterator<Item = Example>) -> Result<StoredList<Example>> {
        let mut writer = StoredListWriter::new(self.folder.as_deref());
        writer.extend(examples)?;
        Ok(writer.finish()?)
    }

    /// Returns the indices of its sentences.
    pub(crate) fn numbers(&self) -> std::ops::Range<u32> {
        0..self.sentences.len() as u32
    }

    /// Whether sentence `i` ends a document.
    pub(crate) fn ends(&self, i: u32) -> bool {
        self.ends[i as usize] != 0
    }

    /// Whether sentence `i` has no token.
    pub(crate) fn is_blank(&self, i: u32) -> bool {
        self.sentences.get(i as usize).is_empty()
    }

    /// Returns the sentences with the usable examples of `all`, and notes long sentences of this `name`.
    ///
    /// # Errors
    /// [`Error::AllTooLong`] if no example is usable because of long sentences.
    pub(crate) fn admit(
        self,
        all: StoredList<Example>,
        policy: LongSentences,
        max_tokens: usize,
        name: &str,
        observer: &dyn Observer,
    ) -> Result<ExampleSet> {
        let (examples, n_long, what) = match policy {
            LongSentences::Cut => (all, self.long.iter().filter(|&&long| long != 0).count(), "sentences"),
            LongSentences::Drop => {
                let is_short = |example: &Example| example.iter().all(|&i| self.long[i as usize] == 0);
                let examples = self.examples(all.iter().copied().filter(is_short))?;
                let left_out = all.len() - examples.len();
                (examples, left_out, "examples with a sentence")
            }
        };
        policy.report((n_long, examples.len()), &format!("{name}{what}"), max_tokens, observer)?;
        Ok(ExampleSet { sentences: self.sentences, examples })
    }
}
