//! The same bits at any number of threads, and every step sees what the one before it moved.
//!
//! Steps that are computed side by side, at the tables as they were before any of them, overshoot: the rows of frequent
//! words and of the placeholder are in nearly every context, so the moves of 16 steps add up along one direction, and at
//! the learning rates of the papers training diverges where plain stochastic gradient descent converges. So steps follow
//! each other here, and threads share the work of one: each takes some columns of all rows.
//!
//! ```text
//! turn i, columns p:   backward of step i − 1 on p, then forward of step i on p        any thread, once
//! after turn i:        coefficients of step i from the products of all columns         the thread that ends it
//! ```
//!
//! The columns are divided by the dimension alone, and products are added in the order of the columns, so the bits do not
//! depend on who does what. A thread takes the columns that it had before, and those of others when they are late: a
//! thread that lost its core holds nobody up unless it lost it in the middle of a turn. No row wanders between cores.

use std::{
    ops::Range,
    sync::{
        Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError,
        atomic::{AtomicUsize, Ordering},
    },
};

use senv_core::{BlockBuffer, Table, kernels::SharedTable};

use crate::{
    barrier::{Barrier, Spin},
    coefficients::Coefficients,
    examples::Examples,
    overlay::Overlay,
    plan::{Plan, Step},
    run::{Reporter, Run, Tally, Unit, steps},
    step::Columns,
};

/// Columns are divided in multiples of a cache line.
const LINE: usize = 16;

/// Cache lines of a row that one range of columns has at least, and ranges at most.
const MIN_LINES: usize = 3;
const MAX_RANGES: usize = 8;

/// Some columns of both tables, and the work on them.
struct Lane {
    range: Range<usize>,
    columns: Columns,
    /// The turn that comes next.
    next: usize,
}

/// The coefficients of the present step, and the sums of the block.
#[derive(Default)]
struct Joint {
    coefficients: Coefficients,
    loss: f64,
}

/// A block of the corpus, cut into runs of sentences, and their plans.
#[derive(Default)]
struct Batch {
    sentences: BlockBuffer,
    cuts: Vec<Range<usize>>,
    /// One for each cut; more where an earlier block had more.
    plans: Vec<RwLock<Plan>>,
}

/// What the threads share.
struct Shared<'a> {
    source: SharedTable<'a>,
    target: SharedTable<'a>,
    batch: RwLock<Batch>,
    next_plan: AtomicUsize,
    lanes: Vec<Mutex<Lane>>,
    joint: RwLock<Joint>,
    /// Lanes whose part of the present turn is not done, and the number of the turn.
    missing: AtomicUsize,
    turn: AtomicUsize,
    barrier: Barrier,
}

/// Divides the columns of a row: by its length alone, into equal parts of whole cache lines.
fn divide(stride: usize) -> impl Iterator<Item = Range<usize>> {
    let lines = stride.div_ceil(LINE);
    let most = (lines / MIN_LINES).clamp(1, MAX_RANGES);
    let n = 1 << most.ilog2();
    (0..n).map(move |i| (lines * i / n * LINE)..(lines * (i + 1) / n * LINE).min(stride))
}

/// Trains until the end, or until the run is told to halt.
pub(crate) fn train<E: Examples>(run: &Run<'_, E>, source: &mut Table, target: &mut Table, reporter: &mut Reporter) {
    let n_threads = run.params.threads;
    let lanes: Vec<_> =
        divide(source.stride()).map(|range| Mutex::new(Lane { range, columns: Columns::default(), next: 0 })).collect();
    let shared = Shared {
        source: SharedTable::new(source),
        target: SharedTable::new(target),
        batch: RwLock::default(),
        next_plan: AtomicUsize::new(0),
        missing: AtomicUsize::new(lanes.len()),
        lanes,
        joint: RwLock::default(),
        turn: AtomicUsize::new(0),
        barrier: Barrier::new(n_threads),
    };
    std::thread::scope(|scope| {
        for thread in 1..n_threads {
            let shared = &shared;
            scope.spawn(move || Worker { run, shared, thread }.work(None));
        }
        Worker { run, shared: &shared, thread: 0 }.work(Some(reporter));
    });
}

fn read<T>(lock: &RwLock<T>) -> RwLockReadGuard<'_, T> {
    lock.read().unwrap_or_else(PoisonError::into_inner)
}

fn write<T>(lock: &RwLock<T>) -> RwLockWriteGuard<'_, T> {
    lock.write().unwrap_or_else(PoisonError::into_inner)
}

fn lock(lane: &Mutex<Lane>) -> MutexGuard<'_, Lane> {
    lane.lock().unwrap_or_else(PoisonError::into_inner)
}

/// One thread.
struct Worker<'a, E> {
    run: &'a Run<'a, E>,
    shared: &'a Shared<'a>,
    thread: usize,
}

impl<E: Examples> Worker<'_, E> {
    /// Works until the end; the thread with the reporter also reads the corpus and decides when to halt.
    fn work(&self, mut reporter: Option<&mut Reporter>) {
        let Self { run, shared, .. } = *self;
        let _attendance = shared.barrier.attend();
        let mut scratch = E::Scratch::default();
        loop {
            let index = run.next.load(Ordering::Relaxed);
            if index >= run.n_units || run.halted() {
                return;
            }
            let unit = run.unit(index);
            if reporter.is_some() {
                self.begin(&unit);
            }
            if !shared.barrier.wait() {
                return;
            }
            let batch = read(&shared.batch);
            self.plan(&unit, &batch, &mut scratch);
            if !shared.barrier.wait() {
                return;
            }
            let plans: Vec<_> = batch.plans[..batch.cuts.len()].iter().map(read).collect();
            if !self.turns(&unit, &plans) {
                return;
            }
            if let Some(reporter) = reporter.as_deref_mut() {
                let targets = (0..plans.len())
                    .filter(|&i| Run::<E>::wants_loss(&unit, i))
                    .map(|i| plans[i].n_targets() as u64)
                    .sum();
                run.count(
                    &unit,
                    &Tally { tokens: batch.sentences.n_tokens() as u64, loss: read(&shared.joint).loss, targets },
                );
                run.report(&unit, reporter);
                run.next.store(index + 1, Ordering::Relaxed);
            }
            drop(plans);
            drop(batch);
            if !shared.barrier.wait() {
                return;
            }
        }
    }

    /// Reads a block and makes everything ready for it.
    fn begin(&self, unit: &Unit) {
        let Self { run, shared, .. } = *self;
        let mut batch = write(&shared.batch);
        let Batch { sentences, cuts, plans } = &mut *batch;
        match run.corpus.read_block(unit.block, sentences) {
            Ok(()) => steps(sentences, run.pace.step_tokens, cuts),
            Err(error) => {
                cuts.clear();
                run.fail(error.into());
            }
        }
        if plans.len() < cuts.len() {
            plans.resize_with(cuts.len(), RwLock::default);
        }
        shared.next_plan.store(0, Ordering::Relaxed);
        shared.turn.store(0, Ordering::Relaxed);
        shared.missing.store(shared.lanes.len(), Ordering::Relaxed);
        write(&shared.joint).loss = 0.0;
        for lane in &shared.lanes {
            lock(lane).next = 0;
        }
    }

    /// Plans the sentences of the block, as many as the other threads leave.
    fn plan(&self, unit: &Unit, batch: &Batch, scratch: &mut E::Scratch) {
        loop {
            let i = self.shared.next_plan.fetch_add(1, Ordering::Relaxed);
            let Some(sentences) = batch.cuts.get(i) else { return };
            let mut plan = write(&batch.plans[i]);
            self.run.plan(unit, i, sentences.clone(), &batch.sentences, scratch, &mut plan);
        }
    }

    /// Takes part in the turns of a block. `false` if a thread was lost.
    fn turns(&self, unit: &Unit, plans: &[RwLockReadGuard<'_, Plan>]) -> bool {
        let shared = self.shared;
        let order: Vec<(usize, &Plan, &Step)> = plans
            .iter()
            .enumerate()
            .flat_map(|(i, plan)| plan.steps.iter().map(move |step| (i, &**plan, step)))
            .collect();
        let (n_lanes, n_threads) = (shared.lanes.len(), self.run.params.threads);
        let own = self.thread * n_lanes / n_threads..(self.thread + 1) * n_lanes / n_threads;
        loop {
            let turn = shared.turn.load(Ordering::Acquire);
            if turn > order.len() || order.is_empty() {
                return true;
            }
            for number in own.clone() {
                if !self.try_lane(unit, &order, turn, number) {
                    return false;
                }
            }
            // The others are late if the turn does not end within a microsecond or two.
            let mut spin = Spin::default();
            while shared.turn.load(Ordering::Acquire) == turn {
                if shared.barrier.is_abandoned() {
                    return false;
                }
                spin.wait();
                if spin.is_long() && !(0..n_lanes).all(|number| self.try_lane(unit, &order, turn, number)) {
                    return false;
                }
            }
        }
    }

    /// Does the present turn of a lane, unless it is done or under work. `false` if a thread was lost.
    fn try_lane(&self, unit: &Unit, order: &[(usize, &Plan, &Step)], turn: usize, number: usize) -> bool {
        let shared = self.shared;
        let mut lane = match shared.lanes[number].try_lock() {
            Ok(lane) => lane,
            Err(TryLockError::WouldBlock) => return true,
            Err(TryLockError::Poisoned(_)) => return false,
        };
        if lane.next != turn {
            return true;
        }
        self.lane_turn(unit, order, turn, &mut lane);
        lane.next += 1;
        drop(lane);
        if shared.missing.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.end_turn(unit, order.get(turn));
            shared.missing.store(shared.lanes.len(), Ordering::Relaxed);
            shared.turn.store(turn + 1, Ordering::Release);
        }
        true
    }

    /// One turn of one lane.
    fn lane_turn(&self, unit: &Unit, order: &[(usize, &Plan, &Step)], turn: usize, lane: &mut Lane) {
        let shared = self.shared;
        let source = Overlay::shared_only(shared.source.columns(lane.range.clone()));
        let target = Overlay::shared_only(shared.target.columns(lane.range.clone()));
        if turn == 0
            && let Some((_, plan, step)) = order.first()
        {
            Columns::prefetch(plan, step, &source, &target);
        }
        if let Some((_, plan, step)) = order.get(turn + 1) {
            Columns::prefetch(plan, step, &source, &target);
        }
        if turn > 0 {
            let (_, plan, step) = order[turn - 1];
            lane.columns.backward(plan, step, &read(&shared.joint).coefficients, unit.rate, &source, &target);
        }
        if let Some((_, plan, step)) = order.get(turn) {
            lane.columns.forward(plan, step, &source, &target);
        }
    }

    /// The coefficients of a step, once all lanes have computed its products.
    fn end_turn(&self, unit: &Unit, step: Option<&(usize, &Plan, &Step)>) {
        let Some(&(i, plan, step)) = step else { return };
        let lanes: Vec<_> = self.shared.lanes.iter().map(lock).collect();
        let mut joint = write(&self.shared.joint);
        let products = lanes.iter().map(|lane| lane.columns.products());
        let loss = joint.coefficients.combine(plan, step, products, unit.rate, Run::<E>::wants_loss(unit, i));
        joint.loss += loss;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_divided_into_whole_cache_lines_by_the_length_alone() {
        for stride in [1, 8, 16, 32, 112, 304, 704, 65_536] {
            let ranges: Vec<_> = divide(stride).collect();
            assert_eq!((ranges[0].start, ranges[ranges.len() - 1].end), (0, stride));
            assert!(ranges.windows(2).all(|pair| pair[0].end == pair[1].start));
            assert!(ranges.iter().all(|range| range.start % LINE == 0 && !range.is_empty()));
        }
        assert_eq!([16, 112, 304, 704].map(|stride| divide(stride).count()), [1, 2, 4, 8]);
    }
}
