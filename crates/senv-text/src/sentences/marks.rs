//! The marks that end sentences, and what may stand between such a mark and the next sentence.

/// What the scan does at a byte.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// Nothing.
    Plain,
    /// The byte is `.`, `!` or `?`.
    Stop,
    /// A character of several bytes that may be a mark.
    Wide,
    /// The byte is a line end.
    LineEnd,
    /// The byte is a straight double quote.
    Quote,
    /// The byte is a backtick, which opens code.
    Code,
}

/// The class of each byte.
pub(super) const CLASSES: [Class; 256] = {
    let mut classes = [Class::Plain; 256];
    classes[b'.' as usize] = Class::Stop;
    classes[b'!' as usize] = Class::Stop;
    classes[b'?' as usize] = Class::Stop;
    classes[b'\n' as usize] = Class::LineEnd;
    classes[b'"' as usize] = Class::Quote;
    classes[b'`' as usize] = Class::Code;
    let mut i = 0;
    while i < STOPS.len() {
        let mut c = STOPS[i].0 as u32;
        while c <= STOPS[i].1 as u32 {
            classes[first_byte(c) as usize] = Class::Wide;
            c += 1;
        }
        i += 1;
    }
    classes
};

/// The first byte of a character in UTF-8.
const fn first_byte(c: u32) -> u8 {
    match c {
        0..0x80 => c as u8,
        0x80..0x800 => 0xc0 | (c >> 6) as u8,
        0x800..0x1_0000 => 0xe0 | (c >> 12) as u8,
        _ => 0xf0 | (c >> 18) as u8,
    }
}

/// The marks beyond ASCII that end sentences by the tables of Unicode (`SATerm`), as ranges, and the ellipses.
const STOPS: &[(char, char)] = &[
    ('\u{589}', '\u{589}'),
    ('\u{61d}', '\u{61f}'),
    ('\u{6d4}', '\u{6d4}'),
    ('\u{700}', '\u{702}'),
    ('\u{7f9}', '\u{7f9}'),
    ('\u{837}', '\u{837}'),
    ('\u{839}', '\u{839}'),
    ('\u{83d}', '\u{83e}'),
    ('\u{964}', '\u{965}'),
    ('\u{104a}', '\u{104b}'),
    ('\u{1362}', '\u{1362}'),
    ('\u{1367}', '\u{1368}'),
    ('\u{166e}', '\u{166e}'),
    ('\u{1735}', '\u{1736}'),
    ('\u{17d4}', '\u{17d5}'),
    ('\u{1803}', '\u{1803}'),
    ('\u{1809}', '\u{1809}'),
    ('\u{1944}', '\u{1945}'),
    ('\u{1aa8}', '\u{1aab}'),
    ('\u{1b4e}', '\u{1b4f}'),
    ('\u{1b5a}', '\u{1b5b}'),
    ('\u{1b5e}', '\u{1b5f}'),
    ('\u{1b7d}', '\u{1b7f}'),
    ('\u{1c3b}', '\u{1c3c}'),
    ('\u{1c7e}', '\u{1c7f}'),
    ('\u{2024}', '\u{2026}'),
    ('\u{203c}', '\u{203d}'),
    ('\u{2047}', '\u{2049}'),
    ('\u{2cf9}', '\u{2cfb}'),
    ('\u{2e2e}', '\u{2e2e}'),
    ('\u{2e3c}', '\u{2e3c}'),
    ('\u{2e53}', '\u{2e54}'),
    ('\u{3002}', '\u{3002}'),
    ('\u{a4ff}', '\u{a4ff}'),
    ('\u{a60e}', '\u{a60f}'),
    ('\u{a6f3}', '\u{a6f3}'),
    ('\u{a6f7}', '\u{a6f7}'),
    ('\u{a876}', '\u{a877}'),
    ('\u{a8ce}', '\u{a8cf}'),
    ('\u{a92f}', '\u{a92f}'),
    ('\u{a9c8}', '\u{a9c9}'),
    ('\u{aa5d}', '\u{aa5f}'),
    ('\u{aaf0}', '\u{aaf1}'),
    ('\u{abeb}', '\u{abeb}'),
    ('\u{fe12}', '\u{fe12}'),
    ('\u{fe15}', '\u{fe16}'),
    ('\u{fe52}', '\u{fe52}'),
    ('\u{fe56}', '\u{fe57}'),
    ('\u{ff01}', '\u{ff01}'),
    ('\u{ff0e}', '\u{ff0e}'),
    ('\u{ff1f}', '\u{ff1f}'),
    ('\u{ff61}', '\u{ff61}'),
    ('\u{10a56}', '\u{10a57}'),
    ('\u{10f55}', '\u{10f59}'),
    ('\u{10f86}', '\u{10f89}'),
    ('\u{11047}', '\u{11048}'),
    ('\u{110be}', '\u{110c1}'),
    ('\u{11141}', '\u{11143}'),
    ('\u{111c5}', '\u{111c6}'),
    ('\u{111cd}', '\u{111cd}'),
    ('\u{111de}', '\u{111df}'),
    ('\u{11238}', '\u{11239}'),
    ('\u{1123b}', '\u{1123c}'),
    ('\u{112a9}', '\u{112a9}'),
    ('\u{113d4}', '\u{113d5}'),
    ('\u{1144b}', '\u{1144c}'),
    ('\u{115c2}', '\u{115c3}'),
    ('\u{115c9}', '\u{115d7}'),
    ('\u{11641}', '\u{11642}'),
    ('\u{1173c}', '\u{1173e}'),
    ('\u{11944}', '\u{11944}'),
    ('\u{11946}', '\u{11946}'),
    ('\u{11a42}', '\u{11a43}'),
    ('\u{11a9b}', '\u{11a9c}'),
    ('\u{11c41}', '\u{11c42}'),
    ('\u{11ef7}', '\u{11ef8}'),
    ('\u{11f43}', '\u{11f44}'),
    ('\u{16a6e}', '\u{16a6f}'),
    ('\u{16af5}', '\u{16af5}'),
    ('\u{16b37}', '\u{16b38}'),
    ('\u{16b44}', '\u{16b44}'),
    ('\u{16d6e}', '\u{16d6f}'),
    ('\u{16e98}', '\u{16e98}'),
    ('\u{1bc9f}', '\u{1bc9f}'),
    ('\u{1da88}', '\u{1da88}'),
];

/// How a mark ends sentences.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    /// A full stop, which also ends abbreviations and stands in numbers.
    Period,
    /// An exclamation or question mark.
    Strong,
    /// An ellipsis.
    Ellipsis,
    /// A mark of a script that may put no blank after it.
    Unspaced,
}

/// How a character ends sentences, if it does.
pub(super) fn stop(c: char) -> Option<Stop> {
    match c {
        '.' | '\u{2024}' | '\u{fe52}' => Some(Stop::Period),
        '!' | '?' | '\u{203c}' | '\u{203d}' | '\u{2047}'..='\u{2049}' => Some(Stop::Strong),
        '…' | '‥' => Some(Stop::Ellipsis),
        ..'\u{80}' => None,
        _ => {
            let i = STOPS.partition_point(|&(_, last)| last < c);
            STOPS.get(i).is_some_and(|&(first, _)| first <= c).then_some(Stop::Unspaced)
        }
    }
}

/// Whether a character is white space.
pub(super) fn is_blank(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\u{200b}' | '\u{feff}')
}

/// Whether a character closes a quotation or bracket when it comes directly after a mark.
pub(super) fn is_closing(c: char) -> bool {
    is_closing_bracket(c)
        || is_quote(c)
        || matches!(c, '*' | '_' | '~' | '\u{200e}' | '\u{200f}' | '\u{202c}' | '\u{2069}')
}

/// Whether a quote opens in some languages and closes in others.
pub(super) fn is_either_quote(c: char) -> bool {
    matches!(c, '“' | '‘' | '«' | '‹' | '„')
}

/// Whether a quote opens and closes.
pub(super) fn is_straight(c: char) -> bool {
    matches!(c, '"' | '＂')
}

/// Whether a character can only close.
pub(super) fn is_closing_bracket(c: char) -> bool {
    matches!(c, ')' | ']' | '}' | '»' | '›' | '」' | '』' | '）' | '］' | '】' | '》' | '〉' | '〕' | '”' | '｣')
}

/// Whether a character is a quote.
pub(super) fn is_quote(c: char) -> bool {
    matches!(c, '"' | '\'' | '”' | '’' | '“' | '‘' | '„' | '»' | '›' | '«' | '‹' | '」' | '』' | '＂' | '`' | '´')
}

/// Whether a character opens a quotation or bracket, or may stand before the first word of a sentence.
pub(super) fn is_opening(c: char) -> bool {
    is_quote(c) || matches!(c, '(' | '[' | '{' | '¿' | '¡' | '*' | '_' | '「' | '『' | '（' | '<' | '-' | '–' | '—')
}

/// Whether a character is an emoji or part of one.
pub(super) fn is_emoji(c: char) -> bool {
    matches!(c, '\u{1f000}'..='\u{1faff}' | '\u{2600}'..='\u{27bf}' | '\u{2b50}' | '\u{2b55}' | '\u{2b1b}' | '\u{2b1c}')
        || matches!(c, '\u{231a}' | '\u{231b}' | '\u{23e9}'..='\u{23fa}')
        || matches!(c, '\u{fe0f}' | '\u{200d}' | '\u{20e3}' | '\u{e0020}'..='\u{e007f}')
}

/// A text without the emoji at its end and the white space before them. Ticks and crosses stay, because they are an
/// answer, and so does a text of nothing else.
///
/// ```
/// # use senv_text::without_last_emoji;
/// assert_eq!(without_last_emoji("See you soon. 😀🎉"), "See you soon.");
/// assert_eq!(["It works ✅", "😀", "See you 😀 soon"].map(without_last_emoji), ["It works ✅", "😀", "See you 😀 soon"]);
/// ```
#[doc(hidden)]
#[must_use]
pub fn without_last_emoji(text: &str) -> &str {
    let is_answer =
        |c| matches!(c, '\u{2610}'..='\u{2612}' | '\u{2705}' | '\u{2713}'..='\u{2718}' | '\u{274c}' | '\u{274e}');
    let is_left_out = |c: char| c.is_whitespace() || is_emoji(c) && !is_answer(c);
    if text.as_bytes().last().is_none_or(u8::is_ascii) && !text.ends_with(char::is_whitespace) {
        return text;
    }
    let rest = text.trim_end_matches(is_left_out);
    let has_emoji = text[rest.len()..].contains(is_emoji);
    if has_emoji && !rest.is_empty() { rest } else { text }
}

/// Whether a character stands before an item of a list within a line.
pub(super) fn is_bullet(c: char) -> bool {
    matches!(c, '•' | '·' | '▪' | '■' | '●' | '○' | '◦' | '‣' | '►' | '▶')
}

/// The length of a footnote mark at the start of a text: `[4]`, `[12, 13]`, `[note 1]`, `[citation needed]`.
pub(super) fn footnote(text: &str) -> Option<usize> {
    const LONGEST: usize = 24;
    let inner = text.strip_prefix('[')?;
    let length = inner.bytes().take(LONGEST).position(|byte| byte == b']')?;
    let inner = inner[..length].trim_matches(' ');
    let is_digits = |c: char| c.is_ascii_digit() || matches!(c, ',' | ' ' | '-' | '–');
    let is_label = inner.len() == 1 && inner.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '*' | '†'));
    let is_note = ["note ", "nb ", "fn ", "n "]
        .iter()
        .any(|note| inner.strip_prefix(note).is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit())));
    let is_remark = matches!(inner, "citation needed" | "sic" | "clarification needed" | "who?" | "when?" | "dubious");
    let is_number = inner.starts_with(|c: char| c.is_ascii_digit()) && inner.chars().all(is_digits);
    // "[^2]" and "[^mill]" in Markdown.
    let is_markdown = inner.len() > 1 && inner.starts_with('^') && !inner.contains(char::is_whitespace);
    (is_number || is_label || is_note || is_remark || is_markdown).then_some(length + 2)
}

/// The length of an emoticon that stands alone at the start of a text: `:)`, `;-)`, `<3`.
pub(super) fn emoticon(text: &str) -> Option<usize> {
    let length = text.bytes().take(8).position(|byte| byte.is_ascii_whitespace()).unwrap_or(text.len().min(8));
    let word = text.get(..length)?;
    let is_face = |word: &str| {
        let mouth = word.strip_prefix([':', ';', '=', '8']).unwrap_or_default();
        let mouth = mouth.strip_prefix(['-', '\'', 'o', '^']).unwrap_or(mouth);
        mouth.starts_with([')', '(', 'D', 'P', 'p', '/', '\\', '|', 'o', 'O', '3', '*', ']', '['])
            && mouth[1..].bytes().all(|byte| byte == mouth.as_bytes()[0])
    };
    (matches!(word, "<3" | "</3" | "XD" | "xD" | "^^" | "^_^") || is_face(word)).then_some(length)
}

#[cfg(test)]
mod tests {
    use unicode_segmentation::UnicodeSegmentation;

    use super::*;

    #[test]
    fn stops_are_those_of_unicode_and_ellipses() {
        for c in '\0'..=char::MAX {
            let is_unicode = !c.is_whitespace() && format!("A{c} B").split_sentence_bounds().count() == 2;
            assert_eq!(stop(c).is_some(), is_unicode || matches!(c, '…' | '‥'), "{:x}", c as u32);
            let first = c.encode_utf8(&mut [0; 4]).as_bytes()[0];
            assert!(stop(c).is_none() || matches!(CLASSES[usize::from(first)], Class::Stop | Class::Wide), "{c:?}");
        }
    }

    #[test]
    fn footnotes_and_emoticons_are_recognized() {
        for (text, length) in
            [("[4] It", 3), ("[12, 13]", 8), ("[note 1] x", 8), ("[a]", 3), ("[^2] x", 4), ("[citation needed]", 17)]
        {
            assert_eq!(footnote(text), Some(length), "{text}");
        }
        for text in ["[", "[]", "[he", "[she said]", "(4)", "[4 people]"] {
            assert_eq!(footnote(text), None, "{text}");
        }
        for (text, length) in [(":) See", 2), (";-)", 3), (":-D x", 3), ("<3", 2), (":))) x", 4)] {
            assert_eq!(emoticon(text), Some(length), "{text}");
        }
        for text in ["", ":", ": x", "8 p.m.", "<b>", ":ok", "é:)"] {
            assert_eq!(emoticon(text), None, "{text}");
        }
    }
}
