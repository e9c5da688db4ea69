//! Exchanges small data among all ranks.

use super::{Reduce, partners};
use senv_base::{Error, Result};

/// Returns the bytes of every rank, in rank order. Ranks can send different numbers of bytes.
///
/// # Errors
/// [`Error::Rank`] if another rank has ended; [`Error::OutOfMemory`] if memory runs out.
pub fn gather(ranks: &dyn Reduce, own: &[u8]) -> Result<Vec<Vec<u8>>> {
    let (rank, n_ranks) = (ranks.rank(), ranks.n_ranks());
    let mut all = vec![Vec::new(); n_ranks];
    for (to, from) in partners(ranks) {
        let mut length = [0; 8];
        ranks.exchange(to, &(own.len() as u64).to_le_bytes(), from, &mut length)?;
        let length = u64::from_le_bytes(length);
        let refused = |_| Error::OutOfMemory { what: "data from another rank", bytes: length };
        let n = usize::try_from(length).unwrap_or(usize::MAX);
        all[from].try_reserve_exact(n).map_err(refused)?;
        all[from].resize(n, 0);
        ranks.exchange(to, own, from, &mut all[from])?;
    }
    all[rank] = own.to_vec();
    Ok(all)
}

/// Returns the sums of numbers over all ranks, added in rank order.
///
/// # Errors
/// The errors of [`gather`].
pub fn sum<const N: usize>(ranks: &dyn Reduce, own: [f64; N]) -> Result<[f64; N]> {
    let mut sums = [0.0; N];
    for of_rank in gather(ranks, bytemuck::cast_slice(&own))? {
        for (sum, x) in sums.iter_mut().zip(of_rank.chunks_exact(8)) {
            *sum += x.try_into().map_or(f64::NAN, f64::from_ne_bytes);
        }
    }
    Ok(sums)
}
