//! Metrics of how high relevant documents are in a ranking.
//!
//! Equation: `ndcg`

/// The documents that a ranking found, as their grades, best first. Documents with equal scores are a group, and every
/// metric is its mean over all orders of each group, so the order of a file never counts.
///
/// ```text
/// DCG@k    = Σ_{r ≤ k} grade_r / log2(r + 1)        grade_r: the grade of the document of rank r; 0 without a judgment
/// nDCG@k   = DCG@k / DCG@k of the best ranking
/// recall@k = relevant documents of rank up to k / all relevant documents         relevant: a grade above 0
/// MRR      = the mean of 1 / the rank of the first relevant document
/// ```
///
/// Grades are used unchanged, and grades below 0 count as 0, as in `trec_eval` and BEIR (Järvelin and Kekäläinen 2002).
/// For groups of equal scores, see McSherry and Najork, "Computing Information Retrieval Performance Measures
/// Efficiently in the Presence of Tied Scores", ECIR 2008.
///
/// ```
/// use senv_metrics::Ranking;
/// // The grades are 1 and 2; the ranking has the 1 at rank 1 and the 2 at rank 3.
/// let ranking = Ranking::new(&[1.0, 0.0, 2.0]);
/// let found = ranking.ndcg(&[2.0, 1.0], 10).expect("something is relevant");
/// assert!((found - (1.0 + 2.0 / 2.0) / (2.0 + 1.0 / 3.0_f64.log2())).abs() < 1e-12);
/// // Scores and grades of three documents, two of which are equal: the relevant one is at rank 2 or 3.
/// let ranking = Ranking::by_scores([(0.5, 1.0), (0.9, 0.0), (0.5, 0.0)]);
/// assert_eq!(ranking.reciprocal_rank(), (1.0 / 2.0 + 1.0 / 3.0) / 2.0);
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Ranking {
    grades: Vec<f64>,
    /// The end of each group of equal scores.
    ends: Vec<usize>,
}

impl Ranking {
    /// A ranking without equal scores, from the grades of its documents, best first.
    #[must_use]
    pub fn new(grades: &[f64]) -> Self {
        Self { grades: grades.to_vec(), ends: (1..=grades.len()).collect() }
    }

    /// The ranking by descending scores of documents with these scores and grades.
    #[must_use]
    pub fn by_scores(scored: impl IntoIterator<Item = (f64, f64)>) -> Self {
        let mut scored: Vec<(f64, f64)> = scored.into_iter().collect();
        scored.sort_by(|a, b| b.0.total_cmp(&a.0));
        let equal = scored.chunk_by(|a, b| a.0 == b.0);
        let ends = equal.scan(0, |end, group| {
            *end += group.len();
            Some(*end)
        });
        Self { ends: ends.collect(), grades: scored.iter().map(|&(_, grade)| grade).collect() }
    }

    /// The groups of equal scores, each with the number of documents before it.
    fn groups(&self) -> impl Iterator<Item = (usize, &[f64])> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| (start, &self.grades[start..end]))
    }

    /// nDCG of the first `k` ranks, in `[0, 1]`; `None` if nothing is relevant. `judged` has the grades of all judged
    /// documents in any order.
    #[must_use]
    pub fn ndcg(&self, judged: &[f64], k: usize) -> Option<f64> {
        let mut best: Vec<f64> = judged.to_vec();
        best.sort_by(|a, b| b.total_cmp(a));
        let highest: f64 = best.iter().take(k).enumerate().map(|(rank, grade)| gain(rank, *grade)).sum();
        // Every document of a group is equally often at each of its ranks.
        let of_group = |(start, grades): (usize, &[f64])| {
            let mean = grades.iter().map(|grade| grade.max(0.0)).sum::<f64>() / grades.len() as f64;
            (start..k.min(start + grades.len())).map(|rank| gain(rank, mean)).sum::<f64>()
        };
        // Starts at 0, because an empty `sum()` is -0.
        let dcg = self.groups().map(of_group).fold(0.0, |sum, part| sum + part);
        (highest > 0.0).then(|| dcg / highest)
    }

    /// The share of the relevant documents among the first `k`, in `[0, 1]`; `None` if nothing is relevant. `judged`
    /// has the grades of all judged documents in any order.
    ///
    /// ```
    /// use senv_metrics::Ranking;
    /// assert_eq!(Ranking::new(&[1.0, 0.0, 2.0]).recall_at(&[2.0, 1.0, 1.0, 0.0], 2), Some(1.0 / 3.0));
    /// ```
    #[must_use]
    pub fn recall_at(&self, judged: &[f64], k: usize) -> Option<f64> {
        let all = n_relevant(judged);
        let of_group = |(start, grades): (usize, &[f64])| {
            let n_counted = k.saturating_sub(start).min(grades.len());
            n_relevant(grades) as f64 * n_counted as f64 / grades.len() as f64
        };
        (all > 0).then(|| self.groups().map(of_group).fold(0.0, |sum, part| sum + part) / all as f64)
    }

    /// 1 / the rank of the first relevant document, in `(0, 1]`; 0 if no relevant document was found.
    ///
    /// ```
    /// use senv_metrics::Ranking;
    /// assert_eq!(Ranking::new(&[0.0, 2.0, 1.0]).reciprocal_rank(), 0.5);
    /// ```
    #[must_use]
    pub fn reciprocal_rank(&self) -> f64 {
        let Some((start, grades)) = self.groups().find(|(_, grades)| n_relevant(grades) > 0) else { return 0.0 };
        // If none of the first i documents of the group is relevant, each of the other n - i is equally likely to come
        // next, and `relevant` of them are relevant.
        let (n, relevant) = (grades.len(), n_relevant(grades));
        let (mut none_before, mut mean) = (1.0, 0.0);
        for i in 0..=n - relevant {
            let is_next = relevant as f64 / (n - i) as f64;
            mean += none_before * is_next / (start + i + 1) as f64;
            none_before *= 1.0 - is_next;
        }
        mean
    }
}

fn n_relevant(grades: &[f64]) -> usize {
    grades.iter().filter(|&&grade| grade > 0.0).count()
}

/// The part of DCG of a grade at a rank counted from 0.
fn gain(rank: usize, grade: f64) -> f64 {
    grade.max(0.0) / ((rank + 2) as f64).log2()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_trec_eval() {
        // Computed by pytrec_eval-terrier (ndcg_cut_3, ndcg_cut_6, recall_100).
        let ranked = Ranking::new(&[3.0, 2.0, 3.0, 0.0, 1.0, 2.0]);
        let judged = [3.0, 2.0, 3.0, 0.0, 1.0, 2.0, 3.0, 2.0];
        assert!((ranked.ndcg(&judged, 6).unwrap() - 0.785_002_371_969_948).abs() < 1e-9);
        assert!((ranked.ndcg(&judged, 3).unwrap() - 0.901_306_029_678_045).abs() < 1e-9);
        assert_eq!(ranked.recall_at(&judged, 100), Some(5.0 / 7.0));
        assert_eq!(Ranking::new(&[0.0, 0.0, 1.0]).reciprocal_rank(), 1.0 / 3.0);
        // Fractional grades, by hand.
        let expected = (0.5 + 1.5 / 3_f64.log2()) / (1.5 + 0.5 / 3_f64.log2());
        assert!((Ranking::new(&[0.5, 1.5]).ndcg(&[0.5, 1.5], 6).unwrap() - expected).abs() < 1e-12);
        assert_eq!((ranked.ndcg(&[0.0, -1.0], 6), ranked.recall_at(&[], 6)), (None, None));
        let none = Ranking::new(&[]);
        assert_eq!(
            (none.reciprocal_rank(), none.ndcg(&judged, 6), none.recall_at(&judged, 6)),
            (0.0, Some(0.0), Some(0.0))
        );
        assert!(none.ndcg(&judged, 6).is_some_and(f64::is_sign_positive));
        assert!(none.recall_at(&judged, 6).is_some_and(f64::is_sign_positive));
    }

    /// All orders of `items`.
    fn orders(items: &[(f64, f64)]) -> Vec<Vec<(f64, f64)>> {
        if items.is_empty() {
            return vec![Vec::new()];
        }
        let rest = |i: usize| [&items[..i], &items[i + 1..]].concat();
        let from = |i: usize| orders(&rest(i)).into_iter().map(move |order| [vec![items[i]], order].concat());
        (0..items.len()).flat_map(from).collect()
    }

    #[test]
    fn equal_scores_count_by_the_mean_over_their_orders() {
        let mut state = 7_u64;
        let mut draw = |n: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % n
        };
        for _ in 0..200 {
            let n = 1 + draw(6) as usize;
            let scored: Vec<(f64, f64)> = (0..n).map(|_| (draw(3) as f64, draw(4) as f64 - 1.0)).collect();
            let judged: Vec<f64> = scored.iter().map(|&(_, grade)| grade).chain([1.0]).collect();
            let k = 1 + draw(4) as usize;
            let ranking = Ranking::by_scores(scored.iter().copied());
            // Only the orders that the scores allow.
            let is_sorted = |order: &Vec<(f64, f64)>| order.is_sorted_by(|a, b| a.0 >= b.0);
            let orders: Vec<Ranking> = orders(&scored)
                .into_iter()
                .filter(is_sorted)
                .map(|order| Ranking::new(&order.iter().map(|&(_, grade)| grade).collect::<Vec<_>>()))
                .collect();
            let mean = |metric: &dyn Fn(&Ranking) -> f64| orders.iter().map(metric).sum::<f64>() / orders.len() as f64;
            let metrics: [&dyn Fn(&Ranking) -> f64; 3] = [
                &|ranking| ranking.ndcg(&judged, k).unwrap(),
                &|ranking| ranking.recall_at(&judged, k).unwrap(),
                &Ranking::reciprocal_rank,
            ];
            for metric in metrics {
                assert!((metric(&ranking) - mean(metric)).abs() < 1e-12, "{scored:?} {k}");
            }
        }
    }
}
