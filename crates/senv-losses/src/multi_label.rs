//! Multi-label binary cross-entropy over the vocabulary: for every word, whether the sentence contains it. This is the
//! loss of a bag-of-words autoencoder.
//!
//! Equation: `presence-loss`

use ndarray::{Array2, ArrayView2};
use senv_core::{
    Sentences, TokenId,
    arrays::{Float, Parameters, compiled_here},
    rng::Stream,
};
use serde::{Deserialize, Serialize};

use crate::{
    dense::{check_shapes, init},
    error::{Error, Result, check_size},
    output_layer::{DEFAULT_BLOCK, OutputLayer, Reduction},
};

/// The loss of reconstructing a sentence's set of words from its encoding, over the whole vocabulary.
///
/// ```text
/// (F1)  a = O h + b                                     `output-layer`, a row for every sentence
/// (F2)  L = mean over sentences of Σ_w softplus(a_w) − Σ_{w present} a_w
/// (B2)  ∂a_w = c (σ(a_w) − 1 if w is present)           c: ∂L / n
/// ```
///
/// Softplus and σ share one exponential e = e^−|a|. ln(1 + e) is computed from products of many 1 + e, each between 1
/// and 2.
///
/// ```
/// use ndarray::array;
/// use senv_core::{Sentences, TokenId, rng::stream};
/// use senv_losses::MultiLabelLoss;
/// let output = MultiLabelLoss::new(2, 5);
/// let parameters = output.init::<f32>(&mut stream(1, "output", &[]))?;
/// let mut sentences = Sentences::new();
/// sentences.push([4, 0, 4].map(TokenId)); // A repeated word counts once.
/// sentences.push([2].map(TokenId));
/// let hidden = array![[0.5, -1.0], [0.3, 0.2]];
/// let mut d_parameters = parameters.zeros_like();
/// let (loss, d_hidden) = output.loss_and_gradients(&parameters, hidden.view(), &sentences, 1.0, &mut d_parameters)?;
/// assert!(loss > 0.0 && d_hidden.dim() == (2, 2));
/// # Ok::<(), senv_losses::Error>(())
/// ```
///
/// # References
/// S. Chandar A. P., S. Lauly et al., An Autoencoder Approach to Learning Bilingual Word Representations, NIPS 2014,
/// section 2.1.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MultiLabelLoss {
    /// The dimension of an encoding.
    pub dim: usize,
    /// The number of words in the vocabulary.
    pub n_words: usize,
    /// The number of logits in memory at the same time; at least one row.
    pub block: usize,
}

impl MultiLabelLoss {
    /// The defaults for encodings of dimension `dim` and `n_words` words.
    #[must_use]
    pub fn new(dim: usize, n_words: usize) -> Self {
        Self { dim, n_words, block: DEFAULT_BLOCK }
    }

    /// Names and shapes of its tensors, in order.
    fn shapes(&self) -> [(&'static str, [usize; 2]); 2] {
        [("output.w", [self.n_words, self.dim]), ("output.b", [1, self.n_words])]
    }

    /// Initial parameters: `output.w`, shape `(n_words, dim)`, uniform by Glorot and Bengio, and
    /// `output.b`, shape `(1, n_words)`, 0.
    ///
    /// # Errors
    /// [`senv_core::Error::TooLarge`].
    pub fn init<F: Float>(&self, rng: &mut Stream) -> Result<Parameters<F>> {
        compiled_here!(self, |this: &'a MultiLabelLoss, rng: &'a mut Stream| -> Result<Parameters<F>> {
            init(rng, &this.shapes())
        })
    }

    /// The loss of every sentence, for `hidden`, shape `(n, dim)`.
    ///
    /// # Errors
    /// [`senv_core::Error::ShapeMismatch`] if a shape differs; [`Error::TargetOutOfRange`] if a token is not in the
    /// vocabulary.
    pub fn forward<F: Float>(
        &self,
        parameters: &Parameters<F>,
        hidden: ArrayView2<'_, F>,
        sentences: &Sentences,
    ) -> Result<Vec<f64>> {
        compiled_here!(self, |this: &'a MultiLabelLoss,
                              parameters: &'a Parameters<F>,
                              hidden: ArrayView2<'a, F>,
                              sentences: &'a Sentences|
         -> Result<Vec<f64>> {
            check_shapes(parameters, &this.shapes())?;
            let present = present_words(sentences, hidden.nrows(), this.n_words)?;
            let row = |i: usize, logits: &mut [F]| presence_row(logits, present.get(i), 1.0);
            OutputLayer::new(parameters, 0, this.block).losses(hidden, row)
        })
    }

    /// The mean loss of the sentences and the gradient of `hidden`, shape `(n, dim)`, in one pass. Gradients are
    /// multiplied by `d_loss`; those of the parameters are added to `d_parameters`.
    ///
    /// # Errors
    /// The errors of [`forward`](Self::forward); [`Error::EmptyBatch`] without sentences.
    pub fn loss_and_gradients<F: Float>(
        &self,
        parameters: &Parameters<F>,
        hidden: ArrayView2<'_, F>,
        sentences: &Sentences,
        d_loss: f64,
        d_parameters: &mut Parameters<F>,
    ) -> Result<(f64, Array2<F>)> {
        compiled_here!(self, |this: &'a MultiLabelLoss,
                              parameters: &'a Parameters<F>,
                              hidden: ArrayView2<'a, F>,
                              sentences: &'a Sentences,
                              d_loss: f64,
                              d_parameters: &'a mut Parameters<F>|
         -> Result<(f64, Array2<F>)> {
            check_shapes(parameters, &this.shapes())?;
            check_shapes(d_parameters, &this.shapes())?;
            let present = present_words(sentences, hidden.nrows(), this.n_words)?;
            let factor = Reduction::Mean.factor(hidden.nrows())?;
            let c = d_loss * factor;
            let row = |i: usize, logits: &mut [F]| presence_row(logits, present.get(i), c);
            let layer = OutputLayer::new(parameters, 0, this.block);
            let (sum, d_hidden) = layer.loss_and_gradients(hidden, row, d_parameters)?;
            Ok((sum * factor, d_hidden))
        })
    }
}

/// The distinct words of every sentence, ascending; an error unless there are `n` sentences with words below `n_words`.
pub(crate) fn present_words(sentences: &Sentences, n: usize, n_words: usize) -> Result<Sentences> {
    check_size("sentences of a batch", n, sentences.len())?;
    let mut present = Sentences::new();
    let mut words = Vec::new();
    for (example, sentence) in sentences.iter().enumerate() {
        words.clear();
        words.extend_from_slice(sentence);
        words.sort_unstable();
        words.dedup();
        if let Some(&TokenId(target)) = words.last().filter(|word| word.index() >= n_words) {
            return Err(Error::TargetOutOfRange { example, target, n_targets: n_words });
        }
        present.push(words.iter().copied());
    }
    Ok(present)
}

/// Values whose exponentials are computed together.
const CHUNK: usize = 256;

/// Products computed in parallel; each has `CHUNK / LANES` factors of at most 2.
const LANES: usize = 16;

/// Replaces logits by c (σ − 1 for `present` words) and returns (F2) of the row.
fn presence_row<F: Float>(logits: &mut [F], present: &[TokenId], c: f64) -> f64 {
    let positive: f64 = present.iter().map(|word| logits[word.index()].wide()).sum();
    let (mut total, c) = (0.0, F::of(c));
    let mut e = [F::zero(); CHUNK];
    for logits in logits.chunks_mut(CHUNK) {
        let e = &mut e[..logits.len()];
        e.iter_mut().zip(&*logits).for_each(|(e, &a)| *e = -a.abs());
        F::exp_in_place(e);
        let (mut products, mut sums) = ([1.0f64; LANES], [F::zero(); LANES]);
        for (logits, e) in logits.chunks_mut(LANES).zip(e.chunks(LANES)) {
            for (((a, &e), product), sum) in logits.iter_mut().zip(e).zip(&mut products).zip(&mut sums) {
                *product *= 1.0 + e.wide();
                let upper = c / (F::one() + e);
                let below = *a < F::zero();
                *sum += if below { F::zero() } else { *a };
                *a = if below { e * upper } else { upper };
            }
        }
        total += sums.iter().map(|sum| sum.wide()).sum::<f64>() + products.iter().product::<f64>().ln();
    }
    present.iter().for_each(|word| logits[word.index()] -= c);
    total - positive
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{View, matrix, worst, worst_parameter};
    use senv_core::{init, math, rng::stream};

    fn sentences(words: &[&[u32]]) -> Sentences {
        let mut sentences = Sentences::new();
        words.iter().for_each(|words| sentences.push(words.iter().copied().map(TokenId)));
        sentences
    }

    fn parameters<F: Float>(output: &MultiLabelLoss) -> Parameters<F> {
        let mut parameters = output.init::<F>(&mut stream(3, "output", &[])).unwrap();
        init::normal(&mut stream(4, "bias", &[]), parameters[1].values_mut(), 0.5).unwrap();
        parameters
    }

    #[test]
    fn gradients_match_central_differences() {
        let h = matrix::<f64>(4, 3, 1);
        let batch = sentences(&[&[6, 0, 3, 6], &[], &[1], &[0, 1, 2, 3, 4, 5, 6]]);
        for block in [1, 14, 1000] {
            let output = MultiLabelLoss { block, ..MultiLabelLoss::new(3, 7) };
            let p = parameters::<f64>(&output);
            let f = |p: &Parameters<f64>, h: View<'_>| {
                2.5 * output.forward(p, h, &batch).unwrap().iter().sum::<f64>() / 4.0
            };
            let mut d = p.zeros_like();
            let mut run = || output.loss_and_gradients(&p, h.view(), &batch, 2.5, &mut d).unwrap();
            let (loss, d_hidden) = run();
            run(); // Parameter gradients accumulate: two calls give twice as much.
            assert!((2.5 * loss - f(&p, h.view())).abs() < 1e-12);
            assert!(worst(|h| f(&p, h), &h, &d_hidden) < 1e-7, "{block}");
            assert!(worst(|h| f(&p, h), &h, &-d_hidden) > 1.9, "a flipped sign");
            for place in [0, 1] {
                assert!(worst_parameter(|p| 2.0 * f(p, h.view()), &p, &d, place) < 1e-7, "{block} {place}");
            }
        }
    }

    #[test]
    fn a_row_is_its_softplus_and_logistic() {
        for n in [1, 15, 256, 700] {
            let x: Vec<f64> = matrix::<f64>(1, n, n as u64).iter().map(|x| 20.0 * x).collect();
            let present = [TokenId(0), TokenId(n as u32 - 1)];
            let present = if n == 1 { &present[..1] } else { &present };
            let here = |j: usize| present.contains(&TokenId(j as u32));
            let expected: f64 =
                x.iter().enumerate().map(|(j, &a)| math::softplus(a) - if here(j) { a } else { 0.0 }).sum();
            let mut got = x.clone();
            let loss = presence_row(&mut got, present, 3.0);
            assert!((loss - expected).abs() < 1e-10 * expected.abs().max(1.0), "{n}: {loss} {expected}");
            let slope = |j: usize| 3.0 * (math::sigmoid(x[j]) - if here(j) { 1.0 } else { 0.0 });
            assert!((0..n).all(|j| (got[j] - slope(j)).abs() < 1e-14), "{n}");
        }
    }

    #[test]
    fn both_ends_are_finite_and_nan_is_passed_on() {
        let mut logits = [1e4f32, -1e4, 1e4, -1e4];
        assert_eq!(presence_row(&mut logits, &[TokenId(2), TokenId(3)], 1.0), 2e4);
        assert_eq!(logits, [1.0, 0.0, 0.0, -1.0]);
        for place in 0..3 {
            let mut logits = [0.0f32; 3];
            logits[place] = f32::NAN;
            assert!(presence_row(&mut logits, &[], 1.0).is_nan());
            assert!(logits[place].is_nan());
        }
    }

    #[test]
    fn threads_give_the_same_bits() {
        let output = MultiLabelLoss { block: 20_000, ..MultiLabelLoss::new(40, 3001) };
        let (h, p) = (matrix::<f32>(70, 40, 1), parameters::<f32>(&output));
        let mut batch = Sentences::new();
        (0..70u32).for_each(|i| batch.push((0..i % 13).map(|j| TokenId(i * j * 17 % 3001))));
        let run = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let mut d = p.zeros_like();
            let got = pool.install(|| output.loss_and_gradients(&p, h.view(), &batch, 1.0, &mut d).unwrap());
            (got, d)
        };
        let one = run(1);
        assert!([2, 5].iter().all(|&threads| run(threads) == one));
    }

    #[test]
    fn bad_batches() {
        let output = MultiLabelLoss::new(3, 5);
        let p = output.init::<f32>(&mut stream(1, "output", &[])).unwrap();
        let mut d = p.zeros_like();
        let h = matrix::<f32>(2, 3, 1);
        let mut run = |n: usize, batch: &Sentences| {
            output.loss_and_gradients(&p, h.slice(ndarray::s![..n, ..]), batch, 1.0, &mut d).map(|_| ())
        };
        assert!(matches!(
            run(2, &sentences(&[&[1], &[0, 5, 2]])),
            Err(Error::TargetOutOfRange { example: 1, target: 5, n_targets: 5 })
        ));
        assert!(matches!(run(0, &Sentences::new()), Err(Error::EmptyBatch)));
        assert!(matches!(run(2, &sentences(&[&[1]])), Err(Error::Core(_))));
        assert!(output.forward(&Parameters::new(), h.view(), &sentences(&[&[1], &[]])).is_err());
    }
}
