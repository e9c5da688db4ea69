//! The command line.

use clap::{Parser, Subcommand, builder::RangedU64ValueParser};

use crate::commands::{
    cluster, combine, compare, completions, compress, convert, decode, dedupe, define, encode, eval, expand_vocabulary,
    index, info, join_shards, manual, mine, nearest, outliers, reproduce, sample, search, similarity, split, train,
    tune,
};

/// Sentence embeddings: train, encode, search, evaluate.
///
/// A model turns a sentence into a vector; sentences that mean alike get vectors that point alike.
#[derive(Debug, Parser)]
#[command(name = "senv", version, propagate_version = true, arg_required_else_help = true, after_help = EXAMPLES)]
pub(crate) struct Cli {
    /// Say nothing but results, warnings and errors.
    #[arg(long, short, global = true, help_heading = "Everywhere")]
    pub(crate) quiet: bool,
    /// Threads, 1 to 1024; 0 for all cores.
    #[arg(long, global = true, value_name = "N", help_heading = "Everywhere", default_value_t = 0,
          value_parser = RangedU64ValueParser::<usize>::new().range(..=1024))]
    pub(crate) threads: usize,
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXAMPLES: &str = "\
Examples:
  senv similarity \"a cat sat\" \"the kitten was sitting\"
  senv nearest --input text.txt --query \"a cat sat\"
  senv train --input text.txt --output model.senv
  senv encode --model model.senv --input text.txt --output text.npy
  senv index --input text.txt --output text.index
  senv search text.index --query \"a cat sat\"
  senv dedupe text.txt > kept.txt

Without --model the English model that is part of senv is used, for English only.
Text of which a model knows few words, as other languages and code, is warned of.

Text holds one sentence a line; it may be plain, .gz or .zst, and - is standard input.
Exit codes: 0 done, 1 failed, 2 wrong usage, 3 done, but it may not outlast a power cut, cannot be opened or
is not exported, 130 interrupted (143 by SIGTERM, 129 by SIGHUP).";

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
