//! Compares many rows with many rows: heads first, then exactly the pairs that heads do not exclude.

use std::ops::Range;

use senv_core::{Rows, Table, kernels};

use super::{
    heads::{Heads, slack},
    int8::Int8Heads,
    signs::{SignHeads, SignProducts, SignRows},
};
use crate::{
    Error, Result, code_kernels,
    rows::{check_finite, inverse_norm},
};

/// Rows in a block to compare with chunks of others; the products of both stay in the second-level cache.
pub(super) const BLOCK: usize = 128;
const CHUNK: usize = 1024;
/// The chunk length for signs, which are shorter.
const SIGN_CHUNK: usize = 4096;
/// The cosine from which vectors count as equal, the highest threshold that has an effect. Sums of the same vectors in
/// different orders differ by rounding.
pub const EQUAL_COSINE: f32 = 1.0 - 1e-6;
/// Products checked together.
const TOGETHER: usize = 64;

/// Rows with the data each comparison needs.
pub(super) struct Compared<'t> {
    rows: &'t Table,
    /// 1 / norm; 0 for a row that counts as zero.
    inverse: Vec<f32>,
    /// The rows to compare: those with a direction that nothing has excluded. They are ascending unless the caller
    /// reordered them.
    pub(super) positions: Vec<u32>,
    heads: HeadForm,
    threshold: f32,
}

enum HeadForm {
    Float(Heads),
    /// Faster, but gives only a bound of the cosine.
    Int8(Int8Heads),
    /// Like `Int8`, if most rows are signs.
    Signs(SignHeads),
}

impl HeadForm {
    fn new(rows: &Table, inverse: &[f32], positions: &[u32], threshold: f32, int8: bool) -> Self {
        let of = |positions: &[u32]| Heads::new(rows, inverse, positions, threshold, int8);
        if int8
            && SignHeads::are_fast()
            && let Some((n_signs, is_sign_row)) = SignRows::find(rows, inverse, positions)
        {
            let places = SignHeads::order(&is_sign_row);
            let ordered: Vec<u32> = places.iter().map(|&place| positions[place as usize]).collect();
            let n_rows = is_sign_row.iter().filter(|is| **is).count();
            let heads = of(&ordered);
            // If signs exclude nothing either, whole rows are compared.
            if heads.has_rest {
                let signs = SignRows::new(rows, inverse, &ordered[..n_rows], n_signs);
                return Self::Signs(SignHeads::new(signs, Int8Heads::new(&heads), places));
            }
        }
        let heads = of(positions);
        if int8 && heads.has_rest { Self::Int8(Int8Heads::new(&heads)) } else { Self::Float(heads) }
    }
}

/// The buffers of a comparison, reused by the next.
#[derive(Debug, Default)]
pub(super) struct Products {
    scores: Vec<f32>,
    masks: Vec<u16>,
    signs: SignProducts,
}

impl<'t> Compared<'t> {
    /// Takes all rows with a direction. If the processor is faster with 8-bit heads, those are used; they only tell
    /// whether two places can be near.
    pub(super) fn new(rows: &'t Table, threshold: f32) -> Result<Self> {
        Self::of(rows, threshold, |positions| positions, code_kernels::has_fast_int8())
    }

    /// Takes the rows in a different order, computed from the ascending one. Its f32 heads also confirm most near
    /// pairs.
    pub(super) fn ordered(rows: &'t Table, threshold: f32, order: impl FnOnce(Vec<u32>) -> Vec<u32>) -> Result<Self> {
        Self::of(rows, threshold, order, false)
    }

    fn of(rows: &'t Table, threshold: f32, order: impl FnOnce(Vec<u32>) -> Vec<u32>, int8: bool) -> Result<Self> {
        if !(-1.0..=1.0).contains(&threshold) {
            let (name, requirement, got) = ("threshold", "from -1 to 1", threshold.to_string());
            return Err(senv_core::Error::InvalidParameter { name, requirement, got }.into());
        }
        if u32::try_from(rows.n_rows()).is_err() {
            return Err(Error::TooManyRows { rows: rows.n_rows(), dim: rows.dim() });
        }
        check_finite(rows)?;
        let threshold = threshold.min(EQUAL_COSINE);
        let inverse: Vec<f32> = rows.iter().map(inverse_norm).collect();
        let positions = (0..rows.n_rows() as u32).filter(|&row| inverse[row as usize] != 0.0).collect();
        let positions = order(positions);
        let heads = HeadForm::new(rows, &inverse, &positions, threshold, int8);
        Ok(Self { rows, inverse, positions, heads, threshold })
    }

    /// The first place whose row is not among the first `n` of the table.
    pub(super) fn place_from(&self, n: usize) -> usize {
        self.positions.partition_point(|&position| (position as usize) < n)
    }

    /// The cosine of the rows at two places, if it is at least `floor`.
    pub(super) fn exact(&self, a: usize, b: usize, floor: f32) -> Option<f32> {
        let [i, j] = [a, b].map(|place| self.positions[place] as usize);
        let (x, y) = (self.rows.row(i), self.rows.row(j));
        // Saves two products for pairs that are far below.
        if kernels::dot(x, y) * self.inverse[i] * self.inverse[j] < floor - slack(self.rows.dim()) {
            return None;
        }
        let cosine = kernels::cosine(x, y);
        (cosine >= floor).then_some(cosine)
    }

    /// Whether the cosine of two places is at least the threshold, given the bound from [`Compared::candidates`].
    pub(super) fn is_near(&self, a: usize, b: usize, bound: f32) -> bool {
        // The part outside the directions lowers the cosine by at most this.
        let lowest = match &self.heads {
            HeadForm::Float(heads) if heads.has_rest => {
                let rest = |place| heads.get(place)[heads.width - 1];
                bound - 2.0 * rest(a) * rest(b)
            }
            HeadForm::Float(_) => bound,
            HeadForm::Int8(_) | HeadForm::Signs(_) => f32::NEG_INFINITY,
        };
        lowest >= self.threshold + self.slack() || self.exact(a, b, self.threshold).is_some()
    }

    /// Calls `found` with every pair of places, one in the block and a later one in the chunk, whose cosine can reach
    /// `floor`, in order. The third argument is a bound that the cosine can exceed only by rounding ([`slack`]); it is
    /// infinity for 8-bit heads.
    pub(super) fn candidates(
        &self,
        block: Range<usize>,
        chunk: Range<usize>,
        floor: f32,
        Products { scores, masks, signs }: &mut Products,
        mut found: impl FnMut(usize, usize, f32),
    ) {
        let least = floor - slack(self.rows.dim());
        let found_unbounded = |a: usize, b: usize| {
            if b > a {
                found(a, b, f32::INFINITY);
            }
        };
        let heads = match &self.heads {
            HeadForm::Float(heads) => heads,
            HeadForm::Int8(heads) => return heads.candidates(block, chunk, least, masks, found_unbounded),
            HeadForm::Signs(heads) => return heads.candidates(block, chunk, least, signs, found_unbounded),
        };
        let (m, n, width) = (block.len(), chunk.len(), heads.width);
        scores.resize(m * n, 0.0);
        let values = |places: &Range<usize>| &heads.values[places.start * width..places.end * width];
        kernels::scores(values(&block), m, values(&chunk), n, width, scores);
        for (a, scores) in block.zip(scores.chunks_exact(n)) {
            for (number, together) in scores.chunks(TOGETHER).enumerate() {
                // Without a branch, to stay in registers.
                if !together.iter().fold(false, |any, &score| any | (score >= least)) {
                    continue;
                }
                let start = chunk.start + number * TOGETHER;
                for (b, &score) in (start..).zip(together).filter(|&(b, &score)| score >= least && b > a) {
                    found(a, b, score);
                }
            }
        }
    }

    /// Drops rows at or after a place unless `keep` accepts them.
    pub(super) fn retain_from(&mut self, start: usize, keep: impl Fn(u32) -> bool) {
        let positions = &self.positions;
        match &mut self.heads {
            HeadForm::Int8(heads) => heads.retain_from(start, |place| keep(positions[place])),
            HeadForm::Signs(heads) => heads.retain_from(start, |place| keep(positions[place])),
            HeadForm::Float(heads) => {
                let (width, mut end) = (heads.width, start);
                for place in (start..positions.len()).filter(|&place| keep(positions[place])) {
                    heads.values.copy_within(place * width..(place + 1) * width, end * width);
                    end += 1;
                }
                heads.values.truncate(end * width);
            }
        }
        let mut place = 0;
        self.positions.retain(|&position| {
            place += 1;
            place <= start || keep(position)
        });
    }

    /// Divides places into chunks.
    pub(super) fn chunks(&self, places: Range<usize>) -> Vec<Range<usize>> {
        let chunk = if matches!(self.heads, HeadForm::Signs(_)) { SIGN_CHUNK } else { CHUNK };
        places.clone().step_by(chunk).map(|start| start..places.end.min(start + chunk)).collect()
    }

    pub(super) fn threshold(&self) -> f32 {
        self.threshold
    }

    /// The maximum by which rounding lowers a bound.
    pub(super) fn slack(&self) -> f32 {
        slack(self.rows.dim())
    }
}
