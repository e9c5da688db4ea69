//! The rank of the best relevant candidate of a query.
//!
//! Equation: `query-rank`

use crate::{Result, error::Error};

/// The rank of the best relevant candidate of a query, and its ties.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueryRank {
    /// One plus the number of candidates with a higher score.
    pub rank: usize,
    /// Candidates that are not relevant and have the same score. With pessimistic ties, the rank would be `rank +
    /// n_tied`.
    pub n_tied: usize,
}

/// The rank of the best relevant candidate by descending score; `None` if none is relevant.
///
/// `relevant` and `excluded` are indices into `scores`, in any order; an index in both is excluded.
///
/// ```text
/// rank = 1 + #{j : s_j > max over relevant i of s_i}     j: all candidates but the excluded ones
/// mean rank = Σ_q rank_q / Q     accuracy@k = #{q : rank_q ≤ k} / Q
/// ```
///
/// Ties are optimistic: a candidate as close as the best relevant one does not count against it, nor do other relevant
/// candidates. So a constant scorer has rank 1; [`QueryRank::n_tied`] shows it.
///
/// ```
/// use senv_metrics::{QueryRank, query_rank};
/// // Candidate 0 is the query itself. Candidate 1 beats candidate 2, and candidate 3 ties with it.
/// let rank = query_rank(&[1.0, 0.9, 0.5, 0.5, 0.1], &[2, 4], &[0])?;
/// assert_eq!(rank, Some(QueryRank { rank: 2, n_tied: 1 }));
/// # Ok::<(), senv_metrics::Error>(())
/// ```
///
/// # Errors
/// [`Error::BadValue`] if a score is NaN; [`Error::NoSuchItem`] if an index is past the scores.
pub fn query_rank<T: Copy + Into<f64>>(
    scores: &[T],
    relevant: &[usize],
    excluded: &[usize],
) -> Result<Option<QueryRank>> {
    const METRIC: &str = "rank of a query";
    let nan = scores.iter().position(|&score| score.into().is_nan());
    if let Some(position) = nan {
        let (list, requirement) = ("scores", "numbers");
        return Err(Error::BadValue { metric: METRIC, list, position, value: f64::NAN, requirement });
    }
    let missing = |list: &'static str, places: &[usize]| match places.iter().find(|&&place| place >= scores.len()) {
        Some(&item) => Err(Error::NoSuchItem { metric: METRIC, list, item, n: scores.len() }),
        None => Ok(()),
    };
    missing("relevant candidates", relevant)?;
    missing("excluded candidates", excluded)?;
    let score = |place: usize| -> f64 { scores[place].into() };
    let targets = relevant.iter().copied().filter(|place| !excluded.contains(place));
    let Some(best) = targets.map(score).reduce(f64::max) else {
        return Ok(None);
    };
    let (mut above, mut equal) = (0, 0);
    for &candidate in scores {
        let candidate: f64 = candidate.into();
        above += usize::from(candidate > best);
        equal += usize::from(candidate == best);
    }
    // Counts all candidates, then subtracts once each those that do not count.
    for (i, &place) in excluded.iter().enumerate() {
        if !excluded[..i].contains(&place) {
            above -= usize::from(score(place) > best);
            equal -= usize::from(score(place) == best);
        }
    }
    for (i, &place) in relevant.iter().enumerate() {
        if !excluded.contains(&place) && !relevant[..i].contains(&place) {
            equal -= usize::from(score(place) == best);
        }
    }
    Ok(Some(QueryRank { rank: above + 1, n_tied: equal }))
}

/// The mean of the ranks (MRC), 1 at best; `None` without queries.
///
/// ```
/// assert_eq!(senv_metrics::mean_rank(&[1, 1, 5, 1]), Some(2.0));
/// ```
#[must_use]
pub fn mean_rank(ranks: &[usize]) -> Option<f64> {
    (!ranks.is_empty()).then(|| ranks.iter().map(|&rank| rank as f64).sum::<f64>() / ranks.len() as f64)
}

/// The share of queries with a rank of at most `k` (accuracy@k), in `[0, 1]`; `None` without queries.
///
/// ```
/// assert_eq!(senv_metrics::accuracy_at(&[1, 3, 12, 1], 3), Some(0.75));
/// ```
#[must_use]
pub fn accuracy_at(ranks: &[usize], k: usize) -> Option<f64> {
    let within = ranks.iter().filter(|&&rank| rank <= k).count();
    (!ranks.is_empty()).then(|| within as f64 / ranks.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_places_count_once_and_the_excluded_never() {
        let scores = [0.9_f32, 0.8, 0.7, 0.7, 0.7];
        let rank = |relevant: &[usize], excluded: &[usize]| {
            query_rank(&scores, relevant, excluded).unwrap().map(|found| (found.rank, found.n_tied))
        };
        assert_eq!(rank(&[2], &[]), Some((3, 2)));
        assert_eq!(rank(&[2, 3, 2], &[0, 0]), Some((2, 1)));
        assert_eq!(rank(&[2, 1], &[0]), Some((1, 0)));
        assert_eq!(rank(&[2, 0], &[0, 3]), Some((2, 1)));
        assert_eq!(rank(&[0], &[0]), None);
        assert_eq!(rank(&[], &[]), None);
    }

    #[test]
    fn what_has_no_rank_is_named() {
        let error = query_rank(&[0.1, f64::NAN], &[0], &[]).unwrap_err();
        assert!(matches!(error, Error::BadValue { list: "scores", position: 1, .. }), "{error}");
        let error = query_rank(&[0.1, 0.2], &[2], &[]).unwrap_err();
        assert!(matches!(error, Error::NoSuchItem { list: "relevant candidates", item: 2, n: 2, .. }), "{error}");
        assert!(matches!(query_rank(&[0.1], &[0], &[7]), Err(Error::NoSuchItem { item: 7, .. })));
        assert_eq!((mean_rank(&[]), accuracy_at(&[], 1)), (None, None));
    }
}
