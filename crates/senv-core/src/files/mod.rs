//! Files: the model file, checkpoints, the collection of a web page, atomic replacement, locks.

#[cfg(feature = "write")]
pub(crate) mod atomic_file;
#[cfg(feature = "train")]
pub mod checkpoint;
#[cfg(feature = "write")]
pub(crate) mod file_lock;
pub(crate) mod model_file;
#[cfg(feature = "write")]
pub(crate) mod unfinished;
pub(crate) mod web_collection;

pub use crate::base::shared_bytes::SharedBytes;
pub use crate::base::stored::StoredList;
#[cfg(feature = "write")]
pub use crate::base::stored::StoredListWriter;
#[cfg(feature = "write")]
pub use atomic_file::AtomicFile;
#[cfg(feature = "write")]
pub use file_lock::FileLock;
pub use model_file::{FORMAT_VERSION, RawTensor, Verification};
#[cfg(feature = "write")]
pub use unfinished::{Unfinished, remove_unfinished_files};
pub use web_collection::{WebCollection, WebQuery};
#[cfg(feature = "write")]
pub use web_collection::{WebCollectionWriter, WebSentence};
