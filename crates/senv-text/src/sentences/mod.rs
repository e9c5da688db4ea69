//! Splits paragraphs into sentences.

mod following;
mod full_stop;
mod lines;
mod marks;
mod quotation;
mod tail;
#[cfg(test)]
mod tests;
mod words;

use following::{Beginning, Following};
use lines::{Line, first_line, interrupts, line};
use marks::{CLASSES, Class, Stop, is_blank, is_opening, stop};
use quotation::{Quote, quote};
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
/// code as in Markdown are sentences of their own.
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
    (cutter.found, State { code: cutter.state.code, ..State::default() })
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
    /// The marks that close the code that was opened in the paragraph or before it.
    code: Option<&'static str>,
    /// Whether the last sentence is a question.
    was_question: bool,
}

/// A quotation of more bytes is an unpaired mark.
const LONGEST_QUOTATION: usize = 2000;
/// More opening signs in bytes than this are text.
const N_OPENING: usize = 16;

/// White space, and what it contains.
struct Blanks {
    end: usize,
    /// Whether it has a line end.
    ends_line: bool,
    /// Whether it has an empty line.
    ends_paragraph: bool,
}

/// The state of a scan from the start of a text to its end. Each step examines a bounded number of bytes, or continues
/// behind what it has examined, so the time grows with the length.
struct Cutter<'a> {
    text: &'a str,
    found: Vec<&'a str>,
    /// Where the current sentence starts.
    start: usize,
    /// What the current line is.
    line: Line,
    /// The code that was open before the current line.
    code: Option<&'static str>,
    state: State,
}

impl<'a> Cutter<'a> {
    fn new(text: &'a str, state: State) -> Self {
        Self { text, found: Vec::new(), start: 0, line: Line::Text, code: state.code, state }
    }

    /// The state at the start of the current sentence.
    fn state(&self) -> State {
        let before = &self.text[..self.start];
        let blanks = &before[before.trim_end_matches(is_blank).len()..];
        let is_within_line = if self.found.is_empty() { self.state.line.is_some() } else { !blanks.contains('\n') };
        let quote = self.state.quote.and_then(|quote| quote.checked_sub(self.start));
        let code = if is_within_line { self.state.code } else { self.code };
        State { quote, line: is_within_line.then_some(self.line), code, ..self.state }
    }

    /// Scans the text until a sentence starts at or after an offset.
    fn cut(&mut self, until: usize) {
        let bytes = self.text.as_bytes();
        self.start = self.blanks(0).end;
        let mut at = match self.state.line {
            Some(line) => {
                self.line = line;
                self.start
            }
            None => self.open_line(self.start),
        };
        while let Some(&byte) = bytes.get(at).filter(|_| self.start < until) {
            at = match CLASSES[usize::from(byte)] {
                Class::Plain => at + 1,
                Class::Stop => self.stop(at),
                Class::Wide => self.wide(at),
                Class::LineEnd => {
                    let blanks = self.blanks(at);
                    self.end_line(at, &blanks).unwrap_or(blanks.end)
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
            self.found.push(sentence);
            self.state.was_question = sentence.ends_with('?');
        }
        self.start = next;
    }

    /// The white space from an offset on.
    fn blanks(&self, from: usize) -> Blanks {
        let rest = &self.text[from..];
        let end = from + rest.find(|c| !is_blank(c)).unwrap_or(rest.len());
        let mut line_ends = memchr::memchr_iter(b'\n', &self.text.as_bytes()[from..end]);
        let ends_line = line_ends.next().is_some();
        Blanks { end, ends_line, ends_paragraph: line_ends.next().is_some() }
    }

    /// Ends a line before `blanks`, and the sentence if the paragraph ends or the next line begins one in any case.
    /// Then returns where the scan continues.
    fn end_line(&mut self, end: usize, blanks: &Blanks) -> Option<usize> {
        let rest = &self.text[blanks.end..];
        let was_whole = matches!(self.line, Line::Whole | Line::Underline | Line::Fence);
        let last = self.text[self.start.min(end)..end].trim_end();
        if blanks.ends_paragraph || was_whole || interrupts(self.line_of(rest), rest, last, self.state.in_list) {
            self.end_sentence(end, blanks.end);
            if blanks.ends_paragraph {
                self.state = State { code: self.state.code, ..State::default() };
            }
            return Some(self.open_line(blanks.end));
        }
        // A line within a sentence is text, unless it underlines a heading.
        self.line = Line::Text;
        match self.line_of(rest) {
            Line::Underline => Some(self.open_line(blanks.end)),
            _ => None,
        }
    }

    /// Begins a line at its first character, and returns where the scan continues.
    fn open_line(&mut self, at: usize) -> usize {
        let rest = &self.text[at..];
        self.line = self.line_of(rest);
        self.code = self.state.code;
        match self.line {
            Line::Text => at,
            Line::Item(length) => {
                self.state.in_list = true;
                at + length
            }
            Line::Whole | Line::Underline => at + first_line(rest).len(),
            Line::Fence => {
                let mark = if rest.starts_with('`') { "```" } else { "~~~" };
                self.state.code = if self.state.code.is_some() { None } else { Some(mark) };
                at + first_line(rest).len()
            }
        }
    }

    /// What the line at the start of a text is. Within code it is code, unless it closes it.
    fn line_of(&self, text: &str) -> Line {
        match self.state.code {
            Some(mark) if text.starts_with(mark) => Line::Fence,
            Some(_) => Line::Whole,
            None => line(text),
        }
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
            Some(c) => at + c.len_utf8(),
            None => at + 1,
        }
    }

    /// Ends the sentence at a Unicode separator of lines or paragraphs, except before a lower-case letter.
    fn separator(&mut self, at: usize) -> usize {
        let blanks = self.blanks(at);
        if blanks.ends_line {
            return self.end_line(at, &blanks).unwrap_or(blanks.end);
        }
        if !self.text[blanks.end..].starts_with(char::is_lowercase) {
            self.end_sentence(at, blanks.end);
        }
        blanks.end
    }

    /// Ends the sentence at a mark, or continues it, and returns where the scan continues.
    fn stop(&mut self, at: usize) -> usize {
        let mut tail = Tail::new(self.text, at);
        if tail.has_quote {
            self.state.quote = None;
        }
        if tail.end == self.text.len() {
            return tail.end;
        }
        let blanks = self.blanks(tail.end);
        if blanks.end == tail.end {
            if let Some(end) = tail.end_without_blank(&self.text[self.start..at], self.text) {
                let blanks = self.blanks(end);
                if blanks.ends_line {
                    self.end_sentence(end, end);
                    let next = self.end_line(end, &blanks);
                    self.start = blanks.end;
                    return next.unwrap_or_else(|| self.open_line(blanks.end));
                }
                self.end_sentence(end, blanks.end);
                return blanks.end;
            }
            return tail.end;
        }
        let (mut next, mut ends_line) = (blanks.end, blanks.ends_line);
        if ends_line {
            if let Some(next) = self.end_line(tail.end, &blanks) {
                return next;
            }
        } else {
            while let Some(end) = tail.spaced(self.text, next, self.closes(next)) {
                if self.text[next..].starts_with('"') {
                    self.state.quote = None;
                }
                tail.end = end;
                let blanks = self.blanks(end);
                (next, ends_line) = (blanks.end, blanks.ends_line);
                if ends_line {
                    if let Some(next) = self.end_line(tail.end, &blanks) {
                        return next;
                    }
                    break;
                }
            }
        }
        let following = Following::new(&self.text[next..]);
        if let Some(item) = full_stop::next_item(&self.text[self.start..at], &following) {
            let item = self.start + item;
            self.end_sentence(item, item);
            return next;
        }
        if self.ends(&tail, &following) {
            self.end_sentence(tail.end, next);
            // A sentence at the start of a line may be an item.
            if ends_line {
                return self.open_line(next);
            }
        }
        next
    }

    /// Whether the sentence ends at a mark with a blank after it.
    fn ends(&self, tail: &Tail, following: &Following<'_>) -> bool {
        let before = &self.text[self.start..tail.start];
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
