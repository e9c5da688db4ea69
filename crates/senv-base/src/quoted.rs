//! Words of a user in messages.

use std::fmt::{self, Write};

/// A text in quotes, as messages show it: every character as it is, but control characters, which are escaped.
///
/// `{:?}` would escape the marks of Thai and of other scripts, too.
///
/// ```
/// use senv_core::quoted;
/// assert_eq!(quoted("กรุงเทพฯ มี").to_string(), "\"กรุงเทพฯ มี\"");
/// assert_eq!(quoted("a\tb\n").to_string(), r#""a\tb\n""#);
/// ```
pub fn quoted<T: AsRef<str>>(text: T) -> Quoted<T> {
    Quoted(text)
}

/// A text that is shown in quotes ([`quoted`]).
#[derive(Debug, Clone, Copy)]
pub struct Quoted<T>(T);

impl<T: AsRef<str>> fmt::Display for Quoted<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('"')?;
        for c in self.0.as_ref().chars() {
            if c.is_control() {
                write!(f, "{}", c.escape_debug())?;
            } else {
                f.write_char(c)?;
            }
        }
        f.write_char('"')
    }
}
