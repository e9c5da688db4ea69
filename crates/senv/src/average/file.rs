//! Averages in model files: rows, weights, and vectors of unknown words.

use senv_core::files::Destination;
use senv_store::ModelWriter;
use serde::Serialize;

use super::{encoder::AverageEncoder, weighting::Weighting};
use crate::{
    base::file::{ROWS, to_json},
    error::Result,
};

/// Writes an average of rows with its weights.
pub(crate) fn write_average(
    kind: &str,
    params: &impl Serialize,
    encoder: &AverageEncoder,
    to: Destination<'_>,
) -> Result<()> {
    let config = to_json(params)?;
    let writer = ModelWriter::new(kind).config(&config).vocabulary(encoder.vocabulary()).table(ROWS, encoder.rows());
    let writer = match encoder.weighting() {
        Some(weighting) => Weighting::save_into(weighting, writer),
        None => writer,
    };
    let writer = match encoder.hashed() {
        Some(hashed) => hashed.save_into(writer),
        None => writer,
    };
    Ok(writer.write(to)?)
}
