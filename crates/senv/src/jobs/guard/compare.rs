//! Compares the words of two texts.

use super::{
    forms::{are_forms, differ_by_a_slip},
    words::{ALWAYS, Kind, Word, Words},
};

/// The rarity from which a word must be in both texts.
const RARE: f32 = 280_000.0;

/// The rarity from which a word may not be exchanged for another.
const CONTENT: f32 = 40_000.0;

/// The number of neighboring words that are read as one.
const JOINED: usize = 6;

/// The lengths of what first letters stand for.
const INITIALS: std::ops::RangeInclusive<usize> = 2..=6;

/// Small words that first letters leave out: "FBI" is "Federal Bureau of Investigation".
const LEFT_OUT: [&str; 5] = ["of", "and", "the", "for", "in"];

/// Whether two texts name different things.
pub(super) fn differ(a: &Words, b: &Words) -> bool {
    let (mut n_exchanged, sides) = (0, [(a, b), (b, a)]);
    for (a, b) in sides {
        let mut lacks = false;
        for word in unmatched(a, b) {
            if word.rarity >= RARE {
                return true;
            }
            lacks = true;
        }
        n_exchanged += usize::from(lacks);
    }
    n_exchanged == 2
}

/// The words of `a`, common ones left out, that `b` has in no form.
pub(super) fn unmatched<'w>(a: &'w Words, b: &'w Words) -> impl Iterator<Item = &'w Word> {
    let is_unmatched = |&(i, word): &(usize, &Word)| word.rarity >= CONTENT && !is_in(a, i, b);
    a.words.iter().enumerate().filter(is_unmatched).map(|(_, word)| word)
}

/// Whether `b` has word `i` of `a`.
fn is_in(a: &Words, i: usize, b: &Words) -> bool {
    let word = &a.words[i];
    if b.words.iter().any(|other| other.key == word.key) {
        return true;
    }
    if word.kind == Kind::Negation {
        return false;
    }
    let text = a.get(word);
    joins(b, text) || b.words.iter().any(|other| is_part(a, i, b.get(other))) || has_form(word, text, b)
}

/// Whether neighboring words, read as one, are this text.
fn joins(words: &Words, text: &str) -> bool {
    let mut starts = words.words.iter().map(|word| word.start as usize);
    starts.any(|start| {
        words.text[start..].starts_with(text) && {
            let end = (start + text.len()) as u32;
            words.words.iter().any(|word| word.end == end)
        }
    })
}

/// Whether word `i` of `a` and its neighbors, read as one, are this text.
fn is_part(a: &Words, i: usize, text: &str) -> bool {
    let word = &a.words[i];
    if text.len() <= a.get(word).len() {
        return false;
    }
    let before = &a.words[i.saturating_sub(JOINED)..=i];
    before.iter().any(|first| {
        let start = first.start as usize;
        a.text[start..].starts_with(text) && {
            let end = (start + text.len()) as u32;
            end >= word.end && a.words[i..].iter().take(JOINED).any(|word| word.end == end)
        }
    })
}

/// Whether `b` has another form of a word.
fn has_form(word: &Word, text: &str, b: &Words) -> bool {
    let of_other = |other: &Word| {
        let of_word = |kind| matches!(kind, Kind::Word | Kind::Acronym);
        let form = b.get(other);
        match (word.kind, other.kind) {
            (Kind::Code, Kind::Code | Kind::Word) | (Kind::Word, Kind::Code) => {
                text.strip_suffix('s') == Some(form) || form.strip_suffix('s') == Some(text)
            }
            (x, y) if of_word(x) && of_word(y) => {
                are_forms(text, form) || (word.is_unknown || other.is_unknown) && differ_by_a_slip(text, form)
            }
            _ => false,
        }
    };
    b.words.iter().any(of_other) || word.kind == Kind::Acronym && is_initials(text, b)
}

/// Whether a text in lower case is the first letters of neighboring words.
fn is_initials(text: &str, words: &Words) -> bool {
    if !INITIALS.contains(&text.len()) {
        return false;
    }
    let is_counted = |word: &&Word| word.rarity != ALWAYS || word.kind != Kind::Exact;
    let names = words.words.iter().filter(is_counted).map(|word| words.get(word));
    let letters: String =
        names.filter(|word| !LEFT_OUT.contains(word)).filter_map(|word| word.chars().next()).collect();
    letters.contains(text)
}
