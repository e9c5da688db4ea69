//! Products of few rows with the rows of a large matrix: `out = A Wᵀ`.
//!
//! A (the states of a batch, say) is copied once into packed panels of up to 64 transposed rows. W (the weights) is
//! read in place. A general product packs W first, which makes it a third slower with 128 rows and more than twice as
//! slow with 32.
//!
//! Each value is summed from the first term to the last, with one rounding per term. So its bits depend only on its row
//! and column, not on the other rows, the threads or the vector width.

use ndarray::{ArrayView2, ArrayViewMut2, Axis, s};
use rayon::prelude::*;

use crate::{kernels, kernels::PANEL_STEP};

/// Products with fewer operations (multiplications and additions) run on one thread, because more threads would cost
/// more than they save.
pub const ONE_THREAD: usize = 3_000_000;

/// The maximum number of rows of A for which reading W in place is faster than packing it. The first number is for rows
/// of at least [`LONG`] values, with A in groups of [`GROUP`] rows. The second is for shorter rows, where writing the
/// result dominates.
const MOST_ROWS: (usize, usize) = (512, 32);

/// Rows with at least this many values are long.
const LONG: usize = 512;

/// Rows of A whose panels are used together.
const GROUP: usize = 128;

/// Rows of W that a thread processes at a time. Their sums are computed before they are written. A multiple of the 6
/// and 14 rows that AVX-512 keeps in registers.
const TILE: usize = 84;

/// Values per cache line.
const LINE: usize = 16;

/// The maximum number of rows in a panel.
const MOST_WIDTH: usize = 64;

/// Values in all panels that are used before the next ones: one megabyte, so they stay in the second-level cache.
const IN_CACHE: usize = 1 << 18;

/// Computes `out = a wᵀ`, or `out += a wᵀ` with `add`. Returns false, and computes nothing, if another way is faster or
/// the memory layout does not fit.
pub fn times_rows(a: ArrayView2<'_, f32>, w: ArrayView2<'_, f32>, add: bool, out: &mut ArrayViewMut2<'_, f32>) -> bool {
    let ((m, k), n) = (a.dim(), w.nrows());
    let most = if k >= LONG { MOST_ROWS.0 } else { MOST_ROWS.1 };
    if !kernels::has_vectors() || !(2..=most).contains(&m) || k.min(n) < 64 || out.strides()[1] != 1 {
        return false;
    }
    let Some(w) = w.to_slice() else { return false };
    let group = m.div_ceil(m.div_ceil(GROUP));
    let groups: Option<Vec<Panels>> = a.axis_chunks_iter(Axis(0), group).map(Panels::of).collect();
    let Some(groups) = groups else { return false };
    for (panels, mut out) in groups.iter().zip(out.axis_chunks_iter_mut(Axis(0), group)) {
        if 2 * m * n * k < ONE_THREAD || rayon::current_num_threads() == 1 {
            panels.times_rows(w, add, out);
        } else {
            let shares = out.axis_chunks_iter_mut(Axis(1), TILE).into_par_iter().zip(w.par_chunks(TILE * k));
            shares.for_each(|(out, w)| panels.times_rows(w, add, out));
        }
    }
    true
}

/// Packed panels: the transposed rows of A.
struct Panels {
    /// The panels of the first `depth` columns, then those of the next `depth`, and so on, starting at `start`.
    values: Vec<f32>,
    /// The offset that aligns the panels to cache lines: a vector that crosses two lines is read twice.
    start: usize,
    depth: usize,
    /// Rows per panel.
    width: usize,
    /// The number of rows, without the padding of the last panel.
    m: usize,
    k: usize,
}

impl Panels {
    /// Packs the rows of `a`; `None` if memory runs out.
    fn of(a: ArrayView2<'_, f32>) -> Option<Self> {
        let (m, k) = a.dim();
        let width = m.next_multiple_of(PANEL_STEP).min(kernels::panel_width()).min(MOST_WIDTH);
        let all = m.next_multiple_of(width);
        let depth = k.div_ceil(k.div_ceil(IN_CACHE / all));
        let (len, mut values) = (all.checked_mul(k)?, Vec::new());
        let room = len.checked_add(LINE)?;
        values.try_reserve_exact(room).ok()?;
        values.resize(room, 0.0);
        let start = values.as_ptr().align_offset(size_of::<f32>() * LINE).min(LINE);
        let panels = &mut values[start..][..len];
        for (block, panels) in panels.chunks_mut(all * depth).enumerate() {
            let depth_here = panels.len() / all;
            let columns = a.slice(s![.., block * depth..block * depth + depth_here]);
            for (panel, rows) in panels.chunks_mut(width * depth_here).zip(columns.axis_chunks_iter(Axis(0), width)) {
                // One cache line of each row at a time, so the columns being written stay in the first-level cache.
                let lines = panel.chunks_mut(width * LINE).zip(rows.axis_chunks_iter(Axis(1), LINE));
                for (panel, lines) in lines {
                    for (i, line) in lines.outer_iter().enumerate() {
                        panel[i..].iter_mut().step_by(width).zip(line).for_each(|(to, x)| *to = *x);
                    }
                }
            }
        }
        Some(Self { values, start, depth, width, m, k })
    }

    /// `out = a wᵀ` or `out += a wᵀ`; W has rows of `k` values, as many as `out` has columns.
    fn times_rows(&self, w: &[f32], add: bool, mut out: ArrayViewMut2<'_, f32>) {
        let (width, all) = (self.width, self.m.next_multiple_of(self.width));
        let mut sums = [0.0; TILE * MOST_WIDTH];
        let sums = &mut sums[..TILE * width];
        let panels = &self.values[self.start..][..all * self.k];
        for (block, panels) in panels.chunks(all * self.depth).enumerate() {
            let start = block * self.depth;
            let w = w.chunks(TILE * self.k);
            for (w, mut out) in w.zip(out.axis_chunks_iter_mut(Axis(1), TILE)) {
                let panels = panels.chunks_exact(panels.len() / all * width);
                for (panel, mut out) in panels.zip(out.axis_chunks_iter_mut(Axis(0), width)) {
                    if add || block > 0 {
                        exchange(&mut out, sums, width, |out, sum| *sum = *out);
                    } else {
                        sums.fill(0.0);
                    }
                    let (lanes, rows) = out.dim();
                    kernels::add_panel_products(&w[start..], self.k, rows, panel, width, lanes, sums);
                    exchange(&mut out, sums, width, |out, sum| *out = *sum);
                }
            }
        }
    }
}

/// Calls `f` with each value of `out` and the corresponding sum.
#[inline(always)]
fn exchange(out: &mut ArrayViewMut2<'_, f32>, sums: &mut [f32], width: usize, f: impl Fn(&mut f32, &mut f32)) {
    for (lane, row) in out.outer_iter_mut().enumerate() {
        let Some(row) = row.into_slice() else { return };
        row.iter_mut().zip(sums.iter_mut().skip(lane).step_by(width)).for_each(|(out, sum)| f(out, sum));
    }
}
