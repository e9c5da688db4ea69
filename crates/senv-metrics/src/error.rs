//! Errors: lists that cannot be paired, values that are not finite, classes and items that do not exist.

/// The result of a fallible operation of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of the metrics crate.
///
/// Input that is well formed but leaves a metric without a value (constant scores, a single pair) is not an error.
/// The metric is then `None`.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Two paired lists differ in length.
    #[error("{metric}: {first} values cannot be paired with {second}; give both lists the same length")]
    LengthMismatch {
        /// The metric.
        metric: &'static str,
        /// Length of the first list.
        first: usize,
        /// Length of the second list.
        second: usize,
    },
    /// A value is NaN, or infinite where that has no meaning.
    #[error("{metric}: value {position} (counted from 0) of the {list} is {value}, expected {requirement}")]
    BadValue {
        /// The metric.
        metric: &'static str,
        /// Which list: `first list`, `second list`, `weights`, ...
        list: &'static str,
        /// Index in that list, counted from 0.
        position: usize,
        /// The value as given.
        value: f64,
        /// The requirement for values.
        requirement: &'static str,
    },
    /// A class does not exist.
    #[error(
        "{metric}: item {position} (counted from 0) of the {list} has class {class}, expected one of {n_classes} classes numbered from \
        0"
    )]
    BadClass {
        /// The metric.
        metric: &'static str,
        /// Which list: `gold classes`, `predicted classes`.
        list: &'static str,
        /// Index in that list, counted from 0.
        position: usize,
        /// The class as given.
        class: usize,
        /// The number of classes.
        n_classes: usize,
    },
    /// An item does not exist.
    #[error("{metric}: the {list} include item {item}, expected one of {n} items numbered from 0")]
    NoSuchItem {
        /// The metric.
        metric: &'static str,
        /// Which list: `relevant candidates`, `excluded candidates`.
        list: &'static str,
        /// The item as given.
        item: usize,
        /// The number of items.
        n: usize,
    },
}

/// Checks that both lists have the same length and only finite values.
pub(crate) fn check_pairs(metric: &'static str, x: &[f64], y: &[f64]) -> Result<()> {
    check_lengths(metric, x, y)?;
    check_finite(metric, "first list", x)?;
    check_finite(metric, "second list", y)
}

pub(crate) fn check_lengths(metric: &'static str, x: &[f64], y: &[f64]) -> Result<()> {
    check_lengths_of(metric, x.len(), y.len())
}

pub(crate) fn check_lengths_of(metric: &'static str, first: usize, second: usize) -> Result<()> {
    if first != second {
        return Err(Error::LengthMismatch { metric, first, second });
    }
    Ok(())
}

pub(crate) fn check_finite(metric: &'static str, list: &'static str, values: &[f64]) -> Result<()> {
    check(metric, list, values, "finite numbers", f64::is_finite)
}

pub(crate) fn check(
    metric: &'static str,
    list: &'static str,
    values: &[f64],
    requirement: &'static str,
    good: impl Fn(f64) -> bool,
) -> Result<()> {
    match values.iter().position(|&value| !good(value)) {
        None => Ok(()),
        Some(position) => Err(Error::BadValue { metric, list, position, value: values[position], requirement }),
    }
}
