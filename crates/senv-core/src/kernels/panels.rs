//! Rows times a panel: the inner loop of [`matmul`](crate::matmul()) with few rows on one side.
//!
//! A panel holds up to [`WIDTH`] rows of the smaller matrix on their sides, so that the numbers of one column lie beside
//! each other; the rows of the larger matrix are read as they lie, number by number, each multiplied with two vectors
//! of the panel. Nothing of the larger matrix is copied or turned.
#![allow(unsafe_code)]
// Indices name rows of several blocks at once, here clearer than zipped iterators.
#![allow(clippy::needless_range_loop)]

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use super::{
    prefetch,
    products::{piece, with_size},
    vector::{Memory, Plain, Vector},
};

/// Rows in a panel.
pub(crate) const WIDTH: usize = 32;

/// Columns of the panel that are fetched ahead.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
const AHEAD: usize = 16;

/// See [`super::add_panel_products`].
///
/// # Safety
/// `rows` points to `m` rows of `k` numbers that lie `stride` apart, `panel` to `k` times [`WIDTH`] numbers, `sums` to
/// `m` times [`WIDTH`] numbers that may be written to; `lanes` is at most [`WIDTH`].
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[inline(always)]
pub(super) unsafe fn add_panel_products<V: Vector>(
    rows: *const f32,
    stride: usize,
    m: usize,
    panel: *const f32,
    k: usize,
    lanes: usize,
    sums: *mut f32,
) where
    Plain: Memory<V>,
{
    let mut i = 0;
    while i < m {
        let block = piece(i, m, V::PANEL_ROWS);
        let mut l = 0;
        while l < lanes {
            // SAFETY: rows below `m`; lanes below WIDTH, for that is a multiple of two vectors.
            unsafe {
                let (rows, panel, sums) = (rows.add(i * stride), panel.add(l), sums.add(i * WIDTH + l));
                if lanes - l <= V::LANES {
                    with_size!(block, M in [1 2 3 4 5 6 7 8 9 10 11 12 13 14],
                        tile::<V, M, 1>(rows, stride, panel, k, sums));
                } else {
                    with_size!(block, M in [1 2 3 4 5 6 7 8 9 10 11 12 13 14],
                        tile::<V, M, 2>(rows, stride, panel, k, sums));
                }
            }
            l += 2 * V::LANES;
        }
        i += block;
    }
}

/// M rows times C vectors of the panel.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[inline(always)]
unsafe fn tile<V: Vector, const M: usize, const C: usize>(
    rows: *const f32,
    stride: usize,
    panel: *const f32,
    k: usize,
    sums: *mut f32,
) where
    Plain: Memory<V>,
{
    // SAFETY: `M` rows of `k` numbers, `C` vectors of each column of the panel and of each row of sums are there.
    unsafe {
        let mut totals = [[V::zero(); C]; M];
        for i in 0..M {
            for c in 0..C {
                totals[i][c] = Plain::load(sums.add(i * WIDTH + c * V::LANES));
            }
        }
        for p in 0..k {
            let mut y = [V::zero(); C];
            for c in 0..C {
                let at = panel.add(p * WIDTH + c * V::LANES);
                prefetch(at.wrapping_add(AHEAD * WIDTH));
                y[c] = Plain::load(at);
            }
            for i in 0..M {
                let x = V::splat(*rows.add(i * stride + p));
                for c in 0..C {
                    totals[i][c] = x.mul_add(y[c], totals[i][c]);
                }
            }
        }
        for i in 0..M {
            for c in 0..C {
                Plain::store(sums.add(i * WIDTH + c * V::LANES), totals[i][c]);
            }
        }
    }
}
