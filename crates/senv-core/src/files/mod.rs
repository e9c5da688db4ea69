//! Files: the model file, checkpoints, the collection of a web page, atomic replacement, locks.

pub(crate) mod model_file;
pub(crate) mod web_collection;

pub use crate::base::shared_bytes::SharedBytes;
pub use crate::base::stored::StoredList;
#[cfg(feature = "write")]
pub use crate::base::stored::StoredListWriter;
#[cfg(feature = "write")]
pub use crate::saving::atomic_file::AtomicFile;
#[cfg(feature = "write")]
pub use crate::saving::file_lock::FileLock;
#[cfg(feature = "write")]
pub use crate::saving::unfinished::{Unfinished, remove_unfinished_files};
pub use model_file::{FORMAT_VERSION, RawTensor, Verification};
pub use web_collection::{WebCollection, WebQuery};
#[cfg(feature = "write")]
pub use web_collection::{WebCollectionWriter, WebSentence};
