//! AVX-512 with VPOPCNTDQ.
#![allow(unsafe_code)]

use std::arch::x86_64::*;

use super::SIGN_ROWS;

/// Rows and blocks in a tile, whose counts stay in registers.
const ROWS: usize = 8;
const BLOCKS: usize = 2;

#[inline]
pub(super) fn has_popcnt() -> bool {
    is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vpopcntdq")
}

/// # Safety
/// The processor has AVX-512 with VPOPCNTDQ. `rows` has `n_words` per limit, and `packed` has whole blocks. There is a
/// limit for each of their lanes, and a mask for each row and block.
#[target_feature(enable = "avx512f,avx512vpopcntdq")]
pub(super) unsafe fn popcnt(
    rows: &[u64],
    limits: &[i64],
    packed: &[u64],
    lane_limits: &[i64],
    n_words: usize,
    masks: &mut [u8],
) {
    let (m, n_blocks) = (limits.len(), packed.len() / (n_words * SIGN_ROWS));
    let mut row = 0;
    while row < m {
        let many = row + ROWS <= m;
        let mut block = 0;
        while block < n_blocks {
            let two = block + BLOCKS <= n_blocks;
            let (signs, lanes) = (&rows[row * n_words..], &packed[block * n_words * SIGN_ROWS..]);
            let lane_limits = &lane_limits[block * SIGN_ROWS..];
            let tile = Tile { n_words, n_blocks, limits: &limits[row..], lane_limits };
            let masks = &mut masks[row * n_blocks + block..];
            // SAFETY: the slices begin with as many rows, blocks, limits and masks as the tile has.
            unsafe {
                match (many, two) {
                    (true, true) => tile.masks::<ROWS, BLOCKS>(signs, lanes, masks),
                    (true, false) => tile.masks::<ROWS, 1>(signs, lanes, masks),
                    (false, true) => tile.masks::<1, BLOCKS>(signs, lanes, masks),
                    (false, false) => tile.masks::<1, 1>(signs, lanes, masks),
                }
            }
            block += if two { BLOCKS } else { 1 };
        }
        row += if many { ROWS } else { 1 };
    }
}

struct Tile<'a> {
    n_words: usize,
    n_blocks: usize,
    limits: &'a [i64],
    lane_limits: &'a [i64],
}

impl Tile<'_> {
    /// The masks of `R` rows and `B` blocks.
    ///
    /// # Safety
    /// The requirements of [`popcnt`]; the slices contain that many rows, blocks, and limits of both, and `masks`
    /// reaches to block `B` of row `R`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512vpopcntdq")]
    // Indices, not iterators: iterator functions are not compiled for these instructions and remain calls.
    #[allow(clippy::needless_range_loop)]
    unsafe fn masks<const R: usize, const B: usize>(&self, rows: &[u64], packed: &[u64], masks: &mut [u8]) {
        let (signs, lanes) = (rows.as_ptr(), packed.as_ptr());
        let mut counts = [[_mm512_setzero_si512(); B]; R];
        for word in 0..self.n_words {
            let mut blocks = [_mm512_setzero_si512(); B];
            for b in 0..B {
                // SAFETY: word `word` of block `b`'s lanes is within the packed signs.
                blocks[b] = unsafe { _mm512_loadu_si512(lanes.add((b * self.n_words + word) * SIGN_ROWS).cast()) };
            }
            for r in 0..R {
                // SAFETY: word `word` of row `r` is within the rows.
                let row = unsafe { *signs.add(r * self.n_words + word) };
                let row = _mm512_set1_epi64(row.cast_signed());
                for b in 0..B {
                    let different = _mm512_xor_si512(blocks[b], row);
                    counts[r][b] = _mm512_add_epi64(counts[r][b], _mm512_popcnt_epi64(different));
                }
            }
        }
        for b in 0..B {
            // SAFETY: there is a limit for each lane of block `b`.
            let lanes = unsafe { _mm512_loadu_si512(self.lane_limits.as_ptr().add(b * SIGN_ROWS).cast()) };
            for r in 0..R {
                let limit = _mm512_max_epi64(lanes, _mm512_set1_epi64(self.limits[r]));
                masks[r * self.n_blocks + b] = _mm512_cmple_epi64_mask(counts[r][b], limit);
            }
        }
    }
}
