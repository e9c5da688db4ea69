//! The arguments of PP and CSE, and how they become the parameters of the library.

use senv_encoders::Window;
use senv_losses::{InfoNce, MarginLoss, Prefix};
use senv_models::{CseParams, PairLoss, PairParams};

use super::{
    check_args::CheckArgs,
    data_args::{DevArgs, PairFiles, Stage2Args},
    files::RunFiles,
    fit_args::{FitArgs, StartArgs},
    init_args::InitArgs,
    init_model::InitModelArgs,
    names::{ActivationArg, CandidatesArg, PaddingArg, SelectionArg, set},
    pairs::{PairSystem, Parts},
    weights_args::WeightsArgs,
};
use crate::failure::{Failure, Result};

/// Arguments of PP.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct PpArgs {
    #[command(flatten)]
    pub(crate) run: PairRunArgs,
    #[command(flatten)]
    pub(crate) learn: LearnArgs,
    #[command(flatten)]
    pub(crate) weights: WeightsArgs,
}

/// Arguments of CSE.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct CseArgs {
    #[command(flatten)]
    pub(crate) run: PairRunArgs,
    #[command(flatten)]
    pub(crate) learn: LearnArgs,
    #[command(flatten)]
    pub(crate) cnn: CnnArgs,
}

/// What a run on pairs reads and writes.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct PairRunArgs {
    #[command(flatten)]
    pub(crate) data: PairFiles,
    #[command(flatten)]
    pub(crate) init: InitArgs,
    #[command(flatten)]
    pub(crate) init_model: InitModelArgs,
    #[command(flatten)]
    pub(crate) stage2: Stage2Args,
    #[command(flatten)]
    pub(crate) files: RunFiles,
    #[command(flatten)]
    pub(crate) loss: LossArgs,
    #[command(flatten)]
    pub(crate) dev: DevArgs,
    #[command(flatten)]
    pub(crate) check: CheckArgs,
}

/// The loss, a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum LossArg {
    /// Hinges: a pair must be closer than other sentences of the batch by a margin (the papers).
    Margin,
    /// Softmax over the cosines of the whole batch, with a temperature.
    SoftmaxCosine,
}

/// Settings to start from, a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum RecipeArg {
    /// Softmax over large batches, words that start in the proportions of SIF, a rate that warms up and falls. CSE
    /// keeps its own optimizer, rate and penalties.
    Softmax,
}

/// What pushes, and which settings the others start from.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct LossArgs {
    /// What pushes; pp with softmax-cosine starts from --recipe softmax.
    #[arg(long, value_name = "NAME", help_heading = "Training")]
    loss: Option<LossArg>,
    /// Start from these settings; arguments given change them.
    #[arg(long, value_name = "NAME", help_heading = "Training")]
    recipe: Option<RecipeArg>,
}

impl LossArgs {
    /// The parameters that the other arguments change.
    pub(crate) fn start<S: PairSystem>(&self) -> S {
        let softmax = self.loss == Some(LossArg::SoftmaxCosine);
        let mut params =
            if self.recipe.is_some() || softmax && S::SOFTMAX_BRINGS_RECIPE { S::recipe() } else { S::default() };
        let loss = &mut params.parts().pairs.loss;
        match (self.loss, &*loss) {
            (Some(LossArg::Margin), PairLoss::SoftmaxCosine(_)) => *loss = PairLoss::Margin(MarginLoss::default()),
            (Some(LossArg::SoftmaxCosine), PairLoss::Margin(_)) => *loss = PairLoss::SoftmaxCosine(InfoNce::default()),
            _ => {}
        }
        params
    }
}

/// Training arguments of both: everything that a grid search may vary.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct LearnArgs {
    #[command(flatten)]
    pub(crate) start: StartArgs,
    #[command(flatten)]
    pub(crate) fit: FitArgs,
    /// By how much a pair must be closer, 0 to 2, a cosine (margin).
    #[arg(long, value_name = "X", help_heading = "Training", allow_negative_numbers = true)]
    margin: Option<f64>,
    /// Which sentences of other pairs may be negatives (margin).
    #[arg(long, value_name = "WHICH", help_heading = "Training")]
    candidates: Option<CandidatesArg>,
    /// Which of them is taken: the closest, any, or either with equal chance (margin).
    #[arg(long, value_name = "HOW", help_heading = "Training")]
    negatives_selection: Option<SelectionArg>,
    /// Divides cosines, above 0 (softmax-cosine).
    #[arg(long, value_name = "X", help_heading = "Training", allow_negative_numbers = true)]
    temperature: Option<f64>,
    /// Take the loss on the first DIM numbers too, for each DIM, so that vectors may be cut there (softmax-cosine).
    #[arg(long, value_name = "DIM,DIM", value_delimiter = ',', help_heading = "Training")]
    nested: Vec<usize>,
    /// Share of the words left out of a sentence at each step, at least 0 and below 1.
    #[arg(long, value_name = "X", help_heading = "Training", allow_negative_numbers = true)]
    word_dropout: Option<f64>,
    /// Share of the numbers of word vectors set to 0 at each step, at least 0 and below 1.
    #[arg(long, value_name = "X", help_heading = "Training", allow_negative_numbers = true)]
    vector_dropout: Option<f64>,
    /// Probability that the words of a pair are shuffled, 0 to 1.
    #[arg(long, value_name = "X", help_heading = "Training", allow_negative_numbers = true)]
    scramble: Option<f64>,
}

impl LearnArgs {
    /// Sets what was given.
    pub(crate) fn apply(&self, parts: Parts<'_>, of_vectors: Option<usize>) -> Result {
        self.start.apply(parts.dim, parts.initial, of_vectors);
        self.fit.apply(parts.fit);
        set(&mut parts.pairs.word_dropout, self.word_dropout);
        set(&mut parts.pairs.vector_dropout, self.vector_dropout);
        set(&mut parts.pairs.scramble, self.scramble);
        self.apply_loss(parts.pairs)
    }

    fn apply_loss(&self, pairs: &mut PairParams) -> Result {
        let of_margin = [
            ("margin", self.margin.is_some()),
            ("candidates", self.candidates.is_some()),
            ("negatives-selection", self.negatives_selection.is_some()),
        ];
        let of_softmax = [("temperature", self.temperature.is_some()), ("nested", !self.nested.is_empty())];
        match &mut pairs.loss {
            PairLoss::Margin(loss) => {
                refuse(&of_softmax, "softmax-cosine")?;
                set(&mut loss.margin, self.margin);
                set(&mut loss.candidates, self.candidates);
                set(&mut loss.selection, self.negatives_selection);
            }
            PairLoss::SoftmaxCosine(loss) => {
                refuse(&of_margin, "margin")?;
                set(&mut loss.temperature, self.temperature);
                if !self.nested.is_empty() {
                    loss.prefixes = self.nested.iter().map(|&dim| Prefix { dim, weight: 1.0 }).collect();
                }
            }
        }
        Ok(())
    }
}

/// An error if something is given that belongs to the other loss.
fn refuse(given: &[(&str, bool)], loss: &str) -> Result {
    match given.iter().find(|(_, given)| *given) {
        Some((name, _)) => Err(Failure::Usage(format!("--{name} belongs to --loss {loss}"))),
        None => Ok(()),
    }
}

/// Arguments of CSE alone: the filters.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct CnnArgs {
    /// Words under the filters, each at least 1.
    #[arg(long, value_name = "N,N", value_delimiter = ',', help_heading = "Training")]
    windows: Vec<usize>,
    /// Filters of every window, or one number a window.
    #[arg(long, value_name = "N,N", value_delimiter = ',', help_heading = "Training")]
    filters: Vec<usize>,
    /// What is done to the result of a filter before it is summed; linear is nearly blind to word order.
    #[arg(long, value_name = "NAME", help_heading = "Training")]
    activation: Option<ActivationArg>,
    /// What becomes of sentences shorter than a window: padded for each width, or up to the widest.
    #[arg(long, value_name = "RULE", help_heading = "Training")]
    padding: Option<PaddingArg>,
    /// Penalty on filters and biases, at least 0.
    #[arg(long, value_name = "X", help_heading = "Training", allow_negative_numbers = true)]
    l2_filters: Option<f64>,
}

impl CnnArgs {
    /// Sets what was given.
    pub(crate) fn apply(&self, params: &mut CseParams) -> Result {
        set(&mut params.activation, self.activation);
        set(&mut params.padding, self.padding);
        set(&mut params.pairs.l2_filters, self.l2_filters);
        let widths: Vec<usize> = match self.windows.is_empty() {
            true => params.windows.iter().map(|window| window.width).collect(),
            false => self.windows.clone(),
        };
        let filters: Vec<usize> = match self.filters.as_slice() {
            [] => match params.windows.first() {
                Some(first) => vec![first.n_filters; widths.len()],
                None => Vec::new(),
            },
            [one] => vec![*one; widths.len()],
            many => many.to_vec(),
        };
        if filters.len() != widths.len() {
            let (n, windows) = (filters.len(), widths.len());
            return Err(Failure::Usage(format!(
                "--filters has {n} numbers for {windows} windows; give one, or one a window"
            )));
        }
        let window = |(width, n_filters)| Window { width, n_filters };
        params.windows = widths.into_iter().zip(filters).map(window).collect();
        Ok(())
    }
}
