//! One step of one sentence, without the matrix products.
//!
//! Equation: `gru-gates`
//!
//! ```text
//! (F1)  r = σ(a_r + u_r)    z = σ(a_z + u_z)            a: from the word, u: from the state before, biases in them
//! (F2)  n = tanh(a_n + r ∘ u_n)   or tanh(a_n + u_n)    reset after the product, or before: u_n = U_n (r ∘ h⁻)
//! (F3)  h = k ∘ h⁻ + (1 − k) ∘ n                        k = z, or 1 − z in the paper's cell
//! (B3)  ∂n = ∂h (1 − k)     ∂k = ∂h (h⁻ − n)    ∂h⁻ = ∂h k
//! (B2)  ∂a_n = ∂n (1 − n²)  after: ∂u_n = ∂a_n r, ∂r = ∂a_n u_n     before: ∂(r ∘ h⁻) = q, ∂r = q h⁻, ∂h⁻ += q r
//! (B1)  ∂a_r = ∂r r (1 − r)  ∂a_z = ±∂k z (1 − z)
//! ```
//!
//! Rows contain r, z and n, concatenated, `3 h` values. Loops are written so the compiler vectorizes them; σ and tanh
//! are kernels.

use senv_core::arrays::Float;

/// (F3), and (B3) with the sign of ∂a_z: the share of the previous state that z keeps.
#[inline(always)]
fn kept<F: Float, const KEEP: bool>(z: F) -> F {
    if KEEP { z } else { F::one() - z }
}

/// (F1) in place: `gates` contains u of r and z and becomes the gates; `a` and `context` are added.
pub(super) fn reset_and_update<F: Float>(a: &[F], context: Option<&[F]>, gates: &mut [F]) {
    F::add_to(&a[..gates.len()], gates);
    if let Some(context) = context {
        F::add_to(&context[..gates.len()], gates);
    }
    F::sigmoid_in_place(gates);
}

/// (F2) with the reset after the product: `n` contains u_n and becomes the candidate; `u` becomes u_n with its bias.
pub(super) fn candidate_after<F: Float>(
    a: &[F],
    context: Option<&[F]>,
    bias: Option<&[F]>,
    r: &[F],
    n: &mut [F],
    u: &mut [F],
) {
    u.copy_from_slice(n);
    if let Some(bias) = bias {
        F::add_to(bias, u);
    }
    let h = n.len();
    let (a, r, u) = (&a[..h], &r[..h], &u[..h]);
    for j in 0..h {
        n[j] = a[j] + r[j] * u[j];
    }
    if let Some(context) = context {
        F::add_to(context, n);
    }
    F::tanh_in_place(n);
}

/// (F2) with the reset before the product: `n` contains u_n and becomes the candidate.
pub(super) fn candidate_before<F: Float>(a: &[F], context: Option<&[F]>, n: &mut [F]) {
    F::add_to(a, n);
    if let Some(context) = context {
        F::add_to(context, n);
    }
    F::tanh_in_place(n);
}

/// `out = a b`, elementwise.
pub(super) fn multiply<F: Float>(a: &[F], b: &[F], out: &mut [F]) {
    let h = out.len();
    let (a, b) = (&a[..h], &b[..h]);
    for j in 0..h {
        out[j] = a[j] * b[j];
    }
}

/// (F3)
pub(super) fn blend<F: Float, const KEEP: bool>(gates: &[F], before: &[F], out: &mut [F]) {
    let h = out.len();
    let (z, n, before) = (&gates[h..2 * h], &gates[2 * h..3 * h], &before[..h]);
    for j in 0..h {
        out[j] = n[j] + kept::<F, KEEP>(z[j]) * (before[j] - n[j]);
    }
}

/// The backward pass with the reset after the product. `d_h` contains ∂h and becomes ∂h⁻ without the products; `d_u`
/// becomes ∂u of all three gates, `d_n` ∂a_n.
pub(super) fn back_after<F: Float, const KEEP: bool>(
    gates: &[F],
    u: &[F],
    before: &[F],
    d_h: &mut [F],
    d_u: &mut [F],
    d_n: &mut [F],
) {
    let h = d_h.len();
    let (r, z, n) = (&gates[..h], &gates[h..2 * h], &gates[2 * h..3 * h]);
    let (u, before, d_n) = (&u[..h], &before[..h], &mut d_n[..h]);
    let (d_r, d_zu) = d_u.split_at_mut(h);
    let (d_z, d_u) = d_zu.split_at_mut(h);
    let d_u = &mut d_u[..h];
    let one = F::one();
    for j in 0..h {
        let (k, d) = (kept::<F, KEEP>(z[j]), d_h[j]);
        let a_n = d * (one - k) * (one - n[j] * n[j]); // (B3) (B2)
        let a_z = d * (before[j] - n[j]) * z[j] * (one - z[j]); // (B3) (B1)
        d_h[j] = d * k; // (B3)
        d_n[j] = a_n;
        d_u[j] = a_n * r[j]; // (B2)
        d_z[j] = if KEEP { a_z } else { -a_z };
        d_r[j] = a_n * u[j] * r[j] * (one - r[j]); // (B2) (B1)
    }
}

/// The backward pass with the reset before the product, up to the product with U_n: `d_a` becomes ∂a_z and ∂a_n, `d_h`
/// as above.
pub(super) fn back_before<F: Float, const KEEP: bool>(gates: &[F], before: &[F], d_h: &mut [F], d_a: &mut [F]) {
    let h = d_h.len();
    let (z, n, before) = (&gates[h..2 * h], &gates[2 * h..3 * h], &before[..h]);
    let (d_z, d_n) = d_a[h..3 * h].split_at_mut(h);
    let d_n = &mut d_n[..h];
    let one = F::one();
    for j in 0..h {
        let (k, d) = (kept::<F, KEEP>(z[j]), d_h[j]);
        d_n[j] = d * (one - k) * (one - n[j] * n[j]); // (B3) (B2)
        let a_z = d * (before[j] - n[j]) * z[j] * (one - z[j]); // (B3) (B1)
        d_z[j] = if KEEP { a_z } else { -a_z };
        d_h[j] = d * k; // (B3)
    }
}

/// The rest of that pass, given `q` = ∂(r ∘ h⁻): `d_r` becomes ∂a_r, and `d_h` gets the gradient through the reset
/// gate.
pub(super) fn back_reset<F: Float>(r: &[F], before: &[F], q: &[F], d_h: &mut [F], d_r: &mut [F]) {
    let h = d_h.len();
    let (r, before, q, d_r) = (&r[..h], &before[..h], &q[..h], &mut d_r[..h]);
    for j in 0..h {
        d_r[j] = q[j] * before[j] * r[j] * (F::one() - r[j]); // (B2) (B1)
        d_h[j] += q[j] * r[j]; // (B2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use senv_core::gradcheck;

    const H: usize = 3;

    /// Values in (−1, 1), all different.
    fn values(n: usize, seed: usize) -> Vec<f64> {
        (0..n).map(|i| (((i + 1) * (2 * seed + 3)) as f64 * 0.7).sin()).collect()
    }

    /// Gates, u_n with its bias and the new state of one step with the reset after the product.
    fn step_after<const KEEP: bool>(a: &[f64], u: &[f64], bias: &[f64], before: &[f64]) -> [Vec<f64>; 3] {
        let (mut gates, mut u_n, mut out) = (u.to_vec(), vec![0.0; H], vec![0.0; H]);
        let (first, n) = gates.split_at_mut(2 * H);
        reset_and_update(a, None, first);
        candidate_after(&a[2 * H..], None, Some(bias), &first[..H], n, &mut u_n);
        blend::<f64, KEEP>(&gates, before, &mut out);
        [gates, u_n, out]
    }

    /// The gradients of Σ d h with respect to a, u and the previous state, joined, by the functions and as differences.
    fn check_after<const KEEP: bool>() {
        let (a, u, bias, before, d) = (values(9, 1), values(9, 2), values(H, 3), values(H, 4), values(H, 5));
        let f = |x: &[f64]| {
            let [_, _, h] = step_after::<KEEP>(&x[..9], &x[9..18], &bias, &x[18..]);
            h.iter().zip(&d).map(|(h, d)| h * d).sum::<f64>()
        };
        let [gates, u_n, _] = step_after::<KEEP>(&a, &u, &bias, &before);
        let (mut d_h, mut d_u, mut d_n) = (d.clone(), vec![0.0; 9], vec![0.0; H]);
        back_after::<f64, KEEP>(&gates, &u_n, &before, &mut d_h, &mut d_u, &mut d_n);
        let gradient = [&d_u[..2 * H], &d_n, &d_u, &d_h].concat(); // ∂a is ∂u except for the candidate.
        let error = gradcheck::max_relative_error(f, &[&a[..], &u, &before].concat(), &gradient);
        assert!(error < 1e-8, "z kept: {KEEP}: {error}");
    }

    #[test]
    fn the_reset_after_the_product_is_differentiated_whichever_state_z_keeps() {
        check_after::<true>();
        check_after::<false>(); // No published cell or style combines the two.
    }
}
