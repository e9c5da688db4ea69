#![doc = include_str!("../README.md")]

use std::{fmt, sync::Mutex};

use mpi::{
    Rank,
    point_to_point::send_receive_into,
    topology::SimpleCommunicator,
    traits::{Communicator, Equivalence},
};
use senv_core::{Error, Result, ranks::Reduce};

/// Maximum size of a message. MPI counts bytes in 31 bits.
const MESSAGE: usize = 1 << 30;

/// A process of an MPI run, as a rank of a training run.
///
/// It uses only messages between two processes (`MPI_Sendrecv`). senv then controls the order of each sum, which
/// `MPI_Allreduce` does not promise. An error of MPI ends all processes, MPI's default.
///
/// ```no_run
/// use senv::{Sent2VecParams, TextSystem, TrainOptions};
/// use senv_mpi::MpiRank;
///
/// let universe = mpi::initialize().ok_or("MPI runs already")?;
/// let rank = MpiRank::new(universe.world());
/// let options = TrainOptions { ranks: Some(&rank), ..TrainOptions::default() };
/// let trained = Sent2VecParams::default().fit_files("text.txt", &options)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct MpiRank {
    world: Mutex<World>,
    rank: usize,
    n_ranks: usize,
}

/// The communicator, used by one thread at a time.
struct World(SimpleCommunicator);

// SAFETY: a communicator is a handle that MPI lets any thread use in two cases. Either MPI was initialized for
// serialized calls from several threads, or only the thread that initialized it makes calls. Training communicates from
// the thread that called `fit`, which is the one that initialized MPI.
#[allow(unsafe_code)]
unsafe impl Send for World {}

impl MpiRank {
    /// The rank of this process in a communicator.
    #[must_use]
    pub fn new(world: SimpleCommunicator) -> Self {
        let (rank, n_ranks) = (world.rank() as usize, world.size() as usize);
        Self { world: Mutex::new(World(world)), rank, n_ranks }
    }

    /// Ends all processes of the run after this one failed.
    pub fn abort(&self, code: i32) -> ! {
        match self.world.lock() {
            Ok(world) => world.0.abort(code),
            Err(_) => std::process::exit(code),
        }
    }
}

impl fmt::Debug for MpiRank {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MpiRank").field("rank", &self.rank).field("n_ranks", &self.n_ranks).finish_non_exhaustive()
    }
}

impl Reduce for MpiRank {
    fn rank(&self) -> usize {
        self.rank
    }

    fn n_ranks(&self) -> usize {
        self.n_ranks
    }

    fn exchange(&self, to: usize, mut sent: &[u8], from: usize, mut received: &mut [u8]) -> Result<()> {
        let failed = |reason: String| Error::Rank { rank: from, reason };
        let world = self.world.lock().map_err(|_| failed("a thread panicked while exchanging data".into()))?;
        let (to, source) = (world.0.process_at_rank(to as Rank), world.0.process_at_rank(from as Rank));
        loop {
            let out = sent.split_off(..sent.len().min(MESSAGE)).unwrap_or_default();
            let room = received.len().min(MESSAGE);
            let place = received.split_off_mut(..room).unwrap_or_default();
            let n = send_receive_into(out, &to, place, &source).count(u8::equivalent_datatype());
            if n as usize != room {
                return Err(failed(format!("it sent {n} bytes, expected {room}")));
            }
            if sent.is_empty() && received.is_empty() {
                return Ok(());
            }
        }
    }
}
