//! Running text: a sentence and the one after it.

use std::path::Path;

use senv_core::{
    Corpus, CorpusOptions, Error as CoreError, Observer, Result as CoreResult, Sentences, TokenId,
    corpus::{BlockBuffer, KeptReading, SentencesWriter, StoredList, StoredListWriter},
    words::VocabularyBuilder,
};

use super::{
    input::{Draft, PairInput, PairOptions, SourceReport},
    source::Groups,
};
use crate::error::Result;

/// Reads a file whose lines are sentences in order, with a blank line between documents. `kept` is where a stopped
/// reading is kept.
pub(super) fn read(
    input: &PairInput,
    options: &PairOptions,
    kept: Option<KeptReading>,
    builder: &mut VocabularyBuilder,
    observer: &dyn Observer,
) -> Result<Draft> {
    let corpus_options = CorpusOptions {
        tokenizer: options.tokenizer.clone(),
        min_count: 1,
        threads: options.threads,
        scratch_dir: options.scratch_dir.clone(),
        invalid_utf8: options.text.invalid_utf8,
        max_line_bytes: options.text.max_line_bytes,
        table: options.text.table.clone(),
        any_expansion: options.text.any_expansion,
        kept,
        ..CorpusOptions::default()
    };
    let (vocabulary, corpus) = Corpus::read(std::slice::from_ref(&input.path), &corpus_options, observer)?;
    let ids: Vec<TokenId> =
        vocabulary.iter().map(|(_, token, count)| TokenId(builder.add_many(token, count))).collect();
    let (sentences, ends) = numbered(&corpus, |token| Some(ids[token.index()]))?;
    let starts = starts(&sentences, &ends, corpus.scratch_dir())?;
    let report = SourceReport::default();
    Ok(Draft { sentences, groups: Groups::Neighbours { starts }, report })
}

/// Passes every sentence of a corpus to `each`, with whether it ends a document.
pub(crate) fn read_sentences(corpus: &Corpus, mut each: impl FnMut(&[TokenId], bool) -> CoreResult<()>) -> Result<()> {
    let mut block = BlockBuffer::default();
    for i in 0..corpus.n_blocks() {
        corpus.read_block(i, &mut block)?;
        for j in 0..block.n_sentences() {
            each(block.sentence(j), block.ends_document(j))?;
        }
    }
    Ok(())
}

/// Returns all sentences of a corpus with renumbered tokens and without unknown ones, and whether each ends a document.
pub(crate) fn numbered(
    corpus: &Corpus,
    renumber: impl Fn(TokenId) -> Option<TokenId>,
) -> Result<(Sentences, StoredList<u8>)> {
    let folder = corpus.scratch_dir();
    let (mut sentences, mut ends) = (SentencesWriter::new(folder)?, StoredListWriter::new(folder));
    read_sentences(corpus, |sentence, ends_document| {
        sentences.push(sentence.iter().filter_map(|&token| renumber(token)))?;
        ends.push(u8::from(ends_document))
    })?;
    Ok((sentences.finish()?, ends.finish()?))
}

/// Returns the sentences with a next one in their document, leaving out equal neighbors.
fn starts(sentences: &Sentences, ends: &[u8], folder: Option<&Path>) -> Result<StoredList<u32>> {
    let n = u32::try_from(sentences.len()).map_err(|_| CoreError::TooLarge { rows: sentences.len(), dim: 1 })?;
    let has_next = |&i: &u32| {
        let (here, next) = (i as usize, i as usize + 1);
        ends[here] == 0 && next < sentences.len() && sentences.get(here) != sentences.get(next)
    };
    let mut starts = StoredListWriter::new(folder);
    starts.extend((0..n).filter(has_next))?;
    Ok(starts.finish()?)
}
