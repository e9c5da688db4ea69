//! Numbers in messages.

/// Formats a number with its digits in groups of three.
///
/// ```
/// assert_eq!(senv_base::counts::grouped(1_234_567), "1,234,567");
/// ```
#[must_use]
pub fn grouped(n: u64) -> String {
    let (rest, last) = (n / 1000, n % 1000);
    if rest == 0 { last.to_string() } else { format!("{},{last:03}", grouped(rest)) }
}

/// Formats a number with its noun in the singular or plural.
///
/// ```
/// assert_eq!(senv_base::counts::plural(1, "word"), "1 word");
/// assert_eq!(senv_base::counts::plural(2_000, "word"), "2,000 words");
/// ```
#[must_use]
pub fn plural(n: u64, what: &str) -> String {
    format!("{} {what}{}", grouped(n), if n == 1 { "" } else { "s" })
}
