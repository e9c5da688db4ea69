//! The command line.

use clap::{Parser, Subcommand, builder::RangedU64ValueParser};

use crate::{
    argument::GLOBAL,
    commands::{
        cluster, combine, compare, completions, compress, convert, decode, dedupe, define, encode, eval,
        expand_vocabulary, index, info, join_shards, manual, mine, nearest, outliers, reproduce, sample, search,
        similarity, split, train, tune,
    },
};

/// Sentence embeddings: train, encode, search and evaluate.
///
/// A model turns a sentence into a vector. Sentences with similar meanings have vectors that point in similar
/// directions.
#[derive(Debug, Parser)]
#[command(name = "senv", version, propagate_version = true, arg_required_else_help = true, after_help = EXAMPLES)]
pub(crate) struct Cli {
    /// Print only results, warnings and errors.
    #[arg(long, short, global = true, help_heading = GLOBAL)]
    pub(crate) quiet: bool,
    /// Print more, such as which model is used.
    #[arg(long, short, global = true, help_heading = GLOBAL)]
    pub(crate) verbose: bool,
    /// Number of threads, 1 to 1024; 0 uses all cores.
    #[arg(long, global = true, value_name = "N", help_heading = GLOBAL, default_value_t = 0,
          value_parser = RangedU64ValueParser::<usize>::new().range(..=1024))]
    pub(crate) threads: usize,
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXAMPLES: &str = "\
Examples:
  senv similarity \"a cat sat\" \"the kitten was sitting\"
  senv nearest text.txt --query \"a cat sat\"
  senv train text.txt --output model.senv
  senv encode --model model.senv text.txt --output text.npy
  senv index text.txt --output text.index
  senv search text.index --query \"a cat sat\"
  senv dedupe text.txt > kept.txt

`senv COMMAND -h` shows the usual options of a command, `senv help COMMAND` all of them.

Without --model, commands use the built-in English model. senv warns about text in which a model knows few words, \
such as text in another language.

Text files contain one sentence per line. They can be plain, .gz or .zst; - is standard input.

Exit codes:
  0    done
  1    failed
  2    wrong usage
  3    done, but the result may not survive a power cut, cannot be opened, or was not exported
  130  interrupted (143 by SIGTERM, 129 by SIGHUP)";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Train(train::Train),
    Tune(tune::Tune),
    Encode(encode::Encode),
    Similarity(similarity::Similarity),
    Nearest(nearest::Nearest),
    Index(index::Index),
    Search(search::Search),
    Join(join_shards::JoinShards),
    Split(split::SplitCommand),
    Dedupe(dedupe::Dedupe),
    Compare(compare::Compare),
    Cluster(cluster::Cluster),
    Mine(mine::Mine),
    Outliers(outliers::Outliers),
    Sample(sample::Sample),
    Decode(decode::Decode),
    Define(define::Define),
    Eval(eval::Eval),
    Reproduce(reproduce::Reproduce),
    Info(info::Info),
    Convert(convert::Convert),
    Compress(compress::Compress),
    ExpandVocabulary(expand_vocabulary::ExpandVocabulary),
    Combine(combine::Combine),
    Completions(completions::Completions),
    Manual(manual::Manual),
}
