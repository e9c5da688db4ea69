//! `senv encode` with a Parquet or Arrow table as output.

use std::path::{Path, PathBuf};

use senv::{
    Model,
    jobs::{CoverageCounts, EncodeTableParams, encode_table},
};
use senv_core::{TextOptions, text::Shard};
use senv_store::VectorPrecision;

use crate::{
    argument::argument_of,
    commands::known_words::WordSample,
    failure::{Failure, Result},
    progress::Counter,
};

argument_of! {
    /// The type of values.
    enum Precision for VectorPrecision {
        F32,
        F16,
    }
}

/// Arguments for the vectors in a table.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct VectorColumnArgs {
    /// Name of the column of vectors in Parquet and Arrow.
    #[arg(long, value_name = "NAME", default_value = "vector")]
    vector_column: String,
    /// Type of the values in Parquet and Arrow.
    #[arg(long, value_name = "TYPE", default_value = "f32")]
    precision: Precision,
}

impl VectorColumnArgs {
    /// The settings that change an output.
    pub(super) fn settings(&self) -> [(&'static str, String); 2] {
        [
            ("--vector-column", self.vector_column.clone()),
            ("--precision", format!("{:?}", self.precision).to_lowercase()),
        ]
    }
}

/// Encodes all lines or rows of tables, and writes them with their vectors.
pub(super) fn encode(
    model: &Model,
    model_path: &Path,
    inputs: &[PathBuf],
    output: &Path,
    text: TextOptions,
    shard: Option<Shard>,
    args: &VectorColumnArgs,
) -> Result<CoverageCounts> {
    let (vector_column, precision) = (args.vector_column.clone(), args.precision.into());
    let params = EncodeTableParams { text, vector_column, precision, shard };
    let mut counts = CoverageCounts::default();
    let counter = Counter::new(true);
    let mut sample = WordSample::new(model_path, model);
    encode_table(model, inputs, output, &params, |rows| {
        for ((sentence, coverage), vector) in rows.sentences.iter().zip(rows.coverage).zip(rows.vectors.rows()) {
            model.check_finite(model_path, sentence, vector.as_slice().unwrap_or_default())?;
            counts.add_encoded(sentence, coverage, vector);
        }
        counter.add(rows.sentences.len() as u64);
        if !sample.is_complete() {
            counter.apart(|| sample.add(rows.sentences.iter().copied()));
        }
        Ok::<_, Failure>(())
    })?;
    counter.finish();
    sample.finish();
    Ok(counts)
}
