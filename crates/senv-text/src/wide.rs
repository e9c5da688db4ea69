//! Detects UTF-16 and UTF-32 text without a byte order mark by its first bytes.

/// The number of bytes examined: a few kilobytes of text contain a space or a line end.
const SAMPLE: usize = 1 << 13;

/// Describes UTF-16 or UTF-32 text without a byte order mark, and the remedy; `None` for other bytes.
///
/// Such text is valid in one of the two byte orders and contains spaces, line ends or other ASCII characters, as text
/// in any script does. UTF-8 with a few NULs is not recognized as such text.
#[doc(hidden)]
#[must_use]
pub fn wide_text(head: &[u8]) -> Option<(&'static str, &'static str)> {
    let sample = &head[..head.len().min(SAMPLE)];
    if !sample.contains(&0) {
        return None;
    }
    if is_utf32(sample) {
        return Some(("in UTF-32 without its mark", "convert it to UTF-8 (iconv -f UTF-32LE -t UTF-8, or UTF-32BE)"));
    }
    let is_utf16 = [u16::from_le_bytes, u16::from_be_bytes].into_iter().any(|unit| is_utf16(sample, unit));
    is_utf16.then_some(("in UTF-16 without its mark", "convert it to UTF-8 (iconv -f UTF-16LE -t UTF-8, or UTF-16BE)"))
}

fn is_utf32(sample: &[u8]) -> bool {
    let (units, _) = sample.as_chunks::<4>();
    let is_text = |unit: fn([u8; 4]) -> u32| {
        units.iter().all(|&bytes| char::from_u32(unit(bytes)).is_some_and(is_of_text))
            && units.iter().any(|&bytes| unit(bytes) < 0x80)
    };
    units.len() > 1 && (is_text(u32::from_le_bytes) || is_text(u32::from_be_bytes))
}

fn is_utf16(sample: &[u8], unit: fn([u8; 2]) -> u16) -> bool {
    let (pairs, _) = sample.as_chunks::<2>();
    let mut units: Vec<u16> = pairs.iter().map(|&pair| unit(pair)).collect();
    // The other half of a character may be after the sample.
    if units.last().is_some_and(|unit| (0xD800..0xDC00).contains(unit)) {
        units.pop();
    }
    let n_ascii = units.iter().filter(|&&unit| unit < 0x80).count();
    // A few invalid characters among many are accepted.
    let n_strange =
        char::decode_utf16(units.iter().copied()).filter(|c| !c.as_ref().is_ok_and(|&c| is_of_text(c))).count();
    if units.len() < 2 || n_ascii == 0 || n_strange * 64 > units.len() {
        return false;
    }
    !is_narrow(sample) || all_line_ends_are_wide(sample, unit)
}

/// Whether the character occurs in text.
fn is_of_text(c: char) -> bool {
    let code = u32::from(c);
    let is_private = matches!(code, 0xE000..=0xF8FF | 0xF_0000..);
    let is_none = matches!(code, 0xFDD0..=0xFDEF) || code & 0xFFFE == 0xFFFE;
    !is_private && !is_none && (!c.is_control() || matches!(c, '\t' | '\n' | '\r' | '\u{c}'))
}

/// Whether bytes are UTF-8, or another encoding of Latin letters, with a few NULs. In UTF-16 each such letter has a
/// NUL, and the bytes of other scripts are control characters or not valid text.
fn is_narrow(sample: &[u8]) -> bool {
    let n_nul = sample.iter().filter(|&&byte| byte == 0).count();
    let n_control = sample.iter().filter(|&&byte| byte > 0 && byte < b' ' && !matches!(byte, b'\n' | b'\r')).count();
    let n_high = sample.iter().filter(|byte| !byte.is_ascii()).count();
    let is_utf8 = std::str::from_utf8(sample).map_or_else(|error| error.error_len().is_none(), |_| true);
    (is_utf8 || n_high * 8 < sample.len()) && n_nul * 4 < sample.len() && n_control * 8 < sample.len()
}

/// Whether every line end has its NUL, and every NUL its space or line end. This accepts letters whose bytes are all
/// ASCII, which Japanese letters can be.
fn all_line_ends_are_wide(sample: &[u8], unit: fn([u8; 2]) -> u16) -> bool {
    let (pairs, _) = sample.as_chunks::<2>();
    let is_space = |unit: u16| matches!(unit, 0x09 | 0x0A | 0x0D | 0x20);
    pairs.iter().all(|&pair| !pair.contains(&0) || is_space(unit(pair)))
        && pairs.iter().all(|&pair| !pair.contains(&b'\n') || unit(pair) == 0x0A)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(bytes: &[u8]) -> Option<&'static str> {
        wide_text(bytes).map(|(found, _)| found)
    }

    #[test]
    fn text_of_any_script_in_utf16_or_utf32_without_a_mark_is_known() {
        for text in [
            "The cat sat.\nA dog ran.\n",
            "Grüße aus Köln, die Lieferung ist leider noch nicht angekommen\nBitte melden Sie sich\n",
            "Поезд опаздывает.\nИдёт дождь.\n",
            "Το τρένο έχει καθυστέρηση.\n",
            "今天天气很好。\n我们去公园散步，一起吃饭。\n",
            "あいうえお\n",
            "기차가 늦었습니다.\n비가 온다.\n",
            "القطار متأخر\nالمطر يهطل\n",
            "रेलगाड़ी देर से चल रही है\nबारिश हो रही है\n",
            "รถไฟมาสาย\nฝนตก\n",
            "Pociąg się spóźnia 😀\r\nPada deszcz\r\n",
            "id\ttext\n1\tA cat\n",
        ] {
            for n in [1, 700] {
                let text = text.repeat(n);
                let le: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
                let be: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
                assert_eq!([&le, &be].map(|bytes| found(bytes)), [Some("in UTF-16 without its mark"); 2], "{text}");
                // Cut within a character.
                assert_eq!(found(&le[..le.len() - 3]).is_some(), n > 1 || le[..le.len() - 3].contains(&0), "{text}");
                let wide: Vec<u8> = text.chars().flat_map(|c| u32::from(c).to_le_bytes()).collect();
                assert_eq!(found(&wide), Some("in UTF-32 without its mark"), "{text}");
                assert_eq!(found(text.as_bytes()), None, "{text}");
            }
        }
    }

    #[test]
    fn utf8_with_nuls_and_other_bytes_are_no_such_text() {
        let floats: Vec<u8> = (0..64).flat_map(|i| (i as f32 * 0.37 - 5.0).to_le_bytes()).collect();
        let numbers: Vec<u8> = (0..64_u32).flat_map(u32::to_le_bytes).collect();
        for bytes in [
            &b""[..],
            b"A\0",
            b"The cat sat.\nA dog\0 ran.\n",
            b"abcd\0efgh",
            b"abc\0defg\n",
            b"one line\n\0and one\n",
            "Поезд\0 опаздывает.\n".as_bytes(),
            b"caf\xe9 au lait\n",
            &[&b"It is a small caf\xe9 on the corner of the street.\n".repeat(30)[..], b"a\0b\n"].concat(),
            &floats,
            &numbers,
            &[0; 64],
            b"3 2\nthe \0\0\x80\x3f\xcd\xcc\x4c\x3eon \0\0\0\x3f\0\0\0\x40",
        ] {
            assert_eq!(found(bytes), None, "{}", bytes.escape_ascii());
        }
        let late = [&b"A cat sat on the mat.\n".repeat(40)[..], b"a\0b\n"].concat();
        assert_eq!(found(&late), None);
    }
}
