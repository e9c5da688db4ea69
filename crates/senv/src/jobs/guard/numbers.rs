//! Numbers in digits, in words and in Roman numerals.

use std::borrow::Cow;

/// Number words, each with its digits.
const CARDINALS: [(&str, &str); 30] = [
    ("zero", "0"),
    ("one", "1"),
    ("two", "2"),
    ("three", "3"),
    ("four", "4"),
    ("five", "5"),
    ("six", "6"),
    ("seven", "7"),
    ("eight", "8"),
    ("nine", "9"),
    ("ten", "10"),
    ("eleven", "11"),
    ("twelve", "12"),
    ("thirteen", "13"),
    ("fourteen", "14"),
    ("fifteen", "15"),
    ("sixteen", "16"),
    ("seventeen", "17"),
    ("eighteen", "18"),
    ("nineteen", "19"),
    ("twenty", "20"),
    ("thirty", "30"),
    ("forty", "40"),
    ("fifty", "50"),
    ("sixty", "60"),
    ("seventy", "70"),
    ("eighty", "80"),
    ("ninety", "90"),
    ("hundred", "100"),
    ("thousand", "1000"),
];

const ORDINALS: [(&str, &str); 10] = [
    ("first", "1"),
    ("second", "2"),
    ("third", "3"),
    ("fourth", "4"),
    ("fifth", "5"),
    ("sixth", "6"),
    ("seventh", "7"),
    ("eighth", "8"),
    ("ninth", "9"),
    ("tenth", "10"),
];

/// Roman numerals that are no word and no single letter.
const ROMAN: [(&str, &str); 7] =
    [("II", "2"), ("III", "3"), ("IV", "4"), ("VI", "6"), ("VII", "7"), ("VIII", "8"), ("IX", "9")];

/// Words that also stand where nothing is counted: "one of them", "at first", "a second", "a thousand times". A text
/// can lack them.
const LOOSE: [&str; 6] = ["zero", "one", "first", "second", "hundred", "thousand"];

/// The digits of a number word in lower case, and whether it always counts something.
pub(super) fn of_word(word: &str) -> Option<(&'static str, bool)> {
    let find = |list: &[(&str, &'static str)]| list.iter().find(|(known, _)| *known == word).map(|&(_, digits)| digits);
    if !(3..=9).contains(&word.len()) {
        return None;
    }
    find(&CARDINALS).or_else(|| find(&ORDINALS)).map(|digits| (digits, !LOOSE.contains(&word)))
}

/// The digits of a Roman numeral in capitals.
pub(super) fn of_roman(word: &str) -> Option<&'static str> {
    ROMAN.iter().find(|(known, _)| *known == word).map(|&(_, digits)| digits)
}

/// The common spelling of a number or code with a digit, in lower case: `1,000` as `1000`, `3.0` as `3`, `v2` as `2`,
/// `3rd` as `3`, `007` as `7`, `2,5` as `2.5`.
pub(super) fn of_digits(word: &str) -> Cow<'_, str> {
    let mut word = word;
    if let Some(number) = word.strip_prefix('v').filter(|number| is_number(number)) {
        word = number;
    }
    if let Some(number) = ["st", "nd", "rd", "th"].iter().find_map(|ending| word.strip_suffix(ending))
        && is_number(number)
    {
        word = number;
    }
    let mut plain = Cow::Borrowed(word);
    if word.contains(',') {
        let mut parts = word.split(',');
        let mut joined = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let digits = part.bytes().take_while(u8::is_ascii_digit).count();
            joined.push_str(if digits == 3 { "" } else { "." });
            joined.push_str(part);
        }
        plain = Cow::Owned(joined);
    }
    // Parts of zeros at the end of a version or decimal, and zeros at the start.
    while let Some((start, zeros)) = plain.rsplit_once('.')
        && !zeros.is_empty()
        && zeros.bytes().all(|b| b == b'0')
    {
        plain = Cow::Owned(start.to_owned());
    }
    let zeros = plain.bytes().take_while(|&b| b == b'0').count();
    let digits = plain.bytes().take_while(u8::is_ascii_digit).count();
    match zeros.min(digits.saturating_sub(1)) {
        0 => plain,
        n => Cow::Owned(plain[n..].to_owned()),
    }
}

fn is_number(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit()) && word.bytes().all(|b| b.is_ascii_digit() || b == b'.' || b == b',')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_has_one_spelling() {
        for (word, number) in [
            ("1,000", "1000"),
            ("1,000,000.50", "1000000.50"),
            ("3.0", "3"),
            ("2.0.0", "2"),
            ("2.10", "2.10"),
            ("2,5", "2.5"),
            ("v2", "2"),
            ("v1.2.0", "1.2"),
            ("3rd", "3"),
            ("007", "7"),
            ("0", "0"),
            ("00", "0"),
            ("0.5", "0.5"),
            ("x86", "x86"),
            ("4th", "4"),
            ("h264", "h264"),
            ("v8x", "v8x"),
        ] {
            assert_eq!(of_digits(word), number, "{word}");
        }
    }

    #[test]
    fn number_words_and_roman_numerals_are_numbers() {
        assert_eq!(of_word("two"), Some(("2", true)));
        assert_eq!(of_word("third"), Some(("3", true)));
        assert_eq!(of_word("one"), Some(("1", false)));
        assert_eq!((of_word("tower"), of_word("a")), (None, None));
        assert_eq!((of_roman("III"), of_roman("I"), of_roman("MIX")), (Some("3"), None, None));
    }
}
