//! Numerics: inner loops for each SIMD level with a scalar reference, the two float precisions under one trait, stable
//! forms of common functions, and the dense table of rows.
//!
//! `senv-core` re-exports this crate; depend on that one.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod compiled_here;
#[doc(hidden)]
pub mod few_rows;
mod float;
pub mod kernels;
pub mod math;
mod table;

pub use float::{Float, Work};
pub use table::{Table, TableRows};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
