//! The objective that trains texts toward their targets.

use ndarray::{Array2, ArrayView1, Axis};
use rand::RngExt;
use senv_core::{
    Rows, Sentences, Table,
    arrays::{TokenBatch, matmul},
    rng::stream,
};
use senv_losses::{TargetCosine, TargetRanking};
use senv_metrics::query_rank;

use super::{net::Net, params::TargetLoss};
use crate::{
    error::Result,
    gradient::{GradientStep, Gradients, Objective, Source, StepReport, Weights, through_encoder},
};

/// The number of held-out texts ranked at a time.
const A_BATCH: usize = 64;

/// The maximum number of held-out texts to rank. More do not improve the choice of weights, and each is compared with
/// all targets.
const MOST_HELD_OUT: usize = 1000;

/// Texts as tokens, and the target of each.
#[derive(Debug, Default)]
pub(super) struct Texts {
    pub(super) tokens: Sentences,
    pub(super) targets: Vec<u32>,
}

/// The objective: `target-cosine-loss` or `target-ranking-loss` of the output of the net for a text.
pub(super) struct TowardTargets<'a> {
    pub(super) kind: &'static str,
    pub(super) net: Net,
    pub(super) loss: TargetLoss,
    pub(super) ranking: TargetRanking,
    pub(super) train: Texts,
    pub(super) held_out: Texts,
    /// The targets, as unit vectors.
    pub(super) targets: &'a Table,
    pub(super) identity: String,
}

/// The texts of a step, their targets, and for each a text of the batch with another target.
#[derive(Default)]
pub(super) struct TargetBatch {
    batch: TokenBatch,
    targets: Array2<f32>,
    others: Vec<Option<u32>>,
}

impl TowardTargets<'_> {
    fn rows(&self, numbers: impl ExactSizeIterator<Item = u32>) -> Array2<f32> {
        let mut rows = Array2::zeros((numbers.len(), self.targets.dim()));
        for (mut row, number) in rows.rows_mut().into_iter().zip(numbers) {
            row.assign(&ArrayView1::from(self.targets.row(number as usize)));
        }
        rows
    }
}

/// Draws an example with another target for each example; `None` if all have the same target.
fn draw_others(targets: &[u32], step: &GradientStep<'_>) -> Vec<Option<u32>> {
    let mut rng = stream(step.seed, "other targets", &[step.number]);
    let n = targets.len();
    let mut other = |i: usize| {
        if n < 2 {
            return None;
        }
        // Takes the first with another target from there on, which is uniform if all targets differ.
        let ahead = rng.random_range(1..n);
        (0..n).map(|k| (i + ahead + k) % n).find(|&j| targets[j] != targets[i]).map(|j| j as u32)
    };
    (0..n).map(&mut other).collect()
}

impl Objective for TowardTargets<'_> {
    type Batch = TargetBatch;

    fn kind(&self) -> &'static str {
        self.kind
    }

    fn sources(&self) -> Vec<Source> {
        vec![Source { n_examples: self.train.targets.len() as u32, weight: None }]
    }

    fn identity(&self) -> String {
        self.identity.clone()
    }

    fn prepare(&self, step: &GradientStep<'_>, batch: &mut TargetBatch) -> Result<()> {
        let targets: Vec<u32> = step.examples.iter().map(|&i| self.train.targets[i as usize]).collect();
        batch.targets = self.rows(targets.iter().copied());
        batch.others = if self.loss == TargetLoss::Ranking { draw_others(&targets, step) } else { Vec::new() };
        Ok(batch.batch.assign(step.examples.iter().map(|&i| self.train.tokens.get(i as usize)))?)
    }

    fn gradients(
        &self,
        weights: &Weights,
        _: &GradientStep<'_>,
        TargetBatch { batch, targets, others }: &TargetBatch,
        gradients: &mut Gradients,
    ) -> Result<StepReport> {
        through_encoder(&*self.net.encoder, weights, batch, None, gradients, |vectors, of_maps| {
            let maps = &weights.parameters[1];
            let (inputs, out) = self.net.map(maps, vectors)?;
            let (loss, chance, d_out) = match self.loss {
                TargetLoss::Cosine => {
                    let (loss, saved) = TargetCosine.forward(out.view(), targets.view())?;
                    (loss, 1.0, TargetCosine.backward(&saved, 1.0))
                }
                TargetLoss::Ranking => {
                    let (loss, saved) = self.ranking.forward(out.view(), targets.view(), others)?;
                    // Guessing is nearer to the other target by x as often as farther by x, so its mean is at most δ +
                    // E|x| / 2, |x| ≤ 2. This is a bound, not a value, so a run near it does not count as having
                    // learned nothing.
                    (loss, self.ranking.margin + 1.0, self.ranking.backward(&saved, 1.0))
                }
            };
            let d_vectors = self.net.map_back(maps, &inputs, d_out, &mut of_maps.dense[0])?;
            let (chance, tokens) = (Some(chance), batch.n_tokens() as u64);
            Ok((StepReport { loss, chance, tokens, ..StepReport::default() }, d_vectors))
        })
    }

    /// Returns minus the mean of ln of the rank of the target of a held-out text among all targets.
    fn validate(&mut self, weights: &Weights) -> Result<Option<f64>> {
        let n = self.held_out.targets.len();
        if n == 0 {
            return Ok(None);
        }
        // Evenly spaced over all of them.
        let chosen: Vec<usize> = (0..n.min(MOST_HELD_OUT)).map(|i| i * n / n.min(MOST_HELD_OUT)).collect();
        let all = self.rows(0..self.targets.n_rows() as u32);
        let (mut batch, mut sum) = (TokenBatch::new(), 0.0);
        for chosen in chosen.chunks(A_BATCH) {
            let texts: Vec<_> = chosen.iter().map(|&i| self.held_out.tokens.get(i)).collect();
            batch.assign(texts.iter().copied())?;
            let words = batch.gather(&weights.words)?;
            let out = self.net.encode(&weights.parameters, &batch, words.view(), &texts)?;
            if out.iter().any(|x| !x.is_finite()) {
                return Ok(Some(f64::NAN));
            }
            let scores = matmul(out.view(), all.t())?;
            for (&i, scores) in chosen.iter().zip(scores.axis_iter(Axis(0))) {
                let target = self.held_out.targets[i] as usize;
                let rank = query_rank(&scores.to_vec(), &[target], &[])?;
                // A tie counts as the middle of the possible ranks.
                sum += rank.map_or(0.0, |rank| (rank.rank as f64 + rank.n_tied as f64 / 2.0).ln());
            }
        }
        Ok(Some(-sum / chosen.len() as f64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn others_have_other_targets_and_none_where_all_are_one() {
        let step = GradientStep { seed: 1, number: 3, source: 0, examples: &[] };
        let targets = [4, 4, 7, 9, 4];
        let others = draw_others(&targets, &step);
        assert_eq!(others.len(), 5);
        for (i, other) in others.iter().enumerate() {
            assert_ne!(targets[other.unwrap() as usize], targets[i]);
        }
        assert_eq!(draw_others(&targets, &step), others, "of the seed and the number of the step");
        assert_eq!(draw_others(&[2, 2], &step), [None, None]);
        assert_eq!(draw_others(&[2], &step), [None]);
        // In the long run all others are drawn.
        let mut seen = [0; 4];
        for number in 0..400 {
            let others = draw_others(&[0, 1, 2, 3], &GradientStep { number, ..step });
            seen[others[0].unwrap() as usize] += 1;
        }
        assert_eq!(seen[0], 0);
        assert!(seen[1..].iter().all(|&n| n > 60), "{seen:?}");
    }
}
