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

/// Appends a row of numbers with `separator` between them and a line end.
pub(crate) fn push_row(row: &[f32], separator: u8, digits: Digits, out: &mut Vec<u8>) {
    match digits {
        Digits::Shortest => {
            let mut buffer = zmij::Buffer::new();
            for &x in row {
                out.extend_from_slice(buffer.format(x).as_bytes());
                out.push(separator);
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
