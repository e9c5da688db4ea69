//! STS and relatedness: scores of pairs against gold scores.

pub(crate) mod error_analysis;
pub(crate) mod intervals;
pub(crate) mod protocol;
pub(crate) mod relatedness;
pub(crate) mod relatedness_report;
pub(crate) mod report;
pub(crate) mod result;
pub(crate) mod significance;
