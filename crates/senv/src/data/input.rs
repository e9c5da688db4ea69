//! Files of pairs: the kind of their lines, how they are read, and what was used of them.

use std::{
    fmt,
    path::{Path, PathBuf},
};

use senv_core::{
    Sentences, TextOptions, TokenId, Tokenizer,
    corpus::{KeptReading, SentencesWriter},
    counts::{grouped, plural},
};
use serde::{Deserialize, Serialize};

use super::{
    decontaminate::HeldOut,
    kind::PairKind,
    source::{Groups, PairSource},
};
use crate::error::Result;

/// A file and its kind.
#[derive(Debug, Clone, PartialEq)]
pub struct PairInput {
    /// The file, which can be compressed.
    pub path: PathBuf,
    /// The kind of its lines.
    pub kind: PairKind,
    /// Its share of the batches among all weights, above 0. Without weights, every group occurs once per epoch.
    pub weight: Option<f64>,
}

impl PairInput {
    /// Creates an input from a file or a [`MemoryText`](super::MemoryText), whose groups occur once per epoch.
    #[must_use]
    pub fn new(path: impl AsRef<Path>, kind: PairKind) -> Self {
        Self { path: path.as_ref().to_owned(), kind, weight: None }
    }
}

/// Files of pairs and how they are read: the input of a system trained on pairs.
#[derive(Debug, Clone, Default)]
pub struct PairFiles {
    /// The files.
    pub inputs: Vec<PairInput>,
    /// How they are read. The tokenizer is that of the system, and words of initial vectors are added to those kept.
    pub options: PairOptions,
    /// Pairs of a second stage, for the systems that train in two: PP, CSE and GRAN.
    pub second: Option<SecondStage>,
}

/// Files read with default options.
impl<const N: usize> From<[PairInput; N]> for PairFiles {
    fn from(inputs: [PairInput; N]) -> Self {
        Self { inputs: inputs.into(), ..Self::default() }
    }
}

/// A second stage of training, which continues from the best weights of the first with the same settings.
#[derive(Debug, Clone, PartialEq)]
pub struct SecondStage {
    /// Its files.
    pub inputs: Vec<PairInput>,
    /// Its epochs; those of the first stage by default.
    pub epochs: Option<u32>,
    /// Its learning rate; that of the first stage by default.
    pub lr: Option<f64>,
}

/// How files become sources.
#[derive(Debug, Clone)]
pub struct PairOptions {
    /// How text is tokenized; lowercase words by default.
    pub tokenizer: Tokenizer,
    /// Words that occur less often in all files together are unknown; 1 by default, so all are known.
    pub min_count: u64,
    /// The maximum number of words, most frequent first; no limit by default.
    pub max_vocabulary: Option<usize>,
    /// Whether pairs with the same first sentence form one group, which gives one pair per epoch; false
    /// by default.
    pub group: bool,
    /// Whether pairs of equal sentences are examples. By default they are left out, because they teach nothing.
    pub keep_identical: bool,
    /// Sentences that no example may contain.
    pub held_out: HeldOut,
    /// Words that are known regardless of their count, in this order after the counted ones: those of initial vectors.
    pub keep: Vec<String>,
    /// Whether the words of vectors that training starts from are known even if the pairs lack them; true by default.
    /// Those of a model to fine-tune always are.
    pub keep_vector_words: bool,
    /// How text is read.
    pub text: TextOptions,
    /// Threads that read running text; 0 (default) for all cores.
    pub threads: usize,
    /// The folder of the temporary files for large numbers of sentences; by default the system's.
    pub scratch_dir: Option<PathBuf>,
    /// Where a stopped reading is kept, and resumed from; nowhere by default.
    pub kept: Option<KeptReading>,
}

impl Default for PairOptions {
    fn default() -> Self {
        Self {
            tokenizer: Tokenizer::words().lowercase(true),
            min_count: 1,
            max_vocabulary: None,
            group: false,
            keep_identical: false,
            held_out: HeldOut::default(),
            keep: Vec::new(),
            keep_vector_words: true,
            text: TextOptions::default(),
            threads: 0,
            scratch_dir: None,
            kept: None,
        }
    }
}

/// What was used of a file, and what was not.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SourceReport {
    /// The file.
    pub path: PathBuf,
    /// The number of groups in the training set.
    pub groups: usize,
    /// The number of pairs of equal sentences, which are left out.
    pub identical: u64,
    /// The number of lines with a held-out sentence, which are left out; for captions, the whole image is.
    pub contaminated: u64,
    /// The number of groups left out because they lack a second sentence or have a sentence without a known word, and
    /// of sentences too short for two halves.
    pub singletons: u64,
}

impl SourceReport {
    /// A file of which nothing was used yet.
    pub(crate) fn of(path: &Path) -> Self {
        Self { path: path.to_owned(), ..Self::default() }
    }
}

/// Formats as one line: the file, its groups, and what was left out and why.
impl fmt::Display for SourceReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let groups = self.groups as u64;
        write!(f, "{}: {}", self.path.display(), plural(groups, "group"))?;
        let left_out = [
            (self.identical, "with identical sentences"),
            (self.contaminated, "held out"),
            (self.singletons, "without a second sentence or a known word"),
        ];
        let left_out = left_out.into_iter().filter(|(n, _)| *n > 0);
        left_out.enumerate().try_for_each(|(i, (n, why))| {
            write!(f, "{}{} {why}", if i == 0 { "; left out: " } else { ", " }, grouped(n))
        })
    }
}

/// A source before the vocabulary is known. Its tokens have provisional numbers.
pub(super) struct Draft {
    pub(super) sentences: Sentences,
    pub(super) groups: Groups,
    pub(super) report: SourceReport,
}

impl Draft {
    /// Assigns final numbers and drops unknown words and empty groups.
    pub(super) fn finish(
        mut self,
        input: &PairInput,
        ids: &[Option<TokenId>],
        folder: Option<&Path>,
    ) -> Result<(PairSource, SourceReport)> {
        let mut sentences = SentencesWriter::new(folder)?;
        for sentence in self.sentences.iter() {
            sentences.push(sentence.iter().filter_map(|token| ids[token.index()]))?;
        }
        let sentences = sentences.finish()?;
        let before = self.groups.len();
        self.groups.retain(folder, |i| !sentences.get(i as usize).is_empty())?;
        self.report.singletons += (before - self.groups.len()) as u64;
        self.report.groups = self.groups.len();
        let name = input.path.display().to_string();
        let (kind, weight) = (input.kind, input.weight);
        let scratch_dir = folder.map(Path::to_owned);
        Ok((PairSource { name, kind, weight, sentences, groups: self.groups, scratch_dir }, self.report))
    }
}
