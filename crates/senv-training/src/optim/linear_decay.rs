//! Linear decay of the learning rate, for every trainer that uses it.
//!
//! Equation: `linear-decay`
//!
//! ```text
//! lr_t = lr_0 max(floor, 1 − t/T)        t/T: the share of the run that is done
//! ```
//!
//! The floor is 1e-4 in the programs of word2vec and Siamese CBOW, so the last steps still have an effect, and 0 in
//! those of fastText and Sent2Vec. Kenter, Borisov and de Rijke, ACL 2016, section 2.3, and Pagliardini, Gupta and
//! Jaggi, NAACL 2018, section 2.4, state the decay without a floor.

use senv_kernels::Float;

/// The factor on the learning rate when the share `done` of the run is complete. Shares outside `[0, 1]` are clamped.
///
/// ```
/// use senv_core::optim::linear_decay;
/// let lr = |done| 0.2 * linear_decay(done, 1e-4);
/// assert_eq!((lr(0.0), lr(0.5), lr(1.0)), (0.2, 0.1, 0.2 * 1e-4));
/// ```
#[must_use]
pub fn linear_decay<F: Float>(done: F, floor: F) -> F {
    (F::one() - done.max(F::zero()).min(F::one())).max(floor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_falls_to_the_floor_and_stays_there() {
        let seen = [-1.0, 0.0, 0.5, 0.75, 0.9, 1.0, 2.0].map(|done| linear_decay(done, 0.25));
        assert_eq!(seen, [1.0, 1.0, 0.5, 0.25, 0.25, 0.25, 0.25]);
        assert_eq!((linear_decay(1.0_f32, 0.0), linear_decay(0.7_f32, 1.0)), (0.0, 1.0));
    }
}
