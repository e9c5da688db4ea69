//! The same bits at any number of threads.
//!
//! A round takes a number of steps that the text alone decides. First all of them are computed, side by side, at the tables as the last
//! round left them; then their updates are applied, each thread taking some of the rows, and to every row in the
//! order of the steps. Who does what depends on the threads, what is done does not. Nothing is written while
//! anything is read, and no row is written by two threads: there is no lock and no race, and the lines of frequent
//! rows wander between cores once a round instead of once a sentence.

use std::{
    ops::Range,
    sync::{
        PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard,
        atomic::{AtomicUsize, Ordering},
    },
};

use senv_core::{BlockBuffer, Table, kernels::SharedTable};

use crate::{
    barrier::Barrier,
    examples::Examples,
    overlay::Overlay,
    plan::Plan,
    run::{Reporter, Run, Tally, Unit, steps},
    step::Step,
};

/// Groups of rows; a thread applies one group after another.
const PARTITIONS: usize = 32;

/// A step's plan and updates.
#[derive(Default)]
struct Slot {
    plan: Plan,
    step: Step,
    loss: f64,
}

/// What the threads share.
struct Shared<'a> {
    /// Steps of a round.
    round: usize,
    source: SharedTable<'a>,
    target: SharedTable<'a>,
    block: RwLock<(BlockBuffer, Vec<Range<usize>>)>,
    slots: Vec<RwLock<Slot>>,
    barrier: Barrier,
    next_slot: AtomicUsize,
}

/// Trains until the end, or until the run is told to halt.
pub(crate) fn train<E: Examples>(run: &Run<'_, E>, source: &mut Table, target: &mut Table, reporter: &mut Reporter) {
    let n_threads = run.params.threads;
    let shared = Shared {
        round: run.pace.round_steps,
        source: SharedTable::new(source),
        target: SharedTable::new(target),
        block: RwLock::default(),
        slots: (0..run.pace.round_steps).map(|_| RwLock::default()).collect(),
        barrier: Barrier::new(n_threads),
        next_slot: AtomicUsize::new(0),
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
                let mut block = write(&shared.block);
                let (buffer, cuts) = &mut *block;
                match run.corpus.read_block(unit.block, buffer) {
                    Ok(()) => steps(buffer, run.pace.step_tokens, cuts),
                    Err(error) => {
                        cuts.clear();
                        run.fail(error.into());
                    }
                }
            }
            if !shared.barrier.wait() {
                return;
            }
            let block = read(&shared.block);
            let mut tally = Tally { tokens: block.0.n_tokens() as u64, ..Tally::default() };
            for first in (0..block.1.len()).step_by(shared.round) {
                let n_slots = shared.round.min(block.1.len() - first);
                if !self.round(&unit, &block, first..first + n_slots, &mut scratch, &mut tally) {
                    return;
                }
            }
            drop(block);
            if let Some(reporter) = reporter.as_deref_mut() {
                run.count(&unit, &tally);
                run.report(&unit, reporter);
                run.next.store(index + 1, Ordering::Relaxed);
            }
            if !shared.barrier.wait() {
                return;
            }
        }
    }

    /// One round over the steps `range` of a block. `false` if a thread was lost.
    fn round(
        &self,
        unit: &Unit,
        (block, cuts): &(BlockBuffer, Vec<Range<usize>>),
        range: Range<usize>,
        scratch: &mut E::Scratch,
        tally: &mut Tally,
    ) -> bool {
        let Self { run, shared, thread } = *self;
        let source = Overlay::shared_only(shared.source);
        let target = Overlay::shared_only(shared.target);
        let claim = |scratch: &mut E::Scratch| {
            let i = shared.next_slot.fetch_add(1, Ordering::Relaxed);
            (i < range.len()).then(|| {
                let mut slot = write(&shared.slots[i]);
                let step = range.start + i;
                run.plan(unit, step, cuts[step].clone(), block, scratch, &mut slot.plan);
                Step::prefetch(&slot.plan, &source, &target);
                (step, slot)
            })
        };
        let mut present = claim(scratch);
        while let Some((step, mut guard)) = present {
            present = claim(scratch);
            let slot = &mut *guard;
            slot.loss = slot.step.compute(&slot.plan, &source, &target, unit.rate, Run::<E>::wants_loss(unit, step));
            slot.step.partition(PARTITIONS);
        }
        if !shared.barrier.wait() {
            return false;
        }
        shared.next_slot.store(0, Ordering::Relaxed);
        let slots: Vec<_> = shared.slots[..range.len()].iter().map(read).collect();
        for (i, slot) in slots.iter().enumerate() {
            if Run::<E>::wants_loss(unit, range.start + i) {
                tally.loss += slot.loss;
                tally.targets += slot.plan.n_targets() as u64;
            }
        }
        // A row is always written by the same thread, so that it stays in that core's cache.
        for p in (thread..PARTITIONS).step_by(run.params.threads) {
            for slot in &slots {
                slot.step.apply_partition(p, &source, &target);
            }
        }
        drop(slots);
        if !shared.barrier.wait() {
            return false;
        }
        true
    }
}
