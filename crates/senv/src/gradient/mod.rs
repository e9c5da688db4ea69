//! The one training loop of the systems that learn by gradient.
//!
//! A system is an [`Objective`]: it says what its examples are and computes loss and gradient of a batch of them. The
//! loop does the rest, the same for all: order, rule, penalty, clipping, validation, early stop, checkpoint, resume.
//! [`fit`] takes any objective, and a program may write its own: with [`through_encoder`] and an encoder of
//! `senv-encoders` it comes down to the loss of sentence vectors. Where pairs of sentences are trained on, it need not:
//! [`PairObjective`] takes any encoder and any [`BatchLoss`].
//!
//! Batches follow from the seed alone and every phase of a step gives the same bits at any number of threads, so a run
//! does too; and a run that is resumed gives the bits of one that was never broken.

mod awake;
mod checkpoint;
pub(crate) mod corruption;
pub(crate) mod encoder_form;
mod encoder_step;
mod example_order;
mod learner;
mod outcome;
mod pair_loss;
mod pair_training;
mod params;
mod phases;
pub(crate) mod present_words;
mod recent;
#[cfg(test)]
mod resume_tests;
mod run;
pub(crate) mod scale;
pub(crate) mod scored_pairs;
#[cfg(test)]
mod tests;
pub(crate) mod trainable_encoder;
mod watch;
mod word_encoder;

use ndarray::Array2;
use senv_core::{
    Result as CoreResult, Table, TokenId,
    arrays::{Float, Parameters, TokenBatch},
    init,
    observer::{MAX_METRICS, Metric},
    rng::stream,
};
use senv_losses::RowGradients;

use crate::error::Result;

pub use corruption::keep_words;
pub use encoder_step::{HeadGradients, VectorDropout, through_encoder};
pub use learner::copy_table;
pub use outcome::{FitOutcome, Stopped};
pub use params::{Decay, FitParams, L2Scaling, WordUpdates};
pub use phases::{Lap, Phases};
pub use run::fit;

pub use {
    encoder_form::EncoderForm,
    pair_loss::{BatchLoss, PairGradients, PairLoss, PairVectors},
    pair_training::{PairBatch, PairObjective, PairParams},
    scored_pairs::{ScoredPairs, scored_pairs_fingerprint},
    trainable_encoder::AnyEncoder,
    word_encoder::WordEncoder,
};

/// What is trained: a table of word vectors, and the dense parameters of an encoder or a head.
#[derive(Debug, Clone)]
pub struct Weights {
    /// One row a word.
    pub words: Table,
    /// Filters, biases, matrices, a group for each part: the encoder's, then those of a head. Averages have an empty
    /// group.
    pub parameters: Vec<Parameters<f32>>,
}

impl Weights {
    /// Those that an encoder starts from: word vectors of dimension `dim` with values between -0.1 and 0.1, and what
    /// the encoder says itself. For parameters of a head, push another group.
    ///
    /// # Errors
    /// [`senv_core::Error::TooLarge`] if they do not fit into memory; that of the encoder.
    pub fn random(n_words: usize, dim: usize, encoder: &dyn AnyEncoder, seed: u64) -> CoreResult<Self> {
        let mut words = Table::zeros(n_words, dim)?;
        init::uniform_rows(&mut words, 0..n_words, 0.1, seed)?;
        Ok(Self { words, parameters: vec![encoder.init(&mut stream(seed, "encoder", &[]))?] })
    }

    /// A copy.
    ///
    /// # Errors
    /// [`senv_core::Error::TooLarge`] if it does not fit into memory.
    pub fn try_clone(&self) -> CoreResult<Self> {
        Ok(Self { words: copy_table(&self.words)?, parameters: self.parameters.clone() })
    }

    /// Whether all shapes are those of other weights.
    fn has_shapes_of(&self, other: &Self) -> bool {
        let shape = |table: &Table| (table.n_rows(), table.dim());
        let same = |(group, other): (&Parameters<f32>, &Parameters<f32>)| group.expect_form_of(other).is_ok();
        shape(&self.words) == shape(&other.words)
            && self.parameters.len() == other.parameters.len()
            && self.parameters.iter().zip(&other.parameters).all(same)
    }

    /// The sum of the squares of all values; not finite if one of them is not.
    fn square_norm(&self) -> f64 {
        let square = |values: &[f32]| values.iter().map(|&x| f64::from(x) * f64::from(x)).sum::<f64>();
        let tensors = self.parameters.iter().flat_map(Parameters::iter);
        square(self.words.values()) + tensors.map(|tensor| square(tensor.values())).sum::<f64>()
    }
}

/// The gradient of a batch.
#[derive(Debug, Clone, Default)]
pub struct Gradients {
    /// Whether word vectors stay as they are, so that their gradients are not needed.
    pub frozen: bool,
    /// The words of the batch, ascending, each once; none if they stay as they are.
    pub tokens: Vec<TokenId>,
    /// Their gradients, shape `(n_tokens, dim)`.
    pub d_words: Array2<f32>,
    /// Where a system gathers their rows: kept from step to step, so that memory is asked for once.
    pub words: Array2<f32>,
    /// Those of the dense parameters, group by group; no tensors for groups of which rows are trained.
    pub d_parameters: Vec<Parameters<f32>>,
    /// Those of [`Objective::row_groups`], in that order.
    pub rows: Vec<RowGradients<f32>>,
    /// Where the time of all steps so far went.
    pub phases: Phases,
}

impl Gradients {
    /// The words of a batch, and zeros for their gradients; nothing of either if they stay as they are.
    ///
    /// # Errors
    /// [`senv_core::Error::TooLarge`] if the gradients do not fit into memory.
    pub fn begin_words(&mut self, batch: &TokenBatch, dim: usize) -> CoreResult<()> {
        self.tokens.clear();
        if self.frozen {
            self.d_words = Array2::default((0, dim));
            return Ok(());
        }
        self.tokens.extend_from_slice(batch.distinct());
        batch.zeros_into(dim, &mut self.d_words)
    }

    /// All their numbers.
    fn arrays(&self) -> Vec<&[f32]> {
        let dense = self.d_parameters.iter().flat_map(|group| group.iter().map(|tensor| tensor.values()));
        let rows = self.rows.iter().flat_map(|rows| [rows.d_w.as_slice(), rows.d_b.as_slice()]);
        dense.chain(rows.chain([self.d_words.as_slice()]).flatten()).collect()
    }

    /// All their numbers, to be changed.
    fn arrays_mut(&mut self) -> Vec<&mut [f32]> {
        let dense = self.d_parameters.iter_mut().flat_map(|group| group.iter_mut().map(|tensor| tensor.values_mut()));
        let rows = self.rows.iter_mut().flat_map(|rows| [rows.d_w.as_slice_mut(), rows.d_b.as_slice_mut()]);
        dense.chain(rows.chain([self.d_words.as_slice_mut()]).flatten()).collect()
    }
}

/// Adds to the gradients of the row group at `place`; groups come in order, or again.
///
/// # Errors
/// [`senv_core::Error::ShapeMismatch`] if the rows have other lengths than before.
pub fn add_rows<F: Float>(rows: &mut Vec<RowGradients<F>>, place: usize, more: RowGradients<F>) -> Result<()> {
    let sum = if place < rows.len() { rows.remove(place).plus(more)? } else { more };
    rows.insert(place.min(rows.len()), sum);
    Ok(())
}

/// Where examples come from: a file of pairs, a corpus. A batch comes from one source.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Source {
    /// How many there are.
    pub n_examples: u32,
    /// Its share of the batches among all weights; `None` anywhere: every source is walked through once an epoch.
    pub weight: Option<f64>,
}

/// A step of the gradient loop: which examples, and what its random choices derive from.
#[derive(Debug, Clone, Copy)]
pub struct GradientStep<'a> {
    /// Every random choice derives from it, and from the number of the step.
    pub seed: u64,
    /// Steps before this one.
    pub number: u64,
    /// Which source the examples are of.
    pub source: usize,
    /// Their numbers.
    pub examples: &'a [u32],
}

/// What came of the examples of a step.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct StepReport {
    /// Mean loss of an example; NaN stops the run.
    pub loss: f64,
    /// What the loss of these examples would be without any knowledge: ln V for a token among V words, ln 2 for a yes
    /// or no, that of equal cosines where cosines are compared. A run that stays far above it is stopped, and one that
    /// ends at it has learned nothing ([`FitOutcome::against_chance`]); `None` where there is no such value.
    pub chance: Option<f64>,
    /// Tokens that were read and told, for systems that count them; 0 for others.
    pub tokens: u64,
    /// What there is to say beside the loss; a place has the same metric at every step.
    pub metrics: [Option<Metric>; MAX_METRICS],
}

/// A system to be trained.
///
/// ```
/// use senv::gradient::{FitParams, GradientStep, Gradients, Objective, Source, StepReport, Weights, fit};
/// use senv::parts::core::{RunOptions, Rows, Table, TokenId, arrays::TokenBatch};
/// use senv::parts::ndarray::ArrayView1;
///
/// /// Rows of a table that are to become given ones: ½ |w − t|² of each.
/// struct Copying {
///     targets: Table,
/// }
///
/// impl Objective for Copying {
///     type Batch = TokenBatch;
///
///     fn kind(&self) -> &'static str {
///         "copying"
///     }
///
///     fn sources(&self) -> Vec<Source> {
///         vec![Source { n_examples: self.targets.n_rows() as u32, weight: None }]
///     }
///
///     fn identity(&self) -> String {
///         format!("{:?}", self.targets.values())
///     }
///
///     fn prepare(&self, step: &GradientStep<'_>, batch: &mut TokenBatch) -> senv::Result<()> {
///         let words: Vec<[TokenId; 1]> = step.examples.iter().map(|&word| [TokenId(word)]).collect();
///         Ok(batch.assign(words.iter().map(|word| &word[..]))?)
///     }
///
///     fn gradients(
///         &self,
///         weights: &Weights,
///         _: &GradientStep<'_>,
///         batch: &TokenBatch,
///         gradients: &mut Gradients,
///     ) -> senv::Result<StepReport> {
///         gradients.begin_words(batch, weights.words.dim())?;
///         let mut loss = 0.0;
///         for (mut d_word, word) in gradients.d_words.rows_mut().into_iter().zip(batch.distinct()) {
///             let row = |table: &Table| ArrayView1::from(table.row(word.index())).to_owned();
///             d_word.assign(&(row(&weights.words) - row(&self.targets)));
///             loss += f64::from(d_word.dot(&d_word)) / 2.0;
///         }
///         Ok(StepReport { loss: loss / batch.distinct().len() as f64, ..StepReport::default() })
///     }
/// }
///
/// let mut copying = Copying { targets: Table::from_vec(2, 2, vec![1.0, 0.5, -0.25, 0.0])? };
/// let initial = || Ok(Weights { words: Table::zeros(2, 2)?, parameters: Vec::new() });
/// let params = FitParams { steps: Some(400), lr: Some(0.02), ..FitParams::default() };
/// let outcome = fit(&mut copying, initial, &params, &RunOptions::default())?;
/// assert!(outcome.weights.words.row(1)[0] < -0.24);
/// # Ok::<(), senv::Error>(())
/// ```
pub trait Objective: Sync {
    /// What a step works on beside the weights: what was drawn, and the words in it. Memory is kept from step to step.
    type Batch: Default + Send + Sync;

    /// The name of its kind, as in model files.
    fn kind(&self) -> &'static str;

    /// Where its examples come from; at least one source with an example.
    fn sources(&self) -> Vec<Source>;

    /// What identifies its data and settings: a checkpoint is resumed only by an objective of equal identity.
    fn identity(&self) -> String;

    /// The groups of parameters, ascending, of which a step touches a few rows: output matrices with sampled words.
    /// Like words of [`WordUpdates::Sparse`], their other rows rest: neither zeros nor moments of the size of the
    /// vocabulary are walked through at every step.
    fn row_groups(&self) -> Vec<usize> {
        Vec::new()
    }

    /// Whether gradients may grow beyond use, as those of recurrent networks do. A run checks their norm then; else
    /// only where it clips, and the pass over them is saved.
    fn may_explode(&self) -> bool {
        true
    }

    /// Draws what a step works on. It does not see the weights, so the loop calls it for the next step while this one
    /// is computed; all it draws follows from `step`.
    ///
    /// # Errors
    /// Whatever is wrong with shapes or memory.
    fn prepare(&self, step: &GradientStep<'_>, batch: &mut Self::Batch) -> Result<()>;

    /// Loss and gradient of a prepared batch. `gradients` comes as the last step left it, with `d_parameters` zeroed
    /// and in the form of the parameters; words and their gradients, and those of rows, are to be replaced.
    ///
    /// # Errors
    /// Whatever is wrong with shapes or memory.
    fn gradients(
        &self,
        weights: &Weights,
        step: &GradientStep<'_>,
        batch: &Self::Batch,
        gradients: &mut Gradients,
    ) -> Result<StepReport>;

    /// The score of these weights on the validation set, the larger the better; `None` where there is no set.
    ///
    /// # Errors
    /// Whatever is wrong with shapes or memory.
    fn validate(&mut self, weights: &Weights) -> Result<Option<f64>> {
        let _ = weights;
        Ok(None)
    }
}
