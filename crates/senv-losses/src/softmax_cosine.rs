//! Cross-entropy of a softmax over cosines: a sentence should be closer to its positives than to its negatives.
//!
//! Equation: `softmax-over-cosines`

use ndarray::{Array2, ArrayView2};
use rayon::prelude::*;
use senv_core::{
    arrays::{Float, compiled_here},
    math,
};
use serde::{Deserialize, Serialize};

use crate::{
    error::{Error, Result, check_range, check_size},
    rows::{ROWS_A_THREAD, flat_mut},
    unit::Units,
};

/// The numbers of candidates of a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CandidateCounts {
    /// The number of positives, at least one.
    pub positives: u32,
    /// The number of negatives; can be 0.
    pub negatives: u32,
}

impl CandidateCounts {
    fn all(self) -> usize {
        self.positives as usize + self.negatives as usize
    }
}

/// Cross-entropy of a softmax over cosines, averaged over the sentences of the batch.
///
/// ```text
/// (F1)  c_j = cos(s, v_j)                      v_1 .. v_k: candidates of s, its positives first
/// (F2)  p   = softmax(c / τ)                   q_j = 1/|S⁺| on the positives, else 0
/// (F3)  L   = −Σ_j q_j ln p_j                  mean over the sentences of the batch
/// (B1)  ∂L/∂c_j = (p_j − q_j) / τ              then through each cosine by `unit-vector`
/// ```
///
/// At τ = 1, as in the paper, p is never close to 0 or 1: with two positives and two negatives the loss is at least
/// 0.820.
///
/// ```
/// use ndarray::array;
/// use senv_losses::{CandidateCounts, SoftmaxCosine};
/// let sentence = array![[2.0, 0.0]];
/// let candidates = array![[1.0, 0.0], [0.0, 3.0]];
/// let loss = SoftmaxCosine::default();
/// let counts = [CandidateCounts { positives: 1, negatives: 1 }];
/// let (value, saved) = loss.forward(sentence.view(), candidates.view(), &counts)?;
/// assert!((value - (1.0 + (-1f64).exp()).ln()).abs() < 1e-12); // cosines 1 and 0
/// let (d_sentence, d_candidates) = loss.backward(&saved, 1.0);
/// assert!(d_sentence[(0, 1)] > 0.0 && d_candidates[(1, 0)] > 0.0); // a descent step moves them apart
/// # Ok::<(), senv_losses::Error>(())
/// ```
///
/// # References
/// T. Kenter, A. Borisov, M. de Rijke: Siamese CBOW, ACL 2016, section 2.1: equation 1, the loss and the target below
/// it. The temperature is not in the paper.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SoftmaxCosine {
    /// τ, above 0; by default 1, as in the paper.
    pub temperature: f64,
}

impl Default for SoftmaxCosine {
    fn default() -> Self {
        Self { temperature: 1.0 }
    }
}

/// The saved state for [`SoftmaxCosine::backward`]: the unit vectors, and ∂L/∂c of every candidate.
#[derive(Debug, Clone)]
pub struct SoftmaxCosineSaved<F> {
    sentences: Units<F>,
    candidates: Units<F>,
    counts: Vec<CandidateCounts>,
    d_cosines: Vec<f64>,
}

impl SoftmaxCosine {
    /// The loss of a batch, and the saved state for [`backward`](Self::backward).
    ///
    /// | name | meaning | shape |
    /// | --- | --- | --- |
    /// | `sentences` | s | `(n, dim)` |
    /// | `candidates` | those of each sentence in order, its positives first | `(c, dim)` |
    /// | `counts` | number of candidates of each sentence, `c` in all | `(n,)` |
    ///
    /// A zero vector has cosine 0 with every vector. The loss is NaN if any vector is NaN.
    ///
    /// # Errors
    /// [`Error::EmptyBatch`] without sentences; [`Error::NoPositive`] if a sentence has no positive;
    /// [`senv_core::Error::ShapeMismatch`] if the shapes of the arguments do not match;
    /// [`senv_core::Error::InvalidParameter`] if the temperature is not above 0.
    pub fn forward<F: Float>(
        &self,
        sentences: ArrayView2<'_, F>,
        candidates: ArrayView2<'_, F>,
        counts: &[CandidateCounts],
    ) -> Result<(f64, SoftmaxCosineSaved<F>)> {
        compiled_here!(self, |this: &'a SoftmaxCosine,
                              sentences: ArrayView2<'a, F>,
                              candidates: ArrayView2<'a, F>,
                              counts: &'a [CandidateCounts]|
         -> Result<(f64, SoftmaxCosineSaved<F>)> {
            let t = this.temperature;
            check_range("temperature", "above 0", t, t.is_finite() && t > 0.0)?;
            check_size("columns of candidates", sentences.ncols(), candidates.ncols())?;
            check_size("counts of candidates", sentences.nrows(), counts.len())?;
            check_size("rows of candidates", counts.iter().map(|counts| counts.all()).sum(), candidates.nrows())?;
            if let Some(example) = counts.iter().position(|counts| counts.positives == 0) {
                return Err(Error::NoPositive { example });
            }
            if counts.is_empty() {
                return Err(Error::EmptyBatch);
            }
            let (sentences, candidates) = (Units::new(sentences), Units::new(candidates));
            let n = counts.len() as f64;
            let mut d_cosines = vec![0.0; candidates.view().nrows()];
            let of_sentence = |(i, (first, p)): (usize, (usize, &mut [f64]))| {
                for (j, p) in p.iter_mut().enumerate() {
                    *p = F::dot(sentences.row(i), candidates.row(first + j)).wide() / t; // (F1)
                }
                let (positives, q) = (counts[i].positives as usize, 1.0 / f64::from(counts[i].positives));
                let loss = math::log_sum_exp(p) - p[..positives].iter().sum::<f64>() * q; // (F3)
                math::softmax_in_place(p); // (F2)
                p[..positives].iter_mut().for_each(|p| *p -= q); // (B1)
                p.iter_mut().for_each(|p| *p /= t * n);
                loss
            };
            let parts = of_each(&mut d_cosines, 1, counts).into_par_iter().enumerate().with_min_len(ROWS_A_THREAD);
            let losses: Vec<f64> = parts.map(of_sentence).collect();
            let loss = losses.iter().sum::<f64>() / n;
            Ok((loss, SoftmaxCosineSaved { sentences, candidates, counts: counts.to_vec(), d_cosines }))
        })
    }

    /// The gradients `(d_sentences, d_candidates)`, in the shapes of their inputs, given `d_loss` = the derivative of
    /// the objective with respect to this loss.
    #[must_use]
    pub fn backward<F: Float>(&self, saved: &SoftmaxCosineSaved<F>, d_loss: f64) -> (Array2<F>, Array2<F>) {
        compiled_here!(self, |this: &'a SoftmaxCosine,
                              saved: &'a SoftmaxCosineSaved<F>,
                              d_loss: f64|
         -> (Array2<F>, Array2<F>) {
            let (sentences, candidates) = (&saved.sentences, &saved.candidates);
            let (mut d_sentences, mut d_candidates) = (sentences.zeros(), candidates.zeros());
            let dim = d_sentences.ncols().max(1);
            let parts = of_each(flat_mut(&mut d_candidates), dim, &saved.counts).into_par_iter();
            let parts =
                flat_mut(&mut d_sentences).par_chunks_mut(dim).zip(parts).enumerate().with_min_len(ROWS_A_THREAD);
            parts.for_each(|(i, (d_sentence, (first, d_candidates)))| {
                for (j, d_candidate) in (first..).zip(d_candidates.chunks_exact_mut(dim)) {
                    let c = F::of(saved.d_cosines[j] * d_loss);
                    F::axpy(c, candidates.row(j), d_sentence);
                    F::axpy(c, sentences.row(i), d_candidate);
                }
            });
            (sentences.backward(d_sentences), candidates.backward(d_candidates))
        })
    }
}

/// The rows of the candidates of each sentence, `dim` values each, with the index of the first candidate.
fn of_each<'a, T>(mut all: &'a mut [T], dim: usize, counts: &[CandidateCounts]) -> Vec<(usize, &'a mut [T])> {
    let mut first = 0;
    let next = |counts: &CandidateCounts| {
        let (part, rest) = std::mem::take(&mut all).split_at_mut(counts.all() * dim);
        all = rest;
        first += counts.all();
        (first - counts.all(), part)
    };
    counts.iter().map(next).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{View, matrix, worst};
    use ndarray::s;

    fn counts(counts: &[(u32, u32)]) -> Vec<CandidateCounts> {
        counts.iter().map(|&(positives, negatives)| CandidateCounts { positives, negatives }).collect()
    }

    #[test]
    fn gradients_match_central_differences() {
        let (s, v) = (matrix::<f64>(4, 5, 1), matrix::<f64>(11, 5, 2));
        let (counts, d_loss) = (counts(&[(2, 2), (1, 0), (1, 3), (2, 0)]), 2.5);
        for temperature in [1.0, 0.3] {
            let loss = SoftmaxCosine { temperature };
            let forward = |s: View<'_>, v: View<'_>| d_loss * loss.forward(s, v, &counts).unwrap().0;
            let saved = loss.forward(s.view(), v.view(), &counts).unwrap().1;
            let (d_s, d_v) = loss.backward(&saved, d_loss);
            assert!(worst(|s| forward(s, v.view()), &s, &d_s) < 1e-7);
            assert!(worst(|v| forward(s.view(), v), &v, &d_v) < 1e-7);
            assert!(worst(|v| forward(s.view(), v), &v, &-d_v) > 1.9, "a flipped sign");
        }
    }

    #[test]
    fn the_loss_of_the_paper_has_a_floor() {
        let s = ndarray::array![[1.0, 0.0]];
        let v = ndarray::array![[1.0, 0.0], [1.0, 0.0], [-1.0, 0.0], [-1.0, 0.0]];
        let (value, _) = SoftmaxCosine::default().forward(s.view(), v.view(), &counts(&[(2, 2)])).unwrap();
        let floor = (2.0 + 2.0 * (-2f64).exp()).ln(); // −ln(e / (2e + 2/e))
        assert!((value - floor).abs() < 1e-12 && (floor - 0.820).abs() < 1e-3);
    }

    #[test]
    fn bad_batches_and_numbers() {
        let loss = SoftmaxCosine::default();
        let (s, v) = (matrix::<f64>(2, 3, 1), matrix::<f64>(4, 3, 2));
        let forward = |counts: &[CandidateCounts]| loss.forward(s.view(), v.view(), counts).map(|(value, _)| value);
        assert!(forward(&counts(&[(1, 1), (2, 0)])).is_ok());
        assert!(matches!(forward(&counts(&[(1, 1), (0, 2)])), Err(Error::NoPositive { example: 1 })));
        for wrong in [&[(1, 3)][..], &[(1, 1), (1, 0)]] {
            assert!(matches!(forward(&counts(wrong)), Err(Error::Core(senv_core::Error::ShapeMismatch { .. }))));
        }
        assert!(loss.forward(s.slice(s![.., ..2]), v.view(), &counts(&[(1, 1), (2, 0)])).is_err());
        let none = s.slice(s![..0, ..]);
        assert!(matches!(loss.forward(none, none, &[]), Err(Error::EmptyBatch)));
        for temperature in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let result = SoftmaxCosine { temperature }.forward(s.view(), v.view(), &counts(&[(1, 1), (2, 0)]));
            assert!(matches!(result, Err(Error::Core(senv_core::Error::InvalidParameter { .. }))));
        }
        let mut nan = s.clone();
        nan[(0, 0)] = f64::NAN;
        assert!(loss.forward(nan.view(), v.view(), &counts(&[(1, 1), (2, 0)])).unwrap().0.is_nan());
    }
}
