//! Sent2Vec: each word that is kept as a target is predicted from the rest of its sentence.
//!
//! Equation: `sent2vec-context`
//!
//! ```text
//! R(S)            the words of S and the n-grams over them, after dropout
//! R(S \ {w_t})    the features of R(S) that do not touch position t          (the paper)
//!                 the features of S with position t replaced by a placeholder (the release)
//! ```
//!
//! Pagliardini, Gupta and Jaggi, "Unsupervised Learning of Sentence Embeddings using Compositional n-Gram Features",
//! 2018, section 2.2, equations 1 to 4. Equations 3 and 4 disagree on what the keep probability multiplies; sampling
//! implements 4. Contexts are never subsampled, and a sentence of fewer than two known tokens is skipped.

use senv_core::{FeatureList, RowId, Stream, TokenId};

use super::Examples;
use crate::{plan::Plan, subsampling::Subsampling};

/// The features of a sentence in training.
pub trait MaskedFeatures: Send + Sync {
    /// Number of rows the features can name.
    fn n_rows(&self) -> usize;

    /// The longest feature in tokens.
    fn max_span(&self) -> usize;

    /// Writes the features of `tokens` to `out` (cleared first), dropout included; every token is opened once.
    fn draw_into(&self, tokens: &[TokenId], rng: &mut Stream, out: &mut FeatureList);

    /// The row of the feature from token `start` to token `end` (inclusive) once the token at `position` is replaced
    /// by the placeholder; `None` where there is no placeholder and the feature simply disappears.
    fn with_placeholder(&self, tokens: &[TokenId], start: usize, end: usize, position: usize) -> Option<RowId>;
}

/// The examples of Sent2Vec over any features.
#[derive(Debug, Clone)]
pub struct MaskedTargets<F> {
    features: F,
    subsampling: Subsampling,
    n_target_rows: usize,
}

impl<F: MaskedFeatures> MaskedTargets<F> {
    /// Examples over these features; `subsampling` says which tokens become targets, of `n_target_rows` in all.
    pub fn new(features: F, subsampling: Subsampling, n_target_rows: usize) -> Self {
        Self { features, subsampling, n_target_rows }
    }
}

impl<F: MaskedFeatures> Examples for MaskedTargets<F> {
    type Scratch = (FeatureList, Vec<u32>);

    fn n_source_rows(&self) -> usize {
        self.features.n_rows()
    }

    fn n_target_rows(&self) -> usize {
        self.n_target_rows
    }

    fn plan(
        &self,
        sentence: &[TokenId],
        _number: u64,
        rng: &mut Stream,
        (features, kept): &mut Self::Scratch,
        plan: &mut Plan,
    ) {
        if sentence.len() < 2 {
            return;
        }
        kept.clear();
        kept.extend((0..sentence.len() as u32).filter(|&p| self.subsampling.keeps(sentence[p as usize].0, rng)));
        if kept.is_empty() {
            return;
        }
        self.features.draw_into(sentence, rng, features);
        plan.open_group(features.rows().iter().copied());
        let reach = self.features.max_span().saturating_sub(1);
        for &position in kept.iter() {
            let position = position as usize;
            let touching = || {
                (position.saturating_sub(reach)..=position)
                    .flat_map(|start| features.starting_at(start).map(move |i| (start, i)))
                    .filter(|&(_, i)| features.end_of(i) >= position)
            };
            plan.push_masked_target(
                RowId(sentence[position].0),
                true,
                |exclude| touching().for_each(|(_, i)| exclude(i)),
                |add| {
                    touching()
                        .filter_map(|(start, i)| {
                            self.features.with_placeholder(sentence, start, features.end_of(i), position)
                        })
                        .for_each(add);
                },
            );
        }
    }
}
