//! Paragraphs -> sentences.

use unicode_segmentation::UnicodeSegmentation;

/// Words with a full stop behind which a sentence goes on, in lower case and without it.
const ABBREVIATIONS: &[&str] = &[
    "adm", "al", "approx", "apr", "aug", "ave", "bros", "capt", "cf", "cmdr", "co", "col", "corp", "dec", "dept", "dr",
    "ed", "eds", "e.g", "eq", "eqs", "esp", "est", "feb", "fig", "figs", "gen", "gov", "hon", "i.e", "inc", "jan",
    "jr", "jul", "jun", "lt", "ltd", "maj", "mar", "messrs", "mr", "mrs", "ms", "mt", "no", "nos", "nov", "oct", "op",
    "pp", "prof", "ref", "refs", "rep", "rev", "sec", "sen", "sep", "sept", "sgt", "sr", "st", "viz", "vol", "vols",
    "vs",
];

/// The sentences of a text, without the white space around them: by the rules of Unicode (UAX 29), but not behind an abbreviation or an
/// initial (`Dr.`, `J. Smith`), nor before a small letter. An empty line ends a sentence, a single line end does not.
///
/// ```
/// use senv_core::text::sentences;
/// let text = "Mr. J. Smith paid $3.50. \"Why?\" he asked... Nobody knew!\n\nA new paragraph";
/// let found = sentences(text);
/// assert_eq!(found, ["Mr. J. Smith paid $3.50.", "\"Why?\" he asked...", "Nobody knew!", "A new paragraph"]);
/// assert_eq!(sentences("我来了。你呢？"), ["我来了。", "你呢？"]);
/// ```
#[must_use]
pub fn sentences(text: &str) -> Vec<&str> {
    paragraphs(text).flat_map(sentences_of_paragraph).collect()
}

/// Parts between empty lines.
fn paragraphs(text: &str) -> impl Iterator<Item = &str> {
    let (mut start, mut at) = (0, 0);
    let mut cuts = Vec::new();
    for line in text.split_inclusive('\n') {
        if line.trim().is_empty() {
            cuts.push(start..at);
            start = at + line.len();
        }
        at += line.len();
    }
    cuts.push(start..at);
    cuts.into_iter().map(|range| &text[range]).filter(|part| !part.trim().is_empty())
}

fn sentences_of_paragraph(text: &str) -> Vec<&str> {
    let mut found: Vec<&str> = Vec::new();
    let mut start = 0;
    for (at, piece) in pieces(text) {
        let end = at + piece.len();
        let next_is_lower = text[end..].chars().find(|c| !c.is_whitespace()).is_some_and(char::is_lowercase);
        if end < text.len() && (next_is_lower || goes_on(&text[start..end])) {
            continue;
        }
        let sentence = text[start..end].trim();
        if !sentence.is_empty() {
            found.push(sentence);
        }
        start = end;
    }
    found
}

/// The sentences of Unicode, with where they start; a line end within one is a space there.
fn pieces(text: &str) -> Vec<(usize, &str)> {
    let mut pieces: Vec<(usize, &str)> = Vec::new();
    for (at, piece) in text.split_sentence_bound_indices() {
        match pieces.last_mut() {
            // Unicode ends a sentence at every line end; here only where one is over.
            Some((start, last)) if last.ends_with(['\n', '\r']) && !ends_sentence(last) => {
                *last = &text[*start..at + piece.len()]
            }
            _ => pieces.push((at, piece)),
        }
    }
    pieces
}

/// Whether a piece ends with a mark that ends sentences, perhaps in quotes or brackets.
fn ends_sentence(piece: &str) -> bool {
    let is_closing = |c: char| matches!(c, '"' | '\'' | ')' | ']' | '»' | '”' | '’' | '」' | '』') || c.is_whitespace();
    piece.trim_end_matches(is_closing).ends_with(['.', '!', '?', '…', '。', '！', '？', '؟', '।'])
}

/// Whether a sentence goes on behind this piece: its last word is an abbreviation or an initial.
fn goes_on(piece: &str) -> bool {
    let Some(rest) = piece.trim_end().strip_suffix('.') else { return false };
    let word =
        rest.rsplit(|c: char| c.is_whitespace() || matches!(c, '(' | '[' | '"' | '“')).next().unwrap_or_default();
    let mut characters = word.chars();
    let is_initial = characters.next().is_some_and(char::is_uppercase) && characters.next().is_none() && word != "I";
    is_initial || ABBREVIATIONS.contains(&word.to_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_end_where_readers_end_them() {
        for (text, expected) in [
            ("", &[][..]),
            (" \n \n", &[]),
            ("One.  Two! Three?", &["One.", "Two!", "Three?"]),
            (
                "Dr. Smith and Prof. Jones met (see Fig. 3). They left.",
                &["Dr. Smith and Prof. Jones met (see Fig. 3).", "They left."],
            ),
            ("So did I. Then we left.", &["So did I.", "Then we left."]),
            ("Version 2.0 is out, e.g. on the site.", &["Version 2.0 is out, e.g. on the site."]),
            ("A line\nthat goes on. Another\r\none.\n\nNext", &["A line\nthat goes on.", "Another\r\none.", "Next"]),
            ("\"Stop!\" he said. \"Why?\"", &["\"Stop!\" he said.", "\"Why?\""]),
            ("Ends with Mr.", &["Ends with Mr."]),
            ("यह एक है। यह दो है।", &["यह एक है।", "यह दो है।"]),
        ] {
            assert_eq!(sentences(text), expected, "{text:?}");
        }
    }
}
