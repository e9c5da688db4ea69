//! `senv train relatedness`: a model and scored pairs to a model that reads scores.

use std::path::PathBuf;

use senv_losses::Grid;
use senv_models::{Model, Relatedness, RelatednessParams};

use super::{
    data_args::read_graded,
    files::RunFiles,
    fit_args::{FitArgs, epochs_of},
    job::Job,
    names::{CombineArg, FilterStartArg, GradeLossArg, set},
    outcome::Outcome,
};
use crate::{failure::Result, progress::Unit};

/// Arguments of fine-tuning.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct RelatednessArgs {
    /// The model to tune: cse, pp, siamese-cbow, word2vec, sent2vec without n-grams, or word vectors.
    #[arg(long, short, value_name = "FILE", help_heading = "Files")]
    model: PathBuf,
    /// Scored pairs, SCORE, FIRST, SECOND, separated by tabs, or a part of SICK as `senv eval sick` takes it.
    #[arg(long, value_name = "FILE", help_heading = "Files")]
    train: PathBuf,
    /// Scored pairs that choose the best weights, by Pearson's r; without them the last weights are kept.
    #[arg(long, value_name = "FILE", help_heading = "Validation")]
    dev: Option<PathBuf>,
    #[command(flatten)]
    files: RunFiles,
    #[command(flatten)]
    fit: FitArgs,
    /// Hidden units of the head, at least 1.
    #[arg(long, value_name = "N", help_heading = "Training")]
    hidden: Option<usize>,
    /// The scale of the scores: 1-5 (SICK), 0-5 (STS), any other K for 5, or senteval (0 to 5 on the grades 1 to 5, as
    /// the SentEval scripts do).
    #[arg(long, value_name = "SCALE", value_parser = parse_grid, help_heading = "Training")]
    grid: Option<Grid>,
    /// What the head sees of two vectors beside their difference.
    #[arg(long, value_name = "WHAT", help_heading = "Training")]
    combine: Option<CombineArg>,
    /// What is made small: the divergence from the grades, their cross-entropy, or the squared error of their shares.
    #[arg(long, value_name = "NAME", help_heading = "Training")]
    loss: Option<GradeLossArg>,
    /// Where filters start: at those of the model and pulled back to them, or at random and pulled to 0.
    #[arg(long, value_name = "WHERE", help_heading = "Training")]
    filters_start: Option<FilterStartArg>,
    /// Penalty on filters and biases, at least 0.
    #[arg(long, value_name = "X", help_heading = "Training", allow_negative_numbers = true)]
    l2_filters: Option<f64>,
    /// Penalty on the head, at least 0.
    #[arg(long, value_name = "X", help_heading = "Training", allow_negative_numbers = true)]
    l2_head: Option<f64>,
    /// Share of the numbers of word vectors set to 0 at each step, at least 0 and below 1.
    #[arg(long, value_name = "X", help_heading = "Training", allow_negative_numbers = true)]
    vector_dropout: Option<f64>,
}

fn parse_grid(text: &str) -> std::result::Result<Grid, String> {
    let top = |text: &str, from: usize| match text.parse::<usize>() {
        Ok(top) if top > from && top <= 1000 => Ok(top),
        _ => Err(format!("expected 1-K, 0-K or senteval, as in 1-5, got a scale up to {text:?}")),
    };
    match text.split_once('-') {
        Some(("1", k)) => Ok(Grid::OneTo(top(k, 1)?)),
        Some(("0", k)) => Ok(Grid::ZeroTo(top(k, 0)?)),
        _ if text == "senteval" => Ok(Grid::SentEval),
        _ => Err(format!("expected 1-5, 0-5 or senteval, got {text:?}")),
    }
}

impl RelatednessArgs {
    fn params(&self, threads: usize) -> RelatednessParams {
        let mut params = RelatednessParams::default();
        self.fit.apply(&mut params.fit);
        set(&mut params.hidden, self.hidden);
        set(&mut params.grid, self.grid);
        set(&mut params.combine, self.combine);
        set(&mut params.loss, self.loss);
        set(&mut params.filters, self.filters_start);
        set(&mut params.l2_filters, self.l2_filters);
        set(&mut params.l2_head, self.l2_head);
        set(&mut params.vector_dropout, self.vector_dropout);
        params.fit.threads = threads;
        params.fit.checkpoint = Some(self.files.plan());
        params
    }

    pub(crate) fn run(&self, threads: usize) -> Result {
        self.fit.check(self.dev.is_some())?;
        let params = self.params(threads);
        let mut read = vec![self.model.as_path(), &self.train];
        read.extend(self.dev.as_deref());
        let job = Job::new(&self.files, &read)?;
        let train = read_graded(&self.train)?;
        let dev = self.dev.as_deref().map(read_graded).transpose()?;
        job.run(
            epochs_of(&params.fit),
            Unit::Pairs,
            |progress| {
                let base = Model::open_verified(&self.model)?;
                Ok(Outcome::of_gradient(params.fit(&base, &train, dev.as_ref(), progress)?))
            },
            |model: &Relatedness, path| model.save(path),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_are_read() {
        assert_eq!(
            ["1-5", "0-5", "0-1", "senteval"].map(parse_grid),
            [Ok(Grid::OneTo(5)), Ok(Grid::ZeroTo(5)), Ok(Grid::ZeroTo(1)), Ok(Grid::SentEval)]
        );
        assert!(["", "5", "1-1", "0-0", "2-5", "1-x", "1--5"].iter().all(|text| parse_grid(text).is_err()));
    }
}
