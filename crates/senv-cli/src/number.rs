//! Numbers as text, into a buffer that is used again.

use std::io::Write;

/// How numbers are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Digits {
    /// As few digits as read back to the same f32.
    Shortest,
    /// So many digits after the point, at most 9.
    Fixed(u8),
}

/// Numbers that are turned into text together.
const TOGETHER: usize = 16;

/// Appends a row of numbers with `separator` between them and a line end.
pub(crate) fn push_row(row: &[f32], separator: u8, digits: Digits, out: &mut Vec<u8>) {
    match digits {
        Digits::Shortest => {
            // Several numbers before any of them is copied: reading a number's text right after it was written, in
            // other pieces than it was written in, makes the processor wait.
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

/// Appends texts, each with the separator behind it.
fn push_texts(texts: &[&[u8]], separator: u8, out: &mut Vec<u8>) {
    let start = out.len();
    let n: usize = texts.iter().map(|text| text.len() + 1).sum();
    out.resize(start + n, separator);
    let mut rest = &mut out[start..];
    for text in texts {
        let (place, behind) = rest.split_at_mut(text.len());
        // Nearly every number takes 8 to 16 bytes: twice eight that may overlap, without a call.
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
    // In f64 the product is exact to 2^-53, so the nearest decimal is missed only within 1e-15 of a tie.
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
}
