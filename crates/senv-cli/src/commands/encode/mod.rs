//! `senv encode`: sentences to vectors.

mod folder;
mod format;
mod lines;
#[cfg(feature = "arrow")]
mod table;

use std::{
    path::{Path, PathBuf},
    time::Instant,
};

use clap::builder::RangedU64ValueParser;
use senv::{
    Model,
    jobs::{CoverageCounts, LineEncoding, files_of_pattern},
};
use senv_core::{
    TextReader,
    files::LastStep,
    text::{LineNumbers, Shard},
};

use self::folder::FolderArgs;
pub(super) use self::format::Format;
use crate::{
    commands::{ModelArg, unread::warn_of_unread},
    destination::{self, Destination, ForceArg},
    failure::Result,
    output::{self, plural, short},
    text::{InputArgs, TextArgs, is_dash, note_typing},
};

/// Turn each line of text into a vector.
///
/// One vector a line, in the order of the input, whatever the number of threads; memory does not grow with the input. A
/// line without a known word gets the zero vector, unless the model has vectors for unknown words, and so does a blank
/// one; how many zero vectors there were is said at the end. Recurrent models encode lines in batches: the same line
/// among others may differ in the last bits (by some 1e-7 of the vector's length).
///
/// Where the input is too long for one run, or one machine: --shard 2/8 encodes the second of eight parts, and senv
/// join puts their outputs together (cat does, of .tsv, .jsonl and .txt). Where the input is many files, --output
/// FOLDER/ makes a file of each, goes on after an interruption, and with --claims shares the files among any number of
/// processes and machines.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, mut_arg("input", |input| input.help(INPUT_HELP)))]
pub(crate) struct Encode {
    #[command(flatten)]
    input: InputArgs,
    /// Where to, the ending being the format: .npy (a NumPy matrix of f32), .tsv (a line a vector, values separated by
    /// tabs), .csv (by commas), .jsonl (an array a line), .json (an array of arrays), .txt or none (separated by
    /// blanks), and in a program that was built with the feature `arrow` .parquet and .arrow (a table with a column of
    /// vectors beside those of the input); - is standard output, separated by blanks. A folder (one that is there, or a
    /// name that ends in /) gets a file for each input file.
    #[arg(long, short, value_name = "FILE", default_value = "-")]
    output: PathBuf,
    /// Encode one of N parts of the input, the I-th: whole lines, or rows of tables, that follow each other.
    ///
    /// The input alone decides where the parts begin: at blocks of 256 KiB of text, or of 4,096 records of a table or
    /// sentences of --split. Outputs 1 to N one after the other (senv join, or cat) are the output of the whole, byte
    /// for byte. Of plain text a run reads its part alone; a compressed file or a table is first read as a whole, to
    /// count its blocks. Standard input and pipes are refused for that.
    #[arg(long, value_name = "I/N", help_heading = "Large inputs")]
    shard: Option<Shard>,
    #[command(flatten)]
    folder: FolderArgs,
    /// Replace a file that is there already, whatever it holds; without it only an empty one, or what senv has written
    /// of the same kind. One of the inputs is never replaced.
    #[arg(long, help_heading = "Files")]
    force: bool,
    /// Digits after the point in text, 0 to 9 [default: as many as give back the same number]
    #[arg(long, value_name = "N", value_parser = RangedU64ValueParser::<u8>::new().range(0..=9))]
    digits: Option<u8>,
    #[cfg(feature = "arrow")]
    #[command(flatten)]
    table: table::TableArgs,
    #[command(flatten)]
    text: TextArgs,
    #[command(flatten)]
    model: ModelArg,
}

const INPUT_HELP: &str = "Text, one sentence a line; plain, .gz or .zst; a quoted pattern as in 'data/*.txt' is all files that fit; - is standard input \
                          [default: -]";

const EXAMPLES: &str = "\
Examples:
  senv encode text.txt --output text.npy
  senv encode --model model.senv --input text.txt --output text.npy
  zcat text.gz | senv encode --model model.senv --digits 5 | head -3
  senv encode large.txt --shard 2/8 --output part2.npy
  senv encode --input 'data/*.txt' --output vectors/
  senv encode --input 'data/*.parquet' --column text --output vectors/ --claims /shared/claims";

impl Encode {
    pub(crate) fn run(self, threads: usize) -> Result {
        let stdin = [PathBuf::from("-")];
        let given = self.input.paths().iter().map(files_of_pattern).collect::<senv::Result<Vec<_>>>()?.concat();
        let input: &[PathBuf] = if given.is_empty() { &stdin } else { &given };
        if self.folder.is_folder(&self.output) {
            return folder::run(&self, input, threads);
        }
        self.folder.check_unused(&self.output)?;
        let format = Format::of(&self.output, self.digits)?;
        let inputs: Vec<&PathBuf> = input.iter().chain([&self.model.model]).collect();
        if is_dash(&self.output) {
            destination::check_stdout(&inputs)?;
        } else {
            Destination::output(&self.output, format.content(), ForceArg { force: self.force }).check(&inputs)?;
        }
        let model = self.model.open()?;
        model.prepare_for_many();
        note_typing(input, "sentences");
        self.text.note_tables(input);
        let started = Instant::now();
        let last = LastStep::begin();
        let counts = self.encode(&model, input, &self.output, format, threads)?;
        drop(last);
        if let Some(shard) = self.shard.filter(|_| counts.lines == 0) {
            output::note(&format!("shard {shard} has no line: the input has fewer blocks than there are shards"));
        }
        report(counts, started);
        Ok(())
    }

    /// Encodes files into one.
    fn encode(
        &self,
        model: &Model,
        input: &[PathBuf],
        output: &Path,
        format: Format,
        threads: usize,
    ) -> Result<CoverageCounts> {
        let text = self.text.options();
        let path = &*self.model.model;
        #[cfg(feature = "arrow")]
        if format == Format::Table {
            return table::encode(model, path, input, output, text, self.shard, &self.table);
        }
        let reader = match self.shard {
            Some(shard) => TextReader::open_shard(input, &text, shard, LineNumbers::InErrors)?,
            None => TextReader::open(input, &text)?,
        };
        let encoding = LineEncoding { model, path, format: format.of_lines(), threads };
        lines::encode(encoding, reader, Some(output).filter(|output| !is_dash(output)))
    }
}

/// Says what was encoded, and what has no vector.
fn report(counts: CoverageCounts, started: Instant) {
    let CoverageCounts { lines, blank, unknown, zero, .. } = counts;
    let sentences = lines - blank;
    let rate = sentences as f64 / started.elapsed().as_secs_f64().max(1e-9);
    output::note(&format!("{} encoded, {} a second", plural(sentences, "sentence"), short(rate)));
    if blank > 0 {
        output::note(&format!("{}: zero vectors", plural(blank, "blank line")));
    }
    if unknown > 0 {
        output::warn(&format!("{} without a known word: zero vectors", plural(unknown, "sentence")));
    }
    if zero > 0 {
        output::warn(&format!("{} of words whose vectors add up to zero: zero vectors", plural(zero, "sentence")));
    }
    warn_of_unread(&counts);
}
