//! The logistic function over a slice, exact to the precision of f32, in a form that compiles to vector code.
//!
//! Equation: `logistic`
//!
//! ```text
//! σ(x) = 1 / (1 + e^{−x})
//! ```
//!
//! The releases look it up in 512 cells on [−8, 8] and cut it off outside.

/// Replaces every `x` by σ(x); NaN stays NaN.
pub(crate) fn sigmoid_in_place(xs: &mut [f32]) {
    for x in xs {
        *x = 1.0 / (1.0 + exp(-x.clamp(-87.0, 87.0)));
    }
}

/// e^x for |x| ≤ 87: x = n ln 2 + r with |r| ≤ ln 2 / 2, then the Taylor polynomial of e^r up to r⁷ and 2^n by its bits.
#[inline(always)]
fn exp(x: f32) -> f32 {
    // Adding and taking away 1.5 · 2^23 rounds to the nearest whole number.
    const ROUND: f32 = 12_582_912.0;
    const LN2_HIGH: f32 = 0.693_359_4;
    const LN2_LOW: f32 = -2.121_944_4e-4;
    let n = x * std::f32::consts::LOG2_E + ROUND - ROUND;
    let r = x - n * LN2_HIGH - n * LN2_LOW;
    let mut p = 1.0 / 5040.0;
    for c in [1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0] {
        p = p * r + c;
    }
    // `n` is a whole number of at most 126 (or NaN, which `p` then is too).
    let bits = ((n + ROUND).to_bits() as i32).wrapping_add(127 - ROUND.to_bits() as i32) << 23;
    p * f32::from_bits(bits as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_logistic_function_to_the_last_bits() {
        for i in -8_700..=8_700 {
            let x = i as f32 / 100.0;
            let mut got = [x];
            sigmoid_in_place(&mut got);
            let exact = 1.0 / (1.0 + (-f64::from(x)).exp());
            let error = (f64::from(got[0]) - exact).abs() / exact;
            assert!(error < 4e-7, "x = {x}: {} against {exact}, relative error {error}", got[0]);
        }
    }

    #[test]
    fn far_arguments_saturate_and_nan_is_kept() {
        let mut xs = [f32::INFINITY, f32::NEG_INFINITY, 1e30, -1e30, f32::NAN];
        sigmoid_in_place(&mut xs);
        assert!(xs[0] == 1.0 && xs[2] == 1.0);
        assert!(xs[1] < 1e-37 && xs[3] < 1e-37);
        assert!(xs[4].is_nan());
    }
}
