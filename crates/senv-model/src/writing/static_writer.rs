//! Writes a static encoder as a model file of kind `static`; the format is specified in `docs/format.md`.

use std::{io::Write, path::Path};

use senv_base::{Error, Result};

use super::{Destination, ModelWriter};
use crate::{
    StaticEncoder,
    files::RawTensor,
    static_model::{
        file::{KIND, LENGTH, ROWS, SCALES},
        order::{
            OrderPart, OrderValues,
            file::{F_BIAS, FIRST_STATE, LENGTH_SLOPE, MAP_SCALES, MAPS, SCALAR_BIAS, SCALARS},
        },
    },
};

impl StaticEncoder {
    /// Writes the model with an atomic replace. The same encoder gives the same bytes.
    ///
    /// # Errors
    /// [`Error::Io`] if the file cannot be written; [`Error::TooLarge`] if there is no memory for a copy of truncated
    /// rows.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        self.write(Destination::File(path.as_ref()))
    }

    /// Writes the bytes of the file to a writer.
    ///
    /// # Errors
    /// The errors of [`StaticEncoder::save`].
    pub fn write_to(&self, mut writer: impl Write) -> Result<()> {
        self.write(Destination::Writer(&mut writer))
    }

    /// Writes the model to its destination.
    ///
    /// # Errors
    /// The errors of [`StaticEncoder::save`].
    pub fn write(&self, to: Destination<'_>) -> Result<()> {
        let config = serde_json::to_string(&self.config())
            .map_err(|e| Error::BadFile { path: to.path().to_owned(), reason: format!("bad configuration: {e}") })?;
        self.write_as(KIND, &config, to)
    }

    /// Writes the vocabulary, the rows and the order part as parts of a model of a different kind, with its
    /// configuration.
    ///
    /// # Errors
    /// The errors of [`StaticEncoder::save`].
    pub fn write_as(&self, kind: &str, config: &str, to: Destination<'_>) -> Result<()> {
        let (encoding, dim) = (self.rows.encoding(), self.rows.dim());
        let shape = vec![self.rows.n_rows(), encoding.columns(dim)];
        let rows = RawTensor { dtype: encoding.dtype().to_owned(), shape, bytes: self.rows.packed()? };
        let writer = ModelWriter::new(kind).config(config).vocabulary(&self.vocabulary).raw(ROWS, &rows);
        let mut writer = writer.f32s(SCALES, self.rows.scales());
        let order = match &self.order {
            Some(part) => Some((part, part.raw_maps()?)),
            None => None,
        };
        if let Some((part, maps)) = &order {
            writer = part.write(maps, writer);
        }
        match &self.unknown_word_length {
            Some(length) => writer.f32s(LENGTH, std::slice::from_ref(length)).write(to),
            None => writer.write(to),
        }
    }
}

impl OrderPart {
    /// The maps as stored.
    fn raw_maps(&self) -> Result<RawTensor> {
        let maps = &self.values().maps;
        let (encoding, width) = (maps.encoding(), maps.dim());
        let shape = vec![maps.n_rows(), encoding.columns(width)];
        Ok(RawTensor { dtype: encoding.dtype().to_owned(), shape, bytes: maps.packed()? })
    }

    /// Adds the tensors to a model that is being written.
    fn write<'w>(&'w self, maps: &'w RawTensor, writer: ModelWriter<'w>) -> ModelWriter<'w> {
        let OrderValues { maps: rows, scalars, scalar_bias, f_bias, length_slope, first_state } = self.values();
        let slope = std::slice::from_ref(length_slope);
        let writer = writer.raw(MAPS, maps).f32s(MAP_SCALES, rows.scales()).f32s(SCALARS, scalars);
        writer
            .f32s(SCALAR_BIAS, scalar_bias)
            .f32s(F_BIAS, f_bias)
            .f32s(LENGTH_SLOPE, slope)
            .f32s(FIRST_STATE, first_state)
    }
}
