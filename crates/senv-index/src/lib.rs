//! Nearest-neighbour search by cosine among millions of embeddings.
//!
//! [`VectorIndex`] holds 4-bit codes of rows. A search compares the top bits of the codes of all rows, or of those in
//! the nearest cells, with the query in integers, adds the lower bits for a short list of rows, and then computes the
//! cosines of the best candidates exactly. Recall is measured when an index is built; a search asks for a recall and
//! looks at as long a short list, as many candidates and as many cells as it takes.
//!
//! [`Collection`] is a folder of such indices with ids and texts, memory-mapped: rows are added, deleted and replaced,
//! and a writer that is killed leaves the last complete state.
//!
//! ```
//! use senv_core::Table;
//! use senv_index::{IndexParams, Search, VectorIndex};
//! let table = Table::from_vec(3, 2, vec![1.0, 0.0, 0.0, 2.0, 3.0, 4.0])?;
//! let index = VectorIndex::build(table, &IndexParams::default())?;
//! assert_eq!(index.search(&[0.0, 5.0], &Search::new(1))?[0].row, 1);
//! # Ok::<(), senv_index::Error>(())
//! ```
//!
//! [`duplicates`], [`nearest_pairs`] and [`counterparts`] compare all rows of a table with each other (`pairs/`).
//!
//! The way of a search: [`VectorIndex::search`] in `index.rs` asks `recall.rs` what to look at, `scan.rs` compares the
//! top bits of codes (`codes.rs`, over the rotation in `rotation.rs`), `planes.rs` adds the lower ones, and `exact.rs`
//! computes cosines. Files are read and written in `file.rs`; every block of them is compared with its checksum when it
//! is first used (`checks.rs`).

#![cfg_attr(docsrs, feature(doc_cfg))]

mod best;
mod build;
mod cells;
mod checks;
mod code_kernels;
mod codes;
mod collection;
pub mod documents;
mod error;
mod exact;
mod file;
mod groups;
mod index;
mod pairs;
mod params;
mod planes;
mod recall;
mod rotation;
mod rows;
mod scan;
mod values;

pub use collection::{Collection, CollectionParams, Found, NewRows, PART_VALUES};
pub use error::{Error, Result};
pub use groups::{
    GroupCount, Groups, KMeansParams, assign_groups, communities, cosine_silhouette, group_count, k_means,
};
pub use index::{Neighbour, VectorIndex};
pub use pairs::{
    Duplicate, Pair, PairSearch, counterparts, diverse_rows, duplicates, for_nearest_others, for_neighbours,
    for_neighbours_in, nearest_pairs,
};
pub use params::{CellCount, DEFAULT_CELLS_FROM, DEFAULT_RECALL, DEFAULT_SHORTLIST, IndexParams, Search};
pub use recall::Recall;
pub use rows::Rescoring;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
