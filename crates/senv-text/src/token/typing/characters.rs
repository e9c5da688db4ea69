//! Characters outside ASCII that keyboards, phones, word processors and PDF files write for plain ones.

use unicode_normalization::{UnicodeNormalization, char::decompose_compatible, is_nfc};

/// What a character is replaced by.
#[derive(Clone, Copy)]
enum Fold {
    Stays,
    Goes,
    /// Joins emoji or letters of some scripts, and goes elsewhere.
    Joiner,
    Is(&'static str),
    /// A dash between the parts of a sentence, or between two numbers.
    Dash,
    /// A degree sign after a digit.
    Ordinal,
    /// A fraction, which is a number of its own after another digit.
    Fraction,
    /// The plain characters that Unicode gives for it (the compatibility decomposition).
    Compatible,
}

/// Whether nothing is done to a character wherever it stands. Characters that are not listed here are examined.
pub(super) fn is_plain(c: char) -> bool {
    c.is_ascii()
        || matches!(c as u32,
            0xA1..=0xA7 | 0xA9 | 0xAE | 0xB0..=0xB1 | 0xB6..=0xB7 | 0xBF // Latin 1
            | 0xC0..=0x131 | 0x134..=0x13E | 0x141..=0x148 | 0x14A..=0x17E | 0x180..=0x1C3 | 0x1CD..=0x1F0 | 0x1F4..=0x2AF
            | 0x388..=0x3CE | 0x400..=0x482 | 0x48A..=0x52F | 0x561..=0x586 | 0x5D0..=0x5EA // Greek to Hebrew
            | 0x1E00..=0x1E99 | 0x1EA0..=0x1EF9 // Latin with marks
            | 0x2022 | 0x20AC | 0x2122
            | 0x3001 | 0x3041..=0x3096 | 0x30A1..=0x30FA | 0x30FC..=0x30FE | 0x4E00..=0x9FFF | 0xAC00..=0xD7A3)
}

fn fold_of(c: char) -> Fold {
    use Fold::{Compatible, Dash, Fraction, Goes, Is, Joiner, Ordinal, Stays};
    match c as u32 {
        0..=0x7F => Stays,
        // Apostrophes and single quotation marks, also those of windows-1252 read as Latin 1.
        0x91
        | 0x92
        | 0xB4
        | 0x2B9
        | 0x2BB..=0x2BF
        | 0x2C8
        | 0x2CA
        | 0x2CB
        | 0x374
        | 0x384
        | 0x55A
        | 0x5F3
        | 0x1FBD
        | 0x1FBF
        | 0x1FFD
        | 0x1FFE
        | 0x2018..=0x201B
        | 0x2032
        | 0x2035
        | 0x2039
        | 0x203A
        | 0x275B
        | 0x275C
        | 0xA78B
        | 0xA78C => Is("'"),
        // Double quotation marks.
        0x93
        | 0x94
        | 0xAB
        | 0xBB
        | 0x2BA
        | 0x2DD
        | 0x2EE
        | 0x5F4
        | 0x201C..=0x201F
        | 0x2033
        | 0x2036
        | 0x275D
        | 0x275E
        | 0x2E42
        | 0x301D..=0x301F => Is("\""),
        // Hyphens, and dashes of the width of a hyphen.
        0x96 | 0x5BE | 0x2010..=0x2013 | 0x2212 => Is("-"),
        0x97 | 0x2014 | 0x2015 | 0x2E3A | 0x2E3B | 0xFE58 => Dash,
        0x2026 | 0x22EF => Is("..."),
        0x2025 => Is(".."),
        0x203C => Is("!!"),
        0x203D | 0x2047..=0x2049 => Is("?"),
        0x2044 | 0x2215 => Is("/"),
        0x2217 => Is("*"),
        0x2236 => Is(":"),
        0x223C | 0x301C => Is("~"),
        0xB5 => Is("μ"),
        0x2DA => Is("°"),
        0xBA => Ordinal,
        0xBC..=0xBE | 0x2150..=0x215E => Fraction,
        // Without a glyph.
        0xAD
        | 0x34F
        | 0x61C
        | 0x180E
        | 0x200B
        | 0x200E
        | 0x200F
        | 0x202A..=0x202E
        | 0x2060..=0x206F
        | 0xFE00..=0xFE0F
        | 0xFEFF
        | 0xFFF9..=0xFFFB
        | 0xE0100..=0xE01EF => Goes,
        0x200C | 0x200D => Joiner,
        // Two letters in one character, the long s.
        0x132 | 0x133 | 0x13F | 0x140 | 0x149 | 0x17F | 0x1C4..=0x1CC | 0x1F1..=0x1F3 => Compatible,
        // Ligatures, letters of a width or a style, Arabic letters as they look.
        0xFB00..=0xFB17
        | 0xFB20..=0xFB29
        | 0xFB50..=0xFBB1
        | 0xFBD3..=0xFC5D
        | 0xFC64..=0xFD3D
        | 0xFD50..=0xFDC7
        | 0xFDF0..=0xFDF9
        | 0xFE50..=0xFE57
        | 0xFE59..=0xFE6B
        | 0xFE80..=0xFEFC
        | 0xFF01..=0xFFE2
        | 0xFFE4..=0xFFEE
        | 0x24B6..=0x24E9
        | 0x1D400..=0x1D7FF => Compatible,
        // Letters of the same styles that had a place before.
        0x2102
        | 0x210A..=0x210E
        | 0x2110..=0x2113
        | 0x2115
        | 0x2119..=0x211D
        | 0x2124
        | 0x2128
        | 0x212C
        | 0x212D
        | 0x212F..=0x2131
        | 0x2133
        | 0x2134 => Compatible,
        _ if c.is_whitespace() => Is(" "),
        _ => Stays,
    }
}

/// Whether a joiner after this character means something: in emoji, and in the scripts whose letters join.
fn is_joined(before: char) -> bool {
    match before as u32 {
        0x600..=0xDFF
        | 0xF00..=0x109F
        | 0x1780..=0x18AF
        | 0xA8E0..=0xA8FF
        | 0xFB50..=0xFDFF
        | 0xFE70..=0xFEFC
        | 0x10A00..=0x10FFF
        | 0x11000..=0x11FFF
        | 0x1F1E6..=0x1FAFF => true,
        0x2190..=0x2BFF => !before.is_alphanumeric(),
        _ => false,
    }
}

/// The text with plain characters, composed; `None` if it is that already.
pub(super) fn fold(text: &str) -> Option<String> {
    if text.chars().all(is_plain) {
        return None;
    }
    let mut plain = String::with_capacity(text.len());
    let (mut rest, mut is_after_dash) = (text.chars(), false);
    while let Some(c) = rest.next() {
        let fold = fold_of(c);
        let is_dash = matches!(fold, Fold::Dash);
        let has_digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
        if is_dash && has_digit(plain.chars().next_back()) && has_digit(rest.clone().next()) {
            plain.push('-');
        } else if !(is_dash && is_after_dash) {
            push(fold, c, &mut plain);
        }
        is_after_dash = is_dash;
    }
    Some(if is_nfc(&plain) { plain } else { plain.nfc().collect() })
}

fn push(fold: Fold, c: char, plain: &mut String) {
    let after_digit = |plain: &str| plain.ends_with(|c: char| c.is_ascii_digit());
    match fold {
        Fold::Stays => plain.push(c),
        Fold::Goes => {}
        Fold::Joiner => {
            if plain.chars().next_back().is_some_and(is_joined) {
                plain.push(c);
            }
        }
        Fold::Is(text) => plain.push_str(text),
        Fold::Dash => plain.push_str(" - "),
        Fold::Ordinal => plain.push(if after_digit(plain) { '°' } else { c }),
        Fold::Fraction => {
            if after_digit(plain) {
                plain.push(' ');
            }
            decompose_compatible(c, |part| push(fold_of(part), part, plain));
        }
        Fold::Compatible => decompose_compatible(c, |part| {
            // What has no other form decomposes into itself.
            let fold = if part == c { Fold::Stays } else { fold_of(part) };
            push(fold, part, plain);
        }),
    }
}
