//! A memory-mapped index in a file; `docs/format.md` describes the layout.

use std::{path::Path, sync::OnceLock};

use rayon::prelude::*;
use senv_core::{ModelFile, ModelWriter, Rows, Table, files::RawTensor};
use serde::Deserialize;

use crate::{
    Error, Rescoring, Result,
    checks::{self, Checked, Checks, RowChecks},
    code_kernels::PLANE_ROWS,
    codes::Coder,
    index::{IndexCells, IndexConfig, VectorIndex, check_size},
    planes::{Planes, block_bytes, blocks_of, low_bytes},
    rows::{StoredRows, StoredValues},
    values::{Values, is_finite_half, tensor},
};

/// The kind of the file.
pub(crate) const KIND: &str = "index";

/// The layout version of an index file and a collection's manifest.
pub(crate) const VERSION: u32 = 2;

/// Rejects layout versions other than those from the current one to `newest`.
///
/// # Errors
/// [`senv_core::Error::NewerVersion`], or [`Error::OldVersion`].
pub(crate) fn check_version(path: &Path, found: u64, newest: u32) -> Result<()> {
    let path = path.to_owned();
    if found > u64::from(newest) {
        return Err(senv_core::Error::NewerVersion { path, found: found.to_string(), supported: newest }.into());
    }
    if found < u64::from(VERSION) {
        return Err(Error::OldVersion { path, found, supported: VERSION });
    }
    Ok(())
}

/// The version in a file's configuration; absent in the first layout.
#[derive(Deserialize)]
struct Version {
    #[serde(default = "first_version")]
    version: u64,
}

fn first_version() -> u64 {
    1
}

/// The tensors of a file being written.
#[derive(Debug, Default)]
pub(crate) struct Tensors {
    named: Vec<(String, RawTensor)>,
}

impl Tensors {
    pub(crate) fn add(&mut self, name: &str, tensor: RawTensor) {
        self.named.push((name.to_owned(), tensor));
    }

    /// Adds a tensor with checksums of its blocks.
    pub(crate) fn add_checked(&mut self, name: &str, added: RawTensor) {
        let row_bytes = added.bytes.len() / added.shape[0].max(1);
        self.add(&format!("checks.{name}"), tensor("U32", &checks::sums(&added.bytes, row_bytes)));
        self.add(name, added);
    }

    pub(crate) fn write_into<'a>(&'a self, writer: ModelWriter<'a>) -> ModelWriter<'a> {
        self.named.iter().fold(writer, |writer, (name, tensor)| writer.raw(name, tensor))
    }
}

/// Reads a tensor whose blocks are checked against their checksums.
pub(crate) fn checked(file: &ModelFile, path: &Path, name: &'static str, tensor: &RawTensor) -> Result<Checked> {
    let row_bytes = tensor.bytes.len() / tensor.shape.first().copied().unwrap_or(0).max(1);
    let sums = file.u32s(&format!("checks.{name}"))?;
    if sums.len() != tensor.bytes.len().div_ceil(checks::block_len(row_bytes)) {
        return Err(damaged(
            path,
            name,
            format!("there are {} checksums for {} bytes", sums.len(), tensor.bytes.len()),
        ));
    }
    Ok(Checked::new(path, name, tensor.bytes.clone(), row_bytes, sums))
}

pub(crate) fn damaged(path: &Path, name: &str, reason: String) -> Error {
    Error::Damaged { path: path.to_owned(), what: format!("tensor {name:?}"), reason }
}

/// Reads a tensor of this type and shape.
pub(crate) fn shaped(file: &ModelFile, path: &Path, name: &str, dtype: &str, shape: &[usize]) -> Result<RawTensor> {
    let tensor = file.raw(name)?;
    if tensor.dtype != dtype || tensor.shape != shape {
        return Err(damaged(
            path,
            name,
            format!("it is {} {:?}, expected {dtype} {shape:?}", tensor.dtype, tensor.shape),
        ));
    }
    Ok(tensor)
}

impl VectorIndex {
    /// Writes the index to a file, with an atomic replace.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("rows.index");
    /// use senv_core::Table;
    /// use senv_index::{IndexParams, Search, VectorIndex};
    /// VectorIndex::build(Table::from_vec(2, 2, vec![1.0, 0.0, 0.0, 2.0])?, &IndexParams::default())?.save(&path)?;
    /// let index = VectorIndex::open(&path)?;
    /// assert_eq!(index.search(&[0.0, 5.0], &Search::new(1))?[0].row, 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`senv_core::Error::Io`] if the file cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        self.save_with(path.as_ref(), Tensors::default(), ModelWriter::new(KIND))
    }

    /// Writes the index with additional tensors.
    pub(crate) fn save_with(&self, path: &Path, mut tensors: Tensors, writer: ModelWriter<'_>) -> Result<()> {
        let config = serde_json::to_string(&self.config).map_err(|e| {
            let (path, what) = (path.to_owned(), "the configuration".to_owned());
            senv_core::Error::BadWrite { path, what, reason: e.to_string() }
        })?;
        let planes = &self.planes;
        let shape = vec![planes.n_blocks(), block_bytes(self.dim())];
        tensors.add_checked("codes.top", RawTensor { dtype: "U8".into(), shape, bytes: planes.top.clone() });
        tensors.add_checked("code_factors.top", tensor("BF16", planes.top_factors.as_slice()));
        let shape = vec![self.len(), low_bytes(self.dim())];
        tensors.add_checked("codes.low", RawTensor { dtype: "U8".into(), shape, bytes: planes.low.clone() });
        tensors.add_checked("code_factors", tensor("BF16", planes.factors.as_slice()));
        if let Some(cells) = &self.cells {
            tensors.add("cells.centroids", tensor("F32", &cells.centroids));
            tensors.add("cells.starts", tensor("U32", &cells.starts));
            tensors.add_checked("cells.rows", tensor("U32", cells.lane_rows.as_slice()));
        }
        let mut table = None;
        match &self.rows {
            StoredRows::F32(rows, _) => {
                tensors.add("checks.rows", tensor("U32", &table_sums(rows)));
                table = Some(rows);
            }
            StoredRows::Compressed(rows) => {
                let dtype = dtype(self.config.params.rescoring).to_owned();
                let scales = rows.scales.as_slice();
                let shape = vec![scales.len(), rows.dim];
                tensors.add_checked("rows", RawTensor { dtype, shape, bytes: rows.bytes.clone() });
                tensors.add_checked("row_scales", tensor("F32", scales));
            }
            StoredRows::None => {}
        }
        let writer = tensors.write_into(writer.config(&config));
        let writer = match table {
            Some(rows) => writer.table("rows", rows),
            None => writer,
        };
        Ok(writer.save(path)?)
    }

    /// Memory-maps a file. The time this takes grows with the number of checksums, not of rows. Each part is checked
    /// against its checksum when a search first reads it.
    ///
    /// # Errors
    /// [`senv_core::Error`] if it is not a model file of this kind, or its header is damaged; [`Error::Damaged`] if its
    /// parts do not fit together.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let file = ModelFile::open(path.as_ref())?;
        Self::from_file(&file, path.as_ref())
    }

    pub(crate) fn from_file(file: &ModelFile, path: &Path) -> Result<Self> {
        file.expect_kind(KIND)?;
        let bad = |reason: String| Error::Damaged { path: path.to_owned(), what: "the configuration".into(), reason };
        let config = file.config().unwrap_or("");
        let Version { version } = serde_json::from_str(config).map_err(|e| bad(e.to_string()))?;
        check_version(path, version, VERSION)?;
        let config: IndexConfig = serde_json::from_str(config).map_err(|e| bad(e.to_string()))?;
        let IndexConfig { rows: n, dim, n_cells, .. } = config;
        check_size(n, dim).map_err(|e| bad(e.to_string()))?;
        let blocks = config.params.blocks(dim).map_err(|e| bad(e.to_string()))?;
        let shares_fit = config.shares.len() == blocks.len() && config.shares.iter().all(|s| s.is_finite() && *s > 0.0);
        if !shares_fit {
            return Err(bad(format!("it has shares {:?} for {} blocks", config.shares, blocks.len())));
        }
        let coder = Coder::new(config.params.seed, &blocks, &config.shares);
        let n_blocks =
            if n_cells == 0 { blocks_of(n) } else { file.raw("codes.top")?.shape.first().copied().unwrap_or(0) };
        let top = shaped(file, path, "codes.top", "U8", &[n_blocks, block_bytes(dim)])?;
        let lanes = n_blocks * PLANE_ROWS;
        let top_factors = shaped(file, path, "code_factors.top", "BF16", &[lanes])?;
        let low = shaped(file, path, "codes.low", "U8", &[n, low_bytes(dim)])?;
        let factors = shaped(file, path, "code_factors", "BF16", &[n])?;
        let (mut cells, mut lane_rows) = (None, None);
        if n_cells > 0 {
            let rows = shaped(file, path, "cells.rows", "U32", &[lanes])?;
            lane_rows = Some(checked(file, path, "cells.rows", &rows)?);
            cells = Some(read_cells(file, path, n_cells, dim, n_blocks, &rows)?);
        }
        let (rows, rows_check) = read_rows(file, path, &config)?;
        let checks = Checks {
            top: checked(file, path, "codes.top", &top)?,
            top_factors: checked(file, path, "code_factors.top", &top_factors)?,
            lane_rows,
            low_bytes: low_bytes(dim),
            low: checked(file, path, "codes.low", &low)?,
            factors: checked(file, path, "code_factors", &factors)?,
            rows: rows_check,
        };
        let planes = Planes {
            top: top.bytes,
            top_factors: Values::from_file(path, "code_factors.top", top_factors.bytes)?,
            low: low.bytes,
            factors: Values::from_file(path, "code_factors", factors.bytes)?,
        };
        Ok(Self { config, coder, planes, rows, cells, checks: Some(checks) })
    }

    /// Checks all parts of a file against their checksums, on all threads; does nothing for an index in memory.
    ///
    /// # Errors
    /// [`Error::Damaged`] for a part that does not match.
    pub fn verify(&self) -> Result<()> {
        let Some(checks) = &self.checks else { return Ok(()) };
        checks.all()?;
        let mut lanes = self.cells.iter().flat_map(|cells| cells.lane_rows.as_slice());
        if let Some(&row) = lanes.find(|&&row| row as usize >= self.len().max(1)) {
            return Err(checks.no_such_row(row as usize, self.len()));
        }
        let (top, whole) = (self.planes.top_factors.as_slice(), self.planes.factors.as_slice());
        match top.iter().chain(whole).find(|&&half| !is_finite_half(half)) {
            Some(half) => Err(Error::Damaged {
                path: checks.path().to_owned(),
                what: "a factor".into(),
                reason: format!("it is not finite (bits {half:04x})"),
            }),
            None => Ok(()),
        }
    }
}

fn read_cells(
    file: &ModelFile,
    path: &Path,
    n_cells: usize,
    dim: usize,
    n_blocks: usize,
    rows: &RawTensor,
) -> Result<IndexCells> {
    let wrong = |name, found: usize| damaged(path, name, format!("it has {found} values for {n_cells} cells"));
    let (centroids, starts) = (file.f32s("cells.centroids")?, file.u32s("cells.starts")?);
    if n_cells.checked_mul(dim) != Some(centroids.len()) {
        return Err(wrong("cells.centroids", centroids.len()));
    }
    let rises = starts.windows(2).all(|pair| pair[0] <= pair[1]);
    let ends = (starts.first(), starts.last()) == (Some(&0), Some(&(n_blocks as u32)));
    if n_cells.checked_add(1) != Some(starts.len()) || !rises || !ends {
        return Err(wrong("cells.starts", starts.len()));
    }
    Ok(IndexCells { centroids, starts, lane_rows: Values::from_file(path, "cells.rows", rows.bytes.clone())? })
}

/// The rows in place, with the checks for their bytes.
fn read_rows(file: &ModelFile, path: &Path, config: &IndexConfig) -> Result<(StoredRows, Option<RowChecks>)> {
    let rescoring = config.params.rescoring;
    if rescoring == Rescoring::None {
        return Ok((StoredRows::None, None));
    }
    let tensor = shaped(file, path, "rows", dtype(rescoring), &[config.rows, config.dim])?;
    let row_bytes = tensor.bytes.len() / config.rows.max(1);
    let check = checked(file, path, "rows", &tensor)?;
    let mut scales = None;
    let rows = match rescoring.encoding() {
        None => StoredRows::F32(Table::from_shared(path, tensor.bytes, config.rows, config.dim)?, OnceLock::new()),
        Some(encoding) => {
            let found = shaped(file, path, "row_scales", "F32", &[config.rows])?;
            scales = Some(checked(file, path, "row_scales", &found)?);
            let values = Values::from_file(path, "row_scales", found.bytes)?;
            StoredRows::Compressed(StoredValues { encoding, dim: config.dim, bytes: tensor.bytes, scales: values })
        }
    };
    Ok((rows, Some(RowChecks { row_bytes, rows: check, scales })))
}

/// The type of the tensor `rows`.
fn dtype(rescoring: Rescoring) -> &'static str {
    match rescoring {
        Rescoring::F32 | Rescoring::None => "F32",
        Rescoring::F16 => "F16",
        Rescoring::Int8 => "I8",
    }
}

/// The checksums of a table, which can have gaps between its rows.
fn table_sums(rows: &Table) -> Vec<u32> {
    let block = checks::block_len(rows.dim() * 4) / (rows.dim() * 4).max(1);
    let starts = (0..rows.n_rows()).into_par_iter().step_by(block.max(1));
    let sum = |start: usize| {
        let mut hasher = crc32fast::Hasher::new();
        for i in start..rows.n_rows().min(start + block) {
            hasher.update(bytemuck::cast_slice(Rows::row(rows, i)));
        }
        hasher.finalize()
    };
    starts.map(sum).collect()
}
