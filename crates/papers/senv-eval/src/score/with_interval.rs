//! A value with its 95 % interval, and means over tasks in each bootstrap draw.

use senv_metrics::{Bootstrap, Sample, mean};
use serde::Serialize;

/// A value with its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct WithInterval {
    /// The value.
    pub value: f64,
    /// Lower and upper end; `None` without draws.
    pub interval: Option<(f64, f64)>,
}

impl WithInterval {
    /// Computes the value of a sample of the data set `data`; `None` if it is undefined.
    pub(crate) fn of(sample: &Sample, data: &str, bootstrap: Bootstrap) -> Option<Self> {
        let interval = bootstrap.interval(data, sample).map(|ends| (ends.low, ends.high));
        Some(Self { value: sample.value()?, interval })
    }
}

/// Plain mean. Undefined if there are no values or one is undefined.
pub(crate) fn mean_of(values: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    mean(&values.collect::<Option<Vec<f64>>>()?)
}

/// Returns, for each draw, the mean of the parts.
pub(crate) fn mean_draws<'a>(
    parts: impl Iterator<Item = &'a [Option<f64>]> + Clone,
    resamples: usize,
) -> Vec<Option<f64>> {
    let draw = |b: usize| mean_of(parts.clone().map(|part| part.get(b).copied().flatten()));
    (0..resamples).map(draw).collect()
}
