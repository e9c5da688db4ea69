//! One step of a gated skip-bigram, in a form that compiles to the vector instructions of every level.
//!
//! ```text
//! q += b h + s a g,   then h = f h + a and g = f g + b          elementwise
//! ```
//!
//! No level fuses a product and a sum, so all levels are bit-identical.

/// The step on `[a, b, f]` with s = `sign`; all slices have the same length.
#[inline(always)]
pub(super) fn skip_bigram_step([a, b, f]: [&[f32]; 3], sign: f32, h: &mut [f32], g: &mut [f32], q: &mut [f32]) {
    let n = q.len();
    let (a, b, f, h, g) = (&a[..n], &b[..n], &f[..n], &mut h[..n], &mut g[..n]);
    for j in 0..n {
        q[j] += b[j] * h[j] + sign * (a[j] * g[j]);
        h[j] = f[j] * h[j] + a[j];
        g[j] = f[j] * g[j] + b[j];
    }
}

#[cfg(test)]
mod tests {
    use crate::kernels::{dispatch, level::Level, portable};

    /// Values that are no round numbers.
    fn values(n: usize, seed: usize) -> Vec<f32> {
        (0..n).map(|i| ((i * 7 + seed * 13 + 1) as f32 * 0.37).sin()).collect()
    }

    #[test]
    fn every_level_gives_the_bits_of_the_portable_code_at_every_length() {
        for n in 0..130 {
            let inputs = [values(n, 1), values(n, 2), values(n, 3)];
            let states = [values(n, 4), values(n, 5), values(n, 6)];
            let abf = inputs.each_ref().map(|x| &x[..]);
            let [mut h, mut g, mut q] = states.clone();
            portable::skip_bigram_step(abf, -1.0, &mut h, &mut g, &mut q);
            for j in 0..n {
                let [a, b, f] = abf.map(|x| x[j]);
                let [h0, g0, q0] = [0, 1, 2].map(|k| states[k][j]);
                assert_eq!([h[j], g[j], q[j]], [f * h0 + a, f * g0 + b, q0 + (b * h0 - a * g0)]);
            }
            for level in Level::available() {
                let [mut h2, mut g2, mut q2] = states.clone();
                dispatch::skip_bigram_step(level, abf, -1.0, &mut h2, &mut g2, &mut q2);
                assert_eq!([&h2, &g2, &q2], [&h, &g, &q], "{level:?} {n}");
            }
        }
    }
}
