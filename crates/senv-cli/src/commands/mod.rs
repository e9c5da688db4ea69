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
pub(crate) mod reproduce;
pub(crate) mod sample;
pub(crate) mod search;
mod sentences;
pub(crate) mod similarity;
pub(crate) mod split;
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

/// Kinds of checkpoints of a reading that was stopped.
const READINGS: [&str; 2] = [KeptReading::KIND, PairData::KEPT_KIND];

/// The model that a command works with.
#[derive(Debug, clap::Args)]
pub(crate) struct ModelArg {
    /// A model trained by senv, a .bin of fastText or Sent2Vec's program, or word vectors (word2vec text or binary,
    /// GloVe, fastText .vec, finalfusion), which are averaged; a folder of Model2Vec; english is the model that is part
    /// of senv, for English only.
    #[arg(long, short, value_name = "FILE", default_value = ENGLISH)]
    pub(crate) model: PathBuf,
    /// Read the whole model first: compare it with its checksums, and look for values that are NaN or infinite.
    /// Commands that write a model always do.
    #[arg(long)]
    verify: bool,
    /// Read the model into memory instead of mapping its file: for a file that is overwritten in place while it is
    /// used. senv itself replaces files as a whole, and needs no copy.
    #[arg(long)]
    copy: bool,
    /// Take every word that the model lacks as this word of it, as files of vectors have one for that (UUUNKKK in those
    /// of Paragram); for averages of words, in commands that encode sentences.
    #[arg(long, value_name = "WORD")]
    unknown_row: Option<String>,
    /// How much word order and negation count, in a model with a part that reads them (senv train order): 1 as it was
    /// trained, less for a search by topic, more to tell apart what only order tells apart; 0 leaves the part out
    /// [default: 1; 0 in cluster, outliers, sample and eval retrieval]
    #[arg(long = "order", value_name = "WEIGHT", value_parser = order_weight, allow_negative_numbers = true)]
    order_weight: Option<f64>,
}

/// The largest weight of the order part.
const MAX_ORDER: f64 = 2.0;

/// A weight of the order part.
pub(crate) fn order_weight(text: &str) -> std::result::Result<f64, String> {
    let weight = text.parse().ok().filter(|weight| (0.0..=MAX_ORDER).contains(weight));
    weight.ok_or_else(|| format!("expected a number from 0 to {MAX_ORDER}"))
}

impl ModelArg {
    /// Opens it.
    pub(crate) fn open(&self) -> Result<Model> {
        self.adjusted(match (self.copy, self.verify) {
            (true, verify) => Model::open_copied(&self.model, verify),
            (false, true) => Model::open_verified(&self.model),
            (false, false) => Model::open(&self.model),
        }?)
    }

    /// The same, with the whole file compared with its checksums: for what is written anew, which must not carry damage
    /// on under checksums that fit.
    pub(crate) fn open_verified(&self) -> Result<Model> {
        self.adjusted(match self.copy {
            true => Model::open_copied(&self.model, true),
            false => Model::open_verified(&self.model),
        }?)
    }

    /// The arguments, beside the file, that decide what vectors it makes: their names and values.
    pub(crate) fn settings(&self) -> Vec<(&'static str, String)> {
        let word = self.unknown_row.iter().map(|word| ("--unknown-row", word.clone()));
        word.chain(self.order_weight.map(|weight| ("--order", weight.to_string()))).collect()
    }

    /// The model as the arguments want it.
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

    /// Opens it for a job that goes by what sentences are about: word order and negation do not count unless that is
    /// asked for. Negated sentences would be a group of their own.
    pub(crate) fn open_for_topics(&self) -> Result<Model> {
        let model = self.open_for_many()?;
        Ok(if self.order_weight.is_none() { model.without_order()? } else { model })
    }

    /// Opens it for an evaluation, and says so where it is the one that is part of senv: a figure is that of a model.
    pub(crate) fn open_for_many(&self) -> Result<Model> {
        if senv::is_english(&self.model) {
            output::note("using the English model that is part of senv, for English only; --model FILE takes another");
        }
        let model = self.open()?;
        model.prepare_for_many();
        Ok(model)
    }
}

/// Says how words with capitals are looked up in word vectors of another program, where that is not plain: nearly all
/// of them are in lower case, and some are not.
pub(crate) fn note_case(path: &Path, vocabulary: &Vocabulary, tokenizer: &Tokenizer) {
    let WordCase { words, capitals } = WordCase::of(vocabulary);
    if tokenizer.is_lowercase() && capitals > 0 {
        output::note(&format!(
            "{} of {} in {} have capitals: words of a text are looked up as they stand and then in lower case (senv convert \
             --lowercase false makes a model that counts capitals)",
            output::grouped(capitals as u64),
            output::plural(words as u64, "word"),
            path.display()
        ));
    }
}

/// The argument of a command that the model which is part of senv is of no use to: it must be given.
fn named(model: Arg) -> Arg {
    model.default_value(None).required(true).help("The model, a file").long_help(None)
}

/// The name of the model that is part of senv.
const ENGLISH: &str = "english";

/// As many threads as are wanted, or a fourth of those that the system starts where it starts fewer: some commands read
/// and then train with as many threads of their own beside the pool, and what is left is for the memory that all of
/// them take. A thread that finds none when it starts ends the process.
fn threads(wanted: usize) -> usize {
    let started = startable_threads(wanted);
    if started >= wanted {
        return wanted;
    }
    let threads = (started / 4).max(1);
    output::warn(&format!("the system refuses to start {wanted} threads; going on with {threads}"));
    threads
}

/// Runs a command.
pub(crate) fn run(cli: Cli) -> Result {
    let wanted_threads = cli.threads;
    let threads = threads(thread_count(cli.threads));
    let start = |thread: rayon::ThreadBuilder| spawn_in_turn(|| thread.run());
    rayon::ThreadPoolBuilder::new().num_threads(threads).spawn_handler(start).build_global().map_err(|error| {
        let error = std::io::Error::other(format!("{error}; give fewer with --threads"));
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
