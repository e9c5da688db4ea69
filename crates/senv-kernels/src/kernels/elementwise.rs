//! Elementwise functions, in branch-free forms that compile to the vector instructions of every level.
//!
//! ```text
//! e^x      x = n ln 2 + r with |r| ≤ ln 2 / 2, then the Taylor polynomial of e^r up to r⁷ and 2^n by its bits
//! σ(x)     1 / (1 + e^−x)
//! tanh x   x + x³ P(x²) for |x| < 5/8, else 1 − 2 / (e^{2|x|} + 1) with the sign of x
//! ```
//!
//! NaN stays NaN. No level fuses a product and a sum, so all levels are bit-identical.

use senv_base::hash::mix;

/// Adding and subtracting 1.5 · 2^23 rounds to the nearest integer.
const ROUND: f32 = 12_582_912.0;
const LN2_HIGH: f32 = 0.693_359_4;
const LN2_LOW: f32 = -2.121_944_4e-4;

/// e^x for |x| ≤ 87.
#[inline(always)]
fn exp(x: f32) -> f32 {
    let n = x * std::f32::consts::LOG2_E + ROUND - ROUND;
    let r = x - n * LN2_HIGH - n * LN2_LOW;
    let mut p = 1.0 / 5040.0;
    for c in [1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0] {
        p = p * r + c;
    }
    // `n` is an integer of at most 126, or NaN; then `p` is NaN too.
    let bits = ((n + ROUND).to_bits() as i32).wrapping_add(127 - ROUND.to_bits() as i32) << 23;
    p * f32::from_bits(bits as u32)
}

#[inline(always)]
pub(super) fn exp_in_place(xs: &mut [f32]) {
    for x in xs {
        let e = exp(x.clamp(-87.0, 87.0));
        let e = if *x > 88.72 { f32::INFINITY } else { e };
        *x = if *x < -87.0 { 0.0 } else { e };
    }
}

#[inline(always)]
pub(super) fn sigmoid_in_place(xs: &mut [f32]) {
    for x in xs {
        *x = 1.0 / (1.0 + exp(-x.clamp(-87.0, 87.0)));
    }
}

#[inline(always)]
fn tanh(x: f32) -> f32 {
    let size = x.abs();
    let far = 1.0 - 2.0 / (exp(2.0 * size.clamp(0.0, 10.0)) + 1.0);
    let s = x * x;
    let mut p = NEAR[0];
    for &c in &NEAR[1..] {
        p = p * s + c;
    }
    let near = p * s * size + size;
    (if size < 0.625 { near } else { far }).copysign(x)
}

/// (tanh x − x) / x³ as a polynomial in x², highest power first: our own minimax fit on [0, 0.63], relative error of
/// tanh 5e-9.
const NEAR: [f32; 5] = [-5.666_947e-3, 2.060_614_6e-2, -5.372_999_7e-2, 1.333_133_1e-1, -3.333_327_8e-1];

#[inline(always)]
pub(super) fn tanh_in_place(xs: &mut [f32]) {
    for x in xs {
        *x = tanh(*x);
    }
}

/// The sign of value `i` is bit `i mod 64` of a hash of `key` and `i / 64`.
#[inline(always)]
pub(super) fn add_signs(key: u64, scale: f32, y: &mut [f32]) {
    let scale = scale.to_bits();
    for (i, y) in y.chunks_mut(64).enumerate() {
        let bits = mix(key ^ i as u64);
        for (bits, y) in [bits as u32, (bits >> 32) as u32].into_iter().zip(y.chunks_mut(32)) {
            for (j, y) in (0..).zip(y) {
                *y += f32::from_bits(scale ^ (bits >> j) << 31);
            }
        }
    }
}

#[inline(always)]
pub(super) fn adam(step: &super::AdamStep<f32>, x: &mut [f32], d_x: &[f32], m: &mut [f32], v: &mut [f32]) {
    step.apply(x, d_x, m, v);
}

#[cfg(test)]
mod tests {
    use super::mix;
    use crate::kernels::{dispatch, level::Level};

    /// The largest relative error of `f` against `exact` on a grid.
    fn worst(level: Level, f: fn(Level, &mut [f32]), exact: fn(f64) -> f64, limit: f32) -> f64 {
        let xs: Vec<f32> = (-20_000..=20_000).map(|i| i as f32 / 20_000.0 * limit).collect();
        let mut got = xs.clone();
        f(level, &mut got);
        let error = |(&x, &y): (&f32, &f32)| {
            let exact = exact(f64::from(x));
            if exact == 0.0 { f64::from(y).abs() } else { ((f64::from(y) - exact) / exact).abs() }
        };
        xs.iter().zip(&got).map(error).fold(0.0, |a, b| if b > a || b.is_nan() { b } else { a })
    }

    #[test]
    fn they_are_right_to_the_last_bits_at_every_level() {
        for level in Level::available() {
            let exp = worst(level, dispatch::exp_in_place, f64::exp, 87.0);
            assert!(exp < 4e-7, "exp {level:?}: {exp}");
            let sigmoid = worst(level, dispatch::sigmoid_in_place, |x| 1.0 / (1.0 + (-x).exp()), 87.0);
            assert!(sigmoid < 4e-7, "sigmoid {level:?}: {sigmoid}");
            for limit in [0.7, 12.0] {
                let tanh = worst(level, dispatch::tanh_in_place, f64::tanh, limit);
                assert!(tanh < 4e-7, "tanh {level:?} up to {limit}: {tanh}");
            }
        }
    }

    #[test]
    fn far_arguments_saturate_and_nan_is_kept() {
        for level in Level::available() {
            let far = [f32::INFINITY, f32::NEG_INFINITY, 1e30, -1e30, f32::NAN];
            let [mut sigmoid, mut tanh, mut exp] = [far; 3];
            dispatch::sigmoid_in_place(level, &mut sigmoid);
            assert!(sigmoid[0] == 1.0 && sigmoid[2] == 1.0 && sigmoid[1] < 1e-37 && sigmoid[3] < 1e-37);
            dispatch::tanh_in_place(level, &mut tanh);
            assert_eq!(tanh[..4], [1.0, -1.0, 1.0, -1.0]);
            dispatch::exp_in_place(level, &mut exp);
            assert_eq!(exp[..4], [f32::INFINITY, 0.0, f32::INFINITY, 0.0]);
            assert!(sigmoid[4].is_nan() && tanh[4].is_nan() && exp[4].is_nan());
        }
    }

    #[test]
    fn signs_are_the_bits_of_the_hash_at_every_level_and_dimension() {
        for n in (0..=130).chain([256, 300]) {
            for level in Level::available() {
                let start: Vec<f32> = (0..n).map(|i| (i as f32).sin()).collect();
                let mut y = start.clone();
                dispatch::add_signs(level, 77, -0.3, &mut y);
                for (i, (y, start)) in y.iter().zip(&start).enumerate() {
                    let minus = mix(77 ^ (i / 64) as u64) >> (i % 64) & 1 == 1;
                    assert_eq!(*y, if minus { start + 0.3 } else { start - 0.3 }, "{level:?}, value {i} of {n}");
                }
            }
        }
    }

    #[test]
    fn all_levels_give_the_same_bits() {
        let xs: Vec<f32> = (-500..500).map(|i| i as f32 / 50.0).collect();
        let results = |f: fn(Level, &mut [f32])| -> Vec<Vec<u32>> {
            let one = |level| {
                let mut y = xs.clone();
                f(level, &mut y);
                y.iter().map(|y| y.to_bits()).collect()
            };
            Level::available().into_iter().map(one).collect()
        };
        for f in [dispatch::exp_in_place, dispatch::sigmoid_in_place, dispatch::tanh_in_place] {
            let all = results(f);
            assert!(all.iter().all(|bits| bits == &all[0]));
        }
    }
}
