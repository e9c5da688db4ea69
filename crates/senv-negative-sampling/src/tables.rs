//! The trained tables.

use senv_core::Table;

/// The two tables of a model: the rows of contexts, and the rows that are predicted.
#[derive(Debug, Clone)]
pub struct Tables {
    /// The source rows v, which are the embeddings.
    pub source: Table,
    /// The target rows u.
    pub target: Table,
}
