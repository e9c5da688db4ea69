//! Splits blocks of lines into blocks of sentences, one per line.

use std::{borrow::Cow, ops::Range, path::Path};

use super::{
    InvalidUtf8,
    cut::{check_line, cut_line, in_cell},
    is_blank, on_one_line,
    sentences::{State, first_sentences, last_sentences},
    table::{LINE_END, LineBuffers, TableColumn},
};
use senv_base::{Error, Result};

/// A paragraph of this many bytes is split although it continues.
const LONG: usize = 1 << 16;

/// The unit that is split into sentences with [`sentences`](crate::sentences).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Split {
    /// Each line separately; also each line within a record of a table.
    Lines,
    /// Paragraphs: a sentence can continue on the next line, up to an empty line or the end of the file. A record of a
    /// table is split separately, and can have several paragraphs.
    Paragraphs,
}

/// The lines to return, with their numbers.
pub(super) struct Output<'a>(pub(super) LineBuffers<'a>);

impl Output<'_> {
    fn push(&mut self, sentence: &str, number: u64, record: Option<u64>) {
        self.0.text.extend_from_slice(on_one_line(sentence).as_bytes());
        self.0.text.push(b'\n');
        self.0.numbers.push(number);
        self.0.records.extend(record);
    }
}

/// Splits the lines of one file.
pub(super) struct Splitter {
    split: Split,
    /// The columns if each line is a record of a table, which is never joined with the next.
    columns: Option<Vec<TableColumn>>,
    max_line_bytes: usize,
    invalid_utf8: InvalidUtf8,
    /// The number of the current record.
    record: Option<u64>,
    /// The paragraph so far, and the start and number of each of its lines.
    paragraph: String,
    lines: Vec<(usize, u64)>,
    /// What the sentences of the paragraph that were returned say about the rest.
    state: State,
    /// The number of bytes at which it is split.
    enough: usize,
    /// Lines in which invalid bytes were replaced.
    pub(super) n_replaced: u64,
}

impl Splitter {
    pub(super) fn new(
        split: Split,
        columns: Option<Vec<TableColumn>>,
        (max_line_bytes, invalid_utf8): (usize, InvalidUtf8),
    ) -> Self {
        Self {
            split,
            columns,
            max_line_bytes,
            invalid_utf8,
            record: None,
            paragraph: String::new(),
            lines: Vec::new(),
            state: State::default(),
            enough: LONG,
            n_replaced: 0,
        }
    }

    /// Splits the lines of a block; the last paragraph stays open.
    pub(super) fn cut(
        &mut self,
        bytes: &[u8],
        place_of: impl Fn(usize) -> (u64, Option<u64>),
        path: &Path,
        out: &mut Output<'_>,
    ) -> Result<()> {
        let (mut position, mut place) = (0, 0);
        while position < bytes.len() {
            let (line, end) = cut_line(bytes, position);
            let number;
            (number, self.record) = place_of(place);
            (position, place) = (end, place + 1);
            let checked = check_line(line, path, number, self.max_line_bytes, self.invalid_utf8);
            let line = checked.map_err(|error| in_cell(error, line, self.columns.as_deref()))?;
            self.n_replaced += u64::from(matches!(line, Cow::Owned(_)));
            if self.columns.is_some() {
                self.cut_record(&line, number, path, out)?;
            } else {
                self.cut_line(&line, number, path, out)?;
            }
        }
        Ok(())
    }

    fn cut_line(&mut self, line: &str, number: u64, path: &Path, out: &mut Output<'_>) -> Result<()> {
        if is_blank(line) {
            self.put_out(true, path, out)?;
            out.push("", number, self.record);
            return Ok(());
        }
        if !self.paragraph.is_empty() {
            self.paragraph.push('\n');
        }
        self.lines.push((self.paragraph.len(), number));
        self.paragraph.push_str(line);
        match self.split {
            Split::Lines => self.end(path, out),
            Split::Paragraphs if self.paragraph.len() >= self.enough => self.put_out(false, path, out),
            Split::Paragraphs => Ok(()),
        }
    }

    /// Cuts the lines of a cell. Empty lines between its paragraphs are kept, as between paragraphs of plain text.
    fn cut_record(&mut self, cell: &str, number: u64, path: &Path, out: &mut Output<'_>) -> Result<()> {
        if is_blank(cell) {
            out.push("", number, self.record);
            return Ok(());
        }
        let is_end = |c: char| c == LINE_END || c == ' ';
        for line in cell.trim_start_matches(is_end).trim_end_matches(is_end).split(LINE_END) {
            self.cut_line(line, number, path, out)?;
        }
        self.end(path, out)
    }

    /// Ends the text: the paragraph, and code that is still open.
    pub(super) fn end(&mut self, path: &Path, out: &mut Output<'_>) -> Result<()> {
        self.put_out(true, path, out)?;
        self.state = State::default();
        Ok(())
    }

    /// Outputs the sentences of the paragraph: all of them, or all except the last ones, which may continue.
    fn put_out(&mut self, is_whole: bool, path: &Path, out: &mut Output<'_>) -> Result<()> {
        let (found, rest, state) = match is_whole {
            true => {
                let (found, state) = last_sentences(&self.paragraph, self.state);
                (found, self.paragraph.len(), state)
            }
            false => first_sentences(&self.paragraph, self.state),
        };
        let found: Vec<Range<usize>> = found
            .into_iter()
            .map(|sentence| {
                let start = sentence.as_ptr().addr() - self.paragraph.as_ptr().addr();
                start..start + sentence.len()
            })
            .collect();
        for range in &found {
            let line = self.lines.partition_point(|&(start, _)| start <= range.start).saturating_sub(1);
            let number = self.lines[line].1;
            if range.len() > self.max_line_bytes {
                let (path, limit) = (path.to_owned(), self.max_line_bytes);
                let n_lines = self.lines.iter().filter(|&&(start, _)| range.contains(&start)).count();
                return Err(match n_lines {
                    ..=1 => Error::LineTooLong { path, line: number, limit },
                    _ => Error::SentenceTooLong { path, line: number, limit },
                });
            }
            out.push(&self.paragraph[range.clone()], number, self.record);
        }
        let line = self.lines.partition_point(|&(start, _)| start <= rest).saturating_sub(1);
        self.lines.drain(..if is_whole { self.lines.len() } else { line });
        self.lines.iter_mut().for_each(|(start, _)| *start = start.saturating_sub(rest));
        self.paragraph.drain(..rest);
        self.state = state;
        self.enough = LONG.max(2 * self.paragraph.len());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{TextOptions, TextReader};

    fn lines(text: &str, options: &TextOptions) -> Vec<(u64, String)> {
        let bytes = std::io::Cursor::new(text.as_bytes().to_vec());
        let mut reader = TextReader::from_reader("t.csv", bytes, options).unwrap();
        let mut lines = Vec::new();
        while let Some(line) = reader.next_line().unwrap() {
            lines.push((line.number, line.text.to_owned()));
        }
        lines
    }

    fn split(text: &str, split: Split) -> Vec<(u64, String)> {
        lines(text, &TextOptions { split: Some(split), ..TextOptions::default() })
    }

    fn numbered(lines: &[(u64, &str)]) -> Vec<(u64, String)> {
        lines.iter().map(|&(number, line)| (number, line.to_owned())).collect()
    }

    #[test]
    fn sentences_have_the_number_of_the_line_on_which_they_begin() {
        let text = "\u{feff}One. Two goes\r\non here. Three\n\n\nA title\nFour.";
        let paragraphs = [(1, "One."), (1, "Two goes on here."), (2, "Three"), (3, ""), (4, ""), (5, "A title Four.")];
        assert_eq!(split(text, Split::Paragraphs), numbered(&paragraphs));
        let of_lines = [
            (1, "One."),
            (1, "Two goes"),
            (2, "on here."),
            (2, "Three"),
            (3, ""),
            (4, ""),
            (5, "A title"),
            (6, "Four."),
        ];
        assert_eq!(split(text, Split::Lines), numbered(&of_lines));
        assert!(split("", Split::Paragraphs).is_empty());
        assert_eq!(split("\n \n", Split::Paragraphs), numbered(&[(1, ""), (2, "")]));
    }

    #[test]
    fn marks_of_quoted_mail_are_left_out_where_lines_are_joined() {
        let text = "Ann wrote:\n> The mill\n> is old. It\n> is slow.\n>\n> > And\n> >\tdry\n2 > 1 and\n1 < 2";
        let expected = [
            (1, "Ann wrote:"),
            (2, "> The mill is old."),
            (3, "It is slow."),
            (6, "> > And dry"),
            (8, "2 > 1 and 1 < 2"),
        ];
        assert_eq!(split(text, Split::Paragraphs), numbered(&expected));
        assert_eq!(split("> a\n>\n", Split::Lines), numbered(&[(1, "> a")]));
        let code = split("> ```\n> a. B\n\nNo. Yes", Split::Paragraphs);
        assert_eq!(code, numbered(&[(1, "> ```"), (2, "> a. B"), (3, ""), (4, "No."), (4, "Yes")]));
    }

    #[test]
    fn indented_code_after_an_empty_line_is_not_joined() {
        let text = "Run\n\n    make all\n    make test\nThen wait. It\n\n    takes a while, as you will\n    see.";
        let expected = [
            (1, "Run"),
            (2, ""),
            (3, "make all"),
            (4, "make test"),
            (5, "Then wait."),
            (5, "It"),
            (6, ""),
            (7, "takes a while, as you will     see."),
        ];
        assert_eq!(split(text, Split::Paragraphs), numbered(&expected));
    }

    #[test]
    fn a_paragraph_of_any_length_is_cut_where_a_short_one_is() {
        let sentence = "It was Mr. Smith who\nsaid \"No.\" He left at 3.50 p.m. and the\nrain fell. \" Who?  \" \
                        Ann asked. \" He. \" ";
        let n = 3000;
        let found = split(&sentence.repeat(n), Split::Paragraphs);
        let expected = split(sentence, Split::Paragraphs);
        assert!(expected.len() >= 2 && found.len() == n * expected.len());
        for (i, (number, line)) in found.iter().enumerate() {
            let (first, text) = &expected[i % expected.len()];
            assert_eq!((*number, line), (first + 2 * (i / expected.len()) as u64, text));
        }
    }

    #[test]
    fn records_are_cut_by_themselves_and_limits_hold() {
        let csv = "id,text\n1,\"One.\nTwo\"\n2,and three. Four.\n";
        let table = Some(crate::TableText::column("text"));
        let options = TextOptions { table, split: Some(Split::Paragraphs), ..TextOptions::default() };
        let expected = numbered(&[(2, "One."), (2, "Two"), (4, "and three."), (4, "Four.")]);
        assert_eq!(lines(csv, &options), expected);
        let options = TextOptions { max_line_bytes: 20, split: Some(Split::Paragraphs), ..TextOptions::default() };
        let mut reader =
            TextReader::from_reader("x", "A line.\nThis one goes\non for long.".as_bytes(), &options).unwrap();
        assert_eq!(reader.next_line().unwrap().unwrap().text, "A line.");
        let error = reader.next_line().unwrap_err();
        assert!(matches!(error, Error::SentenceTooLong { line: 2, limit: 20, .. }), "{error}");
        let mut reader =
            TextReader::from_reader("x", "A line.\nThis one is too long for it.".as_bytes(), &options).unwrap();
        let error = reader.next_line().unwrap_err();
        assert!(matches!(error, Error::LineTooLong { line: 2, .. }), "{error}");
        let options = TextOptions { invalid_utf8: InvalidUtf8::Replace, ..options };
        let mut reader = TextReader::from_reader("x", &b"caf\xe9. Rain."[..], &options).unwrap();
        assert_eq!(reader.next_line().unwrap().unwrap().text, "caf\u{fffd}.");
        assert_eq!(reader.n_replaced(), 1);
    }
}
