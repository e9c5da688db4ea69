//! Converts a relatedness score to a sparse distribution over integer scores, the classes, and a distribution to a
//! score.
//!
//! Equation: `relatedness-target`

use ndarray::{Array2, ArrayView2};
use senv_core::{
    arrays::{Float, compiled_here},
    hyperparameters::HyperparameterValue,
};
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// The scale of integer scores, the classes of the target distribution.
///
/// ```text
/// (F1)  p_⌊y⌋ = ⌊y⌋ − y + 1,  p_⌊y⌋+1 = y − ⌊y⌋,  all others 0        Σ_g p_g = 1,  Σ_g g p_g = y
/// (F2)  ŷ = Σ_g g p̂_g
/// ```
///
/// An integer score has all its mass on its own class. (The P-thought paper prints (F1) without "− y"; its release has
/// it.)
///
/// ```
/// use senv_losses::ScoreGrid;
/// assert_eq!(ScoreGrid::default(), ScoreGrid::OneTo(5));
/// let p = ScoreGrid::OneTo(5).targets::<f64>(&[3.75, 5.0])?;
/// assert_eq!(p, ndarray::array![[0.0, 0.0, 0.25, 0.75, 0.0], [0.0, 0.0, 0.0, 0.0, 1.0]]);
/// assert_eq!(ScoreGrid::OneTo(5).expected_scores(p.view()), [3.75, 5.0]);
/// # Ok::<(), senv_losses::Error>(())
/// ```
///
/// # References
/// K. S. Tai, R. Socher, C. D. Manning: Improved Semantic Representations From Tree-Structured LSTM Networks, ACL 2015,
/// section 4.2.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum ScoreGrid {
    /// 1, 2, .., K; with K = 5 the scale of SICK.
    OneTo(usize),
    /// 0, 1, .., K; with K = 5 the scale of the STS tasks.
    ZeroTo(usize),
    /// 1 .. 5 for scores from 0 to 5, as in the SentEval scripts. For a score y < 1, class 1 has the mass y, and the
    /// remaining mass is dropped.
    SentEval,
}

impl Default for ScoreGrid {
    /// 1 .. 5
    fn default() -> Self {
        Self::OneTo(5)
    }
}

/// `1-K`, `0-K` or `senteval`.
impl HyperparameterValue for ScoreGrid {
    const PLACEHOLDER: &'static str = "SCALE";

    fn parse(text: &str) -> std::result::Result<Self, String> {
        let top = |text: &str, from: usize| match text.parse::<usize>() {
            Ok(top) if top > from && top <= 1000 => Ok(top),
            _ => Err(format!("expected 1-K, 0-K or senteval, such as 1-5, got {text:?} as K")),
        };
        match text.split_once('-') {
            Some(("1", k)) => Ok(Self::OneTo(top(k, 1)?)),
            Some(("0", k)) => Ok(Self::ZeroTo(top(k, 0)?)),
            _ if text == "senteval" => Ok(Self::SentEval),
            _ => Err("expected 1-5, 0-5 or senteval".into()),
        }
    }

    fn print(&self) -> Option<String> {
        Some(match self {
            Self::OneTo(top) => format!("1-{top}"),
            Self::ZeroTo(top) => format!("0-{top}"),
            Self::SentEval => "senteval".into(),
        })
    }
}

impl ScoreGrid {
    /// Number of classes.
    #[must_use]
    pub fn n_classes(self) -> usize {
        match self {
            Self::OneTo(k) => k,
            Self::ZeroTo(k) => k.saturating_add(1),
            Self::SentEval => 5,
        }
    }

    /// The lowest and the highest score.
    #[must_use]
    pub fn range(self) -> (f64, f64) {
        match self {
            Self::OneTo(k) => (1.0, k as f64),
            Self::ZeroTo(k) => (0.0, k as f64),
            Self::SentEval => (0.0, 5.0),
        }
    }

    /// The lowest class.
    fn first(self) -> f64 {
        if matches!(self, Self::ZeroTo(_)) { 0.0 } else { 1.0 }
    }

    /// (F1): one distribution per score, shape `(scores, classes)`. A score beyond an end of the grid counts as that
    /// end; [`check_score`] returns an error for it.
    ///
    /// # Errors
    /// [`Error::Example`] if a score is infinite or NaN.
    pub fn targets<F: Float>(self, scores: &[f64]) -> Result<Array2<F>> {
        compiled_here!(self, |this: ScoreGrid, scores: &'a [f64]| -> Result<Array2<F>> {
            let mut targets = Array2::zeros((scores.len(), this.n_classes()));
            let (low, high) = this.range();
            for (example, (&score, mut p)) in scores.iter().zip(targets.rows_mut()).enumerate() {
                if !score.is_finite() {
                    let error = Box::new(Error::ScoreOutOfRange { score, low, high });
                    return Err(Error::Example { example, error });
                }
                if p.is_empty() {
                    continue;
                }
                // Not `clamp`, which panics on a grid without classes.
                let score = score.min(high).max(low);
                let (below, above) = (score.floor() - score + 1.0, score - score.floor());
                // The positions of ⌊y⌋ and the next grade in the grid; SentEval has none for class 0.
                let place = score.floor() - this.first();
                if place >= 0.0 {
                    p[place as usize] = F::of(below);
                }
                if let Some(p) = p.get_mut((place + 1.0) as usize) {
                    *p = F::of(above);
                }
            }
            Ok(targets)
        })
    }

    /// (F2): the expected class for each row of `p`, shape `(n, classes)`; columns past the grid count as the next
    /// classes.
    #[must_use]
    pub fn expected_scores<F: Float>(self, p: ArrayView2<'_, F>) -> Vec<f64> {
        compiled_here!(self, |this: ScoreGrid, p: ArrayView2<'a, F>| -> Vec<f64> {
            let expected = |p: ndarray::ArrayView1<'_, F>| {
                p.iter().enumerate().map(|(k, p)| (this.first() + k as f64) * p.wide()).sum()
            };
            p.rows().into_iter().map(expected).collect()
        })
    }
}

/// Returns an error if a score is outside the scale of the grid; for readers of data sets.
///
/// ```
/// use senv_losses::{ScoreGrid, check_score};
/// assert!(check_score(0.5, ScoreGrid::ZeroTo(5)).is_ok());
/// let error = check_score(0.5, ScoreGrid::OneTo(5)).unwrap_err();
/// assert!(error.to_string().starts_with("the score 0.5 is outside the scale from 1 to 5"));
/// ```
///
/// # Errors
/// [`Error::ScoreOutOfRange`] if the score is out of range or NaN.
pub fn check_score(score: f64, grid: ScoreGrid) -> Result<()> {
    let (low, high) = grid.range();
    if (low..=high).contains(&score) { Ok(()) } else { Err(Error::ScoreOutOfRange { score, low, high }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_sum_to_one_and_have_the_score_as_mean() {
        for grid in [ScoreGrid::OneTo(5), ScoreGrid::ZeroTo(5), ScoreGrid::OneTo(3)] {
            let (low, high) = grid.range();
            let scores: Vec<f64> = (0..=40).map(|i| low + (high - low) * f64::from(i) / 40.0).collect();
            let p = grid.targets::<f64>(&scores).unwrap();
            assert!(p.rows().into_iter().all(|p| (p.sum() - 1.0).abs() < 1e-14 && p.iter().all(|&p| p >= 0.0)));
            for (got, score) in grid.expected_scores(p.view()).iter().zip(scores) {
                assert!((got - score).abs() < 1e-14);
            }
        }
    }

    #[test]
    fn senteval_loses_the_mass_below_one() {
        let p = ScoreGrid::SentEval.targets::<f64>(&[0.0, 0.25, 1.0, 1.75, 5.0]).unwrap();
        let expected = ndarray::array![
            [0.0, 0.0, 0.0, 0.0, 0.0],
            [0.25, 0.0, 0.0, 0.0, 0.0],
            [1.0, 0.0, 0.0, 0.0, 0.0],
            [0.25, 0.75, 0.0, 0.0, 0.0],
            [0.0, 0.0, 0.0, 0.0, 1.0]
        ];
        assert_eq!(p, expected);
        assert_eq!(ScoreGrid::SentEval.expected_scores(p.view()), [0.0, 0.25, 1.0, 1.75, 5.0]);
    }

    #[test]
    fn scores_outside_are_clamped_or_refused() {
        let p = ScoreGrid::OneTo(5).targets::<f32>(&[-3.0, 0.99, 5.01, 1e300]).unwrap();
        assert_eq!(ScoreGrid::OneTo(5).expected_scores(p.view()), [1.0, 1.0, 5.0, 5.0]);
        for bad in [f64::NAN, f64::INFINITY] {
            let error = ScoreGrid::OneTo(5).targets::<f32>(&[2.0, bad]).unwrap_err();
            assert!(matches!(error, Error::Example { example: 1, .. }), "{error}");
            assert!(error.to_string().starts_with("example 1: the score "));
            assert!(check_score(bad, ScoreGrid::ZeroTo(5)).is_err());
        }
        for (score, good) in [(0.999, false), (1.0, true), (5.0, true), (5.001, false)] {
            assert_eq!(check_score(score, ScoreGrid::OneTo(5)).is_ok(), good);
            assert_eq!(check_score(score, ScoreGrid::SentEval).is_ok(), score <= 5.0);
        }
        assert_eq!(ScoreGrid::OneTo(0).targets::<f32>(&[2.0]).unwrap().dim(), (1, 0));
    }

    #[test]
    fn scales_are_read_and_printed_up_to_a_thousand_classes_and_others_refused() {
        for (text, grid) in [
            ("1-2", ScoreGrid::OneTo(2)),
            ("1-5", ScoreGrid::OneTo(5)),
            ("1-1000", ScoreGrid::OneTo(1000)),
            ("0-1", ScoreGrid::ZeroTo(1)),
            ("0-1000", ScoreGrid::ZeroTo(1000)),
            ("senteval", ScoreGrid::SentEval),
        ] {
            assert_eq!(ScoreGrid::parse(text), Ok(grid));
            assert_eq!(grid.print().as_deref(), Some(text));
        }
        for bad in ["1-1", "0-0", "1-1001", "0-1001", "1-", "1-x", "2-5", "SentEval", ""] {
            assert!(ScoreGrid::parse(bad).is_err(), "{bad}");
        }
    }
}
