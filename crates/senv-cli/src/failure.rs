//! How a command ends when it does not succeed.

use std::{error::Error, io};

/// Exit code for what is done and may not outlast a power cut, or cannot be opened: nobody should do it again.
pub(crate) const DONE_IN_DOUBT: u8 = 3;

/// The result of a command.
pub(crate) type Result<T = ()> = std::result::Result<T, Failure>;

/// Why a command did not succeed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The arguments do not fit together.
    Usage(String),
    /// The same, with the commands between which it is for the user to choose.
    Choice { message: String, commands: [String; 2] },
    /// Something failed; the message names a remedy where there is one.
    Failed(Box<dyn Error + Send + Sync>),
    /// The work is done and must not be repeated, but a later step failed; the message says which.
    Done(String),
    /// Stopped by a signal; what there is to say about it has been said.
    Interrupted,
    /// The reader of the results has gone, as `head` does when it has enough.
    ReaderGone,
}

impl Failure {
    /// A failure of writing to standard output.
    pub(crate) fn stdout(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::ReaderGone,
            _ => senv_core::Error::io("write", "-", error).into(),
        }
    }
}

impl<E: Error + Send + Sync + 'static> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::Failed(Box::new(error))
    }
}
