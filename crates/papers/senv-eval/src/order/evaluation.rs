//! Evaluates word order on all parts of the data.

use senv_metrics::{Bootstrap, percentile_interval};
use serde::Serialize;

use super::{
    data::OrderData,
    entailment::{self, OrderEntailmentResult},
    pairs::{self, OrderPairsResult},
    templates::OrderPhenomenon,
    triplets::{self, OrderTemplatesResult},
};
use crate::{
    error::{Error, Result},
    ranking::scoring::Scoring,
    score::with_interval::{WithInterval, mean_draws, mean_of},
};

/// How well the scores of a system reflect word order.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct OrderResult {
    /// Results on labeled pairs, one per file.
    pub pairs: Vec<OrderPairsResult>,
    /// Results on NLI data, one per file.
    pub nli: Vec<OrderEntailmentResult>,
    /// Results on templates, one per phenomenon.
    pub templates: Vec<OrderTemplatesResult>,
    /// Plain mean of the shares of the phenomena in [`OrderPhenomenon::ALL`]; `None` without one.
    pub mean_share_nearer: Option<WithInterval>,
}

/// Evaluates how well the scores of a system, cosines or others, reflect word order. The 95 % intervals come from the
/// bootstrap over pairs and items; `resamples` of 0 leaves them out.
///
/// # Errors
/// [`Error::NothingToDo`] without a pair or an item; [`Error::NotEncoded`] for a sentence without a vector;
/// [`Error::NotFinite`] for a vector or a score that is not finite.
///
/// # Examples
/// ```
/// use senv_eval::{OrderData, OrderTemplates, Scoring, evaluate_order};
/// use senv_metrics::Bootstrap;
/// // Number of bytes at the start that two sentences share.
/// let beginning = |pairs: &[(&str, &str)]| {
///     let alike = |(a, b): &(&str, &str)| a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count() as f64;
///     Ok(pairs.iter().map(alike).collect())
/// };
/// let data = OrderData { templates: OrderTemplates::all_built_in(), ..OrderData::default() };
/// let result = evaluate_order(&Scoring::Pairs(&beginning), &data, Bootstrap::default())?;
/// assert_eq!(result.templates.len(), 7);
/// println!("{}", result.to_text(&[]));
/// # Ok::<(), senv_eval::Error>(())
/// ```
pub fn evaluate_order(scoring: &Scoring<'_>, data: &OrderData, bootstrap: Bootstrap) -> Result<OrderResult> {
    if data.sentences().next().is_none() {
        return Err(Error::NothingToDo { what: "pairs or items for word order" });
    }
    if let Ok(vectors) = scoring.vectors() {
        vectors.check_finite()?;
    }
    let source = scoring.pairs();
    let templates = data.templates.iter().map(|of| triplets::evaluate(source, of, bootstrap));
    let templates = templates.collect::<Result<Vec<_>>>()?;
    Ok(OrderResult {
        pairs: pairs::evaluate(source, &data.pairs, bootstrap)?,
        nli: data.nli.iter().map(|set| entailment::evaluate(source, set, bootstrap)).collect::<Result<_>>()?,
        mean_share_nearer: mean_share(&templates, bootstrap)?,
        templates,
    })
}

/// Computes the mean over the phenomena. Each is resampled separately.
fn mean_share(templates: &[OrderTemplatesResult], bootstrap: Bootstrap) -> Result<Option<WithInterval>> {
    let templates: Vec<_> = templates.iter().filter(|of| OrderPhenomenon::ALL.contains(&of.phenomenon)).collect();
    let shares = templates.iter().map(|of| of.share_nearer.map(|share| share.value));
    let Some(value) = mean_of(shares) else { return Ok(None) };
    let draws = templates.iter().map(|of| of.draws(bootstrap)).collect::<Result<Vec<_>>>()?;
    let draws = mean_draws(draws.iter().map(|draws| &draws[..]), bootstrap.resamples);
    Ok(Some(WithInterval { value, interval: percentile_interval(&draws).map(|ends| (ends.low, ends.high)) }))
}

#[cfg(test)]
mod tests {
    use senv_data::{Entailment, NliLayout, NliPair, NliSet, ParaphrasePair, ParaphraseSet};

    use super::*;
    use crate::order::templates::OrderTemplates;

    /// Parses the second sentence as the score.
    fn second(pairs: &[(&str, &str)]) -> senv_core::Result<Vec<f64>> {
        Ok(pairs.iter().map(|pair| pair.1.parse().unwrap_or(f64::NAN)).collect())
    }

    fn data() -> OrderData {
        let pair = |(is_paraphrase, score): (bool, &str)| ParaphrasePair {
            is_paraphrase,
            first: "a".to_owned(),
            second: score.to_owned(),
        };
        let labeled = |(label, score): (Entailment, &str)| NliPair {
            label,
            premise: "a".to_owned(),
            hypothesis: score.to_owned(),
        };
        // The example in scikit-learn's documentation: scores .1, .4, .35 and .8 for labels 0, 0, 1 and 1 have ROC AUC
        // .75 and average precision .8333.
        let pairs = [(false, "0.1"), (false, "0.4"), (true, "0.35"), (true, "0.8")].map(pair).to_vec();
        let (yes, no, neutral) = (Entailment::Entailment, Entailment::Contradiction, Entailment::Neutral);
        // Of the 2 x 3 pairs of an entailment and a contradiction, three are in order and one is tied.
        let labels = [(yes, "0.5"), (no, "0.5"), (neutral, "0.9"), (no, "0.7"), (no, "0.2"), (yes, "0.6")];
        let nli = NliSet {
            path: "nli.tsv".into(),
            layout: NliLayout::Snli,
            pairs: labels.map(labeled).to_vec(),
            n_unlabeled: 2,
        };
        OrderData {
            pairs: vec![ParaphraseSet { path: "paws.tsv".into(), pairs }],
            nli: vec![nli],
            templates: Vec::new(),
        }
    }

    #[test]
    fn areas_and_averages_by_hand() {
        let result = evaluate_order(&Scoring::Pairs(&second), &data(), Bootstrap::default()).unwrap();
        let pairs = &result.pairs[0];
        assert_eq!(pairs.roc_auc.map(|of| of.value), Some(0.75));
        assert!((pairs.average_precision.unwrap().value - 5.0 / 6.0).abs() < 1e-12);
        assert_eq!((pairs.n_pairs, pairs.n_paraphrases, pairs.share_of_paraphrases), (4, 2, 0.5));
        let nli = &result.nli[0];
        assert!((nli.roc_auc.unwrap().value - 3.5 / 6.0).abs() < 1e-12);
        assert_eq!(nli.labels.each_ref().map(|label| label.n_pairs), [3, 1, 2]);
        assert!((nli.labels[2].mean_cosine.unwrap() - 0.55).abs() < 1e-12);
        assert_eq!(nli.scores, [0.5, 0.5, 0.7, 0.2, 0.6]);
        assert_eq!(result.mean_share_nearer, None);
        let text = result.to_text(&[("other", &result)]);
        for part in ["paws.tsv", "0.750", "0.833", "0.583", "nli.tsv: skipped 2 pairs without a label"] {
            assert!(text.contains(part), "{part} is missing in {text}");
        }
        assert!(!text.contains("templates"), "{text}");
    }

    #[test]
    fn what_has_one_label_has_no_area_and_nothing_is_refused() {
        let mut data = data();
        data.pairs[0].pairs.retain(|pair| pair.is_paraphrase);
        data.nli[0].pairs.retain(|pair| pair.label == Entailment::Neutral);
        let result = evaluate_order(&Scoring::Pairs(&second), &data, Bootstrap::default()).unwrap();
        assert_eq!((result.pairs[0].roc_auc, result.nli[0].roc_auc), (None, None));
        assert_eq!(result.pairs[0].average_precision.map(|of| of.value), Some(1.0));
        assert!(result.to_text(&[]).contains(" - "), "{}", result.to_text(&[]));
        let nothing = evaluate_order(&Scoring::Pairs(&second), &OrderData::default(), Bootstrap::default());
        assert!(matches!(nothing, Err(Error::NothingToDo { .. })));
        data.pairs[0].pairs[0].second = "x".to_owned();
        let error = evaluate_order(&Scoring::Pairs(&second), &data, Bootstrap::default()).unwrap_err().to_string();
        assert!(error.contains("pair 1 of paws.tsv"), "{error}");
    }

    #[test]
    fn the_mean_is_that_of_the_phenomena_and_the_figure_has_a_row_for_each() {
        // Longer sentences score higher.
        let length = |pairs: &[(&str, &str)]| Ok(pairs.iter().map(|pair| pair.1.len() as f64).collect());
        let data = OrderData { templates: OrderTemplates::all_built_in(), ..OrderData::default() };
        let judge =
            |resamples| evaluate_order(&Scoring::Pairs(&length), &data, Bootstrap { resamples, seed: 1 }).unwrap();
        let result = judge(300);
        let shares: Vec<f64> = result.templates.iter().map(|of| of.share_nearer.unwrap().value).collect();
        let mean = result.mean_share_nearer.unwrap();
        assert!((mean.value - shares.iter().sum::<f64>() / 7.0).abs() < 1e-12);
        let (low, high) = mean.interval.unwrap();
        assert!(low <= mean.value && mean.value <= high && high - low < 0.1, "{low} {high}");
        let typed = OrderTemplates::built_in(OrderPhenomenon::Contractions);
        let with_typed = OrderData { templates: [&data.templates[..], &[typed]].concat(), ..OrderData::default() };
        let with_typed = evaluate_order(&Scoring::Pairs(&length), &with_typed, Bootstrap { resamples: 300, seed: 1 });
        let text = with_typed.as_ref().unwrap().to_text(&[]);
        assert_eq!(with_typed.unwrap().mean_share_nearer, result.mean_share_nearer);
        let line = |name: &str| text.lines().position(|line| line.starts_with(name)).unwrap();
        assert!(line("conjuncts") < line("mean") && line("mean") < line("contractions"), "{text}");
        assert_eq!(judge(0).mean_share_nearer.unwrap().interval, None);
        let svg = result.to_svg("a <b>", &[("other", &result)]);
        assert_eq!(svg.matches("<circle").count(), 14);
        for part in ["a &lt;b&gt;", "conjuncts exchanged", "class=\"x-title\"", "class=\"y-title\""] {
            assert!(svg.contains(part), "{part}");
        }
        assert!(result.to_text(&[]).contains("before and after") && !svg.contains("NaN"));
    }
}
