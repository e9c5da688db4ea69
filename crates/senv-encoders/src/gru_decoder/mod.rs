//! Recurrent decoders: from a sentence vector to the hidden states that predict words.
//!
//! Equation: `gru-decoder`
//!
//! ```text
//! (F1)  a = V Cᵀ                 context matrices: added to r, z and n at every step, first state 0; V: sentence vectors
//!       h_0 = v                  initial state
//! (F2)  h_t = cell(e_{t−1}, h_{t−1}, a)     e: word vectors of the targets, e_0: zero or that of a start token
//! (B1)  ∂C += ∂aᵀ V    ∂V += ∂a C;    initial state: ∂v += ∂h_0
//! ```
//!
//! Word t is predicted from h_t (`token-nll` and others compute a loss from states). (F2) is `gru`.

mod session;
#[cfg(test)]
mod tests;

use ndarray::{Array2, ArrayView1, ArrayView2, ArrayViewMut2};
use rayon::prelude::*;
use senv_core::{
    Error, Result, TokenId,
    arrays::{Float, Parameters, TokenBatch, matmul, matmul_into},
    hyperparameters::named_values,
    rng::Stream,
};
use serde::{Deserialize, Serialize};

pub use session::DecoderSession;

use crate::{
    encoder::{check_size, check_words},
    gru::{Activations, Cell, GruInit, GruStyle},
    recurrent::{CellInput, RecurrentCell, Steps, Upstream, view},
    rows::{flat, matrix, row, zeros},
};

/// How a decoder is conditioned on a sentence vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Conditioning {
    /// The sentence vector is the initial state, so it has the hidden size. The code of Skip-thoughts, P-thought.
    #[default]
    InitialState,
    /// It is added to both gates and to the candidate at every step, each through a matrix. The Skip-thought paper.
    ContextMatrices,
}

named_values!(Conditioning {
    InitialState = "initial-state": "It is the first state, as in the release",
    ContextMatrices = "context-matrices": "It acts on every step through matrices, as in the paper",
});

/// The input of a decoder before the first word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FirstInput {
    /// A zero vector. Skip-thoughts.
    #[default]
    Zero,
    /// The vector of a token, which must be among those of every batch: the end token, the last one of every target, in
    /// P-thought.
    Token(TokenId),
}

/// A recurrent decoder, trained by teacher forcing.
///
/// Parameters; the rows of each stack the blocks of r, z and n, `hidden` rows each:
///
/// | name | shape |
/// | --- | --- |
/// | `decoder.input` | `(3 hidden, word_dim)` |
/// | `decoder.recurrent` | `(3 hidden, hidden)` |
/// | `decoder.bias` | `(1, 3 hidden)` |
/// | `decoder.recurrent_bias` | `(1, 3 hidden)`, only in the variant [`GruStyle::Torch`] |
/// | `decoder.context` | `(3 hidden, vector_dim)`, only with context matrices |
///
/// A batch holds the targets, end tokens included. Row `batch.start(i) + t` of the hidden states predicts word `t` of
/// target `i`: the order of [`GruDecoder::targets`]. Memory is that of a unidirectional
/// [`GruEncoder`](crate::GruEncoder) of one layer, and `hidden` values more for each word.
///
/// ```
/// use ndarray::array;
/// use senv_core::{TokenId, arrays::TokenBatch, rng::stream};
/// use senv_encoders::{Conditioning, FirstInput, GruDecoder, GruInit, GruStyle};
/// let decoder = GruDecoder::new(2, 3, 3, Conditioning::InitialState, FirstInput::Zero, GruStyle::Release, GruInit::Orthogonal)?;
/// let parameters = decoder.init::<f64>(&mut stream(1, "decoder", &[]))?;
/// let mut targets = TokenBatch::new();
/// targets.assign([&[TokenId(5), TokenId(0)][..], &[TokenId(0)]])?; // 0 ends a sentence.
/// let words = array![[0.3, -0.2], [0.1, 0.9]];
/// let vectors = array![[0.5, -0.5, 0.1], [0.0, 0.2, 0.4]];
/// let (hidden, _) = decoder.forward(&parameters, &targets, words.view(), vectors.view())?;
/// assert_eq!(hidden.dim(), (3, 3));
/// assert_eq!(GruDecoder::targets(&targets), [5, 0, 0]);
/// # Ok::<(), senv_core::Error>(())
/// ```
///
/// # References
/// R. Kiros et al., Skip-Thought Vectors, NIPS 2015, section 2.1, "Decoder"; K. Cho et al., EMNLP 2014, appendix A.
#[derive(Debug, Clone, PartialEq)]
pub struct GruDecoder {
    cell: Cell,
    vector_dim: usize,
    conditioning: Conditioning,
    first: FirstInput,
    start: GruInit,
}

/// The saved state for the backward pass of [`GruDecoder`]: gates and states of all words.
#[derive(Debug, Clone)]
pub struct DecoderSaved<F> {
    steps: Steps,
    inputs: Vec<u32>,
    run: Activations<F>,
    /// Initial states in sorted order, or what the context adds.
    given: Vec<F>,
}

impl GruDecoder {
    /// A decoder of hidden size `hidden`, for word vectors of dimension `word_dim` and sentence vectors of
    /// `vector_dim`.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] unless all three are above 0; [`Error::ShapeMismatch`] if sentence vectors are
    /// initial states but have not the hidden size; [`Error::TooLarge`] if the parameters do not fit into memory.
    pub fn new(
        word_dim: usize,
        hidden: usize,
        vector_dim: usize,
        conditioning: Conditioning,
        first: FirstInput,
        style: GruStyle,
        start: GruInit,
    ) -> Result<Self> {
        if vector_dim == 0 {
            let name = "sentence dimension";
            return Err(Error::InvalidParameter { name, requirement: "above 0", got: "0".into() });
        }
        let context = match conditioning {
            Conditioning::InitialState => {
                check_size("sentence vector that is the first state of a decoder", hidden, vector_dim)?;
                0
            }
            Conditioning::ContextMatrices => vector_dim,
        };
        let cell = Cell { input: word_dim, hidden, context, style };
        cell.check()?;
        Ok(Self { cell, vector_dim, conditioning, first, start })
    }

    /// The word dimension.
    #[must_use]
    pub fn word_dim(&self) -> usize {
        self.cell.input
    }

    /// The hidden size.
    #[must_use]
    pub fn hidden(&self) -> usize {
        self.cell.hidden
    }

    /// The sentence dimension.
    #[must_use]
    pub fn vector_dim(&self) -> usize {
        self.vector_dim
    }

    /// How the decoder is conditioned on the sentence vector.
    #[must_use]
    pub fn conditioning(&self) -> Conditioning {
        self.conditioning
    }

    /// The input before the first word.
    #[must_use]
    pub fn first_input(&self) -> FirstInput {
        self.first
    }

    /// The parameters before training.
    ///
    /// # Errors
    /// [`Error::TooLarge`] if they do not fit into memory.
    pub fn init<F: Float>(&self, rng: &mut Stream) -> Result<Parameters<F>> {
        let mut parameters = Parameters::new();
        self.cell.push("decoder", self.start, rng, &mut parameters)?;
        Ok(parameters)
    }

    /// The tokens that the hidden states predict, in their order: sentence by sentence.
    #[must_use]
    pub fn targets(batch: &TokenBatch) -> Vec<u32> {
        let places = (0..batch.len()).flat_map(|i| batch.sentence(i));
        places.map(|&place| batch.distinct()[place as usize].0).collect()
    }

    /// The hidden states, shape `(n_tokens, hidden)`, and the saved state for [`backward`](GruDecoder::backward).
    ///
    /// | name | meaning | shape |
    /// | --- | --- | --- |
    /// | `batch` | targets, end tokens included | ragged |
    /// | `words` | vectors of their distinct tokens | `(n_distinct, word_dim)` |
    /// | `vectors` | sentence vectors | `(n_sentences, vector_dim)` |
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] if words, vectors or parameters do not fit the decoder or the batch;
    /// [`Error::InvalidParameter`] if the start token is not in the batch; [`Error::TooLarge`] if the result does not
    /// fit into memory.
    pub fn forward<F: Float>(
        &self,
        parameters: &Parameters<F>,
        batch: &TokenBatch,
        words: ArrayView2<'_, F>,
        vectors: ArrayView2<'_, F>,
    ) -> Result<(Array2<F>, DecoderSaved<F>)> {
        self.check(parameters, batch, words, vectors)?;
        let (steps, inputs) = self.order(batch)?;
        let weights = self.cell.weights(parameters, 0);
        let mut given = sorted_rows(&steps, vectors);
        if let Some(context) = weights.context {
            given = matmul(view(&given, batch.len(), self.vector_dim), context.t())?.into_raw_vec_and_offset().0; // (F1)
        }
        let run = self.cell.forward(&weights, &self.cell_input(&steps, &inputs, words, &given))?; // (F2)
        let h = self.hidden();
        let mut hidden = zeros(batch.n_tokens(), h)?;
        for (state, token) in run.states().chunks_exact(h).zip(steps.tokens(batch, false)) {
            hidden[token as usize * h..][..h].copy_from_slice(state);
        }
        Ok((matrix(batch.n_tokens(), h, hidden)?, DecoderSaved { steps, inputs, run, given }))
    }

    /// Adds the gradients of a loss to `d_words` (unless words are frozen), `d_vectors` and `d_parameters`, given
    /// `d_hidden`, its gradient with respect to the hidden states. The other arguments are those of the forward pass.
    ///
    /// # Errors
    /// As for [`forward`](GruDecoder::forward); also if a gradient differs in shape from what it is the gradient of, or
    /// `saved` is of another batch.
    #[allow(clippy::too_many_arguments)]
    pub fn backward<F: Float>(
        &self,
        parameters: &Parameters<F>,
        batch: &TokenBatch,
        words: ArrayView2<'_, F>,
        vectors: ArrayView2<'_, F>,
        saved: &DecoderSaved<F>,
        d_hidden: ArrayView2<'_, F>,
        d_words: Option<ArrayViewMut2<'_, F>>,
        mut d_vectors: ArrayViewMut2<'_, F>,
        d_parameters: &mut Parameters<F>,
    ) -> Result<()> {
        self.check(parameters, batch, words, vectors)?;
        self.check_tensors(d_parameters)?;
        let h = self.hidden();
        check_size("gradient of the hidden states, in rows,", batch.n_tokens(), d_hidden.nrows())?;
        check_size("gradient of the hidden states, in columns,", h, d_hidden.ncols())?;
        check_size("gradient of the sentence vectors, in rows,", vectors.nrows(), d_vectors.nrows())?;
        check_size("gradient of the sentence vectors, in columns,", vectors.ncols(), d_vectors.ncols())?;
        if let Some(d_words) = &d_words {
            check_size("gradient of the words, in rows,", words.nrows(), d_words.nrows())?;
            check_size("gradient of the words, in columns,", words.ncols(), d_words.ncols())?;
        }
        let (steps, inputs) = self.order(batch)?;
        if saved.steps != steps || saved.inputs != inputs || saved.run.states().len() != steps.total() * h {
            let got = "that of other targets or another decoder".into();
            return Err(Error::InvalidParameter { name: "saved state", requirement: "of this decoder and batch", got });
        }
        let d_hidden = d_hidden.as_standard_layout();
        let mut d_states = zeros(steps.total(), h)?;
        let rows = d_states.par_chunks_exact_mut(h).zip(steps.tokens(batch, false)).with_min_len(8);
        rows.for_each(|(d, token)| d.copy_from_slice(row(flat(&d_hidden), h, token as usize)));

        let (weights, mut d) = (self.cell.weights(parameters, 0), self.cell.gradients(&mut d_parameters.iter_mut()));
        let cell_input = self.cell_input(&steps, &inputs, words, &saved.given);
        let upstream = Upstream { states: Some(&d_states), last: None };
        let below = self.cell.backward(&weights, &cell_input, &saved.run, &upstream, &mut d)?;
        if let Some(d_words) = d_words {
            matmul_into(F::one(), below.projections.view(), weights.input, F::one(), d_words)?;
        }
        let mut d_given = below.initial;
        if let (Some(context), Some(d_context)) = (weights.context, d.context) {
            let d_a = view(&below.context, batch.len(), 3 * h);
            let vectors = sorted_rows(&steps, vectors);
            let vectors = view(&vectors, batch.len(), self.vector_dim);
            matmul_into(F::one(), d_a.t(), vectors, F::one(), d_context)?; // (B1)
            d_given = matmul(d_a, context)?.into_raw_vec_and_offset().0; // (B1)
        }
        for (i, d) in d_given.chunks_exact(self.vector_dim).enumerate() {
            d_vectors.row_mut(steps.sentence(i)).iter_mut().zip(d).for_each(|(to, &d)| *to += d); // (B1)
        }
        Ok(())
    }

    /// A session that decodes one sentence vector, word by word.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] if the vector or the parameters do not fit the decoder.
    pub fn session<'a, F: Float>(
        &'a self,
        parameters: &'a Parameters<F>,
        vector: ArrayView1<'_, F>,
    ) -> Result<DecoderSession<'a, F>> {
        self.check_tensors(parameters)?;
        check_size("sentence vector", self.vector_dim, vector.len())?;
        let weights = self.cell.weights(parameters, 0);
        let (first, added) = match weights.context {
            Some(context) => (vec![F::zero(); self.hidden()], Some(context.dot(&vector).to_vec())),
            None => (vector.to_vec(), None),
        };
        Ok(DecoderSession { decoder: self, parameters, first, added })
    }

    fn check_tensors<F: Float>(&self, parameters: &Parameters<F>) -> Result<()> {
        check_size("tensors of the decoder", self.cell.n_tensors(), parameters.len())?;
        self.cell.check_tensors(parameters, 0)
    }

    fn check<F: Float>(
        &self,
        parameters: &Parameters<F>,
        batch: &TokenBatch,
        words: ArrayView2<'_, F>,
        vectors: ArrayView2<'_, F>,
    ) -> Result<()> {
        self.check_tensors(parameters)?;
        check_words(batch, self.cell.input, words)?;
        check_size("sentence vectors, in rows,", batch.len(), vectors.nrows())?;
        check_size("sentence vectors, in columns,", self.vector_dim, vectors.ncols())
    }

    /// The packed order of the targets, and the row of the words that each step reads; the last row for a zero vector.
    fn order(&self, batch: &TokenBatch) -> Result<(Steps, Vec<u32>)> {
        let steps = Steps::of(batch)?;
        let first = match self.first {
            FirstInput::Token(token) if batch.n_tokens() > 0 => {
                let place = batch.distinct().binary_search(&token);
                place.map_err(|_| Error::InvalidParameter {
                    name: "start token",
                    requirement: "among the tokens of the targets",
                    got: format!("token {}, which is not", token.0),
                })?
            }
            _ => batch.distinct().len(),
        };
        let inputs = steps.words_before(batch, first as u32);
        Ok((steps, inputs))
    }

    /// The inputs of the cell; `given` holds initial states or what the context adds, in sorted order.
    fn cell_input<'a, F: Float>(
        &self,
        steps: &'a Steps,
        inputs: &'a [u32],
        words: ArrayView2<'a, F>,
        given: &'a [F],
    ) -> CellInput<'a, F> {
        let (initial, context) = match self.conditioning {
            Conditioning::InitialState => (Some(given), None),
            Conditioning::ContextMatrices => (None, Some(given)),
        };
        CellInput { steps, rows: words, index: Some(inputs), initial, context }
    }
}

/// The rows of a matrix in sorted order.
fn sorted_rows<F: Float>(steps: &Steps, x: ArrayView2<'_, F>) -> Vec<F> {
    let dim = x.ncols();
    let x = x.as_standard_layout();
    steps.sorted(flat(&x), dim)
}
