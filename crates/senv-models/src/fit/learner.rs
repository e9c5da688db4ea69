//! One step of the parameters against their gradients.

use senv_core::{
    Result as CoreResult, Rows, Table,
    optim::{ParametersOptimizer, Pull, TableOptimizer, clip_by_global_norm},
};

use super::{FitParams, Gradients, Weights, WordUpdates};
use crate::Result;

/// Weights on their way, what the rule remembers of them, and where they started.
pub(super) struct Learner {
    pub(super) weights: Weights,
    pub(super) words: Option<TableOptimizer>,
    /// One for each group of parameters.
    pub(super) parameters: Vec<ParametersOptimizer<f32>>,
    /// Kept only where a penalty pulls towards it.
    pub(super) initial_words: Option<Table>,
}

impl Learner {
    pub(super) fn new(weights: Weights, params: &FitParams) -> Result<Self> {
        let words = match params.words {
            WordUpdates::Frozen => None,
            _ => Some(TableOptimizer::new(params.rule, &weights.words)?),
        };
        let pulls = words.is_some() && params.l2_words > 0.0;
        let initial_words = if pulls { Some(copy_table(&weights.words)?) } else { None };
        let parameters = weights.parameters.iter().map(|group| ParametersOptimizer::new(params.rule, group));
        Ok(Self { parameters: parameters.collect::<CoreResult<_>>()?, weights, words, initial_words })
    }

    /// Clipping, penalty on the words, step.
    pub(super) fn apply(&mut self, lr: f64, gradients: &mut Gradients, params: &FitParams) -> Result<()> {
        if let Some(limit) = params.clip {
            let groups = gradients.d_parameters.iter_mut();
            let mut arrays: Vec<&mut [f32]> =
                groups.flat_map(|group| group.iter_mut().map(|t| t.values_mut())).collect();
            arrays.extend(gradients.d_words.as_slice_mut());
            clip_by_global_norm(&mut arrays, limit)?;
        }
        let groups = self.weights.parameters.iter_mut().zip(&gradients.d_parameters);
        for (optimizer, (parameters, d_parameters)) in self.parameters.iter_mut().zip(groups) {
            optimizer.update(lr, parameters, d_parameters)?;
        }
        if let Some(optimizer) = &mut self.words {
            let strength = params.strength(params.l2_words) as f32;
            let pull = self.initial_words.as_ref().map(|initial| Pull { initial, strength });
            let (table, d_words) = (&mut self.weights.words, gradients.d_words.view());
            match params.words {
                WordUpdates::Dense => optimizer.update_all(lr, table, &gradients.tokens, d_words, pull)?,
                _ => optimizer.update_rows(lr, table, &gradients.tokens, d_words, pull)?,
            }
        }
        Ok(())
    }
}

/// A copy of a table.
///
/// # Errors
/// [`senv_core::Error::TooLarge`] if it does not fit into memory.
pub fn copy_table(table: &Table) -> CoreResult<Table> {
    let mut copy = Table::zeros(table.n_rows(), table.dim())?;
    for i in 0..table.n_rows() {
        copy.row_mut(i).copy_from_slice(table.row(i));
    }
    Ok(copy)
}
