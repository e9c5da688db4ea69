//! Files -> sources over one vocabulary.

use std::{collections::HashMap, path::PathBuf};

use senv_core::{
    Error as CoreError, Observer, Sentences, TextOptions, TokenId, Tokenizer, Vocabulary, VocabularyBuilder,
};

use super::{HeldOut, PairSource, running, source::Groups, tsv};
use crate::{
    base::fingerprint::Fingerprint,
    error::{Error, Result},
};

/// What the lines of a file are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PairKind {
    /// Two sentences that mean the same, separated by a tab.
    Pairs,
    /// The number or name of an image and a caption, separated by a tab; the captions of an image on neighbouring lines. Or
    /// COCO's JSON ([`senv_data::Captions`]).
    Captions,
    /// Premises and hypotheses with a label, in any layout of [`senv_data::NliSet::read`]: a premise and what it entails
    /// are a pair, what contradicts it is a hard negative.
    Nli,
    /// Running text, a sentence a line, documents separated by blank lines: a sentence and the next are a pair.
    Neighbours,
}

/// A file and what it is for.
#[derive(Debug, Clone, PartialEq)]
pub struct PairInput {
    /// The file; may be compressed.
    pub path: PathBuf,
    /// What its lines are.
    pub kind: PairKind,
    /// Its share of the batches among all weights, above 0; without any weight every group comes once an epoch.
    pub weight: Option<f64>,
}

/// How files become sources.
#[derive(Debug, Clone)]
pub struct PairOptions {
    /// How text is tokenized.
    pub tokenizer: Tokenizer,
    /// Words that occur less often in all files together are unknown.
    pub min_count: u64,
    /// At most so many words, the most frequent; no limit by default.
    pub max_vocabulary: Option<usize>,
    /// Pairs with the same first sentence are one group, which gives one pair an epoch.
    pub group: bool,
    /// Sentences that no example may hold.
    pub held_out: HeldOut,
    /// Words that are known whatever their count, in this order behind the counted ones: those of initial vectors.
    pub keep: Vec<String>,
    /// Reading of text.
    pub text: TextOptions,
    /// Threads that read running text; 0 (default) for all cores.
    pub threads: usize,
}

impl Default for PairOptions {
    fn default() -> Self {
        Self {
            tokenizer: Tokenizer::words().lowercase(true),
            min_count: 1,
            max_vocabulary: None,
            group: false,
            held_out: HeldOut::default(),
            keep: Vec::new(),
            text: TextOptions::default(),
            threads: 0,
        }
    }
}

/// What was taken of a file, and what was not.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SourceReport {
    /// The file.
    pub path: PathBuf,
    /// Groups of the training set.
    pub groups: usize,
    /// Pairs of equal sentences, left out.
    pub identical: u64,
    /// Lines with a sentence of a held-out set, left out; of captions, the whole image is.
    pub contaminated: u64,
    /// Groups that lack a second sentence, or with a sentence without a known word, left out.
    pub singletons: u64,
}

/// Sources over one vocabulary.
#[derive(Debug, Clone)]
pub struct PairData {
    /// The words of all sources.
    pub vocabulary: Vocabulary,
    /// One for each file, in order.
    pub sources: Vec<PairSource>,
    /// What was taken of each.
    pub reports: Vec<SourceReport>,
}

impl PairData {
    /// A number that changes with any word, sentence, group or weight.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        let words = Fingerprint::new().vocabulary(&self.vocabulary);
        self.sources.iter().fold(words, |sum, source| source.add_to(sum)).hex()
    }

    /// Sources over a vocabulary that a program brings itself.
    #[must_use]
    pub fn new(vocabulary: Vocabulary, sources: Vec<PairSource>) -> Self {
        Self { vocabulary, sources, reports: Vec::new() }
    }

    /// Reads files.
    ///
    /// # Errors
    /// [`Error::BadLine`] or [`Error::Data`] for a line of another layout, naming file and line; [`Error::NoExamplesIn`] if no pair is left
    /// over all files; what the core says of files, text and vocabulary.
    pub fn read(inputs: &[PairInput], options: &PairOptions, observer: &dyn Observer) -> Result<Self> {
        let mut builder = VocabularyBuilder::default();
        let mut drafts = Vec::new();
        for input in inputs {
            check_weight(input)?;
            let mut draft = match input.kind {
                PairKind::Neighbours => running::read(input, options, &mut builder, observer)?,
                _ => tsv::read(input, options, &mut builder, observer)?,
            };
            draft.report.path.clone_from(&input.path);
            drafts.push(draft);
        }
        let none = || Error::NoExamplesIn { paths: inputs.iter().map(|input| input.path.clone()).collect() };
        if builder.is_empty() {
            return Err(none());
        }
        let (vocabulary, ids) = vocabulary(&builder, options)?;
        let mut data = Self { vocabulary, sources: Vec::new(), reports: Vec::new() };
        for (input, draft) in inputs.iter().zip(drafts) {
            let (source, report) = draft.finish(input, &ids);
            data.sources.push(source);
            data.reports.push(report);
        }
        if data.sources.iter().all(|source| source.n_groups() == 0) {
            return Err(none());
        }
        Ok(data)
    }
}

fn check_weight(input: &PairInput) -> Result<()> {
    match input.weight {
        Some(weight) if !(weight.is_finite() && weight > 0.0) => {
            let requirement = "finite and above 0";
            Err(CoreError::InvalidParameter { name: "weight", requirement, got: weight.to_string() }.into())
        }
        _ => Ok(()),
    }
}

/// The vocabulary, and for each provisional number the final one.
fn vocabulary(builder: &VocabularyBuilder, options: &PairOptions) -> Result<(Vocabulary, Vec<Option<TokenId>>)> {
    let counted = builder.finish_at_most(options.min_count, options.max_vocabulary)?;
    let vocabulary = if options.keep.is_empty() {
        counted
    } else {
        let counts: HashMap<&str, u64> = builder.iter().collect();
        let more = options.keep.iter().filter(|word| counted.id(word).is_none());
        let more = more.map(|word| (word.as_str(), counts.get(word.as_str()).copied().unwrap_or(0)));
        let all = counted.iter().map(|(_, token, count)| (token, count)).chain(more);
        Vocabulary::from_counts(all, counted.corpus_tokens())?
    };
    let ids = builder.iter().map(|(token, _)| vocabulary.id(token)).collect();
    Ok((vocabulary, ids))
}

/// A source before the vocabulary is known: tokens carry provisional numbers.
pub(super) struct Draft {
    pub(super) sentences: Sentences,
    pub(super) groups: Groups,
    pub(super) report: SourceReport,
}

impl Draft {
    /// With final numbers, unknown words and empty groups left out.
    fn finish(mut self, input: &PairInput, ids: &[Option<TokenId>]) -> (PairSource, SourceReport) {
        let mut sentences = Sentences::new();
        for sentence in self.sentences.iter() {
            sentences.push(sentence.iter().filter_map(|token| ids[token.index()]));
        }
        let before = self.groups.len();
        self.groups.retain(|i| !sentences.get(i as usize).is_empty());
        self.report.singletons += (before - self.groups.len()) as u64;
        self.report.groups = self.groups.len();
        let name = input.path.display().to_string();
        (PairSource { name, weight: input.weight, sentences, groups: self.groups }, self.report)
    }
}
