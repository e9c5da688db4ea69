//! The arguments of the systems that train word vectors on running text, built from their descriptions.

use std::path::{Path, PathBuf};

use clap::{ArgMatches, Args, Command, FromArgMatches};
use senv::TextSystem;
use senv_core::TextOptions;

use super::{
    check_args::CheckArgs,
    data_args::{DevArgs, VectorArgs},
    files::RunFiles,
    hyper_args::{HyperArgs, Shown},
    init_args::InitArgs,
    init_model::InitModelArgs,
    input_args::InputArgs,
    preset::PresetArgs,
};
use crate::{failure::Result, text::TextArgs};

/// What a run reads and writes.
#[derive(Debug, clap::Args)]
pub(crate) struct Common {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    #[command(flatten)]
    pub(crate) files: RunFiles,
    /// Folder for the token ids of the text during training, four bytes per word [default: the folder of MODEL]
    #[arg(long, value_name = "DIR", help_heading = "Files")]
    pub(crate) scratch_dir: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) vectors: VectorArgs,
    #[command(flatten)]
    pub(crate) init_model: InitModelArgs,

    #[command(flatten)]
    text: TextArgs,
    #[command(flatten)]
    pub(crate) check: CheckArgs,
}

/// The file for the vectors of the lines.
#[derive(Debug, clap::Args)]
pub(crate) struct DocumentArgs {
    /// Write the trained vector of each line of the text, in order, to this NumPy file. Papers that train on the
    /// evaluated sentences compare these. A line without a known word has zeros.
    #[arg(long, value_name = "FILE.npy", help_heading = "Files")]
    pub(crate) document_vectors: Option<PathBuf>,
}

/// Validation, and initial vectors that are trained first, as arguments.
#[derive(Debug, clap::Args)]
pub(crate) struct ValidatedArgs {
    #[command(flatten)]
    pub(crate) init: InitArgs,
    #[command(flatten)]
    pub(crate) dev: DevArgs,
}

/// The arguments of a system: those of all systems, and those that only some have.
#[derive(Debug)]
pub(crate) struct SystemArgs<S: TextSystem> {
    pub(crate) common: Common,
    /// For systems that can choose the best weights by scored pairs.
    pub(crate) validated: Option<ValidatedArgs>,
    /// For systems that train vectors for the lines of their text.
    pub(crate) documents: Option<DocumentArgs>,
    preset: PresetArgs<S>,
    pub(crate) given: HyperArgs<S>,
}

impl<S: TextSystem + Shown> Args for SystemArgs<S> {
    fn augment_args(command: Command) -> Command {
        let mut command = Common::augment_args(command);
        if S::VALIDATES {
            command = ValidatedArgs::augment_args(command);
        }
        if S::TRAINS_DOCUMENTS {
            command = DocumentArgs::augment_args(command);
        }
        HyperArgs::<S>::augment_args(PresetArgs::<S>::augment_args(command))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<S: TextSystem + Shown> FromArgMatches for SystemArgs<S> {
    fn from_arg_matches(matches: &ArgMatches) -> std::result::Result<Self, clap::Error> {
        Ok(Self {
            common: Common::from_arg_matches(matches)?,
            validated: S::VALIDATES.then(|| ValidatedArgs::from_arg_matches(matches)).transpose()?,
            documents: S::TRAINS_DOCUMENTS.then(|| DocumentArgs::from_arg_matches(matches)).transpose()?,
            preset: PresetArgs::from_arg_matches(matches)?,
            given: HyperArgs::from_arg_matches(matches)?,
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> std::result::Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl<S: TextSystem + Shown> SystemArgs<S> {
    /// The default settings or those of the preset, with the given options.
    pub(crate) fn params(&self) -> Result<S> {
        let mut params = self.preset.settings();
        self.given.apply(&mut params)?;
        if self.preset.is_given() {
            params.follow(&|name| self.given.is_given(name));
        }
        Ok(params)
    }
}

impl Common {
    /// Every file that is read.
    pub(crate) fn inputs(&self) -> Vec<&Path> {
        let starts = self.vectors.init_vectors.iter().chain(&self.init_model.init_model);
        self.input.paths().iter().chain(starts).map(PathBuf::as_path).collect()
    }

    /// Puts the files of folders of text in their place.
    pub(crate) fn open_folders(&self) -> Result {
        self.input.open_folders(self.text.content())
    }

    /// Refuses tables without a column.
    pub(crate) fn check_tables(&self) -> Result {
        self.text.check_tables(self.input.paths())
    }

    /// How lines are read.
    pub(crate) fn text_options(&self) -> TextOptions {
        self.text.options()
    }
}
