//! The deleted rows of a segment.

/// One bit per row.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Bits {
    bytes: Vec<u8>,
}

impl Bits {
    pub(super) fn new(rows: usize) -> Self {
        Self { bytes: vec![0; rows.div_ceil(8)] }
    }

    /// Reads the bits from a file's bytes; `None` unless the length fits the rows and all extra bits are zero.
    pub(super) fn from_bytes(bytes: Vec<u8>, rows: usize) -> Option<Self> {
        let spare = bytes.len() * 8 - rows.min(bytes.len() * 8);
        let fits =
            bytes.len() == rows.div_ceil(8) && bytes.last().is_none_or(|&last| last.leading_zeros() as usize >= spare);
        fits.then_some(Self { bytes })
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    #[inline]
    pub(super) fn get(&self, row: usize) -> bool {
        self.bytes.get(row / 8).is_some_and(|byte| byte >> (row % 8) & 1 == 1)
    }

    pub(super) fn set(&mut self, row: usize) {
        if let Some(byte) = self.bytes.get_mut(row / 8) {
            *byte |= 1 << (row % 8);
        }
    }

    pub(super) fn count(&self) -> usize {
        self.bytes.iter().map(|byte| byte.count_ones() as usize).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_set_counted_and_read_back() {
        for rows in [1, 7, 8, 9, 100] {
            let mut bits = Bits::new(rows);
            (0..rows).step_by(3).for_each(|row| bits.set(row));
            assert!((0..rows).all(|row| bits.get(row) == (row % 3 == 0)) && !bits.get(rows + 50));
            assert_eq!(bits.count(), rows.div_ceil(3));
            assert_eq!(Bits::from_bytes(bits.bytes().to_vec(), rows), Some(bits.clone()));
            assert_eq!(Bits::from_bytes(bits.bytes().to_vec(), rows + 8), None);
        }
        assert_eq!(Bits::from_bytes(vec![0b1000], 3), None, "a bit after the last row");
        assert_eq!(Bits::from_bytes(vec![], 0), Some(Bits::default()));
    }
}
