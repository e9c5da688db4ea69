//! The arguments that combine rankings by words and by meaning.

use crate::argument::argument_of;
use senv_index::documents::{Join, JoinMethod};

argument_of! {
    /// The terms that are added up.
    enum Method for JoinMethod {
        /// Scores in standard deviations from their mean.
        ZScores,
        /// 1 / (60 + rank).
        ReciprocalRanks,
    }
}

/// How much words and meaning count.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Weights {
    words: f64,
    meaning: f64,
}

impl Weights {
    fn parse(text: &str) -> Result<Self, String> {
        let numbers: Result<Vec<f64>, _> = text.split(',').map(|number| number.trim().parse()).collect();
        let Ok(&[words, meaning]) = numbers.as_deref() else {
            return Err("expected two numbers separated by a comma, as in 3,1".into());
        };
        let join = Join { words, meaning, ..Join::default() };
        join.check().map(|()| Self { words, meaning }).map_err(|error| error.to_string())
    }
}

/// How rankings are combined.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(crate) struct JoinArgs {
    /// How to combine rankings by words and by meaning [default: z-scores, which measured best]
    #[arg(long, value_name = "HOW")]
    join: Option<Method>,
    /// Weights of words and meaning in a combined ranking [default: 2,1]
    #[arg(long, value_name = "WORDS,MEANING", value_parser = Weights::parse)]
    weights: Option<Weights>,
}

impl JoinArgs {
    /// Whether an argument was given.
    pub(crate) fn is_given(self) -> bool {
        self.join.is_some() || self.weights.is_some()
    }

    pub(crate) fn join(self) -> Join {
        let method = self.join.map_or(JoinMethod::ZScores, Into::into);
        let Join { words, meaning, .. } = Join::default();
        let Weights { words, meaning } = self.weights.unwrap_or(Weights { words, meaning });
        Join { method, words, meaning }
    }
}
