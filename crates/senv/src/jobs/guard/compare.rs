//! Compares the words of two texts.

use super::{
    forms::{are_forms, differ_by_a_slip},
    synonyms::Synonyms,
    words::{ALWAYS, Kind, Word, Words},
};

/// The rarity from which a word must be in both texts.
const RARE: f32 = 370_000.0;

/// The number of words of a short text, in which every word but function words must be in both.
const SHORT: usize = 4;

/// The number of neighboring words that are read as one.
const JOINED: usize = 6;

/// The lengths of what first letters stand for.
const INITIALS: std::ops::RangeInclusive<usize> = 2..=6;

/// Small words that first letters leave out: "FBI" is "Federal Bureau of Investigation".
const LEFT_OUT: [&str; 5] = ["of", "and", "the", "for", "in"];

/// The words by which two texts name different things, those of the first and of the second; `None` if they name the
/// same. Without `all`, the lists may end early.
pub(super) fn difference<'w>(
    a: &'w Words,
    b: &'w Words,
    synonyms: &Synonyms<'_>,
    all: bool,
) -> Option<(Vec<&'w Word>, Vec<&'w Word>)> {
    if let Some(numbers) = exchanged_numbers(a, b) {
        return Some(numbers);
    }
    let (mut of_a, mut of_b) = (Vec::new(), Vec::new());
    let is_decided = |a: &'w Words, b: &'w Words, list: &mut Vec<&'w Word>| {
        unmatched(a, b).any(|word| {
            list.push(word);
            !all && word.rarity == ALWAYS
        })
    };
    if is_decided(a, b, &mut of_a)
        || is_decided(b, a, &mut of_b)
        || of_a.iter().chain(&of_b).any(|word| word.rarity == ALWAYS)
    {
        return Some((of_a, of_b));
    }
    synonyms.retain((&mut of_a, a), (&mut of_b, b));
    let is_rare = of_a.iter().chain(&of_b).any(|word| word.rarity >= RARE);
    if of_a.is_empty() && of_b.is_empty() {
        return None;
    }
    let is_exchanged = !of_a.is_empty() && !of_b.is_empty() || is_one_word_exchanged(a, b);
    let is_short = a.words.len().min(b.words.len()) <= SHORT;
    let has_part = lacks_part(a, &of_a) || lacks_part(b, &of_b);
    (is_rare || is_exchanged || is_short || has_part).then_some((of_a, of_b))
}

/// The numbers of a date or a range that the other text has in another order: `03/04` and `04/03`.
fn exchanged_numbers<'w>(a: &'w Words, b: &'w Words) -> Option<(Vec<&'w Word>, Vec<&'w Word>)> {
    let joined = |words: &'w Words| words.words.chunk_by(|_, next| next.is_joined).filter(|numbers| numbers.len() > 1);
    let keys = |numbers: &[Word]| numbers.iter().map(|word| word.key).collect::<Vec<_>>();
    let sorted = |numbers: &[Word]| {
        let mut keys = keys(numbers);
        keys.sort_unstable();
        keys
    };
    let mut exchanged = joined(a).filter(|of_a| !joined(b).any(|of_b| keys(of_a) == keys(of_b)));
    exchanged.find_map(|of_a| {
        let of_b = joined(b).find(|of_b| sorted(of_a) == sorted(of_b))?;
        Some((of_a.iter().collect(), of_b.iter().collect()))
    })
}

/// Whether two texts have the same words in the same order, except for one.
fn is_one_word_exchanged(a: &Words, b: &Words) -> bool {
    let n_others = a.words.iter().zip(&b.words).filter(|(a, b)| a.key != b.key).count();
    a.words.len() == b.words.len() && n_others == 1
}

/// Whether the other text lacks all words of a later part of a text, function words left out. What a record adds after
/// a dash or in parentheses tells it from others: "; documentation".
fn lacks_part(words: &Words, unmatched: &[&Word]) -> bool {
    unmatched.iter().any(|word| {
        let in_part = |other: &&Word| other.part == word.part && other.rarity > 0.0;
        let n_unmatched = unmatched.iter().copied().filter(in_part).count();
        word.part > 0 && n_unmatched == words.words.iter().filter(in_part).count()
    })
}

/// The words of `a`, function words left out, that `b` has in no form.
fn unmatched<'w>(a: &'w Words, b: &'w Words) -> impl Iterator<Item = &'w Word> {
    let is_unmatched = |&(i, word): &(usize, &Word)| word.rarity > 0.0 && !is_in(a, i, b);
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
    joins(b, text)
        || b.words.iter().any(|other| is_part(a, i, b.get(other)))
        || b.words.iter().any(|other| are_same_word(word, text, other, b.get(other)))
        || word.kind == Kind::Acronym && stands_for(text, b, None)
        || b.words.iter().any(|other| other.kind == Kind::Acronym && stands_for(b.get(other), a, Some(i)))
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

/// Whether two words, each with its letters, are forms of each other.
fn are_same_word(word: &Word, text: &str, other: &Word, form: &str) -> bool {
    let is_word = |kind| matches!(kind, Kind::Word | Kind::Acronym);
    match (word.kind, other.kind) {
        (Kind::Code, Kind::Code | Kind::Word) | (Kind::Word, Kind::Code) => {
            text.strip_suffix('s') == Some(form) || form.strip_suffix('s') == Some(text)
        }
        (x, y) if is_word(x) && is_word(y) => {
            are_forms(text, form) || (word.is_unknown || other.is_unknown) && differ_by_a_slip(text, form)
        }
        _ => false,
    }
}

/// Whether letters are the first letters of neighboring words, and of one of them in particular.
fn stands_for(letters: &str, words: &Words, including: Option<usize>) -> bool {
    let n = letters.len();
    if !INITIALS.contains(&n) {
        return false;
    }
    let is_counted = |&i: &usize| !LEFT_OUT.contains(&words.get(&words.words[i]));
    let counted: Vec<usize> = (0..words.words.len()).filter(is_counted).collect();
    let starts = |i: usize, letter: char| words.get(&words.words[i]).starts_with(letter);
    counted.windows(n).any(|window| {
        including.is_none_or(|i| window.contains(&i)) && window.iter().zip(letters.chars()).all(|(&i, c)| starts(i, c))
    })
}
