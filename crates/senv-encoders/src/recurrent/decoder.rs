//! Recurrent decoders with any cell: from a sentence vector to the hidden states that predict words.
//!
//! Equation: `recurrent-decoder`
//!
//! ```text
//! (F1)  a = V Cᵀ                 context: added to the gates at every step, else 0; V: sentence vectors
//!       h_0 = v                  initial state, with cells of 0
//!       (h_0, c_0) = tanh(S v + s)    initial state in addition to a context; without c for a GRU. With only a context, first states are 0.
//! (F2)  h_t = cell(e_{t−1}, h_{t−1}, a)     e: word vectors of the targets, e_0: zero or that of a start token
//! (B1)  ∂C += ∂aᵀ V    ∂V += ∂a C;    initial state: ∂v += ∂h_0
//!       ∂u = ∂(h_0, c_0) ∘ (1 − (h_0, c_0)²)    ∂S += ∂uᵀ V    ∂s += Σ ∂u    ∂V += ∂u S
//! ```
//!
//! h_t predicts word t (`token-nll` and others compute a loss from states). (F2) is `gru` or `lstm`.

use ndarray::{Array2, ArrayView1, ArrayView2, ArrayViewMut2};
use rayon::prelude::*;
use senv_core::{
    Error, Result,
    arrays::{Float, Parameters, TokenBatch, matmul, matmul_into},
    rng::Stream,
};

use super::{CellInput, RecurrentCell, Steps, Upstream, view};
use crate::{
    decoder::{Conditioning, FirstInput},
    encoder::{check_size, check_words},
    rows::{flat, matrix, row, zeros},
};

/// A decoder with one kind of cell; the tensors of the cell come first, then those of the projected first state.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct DecoderCore<C: RecurrentCell> {
    pub(crate) cell: C,
    pub(crate) vector_dim: usize,
    pub(crate) conditioning: Conditioning,
    pub(crate) first: FirstInput,
    pub(crate) start: C::Start,
}

/// The state that a forward pass saves for the backward pass.
#[derive(Debug, Clone)]
pub(crate) struct CoreSaved<F, R> {
    steps: Steps,
    inputs: Vec<u32>,
    activations: R,
    /// Initial states in sorted order.
    initial: Option<Vec<F>>,
    /// The values that the context adds, in sorted order.
    context: Option<Vec<F>>,
}

/// Hidden states, and the saved state of their pass.
type Decoded<F, C> = (Array2<F>, CoreSaved<F, <C as RecurrentCell>::Activations<F>>);

/// Initial states, and the values that the context adds.
type Given<F> = (Option<Vec<F>>, Option<Vec<F>>);

impl<C: RecurrentCell> DecoderCore<C> {
    /// Creates a decoder with the cell that `cell` returns for a context of that dimension, 0 for none.
    ///
    /// Returns an error if a size is 0 or too large, or if sentence vectors are initial states but do not have the
    /// hidden size.
    pub(crate) fn new(
        cell: impl FnOnce(usize) -> C,
        vector_dim: usize,
        conditioning: Conditioning,
        first: FirstInput,
        start: C::Start,
    ) -> Result<Self> {
        if vector_dim == 0 {
            let name = "sentence dimension";
            return Err(Error::InvalidParameter { name, requirement: "above 0", got: "0".into() });
        }
        let is_state = conditioning == Conditioning::InitialState;
        let cell = cell(if is_state { 0 } else { vector_dim });
        if is_state {
            check_size("sentence vector used as the initial state of a decoder", cell.hidden(), vector_dim)?;
        }
        cell.check()?;
        Ok(Self { cell, vector_dim, conditioning, first, start })
    }

    /// Names and shapes of the tensors that compute the first state.
    fn state_form(&self) -> Vec<(&'static str, [usize; 2])> {
        let n = self.cell.state_dim();
        match self.conditioning {
            Conditioning::ContextAndState => vec![("state", [n, self.vector_dim]), ("state_bias", [1, n])],
            Conditioning::InitialState | Conditioning::ContextMatrices => Vec::new(),
        }
    }

    pub(crate) fn n_values(&self) -> f64 {
        let state = self.state_form().into_iter().map(|(_, [rows, columns])| rows as f64 * columns as f64);
        self.cell.n_values() + state.sum::<f64>()
    }

    pub(crate) fn init<F: Float>(&self, rng: &mut Stream) -> Result<Parameters<F>> {
        let mut parameters = Parameters::new();
        self.cell.push("decoder", self.start, rng, &mut parameters)?;
        for (name, shape) in self.state_form() {
            let place = parameters.push_zeros(format!("decoder.{name}"), shape)?;
            self.cell.fill(self.start, name, shape[1], rng, parameters[place].values_mut())?;
        }
        Ok(parameters)
    }

    /// The index of C, the last tensor of the cell.
    fn context_place(&self) -> Option<usize> {
        (self.cell.context() > 0).then(|| self.cell.n_tensors() - 1)
    }

    /// The index of S; s follows.
    fn state_place(&self) -> Option<usize> {
        (self.conditioning == Conditioning::ContextAndState).then(|| self.cell.n_tensors())
    }

    pub(crate) fn forward<F: Float>(
        &self,
        parameters: &Parameters<F>,
        batch: &TokenBatch,
        words: ArrayView2<'_, F>,
        vectors: ArrayView2<'_, F>,
    ) -> Result<Decoded<F, C>> {
        self.check(parameters, batch, words, vectors)?;
        let (steps, inputs) = self.order(batch)?;
        let (initial, context) = self.given(parameters, sorted_rows(&steps, vectors))?;
        let cell_input = CellInput {
            steps: &steps,
            rows: words,
            index: Some(&inputs),
            initial: initial.as_deref(),
            context: context.as_deref(),
        };
        let activations = self.cell.run(parameters, 0, &cell_input, true)?; // (F2)
        let h = self.cell.hidden();
        let mut hidden = zeros(batch.n_tokens(), h)?;
        for (state, token) in C::states(&activations).chunks_exact(h).zip(steps.tokens(batch, false)) {
            hidden[token as usize * h..][..h].copy_from_slice(state);
        }
        Ok((matrix(batch.n_tokens(), h, hidden)?, CoreSaved { steps, inputs, activations, initial, context }))
    }

    /// (F1) for several sentence vectors.
    fn given<F: Float>(&self, parameters: &Parameters<F>, vectors: Vec<F>) -> Result<Given<F>> {
        let n = vectors.len() / self.vector_dim;
        let times = |place: usize| -> Result<Vec<F>> {
            let product = matmul(view(&vectors, n, self.vector_dim), parameters[place].view().t())?;
            Ok(product.into_raw_vec_and_offset().0)
        };
        let context = self.context_place().map(times).transpose()?;
        let mut initial = None;
        if let Some(place) = self.state_place() {
            let mut states = times(place)?;
            states
                .chunks_exact_mut(self.cell.state_dim())
                .for_each(|state| F::add_to(parameters[place + 1].values(), state));
            F::tanh_in_place(&mut states);
            initial = Some(states);
        } else if context.is_none() {
            initial = Some(match self.cell.state_dim() {
                n_state if n_state == self.vector_dim => vectors,
                n_state => {
                    let mut states = zeros(n, n_state)?;
                    let rows = states.chunks_exact_mut(n_state).zip(vectors.chunks_exact(self.vector_dim));
                    rows.for_each(|(state, v)| state[..v.len()].copy_from_slice(v));
                    states
                }
            });
        }
        Ok((initial, context))
    }

    #[allow(clippy::too_many_arguments)]
    pub(crate) fn backward<F: Float>(
        &self,
        parameters: &Parameters<F>,
        batch: &TokenBatch,
        words: ArrayView2<'_, F>,
        vectors: ArrayView2<'_, F>,
        saved: &CoreSaved<F, C::Activations<F>>,
        d_hidden: ArrayView2<'_, F>,
        d_words: Option<ArrayViewMut2<'_, F>>,
        mut d_vectors: ArrayViewMut2<'_, F>,
        d_parameters: &mut Parameters<F>,
    ) -> Result<()> {
        self.check(parameters, batch, words, vectors)?;
        self.check_tensors(d_parameters)?;
        let h = self.cell.hidden();
        check_size("rows of gradient of the hidden states", batch.n_tokens(), d_hidden.nrows())?;
        check_size("columns of gradient of the hidden states", h, d_hidden.ncols())?;
        check_size("rows of gradient of the sentence vectors", vectors.nrows(), d_vectors.nrows())?;
        check_size("columns of gradient of the sentence vectors", vectors.ncols(), d_vectors.ncols())?;
        if let Some(d_words) = &d_words {
            check_size("rows of gradient of the words", words.nrows(), d_words.nrows())?;
            check_size("columns of gradient of the words", words.ncols(), d_words.ncols())?;
        }
        let (steps, inputs) = self.order(batch)?;
        if saved.steps != steps || saved.inputs != inputs || C::states(&saved.activations).len() != steps.total() * h {
            let got = "one of other targets or another decoder".into();
            return Err(Error::InvalidParameter {
                name: "saved state",
                requirement: "that of this decoder and batch",
                got,
            });
        }
        let d_hidden = d_hidden.as_standard_layout();
        let mut d_states = zeros(steps.total(), h)?;
        let rows = d_states.par_chunks_exact_mut(h).zip(steps.tokens(batch, false)).with_min_len(8);
        rows.for_each(|(d, token)| d.copy_from_slice(row(flat(&d_hidden), h, token as usize)));

        let (initial, context) = (saved.initial.as_deref(), saved.context.as_deref());
        let cell_input = CellInput { steps: &steps, rows: words, index: Some(&inputs), initial, context };
        let upstream = Upstream { states: Some(&d_states), last: None };
        let d_cell = d_parameters.iter_mut().take(self.cell.n_tensors()).collect();
        let below = self.cell.through(parameters, 0, &cell_input, &saved.activations, &upstream, d_cell)?;
        if let Some(d_words) = d_words {
            let weights = self.cell.input_weights(parameters, 0);
            matmul_into(F::one(), below.projections.view(), weights, F::one(), d_words)?;
        }
        // (B1)
        let mut add_to_vectors = |d: &[F], width: usize| {
            for (i, d) in d.chunks_exact(width).enumerate() {
                d_vectors.row_mut(steps.sentence(i)).iter_mut().zip(d).for_each(|(to, &d)| *to += d);
            }
        };
        let sorted = sorted_rows(&steps, vectors);
        let sorted = view(&sorted, batch.len(), self.vector_dim);
        if let Some(place) = self.context_place() {
            let d_a = view(&below.context, batch.len(), self.cell.width());
            matmul_into(F::one(), d_a.t(), sorted, F::one(), d_parameters[place].view_mut())?;
            add_to_vectors(flat(&matmul(d_a, parameters[place].view())?.view().into()), self.vector_dim);
        }
        let n_state = self.cell.state_dim();
        match (self.state_place(), initial) {
            (Some(place), Some(initial)) => {
                let slope = |(d, &x): (&F, &F)| *d * (F::one() - x * x);
                let d_u: Vec<F> = below.initial.iter().zip(initial).map(slope).collect();
                d_u.chunks_exact(n_state).for_each(|d| F::add_to(d, d_parameters[place + 1].values_mut()));
                let d_u = view(&d_u, batch.len(), n_state);
                matmul_into(F::one(), d_u.t(), sorted, F::one(), d_parameters[place].view_mut())?;
                add_to_vectors(flat(&matmul(d_u, parameters[place].view())?.view().into()), self.vector_dim);
            }
            (None, Some(_)) => add_to_vectors(&below.initial, n_state),
            (_, None) => {}
        }
        Ok(())
    }

    /// The first state for a sentence vector, and the values that the vector adds to the gates.
    pub(crate) fn conditions<F: Float>(
        &self,
        parameters: &Parameters<F>,
        vector: ArrayView1<'_, F>,
    ) -> Result<(Vec<F>, Option<Vec<F>>)> {
        self.check_tensors(parameters)?;
        check_size("sentence vector", self.vector_dim, vector.len())?;
        let (initial, context) = self.given(parameters, vector.to_vec())?;
        Ok((initial.map_or_else(|| zeros(1, self.cell.state_dim()), Ok)?, context))
    }

    pub(crate) fn step<F: Float>(
        &self,
        parameters: &Parameters<F>,
        words: ArrayView2<'_, F>,
        states: ArrayView2<'_, F>,
        added: Option<&[F]>,
    ) -> Result<Array2<F>> {
        let k = words.nrows();
        let steps = Steps::new(std::iter::repeat_n(1, k))?;
        let states = states.as_standard_layout();
        let context = added.map(|added| added.repeat(k));
        let cell_input = CellInput {
            steps: &steps,
            rows: words,
            index: None,
            initial: Some(flat(&states)),
            context: context.as_deref(),
        };
        let activations = self.cell.run(parameters, 0, &cell_input, true)?;
        matrix(k, self.cell.state_dim(), C::whole_states(&activations))
    }

    fn check_tensors<F: Float>(&self, parameters: &Parameters<F>) -> Result<()> {
        let state_form = self.state_form();
        let n = self.cell.n_tensors();
        check_size("tensors of the decoder", n + state_form.len(), parameters.len())?;
        for (i, (_, [rows, columns])) in state_form.into_iter().enumerate() {
            let shape = parameters[n + i].shape();
            check_size("rows of tensor of the first state", rows, shape[0])?;
            check_size("columns of tensor of the first state", columns, shape[1])?;
        }
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
        check_words(batch, self.cell.input(), words)?;
        check_size("rows of sentence vectors", batch.len(), vectors.nrows())?;
        check_size("columns of sentence vectors", self.vector_dim, vectors.ncols())
    }

    /// The packed order of the targets, and the word row that each step reads; the last row is a zero vector.
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
}

/// The rows of a matrix in sorted order.
fn sorted_rows<F: Float>(steps: &Steps, x: ArrayView2<'_, F>) -> Vec<F> {
    let dim = x.ncols();
    let x = x.as_standard_layout();
    steps.sorted(flat(&x), dim)
}

/// Implements [`Decoder`](crate::Decoder) for a struct whose field `core` is a [`DecoderCore`], with its saved state.
macro_rules! decoder_over_core {
    ($decoder:ident, $saved:ident) => {
        impl $crate::decoder::Decoder for $decoder {
            type Saved<F: senv_core::arrays::Float> = $saved<F>;

            fn word_dim(&self) -> usize {
                $crate::recurrent::RecurrentCell::input(&self.core.cell)
            }

            fn hidden(&self) -> usize {
                $crate::recurrent::RecurrentCell::hidden(&self.core.cell)
            }

            fn state_dim(&self) -> usize {
                $crate::recurrent::RecurrentCell::state_dim(&self.core.cell)
            }

            fn vector_dim(&self) -> usize {
                self.core.vector_dim
            }

            fn conditioning(&self) -> $crate::decoder::Conditioning {
                self.core.conditioning
            }

            fn first_input(&self) -> $crate::decoder::FirstInput {
                self.core.first
            }

            fn n_values(&self) -> f64 {
                self.core.n_values()
            }

            fn init<F: senv_core::arrays::Float>(
                &self,
                rng: &mut senv_core::rng::Stream,
            ) -> senv_core::Result<senv_core::arrays::Parameters<F>> {
                senv_core::arrays::compiled_here!(
                    self,
                    |this: &'a $decoder,
                     rng: &'a mut senv_core::rng::Stream|
                     -> senv_core::Result<senv_core::arrays::Parameters<F>> { this.core.init(rng) }
                )
            }

            fn forward<F: senv_core::arrays::Float>(
                &self,
                parameters: &senv_core::arrays::Parameters<F>,
                batch: &senv_core::arrays::TokenBatch,
                words: ndarray::ArrayView2<'_, F>,
                vectors: ndarray::ArrayView2<'_, F>,
            ) -> senv_core::Result<(ndarray::Array2<F>, $saved<F>)> {
                senv_core::arrays::compiled_here!(self, |this: &'a $decoder,
                                                         parameters: &'a senv_core::arrays::Parameters<F>,
                                                         batch: &'a senv_core::arrays::TokenBatch,
                                                         words: ndarray::ArrayView2<'a, F>,
                                                         vectors: ndarray::ArrayView2<'a, F>|
                 -> senv_core::Result<(ndarray::Array2<F>, $saved<F>)> {
                    let (hidden, saved) = this.core.forward(parameters, batch, words, vectors)?;
                    Ok((hidden, $saved(saved)))
                })
            }

            fn backward<F: senv_core::arrays::Float>(
                &self,
                parameters: &senv_core::arrays::Parameters<F>,
                batch: &senv_core::arrays::TokenBatch,
                words: ndarray::ArrayView2<'_, F>,
                vectors: ndarray::ArrayView2<'_, F>,
                saved: &$saved<F>,
                d_hidden: ndarray::ArrayView2<'_, F>,
                d_words: Option<ndarray::ArrayViewMut2<'_, F>>,
                d_vectors: ndarray::ArrayViewMut2<'_, F>,
                d_parameters: &mut senv_core::arrays::Parameters<F>,
            ) -> senv_core::Result<()> {
                senv_core::arrays::compiled_here!(self, |this: &'a $decoder,
                                                         parameters: &'a senv_core::arrays::Parameters<F>,
                                                         batch: &'a senv_core::arrays::TokenBatch,
                                                         words: ndarray::ArrayView2<'a, F>,
                                                         vectors: ndarray::ArrayView2<'a, F>,
                                                         saved: &'a $saved<F>,
                                                         d_hidden: ndarray::ArrayView2<'a, F>,
                                                         d_words: Option<ndarray::ArrayViewMut2<'a, F>>,
                                                         d_vectors: ndarray::ArrayViewMut2<'a, F>,
                                                         d_parameters: &'a mut senv_core::arrays::Parameters<F>|
                 -> senv_core::Result<()> {
                    let (d, saved) = (d_parameters, &saved.0);
                    this.core.backward(parameters, batch, words, vectors, saved, d_hidden, d_words, d_vectors, d)
                })
            }

            fn session<'a, F: senv_core::arrays::Float>(
                &'a self,
                parameters: &'a senv_core::arrays::Parameters<F>,
                vector: ndarray::ArrayView1<'_, F>,
            ) -> senv_core::Result<$crate::decoder::DecoderSession<'a, F, Self>> {
                let (first, added) = self.core.conditions(parameters, vector)?;
                Ok($crate::decoder::DecoderSession { decoder: self, parameters, first, added })
            }

            fn step<F: senv_core::arrays::Float>(
                &self,
                parameters: &senv_core::arrays::Parameters<F>,
                words: ndarray::ArrayView2<'_, F>,
                states: ndarray::ArrayView2<'_, F>,
                added: Option<&[F]>,
            ) -> senv_core::Result<ndarray::Array2<F>> {
                senv_core::arrays::compiled_here!(self, |this: &'a $decoder,
                                                         parameters: &'a senv_core::arrays::Parameters<F>,
                                                         words: ndarray::ArrayView2<'a, F>,
                                                         states: ndarray::ArrayView2<'a, F>,
                                                         added: Option<&'a [F]>|
                 -> senv_core::Result<ndarray::Array2<F>> {
                    this.core.step(parameters, words, states, added)
                })
            }
        }
    };
}
pub(crate) use decoder_over_core;
