//! A collection written by `senv index --export-web`, opened in steps of the caller's size.

use senv_core::{
    Error, Result,
    files::{WebCollection, WebQuery},
};
use serde::Serialize;

/// The number of bytes whose checksum takes as long as reading a line.
const BYTES_OF_A_LINE: usize = 1 << 12;

/// What a collection contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Opened {
    /// The number of sentences, counting duplicates.
    pub sentences: u64,
    /// The number of distinct sentences, which are searched.
    pub distinct: usize,
}

/// A collection in one file.
#[derive(Debug)]
pub(crate) struct Sentences {
    file: WebCollection,
    /// Whether the whole file has been compared with its checksums; until then a search finds nothing.
    is_checked: bool,
}

impl Sentences {
    /// Opens the bytes of a file with vectors of `dim` values.
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

    /// Compares up to `at_most` steps of the file with its checksums; returns whether all of it is checked.
    pub(crate) fn check(&mut self, at_most: usize) -> Result<bool> {
        self.is_checked = self.file.check(at_most.saturating_mul(BYTES_OF_A_LINE))?;
        Ok(self.is_checked)
    }

    /// The number of rows that can be searched.
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
