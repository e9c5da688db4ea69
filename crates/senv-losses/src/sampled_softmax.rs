//! Sampled softmax: cross-entropy over the target and several sampled words, as in TensorFlow, for large vocabularies.
//!
//! Equation: `sampled-softmax`

use ndarray::{Array2, ArrayView2, s};
use rayon::prelude::*;
use senv_core::arrays::{Float, Parameters, compiled_here, matmul, matmul_into};
use serde::{Deserialize, Serialize};

use crate::{
    error::Result,
    log_uniform::SampledWords,
    output_layer::{Reduction, check_targets},
    row_gradients::{RowGradients, Term},
    rows::{ROWS_A_THREAD, flat_mut, row},
    softmax_row::softmax_row,
};

/// The default number of words sampled per batch; the P-thought paper does not state it.
pub const DEFAULT_SAMPLED: usize = 512;

/// Softmax over the target and sampled words. It shares its parameters with [`TokenNll`](crate::TokenNll), which
/// computes the full softmax. Word ids are ranks by frequency, as in every [`Vocabulary`](senv_core::Vocabulary).
///
/// ```text
/// (F1)  a_0 = O_y h + o_y − ln E(y)                  y: the target; E from `log-uniform-candidates`
/// (F2)  a_j = O_k h + o_k − ln E(k)                  k: the sampled word j, for all tokens the same; −∞ if k = y
/// (F3)  ℓ = ln Σ_j e^a_j − a_0                       L = Σ ℓ, or the mean over the tokens
/// (B3)  ∂a = c (softmax(a) − 1_0)                    c: ∂L/∂ℓ
/// (B2)  ∂O_k = Σ ∂a_j h,   ∂o_k = Σ ∂a_j,   ∂h = Σ_j ∂a_j O_k,   and so (B1) for O_y
/// ```
///
/// ```
/// use ndarray::array;
/// use senv_core::rng::stream;
/// use senv_losses::{SampledSoftmax, SampledWords, TokenNll};
/// let parameters = TokenNll::new(2, 50).init::<f32>(&mut stream(1, "output", &[]))?;
/// let words = SampledWords::draw(&mut stream(1, "candidates", &[0]), 50, 8)?;
/// let hidden = array![[0.5, -1.0], [0.3, 0.2]];
/// let loss = SampledSoftmax::default();
/// let (loss, d_hidden, d_rows) = loss.loss_and_gradients(&parameters, hidden.view(), &[4, 0], &words, 1.0)?;
/// assert!(loss > 0.0 && d_hidden.dim() == (2, 2) && d_rows.rows.len() <= 10);
/// # Ok::<(), senv_losses::Error>(())
/// ```
///
/// # References
/// S. Jean, K. Cho, R. Memisevic, Y. Bengio, On Using Very Large Target Vocabulary for Neural Machine Translation, ACL
/// 2015; TensorFlow's `sampled_softmax_loss`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SampledSoftmax {
    /// Sum or mean over the tokens; mean by default.
    pub reduction: Reduction,
}

impl SampledSoftmax {
    /// The loss, the gradient of `hidden`, shape `(n, dim)`, and those of the rows of the targets and sampled words,
    /// all multiplied by `d_loss`. `parameters` has a matrix, shape `(n_words, dim)`, and a bias, shape `(1, n_words)`.
    ///
    /// Uses memory for n × (1 + sampled) logits, independent of the vocabulary size.
    ///
    /// # Errors
    /// [`senv_core::Error::ShapeMismatch`] if a shape differs;
    /// [`Error::TargetOutOfRange`](crate::Error::TargetOutOfRange) if a target is not in the vocabulary;
    /// [`Error::EmptyBatch`](crate::Error::EmptyBatch) without tokens.
    pub fn loss_and_gradients<F: Float>(
        &self,
        parameters: &Parameters<F>,
        hidden: ArrayView2<'_, F>,
        targets: &[u32],
        words: &SampledWords,
        d_loss: f64,
    ) -> Result<(f64, Array2<F>, RowGradients<F>)> {
        compiled_here!(self, |this: &'a SampledSoftmax,
                              parameters: &'a Parameters<F>,
                              hidden: ArrayView2<'a, F>,
                              targets: &'a [u32],
                              words: &'a SampledWords,
                              d_loss: f64|
         -> Result<(f64, Array2<F>, RowGradients<F>)> {
            let (n, dim) = hidden.dim();
            let shapes = [("output.w", [words.n_words(), dim]), ("output.b", [1, words.n_words()])];
            crate::dense::check_shapes(parameters, &shapes)?;
            check_targets(targets, n, words.n_words())?;
            let factor = this.reduction.factor(n)?;
            let c = d_loss * factor;
            let hidden = hidden.as_standard_layout();
            let h = |i: usize| &hidden.as_slice().unwrap_or_default()[i * dim..][..dim];
            let (w, b) = (&parameters[0], &parameters[1]);
            let w = |id: u32| &w.values()[id as usize * dim..][..dim];
            let offset = |id: u32| b.values()[id as usize] - F::of(words.expected_count(id).ln());

            let ids = words.ids();
            let mut sampled = Array2::zeros((ids.len(), dim));
            flat_mut(&mut sampled).chunks_mut(dim.max(1)).zip(ids).for_each(|(out, &id)| out.copy_from_slice(w(id)));
            let offsets: Vec<F> = ids.iter().map(|&id| offset(id)).collect();
            let width = 1 + ids.len();
            let mut d = Array2::zeros((n, width));
            matmul_into(F::one(), hidden.view(), sampled.t(), F::zero(), d.slice_mut(s![.., 1..]))?;
            let rows = flat_mut(&mut d).par_chunks_mut(width).enumerate().with_min_len(ROWS_A_THREAD);
            let losses: Vec<f64> = rows
                .map(|(i, logits)| {
                    let target = targets[i];
                    logits[0] = F::dot(w(target), h(i)) + offset(target); // (F1)
                    F::add_to(&offsets, &mut logits[1..]); // (F2)
                    let own = ids.binary_search(&target).map(|j| j as u32 + 1);
                    softmax_row(logits, 0, own.as_ref().map_or(&[], std::slice::from_ref), c) // (F3), (B3)
                })
                .collect();

            let d_sampled = d.slice(s![.., 1..]);
            let mut d_hidden = matmul(d_sampled, sampled.view())?; // (B2)
            flat_mut(&mut d_hidden).par_chunks_mut(dim.max(1)).enumerate().with_min_len(ROWS_A_THREAD).for_each(
                |(i, out)| F::axpy(d[(i, 0)], w(targets[i]), out), // (B1)
            );
            let mut terms: Vec<Term<F>> =
                (0..n).map(|i| Term { row: targets[i], input: i as u32, c: d[(i, 0)] }).collect();
            terms.sort_by_key(|term| term.row); // A stable sort keeps tokens in order within a row.
            let mut touched: Vec<u32> = targets.iter().chain(ids).copied().collect();
            touched.sort_unstable();
            touched.dedup();
            let mut gradients = RowGradients::zeros(touched, dim);
            let d_w = matmul(d_sampled.t(), hidden.view())?;
            let mut places = gradients.rows.iter().enumerate();
            for (j, &id) in ids.iter().enumerate() {
                let (place, _) = places.find(|(_, row)| row.0 == id).unwrap_or_else(|| unreachable!("touched"));
                gradients.d_w.row_mut(place).as_slice_mut().unwrap_or_default().copy_from_slice(row(&d_w, j));
                gradients.d_b[place] = d.column(1 + j).sum();
            }
            gradients.add_terms(&terms, |i| h(i as usize)); // (B1)
            Ok((losses.iter().sum::<f64>() * factor, d_hidden, gradients))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Error, TokenNll,
        testing::{View, matrix, worst, worst_parameter},
    };
    use senv_core::{init, rng::stream};

    fn parameters<F: Float>(dim: usize, n_words: usize) -> Parameters<F> {
        let mut parameters = TokenNll::new(dim, n_words).init::<F>(&mut stream(3, "output", &[])).unwrap();
        init::normal(&mut stream(4, "bias", &[]), parameters[1].values_mut(), 0.5).unwrap();
        parameters
    }

    #[test]
    fn gradients_match_central_differences() {
        let h = matrix::<f64>(5, 3, 1);
        let p = parameters::<f64>(3, 9);
        let targets = [6, 0, 3, 3, 1]; // 3 is among the sampled words, and a target twice.
        let words = SampledWords::new(9, vec![8, 3, 5, 2], 7).unwrap();
        for reduction in [Reduction::Sum, Reduction::Mean] {
            let loss = SampledSoftmax { reduction };
            let f = |p: &Parameters<f64>, h: View<'_>| {
                2.5 * loss.loss_and_gradients(p, h, &targets, &words, 0.0).unwrap().0
            };
            let (_, d_hidden, rows) = loss.loss_and_gradients(&p, h.view(), &targets, &words, 2.5).unwrap();
            assert_eq!(rows.rows.iter().map(|row| row.0).collect::<Vec<_>>(), [0, 1, 2, 3, 5, 6, 8]);
            assert!(worst(|h| f(&p, h), &h, &d_hidden) < 1e-7, "{reduction:?}");
            assert!(worst(|h| f(&p, h), &h, &-d_hidden) > 1.9, "a flipped sign");
            let mut d = p.zeros_like();
            rows.add_to(&mut d, 0).unwrap();
            for place in [0, 1] {
                assert!(worst_parameter(|p| f(p, h.view()), &p, &d, place) < 1e-7, "{reduction:?} {place}");
            }
        }
    }

    #[test]
    fn with_all_words_surely_drawn_it_is_the_full_softmax() {
        let h = matrix::<f64>(4, 3, 1);
        let p = parameters::<f64>(3, 9);
        let targets = [8, 0, 3, 3];
        let words = SampledWords::new(9, (0..9).collect(), 100_000).unwrap();
        let (loss, d_hidden, rows) =
            SampledSoftmax::default().loss_and_gradients(&p, h.view(), &targets, &words, 1.0).unwrap();
        let mut d = p.zeros_like();
        let full = TokenNll::new(3, 9).loss_and_gradients(&p, h.view(), &targets, 1.0, &mut d).unwrap();
        assert!((loss - full.0).abs() < 1e-13 && (d_hidden - full.1).iter().all(|d| d.abs() < 1e-13));
        let mut got = p.zeros_like();
        rows.add_to(&mut got, 0).unwrap();
        for place in [0, 1] {
            assert!(got[place].values().iter().zip(d[place].values()).all(|(a, b)| (a - b).abs() < 1e-13));
        }
    }

    #[test]
    fn threads_give_the_same_bits() {
        let (n, dim, n_words) = (200, 48, 5000);
        let (h, p) = (matrix::<f32>(n, dim, 1), parameters::<f32>(dim, n_words));
        let targets: Vec<u32> = (0..n as u32).map(|i| i * i % 171).collect();
        let words = SampledWords::draw(&mut stream(1, "candidates", &[]), n_words, 400).unwrap();
        let run = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| SampledSoftmax::default().loss_and_gradients(&p, h.view(), &targets, &words, 1.0).unwrap())
        };
        let one = run(1);
        assert!([2, 5].iter().all(|&threads| run(threads) == one));
    }

    #[test]
    fn bad_batches() {
        let (h, p) = (matrix::<f32>(2, 3, 1), parameters::<f32>(3, 5));
        let words = SampledWords::new(5, vec![1, 2], 3).unwrap();
        let run = |n: usize, targets: &[u32], words: &SampledWords| {
            SampledSoftmax::default().loss_and_gradients(&p, h.slice(s![..n, ..]), targets, words, 1.0)
        };
        assert!(matches!(run(2, &[1, 5], &words), Err(Error::TargetOutOfRange { target: 5, .. })));
        assert!(matches!(run(0, &[], &words), Err(Error::EmptyBatch)));
        assert!(matches!(run(2, &[1], &words), Err(Error::Core(_))));
        assert!(run(2, &[1, 1], &SampledWords::new(6, vec![1, 2], 3).unwrap()).is_err(), "another vocabulary");
    }

    #[test]
    fn one_token_by_hand() {
        // Logits 2 and 1 minus the logarithms of the expected counts; the target is word 0, the sample is word 4.
        let mut p = Parameters::<f64>::new();
        p.push("output.w", [5, 1], vec![1.0, 9.0, 9.0, 9.0, 0.25]).unwrap();
        p.push("output.b", [1, 5], vec![0.0, 9.0, 9.0, 9.0, 0.5]).unwrap();
        let words = SampledWords::new(5, vec![4], 3).unwrap();
        let a = 2.0 - words.expected_count(0).ln();
        let b = 1.0 - words.expected_count(4).ln();
        let h = ndarray::array![[2.0]];
        let loss = SampledSoftmax::default().loss_and_gradients(&p, h.view(), &[0], &words, 1.0).unwrap().0;
        assert!((loss - (b - a).exp().ln_1p()).abs() < 1e-14, "{loss}");
    }
}
