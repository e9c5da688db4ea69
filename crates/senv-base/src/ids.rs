//! Index types that must not be confused: token ids and rows of a table.

use bytemuck::{Pod, Zeroable};
use serde::{Deserialize, Serialize};

/// The id of a token in a `Vocabulary`: 0 is the most frequent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Pod, Zeroable, Serialize, Deserialize)]
#[repr(transparent)]
pub struct TokenId(pub u32);

/// The index of a table row: that of a token, or of a hashed n-gram after the tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Pod, Zeroable, Serialize, Deserialize)]
#[repr(transparent)]
pub struct RowId(pub u32);

impl TokenId {
    /// The id as an index.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl RowId {
    /// The row as an index.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}
