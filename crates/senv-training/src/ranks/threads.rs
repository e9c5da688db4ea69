//! Ranks that are threads of one process.

use std::sync::{
    Mutex, PoisonError,
    mpsc::{Receiver, Sender, channel},
};

use super::Reduce;
use senv_base::{Error, Result};

/// A rank that is a thread of this process. When it is dropped, the others learn that it has ended.
///
/// ```
/// use senv_core::ranks::{ThreadRank, sum};
/// let sums: Vec<_> = std::thread::scope(|scope| {
///     let ranks = ThreadRank::of(3).into_iter();
///     let threads: Vec<_> = ranks.map(|rank| scope.spawn(move || sum(&rank, [1.0, 0.5]))).collect();
///     threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
/// });
/// assert!(sums.iter().all(|sums| sums.as_ref().is_ok_and(|sums| *sums == [3.0, 1.5])));
/// ```
#[derive(Debug)]
pub struct ThreadRank {
    rank: usize,
    /// Channels to each rank, and from each.
    to: Vec<Sender<Vec<u8>>>,
    from: Vec<Mutex<Receiver<Vec<u8>>>>,
}

impl ThreadRank {
    /// Creates `n` ranks, each to be moved to its own thread.
    #[must_use]
    pub fn of(n: usize) -> Vec<Self> {
        let mut ranks: Vec<_> =
            (0..n).map(|rank| Self { rank, to: Vec::with_capacity(n), from: Vec::with_capacity(n) }).collect();
        for from in 0..n {
            for to in 0..n {
                let (sender, receiver) = channel();
                ranks[from].to.push(sender);
                ranks[to].from.push(Mutex::new(receiver));
            }
        }
        ranks
    }
}

impl Reduce for ThreadRank {
    fn rank(&self) -> usize {
        self.rank
    }

    fn n_ranks(&self) -> usize {
        self.to.len()
    }

    fn exchange(&self, to: usize, sent: &[u8], from: usize, received: &mut [u8]) -> Result<()> {
        let ended = |rank| Error::Rank { rank, reason: "it has ended".into() };
        self.to[to].send(sent.to_vec()).map_err(|_| ended(to))?;
        let bytes = self.from[from].lock().unwrap_or_else(PoisonError::into_inner).recv().map_err(|_| ended(from))?;
        if bytes.len() != received.len() {
            let reason = format!("it sent {} bytes, expected {}", bytes.len(), received.len());
            return Err(Error::Rank { rank: from, reason });
        }
        received.copy_from_slice(&bytes);
        Ok(())
    }
}
