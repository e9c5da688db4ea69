//! Training errors.

use std::path::PathBuf;

use senv_core::Remedy;

/// The result of a fallible operation of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of the negative-sampling trainer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An error of the core: a parameter, a file, memory.
    #[error(transparent)]
    Core(#[from] senv_core::Error),
    /// No sentence yields a training example.
    #[error(
        "no sentence has two known tokens ({sentences} sentences, {tokens} known tokens); give more text, or {}",
        Remedy::LowerMinCount
    )]
    NothingToLearn {
        /// Sentences in the corpus.
        sentences: u64,
        /// Tokens of the corpus that are in the vocabulary.
        tokens: u64,
    },
    /// Sentences have known tokens, but subsampling skipped all targets or their contexts in every epoch.
    #[error(
        "subsampling skipped all known tokens ({sentences} sentences, {tokens} known tokens): its threshold is too \
        low for so little text; give more text, or {}",
        Remedy::RaiseSubsampling
    )]
    AllSkipped {
        /// Sentences in the corpus.
        sentences: u64,
        /// Tokens of the corpus that are in the vocabulary.
        tokens: u64,
    },
    /// No known token is frequent enough to be a target.
    #[error(
        "no token can be a target: the most frequent one occurs {highest} times, and targets need {least}; give more \
        text, or {}",
        Remedy::LowerMinTargetCount
    )]
    NoTargets {
        /// The minimum count of targets.
        least: u64,
        /// The highest count of a token.
        highest: u64,
    },
    /// The loss reached four times that of guessing, or a score is not finite.
    #[error(
        "training diverged in epoch {epoch} after {tokens} tokens at learning rate {lr}: the loss is more than four \
        times that of guessing; start again with {}{}",
        Remedy::LowerLearningRate,
        .checkpoint.as_ref().map(|p| format!(" from the checkpoint {}", p.display())).unwrap_or_default()
    )]
    Diverged {
        /// The epoch, counted from 1.
        epoch: u32,
        /// Tokens seen when it was noticed.
        tokens: u64,
        /// Learning rate at that point.
        lr: f32,
        /// The last good checkpoint, if there is one.
        checkpoint: Option<PathBuf>,
    },
    /// A checkpoint was written by a run with other settings or other text.
    #[error("{}: the checkpoint was written with another {what}; resume with the original settings and text, or start \
        over", path.display())]
    CheckpointMismatch {
        /// The checkpoint.
        path: PathBuf,
        /// What differs.
        what: &'static str,
    },
}

impl Error {
    /// The core error in this error, if there is one.
    #[must_use]
    pub fn core(&self) -> Option<&senv_core::Error> {
        if let Self::Core(error) = self { Some(error) } else { None }
    }

    /// The settings that could help, if any.
    #[must_use]
    pub fn remedies(&self) -> &[Remedy] {
        match self {
            Self::Core(error) => error.remedies(),
            Self::NothingToLearn { .. } => &[Remedy::LowerMinCount],
            Self::AllSkipped { .. } => &[Remedy::RaiseSubsampling],
            Self::NoTargets { .. } => &[Remedy::LowerMinTargetCount],
            Self::Diverged { .. } => &[Remedy::LowerLearningRate],
            Self::CheckpointMismatch { .. } => &[],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_name_their_remedies() {
        let error = Error::NothingToLearn { sentences: 2, tokens: 1 };
        assert!(error.to_string().ends_with("; give more text, or lower the minimum count"), "{error}");
        assert_eq!(error.remedies(), [Remedy::LowerMinCount]);
        let error = Error::AllSkipped { sentences: 2, tokens: 9 };
        assert!(error.to_string().ends_with("or raise the subsampling threshold"), "{error}");
        assert_eq!(error.remedies(), [Remedy::RaiseSubsampling]);
        let error = Error::NoTargets { least: 20, highest: 9 };
        assert!(error.to_string().ends_with("or lower the minimum count for targets"), "{error}");
        assert_eq!(error.remedies(), [Remedy::LowerMinTargetCount]);
        let error = Error::Diverged { epoch: 1, tokens: 2, lr: 9.0, checkpoint: Some("c".into()) };
        assert!(
            error.to_string().ends_with("; start again with a lower learning rate from the checkpoint c"),
            "{error}"
        );
        assert_eq!(error.remedies(), [Remedy::LowerLearningRate]);
        let core = senv_core::Error::EmptyVocabulary { min_count: 5, distinct: 3, highest: 2 };
        assert_eq!(Error::from(core).remedies(), [Remedy::LowerMinCount]);
    }
}
