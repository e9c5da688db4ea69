//! `senv train`: trains a model on text or pairs.

mod check_args;
mod data_args;
mod files;
mod hyper_args;
mod init_args;
mod init_model;
mod input_args;
mod job;
mod notes;
mod order;
mod origin;
mod outcome;
mod p_thought;
mod pair_args;
mod pairs;
mod preset;
mod random_bow;
mod recipe;
mod relatedness;
mod run;
mod running_text;
mod snli;
mod student;
mod system_commands;
mod targets;
mod text_run;
mod text_systems;
mod unchanged;
mod weighted;

use clap::{ArgMatches, FromArgMatches, Subcommand};

pub(super) use self::{
    data_args::{PairFiles, Stage2Args, read_scored},
    hyper_args::{HyperArgs, Shown},
    origin::{InputFile, Origin},
    pair_args::RecipeChoice,
    preset::PresetArgs,
};
use self::{
    random_bow::RandomBowArgs,
    recipe::RecipeArgs,
    relatedness::RelatednessArgs,
    system_commands::{Run, SystemCommand, system_commands},
    weighted::WeightedArgs,
};
use crate::failure::Result;

/// Trains a model on text or on pairs of sentences: with settings chosen for the data, or with a system of the papers.
#[derive(Debug)]
pub(crate) enum Train {
    /// Training without a named system: senv chooses one for the data.
    Recipe(Box<RecipeArgs>),
    /// Training with a named system.
    System(Box<dyn Run>),
    /// A system that makes a model from another model, or without data.
    Derived(Box<Derived>),
}

/// Written by hand: the arguments of the recipe are required only without a system, and derived arguments cannot
/// express that for nested groups.
impl clap::Args for Train {
    fn augment_args(command: clap::Command) -> clap::Command {
        Derived::augment_subcommands(RecipeArgs::augment_args(command).subcommands(system_subcommands()))
            .about("Train a model on text or on pairs of sentences")
            .long_about(
                "Train a model on text or on pairs of sentences\n\nWithout a system, senv chooses system and settings for \
                 the data and says what it chose. If the sentences are in order, it trains each to be closer to the next \
                 one than to others (PP with a softmax over cosines); other text is trained with Sent2Vec. For English \
                 text and pairs, senv fine-tunes the built-in model if a trial on a part of the data finds that better.",
            )
            .override_usage(
                "senv train [OPTIONS] --output <MODEL> <FILE>...\n       senv train <SYSTEM> [OPTIONS] --output <MODEL>",
            )
            .subcommand_required(false)
            .arg_required_else_help(true)
            .args_conflicts_with_subcommands(true)
            .subcommand_negates_reqs(true)
            .subcommand_value_name("SYSTEM")
            .subcommand_help_heading("Systems")
            .after_help(AFTER_HELP)
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Train {
    fn from_arg_matches(matches: &ArgMatches) -> std::result::Result<Self, clap::Error> {
        if let Some((name, matches)) = matches.subcommand()
            && let Some(command) = system_commands().iter().find(|command| command.about.name == name)
        {
            return Ok(Self::System(command.parse(matches)?));
        }
        Ok(match matches.subcommand_name() {
            Some(_) => Self::Derived(Box::new(Derived::from_arg_matches(matches)?)),
            None => Self::Recipe(Box::new(RecipeArgs::from_arg_matches(matches)?)),
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> std::result::Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

fn system_subcommands() -> Vec<clap::Command> {
    system_commands().iter().map(SystemCommand::command).collect()
}

/// Returns the names of all systems.
pub(super) fn system_names() -> Vec<String> {
    let systems = Derived::augment_subcommands(clap::Command::new("train").subcommands(system_subcommands()));
    systems.get_subcommands().map(|command| command.get_name().to_owned()).collect()
}

const AFTER_HELP: &str = "\
Examples:
  senv train text.txt --output my.senv
  senv train sent2vec text.txt --output my.senv --preset paper
  senv train --input news.txt.gz --pairs paraphrases.tsv --output my.senv
  senv train mine.txt --from scratch --output my.senv

Ctrl-C saves a checkpoint and stops; run the same command with --resume to continue.";

#[derive(Debug, Subcommand)]
pub(crate) enum Derived {
    /// Fine-tune a model on scored pairs, with a head that predicts the score from two vectors
    #[command(after_help = "\
Examples:
  senv train relatedness --model cse.senv --train sick-train.tsv --dev sick-dev.tsv --output sick.senv
  senv similarity --model sick.senv \"a cat sat on the mat\" \"a dog lay on the rug\"

Ctrl-C saves a checkpoint and stops; run the same command with --resume to continue.")]
    Relatedness(Box<RelatednessArgs>),
    /// Weight the words of a model by rarity and remove common components of sentences (SIF, uSIF).
    #[command(after_help = "\
Examples:
  senv train weighted --model words.senv --input text.txt --output sif.senv
  senv train weighted --model words.senv --input text.txt --scheme usif --components 5 --output usif.senv")]
    Weighted(Box<WeightedArgs>),
    /// Random BOW: sums of fixed random word vectors, a baseline without training.
    #[command(after_help = "\
Example:
  senv train random-bow --output random.senv")]
    RandomBow(RandomBowArgs),
}

impl Train {
    pub(crate) fn run(self, threads: usize) -> Result {
        let derived = match self {
            Self::Recipe(recipe) => return recipe.run(threads),
            Self::System(system) => return system.run(threads),
            Self::Derived(derived) => derived,
        };
        match *derived {
            Derived::Relatedness(args) => args.run(threads),
            Derived::Weighted(args) => args.run(),
            Derived::RandomBow(args) => args.run(),
        }
    }
}
