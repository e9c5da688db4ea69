//! Softmax over the cosines of a batch, toward targets of which a teacher's cosines make a part.
//!
//! Equation: `taught-softmax`

use ndarray::{Array2, ArrayView2};
use rayon::prelude::*;
use senv_core::{
    arrays::{Float, compiled_here, matmul, matmul_into},
    hyperparameters::hyperparameters,
};
use serde::{Deserialize, Serialize};

use crate::{
    equal_texts::EqualTexts,
    error::{Error, Result, check_range, check_size},
    info_nce::DEFAULT_TEMPERATURE,
    rows::{ROWS_A_THREAD, flat, flat_mut},
    softmax_row::{taught_row, transpose},
    unit::Units,
};

hyperparameters! {
    /// In-batch softmax over the cosines of pairs whose targets are in part those of a teacher.
    ///
    /// ```text
    /// (F1)  S_ij = cos(a_i, b_j) / τ             C_ij = cos(s_i, t_j) / τ_t      s, t: the teacher's vectors of the pairs
    /// (F2)  P_i  = softmax over j of S_ij        without entries j ≠ i whose text is that of a_i or b_i
    /// (F3)  T_i  = (1 − λ) e_i + λ softmax over j of C_ij        without the same entries
    /// (F4)  L    = −(1/2m) Σ_i Σ_j (T_ij ln P_ij + U_ij ln Q_ij)       Q, U: as P, T, from b_i to all a_j
    /// (B1)  ∂L/∂S = (P − T + Q − U) / 2m         then to a and b by `unit-vector`; the teacher has no gradient
    /// ```
    ///
    /// With λ = 0 it is `info-nce` in both directions. Threads divide the rows, so the result is bit-identical at any
    /// number of threads.
    ///
    /// ```
    /// use ndarray::array;
    /// use senv_losses::{InfoNce, TaughtSoftmax};
    /// let (a, b) = (array![[2.0, 0.0], [0.0, 1.0]], array![[1.0, 0.5], [0.0, 3.0]]);
    /// let teacher = array![[1.0, 0.0, 0.0], [0.6, 0.8, 0.0]];
    /// let texts = [0, 1, 2, 3];
    /// let alone = TaughtSoftmax { teacher_share: 0.0, ..TaughtSoftmax::default() };
    /// let (value, _) = alone.forward([a.view(), b.view()], [teacher.view(), teacher.view()], &texts)?;
    /// assert!((value - InfoNce::default().forward(a.view(), b.view(), None, &texts)?.0).abs() < 1e-12);
    /// let (taught, _) = TaughtSoftmax::default().forward([a.view(), b.view()], [teacher.view(), teacher.view()], &texts)?;
    /// assert!(taught > value); // the teacher finds the two pairs similar
    /// # Ok::<(), senv_losses::Error>(())
    /// ```
    ///
    /// # References
    /// G. Hinton, O. Vinyals, J. Dean: Distilling the Knowledge in a Neural Network, 2015, section 2.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct TaughtSoftmax {
        /// Temperature τ, which divides the cosines of the student.
        pub temperature: f64 = DEFAULT_TEMPERATURE => Training[above 0];
        /// Temperature τ_t, which divides the cosines of the teacher.
        pub teacher_temperature: f64 = 0.05 => Training[above 0];
        /// Share λ of the teacher in the targets of passages; the rest is the right passage.
        pub teacher_share: f64 = 0.5 => Training[from 0 to 1];
    }
}

/// The saved state for [`TaughtSoftmax::backward`]: the unit vectors and ∂L/∂S.
#[derive(Debug, Clone)]
pub struct TaughtSoftmaxSaved<F> {
    first: Units<F>,
    second: Units<F>,
    d_scores: Array2<F>,
}

impl TaughtSoftmax {
    /// The loss of a batch, and the saved state for [`backward`](Self::backward).
    ///
    /// | name | meaning | shape |
    /// | --- | --- | --- |
    /// | `student` | first and second members of the pairs | `(m, dim)` |
    /// | `teacher` | the teacher's vectors of the same members | `(m, teacher_dim)` |
    /// | `texts` | an id for each of a_0, b_0, a_1, b_1, ...: equal ids, equal texts | `(2m,)` |
    ///
    /// A zero vector has cosine 0 with every vector. The loss is NaN if any vector is NaN.
    ///
    /// # Errors
    /// [`Error::EmptyBatch`] without pairs; [`senv_core::Error::ShapeMismatch`] if the shapes of the arguments do not
    /// match; [`senv_core::Error::InvalidParameter`] if a parameter is out of range; [`senv_core::Error::TooLarge`] if
    /// the scores do not fit in memory.
    pub fn forward<F: Float>(
        &self,
        student: [ArrayView2<'_, F>; 2],
        teacher: [ArrayView2<'_, F>; 2],
        texts: &[u32],
    ) -> Result<(f64, TaughtSoftmaxSaved<F>)> {
        compiled_here!(self, |this: &'a TaughtSoftmax,
                              student: [ArrayView2<'a, F>; 2],
                              teacher: [ArrayView2<'a, F>; 2],
                              texts: &'a [u32]|
         -> Result<(f64, TaughtSoftmaxSaved<F>)> {
            let (m, dim) = student[0].dim();
            check_size("rows of second members of pairs", m, student[1].nrows())?;
            check_size("columns of second members of pairs", dim, student[1].ncols())?;
            for side in teacher {
                check_size("rows of the teacher", m, side.nrows())?;
                check_size("columns of the teacher", teacher[0].ncols(), side.ncols())?;
            }
            check_size("numbers of texts", 2 * m, texts.len())?;
            this.check()?;
            if m == 0 {
                return Err(Error::EmptyBatch);
            }
            let equal = EqualTexts::of_pairs(texts, m);
            let [first, second] = student.map(Units::new);
            let mut scores = cosines(&first, &second, this.temperature)?; // (F1)
            let [taught_first, taught_second] = teacher.map(Units::new);
            let mut taught = cosines(&taught_first, &taught_second, this.teacher_temperature)?;
            let [mut back, mut taught_back] = [transposed(&scores), transposed(&taught)];
            let weight = 0.5 / m as f64;
            let c = weight / this.temperature;
            let share = this.teacher_share;
            let mut sum = taught_rows(&mut scores, &mut taught, share, |i| equal.candidates(i), c); // (F2) to (F4)
            sum += taught_rows(&mut back, &mut taught_back, share, |i| equal.anchors(i), c);
            transpose(flat(&back), m, flat_mut(&mut scores), m, m, |score, back| *score += back);
            Ok((sum * weight, TaughtSoftmaxSaved { first, second, d_scores: scores }))
        })
    }

    /// The gradients of the first and the second members, given `d_loss` = the derivative of the objective with respect
    /// to this loss.
    ///
    /// # Errors
    /// [`senv_core::Error::TooLarge`] if the gradients do not fit in memory.
    pub fn backward<F: Float>(&self, saved: &TaughtSoftmaxSaved<F>, d_loss: f64) -> Result<[Array2<F>; 2]> {
        compiled_here!(self, |_this: &'a TaughtSoftmax,
                              saved: &'a TaughtSoftmaxSaved<F>,
                              d_loss: f64|
         -> Result<[Array2<F>; 2]> {
            let TaughtSoftmaxSaved { first, second, d_scores } = saved;
            let mut d_first = first.backward(matmul(d_scores.view(), second.view())?); // (B1)
            let mut d_second = second.backward(matmul(d_scores.t(), first.view())?);
            F::scale(F::of(d_loss), flat_mut(&mut d_first));
            F::scale(F::of(d_loss), flat_mut(&mut d_second));
            Ok([d_first, d_second])
        })
    }

    fn check(&self) -> Result<()> {
        for (name, value) in [("temperature", self.temperature), ("teacher_temperature", self.teacher_temperature)] {
            check_range(name, "above 0", value, value.is_finite() && value > 0.0)?;
        }
        check_range("teacher_share", "from 0 to 1", self.teacher_share, (0.0..=1.0).contains(&self.teacher_share))
    }
}

/// The cosines of all rows of `a` with all rows of `b`, divided by a temperature.
pub(crate) fn cosines<F: Float>(a: &Units<F>, b: &Units<F>, temperature: f64) -> Result<Array2<F>> {
    let mut scores = Array2::zeros((a.view().nrows(), b.view().nrows()));
    matmul_into(F::of(1.0 / temperature), a.view(), b.view().t(), F::zero(), scores.view_mut())?;
    Ok(scores)
}

fn transposed<F: Float>(x: &Array2<F>) -> Array2<F> {
    let m = x.nrows();
    let mut out = Array2::zeros((m, m));
    transpose(flat(x), m, flat_mut(&mut out), m, m, |out, x| *out = x);
    out
}

/// Applies [`taught_row`] to all rows on all threads, and returns the sum of the losses.
fn taught_rows<'m, F: Float>(
    scores: &mut Array2<F>,
    taught: &mut Array2<F>,
    share: f64,
    masked: impl Fn(usize) -> &'m [u32] + Sync,
    c: f64,
) -> f64 {
    let width = scores.ncols().max(1);
    let rows = flat_mut(scores).par_chunks_mut(width).zip(flat_mut(taught).par_chunks_mut(width)).enumerate();
    let losses: Vec<f64> = rows
        .with_min_len(ROWS_A_THREAD)
        .map(|(i, (row, taught))| taught_row(row, taught, (i, share), masked(i), c))
        .collect();
    losses.iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        info_nce::InfoNce,
        testing::{View, matrix, worst},
    };
    use ndarray::s;

    const TEXTS: [u32; 8] = [0, 1, 2, 3, 0, 4, 5, 3]; // a2 repeats a0, b3 repeats b1.

    fn losses() -> [TaughtSoftmax; 3] {
        [0.0, 0.4, 1.0].map(|teacher_share| TaughtSoftmax { temperature: 0.4, teacher_temperature: 0.3, teacher_share })
    }

    #[test]
    fn gradients_match_central_differences() {
        let [a, b] = [1, 2].map(|seed| matrix::<f64>(4, 5, seed));
        let [s, t] = [3, 4].map(|seed| matrix::<f64>(4, 3, seed));
        let d_loss = 2.5;
        for loss in losses() {
            let forward =
                |a: View<'_>, b: View<'_>| d_loss * loss.forward([a, b], [s.view(), t.view()], &TEXTS).unwrap().0;
            let saved = loss.forward([a.view(), b.view()], [s.view(), t.view()], &TEXTS).unwrap().1;
            let [d_a, d_b] = loss.backward(&saved, d_loss).unwrap();
            assert!(worst(|a| forward(a, b.view()), &a, &d_a) < 1e-7, "{loss:?} a");
            assert!(worst(|b| forward(a.view(), b), &b, &d_b) < 1e-7, "{loss:?} b");
            assert!(worst(|b| forward(a.view(), b), &b, &-d_b) > 1.9, "a flipped sign");
        }
    }

    /// The definition, entry by entry.
    fn by_definition(loss: &TaughtSoftmax, student: [&Array2<f64>; 2], teacher: [&Array2<f64>; 2]) -> f64 {
        let m = student[0].nrows();
        let cosine = |x: ndarray::ArrayView1<'_, f64>, y: ndarray::ArrayView1<'_, f64>| {
            x.dot(&y) / (x.dot(&x) * y.dot(&y)).sqrt()
        };
        let mut sum = 0.0;
        for (from, to) in [(0, 1), (1, 0)] {
            for i in 0..m {
                let own = [TEXTS[2 * i], TEXTS[2 * i + 1]];
                let kept: Vec<usize> = (0..m).filter(|&j| j == i || !own.contains(&TEXTS[2 * j + to])).collect();
                let e = |sides: [&Array2<f64>; 2], j: usize, temperature: f64| {
                    (cosine(sides[from].row(i), sides[to].row(j)) / temperature).exp()
                };
                let of_student: f64 = kept.iter().map(|&j| e(student, j, loss.temperature)).sum();
                let of_teacher: f64 = kept.iter().map(|&j| e(teacher, j, loss.teacher_temperature)).sum();
                for &j in &kept {
                    let taught = loss.teacher_share * e(teacher, j, loss.teacher_temperature) / of_teacher;
                    let target = taught + if i == j { 1.0 - loss.teacher_share } else { 0.0 };
                    sum -= target * (e(student, j, loss.temperature) / of_student).ln();
                }
            }
        }
        sum / (2 * m) as f64
    }

    #[test]
    fn the_value_is_that_of_the_definition() {
        let [a, b] = [1, 2].map(|seed| matrix::<f64>(4, 5, seed));
        let [s, t] = [3, 4].map(|seed| matrix::<f64>(4, 3, seed));
        for loss in losses() {
            let (value, _) = loss.forward([a.view(), b.view()], [s.view(), t.view()], &TEXTS).unwrap();
            let expected = by_definition(&loss, [&a, &b], [&s, &t]);
            assert!((value - expected).abs() < 1e-12, "{loss:?}: {value} for {expected}");
        }
    }

    #[test]
    fn without_a_teacher_it_is_info_nce() {
        let [a, b] = [1, 2].map(|seed| matrix::<f64>(4, 5, seed));
        let [loss, ..] = losses();
        let alone = InfoNce { temperature: loss.temperature, ..InfoNce::default() };
        let (expected, of_alone) = alone.forward(a.view(), b.view(), None, &TEXTS).unwrap();
        let (value, saved) = loss.forward([a.view(), b.view()], [b.view(), a.view()], &TEXTS).unwrap();
        assert!((value - expected).abs() < 1e-12);
        let ([d_a, d_b], (e_a, e_b, _)) =
            (loss.backward(&saved, 1.0).unwrap(), alone.backward(&of_alone, 1.0).unwrap());
        assert!((&d_a - &e_a).iter().chain((&d_b - &e_b).iter()).all(|d| d.abs() < 1e-12));
    }

    #[test]
    fn bad_batches_and_numbers() {
        let x = matrix::<f64>(2, 3, 1);
        let (good, texts) = (TaughtSoftmax::default(), [0, 1, 2, 3]);
        let (all, less, narrow) = (x.view(), x.slice(s![..1, ..]), x.slice(s![.., ..2]));
        let mismatch = |result: Result<_>| matches!(result, Err(Error::Core(senv_core::Error::ShapeMismatch { .. })));
        assert!(mismatch(good.forward([all, less], [all, all], &texts)));
        assert!(mismatch(good.forward([all, narrow], [all, all], &texts)));
        assert!(mismatch(good.forward([all, all], [all, less], &texts)));
        assert!(mismatch(good.forward([all, all], [all, narrow], &texts)));
        assert!(mismatch(good.forward([all, all], [all, all], &texts[..3])));
        let none = x.slice(s![..0, ..]);
        assert!(matches!(good.forward([none, none], [none, none], &[]), Err(Error::EmptyBatch)));
        let refused = |loss: TaughtSoftmax| {
            let result = loss.forward([all, all], [all, all], &texts);
            matches!(result, Err(Error::Core(senv_core::Error::InvalidParameter { .. })))
        };
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(refused(TaughtSoftmax { temperature: bad, ..good.clone() }));
            assert!(refused(TaughtSoftmax { teacher_temperature: bad, ..good.clone() }));
        }
        for bad in [-0.1, 1.1, f64::NAN] {
            assert!(refused(TaughtSoftmax { teacher_share: bad, ..good.clone() }));
        }
        let mut nan = x.clone();
        nan[(1, 1)] = f64::NAN;
        assert!(good.forward([all, nan.view()], [all, all], &texts).unwrap().0.is_nan());
        assert!(good.forward([all, all], [all, nan.view()], &texts).unwrap().0.is_nan());
    }
}
