//! What helps against an error, as a value: a program turns it into its own option, setting or button.

use std::{cell::Cell, fmt};

/// What helps where something failed or came out badly.
///
/// Shown, it is what the messages say, in words that name no option of any program. Every message shows its remedies in
/// these words, so that a program can have its options put behind them ([`Remedy::show`]).
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
    /// A limit for the norm of gradients.
    LimitGradients,
    /// More passes over the text.
    MoreEpochs,
    /// A lower minimum count of the vocabulary.
    LowerMinCount,
    /// A lower minimum count of the words that may be targets.
    LowerMinTargetCount,
    /// A higher threshold of subsampling.
    RaiseSubsampling,
    /// Words weighted by SIF.
    SifWeights,
    /// Another number of n-gram buckets.
    Buckets,
    /// Training that goes on from the model, or from the vectors, of a larger text.
    ModelOfLargerText,
    /// Initial vectors of the dimension of the model, or a model of theirs.
    InitialVectorsOfDim,
    /// Text or words that are not UTF-8, read with what is invalid replaced.
    ReplaceInvalidUtf8,
    /// As many rows read as there are, whatever the header of a file declares.
    AcceptRowCount,
    /// A higher limit for the bytes of a line.
    RaiseLineLimit,
    /// Each line cut into sentences by itself, where a sentence does not go on in the next.
    SplitLines,
    /// A file that becomes any number of bytes and lines of text.
    AcceptExpansion,
    /// A higher limit for the tokens of a sentence.
    RaiseTokenLimit,
    /// Sentences above the limit cut, and not left out.
    CutLongSentences,
    /// Training on text of the language and kind that is encoded.
    TrainOnText,
    /// A model of the language and kind of the text.
    OtherModel,
    /// The present path of a model that was moved.
    ModelPlace,
    /// The column of a table that is the text.
    NameColumn,
    /// What is there replaced, or made again.
    Replace,
    /// Files of a folder shared among processes by claims.
    ShareByClaims,
    /// No check of the trained model, for which a part of the text would be held out.
    LeaveOutCheck,
}

impl Remedy {
    /// Every remedy.
    pub const ALL: [Self; 26] = [
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

    /// The text of a message, or of anything that shows remedies, with the option that a program has for each remedy in
    /// brackets behind it.
    ///
    /// An error may lie within the error of another crate, which hands on no more than a formatter. So it is the thread
    /// that knows of the options while it writes the text; it forgets them at the end.
    #[must_use]
    pub fn show(message: &dyn fmt::Display, option: fn(Self) -> Option<&'static str>) -> String {
        /// Puts back what was there, also where the message panics.
        struct Before(Option<OptionOf>);
        impl Drop for Before {
            fn drop(&mut self) {
                OPTION_OF.set(self.0);
            }
        }
        let _before = Before(OPTION_OF.replace(Some(option)));
        message.to_string()
    }

    /// What it is called where no program adds an option.
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

/// The option of a program that does what a remedy says.
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
