//! AVX-512 with VNNI.
#![allow(unsafe_code)]

use std::arch::x86_64::*;

use super::{INT8_ROWS, STEP_BYTES, STEP_VALUES};

/// Rows and blocks in a tile, whose sums stay in registers.
const ROWS: usize = 8;
const BLOCKS: usize = 2;
/// Blocks in a tile of one row.
const ROW_BLOCKS: usize = 8;

#[inline]
pub(super) fn has_vnni() -> bool {
    is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512vnni")
        && is_x86_feature_detected!("avx512bw")
}

/// # Safety
/// The processor has AVX-512 with VNNI. `rows` has whole rows of `width`, a multiple of 4, and `packed` has whole
/// blocks. There is a bound for each row, and a mask for each row and block.
#[target_feature(enable = "avx512f,avx512vnni,avx512bw")]
pub(super) unsafe fn vnni(rows: &[i8], packed: &[u8], width: usize, bounds: &[i32], masks: &mut [u16]) {
    let block_bytes = width * INT8_ROWS;
    let (m, n_blocks) = (rows.len() / width, packed.len() / block_bytes);
    let mut row = 0;
    while row < m {
        let many = row + ROWS <= m;
        let mut block = 0;
        while block < n_blocks {
            let wide = if many { BLOCKS } else { ROW_BLOCKS };
            let is_wide = block + wide <= n_blocks;
            let (values, bytes) = (&rows[row * width..], &packed[block * block_bytes..]);
            let tile = Tile { width, n_blocks, bounds: &bounds[row..] };
            let masks = &mut masks[row * n_blocks + block..];
            // SAFETY: the slices begin with as many rows, blocks, bounds and masks as the tile has.
            unsafe {
                match (many, is_wide) {
                    (true, true) => tile.masks::<ROWS, BLOCKS>(values, bytes, masks),
                    (true, false) => tile.masks::<ROWS, 1>(values, bytes, masks),
                    (false, true) => tile.masks::<1, ROW_BLOCKS>(values, bytes, masks),
                    (false, false) => tile.masks::<1, 1>(values, bytes, masks),
                }
            }
            block += if is_wide { wide } else { 1 };
        }
        row += if many { ROWS } else { 1 };
    }
}

struct Tile<'a> {
    width: usize,
    n_blocks: usize,
    bounds: &'a [i32],
}

impl Tile<'_> {
    /// The masks of `R` rows and `B` blocks.
    ///
    /// # Safety
    /// The requirements of [`vnni`]; the slices contain that many rows, blocks, and bounds, and `masks` reaches to
    /// block `B` of row `R`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512vnni,avx512bw")]
    // Indices, not iterators: iterator functions are not compiled for these instructions and remain calls.
    #[allow(clippy::needless_range_loop)]
    unsafe fn masks<const R: usize, const B: usize>(&self, rows: &[i8], packed: &[u8], masks: &mut [u16]) {
        let (values, bytes, block_bytes) = (rows.as_ptr(), packed.as_ptr(), self.width * INT8_ROWS);
        let mut sums = [[_mm512_setzero_si512(); B]; R];
        for step in 0..self.width / STEP_VALUES {
            let mut blocks = [_mm512_setzero_si512(); B];
            for b in 0..B {
                // SAFETY: step `step` of block `b` is within the packed bytes.
                blocks[b] = unsafe { _mm512_loadu_si512(bytes.add(b * block_bytes + step * STEP_BYTES).cast()) };
            }
            for r in 0..R {
                // SAFETY: four values of row `r`, starting at `4 step`, are within the rows.
                let four = unsafe { values.add(r * self.width + step * STEP_VALUES).cast::<i32>().read_unaligned() };
                let four = _mm512_set1_epi32(four);
                for b in 0..B {
                    sums[r][b] = _mm512_dpbusd_epi32(sums[r][b], blocks[b], four);
                }
            }
        }
        for r in 0..R {
            let bound = _mm512_set1_epi32(self.bounds[r]);
            for b in 0..B {
                masks[r * self.n_blocks + b] = _mm512_cmpge_epi32_mask(sums[r][b], bound);
            }
        }
    }
}
