//! A table whose columns are divided among threads and, in the meantime, stored together per thread.
//!
//! Threads that work on adjacent columns of the same rows never write to the same cache line, yet they slow each other
//! down. The hardware prefetcher fetches the lines that follow those a thread reads, which are the columns of the next
//! thread. That takes them from a core that is about to write them. On two cores, additions to rows took three times as
//! long. So the columns of a thread are stored together, in blocks of 64 rows:
//!
//! ```text
//! row 0, lane 0 | row 1, lane 0 | … | row 63, lane 0 | row 0, lane 1 | … | row 63, lane 1 | row 64, lane 0 | …
//! ```

use std::ops::Range;

use rayon::prelude::*;

use super::SharedTable;
use crate::Table;

/// Log2 of the number of rows in a block.
const SHIFT: u32 = 6;

/// A table in lanes. Dropping it restores the old layout of the table, with the values that the threads wrote.
///
/// ```
/// use senv_core::{Rows, Table, kernels::Lanes};
/// let mut table = Table::zeros(2, 32)?;
/// let mut lanes = Lanes::new(&mut table, vec![0..16, 16..32], true);
/// std::thread::scope(|scope| {
///     for (i, lane) in lanes.split().into_iter().enumerate() {
///         scope.spawn(move || lane.add_to_row(1, 1.0 + i as f32, &[1.0; 16]));
///     }
/// });
/// drop(lanes);
/// assert_eq!(table.row(1)[..16], [1.0; 16]);
/// assert_eq!(table.row(1)[16..], [2.0; 16]);
/// # Ok::<(), senv_core::Error>(())
/// ```
#[derive(Debug)]
pub struct Lanes<'a> {
    table: &'a mut Table,
    lanes: Vec<Range<usize>>,
    shift: u32,
}

/// The direction of the conversion.
#[derive(Clone, Copy)]
enum Order {
    Lanes,
    Rows,
}

impl<'a> Lanes<'a> {
    /// Divides the columns of a table into lanes. With `together` and more than one lane, the columns of each lane are
    /// stored together. That reads and writes the table twice, now and at the end, which pays off if rows are used
    /// several times.
    ///
    /// # Panics
    /// If the lanes do not divide the columns of a row, including padding, in order.
    #[must_use]
    pub fn new(table: &'a mut Table, lanes: Vec<Range<usize>>, together: bool) -> Self {
        let mut end = 0;
        for lane in &lanes {
            assert!(lane.start == end && lane.end > end, "columns {lane:?} after {end}");
            end = lane.end;
        }
        assert!(end == table.stride(), "lanes of {end} columns for rows of {}", table.stride());
        let shift = if together && lanes.len() > 1 { SHIFT } else { 0 };
        let mut lanes = Self { table, lanes, shift };
        lanes.put_in_order(Order::Lanes);
        lanes
    }

    /// The rows of the table, lane by lane.
    #[must_use]
    pub fn split(&mut self) -> Vec<SharedTable<'_>> {
        let table = SharedTable::in_blocks(self.table, self.shift);
        self.lanes.iter().map(|lane| table.columns(lane.clone())).collect()
    }

    fn put_in_order(&mut self, order: Order) {
        if self.shift == 0 {
            return;
        }
        let (stride, lanes) = (self.table.stride(), &self.lanes);
        self.table.values_mut().par_chunks_mut(stride << self.shift).for_each_init(Vec::new, |copy, block| {
            copy.clear();
            copy.extend_from_slice(block);
            let n_rows = block.len() / stride;
            for lane in lanes {
                for row in 0..n_rows {
                    let in_lanes = n_rows * lane.start + row * lane.len();
                    let in_rows = row * stride + lane.start;
                    let (to, from) = match order {
                        Order::Lanes => (in_lanes, in_rows),
                        Order::Rows => (in_rows, in_lanes),
                    };
                    block[to..][..lane.len()].copy_from_slice(&copy[from..][..lane.len()]);
                }
            }
        });
    }
}

impl Drop for Lanes<'_> {
    fn drop(&mut self) {
        self.put_in_order(Order::Rows);
    }
}

#[cfg(test)]
#[allow(clippy::single_range_in_vec_init)] // a list with one lane is intended
mod tests {
    use super::*;
    use senv_base::Rows;

    #[test]
    fn lanes_hold_the_columns_of_all_rows_and_leave_them_as_they_were() {
        for n_rows in [1, 63, 64, 65, 200] {
            let ranges = [vec![0..48], vec![0..16, 16..48], vec![0..32, 32..37, 37..48]];
            for (ranges, together) in ranges.into_iter().flat_map(|ranges| [(ranges.clone(), true), (ranges, false)]) {
                let mut table = Table::zeros(n_rows, 45).unwrap();
                let number = |row: usize, column: usize| (row * 48 + column) as f32;
                for row in 0..n_rows {
                    table.row_mut(row).iter_mut().enumerate().for_each(|(column, x)| *x = number(row, column));
                }
                let before = table.values().to_vec();
                let mut lanes = Lanes::new(&mut table, ranges.clone(), together);
                for (lane, range) in lanes.split().into_iter().zip(&ranges) {
                    for row in 0..n_rows {
                        let mut got = vec![f32::NAN; range.len()];
                        lane.copy_row(row, &mut got);
                        assert_eq!(got, before[row * 48..][range.clone()], "{n_rows} {range:?} {row}");
                        let ones: Vec<f32> = range.clone().map(|column| f32::from(column < 45)).collect();
                        lane.add_to_row(row, 1.0, &ones);
                    }
                }
                drop(lanes);
                for row in 0..n_rows {
                    assert!(table.row(row).iter().enumerate().all(|(column, &x)| x == number(row, column) + 1.0));
                }
                assert!(table.values().iter().enumerate().all(|(i, &x)| i % 48 < 45 || x == 0.0));
            }
        }
    }

    #[test]
    #[should_panic(expected = "after 16")]
    fn lanes_that_overlap_are_refused() {
        let mut table = Table::zeros(2, 32).unwrap();
        let _ = Lanes::new(&mut table, vec![0..16, 8..32], true);
    }
}
