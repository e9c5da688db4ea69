//! All that word order is judged by.

use senv_metrics::{Bootstrap, percentile_interval};
use serde::Serialize;

use super::{
    data::OrderData,
    entailment::{self, OrderEntailmentResult},
    pairs::{self, OrderPairsResult},
    triplets::{self, OrderTemplatesResult},
};
use crate::{
    bench::Scoring,
    error::{Error, Result},
    score::with_interval::{WithInterval, mean_draws, mean_of},
};

/// What a system makes of word order.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OrderResult {
    /// Pairs with a label, a file each.
    pub pairs: Vec<OrderPairsResult>,
    /// NLI data, a file each.
    pub nli: Vec<OrderEntailmentResult>,
    /// Templates by phenomenon.
    pub templates: Vec<OrderTemplatesResult>,
    /// The plain mean of the shares of the phenomena; `None` without one.
    pub mean_share_nearer: Option<WithInterval>,
}

/// Judges how far the scores of a system, cosines or others, follow word order. The 95 % intervals are those of the
/// bootstrap over pairs and items; `resamples` of 0 leaves them out.
///
/// # Errors
/// [`Error::NothingToDo`] without a pair or an item; [`Error::NotEncoded`] for a sentence without a vector;
/// [`Error::NotFinite`] for a vector or a score that is not.
///
/// # Examples
/// ```
/// use senv_eval::{OrderData, OrderTemplates, Scoring, evaluate_order};
/// use senv_metrics::Bootstrap;
/// // Whether two sentences begin alike.
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
        return Err(Error::NothingToDo { what: "pairs or items to judge word order by" });
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

/// The mean over the phenomena, each drawn by itself.
fn mean_share(templates: &[OrderTemplatesResult], bootstrap: Bootstrap) -> Result<Option<WithInterval>> {
    let shares = templates.iter().map(|of| of.share_nearer.map(|share| share.value));
    let Some(value) = mean_of(shares) else { return Ok(None) };
    let draws = templates.iter().map(|of| of.draws(bootstrap)).collect::<Result<Vec<_>>>()?;
    let draws = mean_draws(draws.iter().map(|draws| &draws[..]), bootstrap.resamples);
    Ok(Some(WithInterval { value, interval: percentile_interval(&draws).map(|ends| (ends.low, ends.high)) }))
}
