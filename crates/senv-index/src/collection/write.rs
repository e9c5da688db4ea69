//! Changes of a collection: new files first, then the manifest.

use std::{collections::HashSet, fs, path::Path};

use senv_core::{ModelWriter, Table, files::FileLock, memory::check_memory};

use super::{
    Collection,
    bits::Bits,
    manifest::{Manifest, SegmentEntry},
    segment::{MOST_COLUMNS, Segment, SegmentContent},
};
use crate::{Error, IndexParams, Result, index::check_size, rows::check_finite};

/// What a new collection is for.
#[derive(Debug, Clone)]
pub struct CollectionParams {
    dim: usize,
    model: String,
    columns: Vec<String>,
    index: IndexParams,
}

impl CollectionParams {
    /// A collection of vectors of `dim` values without columns.
    #[must_use]
    pub fn new(dim: usize) -> Self {
        Self { dim, model: String::new(), columns: Vec::new(), index: IndexParams::default() }
    }

    /// The digest of the model that encodes the texts: vectors of another are refused.
    #[must_use]
    pub fn model(mut self, digest: &str) -> Self {
        self.model = digest.to_owned();
        self
    }

    /// One more column, in which every row has a text.
    #[must_use]
    pub fn column(mut self, name: &str) -> Self {
        self.columns.push(name.to_owned());
        self
    }

    /// How segments are indexed.
    #[must_use]
    pub fn index(mut self, params: IndexParams) -> Self {
        self.index = params;
        self
    }
}

/// Rows that are added to a collection.
#[derive(Debug)]
pub struct NewRows {
    vectors: Table,
    ids: Option<Vec<u64>>,
    texts: Vec<Vec<String>>,
}

impl NewRows {
    /// Vectors without texts, with the next free ids.
    #[must_use]
    pub fn new(vectors: Table) -> Self {
        Self { vectors, ids: None, texts: Vec::new() }
    }

    /// Their ids.
    #[must_use]
    pub fn ids(mut self, ids: Vec<u64>) -> Self {
        self.ids = Some(ids);
        self
    }

    /// Their texts: for each column of the collection, in its order, one a row.
    #[must_use]
    pub fn texts(mut self, texts: Vec<Vec<String>>) -> Self {
        self.texts = texts;
        self
    }
}

impl Collection {
    /// Makes an empty collection in a folder, which is made if it is not there.
    ///
    /// # Errors
    /// [`Error::Exists`] if there is a collection; [`senv_core::Error::InvalidParameter`] for parameters that do not fit, more
    /// than 16 columns, or two of one name; [`senv_core::Error::InUse`]; [`senv_core::Error::Io`].
    pub fn create(folder: impl AsRef<Path>, params: &CollectionParams) -> Result<Self> {
        let folder = folder.as_ref();
        let CollectionParams { dim, model, columns, index } = params;
        check_size(0, *dim)?;
        index.blocks(*dim)?;
        let distinct: HashSet<&String> = columns.iter().collect();
        if columns.len() > MOST_COLUMNS || distinct.len() < columns.len() {
            let requirement = "at most 16 names, no two of them equal";
            let got = columns.join(", ");
            return Err(senv_core::Error::InvalidParameter { name: "columns", requirement, got }.into());
        }
        fs::create_dir_all(folder).map_err(|e| senv_core::Error::io("create", folder, e))?;
        let _lock = FileLock::acquire(Manifest::path(folder))?;
        if Manifest::path(folder).exists() {
            return Err(Error::Exists { path: folder.to_owned() });
        }
        Manifest::new(*dim, model, columns, index).write(folder)?;
        Self::open(folder)
    }

    /// Adds rows as a new segment, and returns their ids. Several calls make several segments, each of which is searched by
    /// itself: rows that come in small parts are searched faster once the collection is compacted.
    ///
    /// # Errors
    /// [`senv_core::Error::ShapeMismatch`] for vectors of another dimension, or ids or texts of another number;
    /// [`Error::NonFinite`]; [`Error::RepeatedId`]; [`Error::WrongColumns`]; [`senv_core::Error::InUse`] while another process
    /// writes; [`senv_core::Error::Io`]. The collection is as before then.
    pub fn add(&mut self, rows: NewRows) -> Result<Vec<u64>> {
        self.change(|collection| {
            let ids = collection.new_ids(&rows)?;
            let repeated = |&&id: &&u64| collection.position(id).map_or(true, |position| position.is_some());
            if let Some(&id) = ids.iter().find(repeated) {
                // The error of a damaged file, if it is one.
                collection.position(id)?;
                return Err(Error::RepeatedId { id });
            }
            let mut manifest = collection.manifest.clone();
            collection.append(&mut manifest, rows, &ids)?;
            Ok((manifest, None, ids))
        })
    }

    /// Adds rows with ids, in place of those that have these ids: both at once. Ids that are not there yet are added.
    ///
    /// # Errors
    /// As [`Collection::add`]; [`Error::RepeatedId`] for an id that is given twice.
    pub fn replace(&mut self, rows: NewRows) -> Result<()> {
        self.change(|collection| {
            let ids = collection.new_ids(&rows)?;
            let mut deleted = collection.deleted();
            for &id in &ids {
                collection.mark(id, &mut deleted)?;
            }
            let mut manifest = collection.manifest.clone();
            collection.append(&mut manifest, rows, &ids)?;
            deleted.resize(manifest.segments.len(), Bits::default());
            Ok((manifest, Some(deleted), ()))
        })
    }

    /// Deletes the rows with these ids. Their space is free once the collection is compacted.
    ///
    /// # Errors
    /// [`Error::UnknownId`] for an id that no row has, or that is given twice; otherwise as [`Collection::add`]. Nothing is
    /// deleted then.
    pub fn delete(&mut self, ids: &[u64]) -> Result<()> {
        self.change(|collection| {
            let mut deleted = collection.deleted();
            let mut given = HashSet::new();
            for &id in ids {
                if !given.insert(id) || !collection.mark(id, &mut deleted)? {
                    return Err(Error::UnknownId { id });
                }
            }
            Ok((collection.manifest.clone(), Some(deleted), ()))
        })
    }

    /// Makes one segment of all, without the rows that are deleted. The vectors are read into memory.
    ///
    /// # Errors
    /// [`senv_core::Error::InvalidParameter`] if no vectors are kept ([`Rescoring::None`](crate::Rescoring::None));
    /// [`Error::Damaged`] if a part does not fit its checksum; otherwise as [`Collection::add`].
    pub fn compact(&mut self) -> Result<()> {
        self.change(|collection| {
            let mut manifest = collection.manifest.clone();
            (manifest.segments, manifest.deletions) = (Vec::new(), None);
            let (n, dim) = (collection.len(), collection.dim());
            if n > 0 {
                let mut values = Vec::new();
                let too_large = |_| senv_core::Error::TooLarge { rows: n, dim };
                values.try_reserve_exact(check_memory::<f32>(n, dim)?).map_err(too_large)?;
                let (mut ids, mut texts) = (Vec::with_capacity(n), vec![Vec::with_capacity(n); manifest.columns.len()]);
                for segment in &collection.segments {
                    for row in (0..segment.len()).filter(|&row| !segment.deleted.get(row)) {
                        let Some(vector) = segment.index.row(row)? else {
                            let (name, requirement) =
                                ("rescoring", "f32, f16 or int8 for a collection to be compacted");
                            return Err(
                                senv_core::Error::InvalidParameter { name, requirement, got: "none".into() }.into()
                            );
                        };
                        values.extend_from_slice(&vector);
                        ids.push(segment.id(row)?);
                        for (column, texts) in texts.iter_mut().enumerate() {
                            texts.push(segment.text(column, row)?);
                        }
                    }
                }
                let rows = NewRows { vectors: Table::from_vec(n, dim, values)?, ids: None, texts };
                collection.append(&mut manifest, rows, &ids)?;
            }
            Ok((manifest, Some(vec![Bits::default()]), ()))
        })
    }

    /// Locks the collection, takes over what others have changed, makes a new manifest and with it new deletions, and puts
    /// it in place of the old one. Then files that belong to it no more are removed.
    fn change<T>(&mut self, make: impl FnOnce(&Self) -> Result<(Manifest, Option<Vec<Bits>>, T)>) -> Result<T> {
        let _lock = FileLock::acquire(Manifest::path(&self.folder))?;
        self.refresh()?;
        // What a writer left that was killed.
        self.remove_others();
        let made = make(self).and_then(|(mut manifest, deleted, result)| {
            if let Some(deleted) = deleted {
                self.write_deletions(&mut manifest, &deleted)?;
            }
            manifest.generation += 1;
            manifest.write(&self.folder)?;
            Ok(result)
        });
        // Only who knows what belongs to the collection may remove what does not.
        let refreshed = self.refresh();
        if refreshed.is_ok() {
            self.remove_others();
        }
        let result = made?;
        refreshed.map(|_| result)
    }

    /// The ids of rows that are added, checked against each other; the shapes are checked too.
    fn new_ids(&self, rows: &NewRows) -> Result<Vec<u64>> {
        let n = rows.vectors.n_rows();
        let shape = |what, expected: usize, got: usize| {
            let error = senv_core::Error::ShapeMismatch { what, expected, got };
            if expected == got { Ok(()) } else { Err(error) }
        };
        shape("vectors", self.dim(), rows.vectors.dim())?;
        if rows.texts.len() != self.columns().len() {
            let (expected, found) = (self.columns().join(", "), format!("{} in number", rows.texts.len()));
            return Err(Error::WrongColumns { expected, found });
        }
        rows.texts.iter().try_for_each(|texts| shape("texts of a column", n, texts.len()))?;
        check_finite(&rows.vectors)?;
        let Some(ids) = &rows.ids else {
            let end = self.manifest.next_id.checked_add(n as u64);
            let end = end.ok_or(Error::RepeatedId { id: self.manifest.next_id })?;
            return Ok((self.manifest.next_id..end).collect());
        };
        shape("ids", n, ids.len())?;
        let mut distinct = HashSet::with_capacity(n);
        match ids.iter().find(|&&id| !distinct.insert(id)) {
            Some(&id) => Err(Error::RepeatedId { id }),
            None => Ok(ids.clone()),
        }
    }

    /// The deletions of all segments.
    fn deleted(&self) -> Vec<Bits> {
        self.segments.iter().map(|segment| segment.deleted.clone()).collect()
    }

    /// Marks the row of an id as deleted; whether there is one.
    fn mark(&self, id: u64, deleted: &mut [Bits]) -> Result<bool> {
        for (segment, deleted) in self.segments.iter().zip(deleted).rev() {
            if let Some(row) = segment.row_of(id)?.filter(|&row| !segment.deleted.get(row)) {
                deleted.set(row);
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Writes a segment, unless there is no row, and adds it to the manifest.
    fn append(&self, manifest: &mut Manifest, rows: NewRows, ids: &[u64]) -> Result<()> {
        let n = rows.vectors.n_rows();
        if n == 0 {
            return Ok(());
        }
        let file = format!("{:06}.segment", manifest.next_file);
        let content = SegmentContent { ids, columns: &rows.texts };
        Segment::write(&self.folder.join(&file), rows.vectors, &manifest.params, &content)?;
        manifest.next_file += 1;
        let behind = ids.iter().max().map_or(0, |id| id.saturating_add(1));
        manifest.next_id = manifest.next_id.max(behind);
        manifest.segments.push(SegmentEntry { file, rows: n, deleted: 0 });
        Ok(())
    }

    /// Writes the deletions of the segments of a manifest.
    fn write_deletions(&self, manifest: &mut Manifest, deleted: &[Bits]) -> Result<()> {
        manifest.deletions = None;
        let mut writer = ModelWriter::new("index-deletions");
        for (entry, deleted) in manifest.segments.iter_mut().zip(deleted) {
            entry.deleted = deleted.count();
            if entry.deleted > 0 {
                writer = writer.bytes(&entry.file, deleted.bytes());
                manifest.deletions = Some(String::new());
            }
        }
        if manifest.deletions.is_some() {
            let file = format!("{:06}.deletions", manifest.next_file);
            writer.save(self.folder.join(&file))?;
            manifest.next_file += 1;
            manifest.deletions = Some(file);
        }
        Ok(())
    }

    /// Removes segments and deletions that belong to no state any more: readers that have them open keep them.
    fn remove_others(&self) {
        let Ok(entries) = fs::read_dir(&self.folder) else { return };
        for entry in entries.flatten() {
            let name = entry.file_name();
            let Some(name) = name.to_str() else { continue };
            // One that was not finished is called `.NAME.XXXXXX.tmp`; no other writer can be at it.
            let unfinished = name.strip_prefix('.').and_then(|name| name.strip_suffix(".tmp")?.rsplit_once('.'));
            let (stem, kind) = unfinished.map_or(name, |(name, _)| name).split_once('.').unwrap_or_default();
            let is_number = stem.len() >= 6 && stem.bytes().all(|b| b.is_ascii_digit());
            if is_number && matches!(kind, "segment" | "deletions") && !self.manifest.names(name) {
                // Where an open file cannot be removed the next change tries again.
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}
