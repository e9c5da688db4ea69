//! A part that reads word order, behind the mean of a table: gated skip-bigrams with decay, in both directions, made of
//! look-ups.
//!
//! | file | equation | what |
//! | --- | --- | --- |
//! | `words.rs` | `order-features` | the words of a text in their order, and fixed features of a word |
//! | `values.rs` | | the numbers of a trained part |
//! | `row.rs` | `order-words` | what a word brings, from its features |
//! | `part.rs` | | the pass over a sentence, `order-passes` of `senv-encoders` in eight bits |
//! | `length.rs` | `order-length` | direction and length of the part |
//! | `join.rs` | `order-vector` | the part behind the vector of a table, with negation |
//! | `file.rs` | | its tensors in a model file |
//!
//! The part is trained by `OrderParams` of `senv`. A file holds the maps from features to rows, a quarter of a
//! megabyte; the row of a word is made when the word is first met, so that opening a model costs nothing and a program
//! keeps the rows of the words it met.

pub(crate) mod file;
mod join;
mod length;
mod part;
mod row;
mod values;
mod words;

pub use join::OrderJoin;
pub use length::{beyond_ordinary, part_length, part_norm, part_of};
pub use part::{OrderConfig, OrderPart};
pub use values::OrderValues;
pub use words::{OrderWords, UNKNOWN_BUCKETS};
