//! The typing that the guard does not read as a difference.

use std::borrow::Cow;

use unicode_normalization::{UnicodeNormalization, is_nfc};

/// The text in NFC, with plain apostrophes and dashes, and without characters that have no width.
pub(super) fn straight(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    let plain = text.chars().filter_map(|c| match c {
        '\u{2018}' | '\u{2019}' | '\u{201B}' | '\u{2BC}' | '\u{2032}' | '\u{FF07}' | '\u{B4}' | '`' => Some('\''),
        '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{FE58}' | '\u{FE63}' | '\u{FF0D}' => Some('-'),
        '\u{AD}' | '\u{200B}'..='\u{200F}' | '\u{2060}' | '\u{FEFF}' => None,
        _ => Some(c),
    });
    let plain: String = plain.collect();
    if is_nfc(&plain) { Cow::Owned(plain) } else { Cow::Owned(plain.nfc().collect()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typing_is_made_plain() {
        assert_eq!(straight("don\u{2019}t \u{2013} cafe\u{301} ho\u{200B}tel"), "don't - caf\u{e9} hotel");
        assert!(matches!(straight("don't"), Cow::Borrowed(_)));
    }
}
