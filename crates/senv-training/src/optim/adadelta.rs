//! AdaDelta: steps with the size of recent steps, relative to recent gradients.
//!
//! Equation: `adadelta`
//!
//! ```text
//! s = ρ s + (1 − ρ) g²        Δ = g √(u + ε) / √(s + ε)        u = ρ u + (1 − ρ) Δ²        x −= lr Δ
//! ```
//!
//! The paper has no learning rate, which corresponds to a rate of 1. At the start s and u are zero, so the first steps
//! are short: at most √ε times the sign of the gradient.

use serde::{Deserialize, Serialize};

use super::{Optimizer, cast, check, check_update};
use senv_base::Result;
use senv_kernels::Float;

/// Hyperparameters of [`AdaDelta`], not checked yet.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct AdaDeltaParams {
    rho: f64,
    epsilon: f64,
}

impl Default for AdaDeltaParams {
    /// ρ = 0.95 and ε = 1e-6, as in the paper's experiments.
    fn default() -> Self {
        Self { rho: 0.95, epsilon: 1e-6 }
    }
}

impl AdaDeltaParams {
    /// The learning rate that corresponds to the paper: 1.
    pub const PAPER_LR: f64 = 1.0;

    /// Sets ρ, the share of the past in both running means; in `[0, 1)`, 0.95 by default.
    #[must_use]
    pub fn rho(self, rho: f64) -> Self {
        Self { rho, ..self }
    }

    /// Sets ε, which determines the first step; above 0, 1e-6 by default.
    #[must_use]
    pub fn epsilon(self, epsilon: f64) -> Self {
        Self { epsilon, ..self }
    }

    /// Creates the optimizer if both are in range.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`](senv_base::Error::InvalidParameter) for the first that is out of range.
    pub fn check(self) -> Result<AdaDelta> {
        check((0.0..1.0).contains(&self.rho), "rho", "at least 0 and below 1", self.rho)?;
        check(self.epsilon.is_finite() && self.epsilon > 0.0, "epsilon", "finite and above 0", self.epsilon)?;
        Ok(AdaDelta(self))
    }
}

/// AdaDelta with checked hyperparameters.
///
/// # References
/// M. D. Zeiler: ADADELTA: An Adaptive Learning Rate Method, arXiv 1212.5701, 2012, Algorithm 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AdaDelta(AdaDeltaParams);

impl AdaDelta {
    /// The hyperparameters.
    #[must_use]
    pub fn params(&self) -> AdaDeltaParams {
        self.0
    }

    /// Applies one step to each parameter; the slices have the same length.
    #[inline]
    pub(super) fn apply<F: Float>(&self, lr: F, x: &mut [F], d_x: &[F], squares: &mut [F], steps: &mut [F]) {
        let (rho, rest) = (cast::<F>(self.0.rho), cast::<F>(1.0 - self.0.rho));
        let epsilon = cast::<F>(self.0.epsilon);
        for (((x, &g), s), u) in x.iter_mut().zip(d_x).zip(squares).zip(steps) {
            *s = rho * *s + rest * g * g;
            let step = g * (*u + epsilon).sqrt() / (*s + epsilon).sqrt();
            *u = rho * *u + rest * step * step;
            *x -= lr * step;
        }
    }
}

/// Optimizer state of [`AdaDelta`]: the running means of the squared gradients and of the squared steps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AdaDeltaState<F> {
    squares: Vec<F>,
    steps: Vec<F>,
}

impl<F: Float> Optimizer<F> for AdaDelta {
    type State = AdaDeltaState<F>;

    fn state(&self, n: usize) -> AdaDeltaState<F> {
        AdaDeltaState { squares: vec![F::zero(); n], steps: vec![F::zero(); n] }
    }

    fn update(&self, state: &mut AdaDeltaState<F>, lr: F, x: &mut [F], d_x: &[F]) -> Result<()> {
        check_update(state.squares.len(), lr, x, d_x)?;
        self.apply(lr, x, d_x, &mut state.squares, &mut state.steps);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_steps_by_hand_and_no_gradient_is_no_step() {
        let rule = AdaDeltaParams::default().rho(0.5).epsilon(1.0).check().unwrap();
        let mut state = rule.state(2);
        let mut x = [0.0_f64, 5.0];
        // s = 2, Δ = 2 √1 / √3, u = Δ²/2 = 2/3.
        rule.update(&mut state, 1.0, &mut x, &[2.0, 0.0]).unwrap();
        let first = 2.0 / 3.0_f64.sqrt();
        assert!((x[0] + first).abs() < 1e-14);
        // s = 3, Δ = 2 √(5/3) / √4.
        rule.update(&mut state, 0.5, &mut x, &[2.0, 0.0]).unwrap();
        assert!((x[0] + first + 0.5 * (5.0 / 3.0_f64).sqrt()).abs() < 1e-14);
        assert_eq!(x[1], 5.0);
    }

    #[test]
    fn ranges() {
        let params = AdaDeltaParams::default();
        assert!(params.rho(0.0).check().is_ok() && params.rho(1.0 - f64::EPSILON).check().is_ok());
        for bad in [-1e-9, 1.0, f64::NAN, f64::INFINITY] {
            assert!(params.rho(bad).check().is_err(), "{bad}");
        }
        assert!(params.epsilon(1e-300).check().is_ok());
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(params.epsilon(bad).check().is_err(), "{bad}");
        }
    }
}
