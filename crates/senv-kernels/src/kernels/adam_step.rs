//! The update of Adam with the factors of a step, which `optim::Adam` computes from its hyperparameters.

use ndarray::NdFloat;

/// The factors of one step of Adam, the same for every parameter; created by `optim::Adam::step`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AdamStep<F> {
    /// β₁: the share of the first moment that is kept.
    pub keep1: F,
    /// β₂: the share of the second moment that is kept.
    pub keep2: F,
    /// 1 − β₁: the share of the gradient.
    pub take1: F,
    /// 1 − β₂: the share of the squared gradient.
    pub take2: F,
    /// The learning rate, corrected for the step.
    pub rate: F,
    /// The factor on the root of the second moment.
    pub root: F,
    /// The number added to that root.
    pub epsilon: F,
}

impl<F: NdFloat> AdamStep<F> {
    /// Applies one step to each parameter; the slices have the same length.
    #[inline(always)]
    pub(crate) fn apply(&self, x: &mut [F], d_x: &[F], m: &mut [F], v: &mut [F]) {
        let Self { keep1, keep2, take1, take2, rate, root, epsilon } = *self;
        for (((x, &g), m), v) in x.iter_mut().zip(d_x).zip(m).zip(v) {
            *m = keep1 * *m + take1 * g;
            *v = keep2 * *v + take2 * g * g;
            *x -= rate * *m / (v.sqrt() * root + epsilon);
        }
    }
}
