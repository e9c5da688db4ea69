//! `senv encode`: sentences to vectors.

#[cfg(feature = "arrow")]
mod table;

use std::{
    io::{Seek, SeekFrom, Write},
    path::{Path, PathBuf},
    time::Instant,
};

use clap::builder::RangedU64ValueParser;
use senv::{EncodingCost, Model};
use senv_core::{
    Coverage, Scratch, SentenceEncoder, TextReader,
    files::AtomicFile,
    text::{Expansion, is_blank},
};
use senv_store::NpyWriter;

use crate::{
    commands::{ModelArg, finite, known_words::WordSample, unread::Unread},
    destination::{self, Content, Destination, ForceArg},
    failure::{Failure, Result},
    number::{Digits, push_row},
    output::{self, plural, short},
    progress::Counter,
    stream::{self, Batch},
    text::{InputArgs, TextArgs, is_dash, note_typing},
};

/// Turn each line of text into a vector.
///
/// One vector a line, in the order of the input, whatever the number of threads; memory does not grow with the input.
/// A line without a known word gets the zero vector, unless the model has vectors for unknown words, and so does a blank
/// one; how many zero vectors there were is said at the end. Recurrent models encode lines in batches: the same line among
/// others may differ in the last bits (by some 1e-7 of the vector's length).
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, mut_arg("input", |input| input.help(INPUT_HELP)))]
pub(crate) struct Encode {
    #[command(flatten)]
    model: ModelArg,
    #[command(flatten)]
    input: InputArgs,
    /// Where to, the ending being the format: .npy (a NumPy matrix of f32), .tsv (a line a vector, values separated by
    /// tabs), .csv (by commas), .jsonl (an array a line), .json (an array of arrays), .txt or none (separated by blanks), and
    /// in a program that was built with the feature `arrow` .parquet and .arrow (a table with a column of vectors beside those of
    /// the input); - is standard output, separated by blanks.
    #[arg(long, short, value_name = "FILE", default_value = "-")]
    output: PathBuf,
    /// Replace a file that is there already, whatever it holds; without it only an empty one, or what senv has written
    /// of the same kind. One of the inputs is never replaced. And encode a compressed file that becomes more text than any
    /// text does: 200 bytes or 10 lines for each of its bytes.
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
}

const INPUT_HELP: &str = "Text, one sentence a line; plain, .gz or .zst; - is standard input [default: -]";

const EXAMPLES: &str = "\
Examples:
  senv encode text.txt --output text.npy
  senv encode --model model.senv --input text.txt --output text.npy
  zcat text.gz | senv encode --model model.senv --digits 5 | head -3";

/// How many bytes of text, and how many lines, a byte of a compressed file may become. Text becomes 3 to 10 bytes, logs
/// some 50; a line takes a byte and more even where one is much like the other.
const RATIOS: (u64, u64) = (200, 10);
/// Bytes and lines below which the ratio says nothing.
const MUCH: (u64, u64) = (16 << 20, 1 << 16);

/// How vectors are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Npy,
    /// Parquet or Arrow.
    Table,
    Text {
        separator: u8,
        digits: Digits,
    },
    /// An array a line; in a whole one, each with a comma before it.
    Json {
        whole: bool,
        digits: Digits,
    },
}

impl Format {
    /// The format that the ending of a name stands for.
    fn of(path: &Path, digits: Option<u8>) -> Result<Self> {
        let in_text = digits.map_or(Digits::Shortest, Digits::Fixed);
        let separated_by = |separator| Self::Text { separator, digits: in_text };
        let ending = path.extension().unwrap_or_default().to_ascii_lowercase();
        Ok(match ending.to_str() {
            Some("npy") if digits.is_some() => {
                let message = "--digits is for text; a .npy file holds the values themselves";
                return Err(Failure::Usage(message.into()));
            }
            Some("npy") => Self::Npy,
            Some(ending @ ("parquet" | "arrow" | "feather" | "ipc")) => {
                if digits.is_some() {
                    let message = format!("--digits is for text; a .{ending} file holds the values themselves");
                    return Err(Failure::Usage(message));
                }
                if cfg!(not(feature = "arrow")) {
                    let message = format!(
                        "{}: this program was built without the feature `arrow`, which writes .{ending} files; give a name in .npy, or \
                         build it anew: cargo install senv-cli --features arrow",
                        path.display()
                    );
                    return Err(Failure::Usage(message));
                }
                Self::Table
            }
            Some("" | "txt") => separated_by(b' '),
            Some("tsv") => separated_by(b'\t'),
            Some("csv") => separated_by(b','),
            Some("jsonl") => Self::Json { whole: false, digits: in_text },
            Some("json") => Self::Json { whole: true, digits: in_text },
            _ => {
                let path = path.display();
                let message = format!(
                    "{path}: vectors are not written in the format of this ending; give a name in .npy, .csv, .tsv, .json, \
                     .jsonl or .txt, or one without an ending, and convert the file (a data frame reads .npy and .csv)"
                );
                return Err(Failure::Usage(message));
            }
        })
    }

    fn content(self) -> Content<'static> {
        match self {
            Self::Npy => Content::Matrix,
            Self::Table => Content::VectorTable,
            _ => Content::Vectors,
        }
    }

    /// What stands before the first row, which loses as many bytes of its own, and behind the last.
    fn frame(self) -> [&'static [u8]; 2] {
        if matches!(self, Self::Json { whole: true, .. }) { [b"[", b"\n]\n"] } else { [b"", b""] }
    }

    fn push(self, row: &[f32], out: &mut Vec<u8>) {
        match self {
            // Written as a whole, not in rows.
            Self::Table => {}
            Self::Npy => row.iter().for_each(|x| out.extend_from_slice(&x.to_le_bytes())),
            Self::Text { separator, digits } => push_row(row, separator, digits, out),
            Self::Json { whole, digits } => {
                out.extend_from_slice(if whole { b",\n[" } else { b"[" });
                push_row(row, b',', digits, out);
                out.pop();
                out.extend_from_slice(if whole { b"]" } else { b"]\n" });
            }
        }
    }
}

impl Encode {
    pub(crate) fn run(self, threads: usize) -> Result {
        let format = Format::of(&self.output, self.digits)?;
        let stdin = [PathBuf::from("-")];
        let input = if self.input.paths().is_empty() { &stdin } else { self.input.paths() };
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
        let text = self.text.options();
        let started = Instant::now();
        let counts = match format {
            #[cfg(feature = "arrow")]
            Format::Table => table::encode(&model, &self.model.model, input, &self.output, text, self.table)?,
            _ => {
                let source = Source { model: &model, path: &self.model.model, takes_any_ratio: self.force };
                let reader = TextReader::open(input, &text)?;
                if is_dash(&self.output) {
                    to_stdout(source, reader, threads, format)?
                } else {
                    to_file(source, reader, threads, format, &self.output)?
                }
            }
        };
        counts.report(started);
        Ok(())
    }
}

/// Lines, those that are blank, and the others without a vector; and those that were not read to their end.
#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    lines: u64,
    blank: u64,
    unknown: u64,
    unread: Unread,
}

impl Counts {
    /// Says what was encoded, and what has no vector.
    fn report(self, started: Instant) {
        let sentences = self.lines - self.blank;
        let rate = sentences as f64 / started.elapsed().as_secs_f64().max(1e-9);
        output::note(&format!("{} encoded, {} a second", plural(sentences, "sentence"), short(rate)));
        if self.blank > 0 {
            output::note(&format!("{}: zero vectors", plural(self.blank, "blank line")));
        }
        if self.unknown > 0 {
            output::warn(&format!("{} without a known word: zero vectors", plural(self.unknown, "sentence")));
        }
        self.unread.warn();
    }

    fn add(&mut self, line: &str, coverage: Coverage) {
        let blank = is_blank(line);
        self.lines += 1;
        self.blank += u64::from(blank);
        self.unknown += u64::from(!blank && coverage.is_empty());
        self.unread.add(&coverage);
    }
}

/// What encodes, and which text.
#[derive(Clone, Copy)]
struct Source<'a> {
    model: &'a Model,
    /// The file that errors name.
    path: &'a Path,
    /// Whether compressed text may be of any ratio.
    takes_any_ratio: bool,
}

impl Source<'_> {
    /// Refuses a compressed file of a ratio that no text has. Each of its lines would become a row: 20 KB of blank lines are
    /// tens of gigabytes of zeros.
    fn accept(&self, reader: &TextReader) -> Result {
        let Some(Expansion { path, compressed, text, lines }) = reader.expansion() else { return Ok(()) };
        let is_text =
            (text < MUCH.0 || text / RATIOS.0 <= compressed) && (lines < MUCH.1 || lines / RATIOS.1 <= compressed);
        if self.takes_any_ratio || is_text {
            return Ok(());
        }
        let reason = format!(
            "{} of it become more than {} in {}, which no text does, and each line would be a row of {} values; --force \
             encodes it all the same",
            output::bytes(compressed),
            output::bytes(text),
            plural(lines, "line"),
            self.model.dim()
        );
        Err(senv_core::Error::BadFile { path: path.to_owned(), reason }.into())
    }
}

/// Encodes all lines.
fn encode(
    source: Source<'_>,
    reader: TextReader,
    threads: usize,
    format: Format,
    count: bool,
    mut write: impl FnMut(&[u8]) -> Result,
) -> Result<Counts> {
    let Source { model, path, .. } = source;
    let state = || (Scratch::default(), vec![0.0; model.dim()]);
    let in_batches = model.cost() == EncodingCost::LessInBatches;
    let work = |(scratch, row): &mut (Scratch, Vec<f32>), batch: &mut Batch<Counts>| {
        let Batch { lines, out, tally } = batch;
        let mut push = |line: &str, coverage: Coverage, row: &[f32]| {
            finite::check(model, path, line, row)?;
            tally.add(line, coverage);
            format.push(row, out);
            Ok(())
        };
        if in_batches {
            let lines: Vec<&str> = lines.iter().map(|(_, line)| line).collect();
            let (rows, coverage) = model.encode_batch(&lines)?;
            let rows = rows.rows().into_iter().filter_map(|row| row.to_slice());
            rows.zip(coverage).zip(&lines).try_for_each(|((row, coverage), line)| push(line, coverage, row))
        } else {
            lines.iter().try_for_each(|(_, line)| push(line, model.encode_into(line, scratch, row), row))
        }
    };
    let mut counts = Counts::default();
    let [before, behind] = format.frame();
    write(before)?;
    let counter = Counter::new(count);
    let mut sample = WordSample::new(path, model);
    stream::run(
        reader,
        move |reader| source.accept(reader),
        threads,
        state,
        work,
        |batch| {
            let first = if counts.lines == 0 { before.len() } else { 0 };
            counts.lines += batch.tally.lines;
            counts.blank += batch.tally.blank;
            counts.unknown += batch.tally.unknown;
            counts.unread += batch.tally.unread;
            counter.add(batch.tally.lines);
            if !sample.is_complete() {
                counter.apart(|| sample.add(batch.lines.iter().map(|(_, line)| line)));
            }
            write(&batch.out[first.min(batch.out.len())..])
        },
    )?;
    counter.finish();
    sample.finish();
    write(behind)?;
    Ok(counts)
}

fn to_stdout(source: Source<'_>, reader: TextReader, threads: usize, format: Format) -> Result<Counts> {
    let mut out = output::stdout();
    let counts = encode(source, reader, threads, format, false, |bytes| out.write_all(bytes).map_err(Failure::stdout))?;
    out.flush().map_err(Failure::stdout)?;
    Ok(counts)
}

/// Writes a file by atomic replacement.
fn to_file(source: Source<'_>, reader: TextReader, threads: usize, format: Format, path: &Path) -> Result<Counts> {
    let model = source.model;
    let failed = |error| senv_core::Error::io("write", path, error);
    let mut file = AtomicFile::create(path)?;
    let is_npy = matches!(format, Format::Npy);
    if is_npy {
        // The number of rows is not known yet; the header is written once more at the end.
        NpyWriter::new(&mut file, path, 0, model.dim())?;
    }
    let start = if is_npy { file.stream_position().map_err(failed)? } else { 0 };
    let counts = encode(source, reader, threads, format, true, |bytes| Ok(file.write_all(bytes).map_err(failed)?))?;
    if is_npy {
        file.seek(SeekFrom::Start(0)).map_err(failed)?;
        NpyWriter::new(&mut file, path, counts.lines as usize, model.dim())?;
        if file.stream_position().map_err(failed)? != start {
            let reason = format!("the header of {} rows does not fit into the room left for it", counts.lines);
            return Err(senv_core::Error::BadFile { path: path.to_owned(), reason }.into());
        }
    }
    file.commit()?;
    Ok(counts)
}
