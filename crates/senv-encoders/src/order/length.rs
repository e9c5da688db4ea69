//! The gradients of the direction and length of the order part.
//!
//! Equation: `order-length-gradients`
//!
//! ```text
//! (B2)  ∂q = l (∂g − q̂ (q̂·∂g)) / |q|    ∂l = ∂g·q̂ + ∂out_{d+1}        with q̂ = q / |q| and ∂g the first d of ∂out
//! (B1)  ∂λ = ∂l l, 0 where λ is limited    ∂u_t = ∂λ / n    ∂u_1 += ∂λ (ln n − 2.7)
//! ```
//!
//! `order-length` has the forward equations.

use senv_core::{arrays::Float, static_model::order::beyond_ordinary};

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
