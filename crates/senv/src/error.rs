//! What can go wrong with a model.

use std::{any::Any, path::PathBuf};

use senv_core::Remedy;

/// The result of a fallible operation of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error while training, saving or opening a model.
///
/// Its text is complete: it includes the cause, such as the message of the operating system, so print it alone.
/// [`source`](std::error::Error::source) is for programs that look for a cause by its type; printing the chain does not
/// repeat a text. [`Error::core`] returns the error of the core in any variant, and [`Error::io_kind`] the kind of an
/// error of the operating system.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An error of the core: a parameter, text, a file, memory.
    #[error(transparent)]
    Core(#[from] senv_core::Error),
    /// An error of a reader of data sets.
    #[error(transparent)]
    Data(#[from] senv_data::Error),
    /// An error of the trainer.
    #[error(transparent)]
    Training(#[from] senv_negative_sampling::Error),
    /// An error of the n-grams' parameters.
    #[error(transparent)]
    Ngrams(#[from] senv_ngram::Error),
    /// An error of a loss.
    #[error(transparent)]
    Loss(#[from] senv_losses::Error),
    /// An error of a metric, such as a cosine that is not a number.
    #[error(transparent)]
    Metric(#[from] senv_metrics::Error),
    /// An error of a file of word vectors, or of the weights in a model file.
    #[error(transparent)]
    Store(#[from] senv_store::Error),
    /// An error of a collection of vectors.
    #[error(transparent)]
    Index(#[from] senv_index::Error),
    /// An error of the evaluation.
    #[cfg(feature = "eval")]
    #[error(transparent)]
    Eval(Box<senv_eval::Error>),
    /// The model of a collection is not where it was.
    #[error(
        "{}: its model {} no longer exists; {}, or rebuild the collection",
        collection.display(), model.display(), Remedy::ModelPlace
    )]
    ModelGone {
        /// The collection.
        collection: PathBuf,
        /// Where the model was.
        model: PathBuf,
    },
    /// A collection made with a model in memory.
    #[error("{}: the collection was made with a model that was not a file; {}, or open it with \
        SentenceCollection::open_with_model", collection.display(), Remedy::ModelPlace)]
    ModelInMemory {
        /// The collection.
        collection: PathBuf,
    },
    /// The model of a collection has changed.
    #[error(
        "{}: the collection was made with a different model than {} (digest {expected}, got {found}); {}, or rebuild the \
        collection",
        collection.display(), model.display(), Remedy::ModelPlace
    )]
    OtherModel {
        /// The collection.
        collection: PathBuf,
        /// The model that was found.
        model: PathBuf,
        /// Digest of the collection's model.
        expected: String,
        /// Digest of the model that was found.
        found: String,
    },
    /// A collection made with the built-in English model of another release.
    #[error(
        "{}: the collection was made with another built-in English model (digest {expected}) than this one ({found}); \
        index its sentences again, or {}: data/english.senv of the senv-english that the collection was made with",
        collection.display(), Remedy::ModelPlace
    )]
    OtherEnglish {
        /// The collection.
        collection: PathBuf,
        /// Digest of the collection's model.
        expected: String,
        /// Digest of the built-in model.
        found: String,
    },
    /// An output folder that was created with another model or other settings.
    #[error(
        "{}: the output folder was created with different settings ({difference}); choose another folder, or {}",
        path.display(), Remedy::Replace
    )]
    OtherSettings {
        /// The folder.
        path: PathBuf,
        /// What differs.
        difference: String,
    },
    /// A file where an output of a folder would be written.
    #[error(
        "{}: the file exists and was not written by senv; choose another folder, or {}",
        path.display(), Remedy::Replace
    )]
    ForeignOutput {
        /// The file.
        path: PathBuf,
    },
    /// An output folder that another process is writing to.
    #[error(
        "{}: another process{} is writing to this folder; wait for it to finish, or have both {}",
        path.display(), holder.map_or(String::new(), |holder| format!(" ({holder})")), Remedy::ShareByClaims
    )]
    FolderInUse {
        /// The folder.
        path: PathBuf,
        /// The process, if it is known.
        holder: Option<u32>,
    },
    /// A collection made with a different model than the web page has.
    #[error(
        "the web page has only the English model, and this collection was made with {}; make a collection of the same \
        sentences with the model `english`",
        model.display()
    )]
    NotForWeb {
        /// Its model.
        model: PathBuf,
    },
    /// A collection for the web page that searches by word order.
    #[error(
        "the web page cannot search by word order; make a collection of the same sentences \
        without the order part of the model"
    )]
    OrderNotForWeb,
    /// A path that a collection cannot store.
    #[error("{}: a collection stores the path of its model, and this path is not UTF-8; rename the file", model.display())]
    ModelPath {
        /// The model.
        model: PathBuf,
    },
    /// The system cannot be trained on several processes.
    #[error("training on several processes supports Sent2Vec, word2vec and FastSent only")]
    NotOnRanks,
    /// A blank sentence, or a pair or group with one.
    #[error("item {number} (counted from 0) is blank or has a blank sentence; leave it out")]
    BlankSentence {
        /// The number of the sentence, pair or group in the call, counted from 0.
        number: usize,
    },
    /// A condition on the sentences of a collection that cannot be parsed.
    #[error("{condition}: {reason}")]
    BadCondition {
        /// The condition.
        condition: String,
        /// What was expected.
        reason: String,
    },
    /// A collection of vectors without sentences and model.
    #[error("{}: the collection has vectors but no sentences and no model; open it as a senv_index::Collection", collection.display())]
    NoSentences {
        /// The collection.
        collection: PathBuf,
    },
    /// Sentences were added without ids to an [`Index`](crate::Index) whose ids are texts.
    #[error(
        "the ids of the index are texts, so there is no next one; give each sentence its own id (Index::add_with_ids)"
    )]
    NoNextId,
    /// A vector given for a sentence differs from the model's.
    #[error(
        "the vector given for the sentence {text} differs from the model's (cosine {cosine:.2}); give the model that \
        made the vectors, with vectors and sentences in the same order", text = senv_core::quoted(text)
    )]
    ForeignVector {
        /// The sentence.
        text: String,
        /// Cosine of the given vector and the model's.
        cosine: f32,
    },
    /// A vector of the model contains NaN or an infinite value.
    #[error("the vector of the sentence {text} contains NaN or an infinite value: the model is damaged", text = senv_core::quoted(text))]
    NonFiniteVector {
        /// The sentence.
        text: String,
    },
    /// The configuration in a model file does not describe its tables.
    #[error("{}: {reason}; the file is damaged or was written by another program", path.display())]
    BadModel {
        /// The file.
        path: PathBuf,
        /// What does not fit.
        reason: String,
    },
    /// Sentences in memory contain no text.
    #[error("the sentences contain no text")]
    EmptySentences,
    /// The training set is empty.
    #[error("{kind}: no training examples; give more text, or pairs of two different sentences with known words")]
    NoExamples {
        /// The system.
        kind: &'static str,
    },
    /// There is nothing to validate with.
    #[error("{name}: no validation examples for {kind}; give held-out text or pairs in the same format")]
    NoHeldOutExamples {
        /// The system.
        kind: &'static str,
        /// The held-out files.
        name: String,
    },
    /// Every example is longer than the limit.
    #[error(
        "all {n} {what} of more than {limit} tokens were left out, so none remain; {}, or {}",
        Remedy::RaiseTokenLimit,
        Remedy::CutLongSentences
    )]
    AllTooLong {
        /// How many were left out.
        n: usize,
        /// What was left out, such as `sentences`.
        what: String,
        /// The maximum number of tokens per sentence.
        limit: usize,
    },
    /// No sentence of the files has a word of the model.
    #[error(
        "{}: no sentence has a word that the model knows, so there are no common components; give text in the \
        language of the model",
        listed(paths)
    )]
    NoKnownWords {
        /// The files.
        paths: Vec<PathBuf>,
    },
    /// Files contain no training examples.
    #[error(
        "{}: no training examples; give more text (systems that predict neighboring sentences need three per \
        document), or pairs of two different sentences with known words",
        listed(paths)
    )]
    NoExamplesIn {
        /// The files.
        paths: Vec<PathBuf>,
    },
    /// Training was stopped on request after it had started. [`Error::unfinished`] returns the partly trained model, to
    /// try it or to save it as it is. To continue later, train with a [`CheckpointPlan`](crate::CheckpointPlan): its
    /// file was written when the run stopped, and the same call with `resume: true` ends with the same bits as an
    /// uninterrupted run.
    #[error("training was stopped on request")]
    Stopped {
        /// The partly trained model: [`Error::unfinished`].
        unfinished: Box<dyn Any + Send + Sync>,
    },
    /// The loss is no longer a number.
    #[error(
        "the loss is not a number at step {step} (learning rate {lr:.3e}); start again with {}, or {}",
        Remedy::LowerLearningRate,
        Remedy::LimitGradients
    )]
    Diverged {
        /// The step, counted from 0.
        step: u64,
        /// The learning rate there.
        lr: f64,
    },
    /// The loss is no better than that of guessing or of the initial weights.
    #[error(
        "the model is not learning: the loss at step {step} is {loss:.4}, and the loss of {of} is {bound:.4} \
        (learning rate {lr:.3e}); start again with {}, or {}",
        Remedy::LowerLearningRate,
        Remedy::LimitGradients
    )]
    NotLearning {
        /// The step, counted from 0.
        step: u64,
        /// The learning rate there.
        lr: f64,
        /// The loss of the last steps.
        loss: f64,
        /// The loss that it should be below.
        bound: f64,
        /// What has that loss: `a guess` or `the initial weights`.
        of: &'static str,
    },
    /// A grid of hyperparameters cannot be searched.
    #[error("{place}{reason}")]
    BadGrid {
        /// File and line, if the grid is from a file, followed by a colon and a space.
        place: String,
        /// What was found, what was expected.
        reason: String,
    },
    /// Every run of a search diverged.
    #[error("every run ended with a loss that is not a number; try {}", Remedy::LowerLearningRate)]
    NothingLearned,
    /// A checkpoint belongs to another run.
    #[error("cannot resume {}: it has {what}; repeat the original command, or start over", path.display())]
    CheckpointMismatch {
        /// The checkpoint.
        path: PathBuf,
        /// What differs.
        what: String,
    },
    /// A model whose sentence vectors are not averages of word vectors.
    #[error(
        "a model of kind {kind} cannot use word weights; give a model that averages word vectors (such as sent2vec, \
        word2vec or pp) or a file of word vectors"
    )]
    NotWords {
        /// The kind.
        kind: &'static str,
    },
    /// A model that cannot be compressed to a static table.
    #[error("a model of kind {kind} cannot be compressed: {reason}")]
    CannotCompress {
        /// The kind.
        kind: &'static str,
        /// Why not, and what to do.
        reason: String,
    },
    /// A model without a word-order part whose weight could be changed.
    #[error("a model of kind {kind} has no word-order part; `senv train order` adds one to a static table")]
    NoOrderPart {
        /// The kind.
        kind: &'static str,
    },
    /// A model whose encoder cannot be tuned on scored pairs.
    #[error(
        "a model of kind {kind} cannot be fine-tuned; give an average of word vectors without n-grams (sent2vec, \
        word2vec, fast-sent, siamese-cbow, pp, word vectors), a cse, gran, snli, p-thought, rnn-ae or bow-ae model, an \
        sdae model with GRU cells, or a skip-thought model that is not combined"
    )]
    CannotTune {
        /// The kind.
        kind: &'static str,
    },
    /// The initial vectors and the model differ in dimension.
    #[error("the dimension of the {} is {got}, expected {expected}", Remedy::InitialVectorsOfDim)]
    InitialVectorsDim {
        /// The dimension of the model.
        expected: usize,
        /// The dimension of the vectors.
        got: usize,
    },
    /// A line of a training file has the wrong format.
    #[error("{}:{line}: {reason}", path.display())]
    BadLine {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: u64,
        /// What was found, what was expected, what to do.
        reason: String,
    },
    /// The weights have grown so much that their initial values are lost.
    #[error(
        "by step {step} the weights have grown to {growth:.0e} times their initial length (learning rate {lr:.3e}), \
        so their initial values are lost in rounding; start again with {}",
        Remedy::LowerLearningRate
    )]
    Outgrown {
        /// The step, counted from 0.
        step: u64,
        /// The learning rate there.
        lr: f64,
        /// Their length relative to their initial length.
        growth: f64,
    },
    /// A gradient has become too long to be usable.
    #[error(
        "the gradient exploded at step {step}: its norm is {norm:.1e}; start again with {}, or other initial vectors",
        Remedy::LowerLearningRate
    )]
    ExplodingGradient {
        /// The step, counted from 0.
        step: u64,
        /// The norm, before clipping.
        norm: f64,
    },
    /// Released weights do not have the expected layout.
    #[error("{}: {reason}", path.display())]
    BadWeights {
        /// The file.
        path: PathBuf,
        /// What was found, what was expected.
        reason: String,
    },
    /// A decoder that the model does not have.
    #[error("no decoder {asked}: the model has {n}, counted from 0")]
    NoDecoder {
        /// Decoders of the model.
        n: usize,
        /// The requested one.
        asked: usize,
    },
    /// A model that only encodes.
    #[error(
        "a {kind} model without decoders cannot generate text; give one of kind skip-thought (trained by senv, not \
        fine-tuned), sdae, rnn-ae or p-thought"
    )]
    NoDecoders {
        /// The kind.
        kind: &'static str,
    },
    /// A model that cannot find words by their definitions.
    #[error(
        "a {kind} model cannot find words by their definitions; give one of kind dict-rep, which `senv train \
        dict-rep` makes from a dictionary and word vectors"
    )]
    NoDictionary {
        /// The kind.
        kind: &'static str,
    },
    /// A model without a row for each word.
    #[error("a {kind} model does not have one row per word; give a model that averages word vectors")]
    NoRows {
        /// The kind.
        kind: &'static str,
    },
    /// A new kind of model has the name of another.
    #[error("a kind of model named {kind} already exists; choose another name")]
    KindTaken {
        /// The name.
        kind: &'static str,
    },
    /// A model to which no words can be added.
    #[error("words cannot be added to a {kind} model; give one of kind skip-thought, rnn-ae, sdae, p-thought or snli")]
    CannotExpand {
        /// The kind.
        kind: &'static str,
    },
    /// A model file of a kind that cannot encode sentences.
    #[error("{}: a file of kind {kind:?} is not a sentence encoder; expected one of {}", path.display(), known.join(", "))]
    NotAnEncoder {
        /// The file.
        path: PathBuf,
        /// The kind it names.
        kind: String,
        /// The kinds that there are.
        known: Vec<&'static str>,
    },
}

#[cfg(feature = "eval")]
impl From<senv_eval::Error> for Error {
    fn from(error: senv_eval::Error) -> Self {
        Self::Eval(Box::new(error))
    }
}

impl Error {
    /// The error of a step, for a whole that ends with it and is not done.
    pub(crate) fn of_step(self) -> Self {
        match self {
            Self::Core(error) => error.of_step().into(),
            error => error,
        }
    }

    /// Returns the error of the core that this error contains, if it does, regardless of the crate that returned it.
    ///
    /// ```
    /// let error = senv::open("there/is/none.senv").unwrap_err();
    /// assert!(matches!(error.core(), Some(senv::CoreError::Io { action: "open", .. })));
    /// assert_eq!(error.io_kind(), Some(std::io::ErrorKind::NotFound));
    /// ```
    #[must_use]
    pub fn core(&self) -> Option<&senv_core::Error> {
        match self {
            Self::Core(error) => Some(error),
            Self::Data(error) => error.core(),
            Self::Training(error) => error.core(),
            Self::Ngrams(error) => error.core(),
            Self::Loss(error) => error.core(),
            Self::Store(error) => error.core(),
            Self::Index(error) => error.core(),
            #[cfg(feature = "eval")]
            Self::Eval(error) => error.core(),
            _ => None,
        }
    }

    /// Wraps an error of your own component: an encoder, scorer, objective or source of text.
    #[must_use]
    pub fn other(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        senv_core::Error::other(error).into()
    }

    /// Returns the kind of the operating system's error, if it is one.
    #[must_use]
    pub fn io_kind(&self) -> Option<std::io::ErrorKind> {
        self.core()?.io_kind()
    }

    /// Whether work was stopped on request, at any stage ([`Error::Stopped`] and
    /// [`senv_core::Error::Interrupted`]).
    #[must_use]
    pub fn is_interrupted(&self) -> bool {
        matches!(self, Self::Stopped { .. }) || self.core().is_some_and(senv_core::Error::is_interrupted)
    }

    /// Returns the settings that may help. The message names them in words.
    ///
    /// ```
    /// use senv::{Error, Remedy};
    ///
    /// let error = Error::Diverged { step: 3, lr: 9.0 };
    /// assert_eq!(error.remedies(), [Remedy::LowerLearningRate, Remedy::LimitGradients]);
    /// ```
    #[must_use]
    pub fn remedies(&self) -> &[Remedy] {
        match self {
            Self::Core(error) | Self::Loss(senv_losses::Error::Core(error)) => error.remedies(),
            Self::Data(error) => error.remedies(),
            Self::Training(error) => error.remedies(),
            Self::Ngrams(error) => error.remedies(),
            Self::Store(error) => error.remedies(),
            Self::Index(senv_index::Error::Core(error)) => error.remedies(),
            Self::AllTooLong { .. } => &[Remedy::RaiseTokenLimit, Remedy::CutLongSentences],
            Self::Diverged { .. } | Self::NotLearning { .. } => &[Remedy::LowerLearningRate, Remedy::LimitGradients],
            Self::NothingLearned | Self::Outgrown { .. } | Self::ExplodingGradient { .. } => {
                &[Remedy::LowerLearningRate]
            }
            Self::InitialVectorsDim { .. } => &[Remedy::InitialVectorsOfDim],
            Self::OtherSettings { .. } | Self::ForeignOutput { .. } => &[Remedy::Replace],
            Self::FolderInUse { .. } => &[Remedy::ShareByClaims],
            Self::ModelGone { .. }
            | Self::ModelInMemory { .. }
            | Self::OtherModel { .. }
            | Self::OtherEnglish { .. } => &[Remedy::ModelPlace],
            _ => &[],
        }
    }

    /// The step at which training failed, if that is what it is: the hyperparameters do not suit the data.
    #[must_use]
    pub(crate) fn failed_at(&self) -> Option<u64> {
        match *self {
            Self::Diverged { step, .. }
            | Self::NotLearning { step, .. }
            | Self::Outgrown { step, .. }
            | Self::ExplodingGradient { step, .. } => Some(step),
            _ => None,
        }
    }
}

/// The first three of several files, and how many more there are.
fn listed(paths: &[PathBuf]) -> String {
    let shown: Vec<String> = paths.iter().take(3).map(|path| path.display().to_string()).collect();
    let more = paths.len() - shown.len();
    if paths.is_empty() {
        return "the sentences".to_owned();
    }
    shown.join(", ") + &if more > 0 { format!(" and {more} more") } else { String::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_name_their_remedies() {
        let lower = Remedy::LowerLearningRate;
        for (error, remedies, end) in [
            (
                Error::AllTooLong { n: 2, what: "sentences".into(), limit: 3 },
                &[Remedy::RaiseTokenLimit, Remedy::CutLongSentences][..],
                "; raise the token limit, or cut long sentences",
            ),
            (
                Error::NotLearning { step: 3, lr: 9.0, loss: 2.0, bound: 1.0, of: "a guess" },
                &[lower, Remedy::LimitGradients],
                "; start again with a lower learning rate, or limit gradients",
            ),
            (Error::NothingLearned, &[lower], "; try a lower learning rate"),
            (Error::Outgrown { step: 3, lr: 9.0, growth: 1e9 }, &[lower], "; start again with a lower learning rate"),
            (
                Error::ExplodingGradient { step: 3, norm: 1e9 },
                &[lower],
                "; start again with a lower learning rate, or other initial vectors",
            ),
            (
                Error::InitialVectorsDim { expected: 3, got: 2 },
                &[Remedy::InitialVectorsOfDim],
                "the dimension of the initial vectors is 2, expected 3",
            ),
        ] {
            assert!(error.to_string().ends_with(end), "{error}");
            assert_eq!(error.remedies(), remedies, "{error}");
            for remedy in remedies {
                assert!(error.to_string().contains(&remedy.to_string()), "{error}");
            }
        }
    }

    #[test]
    fn remedies_of_other_crates_are_handed_on() {
        let core = || senv_core::Error::EmptyVocabulary { min_count: 5, distinct: 3, highest: 2 };
        for error in [
            Error::from(core()),
            senv_data::Error::from(core()).into(),
            senv_negative_sampling::Error::from(core()).into(),
            senv_ngram::Error::from(core()).into(),
            senv_losses::Error::from(core()).into(),
            senv_store::Error::from(core()).into(),
        ] {
            assert_eq!(error.remedies(), [Remedy::LowerMinCount], "{error:?}");
        }
    }
}
