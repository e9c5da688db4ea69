//! The lines that records become.

use std::path::Path;

use super::{BadRecords, BlankRecords, LINE_END, TableColumn, TableText};
use crate::{
    InvalidUtf8,
    cut::{check_line, in_cell, is_blank_byte},
};
use senv_base::{Error, Result};

/// Converts the bytes of one file to lines.
pub(super) trait Parse: Send {
    /// Converts records in `bytes` to lines until there are `size` bytes of output. `at_end` means that no further
    /// bytes follow. Returns the number of bytes consumed: all of them, unless there is enough output.
    fn parse(&mut self, bytes: &[u8], at_end: bool, size: usize, lines: &mut Lines<'_>) -> Result<usize>;
}

/// Lines with their numbers: where a reader of tables puts what it has read.
pub(crate) struct LineBuffers<'a> {
    pub(crate) text: &'a mut Vec<u8>,
    /// For each line, the number of the first line of its record, and the number of the record.
    pub(crate) numbers: &'a mut Vec<u64>,
    pub(crate) records: &'a mut Vec<u64>,
    /// Where the bytes of the last record are put, if they are wanted.
    pub(crate) raw: Option<&'a mut RawRecord>,
}

impl LineBuffers<'_> {
    pub(crate) fn clear(&mut self) {
        self.text.clear();
        self.numbers.clear();
        self.records.clear();
    }

    /// The same buffers for a shorter time.
    pub(super) fn again(&mut self) -> LineBuffers<'_> {
        let Self { text, numbers, records, raw } = self;
        LineBuffers { text, numbers, records, raw: raw.as_deref_mut() }
    }
}

/// A record as its file has it.
#[derive(Debug, Default)]
pub(crate) struct RawRecord {
    /// The bytes of the record, with its line end; without it for elements of an array.
    pub(crate) bytes: Vec<u8>,
    /// The bytes of the titles, once they were read, and the line on which they start.
    pub(crate) titles: Vec<u8>,
    pub(crate) titles_line: u64,
    /// Whether it is an element of an array.
    pub(crate) is_element: bool,
}

/// The lines that a parser outputs, and what it needs to know for them.
pub(crate) struct Lines<'a> {
    pub(super) path: &'a Path,
    pub(super) max: usize,
    pub(super) invalid_utf8: InvalidUtf8,
    pub(super) out: &'a mut Vec<u8>,
    pub(super) numbers: &'a mut Vec<u64>,
    records: &'a mut Vec<u64>,
    pub(super) raw: Option<&'a mut RawRecord>,
    /// The number of records of the file so far.
    n_records: u64,
    bad_records: Option<&'a BadRecords>,
    blank_records: Option<&'a BlankRecords>,
    columns: &'a [TableColumn],
    line_ends: bool,
    /// Where the current record starts in `out`.
    start: usize,
}

impl<'a> Lines<'a> {
    /// Appends to these buffers, after `n_records` records of the file.
    pub(super) fn new(
        path: &'a Path,
        (max, invalid_utf8): (usize, InvalidUtf8),
        table: &'a TableText,
        buffers: LineBuffers<'a>,
        n_records: u64,
    ) -> Self {
        let LineBuffers { text: out, numbers, records, raw } = buffers;
        let start = out.len();
        Self {
            path,
            max,
            invalid_utf8,
            out,
            numbers,
            records,
            raw,
            n_records,
            bad_records: table.bad_records.as_ref(),
            blank_records: table.blank_records.as_ref(),
            columns: &table.columns,
            line_ends: table.line_ends,
            start,
        }
    }

    /// The number of records of the file so far, including those that were left out.
    pub(super) fn n_records(&self) -> u64 {
        self.n_records
    }

    /// Whether the bytes of a record are needed until it ends: bad records are left out, or whole ones are wanted.
    pub(super) fn needs_raw(&self) -> bool {
        self.bad_records.is_some() || self.raw.is_some()
    }

    /// Keeps the bytes of the record that has just ended, if they are wanted.
    pub(super) fn keep_raw(&mut self, bytes: &[u8], is_element: bool) {
        if let Some(raw) = &mut self.raw {
            raw.bytes.clear();
            raw.bytes.extend_from_slice(bytes);
            raw.is_element = is_element;
        }
    }

    /// Appends the next field of the record: its line ends and tabs become spaces, or those of the first field are
    /// kept.
    pub(super) fn push_field(&mut self, field: &[u8]) {
        let is_first = self.out.len() == self.start;
        self.push_text(field, if is_first && self.line_ends { LINE_END as u8 } else { b' ' });
    }

    /// Appends a tab and the next field.
    pub(super) fn push_next_field(&mut self, field: &[u8]) {
        self.out.push(b'\t');
        self.push_text(field, b' ');
    }

    fn push_text(&mut self, field: &[u8], line_end: u8) {
        let start = self.out.len();
        self.out.extend_from_slice(field);
        if memchr::memchr3(b'\n', b'\r', b'\t', field).is_none() {
            return;
        }
        let mut end = start;
        for i in start..self.out.len() {
            let byte = self.out[i];
            // A carriage return before a line feed is part of the same line end.
            if byte == b'\r' && self.out.get(i + 1) == Some(&b'\n') {
                continue;
            }
            self.out[end] = match byte {
                b'\n' | b'\r' => line_end,
                b'\t' => b' ',
                byte => byte,
            };
            end += 1;
        }
        self.out.truncate(end);
    }

    /// Ends the record, which starts on line `number`.
    ///
    /// Where bad records are left out, its text is checked here and not only by the reader of the lines.
    pub(super) fn end_record(&mut self, number: u64) -> Result<()> {
        if self.bad_records.is_some() {
            let record = &self.out[self.start..];
            if let Err(error) = check_line(record, self.path, number, self.max, self.invalid_utf8).map(|_| ()) {
                return self.leave_out(in_cell(error, record, Some(self.columns)));
            }
        }
        self.out.push(b'\n');
        self.n_records += 1;
        if let Some(blank) = self.blank_records
            && self.is_without_text()
        {
            blank.add(self.path, self.n_records, number);
        }
        self.numbers.push(number);
        self.records.push(self.n_records);
        self.start = self.out.len();
        Ok(())
    }

    /// Whether the first field of the record is blank.
    fn is_without_text(&self) -> bool {
        let first = self.out[self.start..].iter().take_while(|&&byte| byte != b'\t' && byte != b'\n');
        first.copied().all(is_blank_byte)
    }

    /// Leaves out the current record, which has this error, or returns the error.
    pub(super) fn leave_out(&mut self, error: Error) -> Result<()> {
        self.out.truncate(self.start);
        self.n_records += 1;
        match self.bad_records {
            Some(bad) => bad.leave_out(self.path, self.n_records, error),
            None => Err(error),
        }
    }

    pub(super) fn bad(&self, line: u64, reason: String) -> Error {
        Error::BadTable { path: self.path.to_owned(), line, reason }
    }
}
