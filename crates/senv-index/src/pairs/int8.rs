//! Heads in 8 bits, whose products are summed four at a time.
//!
//! Equation: `head-rounding`
//!
//! ```text
//! Qᵀx = s i + d_x,  |d_x| <= E        Qᵀx · Qᵀy <= s² i · j + 2 E + 3 E²
//! ```
//!
//! i, j are integer vectors with values from -127 to 127. The length of the part outside the directions is rounded up,
//! so its product only grows (`head-bound`). E is the maximum over all rows, so one integer bound holds for all of
//! them.

use std::ops::Range;

use super::heads::{Heads, LARGEST};
use crate::code_kernels::{INT8_ROWS, int8_masks, pack_int8};

/// Heads in 8 bits by place: row by row, and packed for products.
#[derive(Debug)]
pub(super) struct Int8Heads {
    width: usize,
    rows: Vec<i8>,
    packed: Vec<u8>,
    scale: f64,
    /// E.
    rounding: f64,
}

impl Int8Heads {
    pub(super) fn new(heads: &Heads) -> Self {
        let width = heads.width;
        let largest = heads.values.iter().fold(0.0_f32, |largest, x| largest.max(x.abs()));
        let scale = if largest > 0.0 { largest / LARGEST } else { 1.0 };
        let mut rows = Vec::with_capacity(heads.values.len());
        let mut rounding = 0.0_f64;
        for head in heads.values.chunks_exact(width) {
            let (along, rest) = head.split_at(width - 1);
            let mut squares = 0.0;
            for &x in along {
                let rounded = (x / scale).round();
                let off = f64::from(x) - f64::from(scale) * f64::from(rounded);
                squares += off * off;
                rows.push(rounded as i8);
            }
            rounding = rounding.max(squares.sqrt());
            rows.push((rest[0] / scale).ceil().min(LARGEST) as i8);
        }
        let mut heads = Self { width, rows, packed: Vec::new(), scale: f64::from(scale), rounding };
        heads.pack_from(0);
        heads
    }

    /// Packs the rows starting at a block of places.
    fn pack_from(&mut self, block: usize) {
        let (width, n) = (self.width, self.rows.len() / self.width);
        let block_bytes = width * INT8_ROWS;
        self.packed.truncate(block * block_bytes);
        self.packed.resize(n.div_ceil(INT8_ROWS) * block_bytes, 0);
        for place in block * INT8_ROWS..n {
            let block = &mut self.packed[place / INT8_ROWS * block_bytes..][..block_bytes];
            pack_int8(&self.rows[place * width..][..width], place % INT8_ROWS, block);
        }
    }

    /// Calls `found` with every pair of places, one in the block and one in the chunk, whose bound is at least `floor`,
    /// in order.
    pub(super) fn candidates(
        &self,
        block: Range<usize>,
        chunk: Range<usize>,
        floor: f32,
        masks: &mut Vec<u16>,
        mut found: impl FnMut(usize, usize),
    ) {
        let width = self.width;
        let blocks = chunk.start / INT8_ROWS..chunk.end.div_ceil(INT8_ROWS);
        masks.clear();
        masks.resize(block.len() * blocks.len(), 0);
        let rows = &self.rows[block.start * width..block.end * width];
        let packed = &self.packed[blocks.start * width * INT8_ROWS..blocks.end * width * INT8_ROWS];
        let least = (f64::from(floor) - 2.0 * self.rounding - 3.0 * self.rounding * self.rounding - 1e-6)
            / (self.scale * self.scale);
        // An error of one at the limit of precision only finds more pairs.
        int8_masks(rows, packed, width, (least.floor() - 1.0) as i32, masks);
        for (a, masks) in block.zip(masks.chunks_exact(blocks.len().max(1))) {
            for (number, &mask) in masks.iter().enumerate().filter(|(_, mask)| **mask != 0) {
                let start = (blocks.start + number) * INT8_ROWS;
                for b in (0..INT8_ROWS).filter(|lane| mask >> lane & 1 == 1).map(|lane| start + lane) {
                    if chunk.contains(&b) {
                        found(a, b);
                    }
                }
            }
        }
    }

    /// Drops places at or after `start` unless `keep` accepts them.
    pub(super) fn retain_from(&mut self, start: usize, keep: impl Fn(usize) -> bool) {
        let (width, mut end) = (self.width, start);
        for place in start..self.rows.len() / width {
            if keep(place) {
                self.rows.copy_within(place * width..(place + 1) * width, end * width);
                end += 1;
            }
        }
        self.rows.truncate(end * width);
        self.pack_from(start / INT8_ROWS);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use rand::Rng;
    use senv_core::{kernels, rng::stream};

    use super::*;

    #[test]
    fn every_pair_whose_bound_reaches_the_floor_is_a_candidate_and_few_others_are() {
        let (n, width) = (203, 16);
        let mut stream = stream(5, "test", &[]);
        let mut next = || (stream.next_u64() >> 40) as f32 / (1 << 23) as f32 - 1.0;
        let mut values: Vec<f32> = (0..n * width).map(|_| next()).collect();
        for head in values.chunks_exact_mut(width) {
            head[width - 1] = head[width - 1].abs();
            kernels::l2_normalize(head);
        }
        let heads = Heads { width, values, has_rest: true };
        let mut int8 = Int8Heads::new(&heads);
        let mut kept: Vec<usize> = (0..n).collect();
        for _ in 0..2 {
            for (block, chunk) in [(0..40, 0..kept.len()), (17..60, 61..140), (3..4, 5..7), (0..10, 20..20)] {
                for floor in [-0.5, 0.3, 0.8] {
                    let bound = |a: usize, b: usize| kernels::dot(heads.get(kept[a]), heads.get(kept[b]));
                    let mut found = HashSet::new();
                    int8.candidates(block.clone(), chunk.clone(), floor, &mut Vec::new(), |a, b| {
                        assert!(found.insert((a, b)));
                    });
                    for a in block.clone() {
                        for b in chunk.clone() {
                            let is_found = found.contains(&(a, b));
                            assert!(is_found || bound(a, b) < floor, "{a} {b} {floor}: {}", bound(a, b));
                            // The rounding of the rests and of both heads.
                            assert!(!is_found || bound(a, b) > floor - 0.12, "{a} {b} {floor}: {}", bound(a, b));
                        }
                    }
                }
            }
            // The remaining places move up.
            int8.retain_from(21, |place| place % 3 != 0);
            kept = (0..n).filter(|place| *place < 21 || place % 3 != 0).collect();
        }
    }
}
