//! The loop over the corpus: trains until the next checkpoint is due, writes it, and continues.

use std::time::{Duration, Instant};

use senv_core::{Corpus, RunOptions, corpus::BlockBuffer, ranks};

use crate::{
    Error, Result,
    checkpoints::{ResumePoint, TrainingState, resume},
    examples::Examples,
    hogwild,
    noise::Negatives,
    pace::Pace,
    params::{NegativeSamplingParams, Schedule},
    run::{Reporter, Tally, TrainingRun, TrainingTask},
    synchronisation::{Meeting, Synchronisation, n_meetings},
    tables::Tables,
};

/// The result of training.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Outcome {
    /// The trained tables, or their state when training was stopped.
    pub tables: Tables,
    /// Mean loss per target over the whole run, in nats, sampled in one step of eight.
    pub loss: f64,
    /// Tokens trained on in this run of the program, each counted once per epoch.
    pub tokens: u64,
    /// Wall time of training in this run of the program, without initialization and saving.
    pub training: Duration,
    /// Whether the observer stopped training before the end. The requested checkpoint was then written, or the observer
    /// was told why not.
    pub interrupted: bool,
}

impl Outcome {
    /// Tokens per second of wall time.
    #[must_use]
    pub fn tokens_per_second(&self) -> f64 {
        self.tokens as f64 / self.training.as_secs_f64().max(1e-9)
    }
}

/// Trains on a corpus, with negatives from [`Noise`](crate::Noise) or from a [`NoiseSource`](crate::NoiseSource).
///
/// `settings` describes everything except the text that the tables depend on, such as a JSON text; a checkpoint is
/// resumed only if its settings are equal. `initial` creates the tables of a new run; it is not called when a run is
/// resumed.
///
/// # Errors
/// [`Error::Diverged`] if the loss reaches four times that of guessing; [`Error::NothingToLearn`] if the corpus
/// contains no example; [`Error::AllSkipped`] if subsampling leaves none; [`Error::CheckpointMismatch`] if a checkpoint
/// is from another run. [`Error::Core`] for invalid parameters, files or memory, and if the observer stops the run
/// before any training.
pub fn fit<'n, E: Examples>(
    corpus: &Corpus,
    examples: &E,
    noise: impl Into<Negatives<'n>>,
    params: &NegativeSamplingParams,
    settings: &str,
    initial: impl FnOnce() -> Result<Tables>,
    options: &RunOptions<'_>,
) -> Result<Outcome> {
    params.check()?;
    options.check()?;
    let noise = noise.into();
    let n_units = corpus.n_blocks() as u64 * u64::from(params.n_epochs());
    let plan = options.checkpoint.as_ref();
    let ranks = match options.ranks {
        Some(ranks) => Some((ranks, n_meetings(ranks, corpus, params)?)),
        None => None,
    };
    let fresh = TrainingState::new(settings, corpus);
    let resumed = match plan.filter(|plan| plan.resume) {
        Some(plan) => resume(plan, &fresh, corpus, params, ranks)?,
        None => None,
    };
    let mut point = match resumed {
        Some(point) => point,
        None => ResumePoint { state: fresh, tables: initial()?, before: None },
    };
    check_shapes(examples, &point.tables)?;
    // Nothing is lost yet: a checkpoint now would store gigabytes of initial values.
    options.observer.go_on("allocating the tables")?;

    let pace =
        Pace::measure(corpus.n_blocks(), |block, buffer| corpus.read_block(block, buffer), examples, noise, params)?;
    let task = TrainingTask { corpus, examples, noise, params, options, pace };
    let mut synchronisation = ranks.map(|(ranks, n_meetings)| {
        let before = point.before.take().unwrap_or_else(|| point.tables.clone());
        Synchronisation::new(ranks, n_units, n_meetings, before)
    });
    let every = plan.and_then(|plan| plan.every);
    let mut saved_at = Instant::now();
    let mut written = false;
    let mut training = Duration::ZERO;
    let mut here = Tally::default();
    let mut reporter = Reporter::new();
    let interrupted = loop {
        let started = Instant::now();
        // Ranks write at their meetings.
        let deadline = every.filter(|_| synchronisation.is_none()).and_then(|every| started.checked_add(every));
        // Rates exclude the time spent on checkpoints.
        let clock = started.checked_sub(training).unwrap_or(started);
        let meeting = synchronisation.as_ref().map(|synchronisation| synchronisation.next(point.state.next_unit));
        let end = meeting.map_or(n_units, |(_, end)| end);
        let run = TrainingRun::new(&task, point.state.next_unit..end, clock, deadline);
        reporter.before = here;
        let Tables { source, target } = &mut point.tables;
        match params.schedule {
            Schedule::Hogwild => hogwild::train(&run, source, target, &mut reporter),
            Schedule::Deterministic => crate::deterministic::train(&run, source, target, &mut reporter),
        }
        run.report_end(n_units, &mut reporter);
        let mut done = run.finish();
        let mut saves = true;
        if let (Some(synchronisation), Some((number, _))) = (&mut synchronisation, meeting) {
            let own = Meeting {
                is_due: every.is_some_and(|every| saved_at.elapsed() >= every),
                is_stopped: matches!(done, Ok((.., true))),
                is_diverged: matches!(done, Err(Error::Diverged { .. })),
            };
            let all = synchronisation.meet(number, &mut point.tables, own)?;
            saves = all.is_due || all.is_stopped;
            done = match done {
                Ok((next_unit, ..)) if all.is_diverged => {
                    let epoch = next_unit.saturating_sub(1) / corpus.n_blocks().max(1) as u64;
                    Err(Error::Diverged { epoch: epoch as u32 + 1, tokens: 0, lr: params.first_lr(), checkpoint: None })
                }
                done => done.map(|(next_unit, tally, _)| (next_unit, tally, all.is_stopped)),
            };
        }
        training += started.elapsed();
        let (next_unit, tally, interrupted) = done.map_err(|error| match error {
            Error::Diverged { epoch, tokens, lr, .. } => {
                let checkpoint = plan.filter(|_| written || point.state.tokens > 0).map(|plan| plan.path.clone());
                Error::Diverged { epoch, tokens: point.state.tokens.saturating_add(tokens), lr, checkpoint }
            }
            other => other,
        })?;
        here.add(&tally);
        point.state.advance(next_unit, &tally);
        let finished = next_unit >= n_units;
        if !finished
            && saves
            && let Some(plan) = plan
        {
            let before = synchronisation.as_ref().map(|synchronisation| &synchronisation.before);
            let saved = point.save(plan, n_units, before, options);
            written |= saved.is_ok();
            saved_at = Instant::now();
            options.observer.checkpoint(saved.as_ref().map(|()| plan.path.as_path()));
        }
        if finished || interrupted {
            break interrupted && !finished;
        }
    };
    let ResumePoint { state, tables, .. } = point;
    if state.targets == 0 && !interrupted && state.tokens > 0 && here.tokens == state.tokens && !trained(&tables) {
        let (sentences, tokens) = (corpus.n_sentences(), corpus.n_tokens());
        return Err(match has_two_tokens(corpus)? {
            true => Error::AllSkipped { sentences, tokens },
            false => Error::NothingToLearn { sentences, tokens },
        });
    }
    if let Some(report) = synchronisation.as_ref().and_then(Synchronisation::report) {
        options.observer.note(&report);
    }
    let own = [state.loss, state.targets as f64];
    let [loss, targets] = options.ranks.map_or(Ok(own), |ranks| ranks::sum(ranks, own))?;
    let loss = loss / targets.max(1.0);
    Ok(Outcome { tables, loss, tokens: here.tokens, training, interrupted })
}

/// Whether any target row is nonzero.
fn trained(tables: &Tables) -> bool {
    tables.target.values().iter().any(|&x| x != 0.0)
}

/// Whether any sentence has two known tokens.
fn has_two_tokens(corpus: &Corpus) -> Result<bool> {
    let mut block = BlockBuffer::default();
    for number in 0..corpus.n_blocks() {
        corpus.read_block(number, &mut block)?;
        if block.iter().any(|sentence| sentence.len() > 1) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn check_shapes<E: Examples>(examples: &E, tables: &Tables) -> Result<()> {
    let sizes = [
        ("source table", examples.n_source_rows(), tables.source.n_rows()),
        ("target table", examples.n_target_rows(), tables.target.n_rows()),
        ("target row", tables.source.dim(), tables.target.dim()),
        ("stride of target rows", tables.source.stride(), tables.target.stride()),
    ];
    for (what, expected, got) in sizes {
        if expected != got {
            return Err(senv_core::Error::ShapeMismatch { what, expected, got }.into());
        }
    }
    Ok(())
}
