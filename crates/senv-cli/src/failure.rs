//! How a command ends when it does not succeed.

use std::{error::Error, io};

/// Exit code for work that is done but may not survive a power cut, or cannot be opened: it must not be repeated.
pub(crate) const DONE_IN_DOUBT: u8 = 3;

/// The result of a command.
pub(crate) type Result<T = ()> = std::result::Result<T, Failure>;

/// Why a command did not succeed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The arguments are wrong or contradict each other.
    Usage(String),
    /// The same, with the commands that the user can choose from.
    Choice { message: String, commands: [String; 2] },
    /// Something failed; the message names a remedy if there is one.
    Failed(Box<dyn Error + Send + Sync>),
    /// The work is done and must not be repeated, but a later step failed; the message says which.
    Done(String),
    /// Stopped by a signal; the message has been printed.
    Interrupted,
    /// The reader of the results has closed the pipe, as `head` does.
    ReaderGone,
}

impl Failure {
    /// A failure of writing to standard output.
    pub(crate) fn stdout(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::ReaderGone,
            _ => senv_core::Error::io("write to", "standard output", error).into(),
        }
    }
}

impl<E: Error + Send + Sync + 'static> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::Failed(Box::new(error))
    }
}
