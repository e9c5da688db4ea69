//! Hierarchical softmax for the set of words of a sentence, with word probabilities along the paths of a binary tree.
//!
//! Equation: `presence-tree`

use ndarray::{Array2, ArrayView2};
use rayon::prelude::*;
use senv_core::{
    Sentences,
    arrays::{Float, Parameters, compiled_here},
    math,
    rng::Stream,
};
use serde::{Deserialize, Serialize};

use crate::{
    dense::{check_shapes, init},
    error::{Result, check_range, check_size},
    multi_label::present_words,
    output_layer::Reduction,
    row_gradients::{RowGradients, Term},
    rows::flat_mut,
};

/// The loss of reconstructing a sentence's set of words from its encoding, for large vocabularies. It uses a
/// hierarchical softmax over a balanced binary tree.
///
/// ```text
/// (F1)  a_i = O_i h + b_i                               i: an inner node of the tree, 1 the root
/// (F2)  P(right at i) = σ(a_i),   p(w) = Π P(turn at i) over the path from the root to w
/// (F3)  ℓ = Σ_{w present} −ln p(w) = Σ_i l_i softplus(a_i) + r_i softplus(−a_i)
///                                                       l_i, r_i: present words to the left and right of i
/// (F4)  L = mean of ℓ over the sentences
/// (B3)  ∂a_i = c (l_i σ(a_i) − r_i σ(−a_i)),   ∂O_i += ∂a_i h,   ∂b_i += ∂a_i,   ∂h += ∂a_i O_i        c: ∂L / n
/// ```
///
/// The tree is balanced. The children of node i are 2i and 2i + 1. The V inner nodes (0 is unused) come first, and word
/// w is the leaf V + w. Paths have a length of about log₂ V, within one. Only the nodes above the words of a batch are
/// used.
///
/// ```
/// use ndarray::array;
/// use senv_core::{Sentences, TokenId, rng::stream};
/// use senv_losses::HierarchicalSoftmax;
/// let output = HierarchicalSoftmax::new(2, 5);
/// let parameters = output.init::<f32>(&mut stream(1, "output", &[]))?;
/// let mut sentences = Sentences::new();
/// sentences.push([4, 0, 4].map(TokenId)); // A repeated word counts once.
/// sentences.push([2].map(TokenId));
/// let hidden = array![[0.5, -1.0], [0.3, 0.2]];
/// let (loss, d_hidden, d_rows) = output.loss_and_gradients(&parameters, hidden.view(), &sentences, 1.0)?;
/// assert!(loss > 0.0 && d_hidden.dim() == (2, 2) && d_rows.rows.len() <= 4);
/// # Ok::<(), senv_losses::Error>(())
/// ```
///
/// # References
/// S. Chandar A. P., S. Lauly et al., An Autoencoder Approach to Learning Bilingual Word Representations, NIPS 2014,
/// section 2.2; F. Morin, Y. Bengio, AISTATS 2005.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HierarchicalSoftmax {
    /// The dimension of an encoding.
    pub dim: usize,
    /// The number of words in the vocabulary.
    pub n_words: usize,
}

/// For an inner node, the number of words of a sentence to its left and right.
struct PathCounts {
    node: u32,
    left: u32,
    right: u32,
}

impl HierarchicalSoftmax {
    /// Creates the softmax for encodings of dimension `dim` and `n_words` words.
    #[must_use]
    pub fn new(dim: usize, n_words: usize) -> Self {
        Self { dim, n_words }
    }

    /// Names and shapes of its tensors, in order. Row 0 is unused, so node i is row i.
    fn shapes(&self) -> [(&'static str, [usize; 2]); 2] {
        [("output.w", [self.n_words, self.dim]), ("output.b", [1, self.n_words])]
    }

    /// Initial parameters: `output.w`, shape `(n_words, dim)`, uniform by Glorot and Bengio, and `output.b`, shape `(1,
    /// n_words)`, 0. Row i belongs to node i; row 0 is unused.
    ///
    /// # Errors
    /// [`senv_core::Error::TooLarge`].
    pub fn init<F: Float>(&self, rng: &mut Stream) -> Result<Parameters<F>> {
        compiled_here!(self, |this: &'a HierarchicalSoftmax, rng: &'a mut Stream| -> Result<Parameters<F>> {
            init(rng, &this.shapes())
        })
    }

    fn check<F: Float>(&self, parameters: &Parameters<F>, hidden: ArrayView2<'_, F>) -> Result<()> {
        // Leaf numbers reach twice the number of words.
        let good = self.n_words <= u32::MAX as usize / 2;
        check_range("words of a tree", "fewer than 2³¹", self.n_words as f64, good)?;
        check_shapes(parameters, &self.shapes())?;
        check_size("hidden state", self.dim, hidden.ncols())
    }

    /// The counts at the nodes above the words of every sentence, sorted by node.
    fn path_counts(&self, present: &Sentences) -> Vec<Vec<PathCounts>> {
        let of = |words: &[senv_core::TokenId]| {
            let path =
                |leaf: u32| std::iter::successors(Some(leaf), |node| Some(node / 2)).take_while(|&node| node > 1);
            let mut steps: Vec<u32> = words.iter().flat_map(|word| path(self.n_words as u32 + word.0)).collect();
            steps.sort_unstable();
            let groups = steps.chunk_by(|a, b| a / 2 == b / 2);
            let path_counts = groups.map(|steps| {
                let right = steps.iter().filter(|&step| step % 2 == 1).count() as u32;
                PathCounts { node: steps[0] / 2, left: steps.len() as u32 - right, right }
            });
            path_counts.collect()
        };
        present.iter().map(of).collect()
    }

    /// The loss of every sentence, for `hidden`, shape `(n, dim)`.
    ///
    /// # Errors
    /// [`senv_core::Error::ShapeMismatch`] if a shape differs;
    /// [`Error::TargetOutOfRange`](crate::Error::TargetOutOfRange) if a token is not in the vocabulary.
    pub fn forward<F: Float>(
        &self,
        parameters: &Parameters<F>,
        hidden: ArrayView2<'_, F>,
        sentences: &Sentences,
    ) -> Result<Vec<f64>> {
        compiled_here!(self, |this: &'a HierarchicalSoftmax,
                              parameters: &'a Parameters<F>,
                              hidden: ArrayView2<'a, F>,
                              sentences: &'a Sentences|
         -> Result<Vec<f64>> {
            this.check(parameters, hidden)?;
            let present = present_words(sentences, hidden.nrows(), this.n_words)?;
            let (_, losses) = this.slopes(parameters, hidden, &this.path_counts(&present));
            Ok(losses)
        })
    }

    /// (B3) without c, for the nodes of every sentence, and (F3).
    fn slopes<F: Float>(
        &self,
        parameters: &Parameters<F>,
        hidden: ArrayView2<'_, F>,
        path_counts: &[Vec<PathCounts>],
    ) -> (Vec<Vec<F>>, Vec<f64>) {
        let hidden = hidden.as_standard_layout();
        let hidden = hidden.as_slice().unwrap_or_default();
        let (w, b) = (parameters[0].values(), parameters[1].values());
        let sentence = |(i, path_counts): (usize, &Vec<PathCounts>)| {
            let h = &hidden[i * self.dim..][..self.dim];
            let mut loss = 0.0;
            let slope = |path_counts: &PathCounts| {
                let node = path_counts.node as usize;
                let a = (F::dot(&w[node * self.dim..][..self.dim], h) + b[node]).wide(); // (F1)
                let (left, right) = (f64::from(path_counts.left), f64::from(path_counts.right));
                loss += left * math::softplus(a) + right * math::softplus(-a); // (F3)
                F::of(left * math::sigmoid(a) - right * math::sigmoid(-a))
            };
            let slopes = path_counts.iter().map(slope).collect();
            (slopes, loss)
        };
        path_counts.par_iter().enumerate().map(sentence).unzip()
    }

    /// The mean loss of the sentences, the gradient of `hidden`, shape `(n, dim)`, and those of the rows of the nodes
    /// above present words, all multiplied by `d_loss`.
    ///
    /// # Errors
    /// The errors of [`forward`](Self::forward); [`Error::EmptyBatch`](crate::Error::EmptyBatch) without sentences.
    pub fn loss_and_gradients<F: Float>(
        &self,
        parameters: &Parameters<F>,
        hidden: ArrayView2<'_, F>,
        sentences: &Sentences,
        d_loss: f64,
    ) -> Result<(f64, Array2<F>, RowGradients<F>)> {
        compiled_here!(self, |this: &'a HierarchicalSoftmax,
                              parameters: &'a Parameters<F>,
                              hidden: ArrayView2<'a, F>,
                              sentences: &'a Sentences,
                              d_loss: f64|
         -> Result<(f64, Array2<F>, RowGradients<F>)> {
            this.check(parameters, hidden)?;
            let present = present_words(sentences, hidden.nrows(), this.n_words)?;
            let factor = Reduction::Mean.factor(hidden.nrows())?;
            let c = F::of(d_loss * factor);
            let path_counts = this.path_counts(&present);
            let (slopes, losses) = this.slopes(parameters, hidden, &path_counts);
            let mut d_hidden = Array2::zeros(hidden.raw_dim());
            let w = parameters[0].values();
            let steps = path_counts.par_iter().zip(&slopes);
            flat_mut(&mut d_hidden).par_chunks_mut(this.dim.max(1)).zip(steps).for_each(
                |(d_h, (path_counts, slopes))| {
                    for (path_counts, &slope) in path_counts.iter().zip(slopes) {
                        F::axpy(c * slope, &w[path_counts.node as usize * this.dim..][..this.dim], d_h); // (B3)
                    }
                },
            );
            let mut terms = Vec::with_capacity(path_counts.iter().map(Vec::len).sum());
            for (i, (path_counts, slopes)) in path_counts.iter().zip(&slopes).enumerate() {
                let term = |(path_counts, &slope): (&PathCounts, &F)| Term {
                    row: path_counts.node,
                    input: i as u32,
                    c: c * slope,
                };
                terms.extend(path_counts.iter().zip(slopes).map(term));
            }
            terms.sort_by_key(|term| term.row); // A stable sort keeps sentences in order within a node.
            let mut nodes: Vec<u32> = terms.iter().map(|term| term.row).collect();
            nodes.dedup();
            let mut gradients = RowGradients::zeros(nodes, this.dim);
            let hidden = hidden.as_standard_layout();
            let h = |i: u32| &hidden.as_slice().unwrap_or_default()[i as usize * this.dim..][..this.dim];
            gradients.add_terms(&terms, h);
            Ok((losses.iter().sum::<f64>() * factor, d_hidden, gradients)) // (F4)
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
    use senv_core::{TokenId, init, rng::stream};

    fn sentences(words: &[&[u32]]) -> Sentences {
        let mut sentences = Sentences::new();
        words.iter().for_each(|words| sentences.push(words.iter().copied().map(TokenId)));
        sentences
    }

    fn parameters<F: Float>(output: &HierarchicalSoftmax) -> Parameters<F> {
        let mut parameters = output.init::<F>(&mut stream(3, "output", &[])).unwrap();
        init::normal(&mut stream(4, "bias", &[]), parameters[1].values_mut(), 0.5).unwrap();
        parameters
    }

    #[test]
    fn gradients_match_central_differences() {
        let h = matrix::<f64>(4, 3, 1);
        let batch = sentences(&[&[6, 0, 3, 6], &[], &[1], &[0, 1, 2, 3, 4, 5, 6]]);
        let output = HierarchicalSoftmax::new(3, 7);
        let p = parameters::<f64>(&output);
        let f =
            |p: &Parameters<f64>, h: View<'_>| 2.5 * output.forward(p, h, &batch).unwrap().iter().sum::<f64>() / 4.0;
        let (loss, d_hidden, rows) = output.loss_and_gradients(&p, h.view(), &batch, 2.5).unwrap();
        assert!((2.5 * loss - f(&p, h.view())).abs() < 1e-12);
        assert!(rows.rows.iter().map(|row| row.0).eq(1..7), "all words are there, so all nodes");
        assert!(worst(|h| f(&p, h), &h, &d_hidden) < 1e-7);
        assert!(worst(|h| f(&p, h), &h, &-d_hidden) > 1.9, "a flipped sign");
        let mut d = p.zeros_like();
        rows.add_to(&mut d, 0).unwrap();
        for place in [0, 1] {
            assert!(worst_parameter(|p| f(p, h.view()), &p, &d, place) < 1e-7, "{place}");
        }
    }

    #[test]
    fn words_share_a_probability_of_one_on_paths_of_one_length_or_two() {
        let h = matrix::<f64>(1, 4, 1);
        for n_words in [1, 2, 3, 8, 13] {
            let output = HierarchicalSoftmax::new(4, n_words);
            let p = parameters::<f64>(&output);
            let mut total = 0.0;
            for word in 0..n_words as u32 {
                let batch = sentences(&[&[word, word]]);
                total += (-output.forward(&p, h.view(), &batch).unwrap()[0]).exp();
                let nodes = output.loss_and_gradients(&p, h.view(), &batch, 1.0).unwrap().2.rows.len() as u32;
                assert!((n_words.ilog2()..=n_words.ilog2() + 1).contains(&nodes), "{n_words} {word} {nodes}");
            }
            assert!((total - 1.0).abs() < 1e-13, "{n_words}: {total}");
        }
    }

    #[test]
    fn a_path_by_hand() {
        // Three words: the root 1 has the node 2 to its left, with leaves 4 and 5, and the leaf 3 to its right.
        let output = HierarchicalSoftmax::new(1, 3);
        let mut p = Parameters::<f64>::new();
        p.push("output.w", [3, 1], vec![9.0, 0.5, -2.0]).unwrap();
        p.push("output.b", [1, 3], vec![9.0, 0.25, 1.0]).unwrap();
        let h = ndarray::array![[3.0]];
        let (root, inner) = (1.75, -5.0);
        for (word, expected) in [
            (0, math::softplus(-root)),
            (1, math::softplus(root) + math::softplus(inner)),
            (2, math::softplus(root) + math::softplus(-inner)),
        ] {
            assert_eq!(output.forward(&p, h.view(), &sentences(&[&[word]])).unwrap(), [expected], "{word}");
        }
    }

    #[test]
    fn threads_give_the_same_bits() {
        let output = HierarchicalSoftmax::new(40, 3001);
        let (h, p) = (matrix::<f32>(70, 40, 1), parameters::<f32>(&output));
        let mut batch = Sentences::new();
        (0..70u32).for_each(|i| batch.push((0..i % 13).map(|j| TokenId(i * j * 17 % 3001))));
        let run = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| output.loss_and_gradients(&p, h.view(), &batch, 1.0).unwrap())
        };
        let one = run(1);
        assert!([2, 5].iter().all(|&threads| run(threads) == one));
    }

    #[test]
    fn bad_batches() {
        let output = HierarchicalSoftmax::new(3, 5);
        let p = output.init::<f32>(&mut stream(1, "output", &[])).unwrap();
        let h = matrix::<f32>(2, 3, 1);
        let run = |n: usize, batch: &Sentences| {
            output.loss_and_gradients(&p, h.slice(ndarray::s![..n, ..]), batch, 1.0).map(|_| ())
        };
        let two = sentences(&[&[1], &[0, 5, 2]]);
        assert!(matches!(run(2, &two), Err(Error::TargetOutOfRange { example: 1, target: 5, n_targets: 5 })));
        assert!(matches!(run(0, &Sentences::new()), Err(Error::EmptyBatch)));
        assert!(matches!(run(2, &sentences(&[&[1]])), Err(Error::Core(_))));
        assert!(output.forward(&Parameters::new(), h.view(), &sentences(&[&[1], &[]])).is_err());
        assert!(output.forward(&p, h.slice(ndarray::s![.., ..2]), &sentences(&[&[1], &[]])).is_err());
    }

    #[test]
    fn a_node_counts_the_words_to_its_left_and_right_once() {
        // Seven words: the leaves 7 to 13. The paths of 7, 8 and 12 are 7; 3 - 8; 4, 2 - 12; 6, 3.
        let batch = sentences(&[&[0, 1, 5], &[], &[4, 5]]);
        let counts = HierarchicalSoftmax::new(3, 7).path_counts(&batch);
        let of = |counts: &[PathCounts]| counts.iter().map(|c| (c.node, c.left, c.right)).collect::<Vec<_>>();
        assert_eq!(of(&counts[0]), [(1, 1, 2), (2, 1, 0), (3, 1, 1), (4, 1, 0), (6, 1, 0)]);
        assert!(counts[1].is_empty());
        // 11 is right of 5, which is right of 2.
        assert_eq!(of(&counts[2]), [(1, 1, 1), (2, 0, 1), (3, 1, 0), (5, 0, 1), (6, 1, 0)]);
    }

    #[test]
    fn the_leaves_of_the_largest_tree_are_numbered_below_two_to_the_32() {
        let error = |n_words| {
            let output = HierarchicalSoftmax::new(3, n_words);
            output
                .forward(&Parameters::<f32>::new(), matrix(1, 3, 1).view(), &sentences(&[&[]]))
                .unwrap_err()
                .to_string()
        };
        let (most, more) = (error((1 << 31) - 1), error(1 << 31));
        assert!(!most.contains("words of a tree") && more.contains("words of a tree"), "{most} - {more}");
    }
}
