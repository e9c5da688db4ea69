//! A schedule that gives the same bits at any number of threads, as every step sees the updates of the one before.
//!
//! Steps that are computed side by side from the same tables overshoot. The rows of frequent words and of the
//! placeholder are in nearly every context, so the updates of 16 steps add up along one direction. At the learning
//! rates of the papers, training then diverges where plain stochastic gradient descent converges. So here steps follow
//! each other, and threads share the work of one: each takes some columns of all rows.
//!
//! ```text
//! turn i, columns p:   backward of step i − 1 on p, then forward of step i on p        any thread, once
//! after turn i:        coefficients of step i from the products of all columns         the thread that ends it
//! ```
//!
//! The division of the columns into parts depends only on the dimension, and products over the parts are added in
//! order. So the bits do not depend on which thread does what. Neighboring parts form a lane, one lane per thread if
//! there are enough parts: a single thread processes whole rows.
//!
//! A thread takes the lane it had before, and those of other threads when they are late. A thread that was away plans
//! until it catches up with the others. So a thread that lost its core delays nobody, unless it lost it in the middle
//! of a turn, and no row moves between cores. Every thread plans all sentences itself, which takes a tenth of the time
//! of learning them; plans that move between cores cost more.

use std::{
    ops::Range,
    sync::{
        Mutex, MutexGuard, PoisonError, RwLock, TryLockError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

use senv_core::{
    Table,
    corpus::BlockBuffer,
    kernels::{Lanes, SharedTable},
    threads::spawn_others,
};

use crate::{
    coefficients::Coefficients,
    examples::Examples,
    overlay::Overlay,
    plan::{Plan, PlannedStep},
    run::{Reporter, Tally, TrainingRun, Unit, steps},
    spin::{Loss, Spin},
    step::Columns,
};

/// Columns are divided in multiples of a cache line.
const LINE: usize = 16;

/// The minimum number of cache lines per row in one part.
const MIN_LINES: usize = 3;
const MAX_PARTS: usize = 8;

/// At or above this number of tokens per table row, it pays to store the columns of a lane together.
const MIN_TOKENS_A_ROW: u64 = 4;

/// Some columns of both tables, and the work on them, on separate cache lines.
#[repr(align(128))]
struct Lane<'a> {
    source: Overlay<'a>,
    target: Overlay<'a>,
    /// The parts of the lane, counted from its first column.
    parts: Vec<Range<usize>>,
    columns: Columns,
    /// The next turn.
    next: usize,
}

impl<'a> Lane<'a> {
    fn new((source, target): (SharedTable<'a>, SharedTable<'a>), parts: &[Range<usize>]) -> Self {
        let first = parts[0].start;
        Self {
            source: Overlay::shared_only(source),
            target: Overlay::shared_only(target),
            parts: parts.iter().map(|part| part.start - first..part.end - first).collect(),
            columns: Columns::default(),
            next: 0,
        }
    }
}

/// The coefficients of the current step, and the sums of the block.
#[derive(Default)]
struct Joint {
    coefficients: Coefficients,
    loss: f64,
}

/// A number on its own cache lines.
#[repr(align(128))]
struct Apart(AtomicUsize);

/// A unit of the run, and the turn at which it begins.
#[derive(Clone, Copy)]
struct Start {
    index: u64,
    turn: usize,
}

/// The state that threads share.
struct Shared<'a> {
    lanes: Vec<Mutex<Lane<'a>>>,
    /// The current turn.
    turn: Apart,
    /// The number of lanes that have not finished it.
    missing: Apart,
    joint: RwLock<Joint>,
    /// The current unit.
    start: Mutex<Start>,
    /// Whether the last turn was the final one.
    stopped: AtomicBool,
    lost: Loss,
}

/// Divides the columns of a row into equal parts of whole cache lines. The number of parts is a power of two and
/// depends only on the row's length.
fn divide(stride: usize) -> Vec<Range<usize>> {
    let lines = stride.div_ceil(LINE);
    let most = (lines / MIN_LINES).clamp(1, MAX_PARTS);
    let n = 1 << most.ilog2();
    (0..n).map(|i| (lines * i / n * LINE)..(lines * (i + 1) / n * LINE).min(stride)).collect()
}

/// Distributes neighboring parts over lanes, at least one lane per thread if there are enough parts.
fn share(parts: &[Range<usize>], threads: usize) -> impl Iterator<Item = &[Range<usize>]> {
    parts.chunks_exact(parts.len() / threads.next_power_of_two().min(parts.len()))
}

/// Trains to the end, or until the run is halted.
pub(crate) fn train<E: Examples>(
    run: &TrainingRun<'_, E>,
    source: &mut Table,
    target: &mut Table,
    reporter: &mut Reporter,
) {
    let n_threads = run.n_threads;
    let parts = divide(source.stride());
    let columns: Vec<_> = share(&parts, n_threads).map(|own| own[0].start..own[own.len() - 1].end).collect();
    let n_tokens = run.corpus.n_tokens().saturating_mul(u64::from(run.params.n_epochs()));
    let together = |table: &Table| n_tokens / MIN_TOKENS_A_ROW >= table.n_rows() as u64;
    let (source_together, target_together) = (together(source), together(target));
    let mut source = Lanes::new(source, columns.clone(), source_together);
    let mut target = Lanes::new(target, columns, target_together);
    let tables = source.split().into_iter().zip(target.split());
    let lanes = tables.zip(share(&parts, n_threads)).map(|(tables, parts)| Mutex::new(Lane::new(tables, parts)));
    let lanes: Vec<_> = lanes.collect();
    let shared = Shared {
        turn: Apart(AtomicUsize::new(0)),
        missing: Apart(AtomicUsize::new(lanes.len())),
        lanes,
        joint: RwLock::default(),
        start: Mutex::new(Start { index: run.next.load(Ordering::Relaxed), turn: 0 }),
        stopped: AtomicBool::new(false),
        lost: Loss::default(),
    };
    std::thread::scope(|scope| {
        let shared = &shared;
        // If the system refuses a thread, others adopt its lanes, as those of a late thread.
        spawn_others(scope, n_threads, |thread| move || Worker { run, shared, thread, n_threads }.work(None));
        Worker { run, shared, thread: 0, n_threads }.work(Some(reporter));
    });
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// One thread's view of a unit.
struct Block<'p> {
    unit: Unit,
    start: Start,
    n_tokens: u64,
    /// The steps in order, each with the number of its plan, and the plan.
    steps: Vec<(usize, &'p Plan, &'p PlannedStep)>,
}

/// One thread of the schedule.
struct Worker<'a, E> {
    run: &'a TrainingRun<'a, E>,
    shared: &'a Shared<'a>,
    thread: usize,
    n_threads: usize,
}

impl<E: Examples> Worker<'_, E> {
    /// Works to the end. The thread with the reporter also calls the observer, which can stop the run.
    fn work(&self, mut reporter: Option<&mut Reporter>) {
        let Self { run, shared, .. } = *self;
        let _attendance = shared.lost.attend();
        let (mut sentences, mut cuts) = (BlockBuffer::default(), Vec::new());
        let (mut plans, mut scratch) = (Vec::<Plan>::new(), E::Scratch::default());
        // Lanes whose threads seem to have lost their cores.
        let mut adopted = vec![false; shared.lanes.len()];
        loop {
            let start = *lock(&shared.start);
            if start.index >= run.end || shared.stopped.load(Ordering::Acquire) {
                return;
            }
            let unit = run.unit(start.index);
            if let Err(error) = run.corpus.read_block(unit.block, &mut sentences) {
                run.fail(error.into());
                return shared.lost.declare();
            }
            steps(&sentences, run.pace.step_tokens, &mut cuts);
            plans.resize_with(plans.len().max(cuts.len()), Plan::default);
            for (i, (cut, plan)) in cuts.iter().zip(&mut plans).enumerate() {
                run.plan(&unit, i, cut.clone(), &sentences, &mut scratch, plan);
            }
            let plans = plans[..cuts.len()].iter().enumerate();
            let steps = plans.flat_map(|(i, plan)| plan.steps.iter().map(move |step| (i, plan, step))).collect();
            let block = Block { unit, start, n_tokens: sentences.n_tokens() as u64, steps };
            if self.turns(&block, &mut adopted).is_none() {
                return;
            }
            if let Some(reporter) = reporter.as_deref_mut() {
                run.report(&unit, reporter);
            }
        }
    }

    /// Takes part in the turns of a block: one for each step, and one for the backward pass of the last step. `None` if
    /// a thread was lost.
    fn turns(&self, block: &Block<'_>, adopted: &mut [bool]) -> Option<()> {
        let shared = self.shared;
        let (n_lanes, n_threads) = (shared.lanes.len(), self.n_threads);
        let own = self.thread * n_lanes / n_threads..(self.thread + 1) * n_lanes / n_threads;
        let mut spin = Spin::default();
        loop {
            let turn = shared.turn.0.load(Ordering::Acquire);
            let Some(done) = turn.checked_sub(block.start.turn) else {
                // The thread that ended the previous block has published where this one starts, but not yet started it.
                if shared.lost.is_declared() {
                    return None;
                }
                spin.wait();
                continue;
            };
            if done > block.steps.len() {
                return Some(());
            }
            for number in own.clone() {
                self.try_lane(block, turn, number)?;
            }
            for (number, adopted) in adopted.iter_mut().enumerate().filter(|(_, adopted)| **adopted) {
                // If the lane is done or locked, its owner is back.
                *adopted = self.try_lane(block, turn, number)?;
            }
            let mut spin = Spin::default();
            while shared.turn.0.load(Ordering::Acquire) == turn {
                if shared.lost.is_declared() {
                    return None;
                }
                spin.wait();
                if spin.is_long() {
                    for (number, adopted) in adopted.iter_mut().enumerate() {
                        *adopted |= self.try_lane(block, turn, number)?;
                    }
                }
            }
        }
    }

    /// Runs a turn of a lane unless it is done or locked; returns whether it ran. `None` if a thread was lost.
    fn try_lane(&self, block: &Block<'_>, turn: usize, number: usize) -> Option<bool> {
        let shared = self.shared;
        let mut lane = match shared.lanes[number].try_lock() {
            Ok(lane) => lane,
            Err(TryLockError::WouldBlock) => return Some(false),
            Err(TryLockError::Poisoned(_)) => return None,
        };
        if lane.next != turn {
            return Some(false);
        }
        self.lane_turn(block, turn - block.start.turn, &mut lane);
        lane.next += 1;
        drop(lane);
        if shared.missing.0.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.end_turn(block, turn - block.start.turn);
            shared.missing.0.store(shared.lanes.len(), Ordering::Relaxed);
            shared.turn.0.store(turn + 1, Ordering::Release);
        }
        Some(true)
    }

    /// Runs turn `i` of a block for one lane.
    fn lane_turn(&self, block: &Block<'_>, i: usize, lane: &mut Lane<'_>) {
        let Lane { source, target, parts, columns, .. } = lane;
        for ahead in if i == 0 { 0..2 } else { i + 1..i + 2 } {
            if let Some((_, plan, step)) = block.steps.get(ahead) {
                Columns::prefetch(plan, step, source, target);
            }
        }
        if i > 0 {
            let (_, plan, step) = block.steps[i - 1];
            let joint = self.shared.joint.read().unwrap_or_else(PoisonError::into_inner);
            columns.backward(plan, step, &joint.coefficients, block.unit.rate, source, target);
        }
        if let Some((_, plan, step)) = block.steps.get(i) {
            columns.forward(plan, step, source, target, parts);
        }
    }

    /// Completes turn `i` after all lanes: computes the coefficients of a step from its products, or ends the block.
    fn end_turn(&self, block: &Block<'_>, i: usize) {
        let mut joint = self.shared.joint.write().unwrap_or_else(PoisonError::into_inner);
        let Some(&(number, plan, step)) = block.steps.get(i) else { return self.end_block(block, &mut joint) };
        let lanes: Vec<_> = self.shared.lanes.iter().map(lock).collect();
        let products = lanes.iter().flat_map(|lane| lane.columns.products());
        let wants_loss = TrainingRun::<E>::wants_loss(&block.unit, number);
        let loss = joint.coefficients.combine(plan, step, products, block.unit.rate, wants_loss);
        joint.loss += loss;
    }

    fn end_block(&self, block: &Block<'_>, joint: &mut Joint) {
        let Self { run, shared, .. } = *self;
        let counted = block.steps.iter().filter(|(number, ..)| TrainingRun::<E>::wants_loss(&block.unit, *number));
        let targets = counted.map(|(_, _, step)| step.targets.len() as u64).sum();
        let loss = std::mem::take(&mut joint.loss);
        run.count(&block.unit, &Tally { tokens: block.n_tokens, loss, targets });
        let next = block.start.index + 1;
        run.next.store(next, Ordering::Relaxed);
        *lock(&shared.start) = Start { index: next, turn: block.start.turn + block.steps.len() + 1 };
        shared.stopped.store(next >= run.end || run.halted(), Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_divided_into_whole_cache_lines_by_the_length_alone() {
        for stride in [1, 8, 16, 32, 112, 304, 704, 65_536] {
            let parts = divide(stride);
            assert_eq!((parts[0].start, parts[parts.len() - 1].end), (0, stride));
            assert!(parts.windows(2).all(|pair| pair[0].end == pair[1].start));
            assert!(parts.iter().all(|part| part.start % LINE == 0 && !part.is_empty()));
        }
        assert_eq!([16, 112, 304, 704].map(|stride| divide(stride).len()), [1, 2, 4, 8]);
    }

    #[test]
    fn lanes_are_made_of_all_parts_in_order_whatever_the_number_of_threads() {
        let parts = divide(304);
        for (threads, n) in [(1, 1), (2, 2), (3, 4), (4, 4), (100, 4)] {
            let lanes: Vec<_> = share(&parts, threads).collect();
            assert_eq!((lanes.len(), lanes.concat()), (n, parts.clone()));
        }
    }
}
