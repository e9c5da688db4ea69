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
    folders::{Collections, open_folders},
    output::{self, plural, short},
    text::{InputArgs, TextArgs, is_dash, note_typing},
};

/// Turn each line of text into a vector.
///
/// Writes one vector per line, in the order of the input, for any number of threads. Memory does not grow with the
/// input. Blank lines get the zero vector, and so do lines without a known word, unless the model has vectors for
/// unknown words; senv reports their number at the end. Recurrent models encode lines in batches, so the vector of a
/// line can differ in the last bits (by about 1e-7 of its length) with the lines around it.
///
/// If the input is too long for one run or machine, --shard 2/8 encodes the second of eight parts. Merge the outputs
/// with senv join, or with cat for .tsv, .jsonl and .txt. For many input files, --output FOLDER/ writes one file for
/// each and continues after an interruption; --claims shares the files among processes and machines.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, mut_arg("files", |files| files.help(INPUT_HELP)))]
pub(crate) struct Encode {
    #[command(flatten)]
    input: InputArgs,
    /// Output file; the extension is the format: npy, tsv, csv, jsonl, json, txt.
    ///
    /// .npy is a NumPy matrix of f32. .tsv, .csv and .txt have one vector per line, separated by tabs, commas or
    /// blanks. .jsonl has one array per line, .json an array of arrays. A build with the feature `arrow` also writes
    /// .parquet and .arrow: the table of the input with a column of vectors. - is standard output, separated by blanks.
    /// A folder (an existing one, or a name ending in /) gets one file per input file.
    #[arg(long, short, value_name = "FILE", default_value = "-")]
    output: PathBuf,
    /// Encode the I-th of N parts of the input.
    ///
    /// A part is a run of whole lines or rows. Only the input decides where parts start: at blocks of 256 KiB of text,
    /// or of 4,096 records of a table or sentences of --split. Outputs 1 to N, concatenated by senv join or cat, equal
    /// the output of one run byte for byte. A run reads only its part of plain text. It first reads a compressed file
    /// or a table to the end to count its blocks, so standard input and pipes are refused.
    #[arg(long, value_name = "I/N", help_heading = "Large inputs")]
    shard: Option<Shard>,
    #[command(flatten)]
    folder: FolderArgs,
    /// Overwrite an existing file.
    ///
    /// Without it, senv replaces only empty files and files of the same kind that it wrote itself. It never overwrites
    /// an input.
    #[arg(long, help_heading = "Files")]
    force: bool,
    /// Decimals in text formats, 0 to 9 [default: enough to restore the exact value]
    #[arg(long, value_name = "N", value_parser = RangedU64ValueParser::<u8>::new().range(0..=9))]
    digits: Option<u8>,
    #[cfg(feature = "arrow")]
    #[command(flatten)]
    table: table::VectorColumnArgs,
    #[command(flatten)]
    text: TextArgs,
    #[command(flatten)]
    model: ModelArg,
}

const INPUT_HELP: &str = "Text, one sentence per line; plain, .gz or .zst; a folder of .txt and .md files; or a quoted \
                          pattern such as 'data/*.txt'; \
                          - is standard input [default: -]";

const EXAMPLES: &str = "\
Examples:
  senv encode text.txt --output text.npy
  zcat text.gz | senv encode --model model.senv --digits 5 | head -3
  senv encode large.txt --shard 2/8 --output part2.npy
  senv encode 'data/*.txt' --output vectors/
  senv encode 'data/*.parquet' --column text --output vectors/ --claims /shared/claims";

impl Encode {
    pub(crate) fn run(self, threads: usize) -> Result {
        let stdin = [PathBuf::from("-")];
        let mut given = self.input.paths().iter().map(files_of_pattern).collect::<senv::Result<Vec<_>>>()?.concat();
        open_folders(&mut given, self.text.content(), Collections::Refused)?;
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
        self.text.check_tables(input)?;
        let started = Instant::now();
        let last = LastStep::begin();
        let counts = self.encode(&model, input, &self.output, format, threads)?;
        drop(last);
        if let Some(shard) = self.shard.filter(|_| counts.lines == 0) {
            output::note(&format!("shard {shard} is empty: the input has fewer blocks than there are shards"));
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

/// Reports what was encoded and which sentences have no vector.
fn report(counts: CoverageCounts, started: Instant) {
    let CoverageCounts { lines, blank, unknown, zero, .. } = counts;
    let sentences = lines - blank;
    let rate = sentences as f64 / started.elapsed().as_secs_f64().max(1e-9);
    output::note(&format!("{} encoded, {}/s", plural(sentences, "sentence"), short(rate)));
    if blank > 0 {
        output::note(&format!("{}: zero vectors", plural(blank, "blank line")));
    }
    if unknown > 0 {
        output::warn(&format!("{} without a known word: zero vectors", plural(unknown, "sentence")));
    }
    if zero > 0 {
        output::warn(&format!("{} with word vectors that add up to zero: zero vectors", plural(zero, "sentence")));
    }
    warn_of_unread(&counts);
}
