//! Training on several ranks: each learns from its part of the text, and now and then they bring their tables together.
//!
//! Equation: `sub-model-synchronisation`
//!
//! ```text
//! (F1)  K = ⌈epochs · tokens / (R · 50,000)⌉           meetings of R ranks, the k-th behind k / K of the blocks of each
//! (F2)  n_k = 1,024 · 2^z(k)                           rows of each table at meeting k, z(k): zeros at the end of k in binary; n_K: all
//! ```
//!
//! Rows are those of words in the order of their counts, so (F2) brings frequent words together often and rare ones seldom: S. Ji, N.
//! Satish, S. Li and P. Dubey, "Parallelizing Word2Vec in Shared and Distributed Memory", 2016. Rows of n-grams lie behind those of
//! words. What the ranks have made of a row is joined by `adaptive-sum` of `senv-core`, where that work takes the mean and a higher
//! learning rate, which costs two points on STS Benchmark with eight ranks (`docs/experiments/ranks.md`).

use std::time::{Duration, Instant};

use senv_core::{
    Corpus,
    ranks::{self, Reduce},
};

use crate::{Result, params::NegativeSamplingParams, tables::Tables};

/// Rows that every meeting brings together.
const FREQUENT: usize = 1024;
/// Tokens of a rank between two meetings.
const TOKENS_BETWEEN: f64 = 50_000.0;

/// What a rank says when it comes to a meeting, and what the meeting comes to.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Meeting {
    /// A checkpoint is due.
    pub(crate) is_due: bool,
    /// The observer of one of them asked to stop.
    pub(crate) is_stopped: bool,
    /// The loss of one of them diverged.
    pub(crate) is_diverged: bool,
}

/// When the ranks meet, and what they bring.
pub(crate) struct Synchronisation<'a> {
    ranks: &'a dyn Reduce,
    n_units: u64,
    n_meetings: u64,
    /// The tables as they were when they were last the same everywhere.
    pub(crate) before: Tables,
    /// Meetings, bytes sent and time since the run began.
    n_met: u64,
    sent: u64,
    time: Duration,
}

impl<'a> Synchronisation<'a> {
    /// For a rank with so many units.
    pub(crate) fn new(ranks: &'a dyn Reduce, n_units: u64, n_meetings: u64, before: Tables) -> Self {
        Self { ranks, n_units, n_meetings, before, n_met: 0, sent: 0, time: Duration::ZERO }
    }

    /// The first unit behind meeting `number`, counted from 1.
    fn end(&self, number: u64) -> u64 {
        end(self.n_units, self.n_meetings, number)
    }

    /// The meeting that comes next for a rank that is at a unit, and the first unit behind it.
    pub(crate) fn next(&self, unit: u64) -> (u64, u64) {
        let number = met(self.n_units, self.n_meetings, unit) + 1;
        (number, self.end(number))
    }

    /// Meets the others.
    pub(crate) fn meet(&mut self, number: u64, tables: &mut Tables, own: Meeting) -> Result<Meeting> {
        let started = Instant::now();
        let flag = |flag: bool| f64::from(u8::from(flag));
        let own = [flag(own.is_due), flag(own.is_stopped), flag(own.is_diverged)];
        let [is_due, is_stopped, is_diverged] = ranks::sum(self.ranks, own)?.map(|n| n > 0.0);
        if !is_diverged {
            let n = rows(number, self.n_meetings);
            let Tables { source, target } = &mut self.before;
            self.sent += ranks::combine_rows(self.ranks, &mut tables.source, source, n)?;
            self.sent += ranks::combine_rows(self.ranks, &mut tables.target, target, n)?;
        }
        self.n_met += 1;
        self.time += started.elapsed();
        Ok(Meeting { is_due, is_stopped, is_diverged })
    }

    /// What the meetings cost, for the user.
    pub(crate) fn report(&self) -> String {
        let Self { ranks, n_met, sent, time, .. } = self;
        let (rank, n, megabytes) = (ranks.rank(), ranks.n_ranks(), *sent as f64 / 1e6);
        let milliseconds = 1e3 * time.as_secs_f64() / (*n_met).max(1) as f64;
        format!(
            "rank {rank} of {n} met the others {n_met} times: {megabytes:.0} MB sent, {milliseconds:.1} ms a meeting, waiting included"
        )
    }
}

/// (F1), at most one meeting for each block of the rank that has the fewest.
pub(crate) fn n_meetings(ranks: &dyn Reduce, corpus: &Corpus, params: &NegativeSamplingParams) -> Result<u64> {
    let epochs = f64::from(params.n_epochs());
    let of_ranks = ranks::gather(ranks, &(corpus.n_blocks() as u64).to_le_bytes())?;
    let n_blocks = of_ranks.iter().map(|n| n.as_slice().try_into().map_or(0, u64::from_le_bytes));
    let fewest = n_blocks.min().unwrap_or(0) * u64::from(params.n_epochs());
    let [tokens] = ranks::sum(ranks, [corpus.n_tokens() as f64])?;
    let wanted = (epochs * tokens / (ranks.n_ranks() as f64 * TOKENS_BETWEEN)).ceil() as u64;
    Ok(wanted.clamp(1, fewest.max(1)))
}

/// (F2)
fn rows(number: u64, n_meetings: u64) -> usize {
    if number >= n_meetings { usize::MAX } else { FREQUENT << number.trailing_zeros().min(40) }
}

/// The first unit behind meeting `number` of a rank with so many units.
fn end(n_units: u64, n_meetings: u64, number: u64) -> u64 {
    (u128::from(n_units) * u128::from(number) / u128::from(n_meetings)) as u64
}

/// The meetings that a rank has behind it at a unit.
pub(crate) fn met(n_units: u64, n_meetings: u64, unit: u64) -> u64 {
    let mut number = (u128::from(unit) * u128::from(n_meetings) / u128::from(n_units.max(1))) as u64;
    while number < n_meetings && end(n_units, n_meetings, number + 1) <= unit {
        number += 1;
    }
    number
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rank_finds_its_meetings_again_from_its_place() {
        for (n_units, n_meetings) in [(1, 1), (7, 7), (100, 7), (1001, 1000), (12_345, 678)] {
            let ends: Vec<u64> = (0..=n_meetings).map(|number| end(n_units, n_meetings, number)).collect();
            assert!(ends.windows(2).all(|pair| pair[0] < pair[1]) && ends[n_meetings as usize] == n_units);
            for unit in 0..=n_units {
                let behind = ends[1..].iter().filter(|&&end| end <= unit).count() as u64;
                assert_eq!(met(n_units, n_meetings, unit), behind, "{n_units} {n_meetings} {unit}");
            }
        }
    }

    #[test]
    fn frequent_rows_meet_often_and_all_rows_at_the_end() {
        let of: Vec<usize> = (1..=8).map(|number| rows(number, 9)).collect();
        assert_eq!(of, [1024, 2048, 1024, 4096, 1024, 2048, 1024, 8192]);
        assert_eq!(rows(9, 9), usize::MAX);
    }
}
