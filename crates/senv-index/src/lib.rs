//! Nearest-neighbour search by cosine among millions of embeddings.
//!
//! [`VectorIndex`] holds 4-bit codes of rows. A search compares the codes of all rows, or of those in the nearest cells, with
//! the query in integers, and then computes the cosines of the best candidates exactly. Recall is measured when an index is
//! built; a search asks for a recall and looks at as many candidates and cells as it takes.
mod best;
mod build;
mod cells;
mod checks;
mod codes;
mod error;
mod exact;
mod index;
mod params;
mod recall;
mod rotation;
mod rows;
mod scan;
mod values;

pub use error::{Error, Result};
pub use index::{Neighbour, VectorIndex};
pub use params::{CellCount, DEFAULT_CELLS_FROM, DEFAULT_RECALL, IndexParams, Search};
pub use recall::Recall;
pub use rows::Rescoring;
