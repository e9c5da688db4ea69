//! The input matrix of a `.bin` or `.ftz` file: values, or codes of a product quantizer.
//!
//! Equation: `product-quantized-row`
//!
//! ```text
//! x_{i, k d + j} = n_i c_{k, q_{i k}, j}        part k of row i is centroid q_{i k} of 256, n_i its norm, which is quantized likewise, or 1
//! ```
//!
//! Jégou, Douze and Schmid, "Product Quantization for Nearest Neighbor Search", PAMI 2011; Joulin et al.,
//! "FastText.zip",
//! 2016. Quantized, after a flag: u8 whether there are norms, i64 rows, i64 columns, i32 number of codes, a byte a code
//!       (row by row, a code for each part), the quantizer, and with norms a byte a row and their quantizer. A
//!       quantizer: i32 columns, parts, columns of a part, columns of the last part; then 256 centroids of each part as
//!       f32.

use std::ops::Range;

/// Centroids of a part.
const CENTROIDS: usize = 256;

/// Where a matrix stands in a file.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Matrix {
    /// Rows of f32.
    Dense(Range<usize>),
    /// Codes.
    Quantized(Quantized),
}

/// Where codes stand.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Quantized {
    pub(super) codes: Range<usize>,
    pub(super) quantizer: Quantizer,
    /// A code for the norm of each row, and what it stands for.
    pub(super) norms: Option<(Range<usize>, Quantizer)>,
}

/// Where centroids stand.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Quantizer {
    pub(super) dim: usize,
    pub(super) n_parts: usize,
    /// Columns of each part but the last.
    pub(super) part: usize,
    pub(super) centroids: Range<usize>,
}

impl Quantizer {
    /// Bytes of the centroids of vectors of `dim` values.
    pub(super) fn n_bytes(dim: usize) -> usize {
        4 * CENTROIDS * dim
    }

    /// Writes the vector of some codes, a code for each part.
    fn decode(&self, bytes: &[u8], codes: &[u8], out: &mut [f32]) {
        let values = bytes[self.centroids.clone()].as_chunks().0;
        for (k, (&code, out)) in codes.iter().zip(out.chunks_mut(self.part)).enumerate() {
            let start = k * CENTROIDS * self.part + usize::from(code) * out.len();
            out.iter_mut().zip(&values[start..]).for_each(|(x, value)| *x = f32::from_le_bytes(*value));
        }
    }
}

impl Matrix {
    /// Writes the values of a row to `out`. `bytes` is the whole file.
    pub(super) fn row_into(&self, bytes: &[u8], row: usize, out: &mut [f32]) {
        match self {
            Self::Dense(range) => {
                let start = range.start + row * 4 * out.len();
                let values = bytes[start..start + 4 * out.len()].as_chunks().0;
                out.iter_mut().zip(values).for_each(|(x, value)| *x = f32::from_le_bytes(*value));
            }
            Self::Quantized(Quantized { codes, quantizer, norms }) => {
                let n = quantizer.n_parts;
                let start = codes.start + row * n;
                quantizer.decode(bytes, &bytes[start..start + n], out);
                if let Some((codes, quantizer)) = norms {
                    let mut norm = [0.0];
                    quantizer.decode(bytes, &[bytes[codes.start + row]], &mut norm);
                    out.iter_mut().for_each(|x| *x *= norm[0]);
                }
            }
        }
    }
}
