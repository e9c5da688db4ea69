//! The weighted sum of many rows of a table, kept in registers until it is complete.

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(super) use vectors::sum_rows as in_vectors;

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[allow(unsafe_code)]
mod vectors {
    use crate::kernels::vector::{Memory, PlainMemory, Vector};

    /// Vectors of the sum that are accumulated together.
    const BLOCK: usize = 8;

    /// `out = c Σ_{r in rows} v_r`
    ///
    /// # Safety
    /// `out` points to `n` values that may be written to, and every named row has `n` values.
    #[inline(always)]
    pub(in crate::kernels) unsafe fn sum_rows<V: Vector>(
        values: *const f32,
        stride: usize,
        rows: &[u32],
        c: f32,
        out: *mut f32,
        n: usize,
    ) where
        PlainMemory: Memory<V>,
    {
        let mut at = 0;
        // SAFETY: every offset is below `n`.
        unsafe {
            while at + BLOCK * V::LANES <= n {
                block::<V, BLOCK>(values.add(at), stride, rows, c, out.add(at), 0);
                at += BLOCK * V::LANES;
            }
            let (vectors, rest) = ((n - at) / V::LANES, n % V::LANES);
            let (values, out) = (values.add(at), out.add(at));
            match vectors {
                0 if rest == 0 => {}
                0 => block::<V, 0>(values, stride, rows, c, out, rest),
                1 => block::<V, 1>(values, stride, rows, c, out, rest),
                2 => block::<V, 2>(values, stride, rows, c, out, rest),
                3 => block::<V, 3>(values, stride, rows, c, out, rest),
                4 => block::<V, 4>(values, stride, rows, c, out, rest),
                5 => block::<V, 5>(values, stride, rows, c, out, rest),
                6 => block::<V, 6>(values, stride, rows, c, out, rest),
                _ => block::<V, 7>(values, stride, rows, c, out, rest),
            }
        }
    }

    /// `C` vectors and `rest` values of the sum.
    #[inline(always)]
    unsafe fn block<V: Vector, const C: usize>(
        values: *const f32,
        stride: usize,
        rows: &[u32],
        c: f32,
        out: *mut f32,
        rest: usize,
    ) where
        PlainMemory: Memory<V>,
    {
        // SAFETY: guaranteed by the caller.
        unsafe {
            let (mut sums, mut last) = ([V::zero(); C], V::zero());
            if rest == 0 {
                for &row in rows {
                    let row = values.add(row as usize * stride);
                    for (k, sum) in sums.iter_mut().enumerate() {
                        *sum = sum.add(PlainMemory::load(row.add(k * V::LANES)));
                    }
                }
            } else {
                for &row in rows {
                    let row = values.add(row as usize * stride);
                    for (k, sum) in sums.iter_mut().enumerate() {
                        *sum = sum.add(PlainMemory::load(row.add(k * V::LANES)));
                    }
                    last = last.add(PlainMemory::load_part(row.add(C * V::LANES), rest));
                }
                PlainMemory::store_part(out.add(C * V::LANES), rest, V::splat(c).mul(last));
            }
            for (k, sum) in sums.into_iter().enumerate() {
                PlainMemory::store(out.add(k * V::LANES), V::splat(c).mul(sum));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        kernels,
        kernels::{dispatch, level::Level, row_sums::sum_rows},
    };
    use senv_base::RowId;

    #[test]
    fn the_sum_has_the_bits_of_the_sums_one_after_another_at_every_level() {
        const N_ROWS: usize = 9;
        for n in (0..=150).chain([300, 700]) {
            let stride = n + n % 3;
            let values: Vec<f32> = (0..N_ROWS * stride).map(|i| ((i * i) as f32).sin()).collect();
            for rows in [vec![], vec![3], vec![8, 0, 3, 3, 5]] {
                let mut expected = vec![0.0; n];
                for &row in &rows {
                    kernels::add(&values[row * stride..][..n], &mut expected);
                }
                kernels::scale(0.3, &mut expected);
                let numbers: Vec<u32> = rows.iter().map(|&row| row as u32).collect();
                for level in Level::available() {
                    let mut out = vec![7.0; n];
                    dispatch::sum_rows(level, &values, stride, &numbers, 0.3, &mut out);
                    assert_eq!(out, expected, "{level:?}, {n} numbers of rows {rows:?}");
                }
            }
        }
    }

    #[test]
    #[should_panic(expected = "5 values do not reach to row 2 in steps of 2")]
    fn a_row_past_the_end_is_refused() {
        sum_rows(&[0.0; 5], 2, &[0, 2, 1].map(RowId), 1.0, &mut [0.0; 2]);
    }
}
