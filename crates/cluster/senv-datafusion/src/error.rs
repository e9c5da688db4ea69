//! Errors of functions. Each names the function and the argument.

use std::fmt::Display;

use datafusion::error::DataFusionError;

/// An invalid argument, found when a query is planned.
pub(crate) fn plan(function: &str, argument: &str, reason: impl Display) -> DataFusionError {
    DataFusionError::Plan(message(function, argument, reason))
}

/// An invalid value of an argument, found when a query runs.
pub(crate) fn execution(function: &str, argument: &str, reason: impl Display) -> DataFusionError {
    DataFusionError::Execution(message(function, argument, reason))
}

fn message(function: &str, argument: &str, reason: impl Display) -> String {
    format!("{function}: argument {argument}: {reason}")
}

/// Converts an error of senv to one of DataFusion.
pub(crate) fn external(error: impl std::error::Error + Send + Sync + 'static) -> DataFusionError {
    DataFusionError::External(Box::new(error))
}
