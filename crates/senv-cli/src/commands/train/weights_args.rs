//! How the words of an average are weighted once they are trained, and what stands for unknown ones.

use clap::ValueEnum;
use senv_models::{UnknownWords, WeightScheme};

use super::names::set;
use crate::failure::{Failure, Result};

/// Weights of words, and common components.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(crate) struct WeightsArgs {
    /// Weights of words (and n-grams) in sentence vectors by how rare the words are in the text, and removal of the
    /// components that all sentence vectors share; both are kept in the model.
    #[arg(long, value_name = "NAME", help_heading = "Weights")]
    weights: Option<WeightsArg>,
    /// Where the weight a / (a + p) of SIF is one half, above 0; p: share of the word in the text [default: 0.001]
    #[arg(long, value_name = "A", help_heading = "Weights", allow_negative_numbers = true)]
    sif_a: Option<f64>,
    /// What stands for words that the model does not know, in sentence vectors.
    #[arg(long, value_name = "NAME", help_heading = "Weights")]
    unknown_words: Option<UnknownWordsArg>,
}

/// What stands for unknown words, a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum UnknownWordsArg {
    /// Nothing, as in the papers.
    Skip,
    /// A random vector for each, from a hash of the word: sentences that share one are more alike.
    Hash,
}

/// Which weights, a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum WeightsArg {
    /// A plain mean.
    None,
    /// a / (a + p), one component removed whole (Arora et al. 2017).
    Sif,
    /// Weights that follow from the counts, five components removed by their shares (Ethayarajh 2018).
    Usif,
}

impl From<UnknownWordsArg> for UnknownWords {
    fn from(argument: UnknownWordsArg) -> Self {
        match argument {
            UnknownWordsArg::Skip => Self::Skip,
            UnknownWordsArg::Hash => Self::Hash,
        }
    }
}

impl WeightsArgs {
    /// Sets what was given.
    pub(crate) fn apply(&self, weighting: &mut Option<WeightScheme>, unknown: &mut UnknownWords) -> Result {
        set(unknown, self.unknown_words);
        match self.weights {
            None => {}
            Some(WeightsArg::None) => *weighting = None,
            Some(WeightsArg::Sif) => *weighting = Some(WeightScheme::SIF),
            Some(WeightsArg::Usif) => *weighting = Some(WeightScheme::USIF),
        }
        match (weighting, self.sif_a) {
            (Some(WeightScheme::Sif { a }), Some(given)) => *a = given,
            (_, Some(_)) => return Err(Failure::Usage("--sif-a belongs to --weights sif".into())),
            _ => {}
        }
        Ok(())
    }
}
