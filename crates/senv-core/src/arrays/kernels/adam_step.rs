//! The update of Adam with the factors of a step, which `optim::Adam` computes from its hyperparameters.

use ndarray::NdFloat;

/// The factors of one step of Adam, the same for every parameter; made by [`Adam::step`](crate::optim::Adam::step).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AdamStep<F> {
    pub(crate) keep1: F,
    pub(crate) keep2: F,
    pub(crate) take1: F,
    pub(crate) take2: F,
    pub(crate) rate: F,
    pub(crate) root: F,
    pub(crate) epsilon: F,
}

impl<F: NdFloat> AdamStep<F> {
    /// One step on each parameter; the slices have the same length.
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
