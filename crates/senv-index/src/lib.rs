//! Nearest-neighbor search by cosine among millions of embeddings.
//!
//! [`VectorIndex`] stores rows as 4-bit codes. A search compares the top bits of the codes of all rows, or of those in
//! the nearest cells, with the query. It adds the lower bits for a short list of rows, and computes the cosines of the
//! best candidates exactly. Building an index measures its recall. A search names the recall it needs and compares as
//! many rows, candidates and cells as that takes.
//!
//! [`Collection`] is a folder of memory-mapped indexes with ids and texts. Rows can be added, deleted and replaced; a
//! writer that is killed leaves the last complete state. With the words of its texts
//! ([`CollectionParams::words`]), rows and documents are also ranked by words and meaning ([`CollectionRanker`]).
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
//! [`VectorIndex::search`] in `index.rs` gets the settings for a recall from `recall.rs`. Then `scan.rs` compares the
//! top bits of codes (`codes.rs`, after the rotation in `rotation.rs`), `planes.rs` adds the lower bits, and `exact.rs`
//! computes cosines. `file.rs` reads and writes files; `checks.rs` checks every block against its checksum when it is
//! first used. `collection/words` stores words; `collection/ranker.rs` counts them, and `collection/ranking.rs` joins
//! them with the estimates of `estimates.rs`.

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
mod estimates;
mod exact;
mod file;
mod groups;
mod id;
mod id_kind;
mod index;
mod pairs;
mod params;
mod planes;
mod recall;
mod rotation;
mod rows;
mod scan;
mod values;

pub use collection::{Collection, CollectionParams, CollectionRanker, Found, NewRows, PART_VALUES, RankedRow, Ranking};
pub use error::{Error, Result};
pub use groups::{
    GroupCount, Groups, KMeansParams, assign_groups, communities, cosine_silhouette, counted_communities,
    counted_group_count, counted_k_means, counted_silhouette, group_count, k_means,
};
pub use id::{Id, IdKind};
pub use index::{Neighbour, VectorIndex};
pub use pairs::{
    COMPARED_UP_TO, Duplicate, DuplicatesApart, EQUAL_COSINE, Pair, PairSearch, counterparts, counterparts_where,
    diverse_rows, duplicates, duplicates_where, for_nearest_others, for_neighbours, for_neighbours_in, nearest_pairs,
    nearest_pairs_where,
};
pub use params::{CellCount, DEFAULT_CELLS_FROM, DEFAULT_RECALL, DEFAULT_SHORTLIST, IndexParams, Search};
pub use recall::Recall;
pub use rows::Rescoring;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
