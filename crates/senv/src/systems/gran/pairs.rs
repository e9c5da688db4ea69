//! GRAN as a system trained on pairs.

use super::{Gran, GranParams};
use crate::{
    base::train_options::TrainOptions,
    data::PairData,
    error::Result,
    gradient::{FitParams, scored_pairs::ScoredPairs},
    model::trained::Trained,
    system::pair_system::{PairSystem, PairSystemParams},
    systems::pp::PpParams,
};

impl PairSystem for GranParams {
    const AVERAGES: bool = false;

    /// Loss, batch and schedule of PP's; what only a table can take stays as it is: its optimizer and learning rate,
    /// and no penalty.
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
        start: Option<&Gran>,
        options: &TrainOptions<'_, &[ScoredPairs]>,
    ) -> Result<Trained<Gran>> {
        self.fit_with(data, start, options)
    }

    fn default_lr(&self) -> f64 {
        Self::default().fit.full_lr()
    }

    fn params_of(model: &Gran) -> &Self {
        model.params()
    }
}
