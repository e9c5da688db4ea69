//! What training is given beside the data and the hyperparameters: the same for every system.

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

/// How a model is trained, beside its hyperparameters. All of it may be left out.
///
/// `D` is what a system is validated on, borrowed: slices of [`ScoredPairs`](crate::gradient::ScoredPairs) for Siamese
/// CBOW, PP and CSE, files for systems that read running text, pairs of the kind that they are trained on for
/// P-thought, SNLI models and relatedness. Systems trained by negative sampling are not validated and have none.
///
/// ```
/// use senv::{Sent2VecParams, TextSystem, TrainOptions};
/// # let folder = tempfile::tempdir()?;
/// # let text = folder.path().join("text.txt");
/// # std::fs::write(&text, "the cat sat on the mat\nthe dog lay on the rug\n".repeat(20))?;
/// let params = Sent2VecParams { dim: 8, ..Sent2VecParams::default() };
/// let options = TrainOptions { threads: 2, ..TrainOptions::default() };
/// let trained = params.fit_files(&[&text], &options)?;
/// assert!(trained.loss.is_finite());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct TrainOptions<'a, D = ()> {
    /// Threads, at most 1024; 0 (default) for all cores. The result depends on them under Hogwild alone.
    pub threads: usize,
    /// Where and how often the state of the run is saved, and whether it goes on from there; `None` (default) for
    /// never.
    pub checkpoint: Option<CheckpointPlan>,
    /// Hears of the progress, and may stop the run; nobody by default.
    pub observer: &'a dyn Observer,
    /// Where the run comes from (its command, its files), written into its checkpoints; empty by default.
    pub origin: &'a str,
    /// The ranks of the run, where it is one of several that train on parts of one text: Sent2Vec, word2vec and
    /// FastSent do; `None` (default) for a run by itself.
    pub ranks: Option<&'a dyn Reduce>,
    /// Word vectors to start from: of a file, or of a model ([`Model::to_embeddings`](crate::Model::to_embeddings)).
    /// Words that they lack are drawn as long as they are on average.
    pub vectors: Option<&'a Embeddings>,
    /// What the best weights are chosen by; without it the last are kept.
    pub dev: Option<D>,
    /// Whether PV-DBOW and PV-DM keep the vectors that they train for the sentences of the text
    /// ([`PvDbow::document_vectors`](crate::PvDbow::document_vectors)); no by default. Other systems have none.
    pub document_vectors: bool,
    /// How text files are read: lines that are not UTF-8, long lines, tables.
    pub text: TextOptions,
    /// The folder of temporary files, four bytes a word; that of the system by default, which is in memory on some
    /// machines.
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
    /// The same options, validated on something else.
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

    /// What the trainer itself sees of them.
    #[must_use]
    pub fn run(&self) -> RunOptions<'a> {
        let Self { threads, observer, origin, ranks, .. } = *self;
        RunOptions { threads, checkpoint: self.checkpoint.clone(), observer, origin, ranks }
    }

    /// How text is read with this tokenizer and minimum count.
    pub(crate) fn reading(&self, tokenizer: &Tokenizer, min_count: u64) -> CorpusOptions {
        let (tokenizer, scratch_dir) = (tokenizer.clone(), self.scratch_dir.clone());
        CorpusOptions { tokenizer, min_count, threads: self.threads, scratch_dir, ..CorpusOptions::default() }
            .with_text_options(self.text.clone())
    }

    /// The same of the text that is trained on: what was read of it when the run is stopped stands in the checkpoint.
    pub(crate) fn resumable_reading(&self, tokenizer: &Tokenizer, min_count: u64) -> CorpusOptions {
        CorpusOptions { kept: self.kept_reading(), ..self.reading(tokenizer, min_count) }
    }

    /// Where a reading that is stopped is kept: in the checkpoint of the run; `None` without one. For
    /// [`PairOptions::kept`](crate::data::PairOptions::kept) where a program reads pairs itself.
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
