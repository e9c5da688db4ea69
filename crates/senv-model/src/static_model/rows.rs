//! A table of compressed rows.

use std::{path::Path, sync::Arc};

use super::{RowEncoding, compress::compress};
use senv_base::{Error, Result, SharedBytes, TokenId};
use senv_kernels::{Table, kernels};

/// Compressed rows of a table, in memory, in a memory-mapped file or in the program itself; clones share them.
///
/// Row `i` is `scale_i q_i`, with one scale per row and one stored number per value.
///
/// ```
/// use senv_core::{Table, static_model::{CompressedRows, RowEncoding}};
/// let table = Table::from_vec(1, 4, vec![0.5, -1.0, 0.25, 1.0])?;
/// let rows = CompressedRows::compress(&table, RowEncoding::Int8)?;
/// let mut row = [0.0; 4];
/// rows.row_into(0, &mut row);
/// assert!(row.iter().zip([0.5, -1.0, 0.25, 1.0]).all(|(x, exact)| (x - exact).abs() < 0.01));
/// assert_eq!((rows.n_rows(), rows.dim(), rows.n_bytes()), (1, 4, 4 + 4));
/// # Ok::<(), senv_core::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct CompressedRows {
    encoding: RowEncoding,
    bytes: SharedBytes,
    scales: Arc<[f32]>,
    /// The used values per row.
    dim: usize,
    /// The bytes from row to row, including unused values.
    row_bytes: usize,
}

impl CompressedRows {
    /// Compresses each row separately, on all threads of the current rayon pool. The scale minimizes the squared error
    /// of the row. The result depends only on the table.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for NaN, infinite numbers or rows without values; [`Error::TooLarge`] if memory runs
    /// out.
    pub fn compress(table: &Table, encoding: RowEncoding) -> Result<Self> {
        let (bytes, scales) = compress(table, encoding)?;
        let row_bytes = encoding.row_bytes(table.dim()).unwrap_or(0);
        Ok(Self { encoding, bytes: bytes.into(), scales: scales.into(), dim: table.dim(), row_bytes })
    }

    /// Creates rows of `dim` values from stored bytes, one row after another, and their scales. Bytes are used in
    /// place. Errors name `path`.
    ///
    /// ```
    /// use senv_core::static_model::{CompressedRows, RowEncoding};
    /// let codes: &'static [u8] = &[0x7f, 0x81]; // 127 and -127
    /// let rows = CompressedRows::from_parts("codes".as_ref(), RowEncoding::Int8, 2, codes.into(), vec![0.5])?;
    /// let mut row = [1.0; 2];
    /// rows.add_row(0, 2.0, &mut row);
    /// assert_eq!(row, [128.0, -126.0]);
    /// # Ok::<(), senv_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::BadFile`] if the number of bytes does not match the rows, or a scale is negative, NaN or infinite.
    pub fn from_parts(
        path: &Path,
        encoding: RowEncoding,
        dim: usize,
        bytes: SharedBytes,
        scales: Vec<f32>,
    ) -> Result<Self> {
        let bad = |reason: String| Err(Error::BadFile { path: path.to_owned(), reason });
        let n_rows = scales.len();
        let row_bytes = encoding.row_bytes(dim);
        let Some(row_bytes) = row_bytes.filter(|&n| n > 0 && n.checked_mul(n_rows) == Some(bytes.len())) else {
            let name = encoding.name();
            return bad(format!("{} bytes for {n_rows} rows of {dim} values in {name}", bytes.len()));
        };
        if let Some(i) = scales.iter().position(|scale| !(scale.is_finite() && *scale >= 0.0)) {
            return bad(format!("the scale of row {i} is {}, expected a finite number of at least 0", scales[i]));
        }
        Ok(Self { encoding, bytes, scales: scales.into(), dim, row_bytes })
    }

    /// The number of rows.
    #[must_use]
    pub fn n_rows(&self) -> usize {
        self.scales.len()
    }

    /// The number of values per row.
    #[must_use]
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// The type of the stored values.
    #[must_use]
    pub fn encoding(&self) -> RowEncoding {
        self.encoding
    }

    /// The scale of each row.
    #[must_use]
    pub fn scales(&self) -> &[f32] {
        &self.scales
    }

    /// Returns the stored bytes of all rows, one after another, without a copy.
    #[must_use]
    pub fn stored(&self) -> SharedBytes {
        self.bytes.clone()
    }

    /// The bytes of values and scales.
    #[must_use]
    pub fn n_bytes(&self) -> usize {
        self.bytes.len() + 4 * self.scales.len()
    }

    /// The stored bytes of the used values of row `i`.
    #[inline]
    fn row_codes(&self, i: usize) -> &[u8] {
        let used = self.encoding.row_bytes(self.dim).unwrap_or(0);
        &self.bytes[i * self.row_bytes..][..used]
    }

    /// `out += weight * row`. Every SIMD level gives the same bits.
    ///
    /// # Panics
    /// If row `i` does not exist, or `out` does not have [`CompressedRows::dim`] values.
    #[inline]
    pub fn add_row(&self, i: usize, weight: f32, out: &mut [f32]) {
        self.encoding.add_row(weight * self.scales[i], self.row_codes(i), out);
    }

    /// `out = Σ rows`: sums the rows of these tokens in the given order. Every SIMD level gives the same bits, equal to
    /// those of [`CompressedRows::add_row`] row by row.
    ///
    /// # Panics
    /// The panics of [`CompressedRows::add_row`].
    #[inline]
    pub fn sum_rows(&self, ids: &[TokenId], out: &mut [f32]) {
        assert_eq!(out.len(), self.dim, "values of a row");
        if self.encoding == RowEncoding::Int4 {
            let (codes, stride, scales) = (&self.bytes[..], self.row_bytes, &self.scales[..]);
            return kernels::sum_int4(kernels::Int4Rows { codes, stride, scales }, ids, out);
        }
        out.fill(0.0);
        for id in ids {
            self.add_row(id.index(), 1.0, out);
        }
    }

    /// Writes row `i` into `out`.
    ///
    /// # Panics
    /// The panics of [`CompressedRows::add_row`].
    pub fn row_into(&self, i: usize, out: &mut [f32]) {
        out.fill(0.0);
        self.add_row(i, 1.0, out);
    }

    /// Decodes all rows.
    ///
    /// # Errors
    /// [`Error::TooLarge`] if memory runs out.
    pub fn decoded(&self) -> Result<Table> {
        let mut rows = Table::zeros(self.n_rows(), self.dim)?;
        for i in 0..rows.n_rows() {
            self.row_into(i, rows.row_mut(i));
        }
        Ok(rows)
    }

    /// The mean Euclidean length of the rows; 0 if there are none.
    #[must_use]
    pub fn mean_length(&self) -> f32 {
        let mut row = vec![0.0; self.dim];
        let mut sum = 0.0;
        for i in 0..self.n_rows() {
            self.row_into(i, &mut row);
            sum += row.iter().map(|&x| f64::from(x).powi(2)).sum::<f64>().sqrt();
        }
        (sum / self.n_rows().max(1) as f64) as f32
    }

    /// Keeps the first `dim` values of each row; copies nothing.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] if `dim` is 0 or above [`CompressedRows::dim`].
    pub fn truncate_dim(mut self, dim: usize) -> Result<Self> {
        if dim == 0 || dim > self.dim {
            let requirement = "from 1 to the dimension of the rows";
            return Err(Error::InvalidParameter { name: "dim", requirement, got: dim.to_string() });
        }
        self.dim = dim;
        Ok(self)
    }

    /// Keeps the first `n` rows, or all if there are fewer; values are not copied.
    #[must_use]
    pub fn first_rows(mut self, n: usize) -> Self {
        let n = n.min(self.n_rows());
        self.bytes = self.bytes.slice(0..n * self.row_bytes);
        self.scales = self.scales[..n].into();
        self
    }

    /// The bytes of all rows without unused values; copied only if there are any.
    ///
    /// # Errors
    /// [`Error::TooLarge`] if there is no memory for the copy.
    pub fn packed(&self) -> Result<SharedBytes> {
        let used = self.encoding.row_bytes(self.dim).unwrap_or(0);
        let half = self.encoding == RowEncoding::Int4 && self.dim % 2 == 1;
        if used == self.row_bytes && !half {
            return Ok(self.bytes.clone());
        }
        let mut bytes = Vec::new();
        let too_large = |_| Error::TooLarge { rows: self.n_rows(), dim: self.dim };
        bytes.try_reserve_exact(used * self.n_rows()).map_err(too_large)?;
        for i in 0..self.n_rows() {
            bytes.extend_from_slice(self.row_codes(i));
            if let Some(last) = bytes.last_mut().filter(|_| half) {
                *last &= 15;
            }
        }
        Ok(bytes.into())
    }
}
