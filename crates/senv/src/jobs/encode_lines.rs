//! Encodes lines of text as text, JSON or a NumPy matrix.

use std::{
    io::{Seek, SeekFrom, Write},
    ops::AddAssign,
    path::Path,
};

use senv_core::{
    Coverage, Scratch, SentenceEncoder, TextReader,
    files::AtomicFile,
    text::{LineBatch, for_line_batches, is_blank},
};
use senv_store::{Digits, NpyWriter, push_row};

use crate::{
    error::{Error, Result},
    model::{handle::Model, saved::EncodingCost},
};

/// The bytes around the rows of a JSON array; the first row loses as many bytes as the opening has.
pub(super) const JSON_FRAME: [&[u8]; 2] = [b"[", b"\n]\n"];

/// The output format of vectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum VectorFormat {
    /// A NumPy matrix of f32.
    Npy,
    /// One line per vector.
    Text {
        /// Separator between values.
        separator: u8,
        /// Number of digits per value.
        digits: Digits,
    },
    /// One array per line; in a whole array, each has a comma before it.
    Json {
        /// Whether the lines form one array of arrays.
        whole: bool,
        /// Number of digits per value.
        digits: Digits,
    },
}

impl VectorFormat {
    fn frame(self) -> [&'static [u8]; 2] {
        if matches!(self, Self::Json { whole: true, .. }) { JSON_FRAME } else { [b"", b""] }
    }

    fn push(self, row: &[f32], out: &mut Vec<u8>) {
        match self {
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

/// How much of some sentences a model knows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CoverageCounts {
    /// Lines, or sentences.
    pub lines: u64,
    /// Blank lines.
    pub blank: u64,
    /// Other lines without a known word.
    pub unknown: u64,
    /// Other lines whose word vectors sum to zero.
    pub zero: u64,
    /// Sentences longer than a recurrent encoder reads.
    pub unread: u64,
    /// Unread tokens of these sentences.
    pub unread_tokens: u64,
}

impl CoverageCounts {
    /// Counts a line with its vector.
    pub fn add_encoded<'x>(&mut self, line: &str, coverage: &Coverage, vector: impl IntoIterator<Item = &'x f32>) {
        self.add(line, coverage);
        self.zero += u64::from(!coverage.is_empty() && vector.into_iter().all(|&x| x == 0.0));
    }

    /// Counts a line without checking its vector.
    pub fn add(&mut self, line: &str, coverage: &Coverage) {
        let blank = is_blank(line);
        self.lines += 1;
        self.blank += u64::from(blank);
        self.unknown += u64::from(!blank && coverage.is_empty());
        self.unread += u64::from(coverage.unread > 0);
        self.unread_tokens += coverage.unread as u64;
    }
}

impl AddAssign for CoverageCounts {
    fn add_assign(&mut self, other: Self) {
        self.lines += other.lines;
        self.blank += other.blank;
        self.unknown += other.unknown;
        self.zero += other.zero;
        self.unread += other.unread;
        self.unread_tokens += other.unread_tokens;
    }
}

/// An encoding of the lines of a text: one vector per line, in order, for any number of threads. Memory does not grow
/// with the text.
///
/// ```
/// # #[cfg(feature = "english")] {
/// # let folder = tempfile::tempdir()?;
/// # let output = folder.path().join("pets.npy");
/// use senv::jobs::{LineEncoding, VectorFormat};
/// use senv_core::{TextOptions, TextReader};
/// let text = TextReader::from_reader("pets.txt", "A cat sleeps.\n\n".as_bytes(), &TextOptions::default())?;
/// let english = senv::english()?;
/// let encoding = LineEncoding { model: &english, path: "english".as_ref(), format: VectorFormat::Npy, threads: 2 };
/// let counts = encoding.to_file(text, &output, |_| {})?;
/// assert_eq!((counts.lines, counts.blank), (2, 1));
/// assert_eq!(senv_store::NpyReader::open(&output)?.n_rows(), 2);
/// # }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct LineEncoding<'a> {
    /// The encoder.
    pub model: &'a Model,
    /// The path of its file, for errors.
    pub path: &'a Path,
    /// The output format.
    pub format: VectorFormat,
    /// The number of encoding threads.
    pub threads: usize,
}

impl LineEncoding<'_> {
    /// Passes the output bytes to `write`, in order, with the batch of lines they belong to.
    ///
    /// # Errors
    /// Errors of reading, of `write`, and of [`Model::check_finite`].
    pub fn run<E: From<Error> + From<senv_core::Error> + Send>(
        &self,
        reader: TextReader,
        mut write: impl FnMut(&[u8], Option<&LineBatch<CoverageCounts>>) -> Result<(), E>,
    ) -> Result<CoverageCounts, E> {
        let Self { model, path, format, threads } = *self;
        let state = || (Scratch::default(), vec![0.0; model.dim()]);
        let in_batches = model.abilities().cost == EncodingCost::LessInBatches;
        let work = |(scratch, row): &mut (Scratch, Vec<f32>), batch: &mut LineBatch<CoverageCounts>| {
            let LineBatch { lines, out, tally } = batch;
            let mut push = |line: &str, coverage: Coverage, row: &[f32]| -> Result<()> {
                model.check_finite(path, line, row)?;
                tally.add_encoded(line, &coverage, row);
                format.push(row, out);
                Ok(())
            };
            if in_batches {
                let lines: Vec<&str> = lines.iter().map(|(_, line)| line).collect();
                let (rows, coverage) = model.encode_batch(&lines).map_err(Error::from)?;
                let rows = rows.rows().into_iter().filter_map(|row| row.to_slice());
                rows.zip(coverage).zip(&lines).try_for_each(|((row, coverage), line)| push(line, coverage, row))?;
            } else {
                lines.iter().try_for_each(|(_, line)| push(line, model.encode_into(line, scratch, row), row))?;
            }
            Ok(())
        };
        let mut counts = CoverageCounts::default();
        let [before, behind] = format.frame();
        write(before, None)?;
        for_line_batches(reader, threads, state, work, |batch| {
            let first = if counts.lines == 0 { before.len() } else { 0 };
            counts += batch.tally;
            write(&batch.out[first.min(batch.out.len())..], Some(batch))
        })?;
        write(behind, None)?;
        Ok(counts)
    }

    /// Writes a file by atomic replacement; `on_batch` sees each encoded batch.
    ///
    /// # Errors
    /// The errors of [`LineEncoding::run`]; errors of writing.
    pub fn to_file(
        &self,
        reader: TextReader,
        output: &Path,
        mut on_batch: impl FnMut(&LineBatch<CoverageCounts>),
    ) -> Result<CoverageCounts> {
        let dim = self.model.dim();
        let failed = |error| senv_core::Error::io("write", output, error);
        let mut file = AtomicFile::create(output)?;
        let is_npy = self.format == VectorFormat::Npy;
        // The number of rows is not known yet; the header is written again at the end.
        let write_header =
            |file: &mut AtomicFile, rows| NpyWriter::new(file, output, rows, dim).map(|_| ()).map_err(Error::from);
        if is_npy {
            write_header(&mut file, 0)?;
        }
        let start = if is_npy { file.stream_position().map_err(failed)? } else { 0 };
        let counts = self.run(reader, |bytes, batch| {
            batch.into_iter().for_each(&mut on_batch);
            Ok::<_, Error>(file.write_all(bytes).map_err(failed)?)
        })?;
        if is_npy {
            file.seek(SeekFrom::Start(0)).map_err(failed)?;
            write_header(&mut file, counts.lines as usize)?;
            if file.stream_position().map_err(failed)? != start {
                let reason = format!("the header for {} rows does not fit in the space reserved for it", counts.lines);
                return Err(senv_core::Error::BadFile { path: output.to_owned(), reason }.into());
            }
        }
        file.commit()?;
        Ok(counts)
    }
}
