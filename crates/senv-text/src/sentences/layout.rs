//! Where lines end, and what the next line does to the sentence before it.

use super::{
    Cutter,
    code::{self, Code},
    lines::{Line, first_line, interrupts, is_underline, line},
    marks::is_blank,
    quoted::marks,
};

/// White space, with the empty lines of quoted mail.
pub(super) struct Blanks {
    /// Where the next word starts, or the marks of quoted mail before it.
    pub(super) end: usize,
    /// Where the next word starts.
    pub(super) text: usize,
    /// Whether it has a line end.
    pub(super) ends_line: bool,
    /// Whether it has an empty line.
    pub(super) ends_paragraph: bool,
    /// How often the next line is quoted.
    depth: usize,
}

impl Cutter<'_> {
    /// The white space from an offset on.
    pub(super) fn blanks(&self, from: usize) -> Blanks {
        let rest = &self.text[from..];
        let end = from + rest.find(|c| !is_blank(c)).unwrap_or(rest.len());
        let mut line_ends = memchr::memchr_iter(b'\n', &self.text.as_bytes()[from..end]);
        let ends_line = line_ends.next().is_some();
        let ends_paragraph = line_ends.next().is_some();
        let depth = if end == self.text.len() { self.state.depth } else { 0 };
        let blanks = Blanks { end, text: end, ends_line, ends_paragraph, depth };
        let is_marked = ends_line && self.text.as_bytes().get(end) == Some(&b'>');
        if is_marked { self.quoted(blanks) } else { blanks }
    }

    /// The white space at the start of the text.
    pub(super) fn first_blanks(&self) -> Blanks {
        let blanks = self.blanks(0);
        let is_marked = self.state.line.is_none() && self.text[blanks.end..].starts_with('>');
        if is_marked { self.quoted(blanks) } else { blanks }
    }

    /// White space before a line that begins with `>`. Quoted lines without text are part of it.
    #[cold]
    fn quoted(&self, mut blanks: Blanks) -> Blanks {
        // Within code that is not quoted, `>` is code.
        let deepest = self.state.code.filter(Code::is_fenced).map_or(usize::MAX, |code| code.depth);
        loop {
            let rest = &self.text[blanks.end..];
            let Some((depth, length)) = marks(rest, deepest) else {
                (blanks.text, blanks.depth) = (blanks.end, 0);
                return blanks;
            };
            let line = first_line(&rest[length..]);
            let text = line.trim_start_matches([' ', '\t']);
            if !text.trim_end().is_empty() {
                (blanks.text, blanks.depth) = (blanks.end + length + line.len() - text.len(), depth);
                return blanks;
            }
            blanks.ends_paragraph = true;
            let behind = length + line.len();
            blanks.end += behind + rest[behind..].find(|c| !is_blank(c)).unwrap_or(rest.len() - behind);
            if blanks.end == self.text.len() {
                (blanks.text, blanks.depth) = (blanks.end, self.state.depth);
                return blanks;
            }
        }
    }

    /// Ends a line before `blanks`, and the sentence if the paragraph ends or the next line begins one in any case.
    /// Then returns where the scan continues.
    pub(super) fn end_line(&mut self, end: usize, blanks: &Blanks) -> Option<usize> {
        let ends_paragraph = blanks.ends_paragraph || blanks.depth != self.state.depth;
        let was_whole = self.line.is_whole();
        self.leave_code(blanks);
        let last = self.text[self.start.min(end)..end].trim_end();
        let rest = &self.text[blanks.text..];
        let mut kind = self.next_line(blanks, ends_paragraph || last.ends_with(':'));
        let mut title = None;
        if !ends_paragraph && !was_whole && matches!(kind, Line::Fence | Line::Text | Line::Underline) {
            title = title_before(last, rest);
            kind = if title.is_some() { Line::Underline } else { kind };
        }
        if ends_paragraph || was_whole || interrupts(kind, rest, last, self.state.in_list) {
            self.end_sentence(end, blanks.end);
            if ends_paragraph {
                self.state = self.state.after_paragraph();
            }
            return Some(self.open_line(blanks, kind));
        }
        // A line within a sentence is text, unless it underlines a heading.
        self.line = Line::Text;
        if kind != Line::Underline {
            return None;
        }
        if let Some(title) = title.filter(|title| title.len() < last.len()) {
            let heading = self.start + last.len() - title.len();
            self.end_sentence(heading, heading);
        }
        Some(self.open_line(blanks, kind))
    }

    /// Begins a line at its first character, and returns where the scan continues.
    pub(super) fn open_line(&mut self, blanks: &Blanks, kind: Line) -> usize {
        let at = blanks.text;
        if self.start == blanks.end {
            self.body = at;
        }
        let rest = &self.text[at..];
        self.code = self.state.code;
        self.state.depth = blanks.depth;
        self.state.in_line_list = false;
        self.line = kind;
        match kind {
            Line::Text | Line::Header => return at,
            Line::Item(length) => {
                self.state.in_list = true;
                if line(&rest[length..]) != Line::Fence {
                    return at + length;
                }
                self.line = Line::Fence;
                self.state.code = Some(Code::fence(&rest[length..], blanks.depth));
            }
            Line::Whole | Line::Underline => {}
            Line::Code => self.state.code = Some(Code::indented(blanks.depth)),
            Line::Fence if self.state.code.is_some() => self.state.code = None,
            Line::Fence => self.state.code = Some(Code::fence(rest, blanks.depth)),
        }
        at + first_line(rest).len()
    }

    /// Closes code that the next line does not belong to: it is not indented, or quoted less often.
    fn leave_code(&mut self, blanks: &Blanks) {
        self.leave_fence(blanks);
        self.state.code = self.state.code.filter(|code| {
            let is_inside = || blanks.depth == code.depth && !blanks.ends_paragraph;
            code.is_fenced() || is_inside() && code::is_indented(&self.text[..blanks.text])
        });
    }

    /// Closes code between fences before a line that is quoted less often.
    pub(super) fn leave_fence(&mut self, blanks: &Blanks) {
        let is_text = blanks.end < self.text.len();
        self.state.code = self.state.code.filter(|code| !(code.is_fenced() && is_text && blanks.depth < code.depth));
    }

    /// What the next line is. Within code it is code, unless it closes it.
    pub(super) fn line_of(&self, blanks: &Blanks) -> Line {
        let rest = &self.text[blanks.text..];
        match self.state.code {
            Some(code) if !code.is_fenced() => Line::Code,
            Some(code) if code.is_closed_by(first_line(rest)) => Line::Fence,
            Some(_) => Line::Whole,
            None => line(rest),
        }
    }

    /// What the next line is, if indented code may begin there.
    pub(super) fn next_line(&self, blanks: &Blanks, may_begin_code: bool) -> Line {
        let begins_code = || {
            self.state.code.is_none()
                && code::is_indented(&self.text[..blanks.text])
                && code::is_code(first_line(&self.text[blanks.text..]))
        };
        match self.line_of(blanks) {
            Line::Fence => Line::Fence,
            _ if may_begin_code && begins_code() => Line::Code,
            kind => kind,
        }
    }
}

/// The title that the next line underlines, at the end of a text.
fn title_before<'a>(text: &'a str, next: &str) -> Option<&'a str> {
    if !next.starts_with(['=', '-', '~', '^', '"', '+']) {
        return None;
    }
    let title = text.rsplit('\n').next().unwrap_or_default();
    is_underline(title, first_line(next)).then_some(title)
}
