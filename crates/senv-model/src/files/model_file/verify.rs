//! Checks a whole file: checksums, and values that are not finite.

use rayon::prelude::*;

use super::{
    KEY_CRC, ModelFile,
    checksum::{PIECE, combine},
    header::TensorInfo,
};
use senv_base::{Error, Result, TokenId};

/// Tensors with one row or value per token of the vocabulary, tokens first.
const OF_TOKENS: [&str; 4] = ["rows", "rows2", "row_scales", "word_weights"];

/// The result of [`ModelFile::verify`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verification {
    /// The number of tensors of the file; their floats are finite.
    pub tensors: usize,
    /// The number of tensors with a checksum, which matches. A file that another program has rewritten may have none.
    pub checksums: usize,
}

impl ModelFile {
    /// Reads the whole file, compares every tensor with its checksum, if recorded, and looks for NaN and infinite
    /// values. Takes about a second per gigabyte on two cores if the file is already in memory. Opening a model does
    /// not check the rows, which are memory-mapped.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("model.safetensors");
    /// use senv_core::{ModelFile, ModelWriter, Table};
    /// let rows = Table::from_vec(1, 2, vec![1.0, f32::NAN])?;
    /// ModelWriter::new("example").table("rows", &rows).save(&path)?;
    /// let error = ModelFile::open(&path)?.verify().unwrap_err();
    /// assert!(error.to_string().contains("row 0 of tensor \"rows\" contains NaN"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Checksum`] if a tensor is damaged; [`Error::NonFinite`] if a value of type F16, BF16, F32 or F64 is not
    /// finite. The error is that of the first bad tensor, by name. [`Error::NonFinite`] contains the row and, if known,
    /// the word.
    pub fn verify(&self) -> Result<Verification> {
        let mut checksums = 0;
        for (name, tensor) in &self.header.tensors {
            let (found, first_bad) = scan(self.data(tensor), exponent(tensor.dtype));
            if let Some(recorded) = self.recorded(&format!("{KEY_CRC}{name}"))? {
                checksums += 1;
                self.compare(name, found, recorded)?;
            }
            if let Some(value) = first_bad {
                return Err(self.non_finite(name, tensor, value));
            }
        }
        Ok(Verification { tensors: self.header.tensors.len(), checksums })
    }

    /// The error for value `value` of a tensor.
    fn non_finite(&self, name: &str, tensor: &TensorInfo, value: usize) -> Error {
        let width = tensor.shape.iter().skip(1).product::<usize>().max(1);
        let row = value / width;
        let vocabulary = OF_TOKENS.contains(&name).then(|| self.vocabulary().ok()).flatten();
        let vocabulary = vocabulary.filter(|vocabulary| row < vocabulary.len());
        let word = vocabulary.map(|vocabulary| vocabulary.token(TokenId(row as u32)).to_owned());
        let data = self.data(tensor);
        let bytes = data.len() / tensor.shape.iter().product::<usize>().max(1);
        let found = if is_nan(tensor.dtype, &data[value * bytes..][..bytes]) { "NaN" } else { "an infinite value" };
        Error::NonFinite { path: self.path.clone(), name: name.to_owned(), row, word, found }
    }
}

/// The exponent bits in the highest bytes of a little-endian float: width in bytes, mask of the top two bytes. All of
/// them are set only in NaN and infinity.
fn exponent(dtype: &str) -> Option<(usize, u16)> {
    match dtype {
        "F16" => Some((2, 0x7c00)),
        "BF16" => Some((2, 0x7f80)),
        "F32" => Some((4, 0x7f80)),
        "F64" => Some((8, 0x7ff0)),
        _ => None,
    }
}

/// Whether a non-finite float has a bit set below the exponent.
fn is_nan(dtype: &str, value: &[u8]) -> bool {
    match *value {
        [a, b] => u16::from_le_bytes([a, b]) & if dtype == "F16" { 0x03ff } else { 0x007f } != 0,
        [a, b, c, d] => f32::from_le_bytes([a, b, c, d]).is_nan(),
        _ => value.try_into().is_ok_and(|bytes| f64::from_le_bytes(bytes).is_nan()),
    }
}

/// Computes, on all threads, the checksum of bytes and the position of the first non-finite float.
fn scan(bytes: &[u8], exponent: Option<(usize, u16)>) -> (u32, Option<usize>) {
    let work = |(number, piece): (usize, &[u8])| {
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(piece);
        let bad = exponent.and_then(|(width, mask)| Some(number * (PIECE / width) + first_bad(piece, width, mask)?));
        (hasher, bad)
    };
    let pieces: Vec<_> = bytes.par_chunks(PIECE).enumerate().map(work).collect();
    let bad = pieces.iter().find_map(|&(_, bad)| bad);
    (combine(pieces.into_iter().map(|(hasher, _)| hasher).collect()), bad)
}

fn first_bad(piece: &[u8], width: usize, mask: u16) -> Option<usize> {
    fn position<const N: usize>(piece: &[u8], mask: u16) -> Option<usize> {
        // Without an early exit, the loop over a block compiles to vector instructions.
        let is_bad = |value: &[u8; N]| u16::from_le_bytes([value[N - 2], value[N - 1]]) & mask == mask;
        let blocks = piece.as_chunks::<N>().0.chunks(1024).enumerate();
        let bad = |block: &[[u8; N]]| block.iter().fold(false, |bad, value| bad | is_bad(value));
        let (number, block) = { blocks }.find(|(_, block)| bad(block))?;
        Some(number * 1024 + block.iter().position(is_bad)?)
    }
    match width {
        2 => position::<2>(piece, mask),
        4 => position::<4>(piece, mask),
        _ => position::<8>(piece, mask),
    }
}
