//! Base forms of English words: known words that replace inflected or derived words missing from a vocabulary.
//!
//! Uses only rules, no list: an ending is removed or replaced, and the result must be a word of the vocabulary. Wrong
//! guesses ("garber" as "garb") are rare, because only unknown words are guessed.

/// Endings and their possible replacements, in the order in which they are tried: inflections, degrees, adverbs,
/// derived words.
const ENDINGS: [(&str, &[&str]); 28] = [
    ("ies", &["y"]),
    ("ied", &["y"]),
    ("es", &["", "e"]),
    ("s", &[""]),
    ("ing", &["", "e"]),
    ("ed", &["", "e"]),
    ("ier", &["y"]),
    ("iest", &["y"]),
    ("er", &["", "e"]),
    ("est", &["", "e"]),
    ("ers", &["", "e"]),
    ("ily", &["y"]),
    ("ly", &["", "le"]),
    ("iness", &["y"]),
    ("ness", &[""]),
    ("ment", &[""]),
    ("ments", &[""]),
    ("able", &["", "e"]),
    ("ally", &[""]),
    ("ation", &["ate", "e", ""]),
    ("ations", &["ate", "e", ""]),
    ("ist", &[""]),
    ("ists", &[""]),
    ("ity", &["", "e"]),
    ("ful", &[""]),
    ("ish", &[""]),
    ("or", &["e", ""]),
    ("ors", &["e", ""]),
];

/// The replacements of most endings that start with a vowel.
const REGULAR: &[&str] = &["", "e"];
const E_FIRST: &[&str] = &["e", ""];

/// The minimum length of a base form in bytes.
const SHORTEST: usize = 3;

/// The maximum length in bytes of a word that has a base form.
const LONGEST: usize = 32;

/// The first base form of a word that `find` knows. A double letter at the end of one may become single ("trotted").
pub(super) fn base_form<T>(word: &str, mut find: impl FnMut(&str) -> Option<T>) -> Option<T> {
    if word.len() > LONGEST {
        return None;
    }
    let mut form = String::new();
    ENDINGS.iter().find_map(|&(ending, replacements)| {
        let stem = word.strip_suffix(ending)?;
        if ending == "s" && stem.ends_with('s') {
            return None;
        }
        let replacements = if replacements == REGULAR && lacks_e(stem) { E_FIRST } else { replacements };
        let replaced = replacements.iter().find_map(|replacement| {
            form.clear();
            form.push_str(stem);
            form.push_str(replacement);
            if form.len() < SHORTEST { None } else { find(&form) }
        });
        replaced.or_else(|| {
            let &[.., a, b] = stem.as_bytes() else { return None };
            let single = a == b && b.is_ascii_lowercase() && ending.starts_with(['e', 'i']) && stem.len() > SHORTEST;
            if single { find(&stem[..stem.len() - 1]) } else { None }
        })
    })
}

/// Whether the stem more likely ends in `e`. After a consonant and a single vowel, a last consonant would be doubled,
/// as in "hopping". So "hoping" is a form of "hope", and "noted" of "note", not of "not".
fn lacks_e(stem: &str) -> bool {
    let is_vowel = |byte: u8| b"aeiouy".contains(&byte);
    match *stem.as_bytes() {
        [.., before, vowel, last] => {
            before.is_ascii_lowercase()
                && !is_vowel(before)
                && is_vowel(vowel)
                && last.is_ascii_lowercase()
                && !is_vowel(last)
                && !b"wx".contains(&last)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The base form of a word if only these words are known.
    fn of(word: &str, known: &[&'static str]) -> Option<&'static str> {
        base_form(word, |form| known.iter().copied().find(|&word| word == form))
    }

    #[test]
    fn inflected_and_derived_words_have_a_base_form() {
        for (word, base) in [
            ("negotiators", "negotiator"),
            ("negotiators", "negotiate"),
            ("cities", "city"),
            ("tried", "try"),
            ("houses", "house"),
            ("boxes", "box"),
            ("vacuuming", "vacuum"),
            ("disguising", "disguise"),
            ("trotted", "trot"),
            ("happiest", "happy"),
            ("larger", "large"),
            ("bigger", "big"),
            ("honourably", "honourable"),
            ("happiness", "happy"),
            ("affordable", "afford"),
            ("automatically", "automatic"),
            ("translations", "translate"),
            ("cafés", "café"),
        ] {
            assert_eq!(of(word, &[base]), Some(base), "{word}");
        }
    }

    #[test]
    fn inflections_come_before_derivations() {
        assert_eq!(of("exporters", &["export", "exporter"]), Some("exporter"));
        assert_eq!(of("houses", &["house", "hou"]), Some("house"));
    }

    #[test]
    fn a_single_consonant_after_a_single_vowel_lacks_an_e() {
        for (word, known, base) in [
            ("noted", ["not", "note"], "note"),
            ("notes", ["not", "note"], "note"),
            ("hoping", ["hop", "hope"], "hope"),
            ("hopping", ["hop", "hope"], "hop"),
            ("planes", ["plan", "plane"], "plane"),
            ("notable", ["not", "note"], "note"),
            ("singing", ["sing", "singe"], "sing"),
            ("eating", ["eat", "eate"], "eat"),
            ("boxes", ["box", "boxe"], "box"),
            ("heroes", ["hero", "heroe"], "hero"),
        ] {
            assert_eq!(of(word, &known), Some(base), "{word}");
        }
        assert_eq!(of("visiting", &["visit"]), Some("visit"), "what is known decides");
    }

    #[test]
    fn what_is_too_short_too_long_or_not_known_has_none() {
        assert_eq!(of("is", &["i"]), None);
        assert_eq!(of("bed", &["b", "be"]), None);
        assert_eq!(of("class", &["clas"]), None, "two s are no ending");
        assert_eq!(of("running", &["walk"]), None);
        let long = "a".repeat(LONGEST);
        assert_eq!(base_form(&format!("{long}s"), |form| Some(form.len())), None);
        assert_eq!(base_form("", |_| Some(())), None);
    }
}
