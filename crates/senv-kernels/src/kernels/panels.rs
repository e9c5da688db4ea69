//! Micro-kernels for rows times a packed panel: the inner loop of `matmul` with few rows on one side.
//!
//! A panel contains some rows of the smaller matrix, transposed, so the values of one column are adjacent. The rows of
//! the larger matrix are read in place, value by value, and each value is multiplied with up to four vectors of the
//! panel. Nothing of the larger matrix is copied or transposed. With more vectors, each multiplication reads fewer
//! values. With fewer vectors, more rows share each read of the panel.
#![allow(unsafe_code)]
// Indices refer to rows of several blocks at the same time; here they are clearer than zipped iterators.
#![allow(clippy::needless_range_loop)]

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use super::{
    prefetch,
    products::{piece, with_size},
    vector::{Memory, PlainMemory, Vector},
};

/// The width of a panel is a multiple of this number, the lanes of the widest vectors.
pub(crate) const WIDTH_STEP: usize = 16;

/// How many values ahead the panel is prefetched when a row is multiplied with one or two vectors.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
const AHEAD: usize = 512;

/// See [`super::add_panel_products`].
///
/// # Safety
/// `rows` points to `m` rows of `k` values that start `stride` apart. `panel` points to `k` times `width` values, and
/// `sums` to `m` times `width` values that may be written to. `lanes` is at most `width`, a multiple of [`WIDTH_STEP`].
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[inline(always)]
#[allow(clippy::too_many_arguments)]
pub(super) unsafe fn add_panel_products<V: Vector>(
    rows: *const f32,
    stride: usize,
    m: usize,
    panel: *const f32,
    width: usize,
    k: usize,
    lanes: usize,
    sums: *mut f32,
) where
    PlainMemory: Memory<V>,
{
    let mut l = 0;
    while l < lanes {
        let vectors = (lanes - l).div_ceil(V::LANES).min(V::PANEL_VECTORS);
        let most = V::PANEL_ROWS[vectors - 1];
        let mut i = 0;
        while i < m {
            let block = piece(i, m, most);
            // SAFETY: rows are below `m`; lanes are below `width`, a multiple of the lanes of a vector.
            unsafe {
                let (rows, panel, sums) = (rows.add(i * stride), panel.add(l), sums.add(i * width + l));
                match vectors {
                    1 => with_size!(block, M in [1 2 3 4 5 6 7 8 9 10 11 12 13 14],
                        tile::<V, M, 1>(rows, stride, panel, width, k, sums)),
                    2 => with_size!(block, M in [1 2 3 4 5 6 7 8 9 10 11 12 13 14],
                        tile::<V, M, 2>(rows, stride, panel, width, k, sums)),
                    3 => with_size!(block, M in [1 2 3 4 5 6 7 8],
                        tile::<V, M, 3>(rows, stride, panel, width, k, sums)),
                    _ => with_size!(block, M in [1 2 3 4 5 6],
                        tile::<V, M, 4>(rows, stride, panel, width, k, sums)),
                }
            }
            i += block;
        }
        l += vectors * V::LANES;
    }
}

/// The micro-kernel of one tile: M rows times C vectors of the panel, with M × C sums in registers.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[inline(always)]
unsafe fn tile<V: Vector, const M: usize, const C: usize>(
    rows: *const f32,
    stride: usize,
    panel: *const f32,
    width: usize,
    k: usize,
    sums: *mut f32,
) where
    PlainMemory: Memory<V>,
{
    // SAFETY: `M` rows of `k` values and `C` vectors of each column of the panel and of each row of sums exist.
    unsafe {
        let mut totals = [[V::zero(); C]; M];
        for i in 0..M {
            for c in 0..C {
                totals[i][c] = PlainMemory::load(sums.add(i * width + c * V::LANES));
            }
        }
        // The k-loop needs no mask: panels are padded to whole vectors, and each value of a row is broadcast.
        for p in 0..k {
            let mut y = [V::zero(); C];
            for c in 0..C {
                let at = panel.add(p * width + c * V::LANES);
                if C <= 2 {
                    prefetch(at.wrapping_add(AHEAD));
                }
                y[c] = PlainMemory::load(at);
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
                PlainMemory::store(sums.add(i * width + c * V::LANES), totals[i][c]);
            }
        }
    }
}
