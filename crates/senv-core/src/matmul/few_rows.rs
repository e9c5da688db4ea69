//! A product of few rows with the rows of a large matrix: `out = A Wᵀ`.
//!
//! A (the states of a batch, say) is brought into panels of up to 64 rows on their sides, once; W (the weights) is
//! read as it lies, where a general product copies or turns it first: that makes it a third slower with 128 rows and more
//! than twice as slow with 32.
//!
//! A number is summed from the first term to the last, rounded once a term. So its bits depend on its row and column
//! alone: not on the other rows, the threads or the width of the vectors.

use ndarray::{ArrayView2, ArrayViewMut2, Axis, s};
use rayon::prelude::*;

use super::ONE_THREAD;
use crate::kernels::{self, PANEL_STEP};

/// Rows of A up to which W is better read than copied, in groups of [`GROUP`]; and where rows are so short that writing
/// the result counts.
const MOST_ROWS: (usize, usize) = (512, 32);

/// From here on rows are long.
const LONG: usize = 512;

/// Rows of A whose panels are in use at a time.
const GROUP: usize = 128;

/// Rows of W that go through the registers before their sums are written, and that a thread takes at a time: a multiple
/// of the 6 and 14 that AVX-512 holds.
const TILE: usize = 84;

/// Numbers in a cache line.
const LINE: usize = 16;

/// The most rows in a panel.
const MOST_WIDTH: usize = 64;

/// Numbers of all panels that are used before the next ones: a megabyte, that they stay in the second cache.
const IN_CACHE: usize = 1 << 18;

/// Whether `out = a wᵀ`, or `out += a wᵀ` with `add`, was done: it is not where another way is faster, or where the
/// memory order does not suit.
pub(crate) fn times_rows(
    a: ArrayView2<'_, f32>,
    w: ArrayView2<'_, f32>,
    add: bool,
    out: &mut ArrayViewMut2<'_, f32>,
) -> bool {
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

/// Rows on their sides.
struct Panels {
    /// Of the first `depth` columns, then those of the next; from `start` on.
    numbers: Vec<f32>,
    /// Where a cache line begins: a vector that lies on two of them is read twice.
    start: usize,
    depth: usize,
    /// Rows in a panel.
    width: usize,
    /// Rows, in panels and without what fills up the last.
    m: usize,
    k: usize,
}

impl Panels {
    /// None without memory for a copy of `a`.
    fn of(a: ArrayView2<'_, f32>) -> Option<Self> {
        let (m, k) = a.dim();
        let width = m.next_multiple_of(PANEL_STEP).min(kernels::panel_width()).min(MOST_WIDTH);
        let all = m.next_multiple_of(width);
        let depth = k.div_ceil(k.div_ceil(IN_CACHE / all));
        let (len, mut numbers) = (all.checked_mul(k)?, Vec::new());
        let room = len.checked_add(LINE)?;
        numbers.try_reserve_exact(room).ok()?;
        numbers.resize(room, 0.0);
        let start = numbers.as_ptr().align_offset(size_of::<f32>() * LINE).min(LINE);
        let panels = &mut numbers[start..][..len];
        for (block, panels) in panels.chunks_mut(all * depth).enumerate() {
            let depth_here = panels.len() / all;
            let columns = a.slice(s![.., block * depth..block * depth + depth_here]);
            for (panel, rows) in panels.chunks_mut(width * depth_here).zip(columns.axis_chunks_iter(Axis(0), width)) {
                // A line of each row at a time, so that the columns it goes to stay in the first cache.
                let lines = panel.chunks_mut(width * LINE).zip(rows.axis_chunks_iter(Axis(1), LINE));
                for (panel, lines) in lines {
                    for (i, line) in lines.outer_iter().enumerate() {
                        panel[i..].iter_mut().step_by(width).zip(line).for_each(|(to, x)| *to = *x);
                    }
                }
            }
        }
        Some(Self { numbers, start, depth, width, m, k })
    }

    /// `out = a wᵀ` or `out += a wᵀ`; W in rows of `k` numbers, as many as `out` has columns.
    fn times_rows(&self, w: &[f32], add: bool, mut out: ArrayViewMut2<'_, f32>) {
        let (width, all) = (self.width, self.m.next_multiple_of(self.width));
        let mut sums = [0.0; TILE * MOST_WIDTH];
        let sums = &mut sums[..TILE * width];
        let panels = &self.numbers[self.start..][..all * self.k];
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

/// Calls `f` with each number of `out` and its place among the sums.
#[inline(always)]
fn exchange(out: &mut ArrayViewMut2<'_, f32>, sums: &mut [f32], width: usize, f: impl Fn(&mut f32, &mut f32)) {
    for (lane, row) in out.outer_iter_mut().enumerate() {
        let Some(row) = row.into_slice() else { return };
        row.iter_mut().zip(sums.iter_mut().skip(lane).step_by(width)).for_each(|(out, sum)| f(out, sum));
    }
}
