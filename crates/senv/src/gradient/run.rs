//! The training loop.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use senv_core::{
    Control, Error as CoreError, Progress, Remedy, Result as CoreResult, RunOptions, arrays::Parameters,
    checkpoint::About, optim::global_norm, threads::spawn_in_turn,
};

use super::{
    FitParams, GradientStep, Gradients, Objective, StepReport, Weights, WordUpdates,
    awake::awake_beside,
    checkpoint::{self, Best, FitPosition},
    example_order::ExampleOrder,
    learner::Learner,
    outcome::{FitOutcome, Stopped},
    phases::Lap,
    recent::Recent,
    watch::{FewSteps, Verdict, Watch},
};
use crate::{
    base::file,
    error::{Error, Result},
};

/// The longest gradient accepted, before clipping. Its square is still far below the largest f32; the moments of Adam
/// and AdaGrad have to store it.
const LONGEST: f64 = 1e10;

/// Time between two reports.
const REPORT: Duration = Duration::from_millis(200);

/// Trains `objective` from `initial`. A checkpoint is resumed only if the parameters and the
/// [`identity`](Objective::identity) of the objective are those of the run that wrote it.
///
/// # Errors
/// * [`CoreError::InvalidParameter`] if a parameter is out of range.
/// * [`Error::NoExamples`] if there are no examples.
/// * [`Error::CheckpointMismatch`] if the checkpoint belongs to another run.
/// * Unless an earlier validation has kept good weights, which are returned then: [`Error::Diverged`] if the loss or a
///   weight is NaN or infinite; [`Error::NotLearning`] if the loss stays above chance or the initial loss;
///   [`Error::Outgrown`] if rounding lost the initial weights; [`Error::ExplodingGradient`] if the gradient is not
///   finite or too long.
/// * Errors of the objective, files and memory.
pub fn fit<O: Objective + Send>(
    objective: &mut O,
    initial: impl FnOnce() -> Result<Weights> + Send,
    params: &FitParams,
    options: &RunOptions<'_>,
) -> Result<FitOutcome> {
    params.check()?;
    options.check()?;
    if options.ranks.is_some() {
        return Err(Error::NotOnRanks);
    }
    threads(options)?.install(|| FitRun::new(objective, initial, params, options)?.go())
}

/// Starts the threads of a run. If the system refuses that many, tries half, a quarter and so on, and at last uses the
/// current thread.
fn threads(options: &RunOptions<'_>) -> Result<rayon::ThreadPool> {
    let wanted = options.thread_count();
    let start = |thread: rayon::ThreadBuilder| spawn_in_turn(|| thread.run());
    let builder = |n| rayon::ThreadPoolBuilder::new().num_threads(n);
    let fewer = |n: &usize| (*n > 1).then(|| n / 2);
    let started = std::iter::successors(Some(wanted), fewer).find_map(|n| builder(n).spawn_handler(start).build().ok());
    let pool = match started {
        Some(pool) => pool,
        // The pool then stays on this thread for good: there is no better fallback.
        None => builder(1).use_current_thread().build().map_err(|error| CoreError::InvalidParameter {
            name: "threads",
            requirement: "a number of threads that the system can start",
            got: format!("{wanted} ({error})"),
        })?,
    };
    let n = pool.current_num_threads();
    if n < wanted {
        options.observer.note(&format!("the system cannot start {wanted} threads; continuing with {n}"));
    }
    Ok(pool)
}

/// A run in progress.
pub(super) struct FitRun<'a, O> {
    objective: &'a mut O,
    params: &'a FitParams,
    options: &'a RunOptions<'a>,
    settings: String,
    order: ExampleOrder,
    total: u64,
    validate_every: u64,
    position: FitPosition,
    learner: Learner,
    best: Option<Best>,
    gradients: Gradients,
    row_groups: Vec<usize>,
    report_every: Duration,
}

/// A prepared step with its batch.
struct Ready<B> {
    source: usize,
    examples: Vec<u32>,
    batch: B,
}

impl<B> Ready<B> {
    fn step(&self, seed: u64, number: u64) -> GradientStep<'_> {
        GradientStep { seed, number, source: self.source, examples: &self.examples }
    }
}

impl<B: Default> Default for Ready<B> {
    fn default() -> Self {
        Self { source: 0, examples: Vec::new(), batch: B::default() }
    }
}

/// The outcome of a step.
enum Stepped {
    Done(StepReport),
    Not(Stopped),
}

impl<'a, O: Objective> FitRun<'a, O> {
    pub(super) fn new(
        objective: &'a mut O,
        initial: impl FnOnce() -> Result<Weights>,
        params: &'a FitParams,
        options: &'a RunOptions<'a>,
    ) -> Result<Self> {
        let sources = objective.sources();
        if sources.iter().all(|source| source.n_examples == 0) {
            return Err(Error::NoExamples { kind: objective.kind() });
        }
        let mut order = ExampleOrder::new(sources, params.batch, params.seed);
        let epoch = order.steps_an_epoch();
        let total = params.steps.unwrap_or_else(|| epoch.saturating_mul(u64::from(params.n_epochs())));
        let settings = format!("{} {} {}", objective.kind(), file::to_json(params)?, objective.identity());
        let initial = initial()?;
        // Nothing is lost yet, and a checkpoint is not worthwhile.
        options.observer.go_on("allocating the tables")?;
        let resumed = match &options.checkpoint {
            Some(plan) => checkpoint::resume(plan, &settings, params, &initial)?,
            None => None,
        };
        let (position, learner, best) = match resumed {
            Some(resumed) => resumed,
            None => {
                let learner = Learner::new(initial, params)?;
                let (cursors, watch) = (order.cursors.clone(), Watch::new(learner.weights.square_norm()));
                (FitPosition { step: 0, cursors, history: vec![], stale: 0, loss: (0.0, 0), watch }, learner, None)
            }
        };
        if !position.is_possible(&order, total) {
            let path = options.checkpoint.as_ref().map(|plan| plan.path.clone()).unwrap_or_default();
            return Err(Error::CheckpointMismatch { path, what: "a position that this run does not have".to_owned() });
        }
        order.cursors = position.cursors.clone();
        let row_groups = objective.row_groups();
        let zeros = |(i, group): (usize, &Parameters<f32>)| {
            if row_groups.contains(&i) { Ok(Parameters::new()) } else { group.try_zeros_like() }
        };
        let d_parameters = learner.weights.parameters.iter().enumerate().map(zeros).collect::<CoreResult<_>>()?;
        let frozen = params.words == WordUpdates::Frozen;
        let gradients = Gradients { frozen, d_parameters, ..Gradients::default() };
        let validate_every = params.validate_every.unwrap_or(epoch).max(1);
        Ok(Self {
            objective,
            params,
            options,
            settings,
            order,
            total,
            validate_every,
            position,
            learner,
            best,
            gradients,
            row_groups,
            report_every: REPORT,
        })
    }

    pub(super) fn go(mut self) -> Result<FitOutcome> {
        let (mut training, mut examples, mut tokens, mut n_steps) = (Duration::ZERO, 0, 0, 0_u64);
        let (mut now, mut next) = (Ready::<O::Batch>::default(), Ready::default());
        let mut recent = Recent::default();
        let (mut reported, mut saved) = (Instant::now(), Instant::now());
        let epoch = self.order.steps_an_epoch().max(1);
        let mut stopped = if self.is_stale() { Stopped::Early } else { Stopped::Finished };
        if self.position.step < self.total && stopped == Stopped::Finished {
            self.prepare(self.position.step, &mut now)?;
        }
        while self.position.step < self.total && stopped == Stopped::Finished {
            let began = Instant::now();
            let number = self.position.step;
            let lr = self.params.lr_at(number as f64 / self.total as f64, &self.position.history);
            self.position.cursors = self.order.cursors.clone();
            let report = match self.step(lr, &now, &mut next)? {
                Stepped::Done(report) => report,
                Stepped::Not(why) => {
                    stopped = why;
                    break;
                }
            };
            self.position.step += 1;
            self.position.loss = (self.position.loss.0 + report.loss, self.position.loss.1 + 1);
            recent.add(&report);
            let mut verdict = self.position.watch.add(&report);
            examples += now.examples.len() as u64;
            std::mem::swap(&mut now, &mut next);
            tokens += report.tokens;
            training += began.elapsed();

            let is_last = self.position.step == self.total;
            if is_last {
                verdict = verdict.or_else(|| self.position.watch.at_end(self.learner.weights.square_norm()));
            }
            if let Some(Verdict { loss, bound, of }) = verdict {
                stopped = Stopped::NotLearning { step: number, lr, loss, bound, of };
                break;
            }
            if is_last && let Some((loss, guess)) = self.position.watch.few_steps() {
                let note = FewSteps { steps: self.total, loss, guess };
                self.options.observer.note_with(&note, &[Remedy::MoreEpochs]);
            }
            let square_norm = || self.learner.weights.square_norm();
            if let Some(growth) = is_last.then(|| self.position.watch.outgrown(square_norm())).flatten() {
                stopped = Stopped::Outgrown { step: number, lr, growth };
                break;
            }
            if self.position.step.is_multiple_of(self.validate_every) || is_last {
                self.validate()?;
                if self.is_stale() && self.position.step < self.total {
                    stopped = Stopped::Early;
                }
            }
            n_steps += 1;
            let is_due = n_steps.is_power_of_two() || reported.elapsed() >= self.report_every;
            if is_due || self.position.step == self.total {
                reported = Instant::now();
                let seconds = training.as_secs_f64();
                let progress = Progress {
                    done: self.position.step as f64 / self.total as f64,
                    epoch: u32::try_from(number / epoch).unwrap_or(u32::MAX),
                    epochs: self.params.steps.is_none().then(|| self.params.n_epochs()),
                    units: examples,
                    units_per_second: examples as f64 / seconds.max(1e-9),
                    lr: lr.max(f64::MIN_POSITIVE),
                    loss: recent.loss.mean().unwrap_or(0.0),
                    seconds,
                    tokens_per_second: (tokens > 0).then(|| tokens as f64 / seconds.max(1e-9)),
                    metrics: recent.metrics(),
                    validation: self.position.history.last().map(|&(_, score)| score),
                    ..Progress::default()
                };
                recent = Recent::default();
                if self.options.observer.progress(&progress) == Control::Stop && self.position.step < self.total {
                    stopped = Stopped::Interrupted;
                }
            }
            if let Some(plan) = &self.options.checkpoint {
                let due = plan.every.is_some_and(|every| saved.elapsed() >= every);
                if due || stopped == Stopped::Interrupted {
                    let written = self.save(&plan.path);
                    self.options.observer.checkpoint(written.as_ref().map(|()| plan.path.as_path()));
                    saved = Instant::now();
                }
            }
        }
        self.finish(stopped, examples, training)
    }

    /// Draws the examples of a step and prepares its batch.
    fn prepare(&mut self, number: u64, ready: &mut Ready<O::Batch>) -> Result<()> {
        ready.source = self.order.next(number, &mut ready.examples);
        let step = GradientStep { seed: self.params.seed, number, source: ready.source, examples: &ready.examples };
        self.objective.prepare(&step, &mut ready.batch)
    }

    /// Runs one step while another thread, if there is one, prepares the next.
    fn step(&mut self, lr: f64, now: &Ready<O::Batch>, next: &mut Ready<O::Batch>) -> Result<Stepped> {
        let (number, seed) = (self.position.step, self.params.seed);
        let Self { objective, learner, gradients, row_groups, params, order, .. } = self;
        let objective: &O = objective;
        let (has_next, mut drawing) = (number + 1 < self.total, Duration::ZERO);
        if has_next {
            next.source = order.next(number + 1, &mut next.examples);
        }
        let work = || -> Result<Stepped> {
            gradients.d_parameters.iter_mut().for_each(|group| group.fill(0.0));
            let report = objective.gradients(&learner.weights, &now.step(seed, number), &now.batch, gradients)?;
            if !report.loss.is_finite() {
                return Ok(Stepped::Not(Stopped::Diverged { step: number, lr }));
            }
            let mut lap = Lap::start();
            let is_watched = params.clip.is_some() || objective.may_explode();
            let norm = is_watched.then(|| global_norm(&gradients.arrays()));
            if let Some(norm) = norm.filter(|norm| norm.is_nan() || *norm > LONGEST) {
                return Ok(Stepped::Not(Stopped::Exploded { step: number, norm }));
            }
            learner.apply(lr, gradients, norm, row_groups, params)?;
            lap.add_to(&mut gradients.phases.update);
            Ok(Stepped::Done(report))
        };
        let Ready { source, examples, batch } = next;
        let prepare = || {
            let (step, mut lap) = (GradientStep { seed, number: number + 1, source: *source, examples }, Lap::start());
            let prepared = if has_next { objective.prepare(&step, batch) } else { Ok(()) };
            lap.add_to(&mut drawing);
            prepared
        };
        let (stepped, prepared) = awake_beside(work, prepare);
        self.gradients.phases.draw += drawing;
        prepared.and(stepped)
    }

    /// Reports after every step, so a test can stop a run at any step.
    #[cfg(test)]
    pub(super) fn reporting_always(self) -> Self {
        Self { report_every: Duration::ZERO, ..self }
    }

    fn is_stale(&self) -> bool {
        self.params.patience.is_some_and(|patience| self.position.stale >= patience)
            || self.params.is_over(&self.position.history)
    }

    fn validate(&mut self) -> Result<()> {
        let Some(score) = self.objective.validate(&self.learner.weights)? else { return Ok(()) };
        let step = self.position.step;
        self.position.history.push((step, score));
        let better = score.is_finite() && self.best.as_ref().is_none_or(|best| score > best.score);
        if better {
            self.position.stale = 0;
            self.best = Some(Best { step, score, weights: self.learner.weights.try_clone()? });
        } else {
            self.position.stale += 1;
        }
        let note = match (score.is_finite(), better) {
            (false, _) => {
                format!("step {step}: no validation score: all pairs have the same score, or scores are not numbers")
            }
            (true, false) => format!("step {step}: validation {score:.4}"),
            (true, true) => format!("step {step}: validation {score:.4}, best so far"),
        };
        self.options.observer.note(&note);
        Ok(())
    }

    fn save(&self, path: &Path) -> CoreResult<()> {
        let about = About {
            done: self.position.step as f64 / self.total.max(1) as f64,
            settings: self.settings.clone(),
            origin: self.options.origin.to_owned(),
        };
        checkpoint::save(path, &about, &self.position, &self.learner, self.best.as_ref())
    }

    fn finish(self, stopped: Stopped, examples: u64, training: Duration) -> Result<FitOutcome> {
        let Self { position, params, learner, best, gradients, .. } = self;
        let chosen = best.as_ref().map(|best| (best.step, best.score));
        let weights = match (stopped, best) {
            (Stopped::Interrupted, _) => learner.weights,
            (_, Some(best)) => best.weights,
            (Stopped::Diverged { step, lr }, None) => return Err(Error::Diverged { step, lr }),
            (Stopped::NotLearning { step, lr, loss, bound, of }, None) => {
                return Err(Error::NotLearning { step, lr, loss, bound, of });
            }
            (Stopped::Outgrown { step, lr, growth }, None) => return Err(Error::Outgrown { step, lr, growth }),
            (Stopped::Exploded { step, norm }, None) => return Err(Error::ExplodingGradient { step, norm }),
            (_, None) => learner.weights,
        };
        if stopped != Stopped::Interrupted && !weights.square_norm().is_finite() {
            // Only another step would have detected this.
            return Err(Error::Diverged { step: position.step, lr: params.full_lr() });
        }
        let best = if stopped == Stopped::Interrupted { None } else { chosen };
        Ok(FitOutcome {
            weights,
            loss: position.loss.0 / position.loss.1.max(1) as f64,
            against_chance: position.watch.against_chance(),
            history: position.history,
            best,
            steps: position.step,
            examples,
            training,
            phases: gradients.phases,
            stopped,
        })
    }
}
