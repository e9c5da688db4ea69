//! Normalization of text as in `tokenizer.json`, before it is split.

use super::pieces::is_mark;
use serde::Deserialize;
use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};
use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory};

/// One or several steps.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(tag = "type")]
pub(super) enum Normalizer {
    #[serde(rename = "BertNormalizer")]
    Bert {
        #[serde(default = "yes")]
        clean_text: bool,
        #[serde(default = "yes")]
        handle_chinese_chars: bool,
        /// Same as `lowercase` if absent.
        strip_accents: Option<bool>,
        #[serde(default = "yes")]
        lowercase: bool,
    },
    Lowercase,
    StripAccents,
    #[serde(rename = "NFC")]
    Nfc,
    #[serde(rename = "NFD")]
    Nfd,
    #[serde(rename = "NFKC")]
    Nfkc,
    #[serde(rename = "NFKD")]
    Nfkd,
    Sequence {
        normalizers: Vec<Normalizer>,
    },
}

fn yes() -> bool {
    true
}

impl Normalizer {
    pub(super) fn apply(&self, text: &str) -> String {
        match self {
            Self::Bert { clean_text, lowercase, .. } if text.is_ascii() => {
                let is_kept = |c: &char| !*clean_text || c.is_ascii_whitespace() || *c == '\x0b' || !c.is_control();
                let white = |c: char| if *clean_text && is_white(c) { ' ' } else { c };
                let lower = |c: char| if *lowercase { c.to_ascii_lowercase() } else { c };
                text.chars().filter(is_kept).map(white).map(lower).collect()
            }
            Self::Bert { clean_text, handle_chinese_chars, strip_accents, lowercase } => {
                let mut text = text.to_owned();
                if *clean_text {
                    text =
                        text.chars().filter(|&c| !is_control(c)).map(|c| if is_white(c) { ' ' } else { c }).collect();
                }
                if *handle_chinese_chars {
                    text = apart(&text);
                }
                if strip_accents.unwrap_or(*lowercase) {
                    text = text.nfd().filter(|&c| c.general_category() != GeneralCategory::NonspacingMark).collect();
                }
                if *lowercase { lowercased(&text) } else { text }
            }
            Self::Lowercase => lowercased(text),
            Self::StripAccents => text.chars().filter(|&c| !is_combining_mark(c)).collect(),
            Self::Nfc => text.nfc().collect(),
            Self::Nfd => text.nfd().collect(),
            Self::Nfkc => text.nfkc().collect(),
            Self::Nfkd => text.nfkd().collect(),
            Self::Sequence { normalizers } => {
                normalizers.iter().fold(text.to_owned(), |text, normalizer| normalizer.apply(&text))
            }
        }
    }
}

impl Normalizer {
    /// Calls `f` with the pieces of normalized text as the pre-tokenizer of BERT splits it, in one pass. An ASCII byte
    /// is normalized the same way everywhere, so only runs of other characters are normalized as strings.
    pub(super) fn pieces_of_bert(&self, text: &str, piece: &mut String, mut f: impl FnMut(&str)) {
        let (clean_text, lowercase) = match self {
            Self::Bert { clean_text, lowercase, .. } => (*clean_text, *lowercase),
            _ => (false, false),
        };
        let mut end_piece = |piece: &mut String, mark: &str| {
            [piece.as_str(), mark].into_iter().filter(|piece| !piece.is_empty()).for_each(&mut f);
            piece.clear();
        };
        piece.clear();
        let bytes = text.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            let start = at;
            let mut has_upper = false;
            while let Some(byte) = bytes.get(at).filter(|&&byte| KINDS[usize::from(byte)] == Kind::Word) {
                has_upper |= byte.is_ascii_uppercase();
                at += 1;
            }
            let (run, next) = (&text[start..at], bytes.get(at).copied());
            let kind = next.map_or(Kind::White, |byte| KINDS[usize::from(byte)]);
            // Most words do not need a copy.
            if piece.is_empty() && !(lowercase && has_upper) && matches!(kind, Kind::White | Kind::Mark) {
                end_piece(piece, run);
            } else {
                let old = piece.len();
                piece.push_str(run);
                if lowercase {
                    piece[old..].make_ascii_lowercase();
                }
            }
            match kind {
                Kind::White => end_piece(piece, ""),
                Kind::Mark => end_piece(piece, &text[at..=at]),
                Kind::Control if !clean_text => piece.push_str(&text[at..=at]),
                Kind::Control | Kind::Word => {}
                Kind::Other => {
                    let n = bytes[at..].iter().position(u8::is_ascii).unwrap_or(bytes.len() - at);
                    for c in self.apply(&text[at..at + n]).chars() {
                        match c {
                            _ if c.is_whitespace() => end_piece(piece, ""),
                            _ if is_mark(c) => end_piece(piece, c.encode_utf8(&mut [0; 4])),
                            _ => piece.push(c),
                        }
                    }
                    at += n - 1;
                }
            }
            at += 1;
        }
        end_piece(piece, "");
    }
}

/// The kind of a byte of text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    White,
    Mark,
    Control,
    /// Any other ASCII character.
    Word,
    /// A part of a non-ASCII character.
    Other,
}

const KINDS: [Kind; 256] = {
    let mut kinds = [Kind::Other; 256];
    let mut byte = 0;
    while byte < 128 {
        kinds[byte] = match byte as u8 {
            b'\t'..=b'\r' | b' ' => Kind::White,
            c if c.is_ascii_punctuation() => Kind::Mark,
            c if c.is_ascii_control() => Kind::Control,
            _ => Kind::Word,
        };
        byte += 1;
    }
    kinds
};

/// Lower-cases each character by itself, without a special case for a final sigma.
fn lowercased(text: &str) -> String {
    text.chars().flat_map(char::to_lowercase).collect()
}

fn is_white(c: char) -> bool {
    c.is_whitespace()
}

/// Whether a character has no glyph and is not whitespace.
fn is_control(c: char) -> bool {
    let is_space = matches!(c, '\t' | '\n' | '\r');
    c == '\0' || c == '\u{fffd}' || !is_space && c.general_category_group() == GeneralCategoryGroup::Other
}

/// Adds spaces around each Chinese character.
fn apart(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        let is_chinese = matches!(
            u32::from(c),
            0x4E00..=0x9FFF
                | 0x3400..=0x4DBF
                | 0x20000..=0x2A6DF
                | 0x2A700..=0x2B73F
                | 0x2B740..=0x2B81F
                | 0x2B920..=0x2CEAF
                | 0xF900..=0xFAFF
                | 0x2F800..=0x2FA1F
        );
        if is_chinese {
            out.extend([' ', c, ' ']);
        } else {
            out.push(c);
        }
    }
    out
}
