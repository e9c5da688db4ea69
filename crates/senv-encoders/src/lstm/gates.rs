//! One step of one sentence, without the matrix products.
//!
//! Equation: `lstm-gates`
//!
//! ```text
//! (F1)  i = σ(a_i + u_i + p_i ∘ c⁻)    f = σ(a_f + u_f + p_f ∘ c⁻)    g = tanh(a_g + u_g)
//! (F2)  c = f ∘ c⁻ + i ∘ g
//! (F3)  o = σ(a_o + u_o + p_o ∘ c)     h = o ∘ tanh(c)              without an output gate: h = tanh(c)
//! (B3)  ∂o = ∂h tanh(c)    ∂a_o = ∂o o (1 − o)    ∂c += ∂h o (1 − tanh²(c)) + ∂a_o p_o          without: ∂c += ∂h (1 − h²)
//! (B2)  ∂i = ∂c g    ∂f = ∂c c⁻    ∂g = ∂c i    ∂c⁻ = ∂c f
//! (B1)  ∂a_i = ∂i i (1 − i)    ∂a_f = ∂f f (1 − f)    ∂a_g = ∂g (1 − g²)    ∂c⁻ += ∂a_i p_i + ∂a_f p_f
//! ```
//!
//! a comes from the word, including the bias, and u from the previous state. The peepholes p are vectors, and the plain
//! cell has none. Rows contain i, f, g and o, concatenated.

use senv_core::arrays::Float;

/// Adds `p ∘ c` to `x`.
fn add_peephole<F: Float>(peephole: Option<&[F]>, c: &[F], x: &mut [F]) {
    if let Some(peephole) = peephole {
        x.iter_mut().zip(peephole.iter().zip(c)).for_each(|(x, (&p, &c))| *x += p * c);
    }
}

/// (F1) to (F3) in place: `gates` contains u and becomes the gates; `a` is added. Writes `c` and `squashed`, tanh(c),
/// and the state to `out`.
pub(super) fn step<F: Float>(
    a: &[F],
    peepholes: Option<&[F]>,
    c_before: &[F],
    gates: &mut [F],
    c: &mut [F],
    squashed: &mut [F],
    out: &mut [F],
) {
    let h = out.len();
    F::add_to(a, gates);
    let (inputs, rest) = gates.split_at_mut(2 * h);
    let (g, o) = rest.split_at_mut(h);
    for (k, x) in inputs.chunks_exact_mut(h).enumerate() {
        add_peephole(peepholes.map(|p| &p[k * h..][..h]), c_before, x);
    }
    F::sigmoid_in_place(inputs);
    F::tanh_in_place(g);
    let (i, f) = inputs.split_at(h);
    for j in 0..h {
        c[j] = f[j] * c_before[j] + i[j] * g[j]; // (F2)
    }
    squashed.copy_from_slice(c);
    F::tanh_in_place(squashed);
    if o.is_empty() {
        return out.copy_from_slice(squashed);
    }
    add_peephole(peepholes.map(|p| &p[2 * h..][..h]), c, o);
    F::sigmoid_in_place(o);
    for j in 0..h {
        out[j] = o[j] * squashed[j]; // (F3)
    }
}

/// (B3) to (B1): `d_a` becomes ∂a of all gates. `d_c`, the gradient of c from the next step, becomes that of c⁻.
pub(super) fn back<F: Float>(
    gates: &[F],
    peepholes: Option<&[F]>,
    c_before: &[F],
    squashed: &[F],
    d_h: &[F],
    d_c: &mut [F],
    d_a: &mut [F],
) {
    let (h, one) = (d_h.len(), F::one());
    let (i, f, g, o) = (&gates[..h], &gates[h..2 * h], &gates[2 * h..3 * h], &gates[3 * h..]);
    let (d_inputs, d_rest) = d_a.split_at_mut(2 * h);
    let (d_i, d_f) = d_inputs.split_at_mut(h);
    let (d_g, d_o) = d_rest.split_at_mut(h);
    for j in 0..h {
        let slope = one - squashed[j] * squashed[j];
        // (B3)
        if o.is_empty() {
            d_c[j] += d_h[j] * slope;
        } else {
            d_o[j] = d_h[j] * squashed[j] * o[j] * (one - o[j]);
            d_c[j] += d_h[j] * o[j] * slope;
        }
    }
    if !o.is_empty() {
        add_peephole(peepholes.map(|p| &p[2 * h..][..h]), d_o, d_c);
    }
    for j in 0..h {
        let d = d_c[j];
        d_i[j] = d * g[j] * i[j] * (one - i[j]); // (B2) (B1)
        d_f[j] = d * c_before[j] * f[j] * (one - f[j]);
        d_g[j] = d * i[j] * (one - g[j] * g[j]);
        d_c[j] = d * f[j];
    }
    for (k, d) in [&*d_i, &*d_f].into_iter().enumerate() {
        add_peephole(peepholes.map(|p| &p[k * h..][..h]), d, d_c);
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

    #[test]
    fn one_step_is_differentiated_with_and_without_peepholes_and_output_gate() {
        for (n_gates, n_peepholes) in [(4, 0), (4, 3), (3, 0), (3, 2)] {
            let width = n_gates * H;
            let (u, d, d_next) = (values(width, 2), values(H, 5), values(H, 6));
            // a, the previous cell and peepholes.
            let x = [values(width, 1), values(H, 3), values(n_peepholes * H, 4)].concat();
            let run = |x: &[f64]| {
                let peepholes = (n_peepholes > 0).then(|| &x[width + H..]);
                let (mut gates, mut rest) = (u.clone(), [vec![0.0; H], vec![0.0; H], vec![0.0; H]]);
                let [c, squashed, out] = &mut rest;
                step(&x[..width], peepholes, &x[width..width + H], &mut gates, c, squashed, out);
                (gates, rest)
            };
            let f = |x: &[f64]| {
                let [c, _, out] = run(x).1;
                out.iter().zip(&d).chain(c.iter().zip(&d_next)).map(|(x, d)| x * d).sum::<f64>()
            };
            let (gates, [c, squashed, _]) = run(&x);
            let (c_before, peepholes) = (&x[width..width + H], (n_peepholes > 0).then(|| &x[width + H..]));
            let (mut d_c, mut d_a) = (d_next.clone(), vec![0.0; width]);
            back(&gates, peepholes, c_before, &squashed, &d, &mut d_c, &mut d_a);
            // What the cell sums over all steps.
            let looked_at = [c_before, c_before, &c];
            let places = [0, 1, 3];
            let d_p: Vec<f64> =
                (0..n_peepholes * H).map(|at| d_a[places[at / H] * H + at % H] * looked_at[at / H][at % H]).collect();
            let error = gradcheck::max_relative_error(f, &x, &[d_a, d_c, d_p].concat());
            assert!(error < 1e-7, "{n_gates} gates, {n_peepholes} peepholes: {error}");
        }
    }
}
