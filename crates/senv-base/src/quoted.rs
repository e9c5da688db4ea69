//! Quoted user text in messages.

use std::fmt::{self, Write};

/// Quotes a text for a message. Control characters are escaped; all others stay unchanged.
///
/// `{:?}` would also escape marks of Thai and other scripts.
///
/// ```
/// use senv_core::quoted;
/// assert_eq!(quoted("กรุงเทพฯ มี").to_string(), "\"กรุงเทพฯ มี\"");
/// assert_eq!(quoted("a\tb\n").to_string(), r#""a\tb\n""#);
/// ```
pub fn quoted<T: AsRef<str>>(text: T) -> Quoted<T> {
    Quoted(text)
}

/// A text that is displayed in quotes ([`quoted`]).
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
