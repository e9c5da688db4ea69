//! Options of training other than data and hyperparameters, the same for every system.

use std::{
    fmt,
    path::{Path, PathBuf},
};

use senv_core::{
    Corpus, CorpusOptions, NoObserver, Observer, RunOptions, TextOptions, Tokenizer, Vocabulary,
    checkpoint::CheckpointPlan, corpus::KeptReading, ranks::Reduce,
};
use senv_store::Embeddings;

use crate::error::Result;

/// Options of training other than hyperparameters. All are optional.
///
/// `D` is what a system is validated on, borrowed: slices of [`ScoredPairs`](crate::gradient::ScoredPairs) for Siamese
/// CBOW, PP and CSE, files for systems that read running text. P-thought, SNLI models and relatedness use pairs of the
/// kind that they are trained on. Systems trained by negative sampling are not validated.
///
/// ```
/// use senv::{Sent2VecParams, TextSystem, TrainOptions};
/// # let folder = tempfile::tempdir()?;
/// # let text = folder.path().join("text.txt");
/// # std::fs::write(&text, "the cat sat on the mat\nthe dog lay on the rug\n".repeat(20))?;
/// let params = Sent2VecParams { dim: 8, ..Sent2VecParams::default() };
/// let options = TrainOptions { threads: 2, ..TrainOptions::default() };
/// let trained = params.fit_files(&text, &options)?;
/// assert!(trained.loss.is_finite());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct TrainOptions<'a, D = ()> {
    /// Threads, at most 1024; 0 (default) for all cores. The result depends on them only under Hogwild.
    pub threads: usize,
    /// Where and how often the state of the run is saved, and whether the run resumes from it; `None` (default) for
    /// never.
    pub checkpoint: Option<CheckpointPlan>,
    /// Receives progress and can stop the run; does nothing by default.
    pub observer: &'a dyn Observer,
    /// The origin of the run (its command, its files), written to its checkpoints; empty by default.
    pub origin: &'a str,
    /// The ranks, if this run is one of several that train on parts of one text, as Sent2Vec, word2vec and FastSent
    /// can; `None` (default) for a single run.
    pub ranks: Option<&'a dyn Reduce>,
    /// Word vectors to start from: from a file, or from a model
    /// ([`Model::to_embeddings`](crate::Model::to_embeddings)). Words without a vector get random ones of the average
    /// length.
    pub vectors: Option<&'a Embeddings>,
    /// What the best weights are chosen by; without it, the last weights are kept.
    pub dev: Option<D>,
    /// Whether PV-DBOW and PV-DM keep the vectors that they train for the sentences of the text
    /// ([`PvDbow::document_vectors`](crate::PvDbow::document_vectors)); false by default. Other systems ignore it.
    pub document_vectors: bool,
    /// How text files are read: lines that are not UTF-8, long lines, tables.
    pub text: TextOptions,
    /// The folder for temporary files, which take four bytes per word. The default is that of the system, which is in
    /// memory on some machines.
    pub scratch_dir: Option<PathBuf>,
}

impl<D> Default for TrainOptions<'_, D> {
    fn default() -> Self {
        Self {
            threads: 0,
            checkpoint: None,
            observer: &NoObserver,
            origin: "",
            ranks: None,
            vectors: None,
            dev: None,
            document_vectors: false,
            text: TextOptions::default(),
            scratch_dir: None,
        }
    }
}

impl<D> fmt::Debug for TrainOptions<'_, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("TrainOptions");
        shown.field("threads", &self.threads).field("checkpoint", &self.checkpoint).field("text", &self.text);
        shown.field("vectors", &self.vectors.is_some()).field("dev", &self.dev.is_some()).finish_non_exhaustive()
    }
}

impl<'a, D> TrainOptions<'a, D> {
    /// Returns the same options with other validation data.
    #[must_use]
    pub fn with_dev<E>(&self, dev: Option<E>) -> TrainOptions<'a, E> {
        TrainOptions {
            threads: self.threads,
            checkpoint: self.checkpoint.clone(),
            observer: self.observer,
            origin: self.origin,
            ranks: self.ranks,
            vectors: self.vectors,
            dev,
            document_vectors: self.document_vectors,
            text: self.text.clone(),
            scratch_dir: self.scratch_dir.clone(),
        }
    }

    /// Returns the options that the trainer itself uses.
    #[must_use]
    pub fn run(&self) -> RunOptions<'a> {
        let Self { threads, observer, origin, ranks, .. } = *self;
        RunOptions { threads, checkpoint: self.checkpoint.clone(), observer, origin, ranks }
    }

    /// Returns how text is read with this tokenizer and minimum count.
    pub(crate) fn reading(&self, tokenizer: &Tokenizer, min_count: u64) -> CorpusOptions {
        let (tokenizer, scratch_dir) = (tokenizer.clone(), self.scratch_dir.clone());
        CorpusOptions { tokenizer, min_count, threads: self.threads, scratch_dir, ..CorpusOptions::default() }
            .with_text_options(self.text.clone())
    }

    /// Returns how training text is read: if the run is stopped, the checkpoint keeps what was read.
    pub(crate) fn resumable_reading(&self, tokenizer: &Tokenizer, min_count: u64) -> CorpusOptions {
        CorpusOptions { kept: self.kept_reading(), ..self.reading(tokenizer, min_count) }
    }

    /// Returns where a stopped reading is kept: in the checkpoint of the run; `None` without one. For
    /// [`PairOptions::kept`](crate::data::PairOptions::kept) in programs that read pairs themselves.
    #[must_use]
    pub fn kept_reading(&self) -> Option<KeptReading> {
        self.checkpoint.as_ref().map(|plan| KeptReading {
            path: plan.path.clone(),
            resume: plan.resume,
            origin: self.origin.to_owned(),
        })
    }

    /// Reads text files into a vocabulary and a corpus, with the tokenizer and the minimum count of a model.
    pub(crate) fn read(
        &self,
        paths: &[impl AsRef<Path>],
        tokenizer: &Tokenizer,
        min_count: u64,
    ) -> Result<(Vocabulary, Corpus)> {
        let paths: Vec<_> = paths.iter().map(|path| path.as_ref().to_owned()).collect();
        Ok(Corpus::read(&paths, &self.reading(tokenizer, min_count), self.observer)?)
    }
}
