//! Sentence encoders that need only a table: the mean of compressed word rows, read in place.

mod compress;
mod encoder;
mod encoding;
pub(crate) mod file;
pub mod order;
mod rows;
#[cfg(test)]
mod tests;

pub use encoder::StaticEncoder;
pub use encoding::RowEncoding;
pub use file::StaticConfig;
pub use rows::CompressedRows;
