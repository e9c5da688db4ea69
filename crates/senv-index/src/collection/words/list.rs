//! The rows that have a word, as bytes.
//!
//! Each row takes one number or two. The first is twice the number of rows between it and the row before, plus 1 if it
//! has the word more than once. In that case the second is how often, minus 2.
//!
//! Numbers are unsigned LEB128: seven bits a byte, the lowest first, and the top bit set in all bytes except the last.
//! So most rows of a frequent word take one byte.

/// Writes a list.
#[derive(Debug, Default)]
pub(super) struct List {
    /// The first row and how often it has the word. Its gap depends on what comes before the list.
    first: Option<(u32, u32)>,
    /// The entries after the first.
    rest: Vec<u8>,
    /// The row after the last one written.
    next: u32,
    /// The last row, whose count may still rise.
    open: Option<(u32, u32)>,
}

impl List {
    /// Counts the word in a row, which is not before the last one.
    #[inline]
    pub(super) fn count(&mut self, row: u32) {
        match &mut self.open {
            Some((open, n)) if *open == row => *n = n.saturating_add(1),
            _ => {
                self.close();
                self.open = Some((row, 1));
            }
        }
    }

    /// Writes the last row.
    pub(super) fn close(&mut self) {
        let Some((row, n)) = self.open.take() else { return };
        match self.first {
            None => self.first = Some((row, n)),
            Some(_) => push_entry(&mut self.rest, row - self.next, n),
        }
        self.next = row + 1;
    }

    /// Appends a closed list to those of earlier rows, of which `next` is the one after the last. Returns the row after
    /// its own last.
    pub(super) fn append(&self, next: u32, to: &mut Vec<u8>) -> u32 {
        let Some((row, n)) = self.first else { return next };
        push_entry(to, row - next, n);
        to.extend_from_slice(&self.rest);
        self.next
    }
}

fn push_entry(to: &mut Vec<u8>, gap: u32, n: u32) {
    push(to, u64::from(gap) << 1 | u64::from(n > 1));
    if n > 1 {
        push(to, u64::from(n) - 2);
    }
}

fn push(to: &mut Vec<u8>, mut number: u64) {
    while number > 0x7f {
        to.push(number as u8 | 0x80);
        number >>= 7;
    }
    to.push(number as u8);
}

/// Calls `f` with each row of a list, below `rows`, and how often it has the word.
///
/// # Errors
/// What contradicts the format. Rows before that were passed on.
pub(super) fn read(list: &[u8], rows: usize, mut f: impl FnMut(usize, u32)) -> Result<(), String> {
    let (mut rest, mut next) = (list, 0);
    while !rest.is_empty() {
        let entry = take(&mut rest)?;
        let row = next + u64::from(entry >> 1);
        if row >= rows as u64 {
            return Err(format!("a word is in row {row} of {rows}"));
        }
        let n = match entry & 1 {
            0 => 1,
            _ => take(&mut rest)?.checked_add(2).ok_or("a count is too large")?,
        };
        f(row as usize, n);
        next = row + 1;
    }
    Ok(())
}

/// The next number, of 32 bits.
#[inline]
fn take(rest: &mut &[u8]) -> Result<u32, String> {
    let mut number = 0_u64;
    for at in 0..5 {
        let Some(&byte) = rest.get(at) else { return Err("a list ends within a number".into()) };
        number |= u64::from(byte & 0x7f) << (7 * at);
        if byte < 0x80 {
            *rest = &rest[at + 1..];
            return u32::try_from(number).map_err(|_| format!("a number is {number}, more than 32 bits"));
        }
    }
    Err("a number has more than five bytes".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(entries: &[(u32, u32)]) -> List {
        let mut list = List::default();
        for &(row, n) in entries {
            (0..n).for_each(|_| list.count(row));
        }
        list.close();
        list
    }

    fn entries(list: &[u8], rows: usize) -> Result<Vec<(usize, u32)>, String> {
        let mut entries = Vec::new();
        read(list, rows, |row, n| entries.push((row, n))).map(|()| entries)
    }

    #[test]
    fn rows_come_back_however_a_list_is_divided() {
        let all = [(0, 1), (1, 3), (2, 1), (70, 1), (134, 2), (20_000, 300), (20_001, 1), (3_000_000, 1)];
        let mut whole = Vec::new();
        assert_eq!(written(&all).append(0, &mut whole), 3_000_001);
        let expected: Vec<(usize, u32)> = all.iter().map(|&(row, n)| (row as usize, n)).collect();
        assert_eq!(entries(&whole, 3_000_001).unwrap(), expected);
        for at in 0..=all.len() {
            let mut joined = Vec::new();
            let next = written(&all[..at]).append(0, &mut joined);
            written(&all[at..]).append(next, &mut joined);
            assert_eq!(joined, whole, "{at}");
        }
        // The bytes of the documented format: gap 0; gap 0, three times; gap 64 needs two bytes.
        assert_eq!(whole[..5], [0, 1, 1, 0, 67 << 1 & 0x7f | 0x80]);
        // The largest row.
        let last = u32::MAX / 2 - 1;
        let mut list = Vec::new();
        written(&[(last, 2)]).append(0, &mut list);
        assert_eq!(entries(&list, last as usize + 1).unwrap(), [(last as usize, 2)]);
    }

    #[test]
    fn every_changed_byte_gives_existing_rows_in_order_or_an_error() {
        let mut whole = Vec::new();
        written(&[(0, 1), (3, 2), (9, 700), (200, 1), (40_000, 2), (40_001, 1)]).append(0, &mut whole);
        let rows = 40_002;
        let mut n_errors = 0;
        for at in 0..whole.len() {
            for byte in 0..=u8::MAX {
                let mut changed = whole.clone();
                changed[at] = byte;
                match entries(&changed, rows) {
                    Ok(entries) => {
                        assert!(entries.is_sorted_by(|a, b| a.0 < b.0) && entries.iter().all(|entry| entry.1 > 0));
                        assert!(entries.last().is_none_or(|&(row, _)| row < rows));
                    }
                    Err(_) => n_errors += 1,
                }
            }
        }
        assert!(n_errors > 0);
    }

    #[test]
    fn what_contradicts_the_format_is_refused() {
        for (list, says) in [
            (&[0x80_u8][..], "ends within"),
            (&[1], "ends within"),
            (&[20], "row 10 of 10"),
            (&[0, 18, 0], "row 10 of 10"),
            (&[0x80, 0x80, 0x80, 0x80, 0x80, 0], "more than five"),
            (&[0xff, 0xff, 0xff, 0xff, 0x7f], "more than 32 bits"),
            (&[1, 0xff, 0xff, 0xff, 0xff, 0x0f], "count is too large"),
            (&[0xfe, 0xff, 0xff, 0xff, 0x0f], "row 2147483647 of 10"),
        ] {
            let error = entries(list, 10).unwrap_err();
            assert!(error.contains(says), "{list:?}: {error}");
        }
        assert_eq!(entries(&[18], 10).unwrap(), [(9, 1)]);
        assert_eq!(entries(&[], 0).unwrap(), []);
    }
}
