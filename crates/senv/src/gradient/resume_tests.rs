//! Tests checkpoints of the loop: a stopped run resumes bit-identically, and forged files are refused.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use senv_core::{
    Control, Observer, Progress, RunOptions, Table,
    checkpoint::CheckpointPlan,
    optim::{CustomUpdate, UpdateRule},
};

use super::{
    tests::{Targets, bits, initial, params, with_output},
    *,
};
use crate::error::Error;

/// Stops after this number of reports; there is a report at the end at the latest.
struct StopAt(AtomicU64);

impl Observer for StopAt {
    fn progress(&self, _: &Progress) -> Control {
        if self.0.fetch_sub(1, Ordering::Relaxed) == 1 { Control::Stop } else { Control::Continue }
    }
}

/// Different weights of the same shapes, to tell where a resumed run started.
fn ones(mut weights: Weights) -> Weights {
    weights.words.values_mut().fill(1.0);
    weights
}

/// Forged files have valid checksums but impossible contents: too many steps, missing examples, weights of other
/// shapes.
#[test]
fn forged_checkpoints_are_refused() {
    let mut order = example_order::ExampleOrder::new(vec![Source { n_examples: 5, weight: None }; 2], 2, 1);
    let watch = watch::Watch::new(1.0);
    let position = |step, loss, order: &example_order::ExampleOrder| checkpoint::FitPosition {
        step,
        cursors: order.cursors.clone(),
        history: vec![],
        stale: 0,
        loss: (0.0, loss),
        watch,
    };
    assert!(position(6, 6, &order).is_possible(&order, 6));
    assert!(!position(7, 6, &order).is_possible(&order, 6) && !position(u64::MAX, 6, &order).is_possible(&order, 6));
    assert!(!position(6, u64::MAX, &order).is_possible(&order, 6));
    order.next(0, &mut Vec::new()); // two examples of a source are used
    for n_examples in [1, 3] {
        let smaller = example_order::ExampleOrder::new(vec![Source { n_examples, weight: None }; 2], 2, 1);
        let one = example_order::ExampleOrder::new(vec![Source { n_examples: 5, weight: None }], 2, 1);
        let behind = position(1, 1, &order);
        assert_eq!(behind.is_possible(&smaller, 6), n_examples > 2, "{n_examples}");
        assert!(!behind.is_possible(&one, 6), "a source too many");
    }

    let folder = tempfile::tempdir().unwrap();
    let plan = |resume| Some(CheckpointPlan { path: folder.path().join("c"), every: None, resume });
    stopped_after(&mut Targets::default(), 3, &params(), plan(false));
    let resumed = RunOptions { checkpoint: plan(true), ..RunOptions::default() };
    let longer = || {
        let Weights { words, parameters } = initial()?;
        Ok(Weights { words: Table::zeros(words.n_rows() + 1, words.dim())?, parameters })
    };
    for error in [
        fit(&mut Targets::default(), longer, &params(), &resumed).unwrap_err(),
        fit(&mut Targets::default(), with_output, &params(), &resumed).unwrap_err(),
    ] {
        assert!(error.to_string().contains("weights of different shapes"), "{error}");
    }
    fit(&mut Targets::default(), initial, &params(), &resumed).unwrap();
}

/// A custom update rule, with momentum.
#[derive(Debug)]
struct Momentum;

impl CustomUpdate for Momentum {
    fn n_moments(&self) -> usize {
        1
    }

    fn update(&self, _: u64, lr: f64, x: &mut [f32], d_x: &[f32], [m, _]: [&mut [f32]; 2]) {
        for ((x, d), m) in x.iter_mut().zip(d_x).zip(m) {
            *m = 0.5 * *m + d;
            *x -= lr as f32 * *m;
        }
    }
}

#[test]
fn a_run_that_is_stopped_and_resumed_gives_the_same_bits() {
    let folder = tempfile::tempdir().unwrap();
    let own = UpdateRule::custom("resumed-momentum", Arc::new(Momentum)).unwrap();
    for (rule, weight) in [(UpdateRule::default(), None), (UpdateRule::Sgd, Some(3.0)), (own, Some(2.0))] {
        let params = FitParams { rule, epochs: Some(4), ..params() };
        let objective = || Targets { scores: vec![0.1, 0.5, 0.2, 0.3], weight, ..Targets::default() };
        let whole = fit(&mut objective(), initial, &params, &RunOptions::default()).unwrap();
        let path = folder.path().join(format!("{weight:?}"));
        for stop in 1..whole.steps {
            let plan = |resume| Some(CheckpointPlan { path: path.clone(), every: None, resume });
            let mut run = objective();
            let broken = stopped_after(&mut run, stop, &params, plan(false));
            assert_eq!((broken.stopped, broken.steps), (Stopped::Interrupted, stop));
            let mut second = Targets { validations: run.validations, ..objective() };
            let options = RunOptions { checkpoint: plan(true), ..RunOptions::default() };
            let resumed = fit(&mut second, || initial().map(ones), &params, &options).unwrap();
            assert_eq!(bits(&whole.weights), bits(&resumed.weights), "stopped after {stop}");
            assert_eq!((&whole.history, whole.best, whole.loss), (&resumed.history, resumed.best, resumed.loss));
        }
        let other = FitParams { lr: Some(0.06), ..params };
        let checkpoint = Some(CheckpointPlan { path, every: None, resume: true });
        let options = RunOptions { checkpoint, ..RunOptions::default() };
        let error = fit(&mut objective(), initial, &other, &options).unwrap_err();
        assert!(matches!(error, Error::CheckpointMismatch { .. }), "{error}");
    }
}

/// A run that is stopped after exactly this number of steps.
fn stopped_after(
    objective: &mut Targets,
    steps: u64,
    params: &FitParams,
    checkpoint: Option<CheckpointPlan>,
) -> FitOutcome {
    params.check().unwrap();
    let options =
        RunOptions { threads: 2, checkpoint, observer: &StopAt(AtomicU64::new(steps)), ..RunOptions::default() };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(options.threads).build().unwrap();
    pool.install(|| run::FitRun::new(objective, initial, params, &options).unwrap().reporting_always().go()).unwrap()
}

#[test]
fn a_run_with_rows_is_resumed_to_the_bit() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows");
    let objective = || Targets { output: Some(true), ..Targets::default() };
    let params = FitParams { epochs: Some(4), ..params() };
    let whole = fit(&mut objective(), with_output, &params, &RunOptions::default()).unwrap();
    for stop in [1, 7, 20] {
        let plan = |resume| Some(CheckpointPlan { path: path.clone(), every: None, resume });
        let first = RunOptions {
            checkpoint: plan(false),
            threads: 1,
            observer: &StopAt(AtomicU64::new(stop)),
            ..RunOptions::default()
        };
        let run =
            run::FitRun::new(&mut objective(), with_output, &params, &first).unwrap().reporting_always().go().unwrap();
        assert_eq!((run.stopped, run.steps), (Stopped::Interrupted, stop));
        let second = RunOptions { checkpoint: plan(true), threads: 2, ..RunOptions::default() };
        let resumed = fit(&mut objective(), || with_output().map(ones), &params, &second).unwrap();
        assert_eq!(bits(&whole.weights), bits(&resumed.weights), "stopped after {stop}");
    }
}

/// Stops, and counts the checkpoints that could not be written.
struct Refused(StopAt, AtomicU64);

impl Observer for Refused {
    fn progress(&self, progress: &Progress) -> Control {
        self.0.progress(progress)
    }

    fn checkpoint(&self, written: Result<&std::path::Path, &senv_core::Error>) {
        self.1.fetch_add(u64::from(written.is_err()), Ordering::Relaxed);
    }
}

/// Keeps the notes.
#[derive(Default)]
struct Notes(std::sync::Mutex<Vec<String>>);

impl Observer for Notes {
    fn progress(&self, _: &Progress) -> Control {
        Control::Continue
    }

    fn note(&self, message: &str) {
        self.0.lock().unwrap().push(message.to_owned());
    }
}

#[test]
fn a_checkpoint_that_cannot_be_written_does_not_end_the_training() {
    let path = std::path::PathBuf::from("/dev/null/no/such/folder/checkpoint");
    let plan = CheckpointPlan { path, every: Some(std::time::Duration::ZERO), resume: false };
    let (notes, whole) =
        (Notes::default(), fit(&mut Targets::default(), initial, &params(), &RunOptions::default()).unwrap());
    let options = RunOptions { checkpoint: Some(plan), observer: &notes, ..RunOptions::default() };
    let run = fit(&mut Targets::default(), initial, &params(), &options).unwrap();
    assert_eq!((run.stopped, bits(&run.weights)), (Stopped::Finished, bits(&whole.weights)));
    let notes = notes.0.lock().unwrap();
    assert!(notes[0].contains("the checkpoint could not be written: cannot create /dev/null/no/such"), "{}", notes[0]);
    let params = params();
    let observer = Refused(StopAt(AtomicU64::new(2)), AtomicU64::new(0));
    let options = RunOptions { observer: &observer, ..options };
    let stopped =
        run::FitRun::new(&mut Targets::default(), initial, &params, &options).unwrap().reporting_always().go();
    assert_eq!(stopped.unwrap().stopped, Stopped::Interrupted, "the caller has the weights");
    assert_eq!(observer.1.load(Ordering::Relaxed), 2, "once for each step");
}
