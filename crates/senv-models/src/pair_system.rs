//! What PP and CSE have in common: systems trained on pairs, in one stage or two.

use senv_core::{Tokenizer, hyperparameters::Hyperparameters};
use serde::Serialize;

use crate::{
    Cse, CseParams, FitParams, Initial, Model, PairData, PairLoss, PairParams, Pp, PpParams, Result, SavedModel,
    ScoredPairs, TrainOptions, Trained,
};

/// A system trained on pairs.
pub trait PairSystem: Hyperparameters + Default + Clone + Serialize {
    /// What is trained.
    type Model: SavedModel;

    /// Whether its sentence vectors are averages, whose lengths the loss softmax-cosine leaves free: then that loss starts
    /// from [`PairSystem::softmax_recipe`], and learning rates follow the length of the initial vectors.
    const AVERAGES: bool;

    /// Settings for the loss softmax-cosine on large batches.
    #[must_use]
    fn softmax_recipe() -> Self;

    /// The hyperparameters that all such systems have.
    fn shared(&mut self) -> PairSystemParams<'_>;

    /// Trains on pairs. `start` is a model of the system to go on from: its words keep their vectors, its filters theirs;
    /// the vectors of the options are not looked at then.
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

    /// Trains on `first`, then with the same hyperparameters but for what `second_fit` changes on `second`, from the weights
    /// of the first stage. A first stage that did not come to its end is the result. The checkpoint of the second stage
    /// has `.stage2` at the end of its name; a run that is resumed goes through the first once more.
    ///
    /// # Errors
    /// As [`PairSystem::fit_from`].
    fn fit_two_stages(
        &self,
        (first, second): (&PairData, &PairData),
        second_fit: impl FnOnce(&mut FitParams),
        options: &TrainOptions<'_, &[ScoredPairs]>,
    ) -> Result<Trained<Self::Model>> {
        let trained = self.fit_from(first, None, options)?;
        if !trained.stopped.is_complete() {
            return Ok(trained);
        }
        let mut params = self.clone();
        second_fit(params.shared().fit);
        let mut options = options.clone();
        if let Some(plan) = &mut options.checkpoint {
            plan.path.as_mut_os_string().push(".stage2");
        }
        params.fit_from(second, Some(&trained.model), &options)
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

impl PairSystem for PpParams {
    type Model = Pp;
    const AVERAGES: bool = true;

    fn softmax_recipe() -> Self {
        Self::softmax_recipe()
    }

    fn shared(&mut self) -> PairSystemParams<'_> {
        let Self { dim, tokenizer, initial, pairs, fit, .. } = self;
        PairSystemParams { dim, tokenizer, initial, pairs, fit }
    }

    /// The vectors of a `start` hold its frequency weights already.
    fn fit_from(
        &self,
        data: &PairData,
        start: Option<&Pp>,
        options: &TrainOptions<'_, &[ScoredPairs]>,
    ) -> Result<Trained<Pp>> {
        let Some(start) = start else { return self.fit(data, options) };
        let mut params = self.clone();
        params.initial.frequency_weight = None;
        let vectors = Model::from(start.clone()).to_embeddings()?;
        params.fit(data, &TrainOptions { vectors: Some(&vectors), ..options.clone() })
    }

    fn params_of(model: &Pp) -> &Self {
        model.params()
    }
}

impl PairSystem for CseParams {
    type Model = Cse;
    const AVERAGES: bool = false;

    /// That of PP but for what only a table can take: its optimizer and learning rate, and no penalty.
    fn softmax_recipe() -> Self {
        let (own, recipe) = (Self::default(), PpParams::softmax_recipe());
        let fit = FitParams { rule: own.fit.rule, lr: own.fit.lr, l2_words: own.fit.l2_words, ..recipe.fit };
        Self { initial: recipe.initial, pairs: recipe.pairs, fit, ..own }
    }

    fn shared(&mut self) -> PairSystemParams<'_> {
        let Self { dim, tokenizer, initial, pairs, fit, .. } = self;
        PairSystemParams { dim, tokenizer, initial, pairs, fit }
    }

    fn fit_from(
        &self,
        data: &PairData,
        start: Option<&Cse>,
        options: &TrainOptions<'_, &[ScoredPairs]>,
    ) -> Result<Trained<Cse>> {
        self.fit_with(data, start, options)
    }

    fn params_of(model: &Cse) -> &Self {
        model.params()
    }
}

impl PairParams {
    /// Whether pairs with one first sentence are one group by default: in a batch of a softmax they would be negatives of
    /// each other.
    #[must_use]
    pub fn groups_pairs(&self) -> bool {
        matches!(self.loss, PairLoss::SoftmaxCosine(_))
    }
}
