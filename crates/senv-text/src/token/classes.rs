//! Character classes of the tokenizer.

/// White space in the Sent2Vec release.
#[inline]
pub(super) const fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r' | 0)
}

/// Whether a character is white space, or has no glyph and must not be part of a word.
pub(super) fn is_space(c: char) -> bool {
    if c.is_ascii() {
        return is_blank(c as u8);
    }
    c.is_whitespace()
        || matches!(c, '\u{200B}' | '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{2069}' | '\u{FEFF}')
}

/// ASCII classes by byte; all other bytes are [`HIGH`].
pub(super) const CLASS: [u8; 256] = {
    let mut table = [PUNCT; 256];
    let mut i = 0;
    while i < 256 {
        let byte = i as u8;
        if is_blank(byte) {
            table[i] = SPACE;
        } else if byte.is_ascii_alphanumeric() {
            table[i] = WORD;
        } else if byte >= 0x80 {
            table[i] = HIGH;
        }
        i += 1;
    }
    table
};
pub(super) const SPACE: u8 = 0;
pub(super) const WORD: u8 = 1;
pub(super) const PUNCT: u8 = 2;
pub(super) const HIGH: u8 = 3;

/// Whether a character belongs in words: letters, digits and marks of every script, and everything else that is neither
/// white space nor known punctuation or a known symbol.
#[inline]
pub(super) fn is_word(c: char) -> bool {
    if c.is_ascii() { c.is_ascii_alphanumeric() } else { c.is_alphanumeric() || !(is_space(c) || is_symbol(c)) }
}

/// Punctuation and symbols outside ASCII, among characters that are neither letters nor digits.
fn is_symbol(c: char) -> bool {
    matches!(c as u32,
        0x80..=0xAC | 0xAE..=0xBF | 0xD7 | 0xF7 // Latin 1 without the soft hyphen
        | 0x37E | 0x387 | 0x55A..=0x55F | 0x589..=0x58A // Greek, Armenian
        | 0x5BE | 0x5C0 | 0x5C3 | 0x5F3..=0x5F4 | 0x60C..=0x60D | 0x61B | 0x61E..=0x61F | 0x66A..=0x66D | 0x6D4 // Hebrew, Arabic
        | 0x964..=0x965 | 0xE3F | 0xE4F | 0xE5A..=0xE5B // Indic, Thai
        | 0x2010..=0x205E | 0x207A..=0x207E | 0x208A..=0x208E | 0x20A0..=0x20CF // dashes, quotes, signs, currencies
        | 0x2100..=0x2BFF | 0x2E00..=0x2E7F // arrows, mathematics, boxes, pictures
        | 0x3001..=0x3004 | 0x3008..=0x3020 | 0x3030 | 0x303D | 0x30FB // Chinese and Japanese
        | 0xFE10..=0xFE1F | 0xFE30..=0xFE6F | 0xFF01..=0xFF65 | 0xFFE0..=0xFFEF | 0xFFFC..=0xFFFD // other widths, replacement
        | 0x1F000..=0x1FAFF // pictures
    )
}

/// Changes the appearance of the emoji before it.
fn is_modifier(c: char) -> bool {
    matches!(c as u32, 0xFE00..=0xFE0F | 0x1F3FB..=0x1F3FF | 0x20D0..=0x20FF | 0x300..=0x36F | 0xE0020..=0xE007F)
}

fn is_flag_half(c: char) -> bool {
    matches!(c as u32, 0x1F1E6..=0x1F1FF)
}

/// The end of the symbol at the start of `text` (which is not ASCII), including its modifiers, the other half of a
/// flag, and emoji joined to it.
pub(super) fn symbol_end(text: &str) -> usize {
    let mut chars = text.char_indices().peekable();
    let Some((_, first)) = chars.next() else { return 0 };
    if is_flag_half(first) {
        chars.next_if(|&(_, c)| is_flag_half(c));
    }
    loop {
        while chars.next_if(|&(_, c)| is_modifier(c)).is_some() {}
        let mut ahead = chars.clone();
        let joined = ahead.next().is_some_and(|(_, c)| c == '\u{200D}')
            && ahead.next().is_some_and(|(_, c)| !c.is_ascii() && !c.is_alphanumeric() && is_symbol(c));
        if !joined {
            return chars.peek().map_or(text.len(), |&(i, _)| i);
        }
        chars = ahead;
    }
}
