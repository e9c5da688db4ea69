//! Norm and cosine.
//!
//! Equation: `cosine`
//!
//! ```text
//! |u| = √(u·u)      c(u, v) = u·v / (|u| |v|),   0 where |u| or |v| is below 1e-12
//! ```

use super::{Level, check_len, dispatch, scale};

/// A vector with a smaller norm counts as zero.
const TINY: f64 = 1e-12;

/// Whether a sum of squares in f32 is accurate enough: no overflow, no relevant underflow.
#[inline(always)]
fn is_safe(squares: f32) -> bool {
    (1e-30..=f32::MAX).contains(&squares)
}

/// `[u·u, v·v, u·v]` in f64, for vectors too large or too small for f32.
#[cold]
fn squares_f64(u: &[f32], v: &[f32]) -> [f64; 3] {
    let mut sums = [0.0; 3];
    for (&x, &y) in u.iter().zip(v) {
        let (x, y) = (f64::from(x), f64::from(y));
        sums[0] += x * x;
        sums[1] += y * y;
        sums[2] += x * y;
    }
    sums
}

/// The Euclidean norm |a|, accurate even if a square overflows or underflows in f32.
#[inline]
#[must_use]
pub fn norm(a: &[f32]) -> f32 {
    let squares = dispatch::dot(Level::best(), a, a);
    if is_safe(squares) { squares.sqrt() } else { squares_f64(a, a)[0].sqrt() as f32 }
}

/// The cosine of two vectors, in `[-1, 1]`; 0 if a norm is below 1e-12, NaN if a value is NaN or infinite.
///
/// # Panics
/// If the lengths differ.
#[inline]
#[must_use]
pub fn cosine(u: &[f32], v: &[f32]) -> f32 {
    check_len(v.len(), u.len());
    let [uu, vv, uv] = dispatch::squares(Level::best(), u, v);
    let [uu, vv, uv] = if is_safe(uu) && is_safe(vv) { [uu, vv, uv].map(f64::from) } else { squares_f64(u, v) };
    let (u_norm, v_norm) = (uu.sqrt(), vv.sqrt());
    if u_norm < TINY || v_norm < TINY { 0.0 } else { (uv / (u_norm * v_norm)).clamp(-1.0, 1.0) as f32 }
}

/// Divides a vector by its norm and returns the norm. A vector with a norm below 1e-12 stays unchanged.
pub fn l2_normalize(y: &mut [f32]) -> f32 {
    let length = norm(y);
    if f64::from(length) >= TINY {
        scale(1.0 / length, y);
    }
    length
}
