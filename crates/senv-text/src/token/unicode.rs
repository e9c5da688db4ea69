//! Rules for any script: the words of Unicode, and characters in scripts without spaces between words.
//!
//! Unicode Standard Annex 29, "Unicode Text Segmentation", section 4, defines word boundaries in most scripts. If that
//! needs a dictionary (Han, Hiragana, Thai, Lao, Khmer, Myanmar), it breaks around every character. Characters that
//! cannot stand alone are joined again here, based only on the characters on both sides of a break. So every token is
//! one token when it is tokenized separately, and tokenizing twice gives the same result as once.

use unicode_segmentation::UnicodeSegmentation;

use super::{
    classes::{CLASS, PUNCT, SPACE, WORD},
    words::piece_end,
};

/// Calls `f` with the start and end of each token.
pub(super) fn for_each(text: &str, mut f: impl FnMut(usize, usize)) {
    let bytes = text.as_bytes();
    let class = |i: usize| bytes.get(i).map_or(SPACE, |&b| CLASS[usize::from(b)]);
    let mut start = 0;
    while start < bytes.len() {
        if class(start) == SPACE {
            start += 1;
            continue;
        }
        let mut end = start;
        while class(end) == WORD {
            end += 1;
        }
        // In ASCII, nearly every piece is a plain word, possibly followed by a mark, and needs no tables.
        if class(end) == SPACE {
            f(start, end);
            start = end + 1;
            continue;
        }
        if end > start && class(end) == PUNCT && class(end + 1) == SPACE && bytes[end] != b'_' {
            f(start, end);
            f(end, end + 1);
            start = end + 2;
            continue;
        }
        let end = piece_end(text, end);
        if end == start {
            start += text[start..].chars().next().map_or(1, char::len_utf8); // white space beyond ASCII
            continue;
        }
        piece(text, start, end, &mut f);
        start = end;
    }
}

/// Calls `f` for the tokens of a piece without white space.
fn piece(text: &str, start: usize, end: usize, f: &mut impl FnMut(usize, usize)) {
    // The token so far, which the next segment may continue.
    let (mut from, mut to) = (start, start);
    for segment in text[start..end].split_word_bounds() {
        if from < to && !continues(&text[from..to], segment) {
            f(from, to);
            from = to;
        }
        to += segment.len();
    }
    f(from, to);
}

/// Whether `segment` belongs to the token before it.
fn continues(before: &str, segment: &str) -> bool {
    let bytes = segment.as_bytes();
    if bytes[0].is_ascii() {
        // Runs of one mark, as in the `words` tokenizer: `...`, `--`, `===`.
        return bytes.len() == 1 && b".-=+*~#".contains(&bytes[0]) && before.as_bytes().last() == Some(&bytes[0]);
    }
    let mut chars = segment.chars();
    let (Some(last), Some(first)) = (before.chars().next_back(), chars.next()) else { return false };
    match u32::from(first) {
        0x0E00..=0x0EFF => joins_thai(last, first),
        0x1000..=0x109F => joins_myanmar(last, first, chars.as_str()),
        // A Khmer consonant below the previous one.
        0x1780..=0x17B3 => last == '\u{17D2}',
        _ => false,
    }
}

/// Thai and Lao: a vowel written before its consonant joins what follows; a vowel after it joins what precedes.
fn joins_thai(last: char, first: char) -> bool {
    let is_letter = |c: char| matches!(c, '\u{0E01}'..='\u{0E4E}' | '\u{0E81}'..='\u{0ECE}');
    let waits = matches!(last, '\u{0E40}'..='\u{0E44}' | '\u{0EC0}'..='\u{0EC4}');
    let stays =
        matches!(first, '\u{0E30}' | '\u{0E32}' | '\u{0E33}' | '\u{0E45}' | '\u{0EB0}' | '\u{0EB2}' | '\u{0EB3}');
    (waits || stays) && is_letter(last) && is_letter(first)
}

/// Myanmar: a consonant below the previous one, and a consonant without a vowel, which ends a syllable.
fn joins_myanmar(last: char, first: char, rest: &str) -> bool {
    if !matches!(first, '\u{1000}'..='\u{1021}' | '\u{103F}') {
        return false;
    }
    let is_final = rest.strip_prefix('\u{1037}').unwrap_or(rest).starts_with('\u{103A}');
    last == '\u{1039}' || (is_final && matches!(last, '\u{1000}'..='\u{1021}' | '\u{102B}'..='\u{103F}'))
}
