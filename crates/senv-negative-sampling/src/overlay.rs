//! A table as one thread sees it: the shared rows, and its own copies of the most frequent ones.
//!
//! Two threads that write the row of "the" in every sentence spend their time exchanging its cache lines. So each works
//! on copies of the first rows (the most frequent tokens have the lowest numbers), and regularly adds its changes to
//! the shared rows.

use senv_core::{Table, kernels::SharedTable};

/// The rows that all threads see, with private copies of the first few.
pub(crate) struct Overlay<'a> {
    shared: SharedTable<'a>,
    /// This thread's copies of the rows below `n_private`.
    private: Option<SharedTable<'a>>,
    n_private: usize,
}

/// The memory of private copies: the current rows, and the rows at the last merge.
pub(crate) struct PrivateRows {
    now: Table,
    then: Table,
}

impl PrivateRows {
    pub(crate) fn new(n_rows: usize, dim: usize) -> senv_core::Result<Self> {
        Ok(Self { now: Table::zeros(n_rows, dim)?, then: Table::zeros(n_rows, dim)? })
    }

    /// Loads the shared rows.
    pub(crate) fn load(&mut self, shared: SharedTable<'_>) {
        for i in 0..self.now.n_rows() {
            let stride = self.now.stride();
            shared.copy_row(i, &mut self.now.values_mut()[i * stride..][..stride]);
        }
        self.then.values_mut().copy_from_slice(self.now.values());
    }

    /// Adds this thread's changes to the shared rows, then loads the sum.
    pub(crate) fn merge(&mut self, shared: SharedTable<'_>, change: &mut [f32]) {
        let stride = self.now.stride();
        for i in 0..self.now.n_rows() {
            let range = i * stride..(i + 1) * stride;
            let now = &mut self.now.values_mut()[range.clone()];
            let then = &mut self.then.values_mut()[range];
            if now == then {
                continue;
            }
            for ((c, n), t) in change.iter_mut().zip(now.iter()).zip(then.iter()) {
                *c = n - t;
            }
            shared.add_to_row(i, 1.0, change);
            shared.copy_row(i, now);
            then.copy_from_slice(now);
        }
    }
}

impl<'a> Overlay<'a> {
    pub(crate) fn shared_only(shared: SharedTable<'a>) -> Self {
        Self { shared, private: None, n_private: 0 }
    }

    pub(crate) fn with_private(shared: SharedTable<'a>, rows: &'a mut PrivateRows) -> Self {
        let n_private = rows.now.n_rows();
        Self { shared, private: Some(SharedTable::new(&mut rows.now)), n_private }
    }

    /// The table that contains row `row` for this thread.
    #[inline(always)]
    pub(crate) fn of(&self, row: u32) -> &SharedTable<'a> {
        match &self.private {
            Some(private) if (row as usize) < self.n_private => private,
            _ => &self.shared,
        }
    }

    pub(crate) fn stride(&self) -> usize {
        self.shared.stride()
    }
}

#[cfg(test)]
mod tests {
    use senv_core::Rows;

    use super::*;

    const DIM: usize = 3;

    /// Adds to a row as a thread with these copies would.
    fn add(shared: SharedTable<'_>, copies: &mut PrivateRows, row: u32, change: f32) {
        let mut vector = vec![0.0; shared.stride()];
        vector[..DIM].fill(change);
        Overlay::with_private(shared, copies).of(row).add_to_row(row as usize, 1.0, &vector);
    }

    fn seen(shared: SharedTable<'_>, copies: &mut PrivateRows, row: u32) -> f32 {
        let mut vector = vec![0.0; shared.stride()];
        Overlay::with_private(shared, copies).of(row).copy_row(row as usize, &mut vector);
        assert!(vector[..DIM].iter().all(|&x| x == vector[0]));
        vector[0]
    }

    #[test]
    fn what_two_threads_add_to_a_row_is_summed_and_both_go_on_from_the_sum() {
        let mut table = Table::zeros(4, DIM).unwrap();
        (0..4).for_each(|i| table.row_mut(i).fill(10.0));
        {
            let shared = SharedTable::new(&mut table);
            let mut change = vec![0.0; shared.stride()];
            let [mut a, mut b] = [(), ()].map(|()| PrivateRows::new(2, DIM).unwrap());
            a.load(shared);
            b.load(shared);
            add(shared, &mut a, 0, 1.0);
            add(shared, &mut b, 0, 2.0);
            add(shared, &mut b, 1, 4.0);
            add(shared, &mut b, 3, 8.0);
            assert_eq!((seen(shared, &mut a, 0), seen(shared, &mut b, 0)), (11.0, 12.0), "copies are private");
            assert_eq!((seen(shared, &mut a, 1), seen(shared, &mut a, 3)), (10.0, 18.0), "row 3 has no copy");
            a.merge(shared, &mut change);
            b.merge(shared, &mut change);
            assert_eq!(seen(shared, &mut b, 0), 13.0, "the sum is taken back");
            assert_eq!(seen(shared, &mut a, 0), 11.0, "what b added is not seen before the next merge");
            // Without new changes, nothing is added a second time.
            b.merge(shared, &mut change);
            add(shared, &mut a, 0, 0.5);
            a.merge(shared, &mut change);
            assert_eq!(seen(shared, &mut a, 0), 13.5, "the other thread's change is part of it now");
            a.merge(shared, &mut change);
        }
        assert_eq!([0, 1, 2, 3].map(|i| table.row(i)[0]), [13.5, 14.0, 10.0, 18.0]);
    }
}
