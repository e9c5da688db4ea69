//! The name that stands for the English model in the place of a path.

use std::path::Path;

/// The name of the model, wherever a path of a model is asked for.
const NAME: &str = "english";

/// Whether a path is the name of the English model ([`english`](crate::english())), which every way of opening a model
/// takes for that model. A file of this name in the working folder is `./english`.
///
/// ```
/// assert!(senv::is_english("english") && !senv::is_english("./english"));
/// ```
#[must_use]
pub fn is_english(path: impl AsRef<Path>) -> bool {
    path.as_ref().as_os_str() == NAME
}
