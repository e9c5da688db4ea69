//! Errors of functions: each names the function and the argument.

use std::fmt::Display;

use datafusion::error::DataFusionError;

/// An argument that a function cannot take, found while a query is planned.
pub(crate) fn plan(function: &str, argument: &str, reason: impl Display) -> DataFusionError {
    DataFusionError::Plan(message(function, argument, reason))
}

/// A value of an argument that a function cannot take, found while a query runs.
pub(crate) fn execution(function: &str, argument: &str, reason: impl Display) -> DataFusionError {
    DataFusionError::Execution(message(function, argument, reason))
}

fn message(function: &str, argument: &str, reason: impl Display) -> String {
    format!("{function}: argument {argument}: {reason}")
}

/// An error of senv as one of DataFusion.
pub(crate) fn external(error: impl std::error::Error + Send + Sync + 'static) -> DataFusionError {
    DataFusionError::External(Box::new(error))
}
