//! One text per row, in a segment.

use std::path::Path;

use senv_core::{
    ModelFile,
    files::{RawTensor, SharedBytes},
};

use crate::{
    Result,
    checks::Checked,
    file::{Tensors, checked, damaged, shaped},
    values::{Values, tensor},
};

/// The names of the tensors of texts, and of their starts and ends.
pub(super) type Names = [&'static str; 2];

/// One text per row.
#[derive(Debug)]
pub(super) struct Texts {
    names: Names,
    text: SharedBytes,
    offsets: Values<u64>,
    checks: Box<[Checked; 2]>,
}

impl Texts {
    /// Adds the tensors of texts to a file.
    pub(super) fn write<'a>(names: Names, texts: impl ExactSizeIterator<Item = &'a str> + Clone, to: &mut Tensors) {
        let mut ends = Vec::with_capacity(texts.len());
        let mut text = Vec::with_capacity(texts.clone().map(str::len).sum());
        for row in texts {
            text.extend_from_slice(row.as_bytes());
            ends.push(text.len() as u64);
        }
        Self::write_bytes(names, text, &ends, to);
    }

    /// Adds the tensors of byte strings to a file, back to back, and where each ends.
    pub(super) fn write_bytes(names: Names, text: Vec<u8>, ends: &[u64], to: &mut Tensors) {
        let mut offsets = Vec::with_capacity(ends.len() + 1);
        offsets.push(0);
        offsets.extend_from_slice(ends);
        let shape = vec![text.len()];
        to.add_checked(names[0], RawTensor { dtype: "U8".into(), shape, bytes: text.into() });
        to.add_checked(names[1], tensor("U64", &offsets));
    }

    /// Reads the tensors of texts of so many rows.
    pub(super) fn open(file: &ModelFile, path: &Path, names: Names, rows: usize) -> Result<Self> {
        let text = file.raw(names[0])?;
        let text = shaped(file, path, names[0], "U8", &[text.bytes.len()])?;
        let offsets = shaped(file, path, names[1], "U64", &[rows + 1])?;
        let checks = [checked(file, path, names[0], &text)?, checked(file, path, names[1], &offsets)?];
        let offsets = Values::from_file(path, names[1], offsets.bytes)?;
        Ok(Self { names, text: text.bytes, offsets, checks: Box::new(checks) })
    }

    /// The bytes of the text of an existing row.
    pub(super) fn bytes(&self, path: &Path, row: usize) -> Result<&[u8]> {
        let Self { names, text, offsets, checks } = self;
        checks[1].check(row * 8..row * 8 + 16)?;
        let range = offsets.as_slice()[row] as usize..offsets.as_slice()[row + 1] as usize;
        if range.start > range.end || range.end > text.len() {
            return Err(damaged(path, names[0], format!("row {row} is out of range")));
        }
        checks[0].check(range.clone())?;
        Ok(&text[range])
    }

    /// The text of an existing row.
    pub(super) fn text(&self, path: &Path, row: usize) -> Result<String> {
        // Checks a copy, as the file could change in the meantime.
        String::from_utf8(self.bytes(path, row)?.to_vec())
            .map_err(|_| damaged(path, self.names[0], format!("row {row} is not UTF-8")))
    }

    /// The bytes that they take in the file.
    pub(super) fn n_bytes(&self) -> u64 {
        self.text.len() as u64 + 8 * self.offsets.as_slice().len() as u64
    }

    /// Compares everything with its checksums.
    pub(super) fn verify_blocks(&self) -> Result<()> {
        self.checks.iter().try_for_each(Checked::all)
    }

    /// Compares everything with its checksums and reads the texts of so many rows.
    pub(super) fn verify(&self, path: &Path, rows: usize) -> Result<()> {
        self.verify_blocks()?;
        (0..rows).try_for_each(|row| self.text(path, row).map(|_| ()))
    }
}
