//! Ranking by fixed targets: an output must be closer to its own target than to another, by a margin.
//!
//! Equation: `target-ranking-loss`

use ndarray::{Array2, ArrayView2};
use senv_core::{
    arrays::{Float, compiled_here},
    hyperparameters::hyperparameters,
};
use serde::{Deserialize, Serialize};

use crate::{
    error::{Error, Result, check_range, check_size},
    rows::row_mut,
    unit::Units,
};

/// The margin of the DictRep paper.
pub const DEFAULT_TARGET_MARGIN: f64 = 0.1;

hyperparameters! {
    /// A hinge on the cosines of an output with its target and with another target, averaged over the batch.
    ///
    /// ```text
    /// (F1)  c_i = cos(o_i, e_i)      n_i = cos(o_i, e_t(i))     o: outputs, e: targets; t(i): another example
    /// (F2)  h_i = max(0, δ − c_i + n_i)                         0 for an example without another
    /// (F3)  L   = (1/m) Σ_i h_i
    /// (B1)  ∂L/∂c_i = −[h_i > 0]/m    ∂L/∂n_i = [h_i > 0]/m     then to o by `unit-vector`
    /// ```
    ///
    /// Targets are given and have no gradient. On the kink, h = 0, the gradient is 0. `margin-loss` differs: it chooses
    /// the negatives by their cosines and moves both sides.
    ///
    /// ```
    /// use ndarray::array;
    /// use senv_losses::TargetRanking;
    /// let (outputs, targets) = (array![[1.0, 0.0], [0.0, 1.0]], array![[1.0, 0.0], [1.0, 1.0]]);
    /// let loss = TargetRanking { margin: 0.5 };
    /// // The first is at its target, at 45 degrees to the other: 0.5 − 1 + √½. The second: 0.5 − √½ + 0 is below 0.
    /// let (value, saved) = loss.forward(outputs.view(), targets.view(), &[Some(1), Some(0)])?;
    /// assert!((value - (0.5_f64.sqrt() - 0.5) / 2.0).abs() < 1e-15);
    /// assert_eq!(saved.n_active(), 1);
    /// assert_eq!(loss.backward(&saved, 1.0).row(1), array![0.0, 0.0]);
    /// # Ok::<(), senv_losses::Error>(())
    /// ```
    ///
    /// # References
    /// F. Hill, K. Cho, A. Korhonen, Y. Bengio: Learning to Understand Phrases by Embedding the Dictionary, TACL 2016,
    /// section 2; the margin of its release is 1.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct TargetRanking {
        /// Margin δ by which the cosine with the target must exceed that with another (ranking).
        pub margin: f64 = DEFAULT_TARGET_MARGIN => Training[from 0 to 2];
    }
}

/// The saved state for [`TargetRanking::backward`]: the unit vectors, and the other target of each active hinge.
#[derive(Debug, Clone)]
pub struct TargetRankingSaved<F> {
    outputs: Units<F>,
    targets: Units<F>,
    active: Vec<Option<u32>>,
}

impl<F> TargetRankingSaved<F> {
    /// The number of active hinges, those above 0; the others have no gradient.
    #[must_use]
    pub fn n_active(&self) -> usize {
        self.active.iter().flatten().count()
    }
}

impl TargetRanking {
    /// The loss of a batch, and the saved state for [`backward`](Self::backward).
    ///
    /// | name | meaning | shape |
    /// | --- | --- | --- |
    /// | `outputs` | the outputs of the encoder | `(m, dim)` |
    /// | `targets` | the target of each output | `(m, dim)` |
    /// | `others` | per output, the example whose target must be farther away, or `None` | `(m,)` |
    ///
    /// A zero vector has cosine 0 and no gradient. The loss is NaN if any vector is NaN.
    ///
    /// # Errors
    /// [`Error::EmptyBatch`] without examples; [`Error::TargetOutOfRange`] if an example is not in the batch;
    /// [`senv_core::Error::ShapeMismatch`] if the shapes differ; [`senv_core::Error::InvalidParameter`] if the margin
    /// is outside `[0, 2]`.
    pub fn forward<F: Float>(
        &self,
        outputs: ArrayView2<'_, F>,
        targets: ArrayView2<'_, F>,
        others: &[Option<u32>],
    ) -> Result<(f64, TargetRankingSaved<F>)> {
        compiled_here!(self, |this: &'a TargetRanking,
                              outputs: ArrayView2<'a, F>,
                              targets: ArrayView2<'a, F>,
                              others: &'a [Option<u32>]|
         -> Result<(f64, TargetRankingSaved<F>)> {
            let m = outputs.nrows();
            check_range("margin", "from 0 to 2", this.margin, (0.0..=2.0).contains(&this.margin))?;
            check_size("rows of targets", m, targets.nrows())?;
            check_size("columns of targets", outputs.ncols(), targets.ncols())?;
            check_size("examples with a different target", m, others.len())?;
            if m == 0 {
                return Err(Error::EmptyBatch);
            }
            let beyond = |other: &Option<u32>| other.filter(|&other| other as usize >= m);
            if let Some((example, target)) = others.iter().enumerate().find_map(|(i, other)| Some((i, beyond(other)?)))
            {
                return Err(Error::TargetOutOfRange { example, target, n_targets: m });
            }
            let (outputs, targets) = (Units::new(outputs), Units::new(targets));
            let cosine = |i: usize, j: usize| F::dot(outputs.row(i), targets.row(j)).wide(); // (F1)
            let mut sum = 0.0;
            let mut active = vec![None; m];
            for (i, (&other, active)) in others.iter().zip(&mut active).enumerate() {
                let Some(other) = other else { continue };
                let hinge = this.margin - cosine(i, i) + cosine(i, other as usize); // (F2)
                if hinge > 0.0 || hinge.is_nan() {
                    sum += hinge;
                    *active = Some(other);
                }
            }
            Ok((sum / m as f64, TargetRankingSaved { outputs, targets, active })) // (F3)
        })
    }

    /// The gradient with respect to the outputs, given `d_loss` = the derivative of the objective with respect to this
    /// loss.
    #[must_use]
    pub fn backward<F: Float>(&self, saved: &TargetRankingSaved<F>, d_loss: f64) -> Array2<F> {
        compiled_here!(self, |this: &'a TargetRanking, saved: &'a TargetRankingSaved<F>, d_loss: f64| -> Array2<F> {
            let mut d_units = saved.outputs.zeros();
            let share = F::of(d_loss / saved.active.len().max(1) as f64); // (B1)
            for (i, other) in saved.active.iter().enumerate() {
                if let Some(other) = *other {
                    let d_unit = row_mut(&mut d_units, i);
                    F::axpy(-share, saved.targets.row(i), d_unit);
                    F::axpy(share, saved.targets.row(other as usize), d_unit);
                }
            }
            saved.outputs.backward(d_units)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{View, matrix, worst};
    use ndarray::{array, s};

    #[test]
    fn the_gradient_matches_central_differences_off_the_kink() {
        let (o, e, d_loss) = (matrix::<f64>(6, 4, 1), matrix::<f64>(6, 4, 2), 2.5);
        let others = [Some(3), Some(0), None, Some(5), Some(1), Some(4)];
        for (margin, fewest) in [(0.1, 1), (2.0, 5)] {
            let loss = TargetRanking { margin };
            let forward = |o: View<'_>| d_loss * loss.forward(o, e.view(), &others).unwrap().0;
            let (_, saved) = loss.forward(o.view(), e.view(), &others).unwrap();
            assert!(saved.n_active() >= fewest, "{margin}");
            let d_o = loss.backward(&saved, d_loss);
            assert!(d_o.row(2).iter().all(|&d| d == 0.0), "no other, no gradient");
            assert!(worst(forward, &o, &d_o) < 1e-7);
            assert!(worst(forward, &o, &-d_o) > 1.9, "a flipped sign");
        }
    }

    #[test]
    fn on_the_kink_there_is_no_gradient() {
        // Cosine 1 with its target, 0 with the other: the hinge of margin 1 is exactly 0.
        let (o, e) = (array![[2.0, 0.0], [0.0, 0.0]], array![[1.0, 0.0], [0.0, 1.0]]);
        let at = |margin| TargetRanking { margin }.forward(o.view(), e.view(), &[Some(1), None]).unwrap();
        let (loss, saved) = at(1.0);
        assert_eq!((loss, saved.n_active()), (0.0, 0));
        assert!(TargetRanking { margin: 1.0 }.backward(&saved, 1.0).iter().all(|&d| d == 0.0));
        let (loss, saved) = at(1.5);
        assert_eq!((loss, saved.n_active()), (0.25, 1));
        // Half of (e' − e), orthogonal to the output, over its length.
        let d = TargetRanking { margin: 1.5 }.backward(&saved, 1.0);
        assert_eq!(d, array![[0.0, 0.25], [0.0, 0.0]]);
    }

    #[test]
    fn bad_batches_and_numbers() {
        let (o, e) = (matrix::<f64>(2, 3, 1), matrix::<f64>(2, 3, 2));
        let loss = TargetRanking::default();
        assert_eq!(loss.margin, DEFAULT_TARGET_MARGIN);
        let none = o.slice(s![..0, ..]);
        assert!(matches!(loss.forward(none, none, &[]), Err(Error::EmptyBatch)));
        assert!(loss.forward(o.view(), e.view(), &[Some(1)]).is_err());
        assert!(loss.forward(o.view(), e.slice(s![..1, ..]), &[None, None]).is_err());
        assert!(loss.forward(o.view(), e.slice(s![.., ..2]), &[None, None]).is_err());
        let beyond = loss.forward(o.view(), e.view(), &[None, Some(2)]);
        assert!(matches!(beyond, Err(Error::TargetOutOfRange { example: 1, target: 2, n_targets: 2 })));
        for margin in [-1e-9, 2.0 + 1e-9, f64::NAN, f64::INFINITY] {
            assert!(TargetRanking { margin }.forward(o.view(), e.view(), &[None, None]).is_err(), "{margin}");
        }
        let mut nan = o.clone();
        nan[(0, 0)] = f64::NAN;
        assert!(loss.forward(nan.view(), e.view(), &[Some(1), Some(0)]).unwrap().0.is_nan());
    }
}
