//! Whether a straight quote with blanks on both sides opens or closes, as in text that was put together from tokens.

use super::{
    following::{Beginning, Following},
    marks::stop,
    words::{SPEECH, is_in},
};

/// What a straight quote does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quote {
    Opens,
    Closes,
    /// The characters around it do not say.
    Unknown,
}

/// What the quote at `at` does, by the text around it and by the next quote. `start` is where its sentence starts.
pub(super) fn quote(text: &str, start: usize, at: usize) -> Quote {
    /// The next quote is searched in this many bytes.
    const NEAR: usize = 400;
    let found = lone_quote(text, start, at);
    let rest = &text.as_bytes()[at + 1..];
    let is_spaced = || rest.first().is_some_and(u8::is_ascii_whitespace);
    if found != Quote::Unknown || !is_spaced() {
        return found;
    }
    let next = memchr::memchr(b'"', &rest[..rest.len().min(NEAR)]).map(|next| at + 1 + next);
    match next.map_or(Quote::Unknown, |next| lone_quote(text, at + 1, next)) {
        Quote::Opens => Quote::Closes,
        Quote::Closes => Quote::Opens,
        Quote::Unknown => Quote::Unknown,
    }
}

/// What the quote at `at` does, by the text around it.
fn lone_quote(text: &str, start: usize, at: usize) -> Quote {
    let bytes = text.as_bytes();
    let is_open = |byte: Option<&u8>| byte.is_none_or(|byte| byte.is_ascii_whitespace() || b"([{".contains(byte));
    let before = at == start || is_open(bytes.get(at - 1));
    let behind = bytes.get(at + 1).is_none_or(u8::is_ascii_whitespace);
    match (before, behind) {
        (true, false) => Quote::Opens,
        (false, true) => Quote::Closes,
        (false, false) => Quote::Unknown,
        (true, true) if at == start => Quote::Opens,
        (true, true) => spaced(text, start, at),
    }
}

/// What a quote with blanks on both sides does.
fn spaced(text: &str, start: usize, at: usize) -> Quote {
    let rest = text[at + 1..].trim_ascii_start();
    if rest.starts_with(['.', '?', '!', ',', ';', ':', ')']) {
        return Quote::Closes;
    }
    let following = Following::new(rest);
    let before = text[start..at].trim_ascii_end();
    let Some(last) = before.chars().next_back() else { return Quote::Opens };
    if matches!(last, ',' | ':') {
        let word = before[..before.len() - 1].rsplit(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default();
        return match following.beginning {
            _ if last == ':' || is_in(SPEECH, word) => Quote::Opens,
            Beginning::Lower => Quote::Closes,
            _ if following.is_speech_tag() => Quote::Closes,
            _ => Quote::Unknown,
        };
    }
    let is_end = stop(last).is_some();
    match following.beginning {
        Beginning::Lower | Beginning::Continuation if is_end => Quote::Closes,
        Beginning::Continuation => Quote::Closes,
        _ if is_end && following.is_speech_tag() => Quote::Closes,
        _ => Quote::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_open_and_close_by_what_is_around_them() {
        for (text, expected) in [
            ("He said \"yes.", Quote::Opens),
            ("\" Yes", Quote::Opens),
            ("He said yes\" and", Quote::Closes),
            ("He said, \" Yes.", Quote::Opens),
            ("Yes, \" he said.", Quote::Closes),
            ("Yes, \" Ann said.", Quote::Closes),
            ("Yes. \" It is", Quote::Unknown),
            ("Yes? \" she asked", Quote::Closes),
            ("Yes. \" It is, \" he said.", Quote::Opens),
            ("Yes. \" He said, \" It is.", Quote::Closes),
            ("a 5\"x7\" card", Quote::Unknown),
        ] {
            assert_eq!(quote(text, 0, text.find('"').unwrap()), expected, "{text}");
        }
    }
}
