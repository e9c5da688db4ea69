//! `senv train`: text or pairs to a model.

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

/// Train a model on text, or on pairs of sentences: with the settings that fit the data, or a system of the papers.
#[derive(Debug)]
pub(crate) enum Train {
    /// No system is named.
    Recipe(Box<RecipeArgs>),
    /// One is.
    System(Box<dyn Run>),
    /// One that makes a model of a model, or of nothing, is.
    Derived(Box<Derived>),
}

/// Written by hand: the arguments of the recipe are required only where no system is named, and derived arguments
/// cannot say so of groups within groups.
impl clap::Args for Train {
    fn augment_args(command: clap::Command) -> clap::Command {
        Derived::augment_subcommands(RecipeArgs::augment_args(command).subcommands(system_subcommands()))
            .about("Train a model on text, or on pairs of sentences")
            .long_about(
                "Train a model on text, or on pairs of sentences: with the settings that fit the data, or a system of the \
                 papers",
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

/// The names of all systems.
pub(super) fn system_names() -> Vec<String> {
    let systems = Derived::augment_subcommands(clap::Command::new("train").subcommands(system_subcommands()));
    systems.get_subcommands().map(|command| command.get_name().to_owned()).collect()
}

const AFTER_HELP: &str = "\
Examples:
  senv train --input text.txt --output my.senv
  senv train text.txt --output my.senv
  senv train --input news.txt.gz --pairs paraphrases.tsv --output my.senv
  senv train --input mine.txt --from scratch --output my.senv
  senv train sent2vec --input text.txt --output my.senv --preset paper

Without a system, senv looks at the text: sentences in order are trained to be closer to the next one than to others (PP with a
softmax over cosines), text without an order goes to Sent2Vec. English text and pairs fine-tune the English model of senv where a
trial on a part of them finds that better. It says what it chose.
Ctrl-C writes a checkpoint and stops; the same command with --resume goes on from there.";

#[derive(Debug, Subcommand)]
pub(crate) enum Derived {
    /// Fine-tune a model on scored pairs, with a head that predicts the score from two vectors.
    #[command(after_help = "\
Examples:
  senv train relatedness --model cse.senv --train sick-train.tsv --dev sick-dev.tsv --output sick.senv
  senv similarity --model sick.senv \"a cat sat on the mat\" \"a dog lay on the rug\"

Ctrl-C writes a checkpoint and stops; the same command with --resume goes on from there.")]
    Relatedness(Box<RelatednessArgs>),
    /// Weight the words of a model by how rare they are, and remove the common components of sentences (SIF, uSIF).
    #[command(after_help = "\
Examples:
  senv train weighted --model words.senv --input text.txt --output sif.senv
  senv train weighted --model words.senv --input text.txt --scheme usif --components 5 --output usif.senv")]
    Weighted(Box<WeightedArgs>),
    /// Random BOW: sums of fixed random word vectors, trained on nothing; what any model should beat.
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
