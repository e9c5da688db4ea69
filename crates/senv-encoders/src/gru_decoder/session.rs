//! Decoding of one sentence vector, word by word.

use ndarray::{Array2, ArrayView2};
use senv_core::{
    Result,
    arrays::{Float, Parameters},
};

use super::GruDecoder;
use crate::{
    encoder::check_size,
    recurrent::{CellInput, Steps},
    rows::{flat, matrix},
};

/// A [`GruDecoder`] conditioned on one sentence vector.
#[derive(Debug, Clone)]
pub struct DecoderSession<'a, F> {
    pub(super) decoder: &'a GruDecoder,
    pub(super) parameters: &'a Parameters<F>,
    pub(super) first: Vec<F>,
    /// What the sentence vector adds to the gates at every step.
    pub(super) added: Option<Vec<F>>,
}

impl<F: Float> DecoderSession<'_, F> {
    /// The decoder.
    #[must_use]
    pub fn decoder(&self) -> &GruDecoder {
        self.decoder
    }

    /// The state before the first word, `hidden` values.
    #[must_use]
    pub fn first_state(&self) -> &[F] {
        &self.first
    }

    /// The states after one more word, for several hypotheses: from `states`, shape `(k, hidden)`, and the vectors of
    /// the words, shape `(k, word_dim)`.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`](senv_core::Error::ShapeMismatch) if a shape differs.
    pub fn step(&self, words: ArrayView2<'_, F>, states: ArrayView2<'_, F>) -> Result<Array2<F>> {
        let (k, cell) = (words.nrows(), self.decoder.cell);
        check_size("vectors of words, in columns,", cell.input, words.ncols())?;
        check_size("states, in rows,", k, states.nrows())?;
        check_size("states, in columns,", cell.hidden, states.ncols())?;
        let steps = Steps::new(std::iter::repeat_n(1, k))?;
        let states = states.as_standard_layout();
        let context = self.added.as_ref().map(|added| added.repeat(k));
        let cell_input = CellInput {
            steps: &steps,
            rows: words,
            index: None,
            initial: Some(flat(&states)),
            context: context.as_deref(),
        };
        let run = cell.forward(&cell.weights(self.parameters, 0), &cell_input)?;
        matrix(k, cell.hidden, run.states().to_vec())
    }
}
