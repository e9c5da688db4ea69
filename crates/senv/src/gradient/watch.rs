//! Detects runs that do not learn, by comparing the loss with chance and with the start.
//!
//! Every loss has a value without any knowledge, the chance level ([`StepReport::chance`]), for example ln V for a
//! token out of V words. If the loss goes far above it and stays there, the weights are useless, even if the loss is
//! finite. Cosines do not depend on the length of vectors, so their loss cannot grow. Steps that are too long leave it
//! unchanged while the weights grow without bound.
//!
//! ```text
//! r_t = loss / chance at step t        worst = max(1, r_0): a run may begin above chance, from weights of another task
//! R   = mean r of the last steps, about 50, without the first
//! under way:  stopped when each of the last 100 r is above 2 worst
//! at its end: nothing is learned if R > 1.1 worst (4 worst after 50 steps or less, which are too few to tell), or if R > 0.9 r_0 and |weights| > 10⁶ |weights at the start|
//! ```

use std::fmt;

use senv_core::Remedy;
use serde::{Deserialize, Serialize};

use super::StepReport;
use crate::check::{LossAgainstChance, LossOf};

/// A loss of this multiple of the worst initial loss is far above it.
const FAR: f64 = 2.0;
/// This many steps in a row far above it cannot be due to chance.
const STEPS: u32 = 100;
/// The maximum loss at the end of a run, as a multiple of the worst initial loss; above 1 because batches differ.
const END: f64 = 1.1;
/// The same for a run with at most as many steps as the mean covers. In so few steps the loss can first get worse, and
/// a run of four steps has hardly started.
const END_OF_FEW: f64 = 4.0;
/// A loss above this share of the initial loss counts as no lower.
const NO_LOWER: f64 = 0.9;
/// Growth of the weights that no useful learning rate causes. A factor of a thousand does occur: a recipe can start
/// with short vectors and long steps, and the loss of a first batch can be low by chance.
const GROWN: f64 = 1e6;
/// Growth of the weights at which the initial values are lost in the rounding of f32, 24 bits: nothing remains of them,
/// however low the loss.
const LOST: f64 = (1 << 24) as f64;
/// Steps that the mean at the end covers.
const MEMORY: f64 = 50.0;

/// Losses so far as multiples of chance, and the initial norm of the weights.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct Watch {
    square_norm: f64,
    n: u64,
    chance: f64,
    first: f64,
    recent: f64,
    n_far: u32,
}

/// A run that does not learn: its loss, the bound it should be below, and the origin of the bound.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Verdict {
    pub(super) loss: f64,
    pub(super) bound: f64,
    pub(super) of: &'static str,
}

/// The message for a run with too few steps for its loss to fall below chance.
pub(super) struct FewSteps {
    pub(super) steps: u64,
    pub(super) loss: f64,
    pub(super) guess: f64,
}

impl fmt::Display for FewSteps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { steps, loss, guess } = *self;
        let plural = if steps == 1 { "step is" } else { "steps are" };
        write!(
            f,
            "{steps} {plural} too few: the loss is {loss:.4}, and guessing gives {guess:.4}; give more text or pairs, \
            or train for {}",
            Remedy::MoreEpochs
        )
    }
}

impl Watch {
    /// Creates the state from the sum of squares of the initial weights.
    pub(super) fn new(square_norm: f64) -> Self {
        Self { square_norm, n: 0, chance: 0.0, first: 0.0, recent: 0.0, n_far: 0 }
    }

    /// Adds the loss of a step. Returns a verdict if it has been far above chance for too long.
    pub(super) fn add(&mut self, report: &StepReport) -> Option<Verdict> {
        self.chance = report.chance.filter(|chance| *chance > 0.0)?;
        let multiple = report.loss / self.chance;
        if self.n == 0 {
            self.first = multiple;
        } else {
            self.recent += (multiple - self.recent) / MEMORY.min(self.n as f64);
        }
        self.n += 1;
        self.n_far = if multiple > FAR * self.worst_start() { self.n_far + 1 } else { 0 };
        (self.n_far >= STEPS).then(|| self.verdict())
    }

    /// Checks at the end whether a run has learned nothing; `square_norm` is the sum of squares of its weights.
    pub(super) fn at_end(&self, square_norm: f64) -> Option<Verdict> {
        let has_grown = self.square_norm > 0.0 && square_norm > GROWN * GROWN * self.square_norm;
        let end = if self.is_short() { END_OF_FEW } else { END };
        let is_lost = self.recent > end * self.worst_start() || (has_grown && self.recent > NO_LOWER * self.first);
        (self.n > 1 && is_lost).then(|| self.verdict())
    }

    /// The loss and the chance level of a run whose few steps did not bring the loss below chance.
    pub(super) fn few_steps(&self) -> Option<(f64, f64)> {
        (self.n > 0 && self.is_short() && self.loss() >= 1.0).then(|| (self.loss() * self.chance, self.chance))
    }

    /// The loss of the last steps compared with chance; `None` if the objective has no chance level.
    pub(super) fn against_chance(&self) -> Option<LossAgainstChance> {
        let (mean, chance) = (self.loss() * self.chance, self.chance);
        (self.n > 0).then_some(LossAgainstChance { mean, chance, of: LossOf::Gradient })
    }

    /// The loss of the last steps; a run of one step only has the first loss.
    fn loss(&self) -> f64 {
        if self.n > 1 { self.recent } else { self.first }
    }

    fn is_short(&self) -> bool {
        self.n as f64 <= MEMORY
    }

    /// The growth factor of the weights, if their initial values are lost in rounding.
    pub(super) fn outgrown(&self, square_norm: f64) -> Option<f64> {
        let growth = (square_norm / self.square_norm).sqrt();
        (self.square_norm > 0.0 && growth.is_finite() && growth > LOST).then_some(growth)
    }

    fn worst_start(&self) -> f64 {
        self.first.max(1.0)
    }

    fn verdict(&self) -> Verdict {
        let (bound, of) = if self.recent > 1.0 { (1.0, "a guess") } else { (self.first, "the initial weights") };
        Verdict { loss: self.recent * self.chance, bound: bound * self.chance, of }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The step at which the run was stopped, and its final state.
    fn watch(losses: impl IntoIterator<Item = f64>, chance: Option<f64>) -> (Option<usize>, Watch) {
        let mut watch = Watch::new(1.0);
        let report = |loss| StepReport { loss, chance, ..StepReport::default() };
        let stopped = losses.into_iter().position(|loss| watch.add(&report(loss)).is_some());
        (stopped, watch)
    }

    #[test]
    fn a_loss_that_stays_far_above_chance_stops_the_run_and_one_that_comes_back_does_not() {
        let far = std::iter::repeat_n(5.1, 200);
        let (stopped, watch_of_far) = watch([2.5].into_iter().chain(far.clone()), Some(2.5));
        assert_eq!(stopped, Some(100));
        let verdict = watch_of_far.verdict();
        assert!((verdict.loss - 5.1).abs() < 1e-9 && (verdict.bound, verdict.of) == (2.5, "a guess"), "{verdict:?}");
        assert_eq!(watch([2.5].into_iter().chain(far.clone()), None).0, None);
        assert_eq!(watch([2.5].into_iter().chain(std::iter::repeat_n(4.9, 200)), Some(2.5)).0, None);
        let back = [2.5].into_iter().chain(std::iter::repeat_n(5.1, 99)).chain([4.0]);
        assert_eq!(watch(back.chain(std::iter::repeat_n(5.1, 99)), Some(2.5)).0, None);
        // A run that starts from the weights of another task.
        assert_eq!(watch([3.0].into_iter().chain(far), Some(2.5)).0, None);
    }

    #[test]
    fn the_end_is_judged_by_the_last_steps() {
        let run = |first: f64, last: f64| watch((0..600).map(|i| if i < 200 { first } else { last }), Some(2.0)).1;
        let is_lost = |first, last| run(first, last).at_end(1.0).is_some();
        assert!(is_lost(2.0, 2.4) && !is_lost(2.0, 2.1));
        assert!(!is_lost(2.4, 2.0), "whatever came before");
        assert!(!is_lost(4.0, 3.9), "it began there");
        assert_eq!(Watch::new(1.0).at_end(1e9), None);
        assert!(watch([2.0, 9.0], Some(2.0)).1.at_end(1.0).is_some(), "a short run, too");
    }

    #[test]
    fn few_steps_above_a_guess_are_too_few_and_no_failure() {
        let run = |n: usize, loss: f64| {
            watch(std::iter::repeat_n(2.0, 1).chain(std::iter::repeat_n(loss, n - 1)), Some(2.0)).1
        };
        assert!(run(4, 2.4).at_end(1.0).is_none() && run(50, 7.9).at_end(1.0).is_none());
        assert!(run(51, 2.4).at_end(1.0).is_some() && run(4, 8.1).at_end(1.0).is_some());
        let (loss, guess) = run(4, 2.4).few_steps().unwrap();
        assert!((loss - 2.4).abs() < 1e-9 && guess == 2.0, "{loss} {guess}");
        assert_eq!((run(4, 1.9).few_steps(), run(51, 2.1).few_steps()), (None, None));
        assert_eq!(run(1, 2.0).few_steps(), Some((2.0, 2.0)));
    }

    #[test]
    fn the_loss_of_the_last_steps_stands_beside_that_of_guessing() {
        let against = |last: f64| {
            watch((0..600).map(|i| if i < 200 { 1.5 } else { last }), Some(2.0)).1.against_chance().unwrap()
        };
        assert!(against(1.99).has_learned() && !against(1.999).has_learned() && against(2.1).has_learned());
        assert!((against(1.9).mean - 1.9).abs() < 1e-3 && against(1.9).chance == 2.0);
        assert_eq!(watch([2.0, 2.0], None).1.against_chance(), None);
        assert_eq!(watch([2.0], Some(2.0)).1.against_chance().map(|loss| loss.has_learned()), Some(false));
    }

    #[test]
    fn weights_that_grow_without_the_loss_falling_have_learnt_nothing() {
        let run = |last: f64, grown: f64| {
            let losses = [0.5].into_iter().chain(std::iter::repeat_n(last, 20));
            watch(losses, Some(1.0)).1.at_end(grown * grown)
        };
        let verdict = run(0.48, 1.1e6).unwrap();
        assert_eq!((verdict.bound, verdict.of), (0.5, "the initial weights"));
        assert_eq!(run(0.48, 0.9e6), None, "a rate too low to learn anything does no harm");
        assert_eq!(run(0.40, 1e9), None, "it has learned");
    }

    #[test]
    fn weights_beside_which_the_first_ones_are_rounded_away_have_outgrown_them() {
        let growth = |from: f64, to: f64| Watch::new(from * from).outgrown(to * to);
        assert_eq!(growth(2.0, 2e7), None);
        let grown = growth(2.0, 4e7).unwrap();
        assert!((grown - 2e7).abs() < 1.0);
        assert_eq!(1e7_f32 * 2.0 + 0.5, 1e7 * 2.0, "that is what it means");
        assert_eq!(growth(0.0, 1e9), None, "zeros have no length");
    }
}
