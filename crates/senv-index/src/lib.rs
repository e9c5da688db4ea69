//! scratch
mod best;
mod codes;
mod error;
mod exact;
mod rotation;
mod rows;
mod scan;

pub use error::{Error, Result};
pub use rows::Rescoring;
