//! The adaptive softmax: an exact softmax over a large vocabulary whose rare words are grouped in clusters. The head
//! predicts a frequent word or a cluster; a cluster predicts its words in fewer dimensions.
//!
//! Equation: `adaptive-softmax`

use std::ops::Range;

use ndarray::{Array2, ArrayView2, Axis, s};
use senv_core::{
    arrays::{Float, Parameters, compiled_here, matmul},
    rng::Stream,
};
use serde::{Deserialize, Serialize};

use crate::{
    dense::{add_weight_gradient, check_shapes, init},
    error::{Result, check_range},
    output_layer::{DEFAULT_BLOCK, OutputLayer, Reduction, check_targets},
    rows::{flat, flat_mut},
    softmax_row::softmax_row,
    token_nll::log_softmax,
};

/// The number of tensors of the head, which come before those of the clusters.
const HEAD: usize = 2;

/// The number of tensors per cluster: projection, matrix, bias.
const A_CLUSTER: usize = 3;

/// A softmax in clusters by frequency. Word ids are ranks by frequency, as in every
/// [`Vocabulary`](senv_core::Vocabulary).
///
/// ```text
/// (F1)  p_0 = softmax(O_0 h + o_0)                      frequent words, then a number for every cluster
/// (F2)  z_k = P_k h,   p_k = softmax(O_k z_k + o_k)     cluster k: the words from cutoff k − 1 to cutoff k
/// (F3)  p(w) = p_0(w), or p_0(cluster k) p_k(w)         ℓ = −ln p(y)
/// (B3)  ∂a = c (softmax(a) − 1_y) in the first list, and only in the cluster of y
/// (B2)  ∂z_k = ∂a_k O_k,   ∂P_k = ∂z_kᵀ h,   ∂h += ∂z_k P_k,   ∂O and ∂o as in `output-layer`
/// ```
///
/// ```
/// use ndarray::array;
/// use senv_core::rng::stream;
/// use senv_losses::AdaptiveSoftmax;
/// let output = AdaptiveSoftmax::new(4, 50, &[10, 20])?; // Words 0..10 in the head, clusters 10..20 and 20..50.
/// let parameters = output.init::<f64>(&mut stream(1, "output", &[]))?;
/// let hidden = array![[0.5, -1.0, 0.0, 0.2], [0.3, 0.2, -0.1, 0.4]];
/// let p = output.log_probabilities(&parameters, hidden.view())?.mapv(f64::exp);
/// assert!((p.row(0).sum() - 1.0).abs() < 1e-12);
/// let mut d_parameters = parameters.zeros_like();
/// let (loss, _) = output.loss_and_gradients(&parameters, hidden.view(), &[3, 42], 1.0, &mut d_parameters)?;
/// assert!((loss + (p[(0, 3)].ln() + p[(1, 42)].ln()) / 2.0).abs() < 1e-12);
/// # Ok::<(), senv_losses::Error>(())
/// ```
///
/// # References
/// E. Grave, A. Joulin, M. Cissé, D. Grangier, H. Jégou, Efficient softmax approximation for GPUs, ICML 2017, sections
/// 4.2 and 4.3.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct AdaptiveSoftmax {
    dim: usize,
    /// The end of the head's words and of each cluster; the last is the vocabulary size.
    ends: Vec<usize>,
    factor: usize,
    /// Sum or mean over the tokens; mean by default.
    pub reduction: Reduction,
    /// The number of logits in memory at the same time; at least one row.
    pub block: usize,
}

/// The unchecked contents of a file.
#[derive(Deserialize)]
struct Unchecked {
    dim: usize,
    ends: Vec<usize>,
    factor: usize,
    reduction: Reduction,
    block: usize,
}

impl TryFrom<Unchecked> for AdaptiveSoftmax {
    type Error = crate::Error;

    fn try_from(read: Unchecked) -> Result<Self> {
        let (n_words, cutoffs) = read.ends.split_last().map_or((0, [].as_slice()), |(&last, rest)| (last, rest));
        let output = Self::new(read.dim, n_words, cutoffs)?.with_factor(read.factor)?;
        Ok(Self { reduction: read.reduction, block: read.block, ..output })
    }
}

impl AdaptiveSoftmax {
    /// Creates the softmax for hidden states of size `dim` and `n_words` words. Words below the first of the `cutoffs`
    /// are in the head. Each cluster goes from a cutoff to the next, the last to the end. Cluster k works in dim / 4ᵏ
    /// dimensions, at least one.
    ///
    /// # Errors
    /// [`senv_core::Error::InvalidParameter`] unless cutoffs ascend from 1 or above to below `n_words`.
    pub fn new(dim: usize, n_words: usize, cutoffs: &[usize]) -> Result<Self> {
        let ends: Vec<usize> = cutoffs.iter().copied().chain([n_words]).collect();
        let wrong = (0..ends.len()).find(|&k| ends[k] <= if k == 0 { 0 } else { ends[k - 1] });
        if let Some(k) = wrong {
            check_range("cutoffs", "ascending, above 0 and below the size of the vocabulary", ends[k] as f64, false)?;
        }
        Ok(Self { dim, ends, factor: 4, reduction: Reduction::default(), block: DEFAULT_BLOCK })
    }

    /// Gives cluster k dim / `factor`ᵏ dimensions.
    ///
    /// # Errors
    /// [`senv_core::Error::InvalidParameter`] if `factor` is 0.
    pub(crate) fn with_factor(self, factor: usize) -> Result<Self> {
        check_range("factor", "1 or more", factor as f64, factor >= 1)?;
        Ok(Self { factor, ..self })
    }

    /// The number of words in the vocabulary.
    #[must_use]
    pub fn n_words(&self) -> usize {
        self.ends[self.n_clusters()]
    }

    /// The number of clusters of rare words.
    #[must_use]
    pub(crate) fn n_clusters(&self) -> usize {
        self.ends.len() - 1
    }

    /// The words of cluster `k`, counted from 0.
    fn cluster(&self, k: usize) -> Range<usize> {
        self.ends[k]..self.ends[k + 1]
    }

    /// Names and shapes of its tensors, in order.
    fn shapes(&self) -> Vec<(String, [usize; 2])> {
        let head = self.ends[0] + self.n_clusters();
        let mut shapes = vec![("output.head.w".to_owned(), [head, self.dim]), ("output.head.b".to_owned(), [1, head])];
        let mut inner = self.dim;
        for k in 0..self.n_clusters() {
            inner = (inner / self.factor).max(1);
            let (name, n) = (|part| format!("output.cluster{k}.{part}"), self.cluster(k).len());
            shapes.extend([(name("p"), [inner, self.dim]), (name("w"), [n, inner]), (name("b"), [1, n])]);
        }
        shapes
    }

    fn check(&self, parameters: &Parameters<impl Float>) -> Result<()> {
        let shapes = self.shapes();
        check_shapes(parameters, &shapes.iter().map(|(name, shape)| (name.as_str(), *shape)).collect::<Vec<_>>())
    }

    /// Initial parameters: matrices uniform by Glorot and Bengio, biases 0. The names are `output.head.w` and
    /// `output.head.b`. For every cluster k, `output.cluster{k}.p` (the projection), `output.cluster{k}.w` and
    /// `output.cluster{k}.b` follow.
    ///
    /// # Errors
    /// [`senv_core::Error::InvalidParameter`] if there are no hidden units; [`senv_core::Error::TooLarge`].
    pub fn init<F: Float>(&self, rng: &mut Stream) -> Result<Parameters<F>> {
        compiled_here!(self, |this: &'a AdaptiveSoftmax, rng: &'a mut Stream| -> Result<Parameters<F>> {
            check_range("hidden units", "1 or more", this.dim as f64, this.dim >= 1)?;
            let shapes = this.shapes();
            init(rng, &shapes.iter().map(|(name, shape)| (name.as_str(), *shape)).collect::<Vec<_>>())
        })
    }

    /// The target of the head: the word, or the index of its cluster.
    fn head_targets(&self, targets: &[u32]) -> Vec<usize> {
        let clusters = |target: usize| self.ends.partition_point(|&end| end <= target);
        let target = |&target: &u32| match clusters(target as usize) {
            0 => target as usize,
            k => self.ends[0] + k - 1,
        };
        targets.iter().map(target).collect()
    }

    /// The tokens with a target in cluster `k`, and their targets relative to its first word.
    fn members(&self, k: usize, targets: &[u32]) -> (Vec<usize>, Vec<usize>) {
        let words = self.cluster(k);
        let members = targets.iter().map(|&target| target as usize).enumerate();
        members.filter(|(_, target)| words.contains(target)).map(|(i, target)| (i, target - words.start)).unzip()
    }

    /// The layer of cluster `k`, and the projection before it.
    fn tail<'a, F: Float>(
        &self,
        parameters: &'a Parameters<F>,
        k: usize,
    ) -> (OutputLayer<'a, F>, &'a senv_core::arrays::Tensor<F>) {
        let place = HEAD + A_CLUSTER * k;
        (OutputLayer::new(parameters, place + 1, self.block), &parameters[place])
    }

    /// The negative log-likelihood ℓ of every token in nats, for `hidden`, shape `(n, dim)`.
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
        compiled_here!(self, |this: &'a AdaptiveSoftmax,
                              parameters: &'a Parameters<F>,
                              hidden: ArrayView2<'a, F>,
                              targets: &'a [u32]|
         -> Result<Vec<f64>> {
            this.check(parameters)?;
            check_targets(targets, hidden.nrows(), this.n_words())?;
            let head = this.head_targets(targets);
            let row = |i: usize, logits: &mut [F]| softmax_row(logits, head[i], &[], 1.0);
            let mut losses = OutputLayer::new(parameters, 0, this.block).losses(hidden, row)?; // (F1)
            for k in 0..this.n_clusters() {
                let (members, targets) = this.members(k, targets);
                let (layer, p) = this.tail(parameters, k);
                let z = matmul(hidden.select(Axis(0), &members).view(), p.view().t())?; // (F2)
                let row = |i: usize, logits: &mut [F]| softmax_row(logits, targets[i], &[], 1.0);
                let tail = layer.losses(z.view(), row)?;
                members.iter().zip(tail).for_each(|(&i, loss)| losses[i] += loss); // (F3)
            }
            Ok(losses)
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
        compiled_here!(self, |this: &'a AdaptiveSoftmax,
                              parameters: &'a Parameters<F>,
                              hidden: ArrayView2<'a, F>,
                              targets: &'a [u32],
                              d_loss: f64,
                              d_parameters: &'a mut Parameters<F>|
         -> Result<(f64, Array2<F>)> {
            this.check(parameters)?;
            this.check(d_parameters)?;
            check_targets(targets, hidden.nrows(), this.n_words())?;
            let factor = this.reduction.factor(hidden.nrows())?;
            let c = d_loss * factor;
            let head = this.head_targets(targets);
            let row = |i: usize, logits: &mut [F]| softmax_row(logits, head[i], &[], c); // (F1), (B3)
            let layer = OutputLayer::new(parameters, 0, this.block);
            let (mut sum, mut d_hidden) = layer.loss_and_gradients(hidden, row, d_parameters)?;
            for k in 0..this.n_clusters() {
                let (members, targets) = this.members(k, targets);
                if members.is_empty() {
                    continue;
                }
                let (layer, p) = this.tail(parameters, k);
                let h = hidden.select(Axis(0), &members);
                let z = matmul(h.view(), p.view().t())?; // (F2)
                let row = |i: usize, logits: &mut [F]| softmax_row(logits, targets[i], &[], c); // (B3)
                let (tail, d_z) = layer.loss_and_gradients(z.view(), row, d_parameters)?;
                sum += tail;
                add_weight_gradient(d_z.view(), h.view(), d_parameters, HEAD + A_CLUSTER * k)?; // (B2)
                let d_h = matmul(d_z.view(), p.view())?;
                let (dim, d_hidden) = (this.dim, flat_mut(&mut d_hidden));
                members
                    .iter()
                    .zip(flat(&d_h).chunks_exact(dim))
                    .for_each(|(&i, d)| F::add_to(d, &mut d_hidden[i * dim..][..dim]));
            }
            Ok((sum * factor, d_hidden))
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
        compiled_here!(self, |this: &'a AdaptiveSoftmax,
                              parameters: &'a Parameters<F>,
                              hidden: ArrayView2<'a, F>|
         -> Result<Array2<F>> {
            this.check(parameters)?;
            let head = OutputLayer::new(parameters, 0, this.block).map(hidden, log_softmax)?;
            let frequent = this.ends[0];
            let mut out = Array2::zeros((hidden.nrows(), this.n_words()));
            out.slice_mut(s![.., ..frequent]).assign(&head.slice(s![.., ..frequent]));
            for k in 0..this.n_clusters() {
                let (layer, p) = this.tail(parameters, k);
                let tail = layer.map(matmul(hidden, p.view().t())?.view(), log_softmax)?;
                let mut words = out.slice_mut(s![.., this.cluster(k)]);
                words.assign(&(&tail + &head.slice(s![.., frequent + k..=frequent + k]))); // (F3)
            }
            Ok(out)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Error,
        testing::{View, matrix, worst, worst_parameter},
    };
    use senv_core::{init, rng::stream};

    fn parameters<F: Float>(output: &AdaptiveSoftmax) -> Parameters<F> {
        let mut parameters = output.init::<F>(&mut stream(3, "output", &[])).unwrap();
        for place in (0..parameters.len()).filter(|&place| place == 1 || (place > 1 && place % 3 == 1)) {
            assert!(parameters[place].name().ends_with('b'));
            init::normal(&mut stream(4, "bias", &[place as u64]), parameters[place].values_mut(), 0.5).unwrap();
        }
        parameters
    }

    #[test]
    fn gradients_match_central_differences() {
        let h = matrix::<f64>(6, 8, 1);
        let targets = [6, 0, 3, 11, 3, 5];
        for (reduction, block) in [(Reduction::Sum, 1), (Reduction::Mean, 1000)] {
            let output = AdaptiveSoftmax::new(8, 12, &[3, 7]).unwrap().with_factor(2).unwrap();
            let output = AdaptiveSoftmax { reduction, block, ..output };
            let p = parameters::<f64>(&output);
            let f = |p: &Parameters<f64>, h: View<'_>| {
                let each = output.forward(p, h, &targets).unwrap();
                2.5 * each.iter().sum::<f64>() * reduction.factor(6).unwrap()
            };
            let mut d = p.zeros_like();
            let mut run = || output.loss_and_gradients(&p, h.view(), &targets, 2.5, &mut d).unwrap();
            let (loss, d_hidden) = run();
            run(); // Parameter gradients accumulate: two calls give twice as much.
            assert!((2.5 * loss - f(&p, h.view())).abs() < 1e-12);
            assert!(worst(|h| f(&p, h), &h, &d_hidden) < 1e-7, "{reduction:?}");
            assert!(worst(|h| f(&p, h), &h, &-d_hidden) > 1.9, "a flipped sign");
            for place in 0..p.len() {
                assert!(worst_parameter(|p| 2.0 * f(p, h.view()), &p, &d, place) < 1e-7, "{}", p[place].name());
            }
        }
    }

    #[test]
    fn probabilities_are_those_of_the_loss_and_sum_to_one() {
        for cutoffs in [[].as_slice(), &[1], &[4, 5, 11]] {
            let output = AdaptiveSoftmax::new(8, 12, cutoffs).unwrap();
            let p = parameters::<f64>(&output);
            let h = matrix::<f64>(3, 8, 2);
            let log_p = output.log_probabilities(&p, h.view()).unwrap();
            assert!(log_p.rows().into_iter().all(|row| (row.mapv(f64::exp).sum() - 1.0).abs() < 1e-13));
            for target in 0..12 {
                let each = output.forward(&p, h.view(), &[target; 3]).unwrap();
                assert!((0..3).all(|i| (log_p[(i, target as usize)] + each[i]).abs() < 1e-13), "{target}");
            }
        }
    }

    #[test]
    fn without_clusters_it_is_the_full_softmax() {
        let output = AdaptiveSoftmax::new(4, 9, &[]).unwrap();
        let p = parameters::<f64>(&output);
        let (h, targets) = (matrix::<f64>(3, 4, 2), [8, 0, 8]);
        let (mut d, mut d_full) = (p.zeros_like(), p.zeros_like());
        let got = output.loss_and_gradients(&p, h.view(), &targets, 1.0, &mut d).unwrap();
        let full = crate::TokenNll::new(4, 9).loss_and_gradients(&p, h.view(), &targets, 1.0, &mut d_full).unwrap();
        assert!(got == full && d == d_full);
    }

    #[test]
    fn threads_give_the_same_bits() {
        let output = AdaptiveSoftmax { block: 20_000, ..AdaptiveSoftmax::new(64, 5000, &[500, 2000]).unwrap() };
        let (h, p) = (matrix::<f32>(200, 64, 1), parameters::<f32>(&output));
        let targets: Vec<u32> = (0..200u32).map(|i| i * i * 7 % 5000).collect();
        let run = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let mut d = p.zeros_like();
            let got = pool.install(|| output.loss_and_gradients(&p, h.view(), &targets, 1.0, &mut d).unwrap());
            (got, d)
        };
        let one = run(1);
        assert!([2, 5].iter().all(|&threads| run(threads) == one));
    }

    #[test]
    fn cutoffs_and_batches_that_cannot_be() {
        for cutoffs in [[].as_slice(), &[0], &[3, 3], &[4, 3], &[9], &[3, 10]] {
            let n_words = if cutoffs.is_empty() { 0 } else { 9 };
            assert!(AdaptiveSoftmax::new(4, n_words, cutoffs).is_err(), "{cutoffs:?}");
        }
        let output = AdaptiveSoftmax::new(4, 9, &[2, 5]).unwrap();
        assert!((output.n_words(), output.n_clusters()) == (9, 2) && output.clone().with_factor(0).is_err());
        let text = serde_json::to_string(&output).unwrap();
        assert_eq!(serde_json::from_str::<AdaptiveSoftmax>(&text).unwrap(), output);
        for bad in [
            text.replace("[2,5,9]", "[]"),
            text.replace("[2,5,9]", "[5,2,9]"),
            text.replace("\"factor\":4", "\"factor\":0"),
        ] {
            assert!(bad != text && serde_json::from_str::<AdaptiveSoftmax>(&bad).is_err(), "{bad}");
        }
        let p = parameters::<f32>(&output);
        let mut d = p.zeros_like();
        let h = matrix::<f32>(2, 4, 1);
        let mut run = |n: usize, targets: &[u32]| {
            output.loss_and_gradients(&p, h.slice(s![..n, ..]), targets, 1.0, &mut d).map(|_| ())
        };
        assert!(matches!(run(2, &[1, 9]), Err(Error::TargetOutOfRange { target: 9, .. })));
        assert!(matches!(run(0, &[]), Err(Error::EmptyBatch)));
        assert!(matches!(run(2, &[1]), Err(Error::Core(_))));
        assert!(output.forward(&Parameters::new(), h.view(), &[1, 1]).is_err());
        assert!(AdaptiveSoftmax::new(0, 9, &[2]).unwrap().init::<f32>(&mut stream(1, "output", &[])).is_err());
    }

    #[test]
    fn clusters_work_in_ever_fewer_dimensions_one_at_least() {
        let projections = |output: AdaptiveSoftmax| -> Vec<[usize; 2]> {
            let parameters = output.init::<f32>(&mut stream(1, "output", &[])).unwrap();
            parameters.iter().filter(|tensor| tensor.name().ends_with('p')).map(|tensor| tensor.shape()).collect()
        };
        let output = AdaptiveSoftmax::new(33, 90, &[10, 30, 60]).unwrap();
        assert_eq!(projections(output.clone()), [[8, 33], [2, 33], [1, 33]], "divided by 4 each, rounded down");
        assert_eq!(projections(output.with_factor(2).unwrap()), [[16, 33], [8, 33], [4, 33]]);
    }

    #[test]
    fn every_field_is_read_back() {
        let output = AdaptiveSoftmax::new(4, 9, &[2, 5]).unwrap().with_factor(3).unwrap();
        let output = AdaptiveSoftmax { reduction: Reduction::Sum, block: 77, ..output };
        let text = serde_json::to_string(&output).unwrap();
        assert_eq!(serde_json::from_str::<AdaptiveSoftmax>(&text).unwrap(), output);
    }
}
