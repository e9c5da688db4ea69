//! An order part after the mean of a table: gated skip-bigrams with decay, in both directions, computed from look-ups.
//!
//! | file | equation | what |
//! | --- | --- | --- |
//! | `words.rs` | `order-features` | the words of a text in order, and fixed features of a word |
//! | `values.rs` | | the numbers of a trained part |
//! | `row.rs` | `order-words` | the row of a word, from its features |
//! | `part.rs` | | the pass over a sentence, `order-passes` of `senv-encoders` in eight bits |
//! | `length.rs` | `order-length` | direction and length of the part |
//! | `join.rs` | `order-vector` | the vector of a table joined with the part and with negation |
//! | `file.rs` | | its tensors in a model file |
//!
//! `OrderParams` of `senv` trains the part. A file stores the maps from features to rows, a quarter of a megabyte. The
//! row of a word is computed on first use. So opening a model costs nothing, and a program keeps only the rows it
//! needed.

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
