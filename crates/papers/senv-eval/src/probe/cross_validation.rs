//! The choice of C by cross-validation, and nested cross-validation.
//!
//! ```text
//! nested: for each outer fold o
//!           for each C: mean over inner folds j of the score on j of the regression trained on neither o nor j
//!           C_o: the C with the best mean (the smallest of equals)
//!           predictions for o: of the regression trained on all but o with C_o
//! ```
//!
//! All regressions of a data set, 110 for 10 outer and 10 inner folds, are fitted together.

use senv_metrics::Confusion;
use serde::Serialize;

use crate::{
    error::{Error, Result},
    probe::{
        folds::{FoldRule, folds},
        logistic::{self, Examples, FOLD_TOLERANCE, Link, Model, Role, Roles},
    },
};

/// Outputs of a logistic regression with more than two classes. Two classes have one output in either form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum LogisticForm {
    /// The probabilities of all classes sum to 1, as in current scikit-learn.
    Softmax,
    /// One regression per class against all others, as in LIBLINEAR and in scikit-learn when the papers were written.
    OneVsRest,
}

/// The metric by which C is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum SelectionMetric {
    /// Share of correct classes.
    Accuracy,
    /// F1 of the second of two classes, as in the script of Skip-thoughts for MSRP.
    F1,
}

/// Options for training classifiers on frozen vectors and choosing their C.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ProbeOptions {
    /// Number of folds that are tested in turn.
    pub outer_folds: usize,
    /// Number of folds of each training part, for choosing C.
    pub inner_folds: usize,
    /// The candidate values of C, ascending.
    pub path: Vec<f64>,
    /// How examples are divided into folds.
    pub fold_rule: FoldRule,
    /// Form of the outputs for more than two classes.
    pub form: LogisticForm,
    /// The metric by which C is chosen.
    pub selection: SelectionMetric,
    /// The random seed of the folds.
    pub seed: u64,
}

impl Default for ProbeOptions {
    /// 10 x 10 stratified folds, C from 2⁻⁸ to 2⁸, softmax, accuracy, seed 1. Vectors that are s times as long need a C
    /// of 1/s² times the size, so the range serves unit vectors and vectors of length 11.
    fn default() -> Self {
        Self {
            outer_folds: 10,
            inner_folds: 10,
            path: Self::powers_of_two(-8, 8),
            fold_rule: FoldRule::Stratified,
            form: LogisticForm::Softmax,
            selection: SelectionMetric::Accuracy,
            seed: 1,
        }
    }
}

impl ProbeOptions {
    /// The values 2^low, .., 2^high for [`ProbeOptions::path`]; none if `low` is above `high`.
    ///
    /// ```
    /// assert_eq!(senv_eval::ProbeOptions::powers_of_two(-1, 2), [0.5, 1.0, 2.0, 4.0]);
    /// ```
    #[must_use]
    pub fn powers_of_two(low: i32, high: i32) -> Vec<f64> {
        (low..=high).map(|power| 2.0_f64.powi(power)).collect()
    }

    /// The settings of the script of Skip-thoughts for MSRP: 10 folds, C from 2⁰ to 2⁸ by F1.
    #[must_use]
    pub fn skip_thoughts() -> Self {
        Self {
            fold_rule: FoldRule::Contiguous,
            selection: SelectionMetric::F1,
            path: Self::powers_of_two(0, 8),
            ..Self::default()
        }
    }

    /// The settings of SentEval for MSRP: 5 stratified folds, C from 2⁻¹ to 2⁵ by accuracy.
    #[must_use]
    pub fn sent_eval() -> Self {
        Self { inner_folds: 5, path: Self::powers_of_two(-1, 5), ..Self::default() }
    }

    /// Checks the options.
    ///
    /// # Errors
    /// [`senv_core::Error::InvalidParameter`] if the path is empty, not ascending, or has a value that is not above 0.
    pub(crate) fn check(&self) -> Result<()> {
        let ascends = self.path.windows(2).all(|pair| pair[0] < pair[1]);
        let positive = self.path.iter().all(|c| c.is_finite() && *c > 0.0);
        if self.path.is_empty() || !ascends || !positive {
            let requirement = "one or more values above 0, ascending";
            let got = format!("{:?}", self.path);
            return Err(senv_core::Error::InvalidParameter { name: "C", requirement, got }.into());
        }
        Ok(())
    }

    pub(crate) fn link(&self, n_classes: usize) -> Link {
        if n_classes == 2 || self.form == LogisticForm::OneVsRest { Link::Sigmoid } else { Link::Softmax }
    }

    /// Computes the score by which C is chosen.
    fn score(&self, gold: &[usize], predicted: &[usize], n_classes: usize) -> Result<f64> {
        let confusion = Confusion::new(gold, predicted, n_classes)?;
        let score = match self.selection {
            SelectionMetric::Accuracy => confusion.accuracy(),
            SelectionMetric::F1 => confusion.class(1).f1(),
        };
        // F1 is undefined if there are no paraphrases and none were predicted. Count it as 0.
        Ok(score.unwrap_or(0.0))
    }
}

/// The C with the best mean score (the smallest of equals), from the score of each C.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ChosenC {
    pub(crate) c: f64,
    /// Whether it is the smallest or the largest of several and scores higher than its neighbor, so a C beyond the
    /// range may be better.
    pub(crate) is_at_edge: bool,
}

impl ChosenC {
    /// Returns `None` without a score that is a number.
    pub(crate) fn of(results: &[(f64, f64)]) -> Option<Self> {
        let is_better = |i: &usize, best: Option<usize>| best.is_none_or(|best| results[*i].1 > results[best].1);
        let numbers = (0..results.len()).filter(|&i| !results[i].1.is_nan());
        let best = numbers.fold(None, |best, i| if is_better(&i, best) { Some(i) } else { best })?;
        let neighbour = match best {
            0 => results.get(1),
            last if last + 1 == results.len() => results.get(last - 1),
            _ => None,
        };
        let is_at_edge = neighbour.is_some_and(|neighbour| neighbour.1 < results[best].1);
        Some(Self { c: results[best].0, is_at_edge })
    }
}

/// Examples with one class each.
pub(crate) trait Classified: Examples {
    /// The classes, each below `n_classes`.
    fn classes(&self) -> &[usize];
    /// Number of classes.
    fn n_classes(&self) -> usize;
}

/// Returns the targets of classes: one output of 0 or 1 for two classes, otherwise one per class.
pub(crate) fn class_targets(classes: &[usize], n_classes: usize) -> Vec<f64> {
    match n_classes {
        2 => classes.iter().map(|&class| class as f64).collect(),
        k => classes.iter().flat_map(|&class| (0..k).map(move |j| f64::from(u8::from(j == class)))).collect(),
    }
}

/// Result of nested cross-validation.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Nested {
    /// The class predicted for each example when its fold was tested.
    pub(crate) predicted: Vec<usize>,
    /// The C chosen for each outer fold.
    pub(crate) chosen: Vec<ChosenC>,
    /// The outer fold of each example.
    pub(crate) fold_of: Vec<usize>,
}

/// Runs nested cross-validation.
///
/// # Errors
/// [`Error::TooFewExamples`], [`Error::OneClass`], [`senv_core::Error::InvalidParameter`].
pub(crate) fn nested<E: Classified>(examples: &E, options: &ProbeOptions) -> Result<Nested> {
    options.check()?;
    let (classes, k, inner) = (examples.classes(), examples.n_classes(), options.inner_folds);
    let fold_of = folds(classes, options.outer_folds, options.fold_rule, options.seed, 0)?;
    // The inner fold of each example, for each outer fold that does not contain it.
    let mut inner_of = vec![vec![usize::MAX; classes.len()]; options.outer_folds];
    for (outer, inner_of) in inner_of.iter_mut().enumerate() {
        let kept: Vec<usize> = (0..classes.len()).filter(|&i| fold_of[i] != outer).collect();
        let kept_classes: Vec<usize> = kept.iter().map(|&i| classes[i]).collect();
        let found = folds(&kept_classes, inner, options.fold_rule, options.seed, 1 + outer as u64)?;
        kept.iter().zip(found).for_each(|(&i, fold)| inner_of[i] = fold);
    }
    // The regressions of an outer fold: one per inner fold, then one on all examples outside the outer fold.
    let per_outer = inner + 1;
    let role = |i: usize, problem: usize| {
        let (outer, j) = (problem / per_outer, problem % per_outer);
        match (fold_of[i] == outer, j == inner) {
            (true, true) => Role::Judge,
            (true, false) => Role::Absent,
            (false, true) => Role::Train,
            (false, false) if inner_of[outer][i] == j => Role::Judge,
            (false, false) => Role::Train,
        }
    };
    let roles = Roles::new(classes.len(), per_outer * options.outer_folds, role);
    check_classes(&roles, classes, per_outer * options.outer_folds)?;
    let mut predicted = vec![0; classes.len()];
    let mut best = vec![f64::NEG_INFINITY; options.outer_folds];
    let mut results: Vec<Vec<(f64, f64)>> = vec![Vec::new(); options.outer_folds];
    logistic::fit_path::<f32, E>(examples, options.link(k), &roles, &options.path, FOLD_TOLERANCE, |place, models| {
        let found = logistic::predict::<f32, E>(examples, models)?;
        for outer in 0..options.outer_folds {
            let mean = mean_score(&roles, classes, &found, outer * per_outer..outer * per_outer + inner, k, options)?;
            results[outer].push((options.path[place], mean));
            if mean > best[outer] {
                best[outer] = mean;
                let of_fold = (0..classes.len()).filter(|&i| fold_of[i] == outer);
                of_fold.for_each(|i| predicted[i] = found[i][outer * per_outer + inner]);
            }
        }
        Ok(())
    })?;
    let chosen = results.iter().map(|results| ChosenC::of(results)).collect::<Option<Vec<_>>>();
    Ok(Nested { predicted, chosen: chosen.ok_or(Error::NothingToDo { what: "values of C" })?, fold_of })
}

/// The regression with the best C.
pub(crate) struct Chosen<R> {
    /// Fitted to all training examples.
    pub(crate) model: Model,
    pub(crate) c: f64,
    /// The mean score of each C.
    pub(crate) results: Vec<(f64, R)>,
}

/// Fits a regression on all examples with the C of the best mean score in cross-validation (the smallest C of equals).
///
/// # Errors
/// Returns the errors of [`nested`].
pub(crate) fn choose<E: Classified>(examples: &E, options: &ProbeOptions) -> Result<Chosen<f64>> {
    options.check()?;
    let (classes, k, inner) = (examples.classes(), examples.n_classes(), options.inner_folds);
    let fold_of = folds(classes, inner, options.fold_rule, options.seed, 0)?;
    let role = |i: usize, j: usize| if fold_of[i] == j { Role::Judge } else { Role::Train };
    let roles = Roles::new(classes.len(), inner + 1, role);
    check_classes(&roles, classes, inner + 1)?;
    let (mut best, mut results) = (None, Vec::new());
    logistic::fit_path::<f32, E>(examples, options.link(k), &roles, &options.path, FOLD_TOLERANCE, |place, models| {
        let found = logistic::predict::<f32, E>(examples, models)?;
        let mean = mean_score(&roles, classes, &found, 0..inner, k, options)?;
        results.push((options.path[place], mean));
        if best.as_ref().is_none_or(|(_, _, best)| mean > *best) {
            best = Some((models[inner].clone(), options.path[place], mean));
        }
        Ok(())
    })?;
    let (model, c, _) = best.ok_or(Error::NothingToDo { what: "values of C" })?;
    Ok(Chosen { model, c, results })
}

/// Returns the mean over regressions of their scores on the examples they are tested on.
fn mean_score(
    roles: &Roles,
    classes: &[usize],
    predicted: &[Vec<usize>],
    problems: std::ops::Range<usize>,
    n_classes: usize,
    options: &ProbeOptions,
) -> Result<f64> {
    let n = problems.len();
    let of_problem = |problem: usize| {
        let judged = (0..classes.len()).filter(|&i| roles.of(i)[problem] == Role::Judge);
        let (gold, found): (Vec<usize>, Vec<usize>) = judged.map(|i| (classes[i], predicted[i][problem])).unzip();
        options.score(&gold, &found, n_classes)
    };
    Ok(problems.map(of_problem).sum::<Result<f64>>()? / n as f64)
}

/// Checks that each regression has training examples of at least two classes.
fn check_classes(roles: &Roles, classes: &[usize], n_problems: usize) -> Result<()> {
    for problem in 0..n_problems {
        let mut learned = (0..classes.len()).filter(|&i| roles.of(i)[problem] == Role::Train).map(|i| classes[i]);
        let first = learned.next();
        if learned.all(|class| Some(class) == first) {
            return Err(Error::OneClass);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_of_the_best_is_chosen_and_an_edge_is_one_that_beats_its_neighbour() {
        let of = |scores: &[f64]| {
            let results: Vec<(f64, f64)> = ProbeOptions::powers_of_two(0, 8).into_iter().zip(scores.to_vec()).collect();
            ChosenC::of(&results).map(|chosen| (chosen.c, chosen.is_at_edge))
        };
        assert_eq!(of(&[0.5, 0.7, 0.6]), Some((2.0, false)));
        assert_eq!(of(&[0.5, 0.6, 0.7]), Some((4.0, true)));
        assert_eq!(of(&[0.7, 0.6, 0.5]), Some((1.0, true)));
        // Equal neighbors: nothing is gained toward the edge.
        assert_eq!(of(&[0.7, 0.7, 0.5]), Some((1.0, false)));
        assert_eq!(of(&[0.5, 0.7, 0.7]), Some((2.0, false)));
        assert_eq!((of(&[0.7]), of(&[])), (Some((1.0, false)), None));
    }
}
