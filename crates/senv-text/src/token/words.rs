//! The rules for English words.
//!
//! Text is split at white space into pieces, and each piece separately, from left to right. The functions below see
//! only one piece. Every token is one token again when it is tokenized separately, so tokenizing twice gives the same
//! result as once.

use super::{
    bytes::mark_bytes,
    classes::{CLASS, HIGH, SPACE, WORD, is_space, is_word, symbol_end},
    special::{angle_end, bracket_end, dot_joins, email_end, emoticon_end, keeps_dot, url_end, word_at},
};

/// The maximum number of clitics split off a word; a word with more is not English.
const MAX_CLITICS: usize = 4;

#[inline]
pub(super) fn for_each(text: &str, f: impl FnMut(&str, usize, usize)) {
    for_each_until(text, |_| false, f);
}

/// Calls `f` with the tokens up to the first piece for which `ends` returns true, and returns where that piece starts.
/// A piece is examined with the white space outside ASCII after it. Pieces that are a word of ASCII letters and digits,
/// possibly followed by one mark, are not examined.
#[inline]
pub(super) fn for_each_until(
    text: &str,
    ends: impl Fn(&[u8]) -> bool,
    mut f: impl FnMut(&str, usize, usize),
) -> Option<usize> {
    let bytes = text.as_bytes();
    let class = |i: usize| bytes.get(i).map_or(SPACE, |&b| CLASS[usize::from(b)]);
    let mut start = 0;
    for (chunk, at) in bytes.chunks(64).zip((0..).step_by(64)) {
        let mut marks = mark_bytes(chunk);
        while marks != 0 {
            let end = at + marks.trailing_zeros() as usize;
            marks &= marks - 1;
            // Already part of a processed piece.
            if end < start {
                continue;
            }
            // Nearly every piece is a plain word, possibly followed by a mark.
            if class(end) == SPACE {
                if end > start {
                    plain(text, start, end, &mut f);
                }
                start = end + 1;
            } else if end > start
                && class(end + 1) == SPACE
                && matches!(bytes[end], b'.' | b',' | b';' | b':' | b'!' | b'?')
            {
                if bytes[end] == b'.' && keeps_dot(&text[start..end]) {
                    f(text, start, end + 1);
                } else {
                    plain(text, start, end, &mut f);
                    f(text, end, end + 1);
                }
                start = end + 2;
            } else {
                let (piece_end, next) = other_ends(text, end);
                if ends(&bytes[start..next]) {
                    return Some(start);
                }
                other(text, start, piece_end, &mut f);
                start = next;
            }
        }
    }
    if start < bytes.len() {
        plain(text, start, bytes.len(), &mut f);
    }
    None
}

/// The end of any other piece that extends at least to `end`, and of the white space outside ASCII after it.
fn other_ends(text: &str, end: usize) -> (usize, usize) {
    let end = piece_end(text, end);
    let space = text[end..].chars().next().filter(|c| !c.is_ascii());
    (end, end + space.map_or(0, char::len_utf8))
}

/// Handles any other piece.
#[inline(never)]
fn other(text: &str, start: usize, end: usize, f: &mut impl FnMut(&str, usize, usize)) {
    piece(&text[start..end], &mut |token: &str| {
        let at = token.as_ptr().addr() - text.as_ptr().addr();
        f(text, at, at + token.len());
    });
}

/// The end of the piece that extends at least to `i`: before white space.
pub(super) fn piece_end(text: &str, mut i: usize) -> usize {
    let bytes = text.as_bytes();
    while i < bytes.len() {
        match CLASS[usize::from(bytes[i])] {
            SPACE => break,
            HIGH => match text[i..].chars().next() {
                Some(c) if !is_space(c) => i += c.len_utf8(),
                _ => break,
            },
            _ => i += 1,
        }
    }
    i
}

/// A word of ASCII letters and digits.
#[inline(always)]
fn plain(text: &str, start: usize, end: usize, f: &mut impl FnMut(&str, usize, usize)) {
    if end - start == 6 && text.as_bytes()[start..end].eq_ignore_ascii_case(b"cannot") {
        f(text, start, start + 3);
        f(text, start + 3, end);
    } else {
        f(text, start, end);
    }
}

fn piece(text: &str, f: &mut impl FnMut(&str)) {
    let bytes = text.as_bytes();
    let marked = bytes.iter().any(|&b| matches!(b, b'.' | b':'));
    let last_at = memchr::memrchr(b'@', bytes).unwrap_or(0);
    let mut p = 0;
    while p < bytes.len() {
        let end = if word_at(text, p) {
            let mail = || if p < last_at { email_end(text, p) } else { None };
            match marked.then(|| mail().or_else(|| url_end(text, p))).flatten() {
                Some(end) => {
                    f(&text[p..end]);
                    end
                }
                None => word(text, p, f),
            }
        } else {
            let end = if bytes[p].is_ascii() { mark_end(text, p) } else { other_mark_end(text, p) };
            f(&text[p..end]);
            end
        };
        p = end;
    }
}

/// Emits the word at `p` with its clitics as separate tokens; returns its end.
fn word(text: &str, p: usize, f: &mut impl FnMut(&str)) -> usize {
    let end = word_end(text, p);
    let word = &text[p..end];
    let before_dot = text.as_bytes().get(end) == Some(&b'.') && text.as_bytes().get(end + 1) != Some(&b'.');
    // "a.b.eu" by itself is a domain, and a domain keeps no period.
    if before_dot && keeps_dot(word) && url_end(word, 0).is_none() {
        f(&text[p..=end]);
        return end + 1;
    }
    let mut cuts = [0; MAX_CLITICS];
    let (mut n, mut stem) = (0, word);
    while let Some(cut) = clitic_start(stem) {
        if n == MAX_CLITICS {
            f(word);
            return end;
        }
        cuts[n] = cut;
        n += 1;
        stem = &stem[..cut];
    }
    plain(stem, 0, stem.len(), &mut |text: &str, start, end| f(&text[start..end]));
    for i in (0..n).rev() {
        let to = if i == 0 { word.len() } else { cuts[i - 1] };
        f(&word[cuts[i]..to]);
    }
    end
}

/// The length in bytes of an apostrophe, straight or curly.
fn apostrophe(text: &str, i: usize) -> Option<usize> {
    match text.as_bytes().get(i) {
        Some(b'\'') => Some(1),
        Some(0xE2) if text[i..].starts_with('’') => Some(3),
        _ => None,
    }
}

/// The end of the word that starts at `p`: word characters, and connecting characters between two of them.
fn word_end(text: &str, p: usize) -> usize {
    let bytes = text.as_bytes();
    let (mut i, mut part) = (p, p);
    loop {
        while let Some(&byte) = bytes.get(i) {
            match CLASS[usize::from(byte)] {
                WORD => i += 1,
                HIGH => match text[i..].chars().next() {
                    Some(c) if is_word(c) => i += c.len_utf8(),
                    _ => break,
                },
                _ => break,
            }
        }
        let digit = |i: usize| bytes.get(i).is_some_and(u8::is_ascii_digit);
        let letter = |i: usize| text[i..].chars().next().is_some_and(char::is_alphabetic);
        let joint = match bytes.get(i) {
            Some(b'-' | b'_') if word_at(text, i + 1) => 1,
            Some(b'.') if dot_joins(text, part, i) => 1,
            Some(b'&') if letter(i + 1) => 1,
            Some(b',' | b':' | b'/') if digit(i - 1) && digit(i + 1) => 1,
            Some(b'\'') if letter(i + 1) => 1,
            Some(0xE2) if text[i..].starts_with('’') && letter(i + 3) => 3,
            Some(0xE2) if text[i..].starts_with(['\u{2010}', '\u{2011}']) && word_at(text, i + 3) => 3,
            Some(0xC2) if text[i..].starts_with('·') && letter(i + 2) => 2,
            _ => return i,
        };
        i += joint;
        part = i;
    }
}

/// The start of the last clitic of a word (`'s`, `'m`, `'d`, `'ll`, `'re`, `'ve` or `n't`) if something precedes it.
fn clitic_start(word: &str) -> Option<usize> {
    let at = word.rfind(['\'', '’'])?;
    let tail = &word[at + apostrophe(word, at)?..];
    if is_clitic(tail) {
        return (at > 0).then_some(at);
    }
    if !tail.eq_ignore_ascii_case("t") {
        return None;
    }
    let not = word[..at].strip_suffix(['n', 'N'])?;
    not.chars().next_back().is_some_and(is_word).then_some(not.len())
}

fn is_clitic(tail: &str) -> bool {
    ["s", "m", "d", "ll", "re", "ve"].iter().any(|clitic| clitic.eq_ignore_ascii_case(tail))
}

/// Whether the tail can follow an apostrophe at the start of a token: a clitic, a word without its start, the two
/// digits of a year.
fn is_elided(tail: &str) -> bool {
    let listed = ["em", "n", "til", "till", "tis", "twas", "twill", "cause", "bout"];
    let bytes = tail.as_bytes();
    is_clitic(tail)
        || listed.iter().any(|word| word.eq_ignore_ascii_case(tail))
        || (bytes.len() >= 2 && bytes[..2].iter().all(u8::is_ascii_digit) && matches!(&bytes[2..], [] | [b's' | b'S']))
}

/// The end of the token of ASCII punctuation at `p`.
fn mark_end(text: &str, p: usize) -> usize {
    let bytes = text.as_bytes();
    let mark = bytes[p];
    let next = bytes.get(p + 1).copied();
    let run = || p + bytes[p..].iter().take_while(|&&b| b == mark).count();
    match mark {
        b'\'' | b'`' if next == Some(mark) => p + 2,
        b'\'' => elided_end(text, p, 1),
        b':' | b';' => emoticon_end(text, p).unwrap_or(p + 1),
        b'=' => emoticon_end(text, p).unwrap_or_else(run),
        b'<' => angle_end(text, p).unwrap_or(p + 1),
        b'.' if next == Some(b'.') => run(),
        b'.' if p == 0 || !is_word_before(text, p) => number_end(text, p + 1).unwrap_or(p + 1),
        b'-' | b'+' if next == Some(mark) => run(),
        b'-' | b'+' => bracket_end(text, p).or_else(|| signed_end(text, p)).unwrap_or(p + 1),
        b'*' | b'_' | b'~' => run(),
        b'#' if next == Some(b'#') => run(),
        b'@' if matches!(&bytes[p..], [_, b'-' | b',' | b'.', b'@', ..]) => p + 3,
        b'#' | b'@' => tag_end(text, p),
        _ => p + 1,
    }
}

fn is_word_before(text: &str, p: usize) -> bool {
    text[..p].chars().next_back().is_some_and(is_word)
}

fn other_mark_end(text: &str, p: usize) -> usize {
    if text[p..].starts_with('’') { elided_end(text, p, 3) } else { p + symbol_end(&text[p..]) }
}

/// The end of an apostrophe with what belongs to it, or of the apostrophe only.
fn elided_end(text: &str, p: usize, length: usize) -> usize {
    let from = p + length;
    if !word_at(text, from) {
        return from;
    }
    let end = word_end(text, from);
    if is_elided(&text[from..end]) { end } else { from }
}

/// The end of a token at `p` that is only a number.
fn number_end(text: &str, p: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    if !bytes.get(p)?.is_ascii_digit() {
        return None;
    }
    let end = word_end(text, p);
    bytes[p..end].iter().all(|b| b.is_ascii_digit() || b".,:/".contains(b)).then_some(end)
}

/// A number with its sign, at the start of the piece or after an opening mark.
fn signed_end(text: &str, p: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    if p > 0 && !b"([{=<>$".contains(&bytes[p - 1]) {
        return None;
    }
    number_end(text, p + 1 + usize::from(bytes.get(p + 1) == Some(&b'.')))
}

/// `#tag`, `@name`.
fn tag_end(text: &str, p: usize) -> usize {
    let name = text[p + 1..].chars().take_while(|&c| is_word(c) || c == '_');
    p + 1 + name.map(char::len_utf8).sum::<usize>()
}
