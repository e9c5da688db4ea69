//! The training loop of all systems that train by gradient.
//!
//! A system is an [`Objective`]: it defines its examples and computes loss and gradient of a batch of them. The loop
//! does the rest: order, optimizer, penalty, clipping, validation, early stopping, checkpoints, resuming. [`fit`] takes
//! any objective, including one from your program. With [`through_encoder`] and an encoder of `senv-encoders`, an
//! objective only has to compute the loss of sentence vectors. To train on pairs of sentences, you do not need one:
//! [`PairObjective`] takes any encoder and any [`BatchLoss`].
//!
//! Batches depend only on the seed, and every phase of a step is bit-identical for any number of threads, so a run is
//! too. A resumed run is bit-identical to an uninterrupted one.

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

/// The trained values: a table of word vectors, and the dense parameters of an encoder and a head.
#[derive(Debug, Clone)]
pub struct Weights {
    /// One row per word.
    pub words: Table,
    /// Filters, biases and matrices, in one group per part: the encoder's, then those of a head. Averages have an empty
    /// group.
    pub parameters: Vec<Parameters<f32>>,
}

impl Weights {
    /// Initial weights for an encoder: word vectors of dimension `dim` with values between -0.1 and 0.1, and the
    /// encoder's own initial parameters. For parameters of a head, push another group.
    ///
    /// # Errors
    /// [`senv_core::Error::TooLarge`] if they do not fit in memory; errors of the encoder.
    pub fn random(n_words: usize, dim: usize, encoder: &dyn AnyEncoder, seed: u64) -> CoreResult<Self> {
        let mut words = Table::zeros(n_words, dim)?;
        init::uniform_rows(&mut words, 0..n_words, 0.1, seed)?;
        Ok(Self { words, parameters: vec![encoder.init(&mut stream(seed, "encoder", &[]))?] })
    }

    /// Copies the weights.
    ///
    /// # Errors
    /// [`senv_core::Error::TooLarge`] if the copy does not fit in memory.
    pub fn try_clone(&self) -> CoreResult<Self> {
        Ok(Self { words: copy_table(&self.words)?, parameters: self.parameters.clone() })
    }

    /// Whether all shapes match those of `other`.
    fn has_shapes_of(&self, other: &Self) -> bool {
        let shape = |table: &Table| (table.n_rows(), table.dim());
        let same = |(group, other): (&Parameters<f32>, &Parameters<f32>)| group.expect_form_of(other).is_ok();
        shape(&self.words) == shape(&other.words)
            && self.parameters.len() == other.parameters.len()
            && self.parameters.iter().zip(&other.parameters).all(same)
    }

    /// The sum of the squares of all values; not finite if a value is not.
    fn square_norm(&self) -> f64 {
        let square = |values: &[f32]| values.iter().map(|&x| f64::from(x) * f64::from(x)).sum::<f64>();
        let tensors = self.parameters.iter().flat_map(Parameters::iter);
        square(self.words.values()) + tensors.map(|tensor| square(tensor.values())).sum::<f64>()
    }
}

/// The gradient of a batch.
#[derive(Debug, Clone, Default)]
pub struct Gradients {
    /// Whether word vectors are frozen, so their gradients are not needed.
    pub frozen: bool,
    /// The distinct words of the batch, in ascending order; empty if word vectors are frozen.
    pub tokens: Vec<TokenId>,
    /// Their gradients, shape `(n_tokens, dim)`.
    pub d_words: Array2<f32>,
    /// A buffer for the rows of the words, reused in each step.
    pub words: Array2<f32>,
    /// Gradients of the dense parameters, one entry per group; empty for row groups.
    pub d_parameters: Vec<Parameters<f32>>,
    /// Gradients of [`Objective::row_groups`], in that order.
    pub rows: Vec<RowGradients<f32>>,
    /// The time spent in each phase of all steps so far.
    pub phases: Phases,
}

impl Gradients {
    /// Sets the words of a batch and zeroes their gradients; both are empty if word vectors are frozen.
    ///
    /// # Errors
    /// [`senv_core::Error::TooLarge`] if the gradients do not fit in memory.
    pub fn begin_words(&mut self, batch: &TokenBatch, dim: usize) -> CoreResult<()> {
        self.tokens.clear();
        if self.frozen {
            self.d_words = Array2::default((0, dim));
            return Ok(());
        }
        self.tokens.extend_from_slice(batch.distinct());
        batch.zeros_into(dim, &mut self.d_words)
    }

    /// All gradients.
    fn arrays(&self) -> Vec<&[f32]> {
        let dense = self.d_parameters.iter().flat_map(|group| group.iter().map(|tensor| tensor.values()));
        let rows = self.rows.iter().flat_map(|rows| [rows.d_w.as_slice(), rows.d_b.as_slice()]);
        dense.chain(rows.chain([self.d_words.as_slice()]).flatten()).collect()
    }

    /// All gradients, mutable.
    fn arrays_mut(&mut self) -> Vec<&mut [f32]> {
        let dense = self.d_parameters.iter_mut().flat_map(|group| group.iter_mut().map(|tensor| tensor.values_mut()));
        let rows = self.rows.iter_mut().flat_map(|rows| [rows.d_w.as_slice_mut(), rows.d_b.as_slice_mut()]);
        dense.chain(rows.chain([self.d_words.as_slice_mut()]).flatten()).collect()
    }
}

/// Adds to the gradients of the row group at `place`. Groups must come in order, and can repeat.
///
/// # Errors
/// [`senv_core::Error::ShapeMismatch`] if the rows have a different length than before.
pub fn add_rows<F: Float>(rows: &mut Vec<RowGradients<F>>, place: usize, more: RowGradients<F>) -> Result<()> {
    let sum = if place < rows.len() { rows.remove(place).plus(more)? } else { more };
    rows.insert(place.min(rows.len()), sum);
    Ok(())
}

/// A source of examples: a file of pairs, a corpus. A batch comes from one source.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Source {
    /// The number of examples.
    pub n_examples: u32,
    /// Its share of the batches, relative to the other weights. If all are `None`, an epoch passes through every source
    /// once.
    pub weight: Option<f64>,
}

/// A step of the training loop: its examples, and the basis of its random choices.
#[derive(Debug, Clone, Copy)]
pub struct GradientStep<'a> {
    /// The seed; every random choice depends on it and on the number of the step.
    pub seed: u64,
    /// Steps before this one.
    pub number: u64,
    /// The source of the examples.
    pub source: usize,
    /// The indices of the examples in the source.
    pub examples: &'a [u32],
}

/// The result of a step.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct StepReport {
    /// Mean loss per example; NaN stops the run.
    pub loss: f64,
    /// The loss of these examples without any knowledge (the chance level). Examples are ln V for a token out of V
    /// words, ln 2 for a binary choice, and that of equal cosines if cosines are compared. A run that stays far above
    /// it is stopped, and one that ends at it has learned nothing ([`FitOutcome::against_chance`]). `None` if there is
    /// no such value.
    pub chance: Option<f64>,
    /// Tokens read and predicted, for systems that count them; 0 for others.
    pub tokens: u64,
    /// Further metrics; a position has the same metric in every step.
    pub metrics: [Option<Metric>; MAX_METRICS],
}

/// A trainable system.
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
    /// The data of a step, without the weights: its random choices and its words. The memory is reused in each step.
    type Batch: Default + Send + Sync;

    /// The name of its kind, as in model files.
    fn kind(&self) -> &'static str;

    /// Where its examples come from; at least one source must have an example.
    fn sources(&self) -> Vec<Source>;

    /// A string that identifies data and settings: only an objective with the same identity can resume a checkpoint.
    fn identity(&self) -> String;

    /// The groups of parameters, in ascending order, of which a step updates only a few rows: output matrices with
    /// sampled words. As with [`WordUpdates::Sparse`], the other rows are not touched, so a step does not process zeros
    /// or moments for the whole vocabulary.
    fn row_groups(&self) -> Vec<usize> {
        Vec::new()
    }

    /// Whether gradients can explode, as in recurrent networks. If so, a run checks their norm in every step; otherwise
    /// only if it clips, which saves a pass over the gradients.
    fn may_explode(&self) -> bool {
        true
    }

    /// Prepares the data of a step. It does not see the weights, so the loop prepares the next step while the current
    /// one is computed. All random choices depend only on `step`.
    ///
    /// # Errors
    /// Errors of shapes or memory.
    fn prepare(&self, step: &GradientStep<'_>, batch: &mut Self::Batch) -> Result<()>;

    /// Computes loss and gradient of a prepared batch. `gradients` is as the last step left it, except that
    /// `d_parameters` has the shapes of the parameters and is zero. Replace the words and their gradients, and those of
    /// rows.
    ///
    /// # Errors
    /// Errors of shapes or memory.
    fn gradients(
        &self,
        weights: &Weights,
        step: &GradientStep<'_>,
        batch: &Self::Batch,
        gradients: &mut Gradients,
    ) -> Result<StepReport>;

    /// The score of these weights on the validation set; larger is better. `None` without a validation set.
    ///
    /// # Errors
    /// Errors of shapes or memory.
    fn validate(&mut self, weights: &Weights) -> Result<Option<f64>> {
        let _ = weights;
        Ok(None)
    }
}
