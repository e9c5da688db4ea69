//! Similarities within a batch that follow those of a teacher.
//!
//! Equation: `taught-similarities`

use ndarray::{Array2, ArrayView2};
use senv_core::arrays::{Float, compiled_here, matmul};

use crate::{
    error::{Error, Result, check_size},
    rows::row_mut,
    taught_softmax::cosines,
    unit::Units,
};

/// The mean square difference between the cosines of a batch and those of a teacher.
///
/// ```text
/// (F1)  S_ij = cos(o_i, o_j),  C_ij = cos(t_i, t_j)       t: the teacher's vectors of the same sentences
/// (F2)  L    = Σ_(i ≠ j) (S_ij − C_ij)² / (m (m − 1))
/// (B1)  ∂L/∂ô = 4 (S − C) ô / (m (m − 1))                 without the diagonal, then to o by `unit-vector`
/// ```
///
/// ```
/// use ndarray::array;
/// use senv_losses::TaughtSimilarities;
/// let (outputs, teacher) = (array![[2.0, 0.0], [0.0, 1.0]], array![[1.0, 0.0, 0.0], [0.6, 0.8, 0.0]]);
/// let (loss, saved) = TaughtSimilarities.forward(outputs.view(), teacher.view())?;
/// assert!((loss - 0.36).abs() < 1e-12); // a cosine of 0 that should be 0.6
/// assert!(TaughtSimilarities.backward(&saved, 1.0)?[(0, 1)] < 0.0); // the first turns toward the second
/// # Ok::<(), senv_losses::Error>(())
/// ```
///
/// # References
/// W. Park, D. Kim, Y. Lu, M. Cho: Relational Knowledge Distillation, CVPR 2019, section 3.2.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TaughtSimilarities;

/// The saved state for [`TaughtSimilarities::backward`].
#[derive(Debug, Clone)]
pub struct TaughtSimilaritiesSaved<F> {
    outputs: Units<F>,
    differences: Array2<F>,
}

impl TaughtSimilarities {
    /// The loss of a batch, and the saved state for [`backward`](Self::backward).
    ///
    /// | name | meaning | shape |
    /// | --- | --- | --- |
    /// | `outputs` | the outputs of the encoder | `(m, dim)` |
    /// | `teacher` | the teacher's vectors of the same sentences | `(m, teacher_dim)` |
    ///
    /// A zero vector has cosine 0 with every vector. One sentence has loss 0. The loss is NaN if any vector is NaN.
    ///
    /// # Errors
    /// [`Error::EmptyBatch`] without sentences; [`senv_core::Error::ShapeMismatch`] if the numbers of rows differ;
    /// [`senv_core::Error::TooLarge`] if the cosines do not fit in memory.
    pub fn forward<F: Float>(
        &self,
        outputs: ArrayView2<'_, F>,
        teacher: ArrayView2<'_, F>,
    ) -> Result<(f64, TaughtSimilaritiesSaved<F>)> {
        compiled_here!(self, |_this: &'a TaughtSimilarities,
                              outputs: ArrayView2<'a, F>,
                              teacher: ArrayView2<'a, F>|
         -> Result<(f64, TaughtSimilaritiesSaved<F>)> {
            let m = outputs.nrows();
            check_size("rows of the teacher", m, teacher.nrows())?;
            if m == 0 {
                return Err(Error::EmptyBatch);
            }
            let (outputs, teacher) = (Units::new(outputs), Units::new(teacher));
            let mut differences = cosines(&outputs, &outputs, 1.0)?; // (F1)
            let taught = cosines(&teacher, &teacher, 1.0)?;
            let mut loss = 0.0;
            for i in 0..m {
                let differences = row_mut(&mut differences, i);
                for (j, (s, c)) in differences.iter_mut().zip(taught.row(i)).enumerate() {
                    if i == j {
                        *s = F::zero();
                        continue;
                    }
                    *s -= *c;
                    loss += s.wide() * s.wide();
                }
            }
            let n = (m * m.saturating_sub(1)).max(1) as f64;
            Ok((loss / n, TaughtSimilaritiesSaved { outputs, differences })) // (F2)
        })
    }

    /// The gradient with respect to the outputs, given `d_loss` = the derivative of the objective with respect to this
    /// loss.
    ///
    /// # Errors
    /// [`senv_core::Error::TooLarge`] if the gradient does not fit in memory.
    pub fn backward<F: Float>(&self, saved: &TaughtSimilaritiesSaved<F>, d_loss: f64) -> Result<Array2<F>> {
        compiled_here!(self, |_this: &'a TaughtSimilarities,
                              saved: &'a TaughtSimilaritiesSaved<F>,
                              d_loss: f64|
         -> Result<Array2<F>> {
            let m = saved.differences.nrows();
            let mut d_units = matmul(saved.differences.view(), saved.outputs.view())?;
            let share = F::of(4.0 * d_loss / (m * m.saturating_sub(1)).max(1) as f64); // (B1)
            d_units.mapv_inplace(|d| d * share);
            Ok(saved.outputs.backward(d_units))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{View, matrix, worst};
    use ndarray::s;

    #[test]
    fn the_gradient_matches_central_differences() {
        let (o, t, d_loss) = (matrix::<f64>(5, 4, 1), matrix::<f64>(5, 3, 2), 2.5);
        let forward = |o: View<'_>| d_loss * TaughtSimilarities.forward(o, t.view()).unwrap().0;
        let saved = TaughtSimilarities.forward(o.view(), t.view()).unwrap().1;
        let d_o = TaughtSimilarities.backward(&saved, d_loss).unwrap();
        assert!(worst(forward, &o, &d_o) < 1e-7);
        assert!(worst(forward, &o, &-d_o) > 1.9, "a flipped sign");
    }

    #[test]
    fn the_teacher_itself_has_no_loss_and_lengths_do_not_matter() {
        let t = matrix::<f64>(6, 4, 3);
        let (loss, saved) = TaughtSimilarities.forward((&t * 7.0).view(), t.view()).unwrap();
        assert!(loss < 1e-28);
        assert!(TaughtSimilarities.backward(&saved, 1.0).unwrap().iter().all(|d| d.abs() < 1e-14));
    }

    #[test]
    fn small_and_bad_batches() {
        let x = matrix::<f64>(2, 3, 1);
        let one = x.slice(s![..1, ..]);
        assert_eq!(TaughtSimilarities.forward(one, one).unwrap().0, 0.0);
        let none = x.slice(s![..0, ..]);
        assert!(matches!(TaughtSimilarities.forward(none, none), Err(Error::EmptyBatch)));
        assert!(TaughtSimilarities.forward(x.view(), one).is_err());
        let mut nan = x.clone();
        nan[(1, 1)] = f64::NAN;
        assert!(TaughtSimilarities.forward(nan.view(), x.view()).unwrap().0.is_nan());
    }
}
