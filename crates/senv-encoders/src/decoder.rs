//! The trait of all decoders, and the session that decodes one sentence vector.

use std::fmt::Debug;

use ndarray::{Array2, ArrayView1, ArrayView2, ArrayViewMut2};
use senv_core::{
    Result, TokenId,
    arrays::{Float, Parameters, TokenBatch},
    hyperparameters::named_values,
    rng::Stream,
};
use serde::{Deserialize, Serialize};

use crate::encoder::check_size;

/// How a decoder is conditioned on a sentence vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Conditioning {
    /// The sentence vector is the initial state, so it has the hidden size; the cell of an LSTM starts at zero. Used by
    /// the code of Skip-thoughts and by P-thought.
    #[default]
    InitialState,
    /// The sentence vector is added to all gates and to the candidate at every step, each through a matrix. From the
    /// Skip-thought paper.
    ContextMatrices,
    /// Both: the sentence vector is added at every step, and a tanh layer computes the initial state from it. From the
    /// code of SDAE.
    ContextAndState,
}

named_values!(Conditioning {
    InitialState = "initial-state": "As the initial state, as in the released code",
    ContextMatrices = "context-matrices": "As an input of every step, through matrices, as in the paper",
    ContextAndState = "context-and-state": "As an input of every step, and of a tanh layer that computes the initial \
        state",
});

/// The input of a decoder before the first word.
///
/// Exhaustive on purpose: decoders in other crates have to handle each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FirstInput {
    /// A zero vector, as in Skip-thoughts.
    #[default]
    Zero,
    /// The vector of a token, which must be in every batch. P-thought uses the end token, which is the last one of
    /// every target.
    Token(TokenId),
}

/// A decoder: computes hidden states that predict words from a sentence vector, trained by teacher forcing.
///
/// A batch contains the targets, including end tokens. Row `batch.start(i) + t` of the hidden states predicts word `t`
/// of target `i`, in the order of [`Decoder::targets`].
pub trait Decoder: Debug + Clone + PartialEq {
    /// The state that the forward pass saves for the backward pass.
    type Saved<F: Float>: Debug + Clone;

    /// The word dimension.
    fn word_dim(&self) -> usize;

    /// The hidden size.
    fn hidden(&self) -> usize;

    /// The number of values that a step needs from the previous step, the hidden state first. This is `hidden`, or
    /// twice that for an LSTM, which adds its cell.
    fn state_dim(&self) -> usize;

    /// The sentence dimension.
    fn vector_dim(&self) -> usize;

    /// How the decoder is conditioned on the sentence vector.
    fn conditioning(&self) -> Conditioning;

    /// The input before the first word.
    fn first_input(&self) -> FirstInput;

    /// The number of parameter values, as a float to avoid overflow.
    fn n_values(&self) -> f64;

    /// The initial parameters.
    ///
    /// # Errors
    /// [`Error::TooLarge`](senv_core::Error::TooLarge) if they do not fit in memory.
    fn init<F: Float>(&self, rng: &mut Stream) -> Result<Parameters<F>>;

    /// The tokens that the hidden states predict, in their order: sentence by sentence.
    #[must_use]
    fn targets(batch: &TokenBatch) -> Vec<u32> {
        let places = (0..batch.len()).flat_map(|i| batch.sentence(i));
        places.map(|&place| batch.distinct()[place as usize].0).collect()
    }

    /// The hidden states, shape `(n_tokens, hidden)`, and the saved state for [`backward`](Decoder::backward).
    ///
    /// | name | meaning | shape |
    /// | --- | --- | --- |
    /// | `batch` | targets, including end tokens | ragged |
    /// | `words` | vectors of their distinct tokens | `(n_distinct, word_dim)` |
    /// | `vectors` | sentence vectors | `(n_sentences, vector_dim)` |
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`](senv_core::Error::ShapeMismatch) if words, vectors or parameters do not match the
    /// decoder or the batch; [`Error::InvalidParameter`](senv_core::Error::InvalidParameter) if the start token is not
    /// in the batch; [`Error::TooLarge`](senv_core::Error::TooLarge) if the result does not fit in memory.
    fn forward<F: Float>(
        &self,
        parameters: &Parameters<F>,
        batch: &TokenBatch,
        words: ArrayView2<'_, F>,
        vectors: ArrayView2<'_, F>,
    ) -> Result<(Array2<F>, Self::Saved<F>)>;

    /// Adds the gradients of a loss to `d_words` (unless words are frozen), `d_vectors` and `d_parameters`, given
    /// `d_hidden`, its gradient with respect to the hidden states. The other arguments are those of the forward pass.
    ///
    /// # Errors
    /// The errors of [`forward`](Decoder::forward); also if a gradient differs in shape from its value, or `saved` is
    /// from another batch.
    #[allow(clippy::too_many_arguments)]
    fn backward<F: Float>(
        &self,
        parameters: &Parameters<F>,
        batch: &TokenBatch,
        words: ArrayView2<'_, F>,
        vectors: ArrayView2<'_, F>,
        saved: &Self::Saved<F>,
        d_hidden: ArrayView2<'_, F>,
        d_words: Option<ArrayViewMut2<'_, F>>,
        d_vectors: ArrayViewMut2<'_, F>,
        d_parameters: &mut Parameters<F>,
    ) -> Result<()>;

    /// Starts a session that decodes one sentence vector, word by word.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`](senv_core::Error::ShapeMismatch) if the vector or the parameters do not match the
    /// decoder.
    fn session<'a, F: Float>(
        &'a self,
        parameters: &'a Parameters<F>,
        vector: ArrayView1<'_, F>,
    ) -> Result<DecoderSession<'a, F, Self>>;

    /// The states after one more word, shape `(k, state_dim)`. They are computed from `states`, of the same shape, and
    /// the vectors of the words, shape `(k, word_dim)`. `added` is what the sentence vector adds to the gates.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`](senv_core::Error::ShapeMismatch) if a shape differs.
    fn step<F: Float>(
        &self,
        parameters: &Parameters<F>,
        words: ArrayView2<'_, F>,
        states: ArrayView2<'_, F>,
        added: Option<&[F]>,
    ) -> Result<Array2<F>>;
}

/// A [`Decoder`] conditioned on one sentence vector.
#[derive(Debug, Clone)]
pub struct DecoderSession<'a, F, D> {
    pub(crate) decoder: &'a D,
    pub(crate) parameters: &'a Parameters<F>,
    pub(crate) first: Vec<F>,
    /// The values that the sentence vector adds to the gates at every step.
    pub(crate) added: Option<Vec<F>>,
}

impl<F: Float, D: Decoder> DecoderSession<'_, F, D> {
    /// The decoder.
    #[must_use]
    pub fn decoder(&self) -> &D {
        self.decoder
    }

    /// The state before the first word, [`state_dim`](Decoder::state_dim) values.
    #[must_use]
    pub fn first_state(&self) -> &[F] {
        &self.first
    }

    /// The states after one more word, for several hypotheses, from `states`, shape `(k, state_dim)`, and the vectors
    /// of the words, shape `(k, word_dim)`. Their first `hidden` columns predict the next word.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`](senv_core::Error::ShapeMismatch) if a shape differs.
    pub fn step(&self, words: ArrayView2<'_, F>, states: ArrayView2<'_, F>) -> Result<Array2<F>> {
        check_size("columns of vectors of words", self.decoder.word_dim(), words.ncols())?;
        check_size("rows of states", words.nrows(), states.nrows())?;
        check_size("columns of states", self.decoder.state_dim(), states.ncols())?;
        self.decoder.step(self.parameters, words, states, self.added.as_deref())
    }
}
