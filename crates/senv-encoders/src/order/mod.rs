//! An encoder that reads word order with look-ups: gated skip-bigrams with decay, in both directions.
//!
//! | file | equation | what |
//! | --- | --- | --- |
//! | `words.rs` | `order-word-gradients` | a, b, f and u of the words of a batch, and backward |
//! | `passes.rs` | `order-passes` | the two passes, and their columns |
//! | `nearness.rs` | `order-nearness` | the mean over all orders |
//! | `length.rs` | `order-length-gradients` | direction and length of the part, backward |
//!
//! This module is for training. A trained part encodes with `senv_core::static_model::order`, by look-ups of 8-bit
//! rows.
//!
//! Threads divide the sentences of a batch, and one thread processes each sentence. Gradients of words and of h_0 are
//! added in batch order. So the same batch gives the same bits at any number of threads.

mod length;
mod nearness;
mod passes;
#[cfg(test)]
mod tests;
mod words;

use ndarray::{Array2, ArrayView2, ArrayViewMut2};
use rayon::prelude::*;
use senv_core::{
    Error, Result,
    arrays::{Float, Parameters, TokenBatch},
    init,
    rng::Stream,
    static_model::order::{part_length, part_of},
};
use serde::{Deserialize, Serialize};

use crate::{
    encoder::{Encoder, check_gradients, check_words},
    rows::{AT_A_TIME, add_by_rows, flat, matrix, row, zeros},
};
use passes::{BackwardPass, Pass};
use words::{N_SCALARS, WordRows};

/// M, shape `(n, 3d)`.
const MAPS: usize = 0;
/// S, shape `(n, 3)`.
const SCALARS: usize = 1;
/// s_0, shape `(1, 3)`.
const SCALAR_BIAS: usize = 2;
/// f_0, shape `(1, d)`.
const F_BIAS: usize = 3;
/// u_1, shape `(1, 1)`.
const LENGTH_SLOPE: usize = 4;
/// h_0, shape `(1, d)`.
const FIRST_STATE: usize = 5;

/// The number of parameters, at the indices above. In their shapes, n is the number of features and d of columns.
const N_PARAMETERS: usize = 6;

/// The initial length of the order part.
const FIRST_LENGTH: f64 = 0.5;
/// f_0 is drawn between minus this and this.
const F_BIAS_LIMIT: f64 = 1.5;

/// The order part of a sentence vector, computed from fixed features of its words.
///
/// | what | meaning | shape |
/// | --- | --- | --- |
/// | `words` | features of the distinct words of the batch | `(n_distinct, features)` |
/// | `out` | l q / \|q\|, then l | `(n_sentences, dim + 1)` |
///
/// The first `dim / 2` columns are antisymmetric: they change sign if a sentence is read backward. A sentence without
/// words has the zero vector.
///
/// ```
/// use ndarray::array;
/// use senv_core::{TokenId, arrays::TokenBatch, rng::stream};
/// use senv_encoders::{Encoder, OrderEncoder};
/// let encoder = OrderEncoder { features: 3, dim: 8 };
/// let parameters = encoder.init(&mut stream(1, "order", &[]))?;
/// let mut batch = TokenBatch::new();
/// batch.assign([&[TokenId(0), TokenId(1)][..], &[TokenId(1), TokenId(0)]])?;
/// let words = array![[1.0f64, 0.5, 0.0], [-0.3, 1.0, 0.7]];
/// let (out, _) = encoder.forward(&parameters, &batch, words.view())?;
/// // Before training, the two differ only by order.
/// for j in 0..4 {
///     assert!((out[[0, j]] + out[[1, j]]).abs() < 1e-12);
/// }
/// assert_eq!(out.row(0)[8], out.row(1)[8]);
/// # Ok::<(), senv_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrderEncoder {
    /// The number of features of a word, n; above 0.
    pub features: usize,
    /// The number of columns of the order part, d; above 0.
    pub dim: usize,
}

/// The saved state for the backward pass of [`OrderEncoder`].
#[derive(Debug, Clone)]
pub struct OrderSaved<F> {
    words: WordRows<F>,
    /// The result, shape `(n_sentences, dim + 1)`.
    out: Vec<F>,
    /// |q| for each sentence, and whether λ is within its limits.
    norms: Vec<(F, bool)>,
}

impl OrderEncoder {
    /// The number of trained values: 3nd + 3n + 2d + 4.
    #[must_use]
    pub fn n_values(&self) -> f64 {
        let (n, d) = (self.features as f64, self.dim as f64);
        3.0 * n * d + 3.0 * n + 2.0 * d + 4.0
    }

    /// Names and shapes of its parameters.
    fn forms(&self) -> [(&'static str, [usize; 2]); N_PARAMETERS] {
        let (n, d) = (self.features, self.dim);
        [
            ("order.maps", [n, 3 * d]),
            ("order.scalars", [n, N_SCALARS]),
            ("order.scalar_bias", [1, N_SCALARS]),
            ("order.f_bias", [1, d]),
            ("order.length_bias", [1, 1]),
            ("order.first_state_bias", [1, d]),
        ]
    }

    fn check_sizes(&self) -> Result<()> {
        for (name, size) in [("features", self.features), ("dim", self.dim)] {
            if size == 0 {
                return Err(Error::InvalidParameter { name, requirement: "above 0", got: "0".into() });
            }
        }
        // The maps, and the rows of three parts.
        let fits = self.dim.checked_mul(3).and_then(|width| width.checked_mul(self.features));
        fits.map(|_| ()).ok_or(Error::TooLarge { rows: self.features, dim: self.dim })
    }

    /// Rejects parameters with other names or shapes.
    fn check_parameters<F: Float>(&self, parameters: &Parameters<F>) -> Result<()> {
        self.check_sizes()?;
        let forms = self.forms();
        if parameters.len() != forms.len() {
            let (expected, got) = (forms.len(), parameters.len());
            return Err(Error::ShapeMismatch { what: "tensors of the order part", expected, got });
        }
        for ((_, shape), tensor) in forms.iter().zip(parameters.iter()) {
            for (&expected, got) in shape.iter().zip(tensor.shape()) {
                if expected != got {
                    return Err(Error::ShapeMismatch { what: "side of a tensor of the order part", expected, got });
                }
            }
        }
        Ok(())
    }

    /// Zeros with the names and shapes of its parameters.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] or [`Error::TooLarge`] if a size is invalid.
    pub fn zeros<F: Float>(&self) -> Result<Parameters<F>> {
        self.check_sizes()?;
        let mut parameters = Parameters::new();
        for (name, shape) in self.forms() {
            parameters.push_zeros(name, shape)?;
        }
        Ok(parameters)
    }
}

crate::encoder::encoder_of_passes!(Encoder for OrderEncoder, OrderSaved<F>);

impl crate::encoder::Passes for OrderEncoder {
    type Saved<F: Float> = OrderSaved<F>;

    fn dim(&self) -> usize {
        self.dim + 1
    }

    /// Initializes A and B from N(0, 1), f_0 uniformly between −1.5 and 1.5, u to ln 0.5, and all else to 0.
    fn init<F: Float>(&self, rng: &mut Stream) -> Result<Parameters<F>> {
        let mut parameters = self.zeros()?;
        for row in parameters[MAPS].values_mut().chunks_exact_mut(3 * self.dim) {
            init::normal(rng, &mut row[..2 * self.dim], 1.0)?;
        }
        init::uniform(rng, parameters[F_BIAS].values_mut(), F_BIAS_LIMIT)?;
        parameters[SCALAR_BIAS].values_mut()[2] = F::of(FIRST_LENGTH.ln());
        Ok(parameters)
    }

    fn forward<F: Float>(
        &self,
        parameters: &Parameters<F>,
        batch: &TokenBatch,
        words: ArrayView2<'_, F>,
    ) -> Result<(Array2<F>, OrderSaved<F>)> {
        self.check_parameters(parameters)?;
        check_words(batch, self.features, words)?;
        let (dim, width) = (self.dim, self.dim + 1);
        let rows = self.word_rows(parameters, words)?;
        let (h0, u1) = (parameters[FIRST_STATE].values(), parameters[LENGTH_SLOPE].values()[0]);
        let mut out = zeros(batch.len(), width)?;
        let mut norms = vec![(F::zero(), true); batch.len()];
        let chunks = out.par_chunks_mut(AT_A_TIME * width).zip(norms.par_chunks_mut(AT_A_TIME));
        chunks.enumerate().for_each_init(
            || Pass::new(dim),
            |pass, (chunk, (out, norms))| {
                for (i, (out, norm)) in out.chunks_exact_mut(width).zip(norms).enumerate() {
                    let sentence = batch.sentence(chunk * AT_A_TIME + i);
                    if sentence.is_empty() {
                        continue;
                    }
                    let q = &mut out[..dim];
                    pass.begin(h0, q);
                    let mut sum_u = F::zero();
                    for &word in sentence {
                        pass.word(row(&rows.rows, 3 * dim, word as usize), q);
                        sum_u += rows.scalars[word as usize * N_SCALARS + 2];
                    }
                    pass.end(h0, q);
                    let (l, within) = part_length(sum_u, sentence.len(), u1);
                    *norm = (F::dot(q, q).sqrt(), within);
                    part_of(l, out);
                }
            },
        );
        let result = matrix(batch.len(), width, out.clone())?;
        Ok((result, OrderSaved { words: rows, out, norms }))
    }

    fn backward<F: Float>(
        &self,
        parameters: &Parameters<F>,
        batch: &TokenBatch,
        words: ArrayView2<'_, F>,
        saved: &OrderSaved<F>,
        d_out: ArrayView2<'_, F>,
        d_words: Option<ArrayViewMut2<'_, F>>,
        d_parameters: &mut Parameters<F>,
    ) -> Result<()> {
        self.check_parameters(parameters)?;
        self.check_parameters(d_parameters)?;
        check_words(batch, self.features, words)?;
        let (dim, width) = (self.dim, self.dim + 1);
        // The gradients of out and those of words differ in their number of columns.
        check_gradients(batch, width, d_out, words, d_words.as_ref())?;
        let n_rows = batch.distinct().len();
        if saved.norms.len() != batch.len() || saved.words.rows.len() != n_rows * 3 * dim {
            let (expected, got) = (batch.len(), saved.norms.len());
            return Err(Error::ShapeMismatch { what: "saved state of the order part", expected, got });
        }
        let d_out = d_out.as_standard_layout();
        let through = self.through_passes(parameters, batch, saved, flat(&d_out))?;

        let mut d_rows = zeros(n_rows, 3 * dim)?;
        let mut d_u = vec![F::zero(); n_rows];
        let both = d_rows.par_chunks_mut(AT_A_TIME * 3 * dim).zip(d_u.par_chunks_mut(AT_A_TIME));
        both.enumerate().for_each(|(chunk, (d_rows, d_u))| {
            for (i, (d_row, d_u)) in d_rows.chunks_exact_mut(3 * dim).zip(d_u).enumerate() {
                for place in batch.occurrences(chunk * AT_A_TIME + i) {
                    let sentence = place.sentence as usize;
                    let at = batch.start(sentence) + place.position as usize;
                    F::add_to(row(&through.d_rows, 3 * dim, at), d_row);
                    *d_u += through.of_sentences[sentence].0;
                }
            }
        });
        for d_h0 in through.d_h0.chunks_exact(dim) {
            F::add_to(d_h0, d_parameters[FIRST_STATE].values_mut());
        }
        for (_, d_u1) in &through.of_sentences {
            d_parameters[LENGTH_SLOPE].values_mut()[0] += *d_u1;
        }
        let Some(d_words) = d_words else {
            return self.word_rows_backward(parameters, words, &saved.words, d_rows, &d_u, None, d_parameters);
        };
        let mut result = Ok(());
        let (n, features) = d_words.dim();
        add_by_rows(d_words, |values| {
            let view = ArrayViewMut2::from_shape((n, features), values).ok();
            result = self.word_rows_backward(parameters, words, &saved.words, d_rows, &d_u, view, d_parameters);
        })?;
        result
    }
}

/// Gradients of all words, in place, and of each sentence.
struct Through<F> {
    /// Gradients of a, b and f for every token of the batch.
    d_rows: Vec<F>,
    /// Gradients of h_0, by sentence.
    d_h0: Vec<F>,
    /// Gradients of each word's u, and of u_1, by sentence.
    of_sentences: Vec<(F, F)>,
}

impl OrderEncoder {
    fn through_passes<F: Float>(
        &self,
        parameters: &Parameters<F>,
        batch: &TokenBatch,
        saved: &OrderSaved<F>,
        d_out: &[F],
    ) -> Result<Through<F>> {
        let (dim, width) = (self.dim, self.dim + 1);
        let h0 = parameters[FIRST_STATE].values();
        let mut d_rows = zeros(batch.n_tokens(), 3 * dim)?;
        let mut d_h0 = zeros(batch.len(), dim)?;
        let mut of_sentences = vec![(F::zero(), F::zero()); batch.len()];
        // The rows of each sentence's tokens, split off one after another.
        let mut rest = &mut d_rows[..];
        let mut tokens = Vec::with_capacity(batch.len());
        for i in 0..batch.len() {
            let (own, behind) = rest.split_at_mut(batch.sentence(i).len() * 3 * dim);
            tokens.push(own);
            rest = behind;
        }
        let sentences = tokens.into_par_iter().zip(d_h0.par_chunks_mut(dim)).zip(&mut of_sentences).enumerate();
        sentences.with_min_len(AT_A_TIME / 4).for_each_init(
            || (BackwardPass::new(dim), vec![F::zero(); dim]),
            |(pass, d_q), (i, ((d_rows, d_h0), of_sentence))| {
                let sentence = batch.sentence(i);
                if sentence.is_empty() {
                    return;
                }
                let ((norm, within), out) = (saved.norms[i], row(&saved.out, width, i));
                let (l, d_out) = (out[dim], row(d_out, width, i));
                let d_l = length::part_backward(l, norm, out, d_out, d_q);
                *of_sentence = length::length_backward(l, within, sentence.len(), d_l);
                pass.run(&saved.words.rows, sentence, h0, d_q, d_rows, d_h0);
            },
        );
        Ok(Through { d_rows, d_h0, of_sentences })
    }
}
