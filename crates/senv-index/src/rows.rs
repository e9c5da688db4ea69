//! The rows that are kept beside the codes, for exact cosines.

use std::{ops::Range, sync::OnceLock};

use senv_core::{
    Rows, Table,
    files::SharedBytes,
    kernels,
    static_model::{CompressedRows, RowEncoding},
};
use serde::{Deserialize, Serialize};

use crate::{Error, Result, values::Values};

/// Below this norm a vector counts as zero, as for `senv_core::kernels::cosine`.
pub(crate) const TINY: f32 = 1e-12;

/// What is kept of the rows beside their codes, to compute the cosines of the best candidates.
///
/// Exhaustive on purpose: sizes and cosines follow it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Rescoring {
    /// The rows as given, 4 bytes a value: cosines are exact.
    #[default]
    F32,
    /// 2 bytes a value: cosines are exact for rows that are rounded to 11 bits.
    F16,
    /// 1 byte a value: cosines are exact for rows that are rounded to 8 bits.
    Int8,
    /// Nothing: cosines are estimates from the codes, off by some .007 at 256 dimensions.
    None,
}

impl Rescoring {
    /// The encoding of [`CompressedRows`], for rows that are compressed.
    pub(crate) fn encoding(self) -> Option<RowEncoding> {
        match self {
            Self::F16 => Some(RowEncoding::F16),
            Self::Int8 => Some(RowEncoding::Int8),
            Self::F32 | Self::None => None,
        }
    }
}

/// Rows of fewer bits: row i is `scales[i]` times its stored values.
#[derive(Debug, Clone)]
pub(crate) struct StoredValues {
    pub(crate) encoding: RowEncoding,
    pub(crate) dim: usize,
    pub(crate) bytes: SharedBytes,
    pub(crate) scales: Values<f32>,
}

/// Rows as they are kept.
#[derive(Debug, Clone)]
pub(crate) enum StoredRows {
    /// With one over the norm of each row, once a search has computed them.
    F32(Table, OnceLock<Vec<f32>>),
    Compressed(StoredValues),
    None,
}

impl StoredRows {
    pub(crate) fn new(table: Table, rescoring: Rescoring) -> Result<Self> {
        Ok(match (rescoring, rescoring.encoding()) {
            (Rescoring::None, _) => Self::None,
            (_, None) => Self::F32(table, OnceLock::new()),
            (_, Some(encoding)) => {
                let rows = CompressedRows::compress(&table, encoding)?;
                let (dim, scales) = (rows.dim(), Values::Heap(rows.scales().to_vec()));
                Self::Compressed(StoredValues { encoding, dim, bytes: rows.stored(), scales })
            }
        })
    }

    /// Row `i` as it is kept, perhaps written to `space`; empty where no rows are kept.
    pub(crate) fn row<'a>(&'a self, i: usize, space: &'a mut Vec<f32>) -> &'a [f32] {
        match self {
            Self::F32(table, _) => table.row(i),
            Self::Compressed(rows) => {
                space.clear();
                space.resize(rows.dim, 0.0);
                let row_bytes = rows.encoding.row_bytes(rows.dim).unwrap_or(0);
                let stored = &rows.bytes[i * row_bytes..(i + 1) * row_bytes];
                rows.encoding.add_row(rows.scales.as_slice()[i], stored, space);
                space
            }
            Self::None => &[],
        }
    }

    /// These rows one after another, where they lie so in memory.
    pub(crate) fn contiguous(&self, rows: &Range<usize>) -> Option<&[f32]> {
        match self {
            Self::F32(table, _) if table.stride() == table.dim() => {
                table.values().get(rows.start * table.dim()..rows.end * table.dim())
            }
            _ => None,
        }
    }

    /// One over the norms of all rows ([`inverse_norm`]), where they are known.
    pub(crate) fn inverse_norms(&self) -> Option<&[f32]> {
        match self {
            Self::F32(_, norms) => norms.get().map(Vec::as_slice),
            _ => None,
        }
    }

    /// Keeps them, in parts, for searches to come: 4 bytes a row. Those of compressed rows are not kept, whose values
    /// take longer to read than their norms.
    pub(crate) fn keep_inverse_norms(&self, n: usize, parts: Vec<Vec<f32>>) {
        let Self::F32(table, norms) = self else { return };
        let mut all = Vec::new();
        // Without the memory for them they are computed each time.
        if n == table.n_rows() && all.try_reserve_exact(n).is_ok() {
            parts.iter().for_each(|part| all.extend_from_slice(part));
            let _ = norms.set(all);
        }
    }

    pub(crate) fn is_none(&self) -> bool {
        matches!(self, Self::None)
    }
}

/// 1 / norm; 0 for a vector that counts as zero, or whose norm overflows.
pub(crate) fn inverse_norm(row: &[f32]) -> f32 {
    let norm = kernels::norm(row);
    if norm.is_finite() && norm >= TINY { 1.0 / norm } else { 0.0 }
}

/// The unit vector of a query; `None` for one that counts as zero.
///
/// # Errors
/// [`senv_core::Error::ShapeMismatch`] for another dimension; [`senv_core::Error::InvalidParameter`] for NaN or an
/// infinite number.
pub(crate) fn unit(query: &[f32], dim: usize) -> Result<Option<Vec<f32>>> {
    if query.len() != dim {
        return Err(senv_core::Error::ShapeMismatch { what: "query", expected: dim, got: query.len() }.into());
    }
    if let Some(x) = query.iter().find(|x| !x.is_finite()) {
        let (requirement, got) = ("finite in every number", x.to_string());
        return Err(senv_core::Error::InvalidParameter { name: "query", requirement, got }.into());
    }
    // In f64, where no square of an f32 overflows.
    let norm = query.iter().map(|&x| f64::from(x) * f64::from(x)).sum::<f64>().sqrt();
    let unit = || query.iter().map(|&x| (f64::from(x) / norm) as f32).collect();
    Ok((norm >= f64::from(TINY)).then(unit))
}

/// The first row that holds NaN or an infinite number.
pub(crate) fn check_finite(rows: &Table) -> Result<()> {
    use rayon::prelude::*;
    let is_bad = |&row: &usize| !rows.row(row).iter().fold(true, |finite, x| finite & x.is_finite());
    match (0..rows.n_rows()).into_par_iter().with_min_len(1024).find_first(is_bad) {
        Some(row) => Err(Error::NonFinite { row }),
        None => Ok(()),
    }
}
