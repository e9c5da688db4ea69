//! Splits paragraphs into sentences.

use unicode_segmentation::UnicodeSegmentation;

use super::sentence_runs::with_short_runs;

/// Abbreviations after which a sentence continues, in lower case and without the final period.
const TITLES: &[&str] = &[
    "adm", "approx", "asst", "atty", "brig", "capt", "cf", "cmdr", "col", "cpl", "dr", "e.g", "esp", "gen", "gov",
    "hon", "i.e", "lieut", "lt", "maj", "messrs", "mlle", "mme", "mr", "mrs", "ms", "mt", "pfc", "prof", "pvt", "rep",
    "rev", "rte", "sen", "sgt", "supt", "v", "viz", "vs",
];
/// Abbreviations after which it continues if a number follows.
const BEFORE_NUMBERS: &[&str] = &[
    "a.d", "apr", "aug", "c", "ch", "dec", "eq", "eqs", "feb", "fig", "figs", "jan", "jul", "jun", "mar", "no", "nos",
    "nov", "oct", "p", "pp", "ref", "refs", "sec", "sep", "sept", "vol", "vols",
];
/// Abbreviations that may end a sentence. It continues unless a word from [`BEGINNINGS`] follows.
const EITHER: &[&str] = &[
    "a.m", "al", "ave", "b.c", "blvd", "bros", "co", "corp", "dept", "ed", "eds", "est", "etc", "inc", "jr", "ltd",
    "op", "p.m", "rd", "sr", "st",
];
/// Words that start sentences.
const BEGINNINGS: &[&str] = &[
    "a", "about", "after", "all", "also", "although", "an", "and", "another", "any", "as", "at", "because", "before",
    "both", "but", "by", "can", "did", "do", "does", "during", "each", "even", "every", "for", "from", "had", "has",
    "have", "he", "her", "here", "his", "how", "however", "i", "if", "in", "is", "it", "its", "just", "last", "later",
    "many", "most", "my", "never", "no", "nor", "not", "now", "of", "on", "once", "one", "only", "or", "other", "our",
    "over", "she", "since", "so", "some", "still", "such", "that", "the", "their", "then", "there", "these", "they",
    "this", "those", "though", "through", "thus", "to", "today", "under", "until", "was", "we", "were", "what", "when",
    "where", "which", "while", "who", "why", "will", "with", "would", "yes", "yet", "you", "your",
];

/// The maximum length in bytes of these abbreviations and of initials.
const LONGEST: usize = 256;
/// Marks that end sentences when they stand apart.
const MARKS: [char; 3] = ['.', '!', '?'];

/// Returns the sentences of a text, without surrounding white space. Follows the rules of Unicode (UAX 29), but does
/// not end a sentence after an abbreviation or initial (`Dr.`, `J. Smith`), or before a lower-case letter. The
/// abbreviations are English. After one that may end a sentence (`Inc.`, `the U.S.`), the next word decides. An empty
/// line ends a sentence; a single line end does not.
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

/// The parts between empty lines.
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
    let (mut start, mut next_at) = (0, 0);
    for (at, piece) in pieces(text) {
        let end = at + piece.len();
        // White space is scanned once, regardless of how many pieces it contains.
        if next_at < end {
            next_at = text.len() - text[end..].trim_start().len();
        }
        let next = &text[next_at..];
        let is_small = next.starts_with(char::is_lowercase);
        if piece.trim_start().is_empty() {
            // White space after a sentence belongs to it; at the start of one it is dropped.
            if start == at && !is_small {
                start = end;
            }
            continue;
        }
        if !next.is_empty() && !ends_apart(&text[start..end]) && (is_small || goes_on(&text[start..end], next)) {
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

/// The sentences of Unicode with their start offsets. A line end within a sentence counts as a space.
fn pieces(text: &str) -> Vec<(usize, &str)> {
    let mut pieces: Vec<(usize, &str)> = Vec::new();
    // Whether the last piece ended a sentence, and not only a line.
    let mut is_over = true;
    let with_short_runs = with_short_runs(text);
    let bounds = with_short_runs.split_sentence_bound_indices().map(|(at, piece)| (at, &text[at..at + piece.len()]));
    for (at, piece) in bounds.flat_map(|(at, piece)| apart(at, piece)) {
        match pieces.last_mut() {
            // Unicode ends a sentence at every line end; here a line end counts only after a complete sentence.
            Some((start, last)) if !is_over => *last = &text[*start..at + piece.len()],
            _ => pieces.push((at, piece)),
        }
        // Closing marks and white space at the end of the previous piece do not matter.
        is_over = !piece.ends_with(['\n', '\r']) || ends_sentence(piece);
    }
    pieces
}

/// Splits a piece after marks that stand apart, as in text with separated tokens. There they always end a sentence,
/// even before a lower-case letter. Several of them (`. . .`) do not.
fn apart(at: usize, piece: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_blank = |byte: Option<&u8>| byte.is_none_or(u8::is_ascii_whitespace);
    let bytes = piece.as_bytes();
    // In order: the start of the current part; whether the text before `end` ends with a separate mark and was not cut
    // there; the last character. Then: whether the last character that is not white space was a mark; the offset of
    // the next one.
    let (mut start, mut ends_apart, mut last, mut last_mark, mut next_at) = (0, false, 'x', false, 0);
    let cut = move |(from, c): (usize, char)| {
        let end = from + c.len_utf8();
        if !c.is_whitespace() {
            let is_mark = MARKS.contains(&c);
            (ends_apart, last_mark) = (is_mark && last.is_whitespace() && !last_mark, is_mark);
        }
        last = c;
        let mut is_cut = ends_apart && end > 1 && is_blank(bytes.get(end)) && is_blank(bytes.get(end - 2));
        if is_cut {
            if next_at < end {
                next_at = bytes.len() - piece[end..].trim_start().len();
            }
            is_cut = !piece[next_at..].starts_with(MARKS);
            ends_apart &= !is_cut;
        }
        (is_cut || end == bytes.len()).then(|| (at + start, &piece[std::mem::replace(&mut start, end)..end]))
    };
    piece.char_indices().filter_map(cut)
}

/// Whether a piece ends with a mark that stands apart.
fn ends_apart(piece: &str) -> bool {
    let rest = piece.trim_end().strip_suffix(MARKS);
    rest.is_some_and(|rest| rest.ends_with(char::is_whitespace) && !rest.trim_end().ends_with(MARKS))
}

/// Whether a piece ends with a mark that ends sentences, possibly followed by quotes or brackets.
fn ends_sentence(piece: &str) -> bool {
    let is_closing = |c: char| matches!(c, '"' | '\'' | ')' | ']' | '»' | '”' | '’' | '」' | '』') || c.is_whitespace();
    piece.trim_end_matches(is_closing).ends_with(['.', '!', '?', '…', '。', '！', '？', '؟', '।'])
}

/// Whether the sentence continues after this piece with `next`, because its last word is an abbreviation or an initial.
fn goes_on(piece: &str, next: &str) -> bool {
    let Some(rest) = piece.trim_end().strip_suffix('.') else { return false };
    let is_end = |c: char| c.is_whitespace() || matches!(c, '(' | '[' | '"' | '“' | '-' | '–');
    // No such word is longer, so there is no need to search further back in a long text without spaces.
    let mut from = rest.len().saturating_sub(LONGEST);
    while !rest.is_char_boundary(from) {
        from -= 1;
    }
    let word = rest[from..].rsplit(is_end).next().unwrap_or_default();
    if from > 0 && word.len() == rest.len() - from {
        return false;
    }
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
    // "I" ends sentences. Several initials may be a name (J. A. Smith) or not (the U.S.).
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

    /// Uses no clock: if one of these took quadratic time, the test would not finish in reasonable time.
    #[test]
    fn a_line_of_any_run_is_cut_in_steps_that_grow_with_its_length() {
        let n = 900_000;
        let run = |unit: &str| unit.repeat(n / unit.len());
        for (text, expected) in [
            (format!("a{}b", run(" ")), Some(1)),
            (format!("a{}b", run("\t")), Some(1)),
            (format!("a .{}b", run(" ")), Some(2)),
            (format!("a.{}B", run(" ")), Some(2)),
            (format!("a.{}b", run(" \u{200b}")), Some(1)),
            (format!("a.{}B", run(")")), Some(2)),
            (format!("a.{}B", run("\u{201d}")), Some(2)),
            (format!("a.{}{}B", run("\u{201d}\u{301}"), run(" ")), Some(2)),
            (format!("a.{}B", run("\u{2028}")), Some(2)),
            (format!("a{}b", run("\u{2028}")), Some(1)),
            (format!("a{}.{}b", run(" "), run("\u{2028}")), None),
            (run(")\n"), Some(1)),
            (run("\u{1c90}."), None),
            (run("a!"), None),
            (run(" . "), None),
            (run("A. "), None),
            (run("etc. ("), None),
        ] {
            let found = sentences(&text);
            let head: String = text.chars().take(8).collect();
            assert!(expected.is_none_or(|n| found.len() == n), "{head:?}: {}", found.len());
            assert!(found.iter().map(|sentence| sentence.len()).sum::<usize>() <= text.len(), "{head:?}");
        }
    }
}
