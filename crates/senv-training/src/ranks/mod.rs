//! Ranks: runs of one program that each train on a part of the text and combine what they learn.
//!
//! | file | equation | what |
//! | --- | --- | --- |
//! | `rows.rs` | `adaptive-sum` | combines rows of a table that every rank has changed |
//! | `collect.rs` | | exchanges small data among all ranks |
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

/// The ranks of a run, as seen by one of them: how it exchanges bytes with another.
///
/// Everything else is computed from that ([`combine_rows`], [`sum`], [`gather`]). So it is the same for threads of one
/// process ([`ThreadRank`]) and for processes on several machines (`senv-mpi`). A run without ranks uses none of it.
pub trait Reduce: Sync {
    /// The number of this rank, from 0.
    fn rank(&self) -> usize;

    /// The number of ranks, at least 1.
    fn n_ranks(&self) -> usize;

    /// Sends bytes to one rank and fills `received` with bytes from another. All ranks make the same calls in the same
    /// order.
    ///
    /// # Errors
    /// [`Error::Rank`](senv_base::Error::Rank) if the other rank has ended or sends another number of bytes.
    fn exchange(&self, to: usize, sent: &[u8], from: usize, received: &mut [u8]) -> Result<()>;
}

/// The rank to send to and the rank to receive from, step by step. After the last step, this rank has exchanged data
/// with all others in both directions.
fn partners(ranks: &dyn Reduce) -> impl Iterator<Item = (usize, usize)> + use<> {
    let (rank, n) = (ranks.rank(), ranks.n_ranks());
    (1..n).map(move |step| ((rank + step) % n, (rank + n - step) % n))
}
