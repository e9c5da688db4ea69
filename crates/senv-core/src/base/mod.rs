//! What everything stands on: ids, rows by number, random streams, threads, sizes, shared bytes, and who hears of progress.

pub(crate) mod ids;
pub mod memory;
pub mod observer;
#[cfg(not(feature = "train"))]
pub(crate) mod rng;
#[cfg(feature = "train")]
pub mod rng;
pub(crate) mod rows;
pub(crate) mod shared_bytes;
pub(crate) mod stored;
pub mod threads;
