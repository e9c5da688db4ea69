//! A collection that `senv index --export-web` wrote, opened in steps of the caller's size.

use senv_core::{
    Error, Result,
    files::{WebCollection, WebQuery},
};
use serde::Serialize;

/// Bytes that are compared with their checksums in the time in which a line is read.
const BYTES_OF_A_LINE: usize = 1 << 12;

/// What a collection is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Opened {
    /// Sentences, equal ones counted each.
    pub sentences: u64,
    /// Distinct sentences, which are searched.
    pub distinct: usize,
}

/// A collection in one file.
#[derive(Debug)]
pub(crate) struct Sentences {
    file: WebCollection,
    /// Whether all of it was compared with its checksums: before, nothing is found.
    is_checked: bool,
}

impl Sentences {
    /// Takes the bytes of a file with vectors of `dim` values.
    pub(crate) fn open(bytes: Vec<u8>, dim: usize) -> Result<Self> {
        let name = "the collection";
        let file = WebCollection::from_bytes(name, bytes)?;
        if file.model() != senv_english::DIGEST {
            let reason = "its vectors are from another version of the model than this page has; open it in a page of \
                that version, or index and export the sentences again";
            return Err(Error::BadFile { path: name.into(), reason: reason.into() });
        }
        if file.dim() != dim {
            return Err(Error::ShapeMismatch { what: "vectors of the collection", expected: dim, got: file.dim() });
        }
        Ok(Self { file, is_checked: false })
    }

    pub(crate) fn about(&self) -> Opened {
        Opened { sentences: self.file.sentences(), distinct: self.file.len() }
    }

    /// Compares so many steps of the file with its checksums; whether all of it is compared.
    pub(crate) fn check(&mut self, at_most: usize) -> Result<bool> {
        self.is_checked = self.file.check(at_most.saturating_mul(BYTES_OF_A_LINE))?;
        Ok(self.is_checked)
    }

    /// Rows that may be searched.
    pub(crate) fn len(&self) -> usize {
        if self.is_checked { self.file.len() } else { 0 }
    }

    /// The cosine of a row with a query; `None` if it has no direction.
    #[inline]
    pub(crate) fn cosine(&self, row: usize, query: &WebQuery) -> Option<f32> {
        self.file.has_direction(row).then(|| self.file.cosine(row, query))
    }

    pub(crate) fn file(&self) -> &WebCollection {
        &self.file
    }
}
