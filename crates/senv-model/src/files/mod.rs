//! Files that are read: the model file and the collection of a web page.

pub(crate) mod model_file;
mod same_file;
pub(crate) mod web_collection;
pub use model_file::{FORMAT_VERSION, RawTensor, Verification};
pub use same_file::is_same_file;
pub use senv_base::SharedBytes;
pub use web_collection::{WebCollection, WebQuery};
