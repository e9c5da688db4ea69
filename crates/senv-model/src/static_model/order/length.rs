//! The order part of a sentence vector as a direction and a length.
//!
//! Equation: `order-length`
//!
//! ```text
//! (F1)  λ = Σ_t u_t / n + u_1 (ln min(n, 30) − 2.7)        l = exp(min(max(λ, −4), 1.5))
//! (F2)  out = [l q / |q| ; l]                      0 for q / |q| where q = 0
//! ```
//!
//! In sentences of about 15 words, e^2.7, the length depends only on the words. Above 30 words it stops growing: such
//! sentences are rare in the training data of the part, and in passages of hundreds of words order would outweigh
//! everything else.

use senv_kernels::Float;

/// The logarithm of a typical number of words.
const ORDINARY: f64 = 2.7;
/// Longer sentences are treated as if they had this many words.
const LONGEST: usize = 30;
/// Sums that are computed in parallel.
const LANES: usize = 8;
/// The limits of λ.
const LIMITS: [f64; 2] = [-4.0, 1.5];

/// ln min(n, 30) − 2.7: how much longer a sentence of `n` words is than a typical one.
#[must_use]
pub fn beyond_ordinary<F: Float>(n: usize) -> F {
    F::of((n.min(LONGEST) as f64).ln() - ORDINARY)
}

/// (F1): l of a sentence of `n` words, above 0, whose u sum to `sum_u`, and whether λ is within its limits.
#[must_use]
pub fn part_length<F: Float>(sum_u: F, n: usize, u1: F) -> (F, bool) {
    let exponent = sum_u / F::of(n as f64) + u1 * beyond_ordinary(n);
    let limited = exponent.max(F::of(LIMITS[0])).min(F::of(LIMITS[1]));
    let mut l = [limited];
    F::exp_in_place(&mut l);
    (l[0], limited == exponent)
}

/// |x|, summed in a fixed order and in f64, so every processor gives the same bits, unlike dot products of f32.
///
/// ```
/// use senv_core::static_model::order::part_norm;
/// assert_eq!(part_norm(&[3.0f32, -4.0]), 5.0);
/// ```
#[must_use]
pub fn part_norm<F: Float>(x: &[F]) -> f64 {
    let mut sums = [0.0f64; LANES];
    for x in x.chunks(LANES) {
        for (sum, x) in sums.iter_mut().zip(x) {
            let x = x.wide();
            *sum += x * x;
        }
    }
    sums.iter().sum::<f64>().sqrt()
}

/// (F2) in place: `out` contains q and one further value.
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
    let norm = F::of(part_norm(q));
    if norm > F::zero() {
        F::scale(l / norm, q);
    } else {
        q.fill(F::zero());
    }
    last[0] = l;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_length_grows_with_the_words_up_to_thirty() {
        let length = |n: usize| part_length(-0.5 * n as f64, n, 0.33).0;
        assert!((length(15) - (-0.5f64).exp()).abs() < 0.01);
        assert!(length(4) < length(15) && length(15) < length(29) && length(29) < length(30));
        assert!([31, 1_000, 1_000_000].iter().all(|&n| length(n) == length(30)));
    }
}
