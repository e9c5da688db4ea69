//! Checks that quotes enclose whole fields.

/// The state of a scan of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Before the first byte of a field.
    Start,
    /// In a field without quotes.
    Plain,
    /// In a quoted part.
    Quoted,
    /// After a quote in a quoted part: it closes the part or is the first of two.
    Closed,
    /// After a closing quote and spaces.
    Behind,
    /// After spaces at the start of a field.
    Blank,
    /// After spaces and a quote at the start of a field. The quote is part of the field, but may be meant to open it.
    Doubtful,
    /// After a second quote in such a field.
    DoubtfulEnd,
}

/// Counts lines that end in `\n`, `\r\n` or `\r`, in pieces of any length.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct LineEnds {
    after_cr: bool,
}

impl LineEnds {
    /// Whether this byte, the next one, ends a line. `\r` does, and `\n` does unless it follows one.
    pub(super) fn is_end(&mut self, byte: u8) -> bool {
        let is_end = byte == b'\r' || byte == b'\n' && !self.after_cr;
        self.after_cr = byte == b'\r';
        is_end
    }

    /// The number of line ends in these bytes, the next ones.
    pub(crate) fn count(&mut self, bytes: &[u8]) -> u64 {
        let Some(&last) = bytes.last() else { return 0 };
        let is_end = |i: &usize| {
            let after_cr = if *i == 0 { self.after_cr } else { bytes[i - 1] == b'\r' };
            bytes[*i] == b'\r' || !after_cr
        };
        let n = memchr::memchr2_iter(b'\n', b'\r', bytes).filter(is_end).count();
        self.after_cr = last == b'\r';
        n as u64
    }
}

/// Finds what quotes cannot mean: text after a closing quote, and a field that is quoted but for spaces before it.
#[derive(Debug)]
pub(super) struct QuoteScan {
    delimiter: u8,
    state: State,
    /// The line of the last opening quote.
    opened: u64,
    line_ends: LineEnds,
}

/// What is wrong with a quote.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum BadQuote {
    /// Text after a closing quote: its line, and the line of the opening quote.
    TextBehind { line: u64, opened: u64 },
    /// Spaces before the quotes around a field: its line.
    SpaceBefore { line: u64 },
}

impl QuoteScan {
    pub(super) fn new(delimiter: u8) -> Self {
        Self { delimiter, state: State::Start, opened: 0, line_ends: LineEnds::default() }
    }

    /// Whether the next byte is the first of a field.
    pub(super) fn is_at_start(&self) -> bool {
        self.state == State::Start
    }

    /// Continues with these bytes, the first of which is on `line`.
    pub(super) fn scan(&mut self, bytes: &[u8], mut line: u64) -> Result<(), BadQuote> {
        let mut at = 0;
        while at < bytes.len() {
            // Most bytes change nothing.
            let decides = match self.state {
                State::Plain => memchr::memchr3(self.delimiter, b'\n', b'\r', &bytes[at..]),
                State::Quoted => memchr::memchr3(b'"', b'\n', b'\r', &bytes[at..]),
                _ => Some(0),
            };
            let Some(skipped) = decides else {
                self.line_ends = LineEnds::default();
                break;
            };
            if skipped > 0 {
                self.line_ends = LineEnds::default();
            }
            at += skipped;
            let byte = bytes[at];
            let is_end = byte == self.delimiter || matches!(byte, b'\n' | b'\r');
            self.state = match self.state {
                State::Start if byte == b'"' => {
                    self.opened = line;
                    State::Quoted
                }
                State::Quoted if byte == b'"' => State::Closed,
                State::Quoted => State::Quoted,
                State::Closed if byte == b'"' => State::Quoted,
                State::Blank if byte == b'"' => State::Doubtful,
                State::Doubtful if byte == b'"' => State::DoubtfulEnd,
                // A delimiter may be meant as part of the field, and a line end hardly.
                State::Doubtful if byte == self.delimiter || !is_end => State::Doubtful,
                State::DoubtfulEnd if is_end => return Err(BadQuote::SpaceBefore { line }),
                State::DoubtfulEnd if byte == b' ' => State::DoubtfulEnd,
                _ if is_end => State::Start,
                State::Start | State::Blank if byte == b' ' => State::Blank,
                State::Closed | State::Behind if byte == b' ' => State::Behind,
                State::Closed | State::Behind => return Err(BadQuote::TextBehind { line, opened: self.opened }),
                State::Start | State::Plain | State::Blank | State::Doubtful | State::DoubtfulEnd => State::Plain,
            };
            line += u64::from(self.line_ends.is_end(byte));
            at += 1;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The result of a scan, independent of how the bytes are divided.
    fn scan(text: &str) -> Option<BadQuote> {
        let of = |piece: usize| {
            let (mut scan, mut line) = (QuoteScan::new(b','), 1);
            for bytes in text.as_bytes().chunks(piece) {
                if let Err(bad) = scan.scan(bytes, line) {
                    return Some(bad);
                }
                line += bytes.iter().filter(|&&byte| byte == b'\n').count() as u64;
            }
            None
        };
        let whole = of(1 << 10);
        assert_eq!(of(1), whole);
        assert_eq!(of(3), whole);
        whole
    }

    #[test]
    fn text_behind_a_closing_quote_is_found_with_both_lines() {
        for fine in
            ["a,b\n", "\"a\"\"b\",c\r\n\"d\ne\"", "5\" wide,6\"\n", "\"a\" ,\"b\"  \n", "\"\",\"\"\"\"\n", "\"open\nc"]
        {
            assert_eq!(scan(fine), None, "{fine:?}");
        }
        let behind = |line, opened| Some(BadQuote::TextBehind { line, opened });
        assert_eq!(scan("1,\"open\n2,5\" wide\n"), behind(2, 1));
        assert_eq!(scan("x\n\"a\"b\n"), behind(2, 2));
        assert_eq!(scan("\"a\" \"b\"\n"), behind(1, 1));
    }

    #[test]
    fn spaces_before_quotes_around_a_field_are_found() {
        for fine in
            ["1, a\n", "1, \"Hello\" she said.\n", "1, 5\" wide\n", "1, \"open\n2, b\n", "1, \"Hi, all\" she said.\n"]
        {
            assert_eq!(scan(fine), None, "{fine:?}");
        }
        let before = |line| Some(BadQuote::SpaceBefore { line });
        assert_eq!(scan("id, text\n7, \"Rain falls.\"\n"), before(2));
        assert_eq!(scan("7,  \"Rain, then snow.\" ,x\n"), before(1));
        assert_eq!(scan("a\n \"b\",c\n"), before(2));
    }
}
