//! The encoders of the SNLI models: a sum of words, or a recurrent encoder.

use ndarray::{Array2, ArrayView2, ArrayViewMut2};
use senv_core::{
    Error as CoreError, Parameters, Result as CoreResult, Stream, TokenBatch,
    hyperparameters::{Hyperparameter, Hyperparameters, Section, belongs_to, set_value},
};
use senv_encoders::{Average, Encoder, GruEncoder, GruInit, GruSaved, GruStyle, GruTopology, Pooling};
use serde::{Deserialize, Serialize};

use crate::Result;

/// The form of the encoder of an SNLI model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SnliEncoder {
    /// The sum of the word vectors.
    Bow,
    /// Recurrent encoders.
    Rnn {
        /// Hidden size of each direction in a layer.
        hidden: usize,
        /// Layers, at least 1.
        layers: usize,
        /// How directions and layers are joined.
        topology: GruTopology,
        /// The form of the cells.
        style: GruStyle,
        /// Where the weights start.
        start: GruInit,
    },
}

impl SnliEncoder {
    /// The paper's SNLI RNN: one direction, hidden size 2400, recurrent matrices orthogonal at the start.
    #[must_use]
    pub fn rnn() -> Self {
        Self::Rnn {
            hidden: 2400,
            layers: 1,
            topology: GruTopology::Forward,
            style: GruStyle::Paper,
            start: GruInit::Orthogonal,
        }
    }

    /// The same tensors, with a start that takes no time.
    pub(crate) fn cheap(&self) -> Self {
        match self.clone() {
            Self::Bow => Self::Bow,
            Self::Rnn { hidden, layers, topology, style, .. } => {
                Self::Rnn { hidden, layers, topology, style, start: GruInit::Glorot }
            }
        }
    }

    /// The encoder over word vectors of `dim` numbers.
    pub(crate) fn build(&self, dim: usize) -> Result<PairEncoder> {
        Ok(match self {
            Self::Bow => PairEncoder::Sum(Average::new(dim, Pooling::Sum)),
            Self::Rnn { hidden, layers, topology, style, start } => {
                PairEncoder::Gru(GruEncoder::new(dim, *hidden, *layers, *topology, *style, *start)?)
            }
        })
    }
}

/// Settings of the recurrent encoder; the sum of word vectors has none.
impl Hyperparameters for SnliEncoder {
    fn hyperparameters(&self) -> Vec<Hyperparameter> {
        let applies = matches!(self, Self::Rnn { .. });
        let (hidden, layers, topology, style) = match self {
            Self::Rnn { hidden, layers, topology, style, .. } => (*hidden, *layers, *topology, *style),
            Self::Bow => {
                return Self::rnn().hyperparameters().into_iter().map(|h| Hyperparameter { applies, ..h }).collect();
            }
        };
        let section = Section::Training;
        vec![
            Hyperparameter::of(
                "sentence_dim",
                &["Hidden size of each direction in a layer (rnn)."],
                section,
                None,
                &hidden,
            ),
            Hyperparameter::of("layers", &["Stacked layers, at least 1 (rnn)."], section, None, &layers),
            Hyperparameter::of("topology", &["How directions and layers are joined (rnn)."], section, None, &topology),
            Hyperparameter::of("style", &["Equations of the GRU cells (rnn)."], section, None, &style),
        ]
    }

    fn set(&mut self, name: &str, text: &str) -> CoreResult<bool> {
        if !["sentence_dim", "layers", "topology", "style"].contains(&name) {
            return Ok(false);
        }
        let Self::Rnn { hidden, layers, topology, style, .. } = self else {
            return Err(belongs_to(name, text, "the encoder rnn"));
        };
        match name {
            "sentence_dim" => set_value(hidden, name, text)?,
            "layers" => set_value(layers, name, text)?,
            "topology" => set_value(topology, name, text)?,
            _ => set_value(style, name, text)?,
        }
        Ok(true)
    }

    /// [`SnliEncoder::build`] checks the shape.
    fn check_ranges(&self) -> CoreResult<()> {
        Ok(())
    }
}

/// One of the encoders.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum PairEncoder {
    Sum(Average),
    Gru(GruEncoder),
}

/// What either keeps for its backward pass.
pub(crate) enum PairSaved {
    Sum,
    Gru(Box<GruSaved<f32>>),
}

impl PairEncoder {
    /// The sentence vectors of trained parameters.
    pub(crate) fn encode(
        &self,
        parameters: &Parameters<f32>,
        batch: &TokenBatch,
        words: ArrayView2<'_, f32>,
    ) -> CoreResult<Array2<f32>> {
        match self {
            Self::Sum(sum) => Ok(sum.forward(parameters, batch, words)?.0),
            Self::Gru(gru) => gru.encode(parameters, batch, words),
        }
    }
}

impl Encoder<f32> for PairEncoder {
    type Saved = PairSaved;

    fn dim(&self) -> usize {
        match self {
            Self::Sum(sum) => Encoder::<f32>::dim(sum),
            Self::Gru(gru) => Encoder::<f32>::dim(gru),
        }
    }

    fn init(&self, rng: &mut Stream) -> CoreResult<Parameters<f32>> {
        match self {
            Self::Sum(sum) => sum.init(rng),
            Self::Gru(gru) => gru.init(rng),
        }
    }

    fn forward(
        &self,
        parameters: &Parameters<f32>,
        batch: &TokenBatch,
        words: ArrayView2<'_, f32>,
    ) -> CoreResult<(Array2<f32>, PairSaved)> {
        match self {
            Self::Sum(sum) => Ok((sum.forward(parameters, batch, words)?.0, PairSaved::Sum)),
            Self::Gru(gru) => {
                let (out, saved) = gru.forward(parameters, batch, words)?;
                Ok((out, PairSaved::Gru(Box::new(saved))))
            }
        }
    }

    fn backward(
        &self,
        parameters: &Parameters<f32>,
        batch: &TokenBatch,
        words: ArrayView2<'_, f32>,
        saved: &PairSaved,
        d_out: ArrayView2<'_, f32>,
        d_words: Option<ArrayViewMut2<'_, f32>>,
        d_parameters: &mut Parameters<f32>,
    ) -> CoreResult<()> {
        match (self, saved) {
            (Self::Sum(sum), PairSaved::Sum) => {
                sum.backward(parameters, batch, words, &(), d_out, d_words, d_parameters)
            }
            (Self::Gru(gru), PairSaved::Gru(saved)) => {
                gru.backward(parameters, batch, words, saved, d_out, d_words, d_parameters)
            }
            _ => Err(CoreError::ShapeMismatch { what: "saved state of another encoder", expected: 1, got: 0 }),
        }
    }
}
