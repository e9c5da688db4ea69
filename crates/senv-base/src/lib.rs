//! The foundation of the senv crates: errors, ids, rows, progress, threads, memory checks and shared bytes.
//!
//! `senv-core` re-exports this crate; depend on that one.

#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod counts;
pub mod error;
#[doc(hidden)]
pub mod hash;
mod ids;
mod map;
pub mod memory;
pub mod observer;
mod quoted;
#[doc(hidden)]
pub mod registry;
#[cfg(feature = "random")]
pub mod rng;
mod rows;
mod shared_bytes;
pub mod threads;

pub use error::{Error, Remedy, Result};
pub use ids::{RowId, TokenId};
pub use observer::{CancelToken, Control, NoObserver, Observer, Progress};
pub use quoted::{Quoted, quoted};
pub use rows::Rows;
pub use shared_bytes::SharedBytes;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
