//! What is trained.

use senv_core::Table;

/// The two tables of a model: what contexts are made of, and what is predicted.
#[derive(Debug, Clone)]
pub struct Tables {
    /// Source rows v: the embeddings.
    pub source: Table,
    /// Target rows u.
    pub target: Table,
}
