//! The tensors of an order part in a model file; the format is specified in `docs/format.md`.

use super::{OrderConfig, OrderPart, OrderValues};
use crate::{ModelFile, Vocabulary, static_model::CompressedRows};
use senv_base::{Error, Result};

pub(crate) const MAPS: &str = "order.maps";
pub(crate) const MAP_SCALES: &str = "order.map_scales";
pub(crate) const SCALARS: &str = "order.scalars";
pub(crate) const SCALAR_BIAS: &str = "order.scalar_bias";
pub(crate) const F_BIAS: &str = "order.f_bias";
pub(crate) const LENGTH_SLOPE: &str = "order.length_bias";
pub(crate) const FIRST_STATE: &str = "order.first_state_bias";

impl OrderPart {
    /// Reads the order part of an open model file.
    ///
    /// # Errors
    /// [`Error::MissingTensor`], [`Error::WrongTensor`] and [`Error::Checksum`] for a tensor; [`Error::BadFile`] if
    /// numbers do not fit each other or are out of range.
    pub(crate) fn from_file(
        file: &ModelFile,
        config: OrderConfig,
        vocabulary: &Vocabulary,
        table_dim: usize,
    ) -> Result<Self> {
        let bad = |reason: String| Error::BadFile { path: file.path().to_owned(), reason };
        let maps = file.raw(MAPS)?;
        let width = config.dim.saturating_mul(3);
        let shape = [table_dim.saturating_add(config.random_features), config.encoding.columns(width)];
        if maps.dtype != config.encoding.dtype() || maps.shape != shape {
            return Err(Error::WrongTensor {
                path: file.path().to_owned(),
                name: MAPS.to_owned(),
                found: format!("{} {:?}", maps.dtype, maps.shape),
                expected: format!("{} {shape:?}", config.encoding.dtype()),
            });
        }
        let maps = CompressedRows::from_parts(file.path(), config.encoding, width, maps.bytes, file.f32s(MAP_SCALES)?)?;
        let (scalar_bias, slope) = (file.f32s(SCALAR_BIAS)?, file.f32s(LENGTH_SLOPE)?);
        let ([s_a, s_b, u], [length_slope]) = (&scalar_bias[..], &slope[..]) else {
            let (n, m) = (scalar_bias.len(), slope.len());
            return Err(bad(format!("{n} values of {SCALAR_BIAS:?} and {m} of {LENGTH_SLOPE:?}, expected 3 and 1")));
        };
        let values = OrderValues {
            maps,
            scalars: file.f32s(SCALARS)?,
            scalar_bias: [*s_a, *s_b, *u],
            f_bias: file.f32s(F_BIAS)?,
            length_slope: *length_slope,
            first_state: file.f32s(FIRST_STATE)?,
        };
        Self::new(config, values, vocabulary, table_dim).map_err(|error| match error {
            Error::InvalidParameter { .. } | Error::ShapeMismatch { .. } => bad(error.to_string()),
            error => error,
        })
    }
}
