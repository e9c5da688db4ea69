//! The sentences of text files, part by part.

use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use senv::NewSentences;
use senv_core::{Table, TextReader};
use senv_store::NpyReader;

use super::columns::{Columns, FILE, LINE};
use crate::{
    failure::Result,
    interrupt::Interrupt,
    output::{self, plural},
    text::is_blank,
};

/// Bytes of text in a part, about: 256 MiB.
const PART_BYTES: usize = 256 << 20;
/// Lines after which the wish to stop is looked at.
const LINES: usize = 1 << 12;
/// Time between two lines that say how far it is.
const NOTE_EVERY: Duration = Duration::from_secs(2);

/// Sentences on their way into a collection.
pub(super) struct Parts {
    reader: TextReader,
    columns: Columns,
    vectors: Option<Vectors>,
    interrupt: Interrupt,
    /// Sentences so far.
    n: u64,
    last_note: Instant,
}

/// Vectors that lines have already.
struct Vectors {
    reader: NpyReader,
    path: PathBuf,
    /// Lines so far, each of which has a row.
    n_lines: usize,
}

impl Parts {
    pub(super) fn new(
        reader: TextReader,
        columns: Columns,
        vectors: Option<&Path>,
        interrupt: Interrupt,
    ) -> Result<Self> {
        let open = |path: &Path| -> Result<Vectors> {
            let reader = NpyReader::open(path)?;
            Ok(Vectors { reader, path: path.to_owned(), n_lines: 0 })
        };
        Ok(Self {
            reader,
            columns,
            vectors: vectors.map(open).transpose()?,
            interrupt,
            n: 0,
            last_note: Instant::now(),
        })
    }

    /// Sentences so far.
    pub(super) fn n(&self) -> u64 {
        self.n
    }

    /// The next part, of so many sentences; `None` at the end.
    pub(super) fn next(&mut self, most: usize) -> Result<Option<NewSentences>> {
        let (mut texts, mut ids, mut files, mut numbers) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let names: Vec<String> = self.columns.further().map(str::to_owned).collect();
        let mut further = vec![Vec::new(); names.len()];
        let (mut values, mut n_bytes, mut n_lines) = (Vec::new(), 0, 0);
        while texts.len() < most && n_bytes < PART_BYTES {
            if n_lines % LINES == 0 {
                self.check_interrupt()?;
            }
            n_lines += 1;
            let Some(line) = self.reader.next_line()? else { break };
            if self.columns.is_header(line.text, line.number, line.path)? {
                continue;
            }
            let vector = self.vectors.as_mut().map(Vectors::next).transpose()?;
            // A line without columns ends a document, and is no sentence.
            if is_blank(line.text) {
                continue;
            }
            let cells = self.columns.cells(line.text, line.number, line.path)?;
            if is_blank(cells.text) {
                continue;
            }
            if let Some(vector) = vector {
                let finite = vector.iter().all(|x| x.is_finite());
                if !finite && let Some(vectors) = &self.vectors {
                    let row = vectors.n_lines;
                    let reason = format!("row {row} holds NaN or an infinite value; encode its text anew");
                    return Err(senv_core::Error::BadFile { path: vectors.path.clone(), reason }.into());
                }
                values.extend(vector);
            }
            n_bytes += line.text.len();
            texts.push(cells.text.to_owned());
            ids.extend(cells.id);
            further.iter_mut().zip(cells.further).for_each(|(column, cell)| column.push(cell.to_owned()));
            files.push(line.path.display().to_string());
            numbers.push(line.number.to_string());
        }
        if texts.is_empty() {
            return self.vectors.as_mut().map_or(Ok(()), Vectors::end).map(|()| None);
        }
        self.n += texts.len() as u64;
        let (rows, has_ids) = (texts.len(), self.columns.has_ids());
        let mut part = NewSentences::new(texts).column(FILE, files).column(LINE, numbers);
        for (name, column) in names.iter().zip(further) {
            part = part.column(name, column);
        }
        if has_ids {
            part = part.ids(ids);
        }
        if let Some(vectors) = &self.vectors {
            part = part.vectors(Table::from_vec(rows, vectors.reader.dim(), values)?);
        }
        self.note();
        Ok(Some(part))
    }

    fn check_interrupt(&self) -> Result {
        match self.interrupt.is_requested() {
            true => Err(senv_core::Error::Interrupted { action: "indexing" }.into()),
            false => Ok(()),
        }
    }

    fn note(&mut self) {
        if self.last_note.elapsed() >= NOTE_EVERY {
            self.last_note = Instant::now();
            output::note(&format!("{} read", plural(self.n, "sentence")));
        }
    }
}

impl Vectors {
    /// The vector of the next line.
    fn next(&mut self) -> Result<Vec<f32>> {
        let table = self.reader.read_rows(1)?;
        self.n_lines += 1;
        if table.n_rows() == 0 {
            let rows = self.reader.n_rows();
            let reason = format!(
                "it has {}, the text has more lines; each line has a row, blank ones too",
                plural(rows as u64, "row")
            );
            return Err(senv_core::Error::BadFile { path: self.path.clone(), reason }.into());
        }
        Ok(table.values().to_vec())
    }

    /// Refuses rows behind the last line.
    fn end(&mut self) -> Result {
        let rows = self.reader.n_rows();
        if rows == self.n_lines {
            return Ok(());
        }
        let reason = format!(
            "it has {}, the text {}; each line has a row, blank ones too",
            plural(rows as u64, "row"),
            plural(self.n_lines as u64, "line")
        );
        Err(senv_core::Error::BadFile { path: self.path.clone(), reason }.into())
    }
}
