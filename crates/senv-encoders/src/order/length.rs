//! The order part of a sentence vector: a direction, and a length.
//!
//! Equation: `order-length`
//!
//! ```text
//! (F1)  λ = Σ_t u_t / n + u_1 (ln n − 2.7)        l = exp(min(max(λ, −4), 1.5))
//! (F2)  out = [l q / |q| ; l]                      0 for q / |q| where q = 0
//! (B2)  ∂q = l (∂g − q̂ (q̂·∂g)) / |q|    ∂l = ∂g·q̂ + ∂out_{d+1}        with q̂ = q / |q| and ∂g the first d of ∂out
//! (B1)  ∂λ = ∂l l, 0 where λ is limited    ∂u_t = ∂λ / n    ∂u_1 += ∂λ (ln n − 2.7)
//! ```
//!
//! Sentences of about 15 words, e^2.7, have the length that their words say.

use senv_core::arrays::Float;

/// The logarithm of an ordinary number of words.
const ORDINARY: f64 = 2.7;
/// The limits of λ.
const LIMITS: [f64; 2] = [-4.0, 1.5];

/// ln n − 2.7.
fn beyond_ordinary<F: Float>(n: usize) -> F {
    F::of((n as f64).ln() - ORDINARY)
}

/// (F1): l of a sentence of `n` words above 0, whether λ is within its limits.
pub(super) fn length<F: Float>(sum_u: F, n: usize, u1: F) -> (F, bool) {
    let exponent = sum_u / F::of(n as f64) + u1 * beyond_ordinary(n);
    let limited = exponent.max(F::of(LIMITS[0])).min(F::of(LIMITS[1]));
    (limited.exp(), limited == exponent)
}

/// (F2) in place: `out` holds q and one value more.
pub(super) fn part<F: Float>(l: F, out: &mut [F]) {
    let (q, last) = out.split_at_mut(out.len() - 1);
    let norm = F::dot(q, q).sqrt();
    if norm > F::zero() {
        F::scale(l / norm, q);
    } else {
        q.fill(F::zero());
    }
    last[0] = l;
}

/// (B2): `d_q` becomes the gradient of q; returns that of l. `norm` is |q|, `out` the result of (F2).
pub(super) fn part_backward<F: Float>(l: F, norm: F, out: &[F], d_out: &[F], d_q: &mut [F]) -> F {
    let dim = d_q.len();
    if norm == F::zero() || l == F::zero() {
        d_q.fill(F::zero());
        return d_out[dim];
    }
    // out = l q̂.
    let along = F::dot(&out[..dim], &d_out[..dim]) / l;
    for ((d_q, &x), &d) in d_q.iter_mut().zip(out).zip(d_out) {
        *d_q = (l * d - x * along) / norm;
    }
    along + d_out[dim]
}

/// (B1): the gradients of each u_t and of u_1.
pub(super) fn length_backward<F: Float>(l: F, within: bool, n: usize, d_l: F) -> (F, F) {
    if !within || n == 0 {
        return (F::zero(), F::zero());
    }
    let d_exponent = d_l * l;
    (d_exponent / F::of(n as f64), d_exponent * beyond_ordinary(n))
}
