//! Signs and units beside numbers: minus, comparison, currency, percent, kilograms.

/// Signs beside a number, each with the words for it. A sign must be in both texts.
const SIGNS: [(char, &[&str]); 7] = [
    ('%', &["percent", "pct"]),
    ('$', &["dollar", "dollars", "usd"]),
    ('\u{20AC}', &["euro", "euros", "eur"]),
    ('\u{A3}', &["pound", "pounds", "gbp"]),
    ('\u{A5}', &["yen", "jpy"]),
    ('<', &[]),
    ('>', &[]),
];

/// Units after a number, each with its names. Others are words.
const UNITS: [(&str, &[&str]); 20] = [
    ("kg", &["kilo", "kilos", "kilogram", "kilograms"]),
    ("g", &["gram", "grams"]),
    ("mg", &["milligram", "milligrams"]),
    ("lb", &["lbs"]),
    ("oz", &["ounce", "ounces"]),
    ("km", &["kilometer", "kilometers", "kilometre", "kilometres"]),
    ("m", &["meter", "meters", "metre", "metres"]),
    ("cm", &["centimeter", "centimeters", "centimetre", "centimetres"]),
    ("mm", &["millimeter", "millimeters", "millimetre", "millimetres"]),
    ("mi", &["mile", "miles"]),
    ("ft", &["foot", "feet"]),
    ("ml", &["milliliter", "milliliters", "millilitre", "millilitres"]),
    ("kb", &["kilobyte", "kilobytes"]),
    ("mb", &["megabyte", "megabytes"]),
    ("gb", &["gigabyte", "gigabytes"]),
    ("tb", &["terabyte", "terabytes"]),
    ("ms", &["millisecond", "milliseconds"]),
    ("mph", &[]),
    ("mhz", &["megahertz"]),
    ("ghz", &["gigahertz"]),
];

/// The sign that a word in lower case stands for.
pub(super) fn of_word(word: &str) -> Option<char> {
    SIGNS.iter().find(|(_, names)| names.contains(&word)).map(|&(sign, _)| sign)
}

/// The short form of a unit in lower case.
pub(super) fn unit(word: &str) -> Option<&'static str> {
    UNITS.iter().find(|(short, names)| *short == word || names.contains(&word)).map(|&(short, _)| short)
}

/// The signs before a number, and whether it is negative, from the text between it and the word before. A hyphen after
/// a word or another number is no minus.
pub(super) fn before_number(gap: &str, starts_text: bool) -> (impl Iterator<Item = char>, bool) {
    let is_sign = |c: char| SIGNS.iter().any(|&(sign, _)| sign == c) && c != '%';
    let rest = gap.trim_end_matches(|c: char| is_sign(c) || c == '=' || c == ' ');
    let is_joined = !gap[rest.len()..].starts_with(' ');
    let is_negative = is_joined
        && rest
            .strip_suffix('-')
            .is_some_and(|rest| rest.ends_with([' ', '\t', '(', '=', ':']) || rest.is_empty() && starts_text);
    (gap[rest.len()..].chars().filter(move |&c| is_sign(c)), is_negative)
}

/// The sign directly after a number, or after a space.
pub(super) fn after_number(gap: &str) -> Option<char> {
    let sign = gap.strip_prefix(' ').unwrap_or(gap).chars().next()?;
    SIGNS.iter().any(|&(known, _)| known == sign && !['<', '>'].contains(&sign)).then_some(sign)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hyphen_is_a_minus_where_no_word_is_before_it() {
        let of = |gap: &str| {
            let (signs, is_negative) = before_number(gap, true);
            (signs.collect::<String>(), is_negative)
        };
        for (gap, signs, is_negative) in [
            ("-", "", true),
            (" -", "", true),
            (": -$", "$", true),
            (" $", "$", false),
            (" - ", "", false),
            (" > ", ">", false),
            (" >= ", ">", false),
            (" ", "", false),
            ("", "", false),
        ] {
            assert_eq!(of(gap), (signs.to_owned(), is_negative), "{gap:?}");
        }
        assert!(!before_number("-", false).1, "10-20 and T-1234");
        assert_eq!(
            [after_number("% of"), after_number(" \u{20AC}."), after_number(" < ")],
            [Some('%'), Some('\u{20AC}'), None]
        );
    }

    #[test]
    fn names_of_signs_and_units_are_known() {
        assert_eq!([of_word("percent"), of_word("dollars"), of_word("train")], [Some('%'), Some('$'), None]);
        assert_eq!([unit("kilograms"), unit("kg"), unit("train")], [Some("kg"), Some("kg"), None]);
    }
}
