//! The bootstrap: how much a number, or the difference of two systems, would vary with other items of the same kind.
//!
//! Equation: `bootstrap`

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

use crate::{Result, Sample, error::check_lengths_of};

/// The default number of draws: 1,000.
pub const DEFAULT_RESAMPLES: usize = 1_000;

/// An interval requires at least this share of draws to have a value.
const DEFINED: f64 = 0.95;

/// The settings of a bootstrap.
///
/// ```text
/// θ*_b = θ of n items drawn with replacement, b = 1..B
/// 95 % interval = [q_.025, q_.975] of θ*       percentile method; q: quantile, linear between order statistics
/// paired:  δ*_b = θ*_b(first) − θ*_b(second) on the same draw
///          p = min(1, 2 · (1 + min(#{δ* ≤ 0}, #{δ* ≥ 0})) / (1 + B))
/// mean over tasks:  θ*_b = Σ_t θ*_{t,b} / T, each task drawn by itself
/// ```
///
/// Efron and Tibshirani, "An Introduction to the Bootstrap", 1993, sections 13.3 and 15.4; Berg-Kirkpatrick, Burkett
/// and Klein, "An Empirical Investigation of Statistical Significance in NLP", EMNLP 2012. The percentile method needs
/// only one pass over the items, and works for means over tasks as it does for one task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bootstrap {
    /// The number of draws, B.
    pub resamples: usize,
    /// The random seed. Draws depend only on it, the name of the data and the number of items: two systems on the same
    /// data get the same draws.
    pub seed: u64,
}

impl Default for Bootstrap {
    fn default() -> Self {
        Self { resamples: DEFAULT_RESAMPLES, seed: 1 }
    }
}

/// A 95 % confidence interval.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl Bootstrap {
    /// The number computed from each draw of a sample of the data set `data`; `None` for a draw that leaves it
    /// undefined.
    #[must_use]
    pub fn replicates(&self, data: &str, sample: &Sample) -> Vec<Option<f64>> {
        let n = sample.len();
        let Ok(n_items) = u32::try_from(n) else { return vec![None; self.resamples] };
        if n == 0 {
            return vec![None; self.resamples];
        }
        let mut rng = Pcg64::seed_from_u64(self.seed ^ fnv1a(data));
        let mut counts = vec![0; n];
        (0..self.resamples)
            .map(|_| {
                counts.fill(0);
                (0..n).for_each(|_| counts[rng.random_range(0..n_items) as usize] += 1);
                sample.value_of(&counts)
            })
            .collect()
    }

    /// The 95 % interval for a sample of the data set `data`; `None` if the number or more than a twentieth of the
    /// draws is undefined.
    ///
    /// ```
    /// use senv_metrics::{Bootstrap, Sample, Statistic};
    /// let values: Vec<f64> = (0..400).map(|i| f64::from(i % 2)).collect();
    /// let sample = Sample::new(Statistic::Mean, &[], &values)?;
    /// let interval = Bootstrap::default().interval("coins", &sample).expect("defined");
    /// // 1.96 standard errors of √(0.25 / 400) on each side of 0.5.
    /// assert!((interval.low - 0.451).abs() < 0.006 && (interval.high - 0.549).abs() < 0.006);
    /// # Ok::<(), senv_metrics::Error>(())
    /// ```
    #[must_use]
    pub fn interval(&self, data: &str, sample: &Sample) -> Option<Interval> {
        sample.value().and_then(|_| percentile_interval(&self.replicates(data, sample)))
    }
}

/// The 95 % interval of the values of draws; `None` if more than a twentieth of them are undefined.
#[must_use]
pub fn percentile_interval(replicates: &[Option<f64>]) -> Option<Interval> {
    let mut values: Vec<f64> = replicates.iter().flatten().copied().collect();
    if values.is_empty() || (values.len() as f64) < DEFINED * replicates.len() as f64 {
        return None;
    }
    values.sort_unstable_by(f64::total_cmp);
    let quantile = |q: f64| {
        let place = q * (values.len() - 1) as f64;
        let (below, share) = (place.floor() as usize, place.fract());
        let above = values[(below + 1).min(values.len() - 1)];
        values[below] + share * (above - values[below])
    };
    Some(Interval { low: quantile(0.025), high: quantile(0.975) })
}

/// The two-sided p-value of a difference, from its draws, in `(0, 1]`. Draws without a value are ignored; `None` if no
/// draw has one.
///
/// ```
/// let always_better: Vec<Option<f64>> = vec![Some(0.1); 999];
/// assert_eq!(senv_metrics::bootstrap_p(&always_better), Some(0.002));
/// ```
#[must_use]
pub fn bootstrap_p(differences: &[Option<f64>]) -> Option<f64> {
    let defined: Vec<f64> = differences.iter().flatten().copied().collect();
    let count = |side: fn(f64) -> bool| defined.iter().filter(|&&d| side(d)).count();
    let fewer = count(|d| d <= 0.0).min(count(|d| d >= 0.0));
    (!defined.is_empty()).then(|| (2.0 * (1 + fewer) as f64 / (1 + defined.len()) as f64).min(1.0))
}

/// The differences between two systems' draws on the same data.
///
/// # Errors
/// [`crate::Error::LengthMismatch`].
pub fn paired_differences(first: &[Option<f64>], second: &[Option<f64>]) -> Result<Vec<Option<f64>>> {
    check_lengths_of("the paired bootstrap", first.len(), second.len())?;
    Ok(first.iter().zip(second).map(|(a, b)| Some((*a)? - (*b)?)).collect())
}

/// The 64-bit FNV-1a hash.
fn fnv1a(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Statistic;

    /// Two correlated normal values, by the polar method.
    fn normal_pair(rng: &mut Pcg64, rho: f64) -> (f64, f64) {
        loop {
            let (u, v) = (rng.random_range(-1.0..1.0), rng.random_range(-1.0..1.0));
            let s: f64 = u * u + v * v;
            if s > 0.0 && s < 1.0 {
                let f = (-2.0 * s.ln() / s).sqrt();
                return (u * f, rho * u * f + (1.0 - rho * rho).sqrt() * v * f);
            }
        }
    }

    /// Of 400 intervals of 95 %, 380 should contain the true value; the standard deviation of that count is 4.4.
    #[test]
    fn intervals_hold_the_true_correlation_as_often_as_they_say() {
        let mut rng = Pcg64::seed_from_u64(5);
        let (rho, mut held) = (0.6, 0);
        for trial in 0..400 {
            let (x, y): (Vec<f64>, Vec<f64>) = (0..150).map(|_| normal_pair(&mut rng, rho)).unzip();
            let sample = Sample::new(Statistic::Pearson, &x, &y).unwrap();
            let interval = Bootstrap { resamples: 400, seed: trial }.interval("normal", &sample).unwrap();
            held += usize::from((interval.low..=interval.high).contains(&rho));
        }
        assert!((362..=393).contains(&held), "{held} of 400");
    }

    /// Under the null hypothesis, a twentieth of the trials have a p-value below 0.05.
    #[test]
    fn equal_systems_differ_in_a_twentieth_of_the_trials() {
        let mut rng = Pcg64::seed_from_u64(6);
        let mut rejected = 0;
        for trial in 0..400 {
            let (x, y): (Vec<f64>, Vec<f64>) = (0..120).map(|_| normal_pair(&mut rng, 0.5)).unzip();
            let bootstrap = Bootstrap { resamples: 400, seed: trial };
            let draws = |v: &[f64]| bootstrap.replicates("null", &Sample::new(Statistic::Mean, &[], v).unwrap());
            let p = bootstrap_p(&paired_differences(&draws(&x), &draws(&y)).unwrap()).unwrap();
            rejected += usize::from(p < 0.05);
        }
        assert!((7..=36).contains(&rejected), "{rejected} of 400");
    }

    #[test]
    fn draws_depend_on_seed_and_data_alone() {
        let values: Vec<f64> = (0..50).map(f64::from).collect();
        let sample = Sample::new(Statistic::Mean, &[], &values).unwrap();
        let draws = |seed, data| Bootstrap { resamples: 20, seed }.replicates(data, &sample);
        assert_eq!(draws(1, "a"), draws(1, "a"));
        assert_ne!(draws(1, "a"), draws(2, "a"));
        assert_ne!(draws(1, "a"), draws(1, "b"));
        let shifted: Vec<f64> = values.iter().map(|v| v + 1.0).collect();
        let shifted = Sample::new(Statistic::Mean, &[], &shifted).unwrap();
        let again = Bootstrap { resamples: 20, seed: 1 }.replicates("a", &shifted);
        let differences = paired_differences(&again, &draws(1, "a")).unwrap();
        assert!(differences.iter().all(|d| (d.unwrap() - 1.0).abs() < 1e-12), "two systems share their draws");
    }

    #[test]
    fn quantiles_and_p_values_by_hand() {
        // Eleven values: positions 0.025 · 10 = 0.25 and 9.75.
        let values: Vec<Option<f64>> = (0..11).rev().map(|x| Some(f64::from(x * x))).collect();
        let Interval { low, high } = percentile_interval(&values).unwrap();
        assert!((low - 0.25).abs() < 1e-12 && (high - (81.0 + 0.75 * 19.0)).abs() < 1e-12, "{low} {high}");
        // 19 defined values of 20 are enough, 18 are not.
        let defined = |n: usize| (0..20).map(|i| (i < n).then_some(1.0)).collect::<Vec<_>>();
        assert!(percentile_interval(&defined(19)).is_some() && percentile_interval(&defined(18)).is_none());
        // One of four on the other side: 2 (1 + 1) / (1 + 4).
        assert_eq!(bootstrap_p(&[Some(0.5), Some(-0.1), None, Some(2.0), Some(1.0)]), Some(0.8));
        assert_eq!(bootstrap_p(&[Some(-0.5); 7]), Some(0.25));
    }

    #[test]
    fn every_seed_has_draws_of_its_own() {
        let values: Vec<f64> = (0..50).map(f64::from).collect();
        let sample = Sample::new(Statistic::Mean, &[], &values).unwrap();
        let draws = |seed| Bootstrap { resamples: 5, seed }.replicates("a", &sample);
        let all: Vec<_> = (0..64).map(draws).collect();
        assert!((0..64).all(|i| (0..i).all(|j| all[i] != all[j])));
    }

    #[test]
    fn what_is_undefined_has_no_interval() {
        let flat = Sample::new(Statistic::Pearson, &[1.0, 2.0, 3.0], &[0.5; 3]).unwrap();
        assert_eq!(Bootstrap::default().interval("flat", &flat), None);
        let empty = Sample::new(Statistic::Mean, &[], &[]).unwrap();
        assert_eq!(Bootstrap::default().interval("empty", &empty), None);
        // A quarter of the draws from two items repeat one item, which has no correlation.
        let two = Sample::new(Statistic::Pearson, &[1.0, 2.0], &[1.0, 2.0]).unwrap();
        assert_eq!(Bootstrap::default().interval("two", &two), None);
        assert_eq!((percentile_interval(&[]), bootstrap_p(&[]), bootstrap_p(&[None])), (None, None, None));
        assert_eq!(bootstrap_p(&[Some(0.0); 9]), Some(1.0));
        assert!(paired_differences(&[None], &[]).is_err());
        let one = percentile_interval(&[Some(2.0)]).unwrap();
        assert_eq!((one.low, one.high), (2.0, 2.0));
    }
}
