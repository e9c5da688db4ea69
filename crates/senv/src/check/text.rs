//! The sentences to check a model on: a sample of a text, in runs of consecutive sentences.

use std::path::Path;

use rand::RngExt;
use senv_core::{
    Corpus, Sentences, TextOptions, TextReader, TokenId, Vocabulary,
    corpus::BlockBuffer,
    rng::{Stream, stream},
};

use super::{CheckParams, pair_ranks::HeldOutPairs};
use crate::{
    data::{PairData, PairSource},
    error::Result,
};

/// Sentences per run, of which seven of eight are followed by their next sentence.
const RUN: u64 = 8;
/// One sentence in this many is held out of training.
const HELD_OUT_SHARE: u64 = 100;
/// None are held out if they would be fewer than this, which gives a probability accurate to about 0.02.
const MIN_HELD_OUT: u64 = 320;
/// The maximum number held out: the size of the sample of the training text.
const MAX_HELD_OUT: u64 = 4_000;

/// A sample of a text, in order, that records which sentences follow one another.
///
/// Longer texts are sampled in runs of eight consecutive sentences, chosen by the seed.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CheckText {
    pub(super) sentences: Vec<String>,
    /// Whether the next sentence of the sample is the next one of the same document.
    pub(super) goes_on: Vec<bool>,
    /// The number of documents of the whole text.
    pub(super) n_documents: u64,
    /// The share of unknown words in the whole text, if the sample contains only known ones.
    pub(super) unknown: Option<f64>,
    /// The words of the whole text, if it is the training text.
    pub(super) training_words: Option<u64>,
    /// The number of sentences at the end of the sample that were held out of training.
    pub(super) n_held_out: usize,
    /// Pairs that were held out of training.
    pub(super) held_out_pairs: HeldOutPairs,
}

impl CheckText {
    /// Creates a sample of all sentences of these documents.
    ///
    /// ```
    /// use senv::check::CheckText;
    /// let text = CheckText::new([["It rained all day.", "The river rose."], ["A dog barked.", "A cat ran."]]);
    /// assert_eq!(text.n_sentences(), 4);
    /// ```
    #[must_use]
    pub fn new<S: Into<String>>(documents: impl IntoIterator<Item = impl IntoIterator<Item = S>>) -> Self {
        let mut text = Self::default();
        for document in documents {
            document.into_iter().for_each(|sentence| text.push(sentence.into(), true));
            text.end_run();
            text.n_documents += 1;
        }
        text
    }

    /// Samples sentences in memory, evenly spaced, none next to another; `None` if there are none.
    pub(crate) fn of_lone_sentences<'a>(
        sentences: impl ExactSizeIterator<Item = &'a str>,
        params: &CheckParams,
    ) -> Option<Self> {
        let (mut text, total) = (Self { n_documents: 1, ..Self::default() }, sentences.len());
        let n = total.min(params.n_sentences);
        let mut places = (0..n).map(|i| i * total / n).peekable();
        for (i, sentence) in sentences.enumerate() {
            if places.next_if_eq(&i).is_some() {
                text.push(sentence.to_owned(), false);
            }
        }
        (n > 0).then_some(text)
    }

    /// Samples sentences of tokens in the same way.
    pub(crate) fn of_tokens(sentences: &Sentences, vocabulary: &Vocabulary, params: &CheckParams) -> Option<Self> {
        let (n, total) = (sentences.len().min(params.n_sentences), sentences.len());
        let lines: Vec<String> = (0..n).map(|i| joined(sentences.get(i * total / n), vocabulary)).collect();
        Self::of_lone_sentences(lines.iter().map(String::as_str), params)
    }

    /// Uses all sentences of these files: one per line, with a line without text between documents.
    pub(crate) fn of_lines<'a>(files: impl IntoIterator<Item = &'a [String]>) -> Self {
        let documents = files.into_iter().flat_map(|lines| lines.split(|line| line.trim().is_empty()));
        Self::new(documents.filter(|lines| !lines.is_empty()).map(|lines| lines.iter().map(String::as_str)))
    }

    /// Samples text files: one sentence per line, with a line without text between documents; plain, `.gz`, `.zst` or
    /// `-`. The files are read to their end, but only the sample stays in memory.
    ///
    /// # Errors
    /// [`senv_core::Error::Io`] if a file cannot be read; an error if the text cannot be used.
    pub fn read(paths: &[impl AsRef<Path>], options: &TextOptions, params: &CheckParams) -> Result<Self> {
        let n_runs = params.n_sentences.div_ceil(RUN as usize).max(1) as u64;
        let mut rng = stream(params.seed, "check text", &[]);
        // Runs with their position in the text. Each run of the text is kept with the same probability.
        let mut kept: Vec<(u64, Self)> = Vec::new();
        let (mut number, mut n_documents) = (0, 0);
        let mut keep = |run: Self| {
            if number < n_runs {
                kept.push((number, run));
            } else if let Some(place) = Some(rng.random_range(0..=number)).filter(|&place| place < n_runs) {
                kept[place as usize] = (number, run);
            }
            number += 1;
        };
        for path in paths {
            let mut reader = TextReader::open(&[path], options)?;
            let (mut run, mut in_document) = (Self::default(), false);
            while let Some(line) = reader.next_line()? {
                if line.is_blank() {
                    run.end_run();
                    in_document = false;
                    continue;
                }
                n_documents += u64::from(!in_document);
                in_document = true;
                // A run ends when the next one starts, so a text shorter than the sample keeps all of its neighbors.
                if run.n_sentences() as u64 == RUN {
                    keep(std::mem::take(&mut run));
                }
                run.push(line.text.to_owned(), true);
            }
            if run.n_sentences() > 0 {
                run.end_run();
                keep(run);
            }
        }
        kept.sort_unstable_by_key(|&(number, _)| number);
        let mut text = Self { n_documents, ..Self::default() };
        let mut last = None;
        for (number, run) in kept {
            if last.is_some_and(|last| last + 1 != number) {
                text.end_run();
            }
            last = Some(number);
            text.sentences.extend(run.sentences);
            text.goes_on.extend(run.goes_on);
        }
        text.end_run();
        Ok(text)
    }

    /// Samples a training corpus whose ids are of `vocabulary`. Known words are joined by spaces, and unknown ones left
    /// out. Their share and the number of words come from the counts.
    ///
    /// # Errors
    /// [`senv_core::Error::Io`] if the corpus cannot be read back from its temporary file.
    pub(crate) fn of_corpus(corpus: &Corpus, vocabulary: &Vocabulary, params: &CheckParams) -> Result<Self> {
        let mut text = Self { n_documents: corpus.n_documents(), ..Self::of_vocabulary(vocabulary) };
        let mut buffer = BlockBuffer::default();
        for first in runs(corpus.n_sentences(), params) {
            let end = corpus.n_sentences().min(first + RUN);
            let mut number = first;
            while number < end {
                let block = corpus.block_of(number);
                corpus.read_block(block, &mut buffer)?;
                let n = buffer.n_sentences() as u64;
                for i in (number - buffer.first_sentence()) as usize..(end - buffer.first_sentence()).min(n) as usize {
                    text.push(joined(buffer.sentence(i), vocabulary), !buffer.ends_document(i));
                }
                number = end.min(buffer.first_sentence() + n);
            }
            text.end_run_of_sample(corpus.n_sentences(), params);
        }
        text.end_run();
        Ok(text)
    }

    /// Samples the running text among sources of pairs ([`crate::data::PairKind::Neighbours`]); `None` without any.
    #[must_use]
    pub fn of_pairs(data: &PairData, params: &CheckParams) -> Option<Self> {
        Self::of_pairs_without(data, params, &[])
    }

    /// Samples in the same way, without these runs, which must be in order.
    fn of_pairs_without(data: &PairData, params: &CheckParams, left_out: &[u64]) -> Option<Self> {
        let texts = running(data);
        let total = n_sentences(&texts);
        if total == 0 {
            return None;
        }
        // Equal neighbors also count as an end.
        let ends = texts.iter().map(|(source, starts)| (source.sentences().len() - starts.len()) as u64);
        let mut text = Self { n_documents: ends.sum(), ..Self::of_vocabulary(&data.vocabulary) };
        for first in runs(total, params).into_iter().filter(|first| left_out.binary_search(first).is_err()) {
            text.push_run(&texts, first, &data.vocabulary);
            text.end_run_of_sample(total, params);
        }
        text.end_run();
        Some(text)
    }

    /// Samples the running text and holds out a part of it.
    pub(super) fn hold_out_runs(data: &mut PairData, params: &CheckParams) -> Result<Option<Self>> {
        let texts = running(data);
        let total = n_sentences(&texts);
        let n = (total / HELD_OUT_SHARE).min(MAX_HELD_OUT);
        if n < MIN_HELD_OUT {
            return Ok(Self::of_pairs(data, params));
        }
        let held_out = runs_of(total, n, stream(params.seed, "check held out", &[]));
        let Some(mut text) = Self::of_pairs_without(data, params, &held_out) else { return Ok(None) };
        let before = text.n_sentences();
        for &first in &held_out {
            text.push_run(&texts, first, &data.vocabulary);
            text.end_run();
        }
        text.n_held_out = text.n_sentences() - before;
        let mut first = 0;
        for (number, source) in data.sources.iter_mut().enumerate().filter(|(_, source)| source.neighbours().is_some())
        {
            source.retain(|i| held_out.binary_search(&((first + u64::from(i)) / RUN * RUN)).is_err())?;
            first += source.sentences().len() as u64;
            // A program's own sources do not have reports.
            if let Some(report) = data.reports.get_mut(number) {
                report.groups = source.n_groups();
            }
        }
        Ok(Some(text))
    }

    /// Appends the sentences of a run of running text, counted over all sources.
    fn push_run(&mut self, texts: &[(&PairSource, &[u32])], first: u64, vocabulary: &Vocabulary) {
        let mut before = 0;
        for (source, starts) in texts {
            let n = source.sentences().len() as u64;
            for i in first.max(before)..(first + RUN).min(before + n) {
                let i = (i - before) as u32;
                self.push(joined(source.sentence(i), vocabulary), starts.binary_search(&i).is_ok());
            }
            before += n;
        }
    }

    /// Returns the same sample with the words of the training text, unless they were counted.
    pub(crate) fn with_training_words(self, words: u64) -> Self {
        Self { training_words: self.training_words.or(Some(words).filter(|&words| words > 0)), ..self }
    }

    /// Returns the number of sentences, including held-out ones.
    #[must_use]
    pub fn n_sentences(&self) -> usize {
        self.sentences.len()
    }

    /// Returns the number of sentences held out of training; see [`CheckText::hold_out`].
    #[must_use]
    pub(crate) fn n_held_out(&self) -> usize {
        self.n_held_out
    }

    /// Returns the number of pairs held out of training.
    #[must_use]
    pub(crate) fn n_held_out_pairs(&self) -> usize {
        self.held_out_pairs.len()
    }

    pub(super) fn of_vocabulary(vocabulary: &Vocabulary) -> Self {
        let (known, all): (u64, u64) = (vocabulary.counts().iter().sum(), vocabulary.corpus_tokens());
        let unknown = (all > 0).then(|| 1.0 - known.min(all) as f64 / all as f64);
        Self { unknown, training_words: (all > 0).then_some(all), ..Self::default() }
    }

    pub(super) fn push(&mut self, sentence: String, goes_on: bool) {
        self.sentences.push(sentence);
        self.goes_on.push(goes_on);
    }

    /// Ends a run: the next sentence does not follow the last one.
    fn end_run(&mut self) {
        if let Some(last) = self.goes_on.last_mut() {
            *last = false;
        }
    }

    /// Ends a run, unless all sentences are used and the next run starts where this one ends.
    fn end_run_of_sample(&mut self, total: u64, params: &CheckParams) {
        if total > params.n_sentences as u64 {
            self.end_run();
        }
    }
}

/// Returns the sources that are running text, and which of their sentences have a next one.
fn running(data: &PairData) -> Vec<(&PairSource, &[u32])> {
    data.sources.iter().filter_map(|source| Some((source, source.neighbours()?))).collect()
}

/// Returns the number of their sentences.
fn n_sentences(texts: &[(&PairSource, &[u32])]) -> u64 {
    texts.iter().map(|(source, _)| source.sentences().len() as u64).sum()
}

/// Returns the first sentences of the runs to sample from `total` sentences: all, or one of each stretch of equal
/// length.
fn runs(total: u64, params: &CheckParams) -> Vec<u64> {
    if total <= params.n_sentences as u64 {
        return (0..total.div_ceil(RUN)).map(|run| run * RUN).collect();
    }
    runs_of(total, params.n_sentences as u64, stream(params.seed, "check runs", &[]))
}

/// Returns the first sentences of runs with `n` of `total` sentences: one run of each stretch of equal length.
fn runs_of(total: u64, n: u64, mut rng: Stream) -> Vec<u64> {
    let all = total.div_ceil(RUN);
    let n = n.div_ceil(RUN).clamp(1, all);
    let bound = |i: u64| (u128::from(i) * u128::from(all) / u128::from(n)) as u64;
    (0..n).map(|i| RUN * rng.random_range(bound(i)..bound(i + 1))).collect()
}

pub(super) fn joined(tokens: &[TokenId], vocabulary: &Vocabulary) -> String {
    tokens.iter().map(|&token| vocabulary.token(token)).collect::<Vec<_>>().join(" ")
}
