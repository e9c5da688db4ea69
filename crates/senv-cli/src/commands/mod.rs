//! The commands, one file each.

mod answers;
mod check_report;
pub(crate) mod cluster;
mod collection_facts;
pub(crate) mod combine;
pub(crate) mod compare;
pub(crate) mod completions;
pub(crate) mod compress;
pub(crate) mod convert;
pub(crate) mod decode;
pub(crate) mod dedupe;
pub(crate) mod define;
pub(crate) mod encode;
pub(crate) mod eval;
pub(crate) mod expand_vocabulary;
pub(crate) mod index;
pub(crate) mod info;
mod join;
pub(crate) mod join_shards;
mod known_words;
pub(crate) mod manual;
pub(crate) mod mine;
pub(crate) mod nearest;
pub(crate) mod outliers;
mod rank;
pub(crate) mod reproduce;
pub(crate) mod sample;
pub(crate) mod search;
mod sentences;
pub(crate) mod similarity;
pub(crate) mod split;
mod table_rows;
pub(crate) mod train;
pub(crate) mod tune;
mod unread;

use std::path::{Path, PathBuf};

use clap::Arg;
use senv::{Model, data::PairData};
use senv_core::{
    Tokenizer, Vocabulary,
    corpus::KeptReading,
    threads::{spawn_in_turn, startable_threads, thread_count},
};
use senv_store::WordCase;

use crate::{
    args::{Cli, Command},
    failure::Result,
    output,
};

/// The kinds of checkpoints that store an interrupted reading.
const READINGS: [&str; 2] = [KeptReading::KIND, PairData::KEPT_KIND];

/// The heading of the options that all models share.
const MODEL_HEADING: &str = "Model";

/// The model that a command works with.
#[derive(Debug, clap::Args)]
pub(crate) struct ModelArg {
    /// Model or word vectors to use; english is built in.
    ///
    /// A model trained by senv, a .bin file of fastText or of the Sent2Vec program, or a Model2Vec folder. Word vectors
    /// (word2vec text or binary, GloVe, fastText .vec, finalfusion) are averaged. The built-in model is for English
    /// only.
    #[arg(long, short, value_name = "FILE", default_value = ENGLISH)]
    pub(crate) model: PathBuf,
    /// Check the whole model first: its checksums, and that no value is NaN or infinite. Commands that write a model
    /// always do this.
    #[arg(long, help_heading = MODEL_HEADING)]
    verify: bool,
    /// Read the model into memory instead of mapping its file. Needed only if another program overwrites the file in
    /// place; senv replaces files atomically.
    #[arg(long, help_heading = MODEL_HEADING)]
    copy: bool,
    /// Use this word's vector for unknown words (e.g. UUUNKKK). For averages of word vectors, in commands that encode
    /// sentences.
    #[arg(long, value_name = "WORD", help_heading = MODEL_HEADING)]
    unknown_row: Option<String>,
    /// Weight of word order and negation, 0 to 2, in a model that reads them (senv train order). 1 is as trained, less
    /// suits search by topic, and 0 ignores order [default: 1; 0 in cluster, outliers, sample and eval retrieval]
    #[arg(long = "order", value_name = "WEIGHT", value_parser = order_weight, allow_negative_numbers = true,
          help_heading = MODEL_HEADING)]
    order_weight: Option<f64>,
}

/// The largest weight of the order part.
const MAX_ORDER: f64 = 2.0;

/// Parses a weight of the order part.
pub(crate) fn order_weight(text: &str) -> std::result::Result<f64, String> {
    let weight = text.parse().ok().filter(|weight| (0.0..=MAX_ORDER).contains(weight));
    weight.ok_or_else(|| format!("must be a number from 0 to {MAX_ORDER}"))
}

impl ModelArg {
    /// Opens the model.
    pub(crate) fn open(&self) -> Result<Model> {
        if senv::is_english(&self.model) {
            output::detail("using the built-in English model (change it with --model)");
        }
        self.adjusted(match (self.copy, self.verify) {
            (true, verify) => Model::open_copied(&self.model, verify),
            (false, true) => Model::open_verified(&self.model),
            (false, false) => Model::open(&self.model),
        }?)
    }

    /// Opens the model after checking its checksums: a damaged model must not be written again with new checksums.
    pub(crate) fn open_verified(&self) -> Result<Model> {
        self.adjusted(match self.copy {
            true => Model::open_copied(&self.model, true),
            false => Model::open_verified(&self.model),
        }?)
    }

    /// The names and values of the arguments, besides the file, that change the vectors.
    pub(crate) fn settings(&self) -> Vec<(&'static str, String)> {
        let word = self.unknown_row.iter().map(|word| ("--unknown-row", word.clone()));
        word.chain(self.order_weight.map(|weight| ("--order", weight.to_string()))).collect()
    }

    /// The model with the arguments applied.
    fn adjusted(&self, model: Model) -> Result<Model> {
        if model.tokenizer().is_longest_first() {
            note_case(&self.model, model.vocabulary(), model.tokenizer());
        }
        let model = match &self.unknown_row {
            Some(word) => model.with_unknown_row(word)?,
            None => model,
        };
        Ok(match self.order_weight {
            Some(weight) => model.with_order_weight(weight)?,
            None => model,
        })
    }

    /// Opens the model for a job about topics: word order and negation do not count unless requested. Otherwise negated
    /// sentences would form a separate group.
    pub(crate) fn open_for_topics(&self) -> Result<Model> {
        let model = self.open_for_many()?;
        Ok(if self.order_weight.is_none() { model.without_order()? } else { model })
    }

    /// Opens the model to encode many sentences.
    pub(crate) fn open_for_many(&self) -> Result<Model> {
        let model = self.open()?;
        model.prepare_for_many();
        Ok(model)
    }
}

/// Notes how capitalized words are looked up in word vectors from another program, if nearly all of those are in lower
/// case and some are not.
pub(crate) fn note_case(path: &Path, vocabulary: &Vocabulary, tokenizer: &Tokenizer) {
    let WordCase { words, capitals } = WordCase::of(vocabulary);
    if tokenizer.is_lowercase() && capitals > 0 {
        output::note(&format!(
            "{} of {} in {} have capitals; words of a text are looked up unchanged, then in lower case (senv convert \
             --lowercase false makes a case-sensitive model)",
            output::grouped(capitals as u64),
            output::plural(words as u64, "word"),
            path.display()
        ));
    }
}

/// The `--model` argument of a command that requires it: the built-in model is not its default.
fn named(model: Arg) -> Arg {
    model.default_value(None).required(true).help("Model to use").long_help(None)
}

/// The name of the built-in model.
const ENGLISH: &str = "english";

/// The number of threads to use: `wanted`, or a quarter of those that the system starts if it starts fewer. Some
/// commands start as many threads besides the pool, and all of them need memory: a thread that gets none when it starts
/// ends the process.
fn threads(wanted: usize) -> usize {
    let started = startable_threads(wanted);
    if started >= wanted {
        return wanted;
    }
    let threads = (started / 4).max(1);
    output::warn(&format!("the system refuses to start {wanted} threads; using {threads}"));
    threads
}

/// Runs a command.
pub(crate) fn run(cli: Cli) -> Result {
    let wanted_threads = cli.threads;
    let threads = threads(thread_count(cli.threads));
    let start = |thread: rayon::ThreadBuilder| spawn_in_turn(|| thread.run());
    rayon::ThreadPoolBuilder::new().num_threads(threads).spawn_handler(start).build_global().map_err(|error| {
        let error = std::io::Error::other(format!("{error}; use fewer with --threads"));
        senv_core::Error::io("start threads for", "-", error)
    })?;
    match cli.command {
        Command::Train(command) => command.run(threads),
        Command::Tune(command) => command.run(threads),
        Command::Encode(command) => command.run(threads),
        Command::Similarity(command) => command.run(threads),
        Command::Nearest(command) => command.run(),
        Command::Index(command) => command.run(),
        Command::Search(command) => command.run(),
        Command::Join(command) => command.run(),
        Command::Dedupe(command) => command.run(),
        Command::Split(command) => command.run(),
        Command::Compare(command) => command.run(),
        Command::Cluster(command) => command.run(),
        Command::Mine(command) => command.run(),
        Command::Outliers(command) => command.run(),
        Command::Sample(command) => command.run(),
        Command::Decode(command) => command.run(threads),
        Command::Define(command) => command.run(),
        Command::Eval(command) => command.run(),
        Command::Reproduce(command) => command.run(wanted_threads),
        Command::Info(command) => command.run(),
        Command::Convert(command) => command.run(),
        Command::Compress(command) => command.run(),
        Command::ExpandVocabulary(command) => command.run(),
        Command::Combine(command) => command.run(),
        Command::Completions(command) => command.run(),
        Command::Manual(command) => command.run(),
    }
}

/// The name of a file without its folder.
fn file_name(path: &Path) -> String {
    path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned())
}
