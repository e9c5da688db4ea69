//! placeholder, replaced by the kernels.

/// Cosine.
#[must_use]
pub fn cosine(u: &[f32], v: &[f32]) -> f32 {
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f32>();
    let (a, b) = (dot(u, u).sqrt(), dot(v, v).sqrt());
    if a < 1e-12 || b < 1e-12 { 0.0 } else { dot(u, v) / (a * b) }
}
