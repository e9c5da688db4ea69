//! Metrics of how high relevant documents are in a ranking.
//!
//! Equation: `ndcg`

/// nDCG of the first `k` ranks, in `[0, 1]`; `None` if nothing is relevant. `ranked` has the grades of the documents in
/// ranked order, `judged` those of all judged documents in any order. Grades below 0 count as 0.
///
/// ```text
/// DCG@k    = Σ_{r ≤ k} grade_r / log2(r + 1)        grade_r: the grade of the document of rank r; 0 without a judgment
/// nDCG@k   = DCG@k / DCG@k of the best ranking
/// recall@k = relevant documents of rank up to k / all relevant documents         relevant: a grade above 0
/// MRR      = the mean of 1 / the rank of the first relevant document
/// ```
///
/// Grades are used unchanged, as in `trec_eval` and BEIR (Järvelin and Kekäläinen 2002).
///
/// ```
/// // The grades are 1 and 2; the ranking has the 1 at rank 1 and the 2 at rank 3.
/// let found = senv_metrics::ndcg(&[1.0, 0.0, 2.0], &[2.0, 1.0], 10).expect("something is relevant");
/// assert!((found - (1.0 + 2.0 / 2.0) / (2.0 + 1.0 / 3.0_f64.log2())).abs() < 1e-12);
/// ```
#[must_use]
pub fn ndcg(ranked: &[f64], judged: &[f64], k: usize) -> Option<f64> {
    let dcg = |grades: &[f64]| -> f64 {
        let gain = |(i, grade): (usize, &f64)| grade.max(0.0) / ((i + 2) as f64).log2();
        grades.iter().take(k).enumerate().map(gain).sum()
    };
    let mut best = judged.to_vec();
    best.sort_by(|a, b| b.total_cmp(a));
    let highest = dcg(&best);
    (highest > 0.0).then(|| dcg(ranked) / highest)
}

/// The share of the relevant documents among the first `k`, in `[0, 1]`; `None` if nothing is relevant.
///
/// ```
/// assert_eq!(senv_metrics::recall_at(&[1.0, 0.0, 2.0], &[2.0, 1.0, 1.0, 0.0], 2), Some(1.0 / 3.0));
/// ```
#[must_use]
pub fn recall_at(ranked: &[f64], judged: &[f64], k: usize) -> Option<f64> {
    let n_relevant = |grades: &[f64]| grades.iter().filter(|&&grade| grade > 0.0).count();
    let all = n_relevant(judged);
    (all > 0).then(|| n_relevant(&ranked[..k.min(ranked.len())]) as f64 / all as f64)
}

/// 1 / the rank of the first relevant document, in `(0, 1]`; 0 if no relevant document is ranked.
///
/// ```
/// assert_eq!(senv_metrics::reciprocal_rank(&[0.0, 2.0, 1.0]), 0.5);
/// ```
#[must_use]
pub fn reciprocal_rank(ranked: &[f64]) -> f64 {
    ranked.iter().position(|&grade| grade > 0.0).map_or(0.0, |i| 1.0 / (i + 1) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_trec_eval() {
        // Computed by pytrec_eval-terrier (ndcg_cut_3, ndcg_cut_6, recall_100).
        let ranked = [3.0, 2.0, 3.0, 0.0, 1.0, 2.0];
        let judged = [3.0, 2.0, 3.0, 0.0, 1.0, 2.0, 3.0, 2.0];
        assert!((ndcg(&ranked, &judged, 6).unwrap() - 0.785_002_371_969_948).abs() < 1e-9);
        assert!((ndcg(&ranked, &judged, 3).unwrap() - 0.901_306_029_678_045).abs() < 1e-9);
        assert_eq!(recall_at(&ranked, &judged, 100), Some(5.0 / 7.0));
        assert_eq!(reciprocal_rank(&[0.0, 0.0, 1.0]), 1.0 / 3.0);
        assert_eq!((ndcg(&ranked, &[0.0, -1.0], 6), recall_at(&ranked, &[], 6)), (None, None));
        assert_eq!(reciprocal_rank(&[]), 0.0);
    }
}
