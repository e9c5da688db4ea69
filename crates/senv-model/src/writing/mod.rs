//! Writes files without losing data: atomic replacement, locks, the model file, the collection of a web page.

mod atomic_file;
mod file_lock;
mod model_writer;
mod static_writer;
mod temporary;
mod unfinished;
mod web_writer;

pub use atomic_file::{AtomicFile, remove_leftovers_of, sync_folder};
pub use file_lock::FileLock;
pub use model_writer::{Destination, ModelWriter};
pub use unfinished::{LastStep, Unfinished, remove_unfinished_files, remove_unfinished_unless_done};
pub use web_writer::{WebCollectionWriter, WebId, WebSentence};
