//! The commands, one file each.

mod check_report;
pub(crate) mod combine;
pub(crate) mod completions;
pub(crate) mod convert;
pub(crate) mod decode;
pub(crate) mod encode;
pub(crate) mod eval;
pub(crate) mod expand_vocabulary;
pub(crate) mod info;
pub(crate) mod nearest;
pub(crate) mod similarity;
pub(crate) mod train;
pub(crate) mod tune;

use std::path::{Path, PathBuf};

use senv_models::Model;

use crate::{
    args::{Cli, Command},
    failure::Result,
};

/// The model that a command works with.
#[derive(Debug, clap::Args)]
pub(crate) struct ModelArg {
    /// A model trained by senv, or word vectors (word2vec text or binary, GloVe, fastText .vec), which are averaged.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) model: PathBuf,
}

impl ModelArg {
    /// Opens it.
    pub(crate) fn open(&self) -> Result<Model> {
        Ok(Model::open(&self.model)?)
    }

    /// Opens it for work on many sentences.
    pub(crate) fn open_for_many(&self) -> Result<Model> {
        let model = self.open()?;
        model.prepare_for_many();
        Ok(model)
    }
}

/// Runs a command.
pub(crate) fn run(cli: Cli) -> Result {
    let threads = senv_core::thread_count(cli.threads);
    rayon::ThreadPoolBuilder::new().num_threads(threads).build_global()?;
    match cli.command {
        Command::Train(command) => command.run(threads),
        Command::Tune(command) => command.run(threads),
        Command::Encode(command) => command.run(threads),
        Command::Similarity(command) => command.run(threads),
        Command::Nearest(command) => command.run(),
        Command::Decode(command) => command.run(threads),
        Command::Eval(command) => command.run(),
        Command::Info(command) => command.run(),
        Command::Convert(command) => command.run(),
        Command::ExpandVocabulary(command) => command.run(),
        Command::Combine(command) => command.run(),
        Command::Completions(command) => command.run(),
    }
}

/// The name of a file without its folder.
fn file_name(path: &Path) -> String {
    path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned())
}
