//! Items of a list that is written in one line: "1. Eggs 2. Flour", "1) Eggs 2) Flour".

use super::{
    following::{Beginning, Following, word_length},
    full_stop::Before,
    lines::first_line,
    words::{KINDS, Lower, is_in},
};

/// An item is not longer.
const LONGEST: usize = 300;
/// Words that do not end an item.
#[rustfmt::skip]
const NEVER_LAST: &[&str] = &[
    "a", "about", "after", "all", "among", "an", "and", "are", "as", "at", "be", "before", "between", "but", "by",
    "for", "from", "has", "have", "in", "into", "is", "least", "like", "near", "nor", "of", "on", "only", "or", "over",
    "see", "than", "that", "the", "these", "those", "to", "under", "until", "was", "were", "with",
];

/// Whether an item may end with a word.
fn may_end(word: &str) -> bool {
    !is_in(NEVER_LAST, word) && !Lower::new(word).is_in(KINDS)
}

/// Where the number of the next item starts in the sentence so far, which ends with it. `in_list` is whether an item of
/// the line came before.
pub(super) fn next_item(text: &str, following: &Following<'_>, in_list: bool) -> Option<usize> {
    if !text.ends_with(|c: char| c.is_ascii_digit() || c.is_ascii_lowercase()) {
        return None;
    }
    let is_letter = text.ends_with(|c: char| c.is_ascii_lowercase());
    if is_letter && !text.get(1..).is_some_and(|rest| rest.starts_with(". ")) {
        return None;
    }
    let before = Before::new(text)?;
    let number = number(before.word)?;
    if !before.is_whole || before.is_first() || following.beginning == Beginning::Continuation {
        return None;
    }
    let is_upper = following.beginning == Beginning::Upper;
    let is_next = match number {
        1 => is_upper && before.rest.ends_with(':') && is_followed_by(following.rest, 2),
        _ => {
            let first = &text[..word_length(text)];
            number.checked_sub(1).is_some_and(|last| self::number(first) == Some(last))
                && first.starts_with(|c: char| c.is_ascii_lowercase()) == is_letter
                && text[first.len()..].starts_with(". ")
                && may_end(before.last())
                && (is_upper && !following.begins() || in_list || is_followed_by(following.rest, number + 1))
        }
    };
    is_next.then_some(text.len() - before.word.len())
}

/// Whether a sentence begins with the number of an item.
pub(super) fn is_item(sentence: &str) -> bool {
    let number = sentence.as_bytes().iter().take(4).take_while(|byte| byte.is_ascii_digit()).count();
    number > 0 && sentence[number..].starts_with(". ")
}

/// The number of an item, also for a lower-case letter.
fn number(word: &str) -> Option<u32> {
    match word.as_bytes() {
        &[letter @ b'a'..=b'z'] => Some(u32::from(letter - b'a') + 1),
        digits if (1..=3).contains(&digits.len()) && digits.iter().all(u8::is_ascii_digit) => word.parse().ok(),
        _ => None,
    }
}

/// Whether the number of an item comes later in the line.
fn is_followed_by(text: &str, number: u32) -> bool {
    let mut end = text.len().min(LONGEST);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let line = first_line(&text[..end]);
    memchr::memchr_iter(b'.', line.as_bytes()).any(|at| {
        let word = line[..at].rsplit(' ').next().unwrap_or_default();
        let last = line[..at - word.len()].trim_end();
        self::number(word) == Some(number)
            && word.starts_with(|c: char| c.is_ascii_digit())
            && line[at + 1..].starts_with(' ')
            && may_end(last.rsplit(|c: char| !c.is_alphanumeric()).next().unwrap_or_default())
    })
}

/// Adds a sentence, or the items of which it consists: "1) Eggs 2) Flour".
pub(super) fn push<'a>(sentence: &'a str, found: &mut Vec<&'a str>) {
    let marked = sentence.strip_prefix('(').unwrap_or(sentence);
    let n_digits = marked.bytes().take(3).take_while(u8::is_ascii_digit).count();
    if n_digits == 0 || !marked[n_digits..].starts_with(") ") {
        return found.push(sentence);
    }
    let is_open = marked.len() < sentence.len();
    let mut number: u32 = marked[..n_digits].parse().unwrap_or_default();
    let (mut start, mut at) = (0, sentence.len() - marked.len() + n_digits + 1);
    while let Some(next) = memchr::memchr(b')', &sentence.as_bytes()[at..]) {
        let end = at + next;
        if let Some(item) = item_before(&sentence[start..end], number + 1, is_open, &sentence[end + 1..]) {
            found.push(sentence[start..start + item].trim_end());
            start += item;
            number += 1;
        }
        at = end + 1;
    }
    found.push(&sentence[start..]);
}

/// Where the number of an item starts at the end of a text before a bracket, if the item begins with a capital.
fn item_before(text: &str, number: u32, is_open: bool, behind: &str) -> Option<usize> {
    let n_digits = text.bytes().rev().take(3).take_while(u8::is_ascii_digit).count();
    let rest = &text[..text.len() - n_digits];
    let rest = if is_open { rest.strip_suffix('(')? } else { rest };
    let last = rest.strip_suffix([' ', '\n'])?.trim_end();
    let word = last.rsplit(|c: char| !c.is_alphabetic()).next().unwrap_or_default();
    let is_item = text[text.len() - n_digits..].parse() == Ok(number)
        && behind.strip_prefix(' ').is_some_and(|item| item.starts_with(char::is_uppercase))
        && !last.ends_with([',', ':'])
        && may_end(word);
    is_item.then_some(rest.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_in_brackets_are_separated() {
        assert!(NEVER_LAST.is_sorted_by(|a, b| a < b));
        for (text, expected) in [
            ("1) Eggs 2) Flour", &["1) Eggs", "2) Flour"][..]),
            ("(1) Eggs (2) Flour (3) Salt", &["(1) Eggs", "(2) Flour", "(3) Salt"]),
            ("2) Flour 3) Salt", &["2) Flour", "3) Salt"]),
            ("1) Eggs, 2) Flour", &["1) Eggs, 2) Flour"]),
            ("1) Eggs and 2) Flour", &["1) Eggs and 2) Flour"]),
            ("1) Eggs 3) Flour", &["1) Eggs 3) Flour"]),
            ("1) eggs 2) flour", &["1) eggs 2) flour"]),
            ("It is 1) Eggs 2) Flour", &["It is 1) Eggs 2) Flour"]),
            (") 1) 2)", &[") 1) 2)"]),
        ] {
            let mut found = Vec::new();
            push(text, &mut found);
            assert_eq!(found, expected, "{text}");
        }
    }
}
