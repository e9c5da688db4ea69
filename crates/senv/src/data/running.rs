//! Running text: a sentence and the one after it.

use senv_core::{
    Corpus, CorpusOptions, Error as CoreError, Observer, Sentences, TokenId,
    words::{BlockBuffer, VocabularyBuilder},
};

use super::{
    input::{Draft, PairInput, PairOptions, SourceReport},
    source::Groups,
};
use crate::error::Result;

/// Reads a file whose lines are sentences in order, a blank line between documents.
pub(super) fn read(
    input: &PairInput,
    options: &PairOptions,
    builder: &mut VocabularyBuilder,
    observer: &dyn Observer,
) -> Result<Draft> {
    let corpus_options = CorpusOptions {
        tokenizer: options.tokenizer.clone(),
        min_count: 1,
        threads: options.threads,
        invalid_utf8: options.text.invalid_utf8,
        max_line_bytes: options.text.max_line_bytes,
        table: options.text.table.clone(),
        ..CorpusOptions::default()
    };
    let (vocabulary, corpus) = Corpus::read(std::slice::from_ref(&input.path), &corpus_options, observer)?;
    let ids: Vec<TokenId> =
        vocabulary.iter().map(|(_, token, count)| TokenId(builder.add_many(token, count))).collect();
    let (sentences, ends) = numbered(&corpus, |token| Some(ids[token.index()]))?;
    let starts = starts(&sentences, &ends)?;
    let report = SourceReport::default();
    Ok(Draft { sentences, groups: Groups::Neighbours { starts }, report })
}

/// All sentences of a corpus with tokens renumbered, unknown ones dropped; and of each whether it ends a document.
pub(crate) fn numbered(
    corpus: &Corpus,
    renumber: impl Fn(TokenId) -> Option<TokenId>,
) -> Result<(Sentences, Vec<bool>)> {
    let (mut sentences, mut ends, mut block) = (Sentences::new(), Vec::new(), BlockBuffer::default());
    for i in 0..corpus.n_blocks() {
        corpus.read_block(i, &mut block)?;
        for j in 0..block.n_sentences() {
            sentences.push(block.sentence(j).iter().filter_map(|&token| renumber(token)));
            ends.push(block.ends_document(j));
        }
    }
    Ok((sentences, ends))
}

/// The sentences with a next one in their document, equal neighbours left out.
fn starts(sentences: &Sentences, ends: &[bool]) -> Result<Vec<u32>> {
    let n = u32::try_from(sentences.len()).map_err(|_| CoreError::TooLarge { rows: sentences.len(), dim: 1 })?;
    let has_next = |&i: &u32| {
        let (here, next) = (i as usize, i as usize + 1);
        !ends[here] && next < sentences.len() && sentences.get(here) != sentences.get(next)
    };
    Ok((0..n).filter(has_next).collect())
}
