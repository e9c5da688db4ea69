//! The transform and the rounding that turn rows into 4-bit codes, written to compile to vector instructions: one
//! source, compiled for each instruction set.
//!
//! Sums, differences and products have a fixed order, and none is fused: bit-identical on every processor.

/// The number of partial sums in [`quantize_4_bits`].
const PARTS: usize = 16;

/// Calls the widest version of a function that the processor supports.
macro_rules! best_level {
    ($function:ident($($argument:expr),*)) => {{
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has the instructions.
            #[allow(unsafe_code)]
            return unsafe { x86::avx512::$function($($argument),*) };
        } else if is_x86_feature_detected!("avx2") {
            // SAFETY: as above.
            #[allow(unsafe_code)]
            return unsafe { x86::avx2::$function($($argument),*) };
        }
        $function($($argument),*)
    }};
}

/// The functions of this file, compiled for instructions that not every x86-64 processor has.
#[cfg(target_arch = "x86_64")]
mod x86 {
    macro_rules! level {
        ($name:ident, $features:literal) => {
            pub(super) mod $name {
                #[target_feature(enable = $features)]
                pub(in super::super) fn transform(x: &mut [f32]) {
                    super::super::transform(x);
                }

                #[target_feature(enable = $features)]
                pub(in super::super) fn quantize(x: &[f32], halves: &[f32], codes: &mut [u8]) -> [f32; 2] {
                    super::super::quantize(x, halves, codes)
                }
            }
        };
    }
    level!(avx512, "avx512f,avx2");
    level!(avx2, "avx2");
}

/// Applies the Walsh-Hadamard transform in place, without its scale: `y_i = Σ_j ±x_j`, with a minus where i and j share
/// an odd number of bits. Bit-identical on every processor.
///
/// # Panics
/// If the length is not a power of two.
pub(crate) fn walsh_hadamard(x: &mut [f32]) {
    assert!(x.len().is_power_of_two(), "{} values, expected a power of two", x.len());
    best_level!(transform(x));
}

/// Quantizes values to codes from 0 to 15: `u_j = ⌊x_j / (2 h_j)⌋ + 8`, limited to that range, with h the `halves` of
/// the intervals. Returns `Σ |x_j| h_j` and `Σ x_j (2 u_j − 15) h_j`. Bit-identical on every processor; u is at least 8
/// where x is not negative.
///
/// # Panics
/// If the lengths differ.
pub(crate) fn quantize_4_bits(x: &[f32], halves: &[f32], codes: &mut [u8]) -> [f32; 2] {
    super::check_len(halves.len(), x.len());
    super::check_len(codes.len(), x.len());
    best_level!(quantize(x, halves, codes))
}

/// Sums and differences of values `$half` apart, in whole groups of twice that length.
macro_rules! stage {
    ($x:expr, $half:literal, $both:literal) => {
        for group in $x.as_chunks_mut::<$both>().0 {
            let (low, high) = group.split_at_mut($half);
            for i in 0..$half {
                (low[i], high[i]) = (low[i] + high[i], low[i] - high[i]);
            }
        }
    };
}

/// See [`walsh_hadamard`].
#[inline(always)]
fn transform(x: &mut [f32]) {
    let n = x.len();
    let mut half = 1;
    // Short distances in groups of eight values, which stay in registers.
    if n >= 8 {
        for v in x.as_chunks_mut::<8>().0 {
            let a = [
                v[0] + v[1],
                v[0] - v[1],
                v[2] + v[3],
                v[2] - v[3],
                v[4] + v[5],
                v[4] - v[5],
                v[6] + v[7],
                v[6] - v[7],
            ];
            let b = [
                a[0] + a[2],
                a[1] + a[3],
                a[0] - a[2],
                a[1] - a[3],
                a[4] + a[6],
                a[5] + a[7],
                a[4] - a[6],
                a[5] - a[7],
            ];
            *v = [
                b[0] + b[4],
                b[1] + b[5],
                b[2] + b[6],
                b[3] + b[7],
                b[0] - b[4],
                b[1] - b[5],
                b[2] - b[6],
                b[3] - b[7],
            ];
        }
        half = 8;
    }
    if n >= 128 {
        stage!(x, 8, 16);
        stage!(x, 16, 32);
        stage!(x, 32, 64);
        stage!(x, 64, 128);
        half = 128;
    }
    while half < n {
        for pair in x.chunks_exact_mut(2 * half) {
            let (low, high) = pair.split_at_mut(half);
            for (a, b) in low.iter_mut().zip(high) {
                (*a, *b) = (*a + *b, *a - *b);
            }
        }
        half *= 2;
    }
}

/// See [`quantize_4_bits`].
#[inline(always)]
fn quantize(x: &[f32], halves: &[f32], codes: &mut [u8]) -> [f32; 2] {
    let mut top = [0.0; PARTS];
    let mut whole = [0.0; PARTS];
    let code = |x: f32, half: f32| {
        // Truncating after a shift by eight whole intervals gives the floor. The clamp handles values past the ends.
        let u = (x / (2.0 * half) + 8.0).clamp(0.0, 15.0) as i32;
        // Rounding across the middle would change the sign.
        if x < 0.0 { u.min(7) } else { u.max(8) }
    };
    let (x_chunks, x_rest) = x.as_chunks::<PARTS>();
    let (half_chunks, half_rest) = halves.as_chunks::<PARTS>();
    let (code_chunks, code_rest) = codes.as_chunks_mut::<PARTS>();
    for ((x, half), codes) in x_chunks.iter().zip(half_chunks).zip(code_chunks) {
        for k in 0..PARTS {
            let u = code(x[k], half[k]);
            codes[k] = u as u8;
            top[k] += x[k].abs() * half[k];
            whole[k] += x[k] * ((2 * u - 15) as f32 * half[k]);
        }
    }
    for (k, ((&x, &half), out)) in x_rest.iter().zip(half_rest).zip(code_rest).enumerate() {
        let u = code(x, half);
        *out = u as u8;
        top[k] += x.abs() * half;
        whole[k] += x * ((2 * u - 15) as f32 * half);
    }
    [top, whole].map(|mut parts| {
        let mut width = PARTS / 2;
        while width > 0 {
            for k in 0..width {
                parts[k] += parts[k + width];
            }
            width /= 2;
        }
        parts[0]
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code_kernels::mix;

    type Level = (&'static str, fn(&mut [f32]), fn(&[f32], &[f32], &mut [u8]) -> [f32; 2]);

    /// Every version that this processor can run, by name.
    fn levels() -> Vec<Level> {
        #[cfg_attr(not(target_arch = "x86_64"), allow(unused_mut))]
        let mut levels: Vec<Level> = vec![("dispatched", walsh_hadamard, quantize_4_bits)];
        #[cfg(target_arch = "x86_64")]
        #[allow(unsafe_code)]
        {
            if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx2") {
                // SAFETY: the processor has the instructions.
                levels.push((
                    "avx512",
                    |x| unsafe { x86::avx512::transform(x) },
                    |x, h, c| unsafe { x86::avx512::quantize(x, h, c) },
                ));
            }
            if is_x86_feature_detected!("avx2") {
                // SAFETY: as above.
                levels.push((
                    "avx2",
                    |x| unsafe { x86::avx2::transform(x) },
                    |x, h, c| unsafe { x86::avx2::quantize(x, h, c) },
                ));
            }
        }
        levels
    }

    fn values(n: usize, key: u64) -> Vec<f32> {
        (0..n as u64).map(|i| (mix(key ^ i << 20) >> 40) as f32 / (1 << 23) as f32 - 1.0).collect()
    }

    #[test]
    fn the_transform_is_the_matrix_of_signs_and_the_same_at_every_level() {
        for n in [1, 2, 4, 8, 16, 64, 128, 256, 1024] {
            let x = values(n, 1);
            let mut reference = x.clone();
            transform(&mut reference);
            for (i, y) in reference.iter().enumerate() {
                // Entry (i, j) of the Hadamard matrix is −1 to the power of the number of bits that i and j share.
                let sign = |j: usize| if (i & j).count_ones() % 2 == 1 { -1.0 } else { 1.0 };
                let sum: f64 = x.iter().enumerate().map(|(j, &x)| sign(j) * f64::from(x)).sum();
                assert!((f64::from(*y) - sum).abs() < 1e-6 * n as f64 + 1e-5, "{n}, {i}: {y} {sum}");
            }
            for (name, level, _) in levels() {
                let mut y = x.clone();
                level(&mut y);
                assert_eq!(y, reference, "{name}, {n}");
            }
        }
    }

    #[test]
    fn codes_name_intervals_and_are_the_same_at_every_level() {
        for n in [1, 7, 16, 33, 256] {
            let mut x = values(n, 3);
            x[0] = -0.0;
            let halves: Vec<f32> = (0..n).map(|i| 0.07 + 0.001 * (i % 5) as f32).collect();
            let mut codes = vec![0; n];
            let dots = quantize(&x, &halves, &mut codes);
            let (mut top, mut whole) = (0.0, 0.0);
            for ((&x, &half), &code) in x.iter().zip(&halves).zip(&codes) {
                let middle = f64::from(2 * i32::from(code) - 15) * f64::from(half);
                let error = (f64::from(x) - middle).abs();
                assert!(error <= f64::from(half) * 1.0001 || [0, 15].contains(&code), "{x}: {code}");
                assert_eq!(code >= 8, x >= 0.0, "{x}: {code}");
                top += f64::from(x).abs() * f64::from(half);
                whole += f64::from(x) * middle;
            }
            assert!((f64::from(dots[0]) - top).abs() < 1e-5 && (f64::from(dots[1]) - whole).abs() < 1e-5);
            for (name, _, level) in levels() {
                let mut other = vec![1; n];
                let found = level(&x, &halves, &mut other);
                assert_eq!((found, &other), (dots, &codes), "{name}, {n}");
            }
        }
        // An interval includes its lower end.
        let mut codes = [0; 5];
        quantize(&[1.0, 0.99, -1.0, 100.0, -100.0], &[0.5; 5], &mut codes);
        assert_eq!(codes, [9, 8, 7, 15, 0]);
    }
}
