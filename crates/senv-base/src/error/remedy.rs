//! What helps against an error, as a value: a program turns it into its own option, setting or button.

use std::fmt;

/// What helps where something failed or came out badly.
///
/// Shown, it is what the messages say, in words that name no option of any program. Most messages hold these words; where
/// a sentence reads better with others, it has others.
///
/// ```
/// use senv_core::{Error, Remedy};
///
/// let error = Error::EmptyVocabulary { min_count: 5, distinct: 3, highest: 2 };
/// assert_eq!(error.remedies(), [Remedy::LowerMinCount]);
/// assert!(error.to_string().contains(&Remedy::LowerMinCount.to_string()));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Remedy {
    /// A lower learning rate.
    LowerLearningRate,
    /// A higher learning rate.
    HigherLearningRate,
    /// A limit for the norm of gradients.
    LimitGradients,
    /// More passes over the text.
    MoreEpochs,
    /// A lower minimum count of the vocabulary.
    LowerMinCount,
    /// A lower minimum count of the words that may be targets.
    LowerMinTargetCount,
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
    /// A higher limit for the bytes of a line.
    RaiseLineLimit,
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
}

impl Remedy {
    /// Every remedy.
    pub const ALL: [Self; 20] = [
        Self::LowerLearningRate,
        Self::HigherLearningRate,
        Self::LimitGradients,
        Self::MoreEpochs,
        Self::LowerMinCount,
        Self::LowerMinTargetCount,
        Self::SifWeights,
        Self::Buckets,
        Self::ModelOfLargerText,
        Self::InitialVectorsOfDim,
        Self::ReplaceInvalidUtf8,
        Self::RaiseLineLimit,
        Self::RaiseTokenLimit,
        Self::CutLongSentences,
        Self::TrainOnText,
        Self::OtherModel,
        Self::ModelPlace,
        Self::NameColumn,
        Self::Replace,
        Self::ShareByClaims,
    ];
}

impl fmt::Display for Remedy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::LowerLearningRate => "a lower learning rate",
            Self::HigherLearningRate => "a higher learning rate",
            Self::LimitGradients => "limit gradients",
            Self::MoreEpochs => "more epochs",
            Self::LowerMinCount => "lower the minimum count",
            Self::LowerMinTargetCount => "lower the minimum count of targets",
            Self::SifWeights => "weights of SIF",
            Self::Buckets => "buckets",
            Self::ModelOfLargerText => "fine-tune a model of a larger text",
            Self::InitialVectorsOfDim => "initial vectors",
            Self::ReplaceInvalidUtf8 => "invalid bytes replaced",
            Self::RaiseLineLimit => "raise the limit of a line",
            Self::RaiseTokenLimit => "raise the limit of tokens",
            Self::CutLongSentences => "cut long sentences",
            Self::TrainOnText => "train a model on such text",
            Self::OtherModel => "take another model",
            Self::ModelPlace => "say where its model is now",
            Self::NameColumn => "name its column of text",
            Self::Replace => "replace what is there",
            Self::ShareByClaims => "share the files by claims",
        })
    }
}
