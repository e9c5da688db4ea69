//! Failures of adding sentences, in terms of the input.

use std::path::Path;

use senv::collection::CollectionText;

use crate::failure::Failure;

/// The failure of adding sentences, with line numbers in place of the library's row numbers, with the file of vectors,
/// and with the option that names columns.
pub(super) fn with_lines(failure: Failure, text: &CollectionText, folder: &Path) -> Failure {
    let Failure::Failed(error) = &failure else { return failure };
    let of_index = match error.downcast_ref::<senv::Error>() {
        Some(senv::Error::Index(error)) => Some(error),
        _ => error.downcast_ref::<senv_index::Error>(),
    };
    if let Some(error @ senv_index::Error::WrongColumns { expected, .. }) = of_index {
        let remedy = if expected.is_empty() { "leave the others out" } else { "name each with --column NAME=N" };
        return Failure::Usage(format!("{}: {error}; {remedy}", folder.display()));
    }
    let explained = |error| text.repeated_id(error).or_else(|| text.of_other_dim(error));
    of_index.and_then(explained).map_or(failure, Failure::from)
}
