//! L-BFGS: minimization of a smooth function, with curvature from its last gradients.
//!
//! Equation: `l-bfgs`
//!
//! ```text
//! s_k = x_{k+1} − x_k,   y_k = g_{k+1} − g_k,   ρ_k = 1 / y_kᵀ s_k
//! p   = −H_k g_k                          H_k: the two loops over the last pairs, from γ = sᵀy / yᵀy
//! x_{k+1} = x_k + t p                     t: the first of 1, ½, ¼, … with f(x + t p) ≤ f(x) + 10⁻⁴ t gᵀp
//! ```
//!
//! J. Nocedal and S. J. Wright, Numerical Optimization, 2nd edition, algorithms 7.4 and 7.5, with Armijo's rule for t:
//! for a convex function every pair has yᵀs > 0; a pair without it, by rounding, is skipped.

use std::collections::VecDeque;

use senv_core::Float;

/// The number of pairs kept.
const MEMORY: usize = 10;
/// The most halvings of a step.
const HALVINGS: u32 = 40;

/// The end of the search.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Convergence {
    /// Number of steps.
    pub(crate) steps: usize,
    /// Norm of the last gradient over that of the first.
    pub(crate) slope: f64,
}

/// Moves `x` to a minimum of `f`, which writes its gradient and returns its value: until the gradient norm is
/// `tolerance` times that at the start, a step brings no improvement, or `max_steps`.
pub(crate) fn minimize(
    mut f: impl FnMut(&[f64], &mut [f64]) -> f64,
    x: &mut [f64],
    tolerance: f64,
    max_steps: usize,
) -> Convergence {
    let mut gradient = vec![0.0; x.len()];
    let mut value = f(x, &mut gradient);
    let norm = |v: &[f64]| f64::dot(v, v).sqrt();
    let first = norm(&gradient);
    let (mut moved, mut next) = (x.to_vec(), gradient.clone());
    let mut pairs: VecDeque<(Vec<f64>, Vec<f64>)> = VecDeque::new();
    let mut steps = 0;
    while steps < max_steps && norm(&gradient) > tolerance * first {
        let direction = direction(&gradient, &pairs);
        let falls = f64::dot(&gradient, &direction);
        // The first step has no curvature information: its length is at most 1.
        let mut t = if pairs.is_empty() { 1.0_f64.min(1.0 / norm(&gradient)) } else { 1.0 };
        let mut lower = None;
        for _ in 0..HALVINGS {
            moved.copy_from_slice(x);
            f64::axpy(t, &direction, &mut moved);
            let there = f(&moved, &mut next);
            if there <= value + 1e-4 * t * falls {
                lower = Some(there);
                break;
            }
            t /= 2.0;
        }
        // Any further improvement is below rounding.
        let Some(there) = lower else { break };
        let s: Vec<f64> = moved.iter().zip(&*x).map(|(new, old)| new - old).collect();
        let y: Vec<f64> = next.iter().zip(&gradient).map(|(new, old)| new - old).collect();
        if f64::dot(&s, &y) > f64::EPSILON * norm(&s) * norm(&y) {
            pairs.truncate(MEMORY - 1);
            pairs.push_front((s, y));
        }
        x.copy_from_slice(&moved);
        (value, steps) = (there, steps + 1);
        std::mem::swap(&mut gradient, &mut next);
    }
    Convergence { steps, slope: if first > 0.0 { norm(&gradient) / first } else { 0.0 } }
}

/// −H g, the last pair first.
fn direction(gradient: &[f64], pairs: &VecDeque<(Vec<f64>, Vec<f64>)>) -> Vec<f64> {
    let mut q: Vec<f64> = gradient.iter().map(|g| -g).collect();
    let mut shares = Vec::with_capacity(pairs.len());
    for (s, y) in pairs {
        let share = f64::dot(s, &q) / f64::dot(s, y);
        f64::axpy(-share, y, &mut q);
        shares.push(share);
    }
    if let Some((s, y)) = pairs.front() {
        let gamma = f64::dot(s, y) / f64::dot(y, y);
        q.iter_mut().for_each(|q| *q *= gamma);
    }
    for ((s, y), share) in pairs.iter().zip(shares).rev() {
        f64::axpy(share - f64::dot(y, &q) / f64::dot(s, y), s, &mut q);
    }
    q
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_valley_of_rosenbrock_is_walked_to_its_end() {
        let f = |x: &[f64], g: &mut [f64]| {
            let (a, b) = (1.0 - x[0], x[1] - x[0] * x[0]);
            g.copy_from_slice(&[-2.0 * a - 400.0 * x[0] * b, 200.0 * b]);
            a * a + 100.0 * b * b
        };
        let mut x = [-1.2, 1.0];
        let found = minimize(f, &mut x, 1e-10, 200);
        assert!((x[0] - 1.0).abs() < 1e-6 && (x[1] - 1.0).abs() < 1e-6, "{x:?}");
        assert!(found.slope <= 1e-10 && found.steps < 100, "{found:?}");
    }

    #[test]
    fn a_bowl_of_uneven_axes_takes_few_steps_and_the_bottom_none() {
        let f = |x: &[f64], g: &mut [f64]| {
            g.iter_mut().zip(x).enumerate().for_each(|(i, (g, x))| *g = (1 << i) as f64 * x);
            x.iter().enumerate().map(|(i, x)| 0.5 * (1 << i) as f64 * x * x).sum()
        };
        let mut x = [1.0; 8];
        let found = minimize(f, &mut x, 1e-8, 100);
        assert!(found.steps < 60 && x.iter().all(|x| x.abs() < 1e-6), "{found:?} {x:?}");
        let mut bottom = [0.0; 3];
        assert_eq!(minimize(f, &mut bottom, 1e-8, 100), Convergence { steps: 0, slope: 0.0 });
    }
}
