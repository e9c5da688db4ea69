//! Splits paragraphs into sentences.

mod code;
mod following;
mod full_stop;
mod items;
mod layout;
mod lines;
mod marks;
mod quotation;
mod quoted;
mod tail;
#[cfg(test)]
mod tests;
mod times;
mod words;

use code::Code;
use following::{Beginning, Following};
use lines::Line;
pub use marks::without_last_emoji;
use marks::{CLASSES, Class, Stop, is_blank, is_opening, stop};
use quotation::{Quote, quote};
pub(crate) use quoted::without_marks;
use tail::Tail;

/// Returns the sentences of a text, without surrounding white space.
///
/// A sentence ends at a full stop, exclamation mark, question mark, ellipsis or a mark of another script (`。`, `।`,
/// `؟`). Quotes, brackets, footnote marks (`[4]`) and emoji that follow belong to it. It continues
///
/// * before a lower-case letter or a comma;
/// * after an English abbreviation or initial (`Dr.`, `e.g.`, `J. Smith`). After one that may end a sentence (`Inc.`,
///   `the U.S.`, `an A.`), the words around it decide;
/// * after the number of an item or heading (`1.`, `Chapter 2.`);
/// * before the words that say who spoke (`"Why?" Ann asked.`), and within code in backticks.
///
/// In text without capitals, a sentence also ends before a lower-case letter.
///
/// An empty line ends a sentence; a single line end does not. Headings, items of lists, rows of tables and lines of
/// code as in Markdown are sentences of their own, and so are headers of mail.
///
/// In quoted mail (`> `), a sentence ends where the depth changes and at a quoted line without text, whose marks belong
/// to no sentence. A sentence is a part of the text, so it has the marks of the lines on which it begins and continues.
/// `senv split` and readers of text leave out the latter.
///
/// ```
/// use senv_core::text::sentences;
/// let text = "Mr. J. Smith paid $3.50. \"Why?\" he asked... Nobody knew![2] 20 people left.\n\nA new paragraph";
/// let expected = ["Mr. J. Smith paid $3.50.", "\"Why?\" he asked...", "Nobody knew![2]", "20 people left."];
/// assert_eq!(sentences(text)[..4], expected);
/// assert_eq!(sentences("Steps:\n1. Open it.\n2. Look."), ["Steps:", "1. Open it.", "2. Look."]);
/// assert_eq!(sentences("我来了。你呢？"), ["我来了。", "你呢？"]);
/// ```
#[must_use]
pub fn sentences(text: &str) -> Vec<&str> {
    last_sentences(text, State::default()).0
}

/// Returns the sentences of a text of which the rest is not yet known, except those that the rest may change. Also
/// returns where the remaining text starts, and the state there. The text continues from `state`.
pub(crate) fn first_sentences(text: &str, state: State) -> (Vec<&str>, usize, State) {
    /// No rule examines more bytes behind the end of a sentence, except for code.
    const AHEAD: usize = 1024;
    let mut cutter = Cutter::new(text, state);
    cutter.cut(text.len().saturating_sub(AHEAD));
    let state = cutter.state();
    (cutter.found, cutter.start, state)
}

/// Returns the sentences of a text that continues from `state` and ends a paragraph, and the state after them.
pub(crate) fn last_sentences(text: &str, state: State) -> (Vec<&str>, State) {
    let mut cutter = Cutter::new(text, state);
    cutter.cut(usize::MAX);
    cutter.end_sentence(text.len(), text.len());
    (cutter.found, cutter.state.after_paragraph())
}

/// What the sentences before say about those that follow.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct State {
    /// Where a straight quote was opened that is not yet closed, [`LONGEST_QUOTATION`] bytes further on.
    quote: Option<usize>,
    /// What the current line is, if the text starts within a line.
    line: Option<Line>,
    /// Whether an item of a list came before in the paragraph.
    in_list: bool,
    /// Whether the last sentence is an item of a list within a line.
    in_line_list: bool,
    /// The code that was opened in the paragraph or before it.
    code: Option<Code>,
    /// How often the current line is quoted with `>`.
    depth: usize,
    /// Whether the last sentence is a question.
    was_question: bool,
}

impl State {
    /// The state after the end of a paragraph. Code in fences continues.
    fn after_paragraph(self) -> Self {
        Self { code: self.code.filter(Code::is_fenced), ..Self::default() }
    }
}

/// A quotation of more bytes is an unpaired mark.
const LONGEST_QUOTATION: usize = 2000;
/// More opening signs in bytes than this are text.
const N_OPENING: usize = 16;

/// The state of a scan from the start of a text to its end. Each step examines a bounded number of bytes, or continues
/// behind what it has examined, so the time grows with the length.
struct Cutter<'a> {
    text: &'a str,
    found: Vec<&'a str>,
    /// Where the current sentence starts.
    start: usize,
    /// Where its text starts: after the marks of quoted mail.
    body: usize,
    /// What the current line is.
    line: Line,
    /// The code that was open before the current line.
    code: Option<Code>,
    state: State,
}

impl<'a> Cutter<'a> {
    fn new(text: &'a str, state: State) -> Self {
        Self { text, found: Vec::new(), start: 0, body: 0, line: Line::Text, code: state.code, state }
    }

    /// The state at the start of the current sentence.
    fn state(&self) -> State {
        let before = &self.text[..self.start];
        let blanks = &before[before.trim_end_matches(is_blank).len()..];
        let is_within_line = if self.found.is_empty() { self.state.line.is_some() } else { !blanks.contains('\n') };
        let quote = self.state.quote.and_then(|quote| quote.checked_sub(self.start));
        let is_indented = self.state.code.is_some_and(|code| !code.is_fenced());
        let code = if is_within_line || is_indented { self.state.code } else { self.code };
        State { quote, line: is_within_line.then_some(self.line), code, ..self.state }
    }

    /// Scans the text until a sentence starts at or after an offset.
    fn cut(&mut self, until: usize) {
        let bytes = self.text.as_bytes();
        let blanks = self.first_blanks();
        (self.start, self.body) = (blanks.end, blanks.end);
        let mut at = match self.state.line {
            Some(line) => {
                self.line = line;
                self.start
            }
            None => {
                self.leave_fence(&blanks);
                self.open_line(&blanks, self.next_line(&blanks, true))
            }
        };
        while let Some(&byte) = bytes.get(at).filter(|_| self.start < until) {
            at = match CLASSES[usize::from(byte)] {
                Class::Plain => at + 1,
                Class::Stop => self.stop(at),
                Class::Wide => self.wide(at),
                Class::LineEnd => {
                    let blanks = self.blanks(at);
                    self.end_line(at, &blanks).unwrap_or(blanks.text)
                }
                Class::Quote => {
                    self.straight_quote(at);
                    at + 1
                }
                Class::Code => self.code(at),
            };
        }
    }

    /// Ends the sentence; the next one starts at `next`.
    fn end_sentence(&mut self, end: usize, next: usize) {
        let sentence = self.text[self.start..end].trim();
        if !sentence.is_empty() {
            items::push(sentence, &mut self.found);
            self.state.was_question = sentence.ends_with('?');
            self.state.in_line_list = items::is_item(sentence);
        }
        (self.start, self.body) = (next, next);
    }

    /// Skips code in backticks, if it ends on its line. A backtick after a blank opens a quotation (`` `Yes.' ``).
    fn code(&self, at: usize) -> usize {
        /// Longer code is text.
        const LONGEST: usize = 200;
        let bytes = &self.text.as_bytes()[at + 1..];
        let inside = &bytes[..bytes.len().min(LONGEST)];
        match memchr::memchr2(b'`', b'\n', inside) {
            Some(length) if inside[length] == b'`' && !inside[..length].ends_with(b" ") => at + length + 2,
            _ => at + 1,
        }
    }

    /// Opens or closes a quotation at a straight quote. If the text does not say which, it does the opposite of the
    /// last.
    fn straight_quote(&mut self, at: usize) {
        let opened = Some(at + LONGEST_QUOTATION);
        self.state.quote = match quote(self.text, self.start, at) {
            Quote::Opens => opened,
            Quote::Closes => None,
            Quote::Unknown if self.is_quoted(at) => None,
            Quote::Unknown => opened,
        };
    }

    /// Whether a quotation is open. One that was opened long before is an unpaired mark.
    fn is_quoted(&self, at: usize) -> bool {
        self.state.quote.is_some_and(|from| at < from)
    }

    /// Whether a straight quote after a mark and a blank closes a quotation.
    fn closes(&self, at: usize) -> bool {
        self.text[at..].starts_with('"')
            && match quote(self.text, self.start, at) {
                Quote::Opens => false,
                Quote::Closes => true,
                Quote::Unknown => self.is_quoted(at),
            }
    }

    /// A character of several bytes.
    fn wide(&mut self, at: usize) -> usize {
        match self.text[at..].chars().next() {
            Some(c) if stop(c).is_some() => self.stop(at),
            Some('\u{2028}' | '\u{2029}') => self.separator(at),
            Some('＂') => {
                self.state.quote = if self.is_quoted(at) { None } else { Some(at + LONGEST_QUOTATION) };
                at + '＂'.len_utf8()
            }
            Some(c) => at + c.len_utf8(),
            None => at + 1,
        }
    }

    /// Ends the sentence at a Unicode separator of lines or paragraphs, except before a lower-case letter.
    fn separator(&mut self, at: usize) -> usize {
        let blanks = self.blanks(at);
        if blanks.ends_line {
            return self.end_line(at, &blanks).unwrap_or(blanks.text);
        }
        if !self.text[blanks.end..].starts_with(char::is_lowercase) {
            self.end_sentence(at, blanks.end);
        }
        blanks.end
    }

    /// Ends the sentence at a mark, or continues it, and returns where the scan continues.
    fn stop(&mut self, at: usize) -> usize {
        let mut tail = Tail::new(self.text, at, self.is_quoted(at));
        if tail.has_quote {
            self.state.quote = None;
        }
        if tail.end == self.text.len() {
            return tail.end;
        }
        let mut blanks = self.blanks(tail.end);
        if blanks.end == tail.end {
            return self.stop_without_blank(&tail, at);
        }
        loop {
            if blanks.ends_line {
                if let Some(next) = self.end_line(tail.end, &blanks) {
                    return next;
                }
                break;
            }
            let Some(end) = tail.spaced(self.text, blanks.end, self.closes(blanks.end)) else { break };
            if self.text[blanks.end..].starts_with('"') {
                self.state.quote = None;
            }
            tail.end = end;
            blanks = self.blanks(end);
        }
        let following = Following::new(&self.text[blanks.text..]);
        if let Some(item) = items::next_item(&self.text[self.body..at], &following, self.state.in_line_list) {
            let item = self.body + item;
            self.end_sentence(item, item);
            return blanks.text;
        }
        if self.ends(&tail, &following) {
            self.end_sentence(tail.end, blanks.end);
            // A sentence at the start of a line may be an item.
            if blanks.ends_line {
                return self.open_line(&blanks, self.line_of(&blanks));
            }
        }
        blanks.text
    }

    /// Ends the sentence at a mark that no blank follows, or continues it.
    fn stop_without_blank(&mut self, tail: &Tail, at: usize) -> usize {
        let Some(end) = tail.end_without_blank(&self.text[self.body..at], self.text) else { return tail.end };
        let blanks = self.blanks(end);
        if !blanks.ends_line {
            self.end_sentence(end, blanks.end);
            return blanks.end;
        }
        self.end_sentence(end, end);
        if let Some(next) = self.end_line(end, &blanks) {
            return next;
        }
        (self.start, self.body) = (blanks.end, blanks.end);
        self.open_line(&blanks, self.line_of(&blanks))
    }

    /// Whether the sentence ends at a mark with a blank after it.
    fn ends(&self, tail: &Tail, following: &Following<'_>) -> bool {
        let before = &self.text[self.body..tail.start];
        // In text with separated tokens a mark always ends a sentence.
        let is_apart = tail.is_single && tail.kind != Stop::Ellipsis && before.ends_with(char::is_whitespace);
        if is_apart && before.trim_end().chars().next_back().is_some_and(|c| stop(c).is_none()) {
            return !(tail.has_quote && following.is_speech_tag());
        }
        let is_full_stop = tail.kind == Stop::Period && tail.is_single;
        match following.beginning {
            Beginning::Continuation => return false,
            Beginning::Lower => {
                let is_remark = || following.starts_with('(') && is_full_stop && full_stop::is_word(before);
                return is_remark()
                    || following.is_enumerator() && full_stop::begins_with_enumerator(before)
                    || is_without_capitals(before, tail, following);
            }
            _ => {}
        }
        // A mark alone begins a sentence ("...And then").
        if before.len() < N_OPENING && before.trim_start_matches(is_opening).is_empty() {
            return false;
        }
        match tail.kind {
            Stop::Period if tail.is_single => !full_stop::continues(before, following, self.state.was_question),
            Stop::Unspaced => true,
            Stop::Period | Stop::Ellipsis => {
                !(repeats(before, following.word) || tail.has_quote && following.is_speech_tag())
            }
            Stop::Strong => !(tail.has_quote && following.is_speech_tag()),
        }
    }
}

/// Whether a sentence has no capital, as in text in lower case, and its last word is no abbreviation. Then it ends
/// before a lower-case letter, too.
fn is_without_capitals(before: &str, tail: &Tail, following: &Following<'_>) -> bool {
    let is_end = match tail.kind {
        Stop::Period if tail.is_single => full_stop::is_word(before),
        Stop::Strong => before.ends_with(char::is_alphanumeric),
        _ => false,
    };
    is_end && !(tail.has_quote && following.is_speech_tag()) && !before.contains(char::is_uppercase)
}

/// Whether a speaker repeats the last word after an ellipsis ("I... I know").
fn repeats(before: &str, word: &str) -> bool {
    let last = before.rsplit(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    !word.is_empty() && last.eq_ignore_ascii_case(word)
}
