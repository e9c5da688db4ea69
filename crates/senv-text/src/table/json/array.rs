//! Finds the elements of an array in bytes that arrive in parts.

/// A reason why a text is no array of records, and its line.
type Bad = (u64, String);

/// An element, the place where it begins, and its end among the bytes.
type Element<'a> = (&'a [u8], Place, usize);

/// A line, from 1, and the number of bytes before the place on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) line: u64,
    pub(super) column: usize,
}

impl Place {
    /// The start of a line.
    pub(super) fn line(line: u64) -> Self {
        Self { line, column: 0 }
    }

    /// The place after these bytes.
    pub(super) fn after(self, bytes: &[u8]) -> Self {
        match memchr::memrchr(b'\n', bytes) {
            Some(end) => Self {
                line: self.line + memchr::memchr_iter(b'\n', bytes).count() as u64,
                column: bytes.len() - end - 1,
            },
            None => Self { column: self.column + bytes.len(), ..self },
        }
    }
}

/// What precedes the next byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Before {
    /// Nothing.
    Outside,
    /// The opening bracket.
    Opened,
    /// An element.
    Element,
    /// A comma.
    Comma,
    /// The closing bracket.
    Closed,
}

/// The scan of an array for its elements, one of which is in memory at a time.
#[derive(Debug)]
pub(super) struct Array {
    before: Before,
    /// The place of the next byte, and the line of the opening bracket.
    at: Place,
    opened: u64,
    /// How many bytes the last call has read without finding an element.
    n_read: usize,
    /// How far the current element has been searched for its end.
    searched: usize,
    /// How many brackets and braces are open there.
    depth: usize,
    in_string: bool,
    is_escaped: bool,
}

impl Array {
    /// An array whose opening bracket is the next byte that is not white space; the next byte is on this line.
    pub(super) fn new(line: u64) -> Self {
        let (before, at, n_read, searched, depth) = (Before::Outside, Place::line(line), 0, 0, 0);
        Self { before, at, opened: line, n_read, searched, depth, in_string: false, is_escaped: false }
    }

    /// How many bytes the last call of [`Array::next`] has read, if it has found no element.
    pub(super) fn n_read(&self) -> usize {
        self.n_read
    }

    /// The next element that is whole, of at most `max` bytes; `None` if more bytes are needed, or after the last one.
    pub(super) fn next<'a>(&mut self, bytes: &'a [u8], max: usize) -> Result<Option<Element<'a>>, Bad> {
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            if byte.is_ascii_whitespace() && self.searched == 0 {
                self.at = self.at.after(&[byte]);
                at += 1;
                continue;
            }
            self.before = match (self.before, byte) {
                (Before::Outside, b'[') => {
                    self.opened = self.at.line;
                    Before::Opened
                }
                (Before::Opened | Before::Element, b']') => Before::Closed,
                (Before::Element, b',') => Before::Comma,
                (Before::Opened | Before::Comma, _) => {
                    let rest = &bytes[at..];
                    let end = self.end_of_element(rest);
                    if end.unwrap_or(rest.len()) > max {
                        let reason = format!("a record is longer than {max} bytes; raise --max-line-bytes");
                        return Err((self.at.line, reason));
                    }
                    let Some(end) = end else { break };
                    let (element, place) = (&rest[..end], self.at);
                    self.at = place.after(element);
                    (self.before, self.searched, self.depth) = (Before::Element, 0, 0);
                    return Ok(Some((element, place, at + end)));
                }
                (Before::Outside | Before::Element, _) => {
                    return Err((self.at.line, "expected a comma or the end of the array after a record".into()));
                }
                (Before::Closed, _) => return Err((self.at.line, "text follows the end of the array".into())),
            };
            self.at.column += 1;
            at += 1;
        }
        self.n_read = at;
        Ok(None)
    }

    /// Checks that the array has ended where its file does.
    pub(super) fn end(&self) -> Result<(), Bad> {
        match self.before {
            Before::Closed => Ok(()),
            _ => Err((self.opened, "the array that begins here has no end; the file may be incomplete".into())),
        }
    }

    /// The end of the element that starts here, if its last byte has arrived.
    fn end_of_element(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut at = self.searched;
        while at < bytes.len() {
            if self.in_string {
                if std::mem::take(&mut self.is_escaped) {
                    at += 1;
                    continue;
                }
                let Some(mark) = memchr::memchr2(b'"', b'\\', &bytes[at..]) else {
                    at = bytes.len();
                    break;
                };
                at += mark + 1;
                if bytes[at - 1] == b'\\' {
                    self.is_escaped = true;
                    continue;
                }
                self.in_string = false;
                if self.depth == 0 {
                    return Some(at);
                }
                continue;
            }
            match bytes[at] {
                b'"' => self.in_string = true,
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' if self.depth > 0 => {
                    self.depth -= 1;
                    if self.depth == 0 {
                        return Some(at + 1);
                    }
                }
                // A number or a word ends before these.
                b'}' | b']' | b',' | b' ' | b'\t' | b'\n' | b'\r' if self.depth == 0 => return Some(at),
                _ => {}
            }
            at += 1;
        }
        self.searched = at;
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The line and column of an element, and its text.
    type At = ((u64, usize), String);

    /// The elements with their lines, read in pieces of this size, or what is wrong.
    fn elements(text: &str, piece: usize, max: usize) -> Result<Vec<At>, Bad> {
        let (mut array, mut held, mut found) = (Array::new(1), Vec::new(), Vec::new());
        for bytes in text.as_bytes().chunks(piece) {
            held.extend_from_slice(bytes);
            let mut start = 0;
            while let Some((element, place, end)) = array.next(&held[start..], max)? {
                found.push(((place.line, place.column), String::from_utf8(element.to_vec()).unwrap()));
                start += end;
            }
            held.drain(..start + array.n_read());
        }
        array.end().map(|()| found)
    }

    #[test]
    fn elements_are_found_however_their_bytes_arrive() {
        let text = "[ {\"a\": \"}]\\\"\\\\\"},\n{\"b\":[{},[1,2]]}\n\n,\n3, \"x,\\\"]\" ,null]\n \n";
        let expected = [
            ((1, 2), "{\"a\": \"}]\\\"\\\\\"}"),
            ((2, 0), "{\"b\":[{},[1,2]]}"),
            ((5, 0), "3"),
            ((5, 3), "\"x,\\\"]\""),
            ((5, 12), "null"),
        ];
        for piece in [1, 2, 3, 7, 1000] {
            let found = elements(text, piece, 100).unwrap();
            assert!(found.iter().map(|(place, text)| (*place, text.as_str())).eq(expected), "{piece}: {found:?}");
        }
        assert_eq!(elements("[]", 1, 9), Ok(vec![]));
    }

    #[test]
    fn what_is_no_array_is_refused_with_its_line() {
        for (text, line, part) in [
            ("[{}", 1, "has no end"),
            ("[{},", 1, "has no end"),
            ("\n[1", 2, "has no end"),
            ("[{}\n{}]", 2, "expected a comma"),
            ("[{}]\n\nx", 3, "text follows"),
            ("[{},\n{\"a\":\"0123456789\"}]", 2, "a record is longer than 9 bytes"),
            ("[{},\n{\"a\":\"0123456789", 2, "a record is longer than 9 bytes"),
        ] {
            for piece in [1, 1000] {
                let array = text.trim_start();
                let lines = (text.len() - array.len()) as u64;
                let (found, reason) = elements(array, piece, 9).unwrap_err();
                assert!(found + lines == line && reason.contains(part), "{text:?}: {found} {reason}");
            }
        }
    }
}
