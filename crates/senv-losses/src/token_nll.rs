//! Full softmax: negative log-likelihood of the next word over the whole vocabulary, in blocks of tokens.
//!
//! Equation: `token-nll`

use ndarray::{Array2, ArrayView2};
use senv_core::{
    arrays::{Float, Parameters, compiled_here},
    math,
    rng::Stream,
};
use serde::{Deserialize, Serialize};

use crate::{
    dense::{check_shapes, init},
    error::Result,
    output_layer::{DEFAULT_BLOCK, OutputLayer, Reduction, check_targets},
    softmax_row::softmax_row,
};

/// Softmax over all words of a vocabulary for hidden states of a decoder. There is one row per real token, so padding
/// needs no computation and no mask.
///
/// ```text
/// (F1)  a = O h + o                                     `output-layer`, a row for every token
/// (F2)  ℓ = ln Σ_w e^a_w − a_y                          y: the target
/// (F3)  L = Σ ℓ, or the mean over the tokens
/// (B2)  ∂a = c (softmax(a) − 1_y)                       c: ∂L/∂ℓ
/// ```
///
/// Loss and gradient take one pass: the logits of a block are computed once, replaced in place by their gradient, and
/// used for both products of the backward pass. That is three products of n × dim × n_words, and little else.
///
/// ```
/// use ndarray::array;
/// use senv_core::rng::stream;
/// use senv_losses::TokenNll;
/// let output = TokenNll::new(2, 5);
/// let parameters = output.init::<f32>(&mut stream(1, "output", &[]))?;
/// let hidden = array![[0.5, -1.0], [0.3, 0.2], [-0.4, 0.9]];
/// let mut d_parameters = parameters.zeros_like();
/// let (loss, d_hidden) = output.loss_and_gradients(&parameters, hidden.view(), &[0, 4, 2], 1.0, &mut d_parameters)?;
/// assert_eq!(d_hidden.dim(), (3, 2));
/// let each = output.forward(&parameters, hidden.view(), &[0, 4, 2])?;
/// assert!((loss - each.iter().sum::<f64>() / 3.0).abs() < 1e-6);
/// # Ok::<(), senv_losses::Error>(())
/// ```
///
/// # References
/// R. Kiros et al., Skip-Thought Vectors, NIPS 2015, section 2.1, "Objective".
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenNll {
    /// The hidden size.
    pub dim: usize,
    /// The number of words in the vocabulary.
    pub n_words: usize,
    /// Sum or mean over the tokens; mean by default.
    pub reduction: Reduction,
    /// The number of logits in memory at the same time; at least one row.
    pub block: usize,
}

impl TokenNll {
    /// The defaults for hidden size `dim` and `n_words` words.
    #[must_use]
    pub fn new(dim: usize, n_words: usize) -> Self {
        Self { dim, n_words, reduction: Reduction::default(), block: DEFAULT_BLOCK }
    }

    /// Names and shapes of its tensors, in order.
    fn shapes(&self) -> [(&'static str, [usize; 2]); 2] {
        [("output.w", [self.n_words, self.dim]), ("output.b", [1, self.n_words])]
    }

    /// Initial parameters: `output.w`, shape `(n_words, dim)`, uniform by Glorot and Bengio, and
    /// `output.b`, shape `(1, n_words)`, 0.
    ///
    /// # Errors
    /// [`senv_core::Error::InvalidParameter`] if a size is 0; [`senv_core::Error::TooLarge`].
    pub fn init<F: Float>(&self, rng: &mut Stream) -> Result<Parameters<F>> {
        compiled_here!(self, |this: &'a TokenNll, rng: &'a mut Stream| -> Result<Parameters<F>> {
            init(rng, &this.shapes())
        })
    }

    /// The negative log-likelihood ℓ of every token in nats, for `hidden`, shape `(n, dim)`. The exponential of its
    /// mean is the perplexity.
    ///
    /// # Errors
    /// [`senv_core::Error::ShapeMismatch`] if a shape differs;
    /// [`Error::TargetOutOfRange`](crate::Error::TargetOutOfRange) if a target is not in the vocabulary.
    pub fn forward<F: Float>(
        &self,
        parameters: &Parameters<F>,
        hidden: ArrayView2<'_, F>,
        targets: &[u32],
    ) -> Result<Vec<f64>> {
        compiled_here!(self, |this: &'a TokenNll,
                              parameters: &'a Parameters<F>,
                              hidden: ArrayView2<'a, F>,
                              targets: &'a [u32]|
         -> Result<Vec<f64>> {
            check_shapes(parameters, &this.shapes())?;
            check_targets(targets, hidden.nrows(), this.n_words)?;
            let row = |i: usize, logits: &mut [F]| softmax_row(logits, targets[i] as usize, &[], 1.0); // (F2)
            OutputLayer::new(parameters, 0, this.block).losses(hidden, row)
        })
    }

    /// The loss and the gradient of `hidden`, shape `(n, dim)`, in one pass. Gradients are multiplied by `d_loss`;
    /// those of the parameters are added to `d_parameters`.
    ///
    /// # Errors
    /// The errors of [`forward`](Self::forward); [`Error::EmptyBatch`](crate::Error::EmptyBatch) without tokens.
    pub fn loss_and_gradients<F: Float>(
        &self,
        parameters: &Parameters<F>,
        hidden: ArrayView2<'_, F>,
        targets: &[u32],
        d_loss: f64,
        d_parameters: &mut Parameters<F>,
    ) -> Result<(f64, Array2<F>)> {
        compiled_here!(self, |this: &'a TokenNll,
                              parameters: &'a Parameters<F>,
                              hidden: ArrayView2<'a, F>,
                              targets: &'a [u32],
                              d_loss: f64,
                              d_parameters: &'a mut Parameters<F>|
         -> Result<(f64, Array2<F>)> {
            check_shapes(parameters, &this.shapes())?;
            check_shapes(d_parameters, &this.shapes())?;
            check_targets(targets, hidden.nrows(), this.n_words)?;
            let factor = this.reduction.factor(hidden.nrows())?;
            let c = d_loss * factor;
            let row = |i: usize, logits: &mut [F]| softmax_row(logits, targets[i] as usize, &[], c); // (F2), (B2)
            let layer = OutputLayer::new(parameters, 0, this.block);
            let (sum, d_hidden) = layer.loss_and_gradients(hidden, row, d_parameters)?;
            Ok((sum * factor, d_hidden)) // (F3)
        })
    }

    /// ln p of every word, shape `(n, n_words)`; for decoding a few rows at a time.
    ///
    /// # Errors
    /// [`senv_core::Error::ShapeMismatch`] if a shape differs.
    pub fn log_probabilities<F: Float>(
        &self,
        parameters: &Parameters<F>,
        hidden: ArrayView2<'_, F>,
    ) -> Result<Array2<F>> {
        compiled_here!(self, |this: &'a TokenNll,
                              parameters: &'a Parameters<F>,
                              hidden: ArrayView2<'a, F>|
         -> Result<Array2<F>> {
            check_shapes(parameters, &this.shapes())?;
            OutputLayer::new(parameters, 0, this.block).map(hidden, log_softmax)
        })
    }
}

/// Replaces logits by the logarithms of their softmax.
pub(crate) fn log_softmax<F: Float>(logits: &mut [F]) {
    let total = math::log_sum_exp(logits);
    logits.iter_mut().for_each(|a| *a -= total);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Error,
        testing::{View, matrix, worst, worst_parameter},
    };
    use senv_core::{arrays::matmul, init, rng::stream};

    fn parameters<F: Float>(output: &TokenNll) -> Parameters<F> {
        let mut parameters = output.init::<F>(&mut stream(3, "output", &[])).unwrap();
        init::normal(&mut stream(4, "bias", &[]), parameters[1].values_mut(), 0.5).unwrap();
        parameters
    }

    #[test]
    fn gradients_match_central_differences() {
        let h = matrix::<f64>(5, 3, 1);
        let targets = [6, 0, 3, 3, 1];
        for (reduction, block) in [(Reduction::Sum, 14), (Reduction::Mean, 1), (Reduction::Mean, 1000)] {
            let output = TokenNll { reduction, block, ..TokenNll::new(3, 7) };
            let p = parameters::<f64>(&output);
            let f = |p: &Parameters<f64>, h: View<'_>| {
                let each = output.forward(p, h, &targets).unwrap();
                2.5 * each.iter().sum::<f64>() * reduction.factor(5).unwrap()
            };
            let mut d = p.zeros_like();
            let mut run = || output.loss_and_gradients(&p, h.view(), &targets, 2.5, &mut d).unwrap();
            let (loss, d_hidden) = run();
            run(); // Parameter gradients accumulate: two calls give twice as much.
            assert!((2.5 * loss - f(&p, h.view())).abs() < 1e-12);
            assert!(worst(|h| f(&p, h), &h, &d_hidden) < 1e-7, "{reduction:?}");
            assert!(worst(|h| f(&p, h), &h, &-d_hidden) > 1.9, "a flipped sign");
            for place in [0, 1] {
                assert!(worst_parameter(|p| 2.0 * f(p, h.view()), &p, &d, place) < 1e-7, "{reduction:?} {place}");
            }
        }
    }

    #[test]
    fn blocks_are_the_plain_softmax_and_threads_give_the_same_bits() {
        let (n, dim, n_words) = (70, 40, 3001);
        let h = matrix::<f32>(n, dim, 1);
        let targets: Vec<u32> = (0..n as u32).map(|i| i * i % n_words as u32).collect();
        let output = TokenNll { block: 20_000, ..TokenNll::new(dim, n_words) };
        let p = parameters::<f32>(&output);
        let run = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let mut d = p.zeros_like();
            let (loss, d_hidden) =
                pool.install(|| output.loss_and_gradients(&p, h.view(), &targets, 1.0, &mut d)).unwrap();
            (loss, d_hidden, d)
        };
        let one = run(1);
        assert!([2, 5].iter().all(|&threads| run(threads) == one));
        // The definition, in f64 and without blocks.
        let (h, p) = (h.mapv(f64::from), p.cast::<f64>());
        let mut a = matmul(h.view(), p[0].view().t()).unwrap();
        let mut loss = 0.0;
        for (mut row, &target) in a.rows_mut().into_iter().zip(&targets) {
            row.iter_mut().zip(p[1].values()).for_each(|(a, b)| *a += b);
            let row = row.as_slice_mut().unwrap();
            loss += (math::log_sum_exp(row) - row[target as usize]) / n as f64;
            math::softmax_in_place(row);
            row[target as usize] -= 1.0;
            row.iter_mut().for_each(|d| *d /= n as f64);
        }
        assert!((one.0 - loss).abs() < 1e-6 * loss, "{} {loss}", one.0);
        let close = |got: &[f32], expected: Vec<f64>| {
            got.iter().zip(expected).all(|(&got, expected)| (f64::from(got) - expected).abs() < 1e-7)
        };
        assert!(close(one.1.as_slice().unwrap(), matmul(a.view(), p[0].view()).unwrap().into_raw_vec_and_offset().0));
        assert!(close(one.2[0].values(), matmul(a.t(), h.view()).unwrap().iter().copied().collect()));
        assert!(close(one.2[1].values(), a.sum_axis(ndarray::Axis(0)).to_vec()));
    }

    #[test]
    fn log_probabilities_are_those_of_the_loss() {
        let output = TokenNll { block: 11, ..TokenNll::new(3, 5) };
        let p = parameters::<f64>(&output);
        let h = matrix::<f64>(4, 3, 2);
        let log_p = output.log_probabilities(&p, h.view()).unwrap();
        let each = output.forward(&p, h.view(), &[4, 1, 0, 2]).unwrap();
        for (i, target) in [4, 1, 0, 2].into_iter().enumerate() {
            assert!((log_p[(i, target)] + each[i]).abs() < 1e-14);
            assert!((log_p.row(i).mapv(f64::exp).sum() - 1.0).abs() < 1e-14);
        }
    }

    #[test]
    fn large_logits_stay_finite_and_nan_is_passed_on() {
        let output = TokenNll { reduction: Reduction::Sum, ..TokenNll::new(1, 3) };
        let mut p = output.init::<f32>(&mut stream(1, "output", &[])).unwrap();
        p[0].values_mut().copy_from_slice(&[200.0, 0.0, -200.0]);
        let h = ndarray::array![[1.0f32]];
        assert_eq!(output.forward(&p, h.view(), &[2]).unwrap(), [400.0]);
        let mut d = p.zeros_like();
        let (_, d_hidden) = output.loss_and_gradients(&p, h.view(), &[2], 1.0, &mut d).unwrap();
        assert_eq!((d_hidden[(0, 0)], d[1].values()), (400.0, [1.0, 0.0, -1.0].as_slice()));
        p[1].values_mut()[1] = f32::NAN;
        assert!(output.forward(&p, h.view(), &[2]).unwrap()[0].is_nan());
    }

    #[test]
    fn bad_batches() {
        let output = TokenNll::new(3, 5);
        let p = output.init::<f32>(&mut stream(1, "output", &[])).unwrap();
        let mut d = p.zeros_like();
        let h = matrix::<f32>(2, 3, 1);
        let mut run = |h: ArrayView2<'_, f32>, targets: &[u32]| output.loss_and_gradients(&p, h, targets, 1.0, &mut d);
        assert!(matches!(run(h.view(), &[4, 5]), Err(Error::TargetOutOfRange { example: 1, target: 5, n_targets: 5 })));
        assert!(matches!(run(h.slice(ndarray::s![..0, ..]), &[]), Err(Error::EmptyBatch)));
        assert!(matches!(run(h.view(), &[1]), Err(Error::Core(_))));
        assert!(matches!(run(h.slice(ndarray::s![.., ..2]), &[1, 1]), Err(Error::Core(_))));
        assert!(output.forward(&Parameters::new(), h.view(), &[1, 1]).is_err());
        assert!(TokenNll::new(0, 0).init::<f32>(&mut stream(1, "output", &[])).is_ok());
    }
}
