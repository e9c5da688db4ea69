//! What PP, CSE and GRAN have in common: systems trained on pairs, in one stage or two.

use std::path::Path;

use senv_core::{Observer, Tokenizer};
use senv_store::Embeddings;
use serde::Serialize;

use crate::{
    base::train_options::TrainOptions,
    data::{PairData, PairFiles},
    error::Result,
    gradient::{
        FitParams,
        pair_training::{PairLoss, PairParams},
        scored_pairs::ScoredPairs,
    },
    model::{handle::Model, trained::Trained},
    start::initial::Initial,
    system::{contract::System, staged_pairs::StagedPairs, start::Start},
};

/// The default learning rate for vectors that were trained on pairs already, as a share of that for others.
const CONTINUED_LR: f64 = 1.0 / 40.0;

/// A system trained on pairs.
pub trait PairSystem:
    for<'d> System<Input = PairFiles, Data<'d> = StagedPairs<'d>, Dev<'d> = &'d [ScoredPairs], Model: Clone> + Serialize
{
    /// Whether its sentence vectors are averages, whose lengths the loss softmax-cosine leaves free: then that loss
    /// starts from [`PairSystem::softmax_recipe`], and learning rates follow the length of the initial vectors.
    const AVERAGES: bool;

    /// Settings for the loss softmax-cosine on large batches.
    #[must_use]
    fn softmax_recipe() -> Self;

    /// The hyperparameters that all such systems have.
    fn shared(&mut self) -> PairSystemParams<'_>;

    /// Trains on pairs, from the vectors of the options if there are any. `start` is a model of the very system and
    /// vocabulary to go on from, as of a first stage: its words keep their vectors, its filters theirs; the vectors of
    /// the options are not looked at then.
    ///
    /// # Errors
    /// Whatever is wrong with the parameters, the memory, or the training itself; a `start` of another shape.
    fn fit_from(
        &self,
        data: &PairData,
        start: Option<&Self::Model>,
        options: &TrainOptions<'_, &[ScoredPairs]>,
    ) -> Result<Trained<Self::Model>>;

    /// What a model was trained with.
    fn params_of(model: &Self::Model) -> &Self;

    /// Sets what follows from the start and from the files: how text is tokenized where that is automatic, and that
    /// words which hold frequency weights already get none again.
    fn prepare(&mut self, start: Start<'_>, files: &[impl AsRef<Path>], observer: &dyn Observer) {
        let parts = self.shared();
        start.note_losses(observer);
        *parts.tokenizer = start.tokenizer(parts.tokenizer, |given| given.fitted_to_files(files, observer));
        if start.model().is_some_and(|model| model.holds_frequency_weights()) {
            parts.initial.frequency_weight = None;
        }
    }

    /// The learning rate where none is set, before it is adapted to initial vectors.
    fn default_lr(&self) -> f64;

    /// Sets the learning rate where none is set: [`PairSystem::default_lr`], as it suits the initial vectors.
    fn resolve_lr(&mut self, vectors: Option<&Embeddings>, model: Option<&Model>, observer: &dyn Observer) {
        if self.shared().fit.lr.is_none() {
            let lr = self.default_lr();
            let suited = vectors.map_or(lr, |vectors| self.suited_lr(lr, vectors, model, observer));
            self.shared().fit.lr = Some(suited);
        }
    }

    /// A learning rate that suits initial vectors: in proportion to their length where cosines alone are learned from;
    /// for those of `model`, if it was trained on pairs, much smaller besides: larger ones lose most of what it has
    /// learned (`docs/experiments/senv-english.md`). What the rate is then is a note for the observer.
    fn suited_lr(&mut self, lr: f64, vectors: &Embeddings, model: Option<&Model>, observer: &dyn Observer) -> f64 {
        let parts = self.shared();
        if !Self::AVERAGES || !matches!(parts.pairs.loss, PairLoss::SoftmaxCosine(_)) {
            return lr;
        }
        let relative = parts.initial.relative_length(vectors);
        // Vectors of zeros, or not finite, are refused elsewhere.
        if !relative.is_normal() {
            return lr;
        }
        let is_trained = model.is_some_and(|model| model.holds_frequency_weights());
        let lr = lr * if is_trained { relative * CONTINUED_LR } else { relative };
        let what = if is_trained { "vectors that are trained already" } else { "the length of the initial vectors" };
        observer.note(&format!("learning rate {lr:.3}, which suits {what}"));
        lr
    }
}

/// The hyperparameters that all systems trained on pairs have.
#[derive(Debug)]
pub struct PairSystemParams<'p> {
    /// Dimension of the word vectors.
    pub dim: &'p mut usize,
    /// How text is tokenized.
    pub tokenizer: &'p mut Tokenizer,
    /// Initial word vectors.
    pub initial: &'p mut Initial,
    /// Loss and dropout.
    pub pairs: &'p mut PairParams,
    /// The training loop.
    pub fit: &'p mut FitParams,
}

impl PairParams {
    /// Whether pairs with one first sentence are one group by default: in a batch of a softmax they would be negatives
    /// of each other.
    #[must_use]
    pub fn groups_pairs(&self) -> bool {
        matches!(self.loss, PairLoss::SoftmaxCosine(_))
    }
}
