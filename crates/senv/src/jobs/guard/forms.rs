//! Spellings of one word: inflected, derived, mistyped, with a hyphen or a space.

/// What a word can end in after the part that its forms share.
const ENDINGS: [&str; 36] = [
    "", "s", "es", "e", "ed", "d", "ing", "y", "ies", "ied", "er", "ers", "or", "ors", "ly", "ily", "al", "ally", "n",
    "an", "ian", "ans", "ians", "ment", "ments", "ion", "ions", "able", "ness", "ic", "ical", "r", "rs", "ation",
    "ations", "ize",
];

/// The shortest part that two forms share, in bytes.
const SHORTEST: usize = 3;

/// The shortest word in which a slip of a key is looked for, in characters.
const TYPED_FROM: usize = 5;

/// Whether two words in lower case are forms of each other: the same beginning, and endings of inflection or
/// derivation.
///
/// A last consonant may be doubled ("stop", "stopped"). The beginning is at least as long as the ending.
pub(super) fn are_forms(a: &str, b: &str) -> bool {
    let mut shared = a.bytes().zip(b.bytes()).take_while(|(x, y)| x == y).count();
    while !a.is_char_boundary(shared) || !b.is_char_boundary(shared) {
        shared -= 1;
    }
    if shared < SHORTEST {
        return false;
    }
    let (rest_a, rest_b) = (&a[shared..], &b[shared..]);
    let longest = rest_a.len().max(rest_b.len());
    if longest <= shared && ENDINGS.contains(&rest_a) && ENDINGS.contains(&rest_b) {
        return true;
    }
    let doubles = |short: &str, long: &str| {
        short.is_empty()
            && long.as_bytes().first() == a.as_bytes().get(shared - 1)
            && ["ing", "ed", "er", "ers"].contains(&long.get(1..).unwrap_or_default())
    };
    doubles(rest_a, rest_b) || doubles(rest_b, rest_a)
}

/// Whether two words in lower case differ by one slip of a key: a letter more, less, another, or two exchanged. The
/// first letter is the same.
pub(super) fn differ_by_a_slip(a: &str, b: &str) -> bool {
    if a.len().abs_diff(b.len()) > 4 {
        return false;
    }
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let (short, long) = if a.len() <= b.len() { (&a, &b) } else { (&b, &a) };
    if short.len() < TYPED_FROM || long.len() - short.len() > 1 || short[0] != long[0] {
        return false;
    }
    let same = short.iter().zip(long).take_while(|(x, y)| x == y).count();
    if short.len() < long.len() {
        return short[same..] == long[same + 1..];
    }
    let (rest_a, rest_b) = (&short[same..], &long[same..]);
    match (rest_a, rest_b) {
        ([], []) => true,
        ([_, a @ ..], [_, b @ ..]) if a == b => true,
        ([w, x, a @ ..], [y, z, b @ ..]) => w == z && x == y && a == b,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inflected_and_derived_words_are_forms_of_each_other() {
        for (a, b) in [
            ("provider", "providers"),
            ("noodle", "noodles"),
            ("stop", "stopped"),
            ("city", "cities"),
            ("hike", "hiking"),
            ("skeptic", "skeptical"),
            ("polarizer", "polarized"),
            ("caf\u{e9}", "caf\u{e9}s"),
        ] {
            assert!(are_forms(a, b) && are_forms(b, a), "{a} {b}");
        }
        for (a, b) in
            [("postgres", "openfaas"), ("fizzbuzz", "fibonacci"), ("hex", "hexadecimal"), ("\u{e9}a", "\u{e8}a")]
        {
            assert!(!are_forms(a, b) && !are_forms(b, a), "{a} {b}");
        }
    }

    #[test]
    fn a_slip_of_a_key_is_one_letter_or_two_exchanged() {
        for (a, b) in
            [("kubernets", "kubernetes"), ("postgers", "postgres"), ("asure", "azure"), ("theather", "theatre")]
        {
            assert_eq!(differ_by_a_slip(a, b), a != "theather", "{a} {b}");
            assert_eq!(differ_by_a_slip(a, b), differ_by_a_slip(b, a));
        }
        assert!(!differ_by_a_slip("cats", "cots"), "too short");
        assert!(!differ_by_a_slip("sharon", "charon"), "another first letter");
    }
}
