//! `senv train`: text or pairs to a model.

mod autoencoders;
mod check_args;
mod data_args;
mod english_text;
mod files;
mod hyper_args;
mod init_args;
mod init_model;
mod input_args;
mod job;
mod origin;
mod outcome;
mod p_thought;
mod pair_args;
mod pairs;
mod random_bow;
mod recipe;
mod relatedness;
mod skip_thought;
mod snli;
mod text_args;
mod text_commands;
mod text_run;
mod text_systems;
mod unchanged;
mod weighted;

use clap::{ArgMatches, FromArgMatches, Subcommand};
use senv::{BowAutoencoderParams, RnnAutoencoderParams};

use self::{
    autoencoders::{BowAeArgs, RnnAeArgs},
    p_thought::PThoughtArgs,
    pair_args::{CseArgs, PpArgs},
    random_bow::RandomBowArgs,
    recipe::RecipeArgs,
    relatedness::RelatednessArgs,
    skip_thought::SkipThoughtArgs,
    snli::SnliArgs,
    text_commands::{Run, TextCommand, text_commands},
    weighted::WeightedArgs,
};
pub(super) use self::{
    check_args::check_params,
    data_args::{Loaded, PairFiles, Stage2Args, read_scored, words_of},
    hyper_args::{HyperArgs, Shown},
    origin::{InputFile, Origin},
    outcome::source_line,
    pair_args::RecipeChoice,
};
use crate::failure::Result;

/// Train a model on text, or on pairs of sentences: with the settings that fit the data, or a system of the papers.
#[derive(Debug)]
pub(crate) enum Train {
    /// No system is named.
    Recipe(Box<RecipeArgs>),
    /// One that trains on running text is.
    Text(Box<dyn Run>),
    /// Another is.
    System(Box<System>),
}

/// Written by hand: the arguments of the recipe are required only where no system is named, and derived arguments cannot
/// say so of groups within groups.
impl clap::Args for Train {
    fn augment_args(command: clap::Command) -> clap::Command {
        System::augment_subcommands(RecipeArgs::augment_args(command).subcommands(text_subcommands()))
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
            && let Some(command) = text_commands().iter().find(|command| command.about.name == name)
        {
            return Ok(Self::Text(command.parse(matches)?));
        }
        Ok(match matches.subcommand_name() {
            Some(_) => Self::System(Box::new(System::from_arg_matches(matches)?)),
            None => Self::Recipe(Box::new(RecipeArgs::from_arg_matches(matches)?)),
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> std::result::Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

fn text_subcommands() -> Vec<clap::Command> {
    text_commands().iter().map(TextCommand::command).collect()
}

/// The names of all systems.
pub(super) fn system_names() -> Vec<String> {
    let systems = System::augment_subcommands(clap::Command::new("train").subcommands(text_subcommands()));
    systems.get_subcommands().map(|command| command.get_name().to_owned()).collect()
}

const AFTER_HELP: &str = "\
Examples:
  senv train --input text.txt --output my.senv
  senv train text.txt --output my.senv
  senv train --input news.txt.gz --pairs paraphrases.tsv --output my.senv
  senv train --input mine.txt --init-model english --output my.senv
  senv train sent2vec --input text.txt --output my.senv --preset paper

Without a system, senv looks at the text: sentences in order are trained to be closer to the next one than to others (PP with a
softmax over cosines), text without an order goes to Sent2Vec. It says what it chose.
Ctrl-C writes a checkpoint and stops; the same command with --resume goes on from there.";

#[derive(Debug, Subcommand)]
pub(crate) enum System {
    /// PP (paragram-phrase): words whose mean is close for paraphrases.
    #[command(after_help = "\
Examples:
  senv train pp --pairs pairs.tsv --output pp.senv --init-vectors words.senv
  senv train pp --captions coco.tsv:4.5 --nli snli.tsv --pairs ppdb.tsv:2.5 --loss softmax-cosine \\
      --steps 3000 --init-vectors words.senv --decontaminate sts/*.tsv --dev sts-dev.tsv --output pp.senv

Ctrl-C writes a checkpoint and stops; the same command with --resume goes on from there.")]
    Pp(Box<PpArgs>),
    /// CSE: filters over windows of words, summed, close for paraphrases.
    #[command(after_help = "\
Examples:
  senv train cse --pairs phrases.tsv --output cse.senv --init-vectors words.senv
  senv train cse --pairs phrases.tsv --stage2 sentences.tsv --output cse.senv --windows 1,2,3 --filters 100

Ctrl-C writes a checkpoint and stops; the same command with --resume goes on from there.")]
    Cse(Box<CseArgs>),
    /// Skip-thoughts: a recurrent encoder from whose vector the previous and the next sentence are predicted.
    #[command(after_help = "\
Examples:
  senv train skip-thought --input books.txt --output uni.senv
  senv train skip-thought --input books.txt --bi --sentence-dim 600 --softmax sampled --output bi.senv

The sizes of the paper (2400 units, 20,000 words, full softmax) take days on a CPU; --sentence-dim 600 with --softmax
sampled takes minutes for a hundred thousand sentences.
Ctrl-C writes a checkpoint and stops; the same command with --resume goes on from there.")]
    SkipThought(Box<SkipThoughtArgs>),
    /// RNN AE: a recurrent encoder from whose vector the sentence itself is reconstructed, word by word.
    #[command(after_help = "\
Example:
  senv train rnn-ae --input text.txt --hidden 600 --softmax sampled --output ae.senv

Ctrl-C writes a checkpoint and stops; the same command with --resume goes on from there.")]
    RnnAe(Box<RnnAeArgs>),
    /// BOW AE: a sum of words from which the set of words is predicted.
    #[command(after_help = "\
Example:
  senv train bow-ae --input text.txt --dim 300 --output ae.senv

Ctrl-C writes a checkpoint and stops; the same command with --resume goes on from there.")]
    BowAe(Box<BowAeArgs>),
    /// SNLI models: sums of words or a recurrent encoder, trained to classify whether one sentence follows from another.
    #[command(after_help = "\
Examples:
  senv train snli --train snli-train.tsv --dev snli-dev.tsv --output bow.senv
  senv train snli --train snli-train.tsv --dev snli-dev.tsv --encoder rnn --sentence-dim 600 --output rnn.senv
  senv train snli --train snli-train.tsv --dev snli-dev.tsv --encoder skip-thought.senv --output tuned.senv

Ctrl-C writes a checkpoint and stops; the same command with --resume goes on from there.")]
    Snli(Box<SnliArgs>),
    /// P-thought: a recurrent encoder from whose vector the sentence and a paraphrase are predicted.
    #[command(after_help = "\
Examples:
  senv train p-thought --captions captions.tsv --init-vectors words.senv --output model.senv
  senv train p-thought --pairs paraphrases.tsv --structure two-bi --hidden 300 --output model.senv

Word vectors stay as they are unless --updates says otherwise; give good ones with --init-vectors.
Ctrl-C writes a checkpoint and stops; the same command with --resume goes on from there.")]
    PThought(Box<PThoughtArgs>),
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
        let system = match self {
            Self::Recipe(recipe) => return recipe.run(threads),
            Self::Text(system) => return system.run(threads),
            Self::System(system) => system,
        };
        match *system {
            System::Pp(args) => pairs::train(&args, threads),
            System::Cse(args) => pairs::train(&args, threads),
            System::SkipThought(args) => args.run(threads),
            System::RnnAe(args) => args.run(RnnAutoencoderParams::default(), threads),
            System::BowAe(args) => args.run(BowAutoencoderParams::default(), threads),
            System::Snli(args) => args.run(threads),
            System::PThought(args) => args.run(threads),
            System::Relatedness(args) => args.run(threads),
            System::Weighted(args) => args.run(),
            System::RandomBow(args) => args.run(),
        }
    }
}
