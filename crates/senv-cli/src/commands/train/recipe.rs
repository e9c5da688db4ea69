//! `senv train` without the name of a system: the recipe that fits the data.

use std::path::{Path, PathBuf};

use clap::builder::{PathBufValueParser, TypedValueParser};
use senv::{
    CheckParams, CheckText, LossAgainstChance, Model, NeighbourRecipe, Recipe, Sent2VecParams, Start, System,
    TextSample, TextSystem, TrainOptions,
};

use super::{
    check_args::{CheckArgs, checker},
    data_args::go_on_line,
    english_text,
    files::RunFiles,
    hyper_args::epochs_of,
    job::Job,
    notes::Notes,
    outcome::{Outcome, source_line},
    system_names,
};
use crate::{
    commands::open_verified,
    failure::{Failure, Result},
    output::plural,
    progress::{TrainingProgress, Unit},
    text::{TextArgs, is_dash},
};

/// Data, and what little there is to choose.
#[derive(Debug, clap::Args)]
pub(crate) struct RecipeArgs {
    /// The same as --input.
    #[arg(value_name = "FILE", conflicts_with = "input", value_parser = PathBufValueParser::new().try_map(text_file))]
    paths: Vec<PathBuf>,
    /// Text, one sentence a line, a blank line between documents; plain, .gz or .zst; - is standard input.
    #[arg(long, short, value_name = "FILE", num_args = 1.., required_unless_present_any = ["pairs", "paths"],
          help_heading = "Files")]
    input: Vec<PathBuf>,
    /// Pairs that mean the same: FIRST, SECOND, separated by a tab; with text or alone.
    #[arg(long, value_name = "FILE", num_args = 1.., help_heading = "Files")]
    pairs: Vec<PathBuf>,
    /// Model to go on from, or english, which is part of senv, for English only: its words stay known and start from its vectors, those that
    /// are new from the words around them, and text is tokenized as it does. Of text without an order the halves of sentences are
    /// trained.
    #[arg(long, value_name = "MODEL", help_heading = "Files")]
    init_model: Option<PathBuf>,
    #[command(flatten)]
    files: RunFiles,
    /// Embedding dimension, 1 to 65536 [default: 300; 100 for text without an order]
    #[arg(long, value_name = "N", help_heading = "Training")]
    dim: Option<usize>,
    /// Random seed [default: 1]
    #[arg(long, value_name = "N", help_heading = "Training")]
    seed: Option<u64>,
    #[command(flatten)]
    text: TextArgs,
    #[command(flatten)]
    check: CheckArgs,
}

/// A file, and not the name of a system that is spelled otherwise.
fn text_file(path: PathBuf) -> std::result::Result<PathBuf, String> {
    let is_word = path.components().count() == 1 && path.extension().is_none() && !is_dash(&path);
    if !is_word || path.exists() {
        return Ok(path);
    }
    Err(format!("there is no such file, and no such system; the systems are {}", system_names().join(", ")))
}

impl RecipeArgs {
    pub(crate) fn run(mut self, threads: usize) -> Result {
        self.input.append(&mut self.paths);
        if self.input.iter().any(|path| is_dash(path)) && self.input.len() + self.pairs.len() > 1 {
            return Err(Failure::Usage("standard input (-) is trained on alone, without other files".into()));
        }
        let inputs = self.input.iter().chain(&self.pairs).chain(&self.init_model);
        let inputs: Vec<&Path> = inputs.map(PathBuf::as_path).collect();
        let job = Job::new(&self.files, &inputs)?;
        self.text.note_tables(&self.input);
        let text = self.files.corpus_options(&self.text, None, threads);
        let notes = Notes::default();
        let options = TrainOptions { observer: &notes, text: text.clone(), ..TrainOptions::default() };
        let files: Vec<&PathBuf> = self.input.iter().chain(&self.pairs).collect();
        let sample = TextSample::read_of(&files, &text.text_options());
        let mut recipe = Recipe::choose_by(&sample, &self.input, &self.pairs, &options)?;
        if let Some(path) = &self.init_model {
            recipe.fine_tune_from(&open_verified(path)?, &notes)?;
        }
        notes.print();
        // Pairs can teach what the English model does not know.
        if self.pairs.is_empty() && self.init_model.is_none() {
            english_text::note(&sample).iter().for_each(|note| crate::output::note(note));
        }
        if let Some(seed) = self.seed {
            recipe.set_seed(seed);
        }
        if let Some(dim) = self.dim {
            recipe.set_dim(dim);
        }
        match recipe {
            Recipe::Neighbours(recipe) => {
                recipe.params.check()?;
                let epochs = epochs_of(&recipe.params.fit);
                job.run(
                    epochs,
                    Unit::Pairs,
                    |progress| self.on_pairs(&recipe, &self.files.options(threads, progress)),
                    |model: &Model, path| model.save(path),
                )
            }
            Recipe::Words(recipe) => {
                let params = recipe.params;
                params.check()?;
                let mut resolved = params.clone();
                resolved.resolve(sample.size());
                let epochs = resolved.training.n_epochs();
                let fit = |progress: &TrainingProgress| {
                    let options = TrainOptions { text, ..self.files.options(threads, progress) };
                    self.on_words(&params, &options)
                };
                job.run(Some(epochs), Unit::Words, fit, |model: &Model, path| model.save(path))
            }
        }
    }

    fn on_pairs(&self, recipe: &NeighbourRecipe, options: &TrainOptions<'_>) -> senv::Result<Outcome<Model>> {
        let mut data = recipe.read(options)?;
        let sample = self.check.hold_out(&mut data);
        if let Some(n) = sample.as_ref().map(CheckText::n_held_out).filter(|&n| n > 0) {
            let held_out = plural(n as u64, "sentence");
            options.observer.note(&format!("{held_out} are held out of training for the check (--no-check: none)"));
        }
        let learned = recipe.fit_on(&data, options)?;
        data.reports.iter().for_each(|report| options.observer.note(&source_line(report)));
        let line = self.init_model.as_ref().map(|path| go_on_line(learned.initial, path));
        let mut outcome = Outcome::of_gradient(learned).map(Model::from);
        outcome.lines.splice(..0, line);
        outcome.check = sample.map(|text| checker(text, &recipe.params.tokenizer, None, self.init_model.is_some()));
        Ok(outcome)
    }

    fn on_words(&self, params: &Sent2VecParams, options: &TrainOptions<'_>) -> senv::Result<Outcome<Model>> {
        let data = params.read(&self.input, Start::Random, options)?;
        let sample = self.check.of_corpus(&data.corpus, &data.vocabulary, &CheckParams::default())?;
        let trained = params.fit_data(&data, options)?;
        let loss = LossAgainstChance::negative_sampling(trained.loss, params.training.negatives);
        let mut outcome = Outcome::of_text(trained).map(Model::from);
        outcome.check = sample.map(|text| checker(text, &data.tokenizer, Some(loss), false));
        Ok(outcome)
    }
}
