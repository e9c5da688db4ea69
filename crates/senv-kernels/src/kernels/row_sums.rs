//! Sums of stored rows, with four bytes or fewer per value. Checks lengths and uses the best SIMD level of the
//! processor.

use super::{Level, check_len, dispatch, int4_sum::Int4Rows};
use senv_base::{RowId, TokenId};

/// `y += c x` for `x` in little-endian f32.
///
/// # Panics
/// If `x` does not have four bytes per value.
#[doc(hidden)]
#[inline]
pub fn add_f32(c: f32, x: &[u8], y: &mut [f32]) {
    check_len(x.len(), 4 * y.len());
    dispatch::add_f32_row(Level::best(), c, x, y);
}

/// `y += c x` for `x` in little-endian binary16.
///
/// # Panics
/// If `x` does not have two bytes per value.
#[doc(hidden)]
#[inline]
pub fn add_f16(c: f32, x: &[u8], y: &mut [f32]) {
    check_len(x.len(), 2 * y.len());
    dispatch::add_f16_row(Level::best(), c, x, y);
}

/// `y += c x` for `x` in signed bytes.
///
/// # Panics
/// If the lengths differ.
#[doc(hidden)]
#[inline]
pub fn add_int8(c: f32, x: &[u8], y: &mut [f32]) {
    check_len(x.len(), y.len());
    dispatch::add_int8_row(Level::best(), c, x, y);
}

/// `y += c x` for `x` in signed half bytes, the lower half first.
///
/// # Panics
/// If `x` does not have half a byte, rounded up, per value.
#[doc(hidden)]
#[inline]
pub fn add_int4(c: f32, x: &[u8], y: &mut [f32]) {
    check_len(x.len(), y.len().div_ceil(2));
    dispatch::add_int4_row(Level::best(), c, x, y);
}

/// `out = Σ_{r in ids} s_r q_r`, starting from zero, in the given order.
///
/// # Panics
/// If an id is out of range, or the stride is shorter than the codes of `out`.
#[doc(hidden)]
#[inline]
pub fn sum_int4(rows: Int4Rows<'_>, ids: &[TokenId], out: &mut [f32]) {
    let n_rows = rows.scales.len();
    let fits = rows.stride.checked_mul(n_rows).is_some_and(|bytes| bytes <= rows.codes.len());
    assert!(fits && out.len().div_ceil(2) <= rows.stride, "{} values of {n_rows} rows", out.len());
    let ids: &[u32] = bytemuck::cast_slice(ids);
    assert!(ids.iter().fold(0, |last, &id| last.max(id as usize)) < n_rows || ids.is_empty(), "a row of {n_rows}");
    dispatch::sum_int4_rows(Level::best(), rows, ids, out);
}

/// `out = c Σ_{r in rows} v_r`, where row `r` of `values` starts at index `r stride`.
///
/// Rows are added in the given order, starting from zero, and the sum is scaled last: bit-identical to
/// [`add`](super::add) and [`scale`](super::scale).
///
/// # Panics
/// If `values` is too short for a row.
#[inline]
pub fn sum_rows(values: &[f32], stride: usize, rows: &[RowId], c: f32, out: &mut [f32]) {
    if let Some(last) = rows.iter().max() {
        let end = last.index().checked_mul(stride).and_then(|start| start.checked_add(out.len()));
        let got = values.len();
        assert!(end.is_some_and(|end| end <= got), "{got} values do not reach to row {} in steps of {stride}", last.0);
    }
    dispatch::sum_rows(Level::best(), values, stride, bytemuck::cast_slice(rows), c, out);
}
