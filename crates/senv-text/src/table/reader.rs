//! Reads the records of one file.

use std::{io::ErrorKind, path::Path};

use super::{LineBuffers, Lines, TableColumn, TableFormat, TableText, csv, delimiter, json, output::Parse};
use crate::{
    InvalidUtf8,
    decode::{BOM, Source},
    foreign::foreign,
};
use senv_base::{Error, Result};

/// The number of bytes read at a time.
const CHUNK: usize = 1 << 16;
/// The number of bytes by which a file that is not text is recognized.
const HEAD: usize = 512;

/// Reads the records of one file.
pub(crate) struct TableReader {
    table: TableText,
    parser: Box<dyn Parse>,
    invalid_utf8: InvalidUtf8,
    bytes: Vec<u8>,
    start: usize,
    n_records: u64,
    /// The character between fields of CSV and TSV.
    delimiter: u8,
    at_start: bool,
    at_end: bool,
    /// Whether the parser needs more bytes to continue.
    wants_more: bool,
    is_done: bool,
}

impl TableReader {
    pub(crate) fn new(table: &TableText, path: &Path, invalid_utf8: InvalidUtf8) -> Result<Self> {
        let columns = &table.columns;
        let bad =
            |name, requirement: &'static str, got: String| Err(Error::InvalidParameter { name, requirement, got });
        let is_mixed = columns.len() > 1 && columns.contains(&TableColumn::All);
        if columns.is_empty() || columns.contains(&TableColumn::Number(0)) || is_mixed {
            return bad("columns", "at least one, counted from 1", format!("{columns:?}"));
        }
        if let Some(delimiter) = table.delimiter.filter(|byte| !byte.is_ascii() || b"\"\r\n".contains(byte)) {
            let got = char::from(delimiter).escape_default().to_string();
            return bad("delimiter", "an ASCII character other than a quote or a line end", got);
        }
        let format = table.format_of(path);
        let delimiter = table.delimiter.unwrap_or(if format == TableFormat::Tsv { b'\t' } else { b',' });
        let parser: Box<dyn Parse> = match format {
            TableFormat::Csv => Box::new(csv::Parser::new(delimiter, true, table, invalid_utf8)),
            TableFormat::Tsv => Box::new(csv::Parser::new(delimiter, table.quotes, table, invalid_utf8)),
            TableFormat::JsonLines => match json::Parser::new(columns) {
                Some(parser) => Box::new(parser),
                None => return bad("columns", "field names for JSON", format!("{columns:?} for {}", path.display())),
            },
        };
        Ok(Self {
            table: table.clone(),
            parser,
            invalid_utf8,
            bytes: Vec::with_capacity(CHUNK),
            start: 0,
            n_records: 0,
            delimiter,
            at_start: true,
            at_end: false,
            wants_more: true,
            is_done: false,
        })
    }

    /// Converts the next records to about `size` bytes of lines; returns false at the end.
    pub(crate) fn next_lines(
        &mut self,
        source: &mut Source,
        path: &Path,
        size: usize,
        max: usize,
        eager: bool,
        mut out: LineBuffers<'_>,
    ) -> Result<bool> {
        out.clear();
        if self.at_start && !self.is_done {
            self.begin(source, path, eager)?;
        }
        let mut n_records = self.n_records;
        while !self.is_done && out.text.len() < size {
            if self.wants_more && !self.at_end {
                if eager && !out.numbers.is_empty() {
                    break;
                }
                self.fill(source, path)?;
            }
            let rest = &self.bytes[self.start..];
            let all = rest.len();
            let mut lines = Lines::new(path, (max, self.invalid_utf8), &self.table, out.again(), n_records);
            // After an error, the reader is finished for every caller.
            let done = self.parser.parse(rest, self.at_end, size, &mut lines).inspect_err(|_| self.is_done = true)?;
            n_records = lines.n_records();
            self.start += done;
            self.wants_more = out.text.len() < size;
            self.is_done = self.at_end && done == all && self.wants_more;
        }
        self.n_records = n_records;
        Ok(!out.numbers.is_empty())
    }

    /// The character between fields, once a record was read.
    pub(crate) fn delimiter(&self) -> u8 {
        self.delimiter
    }

    /// Reads enough to recognize the format, and the delimiter if none is given.
    fn begin(&mut self, source: &mut Source, path: &Path, eager: bool) -> Result<()> {
        self.fill(source, path)?;
        // Or the first line that a person has typed.
        while self.bytes.len() < HEAD && !self.at_end && !(eager && self.bytes.contains(&b'\n')) {
            self.fill(source, path)?;
        }
        foreign(&self.bytes, path, true, self.invalid_utf8).map_or(Ok(()), Err)?;
        self.start = if self.bytes.starts_with(BOM) { BOM.len() } else { 0 };
        self.at_start = false;
        self.wants_more = self.start == self.bytes.len();
        if self.table.format_of(path) != TableFormat::Csv {
            return Ok(());
        }
        let declared = delimiter::declared(&self.bytes[self.start..]);
        self.start += delimiter::behind_declared(&self.bytes[self.start..]);
        if self.table.delimiter.is_some() {
            return Ok(());
        }
        if let Some(declared) = declared {
            self.separate_by(declared);
            return Ok(());
        }
        while delimiter::sample(&self.bytes[self.start..], self.at_end).is_none() {
            self.fill(source, path)?;
        }
        let bytes = &self.bytes[self.start..];
        if let Some(sample) = delimiter::sample(bytes, self.at_end) {
            let found = delimiter::of_sample(sample, self.at_end && sample.len() == bytes.len());
            self.separate_by(found);
        }
        Ok(())
    }

    /// Separates fields of CSV by another character.
    fn separate_by(&mut self, delimiter: u8) {
        self.delimiter = delimiter;
        self.parser = Box::new(csv::Parser::new(delimiter, true, &self.table, self.invalid_utf8));
    }

    /// Appends bytes to those not consumed yet.
    fn fill(&mut self, source: &mut Source, path: &Path) -> Result<()> {
        self.bytes.drain(..self.start);
        self.start = 0;
        let filled = self.bytes.len();
        self.bytes.resize(filled + CHUNK, 0);
        let n = loop {
            match source.reader.read(&mut self.bytes[filled..]) {
                Ok(n) => break n,
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => return Err(source.error(path, e)),
            }
        };
        self.bytes.truncate(filled + n);
        self.at_end = n == 0;
        Ok(())
    }
}
