//! Encoders of any kind as trait objects: dynamic dispatch happens once per batch or per sentence, not per word.

use std::{any::Any, fmt::Debug};

use ndarray::{Array2, ArrayView2, ArrayViewMut2};
use senv_core::{
    Error as CoreError, Result as CoreResult, Rows, Table, TokenId,
    arrays::{Parameters, TokenBatch},
    kernels,
    rng::Stream,
};
use senv_encoders::{
    Activation, Average, Encoder, FoldedCnn, GranEncoder, GranGate, GruEncoder, JoinedLstm, LstmEncoder, Pooling,
    SumPooledCnn,
};

use super::present_words::PresentWords;
use crate::data::reading::gather;

/// The passes of an encoder in f32 with a type-erased saved state, as the loop calls them. Do not implement it: every
/// [`Encoder`](senv_encoders::Encoder) that is `Debug`, `Send` and `Sync` has it.
pub trait AnyEncoder: Debug + Send + Sync {
    /// [`Encoder::dim`].
    fn dim(&self) -> usize;

    /// [`Encoder::init`].
    ///
    /// # Errors
    /// The errors of that method.
    fn init(&self, rng: &mut Stream) -> CoreResult<Parameters<f32>>;

    /// [`Encoder::forward`].
    ///
    /// # Errors
    /// The errors of that method.
    fn forward(
        &self,
        parameters: &Parameters<f32>,
        batch: &TokenBatch,
        words: ArrayView2<'_, f32>,
    ) -> CoreResult<(Array2<f32>, Box<dyn Any>)>;

    /// [`Encoder::backward`].
    ///
    /// # Errors
    /// The errors of that method; [`CoreError::ShapeMismatch`] if the saved state is of a different encoder.
    #[allow(clippy::too_many_arguments)]
    fn backward(
        &self,
        parameters: &Parameters<f32>,
        batch: &TokenBatch,
        words: ArrayView2<'_, f32>,
        saved: &dyn Any,
        d_out: ArrayView2<'_, f32>,
        d_words: Option<ArrayViewMut2<'_, f32>>,
        d_parameters: &mut Parameters<f32>,
    ) -> CoreResult<()>;
}

impl<E: Encoder<f32, Saved: Any> + Debug + Send + Sync> AnyEncoder for E {
    fn dim(&self) -> usize {
        Encoder::dim(self)
    }

    fn init(&self, rng: &mut Stream) -> CoreResult<Parameters<f32>> {
        Encoder::init(self, rng)
    }

    fn forward(
        &self,
        parameters: &Parameters<f32>,
        batch: &TokenBatch,
        words: ArrayView2<'_, f32>,
    ) -> CoreResult<(Array2<f32>, Box<dyn Any>)> {
        let (out, saved) = Encoder::forward(self, parameters, batch, words)?;
        Ok((out, Box::new(saved)))
    }

    fn backward(
        &self,
        parameters: &Parameters<f32>,
        batch: &TokenBatch,
        words: ArrayView2<'_, f32>,
        saved: &dyn Any,
        d_out: ArrayView2<'_, f32>,
        d_words: Option<ArrayViewMut2<'_, f32>>,
        d_parameters: &mut Parameters<f32>,
    ) -> CoreResult<()> {
        let other = CoreError::ShapeMismatch { what: "saved state of a different encoder", expected: 1, got: 0 };
        let saved = saved.downcast_ref().ok_or(other)?;
        Encoder::backward(self, parameters, batch, words, saved, d_out, d_words, d_parameters)
    }
}

/// An encoder that is trained with a head and stored in a model: what both need in addition to its passes. The default
/// methods are right for most encoders.
pub(crate) trait TrainableEncoder: AnyEncoder {
    /// The number of its parameters, as an approximate f64; can be 0 if it has no more of them than a word has values.
    fn n_values(&self) -> f64;

    /// Whether it multiplies matrices word by word: then a batch is faster than single sentences, and gradients can
    /// explode.
    fn is_recurrent(&self) -> bool {
        false
    }

    /// Arranges the tokens of a sentence as it reads them: all in order, or distinct ones.
    fn arrange(&self, _tokens: &mut Vec<TokenId>) {}

    /// The sentence vectors, from trained parameters.
    fn encode(
        &self,
        parameters: &Parameters<f32>,
        batch: &TokenBatch,
        words: ArrayView2<'_, f32>,
    ) -> CoreResult<Array2<f32>> {
        Ok(self.forward(parameters, batch, words)?.0)
    }

    /// The vector of one sentence; `_values` is scratch.
    fn encode_into(
        &self,
        parameters: &Parameters<f32>,
        words: &Table,
        tokens: &[TokenId],
        _values: &mut Vec<f32>,
        out: &mut [f32],
    ) -> CoreResult<()> {
        let (batch, rows) = gather(words, &[tokens])?;
        let vector = self.encode(parameters, &batch, rows.view())?;
        out.iter_mut().zip(&vector).for_each(|(to, &x)| *to = x);
        Ok(())
    }

    /// Scales all sentence vectors, if words or parameters leave their length free; otherwise does nothing.
    fn scale(&self, _factor: f32, _words: &mut Table, _parameters: &mut Parameters<f32>) {}

    /// Scales all words and compensates in the weights that multiply them, so sentence vectors do not change. Returns
    /// false if it cannot: an average has no weights, and GRAN passes words through.
    fn scale_words(&self, _factor: f32, _words: &mut Table, _parameters: &mut Parameters<f32>) -> bool {
        false
    }

    /// Words and parameters folded into one table, if that is possible and fits in memory.
    fn folded(&self, _parameters: &Parameters<f32>, _words: &Table) -> Option<FoldedCnn> {
        None
    }
}

/// Multiplies all rows by `factor`.
fn scale_rows(factor: f32, words: &mut Table) {
    (0..words.n_rows()).for_each(|i| kernels::scale(factor, words.row_mut(i)));
}

/// Multiplies the tensors with a matching name by `factor`.
fn scale_tensors(factor: f32, parameters: &mut Parameters<f32>, has_name: impl Fn(&str) -> bool) {
    let named = parameters.iter_mut().filter(|tensor| has_name(tensor.name()));
    named.for_each(|tensor| kernels::scale(factor, tensor.values_mut()));
}

/// Whether these are weights of the lowest layer of a recurrent encoder, which multiply words.
fn reads_words(name: &str) -> bool {
    matches!(name, "forward1.input" | "backward1.input" | "gate.input")
}

/// [`TrainableEncoder::scale_words`] of a recurrent encoder that only multiplies words.
fn scale_read_words(factor: f32, words: &mut Table, parameters: &mut Parameters<f32>) -> bool {
    scale_rows(factor, words);
    scale_tensors(factor.recip(), parameters, reads_words);
    true
}

impl TrainableEncoder for Average {
    fn n_values(&self) -> f64 {
        0.0
    }

    /// Scales each row by its share, whereas training scales the sum: existing models stay bit-identical.
    fn encode_into(
        &self,
        _: &Parameters<f32>,
        words: &Table,
        tokens: &[TokenId],
        _: &mut Vec<f32>,
        out: &mut [f32],
    ) -> CoreResult<()> {
        let share = if self.pooling == Pooling::Sum { 1.0 } else { 1.0 / tokens.len().max(1) as f32 };
        out.fill(0.0);
        tokens.iter().for_each(|token| kernels::axpy(share, words.row(token.index()), out));
        Ok(())
    }

    fn scale(&self, factor: f32, words: &mut Table, _: &mut Parameters<f32>) {
        scale_rows(factor, words);
    }
}

impl TrainableEncoder for PresentWords {
    fn n_values(&self) -> f64 {
        0.0
    }

    fn arrange(&self, tokens: &mut Vec<TokenId>) {
        tokens.sort_unstable();
        tokens.dedup();
    }
}

impl TrainableEncoder for SumPooledCnn {
    fn n_values(&self) -> f64 {
        Self::n_values(self)
    }

    fn encode_into(
        &self,
        parameters: &Parameters<f32>,
        words: &Table,
        tokens: &[TokenId],
        values: &mut Vec<f32>,
        out: &mut [f32],
    ) -> CoreResult<()> {
        Self::encode_into(self, parameters, words, tokens, values, out)
    }

    fn scale(&self, factor: f32, _: &mut Table, parameters: &mut Parameters<f32>) {
        if self.activation() == Activation::Linear {
            parameters.iter_mut().for_each(|tensor| kernels::scale(factor, tensor.values_mut()));
        }
    }

    /// Biases are added after the filters and do not change.
    fn scale_words(&self, factor: f32, words: &mut Table, parameters: &mut Parameters<f32>) -> bool {
        scale_rows(factor, words);
        scale_tensors(factor.recip(), parameters, |name| name.starts_with("filter"));
        true
    }

    fn folded(&self, parameters: &Parameters<f32>, words: &Table) -> Option<FoldedCnn> {
        FoldedCnn::new(self, parameters, words).ok()
    }
}

/// Recurrent encoders have a forward pass that saves nothing.
macro_rules! recurrent {
    ($($encoder:ident { $($scaling:tt)* })+) => {
        $(impl TrainableEncoder for $encoder {
            fn n_values(&self) -> f64 {
                Self::n_values(self)
            }

            fn is_recurrent(&self) -> bool {
                true
            }

            fn encode(
                &self,
                parameters: &Parameters<f32>,
                batch: &TokenBatch,
                words: ArrayView2<'_, f32>,
            ) -> CoreResult<Array2<f32>> {
                Self::encode(self, parameters, batch, words)
            }

            $($scaling)*
        })+
    };
}
recurrent! {
    GruEncoder {
        fn scale_words(&self, factor: f32, words: &mut Table, parameters: &mut Parameters<f32>) -> bool {
            scale_read_words(factor, words, parameters)
        }
    }
    LstmEncoder {
        fn scale_words(&self, factor: f32, words: &mut Table, parameters: &mut Parameters<f32>) -> bool {
            scale_read_words(factor, words, parameters)
        }
    }
    JoinedLstm {
        fn scale_words(&self, factor: f32, words: &mut Table, parameters: &mut Parameters<f32>) -> bool {
            scale_read_words(factor, words, parameters)
        }
    }
    GranEncoder {
        /// Gates that only pass words through give vectors proportional to the words, if the input of the gates does
        /// not change.
        fn scale(&self, factor: f32, words: &mut Table, parameters: &mut Parameters<f32>) {
            if matches!(
                self.gate(),
                GranGate::Word | GranGate::Memory | GranGate::WatchedMemory | GranGate::Product
            ) {
                scale_rows(factor, words);
                // The previous gated vector, which gate 4 also reads, is scaled too.
                scale_tensors(factor.recip(), parameters, |name| reads_words(name) || name == "gate.memory");
            }
        }

        fn scale_words(&self, factor: f32, words: &mut Table, parameters: &mut Parameters<f32>) -> bool {
            matches!(self.gate(), GranGate::State | GranGate::Projection)
                && scale_read_words(factor, words, parameters)
        }
    }
}

#[cfg(test)]
mod tests {
    use senv_core::{init, rng::stream};
    use senv_encoders::{GruInit, GruStyle, LstmInit, Padding, RecurrentTopology, StatePooling, Window};

    use super::*;
    use crate::gradient::EncoderForm;

    const DIM: usize = 5;

    /// Every encoder, and every gate of GRAN.
    fn forms() -> Vec<EncoderForm> {
        let cnn = |activation| EncoderForm::Cnn {
            windows: [1, 3].map(|width| Window { width, n_filters: 4 }).into(),
            activation,
            padding: Padding::PerFilter,
        };
        let gru = |topology| EncoderForm::Gru {
            hidden: 4,
            layers: 2,
            topology,
            style: GruStyle::Release,
            start: GruInit::Glorot,
        };
        let lstm = EncoderForm::Lstm {
            hidden: 4,
            layers: 2,
            topology: RecurrentTopology::Interleaved,
            pooling: StatePooling::Max,
            peepholes: true,
            start: LstmInit::Normal,
        };
        let gran = |gate: GranGate| EncoderForm::Gran { hidden: DIM, gate, pooling: gate.pooling() };
        let mut forms = vec![EncoderForm::Average, EncoderForm::Sum, EncoderForm::PresentWords];
        forms.extend([Activation::Linear, Activation::Tanh].map(cnn));
        forms.extend([RecurrentTopology::Forward, RecurrentTopology::Separate].map(gru));
        forms.extend([lstm, EncoderForm::JoinedLstm { hidden: 4, pooling: StatePooling::Mean }]);
        forms.extend(
            [
                GranGate::Word,
                GranGate::State,
                GranGate::Memory,
                GranGate::WatchedMemory,
                GranGate::WordAndState,
                GranGate::Projection,
                GranGate::Product,
            ]
            .map(gran),
        );
        forms
    }

    /// An encoder with random weights including biases, its words, and sentences of one to four words.
    fn random(form: &EncoderForm) -> (std::sync::Arc<dyn TrainableEncoder>, Parameters<f32>, Table, TokenBatch) {
        let encoder = form.encoder(DIM).unwrap();
        let mut rng = stream(3, "scaling", &[]);
        let mut parameters = encoder.init(&mut rng).unwrap();
        parameters.iter_mut().for_each(|tensor| init::normal(&mut rng, tensor.values_mut(), 0.5).unwrap());
        let mut words = Table::zeros(6, DIM).unwrap();
        (0..6).for_each(|i| init::normal(&mut rng, words.row_mut(i), 2.0).unwrap());
        let mut batch = TokenBatch::new();
        let sentences =
            [&[5][..], &[1, 0], &[2, 4, 1], &[0, 3, 3, 2]].map(|ids| ids.iter().map(|&id| TokenId(id)).collect());
        batch.assign(sentences.iter().map(Vec::as_slice)).unwrap();
        (encoder, parameters, words, batch)
    }

    fn vectors(
        encoder: &dyn TrainableEncoder,
        parameters: &Parameters<f32>,
        words: &Table,
        batch: &TokenBatch,
    ) -> Array2<f32> {
        encoder.encode(parameters, batch, batch.gather(words).unwrap().view()).unwrap()
    }

    fn largest_difference(a: &Array2<f32>, b: &Array2<f32>) -> f32 {
        a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
    }

    #[test]
    fn words_are_scaled_where_weights_take_it_back_and_vectors_stay() {
        for form in forms() {
            let (encoder, mut parameters, mut words, batch) = random(&form);
            let (before, first) = (vectors(&*encoder, &parameters, &words, &batch), words.row(2).to_vec());
            let scaled = encoder.scale_words(0.3, &mut words, &mut parameters);
            let hands_words_on = match &form {
                EncoderForm::Gran { gate, .. } => !matches!(gate, GranGate::State | GranGate::Projection),
                form => matches!(form, EncoderForm::Average | EncoderForm::Sum | EncoderForm::PresentWords),
            };
            assert_eq!(scaled, !hands_words_on, "{form:?}");
            let factor = if scaled { 0.3 } else { 1.0 };
            assert!(words.row(2).iter().zip(&first).all(|(x, first)| *x == factor * first), "{form:?}");
            let difference = largest_difference(&vectors(&*encoder, &parameters, &words, &batch), &before);
            // Sums of a few hundred f32 products, with values of the order of 1 to 10.
            assert!(difference < 2e-5, "{form:?} {difference}");
        }
    }

    #[test]
    fn vectors_of_free_length_are_scaled_and_the_others_stay() {
        for form in forms() {
            let (encoder, mut parameters, mut words, batch) = random(&form);
            let before = vectors(&*encoder, &parameters, &words, &batch);
            encoder.scale(0.3, &mut words, &mut parameters);
            let is_free = match &form {
                EncoderForm::Average | EncoderForm::Sum => true,
                EncoderForm::Cnn { activation, .. } => *activation == Activation::Linear,
                EncoderForm::Gran { gate, .. } => {
                    !matches!(gate, GranGate::State | GranGate::Projection | GranGate::WordAndState)
                }
                _ => false,
            };
            let expected = before * if is_free { 0.3 } else { 1.0 };
            let difference = largest_difference(&vectors(&*encoder, &parameters, &words, &batch), &expected);
            assert!(difference < 2e-5, "{form:?} {difference}");
        }
    }

    #[test]
    fn the_saved_state_of_another_encoder_is_refused() {
        let (sum, squashed) = (Average::new(2, Pooling::Sum), PresentWords::new(2));
        let encoders: [&dyn TrainableEncoder; 2] = [&sum, &squashed];
        let mut batch = TokenBatch::new();
        batch.assign([&[TokenId(3)][..]]).unwrap();
        let words = Array2::from_elem((1, 2), 0.5);
        for (i, encoder) in encoders.iter().enumerate() {
            let parameters = encoder.init(&mut senv_core::rng::stream(1, "encoder", &[])).unwrap();
            let (out, saved) = encoder.forward(&parameters, &batch, words.view()).unwrap();
            for (j, other) in encoders.iter().enumerate() {
                let parameters = other.init(&mut senv_core::rng::stream(1, "encoder", &[])).unwrap();
                let mut d_parameters = parameters.zeros_like();
                let back =
                    other.backward(&parameters, &batch, words.view(), &*saved, out.view(), None, &mut d_parameters);
                assert_eq!(back.is_ok(), i == j);
            }
        }
    }
}
