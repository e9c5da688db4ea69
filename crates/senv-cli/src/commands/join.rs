//! How rankings by words and by meaning become one, as arguments.

use crate::argument::argument_of;
use senv_index::documents::{Join, JoinMethod};

argument_of! {
    /// What is added up.
    enum Method for JoinMethod {
        /// How far each score stands out among all, in deviations.
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
            return Err("expected two numbers with a comma between, as in 2,1".into());
        };
        let join = Join { words, meaning, ..Join::default() };
        join.check().map(|()| Self { words, meaning }).map_err(|error| error.to_string())
    }
}

/// How rankings are joined.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(crate) struct JoinArgs {
    /// Where words and meaning rank together: what is added up [default: z-scores, which measured best]
    #[arg(long, value_name = "HOW")]
    join: Option<Method>,
    /// Where words and meaning rank together: how much each counts [default: 1,1]
    #[arg(long, value_name = "WORDS,MEANING", value_parser = Weights::parse)]
    weights: Option<Weights>,
}

impl JoinArgs {
    /// Whether anything was asked for.
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
