//! Reads records of CSV and TSV.

use csv_core::{ReadRecordResult, ReaderBuilder};

use super::{
    Lines, TableColumn, TableText,
    output::Parse,
    quotes::{BadQuote, LineEnds, QuoteScan},
};
use crate::InvalidUtf8;
use senv_base::{Error, Result, quoted};

/// Splits bytes into records.
pub(super) struct Parser {
    reader: csv_core::Reader,
    delimiter: u8,
    /// Set if quotes are interpreted.
    quotes: Option<QuoteScan>,
    /// Whether spaces at the start of a field are left out.
    skips_space: bool,
    invalid_utf8: InvalidUtf8,
    columns: Vec<TableColumn>,
    /// The indices of the columns, once they are known.
    places: Option<Vec<usize>>,
    /// Whether all fields are returned.
    all: bool,
    has_header: bool,
    /// The number of column titles, once they are read.
    n_titles: Option<usize>,
    /// The bytes of the fields of the current record, and the end of each field.
    fields: Vec<u8>,
    n_bytes: usize,
    ends: Vec<usize>,
    n_ends: usize,
    /// The number of the next line, from 1, and of the line on which the current record started.
    line: u64,
    line_ends: LineEnds,
    began: Option<u64>,
    /// The bytes of the current record, if they are needed, and those that are parsed again because the quotes of the
    /// record before them were wrong.
    raw: Vec<u8>,
    again: Vec<u8>,
    /// Whether the rest of a line belongs to a record that was left out.
    skips_line: bool,
    /// Whether the last carriage return that ended a record was followed by a line feed.
    ends_in_two: bool,
}

impl Parser {
    /// `delimiter` separates fields; `quotes` says whether fields can be quoted.
    pub(super) fn new(delimiter: u8, quotes: bool, table: &TableText, invalid_utf8: InvalidUtf8) -> Self {
        let (columns, has_header) = (table.columns.clone(), table.has_header);
        let all = columns == [TableColumn::All];
        Self {
            reader: ReaderBuilder::new().delimiter(delimiter).quoting(quotes).build(),
            delimiter,
            quotes: quotes.then(|| QuoteScan::new(delimiter)),
            skips_space: table.skip_initial_space && quotes,
            invalid_utf8,
            has_header,
            n_titles: None,
            all,
            places: all.then(Vec::new),
            columns,
            fields: vec![0; 1 << 12],
            n_bytes: 0,
            ends: vec![0; 64],
            n_ends: 0,
            line: 1,
            line_ends: LineEnds::default(),
            began: None,
            raw: Vec::new(),
            again: Vec::new(),
            skips_line: false,
            ends_in_two: false,
        }
    }

    fn field(&self, i: usize) -> &[u8] {
        let start = if i == 0 { 0 } else { self.ends[i - 1] };
        &self.fields[start..self.ends[i]]
    }

    /// Handles a complete record.
    fn record(&mut self, began: u64, lines: &mut Lines<'_>) -> Result<()> {
        if self.places.is_none() || self.has_header {
            self.has_header = self.find(began, lines)?;
        }
        if std::mem::take(&mut self.has_header) {
            self.n_titles = Some(self.n_ends);
            if let Some(raw) = &mut lines.raw {
                raw.titles.clone_from(&self.raw);
                raw.titles_line = began;
            }
        } else {
            match self.push_fields(began, lines) {
                Ok(()) => {
                    lines.end_record(began)?;
                    lines.keep_raw(&self.raw, false);
                }
                Err(error) => lines.leave_out(error)?,
            }
        }
        self.begin_next();
        Ok(())
    }

    /// Forgets the current record.
    fn begin_next(&mut self) {
        self.n_bytes = 0;
        self.n_ends = 0;
        self.began = None;
        self.raw.clear();
    }

    /// Appends the selected fields of the current record.
    fn push_fields(&self, began: u64, lines: &mut Lines<'_>) -> Result<()> {
        if self.all {
            for i in 0..self.n_ends {
                push(i, self.field(i), lines);
            }
            return Ok(());
        }
        let Some(places) = &self.places else { return Ok(()) };
        self.check_titles(began, lines)?;
        for (i, &place) in places.iter().enumerate() {
            if place >= self.n_ends {
                let name = match &self.columns[i] {
                    TableColumn::Name(name) if self.columns[i].index() != Some(place) => {
                        format!("{} ({name})", place + 1)
                    }
                    _ => (place + 1).to_string(),
                };
                let n = self.n_ends;
                let s = if n == 1 { "" } else { "s" };
                let reason = format!("the record has {n} column{s}, so there is no column {name}");
                return Err(lines.bad(began, reason));
            }
            push(i, self.field(place), lines);
        }
        Ok(())
    }

    /// Returns an error if a record has more fields than there are titles, because a comma in its text has split it.
    /// Empty extra fields are ignored.
    fn check_titles(&self, began: u64, lines: &Lines<'_>) -> Result<()> {
        match self.n_titles {
            Some(titles) if (titles..self.n_ends).any(|i| !self.field(i).trim_ascii().is_empty()) => {
                let n = self.n_ends;
                let what = if self.delimiter == b'\t' {
                    if self.quotes.is_some() {
                        "a tab ends a field that is not quoted"
                    } else {
                        "a tab ends a field; --quotes allows quoted fields as in CSV"
                    }
                } else {
                    match self.delimiter {
                        b',' => "quote fields that contain a comma",
                        delimiter => &format!(
                            "quote fields that contain '{}', or give another delimiter (--delimiter)",
                            char::from(delimiter).escape_default()
                        ),
                    }
                };
                let reason = format!("the record has {n} columns, but the first record has {titles}; {what}");
                Err(lines.bad(began, reason))
            }
            _ => Ok(()),
        }
    }

    /// Finds the columns in the first record. Returns whether it contains titles.
    fn find(&mut self, began: u64, lines: &Lines<'_>) -> Result<bool> {
        if self.all {
            return Ok(self.has_header);
        }
        let has_names = self.columns.iter().any(|column| column.index().is_none());
        // Without a header, a number is a title only if there are too few fields, or if it is written as no number is.
        let is_title = |column: &TableColumn| match column {
            TableColumn::Number(number) => self.has_header || has_names || *number > self.n_ends,
            TableColumn::Name(_) | TableColumn::All => true,
        };
        let mut has_titles = self.has_header || has_names;
        let mut places = Vec::with_capacity(self.columns.len());
        for column in &self.columns {
            let title = if is_title(column) { self.place_of(&column.title(), began, lines)? } else { None };
            has_titles |= title.is_some();
            places.push(title.or(column.index()).ok_or_else(|| {
                let text = |i| match self.invalid_utf8.decode(self.field(i)) {
                    Ok(field) => field,
                    Err(_) => String::from_utf8_lossy(self.field(i)),
                };
                let titles = (0..self.n_ends.min(20)).map(text).collect::<Vec<_>>().join(", ");
                let is_whole = self.n_ends == 1 && titles.contains([';', '\t', '|', ',']);
                let is_legible = (0..self.n_ends).all(|i| self.invalid_utf8.decode(self.field(i)).is_ok());
                let remedy = match (is_whole, is_legible) {
                    (true, _) => " (--delimiter sets the character between them)",
                    (_, false) => ", which are not UTF-8 (--invalid-utf8 windows-1252 reads them)",
                    _ => "",
                };
                lines.bad(began, format!("no column {}; the columns are {titles}{remedy}", quoted(&column.title())))
            })?);
        }
        self.places = Some(places);
        Ok(has_titles)
    }

    /// The only field of the current record that is this title.
    fn place_of(&self, title: &str, began: u64, lines: &Lines<'_>) -> Result<Option<usize>> {
        let is_it = |field: &[u8]| match self.invalid_utf8.decode(field) {
            Ok(field) => field == title,
            Err(_) => field == title.as_bytes(),
        };
        let mut found = (0..self.n_ends).filter(|&i| is_it(self.field(i).trim_ascii()));
        let place = found.next();
        if let Some((first, second)) = place.zip(found.next()) {
            let (first, second) = (first + 1, second + 1);
            let reason = format!("columns {first} and {second} are both named {}; give a number", quoted(title));
            return Err(lines.bad(began, reason));
        }
        Ok(place)
    }

    /// The error for a record that exceeds the limit or does not end.
    fn endless(&self, began: u64, reason: &str, lines: &Lines<'_>) -> Error {
        // The open field is the one after the last complete field.
        let whole = if self.n_ends == 0 { 0 } else { self.ends[self.n_ends - 1] };
        let before = memchr::memchr_iter(b'\n', &self.fields[..whole.min(self.n_bytes)]).count() as u64;
        lines.bad(began + before, reason.to_owned())
    }
}

impl Parser {
    /// Converts records in `bytes`, until a record has wrong quotes and is left out.
    fn parse_some(&mut self, bytes: &[u8], at_end: bool, size: usize, lines: &mut Lines<'_>) -> Result<usize> {
        let mut position = 0;
        while lines.out.len() < size && self.again.is_empty() {
            if self.skips_line {
                let end = memchr::memchr2(b'\n', b'\r', &bytes[position..]);
                position = end.map_or(bytes.len(), |end| position + end);
                self.skips_line = end.is_none();
                if self.skips_line {
                    return Ok(position);
                }
            }
            if self.began.is_none() {
                // Empty lines are not records; a carriage return may remain from the previous record.
                while let Some(&byte @ (b'\n' | b'\r')) = bytes.get(position) {
                    self.line += u64::from(self.line_ends.is_end(byte));
                    position += 1;
                }
                if position == bytes.len() {
                    return Ok(position);
                }
                self.began = Some(self.line);
            }
            let began = self.began.unwrap_or(self.line);
            let mut rest = &bytes[position..];
            if self.skips_space {
                if self.quotes.as_ref().is_some_and(QuoteScan::is_at_start) {
                    let n = rest.iter().take_while(|&&byte| byte == b' ').count();
                    self.keep(&rest[..n], lines);
                    position += n;
                    rest = &rest[n..];
                }
                // Up to the start of the next field, which may begin with spaces.
                if let Some(end) = memchr::memchr2(self.delimiter, b'\n', rest) {
                    rest = &rest[..=end];
                }
            }
            if rest.is_empty() && !at_end {
                return Ok(position);
            }
            // Adds a line end after the last record, so only a quote can keep it open.
            let closing = rest.is_empty();
            let input: &[u8] = if closing { b"\n" } else { rest };
            let (result, n_in, n_out, n_ends) =
                self.reader.read_record(input, &mut self.fields[self.n_bytes..], &mut self.ends[self.n_ends..]);
            if !closing {
                self.keep(&input[..n_in], lines);
                position += n_in;
                let scanned = self.quotes.as_mut().map_or(Ok(()), |quotes| quotes.scan(&input[..n_in], self.line));
                if let Err(bad) = scanned {
                    self.leave_out(bad_quote(&bad, lines), began, lines)?;
                    continue;
                }
                self.line += self.line_ends.count(&input[..n_in]);
            }
            // Ends are offsets from the start of the record.
            self.n_bytes += n_out;
            self.n_ends += n_ends;
            match result {
                ReadRecordResult::InputEmpty if closing => {
                    let reason = "the quote that opens here is never closed; close it, or read the file as plain \
                        lines";
                    self.leave_out(self.endless(began, reason, lines), began, lines)?;
                }
                ReadRecordResult::InputEmpty => {}
                ReadRecordResult::OutputFull => {
                    if self.n_bytes > lines.max {
                        let reason = format!(
                            "a record is longer than {} bytes; a closing quote may be missing, or raise \
                            --max-line-bytes",
                            lines.max
                        );
                        self.leave_out(self.endless(began, &reason, lines), began, lines)?;
                        continue;
                    }
                    let longer = self.fields.len() * 2;
                    self.fields.resize(longer, 0);
                }
                ReadRecordResult::OutputEndsFull => {
                    let longer = self.ends.len() * 2;
                    self.ends.resize(longer, 0);
                }
                ReadRecordResult::Record => {
                    self.complete_line_end(&bytes[position..]);
                    self.record(began, lines)?;
                }
                ReadRecordResult::End => return Ok(position),
            }
        }
        Ok(position)
    }

    /// Adds to the bytes of a record the line feed that follows its carriage return.
    fn complete_line_end(&mut self, rest: &[u8]) {
        if self.raw.last() != Some(&b'\r') {
            return;
        }
        // At the end of what was read, the record before tells.
        self.ends_in_two = rest.first().map_or(self.ends_in_two, |&byte| byte == b'\n');
        if self.ends_in_two {
            self.raw.push(b'\n');
        }
    }

    /// Keeps bytes of the current record, if they may be needed again.
    fn keep(&mut self, bytes: &[u8], lines: &Lines<'_>) {
        if lines.needs_raw() {
            self.raw.extend_from_slice(bytes);
        }
    }

    /// Leaves out a record whose quotes are wrong, or returns the error. Only its first line is lost, because a quote
    /// that is never closed has made one record of many lines. The lines after it are parsed again.
    fn leave_out(&mut self, error: Error, began: u64, lines: &mut Lines<'_>) -> Result<()> {
        // Without titles there is nothing to go on with.
        if self.places.is_none() || self.has_header {
            return Err(error);
        }
        lines.leave_out(error)?;
        let raw = std::mem::take(&mut self.raw);
        self.begin_next();
        self.reader.reset();
        self.quotes = self.quotes.take().map(|_| QuoteScan::new(self.delimiter));
        (self.line, self.line_ends) = (began, LineEnds::default());
        match memchr::memchr2(b'\n', b'\r', &raw) {
            // The line end itself is counted when it is parsed.
            Some(end) => self.again = raw[end..].to_vec(),
            None => self.skips_line = true,
        }
        Ok(())
    }
}

/// The error for a quote.
fn bad_quote(bad: &BadQuote, lines: &Lines<'_>) -> Error {
    match *bad {
        BadQuote::TextBehind { line, opened } => {
            let reason = format!(
                "text follows the closing quote of the field that starts in line {opened}; close the quote at the end \
                of the field, double quotes inside it, or read the file as plain lines"
            );
            lines.bad(line, reason)
        }
        BadQuote::SpaceBefore { line } => {
            let reason = "a space precedes the quotes around a field, so they would be part of the text; remove the \
                space, or give --skip-initial-space";
            lines.bad(line, reason.into())
        }
    }
}

/// Appends field `i` of those that are selected.
fn push(i: usize, field: &[u8], lines: &mut Lines<'_>) {
    if i == 0 { lines.push_field(field) } else { lines.push_next_field(field) }
}

impl Parse for Parser {
    fn parse(&mut self, bytes: &[u8], at_end: bool, size: usize, lines: &mut Lines<'_>) -> Result<usize> {
        let mut position = 0;
        loop {
            if self.again.is_empty() {
                position += self.parse_some(&bytes[position..], at_end, size, lines)?;
                if self.again.is_empty() {
                    return Ok(position);
                }
            }
            let again = std::mem::take(&mut self.again);
            let n = self.parse_some(&again, false, size, lines)?;
            self.again.extend_from_slice(&again[n..]);
            if lines.out.len() >= size {
                return Ok(position);
            }
        }
    }
}
