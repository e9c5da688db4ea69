//! CSE as a system trained on pairs.

use super::{Cse, CseParams};
use crate::{
    base::train_options::TrainOptions,
    data::PairData,
    error::Result,
    gradient::{FitParams, scored_pairs::ScoredPairs},
    model::trained::Trained,
    system::pair_system::{PairSystem, PairSystemParams},
    systems::pp::PpParams,
};

impl PairSystem for CseParams {
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

    fn default_lr(&self) -> f64 {
        Self::default().fit.full_lr()
    }

    fn params_of(model: &Cse) -> &Self {
        model.params()
    }
}
