//! The functions of one level: the kernels of [`super::vector`], [`super::products`] and [`super::panels`], compiled
//! with its target features.

/// Defines, for one set of target features and its vector, the functions that [`super::dispatch`] names.
///
/// The functions take slices with matching lengths and must be called only on processors with these features.
macro_rules! entry_points {
    ($features:literal, $vector:ty) => {
        use std::{ops::Range, sync::atomic::AtomicU32};

        use $crate::kernels::{AdamStep, panels};

        use $crate::kernels::{
            compressed, elementwise,
            int4_sum::{self, Int4Rows},
            products, rows,
            skip_bigram::{self, SkipBigramRow, SkipBigramState},
            vector::{self, Add, Axpy, PlainMemory, Scale, SharedMemory, Shrink, Take},
        };

        type V = $vector;

        /// Values that other threads may change, as the pointer that the assembly takes.
        #[inline(always)]
        fn shared(row: &[AtomicU32]) -> *mut f32 {
            row.as_ptr().cast_mut().cast()
        }

        $crate::kernels::entry_points! { @each $features
            fn dot(a: &[f32], b: &[f32]) -> f32 {
                vector::dot::<V>(a.as_ptr(), b.as_ptr(), a.len())
            }
            fn squares(u: &[f32], v: &[f32]) -> [f32; 3] {
                vector::squares::<V>(u.as_ptr(), v.as_ptr(), u.len())
            }
            fn axpy(c: f32, x: &[f32], y: &mut [f32]) {
                vector::update::<V, PlainMemory, PlainMemory>(Axpy(c), x.as_ptr(), y.as_mut_ptr(), y.len())
            }
            fn add(x: &[f32], y: &mut [f32]) {
                vector::update::<V, PlainMemory, PlainMemory>(Add, x.as_ptr(), y.as_mut_ptr(), y.len())
            }
            fn scale(c: f32, y: &mut [f32]) {
                vector::update_alone::<V, PlainMemory>(Scale(c), y.as_mut_ptr(), y.len())
            }
            fn soft_threshold(tau: f32, y: &mut [f32]) {
                vector::update_alone::<V, PlainMemory>(Shrink(tau), y.as_mut_ptr(), y.len())
            }
            fn exp_in_place(y: &mut [f32]) {
                elementwise::exp_in_place(y)
            }
            fn sigmoid_in_place(y: &mut [f32]) {
                elementwise::sigmoid_in_place(y)
            }
            fn tanh_in_place(y: &mut [f32]) {
                elementwise::tanh_in_place(y)
            }
            fn adam(step: &AdamStep<f32>, x: &mut [f32], d_x: &[f32], m: &mut [f32], v: &mut [f32]) {
                elementwise::adam(step, x, d_x, m, v)
            }
            fn add_f32_row(c: f32, x: &[u8], y: &mut [f32]) {
                compressed::add_f32_row(c, x, y)
            }
            fn add_f16_row(c: f32, x: &[u8], y: &mut [f32]) {
                compressed::add_f16_row(c, x, y)
            }
            fn add_int8_row(c: f32, x: &[u8], y: &mut [f32]) {
                compressed::add_int8_row(c, x, y)
            }
            fn add_int4_row(c: f32, x: &[u8], y: &mut [f32]) {
                compressed::add_int4_row_by(c, x, y, |c, x, y| <V as crate::kernels::vector::Vector>::add_int4_block(c, x, y))
            }
            fn add_signs(key: u64, scale: f32, y: &mut [f32]) {
                elementwise::add_signs(key, scale, y)
            }
            fn skip_bigram_step(abf: [&[f32]; 3], sign: f32, h: &mut [f32], g: &mut [f32], q: &mut [f32]) {
                skip_bigram::skip_bigram_step(abf, sign, h, g, q)
            }
            fn skip_bigrams(words: &[SkipBigramRow<'_>], antisymmetric: usize, states: &mut [SkipBigramState]) {
                skip_bigram::skip_bigrams(words, antisymmetric, states)
            }
            fn mean_shares(f: &[f32], n: usize, out: &mut [f32]) {
                skip_bigram::mean_shares(f, n, out)
            }
            fn sum_int4_rows(rows: Int4Rows<'_>, ids: &[u32], out: &mut [f32]) {
                int4_sum::in_blocks::<V>(rows, ids, out)
            }
            fn sum_rows(values: &[f32], stride: usize, rows: &[u32], c: f32, out: &mut [f32]) {
                rows::in_vectors::<V>(values.as_ptr(), stride, rows, c, out.as_mut_ptr(), out.len())
            }
            fn scores(a: &[f32], m: usize, b: &[f32], n: usize, stride: usize, columns: Range<usize>, out: &mut [f32]) {
                let (a, b) = (a.as_ptr().wrapping_add(columns.start), b.as_ptr().wrapping_add(columns.start));
                products::scores::<V>(a, m, b, n, stride, columns.len(), out.as_mut_ptr())
            }
            fn gram(a: &[f32], m: usize, stride: usize, columns: Range<usize>, out: &mut [f32]) {
                let a = a.as_ptr().wrapping_add(columns.start);
                products::gram::<V>(a, m, stride, columns.len(), out.as_mut_ptr())
            }
            fn add_product(
                s: &[f32], s_steps: (usize, usize), m: usize, n: usize, b: &[f32], stride: usize, out: &mut [f32]
            ) {
                products::add_product::<V>(s.as_ptr(), s_steps, m, n, b.as_ptr(), stride, out.as_mut_ptr())
            }
            fn add_panel_products(
                rows: &[f32], stride: usize, m: usize, panel: &[f32], width: usize, lanes: usize, sums: &mut [f32]
            ) {
                let (k, panel, sums) = (panel.len() / width, panel.as_ptr(), sums.as_mut_ptr());
                panels::add_panel_products::<V>(rows.as_ptr(), stride, m, panel, width, k, lanes, sums)
            }
            fn copy_row(row: &[AtomicU32], out: &mut [f32]) {
                vector::update::<V, SharedMemory, PlainMemory>(Take, shared(row), out.as_mut_ptr(), out.len())
            }
            fn add_row(c: f32, row: &[AtomicU32], acc: &mut [f32]) {
                vector::update::<V, SharedMemory, PlainMemory>(Axpy(c), shared(row), acc.as_mut_ptr(), acc.len())
            }
            fn add_to_row(c: f32, x: &[f32], row: &[AtomicU32]) {
                vector::update::<V, PlainMemory, SharedMemory>(Axpy(c), x.as_ptr(), shared(row), row.len())
            }
            fn add_product_to_row(s: &[f32], s_step: usize, n: usize, b: &[f32], row: &[AtomicU32]) {
                products::add_product_to_row::<V, SharedMemory>(s.as_ptr(), s_step, n, b.as_ptr(), row.len(), shared(row))
            }
            fn soft_threshold_row(tau: f32, row: &[AtomicU32]) {
                vector::update_alone::<V, SharedMemory>(Shrink(tau), shared(row), row.len())
            }
        }
    };
    (@each $features:literal $($(#[$attribute:meta])* fn $f:ident($($arg:ident: $type:ty),*) $(-> $result:ty)? $body:block)*) => {
        $(
            $(#[$attribute])*
            /// # Safety
            /// The processor has the features, and the lengths match.
            #[target_feature(enable = $features)]
            #[allow(unused_unsafe)]
            pub(in $crate::kernels) unsafe fn $f($($arg: $type),*) $(-> $result)? {
                // SAFETY: promised by the caller.
                unsafe { $body }
            }
        )*
    };
}
pub(super) use entry_points;
