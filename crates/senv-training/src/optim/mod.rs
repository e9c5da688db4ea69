//! Optimizers: one update rule per file, all implementing [`Optimizer`].
//!
//! An update rule contains its hyperparameters. Each array of parameters has a separate optimizer state. The learning
//! rate is an argument of every step, constant or times the factor of [`linear_decay`]. `d_x` is always ∂L/∂x of a loss
//! L to minimize.
//!
//! ```
//! use senv_core::optim::{AdamParams, Optimizer, clip_by_global_norm};
//! let adam = AdamParams::default().check()?;
//! let mut x = [2.0_f64, -1.0];
//! let mut state = Optimizer::<f64>::state(&adam, x.len());
//! for _ in 0..2000 {
//!     let mut d_x = x.map(|x| 2.0 * x); // L = |x|²
//!     clip_by_global_norm(&mut [&mut d_x], 5.0)?;
//!     adam.update(&mut state, 0.01, &mut x, &d_x)?;
//! }
//! assert!(x.iter().all(|x| x.abs() < 1e-3));
//! # Ok::<(), senv_core::Error>(())
//! ```
//!
//! [`UpdateRule`] is the choice among them that settings store, and [`UpdateRule::custom`] adds custom rules.

mod adadelta;
mod adagrad;
mod adam;
mod clip;
mod custom;
mod linear_decay;
mod rows;
mod rule;
mod sgd;
mod table;

use ndarray::NdFloat;

use senv_base::{Error, Result};
use senv_kernels::Float;

pub use adadelta::{AdaDelta, AdaDeltaParams, AdaDeltaState};
pub use adagrad::{AdaGrad, AdaGradParams, AdaGradState};
pub use adam::{Adam, AdamParams, AdamState, AdamVariant};
pub use clip::{clip_by_global_norm, clip_to_norm, global_norm};
pub use custom::{CustomRule, CustomUpdate};
pub use linear_decay::linear_decay;
pub use rule::{ParametersOptimizer, UpdateRule};
pub use senv_kernels::kernels::AdamStep;
pub use sgd::{Sgd, SgdState};
pub use table::{L2Penalty, TableOptimizer};

/// An update rule for f32 and f64, with a separate state for each array. Trainers choose by [`UpdateRule`] instead; to
/// train with a custom rule, implement [`CustomUpdate`].
pub trait Optimizer<F: Float> {
    /// The optimizer state of an array of parameters.
    type State;

    /// The state of `n` parameters before the first step.
    fn state(&self, n: usize) -> Self::State;

    /// One step: updates `x` with its gradient `d_x`, both of the length of the state. A learning rate of 0 changes no
    /// parameter but still updates the state. NaN in `d_x` gives NaN in `x`.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] if the lengths differ; [`Error::InvalidParameter`] if `lr` is negative, infinite or
    /// NaN. Then nothing is changed.
    fn update(&self, state: &mut Self::State, lr: F, x: &mut [F], d_x: &[F]) -> Result<()>;
}

/// Checks the arguments of a step.
fn check_update<F: NdFloat>(state: usize, lr: F, x: &[F], d_x: &[F]) -> Result<()> {
    if x.len() != state {
        return Err(Error::ShapeMismatch { what: "parameters of an update", expected: state, got: x.len() });
    }
    if d_x.len() != state {
        return Err(Error::ShapeMismatch { what: "gradient of an update", expected: state, got: d_x.len() });
    }
    let lr = lr.to_f64().unwrap_or(f64::NAN);
    check(lr.is_finite() && lr >= 0.0, "lr", "finite and not negative", lr)
}

/// Returns an error that names the parameter unless `ok`.
fn check(ok: bool, name: &'static str, requirement: &'static str, got: f64) -> Result<()> {
    if ok { Ok(()) } else { Err(Error::InvalidParameter { name, requirement, got: got.to_string() }) }
}

/// A constant in the precision used.
fn cast<F: NdFloat>(x: f64) -> F {
    F::from(x).unwrap_or_else(F::nan)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All rules on one array, in both precisions.
    fn follows<F: Float, O: Optimizer<F>>(rule: &O, lr: f64) {
        let mut x: Vec<F> = [3.0, -2.0, 0.5].map(cast).to_vec();
        let mut state = rule.state(3);
        for _ in 0..3000 {
            let d_x: Vec<F> = x.iter().map(|&x| x + x).collect();
            rule.update(&mut state, cast(lr), &mut x, &d_x).unwrap();
        }
        assert!(x.iter().all(|x| x.to_f64().unwrap().abs() < 1e-2), "{x:?}");
    }

    #[test]
    fn every_rule_reaches_the_bottom_of_a_bowl_in_both_precisions() {
        for variant in [AdamVariant::Standard, AdamVariant::Folded, AdamVariant::ReleasedSkipThoughts] {
            let adam = AdamParams::default().variant(variant).check().unwrap();
            follows::<f32, _>(&adam, 0.01);
            follows::<f64, _>(&adam, 0.01);
        }
        let adagrad = AdaGradParams::default().check().unwrap();
        follows::<f32, _>(&adagrad, 0.5);
        follows::<f64, _>(&adagrad, 0.5);
        let adadelta = AdaDeltaParams::default().check().unwrap();
        follows::<f32, _>(&adadelta, 1.0);
        follows::<f64, _>(&adadelta, 1.0);
        follows::<f32, _>(&Sgd, 0.1);
        follows::<f64, _>(&Sgd, 0.1);
    }

    #[test]
    fn wrong_lengths_and_rates_change_nothing() {
        let adam = AdamParams::default().check().unwrap();
        let mut state = adam.state(2);
        let mut x = [1.0_f64, 2.0];
        let before = state.clone();
        assert!(matches!(adam.update(&mut state, 0.1, &mut x, &[1.0]), Err(Error::ShapeMismatch { got: 1, .. })));
        assert!(matches!(adam.update(&mut state, 0.1, &mut x[..1], &[1.0; 2]), Err(Error::ShapeMismatch { .. })));
        for lr in [-1e-9, f64::NAN, f64::INFINITY] {
            assert!(matches!(adam.update(&mut state, lr, &mut x, &[1.0; 2]), Err(Error::InvalidParameter { .. })));
        }
        assert_eq!((x, &state), ([1.0, 2.0], &before));
        adam.update(&mut state, 0.0, &mut x, &[1.0; 2]).unwrap();
        assert_eq!(x, [1.0, 2.0]);
        assert_ne!(state, before);
    }
}
