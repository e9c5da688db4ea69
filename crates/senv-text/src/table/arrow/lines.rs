//! Converts columns of record batches to lines.

use std::{
    fs,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use arrow_array::RecordBatch;

use super::{ArrowBatches, ArrowFormat, BATCH, Cells, ColumnPlace};
use crate::{
    InvalidUtf8,
    expansion::Expansion,
    table::{LineBuffers, Lines, TableText},
};
use senv_base::{Error, Result};

/// Converts the rows of one file to lines.
pub(crate) struct ArrowLines {
    batches: ArrowBatches,
    places: Vec<ColumnPlace>,
    table: TableText,
    invalid_utf8: InvalidUtf8,
    /// The rest of the current batch.
    batch: Option<RecordBatch>,
    /// The columns of some of its rows, the number of these rows, and the next of them.
    cells: Vec<Cells>,
    n: usize,
    row: usize,
    /// The number of rows before these.
    n_before: u64,
    /// The bytes of the file, which count as read in proportion to its rows.
    n_bytes: u64,
    n_counted: u64,
    consumed: Arc<AtomicU64>,
    /// The bytes of text so far, and whether their number is unlimited.
    n_text: u64,
    any_expansion: bool,
}

impl ArrowLines {
    /// Opens the file if it consists of record batches.
    pub(crate) fn open(
        table: &TableText,
        path: &Path,
        (invalid_utf8, any_expansion): (InvalidUtf8, bool),
        consumed: &Arc<AtomicU64>,
    ) -> Result<Option<Self>> {
        if ArrowFormat::of_file(path).is_none() {
            return Ok(None);
        }
        let batches = ArrowBatches::open(path, Some(&table.columns))?;
        let places: Vec<ColumnPlace> =
            table.columns.iter().map(|column| batches.place(column)).collect::<Result<_>>()?;
        let n_bytes = fs::metadata(path).map_err(|e| Error::io("read", path, e))?.len();
        let (batch, cells, consumed) = (None, Vec::new(), Arc::clone(consumed));
        let (n, row, n_before, n_counted, n_text) = (0, 0, 0, 0, 0);
        Ok(Some(Self {
            batches,
            places,
            // Vectors are stored with all rows.
            table: TableText { bad_records: None, ..table.clone() },
            invalid_utf8,
            batch,
            cells,
            n,
            row,
            n_before,
            n_bytes,
            n_counted,
            consumed,
            n_text,
            any_expansion,
        }))
    }

    /// Converts the next rows to about `size` bytes of lines; returns false at the end.
    pub(crate) fn next_lines(
        &mut self,
        path: &Path,
        size: usize,
        max: usize,
        mut out: LineBuffers<'_>,
    ) -> Result<bool> {
        out.clear();
        while out.text.len() < size {
            if self.row == self.n && !self.next_rows(path)? {
                break;
            }
            let n_before = self.n_before + self.row as u64;
            let mut lines = Lines::new(path, (max, self.invalid_utf8), &self.table, out.again(), n_before);
            let mut row = self.row;
            while row < self.n && lines.out.len() < size {
                self.push(row, &mut lines)?;
                row += 1;
            }
            self.row = row;
        }
        self.n_text += out.text.len() as u64;
        if !self.any_expansion {
            let lines = self.n_before + self.row as u64;
            Expansion { compressed: self.n_bytes, text: self.n_text, lines }.check_rows(path)?;
        }
        Ok(!out.numbers.is_empty())
    }

    fn push(&self, row: usize, lines: &mut Lines<'_>) -> Result<()> {
        let number = self.n_before + row as u64 + 1;
        let start = lines.out.len();
        for (i, cells) in self.cells.iter().enumerate() {
            let cell = cells.get(row).unwrap_or_default();
            if i == 0 {
                lines.push_field(cell)
            } else {
                lines.push_next_field(cell)
            }
            if lines.out.len() - start > lines.max {
                let path = lines.path.to_owned();
                return Err(Error::LineTooLong { path, line: number, limit: lines.max });
            }
        }
        lines.end_record(number)
    }

    /// Continues with the next rows; returns false at the end.
    fn next_rows(&mut self, path: &Path) -> Result<bool> {
        self.n_before += self.n as u64;
        (self.n, self.row) = (0, 0);
        while self.batch.as_ref().is_none_or(|batch| batch.num_rows() == 0) {
            self.batch = self.batches.next_batch()?;
            if self.batch.is_none() {
                self.count_to(self.n_bytes);
                return Ok(false);
            }
        }
        let Some(batch) = self.batch.take() else { return Ok(false) };
        self.n = batch.num_rows().min(BATCH);
        self.batch = Some(batch.slice(self.n, batch.num_rows() - self.n));
        let rows = batch.slice(0, self.n);
        self.cells.clear();
        for (i, place) in self.places.iter().enumerate() {
            let array = place.of(&rows);
            let cells = if i == 0 { Cells::of_text(&array) } else { Cells::of_values(&array) };
            let Some(cells) = cells else {
                let of = if i == 0 { "text" } else { "text, numbers or times" };
                let name = self.batches.name(place);
                let reason = format!(
                    "column {name} has type {}, expected {of}",
                    array.data_type(),
                    name = senv_base::quoted(name)
                );
                return Err(Error::BadFile { path: path.to_owned(), reason });
            };
            self.cells.push(cells);
        }
        self.count();
        Ok(true)
    }

    fn count(&mut self) {
        if let Some(n_rows) = self.batches.n_rows().filter(|&n| n > 0) {
            let share = (self.n_before + self.n as u64) as f64 / n_rows as f64;
            self.count_to((share.min(1.0) * self.n_bytes as f64) as u64);
        }
    }

    fn count_to(&mut self, n: u64) {
        let more = n.saturating_sub(self.n_counted);
        self.n_counted += more;
        self.consumed.fetch_add(more, Ordering::Relaxed);
    }
}
