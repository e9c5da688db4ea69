//! A drawing of the report with its heading.

use crate::plot::curve;

/// A drawing with its heading.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Drawing {
    /// What it shows.
    pub(crate) title: String,
    /// How to read it.
    pub(crate) about: String,
    pub(crate) svg: String,
}

impl Drawing {
    pub(super) fn new(title: impl Into<String>, about: impl Into<String>, svg: String) -> Self {
        Self { title: title.into(), about: about.into(), svg }
    }
}

/// The range of values; `None` without one.
pub(super) fn range(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    let mut values = values.filter(|value| value.is_finite()).peekable();
    values.peek().is_some().then_some(())?;
    Some(curve::range(values))
}
