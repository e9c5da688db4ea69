//! Errors of the losses: batches that do not match, and values out of range.

/// The result of a fallible operation of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of the losses.
///
/// A vector with NaN is not an error here. The loss is then NaN, and the training loop stops.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is nothing to average over.
    #[error("the batch is empty; a loss needs at least one example")]
    EmptyBatch,
    /// An example has no positive.
    #[error("example {example} has no positive; give every sentence at least one")]
    NoPositive {
        /// Its index in the batch, counted from 0.
        example: usize,
    },
    /// A relatedness score is outside the scale of its data set, or not a number.
    #[error(
        "the score {score} is outside the scale from {low} to {high}; rescale it, or choose the grid of its scale \
        (--grid, such as 0-5)"
    )]
    ScoreOutOfRange {
        /// The score as given.
        score: f64,
        /// The lowest score of the scale.
        low: f64,
        /// The highest score of the scale.
        high: f64,
    },
    /// A target is not in the vocabulary, or is not a label.
    #[error(
        "the target {target} of example {example} is out of range: there are {n_targets} targets; the text may have \
        been read with another vocabulary"
    )]
    TargetOutOfRange {
        /// Its index in the batch, counted from 0.
        example: usize,
        /// The target as given.
        target: u32,
        /// Words of the vocabulary, or labels.
        n_targets: usize,
    },
    /// One example of a batch is invalid.
    #[error("example {example}: {error}")]
    Example {
        /// Its index in the batch, counted from 0.
        example: usize,
        /// What is wrong with it.
        error: Box<Error>,
    },
    /// Shapes that do not fit, or a parameter outside its range.
    #[error(transparent)]
    Core(#[from] senv_core::Error),
}

impl Error {
    /// The core error in this error, or in one of its examples, if there is one.
    #[must_use]
    pub fn core(&self) -> Option<&senv_core::Error> {
        match self {
            Self::Core(error) => Some(error),
            Self::Example { error, .. } => error.core(),
            _ => None,
        }
    }
}

/// Returns an error unless two sizes agree.
pub(crate) fn check_size(what: &'static str, expected: usize, got: usize) -> Result<()> {
    if expected == got { Ok(()) } else { Err(senv_core::Error::ShapeMismatch { what, expected, got }.into()) }
}

/// Returns an error for a parameter out of range; `good` must be false for NaN.
pub(crate) fn check_range(name: &'static str, requirement: &'static str, value: f64, good: bool) -> Result<()> {
    if good {
        return Ok(());
    }
    Err(senv_core::Error::InvalidParameter { name, requirement, got: value.to_string() }.into())
}
