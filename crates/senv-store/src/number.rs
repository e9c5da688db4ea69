//! Converts decimal text to f32, correctly rounded, with a fast path for usual numbers.

/// 10^0 .. 10^22: the powers of ten that are exact in f64.
const POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20,
    1e21, 1e22,
];

/// Parses the number that extends to the first space or the end of `text`. Returns it with its length in bytes.
///
/// Digits are read as an integer m and a decimal exponent e. If m ≤ 2^53 and |e| ≤ 22, both m and 10^|e| are exact in
/// f64, so m · 10^e is the correctly rounded f64. Rounded to f32, it equals the rounded decimal, unless the f64 is
/// exactly between two f32: rounding can reach that point but not cross it. All other texts go to the standard library,
/// which accepts the same texts and always rounds correctly.
#[inline]
pub(crate) fn number(text: &[u8]) -> Option<(f32, usize)> {
    let mut at = 0;
    let negative = text.first() == Some(&b'-');
    at += usize::from(negative);
    let digits = |mut at: usize, mut m: u64| {
        let start = at;
        while let Some(digit) = text.get(at).map(|b| b.wrapping_sub(b'0')).filter(|&d| d < 10) {
            m = m.wrapping_mul(10).wrapping_add(u64::from(digit));
            at += 1;
        }
        (at, m, at - start)
    };
    let (end, mut m, mut n) = digits(at, 0);
    at = end;
    let mut exponent = 0i32;
    if text.get(at) == Some(&b'.') {
        let (end, more, fraction) = digits(at + 1, m);
        (at, m, n) = (end, more, n + fraction);
        exponent = -(fraction.min(1000) as i32);
    }
    if n > 0 && matches!(text.get(at), Some(b'e' | b'E')) {
        let sign = text.get(at + 1).copied();
        let start = at + 1 + usize::from(matches!(sign, Some(b'-' | b'+')));
        let (end, e, n_e) = digits(start, 0);
        if n_e == 0 || n_e > 4 {
            return standard(text);
        }
        exponent += if sign == Some(b'-') { -(e as i32) } else { e as i32 };
        at = end;
    }
    let complete = matches!(text.get(at), None | Some(b' '));
    if !complete || n == 0 || n > 19 || m > 1 << 53 || exponent.unsigned_abs() > 22 {
        return standard(text);
    }
    let power = POWERS[exponent.unsigned_abs() as usize];
    let value = if exponent < 0 { m as f64 / power } else { m as f64 * power };
    if value.to_bits() & 0x1FFF_FFFF == 0x1000_0000 {
        return standard(text);
    }
    let value = value as f32;
    Some((if negative { -value } else { value }, at))
}

#[cold]
fn standard(text: &[u8]) -> Option<(f32, usize)> {
    let end = memchr::memchr(b' ', text).unwrap_or(text.len());
    let value = std::str::from_utf8(&text[..end]).ok()?.parse().ok()?;
    Some((value, end))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::RngExt;

    /// Texts that are hard to round, from a seeded stream.
    fn hard_texts(n: usize) -> Vec<String> {
        let mut rng = senv_core::rng::stream(7, "number-test", &[]);
        (0..n)
            .map(|i| match i % 5 {
                0 => format!("{}", f32::from_bits(rng.random())),
                1 => format!("{:e}", f32::from_bits(rng.random())),
                2 => format!("{:.6}", rng.random::<f32>() - 0.5),
                // At and next to the midpoint of two f32.
                3 => format!("{}", f64::from(rng.random::<f32>()) + f64::from(f32::EPSILON) / 4.0),
                _ => format!("{}.{}e{}", rng.random::<u16>(), rng.random::<u64>(), rng.random_range(-50..50)),
            })
            .collect()
    }

    #[test]
    fn every_text_gives_the_bits_of_the_standard_library() {
        for text in hard_texts(200_000) {
            let expected: f32 = text.parse().unwrap();
            let (value, end) = number(text.as_bytes()).unwrap();
            assert_eq!((value.to_bits(), end), (expected.to_bits(), text.len()), "{text}");
        }
    }

    #[test]
    fn the_middle_between_two_numbers_goes_to_the_even_one() {
        // 1 + 2^-24 is between 1 and 1 + 2^-23; one more digit decides.
        for text in ["1.000000059604644775390625", "1.00000005960464477", "1.00000005960464478", "16777217", "16777219"]
        {
            assert_eq!(number(text.as_bytes()).unwrap().0, text.parse::<f32>().unwrap(), "{text}");
        }
    }

    #[test]
    fn the_number_ends_at_a_blank_and_odd_texts_are_decided_by_the_standard_library() {
        assert_eq!(number(b"0.5 0.25"), Some((0.5, 3)));
        for text in [
            "",
            "-",
            ".",
            "e5",
            "1e",
            "1e+",
            "0x10",
            "1_0",
            "1,5",
            "1.5.2",
            "--1",
            "1e99999",
            "nan",
            "-NaN",
            "inf",
            "-Infinity",
            "+1",
            "1.",
            ".5",
            "-0",
            "00001",
            "0.00000000000000000000000000001",
            "1\u{a0}",
            "1\t",
            "12345678901234567890123",
        ] {
            let expected = text.parse::<f32>().ok().map(f32::to_bits);
            assert_eq!(number(text.as_bytes()).map(|(v, _)| v.to_bits()), expected, "{text:?}");
        }
        assert_eq!(number(b" 1"), None);
        assert_eq!(number(b"\xff"), None);
    }
}
