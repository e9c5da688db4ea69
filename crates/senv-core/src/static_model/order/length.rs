//! The order part of a sentence vector: a direction, and a length.
//!
//! Equation: `order-length`
//!
//! ```text
//! (F1)  λ = Σ_t u_t / n + u_1 (ln n − 2.7)        l = exp(min(max(λ, −4), 1.5))
//! (F2)  out = [l q / |q| ; l]                      0 for q / |q| where q = 0
//! ```
//!
//! Sentences of about 15 words, e^2.7, have the length that their words say.

use crate::arrays::Float;

/// The logarithm of an ordinary number of words.
const ORDINARY: f64 = 2.7;
/// The limits of λ.
const LIMITS: [f64; 2] = [-4.0, 1.5];

/// ln n − 2.7: how much longer a sentence of `n` words is than an ordinary one.
#[must_use]
pub fn beyond_ordinary<F: Float>(n: usize) -> F {
    F::of((n as f64).ln() - ORDINARY)
}

/// (F1): l of a sentence of `n` words, above 0, whose u sum to `sum_u`, and whether λ is within its limits.
#[must_use]
pub fn part_length<F: Float>(sum_u: F, n: usize, u1: F) -> (F, bool) {
    let exponent = sum_u / F::of(n as f64) + u1 * beyond_ordinary(n);
    let limited = exponent.max(F::of(LIMITS[0])).min(F::of(LIMITS[1]));
    (limited.exp(), limited == exponent)
}

/// (F2) in place: `out` holds q and one value more.
///
/// ```
/// use senv_core::static_model::order::part_of;
/// let mut out = [3.0f32, 4.0, 0.0];
/// part_of(0.5, &mut out);
/// assert_eq!(out, [0.3, 0.4, 0.5]);
/// ```
///
/// # Panics
/// If `out` is empty.
pub fn part_of<F: Float>(l: F, out: &mut [F]) {
    let (q, last) = out.split_at_mut(out.len() - 1);
    let norm = F::dot(q, q).sqrt();
    if norm > F::zero() {
        F::scale(l / norm, q);
    } else {
        q.fill(F::zero());
    }
    last[0] = l;
}
