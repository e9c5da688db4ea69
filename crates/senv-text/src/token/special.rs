//! Tokens with their own grammar: addresses, abbreviations, emoticons, markup of other tokenizers.
//!
//! Every function takes a piece of text without white space, starting at byte `p`, and returns the end of the token
//! there, if any. Look-ahead is bounded, so tokenizing takes linear time on any text. Letters are compared without
//! regard to case.

use super::classes::{CLASS, WORD, is_word};

/// The maximum lengths of the name before the `@` of an email address, and of a domain.
const MAX_NAME: usize = 64;
const MAX_DOMAIN: usize = 64;

/// Endings of host and file names. None of them is an English word, so `great.it` is not a host name.
pub(super) const SUFFIXES: &[&str] = &[
    "com", "org", "net", "edu", "gov", "mil", "info", "biz", "io", "co", "uk", "de", "fr", "jp", "ca", "au", "eu",
    "ru", "ch", "nl", "tv", "cn", "br", "pl", "cz", "txt", "html", "htm", "php", "js", "pdf", "jpg", "png", "gif",
    "exe", "zip", "py",
];

/// Words that keep their period. `no`, `may`, `gen` and similar words are left out on purpose, because they end
/// sentences.
pub(super) const ABBREVIATIONS: &[&str] = &[
    "adm", "al", "apr", "assn", "aug", "ave", "blvd", "brig", "bros", "capt", "cf", "cmdr", "co", "col", "corp", "dec",
    "dept", "dr", "ed", "eds", "etc", "feb", "fig", "figs", "ft", "gov", "hon", "inc", "jan", "jr", "lt", "ltd", "maj",
    "messrs", "mme", "mr", "mrs", "ms", "mt", "mts", "nov", "oct", "ph", "pp", "prof", "rep", "rev", "sec", "sen",
    "sept", "sgt", "sr", "st", "ste", "vol", "vols", "vs",
];

fn listed(list: &[&str], word: &[u8]) -> bool {
    list.iter().any(|entry| entry.as_bytes().eq_ignore_ascii_case(word))
}

fn char_at(text: &str, i: usize) -> Option<char> {
    text.get(i..).and_then(|rest| rest.chars().next())
}

pub(super) fn word_at(text: &str, i: usize) -> bool {
    char_at(text, i).is_some_and(is_word)
}

/// Whether a word keeps the period after it: a listed word, an initial, or single letters separated by dots (also after
/// a hyphen).
pub(super) fn keeps_dot(word: &str) -> bool {
    let bytes = word.as_bytes();
    match bytes {
        [] => false,
        [letter] => letter.is_ascii_alphabetic() && !letter.eq_ignore_ascii_case(&b'i'),
        _ if bytes.len() <= 6 && listed(ABBREVIATIONS, bytes) => true,
        _ => {
            let last = word.rsplit('-').next().unwrap_or(word);
            if !last.contains('.') {
                // An initial in another script.
                let mut letters = word.chars().filter(|c| !c.is_ascii_punctuation());
                return !word.is_ascii() && letters.next().is_some_and(char::is_alphabetic) && letters.next().is_none();
            }
            last.split('.').all(|part| matches!(part.len(), 1 | 2) && part.bytes().all(|b| b.is_ascii_alphabetic()))
        }
    }
}

/// Whether the dot at `dot` joins its two sides: digits on both sides, or single letters as in `U.S`. `part` is the
/// start of the part before it.
pub(super) fn dot_joins(text: &str, part: usize, dot: usize) -> bool {
    let bytes = text.as_bytes();
    if bytes[dot - 1].is_ascii_digit() {
        return bytes.get(dot + 1).is_some_and(u8::is_ascii_digit);
    }
    let after = &bytes[dot + 1..];
    let length = after.iter().take(3).take_while(|b| b.is_ascii_alphabetic()).count();
    if word_at(text, dot + 1 + length) {
        return false;
    }
    match length {
        1 => dot - part == 1 || bytes[part..dot].eq_ignore_ascii_case(b"ph"),
        2 => dot - part == 1,
        _ => false,
    }
}

/// An address with a scheme or starting with `www.`, or a domain with a known ending and what follows it.
pub(super) fn url_end(text: &str, p: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let rest = &bytes[p..];
    let scheme = rest.iter().take(16).take_while(|b| b.is_ascii_alphanumeric() || b"+-.".contains(b)).count();
    if rest[0].is_ascii_alphabetic() && rest[scheme..].starts_with(b"://") {
        let body = p + scheme + 3 + usize::from(rest.get(scheme + 3) == Some(&b'/'));
        if word_at(text, body) {
            return Some(body_end(text, p, body));
        }
    }
    if rest.len() > 4 && rest[..4].eq_ignore_ascii_case(b"www.") && word_at(text, p + 4) {
        return Some(body_end(text, p, p + 4));
    }
    let domain = domain_end(text, p)?;
    let more = match bytes.get(domain) {
        Some(b'/') => word_at(text, domain + 1),
        Some(b':') => bytes.get(domain + 1).is_some_and(u8::is_ascii_digit),
        _ => false,
    };
    Some(if more { body_end(text, p, domain) } else { domain })
}

/// The end of a host or file name such as `en.example.org`.
fn domain_end(text: &str, p: usize) -> Option<usize> {
    let rest = &text.as_bytes()[p..];
    let inside = |&i: &usize| match rest[i] {
        mark @ (b'.' | b'-') => rest.get(i + 1) != Some(&mark), // not an ellipsis or a dash
        byte => CLASS[usize::from(byte)] == WORD,
    };
    let mut length = (0..rest.len().min(MAX_DOMAIN)).take_while(inside).count();
    while length > 0 && !rest[length - 1].is_ascii_alphanumeric() {
        length -= 1;
    }
    let dot = rest[..length].iter().rposition(|&b| b == b'.')?;
    let whole = !word_at(text, p + length) && rest[dot - 1].is_ascii_alphanumeric();
    (whole && listed(SUFFIXES, &rest[dot + 1..length])).then_some(p + length)
}

/// The end of an address that extends at least to `from`: up to a character that addresses do not contain, without
/// trailing punctuation.
fn body_end(text: &str, p: usize, from: usize) -> usize {
    let mut end = from;
    for c in text[from..].chars() {
        if matches!(c, '"' | '<' | '>' | '`' | '{' | '}' | '|' | '\\' | '^') || (!c.is_ascii() && !is_word(c)) {
            break;
        }
        end += c.len_utf8();
    }
    let bytes = text.as_bytes();
    let count = |mark| bytes[p..end].iter().filter(|&&b| b == mark).count();
    let (mut open, mut closed) = (count(b'('), count(b')'));
    while end > from {
        match bytes[end - 1] {
            b'(' => open -= 1,
            b')' if closed > open => closed -= 1,
            b'.' | b',' | b';' | b':' | b'!' | b'?' | b'\'' | b']' | b'[' | b'*' | b'_' | b'~' => {}
            _ => break,
        }
        end -= 1;
    }
    end
}

/// The end of an email address.
pub(super) fn email_end(text: &str, p: usize) -> Option<usize> {
    let mut at = p;
    for c in text[p..].chars().take(MAX_NAME) {
        if !(is_word(c) || matches!(c, '.' | '_' | '+' | '%' | '-')) {
            break;
        }
        at += c.len_utf8();
    }
    if text.as_bytes().get(at) != Some(&b'@') || !word_at(text, at + 1) {
        return None;
    }
    let (mut end, mut dotted) = (at + 1, false);
    let mut mark = None;
    for (i, c) in text[at + 1..].char_indices().take(MAX_DOMAIN) {
        if is_word(c) {
            dotted |= mark == Some('.');
            mark = None;
            end = at + 1 + i + c.len_utf8();
        } else if mark.is_none() && matches!(c, '.' | '-') {
            mark = Some(c);
        } else {
            break;
        }
    }
    (dotted && !word_at(text, end)).then_some(end)
}

/// `:-)`, `;(`, `:D` and similar. An emoticon whose mouth is a bracket can follow a word; any other must be the whole
/// piece.
pub(super) fn emoticon_end(text: &str, p: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let mouth = p + 1 + usize::from(matches!(bytes.get(p + 1), Some(b'-' | b'\'' | b'^')));
    let &shape = bytes.get(mouth)?;
    let bracket = b"()".contains(&shape);
    if !bracket && (p > 0 || !b"[]{}|/\\*@dDpPoOsSxX3".contains(&shape)) {
        return None;
    }
    let end = mouth + bytes[mouth..].iter().take_while(|b| b.eq_ignore_ascii_case(&shape)).count();
    let drawn = if bracket { (p == 0 || bytes[p] != b'=') && !word_at(text, end) } else { end == bytes.len() };
    drawn.then_some(end)
}

/// `<3`, `<unk>`, `</s>`, `<br/>`.
pub(super) fn angle_end(text: &str, p: usize) -> Option<usize> {
    let rest = &text.as_bytes()[p + 1..];
    if rest.first() == Some(&b'3') && !word_at(text, p + 2) {
        return Some(p + 2);
    }
    let slash = usize::from(rest.first() == Some(&b'/'));
    let name = rest[slash..].iter().take(16).take_while(|b| b.is_ascii_alphabetic()).count();
    let last = slash + name + usize::from(slash == 0 && rest.get(name) == Some(&b'/'));
    (name > 0 && rest.get(last) == Some(&b'>')).then_some(p + 1 + last + 1)
}

/// A bracket as the Penn Treebank writes it: `-LRB-`.
pub(super) fn bracket_end(text: &str, p: usize) -> Option<usize> {
    let mark = text.as_bytes().get(p..p + 5)?;
    (mark[0] == b'-' && mark[4] == b'-' && listed(&["lrb", "rrb", "lsb", "rsb", "lcb", "rcb"], &mark[1..4]))
        .then_some(p + 5)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_end_before_the_punctuation_around_them() {
        for (text, end) in [
            ("http://a.org/b?c=d&e#f).", 22),
            ("HTTPS://a.org/b_(c)", 19),
            ("http://a.org/b_(c))", 18),
            ("ftp://x\"y", 7),
            ("file:///etc/hosts", 17),
            ("www.b.de,", 8),
            ("en.wiki.org's", 11),
            ("node.js.", 7),
            ("a.co/b.", 6),
            ("a.com:80/x", 10),
            ("http://ä.de/ü”", 15),
        ] {
            assert_eq!(url_end(text, 0), Some(end), "{text}");
        }
        for text in ["great.the", "http://", "://a", "www.", "www", "a.", "com", "a.comä", "3://x", "x:y", "a.b"] {
            assert_eq!(url_end(text, 0), None, "{text}");
        }
    }

    #[test]
    fn mail_addresses_have_a_name_and_a_domain_with_a_dot() {
        for (text, end) in [("a@b.org.", 7), ("first.last+tag@x-y.co.uk>", 24), ("ä_%@ö.de", 10)] {
            assert_eq!(email_end(text, 0), Some(end), "{text}");
        }
        let long = format!("{}@b.org", "a".repeat(65));
        for text in ["a@b", "a@", "a@@b.org", "a b@c.de", &long] {
            assert_eq!(email_end(text, 0), None, "{text}");
        }
        assert_eq!(email_end(&long, 1), Some(71));
    }

    #[test]
    fn dots_belong_to_abbreviations_initials_and_acronyms() {
        for word in ["Mr", "etc", "J", "U.S", "e.g", "p.m", "Ph.D", "non-U.S", "É"] {
            assert!(keeps_dot(word), "{word}");
        }
        for word in ["I", "i", "cat", "may", "3", "10", "a.com", "plan-B", "3.5", "ÉÉ"] {
            assert!(!keeps_dot(word), "{word}");
        }
    }
}
