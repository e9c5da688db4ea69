//! A table whose rows many threads read and write at the same time, without locks.
//!
//! Lock-free training (Hogwild) lets threads update the same rows at the same time. An update may be lost when two
//! collide. This costs almost nothing, because sentences rarely share more than their frequent words. In the memory
//! model of Rust, such a race on plain `f32` is undefined behavior, regardless of the machine. So:
//!
//! * A [`SharedTable`] is a slice of `AtomicU32`, made from the `&mut Table` that it borrows. Nothing else can access
//!   the values meanwhile, and no `&f32` or `&mut f32` to them ever exists.
//! * The portable kernels load and store the elements with relaxed atomics. That is plainly sound, but compilers do not
//!   vectorize it.
//! * The vector kernels load and store through inline assembly, a whole register at a time. To the compiler, a block of
//!   assembly is a black box that may do anything Rust code could do in its place. These blocks do what sixteen, eight
//!   or four relaxed atomic accesses to the elements, in some order, would do. The processors read and write the
//!   naturally aligned four bytes of an element in one piece, in vectors or singly. If one did not, the worst result
//!   would be a value with bits of two others. Every reader of such a table accepts that, because all bit patterns are
//!   valid `f32`. Loads are not `pure`, so the compiler neither repeats nor merges them. Arithmetic is done in
//!   registers.
//!
//! No order between threads is guaranteed or needed: a reader may see some elements of a row before an update and
//! others after it. Starting and joining the threads (`std::thread::scope`, rayon) makes all updates visible
//! afterwards.
#![allow(unsafe_code)]

use std::{ops::Range, sync::atomic::AtomicU32};

use super::{Level, check_len, dispatch};
use crate::Table;

/// Values per 64-byte cache line.
const LINE: usize = 16;

/// The number of a row's cache lines that [`SharedTable::prefetch_row`] prefetches. The hardware prefetches the rest
/// once the start is read.
///
/// Measured on Zen 4, with random rows in 2.5 GB, four rows ahead, in ns per row with 0, 1, 4, 8 and all lines. 100
/// values: 102, 61, 61, 68, 68. 300 values: 192, 148, 146, 141, 188. 700 values: 416, 318, 297, 285, 396.
const PREFETCH_LINES: usize = 4;

/// A handle to a [`Table`] through which threads read and write rows at the same time.
///
/// Handles are `Copy`: give one to each thread. Input and output vectors have [`SharedTable::stride`] values. Those
/// past [`SharedTable::dim`] are padding, which stays zero as long as the added vectors have zeros there. If two
/// threads update a row at the same time, either update may be lost, element by element; nothing worse can happen.
///
/// ```
/// use senv_core::{Rows, Table, kernels::SharedTable};
/// let mut table = Table::zeros(2, 3)?;
/// let shared = SharedTable::new(&mut table);
/// let mut x = vec![0.0; shared.stride()];
/// x[..3].copy_from_slice(&[1.0, 2.0, 3.0]);
/// std::thread::scope(|scope| {
///     scope.spawn(|| shared.add_to_row(0, 2.0, &x));
///     scope.spawn(|| shared.add_to_row(1, -1.0, &x));
/// });
/// assert_eq!(table.row(0), [2.0, 4.0, 6.0]);
/// assert_eq!(table.row(1), [-1.0, -2.0, -3.0]);
/// # Ok::<(), senv_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct SharedTable<'a> {
    values: &'a [AtomicU32],
    n_rows: usize,
    dim: usize,
    /// The number of values from the start of a row to the start of the next.
    pitch: usize,
    /// The first column of the view, and its number of columns with padding.
    offset: usize,
    stride: usize,
    /// Columns are stored together in blocks of `1 << shift` rows; see [`super::Lanes`].
    shift: u32,
    level: Level,
}

impl<'a> SharedTable<'a> {
    /// Shares a table while it is borrowed. A memory-mapped table is first copied to the heap.
    #[must_use]
    pub fn new(table: &'a mut Table) -> Self {
        Self::with_level(table, Level::best())
    }

    /// Shares a table whose columns are stored together in blocks of `1 << shift` rows. Its rows are accessed by these
    /// groups of columns, through [`SharedTable::columns`].
    pub(super) fn in_blocks(table: &'a mut Table, shift: u32) -> Self {
        Self { shift, ..Self::new(table) }
    }

    pub(super) fn with_level(table: &'a mut Table, level: Level) -> Self {
        let (n_rows, dim, stride) = (senv_base::Rows::n_rows(table), senv_base::Rows::dim(table), table.stride());
        let values = table.values_mut();
        // SAFETY: `f32` and `AtomicU32` have the same size and alignment, and every bit pattern is valid for both. The
        // exclusive borrow, which lasts as long as the result, leaves no other access to the values.
        let values = unsafe { std::slice::from_raw_parts(values.as_mut_ptr().cast::<AtomicU32>(), values.len()) };
        Self { values, n_rows, dim, pitch: stride, offset: 0, stride, shift: 0, level }
    }

    /// Returns the same rows restricted to `columns`, including padding, for threads that each update some columns of
    /// every row.
    ///
    /// ```
    /// use senv_core::{Rows, Table, kernels::SharedTable};
    /// let mut table = Table::zeros(1, 32)?;
    /// let right = SharedTable::new(&mut table).columns(16..32);
    /// right.add_to_row(0, 1.0, &[1.0; 16]);
    /// assert_eq!(table.row(0).iter().sum::<f32>(), 16.0);
    /// # Ok::<(), senv_core::Error>(())
    /// ```
    ///
    /// # Panics
    /// If the range is empty or ends after [`SharedTable::stride`].
    #[must_use]
    pub fn columns(&self, columns: Range<usize>) -> Self {
        assert!(columns.start < columns.end && columns.end <= self.stride, "columns {columns:?} of {}", self.stride);
        let dim = self.dim.saturating_sub(columns.start).min(columns.len());
        Self { offset: self.offset + columns.start, stride: columns.len(), dim, ..*self }
    }

    /// The number of rows.
    #[must_use]
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// The number of values per row.
    #[must_use]
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// The number of columns including padding: the length of the vectors that the methods take.
    #[must_use]
    pub fn stride(&self) -> usize {
        self.stride
    }

    #[inline]
    fn row(&self, row: usize) -> &'a [AtomicU32] {
        assert!(row < self.n_rows, "row {row} of a table of {}", self.n_rows);
        let before = row >> self.shift << self.shift;
        let rows_of_block = (self.n_rows - before).min(1 << self.shift);
        let start = before * self.pitch + rows_of_block * self.offset + (row - before) * self.stride;
        &self.values[start..][..self.stride]
    }

    /// `out = row`
    ///
    /// # Panics
    /// If `row` is out of range or `out` does not have `stride` values.
    #[inline]
    pub fn copy_row(&self, row: usize, out: &mut [f32]) {
        check_len(out.len(), self.stride);
        dispatch::copy_row(self.level, self.row(row), out);
    }

    /// `acc += c row`
    ///
    /// # Panics
    /// If `row` is out of range or `acc` does not have `stride` values.
    #[inline]
    pub fn add_row(&self, row: usize, c: f32, acc: &mut [f32]) {
        check_len(acc.len(), self.stride);
        dispatch::add_row(self.level, c, self.row(row), acc);
    }

    /// `row += c x`
    ///
    /// # Panics
    /// If `row` is out of range or `x` does not have `stride` values.
    #[inline]
    pub fn add_to_row(&self, row: usize, c: f32, x: &[f32]) {
        check_len(x.len(), self.stride);
        dispatch::add_to_row(self.level, c, x, self.row(row));
    }

    /// `row += Σ_j s[j s_step] b_j` for the `n` rows of `stride` values in `b`; the row is read and written once.
    ///
    /// # Panics
    /// If `row` is out of range, `b` has fewer than `n stride` values, or `s` lacks a factor.
    #[inline]
    pub fn add_product_to_row(&self, row: usize, s: &[f32], s_step: usize, n: usize, b: &[f32]) {
        super::check_rows(b.len(), n, self.stride);
        super::check_factors(s.len(), (0, s_step), 1, n);
        dispatch::add_product_to_row(self.level, s, s_step, n, b, self.row(row));
    }

    /// `x = sign(x) max(|x| − tau, 0)` for each value of the row: the proximal step of `tau |x|₁`. NaN stays NaN.
    ///
    /// # Panics
    /// If `row` is out of range.
    #[inline]
    pub fn soft_threshold_row(&self, row: usize, tau: f32) {
        dispatch::soft_threshold_row(self.level, tau, self.row(row));
    }

    /// Prefetches the start of a row that will be needed in a few hundred nanoseconds. Call it about four rows ahead.
    ///
    /// # Panics
    /// If `row` is out of range.
    #[inline]
    pub fn prefetch_row(&self, row: usize) {
        let row = self.row(row);
        for line in row.chunks(LINE).take(PREFETCH_LINES) {
            super::prefetch(line.as_ptr());
        }
    }
}
