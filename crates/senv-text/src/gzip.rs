//! Gzip files with any number of members.

use std::io::{self, BufReader, Read};

use flate2::read::MultiGzDecoder;

/// The decompressed text of a file.
pub(crate) fn reader(whole: impl Read + Send + 'static) -> io::Result<Box<dyn Read + Send>> {
    Ok(Box::new(MultiGzDecoder::new(BufReader::with_capacity(super::AHEAD_OF_DECODER, whole))))
}
