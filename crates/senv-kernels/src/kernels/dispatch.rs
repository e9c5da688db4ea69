//! Dispatches from a SIMD level to its kernels.
//!
//! The functions here expect matching lengths: their callers in [`super`] and [`super::shared`] have checked them.
#![allow(unsafe_code)]

use std::{ops::Range, sync::atomic::AtomicU32};

#[cfg(target_arch = "x86_64")]
use super::x86::{avx2, avx512};
use super::{
    AdamStep,
    int4_sum::Int4Rows,
    level::{InstructionSet, Level},
    portable,
    skip_bigram::{SkipBigramRow, SkipBigramState},
};

macro_rules! dispatch {
    ($($(#[$attribute:meta])* fn $f:ident($($arg:ident: $type:ty),*) $(-> $result:ty)?;)*) => {
        $(
            $(#[$attribute])*
            #[inline]
            #[allow(clippy::too_many_arguments)]
            pub(super) fn $f(level: Level, $($arg: $type),*) $(-> $result)? {
                match level.kind() {
                    // SAFETY: a `Level` exists only if the processor has its instructions.
                    #[cfg(target_arch = "x86_64")]
                    InstructionSet::Avx512 => unsafe { avx512::$f($($arg),*) },
                    // SAFETY: as above.
                    #[cfg(target_arch = "x86_64")]
                    InstructionSet::Avx2 => unsafe { avx2::$f($($arg),*) },
                    // SAFETY: as above.
                    #[cfg(target_arch = "aarch64")]
                    InstructionSet::Neon => unsafe { super::neon::level::$f($($arg),*) },
                    InstructionSet::Portable => portable::$f($($arg),*),
                }
            }
        )*
    };
}

dispatch! {
    fn dot(a: &[f32], b: &[f32]) -> f32;
    fn squares(u: &[f32], v: &[f32]) -> [f32; 3];
    fn axpy(c: f32, x: &[f32], y: &mut [f32]);
    fn add(x: &[f32], y: &mut [f32]);
    fn scale(c: f32, y: &mut [f32]);
    fn soft_threshold(tau: f32, y: &mut [f32]);
    fn exp_in_place(y: &mut [f32]);
    fn sigmoid_in_place(y: &mut [f32]);
    fn tanh_in_place(y: &mut [f32]);
    fn adam(step: &AdamStep<f32>, x: &mut [f32], d_x: &[f32], m: &mut [f32], v: &mut [f32]);
    fn add_f32_row(c: f32, x: &[u8], y: &mut [f32]);
    fn add_f16_row(c: f32, x: &[u8], y: &mut [f32]);
    fn add_int8_row(c: f32, x: &[u8], y: &mut [f32]);
    fn add_int4_row(c: f32, x: &[u8], y: &mut [f32]);
    fn add_signs(key: u64, scale: f32, y: &mut [f32]);
    fn skip_bigram_step(abf: [&[f32]; 3], sign: f32, h: &mut [f32], g: &mut [f32], q: &mut [f32]);
    fn skip_bigrams(words: &[SkipBigramRow<'_>], antisymmetric: usize, states: &mut [SkipBigramState]);
    fn mean_shares(f: &[f32], n: usize, out: &mut [f32]);
    fn sum_int4_rows(rows: Int4Rows<'_>, ids: &[u32], out: &mut [f32]);
    fn sum_rows(values: &[f32], stride: usize, rows: &[u32], c: f32, out: &mut [f32]);
    fn scores(a: &[f32], m: usize, b: &[f32], n: usize, stride: usize, columns: Range<usize>, out: &mut [f32]);
    fn gram(a: &[f32], m: usize, stride: usize, columns: Range<usize>, out: &mut [f32]);
    fn add_product(
        s: &[f32], s_steps: (usize, usize), m: usize, n: usize, b: &[f32], stride: usize, out: &mut [f32]
    );
    fn add_panel_products(
        rows: &[f32], stride: usize, m: usize, panel: &[f32], width: usize, lanes: usize, sums: &mut [f32]
    );
    fn copy_row(row: &[AtomicU32], out: &mut [f32]);
    fn add_row(c: f32, row: &[AtomicU32], acc: &mut [f32]);
    fn add_to_row(c: f32, x: &[f32], row: &[AtomicU32]);
    fn add_product_to_row(s: &[f32], s_step: usize, n: usize, b: &[f32], row: &[AtomicU32]);
    fn soft_threshold_row(tau: f32, row: &[AtomicU32]);
}
