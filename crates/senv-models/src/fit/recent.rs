//! Means over the steps since the last report.

use super::StepReport;

/// Means over the steps since the last report.
#[derive(Default)]
pub(super) struct Recent {
    pub(super) loss: Mean,
    pub(super) active: Mean,
    pub(super) decoders: [Mean; 2],
    pub(super) sampled: bool,
}

impl Recent {
    pub(super) fn add(&mut self, report: &StepReport) {
        self.loss.add(Some(report.loss));
        self.active.add(report.active);
        self.decoders.iter_mut().zip(report.nll).for_each(|(mean, nll)| mean.add(nll));
        self.sampled = report.sampled;
    }
}

/// A mean of what there was.
#[derive(Default, Clone, Copy)]
pub(super) struct Mean {
    sum: f64,
    n: u32,
}

impl Mean {
    fn add(&mut self, value: Option<f64>) {
        if let Some(value) = value {
            self.sum += value;
            self.n += 1;
        }
    }

    pub(super) fn mean(self) -> Option<f64> {
        (self.n > 0).then(|| self.sum / f64::from(self.n))
    }
}
