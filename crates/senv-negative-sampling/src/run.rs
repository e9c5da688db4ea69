//! Code shared by the two schedules: units of work, learning rate, counters, and when to stop.

use std::{
    ops::Range,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use senv_core::{
    Control, Corpus, Observer, Progress, RunOptions, corpus::BlockBuffer, optim::linear_decay, rng::Stream,
};

use crate::{
    Error, block_order::PresentOrder, coefficients::Rate, examples::Examples, noise::Negatives, pace::Pace,
    params::NegativeSamplingParams, plan::Plan, synchronisation::examples_stream,
};

/// One in this many steps computes the loss, which costs one logarithm per score.
const LOSS_EVERY: u64 = 8;

/// Training has diverged if the mean loss of a unit's targets reaches this multiple of the loss of guessing, its
/// initial value.
const DIVERGED: f64 = 4.0;

/// The time between two reports to the observer.
const REPORT_EVERY: Duration = Duration::from_millis(100);

/// The part of a training run between two checkpoints.
pub(crate) struct TrainingRun<'a, E> {
    pub(crate) corpus: &'a Corpus,
    pub(crate) examples: &'a E,
    pub(crate) noise: Negatives<'a>,
    pub(crate) params: &'a NegativeSamplingParams,
    observer: &'a dyn Observer,
    pub(crate) n_threads: usize,
    pub(crate) pace: Pace,
    order: PresentOrder,
    /// The end of this run's units. Units are blocks of the corpus, epoch by epoch, in the order of each epoch.
    pub(crate) end: u64,
    /// Whether it continues to its end when the observer asks to stop, as other ranks wait for it there.
    stops_at_end: bool,
    rank: u64,
    pub(crate) next: AtomicU64,
    halt: AtomicBool,
    failure: Mutex<Option<Error>>,
    tally: Mutex<Tally>,
    started: Instant,
    /// The time to return and write a checkpoint.
    deadline: Option<Instant>,
    interrupted: AtomicBool,
}

/// Sums over finished work.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Tally {
    pub(crate) tokens: u64,
    pub(crate) loss: f64,
    /// The number of targets over which the loss was summed.
    pub(crate) targets: u64,
}

impl Tally {
    pub(crate) fn add(&mut self, other: &Self) {
        self.tokens += other.tokens;
        self.loss += other.loss;
        self.targets += other.targets;
    }
}

/// The position of a unit in the run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Unit {
    pub(crate) epoch: u64,
    pub(crate) block: usize,
    pub(crate) rate: Rate,
    /// The share of the run before this unit.
    pub(crate) done: f64,
}

/// The inputs of training, which are the same for all runs between checkpoints.
pub(crate) struct TrainingTask<'a, E> {
    pub(crate) corpus: &'a Corpus,
    pub(crate) examples: &'a E,
    pub(crate) noise: Negatives<'a>,
    pub(crate) params: &'a NegativeSamplingParams,
    pub(crate) options: &'a RunOptions<'a>,
    pub(crate) pace: Pace,
}

impl<'a, E: Examples> TrainingRun<'a, E> {
    pub(crate) fn new(
        task: &'a TrainingTask<'a, E>,
        units: Range<u64>,
        started: Instant,
        deadline: Option<Instant>,
    ) -> Self {
        let TrainingTask { corpus, examples, noise, params, options, pace } = *task;
        Self {
            corpus,
            examples,
            noise,
            params,
            observer: options.observer,
            n_threads: options.thread_count(),
            pace,
            order: PresentOrder::default(),
            end: units.end,
            stops_at_end: options.ranks.is_some(),
            rank: options.ranks.map_or(0, |ranks| ranks.rank() as u64),
            next: AtomicU64::new(units.start),
            halt: AtomicBool::new(false),
            failure: Mutex::new(None),
            tally: Mutex::new(Tally::default()),
            started,
            deadline,
            interrupted: AtomicBool::new(false),
        }
    }

    /// The position and learning rate of unit `index`: `linear-decay` over all tokens of all epochs.
    pub(crate) fn unit(&self, index: u64) -> Unit {
        let n_blocks = self.corpus.n_blocks() as u64;
        let (epoch, place) = (index / n_blocks, (index % n_blocks) as usize);
        let order = self.order.of(self.corpus, self.params.text_order, self.params.seed, epoch);
        let (block, tokens_before) = order.block(self.corpus, place);
        let total = self.corpus.n_tokens() as f64 * f64::from(self.params.n_epochs());
        let before = epoch as f64 * self.corpus.n_tokens() as f64 + tokens_before as f64;
        let done = before / total.max(1.0);
        let lr = self.params.first_lr() * linear_decay(done, self.params.lr_floor) as f32;
        Unit { epoch, block, rate: Rate { lr, l1: self.params.l1 }, done }
    }

    /// The random numbers for step `step` of a unit; the same in every schedule and on every thread.
    pub(crate) fn rng(&self, unit: &Unit, step: usize) -> Stream {
        examples_stream(self.params.seed, self.rank, [unit.epoch, unit.block as u64, step as u64])
    }

    /// Whether step `step` of a unit computes the loss.
    pub(crate) fn wants_loss(unit: &Unit, step: usize) -> bool {
        (unit.block as u64).wrapping_add(step as u64).is_multiple_of(LOSS_EVERY)
    }

    /// Plans the sentences of a step.
    pub(crate) fn plan(
        &self,
        unit: &Unit,
        step: usize,
        sentences: Range<usize>,
        block: &BlockBuffer,
        scratch: &mut E::Scratch,
        plan: &mut Plan,
    ) {
        let mut rng = self.rng(unit, step);
        plan.clear();
        for i in sentences {
            self.examples.plan_in_block(block, i, &mut rng, scratch, plan);
        }
        let drawn = plan.draw_negatives(
            self.params.negatives,
            self.params.negatives_shared,
            self.params.first_lr(),
            self.noise,
            self.examples.n_target_rows(),
            &mut rng,
        );
        if let Err(error) = drawn {
            self.fail(error.into());
        }
    }

    pub(crate) fn halted(&self) -> bool {
        self.halt.load(Ordering::Acquire)
    }

    pub(crate) fn fail(&self, error: Error) {
        let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        failure.get_or_insert(error);
        self.halt.store(true, Ordering::Release);
    }

    /// The mean loss per target at which training has diverged: all 1 + K scores at 0 cost (1 + K) ln 2 nats.
    fn diverged_loss(&self) -> f64 {
        DIVERGED * (1.0 + self.params.negatives as f64) * std::f64::consts::LN_2
    }

    /// Counts finished work. A loss far above that of guessing, or not finite, ends the run, because training rarely
    /// recovers from it.
    pub(crate) fn count(&self, unit: &Unit, done: &Tally) {
        let mut tally = self.tally.lock().unwrap_or_else(PoisonError::into_inner);
        tally.add(done);
        if !done.loss.is_finite() || done.loss > self.diverged_loss() * done.targets as f64 {
            let tokens = tally.tokens;
            drop(tally);
            self.fail(Error::Diverged { epoch: unit.epoch as u32 + 1, tokens, lr: unit.rate.lr, checkpoint: None });
        }
    }

    /// Reports to the observer after blocks 1, 2, 4, 8 and so on of a thread, and at regular intervals. Only one thread
    /// calls it.
    pub(crate) fn report(&self, unit: &Unit, reporter: &mut Reporter) {
        let now = Instant::now();
        if self.deadline.is_some_and(|deadline| now >= deadline) {
            self.halt.store(true, Ordering::Release);
        }
        reporter.n_blocks += 1;
        if !reporter.n_blocks.is_power_of_two() && now.duration_since(reporter.last) < REPORT_EVERY {
            return;
        }
        reporter.last = now;
        if self.tell(unit, unit.done, reporter) == Control::Stop {
            self.interrupted.store(true, Ordering::Release);
            self.halt.fetch_or(!self.stops_at_end, Ordering::Release);
        }
    }

    /// Reports the end of the whole run, if all its units are done.
    pub(crate) fn report_end(&self, n_units: u64, reporter: &mut Reporter) {
        if n_units > 0 && self.next.load(Ordering::Acquire) >= n_units && !self.halted() {
            self.tell(&self.unit(n_units - 1), 1.0, reporter);
        }
    }

    fn tell(&self, unit: &Unit, done: f64, reporter: &mut Reporter) -> Control {
        let mut tally = *self.tally.lock().unwrap_or_else(PoisonError::into_inner);
        tally.add(&reporter.before);
        let targets = tally.targets - reporter.reported.targets;
        if targets > 0 {
            reporter.loss = (tally.loss - reporter.reported.loss) / targets as f64;
            reporter.reported = tally;
        }
        let seconds = self.started.elapsed().as_secs_f64();
        let units = tally.tokens;
        let progress = Progress {
            done,
            epoch: unit.epoch as u32,
            epochs: Some(self.params.n_epochs()),
            units,
            units_per_second: units as f64 / seconds.max(1e-9),
            lr: f64::from(unit.rate.lr),
            loss: reporter.loss,
            seconds,
            ..Progress::default()
        };
        self.observer.progress(&progress)
    }

    /// The result: the next unit, the sums, and whether the observer stopped the run.
    pub(crate) fn finish(self) -> Result<(u64, Tally, bool), Error> {
        if let Some(error) = self.failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
            return Err(error);
        }
        let tally = self.tally.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok((self.next.into_inner().min(self.end), tally, self.interrupted.into_inner()))
    }
}

/// The state of the reporting thread, kept across checkpoints.
pub(crate) struct Reporter {
    last: Instant,
    /// The number of blocks that the reporting thread has trained on.
    n_blocks: u64,
    /// The work done before this run.
    pub(crate) before: Tally,
    reported: Tally,
    loss: f64,
}

impl Reporter {
    pub(crate) fn new() -> Self {
        let (before, reported) = Default::default();
        Self { last: Instant::now(), n_blocks: 0, before, reported, loss: f64::NAN }
    }
}

/// Divides a block into steps: consecutive sentences of at least `step_tokens` tokens.
pub(crate) fn steps(block: &BlockBuffer, step_tokens: usize, out: &mut Vec<Range<usize>>) {
    out.clear();
    let (mut start, mut tokens) = (0, 0);
    for i in 0..block.n_sentences() {
        tokens += block.sentence(i).len();
        if tokens >= step_tokens {
            out.push(start..i + 1);
            (start, tokens) = (i + 1, 0);
        }
    }
    if start < block.n_sentences() {
        out.push(start..block.n_sentences());
    }
}

#[cfg(test)]
mod tests {
    use senv_core::{CorpusOptions, NoObserver, Sentences, TokenId};

    use super::*;
    use crate::{ContinuousBagOfWords, Noise, SkipGram, Subsampling};

    #[test]
    fn the_rate_of_a_run_decays_linearly_to_its_floor() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("text.txt");
        std::fs::write(&path, "the boat left the port at noon\n".repeat(4000)).unwrap();
        let (vocabulary, corpus) = Corpus::read(&[path], &CorpusOptions::default(), &senv_core::NoObserver).unwrap();
        let n = vocabulary.len();
        let kept = Subsampling::new(vocabulary.counts(), vocabulary.corpus_tokens(), f64::INFINITY, 1).unwrap();
        let examples = ContinuousBagOfWords::new(5, kept, n);
        let noise = Noise::new(vocabulary.counts(), 0.75).unwrap();
        let rates = |lr_floor: f64| -> Vec<f32> {
            let params = NegativeSamplingParams {
                epochs: Some(2),
                lr: Some(0.5),
                lr_floor,
                ..NegativeSamplingParams::default()
            };
            let (options, pace) = (RunOptions::default(), Pace { step_tokens: 1 });
            let task = TrainingTask {
                corpus: &corpus,
                examples: &examples,
                noise: (&noise).into(),
                params: &params,
                options: &options,
                pace,
            };
            let n_units = 2 * corpus.n_blocks() as u64;
            let run = TrainingRun::new(&task, 0..n_units, Instant::now(), None);
            (0..run.end).map(|i| run.unit(i).rate.lr).collect()
        };
        let (to_zero, to_floor) = (rates(0.0), rates(0.25));
        assert!(to_zero.len() >= 8, "{}", to_zero.len());
        let half = to_zero.len() / 2;
        // The second epoch starts at half the rate, for any block sizes.
        assert_eq!((to_zero[0], to_zero[half]), (0.5, 0.25));
        assert!(to_zero.windows(2).all(|pair| pair[1] < pair[0]) && to_zero[to_zero.len() - 1] < 0.125);
        for (zero, floor) in to_zero.iter().zip(&to_floor) {
            assert_eq!(*floor, zero.max(0.125));
        }
    }

    /// Calls `check` with a run on one sentence.
    fn with_run<T>(
        observer: &dyn Observer,
        started: Instant,
        deadline: Option<Instant>,
        check: impl FnOnce(TrainingRun<'_, SkipGram>) -> T,
    ) -> T {
        let mut sentences = Sentences::new();
        sentences.push([0, 1, 2].map(TokenId));
        let corpus = Corpus::from_sentences(sentences);
        let subsampling = Subsampling::new(&[1; 3], 3, f64::INFINITY, 1).unwrap();
        let (examples, noise) = (SkipGram::new(1, subsampling, 3), Noise::new(&[1; 3], 0.5).unwrap());
        let (params, options) = (NegativeSamplingParams::default(), RunOptions { observer, ..Default::default() });
        let pace = Pace { step_tokens: 1 };
        let task = TrainingTask {
            corpus: &corpus,
            examples: &examples,
            noise: (&noise).into(),
            params: &params,
            options: &options,
            pace,
        };
        let n_units = 2 * corpus.n_blocks() as u64;
        check(TrainingRun::new(&task, 0..n_units, started, deadline))
    }

    /// The result of a run whose first unit ends with these sums.
    fn outcome(done: &Tally) -> Result<(u64, Tally, bool), Error> {
        with_run(&NoObserver, Instant::now(), None, |run| {
            run.count(&run.unit(0), done);
            let halted = run.halted();
            let outcome = run.finish();
            assert_eq!(halted, outcome.is_err(), "the other threads stop");
            outcome
        })
    }

    /// Stores all reports, and stops the run after this many.
    struct Kept {
        reports: Mutex<Vec<Progress>>,
        stop_at: usize,
    }

    impl Observer for Kept {
        fn progress(&self, progress: &Progress) -> Control {
            let mut reports = self.reports.lock().unwrap();
            reports.push(*progress);
            if reports.len() < self.stop_at { Control::Continue } else { Control::Stop }
        }
    }

    #[test]
    fn reports_come_after_1_2_4_and_8_blocks_and_when_it_is_time() {
        let kept = Kept { reports: Mutex::default(), stop_at: 100 };
        let n_reports = || kept.reports.lock().unwrap().len();
        with_run(&kept, Instant::now(), None, |run| {
            let (unit, mut reporter) = (run.unit(0), Reporter::new());
            // As if no time passed.
            let now = Instant::now() + Duration::from_secs(3600);
            let after: Vec<usize> = (0..9)
                .map(|_| {
                    reporter.last = now;
                    run.report(&unit, &mut reporter);
                    n_reports()
                })
                .collect();
            assert_eq!(after, [1, 2, 2, 3, 3, 3, 3, 4, 4]);
            let before = Instant::now();
            reporter.last = before - REPORT_EVERY;
            run.report(&unit, &mut reporter);
            assert_eq!(n_reports(), 5);
            assert!((before..=Instant::now()).contains(&reporter.last) && !run.halted());
        });
    }

    #[test]
    fn a_report_has_the_mean_loss_since_the_last_one_and_the_speed_since_the_beginning() {
        let kept = Kept { reports: Mutex::default(), stop_at: 4 };
        let last = || *kept.reports.lock().unwrap().last().unwrap();
        let began = Instant::now() - Duration::from_secs(10);
        with_run(&kept, began, None, |run| {
            // In the second epoch of five.
            let (unit, mut reporter) = (run.unit(1), Reporter::new());
            reporter.before = Tally { tokens: 1000, loss: 5.0, targets: 10 };
            reporter.reported = reporter.before;
            let mut report = |done: &Tally| {
                run.count(&unit, done);
                reporter.last = Instant::now() - REPORT_EVERY;
                run.report(&unit, &mut reporter);
            };
            report(&Tally::default());
            assert!(last().loss.is_nan(), "no target yet");
            report(&Tally { tokens: 500, loss: 16.0, targets: 2 });
            let first = last();
            assert_eq!((first.loss, first.units), (8.0, 1500));
            assert_eq!((first.done, first.epoch, first.lr), (0.2, 1, f64::from(unit.rate.lr)));
            assert!(unit.rate.lr > 0.0);
            assert!((10.0..=began.elapsed().as_secs_f64()).contains(&first.seconds), "{}", first.seconds);
            assert!((first.units_per_second - 1500.0 / first.seconds).abs() < 1e-9);
            report(&Tally { tokens: 100, loss: 30.0, targets: 10 });
            assert_eq!((last().loss, last().units, run.halted()), (3.0, 1600, false));
            report(&Tally { tokens: 1, loss: 0.0, targets: 0 });
            assert_eq!((last().loss, last().units), (3.0, 1601));
            assert!(run.halted() && run.finish().unwrap().2, "the fourth report is answered by a stop");
        });
    }

    #[test]
    fn a_run_halts_for_a_checkpoint_when_its_time_has_come() {
        for (deadline, halts) in
            [(None, false), (Some(Instant::now()), true), (Some(Instant::now() + Duration::from_secs(3600)), false)]
        {
            with_run(&NoObserver, Instant::now(), deadline, |run| {
                run.report(&run.unit(0), &mut Reporter::new());
                assert_eq!(run.halted(), halts);
                assert!(!run.finish().unwrap().2, "nobody asked");
            });
        }
    }

    #[test]
    fn one_step_in_eight_computes_the_loss() {
        with_run(&NoObserver, Instant::now(), None, |run| {
            let mut unit = run.unit(0);
            for block in 0..10 {
                unit.block = block;
                let with_loss = (0..64).filter(|&step| TrainingRun::<SkipGram>::wants_loss(&unit, step));
                assert!(with_loss.eq((0..64).filter(|step| (step + block) % 8 == 0)), "{block}");
            }
        });
    }

    #[test]
    fn a_loss_that_no_training_comes_back_from_ends_the_run() {
        let tally = |loss, targets| Tally { tokens: 3, loss, targets };
        // Four times the loss of guessing among a target and ten negatives.
        let bound = 4.0 * 11.0 * std::f64::consts::LN_2;
        assert_eq!(NegativeSamplingParams::default().negatives, 10);
        for good in [tally(0.0, 0), tally(16.0, 2), tally(1.99 * bound, 2)] {
            assert_eq!(outcome(&good).unwrap().1, good);
        }
        // The bound is on the mean per target; without targets, a nonzero loss is an error.
        for bad in [tally(2.01 * bound, 2), tally(1.0, 0), tally(f64::INFINITY, 2), tally(f64::NAN, 2)] {
            let error = outcome(&bad).unwrap_err();
            assert!(matches!(error, Error::Diverged { epoch: 1, tokens: 3, .. }), "{error}");
        }
        assert!(outcome(&tally(-f64::INFINITY, 2)).is_err());
    }

    #[test]
    fn steps_end_with_the_sentence_that_brings_them_to_their_length() {
        let mut sentences = Sentences::new();
        [2, 3, 1, 4, 1, 1].iter().for_each(|&n| sentences.push((0..n).map(TokenId)));
        let mut block = BlockBuffer::default();
        Corpus::from_sentences(sentences).read_block(0, &mut block).unwrap();
        let mut cut = Vec::new();
        for (step_tokens, expected) in [
            (4, vec![0..2, 2..4, 4..6]),
            (5, vec![0..2, 2..4, 4..6]),
            (6, vec![0..3, 3..6]),
            (1, (0..6).map(|i| i..i + 1).collect()),
        ] {
            steps(&block, step_tokens, &mut cut);
            assert_eq!(cut, expected, "{step_tokens}");
        }
    }
}
