//! The encoders that are trained together with a head: sums and averages of words, filters, recurrent encoders.

use ndarray::{Array2, ArrayView2, ArrayViewMut2};
use senv_core::{
    Result as CoreResult, Rows, Table, TokenId,
    arrays::{Parameters, TokenBatch},
    kernels,
    rng::Stream,
};
use senv_encoders::{
    Activation, Average, CnnSaved, Encoder, GranEncoder, GranForm, GranGate, GranSaved, GruEncoder, GruInit, GruSaved,
    GruStyle, JoinedLstm, JoinedLstmSaved, LstmEncoder, LstmForm, LstmInit, LstmSaved, Padding, Pooling,
    RecurrentTopology, StatePooling, SumPooledCnn, Window,
};
use senv_store::ModelFile;
use serde::{Deserialize, Serialize};

use crate::{
    base::configuration::{expect_layers, expect_values},
    data::reading::gather,
    error::Result,
    gradient::present_words::PresentWords,
};

/// The shape of an encoder over word vectors.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EncoderForm {
    /// The mean of the words.
    Average,
    /// Their sum.
    Sum,
    /// The sum of the distinct words and a bias, squashed: BOW AE.
    PresentWords,
    /// Filters over windows of words, summed.
    Cnn {
        /// Windows and their filters.
        windows: Vec<Window>,
        /// Function of the result of a filter.
        activation: Activation,
        /// Padding of sentences shorter than a window.
        padding: Padding,
    },
    /// A recurrent encoder.
    Gru {
        /// Hidden size of each direction in a layer.
        hidden: usize,
        /// Layers, at least 1.
        layers: usize,
        /// How directions and layers are joined.
        topology: RecurrentTopology,
        /// Equations of the cells.
        style: GruStyle,
        /// Initial weights.
        start: GruInit,
    },
    /// An LSTM encoder.
    Lstm {
        /// Hidden size of each direction in a layer.
        hidden: usize,
        /// Layers, at least 1.
        layers: usize,
        /// How directions and layers are joined.
        topology: RecurrentTopology,
        /// What the states of a sentence become.
        pooling: StatePooling,
        /// Whether the gates look at the cell.
        peepholes: bool,
        /// Initial weights.
        start: LstmInit,
    },
    /// Both directions of an LSTM, joined by a tanh layer of the dimension of the words.
    JoinedLstm {
        /// Hidden size of each direction.
        hidden: usize,
        /// What the joined states of a sentence become.
        pooling: StatePooling,
    },
    /// Word vectors through gates that see the sentence.
    Gran {
        /// Hidden size of the LSTM.
        hidden: usize,
        /// What the gate lets through.
        gate: GranGate,
        /// What the gated vectors of a sentence become.
        pooling: StatePooling,
    },
}

impl EncoderForm {
    /// The encoder over word vectors of dimension `dim`.
    pub(crate) fn encoder(&self, dim: usize) -> Result<TrainableEncoder> {
        Ok(match self {
            Self::Average => TrainableEncoder::Pooled(Average { dim, pooling: Pooling::Mean }),
            Self::Sum => TrainableEncoder::Pooled(Average { dim, pooling: Pooling::Sum }),
            Self::PresentWords => TrainableEncoder::Present(PresentWords::new(dim)),
            Self::Cnn { windows, activation, padding } => {
                TrainableEncoder::Cnn(SumPooledCnn::new(dim, windows.clone(), *activation, *padding)?)
            }
            Self::Gru { hidden, layers, topology, style, start } => {
                TrainableEncoder::Gru(GruEncoder::new(dim, *hidden, *layers, *topology, *style, *start)?)
            }
            Self::Lstm { hidden, layers, topology, pooling, peepholes, start } => {
                let (topology, pooling, peepholes, start) = (*topology, *pooling, *peepholes, *start);
                let form = LstmForm { topology, pooling, peepholes, start, ..LstmForm::default() };
                TrainableEncoder::Lstm(LstmEncoder::new(dim, *hidden, *layers, form)?)
            }
            Self::JoinedLstm { hidden, pooling } => {
                TrainableEncoder::JoinedLstm(JoinedLstm::new(dim, *hidden, dim, *pooling)?)
            }
            Self::Gran { hidden, gate, pooling } => {
                let form = GranForm { gate: *gate, pooling: Some(*pooling) };
                TrainableEncoder::Gran(GranEncoder::new(dim, *hidden, form)?)
            }
        })
    }

    /// Whether it multiplies matrices, so that many sentences at once take less time than one after another.
    pub(crate) fn is_recurrent(&self) -> bool {
        match self {
            Self::Average | Self::Sum | Self::PresentWords | Self::Cnn { .. } => false,
            Self::Gru { .. } | Self::Lstm { .. } | Self::JoinedLstm { .. } | Self::Gran { .. } => true,
        }
    }

    /// Refuses an encoder of more values or layers than the file has.
    pub(crate) fn check(&self, dim: usize, file: &ModelFile) -> Result<()> {
        let encoder = self.encoder(dim)?;
        match &encoder {
            TrainableEncoder::Pooled(_) | TrainableEncoder::Present(_) => Ok(()),
            TrainableEncoder::Cnn(cnn) => expect_values(file, "the encoder", cnn.n_values()),
            TrainableEncoder::Gru(gru) => {
                expect_layers(file, gru.layers())?;
                expect_values(file, "the encoder", gru.n_values())
            }
            TrainableEncoder::Lstm(lstm) => {
                if let Self::Lstm { layers, .. } = self {
                    expect_layers(file, *layers)?;
                }
                expect_values(file, "the encoder", lstm.n_values())
            }
            TrainableEncoder::JoinedLstm(lstm) => expect_values(file, "the encoder", lstm.n_values()),
            TrainableEncoder::Gran(gran) => expect_values(file, "the encoder", gran.n_values()),
        }
    }

    /// The same tensors, with initial weights that take no time.
    pub(crate) fn cheap(&self) -> Self {
        match self.clone() {
            Self::Gru { hidden, layers, topology, style, .. } => {
                Self::Gru { hidden, layers, topology, style, start: GruInit::Glorot }
            }
            Self::Lstm { hidden, layers, topology, pooling, peepholes, .. } => {
                Self::Lstm { hidden, layers, topology, pooling, peepholes, start: LstmInit::Torch }
            }
            form => form,
        }
    }
}

/// One of the encoders.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum TrainableEncoder {
    Pooled(Average),
    Present(PresentWords),
    Cnn(SumPooledCnn),
    Gru(GruEncoder),
    Lstm(LstmEncoder),
    JoinedLstm(JoinedLstm),
    Gran(GranEncoder),
}

impl TrainableEncoder {
    /// What of the tokens of a sentence it reads: distinct ones, or all in their order.
    pub(crate) fn arrange(&self, tokens: &mut Vec<TokenId>) {
        if let Self::Present(_) = self {
            tokens.sort_unstable();
            tokens.dedup();
        }
    }

    /// The sentence vectors of trained parameters.
    pub(crate) fn encode(
        &self,
        parameters: &Parameters<f32>,
        batch: &TokenBatch,
        words: ArrayView2<'_, f32>,
    ) -> CoreResult<Array2<f32>> {
        match self {
            Self::Gru(gru) => gru.encode(parameters, batch, words),
            Self::Lstm(lstm) => lstm.encode(parameters, batch, words),
            Self::JoinedLstm(lstm) => lstm.encode(parameters, batch, words),
            Self::Gran(gran) => gran.encode(parameters, batch, words),
            _ => Ok(self.forward(parameters, batch, words)?.0),
        }
    }

    /// The vector of one sentence.
    pub(crate) fn encode_into(
        &self,
        parameters: &Parameters<f32>,
        words: &Table,
        tokens: &[TokenId],
        values: &mut Vec<f32>,
        out: &mut [f32],
    ) -> CoreResult<()> {
        match self {
            Self::Pooled(average) => {
                // Each row times its share, where training scales the sum: models that are in use keep the last bit.
                let share = if average.pooling == Pooling::Sum { 1.0 } else { 1.0 / tokens.len().max(1) as f32 };
                out.fill(0.0);
                tokens.iter().for_each(|token| kernels::axpy(share, words.row(token.index()), out));
                Ok(())
            }
            Self::Cnn(cnn) => cnn.encode_into(parameters, words, tokens, values, out),
            Self::Present(_) | Self::Gru(_) | Self::Lstm(_) | Self::JoinedLstm(_) | Self::Gran(_) => {
                let (batch, rows) = gather(words, &[tokens])?;
                let vector = self.encode(parameters, &batch, rows.view())?;
                out.iter_mut().zip(&vector).for_each(|(to, &x)| *to = x);
                Ok(())
            }
        }
    }
}

/// The saved state of any of them for the backward pass.
pub(crate) enum SavedState {
    Pooled,
    Present(Array2<f32>),
    Cnn(CnnSaved<f32>),
    Gru(Box<GruSaved<f32>>),
    Lstm(Box<LstmSaved<f32>>),
    JoinedLstm(Box<JoinedLstmSaved<f32>>),
    Gran(Box<GranSaved<f32>>),
}

impl Encoder<f32> for TrainableEncoder {
    type Saved = SavedState;

    fn dim(&self) -> usize {
        match self {
            Self::Pooled(encoder) => Encoder::<f32>::dim(encoder),
            Self::Present(encoder) => Encoder::<f32>::dim(encoder),
            Self::Cnn(encoder) => Encoder::<f32>::dim(encoder),
            Self::Gru(encoder) => Encoder::<f32>::dim(encoder),
            Self::Lstm(encoder) => Encoder::<f32>::dim(encoder),
            Self::JoinedLstm(encoder) => Encoder::<f32>::dim(encoder),
            Self::Gran(encoder) => Encoder::<f32>::dim(encoder),
        }
    }

    fn init(&self, rng: &mut Stream) -> CoreResult<Parameters<f32>> {
        match self {
            Self::Pooled(encoder) => encoder.init(rng),
            Self::Present(encoder) => encoder.init(rng),
            Self::Cnn(encoder) => encoder.init(rng),
            Self::Gru(encoder) => encoder.init(rng),
            Self::Lstm(encoder) => encoder.init(rng),
            Self::JoinedLstm(encoder) => encoder.init(rng),
            Self::Gran(encoder) => encoder.init(rng),
        }
    }

    fn forward(
        &self,
        parameters: &Parameters<f32>,
        batch: &TokenBatch,
        words: ArrayView2<'_, f32>,
    ) -> CoreResult<(Array2<f32>, SavedState)> {
        Ok(match self {
            Self::Pooled(encoder) => (encoder.forward(parameters, batch, words)?.0, SavedState::Pooled),
            Self::Present(encoder) => {
                let (out, saved) = encoder.forward(parameters, batch, words)?;
                (out, SavedState::Present(saved))
            }
            Self::Cnn(encoder) => {
                let (out, saved) = encoder.forward(parameters, batch, words)?;
                (out, SavedState::Cnn(saved))
            }
            Self::Gru(encoder) => {
                let (out, saved) = encoder.forward(parameters, batch, words)?;
                (out, SavedState::Gru(Box::new(saved)))
            }
            Self::Lstm(encoder) => {
                let (out, saved) = encoder.forward(parameters, batch, words)?;
                (out, SavedState::Lstm(Box::new(saved)))
            }
            Self::JoinedLstm(encoder) => {
                let (out, saved) = encoder.forward(parameters, batch, words)?;
                (out, SavedState::JoinedLstm(Box::new(saved)))
            }
            Self::Gran(encoder) => {
                let (out, saved) = encoder.forward(parameters, batch, words)?;
                (out, SavedState::Gran(Box::new(saved)))
            }
        })
    }

    fn backward(
        &self,
        parameters: &Parameters<f32>,
        batch: &TokenBatch,
        words: ArrayView2<'_, f32>,
        saved: &SavedState,
        d_out: ArrayView2<'_, f32>,
        d_words: Option<ArrayViewMut2<'_, f32>>,
        d_parameters: &mut Parameters<f32>,
    ) -> CoreResult<()> {
        match (self, saved) {
            (Self::Pooled(encoder), SavedState::Pooled) => {
                encoder.backward(parameters, batch, words, &(), d_out, d_words, d_parameters)
            }
            (Self::Present(encoder), SavedState::Present(saved)) => {
                encoder.backward(parameters, batch, words, saved, d_out, d_words, d_parameters)
            }
            (Self::Cnn(encoder), SavedState::Cnn(saved)) => {
                encoder.backward(parameters, batch, words, saved, d_out, d_words, d_parameters)
            }
            (Self::Gru(encoder), SavedState::Gru(saved)) => {
                encoder.backward(parameters, batch, words, saved, d_out, d_words, d_parameters)
            }
            (Self::Lstm(encoder), SavedState::Lstm(saved)) => {
                encoder.backward(parameters, batch, words, saved, d_out, d_words, d_parameters)
            }
            (Self::JoinedLstm(encoder), SavedState::JoinedLstm(saved)) => {
                encoder.backward(parameters, batch, words, saved, d_out, d_words, d_parameters)
            }
            (Self::Gran(encoder), SavedState::Gran(saved)) => {
                encoder.backward(parameters, batch, words, saved, d_out, d_words, d_parameters)
            }
            _ => Err(senv_core::Error::ShapeMismatch { what: "saved state of another encoder", expected: 1, got: 0 }),
        }
    }
}
