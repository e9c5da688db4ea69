//! Paragraphs -> sentences.

use unicode_segmentation::UnicodeSegmentation;

/// Words with a full stop behind which a sentence goes on, in lower case and without it.
const TITLES: &[&str] = &[
    "adm", "approx", "asst", "atty", "brig", "capt", "cf", "cmdr", "col", "cpl", "dr", "e.g", "esp", "gen", "gov",
    "hon", "i.e", "lieut", "lt", "maj", "messrs", "mlle", "mme", "mr", "mrs", "ms", "mt", "pfc", "prof", "pvt", "rep",
    "rev", "rte", "sen", "sgt", "supt", "v", "viz", "vs",
];
/// Words behind which it goes on with a number.
const BEFORE_NUMBERS: &[&str] = &[
    "a.d", "apr", "aug", "c", "ch", "dec", "eq", "eqs", "feb", "fig", "figs", "jan", "jul", "jun", "mar", "no", "nos",
    "nov", "oct", "p", "pp", "ref", "refs", "sec", "sep", "sept", "vol", "vols",
];
/// Words that may end a sentence, which goes on unless a word follows that sentences begin with.
const EITHER: &[&str] = &[
    "a.m", "al", "ave", "b.c", "blvd", "bros", "co", "corp", "dept", "ed", "eds", "est", "etc", "inc", "jr", "ltd",
    "op", "p.m", "rd", "sr", "st",
];
/// Words that sentences begin with.
const BEGINNINGS: &[&str] = &[
    "a", "about", "after", "all", "also", "although", "an", "and", "another", "any", "as", "at", "because", "before",
    "both", "but", "by", "can", "did", "do", "does", "during", "each", "even", "every", "for", "from", "had", "has",
    "have", "he", "her", "here", "his", "how", "however", "i", "if", "in", "is", "it", "its", "just", "last", "later",
    "many", "most", "my", "never", "no", "nor", "not", "now", "of", "on", "once", "one", "only", "or", "other", "our",
    "over", "she", "since", "so", "some", "still", "such", "that", "the", "their", "then", "there", "these", "they",
    "this", "those", "though", "through", "thus", "to", "today", "under", "until", "was", "we", "were", "what", "when",
    "where", "which", "while", "who", "why", "will", "with", "would", "yes", "yet", "you", "your",
];

/// Marks that end sentences where they stand apart.
const MARKS: [char; 3] = ['.', '!', '?'];

/// The sentences of a text, without the white space around them: by the rules of Unicode (UAX 29), but not behind an
/// abbreviation or an initial (`Dr.`, `J. Smith`), nor before a small letter. Abbreviations are those of English;
/// behind one that may end a sentence (`Inc.`, `the U.S.`) the next word decides. An empty line ends a sentence, a
/// single line end does not.
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
        let next = text[end..].trim_start();
        let goes_on = || next.starts_with(char::is_lowercase) || goes_on(&text[start..end], next);
        if !next.is_empty() && !ends_apart(&text[start..end]) && goes_on() {
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
    for (at, piece) in text.split_sentence_bound_indices().flat_map(|(at, piece)| apart(at, piece)) {
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

/// The parts of a piece behind marks that stand apart, as in texts whose tokens were separated: nothing but an end is
/// written so, even before a small letter. Several of them (`. . .`) are none.
fn apart(at: usize, piece: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut start = 0;
    let is_blank = |byte: Option<&u8>| byte.is_none_or(u8::is_ascii_whitespace);
    let bytes = piece.as_bytes();
    let cut = move |end: usize| {
        let is_cut = end > 1
            && is_blank(bytes.get(end))
            && is_blank(bytes.get(end - 2))
            && ends_apart(&piece[..end])
            && !piece[end..].trim_start().starts_with(MARKS);
        (is_cut || end == bytes.len()).then(|| (at + start, &piece[std::mem::replace(&mut start, end)..end]))
    };
    (1..=bytes.len()).filter(|&end| piece.is_char_boundary(end)).filter_map(cut)
}

/// Whether a piece ends with a mark that stands apart.
fn ends_apart(piece: &str) -> bool {
    let rest = piece.trim_end().strip_suffix(MARKS);
    rest.is_some_and(|rest| rest.ends_with(char::is_whitespace) && !rest.trim_end().ends_with(MARKS))
}

/// Whether a piece ends with a mark that ends sentences, perhaps in quotes or brackets.
fn ends_sentence(piece: &str) -> bool {
    let is_closing = |c: char| matches!(c, '"' | '\'' | ')' | ']' | '»' | '”' | '’' | '」' | '』') || c.is_whitespace();
    piece.trim_end_matches(is_closing).ends_with(['.', '!', '?', '…', '。', '！', '？', '؟', '।'])
}

/// Whether a sentence goes on behind this piece with what comes next: its last word is an abbreviation or an initial.
fn goes_on(piece: &str, next: &str) -> bool {
    let Some(rest) = piece.trim_end().strip_suffix('.') else { return false };
    let is_end = |c: char| c.is_whitespace() || matches!(c, '(' | '[' | '"' | '“' | '-' | '–');
    let word = rest.rsplit(is_end).next().unwrap_or_default();
    let lower = word.to_lowercase();
    let is_of = |words: &[&str]| words.binary_search(&lower.as_str()).is_ok();
    let begins = || {
        let first = next.trim_start_matches(|c: char| !c.is_alphanumeric());
        let first = first.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
        BEGINNINGS.binary_search(&first.to_lowercase().as_str()).is_ok()
    };
    let is_initial = |part: &str| {
        let mut characters = part.chars();
        characters.next().is_some_and(char::is_uppercase) && characters.next().is_none()
    };
    if is_of(TITLES) || is_of(BEFORE_NUMBERS) && next.starts_with(|c: char| c.is_numeric()) {
        return true;
    }
    // I ends sentences; more than one initial may be a name (J. A. Smith) or not (the U.S.).
    let initials = word.split('.').filter(|part| is_initial(part)).count();
    let is_initials = initials > 0 && initials == word.split('.').count() && word != "I";
    (is_initials && initials == 1) || (is_initials || is_of(EITHER)) && !begins()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_words_are_sorted() {
        for words in [TITLES, BEFORE_NUMBERS, EITHER, BEGINNINGS] {
            assert!(words.is_sorted(), "{words:?}");
        }
    }

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
            ("it works . so does this ! or 3 .5 . end", &["it works .", "so does this !", "or 3 .5 .", "end"]),
            ("well . . . he said . so", &["well . . . he said .", "so"]),
            ("He said no. Fig. 3 and No. 7 show it.", &["He said no.", "Fig. 3 and No. 7 show it."]),
            ("Sold by Acme Inc. The price fell.", &["Sold by Acme Inc.", "The price fell."]),
            (
                "The U.S. Senate met at 9 a.m. Sunday. It is in the U.S. He left Sept. 29-Oct. 8.",
                &["The U.S. Senate met at 9 a.m. Sunday.", "It is in the U.S.", "He left Sept. 29-Oct. 8."],
            ),
            ("By D.W. Griffith and the ex-Mrs. Manville.", &["By D.W. Griffith and the ex-Mrs. Manville."]),
            ("यह एक है। यह दो है।", &["यह एक है।", "यह दो है।"]),
        ] {
            assert_eq!(sentences(text), expected, "{text:?}");
        }
    }
}
