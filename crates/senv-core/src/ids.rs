//! Numbers that must not be mixed up: which token, and which row of a table.

use bytemuck::{Pod, Zeroable};
use serde::{Deserialize, Serialize};

/// The number of a token in a [`crate::Vocabulary`]: 0 is the most frequent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Pod, Zeroable, Serialize, Deserialize)]
#[repr(transparent)]
pub struct TokenId(pub u32);

/// The number of a row of a table: a token's row, or the row of a hashed n-gram behind them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Pod, Zeroable, Serialize, Deserialize)]
#[repr(transparent)]
pub struct RowId(pub u32);

impl TokenId {
    /// The number as an index.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl RowId {
    /// The number as an index.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}
