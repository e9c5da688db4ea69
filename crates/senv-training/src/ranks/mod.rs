//! Ranks: runs of one program, each with its part of the text, that bring together what they learn.
//!
//! | file | equation | what |
//! | --- | --- | --- |
//! | `rows.rs` | `adaptive-sum` | rows of a table that every rank has moved |
//! | `collect.rs` | | small things that all ranks have to know of each other |
//! | `threads.rs` | | ranks that are threads of one process |

mod collect;
mod rows;
#[cfg(test)]
mod tests;
mod threads;

use senv_base::Result;

pub use collect::{gather, sum};
pub use rows::combine_rows;
pub use threads::ThreadRank;

/// The ranks of a run as one of them sees them: how it exchanges bytes with another one.
///
/// All else is computed from that ([`combine_rows`], [`sum`], [`gather`]), so it is the same for threads of one process
/// ([`ThreadRank`]) and for processes on several machines (`senv-mpi`). A run without ranks has none of it.
pub trait Reduce: Sync {
    /// The number of this rank, from 0.
    fn rank(&self) -> usize;

    /// How many ranks there are, at least 1.
    fn n_ranks(&self) -> usize;

    /// Sends bytes to one rank, and receives as many as there is room for from another. All ranks make the same calls
    /// in the same order.
    ///
    /// # Errors
    /// [`Error::Rank`](senv_base::Error::Rank) if the other rank has ended, or sends another number of bytes.
    fn exchange(&self, to: usize, sent: &[u8], from: usize, received: &mut [u8]) -> Result<()>;
}

/// The rank to send to and the rank to receive from, step by step: after the last step this rank has met all others in
/// both ways.
fn partners(ranks: &dyn Reduce) -> impl Iterator<Item = (usize, usize)> + use<> {
    let (rank, n) = (ranks.rank(), ranks.n_ranks());
    (1..n).map(move |step| ((rank + step) % n, (rank + n - step) % n))
}
