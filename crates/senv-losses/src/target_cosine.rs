//! Distance from a fixed target: one minus the cosine of the encoder's output and the target.
//!
//! Equation: `target-cosine-loss`

use ndarray::{Array2, ArrayView2};
use senv_core::arrays::{Float, compiled_here};

use crate::{
    error::{Error, Result, check_size},
    rows::row_mut,
    unit::Units,
};

/// One minus the cosine of output and target, averaged over the batch: from 0 to 2, and 1 for orthogonal vectors.
///
/// ```text
/// (F1)  c_i = cos(o_i, e_i)                o: outputs, e: targets, shape (m, dim) both
/// (F2)  L   = (1/m) Σ_i (1 − c_i)
/// (B1)  ∂L/∂c_i = −1/m                     then to o by `unit-vector`; targets are given and have no gradient
/// ```
///
/// ```
/// use ndarray::array;
/// use senv_losses::TargetCosine;
/// let (outputs, targets) = (array![[2.0, 0.0], [0.0, 1.0]], array![[1.0, 0.0], [1.0, 0.0]]);
/// let (loss, saved) = TargetCosine.forward(outputs.view(), targets.view())?;
/// assert_eq!(loss, 0.5);
/// // The first is already at its target; the second is pulled to its target, orthogonally to itself.
/// assert_eq!(TargetCosine.backward(&saved, 1.0), array![[0.0, 0.0], [-0.5, 0.0]]);
/// # Ok::<(), senv_losses::Error>(())
/// ```
///
/// # References
/// F. Hill, K. Cho, A. Korhonen, Y. Bengio: Learning to Understand Phrases by Embedding the Dictionary, TACL 2016,
/// section 2.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TargetCosine;

/// The saved state for [`TargetCosine::backward`]: the unit vectors of both sides.
#[derive(Debug, Clone)]
pub struct TargetCosineSaved<F> {
    outputs: Units<F>,
    targets: Units<F>,
}

impl TargetCosine {
    /// The loss of a batch, and the saved state for [`backward`](Self::backward).
    ///
    /// | name | meaning | shape |
    /// | --- | --- | --- |
    /// | `outputs` | the outputs of the encoder | `(m, dim)` |
    /// | `targets` | the target of each output | `(m, dim)` |
    ///
    /// A zero vector has cosine 0 and no gradient. The loss is NaN if any vector is NaN.
    ///
    /// # Errors
    /// [`Error::EmptyBatch`] without examples; [`senv_core::Error::ShapeMismatch`] if the shapes differ.
    pub fn forward<F: Float>(
        &self,
        outputs: ArrayView2<'_, F>,
        targets: ArrayView2<'_, F>,
    ) -> Result<(f64, TargetCosineSaved<F>)> {
        compiled_here!(self, |this: &'a TargetCosine,
                              outputs: ArrayView2<'a, F>,
                              targets: ArrayView2<'a, F>|
         -> Result<(f64, TargetCosineSaved<F>)> {
            check_size("rows of targets", outputs.nrows(), targets.nrows())?;
            check_size("columns of targets", outputs.ncols(), targets.ncols())?;
            if outputs.nrows() == 0 {
                return Err(Error::EmptyBatch);
            }
            let (outputs, targets) = (Units::new(outputs), Units::new(targets));
            let m = outputs.view().nrows();
            let cosine = |i: usize| F::dot(outputs.row(i), targets.row(i)).wide(); // (F1)
            let loss = (0..m).map(|i| 1.0 - cosine(i)).sum::<f64>() / m as f64; // (F2)
            Ok((loss, TargetCosineSaved { outputs, targets }))
        })
    }

    /// The gradient with respect to the outputs, given `d_loss` = the derivative of the objective with respect to this
    /// loss.
    #[must_use]
    pub fn backward<F: Float>(&self, saved: &TargetCosineSaved<F>, d_loss: f64) -> Array2<F> {
        compiled_here!(self, |this: &'a TargetCosine, saved: &'a TargetCosineSaved<F>, d_loss: f64| -> Array2<F> {
            let mut d_units = saved.outputs.zeros();
            let share = F::of(-d_loss / d_units.nrows().max(1) as f64); // (B1)
            for i in 0..d_units.nrows() {
                F::axpy(share, saved.targets.row(i), row_mut(&mut d_units, i));
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
    fn the_gradient_matches_central_differences() {
        let (o, e, d_loss) = (matrix::<f64>(5, 4, 1), matrix::<f64>(5, 4, 2), 2.5);
        let forward = |o: View<'_>| d_loss * TargetCosine.forward(o, e.view()).unwrap().0;
        let d_o = TargetCosine.backward(&TargetCosine.forward(o.view(), e.view()).unwrap().1, d_loss);
        assert!(worst(forward, &o, &d_o) < 1e-7);
        assert!(worst(forward, &o, &-d_o) > 1.9, "a flipped sign");
    }

    #[test]
    fn lengths_do_not_matter_and_zeros_have_no_gradient() {
        let o = array![[0.0, 0.0], [3.0, 4.0]];
        let e = array![[1.0, 0.0], [0.0, 1.0]];
        let (loss, saved) = TargetCosine.forward(o.view(), e.view()).unwrap();
        assert!((loss - (1.0 + 0.2) / 2.0).abs() < 1e-15);
        let (scaled, _) = TargetCosine.forward((&o * 7.0).view(), (&e * 0.1).view()).unwrap();
        assert!((scaled - loss).abs() < 1e-15);
        let d = TargetCosine.backward(&saved, 1.0);
        // −(e − 0.8 ô) / (5 · 2)
        assert!((d - array![[0.0, 0.0], [0.048, -0.036]]).iter().all(|d: &f64| d.abs() < 1e-15));
    }

    #[test]
    fn bad_batches_and_numbers() {
        let (o, e) = (matrix::<f64>(2, 3, 1), matrix::<f64>(2, 3, 2));
        let none = o.slice(s![..0, ..]);
        assert!(matches!(TargetCosine.forward(none, none), Err(Error::EmptyBatch)));
        assert!(TargetCosine.forward(o.view(), e.slice(s![..1, ..])).is_err());
        assert!(TargetCosine.forward(o.view(), e.slice(s![.., ..2])).is_err());
        let mut nan = o.clone();
        nan[(0, 0)] = f64::NAN;
        assert!(TargetCosine.forward(nan.view(), e.view()).unwrap().0.is_nan());
    }
}
