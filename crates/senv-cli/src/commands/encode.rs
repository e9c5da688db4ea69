//! `senv encode`: sentences to vectors.

use std::{
    io::{Seek, SeekFrom, Write},
    path::{Path, PathBuf},
    time::Instant,
};

use clap::builder::RangedU64ValueParser;
use senv_core::{AtomicFile, Coverage, Scratch, SentenceEncoder, TextReader};
use senv_models::Model;
use senv_store::NpyWriter;

use crate::{
    commands::ModelArg,
    failure::{Failure, Result},
    number::{Digits, push_row},
    output::{self, plural, short},
    progress::Counter,
    stream::{self, Batch},
    text::{TextArgs, is_dash, note_typing},
};

/// Turn each line of text into a vector.
///
/// One vector a line, in the order of the input, whatever the number of threads; memory does not grow with the input.
/// A line without a known word (a blank one, too) gets the zero vector; how many there were is said at the end.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Encode {
    #[command(flatten)]
    model: ModelArg,
    /// Text, one sentence a line; plain, .gz or .zst; - is standard input.
    #[arg(long, short, value_name = "FILE", num_args = 1.., default_value = "-")]
    input: Vec<PathBuf>,
    /// Where to: FILE.npy (a NumPy matrix of f32), FILE.tsv (numbers separated by tabs), any other file or - (standard
    /// output; numbers separated by blanks).
    #[arg(long, short, value_name = "FILE", default_value = "-")]
    output: PathBuf,
    /// Digits after the point in text, 0 to 9 [default: as many as give back the same number]
    #[arg(long, value_name = "N", value_parser = RangedU64ValueParser::<u8>::new().range(0..=9))]
    digits: Option<u8>,
    #[command(flatten)]
    text: TextArgs,
}

const EXAMPLES: &str = "\
Examples:
  senv encode --model model.senv --input text.txt --output text.npy
  zcat text.gz | senv encode --model model.senv --digits 5 | head -3";

/// How vectors are written.
#[derive(Debug, Clone, Copy)]
enum Format {
    Npy,
    Text { separator: u8, digits: Digits },
}

impl Encode {
    pub(crate) fn run(self, threads: usize) -> Result {
        let extension = self.output.extension().unwrap_or_default().to_ascii_lowercase();
        let digits = self.digits.map_or(Digits::Shortest, Digits::Fixed);
        let format = match extension.to_str() {
            Some("npy") if self.digits.is_some() => {
                return Err(Failure::Usage("--digits is for text; a .npy file holds the numbers themselves".into()));
            }
            Some("npy") => Format::Npy,
            Some("tsv") => Format::Text { separator: b'\t', digits },
            _ => Format::Text { separator: b' ', digits },
        };
        let model = self.model.open_for_many()?;
        note_typing(&self.input, "sentences");
        let reader = TextReader::open(&self.input, &self.text.options())?;
        let started = Instant::now();
        let counts = if is_dash(&self.output) {
            let mut out = output::stdout();
            let counts =
                encode(&model, reader, threads, format, false, |bytes| out.write_all(bytes).map_err(Failure::stdout))?;
            out.flush().map_err(Failure::stdout)?;
            counts
        } else {
            to_file(&model, reader, threads, format, &self.output)?
        };
        let rate = counts.sentences as f64 / started.elapsed().as_secs_f64().max(1e-9);
        output::note(&format!("{} encoded, {} a second", plural(counts.sentences, "sentence"), short(rate)));
        if counts.unknown > 0 {
            output::warn(&format!("{} without a known word: zero vectors", plural(counts.unknown, "sentence")));
        }
        Ok(())
    }
}

/// Sentences, and those of them without a known word.
#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    sentences: u64,
    unknown: u64,
}

fn encode(
    model: &Model,
    reader: TextReader,
    threads: usize,
    format: Format,
    count: bool,
    mut write: impl FnMut(&[u8]) -> Result,
) -> Result<Counts> {
    let state = || (Scratch::default(), vec![0.0; model.dim()]);
    let in_batches = model.gains_from_batches();
    let work = |(scratch, row): &mut (Scratch, Vec<f32>), batch: &mut Batch<Counts>| {
        let Batch { lines, out, tally } = batch;
        let mut push = |coverage: Coverage, row: &[f32]| {
            tally.sentences += 1;
            tally.unknown += u64::from(coverage.is_empty());
            match format {
                Format::Npy => row.iter().for_each(|x| out.extend_from_slice(&x.to_le_bytes())),
                Format::Text { separator, digits } => push_row(row, separator, digits, out),
            }
        };
        if in_batches {
            let lines: Vec<&str> = lines.iter().map(|(_, line)| line).collect();
            let (rows, coverage) = model.encode_batch(&lines)?;
            let rows = rows.rows().into_iter().filter_map(|row| row.to_slice());
            rows.zip(coverage).for_each(|(row, coverage)| push(coverage, row));
        } else {
            for (_, line) in lines.iter() {
                push(model.encode_into(line, scratch, row), row);
            }
        }
        Ok(())
    };
    let mut counts = Counts::default();
    let counter = Counter::new(count);
    stream::run(reader, threads, state, work, |batch| {
        counts.sentences += batch.tally.sentences;
        counts.unknown += batch.tally.unknown;
        counter.add(batch.tally.sentences);
        write(&batch.out)
    })?;
    counter.finish();
    Ok(counts)
}

/// Writes a file, which appears whole or not at all.
fn to_file(model: &Model, reader: TextReader, threads: usize, format: Format, path: &Path) -> Result<Counts> {
    let failed = |error| senv_core::Error::io("write", path, error);
    let mut file = AtomicFile::create(path)?;
    let is_npy = matches!(format, Format::Npy);
    if is_npy {
        // The number of rows is not known yet; the header is written once more at the end.
        NpyWriter::new(&mut file, path, 0, model.dim())?;
    }
    let start = if is_npy { file.stream_position().map_err(failed)? } else { 0 };
    let counts = encode(model, reader, threads, format, true, |bytes| Ok(file.write_all(bytes).map_err(failed)?))?;
    if is_npy {
        file.seek(SeekFrom::Start(0)).map_err(failed)?;
        NpyWriter::new(&mut file, path, counts.sentences as usize, model.dim())?;
        if file.stream_position().map_err(failed)? != start {
            let reason = format!("the header of {} rows does not fit into the room left for it", counts.sentences);
            return Err(senv_core::Error::BadFile { path: path.to_owned(), reason }.into());
        }
    }
    file.commit()?;
    Ok(counts)
}
