//! The numbers of a trained order part.

use crate::static_model::CompressedRows;
use senv_base::{Error, Result};

/// The largest absolute value of a number in the part.
pub(super) const LIMIT: f32 = 1e6;

/// The numbers of a trained order part; D is the dimension of the table, n = D + k.
#[derive(Debug, Clone)]
pub struct OrderValues {
    /// M: `n` rows of `3d` values: those of A, then B, then F.
    pub maps: CompressedRows,
    /// S: shape `(n, 3)`, row by row.
    pub scalars: Vec<f32>,
    /// s_0.
    pub scalar_bias: [f32; 3],
    /// f_0, `d` values.
    pub f_bias: Vec<f32>,
    /// u_1.
    pub length_slope: f32,
    /// h_0, `d` values.
    pub first_state: Vec<f32>,
}

impl OrderValues {
    /// Rejects numbers whose products might overflow.
    pub(super) fn check(&self) -> Result<()> {
        let Self { maps, scalars, scalar_bias, f_bias, length_slope, first_state } = self;
        let bad = |x: f32| !(-LIMIT..=LIMIT).contains(&x);
        let mut row = vec![0.0; maps.dim()];
        let in_maps = (0..maps.n_rows()).any(|i| {
            maps.row_into(i, &mut row);
            row.iter().any(|&x| bad(x))
        });
        let others = scalars.iter().chain(scalar_bias).chain(f_bias).chain([length_slope]).chain(first_state);
        if in_maps || others.copied().any(bad) {
            let (name, requirement) = ("number of the order part", "finite and at most 1e6");
            return Err(Error::InvalidParameter { name, requirement, got: "NaN or a larger number".into() });
        }
        Ok(())
    }
}
