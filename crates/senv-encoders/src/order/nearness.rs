//! The mean share of a word that is left at another word, over all orders of a sentence's words.
//!
//! Equation: `order-nearness`
//!
//! ```text
//! (F1)  w̄(f, n) = 2 / (n (n − 1)) Σ_{k=1}^{n−1} (n − k) f^{k−1}        0 for n < 2
//! (B1)  ∂w̄/∂f   = 2 / (n (n − 1)) Σ_{k=2}^{n−1} (n − k) (k − 1) f^{k−2}
//! ```
//!
//! In a random order, the distance of two words is k with probability 2 (n − k) / (n (n − 1)), with k − 1 words between
//! them. The sum has a closed form, `[n (1 − f) − 1 + fⁿ] / (1 − f)²`, which loses all digits near f = 1. So it is
//! computed as the sum over t = 1 .. n − 1 of p_t, with p_1 = 1 and p_{t+1} = 1 + f p_t. These are positive terms with
//! two operations each. (F1) for many columns is `Float::mean_shares`.

use senv_core::arrays::Float;

/// (F1) and (B1) for one f.
pub(super) fn share_and_slope<F: Float>(f: F, n: usize) -> (F, F) {
    let (mut p, mut d_p, mut sum, mut d_sum) = (F::zero(), F::zero(), F::zero(), F::zero());
    for _ in 1..n {
        d_p = p + f * d_p;
        p = F::one() + f * p;
        sum += p;
        d_sum += d_p;
    }
    (sum * normalizer(n), d_sum * normalizer(n))
}

fn normalizer<F: Float>(n: usize) -> F {
    if n < 2 { F::zero() } else { F::of(2.0 / (n as f64 * (n as f64 - 1.0))) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_mean_over_all_orders() {
        // The mean of f^(words between) for a fixed pair, over all 24 orders of four words.
        let f = 0.7f64;
        let (mut sum, mut orders) = (0.0, 0.0);
        for i in 0..4_i32 {
            for j in (0..4).filter(|&j| j != i) {
                // The other two words have two orders at any positions of the pair.
                sum += 2.0 * f.powi((i - j).abs() - 1);
                orders += 2.0;
            }
        }
        assert_eq!(orders, 24.0);
        assert!((share_and_slope(f, 4).0 - sum / orders).abs() < 1e-15);
    }

    #[test]
    fn it_is_the_closed_form_and_its_slope_is_a_difference_quotient() {
        for n in [2, 3, 7, 40] {
            for f in [0.01, 0.3, 0.9, 0.99] {
                let m = n as f64;
                let closed = 2.0 * (m * (1.0 - f) - 1.0 + f.powi(n as i32)) / ((1.0 - f).powi(2) * m * (m - 1.0));
                let (share, slope) = share_and_slope(f, n);
                assert!((share - closed).abs() < 1e-10, "{n} {f}: {share} {closed}");
                let at = |f| share_and_slope::<f64>(f, n).0;
                let quotient = (at(f + 1e-5) - at(f - 1e-5)) / 2e-5;
                assert!((slope - quotient).abs() < 1e-6 * (1.0 + slope), "{n} {f}: {slope} {quotient}");
                let mut out = [0.0];
                f64::mean_shares(&[f], n, &mut out);
                assert_eq!(out[0], share);
            }
        }
        for n in [0, 1] {
            assert_eq!(share_and_slope(0.5f64, n), (0.0, 0.0));
        }
        // If f is 1, every word keeps everything.
        assert!((share_and_slope(1.0f32, 30).0 - 1.0).abs() < 1e-6);
    }
}
