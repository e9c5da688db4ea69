//! The marks `>` before the lines of quoted mail.

/// How often a line is quoted, up to `deepest`, and the length of its marks with a blank after each: `> > `. Within a
/// line they are text.
pub(super) fn marks(line: &str, deepest: usize) -> Option<(usize, usize)> {
    let bytes = line.as_bytes();
    let (mut depth, mut length) = (0, 0);
    while depth < deepest && bytes.get(length) == Some(&b'>') {
        depth += 1;
        length += 1 + usize::from(bytes.get(length + 1) == Some(&b' '));
    }
    // Faces and signs of comparison (">:(", ">=") are text.
    let is_text =
        bytes[..length].ends_with(b">") && matches!(bytes.get(length), Some(b':' | b'=' | b'.' | b'<' | b'_' | b')'));
    (depth > 0 && !is_text).then_some((depth, length))
}

/// A line without the marks of quoted mail, and without the blanks before the text.
pub(crate) fn without_marks(line: &str) -> &str {
    let text = line.trim_start_matches([' ', '\t']);
    marks(text, usize::MAX).map_or(line, |(_, length)| text[length..].trim_start_matches([' ', '\t']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_counted_at_the_start_of_a_line() {
        for (line, expected) in [
            ("> a", Some((1, 2))),
            (">a", Some((1, 1))),
            ("> > a", Some((2, 4))),
            (">> a", Some((2, 3))),
            (">", Some((1, 1))),
            (">> > a > b", Some((3, 5))),
            (">     a", Some((1, 2))),
            (">:(", None),
            (">= 5", None),
            ("a > b", None),
            ("", None),
        ] {
            assert_eq!(marks(line, usize::MAX), expected, "{line:?}");
        }
        assert_eq!(marks("> > a", 1), Some((1, 2)));
        assert_eq!(marks("> a", 0), None);
        assert_eq!(without_marks(" > > a > b"), "a > b");
        assert_eq!(without_marks("  a"), "  a");
    }
}
