//! Writes rows of numbers as text to a reusable buffer, and recognizes such text.

use std::io::Write;

/// How numbers are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Digits {
    /// The fewest digits that read back to the same f32.
    Shortest,
    /// This number of digits after the point, at most 9.
    Fixed(u8),
}

/// Values per row below which text may be any other table.
const FEWEST: usize = 8;

/// Values converted to text together.
const TOGETHER: usize = 16;

/// Appends a row of numbers, separated by `separator`, and a line end.
///
/// ```
/// use senv_store::{Digits, push_row};
/// let mut text = Vec::new();
/// push_row(&[0.25, -1.5], b'\t', Digits::Shortest, &mut text);
/// push_row(&[0.25, -1.5], b' ', Digits::Fixed(1), &mut text);
/// assert_eq!(text, b"0.25\t-1.5\n0.2 -1.5\n");
/// ```
pub fn push_row(row: &[f32], separator: u8, digits: Digits, out: &mut Vec<u8>) {
    match digits {
        Digits::Shortest => {
            // Formats several numbers before copying any: reading text immediately after writing it, in pieces of other
            // sizes, stalls the processor.
            let mut buffers = [(); TOGETHER].map(|()| zmij::Buffer::new());
            for xs in row.chunks(TOGETHER) {
                let mut texts: [&[u8]; TOGETHER] = [&[]; TOGETHER];
                for ((text, buffer), &x) in texts.iter_mut().zip(&mut buffers).zip(xs) {
                    *text = buffer.format(x).as_bytes();
                }
                push_texts(&texts[..xs.len()], separator, out);
            }
        }
        Digits::Fixed(n) => {
            for &x in row {
                push_fixed(x, n, out);
                out.push(separator);
            }
        }
    }
    if !row.is_empty() {
        out.pop();
    }
    out.push(b'\n');
}

/// Appends texts, each followed by the separator.
fn push_texts(texts: &[&[u8]], separator: u8, out: &mut Vec<u8>) {
    let start = out.len();
    let n: usize = texts.iter().map(|text| text.len() + 1).sum();
    out.resize(start + n, separator);
    let mut rest = &mut out[start..];
    for text in texts {
        let (place, behind) = rest.split_at_mut(text.len());
        // Nearly every number takes 8 to 16 bytes: copied as two pieces of eight that can overlap, without a call.
        match (text.first_chunk::<8>(), text.last_chunk::<8>()) {
            (Some(first), Some(last)) if text.len() <= 16 => {
                place[..8].copy_from_slice(first);
                place[text.len() - 8..].copy_from_slice(last);
            }
            _ => place.copy_from_slice(text),
        }
        rest = &mut behind[1..];
    }
}

/// Appends `x` rounded to `n` digits after the point.
fn push_fixed(x: f32, n: u8, out: &mut Vec<u8>) {
    // The f64 product is exact to 2^-53, so the nearest decimal is missed only within 1e-15 of a tie.
    let scaled = (f64::from(x.abs()) * 10f64.powi(i32::from(n))).round_ties_even();
    if !(n <= 9 && scaled < 1e15) {
        // Huge, infinite or NaN.
        let _ = write!(out, "{x:.*}", usize::from(n));
        return;
    }
    let mut rest = scaled as u64;
    if x.is_sign_negative() && rest > 0 {
        out.push(b'-');
    }
    let mut digits = [b'0'; 20];
    let mut at = digits.len();
    let least = digits.len() - usize::from(n) - 1;
    while rest > 0 || at > least {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    let point = digits.len() - usize::from(n);
    out.extend_from_slice(&digits[at..point]);
    if n > 0 {
        out.push(b'.');
        out.extend_from_slice(&digits[point..]);
    }
}

/// Whether text starts with a row of at least 8 numbers exactly as [`push_row`] would write it, plain or in a JSON
/// array. `whole` means that `bytes` is the whole text.
///
/// ```
/// assert!(senv_store::is_text_of_rows(b"0.5 0.5 0.5 0.5 0.5 0.5 0.5 0.25\n", true));
/// assert!(!senv_store::is_text_of_rows(b"1.0 2.0 3.0 4.0 5.0 6.0 7.0 8.00\n", true));
/// ```
#[must_use]
pub fn is_text_of_rows(bytes: &[u8], whole: bool) -> bool {
    let mut lines = bytes.split_inclusive(|&b| b == b'\n').filter(|line| whole || line.ends_with(b"\n"));
    let first = lines.next().unwrap_or_default();
    let line = if first == b"[\n" { lines.next().unwrap_or_default() } else { first };
    let Ok(line) = std::str::from_utf8(line) else { return false };
    let line = line.trim_end_matches('\n').trim_end_matches(',');
    let line = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')).unwrap_or(line);
    [b' ', b'\t', b','].into_iter().any(|separator| is_row(line, separator))
}

/// Whether these are enough numbers, written either with the fewest digits of an f32 or all with the same number of
/// digits after the point.
fn is_row(line: &str, separator: u8) -> bool {
    let cells = || line.split(char::from(separator));
    let row: Option<Vec<f32>> = cells().map(|cell| cell.parse().ok()).collect();
    let Some(row) = row.filter(|row| row.len() >= FEWEST) else { return false };
    let digits = cells().next().and_then(|cell| cell.split_once('.')).map_or(0, |(_, digits)| digits.len());
    let forms = [Some(Digits::Shortest), (1..=9).contains(&digits).then_some(Digits::Fixed(digits as u8))];
    forms.into_iter().flatten().any(|digits| {
        let mut again = Vec::new();
        push_row(&row, separator, digits, &mut again);
        again.strip_suffix(b"\n") == Some(line.as_bytes())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(x: f32, digits: Digits) -> String {
        let mut out = Vec::new();
        push_row(&[x], b' ', digits, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn the_shortest_text_reads_back_to_the_same_bits() {
        for x in [0.0, -0.0, 0.1, -1.5e-9, 123_456.79, f32::MAX, f32::MIN_POSITIVE, 1e-45] {
            let read: f32 = text(x, Digits::Shortest).trim_end().parse().unwrap();
            assert_eq!(read.to_bits(), x.to_bits());
        }
    }

    #[test]
    fn numbers_of_every_length_stand_one_after_another() {
        let row: Vec<f32> = (0..100).map(|i| (0.37f32).powi(i) * (i as f32 - 50.0).signum() * 1e3).collect();
        let mut out = Vec::new();
        push_row(&row, b' ', Digits::Shortest, &mut out);
        let expected: Vec<String> = row.iter().map(|&x| zmij::Buffer::new().format(x).to_owned()).collect();
        assert_eq!(String::from_utf8(out).unwrap(), expected.join(" ") + "\n");
    }

    #[test]
    fn fixed_digits_are_those_of_the_standard_library() {
        let xs = [0.0, 0.5, -0.123_456, 0.999_96, 1.0, -12.25, 123_456.79, -0.0004, 1e30, f32::NAN, f32::INFINITY];
        for x in xs {
            for n in 0..=9 {
                let expected = format!("{x:.*}\n", usize::from(n));
                // "-0.00" is written without its sign.
                let expected = match expected.strip_prefix('-') {
                    Some(rest) if rest.trim_end().bytes().all(|b| matches!(b, b'0' | b'.')) => rest.to_owned(),
                    _ => expected,
                };
                assert_eq!(text(x, Digits::Fixed(n)), expected, "{x} with {n} digits");
            }
        }
    }

    #[test]
    fn a_row_is_separated_and_ended() {
        let mut out = Vec::new();
        push_row(&[1.0, -2.5], b'\t', Digits::Fixed(1), &mut out);
        push_row(&[], b' ', Digits::Shortest, &mut out);
        assert_eq!(out, b"1.0\t-2.5\n\n");
    }
    #[test]
    fn rows_of_vectors_are_told_from_other_tables() {
        let is_vectors = |text: &[u8]| is_text_of_rows(text, true);
        assert!(!is_vectors(b"[]\n"));
        let row = [0.25_f32, -1.5, 0.1, 3.0, 1e-7, 0.0, 2.5e8, -0.333_333_34];
        for digits in [Digits::Shortest, Digits::Fixed(4)] {
            for separator in [b' ', b'\t', b','] {
                let mut text = Vec::new();
                push_row(&row, separator, digits, &mut text);
                assert!(is_vectors(&text), "{digits:?}");
                text.extend_from_slice(b"whatever follows");
                assert!(is_vectors(&text));
            }
        }
        assert!(is_vectors(b"[0.5,0.5,0.5,0.5,0.5,0.5,0.5,0.25]\n"), "JSON lines");
        assert!(is_vectors(b"[\n[0.5,0.5,0.5,0.5,0.5,0.5,0.5,0.25],\n"), "JSON");
        let others: [&[u8]; 7] = [
            b"",
            b"5.1,3.5,1.4,0.2\n",
            b"1 2 3 4 5 6 7 8 9\n",
            b"0.12345678901 0.5 0.5 0.5 0.5 0.5 0.5 0.5\n",
            b"the 0.5 0.5 0.5 0.5 0.5 0.5 0.5 0.5\n",
            b"0.5  0.5 0.5 0.5 0.5 0.5 0.5 0.5\n",
            b"My notes of today.\n",
        ];
        assert!(!others.iter().any(|text| is_vectors(text)));
    }
}
