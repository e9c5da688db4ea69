//! Lines -> vectors, in text and matrices.

use std::{
    io::{Seek, SeekFrom, Write},
    path::Path,
};

use senv::{EncodingCost, Model};
use senv_core::{Coverage, Scratch, SentenceEncoder, TextReader, files::AtomicFile, text::DecompressionProgress};
use senv_store::NpyWriter;

use super::{Counts, format::Format};
use crate::{
    commands::{finite, known_words::WordSample},
    failure::{Failure, Result},
    output::{self, plural},
    progress::Counter,
    stream::{self, Batch},
};

/// How many bytes of text, and how many lines, a byte of a compressed file may become. Text becomes 3 to 10 bytes, logs
/// some 50; a line takes a byte and more even where one is much like the other.
const RATIOS: (u64, u64) = (200, 10);
/// Bytes and lines below which the ratio says nothing.
const MUCH: (u64, u64) = (16 << 20, 1 << 16);

/// What encodes, and which text.
#[derive(Clone, Copy)]
pub(super) struct Source<'a> {
    pub(super) model: &'a Model,
    /// The file that errors name.
    pub(super) path: &'a Path,
    /// Whether compressed text may be of any ratio.
    pub(super) takes_any_ratio: bool,
}

impl Source<'_> {
    /// Refuses a compressed file of a ratio that no text has. Each of its lines would become a row: 20 KB of blank
    /// lines are tens of gigabytes of zeros.
    fn accept(&self, reader: &TextReader) -> Result {
        let Some(DecompressionProgress { path, compressed, text, lines }) = reader.decompression_progress() else {
            return Ok(());
        };
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
            tally.add(line, coverage, row);
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
            counts.join(batch.tally);
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

/// Writes to standard output.
pub(super) fn to_stdout(source: Source<'_>, reader: TextReader, threads: usize, format: Format) -> Result<Counts> {
    let mut out = output::stdout();
    let counts = encode(source, reader, threads, format, false, |bytes| out.write_all(bytes).map_err(Failure::stdout))?;
    out.flush().map_err(Failure::stdout)?;
    Ok(counts)
}

/// Writes a file by atomic replacement.
pub(super) fn to_file(
    source: Source<'_>,
    reader: TextReader,
    threads: usize,
    format: Format,
    path: &Path,
) -> Result<Counts> {
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
