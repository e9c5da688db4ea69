//! Stochastic gradient descent.
//!
//! ```text
//! x −= lr g
//! ```

use serde::{Deserialize, Serialize};

use super::{Optimizer, check_update};
use senv_base::Result;
use senv_kernels::Float;

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_goes_down_the_gradient() {
        let mut x = [1.0_f32, 2.0];
        Sgd.update(&mut Optimizer::<f32>::state(&Sgd, 2), 0.5, &mut x, &[2.0, -4.0]).unwrap();
        assert_eq!(x, [0.0, 4.0]);
    }
}
