//! Multinomial logistic regression, with hard classes or distributions over classes as targets.
//!
//! Equation: `logistic-regression`
//!
//! ```text
//! (F1)  a_i = W x_i + b                                x: shape (f,), W: shape (k, f), b: shape (k,)
//! (F2)  L   = ½ |W|² + C Σ_i (ln Σ_j e^a_ij − t_iᵀ a_i)  t: shares of the classes, adding up to 1; b is not pulled to 0
//! (B2)  ∂a_i = C (softmax(a_i) − t_i)
//! (B1)  ∂W = W + Σ_i ∂a_i x_iᵀ,   ∂b = Σ_i ∂a_i
//! ```
//!
//! The classifier on frozen sentence vectors of SentEval and of the Skip-thoughts paper, trained by `l-bfgs` from
//! zeros. Examples are summed in parts that do not depend on the number of threads, so neither does the result.

use rayon::prelude::*;
use senv_core::Float;

use crate::lbfgs::{Convergence, minimize};

/// Parts that examples are divided into.
const PARTS: usize = 32;
/// Tolerance: the gradient norm at which the search ends, relative to that at zero.
const TOLERANCE: f64 = 1e-4;
/// The most steps.
const MAX_STEPS: usize = 300;

/// Feature vectors with their target distributions: 1 for the only class, or shares of several.
pub(crate) trait Examples: Sync {
    /// The number of examples.
    fn len(&self) -> usize;
    /// The number of features.
    fn n_features(&self) -> usize;
    /// Writes the features of one example.
    fn write(&self, i: usize, out: &mut [f64]);
    /// The target distribution, which sums to 1.
    fn target(&self, i: usize) -> &[f64];
}

/// W row by row, then b.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LogisticRegression {
    k: usize,
    f: usize,
    parameters: Vec<f64>,
}

impl LogisticRegression {
    /// Zeros: all classes are equally likely.
    pub(crate) fn new(n_classes: usize, n_features: usize) -> Self {
        Self { k: n_classes, f: n_features, parameters: vec![0.0; n_classes * (n_features + 1)] }
    }

    /// Continues from the current parameters to the optimum for this C.
    pub(crate) fn fit(&mut self, examples: &dyn Examples, c: f64) -> Convergence {
        let (k, f) = (self.k, self.f);
        let objective = |x: &[f64], gradient: &mut [f64]| loss_and_gradient(examples, k, f, c, x, gradient);
        minimize(objective, &mut self.parameters, TOLERANCE, MAX_STEPS)
    }

    /// The likeliest class; the lowest of several.
    pub(crate) fn class(&self, x: &[f64]) -> usize {
        let mut scores = vec![0.0; self.k];
        scores_of(&self.parameters, self.f, x, &mut scores);
        (1..self.k).fold(0, |best, j| if scores[j] > scores[best] { j } else { best })
    }

    /// The probabilities of the classes.
    pub(crate) fn probabilities(&self, x: &[f64]) -> Vec<f64> {
        let mut scores = vec![0.0; self.k];
        scores_of(&self.parameters, self.f, x, &mut scores);
        let highest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        scores.iter_mut().for_each(|a| *a = (*a - highest).exp());
        let total: f64 = scores.iter().sum();
        scores.iter_mut().for_each(|p| *p /= total);
        scores
    }

    /// Accuracy: the share of examples predicted as a class with a share above 0.
    pub(crate) fn accuracy(&self, examples: &dyn Examples) -> f64 {
        let is_right = |i: usize, x: &mut Vec<f64>| {
            examples.write(i, x);
            examples.target(i)[self.class(x)] > 0.0
        };
        let right: usize = (0..examples.len())
            .into_par_iter()
            .map_init(|| vec![0.0; self.f], |x, i| usize::from(is_right(i, x)))
            .sum();
        right as f64 / examples.len().max(1) as f64
    }
}

/// (F1)
fn scores_of(parameters: &[f64], f: usize, x: &[f64], scores: &mut [f64]) {
    let (w, b) = parameters.split_at(f * scores.len());
    for (score, (w, b)) in scores.iter_mut().zip(w.chunks_exact(f).zip(b)) {
        *score = f64::dot(w, x) + b;
    }
}

/// (F2) and its gradient.
fn loss_and_gradient(
    examples: &dyn Examples,
    k: usize,
    f: usize,
    c: f64,
    parameters: &[f64],
    gradient: &mut [f64],
) -> f64 {
    let n = examples.len();
    let part = |part: usize| {
        let (mut x, mut scores, mut d, mut loss) = (vec![0.0; f], vec![0.0; k], vec![0.0; parameters.len()], 0.0);
        for i in part * n / PARTS..(part + 1) * n / PARTS {
            examples.write(i, &mut x);
            scores_of(parameters, f, &x, &mut scores);
            let highest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let total: f64 = scores.iter().map(|a| (a - highest).exp()).sum();
            let target = examples.target(i);
            loss += highest + total.ln() - f64::dot(target, &scores);
            let (d_w, d_b) = d.split_at_mut(k * f);
            for (j, (d_w, d_b)) in d_w.chunks_exact_mut(f).zip(d_b).enumerate() {
                let d_a = c * ((scores[j] - highest).exp() / total - target[j]); // (B2)
                f64::axpy(d_a, &x, d_w); // (B1)
                *d_b += d_a;
            }
        }
        (loss, d)
    };
    let parts: Vec<(f64, Vec<f64>)> = (0..PARTS).into_par_iter().map(part).collect();
    let w = &parameters[..k * f];
    gradient[..k * f].copy_from_slice(w);
    gradient[k * f..].fill(0.0);
    let mut loss = 0.0;
    for (of_part, d) in &parts {
        loss += of_part;
        f64::axpy(1.0, d, gradient);
    }
    0.5 * f64::dot(w, w) + c * loss
}

#[cfg(test)]
mod tests {
    use senv_core::gradcheck;

    use super::*;

    struct Few(Vec<(Vec<f64>, [f64; 3])>);

    impl Examples for Few {
        fn len(&self) -> usize {
            self.0.len()
        }

        fn n_features(&self) -> usize {
            self.0[0].0.len()
        }

        fn write(&self, i: usize, out: &mut [f64]) {
            out.copy_from_slice(&self.0[i].0);
        }

        fn target(&self, i: usize) -> &[f64] {
            &self.0[i].1
        }
    }

    /// Points on a circle, in three classes by their angle.
    fn circle(n: usize) -> Few {
        let point = |i: usize| {
            let angle = i as f64 * 2.399_963;
            let class = (angle.rem_euclid(std::f64::consts::TAU) / 2.1) as usize;
            (vec![angle.cos(), angle.sin()], std::array::from_fn(|j| f64::from(u8::from(j == class))))
        };
        Few((0..n).map(point).collect())
    }

    #[test]
    fn gradient_matches_central_differences() {
        let mut examples = circle(50);
        examples.0[7].1 = [0.25, 0.0, 0.75];
        let x: Vec<f64> = (0..9).map(|i| (i as f64 * 0.7).sin()).collect();
        for c in [0.3, 4.0] {
            let mut gradient = vec![0.0; 9];
            loss_and_gradient(&examples, 3, 2, c, &x, &mut gradient);
            let f = |x: &[f64]| loss_and_gradient(&examples, 3, 2, c, x, &mut [0.0; 9]);
            assert!(gradcheck::max_relative_error(f, &x, &gradient) < 1e-8);
            gradient[4] = -gradient[4];
            assert!(gradcheck::max_relative_error(f, &x, &gradient) > 1.0);
        }
    }

    #[test]
    fn classes_are_learned_and_a_small_c_keeps_weights_small() {
        let examples = circle(300);
        let fitted = |c: f64| {
            let mut model = LogisticRegression::new(3, 2);
            let found = model.fit(&examples, c);
            assert!(found.slope <= TOLERANCE, "{found:?}");
            model
        };
        let (weak, strong) = (fitted(1e-3), fitted(1e3));
        assert!(strong.accuracy(&examples) > 0.97, "{}", strong.accuracy(&examples));
        let norm = |model: &LogisticRegression| f64::dot(&model.parameters[..6], &model.parameters[..6]);
        assert!(norm(&weak) < 0.1 && norm(&strong) > 100.0);
        // The same bits at any number of threads, and the optimum does not depend on the start.
        let pool = rayon::ThreadPoolBuilder::new().num_threads(5).build().unwrap();
        assert_eq!(pool.install(|| fitted(1e3)), strong);
        let mut other = weak;
        other.fit(&examples, 1e3);
        let far = other.parameters.iter().zip(&strong.parameters).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(far < 0.5, "{far}");
    }
}
