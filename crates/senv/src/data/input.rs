//! Files of pairs: what their lines are, how they are read, and what was taken of them.

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

impl PairInput {
    /// A file, or a [`MemoryText`](super::MemoryText), whose groups come once an epoch each.
    #[must_use]
    pub fn new(path: impl AsRef<Path>, kind: PairKind) -> Self {
        Self { path: path.as_ref().to_owned(), kind, weight: None }
    }
}

/// Files of pairs and how they are read: what a system on pairs is trained on.
#[derive(Debug, Clone, Default)]
pub struct PairFiles {
    /// The files.
    pub inputs: Vec<PairInput>,
    /// How they are read; the tokenizer is that of the system, and words of vectors that stay known come on top.
    pub options: PairOptions,
    /// Pairs of a second stage, for the systems that train in two: PP, CSE and GRAN.
    pub second: Option<SecondStage>,
}

/// Files that are read as usual.
impl<const N: usize> From<[PairInput; N]> for PairFiles {
    fn from(inputs: [PairInput; N]) -> Self {
        Self { inputs: inputs.into(), ..Self::default() }
    }
}

/// A second stage of training, which goes on from the best weights of the first with the same settings.
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
    /// How text is tokenized.
    pub tokenizer: Tokenizer,
    /// Words that occur less often in all files together are unknown.
    pub min_count: u64,
    /// At most so many words, the most frequent; no limit by default.
    pub max_vocabulary: Option<usize>,
    /// Pairs with the same first sentence are one group, which gives one pair an epoch.
    pub group: bool,
    /// Whether pairs of equal sentences are examples, too: by default they are left out, as they say nothing.
    pub keep_identical: bool,
    /// Sentences that no example may hold.
    pub held_out: HeldOut,
    /// Words that are known whatever their count, in this order behind the counted ones: those of initial vectors.
    pub keep: Vec<String>,
    /// Whether the words of vectors that training starts from are known, though the pairs lack them; yes by default.
    /// Those of a model to fine-tune always are.
    pub keep_vector_words: bool,
    /// Reading of text.
    pub text: TextOptions,
    /// Threads that read running text; 0 (default) for all cores.
    pub threads: usize,
    /// Folder of the temporary files that hold sentences where they are many; by default the system's.
    pub scratch_dir: Option<PathBuf>,
    /// Where a reading that is stopped is kept, and gone on from; nowhere by default.
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

/// What was taken of a file, and what was not.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceReport {
    /// The file.
    pub path: PathBuf,
    /// Groups of the training set.
    pub groups: usize,
    /// Pairs of equal sentences, left out.
    pub identical: u64,
    /// Lines with a sentence of a held-out set, left out; of captions, the whole image is.
    pub contaminated: u64,
    /// Groups that lack a second sentence, or with a sentence without a known word, left out; sentences too short for
    /// two halves.
    pub singletons: u64,
}

/// In a line: the file, its groups, and what was left out and why.
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

/// A source before the vocabulary is known: tokens carry provisional numbers.
pub(super) struct Draft {
    pub(super) sentences: Sentences,
    pub(super) groups: Groups,
    pub(super) report: SourceReport,
}

impl Draft {
    /// With final numbers, unknown words and empty groups left out.
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
