//! One update of the parameters by their gradients.

use senv_core::{
    Result as CoreResult, Rows, Table,
    optim::{L2Penalty, ParametersOptimizer, TableOptimizer, clip_to_norm},
};
use senv_losses::RowGradients;

use super::{FitParams, Gradients, Weights, WordUpdates};
use crate::error::Result;

/// The current weights, the optimizer states, and the initial weights if needed.
pub(super) struct Learner {
    pub(super) weights: Weights,
    pub(super) words: Option<TableOptimizer>,
    /// One optimizer for each group of parameters.
    pub(super) parameters: Vec<ParametersOptimizer<f32>>,
    /// Kept only for a penalty towards it.
    pub(super) initial_words: Option<Table>,
}

impl Learner {
    pub(super) fn new(weights: Weights, params: &FitParams) -> Result<Self> {
        let words = match params.words {
            WordUpdates::Frozen => None,
            _ => Some(TableOptimizer::new(params.rule, &weights.words)?),
        };
        let has_penalty = words.is_some() && params.l2_words > 0.0;
        let initial_words = if has_penalty { Some(copy_table(&weights.words)?) } else { None };
        let parameters = weights.parameters.iter().map(|group| ParametersOptimizer::new(params.rule, group));
        Ok(Self { parameters: parameters.collect::<CoreResult<_>>()?, weights, words, initial_words })
    }

    /// Clips gradients of this `norm` if clipping is on, applies the penalty to the words, and updates. The gradients
    /// of `row_groups` are rows.
    pub(super) fn apply(
        &mut self,
        lr: f64,
        gradients: &mut Gradients,
        norm: Option<f64>,
        row_groups: &[usize],
        params: &FitParams,
    ) -> Result<()> {
        if let (Some(limit), Some(norm)) = (params.clip, norm) {
            clip_to_norm(&mut gradients.arrays_mut(), norm, limit)?;
        }
        let groups = self.weights.parameters.iter_mut().zip(&gradients.d_parameters);
        for (i, (optimizer, (parameters, d_parameters))) in self.parameters.iter_mut().zip(groups).enumerate() {
            match row_groups.iter().position(|&group| group == i).and_then(|place| gradients.rows.get(place)) {
                Some(RowGradients { rows, d_w, d_b }) => {
                    let numbers = [d_w.as_slice().unwrap_or_default(), d_b.as_slice().unwrap_or_default()];
                    optimizer.update_rows(lr, parameters, rows, &numbers)?;
                }
                None => optimizer.update(lr, parameters, d_parameters)?,
            }
        }
        if let Some(optimizer) = &mut self.words {
            let strength = params.strength(params.l2_words) as f32;
            let penalty = self.initial_words.as_ref().map(|initial| L2Penalty { initial, strength });
            let (table, d_words) = (&mut self.weights.words, gradients.d_words.view());
            match params.words {
                WordUpdates::Dense => optimizer.update_all(lr, table, &gradients.tokens, d_words, penalty)?,
                _ => optimizer.update_rows(lr, table, &gradients.tokens, d_words, penalty)?,
            }
        }
        Ok(())
    }
}

/// Copies a table.
///
/// # Errors
/// [`senv_core::Error::TooLarge`] if it does not fit in memory.
pub fn copy_table(table: &Table) -> CoreResult<Table> {
    let mut copy = Table::zeros(table.n_rows(), table.dim())?;
    for i in 0..table.n_rows() {
        copy.row_mut(i).copy_from_slice(table.row(i));
    }
    Ok(copy)
}
