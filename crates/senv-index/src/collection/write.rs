//! Changes of a collection: new files first, then the manifest.

use std::{
    collections::{BTreeMap, HashSet},
    fs,
    ops::Range,
    path::Path,
};

use senv_core::{ModelWriter, Table, files::FileLock};

use super::{
    Collection,
    bits::Bits,
    manifest::{Manifest, SegmentEntry},
    segment::{MOST_COLUMNS, Segment, SegmentContent},
};
use crate::{Error, IndexParams, Result, index::check_size, rows::check_finite};

/// Values of the vectors of a segment, about: 256 MiB in f32, 262,144 rows of 256. Whoever adds much does it in parts of this
/// size ([`Collection::add_parts`]), so that memory is bounded.
pub const PART_VALUES: usize = 64 << 20;

/// What a new collection is for.
#[derive(Debug, Clone)]
pub struct CollectionParams {
    dim: usize,
    model: String,
    columns: Vec<String>,
    index: IndexParams,
    metadata: BTreeMap<String, String>,
}

impl CollectionParams {
    /// A collection of vectors of `dim` values without columns.
    #[must_use]
    pub fn new(dim: usize) -> Self {
        let (columns, index, metadata) = Default::default();
        Self { dim, model: String::new(), columns, index, metadata }
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

    /// Something that is kept with the collection under a name of the user's.
    #[must_use]
    pub fn metadata(mut self, name: &str, value: &str) -> Self {
        self.metadata.insert(name.to_owned(), value.to_owned());
        self
    }

    /// The manifest of an empty collection.
    fn manifest(&self) -> Result<Manifest> {
        let Self { dim, model, columns, index, metadata } = self;
        check_size(0, *dim)?;
        index.blocks(*dim)?;
        let distinct: HashSet<&String> = columns.iter().collect();
        if columns.len() > MOST_COLUMNS || distinct.len() < columns.len() {
            let requirement = "at most 16 names, no two of them equal";
            let got = columns.join(", ");
            return Err(senv_core::Error::InvalidParameter { name: "columns", requirement, got }.into());
        }
        Ok(Manifest { metadata: metadata.clone(), ..Manifest::new(*dim, model, columns, index) })
    }
}

/// Rows that are added to a collection.
#[derive(Debug)]
pub struct NewRows {
    vectors: Table,
    ids: Option<Vec<u64>>,
    texts: Vec<Vec<String>>,
    counts: BTreeMap<String, u64>,
}

impl NewRows {
    /// Vectors without texts, with the next free ids.
    #[must_use]
    pub fn new(vectors: Table) -> Self {
        Self { vectors, ids: None, texts: Vec::new(), counts: BTreeMap::new() }
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

    /// Adds a number to what the collection counts under a name ([`Collection::count`]).
    #[must_use]
    pub fn count(mut self, name: &str, n: u64) -> Self {
        let count = self.counts.entry(name.to_owned()).or_default();
        *count = count.saturating_add(n);
        self
    }
}

/// Ids that are taken by parts that come together.
#[derive(Debug, Default)]
struct TakenIds {
    given: HashSet<u64>,
    /// Those of parts without ids.
    free: Vec<Range<u64>>,
}

impl TakenIds {
    /// Takes the ids of a part; an error for one that is taken.
    fn take(&mut self, rows: &NewRows, ids: &[u64]) -> Result<()> {
        if rows.ids.is_none() {
            self.free.extend(ids.first().zip(ids.last()).map(|(&first, &last)| first..last.saturating_add(1)));
            return Ok(());
        }
        for &id in ids {
            if !self.given.insert(id) || self.free.iter().any(|range| range.contains(&id)) {
                return Err(Error::RepeatedId { id });
            }
        }
        Ok(())
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
        let manifest = params.manifest()?;
        fs::create_dir_all(folder).map_err(|e| senv_core::Error::io("create", folder, e))?;
        let _lock = FileLock::acquire(Manifest::path(folder))?;
        if Manifest::path(folder).exists() {
            return Err(Error::Exists { path: folder.to_owned() });
        }
        manifest.write(folder)?;
        Self::open(folder)
    }

    /// Makes a collection of parts, each of which becomes a segment, as [`Collection::add_parts`]; in place of the one that is
    /// there, if there is one. It is there as a whole, or, after an error, as if nothing had happened.
    ///
    /// # Errors
    /// As [`Collection::create`], but for [`Error::Exists`]; as [`Collection::add`]; those of `next`.
    pub fn build<E: From<Error>>(
        folder: impl AsRef<Path>,
        params: &CollectionParams,
        next: impl FnMut() -> Result<Option<NewRows>, E>,
    ) -> Result<Self, E> {
        let folder = folder.as_ref();
        let mut manifest = params.manifest()?;
        let is_new = !folder.exists();
        fs::create_dir_all(folder).map_err(|e| Error::from(senv_core::Error::io("create", folder, e)))?;
        let lock = FileLock::acquire(Manifest::path(folder)).map_err(Error::from)?;
        let old = match Manifest::read(folder) {
            Ok(old) => Some(old),
            Err(Error::NotACollection { .. }) => Some(manifest.clone()),
            // What is replaced need not be whole.
            Err(_) => None,
        };
        let next_file = old.as_ref().map_or_else(|| last_file(folder) + 1, |old| old.next_file);
        (manifest.generation, manifest.next_file) = (old.as_ref().map_or(0, |old| old.generation + 1), next_file);
        let empty = |manifest| Self { folder: folder.to_owned(), manifest, segments: Vec::new(), starts: vec![0] };
        let built = empty(manifest.clone()).append_parts(&mut manifest, &mut None, next);
        if let Err(error) = built.and_then(|_| Ok(manifest.write(folder)?)) {
            if let Some(old) = old {
                empty(old).remove_others();
            }
            drop(lock);
            if is_new {
                // Only what this call has made, and only if nothing else came into it.
                let _ = fs::remove_dir(folder);
            }
            return Err(error);
        }
        let collection = Self::open(folder)?;
        collection.remove_others();
        Ok(collection)
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
            let mut manifest = collection.manifest.clone();
            let ids = collection.append_part(&mut manifest, &mut None, &mut TakenIds::default(), rows)?;
            Ok((manifest, None, ids))
        })
    }

    /// Adds rows that come in parts, each of which becomes a segment: memory holds one part at a time. `next` gives them one
    /// after another, `None` behind the last. All of them are added, or, after an error, none. The number of rows is
    /// returned.
    ///
    /// # Errors
    /// As [`Collection::add`], also for an id in two parts; those of `next`.
    pub fn add_parts<E: From<Error>>(&mut self, next: impl FnMut() -> Result<Option<NewRows>, E>) -> Result<usize, E> {
        self.change(|collection| {
            let mut manifest = collection.manifest.clone();
            let n = collection.append_parts(&mut manifest, &mut None, next)?;
            Ok((manifest, None, n))
        })
    }

    /// Adds rows with ids, in place of those that have these ids: both at once. Ids that are not there yet are added.
    ///
    /// # Errors
    /// As [`Collection::add`]; [`Error::RepeatedId`] for an id that is given twice.
    pub fn replace(&mut self, rows: NewRows) -> Result<()> {
        let mut rows = Some(rows);
        self.replace_parts(|| Ok(rows.take())).map(|_| ())
    }

    /// The same of rows that come in parts, as in [`Collection::add_parts`].
    ///
    /// # Errors
    /// As [`Collection::replace`]; those of `next`.
    pub fn replace_parts<E: From<Error>>(
        &mut self,
        next: impl FnMut() -> Result<Option<NewRows>, E>,
    ) -> Result<usize, E> {
        self.change(|collection| {
            let mut deleted = Some(collection.deleted());
            let mut manifest = collection.manifest.clone();
            let n = collection.append_parts(&mut manifest, &mut deleted, next)?;
            Ok((manifest, deleted, n))
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

    /// Locks the collection, takes over what others have changed, makes a new manifest and with it new deletions, and puts
    /// it in place of the old one. Then files that belong to it no more are removed.
    pub(super) fn change<T, E: From<Error>>(
        &mut self,
        make: impl FnOnce(&Self) -> Result<(Manifest, Option<Vec<Bits>>, T), E>,
    ) -> Result<T, E> {
        let _lock = FileLock::acquire(Manifest::path(&self.folder)).map_err(Error::from)?;
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
        refreshed?;
        Ok(result)
    }

    /// Writes the segments of all parts; the rows are counted.
    fn append_parts<E: From<Error>>(
        &self,
        manifest: &mut Manifest,
        deleted: &mut Option<Vec<Bits>>,
        mut next: impl FnMut() -> Result<Option<NewRows>, E>,
    ) -> Result<usize, E> {
        let (mut taken, mut n) = (TakenIds::default(), 0);
        while let Some(rows) = next()? {
            n += self.append_part(manifest, deleted, &mut taken, rows)?.len();
        }
        if let Some(deleted) = deleted {
            deleted.resize(manifest.segments.len(), Bits::default());
        }
        Ok(n)
    }

    /// Writes the segment of a part; with `deleted`, rows of the same ids are marked there.
    fn append_part(
        &self,
        manifest: &mut Manifest,
        deleted: &mut Option<Vec<Bits>>,
        taken: &mut TakenIds,
        rows: NewRows,
    ) -> Result<Vec<u64>> {
        let ids = self.new_ids(manifest, &rows)?;
        taken.take(&rows, &ids)?;
        for &id in &ids {
            match deleted {
                Some(deleted) => {
                    self.mark(id, deleted)?;
                }
                None if self.position(id)?.is_some() => return Err(Error::RepeatedId { id }),
                None => {}
            }
        }
        self.append(manifest, rows, &ids)?;
        Ok(ids)
    }

    /// The ids of rows that are added; their shapes are checked.
    fn new_ids(&self, manifest: &Manifest, rows: &NewRows) -> Result<Vec<u64>> {
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
            let end = manifest.next_id.checked_add(n as u64);
            let end = end.ok_or(Error::RepeatedId { id: manifest.next_id })?;
            return Ok((manifest.next_id..end).collect());
        };
        shape("ids", n, ids.len())?;
        Ok(ids.clone())
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
    pub(super) fn append(&self, manifest: &mut Manifest, rows: NewRows, ids: &[u64]) -> Result<()> {
        let n = rows.vectors.n_rows();
        for (name, n) in &rows.counts {
            let count = manifest.counts.entry(name.clone()).or_default();
            *count = count.saturating_add(*n);
        }
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

/// The highest number of a file of a collection in a folder; 0 without one.
fn last_file(folder: &Path) -> u64 {
    let names = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.file_name());
    let number = |name: std::ffi::OsString| name.to_str()?.split('.').next()?.parse::<u64>().ok();
    names.filter_map(number).max().unwrap_or(0)
}
