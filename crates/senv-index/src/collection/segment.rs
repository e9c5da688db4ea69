//! A segment: one file with an index and the ids and texts of its rows.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use senv_core::{ModelFile, ModelWriter, Table};

use super::{
    bits::Bits,
    manifest::{Manifest, SegmentEntry, WordSettings},
    row_ids::{IdRef, RowIds},
    segment_documents::{DocumentTables, RowDocuments, SegmentDocuments},
    segment_ids::SegmentIds,
    texts::Texts,
    words::{Postings, SegmentWords},
};
use crate::{
    Error, Id, IdKind, IndexParams, Result, VectorIndex,
    documents::Stemming,
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

/// A memory-mapped file of a collection, and which of its rows are deleted.
#[derive(Debug)]
pub(super) struct Segment {
    /// Shared by the states of a collection before and after a change: its blocks are checked once.
    file: Arc<SegmentFile>,
    pub(super) deleted: Bits,
    pub(super) n_deleted: usize,
}

/// A memory-mapped file.
#[derive(Debug)]
struct SegmentFile {
    index: VectorIndex,
    path: PathBuf,
    header: Option<String>,
    id_kind: IdKind,
    ids: SegmentIds,
    columns: Vec<Texts>,
    words: Option<SegmentWords>,
    /// The documents, and the column of their names.
    documents: Option<(SegmentDocuments, usize)>,
    /// Which columns the words and the documents come from, and whether words are stemmed.
    word_settings: Option<WordSettings>,
}

/// The content written for rows in addition to their vectors.
pub(super) struct SegmentContent<'a> {
    pub(super) ids: &'a RowIds,
    /// For each column, one text per row.
    pub(super) columns: &'a [Vec<String>],
    /// For each row, the text whose words are stored.
    pub(super) words: Option<(&'a [String], Stemming)>,
    /// For each row, the name of its document.
    pub(super) documents: Option<&'a [String]>,
}

impl<'a> SegmentContent<'a> {
    /// The content of rows of a collection with this manifest.
    pub(super) fn new(ids: &'a RowIds, columns: &'a [Vec<String>], manifest: &Manifest) -> Self {
        let column = |name: &String| {
            let number = manifest.columns.iter().position(|column| column == name)?;
            columns.get(number).map(Vec::as_slice)
        };
        let settings = manifest.words.as_ref();
        let words = settings.and_then(|words| Some((column(&words.column)?, words.stemming)));
        let documents = settings.and_then(|words| column(words.documents.as_ref()?));
        Self { ids, columns, words, documents }
    }
}

impl Segment {
    /// Builds an index of rows and writes it with their ids and texts.
    pub(super) fn write(path: &Path, rows: Table, params: &IndexParams, content: &SegmentContent<'_>) -> Result<()> {
        let mut tensors = Tensors::default();
        if let Some((texts, stemming)) = content.words {
            Postings::of(texts, stemming).write(&mut tensors);
        }
        if let Some(names) = content.documents {
            RowDocuments::of(names, &rows).write(&mut tensors);
        }
        let index = VectorIndex::build(rows, params)?;
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
        let word_settings = manifest.words.clone();
        let words = word_settings.as_ref().map(|_| SegmentWords::open(&file, path, rows)).transpose()?;
        let name = word_settings.as_ref().and_then(|words| words.documents.as_ref());
        let column = name.and_then(|name| manifest.columns.iter().position(|column| column == name));
        let with_column = |column| Ok::<_, Error>((SegmentDocuments::open(&file, path, rows)?, column));
        let documents = column.map(with_column).transpose()?;
        let (header, id_kind) = (header_checksum(&file).map(str::to_owned), manifest.ids);
        let path = path.to_owned();
        let file = SegmentFile { index, path, header, id_kind, ids, columns, words, documents, word_settings };
        Ok(Self::new(Arc::new(file), deleted))
    }

    fn new(file: Arc<SegmentFile>, deleted: Option<Bits>) -> Self {
        let deleted = deleted.unwrap_or_else(|| Bits::new(file.index.len()));
        let n_deleted = deleted.count();
        Self { file, deleted, n_deleted }
    }

    /// The segment with these deletions instead, if its file is the one that an entry of a manifest names. The checksum
    /// of its header, which has those of all tensors, tells it from another file of the same name.
    pub(super) fn again(&self, entry: &SegmentEntry, manifest: &Manifest, deleted: Option<&Bits>) -> Option<Self> {
        let SegmentFile { index, header, id_kind, columns, word_settings, .. } = &*self.file;
        let is_same = entry.header.is_some()
            && *header == entry.header
            && (index.len(), index.dim()) == (entry.rows, manifest.dim)
            && (*id_kind, columns.len()) == (manifest.ids, manifest.columns.len())
            && *word_settings == manifest.words;
        is_same.then(|| Self::new(Arc::clone(&self.file), deleted.cloned()))
    }

    pub(super) fn index(&self) -> &VectorIndex {
        &self.file.index
    }

    pub(super) fn path(&self) -> &Path {
        &self.file.path
    }

    pub(super) fn len(&self) -> usize {
        self.file.index.len()
    }

    /// The checksum of the segment's header.
    pub(super) fn header(&self) -> Option<&str> {
        self.file.header.as_deref()
    }

    /// The id of an existing row.
    pub(super) fn id(&self, row: usize) -> Result<Id> {
        self.file.ids.id(&self.file.path, row)
    }

    /// The row of an id, deleted or not.
    pub(super) fn row_of(&self, id: IdRef<'_>) -> Result<Option<usize>> {
        self.file.ids.row_of(&self.file.path, id, self.len())
    }

    /// The text of an existing row in an existing column.
    pub(super) fn text(&self, column: usize, row: usize) -> Result<String> {
        self.file.columns[column].text(&self.file.path, row)
    }

    /// The words of its rows.
    pub(super) fn words(&self) -> Option<&SegmentWords> {
        self.file.words.as_ref()
    }

    /// The documents of its rows.
    pub(super) fn documents(&self) -> Result<Option<DocumentTables<'_>>> {
        self.file.documents.as_ref().map(|(documents, _)| documents.tables(&self.file.path)).transpose()
    }

    /// The bytes that words and documents take in its file.
    pub(super) fn n_word_bytes(&self) -> u64 {
        let SegmentFile { words, documents, .. } = &*self.file;
        let of_documents = documents.as_ref().map_or(0, |(documents, _)| documents.n_bytes());
        words.as_ref().map_or(0, SegmentWords::n_bytes) + of_documents
    }

    pub(super) fn verify(&self) -> Result<()> {
        let SegmentFile { index, path, ids, columns, words, documents, .. } = &*self.file;
        index.verify()?;
        ids.verify(path, self.len())?;
        columns.iter().try_for_each(|texts| texts.verify(path, self.len()))?;
        if let Some(words) = words {
            words.verify(path, self.len())?;
        }
        match documents {
            Some((documents, column)) => documents.verify(path, |row| self.text(*column, row)),
            None => Ok(()),
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Collection, CollectionParams, NewRows, Search};

    fn rows(ids: Vec<&str>) -> NewRows {
        let values = (0..ids.len()).flat_map(|i| [1.0, i as f32]).collect();
        NewRows::new(Table::from_vec(ids.len(), 2, values).unwrap()).ids(ids)
    }

    #[test]
    fn a_file_that_stays_is_opened_and_checked_once_and_a_new_one_of_the_same_name_is_not_taken_for_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("c");
        let mut part = Some(rows(vec!["a", "b", "c"]));
        let mut writer = Collection::build::<Error>(&path, &CollectionParams::new(2), || Ok(part.take())).unwrap();
        let mut reader = Collection::open(&path).unwrap();
        let first = |collection: &Collection| Arc::clone(&collection.segments[0].file);
        let [of_writer, of_reader] = [&writer, &reader].map(first);
        writer.add(rows(vec!["d"])).unwrap();
        writer.delete(&["b"]).unwrap();
        assert!(reader.refresh().unwrap());
        for (collection, file) in [(&writer, &of_writer), (&reader, &of_reader)] {
            assert!(Arc::ptr_eq(&first(collection), file));
            assert_eq!((collection.len(), collection.position("b").unwrap()), (3, None));
            assert_eq!(collection.position("d").unwrap(), Some(3));
            assert_eq!(collection.search(&[1.0, 1.0], &Search::new(9)).unwrap().len(), 3);
        }
        // Another one in a folder of the same name: its first file has the same name, too.
        std::fs::rename(&path, folder.path().join("old")).unwrap();
        let mut part = Some(rows(vec!["x", "y", "z"]));
        Collection::build::<Error>(&path, &CollectionParams::new(2), || Ok(part.take())).unwrap();
        assert!(path.join("000001.segment").exists() && folder.path().join("old/000001.segment").exists());
        assert!(reader.refresh().unwrap() && !Arc::ptr_eq(&first(&reader), &of_reader));
        assert_eq!((reader.id(1).unwrap(), reader.position("a").unwrap()), (Some("y".into()), None));
    }
}
