//! The rows stored with the codes, for exact cosines.

use std::{ops::Range, sync::OnceLock};

use senv_core::{
    Rows, Table,
    files::SharedBytes,
    kernels,
    static_model::{CompressedRows, RowEncoding},
};
use serde::{Deserialize, Serialize};

use crate::{Error, Result, values::Values};

/// A vector with a smaller norm counts as zero, as in `senv_core::kernels::cosine`.
pub(crate) const TINY: f32 = 1e-12;

/// How rows are stored in addition to their codes, to compute the cosines of the best candidates.
///
/// Exhaustive on purpose: sizes and cosines depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Rescoring {
    /// The rows as given, 4 bytes per value: cosines are exact.
    #[default]
    F32,
    /// 2 bytes per value: cosines are exact for rows rounded to 11 bits.
    F16,
    /// 1 byte per value: cosines are exact for rows rounded to 8 bits.
    Int8,
    /// Nothing: cosines are estimates from the codes, with an error of about 0.007 at 256 dimensions.
    None,
}

impl Rescoring {
    /// The encoding of [`CompressedRows`], for compressed rows.
    pub(crate) fn encoding(self) -> Option<RowEncoding> {
        match self {
            Self::F16 => Some(RowEncoding::F16),
            Self::Int8 => Some(RowEncoding::Int8),
            Self::F32 | Self::None => None,
        }
    }

    /// Whether no vectors are stored.
    pub(crate) fn is_none(self) -> bool {
        self == Self::None
    }
}

/// Rows with fewer bits: row i is `scales[i]` times its stored values.
#[derive(Debug, Clone)]
pub(crate) struct StoredValues {
    pub(crate) encoding: RowEncoding,
    pub(crate) dim: usize,
    pub(crate) bytes: SharedBytes,
    pub(crate) scales: Values<f32>,
}

#[derive(Debug, Clone)]
pub(crate) enum StoredRows {
    /// With 1 / norm of each row, once a search has computed them.
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

    /// Row `i` as stored, possibly decoded into `space`; empty if no rows are stored.
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

    /// These rows as one slice, if they are contiguous in memory.
    pub(crate) fn contiguous(&self, rows: &Range<usize>) -> Option<&[f32]> {
        match self {
            Self::F32(table, _) if table.stride() == table.dim() => {
                table.values().get(rows.start * table.dim()..rows.end * table.dim())
            }
            _ => None,
        }
    }

    /// 1 / norm of all rows ([`inverse_norm`]), if known.
    pub(crate) fn inverse_norms(&self) -> Option<&[f32]> {
        match self {
            Self::F32(_, norms) => norms.get().map(Vec::as_slice),
            _ => None,
        }
    }

    /// Stores the inverse norms, given in parts, for later searches: 4 bytes per row. Compressed rows are excluded, as
    /// reading their values takes longer than computing norms.
    pub(crate) fn keep_inverse_norms(&self, n: usize, parts: Vec<Vec<f32>>) {
        let Self::F32(table, norms) = self else { return };
        let mut all = Vec::new();
        // If memory is insufficient, they are computed each time.
        if n == table.n_rows() && all.try_reserve_exact(n).is_ok() {
            parts.iter().for_each(|part| all.extend_from_slice(part));
            let _ = norms.set(all);
        }
    }

    pub(crate) fn is_none(&self) -> bool {
        matches!(self, Self::None)
    }
}

/// 1 / norm; 0 for a vector that counts as zero, or if the norm overflows.
pub(crate) fn inverse_norm(row: &[f32]) -> f32 {
    let norm = kernels::norm(row);
    if norm.is_finite() && norm >= TINY { 1.0 / norm } else { 0.0 }
}

/// The unit vector of a query; `None` if the query counts as zero.
///
/// # Errors
/// [`senv_core::Error::ShapeMismatch`] if the dimension differs; [`senv_core::Error::InvalidParameter`] for NaN or
/// infinity.
pub(crate) fn unit(query: &[f32], dim: usize) -> Result<Option<Vec<f32>>> {
    if query.len() != dim {
        return Err(senv_core::Error::ShapeMismatch { what: "query", expected: dim, got: query.len() }.into());
    }
    if let Some(x) = query.iter().find(|x| !x.is_finite()) {
        let (requirement, got) = ("finite in every number", x.to_string());
        return Err(senv_core::Error::InvalidParameter { name: "query", requirement, got }.into());
    }
    // In f64 no square of an f32 overflows.
    let norm = query.iter().map(|&x| f64::from(x) * f64::from(x)).sum::<f64>().sqrt();
    let unit = || query.iter().map(|&x| (f64::from(x) / norm) as f32).collect();
    Ok((norm >= f64::from(TINY)).then(unit))
}

/// Returns an error for the first row that contains NaN or infinity.
pub(crate) fn check_finite(rows: &Table) -> Result<()> {
    use rayon::prelude::*;
    let is_bad = |&row: &usize| !rows.row(row).iter().fold(true, |finite, x| finite & x.is_finite());
    match (0..rows.n_rows()).into_par_iter().with_min_len(1024).find_first(is_bad) {
        Some(row) => Err(Error::NonFinite { row }),
        None => Ok(()),
    }
}
