//! Both directions of an LSTM, joined by a tanh layer.
//!
//! Equation: `joined-lstm`

#[cfg(test)]
mod tests;

use ndarray::{Array2, ArrayView2, ArrayViewMut2};
use senv_core::{
    Error, Result,
    arrays::{Float, Parameters, TokenBatch, compiled_here, matmul_into},
    init,
    rng::Stream,
};

use crate::{
    encoder::{Encoder, check_gradients, check_size, check_words},
    lstm::{LstmActivations, LstmCell, LstmInit},
    recurrent::{CellInput, RecurrentCell, StatePooling, Steps, Upstream, pool, view, view_mut},
    rows::{flat, matrix, row, zeros},
};

/// The number of tensors per direction: input, recurrent, bias, peepholes.
const OF_A_DIRECTION: usize = 4;

/// The standard deviation of the layer's initial weights, as in the release of GRAN's authors.
const LAYER_SD: f64 = 0.1;

/// An encoder with both directions of an LSTM with peepholes, whose states are joined by a tanh layer: BiLSTM average,
/// a sister model of GRAN.
///
/// | name | shape |
/// | --- | --- |
/// | `forward1.…`, `backward1.…` | those of [`LstmEncoder`](crate::LstmEncoder) with peepholes |
/// | `layer.weight` | `(dim, 2 hidden)` |
/// | `layer.bias` | `(1, dim)` |
///
/// With [`StatePooling::Last`] the layer reads the last states of both directions, otherwise the states at every word.
///
/// ```text
/// (F1)  H→, H← = LSTM(X) in both directions               `lstm`
/// (F2)  z_t = tanh(W [h→_t ; h←_t] + b)                   of the last states: once, z = tanh(W [h→_n ; h←_1] + b)
/// (F3)  out = mean or maximum of z_t; z                   `state-pooling`
/// (B3)  ∂z_t from ∂out
/// (B2)  ∂u = ∂z ∘ (1 − z²)    ∂W += Σ ∂uᵀ [h→ ; h←]    ∂b += Σ ∂u    ∂[h→ ; h←] = ∂u W
/// (B1)  ∂X += back of both directions                     `lstm-backward`
/// ```
///
/// ```
/// use ndarray::array;
/// use senv_core::{TokenId, arrays::TokenBatch, rng::stream};
/// use senv_encoders::{Encoder, JoinedLstm, StatePooling};
/// let encoder = JoinedLstm::new(2, 3, 4, StatePooling::Mean)?;
/// let parameters = encoder.init(&mut stream(1, "encoder", &[]))?;
/// let mut batch = TokenBatch::new();
/// batch.assign([&[TokenId(4), TokenId(6)][..], &[TokenId(6), TokenId(4)], &[]])?;
/// let (out, _) = encoder.forward(&parameters, &batch, array![[0.1, 0.9], [-0.5, 0.2]].view())?;
/// assert_eq!(out.dim(), (3, 4));
/// assert!(out.row(0) != out.row(1)); // The order of words matters,
/// assert!(out.row(2).iter().all(|&x| x == 0.0)); // and an empty sentence is a vector of zeros.
/// # Ok::<(), senv_core::Error>(())
/// ```
///
/// # References
/// J. Wieting and K. Gimpel, Revisiting Recurrent Networks for Paraphrastic Sentence Embeddings, ACL 2017; the layer is
/// from its release.
#[derive(Debug, Clone, PartialEq)]
pub struct JoinedLstm {
    cell: LstmCell,
    dim: usize,
    pooling: StatePooling,
}

/// The saved state for the backward pass of [`JoinedLstm`]: activations of both directions, and the joined states.
#[derive(Debug, Clone)]
pub struct JoinedLstmSaved<F> {
    steps: Steps,
    /// For each direction, the distinct word of each packed row.
    words: [Vec<u32>; 2],
    runs: [LstmActivations<F>; 2],
    /// The inputs of the layer: a row of both states for each packed row of the forward direction, or for each nonempty
    /// sentence.
    joined: Vec<F>,
    /// z, with the same number of rows.
    layer: Vec<F>,
}

impl JoinedLstm {
    /// Creates an encoder for word vectors of dimension `word_dim`, with LSTMs of this hidden size and sentence vectors
    /// of dimension `dim`.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] unless all sizes are above 0; [`Error::TooLarge`] if the parameters do not fit in
    /// memory.
    pub fn new(word_dim: usize, hidden: usize, dim: usize, pooling: StatePooling) -> Result<Self> {
        let cell = LstmCell { input: word_dim, hidden, context: 0, peepholes: true, output_gate: true };
        cell.check()?;
        if dim == 0 {
            return Err(Error::InvalidParameter {
                name: "sentence dimension",
                requirement: "above 0",
                got: "0".into(),
            });
        }
        let fits = hidden.checked_mul(2).and_then(|columns| columns.checked_mul(dim));
        fits.filter(|&n| n <= isize::MAX as usize / 8).ok_or(Error::TooLarge { rows: dim, dim: hidden })?;
        Ok(Self { cell, dim, pooling })
    }

    /// The word dimension.
    #[must_use]
    pub fn word_dim(&self) -> usize {
        self.cell.input
    }

    /// The hidden size of each direction.
    #[must_use]
    pub fn hidden(&self) -> usize {
        self.cell.hidden
    }

    /// The number of parameter values, as a float to avoid overflow.
    #[must_use]
    pub fn n_values(&self) -> f64 {
        2.0 * self.cell.n_values() + self.dim as f64 * (2.0 * self.cell.hidden as f64 + 1.0)
    }

    /// Encodes a batch with trained parameters. The result is bit-identical to that of [`forward`](Encoder::forward),
    /// without the activations that only the backward pass needs.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] if words or parameters do not match the encoder or the batch; [`Error::TooLarge`] if
    /// the result does not fit in memory.
    pub fn encode<F: Float>(
        &self,
        parameters: &Parameters<F>,
        batch: &TokenBatch,
        words: ArrayView2<'_, F>,
    ) -> Result<Array2<F>> {
        compiled_here!(self, |this: &'a JoinedLstm,
                              parameters: &'a Parameters<F>,
                              batch: &'a TokenBatch,
                              words: ArrayView2<'a, F>|
         -> Result<Array2<F>> { Ok(this.run(parameters, batch, words, false)?.0) })
    }

    fn check_parameters<F: Float>(&self, parameters: &Parameters<F>) -> Result<()> {
        check_size("tensors of the encoder", 2 * OF_A_DIRECTION + 2, parameters.len())?;
        self.cell.check_tensors(parameters, 0)?;
        self.cell.check_tensors(parameters, OF_A_DIRECTION)?;
        for (place, [rows, columns]) in [[self.dim, 2 * self.cell.hidden], [1, self.dim]].into_iter().enumerate() {
            let shape = parameters[2 * OF_A_DIRECTION + place].shape();
            check_size("rows of tensor of the layer", rows, shape[0])?;
            check_size("columns of tensor of the layer", columns, shape[1])?;
        }
        Ok(())
    }

    /// The states in each row that the layer reads: `(packed row of the forward direction, of the backward direction)`.
    fn joined_rows(&self, steps: &Steps) -> Vec<(usize, usize)> {
        if self.pooling == StatePooling::Last {
            // Sentences without words come last.
            return (0..steps.n_sentences()).map_while(|i| steps.last(i)).map(|at| (at, at)).collect();
        }
        steps.mirrored().into_iter().map(|at| at as usize).enumerate().collect()
    }

    fn run<F: Float>(
        &self,
        parameters: &Parameters<F>,
        batch: &TokenBatch,
        words: ArrayView2<'_, F>,
        keep: bool,
    ) -> Result<(Array2<F>, JoinedLstmSaved<F>)> {
        check_words(batch, self.word_dim(), words)?;
        self.check_parameters(parameters)?;
        let steps = Steps::of(batch)?;
        let of_places = [steps.words(batch, false), steps.words(batch, true)];
        let direction = |d: usize| {
            let index = Some(&of_places[d][..]);
            let input = CellInput { steps: &steps, rows: words, index, initial: None, context: None };
            self.cell.run(parameters, d * OF_A_DIRECTION, &input, keep)
        };
        let (forward, backward) = rayon::join(|| direction(0), || direction(1)); // (F1)
        let runs = [forward?, backward?];
        let (h, dim) = (self.cell.hidden, self.dim);
        let rows = self.joined_rows(&steps);
        let mut joined = zeros(rows.len(), 2 * h)?;
        for (joined, &(forward, backward)) in joined.chunks_exact_mut(2 * h).zip(&rows) {
            joined[..h].copy_from_slice(row(LstmCell::states(&runs[0]), h, forward));
            joined[h..].copy_from_slice(row(LstmCell::states(&runs[1]), h, backward));
        }
        let (weight, bias) = (&parameters[2 * OF_A_DIRECTION], parameters[2 * OF_A_DIRECTION + 1].values());
        let mut layer = zeros(rows.len(), dim)?;
        layer.chunks_exact_mut(dim).for_each(|row| row.copy_from_slice(bias));
        let out = view_mut(&mut layer, rows.len(), dim);
        matmul_into(F::one(), view(&joined, rows.len(), 2 * h), weight.view().t(), F::one(), out)?;
        F::tanh_in_place(&mut layer); // (F2)
        let mut out = zeros(batch.len(), dim)?;
        for i in 0..batch.len() {
            let to = &mut out[steps.sentence(i) * dim..][..dim];
            match self.pooling {
                StatePooling::Last if i < rows.len() => to.copy_from_slice(row(&layer, dim, i)),
                StatePooling::Last => {}
                pooling => pool::forward(pooling, &layer, &steps, i, to), // (F3)
            }
        }
        Ok((matrix(batch.len(), dim, out)?, JoinedLstmSaved { steps, words: of_places, runs, joined, layer }))
    }

    /// Returns an error for a state saved by another encoder or for another batch.
    fn check_saved<F: Float>(&self, batch: &TokenBatch, saved: &JoinedLstmSaved<F>) -> Result<()> {
        let steps = Steps::of(batch)?;
        let (h, rows) = (self.cell.hidden, self.joined_rows(&steps).len());
        let of_form = saved.joined.len() == rows * 2 * h
            && saved.layer.len() == rows * self.dim
            && saved.runs.iter().all(|run| LstmCell::states(run).len() == steps.total() * h);
        let words = [steps.words(batch, false), steps.words(batch, true)];
        if of_form && saved.words == words && saved.steps == steps {
            return Ok(());
        }
        let got = "one of other sentences or another encoder".into();
        Err(Error::InvalidParameter { name: "saved state", requirement: "that of this encoder and batch", got })
    }
}

crate::encoder::encoder_of_passes!(Encoder for JoinedLstm, JoinedLstmSaved<F>);

impl crate::encoder::Passes for JoinedLstm {
    type Saved<F: Float> = JoinedLstmSaved<F>;

    fn dim(&self) -> usize {
        self.dim
    }

    fn init<F: Float>(&self, rng: &mut Stream) -> Result<Parameters<F>> {
        let mut parameters = Parameters::new();
        for name in ["forward1", "backward1"] {
            self.cell.push(name, LstmInit::Normal, rng, &mut parameters)?;
        }
        let weight = parameters.push_zeros("layer.weight", [self.dim, 2 * self.cell.hidden])?;
        init::normal(rng, parameters[weight].values_mut(), LAYER_SD)?;
        parameters.push_zeros("layer.bias", [1, self.dim])?;
        Ok(parameters)
    }

    fn forward<F: Float>(
        &self,
        parameters: &Parameters<F>,
        batch: &TokenBatch,
        words: ArrayView2<'_, F>,
    ) -> Result<(Array2<F>, Self::Saved<F>)> {
        self.run(parameters, batch, words, true)
    }

    fn backward<F: Float>(
        &self,
        parameters: &Parameters<F>,
        batch: &TokenBatch,
        words: ArrayView2<'_, F>,
        saved: &Self::Saved<F>,
        d_out: ArrayView2<'_, F>,
        mut d_words: Option<ArrayViewMut2<'_, F>>,
        d_parameters: &mut Parameters<F>,
    ) -> Result<()> {
        check_words(batch, self.word_dim(), words)?;
        self.check_parameters(parameters)?;
        self.check_parameters(d_parameters)?;
        check_gradients(batch, self.dim, d_out, words, d_words.as_ref())?;
        self.check_saved(batch, saved)?;
        let (h, dim, steps) = (self.cell.hidden, self.dim, &saved.steps);
        let rows = self.joined_rows(steps);
        let d_out = d_out.as_standard_layout();
        let d_out = steps.sorted(flat(&d_out), dim);
        let mut d_layer = match self.pooling {
            StatePooling::Last => d_out[..rows.len() * dim].to_vec(),
            pooling => pool::backward(pooling, &saved.layer, steps, dim, &d_out)?, // (B3)
        };
        d_layer.iter_mut().zip(&saved.layer).for_each(|(d, &z)| *d *= F::one() - z * z);
        let mut tensors: Vec<_> = d_parameters.iter_mut().collect();
        let mut of_layer = tensors.split_off(2 * OF_A_DIRECTION);
        let d_bias = of_layer[1].values_mut();
        d_layer.chunks_exact(dim).for_each(|d| F::add_to(d, d_bias));
        let d_u = view(&d_layer, rows.len(), dim);
        let joined = view(&saved.joined, rows.len(), 2 * h);
        matmul_into(F::one(), d_u.t(), joined, F::one(), of_layer[0].view_mut())?;
        let mut d_joined = zeros(rows.len(), 2 * h)?;
        let weight = parameters[2 * OF_A_DIRECTION].view();
        matmul_into(F::one(), d_u, weight, F::zero(), view_mut(&mut d_joined, rows.len(), 2 * h))?; // (B2)
        let mut d_states = [zeros(steps.total(), h)?, zeros(steps.total(), h)?];
        for (d, (forward, backward)) in d_joined.chunks_exact(2 * h).zip(rows) {
            d_states[0][forward * h..][..h].copy_from_slice(&d[..h]);
            d_states[1][backward * h..][..h].copy_from_slice(&d[h..]);
        }
        let of_backward = tensors.split_off(OF_A_DIRECTION);
        let through = |d: usize, tensors| {
            let index = Some(&saved.words[d][..]);
            let input = CellInput { steps, rows: words, index, initial: None, context: None };
            let upstream = Upstream { states: Some(&d_states[d]), last: None };
            self.cell.through(parameters, d * OF_A_DIRECTION, &input, &saved.runs[d], &upstream, tensors)
        };
        let (forward, backward) = rayon::join(|| through(0, tensors), || through(1, of_backward)); // (B1)
        for (d, gradients) in [forward?, backward?].into_iter().enumerate() {
            let Some(d_words) = &mut d_words else { continue };
            let weights = self.cell.input_weights(parameters, d * OF_A_DIRECTION);
            matmul_into(F::one(), gradients.projections.view(), weights, F::one(), d_words.view_mut())?;
        }
        Ok(())
    }
}
