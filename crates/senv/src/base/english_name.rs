//! The name of the English model, used instead of a path.

use std::path::Path;

/// The name of the model, accepted wherever a model path is.
const NAME: &str = "english";

/// Whether a path is the name of the English model ([`english`](crate::english())). Everything that opens a model
/// accepts this name. A file with this name in the working folder is `./english`.
///
/// ```
/// assert!(senv::is_english("english") && !senv::is_english("./english"));
/// ```
#[must_use]
pub fn is_english(path: impl AsRef<Path>) -> bool {
    path.as_ref().as_os_str() == NAME
}
