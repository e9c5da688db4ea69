//! The items from which a number is computed. A bootstrap draws from them and computes the number of each draw.
//!
//! Equation: `weighted-sample`
//!
//! ```text
//! n = Σ_i c_i       c_i: how often item i was drawn
//! mean      Σ c_i v_i / n
//! median    the value at place (n + 1)/2 of the sorted draw; halfway between its two middle values for even n
//! r         Σ c_i (x_i − x̄)(y_i − ȳ) / √(Σ c_i (x_i − x̄)² · Σ c_i (y_i − ȳ)²)       x̄ = Σ c_i x_i / n
//! ρ         r of the ranks: rank(x_i) = Σ_{x_j < x_i} c_j + (1 + Σ_{x_j = x_i} c_j) / 2
//! AP        `precision-recall`, item i entering c_i times
//! AUC       `auc`, item i entering c_i times
//! F1        2 Σ c_i [g_i ∧ p_i] / (Σ c_i [g_i] + Σ c_i [p_i])
//! ```
//!
//! With all c_i = 1 these are [`crate::mean`], the median, [`crate::pearson_r`], [`crate::spearman_rho`],
//! [`crate::average_precision`], [`crate::auc`] and the F1 of the positive class. Sorting happens once, so a draw costs
//! O(n).

use crate::{
    Result,
    error::{check_finite, check_lengths_of, check_pairs},
};

/// How a number is computed from its items.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Statistic {
    /// The mean of one value per item.
    Mean,
    /// The median of one value per item.
    Median,
    /// Pearson's r of gold values and scores.
    Pearson,
    /// Spearman's ρ of gold values and scores.
    Spearman,
    /// Average precision of scores; items with a gold value above 0 are relevant.
    AveragePrecision,
    /// Area under the ROC curve of scores; items with a gold value above 0 should score higher.
    Auc,
    /// F1 of the positive class; gold values and predictions above 0 are positive.
    F1,
}

/// Items, prepared to compute the number of any draw from them.
#[derive(Debug, Clone)]
pub struct Sample(Kind);

#[derive(Debug, Clone)]
enum Kind {
    Mean(Vec<f64>),
    /// Values in ascending order, with their items.
    Median(Vec<(f64, usize)>),
    /// Both lists, centered to avoid losing digits in sums of squares.
    Pearson(Vec<f64>, Vec<f64>),
    Spearman(Groups, Groups),
    /// Items in groups of equal scores, and which are relevant.
    AveragePrecision(Groups, Vec<bool>),
    /// Like `AveragePrecision`, for the area under the ROC curve.
    Auc(Groups, Vec<bool>),
    F1(Vec<bool>, Vec<bool>),
}

/// Items in groups of equal values; groups are numbered by ascending value.
#[derive(Debug, Clone)]
struct Groups {
    group: Vec<u32>,
    n: usize,
}

impl Groups {
    fn of(values: &[f64]) -> Self {
        let mut order: Vec<usize> = (0..values.len()).collect();
        order.sort_unstable_by(|&a, &b| values[a].total_cmp(&values[b]));
        let (mut group, mut n) = (vec![0; values.len()], 0);
        for tied in order.chunk_by(|&a, &b| values[a] == values[b]) {
            tied.iter().for_each(|&i| group[i] = n);
            n += 1;
        }
        Self { group, n: n as usize }
    }

    /// The rank of each group if item i occurs `counts[i]` times.
    fn ranks(&self, counts: &[u32]) -> Vec<f64> {
        let mut ranks = vec![0.0; self.n];
        self.group.iter().zip(counts).for_each(|(&group, &count)| ranks[group as usize] += f64::from(count));
        let mut below = 0.0;
        for rank in &mut ranks {
            let here = *rank;
            *rank = below + (1.0 + here) / 2.0;
            below += here;
        }
        ranks
    }
}

impl Sample {
    /// Takes items with a gold value and a score each. [`Statistic::Mean`] and [`Statistic::Median`] use only the
    /// scores; `gold` can then be empty.
    ///
    /// ```
    /// use senv_metrics::{Sample, Statistic};
    /// let sample = Sample::new(Statistic::Mean, &[], &[1.0, 4.0, 7.0])?;
    /// assert_eq!((sample.value(), sample.value_of(&[2, 1, 0])), (Some(4.0), Some(2.0)));
    /// # Ok::<(), senv_metrics::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`crate::Error::LengthMismatch`]; [`crate::Error::BadValue`] if a value is not finite.
    pub fn new(statistic: Statistic, gold: &[f64], scores: &[f64]) -> Result<Self> {
        const METRIC: &str = "a sample";
        if statistic == Statistic::Mean {
            check_finite(METRIC, "values", scores)?;
            return Ok(Self(Kind::Mean(scores.to_vec())));
        }
        if statistic == Statistic::Median {
            check_finite(METRIC, "values", scores)?;
            let mut sorted: Vec<(f64, usize)> = scores.iter().copied().zip(0..).collect();
            sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
            return Ok(Self(Kind::Median(sorted)));
        }
        check_lengths_of(METRIC, gold.len(), scores.len())?;
        check_pairs(METRIC, gold, scores)?;
        let positive = |values: &[f64]| values.iter().map(|&value| value > 0.0).collect::<Vec<bool>>();
        Ok(Self(match statistic {
            Statistic::Mean | Statistic::Median | Statistic::Pearson => Kind::Pearson(centered(gold), centered(scores)),
            Statistic::Spearman => Kind::Spearman(Groups::of(gold), Groups::of(scores)),
            Statistic::AveragePrecision => Kind::AveragePrecision(Groups::of(scores), positive(gold)),
            Statistic::Auc => Kind::Auc(Groups::of(scores), positive(gold)),
            Statistic::F1 => Kind::F1(positive(gold), positive(scores)),
        }))
    }

    /// The number of items.
    #[must_use]
    pub fn len(&self) -> usize {
        match &self.0 {
            Kind::Mean(values) => values.len(),
            Kind::Median(values) => values.len(),
            Kind::Pearson(x, _) => x.len(),
            Kind::Spearman(x, _) => x.group.len(),
            Kind::AveragePrecision(_, relevant) | Kind::Auc(_, relevant) => relevant.len(),
            Kind::F1(gold, _) => gold.len(),
        }
    }

    /// Whether there are no items.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number for the original items; `None` if the metric is undefined.
    #[must_use]
    pub fn value(&self) -> Option<f64> {
        self.value_of(&vec![1; self.len()])
    }

    /// The number if item i occurs `counts[i]` times; `None` if it is undefined. Missing counts are 0.
    #[must_use]
    pub fn value_of(&self, counts: &[u32]) -> Option<f64> {
        match &self.0 {
            Kind::Mean(values) => {
                let n: f64 = counts.iter().map(|&c| f64::from(c)).sum();
                let total: f64 = values.iter().zip(counts).map(|(v, &c)| f64::from(c) * v).sum();
                (n > 0.0).then(|| total / n)
            }
            Kind::Median(sorted) => {
                let count = |item: usize| counts.get(item).map_or(0, |&count| u64::from(count));
                let n: u64 = sorted.iter().map(|&(_, item)| count(item)).sum();
                // The value at a position in the draw, counted from 0.
                let at = |place: u64| {
                    let mut before = 0;
                    sorted.iter().find(|&&(_, item)| {
                        before += count(item);
                        before > place
                    })
                };
                let (low, high) = (at(n.checked_sub(1)? / 2)?.0, at(n / 2)?.0);
                Some(f64::midpoint(low, high))
            }
            Kind::Pearson(x, y) => correlation(x.iter().copied().zip(y.iter().copied()), counts),
            Kind::Spearman(x, y) => {
                let (of_x, of_y) = (x.ranks(counts), y.ranks(counts));
                // Ranks minus their mean, as Pearson's r takes values.
                let middle = (1.0 + counts.iter().map(|&c| f64::from(c)).sum::<f64>()) / 2.0;
                let ranks = x.group.iter().zip(&y.group);
                let ranks = ranks.map(|(&a, &b)| (of_x[a as usize] - middle, of_y[b as usize] - middle));
                correlation(ranks, counts)
            }
            Kind::AveragePrecision(groups, relevant) => average_precision(groups, relevant, counts),
            Kind::Auc(groups, relevant) => auc(groups, relevant, counts),
            Kind::F1(gold, predicted) => {
                let (mut both, mut either) = (0.0, 0.0);
                for ((&gold, &predicted), &count) in gold.iter().zip(predicted).zip(counts) {
                    let count = f64::from(count);
                    both += if gold && predicted { count } else { 0.0 };
                    either += count * (f64::from(u8::from(gold)) + f64::from(u8::from(predicted)));
                }
                (either > 0.0).then(|| 2.0 * both / either)
            }
        }
    }
}

/// The values minus their mean.
fn centered(values: &[f64]) -> Vec<f64> {
    let mean = crate::mean(values).unwrap_or(0.0);
    values.iter().map(|value| value - mean).collect()
}

/// Pearson's r of weighted pairs centered around 0; `None` if one side is constant, up to rounding.
fn correlation(pairs: impl Iterator<Item = (f64, f64)>, counts: &[u32]) -> Option<f64> {
    let [mut n, mut sx, mut sy, mut sxx, mut syy, mut sxy] = [0.0; 6];
    for ((x, y), &count) in pairs.zip(counts) {
        if count == 0 {
            continue;
        }
        let c = f64::from(count);
        n += c;
        sx += c * x;
        sy += c * y;
        sxx += c * x * x;
        syy += c * y * y;
        sxy += c * x * y;
    }
    // The rounding error that a constant list leaves in a sum of squares.
    const ROUNDING: f64 = 1e-12;
    let (vx, vy) = (sxx - sx * sx / n, syy - sy * sy / n);
    let is_constant = |v: f64, s: f64| v.is_nan() || v <= ROUNDING * s;
    if is_constant(vx, sxx) || is_constant(vy, syy) {
        return None;
    }
    Some(((sxy - sx * sy / n) / (vx.sqrt() * vy.sqrt())).clamp(-1.0, 1.0))
}

/// All items and relevant ones of each group of equal scores, groups by ascending score.
fn totals(groups: &Groups, relevant: &[bool], counts: &[u32]) -> Vec<(f64, f64)> {
    let mut totals = vec![(0.0, 0.0); groups.n];
    for ((&group, &relevant), &count) in groups.group.iter().zip(relevant).zip(counts) {
        let (all, of_them) = &mut totals[group as usize];
        *all += f64::from(count);
        *of_them += if relevant { f64::from(count) } else { 0.0 };
    }
    totals
}

fn average_precision(groups: &Groups, relevant: &[bool], counts: &[u32]) -> Option<f64> {
    let totals = totals(groups, relevant, counts);
    let n_relevant: f64 = totals.iter().map(|total| total.1).sum();
    let (mut called, mut found, mut sum) = (0.0, 0.0, 0.0);
    for &(all, of_them) in totals.iter().rev() {
        called += all;
        found += of_them;
        if of_them > 0.0 {
            sum += of_them / n_relevant * (found / called);
        }
    }
    (n_relevant > 0.0).then_some(sum)
}

/// Counts for each relevant item the others below it and half of those tied with it.
fn auc(groups: &Groups, relevant: &[bool], counts: &[u32]) -> Option<f64> {
    let (mut n_relevant, mut below, mut sum) = (0.0, 0.0, 0.0);
    for (all, of_them) in totals(groups, relevant, counts) {
        let others = all - of_them;
        sum += of_them * (below + others / 2.0);
        below += others;
        n_relevant += of_them;
    }
    (n_relevant > 0.0 && below > 0.0).then(|| sum / (n_relevant * below))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(statistic: Statistic, gold: &[f64], scores: &[f64]) -> Sample {
        Sample::new(statistic, gold, scores).unwrap()
    }

    #[test]
    fn medians_by_hand() {
        let sample = of(Statistic::Median, &[], &[9.0, 1.0, 4.0]);
        assert_eq!((sample.value(), sample.len()), (Some(4.0), 3));
        assert_eq!(sample.value_of(&[1, 1, 0]), Some(5.0));
        assert_eq!(sample.value_of(&[2, 1, 1]), Some(6.5));
        assert_eq!(sample.value_of(&[3, 1, 1]), Some(9.0));
        assert_eq!(sample.value_of(&[0, 2, 0]), Some(1.0));
        assert_eq!((sample.value_of(&[0, 0, 0]), of(Statistic::Median, &[], &[]).value()), (None, None));
        assert!(Sample::new(Statistic::Median, &[], &[f64::NAN]).is_err());
    }

    fn close(a: Option<f64>, b: Option<f64>) -> bool {
        match (a, b) {
            (Some(a), Some(b)) => (a - b).abs() < 1e-9,
            (a, b) => a == b,
        }
    }

    proptest! {
        /// Compares a draw with the metric of the list with its items repeated.
        #[test]
        fn a_draw_has_the_number_of_its_items(
            items in prop::collection::vec((0u8..6, 0u8..8, 0u32..4), 2..40)
        ) {
            let gold: Vec<f64> = items.iter().map(|item| f64::from(item.0) - 2.0).collect();
            let scores: Vec<f64> = items.iter().map(|item| f64::from(item.1) / 4.0 - 1.0).collect();
            let counts: Vec<u32> = items.iter().map(|item| item.2).collect();
            let drawn = |values: &[f64]| -> Vec<f64> {
                values.iter().zip(&counts).flat_map(|(&v, &c)| std::iter::repeat_n(v, c as usize)).collect()
            };
            let (x, y) = (drawn(&gold), drawn(&scores));
            let value = |statistic| of(statistic, &gold, &scores).value_of(&counts);
            prop_assert!(close(value(Statistic::Mean), crate::mean(&y)));
            prop_assert!(close(value(Statistic::Pearson), crate::pearson_r(&x, &y).unwrap()));
            prop_assert!(close(value(Statistic::Spearman), crate::spearman_rho(&x, &y).unwrap()));
            let relevant: Vec<bool> = x.iter().map(|&x| x > 0.0).collect();
            prop_assert!(close(value(Statistic::AveragePrecision), crate::average_precision(&relevant, &y).unwrap()));
            prop_assert!(close(value(Statistic::Auc), crate::auc(&relevant, &y).unwrap()));
            let (gold, given): (Vec<usize>, Vec<usize>) =
                x.iter().zip(&y).map(|(&x, &y)| (usize::from(x > 0.0), usize::from(y > 0.0))).unzip();
            if !x.is_empty() {
                let f1 = crate::Confusion::new(&gold, &given, 2).unwrap().class(1).f1();
                prop_assert!(close(value(Statistic::F1), f1), "{:?} {:?}", value(Statistic::F1), f1);
            }
        }
    }

    #[test]
    fn neither_an_offset_nor_a_scale_hides_a_correlation() {
        let (x, y) = ([1.0, 2.0, 4.0, 3.0], [1.0, 3.0, 3.0, 5.0]);
        // Deviations −1.5, −.5, 1.5, .5 and −2, 0, 0, 2: 4 / √(5 · 8).
        let expected = Some(4.0 / 40.0_f64.sqrt());
        for (scale, offset) in [(1.0, 0.0), (1.0, 1e9), (1e-9, 0.0), (1e9, 0.0)] {
            let [x, y] = [x, y].map(|values| values.map(|value| scale * value + offset));
            assert!(close(of(Statistic::Pearson, &x, &y).value(), expected), "{scale} {offset}");
        }
        // Equal values stay constant at any scale.
        for scale in [1e-9, 1.0, 1e9] {
            let flat = of(Statistic::Pearson, &x, &[0.1 * scale, 0.1 * scale, 0.1 * scale, 0.3 * scale]);
            assert_eq!(flat.value_of(&[1, 2, 3, 0]), None, "{scale}");
        }
    }

    #[test]
    fn what_is_undefined_is_none_and_bad_values_are_errors() {
        assert_eq!(of(Statistic::Mean, &[], &[]).value(), None);
        assert_eq!(of(Statistic::Pearson, &[1.0, 2.0, 3.0], &[0.1, 0.1, 0.1]).value(), None);
        assert_eq!(of(Statistic::Spearman, &[1.0, 1.0], &[0.1, 0.2]).value(), None);
        assert_eq!(of(Statistic::Pearson, &[1.0, 2.0, 9.0], &[3.0, 5.0, 7.0]).value_of(&[0, 3, 0]), None);
        assert_eq!(of(Statistic::AveragePrecision, &[0.0, 0.0], &[0.1, 0.2]).value(), None);
        assert_eq!(of(Statistic::Auc, &[0.0, 0.0], &[0.1, 0.2]).value(), None);
        assert_eq!(of(Statistic::Auc, &[1.0, 0.0], &[0.1, 0.2]).value_of(&[1, 0]), None);
        assert_eq!(of(Statistic::F1, &[0.0, 0.0], &[0.0, 0.0]).value(), None);
        assert!(Sample::new(Statistic::Pearson, &[1.0], &[1.0, 2.0]).is_err());
        assert!(Sample::new(Statistic::Mean, &[], &[f64::NAN]).is_err());
        assert!(of(Statistic::Mean, &[], &[]).is_empty() && !of(Statistic::Mean, &[], &[1.0]).is_empty());
    }
}
