//! Tests the loop on a problem with a known answer: each word vector is pulled to a target, and so is a matrix.

use ndarray::Array2;
use senv_core::{Rows, RunOptions, Table, TokenId, arrays::Parameters, optim::UpdateRule};

use senv_losses::RowGradients;

use super::*;
use crate::error::{Error, Result};

const WORDS: u32 = 50;
const DIM: usize = 5;

/// ½ |w − (w's number)|² of the words of the batch, ½ |θ − 1|² of the parameters.
#[derive(Default)]
pub(super) struct Targets {
    /// The loss is NaN starting at this step.
    pub(super) nan_from: Option<u64>,
    /// A value of the gradient is this, starting at this step.
    pub(super) long_from: Option<(u64, f32)>,
    /// Whether there is an output of which each step updates a few rows, and whether their gradients are given as rows.
    pub(super) output: Option<bool>,
    /// Scores returned in turn.
    pub(super) scores: Vec<f64>,
    pub(super) validations: usize,
    pub(super) weight: Option<f64>,
}

impl Objective for Targets {
    /// The numbers of the examples.
    type Batch = Vec<TokenId>;

    fn kind(&self) -> &'static str {
        "targets"
    }

    fn sources(&self) -> Vec<Source> {
        vec![Source { n_examples: WORDS, weight: self.weight }, Source { n_examples: 7, weight: None }]
    }

    fn identity(&self) -> String {
        format!("{:?}", self.weight)
    }

    fn row_groups(&self) -> Vec<usize> {
        if self.output == Some(true) { vec![1] } else { vec![] }
    }

    fn prepare(&self, step: &GradientStep<'_>, batch: &mut Vec<TokenId>) -> Result<()> {
        batch.clear();
        batch.extend(step.examples.iter().map(|&i| TokenId(i)));
        batch.sort_unstable();
        Ok(())
    }

    fn gradients(
        &self,
        weights: &Weights,
        step: &GradientStep<'_>,
        batch: &Vec<TokenId>,
        gradients: &mut Gradients,
    ) -> Result<StepReport> {
        gradients.tokens.clone_from(batch);
        gradients.d_words = Array2::zeros((gradients.tokens.len(), DIM));
        let mut loss = 0.0;
        for (mut d, token) in gradients.d_words.outer_iter_mut().zip(&gradients.tokens) {
            for (d, &x) in d.iter_mut().zip(weights.words.row(token.index())) {
                *d = x - token.0 as f32;
                loss += 0.5 * f64::from(*d).powi(2);
            }
        }
        for (d, &x) in gradients.d_parameters[0][0].values_mut().iter_mut().zip(weights.parameters[0][0].values()) {
            assert_eq!(*d, 0.0, "gradients come zeroed");
            *d = x - 1.0;
        }
        if let Some((from, value)) = self.long_from
            && step.number >= from
        {
            gradients.d_parameters[0][0].values_mut()[3] = value;
        }
        if let Some(as_rows) = self.output {
            let rows = self.rows(&weights.parameters[1], step);
            if as_rows {
                assert!(gradients.d_parameters[1].is_empty(), "no zeros to walk through");
                gradients.rows = vec![rows];
            } else {
                assert!(gradients.d_parameters[1].iter().all(|tensor| tensor.values().iter().all(|&d| d == 0.0)));
                rows.add_to(&mut gradients.d_parameters[1], 0)?;
            }
        }
        if self.nan_from.is_some_and(|from| step.number >= from) {
            loss = f64::NAN;
        }
        Ok(StepReport { loss, ..StepReport::default() })
    }

    fn validate(&mut self, _: &Weights) -> Result<Option<f64>> {
        let score = self.scores.get(self.validations).copied();
        self.validations += 1;
        Ok(score)
    }
}

/// Rows of the output.
const ROWS: usize = 12;

impl Targets {
    /// The gradients of ½ |o − 2|² over the rows that the examples select.
    fn rows(&self, output: &Parameters<f32>, step: &GradientStep<'_>) -> RowGradients<f32> {
        let mut rows: Vec<TokenId> = step.examples.iter().map(|&i| TokenId(i % ROWS as u32)).collect();
        rows.sort_unstable();
        rows.dedup();
        RowGradients {
            d_w: Array2::from_shape_fn((rows.len(), 3), |(i, j)| output[0].view()[(rows[i].index(), j)] - 2.0),
            d_b: rows.iter().map(|row| output[1].values()[row.index()] - 2.0).collect(),
            rows,
        }
    }
}

pub(super) fn with_output() -> Result<Weights> {
    let mut weights = initial()?;
    let mut output = Parameters::new();
    output.push("w", [ROWS, 3], vec![0.0; 3 * ROWS])?;
    output.push("b", [1, ROWS], vec![0.0; ROWS])?;
    weights.parameters.push(output);
    Ok(weights)
}

pub(super) fn initial() -> Result<Weights> {
    let mut parameters = Parameters::new();
    parameters.push("matrix", [3, 4], vec![0.0; 12])?;
    Ok(Weights { words: Table::zeros(WORDS as usize, DIM)?, parameters: vec![parameters] })
}

pub(super) fn params() -> FitParams {
    FitParams {
        epochs: Some(12),
        batch: 8,
        lr: Some(0.05),
        seed: 3,
        l2_words: 0.01,
        clip: Some(50.0),
        ..FitParams::default()
    }
}

pub(super) fn bits(weights: &Weights) -> Vec<u32> {
    let words = weights.words.iter().flatten();
    let dense = weights.parameters.iter().flat_map(|group| group.iter().flat_map(|tensor| tensor.values()));
    words.chain(dense).map(|x| x.to_bits()).collect()
}

#[test]
fn it_learns_and_threads_do_not_change_a_bit() {
    for words in [WordUpdates::Sparse, WordUpdates::Dense] {
        let params = FitParams { epochs: Some(400), words, l2_words: 0.0, ..params() };
        let one = fit(&mut Targets::default(), initial, &params, &RunOptions::default()).unwrap();
        assert_eq!((one.stopped, one.steps), (Stopped::Finished, 400 * 8));
        assert!((one.weights.words.row(9)[0] - 9.0).abs() < 0.1, "{:?}", one.weights.words.row(9));
        assert!((one.weights.parameters[0][0].values()[5] - 1.0).abs() < 0.01);
        for threads in [2, 5] {
            let more = fit(&mut Targets::default(), initial, &params, &RunOptions { threads, ..RunOptions::default() });
            assert_eq!(bits(&one.weights), bits(&more.unwrap().weights));
        }
    }
    let frozen = FitParams { words: WordUpdates::Frozen, ..params() };
    let frozen = fit(&mut Targets::default(), initial, &frozen, &RunOptions::default()).unwrap();
    assert!(
        frozen.weights.words.iter().flatten().all(|&x| x == 0.0) && frozen.weights.parameters[0][0].values()[0] > 0.1
    );
}

#[test]
fn the_best_weights_are_kept_and_the_run_stops_when_they_get_no_better() {
    let mut objective = Targets { scores: vec![0.2, 0.4, 0.3, 0.1, 0.9], ..Targets::default() };
    let params = FitParams { patience: Some(2), ..params() };
    let fitted = fit(&mut objective, initial, &params, &RunOptions::default()).unwrap();
    assert_eq!((fitted.stopped, fitted.best, fitted.steps), (Stopped::Early, Some((16, 0.4)), 32));
    let two = fit(&mut Targets::default(), initial, &FitParams { epochs: Some(2), ..params }, &RunOptions::default())
        .unwrap();
    assert_eq!(bits(&fitted.weights), bits(&two.weights));
}

#[test]
fn a_loss_that_is_no_number_stops_the_run_and_keeps_the_best() {
    let mut objective = Targets { nan_from: Some(11), ..Targets::default() };
    let error = fit(&mut objective, initial, &params(), &RunOptions::default()).unwrap_err();
    assert!(matches!(error, Error::Diverged { step: 11, .. }) && error.to_string().contains("step 11"), "{error}");
    let mut objective = Targets { nan_from: Some(11), scores: vec![0.5], ..Targets::default() };
    let fitted = fit(&mut objective, initial, &params(), &RunOptions::default()).unwrap();
    assert_eq!(fitted.best, Some((8, 0.5)));
    assert!(matches!(fitted.stopped, Stopped::Diverged { step: 11, .. }));
    assert!(fitted.weights.words.iter().flatten().all(|x| x.is_finite()));
}

#[test]
fn a_gradient_that_explodes_stops_the_run_and_keeps_the_best() {
    for (value, expected) in [(2e10, "2.0e10"), (f32::INFINITY, "inf"), (f32::NAN, "NaN")] {
        for clip in [None, Some(1.0)] {
            let params = FitParams { clip, ..params() };
            let objective = || Targets { long_from: Some((11, value)), ..Targets::default() };
            let error = fit(&mut objective(), initial, &params, &RunOptions::default()).unwrap_err();
            assert!(matches!(error, Error::ExplodingGradient { step: 11, .. }), "{error}");
            assert!(error.to_string().contains("step 11") && error.to_string().contains(expected), "{error}");
            let mut with_best = Targets { scores: vec![0.5], ..objective() };
            let fitted = fit(&mut with_best, initial, &params, &RunOptions::default()).unwrap();
            assert_eq!((fitted.best, fitted.steps), (Some((8, 0.5)), 11));
            assert!(matches!(fitted.stopped, Stopped::Exploded { step: 11, .. }), "{:?}", fitted.stopped);
            assert!(fitted.weights.parameters[0][0].values().iter().all(|x| x.is_finite()));
        }
    }
    let mut short = Targets { long_from: Some((11, 9e9)), ..Targets::default() };
    assert_eq!(fit(&mut short, initial, &params(), &RunOptions::default()).unwrap().stopped, Stopped::Finished);
}

#[test]
fn rows_of_an_output_are_learnt_as_the_dense_rule_does_where_resting_rows_have_no_moments() {
    let run = |rule, clip, as_rows, threads| {
        let (params, options) = (FitParams { rule, clip, ..params() }, RunOptions { threads, ..RunOptions::default() });
        let mut objective = Targets { output: Some(as_rows), ..Targets::default() };
        fit(&mut objective, with_output, &params, &options).unwrap().weights
    };
    // Gradients are about 100 long, so they are clipped, and the factor has full f64 precision.
    for clip in [None, Some(50.0)] {
        let rows = run(UpdateRule::Sgd, clip, true, 1);
        assert_eq!(bits(&rows), bits(&run(UpdateRule::Sgd, clip, false, 1)), "{clip:?}");
        assert!(rows.parameters[1][1].values().iter().all(|&x| x > 0.5), "{:?}", rows.parameters[1]);
        let adam = run(UpdateRule::default(), clip, true, 1);
        assert!([2, 5].iter().all(|&threads| bits(&run(UpdateRule::default(), clip, true, threads)) == bits(&adam)));
        assert_ne!(bits(&adam), bits(&run(UpdateRule::default(), clip, false, 1)), "moments of resting rows rest too");
    }
}

/// An objective without examples.
struct Nothing;

impl Objective for Nothing {
    type Batch = ();

    fn kind(&self) -> &'static str {
        "nothing"
    }

    fn sources(&self) -> Vec<Source> {
        vec![Source { n_examples: 0, weight: None }]
    }

    fn identity(&self) -> String {
        String::new()
    }

    fn prepare(&self, _: &GradientStep<'_>, (): &mut ()) -> Result<()> {
        Ok(())
    }

    fn gradients(&self, _: &Weights, _: &GradientStep<'_>, (): &(), _: &mut Gradients) -> Result<StepReport> {
        Ok(StepReport::default())
    }
}

#[test]
fn too_many_threads_are_an_error() {
    let options = RunOptions { threads: 1025, ..RunOptions::default() };
    let error = fit(&mut Targets::default(), initial, &params(), &options).unwrap_err();
    assert!(error.to_string().contains("threads must be at most 1024"), "{error}");
}

#[test]
fn an_objective_without_examples_is_an_error() {
    assert!(matches!(
        fit(&mut Nothing, initial, &params(), &RunOptions::default()),
        Err(Error::NoExamples { kind: "nothing" })
    ));
}

/// Two steps of plain SGD, one with all words and one with words 0 to 6, in either order: words 0 to 6 are in both.
fn two_steps(clip: Option<f64>, l2_words: f64, l2_norm: L2Scaling) -> Weights {
    let rule = UpdateRule::Sgd;
    let params =
        FitParams { epochs: Some(1), batch: 50, lr: Some(0.1), rule, clip, l2_words, l2_norm, ..FitParams::default() };
    let initial = || {
        let mut weights = initial()?;
        (0..WORDS as usize).for_each(|i| weights.words.row_mut(i).fill(0.5));
        Ok(weights)
    };
    let fitted = fit(&mut Targets::default(), initial, &params, &RunOptions::default()).unwrap();
    assert_eq!(fitted.steps, 2);
    fitted.weights
}

#[test]
fn a_penalty_of_half_and_of_full_norm_pulls_words_back_by_what_the_equation_says() {
    // R = k λ |w − w₀|², so its slope is 2 k λ (w − w₀): λ for one half, 2 λ for 1.
    for (lambda, norm, slope) in [(0.0, L2Scaling::Half, 0.0), (0.7, L2Scaling::Half, 0.7), (0.7, L2Scaling::Full, 1.4)]
    {
        let weights = two_steps(None, lambda, norm);
        for word in 0..7 {
            let (w0, goal) = (0.5, word as f64);
            let w1 = w0 - 0.1 * (w0 - goal); // no gradient at the initial value
            let w2 = w1 - 0.1 * ((w1 - goal) + slope * (w1 - w0));
            for &w in weights.words.row(word) {
                assert!((f64::from(w) - w2).abs() < 1e-5, "λ {lambda} {norm:?}, word {word}: {w} and not {w2}");
            }
        }
        let params = FitParams { l2_norm: norm, ..FitParams::default() };
        // The same for parameters other than words: R at w = 3 is k λ 9.
        let penalty = params.penalty(lambda).forward(&[3.0], None).unwrap();
        assert!((penalty - 0.5 * slope * 9.0).abs() < 1e-12, "{penalty}");
    }
}

#[test]
fn a_gradient_longer_than_the_bound_is_shortened_to_it_before_the_step() {
    let steps = |clip| two_steps(clip, 0.0, L2Scaling::Half);
    let unclipped = steps(None);
    // No gradient is this long.
    assert_eq!(bits(&steps(Some(1e6))), bits(&unclipped));
    // The same two steps in f64, each against a gradient of length 2 over words and matrix together.
    let clipped = steps(Some(2.0));
    let (mut words, mut matrix) = (vec![[0.5; DIM]; WORDS as usize], [0.0; 12]);
    let mut batches = [WORDS as usize, 7];
    if first_batch_is_short() {
        batches.reverse();
    }
    for n in batches {
        let d_words: Vec<[f64; DIM]> = (0..n).map(|i| words[i].map(|w| w - i as f64)).collect();
        let d_matrix = matrix.map(|x: f64| x - 1.0);
        let squares = d_words.iter().flatten().chain(&d_matrix).map(|d| d * d).sum::<f64>();
        let factor = 2.0 / squares.sqrt();
        assert!(factor < 1.0);
        for (w, d) in words.iter_mut().flatten().zip(d_words.iter().flatten()) {
            *w -= 0.1 * factor * d;
        }
        matrix.iter_mut().zip(d_matrix).for_each(|(x, d)| *x -= 0.1 * factor * d);
    }
    for (got, expected) in clipped.words.iter().flatten().zip(words.iter().flatten()) {
        assert!((f64::from(*got) - expected).abs() < 1e-5, "{got} {expected}");
    }
    for (got, expected) in clipped.parameters[0][0].values().iter().zip(matrix) {
        assert!((f64::from(*got) - expected).abs() < 1e-5, "{got} {expected}");
    }
}

/// Whether the first step of [`two_steps`] has only seven words.
fn first_batch_is_short() -> bool {
    let mut examples = Vec::new();
    example_order::ExampleOrder::new(Targets::default().sources(), 50, FitParams::default().seed)
        .next(0, &mut examples);
    examples.len() == 7
}
