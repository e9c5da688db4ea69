//! The objective: labelled pairs by the whole cosine, while ordinary pairs are held in place.
//!
//! Equation: `order-objective`
//!
//! ```text
//! L = BCE(e^s (c − b), y) + λ (1/n) Σ_k (1 − r_k)      c: `joined-cosine` with the order part as it is, κ = 1 and γ = ν = 0
//! ```
//!
//! The first term is `cosine-logistic` on labelled pairs. The second is `held-correlation` on ordinary pairs, whose
//! reference values are their cosines by the table. Both use the whole cosine, so the lengths of order parts are
//! trained too.

use ndarray::{Array2, Axis, concatenate};
use senv_core::{TokenId, arrays::TokenBatch, kernels, observer::Metric, rng::stream, static_model::order::OrderWords};
use senv_encoders::{Encoder, OrderEncoder};
use senv_losses::{CosineLogistic, JoinedCosines, held_correlation};
use senv_metrics::average_precision;

use super::{
    Order,
    exchange::Exchange,
    ordinary::{HeldPairs, OrdinaryPairs, unit_vector},
};
use crate::{
    error::Result,
    gradient::{GradientStep, Gradients, Objective, Source, StepReport, Weights, through_encoder},
};

/// Labelled pairs as tokens.
#[derive(Debug, Default)]
pub(super) struct LabelledTokens {
    /// First sentences, then second ones.
    pub(super) sentences: Vec<Vec<TokenId>>,
    pub(super) labels: Vec<bool>,
}

impl LabelledTokens {
    pub(super) fn new(pairs: Vec<([Vec<TokenId>; 2], bool)>) -> Self {
        let (mut sentences, mut second, mut labels) = (Vec::new(), Vec::new(), Vec::new());
        for ([a, b], label) in pairs {
            sentences.push(a);
            second.push(b);
            labels.push(label);
        }
        sentences.extend(second);
        Self { sentences, labels }
    }

    pub(super) fn pair(&self, i: usize) -> [&[TokenId]; 2] {
        [&self.sentences[i], &self.sentences[self.labels.len() + i]]
    }
}

/// The order part on labelled and ordinary pairs.
pub(super) struct OrderObjective<'t> {
    pub(super) words: OrderWords<'t>,
    pub(super) encoder: OrderEncoder,
    pub(super) head: CosineLogistic,
    pub(super) train: LabelledTokens,
    pub(super) dev: Option<LabelledTokens>,
    pub(super) exchange: Exchange,
    pub(super) ordinary: OrdinaryPairs,
    /// λ, the weight of the held correlations.
    pub(super) hold: f64,
    pub(super) identity: String,
}

/// The pairs of a step.
#[derive(Debug, Default)]
pub(super) struct OrderBatch {
    /// First and second sentences of the labelled pairs, then those of the ordinary pairs.
    batch: TokenBatch,
    labels: Vec<bool>,
    /// The table's cosines of labelled pairs.
    cosines: Vec<f64>,
    held: HeldPairs,
    exchanged: Vec<[Vec<TokenId>; 2]>,
}

impl OrderObjective<'_> {
    fn fixed_cosine(&self, pair: [&[TokenId]; 2]) -> f64 {
        let [first, second] = pair.map(|sentence| unit_vector(sentence, self.words));
        f64::from(kernels::dot(&first, &second))
    }
}

impl Objective for OrderObjective<'_> {
    type Batch = OrderBatch;

    fn kind(&self) -> &'static str {
        Order::KIND
    }

    fn sources(&self) -> Vec<Source> {
        vec![Source { n_examples: self.train.labels.len() as u32, weight: None }]
    }

    fn identity(&self) -> String {
        self.identity.clone()
    }

    fn prepare(&self, step: &GradientStep<'_>, out: &mut OrderBatch) -> Result<()> {
        let OrderBatch { batch, labels, cosines, held, exchanged } = out;
        exchanged.resize_with(step.examples.len(), Default::default);
        labels.clear();
        cosines.clear();
        let mut rng = stream(step.seed, "order exchange", &[step.number]);
        for (&i, pair) in step.examples.iter().zip(exchanged.iter_mut()) {
            let [first, second] = pair;
            self.exchange.apply(&mut rng, self.train.pair(i as usize), [first, second]);
            labels.push(self.train.labels[i as usize]);
            cosines.push(self.fixed_cosine([first, second]));
        }
        self.ordinary.draw(step.seed, step.number, held);
        let labelled = [0, 1].into_iter().flat_map(|side| exchanged.iter().map(move |pair| &pair[side][..]));
        let of_held = [0, 1].into_iter().flat_map(|side| held.pairs.iter().map(move |pair| pair[side]));
        Ok(batch.assign(labelled.chain(of_held.map(|i| self.ordinary.sentence(i))))?)
    }

    fn gradients(
        &self,
        weights: &Weights,
        _: &GradientStep<'_>,
        OrderBatch { batch, labels, cosines, held, .. }: &OrderBatch,
        gradients: &mut Gradients,
    ) -> Result<StepReport> {
        through_encoder(&self.encoder, weights, batch, None, gradients, |vectors, of_head| {
            let (n, dim) = (labels.len(), self.encoder.dim);
            let (parts, _) = vectors.split_at(Axis(1), dim);
            let (labelled, ordinary) = parts.split_at(Axis(0), 2 * n);
            let (a, b) = labelled.split_at(Axis(0), n);
            let joined = JoinedCosines::new(cosines, a, b)?;
            let (loss, d) =
                self.head.loss_and_gradients(&weights.parameters[1], joined.values(), labels, &mut of_head.dense[0])?;
            let (d_a, d_b) = joined.backward(a, b, &d);
            let mut all = vec![d_a, d_b];
            let mut held_loss = None;
            if !held.groups.is_empty() {
                let (a, b) = ordinary.split_at(Axis(0), held.pairs.len());
                let joined = JoinedCosines::new(&held.cosines, a, b)?;
                let (loss, mut d) = held_correlation(joined.values(), &held.cosines, &held.groups)?;
                d.iter_mut().for_each(|d| *d *= self.hold);
                let (d_a, d_b) = joined.backward(a, b, &d);
                all.extend([d_a, d_b]);
                held_loss = Some(loss);
            }
            let views: Vec<_> = all.iter().map(|part| part.view()).collect();
            let mut d_vectors = Array2::zeros(vectors.raw_dim());
            // l itself is not part of the cosine: its gradient comes from the length of the part.
            let (mut d_parts, _) = d_vectors.view_mut().split_at(Axis(1), dim);
            d_parts.assign(&concatenate(Axis(0), &views).unwrap_or_default());
            let total = loss + self.hold * held_loss.unwrap_or(0.0);
            // No chance level: training starts from the cosines of the table. They are better than a guess, but worse
            // than a constant if both sentences of every pair have the same words.
            let mut report = StepReport { loss: total, tokens: batch.n_tokens() as u64, ..StepReport::default() };
            report.metrics[0] = Some(Metric { name: "labelled", value: loss });
            report.metrics[1] = held_loss.map(|value| Metric { name: "held", value });
            Ok((report, d_vectors))
        })
    }

    /// The average precision on held-out pairs by the whole cosine.
    fn validate(&mut self, weights: &Weights) -> Result<Option<f64>> {
        let Some(dev) = &self.dev else { return Ok(None) };
        let mut batch = TokenBatch::new();
        batch.assign(dev.sentences.iter().map(Vec::as_slice))?;
        let words = batch.gather(&weights.words)?;
        let (vectors, _) = self.encoder.forward(&weights.parameters[0], &batch, words.view())?;
        let (parts, _) = vectors.view().split_at(Axis(1), self.encoder.dim);
        let (a, b) = parts.split_at(Axis(0), dev.labels.len());
        let fixed: Vec<f64> = (0..dev.labels.len()).map(|i| self.fixed_cosine(dev.pair(i))).collect();
        let cosines = JoinedCosines::new(&fixed, a, b)?;
        if cosines.values().iter().any(|cosine| !cosine.is_finite()) {
            return Ok(Some(f64::NAN));
        }
        Ok(average_precision(&dev.labels, cosines.values()).ok().flatten())
    }
}
