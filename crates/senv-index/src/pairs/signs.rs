//! Rows that differ mostly in their signs, compared by counting differing signs.
//!
//! Equation: `sign-bound`
//!
//! ```text
//! x = (α s, t),  y = (β u, v)        s, u ∈ {−1, 1}^D        x · y <= α β (D − 2 h) + |t| |v|
//! ```
//!
//! Here x, y are unit vectors whose signs s, u differ in h places. The bound follows from the Cauchy-Schwarz inequality
//! for the parts after the signs. Vectors of unknown words are signs (`unknown-word`). A few directions cannot separate
//! them (`head-bound`), and their signs carry the same information as their values, in 1 bit instead of 8 or 32.

use std::ops::Range;

use rayon::prelude::*;
use senv_core::{Rows, Table};

use super::int8::Int8Heads;
use crate::code_kernels::{SIGN_ROWS, has_fast_signs, n_different, pack_signs, sign_masks};

/// The minimum number of signs for which this pays.
const LEAST_SIGNS: usize = 16;
/// The minimum number of rows for which this pays.
const LEAST_ROWS: usize = 1024;
/// The largest squared length of the part after the signs.
const MOST_REST: f64 = 0.25;
/// The maximum by which rounding lowers the squared length of the signs.
const ROUNDING: f64 = 1e-6;
/// Masks checked together.
const TOGETHER: usize = 64;

/// The leading signs of several rows, with α and |t|, row by row.
#[derive(Debug)]
pub(super) struct SignRows {
    n_signs: usize,
    signs: Vec<u64>,
    packed: Vec<u64>,
    values: Vec<f64>,
    rests: Vec<f64>,
    /// The smallest and the largest α.
    value_range: [f64; 2],
    /// The largest |t|.
    largest_rest: f64,
}

/// The number of leading values with the same absolute value.
fn n_alike(row: &[f32]) -> usize {
    let first = row.first().map_or(0.0, |x| x.abs());
    if first > 0.0 { row.iter().take_while(|x| x.abs() == first).count() } else { 0 }
}

/// α² D and α for a unit row that begins with `n_signs` signs.
fn share(row: &[f32], inverse: f32, n_signs: usize) -> (f64, f64) {
    let value = f64::from(row[0].abs()) * f64::from(inverse);
    (value * value * n_signs as f64, value)
}

impl SignRows {
    /// The number of leading signs that most of the rows at these positions share, and which of the rows have it;
    /// `None` if there is no such number. `inverse` is 1 / the norm of every row of the table.
    pub(super) fn find(rows: &Table, inverse: &[f32], positions: &[u32]) -> Option<(usize, Vec<bool>)> {
        if positions.len() < LEAST_ROWS {
            return None;
        }
        let row = |position: u32| &rows.row(position as usize)[..rows.dim()];
        let alike: Vec<usize> = positions.par_iter().map(|&position| n_alike(row(position))).collect();
        let mut sorted = alike.clone();
        let (_, &mut n_signs, _) = sorted.select_nth_unstable(positions.len() / 2);
        if n_signs < LEAST_SIGNS {
            return None;
        }
        let is_sign_row = |(&position, n): (&u32, usize)| {
            n >= n_signs && share(row(position), inverse[position as usize], n_signs).0 >= 1.0 - MOST_REST
        };
        let found: Vec<bool> = positions.iter().zip(alike).map(is_sign_row).collect();
        (found.iter().filter(|is| **is).count() * 2 >= positions.len()).then_some((n_signs, found))
    }

    /// The rows at these positions, which begin with `n_signs` signs.
    pub(super) fn new(rows: &Table, inverse: &[f32], positions: &[u32], n_signs: usize) -> Self {
        let (mut signs, mut values, mut rests) = (Vec::new(), Vec::new(), Vec::new());
        for &position in positions {
            let row = rows.row(position as usize);
            let word = |values: &[f32]| values.iter().rev().fold(0, |word, x| word << 1 | u64::from(*x < 0.0));
            signs.extend(row[..n_signs].chunks(64).map(word));
            let (share, value) = share(row, inverse[position as usize], n_signs);
            values.push(value);
            rests.push((1.0 - share + ROUNDING).max(0.0).sqrt());
        }
        let packed = pack_signs(&signs, n_signs.div_ceil(64));
        let value_range = [f64::min, f64::max].map(|of| values.iter().copied().reduce(of).unwrap_or(1.0));
        let largest_rest = rests.iter().fold(0.0_f64, |most, &rest| most.max(rest));
        Self { n_signs, signs, packed, values, rests, value_range, largest_rest }
    }

    /// The number of rows.
    pub(super) fn len(&self) -> usize {
        self.values.len()
    }

    /// The number of places in which two rows differ.
    pub(super) fn n_different(&self, a: usize, b: usize) -> u32 {
        let n_words = self.n_signs.div_ceil(64);
        let [a, b] = [a, b].map(|row| &self.signs[row * n_words..][..n_words]);
        n_different(a, b)
    }

    /// The bound of the cosine of two rows.
    fn bound(&self, a: usize, b: usize) -> f64 {
        let product = self.n_signs as f64 - 2.0 * f64::from(self.n_different(a, b));
        self.values[a] * self.values[b] * product + self.rests[a] * self.rests[b]
    }

    /// The maximum number of places in which each row of the block can differ from any other if their bound is at least
    /// `floor`.
    fn limits(&self, block: Range<usize>, floor: f64) -> Vec<i64> {
        let [least, most] = self.value_range;
        let limit = |row: usize| {
            let left = floor - self.rests[row] * self.largest_rest;
            let product = left / (self.values[row] * if left > 0.0 { most } else { least });
            ((self.n_signs as f64 - product) / 2.0 + ROUNDING).floor() as i64
        };
        block.map(limit).collect()
    }

    /// Calls `found` with every pair of rows, one in the block and one in the chunk, whose bound is at least `floor`,
    /// in order.
    fn candidates(
        &self,
        block: Range<usize>,
        chunk: Range<usize>,
        floor: f64,
        masks: &mut Vec<u8>,
        mut found: impl FnMut(usize, usize),
    ) {
        let limits = self.limits(block.clone(), floor);
        let of_lanes = vec![i64::MIN; (chunk.end.div_ceil(SIGN_ROWS) - chunk.start / SIGN_ROWS) * SIGN_ROWS];
        self.alike(block, &limits, chunk, &of_lanes, masks, |a, b| {
            // The limit assumes the longest rest.
            if self.bound(a, b) >= floor {
                found(a, b);
            }
        });
    }

    /// Calls `found` with every pair of rows, one in the block and one in the chunk, whose differences are within the
    /// limit of either, in order. `of_lanes` has the limits of the lanes that the chunk touches.
    pub(super) fn alike(
        &self,
        block: Range<usize>,
        limits: &[i64],
        chunk: Range<usize>,
        of_lanes: &[i64],
        masks: &mut Vec<u8>,
        mut found: impl FnMut(usize, usize),
    ) {
        let n_words = self.n_signs.div_ceil(64);
        let blocks = chunk.start / SIGN_ROWS..chunk.end.div_ceil(SIGN_ROWS);
        masks.clear();
        masks.resize(block.len() * blocks.len(), 0);
        let rows = &self.signs[block.start * n_words..block.end * n_words];
        let packed = &self.packed[blocks.start * n_words * SIGN_ROWS..blocks.end * n_words * SIGN_ROWS];
        sign_masks(rows, limits, packed, of_lanes, n_words, masks);
        for (a, masks) in block.zip(masks.chunks_exact(blocks.len().max(1))) {
            for (number, together) in masks.chunks(TOGETHER).enumerate() {
                // Without a branch, to stay in registers.
                if together.iter().fold(0, |any, mask| any | mask) == 0 {
                    continue;
                }
                let first = blocks.start + number * TOGETHER;
                for (block, mask) in (first..).zip(together).filter(|(_, mask)| **mask != 0) {
                    let lanes = (0..SIGN_ROWS).filter(|lane| mask >> lane & 1 == 1);
                    let rows = lanes.map(|lane| block * SIGN_ROWS + lane);
                    rows.filter(|b| chunk.contains(b)).for_each(|b| found(a, b));
                }
            }
        }
    }

    /// Drops all rows that `keep` does not accept.
    fn retain(&mut self, keep: impl Fn(usize) -> bool) {
        let n_words = self.n_signs.div_ceil(64);
        let kept: Vec<usize> = (0..self.len()).filter(|&row| keep(row)).collect();
        self.signs = kept.iter().flat_map(|row| &self.signs[row * n_words..][..n_words]).copied().collect();
        self.values = kept.iter().map(|&row| self.values[row]).collect();
        self.rests = kept.iter().map(|&row| self.rests[row]).collect();
        self.packed = pack_signs(&self.signs, n_words);
    }
}

/// Heads of rows that are mostly signs. Pairs of sign rows are compared by signs, all others with 8-bit heads.
#[derive(Debug)]
pub(super) struct SignHeads {
    signs: SignRows,
    /// The heads of all rows, and the place of each: sign rows first, both parts ascending.
    heads: Int8Heads,
    places: Vec<u32>,
}

/// The buffers of a comparison, reused by the next.
#[derive(Debug, Default)]
pub(super) struct SignProducts {
    signs: Vec<u8>,
    heads: Vec<u16>,
    found: Vec<(u32, u32)>,
}

impl SignHeads {
    /// Whether this processor compares signs fast.
    pub(super) fn are_fast() -> bool {
        has_fast_signs()
    }

    /// The places of sign rows, then the others.
    pub(super) fn order(is_sign_row: &[bool]) -> Vec<u32> {
        let of =
            |wanted: bool| (0_u32..).zip(is_sign_row).filter(move |(_, is)| **is == wanted).map(|(place, _)| place);
        of(true).chain(of(false)).collect()
    }

    /// Takes `heads` in the order of `places` ([`SignHeads::order`]); the first of them are `signs`.
    pub(super) fn new(signs: SignRows, heads: Int8Heads, places: Vec<u32>) -> Self {
        Self { signs, heads, places }
    }

    /// The sign rows and the other rows with these places.
    fn rows(&self, places: &Range<usize>) -> [Range<usize>; 2] {
        let (signs, others) = self.places.split_at(self.signs.len());
        let first = |of: &[u32], end: usize| of.partition_point(|&place| (place as usize) < end);
        let n = signs.len();
        [
            first(signs, places.start)..first(signs, places.end),
            n + first(others, places.start)..n + first(others, places.end),
        ]
    }

    /// Calls `found` with every pair of places, one in the block and one in the chunk, whose bound is at least `floor`,
    /// in order.
    pub(super) fn candidates(
        &self,
        block: Range<usize>,
        chunk: Range<usize>,
        floor: f32,
        products: &mut SignProducts,
        mut found: impl FnMut(usize, usize),
    ) {
        let SignProducts { signs, heads, found: pairs } = products;
        pairs.clear();
        let mut push = |a: usize, b: usize| pairs.push((self.places[a], self.places[b]));
        let ([a_signs, a_others], [b_signs, b_others]) = (self.rows(&block), self.rows(&chunk));
        self.signs.candidates(a_signs.clone(), b_signs.clone(), f64::from(floor), signs, &mut push);
        for (a, b) in [(a_signs, b_others.clone()), (a_others.clone(), b_signs), (a_others, b_others)] {
            if !a.is_empty() && !b.is_empty() {
                self.heads.candidates(a, b, floor, heads, &mut push);
            }
        }
        pairs.sort_unstable();
        pairs.iter().for_each(|&(a, b)| found(a as usize, b as usize));
    }

    /// Drops places at or after `start` unless `keep` accepts them.
    pub(super) fn retain_from(&mut self, start: usize, keep: impl Fn(usize) -> bool) {
        let [signs, _] = self.rows(&(0..start));
        let is_kept = |row: usize| (self.places[row] as usize) < start || keep(self.places[row] as usize);
        self.heads.retain_from(signs.end, is_kept);
        self.signs.retain(is_kept);
        // The remaining places move up.
        let mut kept: Vec<u32> =
            (0..self.places.len()).filter(|&row| is_kept(row)).map(|row| self.places[row]).collect();
        let mut sorted = kept.clone();
        sorted.sort_unstable();
        kept.iter_mut().for_each(|place| *place = sorted.partition_point(|other| other < place) as u32);
        self.places = kept;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use rand::Rng;
    use senv_core::{kernels, rng::stream};

    use super::*;
    use crate::pairs::heads::Heads;

    /// Signs with a tail; some rows differ from others in only a few signs. Every ninth row does not consist of signs.
    fn table(n: usize, n_signs: usize, dim: usize) -> Table {
        let mut stream = stream(13, "test", &[n_signs as u64]);
        let mut values: Vec<f32> = Vec::new();
        for i in 0..n {
            let start = values.len();
            let scale = 0.3 + (i % 5) as f32;
            let mut next = || (stream.next_u64() >> 40) as f32 / (1 << 23) as f32 - 1.0;
            if i % 9 == 4 {
                values.extend((0..dim).map(|_| next()));
                continue;
            }
            let before = &values[start - (i % 9) * dim..];
            let signs: Vec<f32> = (0..n_signs)
                .map(|d| if i % 9 < 4 && i % 9 > 0 && next().abs() < 0.8 { before[d] } else { next() })
                .collect();
            values.extend(signs.iter().map(|&x| if x < 0.0 { -scale } else { scale }));
            // The last ones are too long to count as signs.
            let rest = if i % 50 == 49 { 2.0 } else { 0.4 };
            values.extend((n_signs..dim).map(|_| rest * scale * next()));
        }
        Table::from_vec(n, dim, values).unwrap()
    }

    #[test]
    fn every_pair_whose_cosine_reaches_the_floor_is_a_candidate_and_few_others_are() {
        for (n_signs, dim) in [(64, 64), (70, 96), (256, 256)] {
            let rows = table(1500, n_signs, dim);
            let inverse: Vec<f32> = rows.iter().map(|row| 1.0 / kernels::norm(row)).collect();
            let positions: Vec<u32> = (0..1500).filter(|i| i % 7 != 6).collect();
            let (n, is_sign_row) = SignRows::find(&rows, &inverse, &positions).unwrap();
            assert_eq!(n, n_signs);
            let places = SignHeads::order(&is_sign_row);
            let ordered: Vec<u32> = places.iter().map(|&place| positions[place as usize]).collect();
            let n_rows = is_sign_row.iter().filter(|is| **is).count();
            assert!(n_rows > 1000 && n_rows < positions.len() * 8 / 9 + 2, "{n_rows}");
            let heads = Heads::new(&rows, &inverse, &ordered, 0.5, true);
            assert!(heads.has_rest);
            let signs = SignRows::new(&rows, &inverse, &ordered[..n_rows], n_signs);
            let mut heads = SignHeads::new(signs, Int8Heads::new(&heads), places);
            let mut kept = positions;
            for _ in 0..2 {
                for (block, chunk) in [(0..40, 0..kept.len()), (17..60, 61..540), (3..4, 5..7), (0..10, 20..20)] {
                    for floor in [-0.5, 0.3, 0.6] {
                        let (mut found, mut last) = (HashSet::new(), None);
                        heads.candidates(block.clone(), chunk.clone(), floor, &mut SignProducts::default(), |a, b| {
                            assert!(found.insert((a, b)) && last < Some((a, b)), "in order, and once");
                            last = Some((a, b));
                        });
                        for (a, b) in block.clone().flat_map(|a| chunk.clone().map(move |b| (a, b))) {
                            let cosine = kernels::cosine(rows.row(kept[a] as usize), rows.row(kept[b] as usize));
                            assert!(found.contains(&(a, b)) || cosine < floor, "{a} {b} {floor}: {cosine}");
                            // The rests of both; other rows have the bound of their heads.
                            let [x, y] = [a, b].map(|place| kept[place] % 9 != 4 && kept[place] % 50 != 49);
                            let is_far = x && y && cosine < floor - 0.4;
                            assert!(!found.contains(&(a, b)) || !is_far, "{a} {b} {floor}: {cosine}");
                        }
                        assert!(found.iter().all(|(a, b)| block.contains(a) && chunk.contains(b)));
                    }
                }
                // The remaining places move up.
                heads.retain_from(21, |place| place % 3 != 0);
                kept =
                    kept.into_iter().enumerate().filter(|(i, _)| *i < 21 || i % 3 != 0).map(|(_, row)| row).collect();
            }
        }
    }

    #[test]
    fn rows_of_few_signs_are_none_of_signs() {
        let rows = table(1500, 64, 64);
        let inverse: Vec<f32> = rows.iter().map(|row| 1.0 / kernels::norm(row)).collect();
        let all: Vec<u32> = (0..1500).collect();
        assert!(SignRows::find(&rows, &inverse, &all).is_some());
        assert!(SignRows::find(&rows, &inverse, &all[..1000]).is_none(), "too few rows");
        let mut half = all.clone();
        half.retain(|i| i % 9 == 4 || i % 9 == 0 || i % 18 == 1);
        half = half.iter().chain(&half).chain(&half).chain(&half).copied().collect();
        assert!(half.len() > LEAST_ROWS && SignRows::find(&rows, &inverse, &half).is_some());
        half.extend(all.iter().filter(|i| *i % 9 == 4).flat_map(|&i| [i, i]));
        half.extend(all.iter().filter(|i| *i % 9 == 4));
        assert!(SignRows::find(&rows, &inverse, &half).is_none(), "too few of them are signs");
    }
}
