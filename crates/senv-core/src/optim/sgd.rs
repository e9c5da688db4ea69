//! Stochastic gradient descent, and linear decay of the learning rate.
//!
//! Equation: `linear-decay`
//!
//! ```text
//! x −= lr_t g        lr_t = lr_0 max(floor, 1 − t/T)
//! ```

use serde::{Deserialize, Serialize};

use super::{Optimizer, check, check_update};
use crate::{Float, Result};

/// Stochastic gradient descent without momentum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sgd;

/// Optimizer state of [`Sgd`]: the length of the array.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SgdState {
    n: usize,
}

impl<F: Float> Optimizer<F> for Sgd {
    type State = SgdState;

    fn state(&self, n: usize) -> SgdState {
        SgdState { n }
    }

    fn update(&self, state: &mut SgdState, lr: F, x: &mut [F], d_x: &[F]) -> Result<()> {
        check_update(state.n, lr, x, d_x)?;
        for (x, &g) in x.iter_mut().zip(d_x) {
            *x -= lr * g;
        }
        Ok(())
    }
}

/// Parameters of [`LinearDecay`], not checked yet.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct LinearDecayParams {
    lr: f64,
    floor: f64,
}

impl LinearDecayParams {
    /// From `lr` at the start (finite, above 0) to 0 at the end.
    #[must_use]
    pub fn new(lr: f64) -> Self {
        Self { lr, floor: 0.0 }
    }

    /// The lowest learning rate as a share of the first one, in `[0, 1]`: 0 by default and in the releases of Sent2Vec
    /// and fastText, 1e-4 in those of word2vec and Siamese CBOW, 1 for a constant learning rate.
    #[must_use]
    pub fn floor(self, floor: f64) -> Self {
        Self { floor, ..self }
    }

    /// The schedule, if both parameters are in their ranges.
    ///
    /// # Errors
    /// [`crate::Error::InvalidParameter`] with the one that is not.
    pub fn check(self) -> Result<LinearDecay> {
        check(self.lr.is_finite() && self.lr > 0.0, "lr", "finite and above 0", self.lr)?;
        check((0.0..=1.0).contains(&self.floor), "floor", "in [0, 1]", self.floor)?;
        Ok(LinearDecay(self))
    }
}

/// A learning rate that decays linearly with the share of the work that is done.
///
/// ```
/// use senv_core::optim::LinearDecayParams;
/// let schedule = LinearDecayParams::new(0.2).floor(1e-4).check()?;
/// assert_eq!((schedule.at(0.0), schedule.at(0.5)), (0.2, 0.1));
/// assert_eq!(schedule.at(1.0), 0.2 * 1e-4);
/// # Ok::<(), senv_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LinearDecay(LinearDecayParams);

impl LinearDecay {
    /// The learning rate when the share `done` = t/T of the work is done; shares outside `[0, 1]` count as the nearer
    /// end.
    #[must_use]
    pub fn at(&self, done: f64) -> f64 {
        self.0.lr * (1.0 - done.clamp(0.0, 1.0)).max(self.0.floor)
    }

    /// The learning rate at the start.
    #[must_use]
    pub fn lr(&self) -> f64 {
        self.0.lr
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_falls_to_the_floor_and_stays_there() {
        let schedule = LinearDecayParams::new(0.05).floor(0.25).check().unwrap();
        let seen: Vec<f64> = [-1.0, 0.0, 0.5, 0.75, 0.9, 1.0, 2.0].iter().map(|&t| schedule.at(t) / 0.05).collect();
        assert_eq!(seen, [1.0, 1.0, 0.5, 0.25, 0.25, 0.25, 0.25]);
        assert_eq!(LinearDecayParams::new(0.05).check().unwrap().at(1.0), 0.0);
        assert_eq!(LinearDecayParams::new(0.05).floor(1.0).check().unwrap().at(0.7), 0.05);
    }

    #[test]
    fn each_bound_is_kept() {
        let decay = |lr, floor| LinearDecayParams::new(lr).floor(floor).check();
        assert!(decay(1e-300, 0.0).is_ok() && decay(1.0, 1.0).is_ok());
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(decay(bad, 0.0).is_err());
        }
        for bad in [-1e-9, 1.0 + 1e-9, f64::NAN, f64::INFINITY] {
            assert!(decay(0.1, bad).is_err());
        }
    }

    #[test]
    fn a_step_goes_down_the_gradient() {
        let mut x = [1.0_f32, 2.0];
        Sgd.update(&mut Optimizer::<f32>::state(&Sgd, 2), 0.5, &mut x, &[2.0, -4.0]).unwrap();
        assert_eq!(x, [0.0, 4.0]);
    }
}
