//! Two small matrix products over the rows of a sentence, in blocks that stay in registers.
//!
//! A block of `scores` keeps M × N sums and reads each vector of M + N rows once for M · N multiply-adds. A block of
//! `add_product` keeps M rows × C vectors of the result, which are read and written once regardless of how many rows
//! are summed. In both, the order of summation depends only on the stride, not on the position in a block. So the same
//! rows give the same bits in products of any height and width.
#![allow(unsafe_code)]
// Indices refer to rows of several blocks at the same time; here they are clearer than zipped iterators.
#![allow(clippy::needless_range_loop)]

use super::vector::{Memory, PlainMemory, Vector};

/// The length of the piece at `start` when `total` is divided as evenly as possible into the fewest pieces of at most
/// `most`.
#[inline(always)]
pub(super) fn piece(start: usize, total: usize, most: usize) -> usize {
    let left = total - start;
    left.div_ceil(left.div_ceil(most))
}

/// Evaluates `$body` with the constant `$name` set to `$size`.
macro_rules! with_size {
    ($size:expr, $name:ident in [$($constant:literal)*], $body:expr) => {
        match $size {
            $($constant => {
                const $name: usize = $constant;
                $body
            })*
            _ => unreachable!("no block of this size"),
        }
    };
}
pub(super) use with_size;

/// `out[i n + j] = a_i · b_j`, over the first `width` values of rows, which start `stride` apart.
///
/// # Safety
/// `a` points to `m`, `b` to `n` rows, `out` to `m n` values that may be written to.
#[inline(always)]
pub(super) unsafe fn scores<V: Vector>(
    a: *const f32,
    m: usize,
    b: *const f32,
    n: usize,
    stride: usize,
    width: usize,
    out: *mut f32,
) where
    PlainMemory: Memory<V>,
{
    let mut i = 0;
    while i < m {
        let rows = piece(i, m, V::SCORE_BLOCK.0);
        // SAFETY: the block's rows are below `m`.
        unsafe {
            with_size!(rows, M in [1 2 3 4], score_rows::<V, M>(a.add(i * stride), b, n, (stride, width), out.add(i * n), n))
        };
        i += rows;
    }
}

/// `out[i m + j] = a_i · a_j` for every `j ≤ i`, over the first `width` values of rows, which start `stride` apart.
/// Values of `out` with `j > i` are unspecified.
///
/// # Safety
/// `a` points to `m` rows, `out` to `m m` values that may be written to.
#[inline(always)]
pub(super) unsafe fn gram<V: Vector>(a: *const f32, m: usize, stride: usize, width: usize, out: *mut f32)
where
    PlainMemory: Memory<V>,
{
    let mut i = 0;
    while i < m {
        let rows = piece(i, m, V::SCORE_BLOCK.0);
        // SAFETY: the block's rows are below `m`, and so are those up to its last.
        unsafe {
            with_size!(rows, M in [1 2 3 4], score_rows::<V, M>(a.add(i * stride), a, i + rows, (stride, width), out.add(i * m), m))
        };
        i += rows;
    }
}

/// `M` rows of scores with `n` rows of `b`; rows of `out` start `pitch` apart.
#[inline(always)]
unsafe fn score_rows<V: Vector, const M: usize>(
    a: *const f32,
    b: *const f32,
    n: usize,
    shape: (usize, usize),
    out: *mut f32,
    pitch: usize,
) where
    PlainMemory: Memory<V>,
{
    let mut j = 0;
    while j < n {
        let columns = piece(j, n, V::SCORE_BLOCK.1);
        // SAFETY: the block's columns are below `n`.
        unsafe {
            with_size!(columns, C in [1 2 3 4], score_block::<V, M, C>(a, b.add(j * shape.0), shape, out.add(j), pitch))
        };
        j += columns;
    }
}

/// One block. Rows of `out` start `n` apart; rows of `a` and `b` start `stride` apart, and their first `width` values
/// are used.
#[inline(always)]
unsafe fn score_block<V: Vector, const M: usize, const N: usize>(
    a: *const f32,
    b: *const f32,
    (stride, width): (usize, usize),
    out: *mut f32,
    n: usize,
) where
    PlainMemory: Memory<V>,
{
    // SAFETY: `k` stays below `width`; `M` and `N` count existing rows.
    unsafe {
        let mut sums = [[V::zero(); N]; M];
        let mut k = 0;
        while k + V::LANES <= width {
            let mut x = [V::zero(); M];
            for i in 0..M {
                x[i] = PlainMemory::load(a.add(i * stride + k));
            }
            for j in 0..N {
                let y = PlainMemory::load(b.add(j * stride + k));
                for i in 0..M {
                    sums[i][j] = x[i].mul_add(y, sums[i][j]);
                }
            }
            k += V::LANES;
        }
        // The last, partial vector of the k-loop: masked loads read zeros past `width`, which do not change a sum.
        if k < width {
            for j in 0..N {
                let y = PlainMemory::load_part(b.add(j * stride + k), width - k);
                for i in 0..M {
                    sums[i][j] = PlainMemory::load_part(a.add(i * stride + k), width - k).mul_add(y, sums[i][j]);
                }
            }
        }
        // Four sums at a time, row by row; the last group is padded with zeros.
        let mut at = 0;
        while at < M * N {
            let mut four = [V::zero(); 4];
            for (k, v) in four.iter_mut().enumerate() {
                if at + k < M * N {
                    *v = sums[(at + k) / N][(at + k) % N];
                }
            }
            let four = V::sum4(four);
            for (k, &sum) in four.iter().enumerate() {
                if at + k < M * N {
                    *out.add((at + k) / N * n + (at + k) % N) = sum;
                }
            }
            at += 4;
        }
    }
}

/// `out_i += Σ_j s[i s_row + j s_col] b_j`.
///
/// # Safety
/// `out` points to `m` rows and `b` to `n` rows of `stride` values, `s` to factors at all these offsets; `out` may be
/// written to and overlaps neither.
#[inline(always)]
#[allow(clippy::too_many_arguments)]
pub(super) unsafe fn add_product<V: Vector>(
    s: *const f32,
    (s_row, s_col): (usize, usize),
    m: usize,
    n: usize,
    b: *const f32,
    stride: usize,
    out: *mut f32,
) where
    PlainMemory: Memory<V>,
{
    if m == 1 {
        // SAFETY: guaranteed by the caller.
        return unsafe { add_product_to_row::<V, PlainMemory>(s, s_col, n, b, stride, out) };
    }
    let vectors = stride / V::LANES;
    let mut c = 0;
    // Columns are the outer loop, so the current part of `b` stays in the first-level cache for all rows of `out`.
    while c < vectors {
        let columns = piece(c, vectors, V::PRODUCT_BLOCK.1);
        let at = c * V::LANES;
        let mut i = 0;
        while i < m {
            let rows = piece(i, m, V::PRODUCT_BLOCK.0);
            // SAFETY: rows below `m`, columns below `stride`.
            unsafe {
                let (s, b, out) = (s.add(i * s_row), b.add(at), out.add(i * stride + at));
                with_size!(rows, M in [1 2 3 4 5], product_rows::<V, M>(columns, s, (s_row, s_col), n, b, stride, out));
            }
            i += rows;
        }
        c += columns;
    }
    if vectors * V::LANES < stride {
        for i in 0..m {
            // SAFETY: row `i` is below `m`.
            unsafe { product_tail::<V, PlainMemory>(s.add(i * s_row), s_col, n, b, stride, out.add(i * stride)) };
        }
    }
}

#[inline(always)]
unsafe fn product_rows<V: Vector, const M: usize>(
    columns: usize,
    s: *const f32,
    s_steps: (usize, usize),
    n: usize,
    b: *const f32,
    stride: usize,
    out: *mut f32,
) where
    PlainMemory: Memory<V>,
{
    // SAFETY: guaranteed by the caller.
    unsafe {
        with_size!(columns, C in [1 2 3 4], product_block::<V, PlainMemory, M, C>(s, s_steps, n, b, stride, out))
    };
}

/// `out += Σ_j s[j s_step] b_j` for one row that other threads may use.
///
/// # Safety
/// `out` points to one row and `b` to `n` rows of `stride` values, `s` to factors at all these offsets; `out` may be
/// written to and overlaps neither.
#[inline(always)]
pub(super) unsafe fn add_product_to_row<V: Vector, O: Memory<V>>(
    s: *const f32,
    s_step: usize,
    n: usize,
    b: *const f32,
    stride: usize,
    out: *mut f32,
) where
    PlainMemory: Memory<V>,
{
    let vectors = stride / V::LANES;
    let mut c = 0;
    while c < vectors {
        let columns = piece(c, vectors, 8);
        // SAFETY: columns below `stride`.
        unsafe {
            let (b, out) = (b.add(c * V::LANES), out.add(c * V::LANES));
            with_size!(columns, C in [1 2 3 4 5 6 7 8], single_row::<V, O, C>(s, s_step, n, b, stride, out));
        }
        c += columns;
    }
    if vectors * V::LANES < stride {
        // SAFETY: guaranteed by the caller.
        unsafe { product_tail::<V, O>(s, s_step, n, b, stride, out) };
    }
}

#[inline(always)]
unsafe fn single_row<V: Vector, O: Memory<V>, const C: usize>(
    s: *const f32,
    s_step: usize,
    n: usize,
    b: *const f32,
    stride: usize,
    out: *mut f32,
) where
    PlainMemory: Memory<V>,
{
    // SAFETY: guaranteed by the caller.
    unsafe { product_block::<V, O, 1, C>(s, (0, s_step), n, b, stride, out) };
}

/// One block of M rows and C vectors of the result.
#[inline(always)]
unsafe fn product_block<V: Vector, O: Memory<V>, const M: usize, const C: usize>(
    s: *const f32,
    (s_row, s_col): (usize, usize),
    n: usize,
    b: *const f32,
    stride: usize,
    out: *mut f32,
) where
    PlainMemory: Memory<V>,
{
    // SAFETY: `M` rows, `n` rows and `C` vectors exist.
    unsafe {
        let mut sums = [[V::zero(); C]; M];
        for i in 0..M {
            for c in 0..C {
                sums[i][c] = O::load(out.add(i * stride + c * V::LANES));
            }
        }
        for j in 0..n {
            let mut y = [V::zero(); C];
            for c in 0..C {
                y[c] = PlainMemory::load(b.add(j * stride + c * V::LANES));
            }
            for i in 0..M {
                let factor = V::splat(*s.add(i * s_row + j * s_col));
                for c in 0..C {
                    sums[i][c] = factor.mul_add(y[c], sums[i][c]);
                }
            }
        }
        for i in 0..M {
            for c in 0..C {
                O::store(out.add(i * stride + c * V::LANES), sums[i][c]);
            }
        }
    }
}

/// The values of one row after its last whole vector, with masked loads and a masked store.
#[inline(always)]
unsafe fn product_tail<V: Vector, O: Memory<V>>(
    s: *const f32,
    s_step: usize,
    n: usize,
    b: *const f32,
    stride: usize,
    out: *mut f32,
) where
    PlainMemory: Memory<V>,
{
    let rest = stride % V::LANES;
    let at = stride - rest;
    // SAFETY: only columns from `at` up to `stride` are accessed.
    unsafe {
        let mut sum = O::load_part(out.add(at), rest);
        for j in 0..n {
            sum = V::splat(*s.add(j * s_step)).mul_add(PlainMemory::load_part(b.add(j * stride + at), rest), sum);
        }
        O::store_part(out.add(at), rest, sum);
    }
}
