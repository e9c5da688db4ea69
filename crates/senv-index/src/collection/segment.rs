//! A segment: one file with an index and the ids and texts of its rows.

use std::path::{Path, PathBuf};

use senv_core::{ModelFile, ModelWriter, Table};

use super::{
    bits::Bits,
    manifest::{Manifest, SegmentEntry},
    row_ids::{IdRef, RowIds},
    segment_ids::SegmentIds,
    texts::Texts,
};
use crate::{
    Error, Id, IndexParams, Result, VectorIndex,
    file::{KIND, Tensors},
};

/// The checksum of a file's header, which contains those of all its tensors; `None` for a file without checksums.
pub(super) fn header_checksum(file: &ModelFile) -> Option<&str> {
    file.metadata().get("senv.header_crc32").map(String::as_str)
}

/// Rejects a file other than the one a manifest names. Earlier versions stored only file names.
pub(super) fn check_header(file: &ModelFile, expected: Option<&str>) -> Result<()> {
    let found = header_checksum(file);
    match expected {
        Some(expected) if found != Some(expected) => {
            let found = found.unwrap_or("missing");
            Err(Error::Damaged {
                path: file.path().to_owned(),
                what: "the file".into(),
                reason: format!(
                    "it is not the file of the manifest: the checksum of its header is {found}, expected {expected}"
                ),
            })
        }
        _ => Ok(()),
    }
}

/// A memory-mapped file of a collection.
#[derive(Debug)]
pub(super) struct Segment {
    pub(super) index: VectorIndex,
    path: PathBuf,
    header: Option<String>,
    ids: SegmentIds,
    columns: Vec<Texts>,
    pub(super) deleted: Bits,
    pub(super) n_deleted: usize,
}

/// The content written for rows in addition to their vectors.
pub(super) struct SegmentContent<'a> {
    pub(super) ids: &'a RowIds,
    /// For each column, one text per row.
    pub(super) columns: &'a [Vec<String>],
}

impl Segment {
    /// Builds an index of rows and writes it with their ids and texts.
    pub(super) fn write(path: &Path, rows: Table, params: &IndexParams, content: &SegmentContent<'_>) -> Result<()> {
        let index = VectorIndex::build(rows, params)?;
        let mut tensors = Tensors::default();
        let writer = SegmentIds::write(content.ids, &mut tensors, ModelWriter::new(KIND));
        for (number, texts) in content.columns.iter().enumerate() {
            Texts::write([TEXT[number], OFFSETS[number]], texts.iter().map(String::as_str), &mut tensors);
        }
        index.save_with(path, tensors, writer)
    }

    /// Opens a file that the manifest names, or is about to name.
    pub(super) fn open(
        folder: &Path,
        entry: &SegmentEntry,
        manifest: &Manifest,
        deleted: Option<Bits>,
    ) -> Result<Self> {
        let path = &*folder.join(&entry.file);
        let (rows, dim, n_columns) = (entry.rows, manifest.dim, manifest.columns.len());
        let file = ModelFile::open(path)?;
        check_header(&file, entry.header.as_deref())?;
        let index = VectorIndex::from_file(&file, path)?;
        if (index.len(), index.dim()) != (rows, dim) {
            let reason =
                format!("it has {} rows of {} values, expected {rows} rows of {dim} values", index.len(), index.dim());
            return Err(Error::Damaged { path: path.to_owned(), what: "the segment".into(), reason });
        }
        let ids = SegmentIds::open(&file, path, manifest.ids, rows)?;
        let column = |number: usize| Texts::open(&file, path, [TEXT[number], OFFSETS[number]], rows);
        let columns = (0..n_columns).map(column).collect::<Result<_>>()?;
        let deleted = deleted.unwrap_or_else(|| Bits::new(rows));
        let n_deleted = deleted.count();
        let header = header_checksum(&file).map(str::to_owned);
        Ok(Self { index, path: path.to_owned(), header, ids, columns, deleted, n_deleted })
    }

    pub(super) fn len(&self) -> usize {
        self.index.len()
    }

    /// The checksum of the segment's header.
    pub(super) fn header(&self) -> Option<&str> {
        self.header.as_deref()
    }

    /// The id of an existing row.
    pub(super) fn id(&self, row: usize) -> Result<Id> {
        self.ids.id(&self.path, row)
    }

    /// The row of an id, deleted or not.
    pub(super) fn row_of(&self, id: IdRef<'_>) -> Result<Option<usize>> {
        self.ids.row_of(&self.path, id, self.len())
    }

    /// The text of an existing row in an existing column.
    pub(super) fn text(&self, column: usize, row: usize) -> Result<String> {
        self.columns[column].text(&self.path, row)
    }

    pub(super) fn verify(&self) -> Result<()> {
        self.index.verify()?;
        self.ids.verify(&self.path, self.len())?;
        self.columns.iter().try_for_each(|texts| texts.verify(&self.path, self.len()))
    }
}

/// The maximum number of columns in a collection.
pub(super) const MOST_COLUMNS: usize = 16;

/// The names of the column tensors, for errors.
const TEXT: [&str; MOST_COLUMNS] = [
    "columns.0",
    "columns.1",
    "columns.2",
    "columns.3",
    "columns.4",
    "columns.5",
    "columns.6",
    "columns.7",
    "columns.8",
    "columns.9",
    "columns.10",
    "columns.11",
    "columns.12",
    "columns.13",
    "columns.14",
    "columns.15",
];
const OFFSETS: [&str; MOST_COLUMNS] = [
    "columns.0.offsets",
    "columns.1.offsets",
    "columns.2.offsets",
    "columns.3.offsets",
    "columns.4.offsets",
    "columns.5.offsets",
    "columns.6.offsets",
    "columns.7.offsets",
    "columns.8.offsets",
    "columns.9.offsets",
    "columns.10.offsets",
    "columns.11.offsets",
    "columns.12.offsets",
    "columns.13.offsets",
    "columns.14.offsets",
    "columns.15.offsets",
];
