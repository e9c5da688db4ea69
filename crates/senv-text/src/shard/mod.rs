//! Shards of the input: text is divided into blocks, and each of several runs processes an equal share of them.

pub(super) mod pieces;
mod reader;
#[cfg(test)]
mod tests;

use std::{fmt, ops::Range, str::FromStr};

use senv_base::{Error, Result};

pub use self::pieces::LineNumbers;

/// The number of bytes in a block of lines.
const BLOCK_BYTES: u64 = 1 << 18;
/// The number of records in a block of a table, and of sentences in a block of split text.
const BLOCK_RECORDS: u64 = 1 << 12;

/// Shard `I/N`: the I-th of N parts of an input, counted from 1.
///
/// The boundaries depend only on the input, not on threads, memory or time. Every file is a sequence of blocks. In
/// plain text, a block is 256 KiB after decompression, and a line belongs to the block in which it starts. In tables
/// (CSV, JSON lines, Parquet, Arrow) and in text that is split into sentences ([`Split`](crate::Split)), a block is
/// 4,096 records or sentences. The blocks of all files, in order, are divided into N consecutive ranges whose lengths
/// differ by at most one ([`Shard::of`]). So shards 1 to N, concatenated, are the input.
///
/// ```
/// use senv_core::text::Shard;
/// let shard: Shard = "2/3".parse()?;
/// assert_eq!((shard.number(), shard.count()), (2, 3));
/// assert_eq!(shard.of(10), 3..6);
/// assert!("4/3".parse::<Shard>().is_err());
/// # Ok::<(), senv_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Shard {
    number: u32,
    count: u32,
}

impl Shard {
    /// Creates shard `number` of `count`, counted from 1.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] unless `number` is from 1 to `count`.
    pub fn new(number: u32, count: u32) -> Result<Self> {
        let shard = Self { number, count };
        if (1..=count).contains(&number) { Ok(shard) } else { Err(bad(&shard.to_string())) }
    }

    /// The number of the shard, counted from 1.
    #[must_use]
    pub fn number(self) -> u32 {
        self.number
    }

    /// The number of shards.
    #[must_use]
    pub fn count(self) -> u32 {
        self.count
    }

    /// The range of this shard among `n` consecutive items.
    #[must_use]
    pub fn of(self, n: u64) -> Range<u64> {
        let before = |number: u32| (u128::from(n) * u128::from(number) / u128::from(self.count)) as u64;
        before(self.number - 1)..before(self.number)
    }

    /// Whether item `i`, counted from 0, belongs to this shard when items are assigned to shards in turn, for input
    /// whose length is not known in advance.
    ///
    /// ```
    /// # use senv_core::text::Shard;
    /// let shard = Shard::new(1, 3)?;
    /// assert_eq!((0..7).filter(|&i| shard.deals(i)).collect::<Vec<_>>(), [0, 3, 6]);
    /// # Ok::<(), senv_core::Error>(())
    /// ```
    #[must_use]
    pub fn deals(self, i: u64) -> bool {
        i % u64::from(self.count) == u64::from(self.number - 1)
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.count)
    }
}

impl FromStr for Shard {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let (number, count) = text.split_once('/').ok_or_else(|| bad(text))?;
        let parsed = |part: &str| part.parse().map_err(|_| bad(text));
        Self::new(parsed(number)?, parsed(count)?).map_err(|_| bad(text))
    }
}

fn bad(got: &str) -> Error {
    let requirement = "I/N, as in 2/8: shard I of N, with I from 1 to N";
    Error::InvalidParameter { name: "shard", requirement, got: got.to_owned() }
}
