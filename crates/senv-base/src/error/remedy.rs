//! Remedies for errors, as values that a program turns into its own options, settings or buttons.

use std::{cell::Cell, fmt};

/// A setting that helps after a failure or a bad result.
///
/// `Display` writes the words that messages use. They name no option of any program, so a program can add its own
/// options after them ([`Remedy::show`]).
///
/// ```
/// use senv_core::{Error, Remedy};
///
/// let error = Error::EmptyVocabulary { min_count: 5, distinct: 3, highest: 2 };
/// assert_eq!(error.remedies(), [Remedy::LowerMinCount]);
/// assert!(error.to_string().ends_with("; lower the minimum count or give more text"));
/// let option = |remedy| (remedy == Remedy::LowerMinCount).then_some("--min-count");
/// assert!(Remedy::show(&error, option).ends_with("; lower the minimum count (--min-count) or give more text"));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Remedy {
    /// A lower learning rate.
    LowerLearningRate,
    /// A higher learning rate.
    HigherLearningRate,
    /// Weaker L1 regularization.
    WeakerL1,
    /// A limit on the norm of gradients.
    LimitGradients,
    /// More epochs.
    MoreEpochs,
    /// A lower minimum count of the vocabulary.
    LowerMinCount,
    /// A lower minimum count for words that can be targets.
    LowerMinTargetCount,
    /// A higher subsampling threshold.
    RaiseSubsampling,
    /// SIF weights for words.
    SifWeights,
    /// A different number of n-gram buckets.
    Buckets,
    /// Fine-tuning a model trained on more text, or starting from its word vectors.
    ModelOfLargerText,
    /// Initial vectors with the dimension of the model, or a model with the dimension of the vectors.
    InitialVectorsOfDim,
    /// Reading text or words that are not UTF-8 with invalid bytes replaced.
    ReplaceInvalidUtf8,
    /// Reading text that is not UTF-8 as windows-1252, the usual encoding of older files from Windows.
    ReadWindows1252,
    /// Reading as many rows as there are, regardless of the number in the file's header.
    AcceptRowCount,
    /// A higher limit on the bytes of a line.
    RaiseLineLimit,
    /// Splitting each line into sentences separately, if no sentence continues in the next line.
    SplitLines,
    /// Accepting a file that expands to any number of bytes and lines.
    AcceptExpansion,
    /// A higher limit on the tokens of a sentence.
    RaiseTokenLimit,
    /// Truncating sentences above the limit instead of leaving them out.
    CutLongSentences,
    /// Training on text of the same language and kind as the text to encode.
    TrainOnText,
    /// A model of the language and kind of the text.
    OtherModel,
    /// The current path of a model that was moved.
    ModelPlace,
    /// The table column that contains the text.
    NameColumn,
    /// Replacing or recreating what exists.
    Replace,
    /// Sharing the files of a folder among processes with claims.
    ShareByClaims,
    /// Skipping the check of the trained model, which would hold out a part of the text.
    LeaveOutCheck,
}

impl Remedy {
    /// All remedies.
    pub const ALL: [Self; 27] = [
        Self::LowerLearningRate,
        Self::HigherLearningRate,
        Self::WeakerL1,
        Self::LimitGradients,
        Self::MoreEpochs,
        Self::LowerMinCount,
        Self::LowerMinTargetCount,
        Self::RaiseSubsampling,
        Self::SifWeights,
        Self::Buckets,
        Self::ModelOfLargerText,
        Self::InitialVectorsOfDim,
        Self::ReplaceInvalidUtf8,
        Self::ReadWindows1252,
        Self::AcceptRowCount,
        Self::RaiseLineLimit,
        Self::SplitLines,
        Self::AcceptExpansion,
        Self::RaiseTokenLimit,
        Self::CutLongSentences,
        Self::TrainOnText,
        Self::OtherModel,
        Self::ModelPlace,
        Self::NameColumn,
        Self::Replace,
        Self::ShareByClaims,
        Self::LeaveOutCheck,
    ];

    /// Formats a message and adds the program's option, in parentheses, after each remedy in it.
    ///
    /// An error can contain the error of another crate, to which it passes only a formatter. So the options are stored
    /// in the thread while it writes the text, and removed afterwards.
    #[must_use]
    pub fn show(message: &dyn fmt::Display, option: fn(Self) -> Option<&'static str>) -> String {
        /// Restores the previous options, even if the message panics.
        struct Before(Option<OptionOf>);
        impl Drop for Before {
            fn drop(&mut self) {
                OPTION_OF.set(self.0);
            }
        }
        let _before = Before(OPTION_OF.replace(Some(option)));
        message.to_string()
    }

    /// The text of the remedy without options.
    const fn words(self) -> &'static str {
        match self {
            Self::LowerLearningRate => "a lower learning rate",
            Self::HigherLearningRate => "a higher learning rate",
            Self::WeakerL1 => "weaker L1 regularization",
            Self::LimitGradients => "limit gradients",
            Self::MoreEpochs => "more epochs",
            Self::LowerMinCount => "lower the minimum count",
            Self::LowerMinTargetCount => "lower the minimum count for targets",
            Self::RaiseSubsampling => "raise the subsampling threshold",
            Self::SifWeights => "SIF weights",
            Self::Buckets => "buckets",
            Self::ModelOfLargerText => "fine-tune a model trained on more text",
            Self::InitialVectorsOfDim => "initial vectors",
            Self::ReplaceInvalidUtf8 => "invalid bytes replaced",
            Self::ReadWindows1252 => "as windows-1252",
            Self::AcceptRowCount => "the declared number of rows ignored",
            Self::RaiseLineLimit => "raise the line length limit",
            Self::SplitLines => "split each line separately",
            Self::AcceptExpansion => "accept any expansion",
            Self::RaiseTokenLimit => "raise the token limit",
            Self::CutLongSentences => "cut long sentences",
            Self::TrainOnText => "train a model on such text",
            Self::OtherModel => "use another model",
            Self::ModelPlace => "give the path of the model",
            Self::NameColumn => "name its text column",
            Self::Replace => "overwrite it",
            Self::ShareByClaims => "share the files through claims",
            Self::LeaveOutCheck => "skip the check",
        }
    }
}

impl fmt::Display for Remedy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.words())?;
        match OPTION_OF.get().and_then(|option_of| option_of(*self)) {
            Some(option) => write!(f, " ({option})"),
            None => Ok(()),
        }
    }
}

/// Returns the option of a program that applies a remedy.
type OptionOf = fn(Remedy) -> Option<&'static str>;

thread_local! {
    static OPTION_OF: Cell<Option<OptionOf>> = const { Cell::new(None) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_shown_by_one_call_alone() {
        let text = || format!("{}, {}", Remedy::MoreEpochs, Remedy::Buckets);
        let option = |remedy| (remedy == Remedy::MoreEpochs).then_some("--epochs");
        let both = format_args!("{}, {}", Remedy::MoreEpochs, Remedy::Buckets);
        assert_eq!(Remedy::show(&both, option), "more epochs (--epochs), buckets");
        assert_eq!(text(), "more epochs, buckets");
        struct Panics;
        impl fmt::Display for Panics {
            fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
                panic!("of no matter")
            }
        }
        assert!(std::panic::catch_unwind(|| Remedy::show(&Panics, option)).is_err());
        assert_eq!(text(), "more epochs, buckets");
    }
}
