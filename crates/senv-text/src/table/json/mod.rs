//! Reads records of JSON: one object per line, or an array of objects.

mod array;
mod fields;

use array::{Array, Place};
use fields::{Found, Object, field_names};

pub(crate) use fields::Names;

use serde::de::DeserializeSeed;

use super::{Lines, TableColumn, output::Parse};
use senv_base::{Error, Result, quoted};

/// The number of records after which a field that none of them has is an error.
const MOST_WITHOUT: usize = 1000;

/// Extracts fields from objects.
pub(super) struct Parser {
    names: Vec<String>,
    /// Which of them were found in a record. Another record may lack them.
    found: Vec<bool>,
    /// The number of records that were read, and the line and the field names of the first one.
    n_records: usize,
    first: (u64, String),
    /// The elements of the array, if the file is one, once its first character is known.
    array: Option<Array>,
    at_start: bool,
    line: u64,
    /// How far the current line has been searched for its end.
    searched: usize,
    /// Whether the rest of the line belongs to a record that was left out.
    skips_line: bool,
}

impl Parser {
    /// Creates a parser for fields by name, which can be a number; `None` for all fields.
    pub(super) fn new(columns: &[TableColumn]) -> Option<Self> {
        let name = |column: &TableColumn| match column {
            TableColumn::Name(_) | TableColumn::Number(_) => Some(column.title().into_owned()),
            TableColumn::All => None,
        };
        let names = columns.iter().map(name).collect::<Option<Vec<_>>>()?;
        let found = vec![false; names.len()];
        Some(Self {
            names,
            found,
            n_records: 0,
            first: (0, String::new()),
            array: None,
            at_start: true,
            line: 0,
            searched: 0,
            skips_line: false,
        })
    }

    /// Converts the object that begins at this place, or leaves it out if it is bad.
    fn record(&mut self, json: &[u8], begins: Place, lines: &mut Lines<'_>) -> Result<()> {
        match self.push_fields(json, begins, lines) {
            Ok(()) => {
                lines.end_record(begins.line)?;
                lines.keep_raw(json, self.array.is_some());
                Ok(())
            }
            Err(error) => lines.leave_out(error),
        }
    }

    fn push_fields(&mut self, json: &[u8], begins: Place, lines: &mut Lines<'_>) -> Result<()> {
        let number = begins.line;
        let invalid = |error: std::str::Utf8Error| {
            let Place { line, column } = begins.after(&json[..error.valid_up_to()]);
            Error::InvalidUtf8 { path: lines.path.to_owned(), line, byte: column + 1, column: None }
        };
        let text = lines.invalid_utf8.decode(json).map_err(invalid)?;
        let mut found = vec![Found::Missing; self.names.len()];
        let mut reader = serde_json::Deserializer::from_str(&text);
        let object = Object { names: &self.names, prefix: "", found: &mut found };
        let read = object.deserialize(&mut reader).and_then(|()| reader.end());
        read.map_err(|error| {
            let (what, Place { line, column }) = without_place(&error, begins);
            lines.bad(line, format!("not a JSON object: {what} at column {column}"))
        })?;
        if self.n_records == 0 {
            self.first = (number, field_names(&text));
        }
        self.n_records += 1;
        for (i, (name, found)) in self.names.iter().zip(found).enumerate() {
            self.found[i] |= !matches!(found, Found::Missing);
            let field = match found {
                Found::Text(text) => text,
                Found::Null | Found::Missing => String::new(),
                // Values other than the text are kept verbatim, to the last digit.
                Found::Value(text, _) if i > 0 => text,
                Found::Twice => {
                    return Err(lines.bad(number, format!("duplicate field {name}", name = quoted(name))));
                }
                Found::Value(_, what) | Found::Other(what) => {
                    return Err(lines.bad(number, format!("field {name} is {what}, not text", name = quoted(name))));
                }
            };
            if i == 0 { lines.push_field(field.as_bytes()) } else { lines.push_next_field(field.as_bytes()) }
        }
        Ok(())
    }

    /// Converts objects that are lines.
    fn parse_lines(&mut self, bytes: &[u8], at_end: bool, size: usize, lines: &mut Lines<'_>) -> Result<usize> {
        let mut position = 0;
        while lines.out.len() < size && position < bytes.len() {
            let rest = &bytes[position..];
            let (line, end) = match memchr::memchr(b'\n', &rest[self.searched..]) {
                Some(at) => (&rest[..self.searched + at], self.searched + at + 1),
                None if at_end => (rest, rest.len()),
                None if self.skips_line => return Ok(bytes.len()),
                None => {
                    self.searched = rest.len();
                    if rest.len() > lines.max.saturating_add(1) {
                        self.too_long(lines)?;
                        (self.searched, self.skips_line) = (0, true);
                        return Ok(bytes.len());
                    }
                    return Ok(position);
                }
            };
            self.searched = 0;
            self.line += 1;
            position += end;
            if std::mem::take(&mut self.skips_line) {
                continue;
            }
            if line.len() > lines.max.saturating_add(1) {
                self.line -= 1;
                self.too_long(lines)?;
                self.line += 1;
                continue;
            }
            if !line.trim_ascii().is_empty() {
                self.record(line, Place::line(self.line), lines)?;
            }
        }
        Ok(position)
    }

    /// Leaves out the line after the last one, which is too long.
    fn too_long(&self, lines: &mut Lines<'_>) -> Result<()> {
        let path = lines.path.to_owned();
        lines.leave_out(Error::LineTooLong { path, line: self.line + 1, limit: lines.max })
    }

    /// Converts objects that are elements of an array.
    fn parse_array(&mut self, bytes: &[u8], at_end: bool, size: usize, lines: &mut Lines<'_>) -> Result<usize> {
        let mut position = 0;
        while lines.out.len() < size
            && let Some(array) = &mut self.array
        {
            let element = array.next(&bytes[position..], lines.max);
            match element.map_err(|(line, reason)| lines.bad(line, reason))? {
                Some((element, begins, end)) => {
                    position += end;
                    self.record(element, begins, lines)?;
                }
                None => {
                    position += array.n_read();
                    if at_end {
                        array.end().map_err(|(line, reason)| lines.bad(line, reason))?;
                    }
                    return Ok(position);
                }
            }
        }
        Ok(position)
    }

    /// Checks that the first of the fields was in some record, and at the end each of them.
    fn check_found(&self, is_last: bool, lines: &Lines<'_>) -> Result<()> {
        let n = if is_last { self.names.len() } else { 1 };
        let missing = self.names.iter().zip(&self.found).take(n).find(|(_, found)| !**found);
        let Some((name, _)) = missing.filter(|_| self.n_records > 0) else { return Ok(()) };
        let (line, fields) = &self.first;
        Err(lines.bad(*line, format!("no field {}; the fields are {fields}", quoted(name))))
    }
}

/// The parser's message without its place, and that place in the file. The parser counts lines from the start of the
/// object, and columns from 1.
fn without_place(error: &serde_json::Error, begins: Place) -> (String, Place) {
    let (text, place) = (error.to_string(), format!(" at line {} column {}", error.line(), error.column()));
    let what = text.strip_suffix(&place).unwrap_or(&text).to_owned();
    let before = if error.line() > 1 { 0 } else { begins.column };
    let line = begins.line + (error.line() as u64).saturating_sub(1);
    (what, Place { line, column: before + error.column() })
}

impl Parse for Parser {
    fn parse(&mut self, bytes: &[u8], at_end: bool, size: usize, lines: &mut Lines<'_>) -> Result<usize> {
        if self.at_start {
            // The first character tells an array from lines.
            let first = bytes.iter().position(|byte| !byte.is_ascii_whitespace());
            let Some(first) = first else {
                self.line += memchr::memchr_iter(b'\n', bytes).count() as u64;
                return Ok(bytes.len());
            };
            self.at_start = false;
            self.array = (bytes[first] == b'[').then(|| Array::new(self.line + 1));
        }
        let read = match self.array.is_some() {
            false => self.parse_lines(bytes, at_end, size, lines)?,
            true => self.parse_array(bytes, at_end, size, lines)?,
        };
        let is_last = at_end && read == bytes.len() && lines.out.len() < size;
        if is_last || self.n_records > MOST_WITHOUT {
            self.check_found(is_last, lines)?;
        }
        Ok(read)
    }
}
