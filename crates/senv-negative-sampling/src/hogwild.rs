//! Threads that write the same rows without locks: Niu, Recht, Ré and Wright, "Hogwild!: A Lock-Free Approach to
//! Parallelizing Stochastic Gradient Descent", 2011. With one thread the result is the same bits every time.

use std::{ops::Range, slice, sync::atomic::Ordering};

use senv_core::{Table, corpus::BlockBuffer, kernels::SharedTable, threads::spawn_others};

use crate::{
    coefficients::Coefficients,
    examples::Examples,
    overlay::{Overlay, PrivateRows},
    plan::Plan,
    run::{Reporter, Tally, TrainingRun, steps},
    step::Columns,
};

/// The number of rows of each table that every thread copies, if there are several.
const PRIVATE_ROWS: usize = 64;

/// Trains to the end, or until the run is halted.
pub(crate) fn train<E: Examples>(
    run: &TrainingRun<'_, E>,
    source: &mut Table,
    target: &mut Table,
    reporter: &mut Reporter,
) {
    let (source, target) = (SharedTable::new(source), SharedTable::new(target));
    std::thread::scope(|scope| {
        spawn_others(scope, run.n_threads, |_| move || work(run, source, target, None));
        work(run, source, target, Some(reporter));
    });
}

fn work<E: Examples>(
    run: &TrainingRun<'_, E>,
    source: SharedTable<'_>,
    target: SharedTable<'_>,
    mut reporter: Option<&mut Reporter>,
) {
    let mut private = None;
    // With very few words, copies would drift apart between merges.
    if run.n_threads > 1 && run.pace.is_longest() {
        let rows = |table: &SharedTable<'_>| PrivateRows::new(PRIVATE_ROWS.min(table.n_rows()), table.dim());
        match rows(&source).and_then(|s| Ok((s, rows(&target)?))) {
            Ok(mut rows) => {
                rows.0.load(source);
                rows.1.load(target);
                private = Some(rows);
            }
            Err(error) => return run.fail(error.into()),
        }
    }
    let mut change = vec![0.0; source.stride()];
    let mut worker = Worker::<E>::default();
    while !run.halted() {
        let index = run.next.fetch_add(1, Ordering::Relaxed);
        if index >= run.end {
            break;
        }
        let unit = run.unit(index);
        if let Err(error) = run.corpus.read_block(unit.block, &mut worker.block) {
            run.fail(error.into());
            break;
        }
        let (source_rows, target_rows) = match &mut private {
            Some((s, t)) => (Overlay::with_private(source, s), Overlay::with_private(target, t)),
            None => (Overlay::shared_only(source), Overlay::shared_only(target)),
        };
        let done = worker.block(run, &unit, &source_rows, &target_rows);
        run.count(&unit, &done);
        if let Some(reporter) = reporter.as_deref_mut() {
            run.report(&unit, reporter);
        }
        if let Some((s, t)) = &mut private {
            s.merge(source, &mut change);
            t.merge(target, &mut change);
        }
    }
}

/// A thread's memory. The next step is planned, and its rows prefetched, before the current one is computed.
struct Worker<E: Examples> {
    block: BlockBuffer,
    steps: Vec<Range<usize>>,
    plan: Plan,
    next_plan: Plan,
    columns: Columns,
    coefficients: Coefficients,
    scratch: E::Scratch,
}

impl<E: Examples> Default for Worker<E> {
    fn default() -> Self {
        Self {
            block: BlockBuffer::default(),
            steps: Vec::new(),
            plan: Plan::default(),
            next_plan: Plan::default(),
            columns: Columns::default(),
            coefficients: Coefficients::default(),
            scratch: E::Scratch::default(),
        }
    }
}

impl<E: Examples> Worker<E> {
    fn block(
        &mut self,
        run: &TrainingRun<'_, E>,
        unit: &crate::run::Unit,
        source: &Overlay<'_>,
        target: &Overlay<'_>,
    ) -> Tally {
        let Self { block, steps: cuts, plan, next_plan, columns, coefficients, scratch } = self;
        steps(block, run.pace.step_tokens, cuts);
        let mut tally = Tally { tokens: block.n_tokens() as u64, ..Tally::default() };
        let Some(first) = cuts.first() else { return tally };
        run.plan(unit, 0, first.clone(), block, scratch, plan);
        let whole = 0..source.stride();
        for i in 0..cuts.len() {
            if let Some(sentences) = cuts.get(i + 1) {
                run.plan(unit, i + 1, sentences.clone(), block, scratch, next_plan);
                for step in &next_plan.steps {
                    Columns::prefetch(next_plan, step, source, target);
                }
            }
            let want_loss = TrainingRun::<E>::wants_loss(unit, i);
            for step in &plan.steps {
                columns.forward(plan, step, source, target, slice::from_ref(&whole));
                let loss = coefficients.combine(plan, step, columns.products(), unit.rate, want_loss);
                columns.backward(plan, step, coefficients, unit.rate, source, target);
                tally.loss += loss;
            }
            if want_loss {
                tally.targets += plan.n_targets() as u64;
            }
            std::mem::swap(plan, next_plan);
        }
        tally
    }
}
