//! Replaces `zstd.rs` if its feature is off.

use std::io::{self, ErrorKind, Read};

pub(crate) fn reader(_: impl Read) -> io::Result<Box<dyn Read + Send>> {
    let reason = "it is compressed with Zstandard, which this build does not support; decompress it first";
    Err(io::Error::new(ErrorKind::Unsupported, reason))
}
