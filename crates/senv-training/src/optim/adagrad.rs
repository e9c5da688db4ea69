//! AdaGrad: learning rates per parameter, from the sum of its squared gradients.
//!
//! Equation: `adagrad`
//!
//! ```text
//! s = s + g²        x −= lr g / (√s + ε)
//! ```

use serde::{Deserialize, Serialize};

use super::{Optimizer, cast, check, check_update};
use senv_base::Result;
use senv_kernels::Float;

/// Hyperparameters of [`AdaGrad`], not checked yet.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct AdaGradParams {
    epsilon: f64,
}

impl Default for AdaGradParams {
    /// ε = 1e-10.
    fn default() -> Self {
        Self { epsilon: 1e-10 }
    }
}

impl AdaGradParams {
    /// Sets ε, which keeps the divisor above zero; above 0, 1e-10 by default.
    #[must_use]
    pub fn epsilon(self, epsilon: f64) -> Self {
        Self { epsilon }
    }

    /// Creates the optimizer if ε is in range.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`](senv_base::Error::InvalidParameter) if ε is out of range.
    pub fn check(self) -> Result<AdaGrad> {
        check(self.epsilon.is_finite() && self.epsilon > 0.0, "epsilon", "finite and above 0", self.epsilon)?;
        Ok(AdaGrad(self))
    }
}

/// AdaGrad, diagonal form, with checked hyperparameters.
///
/// # References
/// J. Duchi, E. Hazan, Y. Singer: Adaptive Subgradient Methods for Online Learning and Stochastic Optimization,
/// JMLR 12, 2011, Figure 1 (with ε outside the root).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AdaGrad(AdaGradParams);

impl AdaGrad {
    /// The hyperparameters.
    #[must_use]
    pub fn params(&self) -> AdaGradParams {
        self.0
    }

    /// Applies one step to each parameter; the slices have the same length.
    #[inline]
    pub(super) fn apply<F: Float>(&self, lr: F, x: &mut [F], d_x: &[F], sum: &mut [F]) {
        let epsilon = cast::<F>(self.0.epsilon);
        for ((x, &g), sum) in x.iter_mut().zip(d_x).zip(sum) {
            *sum += g * g;
            *x -= lr * g / (sum.sqrt() + epsilon);
        }
    }
}

/// Optimizer state of [`AdaGrad`]: the sum of squared gradients of each parameter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AdaGradState<F> {
    sum: Vec<F>,
}

impl<F: Float> Optimizer<F> for AdaGrad {
    type State = AdaGradState<F>;

    fn state(&self, n: usize) -> AdaGradState<F> {
        AdaGradState { sum: vec![F::zero(); n] }
    }

    fn update(&self, state: &mut AdaGradState<F>, lr: F, x: &mut [F], d_x: &[F]) -> Result<()> {
        check_update(state.sum.len(), lr, x, d_x)?;
        self.apply(lr, x, d_x, &mut state.sum);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_equal_step_is_shorter_by_the_root_of_two_and_no_gradient_is_no_step() {
        let rule = AdaGradParams::default().check().unwrap();
        let mut state = rule.state(2);
        let mut x = [0.0_f64, 5.0];
        rule.update(&mut state, 0.1, &mut x, &[3.0, 0.0]).unwrap();
        assert!((x[0] + 0.1).abs() < 1e-10);
        rule.update(&mut state, 0.1, &mut x, &[3.0, 0.0]).unwrap();
        assert!((x[0] + 0.1 + 0.1 / 2.0_f64.sqrt()).abs() < 1e-10);
        assert_eq!(x[1], 5.0);
    }

    #[test]
    fn epsilon_must_be_positive() {
        assert!(AdaGradParams::default().epsilon(1e-300).check().is_ok());
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(AdaGradParams::default().epsilon(bad).check().is_err());
        }
    }
}
