//! Templates: does the sentence with the same meaning score higher than the one with a different meaning?
//!
//! Equation: `nearer-share`
//!
//! ```text
//! share = Σ_i v_i / n      v_i = 1 if cos(anchor, same) > cos(anchor, different) + τ, 0 if it is below by more than τ, else ½
//! ```
//!
//! τ = 10⁻⁵, because the same words in a different order sum to the same vector except for the last digits of f32.
//! Chance reaches ½, and so does every bag of words on sentences with equal words.

use senv_metrics::{Bootstrap, Sample, Statistic, mean};
use serde::Serialize;

use super::templates::{OrderPhenomenon, OrderTemplates};
use crate::{
    error::Result,
    score::{pairs::PairSource, with_interval::WithInterval},
};

/// Scores that differ by at most this are ties.
const TIE: f64 = 1e-5;

/// How well the scores of the items of a phenomenon agree with their meaning.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct OrderTemplatesResult {
    /// The phenomenon.
    pub phenomenon: OrderPhenomenon,
    /// Number of items.
    pub n_items: usize,
    /// Number of items whose two scores are tied.
    pub n_ties: usize,
    /// Number of items with a sentence without a known token, which has cosine 0.
    pub n_items_without_known_token: usize,
    /// Share of items whose sentence with the same meaning scores higher, in `[0, 1]`. A tie counts ½. `None` without
    /// an item.
    pub share_nearer: Option<WithInterval>,
    /// Mean score of the anchor and the sentence with the same meaning.
    pub mean_cosine_to_same: Option<f64>,
    /// Mean score of the anchor and the sentence with a different meaning.
    pub mean_cosine_to_different: Option<f64>,
    /// 1, ½ or 0 for each item (not part of the JSON).
    #[serde(skip)]
    pub values: Vec<f64>,
}

/// Returns the name for bootstrap draws: the key of the bench task.
fn draws_name(phenomenon: OrderPhenomenon) -> String {
    format!("order-templates/{}", phenomenon.name())
}

fn sample(values: &[f64]) -> Result<Sample> {
    Ok(Sample::new(Statistic::Mean, &[], values)?)
}

pub(crate) fn evaluate(
    source: PairSource<'_>,
    templates: &OrderTemplates,
    bootstrap: Bootstrap,
) -> Result<OrderTemplatesResult> {
    let OrderTemplates { phenomenon, items } = templates;
    let pairs: Vec<(&str, &str)> =
        items.iter().flat_map(|item| [(&item.anchor[..], &item.same[..]), (&item.anchor, &item.different)]).collect();
    let found = source.score(&pairs, |i| format!("item {} of {}", i / 2 + 1, phenomenon.name()))?;
    let of = |place: usize| found.scores.iter().skip(place).step_by(2).copied().collect::<Vec<f64>>();
    let (same, different) = (of(0), of(1));
    let value = |(same, different): (&f64, &f64)| match same - different {
        gap if gap > TIE => 1.0,
        gap if gap < -TIE => 0.0,
        _ => 0.5,
    };
    let values: Vec<f64> = same.iter().zip(&different).map(value).collect();
    Ok(OrderTemplatesResult {
        phenomenon: *phenomenon,
        n_items: items.len(),
        n_ties: values.iter().filter(|value| **value == 0.5).count(),
        n_items_without_known_token: found.n_without_known_token.div_ceil(2),
        share_nearer: WithInterval::of(&sample(&values)?, &draws_name(*phenomenon), bootstrap),
        mean_cosine_to_same: mean(&same),
        mean_cosine_to_different: mean(&different),
        values,
    })
}

impl OrderTemplatesResult {
    /// Returns the share in each draw.
    pub(crate) fn draws(&self, bootstrap: Bootstrap) -> Result<Vec<Option<f64>>> {
        Ok(bootstrap.replicates(&draws_name(self.phenomenon), &sample(&self.values)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{order::templates::OrderItem, score::pairs::PairScorer};

    fn evaluate(scorer: &dyn PairScorer, templates: &OrderTemplates) -> OrderTemplatesResult {
        let bootstrap = Bootstrap { resamples: 200, seed: 1 };
        super::evaluate(PairSource::Scorer(scorer), templates, bootstrap).unwrap()
    }

    #[test]
    fn a_share_by_hand_with_ties_of_rounding() {
        // The second sentence is a number, which is the score.
        let scorer = |pairs: &[(&str, &str)]| Ok(pairs.iter().map(|pair| pair.1.parse().unwrap_or(f64::NAN)).collect());
        let item = |same: &str, different: &str| OrderItem {
            anchor: "a".to_owned(),
            same: same.to_owned(),
            different: different.to_owned(),
        };
        let items =
            vec![item("0.9", "0.1"), item("0.5", "0.500001"), item("0.2", "0.3"), item("0.7", "0.6"), item("1", "0")];
        let templates = OrderTemplates { phenomenon: OrderPhenomenon::Numbers, items };
        let result = evaluate(&scorer, &templates);
        assert_eq!(result.values, [1.0, 0.5, 0.0, 1.0, 1.0]);
        assert_eq!((result.n_items, result.n_ties, result.share_nearer.map(|share| share.value)), (5, 1, Some(0.7)));
        assert!((result.mean_cosine_to_same.unwrap() - 0.66).abs() < 1e-12);
        assert!((result.mean_cosine_to_different.unwrap() - 0.3000002).abs() < 1e-12);
        let (low, high) = result.share_nearer.unwrap().interval.unwrap();
        assert!(low < 0.7 && 0.7 < high);
        let nothing = OrderTemplates { items: Vec::new(), ..templates };
        assert_eq!(evaluate(&scorer, &nothing).share_nearer, None);
    }

    /// Cosine of word counts, without word order.
    #[test]
    fn a_bag_of_words_is_at_chance_on_every_phenomenon() {
        let words = |sentence: &str| -> std::collections::BTreeMap<String, f64> {
            let mut counts = std::collections::BTreeMap::new();
            for word in sentence.split(' ') {
                *counts.entry(word.trim_matches(['.', ',']).to_lowercase()).or_insert(0.0) += 1.0;
            }
            counts
        };
        let scorer = |pairs: &[(&str, &str)]| {
            let cosine = |(a, b): &(&str, &str)| {
                let (a, b) = (words(a), words(b));
                let dot: f64 = a.iter().map(|(word, n)| n * b.get(word).unwrap_or(&0.0)).sum();
                let norm =
                    |of: &std::collections::BTreeMap<String, f64>| of.values().map(|n| n * n).sum::<f64>().sqrt();
                dot / (norm(&a) * norm(&b))
            };
            Ok(pairs.iter().map(cosine).collect())
        };
        for templates in OrderTemplates::all_built_in() {
            let result = evaluate(&scorer, &templates);
            assert_eq!(result.share_nearer.map(|share| share.value), Some(0.5), "{:?}", templates.phenomenon);
        }
    }
}
