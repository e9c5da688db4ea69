//! Losses between a predicted distribution over score classes and the target distribution.
//!
//! Equation: `relatedness-loss`

use ndarray::{Array2, ArrayView2, Zip};
use senv_core::{
    arrays::{Float, compiled_here},
    hyperparameters::{Choice, HyperparameterValue, expected_one_of},
    math,
};
use serde::{Deserialize, Serialize};

use crate::{
    error::{Error, Result, check_size},
    relatedness_target::ScoreGrid,
};

/// Distributions over score classes, and their logarithms, which stay finite if a probability rounds to 0.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Predictions<F> {
    /// p̂, shape `(n, classes)`; each row sums to 1.
    pub p: Array2<F>,
    /// ln p̂, of the same shape.
    pub log_p: Array2<F>,
}

impl<F: Float> Predictions<F> {
    /// (F1) for logits of shape `(n, classes)`.
    #[must_use]
    pub fn from_logits(logits: Array2<F>) -> Self {
        let mut log_p = logits;
        for mut x in log_p.rows_mut() {
            let lse = math::log_sum_exp(&x.to_vec());
            x.mapv_inplace(|x| x - lse);
        }
        Self { p: log_p.mapv(F::exp), log_p }
    }

    /// The expected score ŷ of each example.
    #[must_use]
    pub fn scores(&self, grid: ScoreGrid) -> Vec<f64> {
        grid.expected_scores(self.p.view())
    }
}

/// The loss of predictions against targets, averaged over the examples.
///
/// ```text
/// (F1)  p̂ = softmax(x)                                   x: logits, shape (n, K)
/// (F2)  KL            L = (1/n) Σ Σ_g p_g (ln p_g − ln p̂_g)     0 ln 0 = 0
///       cross-entropy L = −(1/n) Σ Σ_g p_g ln p̂_g
///       squared error L = (1/nK) Σ Σ_g (p̂_g − p_g)²
/// (B2)  KL, cross-entropy   ∂L/∂x_g = (p̂_g Σ_k p_k − p_g)/n
///       squared error       e = 2 (p̂ − p)/nK,   ∂L/∂x_g = p̂_g (e_g − Σ_k e_k p̂_k)
/// ```
///
/// ```
/// use ndarray::array;
/// use senv_losses::{RelatednessLoss, ScoreGrid, Predictions};
/// let predictions = Predictions::from_logits(array![[0.0, 0.0, 0.0, 0.0, 0.0]]);
/// let targets = ScoreGrid::OneTo(5).targets(&[4.0])?;
/// let loss = RelatednessLoss::default();
/// assert!((loss.forward(&predictions, targets.view())? - 5f64.ln()).abs() < 1e-12);
/// let d_logits = loss.backward(&predictions, targets.view(), 1.0);
/// assert!((d_logits[(0, 3)] - (0.2f64 - 1.0)).abs() < 1e-12);
/// # Ok::<(), senv_losses::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum RelatednessLoss {
    /// Kullback-Leibler divergence from the target to the prediction (Tai et al. 2015, section 4.2).
    Kl {
        /// Whether the loss is also divided by the number of classes, as in the releases; false by default. That equals
        /// an `L2` with λ multiplied by the number of classes.
        #[serde(rename = "mean_over_grades")]
        mean_over_classes: bool,
    },
    /// Cross-entropy, as in the Skip-thoughts script: the divergence plus a constant.
    CrossEntropy,
    /// Mean squared error over all entries, as in the SentEval and P-thought scripts.
    SquaredError,
}

impl HyperparameterValue for RelatednessLoss {
    const PLACEHOLDER: &'static str = "NAME";
    const CHOICES: &'static [Choice] = &[
        Choice { name: "kl", help: "Divergence of the prediction from the target distribution" },
        Choice { name: "kl-mean", help: "The same divided by the number of classes, as in the released code" },
        Choice { name: "cross-entropy", help: "Cross-entropy of the two distributions" },
        Choice { name: "squared-error", help: "Mean squared error of the probabilities" },
    ];

    fn parse(text: &str) -> std::result::Result<Self, String> {
        Ok(match text {
            "kl" => Self::Kl { mean_over_classes: false },
            "kl-mean" => Self::Kl { mean_over_classes: true },
            "cross-entropy" => Self::CrossEntropy,
            "squared-error" => Self::SquaredError,
            _ => return Err(expected_one_of(Self::CHOICES)),
        })
    }

    fn print(&self) -> Option<String> {
        let name = match self {
            Self::Kl { mean_over_classes: false } => "kl",
            Self::Kl { mean_over_classes: true } => "kl-mean",
            Self::CrossEntropy => "cross-entropy",
            Self::SquaredError => "squared-error",
        };
        Some(name.to_owned())
    }
}

impl Default for RelatednessLoss {
    /// The divergence, not divided by the number of classes.
    fn default() -> Self {
        Self::Kl { mean_over_classes: false }
    }
}

impl RelatednessLoss {
    /// One over the number of averaged terms.
    fn scale(self, (n, classes): (usize, usize)) -> f64 {
        let classes = match self {
            Self::SquaredError | Self::Kl { mean_over_classes: true } => classes,
            Self::CrossEntropy | Self::Kl { mean_over_classes: false } => 1,
        };
        1.0 / (n as f64 * classes as f64)
    }

    /// (F2) for targets of shape `(n, classes)`; NaN if a prediction is NaN.
    ///
    /// # Errors
    /// [`Error::EmptyBatch`] without examples; [`senv_core::Error::ShapeMismatch`] if the shapes differ.
    pub fn forward<F: Float>(self, predictions: &Predictions<F>, targets: ArrayView2<'_, F>) -> Result<f64> {
        compiled_here!(self, |this: RelatednessLoss,
                              predictions: &'a Predictions<F>,
                              targets: ArrayView2<'a, F>|
         -> Result<f64> {
            check_size("rows of targets", predictions.p.nrows(), targets.nrows())?;
            check_size("columns of targets", predictions.p.ncols(), targets.ncols())?;
            if targets.is_empty() {
                return Err(Error::EmptyBatch);
            }
            let term = |((p, log_p), target): ((&F, &F), &F)| {
                let (p, log_p, target) = (p.wide(), log_p.wide(), target.wide());
                let entropy = if target > 0.0 { target * target.ln() } else { 0.0 };
                match this {
                    RelatednessLoss::Kl { .. } => entropy - target * log_p,
                    RelatednessLoss::CrossEntropy => -target * log_p,
                    RelatednessLoss::SquaredError => (p - target) * (p - target),
                }
            };
            let sum: f64 = predictions.p.iter().zip(&predictions.log_p).zip(targets).map(term).sum();
            Ok(sum * this.scale(targets.dim()))
        })
    }

    /// (B2): the gradient with respect to the logits, given `d_loss` = the derivative of the objective with respect to
    /// this loss. The arguments must be those of a successful [`forward`](Self::forward).
    ///
    /// # Panics
    /// If the shapes of predictions and targets differ, which is an error of `forward`.
    #[must_use]
    pub fn backward<F: Float>(
        self,
        predictions: &Predictions<F>,
        targets: ArrayView2<'_, F>,
        d_loss: f64,
    ) -> Array2<F> {
        compiled_here!(self, |this: RelatednessLoss,
                              predictions: &'a Predictions<F>,
                              targets: ArrayView2<'a, F>,
                              d_loss: f64|
         -> Array2<F> {
            let scale = F::of(this.scale(targets.dim()) * d_loss);
            let mut d_logits = predictions.p.clone();
            Zip::from(d_logits.rows_mut()).and(targets.rows()).for_each(|mut d, targets| match this {
                RelatednessLoss::Kl { .. } | RelatednessLoss::CrossEntropy => {
                    let mass = targets.sum();
                    d.zip_mut_with(&targets, |d, &target| *d = (*d * mass - target) * scale);
                }
                RelatednessLoss::SquaredError => {
                    let two = F::one() + F::one();
                    let e = |p: F, target: F| two * (p - target) * scale;
                    let mean = Zip::from(&d).and(&targets).fold(F::zero(), |mean, &p, &t| mean + e(p, t) * p);
                    d.zip_mut_with(&targets, |d, &target| *d = *d * (e(*d, target) - mean));
                }
            });
            d_logits
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{View, matrix, worst};

    const LOSSES: [RelatednessLoss; 4] = [
        RelatednessLoss::Kl { mean_over_classes: false },
        RelatednessLoss::Kl { mean_over_classes: true },
        RelatednessLoss::CrossEntropy,
        RelatednessLoss::SquaredError,
    ];

    #[test]
    fn gradients_match_central_differences() {
        let logits = matrix::<f64>(4, 5, 1);
        // The first two rows of SentEval's grid do not sum to 1.
        let targets = ScoreGrid::SentEval.targets(&[0.0, 0.3, 2.6, 5.0]).unwrap();
        for loss in LOSSES {
            let d = loss.backward(&Predictions::from_logits(logits.clone()), targets.view(), 2.5);
            let f = |x: View<'_>| 2.5 * loss.forward(&Predictions::from_logits(x.to_owned()), targets.view()).unwrap();
            assert!(worst(f, &logits, &d) < 1e-7, "{loss:?}");
            assert!(worst(f, &logits, &-d) > 1.9, "a flipped sign");
        }
    }

    #[test]
    fn a_perfect_prediction_costs_nothing_and_a_hopeless_one_stays_finite() {
        let targets = ScoreGrid::OneTo(3).targets::<f64>(&[1.5]).unwrap();
        let perfect = Predictions::from_logits(ndarray::array![[0.0, 0.0, -1e4]]);
        let hopeless = Predictions::from_logits(ndarray::array![[0.0, -1e4, -1e4]]);
        for loss in LOSSES {
            let entropy = if loss == RelatednessLoss::CrossEntropy { 2f64.ln() } else { 0.0 };
            assert!((loss.forward(&perfect, targets.view()).unwrap() - entropy).abs() < 1e-15);
            assert!(loss.backward(&perfect, targets.view(), 1.0).iter().all(|d| d.abs() < 1e-15));
        }
        assert!((LOSSES[2].forward(&hopeless, targets.view()).unwrap() - 5e3).abs() < 1e-9);
        let scales: Vec<f64> = LOSSES.iter().map(|loss| loss.forward(&hopeless, targets.view()).unwrap()).collect();
        assert!((scales[1] * 3.0 - scales[0]).abs() < 1e-9, "divided by the classes");
    }

    #[test]
    fn bad_batches_and_numbers() {
        let predictions = Predictions::from_logits(matrix::<f64>(2, 3, 1));
        let loss = RelatednessLoss::default();
        for shape in [(1, 3), (2, 4)] {
            let targets = Array2::zeros(shape);
            assert!(matches!(loss.forward(&predictions, targets.view()), Err(Error::Core(_))));
        }
        let none = Predictions::from_logits(Array2::<f64>::zeros((0, 3)));
        assert!(matches!(loss.forward(&none, Array2::zeros((0, 3)).view()), Err(Error::EmptyBatch)));
        let nan = Predictions::from_logits(ndarray::array![[f64::NAN, 0.0]]);
        assert!(loss.forward(&nan, ndarray::array![[0.0, 1.0]].view()).unwrap().is_nan());
    }

    #[test]
    fn names_are_read_and_printed_and_others_refused() {
        for (loss, name) in LOSSES.into_iter().zip(["kl", "kl-mean", "cross-entropy", "squared-error"]) {
            assert_eq!(RelatednessLoss::parse(name), Ok(loss));
            assert_eq!(loss.print().as_deref(), Some(name));
        }
        assert!(RelatednessLoss::parse("kl-").is_err());
    }

    #[test]
    fn the_score_of_a_prediction_is_its_mean_class() {
        let never = f64::NEG_INFINITY;
        let logits = ndarray::array![[0.25f64.ln(), 0.75f64.ln(), never], [never, 0.0, 0.0]];
        let predictions = Predictions::from_logits(logits);
        for (grid, expected) in [(ScoreGrid::OneTo(3), [1.75, 2.5]), (ScoreGrid::ZeroTo(2), [0.75, 1.5])] {
            let scores = predictions.scores(grid);
            assert_eq!(scores.len(), 2);
            assert!(
                scores.iter().zip(expected).all(|(score, expected)| (score - expected).abs() < 1e-15),
                "{scores:?}"
            );
        }
    }
}
