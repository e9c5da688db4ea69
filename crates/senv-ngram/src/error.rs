//! Errors for invalid n-gram parameters.

use senv_core::Remedy;

/// The result of a fallible operation of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of the n-gram crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The order of word n-grams is out of range.
    #[error("the highest word n-gram order must be from 1 to {highest}, got {got}; 1 means words only, 2 adds bigrams")]
    InvalidOrder {
        /// The order given.
        got: usize,
        /// The highest order allowed.
        highest: usize,
    },
    /// The range of character n-gram lengths is empty.
    #[error(
        "the shortest character n-gram ({min_n}) must not be longer than the longest ({max_n}); 0 and 0 turn them off"
    )]
    InvalidRange {
        /// The shortest length given.
        min_n: usize,
        /// The longest length given.
        max_n: usize,
    },
    /// N-grams were requested, but the number of buckets is invalid.
    #[error("n-grams need from 1 to 2^32 - 1 {}, got {got}; 2000000 is usual", Remedy::Buckets)]
    InvalidBuckets {
        /// The number given.
        got: u64,
    },
    /// Tokens and buckets together need more rows than a row index can address.
    #[error(
        "{first_row} leading rows, {n_tokens} tokens and {n_buckets} buckets exceed 2^32 rows; use fewer {} or a \
        higher minimum count",
        Remedy::Buckets
    )]
    TooManyRows {
        /// Rows before the first token.
        first_row: u32,
        /// Size of the vocabulary.
        n_tokens: usize,
        /// Number of buckets.
        n_buckets: u32,
    },
    /// An error of the core.
    #[error(transparent)]
    Core(#[from] senv_core::Error),
}

impl Error {
    /// The core error in this error, if there is one.
    #[must_use]
    pub fn core(&self) -> Option<&senv_core::Error> {
        if let Self::Core(error) = self { Some(error) } else { None }
    }

    /// The settings that could help, if any.
    #[must_use]
    pub fn remedies(&self) -> &[Remedy] {
        match self {
            Self::InvalidBuckets { .. } | Self::TooManyRows { .. } => &[Remedy::Buckets],
            Self::Core(error) => error.remedies(),
            Self::InvalidOrder { .. } | Self::InvalidRange { .. } => &[],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_name_their_remedies() {
        let error = Error::InvalidBuckets { got: 0 };
        assert_eq!(error.to_string(), "n-grams need from 1 to 2^32 - 1 buckets, got 0; 2000000 is usual");
        assert_eq!(error.remedies(), [Remedy::Buckets]);
        let error = Error::TooManyRows { first_row: 1, n_tokens: 2, n_buckets: 3 };
        let message =
            "1 leading rows, 2 tokens and 3 buckets exceed 2^32 rows; use fewer buckets or a higher minimum count";
        assert_eq!(error.to_string(), message);
        assert_eq!(error.remedies(), [Remedy::Buckets]);
    }
}
