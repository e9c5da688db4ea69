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
}

/// Finds text after a closing quote: an earlier quote was not closed, or a quote in a field was not doubled.
#[derive(Debug)]
pub(super) struct QuoteScan {
    delimiter: u8,
    state: State,
    /// The line of the last opening quote.
    opened: u64,
}

/// Text after a closing quote: its line, and the line of the opening quote.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct BehindQuote {
    pub(super) line: u64,
    pub(super) opened: u64,
}

impl QuoteScan {
    pub(super) fn new(delimiter: u8) -> Self {
        Self { delimiter, state: State::Start, opened: 0 }
    }

    /// Continues with these bytes, the first of which is on `line`.
    pub(super) fn scan(&mut self, bytes: &[u8], mut line: u64) -> Result<(), BehindQuote> {
        let mut at = 0;
        while at < bytes.len() {
            // Most bytes change nothing.
            let decides = match self.state {
                State::Plain => memchr::memchr3(self.delimiter, b'\n', b'\r', &bytes[at..]),
                State::Quoted => memchr::memchr2(b'"', b'\n', &bytes[at..]),
                _ => Some(0),
            };
            let Some(skipped) = decides else { break };
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
                _ if is_end => State::Start,
                State::Closed | State::Behind if byte == b' ' => State::Behind,
                State::Closed | State::Behind => return Err(BehindQuote { line, opened: self.opened }),
                State::Start | State::Plain => State::Plain,
            };
            line += u64::from(byte == b'\n');
            at += 1;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The result of a scan, independent of how the bytes are divided.
    fn scan(text: &str) -> Option<(u64, u64)> {
        let of = |piece: usize| {
            let (mut scan, mut line) = (QuoteScan::new(b','), 1);
            for bytes in text.as_bytes().chunks(piece) {
                if let Err(BehindQuote { line, opened }) = scan.scan(bytes, line) {
                    return Some((line, opened));
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
        assert_eq!(scan("1,\"open\n2,5\" wide\n"), Some((2, 1)));
        assert_eq!(scan("x\n\"a\"b\n"), Some((2, 2)));
        assert_eq!(scan("\"a\" \"b\"\n"), Some((1, 1)));
    }
}
