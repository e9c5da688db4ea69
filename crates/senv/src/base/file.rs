//! Model files: the parameters as JSON, the vocabulary, one table of rows.

use std::path::Path;

use senv_core::{
    Error as CoreError, Rows, Table, Vocabulary,
    arrays::{Parameters, Tensor},
    files::Destination,
};
use senv_store::{ModelFile, ModelWriter};
use serde::Serialize;

use crate::{
    base::configuration::{self, Configuration},
    error::{Error, Result},
};

/// Name of the table in the file.
pub(crate) const ROWS: &str = "rows";

/// The parameters as JSON.
pub(crate) fn to_json(params: &impl Serialize) -> Result<String> {
    serde_json::to_string(params).map_err(|error| {
        CoreError::InvalidParameter { name: "parameters", requirement: "finite numbers", got: error.to_string() }.into()
    })
}

/// Writes a model.
pub(crate) fn write(
    kind: &str,
    params: &impl Serialize,
    vocabulary: &Vocabulary,
    rows: &dyn Rows,
    to: Destination<'_>,
) -> Result<()> {
    write_with(kind, params, vocabulary, rows, &[], to)
}

/// Writes a model with groups of dense parameters, whose names must all differ.
pub(crate) fn write_with(
    kind: &str,
    params: &impl Serialize,
    vocabulary: &Vocabulary,
    rows: &dyn Rows,
    groups: &[Parameters<f32>],
    to: Destination<'_>,
) -> Result<()> {
    let config = to_json(params)?;
    let writer = ModelWriter::new(kind).config(&config).vocabulary(vocabulary).table(ROWS, rows);
    let tensors = groups.iter().flat_map(Parameters::iter);
    Ok(tensors.fold(writer, |writer, tensor| writer.f32s(tensor.name(), tensor.values())).write(to)?)
}

/// Kinds that had another name in older files: the old and the current name.
const RENAMED: &[(&str, &str)] =
    &[("bow-autoencoder", "bow-ae"), ("rnn-autoencoder", "rnn-ae"), ("weighted-average", "weighted")];

/// Returns the current name of a kind.
pub(crate) fn present_kind(kind: &str) -> &str {
    RENAMED.iter().find(|(former, _)| *former == kind).map_or(kind, |(_, present)| present)
}

/// Reads the parts of a model of this kind: checked parameters, vocabulary, memory-mapped rows.
pub(crate) fn parts<C: Configuration>(kind: &str, file: &ModelFile) -> Result<(C, Vocabulary, Table)> {
    if present_kind(file.kind()) != kind {
        file.expect_kind(kind)?;
    }
    let vocabulary = file.vocabulary()?;
    Ok((configuration::read(file, vocabulary.len())?, vocabulary, file.table(ROWS)?))
}

/// Reads groups of dense parameters with the names and shapes of `forms`.
pub(crate) fn groups<const N: usize>(file: &ModelFile, forms: &[Parameters<f32>; N]) -> Result<[Parameters<f32>; N]> {
    let mut groups: [Parameters<f32>; N] = std::array::from_fn(|_| Parameters::new());
    for (group, form) in groups.iter_mut().zip(forms) {
        form.iter().try_for_each(|tensor| read_tensor(file, tensor.name(), tensor, group))?;
    }
    Ok(groups)
}

/// Appends to `group` the tensor called `name` in the file, with the name and shape of `form`.
pub(crate) fn read_tensor(file: &ModelFile, name: &str, form: &Tensor<f32>, group: &mut Parameters<f32>) -> Result<()> {
    let (values, [rows, columns]) = (file.f32s(name)?, form.shape());
    if values.len() != form.values().len() {
        let n = values.len();
        let reason = format!("tensor {name:?} has {n} values, expected {rows} rows of {columns}");
        return Err(Error::BadModel { path: file.path().to_owned(), reason });
    }
    group.push(form.name(), form.shape(), values)?;
    Ok(())
}

/// Returns the groups of a system that learns exactly `N`.
pub(crate) fn exactly<const N: usize>(groups: Vec<Parameters<f32>>) -> [Parameters<f32>; N] {
    let mut groups = groups.into_iter();
    std::array::from_fn(|_| groups.next().unwrap_or_default())
}

/// Refuses a table whose shape differs from that of vocabulary and configuration.
pub(crate) fn expect_rows(file: &ModelFile, rows: &Table, n_rows: usize, dim: usize) -> Result<()> {
    expect_table(file.path(), ROWS, rows, n_rows, dim)
}

/// Refuses the table of this name if its shape differs.
pub(crate) fn expect_table(path: &Path, name: &str, rows: &Table, n_rows: usize, dim: usize) -> Result<()> {
    if (rows.n_rows(), rows.dim()) == (n_rows, dim) {
        return Ok(());
    }
    let (r, d) = (rows.n_rows(), rows.dim());
    let reason = format!("table {name:?} has {r} rows of {d} values, expected {n_rows} rows of {dim}");
    Err(Error::BadModel { path: path.to_owned(), reason })
}

/// Checks the dimension of a table.
pub(crate) fn check_dim(dim: usize) -> Result<()> {
    if (1..=65_536).contains(&dim) {
        return Ok(());
    }
    Err(CoreError::InvalidParameter { name: "dim", requirement: "from 1 to 65536", got: dim.to_string() }.into())
}
