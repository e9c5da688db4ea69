//! A table seen by one thread: the rows that all threads share, and its own copies of the most frequent ones.
//!
//! Two threads that write the row of "the" in every sentence spend their time passing its cache lines to each other.
//! So each works on copies of the first rows (the most frequent tokens have the lowest numbers) and adds what it
//! changed to the shared rows every so often.

use senv_core::{Table, kernels::SharedTable};

/// Rows that all threads see, with private copies of the first few.
pub(crate) struct Overlay<'a> {
    shared: SharedTable<'a>,
    /// This thread's copies of the rows below `n_private`.
    private: Option<SharedTable<'a>>,
    n_private: usize,
}

/// The memory of private copies: the rows as they are now, and as they were when last merged.
pub(crate) struct PrivateRows {
    now: Table,
    then: Table,
}

impl PrivateRows {
    pub(crate) fn new(n_rows: usize, dim: usize) -> senv_core::Result<Self> {
        Ok(Self { now: Table::zeros(n_rows, dim)?, then: Table::zeros(n_rows, dim)? })
    }

    /// Takes the rows as the others left them.
    pub(crate) fn load(&mut self, shared: SharedTable<'_>) {
        for i in 0..self.now.n_rows() {
            let stride = self.now.stride();
            shared.copy_row(i, &mut self.now.values_mut()[i * stride..][..stride]);
        }
        self.then.values_mut().copy_from_slice(self.now.values());
    }

    /// Adds what this thread changed to the shared rows and takes the sum back.
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

    /// The table that holds row `row` for this thread.
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
