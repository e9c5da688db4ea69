//! Changes to a collection: new files first, then the manifest.

use std::{
    collections::HashSet,
    fs,
    hash::{BuildHasher, RandomState},
    ops::Range,
    path::Path,
};

use senv_core::files::{FileLock, Unfinished, sync_folder};

use super::{
    Collection, CollectionParams, NewRows,
    bits::Bits,
    manifest::Manifest,
    new_files::NewFiles,
    row_ids::{IdRef, RowIds},
};
use crate::{Error, Id, IdKind, Result, rows::check_finite};

/// The ids used by the parts of one addition. It takes some 20 bytes for each given id, however long.
#[derive(Debug, Default)]
pub(super) struct TakenIds {
    /// Numbers, or hashes of texts.
    given: HashSet<u64>,
    hasher: RandomState,
    /// The ids of parts without given ids.
    free: Vec<Range<u64>>,
    /// The number of rows so far.
    n: usize,
}

impl TakenIds {
    /// Claims a given id. If the result is true, it is new. If not, a number was claimed before, and a text perhaps.
    pub(super) fn claim(&mut self, id: IdRef<'_>) -> bool {
        match id {
            IdRef::Number(id) => self.given.insert(id) && !self.free.iter().any(|range| range.contains(&id)),
            IdRef::Text { text, .. } => self.given.insert(self.hasher.hash_one(text)),
        }
    }

    /// Claims the ids of a part.
    ///
    /// # Errors
    /// [`Error::GivenTwice`] if an id is already claimed; `new` has the rows of the earlier parts.
    fn take(&mut self, are_given: bool, ids: &RowIds, new: &NewFiles) -> Result<()> {
        let start = self.n;
        self.n += ids.len();
        match ids {
            RowIds::Numbers(ids) if !are_given => {
                let Some((&first, &last)) = ids.first().zip(ids.last()) else { return Ok(()) };
                // Generated ids are consecutive across parts.
                match self.free.last_mut().filter(|range| range.end == first) {
                    Some(range) => range.end = last.saturating_add(1),
                    None => self.free.push(first..last.saturating_add(1)),
                }
                return Ok(());
            }
            _ => {}
        }
        for (i, id) in ids.iter().enumerate() {
            if self.claim(id) {
                continue;
            }
            let in_part = ids.iter().take(i).position(|other| other == id).map(|row| start + row);
            let first = in_part.map_or_else(|| new.row_of(id), |row| Ok(Some(row)))?;
            // Two texts can have the same hash.
            if let Some(first) = first {
                return Err(Error::GivenTwice { id: id.into(), first, second: start + i });
            }
        }
        Ok(())
    }
}

impl Collection {
    /// Creates an empty collection in a folder, which is created if it does not exist.
    ///
    /// # Errors
    /// [`Error::Exists`] if there is a collection; [`senv_core::Error::InvalidParameter`] for invalid parameters, more
    /// than 16 columns, or two columns with the same name; [`senv_core::Error::InUse`]; [`senv_core::Error::Io`].
    pub fn create(folder: impl AsRef<Path>, params: &CollectionParams) -> Result<Self> {
        Self::build(folder, params, || Ok(None))
    }

    /// Builds a collection from parts. Each part becomes a segment, as in [`Collection::add_parts`]. After an error the
    /// collection does not exist, unless [`Error::is_done`].
    ///
    /// # Errors
    /// The errors of [`Collection::create`], [`Collection::add`] and `next`.
    pub fn build<E: From<Error>>(
        folder: impl AsRef<Path>,
        params: &CollectionParams,
        next: impl FnMut() -> Result<Option<NewRows>, E>,
    ) -> Result<Self, E> {
        Self::build_in(folder.as_ref(), params, next, false)
    }

    /// Builds a collection and replaces the existing one, if there is one, even if it is damaged. After an error the
    /// old one stays.
    ///
    /// # Errors
    /// The errors of [`Collection::build`], except [`Error::Exists`].
    pub fn rebuild<E: From<Error>>(
        folder: impl AsRef<Path>,
        params: &CollectionParams,
        next: impl FnMut() -> Result<Option<NewRows>, E>,
    ) -> Result<Self, E> {
        Self::build_in(folder.as_ref(), params, next, true)
    }

    fn build_in<E: From<Error>>(
        folder: &Path,
        params: &CollectionParams,
        next: impl FnMut() -> Result<Option<NewRows>, E>,
        replace: bool,
    ) -> Result<Self, E> {
        Self::make(folder, params.manifest()?, replace, |building, manifest, new| {
            building.append_parts(manifest, new, &mut None, next)?;
            if let Some(shard) = &mut manifest.shard {
                shard.input = params.shard_input_digest();
            }
            Ok(())
        })
    }

    /// Creates a collection from an empty manifest; `fill` writes its segments.
    pub(super) fn make<E: From<Error>>(
        folder: &Path,
        mut manifest: Manifest,
        replace: bool,
        fill: impl FnOnce(&Self, &mut Manifest, &mut NewFiles) -> Result<(), E>,
    ) -> Result<Self, E> {
        (manifest.generation, manifest.next_file) = (0, 1);
        // If a signal ends the program, the folder is removed only if this call created it and nothing else was added.
        let new_folder = (!folder.exists()).then(|| Unfinished::new(folder));
        fs::create_dir_all(folder).map_err(|e| Error::from(senv_core::Error::io("create", folder, e)))?;
        let made = Self::make_in(folder, manifest, replace, fill, new_folder.is_some());
        if new_folder.is_some() && made.is_err() {
            // If the error says that the collection exists, the folder is not empty and stays.
            let _ = fs::remove_dir(folder);
        }
        drop(new_folder);
        let (made, lock) = made?;
        made?;
        let collection = Self::open(folder).map_err(|error| error.behind_change(folder))?;
        collection.remove_others();
        drop(lock);
        Ok(collection)
    }

    /// Does the work of `make` in an existing folder, up to the manifest, and returns the lock.
    fn make_in<E: From<Error>>(
        folder: &Path,
        mut manifest: Manifest,
        replace: bool,
        fill: impl FnOnce(&Self, &mut Manifest, &mut NewFiles) -> Result<(), E>,
        is_new_folder: bool,
    ) -> Result<(Result<()>, FileLock), E> {
        let lock = FileLock::acquire(Manifest::path(folder)).map_err(Error::from)?;
        // Under the lock, nobody else can create one.
        if !replace && Manifest::path(folder).exists() {
            return Err(Error::Exists { path: folder.to_owned() }.into());
        }
        let old = match Manifest::read(folder) {
            Ok(old) => Some(old),
            Err(Error::NotACollection { .. }) => Some(manifest.clone()),
            // The replaced collection can be damaged.
            Err(_) => None,
        };
        if let Some(old) = &old {
            (manifest.generation, manifest.next_file) = (old.generation + 1, old.next_file);
        }
        if let Some(shard) = &mut manifest.shard {
            shard.generation = manifest.generation;
        }
        // Files left by a killed writer.
        if let Some(old) = old {
            Self::without_segments(folder, old).remove_others();
        }
        let mut new = NewFiles::default();
        let building = Self::without_segments(folder, manifest.clone());
        let built = fill(&building, &mut manifest, &mut new);
        let written = built.and_then(|()| Ok(Self::write_manifest(&manifest, folder, new, is_new_folder)?));
        if written.is_err() {
            Self::remove_unnamed(folder, &building.manifest);
        }
        Ok((written?, lock))
    }

    /// Replaces the manifest; from then on the new files belong to the collection. An outer error means that nothing
    /// changed. An inner error means that the change was made but could be lost in a power cut.
    fn write_manifest(manifest: &Manifest, folder: &Path, new: NewFiles, is_new_folder: bool) -> Result<Result<()>> {
        let last = new.with_last_step();
        let written = manifest.write(folder);
        drop(last);
        #[cfg(test)]
        tests::lose(folder);
        let written = written.and_then(|()| match is_new_folder {
            true => Ok(sync_folder(std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned()))?),
            false => Ok(()),
        });
        match written {
            Err(Error::Core(error)) if error.is_done() => Ok(Err(error.into())),
            written => written.map(Ok),
        }
    }

    /// Removes the files of a failed change: those that the current manifest does not name. The manifest is read again;
    /// if that fails, nothing is removed. `empty` names no files.
    fn remove_unnamed(folder: &Path, empty: &Manifest) {
        let manifest = match Manifest::read(folder) {
            Ok(manifest) => manifest,
            Err(Error::NotACollection { .. }) => empty.clone(),
            Err(_) => return,
        };
        Self::without_segments(folder, manifest).remove_others();
    }

    /// The state of a manifest without its segments.
    fn without_segments(folder: &Path, manifest: Manifest) -> Self {
        Self { folder: folder.to_owned(), manifest, segments: Vec::new(), starts: vec![0], n_bytes: 0 }
    }

    /// Adds rows as a new segment and returns their ids. Each segment is searched separately, so many small additions
    /// make searches slower until the collection is compacted. Once sixteen small segments of about the same size are
    /// at the end, they are joined into one, up to 65,536 rows. Nothing is joined if no vectors are stored
    /// ([`Rescoring::None`](crate::Rescoring::None)).
    ///
    /// # Errors
    /// [`senv_core::Error::ShapeMismatch`] if the vectors have a different dimension or the number of ids or texts is
    /// wrong; [`Error::NonFinite`]; [`Error::RepeatedId`]; [`Error::GivenTwice`]; [`Error::BadId`];
    /// [`Error::NotANumber`]; [`Error::NoIds`]; [`Error::WrongColumns`]; [`Error::SegmentLimit`];
    /// [`senv_core::Error::InUse`] while another process writes; [`senv_core::Error::Io`]. These leave the collection
    /// unchanged. After [`senv_core::Error::NotDurable`] and [`Error::ChangedNotOpened`] the rows were added
    /// ([`Error::is_done`]).
    pub fn add(&mut self, rows: NewRows) -> Result<Vec<Id>> {
        let ids = self.change(|collection, new| {
            let mut manifest = collection.manifest.clone();
            let ids = collection.append_part(&mut manifest, new, &mut None, &mut TakenIds::default(), rows)?;
            Ok::<_, Error>((manifest, None, ids))
        })?;
        self.join_small();
        Ok(ids.into_ids())
    }

    /// Adds rows in parts, each of which becomes a segment, with only one part in memory at a time. `next` returns the
    /// parts one by one, then `None`. After an error, no rows were added. Returns the number of rows.
    ///
    /// # Errors
    /// The errors of [`Collection::add`], including an id in two parts, and those of `next`.
    pub fn add_parts<E: From<Error>>(&mut self, next: impl FnMut() -> Result<Option<NewRows>, E>) -> Result<usize, E> {
        let n = self.change(|collection, new| {
            let mut manifest = collection.manifest.clone();
            let n = collection.append_parts(&mut manifest, new, &mut None, next)?;
            Ok::<_, E>((manifest, None, n))
        })?;
        self.join_small();
        Ok(n)
    }

    /// Adds rows with ids and deletes the old rows with these ids in the same change. New ids are added.
    /// # Errors
    /// The errors of [`Collection::add`]; [`Error::RepeatedId`] if an id is given twice.
    pub fn replace(&mut self, rows: NewRows) -> Result<()> {
        let mut rows = Some(rows);
        self.replace_parts(|| Ok(rows.take())).map(|_| ())
    }

    /// [`Collection::replace`] for rows in parts, as in [`Collection::add_parts`].
    ///
    /// # Errors
    /// The errors of [`Collection::replace`] and `next`.
    pub fn replace_parts<E: From<Error>>(
        &mut self,
        next: impl FnMut() -> Result<Option<NewRows>, E>,
    ) -> Result<usize, E> {
        let n = self.change(|collection, new| {
            let mut deleted = Some(collection.deleted());
            let mut manifest = collection.manifest.clone();
            let n = collection.append_parts(&mut manifest, new, &mut deleted, next)?;
            Ok::<_, E>((manifest, deleted, n))
        })?;
        self.join_small();
        Ok(n)
    }

    /// Deletes the rows with these ids. Compacting the collection frees their space.
    ///
    /// # Errors
    /// [`Error::UnknownId`] if no row has an id, or an id is given twice; the errors of [`Collection::add`]. After an
    /// error, nothing was deleted.
    pub fn delete<I: Clone + Into<Id>>(&mut self, ids: &[I]) -> Result<()> {
        self.change(|collection, _| {
            let mut deleted = collection.deleted();
            let mut given = HashSet::new();
            for id in ids {
                let id: Id = id.clone().into();
                let of_kind = id.clone().of_kind(collection.manifest.ids);
                let is_there = match of_kind {
                    Some(of_kind) => collection.mark(IdRef::from(&of_kind), &mut deleted)? && given.insert(of_kind),
                    None => false,
                };
                if !is_there {
                    return Err(Error::UnknownId { id });
                }
            }
            Ok((collection.manifest.clone(), Some(deleted), ()))
        })
    }

    /// Replaces the text stored under a name of [`CollectionParams::metadata`].
    ///
    /// # Errors
    /// [`senv_core::Error::InUse`] while another process writes; [`senv_core::Error::Io`].
    pub fn set_metadata(&mut self, name: &str, value: &str) -> Result<()> {
        self.change(|collection, _| {
            let mut manifest = collection.manifest.clone();
            manifest.metadata.insert(name.to_owned(), value.to_owned());
            Ok((manifest, None, ()))
        })
    }

    /// Locks the collection, loads the changes of others, makes a new manifest and its deletions, and replaces the old
    /// one. Then removes the files that no longer belong to it.
    ///
    /// # Errors
    /// The errors of `make` and of writing, which leave the collection unchanged. After
    /// [`senv_core::Error::NotDurable`] and [`Error::ChangedNotOpened`] the change was made.
    pub(super) fn change<T, E: From<Error>>(
        &mut self,
        make: impl FnOnce(&Self, &mut NewFiles) -> Result<(Manifest, Option<Vec<Bits>>, T), E>,
    ) -> Result<T, E> {
        let _lock = FileLock::acquire(Manifest::path(&self.folder)).map_err(Error::from)?;
        self.refresh()?;
        // Files left by a killed writer.
        self.remove_others();
        let mut new = NewFiles::default();
        let made = make(self, &mut new).and_then(|(mut manifest, deleted, result)| {
            if let Some(deleted) = deleted {
                self.write_deletions(&mut manifest, &mut new, &deleted)?;
            }
            manifest.generation += 1;
            Ok((Self::write_manifest(&manifest, &self.folder, new, false)?, result))
        });
        // Files are removed only if the current manifest is known.
        let refreshed = self.refresh();
        let result = match made {
            Ok((Ok(()), result)) => {
                refreshed.map_err(|error| error.behind_change(&self.folder))?;
                result
            }
            // A power cut could restore the previous manifest, which names the previous files.
            Ok((Err(error), _)) => return Err(error.into()),
            Err(error) => {
                if refreshed.is_ok() {
                    self.remove_others();
                }
                return Err(error);
            }
        };
        self.remove_others();
        Ok(result)
    }

    /// Writes the segments of all parts and counts their rows.
    fn append_parts<E: From<Error>>(
        &self,
        manifest: &mut Manifest,
        new: &mut NewFiles,
        deleted: &mut Option<Vec<Bits>>,
        mut next: impl FnMut() -> Result<Option<NewRows>, E>,
    ) -> Result<usize, E> {
        let mut taken = TakenIds::default();
        while let Some(rows) = next()? {
            self.append_part(manifest, new, deleted, &mut taken, rows)?;
        }
        if let Some(deleted) = deleted {
            deleted.resize(manifest.segments.len(), Bits::default());
        }
        Ok(taken.n)
    }

    /// Writes the segment of a part; with `deleted`, marks existing rows with the same ids there.
    fn append_part(
        &self,
        manifest: &mut Manifest,
        new: &mut NewFiles,
        deleted: &mut Option<Vec<Bits>>,
        taken: &mut TakenIds,
        mut rows: NewRows,
    ) -> Result<RowIds> {
        let given = rows.ids.take();
        let are_given = given.is_some();
        let ids = self.new_ids(manifest, &rows, given, taken.n)?;
        let start = taken.n;
        taken.take(are_given, &ids, new)?;
        for (row, id) in (start..).zip(ids.iter()) {
            match deleted {
                Some(deleted) => {
                    self.mark(id, deleted)?;
                }
                None if self.position_of(id)?.is_some() => return Err(Error::RepeatedId { id: id.into(), row }),
                None => {}
            }
        }
        self.append(manifest, new, rows, &ids)?;
        Ok(ids)
    }

    /// The ids for new rows, after checking their shapes. `row` is the number of the first.
    fn new_ids(&self, manifest: &Manifest, rows: &NewRows, given: Option<Vec<Id>>, row: usize) -> Result<RowIds> {
        let n = rows.vectors.n_rows();
        let shape = |what, expected: usize, got: usize| {
            let error = senv_core::Error::ShapeMismatch { what, expected, got };
            if expected == got { Ok(()) } else { Err(error) }
        };
        shape("vectors", self.dim(), rows.vectors.dim())?;
        if rows.texts.len() != self.columns().len() {
            let (expected, found) = (self.columns().join(", "), format!("{} columns", rows.texts.len()));
            return Err(Error::WrongColumns { expected, found });
        }
        rows.texts.iter().try_for_each(|texts| shape("texts of a column", n, texts.len()))?;
        check_finite(&rows.vectors)?;
        let Some(ids) = given else {
            if manifest.ids == IdKind::Texts && n > 0 {
                return Err(Error::NoIds { path: self.folder.clone() });
            }
            let first = rows.first_id.unwrap_or(manifest.next_id);
            if first < manifest.next_id {
                return Err(Error::RepeatedId { id: first.into(), row });
            }
            let end = first.checked_add(n as u64).ok_or(Error::NoIdLeft { next_id: first })?;
            return Ok(RowIds::Numbers((first..end).collect()));
        };
        shape("ids", n, ids.len())?;
        RowIds::of_given(ids, manifest.id_kind())
    }

    /// The deletions of all segments.
    fn deleted(&self) -> Vec<Bits> {
        self.segments.iter().map(|segment| segment.deleted.clone()).collect()
    }

    /// Marks the row with this id as deleted; returns whether it exists.
    fn mark(&self, id: IdRef<'_>, deleted: &mut [Bits]) -> Result<bool> {
        for (segment, deleted) in self.segments.iter().zip(deleted).rev() {
            if let Some(row) = segment.row_of(id)?.filter(|&row| !segment.deleted.get(row)) {
                deleted.set(row);
                return Ok(true);
            }
        }
        Ok(false)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use senv_core::Table;

    use super::*;

    thread_local! {
        /// Whether a segment is lost as soon as the manifest names it.
        static LOST: Cell<bool> = const { Cell::new(false) };
    }

    /// Fails after a change, as a disk would.
    pub(super) fn lose(folder: &Path) {
        if LOST.get() {
            fs::remove_file(folder.join("000002.segment")).unwrap();
        }
    }

    fn rows() -> NewRows {
        NewRows::new(Table::from_vec(1, 2, vec![1.0, 0.0]).unwrap())
    }

    #[test]
    fn a_change_whose_outcome_cannot_be_opened_is_made_and_said_to_be() {
        for rebuilds in [false, true] {
            let folder = tempfile::tempdir().unwrap();
            let mut collection = Collection::create(folder.path(), &CollectionParams::new(2)).unwrap();
            collection.add(rows()).unwrap();
            LOST.set(true);
            let mut part = Some(rows());
            let failed = match rebuilds {
                false => collection.add(rows()).map(drop),
                true => Collection::rebuild(folder.path(), &CollectionParams::new(2), || Ok(part.take())).map(drop),
            };
            LOST.set(false);
            let error: Error = failed.unwrap_err();
            assert!(error.is_done() && matches!(error, Error::ChangedNotOpened { .. }), "{error}");
            assert!(error.to_string().contains("missing files: 000002.segment;"), "{error}");
            assert_eq!(Manifest::read(folder.path()).unwrap().segments.len(), if rebuilds { 1 } else { 2 });
            // Nothing was removed, as the collection cannot be opened: the previous state can be restored.
            assert!(folder.path().join("000001.segment").exists());
            let missing = Collection::open(folder.path()).unwrap_err();
            assert!(matches!(missing, Error::FilesMissing { .. }) && !missing.is_done(), "{missing}");
        }
    }
}
