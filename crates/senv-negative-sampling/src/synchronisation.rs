//! Training on several ranks: each learns from its part of the text, and they regularly merge their tables.
//!
//! Equation: `sub-model-synchronisation`
//!
//! ```text
//! (F1)  K = ⌈epochs · tokens / (R · 50,000)⌉           meetings of R ranks, the k-th after k / K of each rank's blocks
//! (F2)  n_k = 1,024 · 2^z(k)                           rows of each table at meeting k, z(k): zeros at the end of k in binary; n_K: all
//! ```
//!
//! Each rank draws its own random numbers. With the same negatives at the same position of each part, the updates of
//! ranks would be parallel where those of one process are not.
//!
//! The rows of words are sorted by descending count, so (F2) merges frequent words often and rare ones rarely: S. Ji,
//! N. Satish, S. Li and P. Dubey, "Parallelizing Word2Vec in Shared and Distributed Memory", 2016. The rows of n-grams
//! follow those of words. The ranks' versions of a row are merged by `adaptive-sum` of `senv-core`. That work instead
//! takes the mean and a higher learning rate, which costs two points on STS Benchmark with eight ranks
//! (`docs/experiments/ranks.md`).

use std::time::{Duration, Instant};

use senv_core::{
    Corpus,
    ranks::{self, Reduce},
    rng::{Stream, stream},
};

use crate::{Result, params::NegativeSamplingParams, tables::Tables};

/// The rows merged at every meeting.
const FREQUENT: usize = 1024;
/// Tokens of a rank between two meetings.
const TOKENS_BETWEEN: f64 = 50_000.0;

/// A rank's report at a meeting, or the combined result.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Meeting {
    /// Whether a checkpoint is due.
    pub(crate) is_due: bool,
    /// Whether the observer of any rank asked to stop.
    pub(crate) is_stopped: bool,
    /// Whether the loss of any rank diverged.
    pub(crate) is_diverged: bool,
}

/// The meetings of the ranks, and the state to merge.
pub(crate) struct Synchronisation<'a> {
    ranks: &'a dyn Reduce,
    n_units: u64,
    n_meetings: u64,
    /// The last tables that were the same on all ranks.
    pub(crate) before: Tables,
    /// The meetings, bytes sent and time since the run began.
    n_met: u64,
    sent: u64,
    time: Duration,
}

impl<'a> Synchronisation<'a> {
    /// Creates the schedule for a rank with `n_units` units.
    pub(crate) fn new(ranks: &'a dyn Reduce, n_units: u64, n_meetings: u64, before: Tables) -> Self {
        Self { ranks, n_units, n_meetings, before, n_met: 0, sent: 0, time: Duration::ZERO }
    }

    /// The first unit after meeting `number`, counted from 1.
    fn end(&self, number: u64) -> u64 {
        end(self.n_units, self.n_meetings, number)
    }

    /// The next meeting for a rank at a unit, and the first unit after it.
    pub(crate) fn next(&self, unit: u64) -> (u64, u64) {
        let number = met(self.n_units, self.n_meetings, unit) + 1;
        (number, self.end(number))
    }

    /// Meets the other ranks.
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

    /// The cost of the meetings, for the user; `None` for a single rank.
    pub(crate) fn report(&self) -> Option<String> {
        let Self { ranks, n_met, sent, time, .. } = self;
        let (rank, n, megabytes) = (ranks.rank(), ranks.n_ranks(), *sent as f64 / 1e6);
        let milliseconds = 1e3 * time.as_secs_f64() / (*n_met).max(1) as f64;
        (n > 1).then(|| {
            format!(
                "rank {rank} of {n} synchronized {n_met} times: {megabytes:.0} MB sent, {milliseconds:.1} ms each, \
                including waiting"
            )
        })
    }
}

/// (F1), with at most one meeting per block of the rank that has the fewest.
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

/// The random numbers for a place (epoch, block, step) in the part of a rank. The first rank draws the same as a single
/// run.
pub(crate) fn examples_stream(seed: u64, rank: u64, place: [u64; 3]) -> Stream {
    let [epoch, block, step] = place;
    let n = if rank == 0 { 3 } else { 4 };
    stream(seed, "examples", &[epoch, block, step, rank][..n])
}

/// The first unit after meeting `number`, for a rank with `n_units` units.
fn end(n_units: u64, n_meetings: u64, number: u64) -> u64 {
    (u128::from(n_units) * u128::from(number) / u128::from(n_meetings)) as u64
}

/// The number of meetings that a rank has passed at a unit.
pub(crate) fn met(n_units: u64, n_meetings: u64, unit: u64) -> u64 {
    let mut number = (u128::from(unit) * u128::from(n_meetings) / u128::from(n_units.max(1))) as u64;
    while number < n_meetings && end(n_units, n_meetings, number + 1) <= unit {
        number += 1;
    }
    number
}

#[cfg(test)]
mod tests {
    use std::{collections::HashSet, ops::Range};

    use rand::Rng;
    use senv_core::{Rows, Sentences, Table, TokenId, ranks::ThreadRank};

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
    fn ranks_draw_independently_and_the_first_as_a_run_by_itself() {
        let first = |mut stream: Stream| stream.next_u64();
        let of = |rank| first(examples_stream(1, rank, [2, 3, 4]));
        assert_eq!(of(0), first(stream(1, "examples", &[2, 3, 4])));
        let drawn: HashSet<u64> = (0..100).map(of).collect();
        assert_eq!(drawn.len(), 100);
    }

    /// Rows of two numbers; each rank updates one of them by `by` and its own number.
    fn moved(before: &Tables, rank: usize, by: f32) -> Tables {
        let mut tables = before.clone();
        for table in [&mut tables.source, &mut tables.target] {
            (0..table.n_rows()).for_each(|row| table.row_mut(row)[rank] += by + rank as f32);
        }
        tables
    }

    fn is_all(table: &Table, rows: Range<usize>, row: [f32; 2]) -> bool {
        rows.into_iter().all(|i| table.row(i) == row)
    }

    #[test]
    fn ranks_join_the_rows_of_a_meeting_and_hear_what_one_of_them_says() {
        let zeros = || Tables { source: Table::zeros(1500, 2).unwrap(), target: Table::zeros(1200, 2).unwrap() };
        std::thread::scope(|scope| {
            for ranks in ThreadRank::of(2) {
                scope.spawn(move || {
                    let rank = ranks.rank();
                    let mut synchronisation = Synchronisation::new(&ranks, 10, 2, zeros());
                    assert_eq!((synchronisation.next(0), synchronisation.next(4)), ((1, 5), (1, 5)));
                    assert_eq!(synchronisation.next(5), (2, 10));
                    let mut tables = moved(&zeros(), rank, 1.0);
                    let own = Meeting { is_due: rank == 0, is_stopped: rank == 1, is_diverged: false };
                    let all = synchronisation.meet(1, &mut tables, own).unwrap();
                    assert_eq!(all, Meeting { is_due: true, is_stopped: true, is_diverged: false });
                    // Orthogonal updates add up.
                    let (joined, alone) = ([1.0, 2.0], if rank == 0 { [1.0, 0.0] } else { [0.0, 2.0] });
                    for table in [&tables.source, &tables.target] {
                        assert!(is_all(table, 0..FREQUENT, joined) && is_all(table, FREQUENT..table.n_rows(), alone));
                    }
                    // Diverged tables are not merged.
                    let kept = tables.clone();
                    let own = Meeting { is_diverged: rank == 1, ..Meeting::default() };
                    let all = synchronisation.meet(2, &mut tables, own).unwrap();
                    assert_eq!(all, Meeting { is_diverged: true, ..Meeting::default() });
                    assert_eq!(tables.source.values(), kept.source.values());
                    assert_eq!(tables.target.values(), kept.target.values());
                    let all = synchronisation.meet(2, &mut tables, Meeting::default()).unwrap();
                    assert_eq!(all, Meeting::default());
                    assert!(is_all(&tables.source, 0..1500, joined) && is_all(&tables.target, 0..1200, joined));
                    // The merged rows: 1,024 rows of both tables, then all.
                    let (rows, sent) = (2 * 1024 + 1500 + 1200, synchronisation.sent);
                    assert!(sent >= rows * 8 && sent % rows == 0, "{sent}");
                    assert_eq!(synchronisation.n_met, 3);
                    (synchronisation.n_met, synchronisation.sent) = (4, 5_000_000);
                    synchronisation.time = Duration::from_millis(30);
                    let said =
                        format!("rank {rank} of 2 synchronized 4 times: 5 MB sent, 7.5 ms each, including waiting");
                    assert_eq!(synchronisation.report(), Some(said));
                });
            }
        });
    }

    #[test]
    fn a_rank_alone_has_nobody_to_meet() {
        let alone = ThreadRank::of(1);
        let zeros = Tables { source: Table::zeros(3, 2).unwrap(), target: Table::zeros(3, 2).unwrap() };
        let mut synchronisation = Synchronisation::new(&alone[0], 4, 1, zeros.clone());
        let mut tables = moved(&zeros, 0, 1.0);
        let all = synchronisation.meet(1, &mut tables, Meeting { is_due: true, ..Meeting::default() }).unwrap();
        assert_eq!(all, Meeting { is_due: true, ..Meeting::default() });
        assert!(is_all(&tables.source, 0..3, [1.0, 0.0]));
        assert_eq!(synchronisation.report(), None);
    }

    #[test]
    fn ranks_meet_every_fifty_thousand_tokens_and_no_more_often_than_they_have_blocks() {
        let corpus = |n: usize| {
            let mut sentences = Sentences::new();
            (0..n).for_each(|_| sentences.push((0..20).map(TokenId)));
            Corpus::from_sentences(sentences)
        };
        let (large, small) = (corpus(20_000), corpus(1));
        let params = |epochs| NegativeSamplingParams { epochs: Some(epochs), ..NegativeSamplingParams::default() };
        let of = |own: &[&Corpus], epochs| -> Vec<u64> {
            std::thread::scope(|scope| {
                let ranks = ThreadRank::of(own.len()).into_iter().zip(own);
                let threads: Vec<_> = ranks
                    .map(|(rank, corpus)| scope.spawn(move || n_meetings(&rank, corpus, &params(epochs)).unwrap()))
                    .collect();
                threads.into_iter().map(|thread| thread.join().unwrap()).collect()
            })
        };
        // 400,000 tokens each.
        assert_eq!(of(&[&large], 1), [8]);
        assert_eq!(of(&[&large, &large], 1), [8, 8]);
        assert_eq!(of(&[&large, &large], 3), [24, 24]);
        assert_eq!(of(&[&small], 5), [1]);
        // Each would see 12 times 50,000 of the 600,010 tokens; the small one has one block per epoch.
        assert_eq!(of(&[&large, &small], 3), [3, 3]);
    }

    #[test]
    fn frequent_rows_meet_often_and_all_rows_at_the_end() {
        let of: Vec<usize> = (1..=8).map(|number| rows(number, 9)).collect();
        assert_eq!(of, [1024, 2048, 1024, 4096, 1024, 2048, 1024, 8192]);
        assert_eq!(rows(9, 9), usize::MAX);
    }
}
