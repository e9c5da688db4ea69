//! A query for codes in planes.

use super::{LOW_CODES, TABLE_BYTES, TOP_CODES};

/// Codes whose top bits are looked up together.
const GROUP: usize = 4;

/// Integers to multiply with codes, and for each four of them the sums that top bits select.
// The portable loop reads only the values.
#[cfg_attr(not(any(target_arch = "x86_64", target_arch = "aarch64")), expect(dead_code))]
#[derive(Debug, Clone)]
pub(crate) struct PlaneQuery {
    dim: usize,
    /// Padded with zeros to whole steps of lower bits.
    values: Vec<i8>,
    /// Sixteen sums per four values: entry e sums the values at the set bits of e, minus all negative values.
    tables: Vec<u8>,
    /// The sum of the negative values.
    negative: i32,
}

impl PlaneQuery {
    /// The maximum sum of absolute values in each group of four.
    pub(crate) const MOST: i32 = 63;

    /// Creates a query from these values.
    ///
    /// # Panics
    /// If there are none or more than 65,536, or if a group of four sums to more than [`PlaneQuery::MOST`] in absolute
    /// values.
    #[must_use]
    pub(crate) fn new(values: &[i8]) -> Self {
        let dim = values.len();
        assert!((1..=1 << 16).contains(&dim), "a query of {dim} values");
        let mut padded = vec![0; dim.next_multiple_of(LOW_CODES)];
        padded[..dim].copy_from_slice(values);
        // Padded to whole pairs of steps.
        let mut tables = vec![0; padded.len() / TOP_CODES * TABLE_BYTES];
        let mut negative = 0;
        for (group, table) in padded.as_chunks::<GROUP>().0.iter().zip(tables.as_chunks_mut::<16>().0) {
            let sum: i32 = group.iter().map(|&w| i32::from(w).abs()).sum();
            assert!(sum <= Self::MOST, "four values of a query add up to {sum}, expected at most {}", Self::MOST);
            let least: i32 = group.iter().map(|&w| i32::from(w).min(0)).sum();
            negative += least;
            table[0] = (-least) as u8;
            // Each entry is an entry with one bit fewer, plus the value at that bit.
            for (bit, &w) in group.iter().enumerate() {
                for e in 0..1 << bit {
                    table[e | 1 << bit] = table[e].wrapping_add_signed(w);
                }
            }
        }
        Self { dim, values: padded, tables, negative }
    }

    /// The number of values.
    #[must_use]
    pub(crate) fn dim(&self) -> usize {
        self.dim
    }

    /// The values, padded with zeros to a multiple of 64.
    #[must_use]
    pub(crate) fn values(&self) -> &[i8] {
        &self.values
    }

    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    #[inline(always)]
    pub(super) fn tables(&self) -> *const u8 {
        self.tables.as_ptr()
    }

    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    #[inline(always)]
    pub(super) fn negative(&self) -> i32 {
        self.negative
    }
}
