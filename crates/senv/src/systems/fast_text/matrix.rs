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
//! 2016. The quantized format follows a flag: u8 1 if there are norms, i64 rows, i64 columns, i32 number of codes. Then
//!       the codes follow, one byte each (row by row, one per part), and the quantizer. With norms, one byte per row
//!       and the quantizer of the norms come last. A quantizer is i32 columns, parts, columns of a part, columns of the
//!       last part; then 256 centroids of each part as f32.

use std::ops::Range;

/// Centroids of a part.
const CENTROIDS: usize = 256;

/// The position of a matrix in a file.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Matrix {
    /// Rows of f32.
    Dense(Range<usize>),
    /// Codes.
    Quantized(Quantized),
}

/// The position of the codes.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Quantized {
    pub(super) codes: Range<usize>,
    pub(super) quantizer: Quantizer,
    /// A code for the norm of each row, and the quantizer that decodes it.
    pub(super) norms: Option<(Range<usize>, Quantizer)>,
}

/// The position of the centroids.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Quantizer {
    pub(super) dim: usize,
    pub(super) n_parts: usize,
    /// Columns of each part except the last.
    pub(super) part: usize,
    pub(super) centroids: Range<usize>,
}

impl Quantizer {
    /// Bytes of the centroids of vectors of `dim` values.
    pub(super) fn n_bytes(dim: usize) -> usize {
        4 * CENTROIDS * dim
    }

    /// Decodes a vector from its codes, one per part.
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
