//! Histograms of a value in several groups, and how much the groups overlap.
//!
//! Equation: `overlap-coefficient`
//!
//! ```text
//! density of a bin = items of the group in it / (items of the group · width)
//! overlap(A, B)    = Σ over bins of width · min(density_A, density_B)          in [0, 1]: 0 apart, 1 alike
//! ```

use senv_metrics::{mean, standard_deviation};
use serde::Serialize;

use crate::{
    error::{Error, Result},
    plot::curve::Curve,
    report::{Align, TextTable, number},
};

/// The values of one group.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct HistogramGroup {
    /// Name of the group.
    pub name: String,
    /// Number of values.
    pub n: usize,
    /// Mean of the values.
    pub mean: Option<f64>,
    /// Standard deviation; `None` for fewer than two values.
    pub deviation: Option<f64>,
    /// Number of values in each bin.
    pub counts: Vec<usize>,
    /// Density of each bin. The areas of the bins sum to 1, or to 0 without a value.
    pub densities: Vec<f64>,
}

/// How much two groups overlap.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Overlap {
    /// The first group.
    pub first: String,
    /// The second group.
    pub second: String,
    /// The overlap coefficient, in `[0, 1]`; `None` if either group is empty.
    pub coefficient: Option<f64>,
}

/// Groups over common bins of equal width.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Histogram {
    /// Name of the counted value.
    pub value: String,
    /// Lower end of the first bin.
    pub low: f64,
    /// Upper end of the last bin, which it belongs to.
    pub high: f64,
    /// The groups, in the order given.
    pub groups: Vec<HistogramGroup>,
    /// Overlaps of each group with each later one.
    pub overlaps: Vec<Overlap>,
}

impl Histogram {
    /// Counts values between `low` and `high`. Values beyond an end, by rounding, go to the bin at that end.
    ///
    /// ```
    /// use senv_eval::Histogram;
    /// let values = [("same", vec![0.9, 0.6, 1.0]), ("other", vec![0.1, 0.6])];
    /// let histogram = Histogram::new("cosine", 0.0, 1.0, 2, values.map(|(name, v)| (name.to_owned(), v)))?;
    /// assert_eq!(histogram.groups[1].counts, [1, 1]);
    /// assert_eq!(histogram.overlaps[0].coefficient, Some(0.5)); // half of "other" is where all of "same" is
    /// # Ok::<(), senv_eval::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`senv_core::Error::InvalidParameter`] for no bins, more than 10,000 bins, or a range that is empty or not
    /// finite; [`Error::NotFinite`] for a value that is not finite.
    pub fn new(
        value: impl Into<String>,
        low: f64,
        high: f64,
        n_bins: usize,
        groups: impl IntoIterator<Item = (String, Vec<f64>)>,
    ) -> Result<Self> {
        let bad = |name, requirement, got: String| senv_core::Error::InvalidParameter { name, requirement, got };
        if !(1..=10_000).contains(&n_bins) {
            return Err(bad("the number of bins", "from 1 to 10000", n_bins.to_string()).into());
        }
        if !(low.is_finite() && high.is_finite() && low < high) {
            return Err(bad("the range of a histogram", "finite and not empty", format!("{low} to {high}")).into());
        }
        let value = value.into();
        let width = (high - low) / n_bins as f64;
        let count = |(name, values): (String, Vec<f64>)| -> Result<HistogramGroup> {
            let mut counts = vec![0; n_bins];
            for x in &values {
                if !x.is_finite() {
                    return Err(Error::NotFinite {
                        what: format!("a {value} of {name}", name = senv_core::quoted(name)),
                    });
                }
                counts[(((x - low) / width).max(0.0) as usize).min(n_bins - 1)] += 1;
            }
            let density = |&count: &usize| count as f64 / (values.len().max(1) as f64 * width);
            let densities = counts.iter().map(density).collect();
            let (mean, deviation) = (mean(&values), standard_deviation(&values));
            Ok(HistogramGroup { name, n: values.len(), mean, deviation, counts, densities })
        };
        let groups = groups.into_iter().map(count).collect::<Result<Vec<_>>>()?;
        let mut overlaps = Vec::new();
        for (i, first) in groups.iter().enumerate() {
            for second in &groups[i + 1..] {
                let bins = first.densities.iter().zip(&second.densities);
                let shared: f64 = bins.map(|(a, b)| width * a.min(*b)).sum();
                let coefficient = (first.n > 0 && second.n > 0).then_some(shared);
                overlaps.push(Overlap { first: first.name.clone(), second: second.name.clone(), coefficient });
            }
        }
        Ok(Self { value, low, high, groups, overlaps })
    }

    /// Formats one line per group, then the overlaps.
    #[must_use]
    pub fn to_text(&self) -> String {
        let columns = ["pairs", "mean", "sd"].map(|name| (name, Align::Right));
        let mut table = TextTable::new(std::iter::once((&self.value[..], Align::Left)).chain(columns));
        for group in &self.groups {
            let [mean, deviation] = [group.mean, group.deviation].map(|x| number(x, 4));
            table.row([group.name.clone(), group.n.to_string(), mean, deviation]);
        }
        table.rule();
        for overlap in &self.overlaps {
            let name = format!("overlap of {} and {}", overlap.first, overlap.second);
            table.row([name, String::new(), number(overlap.coefficient, 4)]);
        }
        table.to_string()
    }

    /// Returns the densities at the centers of the bins as curves, one per group.
    #[must_use]
    pub fn curve(&self) -> Curve {
        let mut curve = Curve::new(self.value.clone(), "density");
        for group in &self.groups {
            let width = (self.high - self.low) / group.densities.len().max(1) as f64;
            let middle = |i: usize| self.low + (i as f64 + 0.5) * width;
            curve.push(group.name.clone(), group.densities.iter().enumerate().map(|(i, &d)| (middle(i), d)));
        }
        curve
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(groups: &[(&str, &[f64])]) -> Result<Histogram> {
        Histogram::new("x", -1.0, 1.0, 4, groups.iter().map(|(name, values)| ((*name).to_owned(), values.to_vec())))
    }

    #[test]
    fn bins_densities_and_overlaps_by_hand() {
        let found = of(&[("a", &[-1.0, -0.5, 0.2, 1.0 + 1e-9]), ("b", &[0.1, 0.4]), ("none", &[])]).unwrap();
        assert_eq!(found.groups[0].counts, [1, 1, 1, 1]);
        assert_eq!(found.groups[0].densities, [0.5; 4]);
        assert_eq!(found.groups[1].densities, [0.0, 0.0, 2.0, 0.0]);
        let overlaps: Vec<Option<f64>> = found.overlaps.iter().map(|overlap| overlap.coefficient).collect();
        assert_eq!(overlaps, [Some(0.25), None, None]);
        assert!((found.groups[1].deviation.unwrap() - 0.045_f64.sqrt()).abs() < 1e-12);
        assert_eq!((found.groups[2].mean, found.groups[2].deviation), (None, None));
        assert_eq!(found.curve().series[1].points[2], (0.25, 2.0));
        assert!(found.to_text().contains("overlap of a and b"));
    }

    #[test]
    fn bad_ranges_and_values_are_named() {
        let value = of(&[("a", &[f64::NAN])]).unwrap_err().to_string();
        assert!(value.contains("a x of \"a\""), "{value}");
        for (low, high, bins) in [(0.0, 1.0, 0), (0.0, 1.0, 10_001), (1.0, 1.0, 5), (0.0, f64::INFINITY, 5)] {
            assert!(Histogram::new("x", low, high, bins, [("a".to_owned(), vec![0.5])]).is_err());
        }
    }
}
