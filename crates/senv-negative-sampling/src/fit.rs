//! The loop over the corpus: run until the next checkpoint is due, write it, go on.

use std::{
    io,
    time::{Duration, Instant},
};

use senv_core::{
    Corpus, RunOptions, Table,
    checkpoint::{self, About, CheckpointPlan},
};
use serde::{Deserialize, Serialize};

use crate::{
    Error, Result,
    examples::Examples,
    hogwild,
    noise::Noise,
    pace::Pace,
    params::{NegativeSamplingParams, Schedule},
    run::{Job, Reporter, Run, Tally},
};

/// What the checkpoint file is said to hold.
const CHECKPOINT_KIND: &str = "senv-negative-sampling";

/// The two tables of a model: what contexts are made of, and what is predicted.
#[derive(Debug, Clone)]
pub struct Tables {
    /// Source rows v: the embeddings.
    pub source: Table,
    /// Target rows u.
    pub target: Table,
}

/// What training came to.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// The trained tables, or where they stood when training was stopped.
    pub tables: Tables,
    /// Mean loss of a target over the whole run, in nats, sampled in one step of eight.
    pub loss: f64,
    /// Tokens trained on by this run of the program, each counted once an epoch.
    pub tokens: u64,
    /// Wall time of training in this run of the program: no initialising, no saving.
    pub training: Duration,
    /// The observer asked to stop before the end; the checkpoint (where one was asked for) is written, or the observer
    /// has heard why not.
    pub interrupted: bool,
}

impl Outcome {
    /// Tokens a wall second of training.
    #[must_use]
    pub fn tokens_per_second(&self) -> f64 {
        self.tokens as f64 / self.training.as_secs_f64().max(1e-9)
    }
}

/// Settings that a resumed run must share, and its position.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct State {
    /// Settings of the model and the trainer, as JSON.
    settings: String,
    /// Fingerprint of the text.
    corpus: u64,
    next_unit: u64,
    tokens: u64,
    loss: f64,
    targets: u64,
}

impl State {
    /// Whether a run on this corpus can stand there: sums over more than the whole run would overflow sooner or later.
    fn is_possible(&self, corpus: &Corpus, params: &NegativeSamplingParams) -> bool {
        let epochs = u64::from(params.n_epochs());
        let whole = |n: u64| n.saturating_mul(epochs);
        let is_sum = self.loss.is_finite() && self.loss >= 0.0 && self.targets <= u64::MAX / 2;
        self.next_unit <= whole(corpus.n_blocks() as u64) && self.tokens <= whole(corpus.n_tokens()) && is_sum
    }
}

/// Trains on a corpus.
///
/// `settings` describes everything the tables depend on beside the text (a JSON text, say); a checkpoint is only
/// resumed under equal settings. `initial` makes the tables of a new run; it is not called when one is resumed.
///
/// # Errors
/// [`Error::Diverged`] when the loss comes to four times that of guessing, [`Error::NothingToLearn`] when the corpus holds no example,
/// [`Error::CheckpointMismatch`] when a checkpoint is of another run, [`Error::Core`] for parameters, files, memory, and where
/// the observer stops the run before anything is trained.
pub fn fit<E: Examples>(
    corpus: &Corpus,
    examples: &E,
    noise: &Noise,
    params: &NegativeSamplingParams,
    settings: &str,
    initial: impl FnOnce() -> Result<Tables>,
    options: &RunOptions<'_>,
) -> Result<Outcome> {
    params.check()?;
    options.check()?;
    let fresh = State {
        settings: settings.to_owned(),
        corpus: corpus.fingerprint(),
        next_unit: 0,
        tokens: 0,
        loss: 0.0,
        targets: 0,
    };
    let plan = options.checkpoint.as_ref();
    let (mut state, mut tables) = match plan.filter(|plan| plan.resume).map(|plan| resume(plan, &fresh)) {
        Some(resumed) => match resumed? {
            Some(resumed) => resumed,
            None => (fresh, initial()?),
        },
        None => (fresh, initial()?),
    };
    if let (Some(plan), false) = (plan, state.is_possible(corpus, params)) {
        return Err(Error::CheckpointMismatch { path: plan.path.clone(), what: "place in the run" });
    }
    check_shapes(examples, &tables)?;
    // Nothing is lost yet: a checkpoint of such a run would be gigabytes of first values.
    options.observer.go_on("making the tables")?;

    let pace =
        Pace::measure(corpus.n_blocks(), |block, buffer| corpus.read_block(block, buffer), examples, noise, params)?;
    let job = Job { corpus, examples, noise, params, options, pace };
    let mut written = false;
    let mut training = Duration::ZERO;
    let mut here = Tally::default();
    let mut reporter = Reporter::new();
    let interrupted = loop {
        let started = Instant::now();
        let deadline = plan.and_then(|plan| plan.every).and_then(|every| started.checked_add(every));
        // Rates count the time spent training, not the time spent on checkpoints.
        let clock = started.checked_sub(training).unwrap_or(started);
        let run = Run::new(&job, state.next_unit, clock, deadline);
        let n_units = run.n_units;
        reporter.before = here;
        match params.schedule {
            Schedule::Hogwild => hogwild::train(&run, &mut tables.source, &mut tables.target, &mut reporter),
            Schedule::Deterministic => {
                crate::deterministic::train(&run, &mut tables.source, &mut tables.target, &mut reporter);
            }
        }
        training += started.elapsed();
        let (next_unit, tally, interrupted) = run.finish().map_err(|error| match error {
            Error::Diverged { epoch, tokens, lr, .. } => {
                let checkpoint = plan.filter(|_| written || state.tokens > 0).map(|plan| plan.path.clone());
                Error::Diverged { epoch, tokens: state.tokens.saturating_add(tokens), lr, checkpoint }
            }
            other => other,
        })?;
        here.add(&tally);
        state.next_unit = next_unit;
        state.tokens = state.tokens.saturating_add(tally.tokens);
        state.loss += tally.loss;
        state.targets = state.targets.saturating_add(tally.targets);
        let finished = next_unit >= n_units;
        if !finished && let Some(plan) = plan {
            let sections = [("source", &tables.source), ("target", &tables.target)];
            let done = state.next_unit as f64 / n_units.max(1) as f64;
            let about = About { done, settings: state.settings.clone(), origin: options.origin.to_owned() };
            let saved = checkpoint::save_with(&plan.path, CHECKPOINT_KIND, &about, &state, &sections);
            written |= saved.is_ok();
            options.observer.checkpoint(saved.as_ref().map(|()| plan.path.as_path()));
        }
        if finished || interrupted {
            break interrupted && !finished;
        }
    };
    if state.targets == 0 && !interrupted && state.tokens > 0 && here.tokens == state.tokens && !trained(&tables) {
        return Err(Error::NothingToLearn { sentences: corpus.n_sentences(), tokens: corpus.n_tokens() });
    }
    let loss = state.loss / state.targets.max(1) as f64;
    Ok(Outcome { tables, loss, tokens: here.tokens, training, interrupted })
}

/// Whether any target row moved away from zero.
fn trained(tables: &Tables) -> bool {
    tables.target.values().iter().any(|&x| x != 0.0)
}

/// The state and tables of a checkpoint, or `None` where there is none yet.
fn resume(plan: &CheckpointPlan, expected: &State) -> Result<Option<(State, Tables)>> {
    let (state, sections) = match checkpoint::load::<State>(&plan.path, CHECKPOINT_KIND) {
        Ok(loaded) => loaded,
        Err(senv_core::Error::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let mismatch = |what| Error::CheckpointMismatch { path: plan.path.clone(), what };
    if state.settings != expected.settings {
        return Err(mismatch("set of parameters"));
    }
    if state.corpus != expected.corpus {
        return Err(mismatch("text"));
    }
    let mut sections = sections.into_iter();
    match (sections.next(), sections.next(), sections.next()) {
        (Some((s, source)), Some((t, target)), None) if s == "source" && t == "target" => {
            Ok(Some((state, Tables { source, target })))
        }
        _ => Err(mismatch("pair of tables")),
    }
}

fn check_shapes<E: Examples>(examples: &E, tables: &Tables) -> Result<()> {
    let sizes = [
        ("source table", examples.n_source_rows(), tables.source.n_rows()),
        ("target table", examples.n_target_rows(), tables.target.n_rows()),
        ("target row", tables.source.dim(), tables.target.dim()),
        ("distance of target rows", tables.source.stride(), tables.target.stride()),
    ];
    for (what, expected, got) in sizes {
        if expected != got {
            return Err(senv_core::Error::ShapeMismatch { what, expected, got }.into());
        }
    }
    Ok(())
}
