//! Means over the steps since the last report.

use senv_core::observer::{MAX_METRICS, Metric};

use super::StepReport;

/// Means over the steps since the last report.
#[derive(Default)]
pub(super) struct Recent {
    pub(super) loss: Mean,
    metrics: [(&'static str, Mean); MAX_METRICS],
}

impl Recent {
    pub(super) fn add(&mut self, report: &StepReport) {
        self.loss.add(report.loss);
        for ((name, mean), metric) in self.metrics.iter_mut().zip(report.metrics) {
            if let Some(metric) = metric {
                *name = metric.name;
                mean.add(metric.value);
            }
        }
    }

    /// The mean of each metric.
    pub(super) fn metrics(&self) -> [Option<Metric>; MAX_METRICS] {
        self.metrics.map(|(name, mean)| mean.mean().map(|value| Metric { name, value }))
    }
}

/// The mean of the values added so far.
#[derive(Default, Clone, Copy)]
pub(super) struct Mean {
    sum: f64,
    n: u32,
}

impl Mean {
    fn add(&mut self, value: f64) {
        self.sum += value;
        self.n += 1;
    }

    pub(super) fn mean(self) -> Option<f64> {
        (self.n > 0).then(|| self.sum / f64::from(self.n))
    }
}
