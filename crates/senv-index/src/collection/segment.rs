//! A segment: one file with an index and the ids and texts of its rows.

use std::path::{Path, PathBuf};

use senv_core::{
    ModelFile, ModelWriter, Table,
    files::{RawTensor, SharedBytes},
};

use super::{
    bits::Bits,
    manifest::{Manifest, SegmentEntry},
};
use crate::{
    Error, IndexParams, Result, VectorIndex,
    checks::Checked,
    file::{KIND, Tensors, checked, damaged, shaped},
    values::{Values, tensor},
};

/// The metadata key for the id of the first row, in a file with consecutive ids.
const FIRST_ID: &str = "index.first_id";

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
    ids: Ids,
    columns: Vec<Texts>,
    pub(super) deleted: Bits,
    pub(super) n_deleted: usize,
}

/// The ids of the rows.
#[derive(Debug)]
enum Ids {
    /// Row i has this id plus i.
    From(u64),
    Listed {
        ids: Values<u64>,
        /// The rows in order of ascending id.
        order: Values<u32>,
        checks: Box<[Checked; 2]>,
    },
}

/// One text per row.
#[derive(Debug)]
struct Texts {
    text: SharedBytes,
    offsets: Values<u64>,
    checks: Box<[Checked; 2]>,
}

/// The content written for rows in addition to their vectors.
pub(super) struct SegmentContent<'a> {
    pub(super) ids: &'a [u64],
    /// For each column, one text per row.
    pub(super) columns: &'a [Vec<String>],
}

impl Segment {
    /// Builds an index of rows and writes it with their ids and texts.
    pub(super) fn write(path: &Path, rows: Table, params: &IndexParams, content: &SegmentContent<'_>) -> Result<()> {
        let index = VectorIndex::build(rows, params)?;
        let mut tensors = Tensors::default();
        let mut writer = ModelWriter::new(KIND);
        let ids = content.ids;
        if ids.windows(2).all(|pair| pair[0].checked_add(1) == Some(pair[1])) {
            writer = writer.metadata(FIRST_ID, &ids.first().copied().unwrap_or(0).to_string());
        } else {
            let mut order: Vec<u32> = (0..ids.len() as u32).collect();
            order.sort_unstable_by_key(|&row| ids[row as usize]);
            tensors.add_checked("ids", tensor("U64", ids));
            tensors.add_checked("ids.order", tensor("U32", &order));
        }
        for (number, texts) in content.columns.iter().enumerate() {
            let mut offsets = Vec::with_capacity(texts.len() + 1);
            let mut text = Vec::with_capacity(texts.iter().map(String::len).sum());
            offsets.push(0);
            for row in texts {
                text.extend_from_slice(row.as_bytes());
                offsets.push(text.len() as u64);
            }
            let shape = vec![text.len()];
            tensors.add_checked(TEXT[number], RawTensor { dtype: "U8".into(), shape, bytes: text.into() });
            tensors.add_checked(OFFSETS[number], tensor("U64", &offsets));
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
        let ids = match file.metadata().get(FIRST_ID) {
            Some(first) => match first.parse::<u64>() {
                Ok(first) if first.checked_add((rows as u64).saturating_sub(1)).is_some() => Ids::From(first),
                _ => return Err(damaged(path, "ids", format!("the first id is {first:?}"))),
            },
            None => {
                let (ids, order) =
                    (shaped(&file, path, "ids", "U64", &[rows])?, shaped(&file, path, "ids.order", "U32", &[rows])?);
                let checks = [checked(&file, path, "ids", &ids)?, checked(&file, path, "ids.order", &order)?];
                Ids::Listed {
                    ids: Values::from_file(path, "ids", ids.bytes)?,
                    order: Values::from_file(path, "ids.order", order.bytes)?,
                    checks: Box::new(checks),
                }
            }
        };
        let column = |number: usize| {
            let text = file.raw(TEXT[number])?;
            let text = shaped(&file, path, TEXT[number], "U8", &[text.bytes.len()])?;
            let offsets = shaped(&file, path, OFFSETS[number], "U64", &[rows + 1])?;
            let checks = [checked(&file, path, TEXT[number], &text)?, checked(&file, path, OFFSETS[number], &offsets)?];
            let offsets = Values::from_file(path, OFFSETS[number], offsets.bytes)?;
            Ok(Texts { text: text.bytes, offsets, checks: Box::new(checks) })
        };
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
    pub(super) fn id(&self, row: usize) -> Result<u64> {
        match &self.ids {
            Ids::From(first) => Ok(first + row as u64),
            Ids::Listed { ids, checks, .. } => {
                checks[0].check(row * 8..row * 8 + 8)?;
                Ok(ids.as_slice()[row])
            }
        }
    }

    /// The row of an id, deleted or not.
    pub(super) fn row_of(&self, id: u64) -> Result<Option<usize>> {
        match &self.ids {
            Ids::From(first) => {
                Ok(id.checked_sub(*first).filter(|&row| row < self.len() as u64).map(|row| row as usize))
            }
            Ids::Listed { ids, order, checks } => {
                checks.iter().try_for_each(Checked::all)?;
                let (ids, order) = (ids.as_slice(), order.as_slice());
                let id_of = |row: &u32| ids.get(*row as usize).copied().unwrap_or(u64::MAX);
                let place = order.partition_point(|row| id_of(row) < id);
                let row = order.get(place).map(|&row| row as usize);
                Ok(row.filter(|&row| ids.get(row) == Some(&id)))
            }
        }
    }

    /// The text of an existing row in an existing column.
    pub(super) fn text(&self, column: usize, row: usize) -> Result<String> {
        let Texts { text, offsets, checks } = &self.columns[column];
        checks[1].check(row * 8..row * 8 + 16)?;
        let range = offsets.as_slice()[row] as usize..offsets.as_slice()[row + 1] as usize;
        let bad = |reason: &str| damaged(&self.path, TEXT[column], format!("row {row} {reason}"));
        if range.start > range.end || range.end > text.len() {
            return Err(bad("is out of range"));
        }
        checks[0].check(range.clone())?;
        // Checks a copy, as the file could change in the meantime.
        String::from_utf8(text[range].to_vec()).map_err(|_| bad("is not UTF-8"))
    }

    pub(super) fn verify(&self) -> Result<()> {
        self.index.verify()?;
        if let Ids::Listed { ids, order, checks } = &self.ids {
            checks.iter().try_for_each(Checked::all)?;
            let (ids, order) = (ids.as_slice(), order.as_slice());
            let sorted: Option<Vec<u64>> = order.iter().map(|&row| ids.get(row as usize).copied()).collect();
            if !sorted.is_some_and(|sorted| sorted.windows(2).all(|pair| pair[0] < pair[1])) {
                return Err(damaged(&self.path, "ids.order", "it does not sort the ids".into()));
            }
        }
        for (column, texts) in self.columns.iter().enumerate() {
            texts.checks.iter().try_for_each(Checked::all)?;
            (0..self.len()).try_for_each(|row| self.text(column, row).map(|_| ()))?;
        }
        Ok(())
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
