//! GRAN, the gated recurrent averaging network, which averages word vectors through gates that see the sentence.
//!
//! `gates.rs` has the gates for one word, `forward.rs` and `backward.rs` the passes over a batch.

mod backward;
mod forward;
mod gates;
#[cfg(test)]
mod tests;

use ndarray::{Array2, ArrayView2, ArrayViewMut2};
use senv_core::{
    Error, Result,
    arrays::{Float, Parameters, TokenBatch, compiled_here},
    init,
    rng::Stream,
};

use crate::{
    encoder::{Encoder, check_size},
    lstm::{LstmCell, LstmInit},
    recurrent::{RecurrentCell, StatePooling, Steps},
};
pub use forward::GranSaved;
pub use gates::GranGate;

/// The standard deviation of the initial weights of the gates, as in the release of GRAN's authors.
const GATE_SD: f64 = 0.1;

/// The variant of a GRAN encoder; the default is the paper's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct GranForm {
    /// The gate variant.
    pub gate: GranGate,
    /// How to pool the gated vectors of a sentence; `None` for the pooling that matches the gate
    /// ([`GranGate::pooling`]).
    pub pooling: Option<StatePooling>,
}

/// A GRAN encoder: an LSTM with peepholes reads the sentence, and its states decide how much of each value of each word
/// vector is averaged.
///
/// ```text
/// h_t = LSTM(x_1 … x_t)     a_t = x_t ∘ σ(W_x x_t + W_h h_t + b)     out = (1/n) Σ_t a_t
/// ```
///
/// [`GranGate`] describes gates 2 to 7. Parameters:
///
/// | name | shape |
/// | --- | --- |
/// | `forward1.input`, `.recurrent`, `.bias`, `.peepholes` | those of [`LstmEncoder`](crate::LstmEncoder) |
/// | `gate.input` | `(k, d)`; twice the rows with two gates (3, 4 and 5) |
/// | `gate.state` | `(k, hidden)`; twice the rows with two gates |
/// | `gate.bias` | `(1, k)`; twice the columns with two gates |
/// | `gate.memory` | `(2 k, k)`; only for gate 4 |
///
/// The sentence dimension k is that of the words, d; for gate 2 it is the hidden size.
///
/// ```
/// use ndarray::array;
/// use senv_core::{TokenId, arrays::TokenBatch, rng::stream};
/// use senv_encoders::{Encoder, GranEncoder, GranForm};
/// let gran = GranEncoder::new(2, 3, GranForm::default())?;
/// let mut parameters = gran.init(&mut stream(1, "encoder", &[]))?;
/// assert_eq!(parameters[4].name(), "gate.input");
/// let mut batch = TokenBatch::new();
/// batch.assign([&[TokenId(4), TokenId(6)][..], &[TokenId(6), TokenId(4)], &[]])?;
/// let words = array![[0.1, 0.9], [-0.5, 0.2]];
/// let (out, _) = gran.forward(&parameters, &batch, words.view())?;
/// assert!(out.row(0) != out.row(1)); // The order of words matters,
/// assert!(out.row(2).iter().all(|&x| x == 0.0)); // and an empty sentence is a vector of zeros.
/// // With weights of 0 every gate is half open: half the mean of the words.
/// parameters.iter_mut().for_each(|tensor| tensor.values_mut().fill(0.0));
/// let (out, _) = gran.forward(&parameters, &batch, words.view())?;
/// assert_eq!(out.row(0).to_vec(), [-0.1, 0.275]);
/// # Ok::<(), senv_core::Error>(())
/// ```
///
/// # References
/// J. Wieting and K. Gimpel, Revisiting Recurrent Networks for Paraphrastic Sentence Embeddings, ACL 2017, section 3;
/// gates 2 to 7 are from its release.
#[derive(Debug, Clone, PartialEq)]
pub struct GranEncoder {
    lstm: LstmCell,
    gate: GranGate,
    pooling: StatePooling,
}

/// The weights of the gates.
struct Weights<'a, F> {
    input: ArrayView2<'a, F>,
    state: ArrayView2<'a, F>,
    bias: &'a [F],
    memory: Option<ArrayView2<'a, F>>,
}

impl GranEncoder {
    /// Creates an encoder for word vectors of dimension `word_dim`, with an LSTM of this hidden size.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] unless both sizes are above 0, or if gate 5, which adds words and states, has a
    /// hidden size other than `word_dim`; [`Error::TooLarge`] if the parameters do not fit in memory.
    pub fn new(word_dim: usize, hidden: usize, form: GranForm) -> Result<Self> {
        let GranForm { gate, pooling } = form;
        let lstm = LstmCell { input: word_dim, hidden, context: 0, peepholes: true, output_gate: true };
        lstm.check()?;
        if gate == GranGate::WordAndState && hidden != word_dim {
            let requirement = "the dimension of the word vectors for gate 5, which adds word vectors and states";
            return Err(Error::InvalidParameter { name: "hidden size", requirement, got: hidden.to_string() });
        }
        let new = Self { lstm, gate, pooling: pooling.unwrap_or(gate.pooling()) };
        let widest = word_dim.max(hidden);
        let fits = new.out_dim().checked_mul(2).and_then(|rows| rows.checked_mul(widest));
        fits.filter(|&n| n <= isize::MAX as usize / 8).ok_or(Error::TooLarge { rows: widest, dim: widest })?;
        Ok(new)
    }

    /// The word dimension.
    #[must_use]
    pub fn word_dim(&self) -> usize {
        self.lstm.input
    }

    /// The hidden size of the LSTM.
    #[must_use]
    pub fn hidden(&self) -> usize {
        self.lstm.hidden
    }

    /// The gate variant.
    #[must_use]
    pub fn gate(&self) -> GranGate {
        self.gate
    }

    /// The number of parameter values, as a float to avoid overflow.
    #[must_use]
    pub fn n_values(&self) -> f64 {
        let own = self.form().into_iter().map(|(_, [rows, columns])| rows as f64 * columns as f64);
        self.lstm.n_values() + own.sum::<f64>()
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
        compiled_here!(self, |this: &'a GranEncoder,
                              parameters: &'a Parameters<F>,
                              batch: &'a TokenBatch,
                              words: ArrayView2<'a, F>|
         -> Result<Array2<F>> { Ok(this.run(parameters, batch, words, false)?.0) })
    }

    fn out_dim(&self) -> usize {
        if self.gate == GranGate::State { self.lstm.hidden } else { self.lstm.input }
    }

    /// The width of a row of gates.
    fn width(&self) -> usize {
        self.gate.n_gates() * self.out_dim()
    }

    /// Names and shapes of the tensors of the gates.
    fn form(&self) -> Vec<(&'static str, [usize; 2])> {
        let (width, k) = (self.width(), self.out_dim());
        let memory = (self.gate == GranGate::WatchedMemory).then_some(("gate.memory", [width, k]));
        let always = [
            ("gate.input", [width, self.lstm.input]),
            ("gate.state", [width, self.lstm.hidden]),
            ("gate.bias", [1, width]),
        ];
        always.into_iter().chain(memory).collect()
    }

    fn weights<'a, F: Float>(&self, parameters: &'a Parameters<F>) -> Weights<'a, F> {
        let first = self.lstm.n_tensors();
        Weights {
            input: parameters[first].view(),
            state: parameters[first + 1].view(),
            bias: parameters[first + 2].values(),
            memory: (self.gate == GranGate::WatchedMemory).then(|| parameters[first + 3].view()),
        }
    }

    fn check_parameters<F: Float>(&self, parameters: &Parameters<F>) -> Result<()> {
        let (first, form) = (self.lstm.n_tensors(), self.form());
        check_size("tensors of the encoder", first + form.len(), parameters.len())?;
        self.lstm.check_tensors(parameters, 0)?;
        for (i, (_, [rows, columns])) in form.into_iter().enumerate() {
            check_size("rows of tensor of the gates", rows, parameters[first + i].shape()[0])?;
            check_size("columns of tensor of the gates", columns, parameters[first + i].shape()[1])?;
        }
        Ok(())
    }

    /// Returns an error for a state saved by another encoder or for another batch.
    fn check_saved<F: Float>(&self, batch: &TokenBatch, saved: &GranSaved<F>) -> Result<()> {
        let steps = Steps::of(batch)?;
        let total = steps.total();
        let of_form = saved.gates.len() == total * self.width()
            && saved.gated.len() == total * self.out_dim()
            && saved.states().len() == total * self.hidden()
            && saved.factors.is_some() == (self.gate == GranGate::Product);
        if of_form && saved.words == steps.words(batch, false) && saved.steps == steps {
            return Ok(());
        }
        let got = "one of other sentences or another encoder".into();
        Err(Error::InvalidParameter { name: "saved state", requirement: "that of this encoder and batch", got })
    }
}

crate::encoder::encoder_of_passes!(Encoder for GranEncoder, GranSaved<F>);

impl crate::encoder::Passes for GranEncoder {
    type Saved<F: Float> = GranSaved<F>;

    fn dim(&self) -> usize {
        self.out_dim()
    }

    fn init<F: Float>(&self, rng: &mut Stream) -> Result<Parameters<F>> {
        let mut parameters = Parameters::new();
        self.lstm.push("forward1", LstmInit::Normal, rng, &mut parameters)?;
        for (name, shape) in self.form() {
            let place = parameters.push_zeros(name, shape)?;
            if name != "gate.bias" {
                init::normal(rng, parameters[place].values_mut(), GATE_SD)?;
            }
        }
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
        d_words: Option<ArrayViewMut2<'_, F>>,
        d_parameters: &mut Parameters<F>,
    ) -> Result<()> {
        self.through(parameters, batch, words, saved, d_out, d_words, d_parameters)
    }
}
