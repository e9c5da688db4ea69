//! The form of an encoder with decoders, and the parts built from it.

use ndarray::{Array2, ArrayView2};
use senv_core::{
    Error as CoreError, Result as CoreResult,
    arrays::{Float, Parameters, TokenBatch},
    hyperparameters::{Hyperparameter, Hyperparameters, Section, belongs_to, named_values, set_value},
    rng::{Stream, stream},
};
use senv_encoders::{Conditioning, Decoder, Encoder, FirstInput, RecurrentTopology};
use senv_losses::{AdaptiveSoftmax, DEFAULT_SAMPLED, Reduction, RowGradients, SampledSoftmax, SampledWords, TokenNll};
use senv_store::ModelFile;
use serde::{Deserialize, Serialize};

use super::cell::{Networks, SequenceCell, with_network};
use crate::{
    base::configuration::{expect_layers, expect_values},
    data::reading::END,
    error::Result,
};

/// Output layers over the words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum OutputForm {
    /// Full softmax over all words.
    Full,
    /// Sampled softmax: in training over a few words drawn by frequency, afterwards over all of them.
    Sampled {
        /// How many words to draw, at least 1; never more than the vocabulary has.
        words: usize,
    },
    /// Adaptive softmax in clusters by frequency.
    Adaptive {
        /// Where clusters start, in ascending order. Cutoffs at or above the number of words are ignored.
        cutoffs: Vec<usize>,
    },
}

/// Output layers by name.
enum OutputName {
    Full,
    Sampled,
    Adaptive,
}
named_values!(OutputName {
    Full = "full": "Over all words: exact but slow",
    Sampled = "sampled": "During training, over a few words sampled by frequency",
    Adaptive = "adaptive": "Over clusters of words by frequency",
});

/// Where clusters of the adaptive softmax start by default.
const CUTOFFS: [usize; 2] = [2_000, 10_000];

impl Hyperparameters for OutputForm {
    fn hyperparameters(&self) -> Vec<Hyperparameter> {
        let (name, samples, cutoffs) = match self {
            Self::Full => (OutputName::Full, None, None),
            Self::Sampled { words } => (OutputName::Sampled, Some(*words), None),
            Self::Adaptive { cutoffs } => (OutputName::Adaptive, None, Some(cutoffs.clone())),
        };
        let samples = Hyperparameter {
            applies: samples.is_some(),
            ..Hyperparameter::of(
                "samples",
                &["Words sampled per step for the sampled softmax, at least 1."],
                Section::Training,
                None,
                &samples.unwrap_or(DEFAULT_SAMPLED),
            )
        };
        let cutoffs = Hyperparameter {
            applies: cutoffs.is_some(),
            ..Hyperparameter::of(
                "cutoffs",
                &["First word of each cluster of the adaptive softmax, in ascending order."],
                Section::Training,
                None,
                &cutoffs.unwrap_or(CUTOFFS.to_vec()),
            )
        };
        vec![
            Hyperparameter::of("softmax", &["Softmax over the next word."], Section::Training, None, &name),
            samples,
            cutoffs,
        ]
    }

    fn set(&mut self, name: &str, text: &str) -> CoreResult<bool> {
        match (name, &mut *self) {
            ("softmax", form) => {
                let mut chosen = OutputName::Full;
                set_value(&mut chosen, name, text)?;
                *form = match chosen {
                    OutputName::Full => Self::Full,
                    OutputName::Sampled => Self::Sampled { words: DEFAULT_SAMPLED },
                    OutputName::Adaptive => Self::Adaptive { cutoffs: CUTOFFS.to_vec() },
                };
            }
            ("samples", Self::Sampled { words }) => set_value(words, name, text)?,
            ("cutoffs", Self::Adaptive { cutoffs }) => set_value(cutoffs, name, text)?,
            ("samples", _) => return Err(belongs_to(name, text, "softmax = sampled")),
            ("cutoffs", _) => return Err(belongs_to(name, text, "softmax = adaptive")),
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn check_ranges(&self) -> CoreResult<()> {
        match self {
            Self::Sampled { words: 0 } => {
                Err(CoreError::InvalidParameter { name: "samples", requirement: "at least 1", got: "0".into() })
            }
            _ => Ok(()),
        }
    }
}

/// The form of an encoder with decoders.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SequenceForm {
    /// Dimension of the word vectors.
    pub dim: usize,
    /// The hidden size of each direction in a layer.
    pub hidden: usize,
    /// The number of layers, at least 1.
    pub layers: usize,
    /// How directions and layers are combined.
    pub topology: RecurrentTopology,
    /// The cells of encoder and decoders.
    #[serde(flatten)]
    pub cell: SequenceCell,
    /// How a sentence vector conditions a decoder.
    pub conditioning: Conditioning,
    /// Whether decoders start with the vector of the end token rather than zeros.
    pub start_token: bool,
    /// The number of decoders; 0 in a model that only encodes.
    pub decoders: usize,
    /// Whether they share the output matrix.
    pub shared_output: bool,
    /// The number of words that decoders can generate: the first of the vocabulary.
    pub n_words: usize,
    /// Output layers over the words.
    pub output: OutputForm,
    /// Whether losses are summed or averaged over the tokens of a batch.
    pub reduction: Reduction,
}

/// The parts of a form, without their weights.
#[derive(Debug, Clone)]
pub(crate) struct Seq2Seq {
    pub(crate) form: SequenceForm,
    pub(crate) networks: Networks,
    pub(crate) output: Output,
}

/// The output layer.
#[derive(Debug, Clone)]
pub(crate) enum Output {
    Full(TokenNll),
    Sampled(TokenNll, usize),
    Adaptive(AdaptiveSoftmax),
}

impl SequenceForm {
    /// Refuses parts with more values or layers than the file has.
    pub(crate) fn check(&self, file: &ModelFile) -> Result<()> {
        let networks = self.encoder()?;
        expect_layers(file, self.layers)?;
        let (encoder, decoder) = self.with_decoder(networks)?.n_values();
        expect_values(file, "encoder and decoders", encoder + self.decoders as f64 * decoder)
    }

    /// Builds the parts.
    pub(crate) fn build(&self) -> Result<Seq2Seq> {
        let networks = self.with_decoder(self.encoder()?)?;
        let dim = networks.dim();
        let full = TokenNll { reduction: self.reduction, ..TokenNll::new(dim, self.n_words) };
        let output = match &self.output {
            OutputForm::Full => Output::Full(full),
            OutputForm::Sampled { words } => Output::Sampled(full, (*words).clamp(1, self.n_words.max(1))),
            OutputForm::Adaptive { cutoffs } => {
                let cutoffs: Vec<usize> = cutoffs.iter().copied().filter(|&c| c < self.n_words).collect();
                let mut loss = AdaptiveSoftmax::new(dim, self.n_words.max(1), &cutoffs)?;
                loss.reduction = self.reduction;
                Output::Adaptive(loss)
            }
        };
        Ok(Seq2Seq { form: self.clone(), networks, output })
    }

    fn encoder(&self) -> Result<Networks> {
        Networks::encoder_of(self.cell, (self.dim, self.hidden), self.layers, self.topology)
    }

    /// Adds the decoder of this form to the encoder, if there are decoders.
    fn with_decoder(&self, encoder: Networks) -> Result<Networks> {
        if self.decoders == 0 {
            return Ok(encoder);
        }
        let first = if self.start_token { FirstInput::Token(END) } else { FirstInput::Zero };
        encoder.with_decoder(self.cell, self.dim, self.conditioning, first)
    }

    fn outputs(&self) -> usize {
        if self.shared_output { self.decoders.min(1) } else { self.decoders }
    }

    /// Returns the prefix of the tensor names of each group in a file.
    pub(crate) fn prefixes(&self) -> Vec<String> {
        let decoders = (1..=self.decoders).map(|k| format!("decoder{k}."));
        let outputs = (1..=self.outputs()).map(|k| format!("output{k}."));
        std::iter::once("encoder.".to_owned()).chain(decoders).chain(outputs).collect()
    }
}

impl Seq2Seq {
    /// Returns the dimension of the sentence vectors.
    pub(crate) fn dim(&self) -> usize {
        self.networks.dim()
    }

    /// Returns initial parameters: those of the encoder, of the decoders, and of the outputs.
    pub(crate) fn init(&self, seed: u64) -> Result<Vec<Parameters<f32>>> {
        let mut encoder = stream(seed, "encoder", &[]);
        let mut groups = vec![with_network!(&self.networks, network => network.encoder.init(&mut encoder)?)];
        if self.form.decoders > 0 {
            for k in 0..self.form.decoders {
                let mut rng = stream(seed, "decoder", &[k as u64]);
                groups.push(with_network!(&self.networks, network => {
                    network.decoder(k, self.form.decoders)?.init(&mut rng)?
                }));
            }
            for k in 0..self.form.outputs() {
                groups.push(self.output.init(&mut stream(seed, "output", &[k as u64]))?);
            }
        }
        Ok(groups)
    }

    /// Returns parameters with the right names and shapes, initialized by the fastest rule.
    pub(crate) fn forms(&self) -> Result<Vec<Parameters<f32>>> {
        SequenceForm { cell: self.form.cell.cheap(), ..self.form.clone() }.build()?.init(0)
    }

    /// Returns the group of the parameters of decoder `k`, and that of its output.
    pub(crate) fn groups(&self, k: usize) -> (usize, usize) {
        (1 + k, 1 + self.form.decoders + if self.form.shared_output { 0 } else { k })
    }

    /// Returns the hidden states of decoder `k` for targets and sentence vectors, and the targets in their order, or an
    /// error if there is no such decoder.
    pub(crate) fn states(
        &self,
        k: usize,
        parameters: &Parameters<f32>,
        batch: &TokenBatch,
        words: ArrayView2<'_, f32>,
        vectors: ArrayView2<'_, f32>,
    ) -> Result<(Array2<f32>, Vec<u32>)> {
        with_network!(&self.networks, network => {
            let decoder = network.decoder(k, self.form.decoders)?;
            Ok((decoder.forward(parameters, batch, words, vectors)?.0, targets_of(decoder, batch)))
        })
    }
}

/// Returns the tokens that the states of this decoder predict.
pub(super) fn targets_of<D: Decoder>(_: &D, batch: &TokenBatch) -> Vec<u32> {
    D::targets(batch)
}

impl Output {
    fn init(&self, rng: &mut Stream) -> Result<Parameters<f32>> {
        Ok(match self {
            Self::Full(loss) | Self::Sampled(loss, _) => loss.init(rng)?,
            Self::Adaptive(loss) => loss.init(rng)?,
        })
    }

    /// Returns loss and gradient of hidden states. `place` in the run determines the sampled words. The gradients of
    /// all parameters are added to `d_parameters`; those of the rows of sampled words are returned.
    pub(crate) fn loss_and_gradients<F: Float>(
        &self,
        parameters: &Parameters<F>,
        hidden: ArrayView2<'_, F>,
        targets: &[u32],
        d_loss: f64,
        (seed, place): (u64, [u64; 2]),
        d_parameters: &mut Parameters<F>,
    ) -> Result<(f64, Array2<F>, Option<RowGradients<F>>)> {
        let (loss, d_hidden) = match self {
            Self::Full(loss) => loss.loss_and_gradients(parameters, hidden, targets, d_loss, d_parameters)?,
            Self::Adaptive(loss) => loss.loss_and_gradients(parameters, hidden, targets, d_loss, d_parameters)?,
            Self::Sampled(full, n) => {
                let words = SampledWords::draw(&mut stream(seed, "sampled words", &place), full.n_words, *n)?;
                let loss = SampledSoftmax { reduction: full.reduction };
                let (loss, d_hidden, rows) = loss.loss_and_gradients(parameters, hidden, targets, &words, d_loss)?;
                return Ok((loss, d_hidden, Some(rows)));
            }
        };
        Ok((loss, d_hidden, None))
    }

    /// Returns −ln p of every token, over all words.
    pub(crate) fn losses(
        &self,
        parameters: &Parameters<f32>,
        hidden: ArrayView2<'_, f32>,
        targets: &[u32],
    ) -> Result<Vec<f64>> {
        Ok(match self {
            Self::Full(loss) | Self::Sampled(loss, _) => loss.forward(parameters, hidden, targets)?,
            Self::Adaptive(loss) => loss.forward(parameters, hidden, targets)?,
        })
    }

    /// Returns ln p of every word.
    pub(crate) fn log_probabilities(
        &self,
        parameters: &Parameters<f32>,
        hidden: ArrayView2<'_, f32>,
    ) -> Result<Array2<f32>> {
        Ok(match self {
            Self::Full(loss) | Self::Sampled(loss, _) => loss.log_probabilities(parameters, hidden)?,
            Self::Adaptive(loss) => loss.log_probabilities(parameters, hidden)?,
        })
    }
}
