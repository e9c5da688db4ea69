//! Adam, in the three variants used by the programs of the papers.
//!
//! Equation: `adam`
//!
//! ```text
//! m = β₁ m + (1 − β₁) g        v = β₂ v + (1 − β₂) g²        t = 1, 2, ...
//!
//! standard   x −= lr (m / (1 − β₁ᵗ)) / (√(v / (1 − β₂ᵗ)) + ε)
//! folded     x −= lr c m / (√v + ε)        c = √(1 − β₂ᵗ) / (1 − β₁ᵗ)
//! skip       x −= lr c m / (√v + ε)        c = √(1 − (1 − β₂)ᵗ) / (1 − (1 − β₁)ᵗ)
//! ```

use ndarray::NdFloat;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::{Optimizer, cast, check, check_update};
use senv_base::Result;
use senv_kernels::{Float, kernels::AdamStep};

/// The place of ε and the kind of bias correction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub enum AdamVariant {
    /// As in the paper's algorithm: ε is added after the bias correction.
    #[default]
    Standard,
    /// As at the end of section 2 of the paper and in Theano and Lasagne programs: the learning rate includes the
    /// correction, and ε is added to the uncorrected root.
    Folded,
    /// As in the Skip-Thought release: folded, with powers of 1 − β instead of β. The first step is about 3.5 times as
    /// long. The correction vanishes after a few steps, so the moments stay uncorrected.
    ReleasedSkipThoughts,
}

/// Hyperparameters of [`Adam`], not checked yet.
///
/// ```
/// use senv_core::optim::{AdamParams, AdamVariant};
/// assert!(AdamParams::default().variant(AdamVariant::Folded).beta1(0.5).check().is_ok());
/// assert!(AdamParams::default().beta2(1.0).check().is_err());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct AdamParams {
    beta1: f64,
    beta2: f64,
    epsilon: f64,
    variant: AdamVariant,
}

impl Default for AdamParams {
    /// The paper's β₁ = 0.9, β₂ = 0.999, ε = 1e-8, and the standard form.
    fn default() -> Self {
        Self { beta1: 0.9, beta2: 0.999, epsilon: 1e-8, variant: AdamVariant::Standard }
    }
}

impl AdamParams {
    /// Sets β₁, the decay of the first moment, in `[0, 1)`; 0.9 by default and in the paper.
    #[must_use]
    pub fn beta1(self, beta1: f64) -> Self {
        Self { beta1, ..self }
    }

    /// Sets β₂, the decay of the second moment, in `[0, 1)`; 0.999 by default and in the paper.
    #[must_use]
    pub fn beta2(self, beta2: f64) -> Self {
        Self { beta2, ..self }
    }

    /// Sets ε, which keeps the divisor above zero; above 0, 1e-8 by default and in the paper.
    #[must_use]
    pub fn epsilon(self, epsilon: f64) -> Self {
        Self { epsilon, ..self }
    }

    /// Sets the variant; [`AdamVariant::Standard`] by default.
    #[must_use]
    pub fn variant(self, variant: AdamVariant) -> Self {
        Self { variant, ..self }
    }

    /// Whether both have the same variant, regardless of other settings.
    pub(crate) fn has_variant_of(&self, other: &Self) -> bool {
        self.variant == other.variant
    }

    /// Creates the optimizer if every hyperparameter is in range.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`](senv_base::Error::InvalidParameter) for the first that is out of range.
    pub fn check(self) -> Result<Adam> {
        let share = |x: f64| (0.0..1.0).contains(&x);
        // With β = 0, the variant of the Skip-thoughts release would divide by 1 − 1ᵗ.
        let low = if self.variant == AdamVariant::ReleasedSkipThoughts { f64::MIN_POSITIVE } else { 0.0 };
        let requirement = if low > 0.0 { "above 0 and below 1" } else { "in [0, 1)" };
        check(share(self.beta1) && self.beta1 >= low, "beta1", requirement, self.beta1)?;
        check(share(self.beta2) && self.beta2 >= low, "beta2", requirement, self.beta2)?;
        check(self.epsilon.is_finite() && self.epsilon > 0.0, "epsilon", "finite and above 0", self.epsilon)?;
        Ok(Adam(self))
    }
}

/// Adam with checked hyperparameters.
///
/// # References
/// D. P. Kingma, J. Ba: Adam: A Method for Stochastic Optimization, ICLR 2015, Algorithm 1 and section 2.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Adam(AdamParams);

impl Adam {
    /// The learning rate of the paper.
    pub const DEFAULT_LR: f64 = 1e-3;
    /// The learning rate of the Skip-Thought release, for [`AdamVariant::ReleasedSkipThoughts`].
    pub const RELEASED_SKIP_THOUGHTS_LR: f64 = 2e-4;

    /// The hyperparameters.
    #[must_use]
    pub fn params(&self) -> AdamParams {
        self.0
    }
}

/// Optimizer state of [`Adam`]: two moments per parameter, and the number of steps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AdamState<F> {
    m: Vec<F>,
    v: Vec<F>,
    n_steps: u64,
}

impl<F> AdamState<F> {
    /// The number of steps so far.
    #[must_use]
    pub fn n_steps(&self) -> u64 {
        self.n_steps
    }
}

impl Adam {
    /// The factors of step `t` (1 is the first) at learning rate `lr`.
    #[must_use]
    pub fn step<F: NdFloat>(&self, t: u64, lr: f64) -> AdamStep<F> {
        let AdamParams { beta1, beta2, epsilon, variant } = self.0;
        let t = t as f64;
        // In f64, because 1 − β₂ᵗ loses most of its digits in f32.
        let correction = |beta: f64| 1.0 - beta.powf(t);
        // Scales both the learning rate and the root, so one loop serves all variants.
        let (rate, root) = match variant {
            AdamVariant::Standard => (1.0 / correction(beta1), 1.0 / correction(beta2).sqrt()),
            AdamVariant::Folded => (correction(beta2).sqrt() / correction(beta1), 1.0),
            AdamVariant::ReleasedSkipThoughts => (correction(1.0 - beta2).sqrt() / correction(1.0 - beta1), 1.0),
        };
        let [keep1, keep2, take1, take2] = [beta1, beta2, 1.0 - beta1, 1.0 - beta2].map(cast);
        AdamStep { keep1, keep2, take1, take2, rate: cast(lr * rate), root: cast(root), epsilon: cast(epsilon) }
    }
}

/// The number of values that a thread updates at a time.
const CHUNK: usize = 1 << 14;

impl<F: Float> Optimizer<F> for Adam {
    type State = AdamState<F>;

    fn state(&self, n: usize) -> AdamState<F> {
        AdamState { m: vec![F::zero(); n], v: vec![F::zero(); n], n_steps: 0 }
    }

    /// Runs on the threads of the current rayon pool; bit-identical at any number of threads.
    fn update(&self, state: &mut AdamState<F>, lr: F, x: &mut [F], d_x: &[F]) -> Result<()> {
        check_update(state.m.len(), lr, x, d_x)?;
        state.n_steps = state.n_steps.saturating_add(1);
        let step = self.step(state.n_steps, lr.wide());
        if x.len() <= CHUNK {
            F::adam(&step, x, d_x, &mut state.m, &mut state.v);
            return Ok(());
        }
        let moments = state.m.par_chunks_mut(CHUNK).zip(state.v.par_chunks_mut(CHUNK));
        let chunks = x.par_chunks_mut(CHUNK).zip(d_x.par_chunks(CHUNK)).zip(moments);
        chunks.for_each(|((x, d_x), (m, v))| F::adam(&step, x, d_x, m, v));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use senv_base::Error;

    #[test]
    fn each_bound_of_each_hyperparameter_is_kept() {
        let good = AdamParams::default();
        let accepted = [good.beta1(0.0), good.beta2(0.0), good.beta1(0.999_999), good.epsilon(1e-300)];
        assert!(accepted.iter().all(|params| params.check().is_ok()));
        for bad in [-1e-9, 1.0, 1.5, f64::NAN, f64::INFINITY] {
            assert!(matches!(good.beta1(bad).check(), Err(Error::InvalidParameter { name: "beta1", .. })));
            assert!(matches!(good.beta2(bad).check(), Err(Error::InvalidParameter { name: "beta2", .. })));
        }
        for bad in [0.0, -1e-8, f64::NAN, f64::INFINITY] {
            assert!(matches!(good.epsilon(bad).check(), Err(Error::InvalidParameter { name: "epsilon", .. })));
        }
        let released = good.variant(AdamVariant::ReleasedSkipThoughts);
        assert!(
            released.check().is_ok() && released.beta1(0.0).check().is_err() && released.beta2(0.0).check().is_err()
        );
    }

    #[test]
    fn the_first_step_is_lr_long_and_three_and_a_half_times_that_in_the_form_of_the_skip_thoughts_release() {
        let first = |variant| {
            let adam = AdamParams::default().variant(variant).check().unwrap();
            let mut x = [0.0_f64];
            adam.update(&mut adam.state(1), 0.1, &mut x, &[7.0]).unwrap();
            -x[0] / 0.1
        };
        assert!((first(AdamVariant::Standard) - 1.0).abs() < 1e-8);
        assert!((first(AdamVariant::Folded) - 1.0).abs() < 1e-6);
        // √(1 − 0.001) / (1 − 0.1) × 0.1 / √0.001 = 3.5119
        assert!((first(AdamVariant::ReleasedSkipThoughts) - 3.5119).abs() < 1e-4);
    }

    #[test]
    fn a_million_steps_later_the_correction_is_one() {
        let adam = AdamParams::default().check().unwrap();
        let mut state = AdamState { m: vec![1.0_f64], v: vec![1.0], n_steps: 1 << 40 };
        let mut x = [0.0];
        adam.update(&mut state, 0.5, &mut x, &[1.0]).unwrap();
        assert!((x[0] + 0.5).abs() < 1e-8 && state.n_steps() == (1 << 40) + 1);
    }
}
