//! A collection: vectors with ids and texts in a folder, to which rows are added and from which they are deleted.

mod bits;
mod compact;
mod join;
mod manifest;
mod new_files;
mod params;
mod segment;
mod write;

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use senv_core::ModelFile;

use self::{
    bits::Bits,
    manifest::Manifest,
    segment::{Segment, check_header},
};
use crate::{Error, IndexParams, Result, Search, VectorIndex, best::Scored, scan::Keep};

pub use self::params::{CollectionParams, NewRows, PART_VALUES};

/// Times that a reader starts anew because a writer has replaced what it was about to open.
const TRIES: usize = 20;
/// A segment of which more than this share is deleted is searched in all cells, so that the recall stays.
const FEW_DELETED: f64 = 0.25;

/// Vectors with ids and texts in a folder.
///
/// The folder holds segments, each a memory-mapped index of the rows that were added together, and a manifest that says
/// which segments and deletions belong to the collection. A change writes new files and then replaces the manifest, so
/// whoever opens the collection sees the state before or after it, whenever a writer was killed. What is open stays as
/// it was until [`Collection::refresh`]. One process writes at a time; another gets an error that names it.
///
/// A row has a position, from 0 in the order of adding, which changes when the collection is compacted or small
/// additions are joined ([`Collection::add`]), and an id, which stays. An id belongs to one row at most.
///
/// What is open must not be written into or cut short by other programs, as with
/// [`ModelFile::open`](senv_core::ModelFile::open): a file that gets shorter ends the program at the next access to
/// what is gone (SIGBUS). Files are compared with their checksums block by block when they are used for the first time;
/// damage that comes later is not seen until the collection is opened anew. senv itself replaces and removes files, and
/// never writes into one.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("sentences");
/// use senv_core::Table;
/// use senv_index::{Collection, CollectionParams, NewRows, Search};
/// let mut collection = Collection::create(&path, &CollectionParams::new(2).column("text"))?;
/// let vectors = Table::from_vec(2, 2, vec![1.0, 0.0, 0.0, 2.0])?;
/// collection.add(NewRows::new(vectors).texts(vec![vec!["east".into(), "north".into()]]))?;
///
/// let collection = Collection::open(&path)?;
/// let found = collection.search(&[0.1, 5.0], &Search::new(1))?;
/// assert_eq!((found[0].id, collection.text(found[0].position, "text")?.as_str()), (1, "north"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Collection {
    folder: PathBuf,
    manifest: Manifest,
    segments: Vec<Segment>,
    /// The position of the first row of each segment, and the end.
    starts: Vec<usize>,
    /// Bytes of the files beside the manifest.
    n_bytes: u64,
}

/// A row of a collection that a search found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Found {
    /// Its id.
    pub id: u64,
    /// Its position.
    pub position: usize,
    /// Its cosine with the query, in `[-1, 1]`.
    pub cosine: f32,
}

impl Collection {
    /// Opens the collection in a folder; its files are memory-mapped.
    ///
    /// # Errors
    /// [`Error::NotACollection`]; [`Error::Damaged`] or [`senv_core::Error`] if a file is damaged or missing.
    pub fn open(folder: impl AsRef<Path>) -> Result<Self> {
        let folder = folder.as_ref();
        let mut manifest = Manifest::read(folder)?;
        for _ in 0..TRIES {
            let error = match Self::of(folder, manifest.clone()) {
                Ok(collection) => return Ok(collection),
                Err(error) => error,
            };
            // A writer may have removed the files of a manifest that is not the present one any more.
            let present = Manifest::read(folder)?;
            if present == manifest {
                return Err(Self::missing(folder, &manifest).unwrap_or(error));
            }
            manifest = present;
        }
        Self::of(folder, manifest)
    }

    /// What to say where files are gone that the manifest names.
    fn missing(folder: &Path, manifest: &Manifest) -> Option<Error> {
        let is_gone = |name: &&str| matches!(folder.join(name).symlink_metadata(), Err(e) if e.kind() == std::io::ErrorKind::NotFound);
        let gone: Vec<&str> = manifest.files().filter(is_gone).collect();
        let (first, more) = (gone.first()?, gone.len() - 1);
        let missing = if more == 0 { (*first).to_owned() } else { format!("{first} and {more} more") };
        Some(Error::FilesMissing { path: folder.to_owned(), missing })
    }

    fn of(folder: &Path, manifest: Manifest) -> Result<Self> {
        let mut n_bytes = 0;
        // Counted as they are opened: a writer may remove them later.
        let mut count = |path: &Path| -> Result<()> {
            n_bytes += fs::metadata(path).map_err(|e| senv_core::Error::io("read", path, e))?.len();
            Ok(())
        };
        let mut deletions = None;
        if let Some(name) = &manifest.deletions {
            let path = folder.join(name);
            let file = ModelFile::open(&path)?;
            check_header(&file, manifest.deletions_header.as_deref())?;
            count(&path)?;
            deletions = Some(file);
        }
        let mut segments = Vec::with_capacity(manifest.segments.len().min(1024));
        let mut starts = vec![0_usize];
        for entry in &manifest.segments {
            let path = folder.join(&entry.file);
            let deleted = match &deletions {
                Some(file) if file.contains(&entry.file) => {
                    let bits = Bits::from_bytes(file.bytes(&entry.file)?.to_vec(), entry.rows);
                    Some(bits.ok_or_else(|| Self::bad(&path, "its deletions do not match its rows".into()))?)
                }
                _ => None,
            };
            let segment = Segment::open(folder, entry, &manifest, deleted)
                .map_err(|error| Self::unmapped(error, folder, manifest.segments.len()))?;
            count(&path)?;
            if segment.n_deleted != entry.deleted {
                let reason = format!("{} rows are deleted, expected {}", segment.n_deleted, entry.deleted);
                return Err(Self::bad(&path, reason));
            }
            let end = starts[starts.len() - 1].checked_add(segment.len());
            starts.push(end.ok_or_else(|| Self::bad(&path, "too many rows".into()))?);
            segments.push(segment);
        }
        Ok(Self { folder: folder.to_owned(), manifest, segments, starts, n_bytes })
    }

    /// Where the system maps no more files, what to do about it.
    fn unmapped(error: Error, folder: &Path, segments: usize) -> Error {
        match error {
            Error::Core(senv_core::Error::Io { error, .. }) if error.kind() == std::io::ErrorKind::OutOfMemory => {
                Error::TooManySegments { path: folder.to_owned(), segments }
            }
            error => error,
        }
    }

    fn bad(path: &Path, reason: String) -> Error {
        Error::Damaged { path: path.to_owned(), what: "the segment".into(), reason }
    }

    /// Takes over what a writer has changed since; whether there was anything.
    ///
    /// # Errors
    /// As [`Collection::open`]; [`Error::OtherModel`] where the collection was made anew with vectors of another model.
    /// The state stays then.
    pub fn refresh(&mut self) -> Result<bool> {
        let manifest = Manifest::read(&self.folder)?;
        if manifest == self.manifest {
            return Ok(false);
        }
        if manifest.model != self.manifest.model {
            let (expected, found) = (manifest.model, self.manifest.model.clone());
            return Err(Error::OtherModel { path: self.folder.clone(), expected, found });
        }
        *self = Self::open(&self.folder)?;
        Ok(true)
    }

    /// Number of rows that are not deleted.
    #[must_use]
    pub fn len(&self) -> usize {
        self.segments.iter().map(|segment| segment.len() - segment.n_deleted).sum()
    }

    /// Whether there is no row that is not deleted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of positions: rows that are deleted keep theirs until the collection is compacted.
    #[must_use]
    pub fn n_positions(&self) -> usize {
        self.starts[self.segments.len()]
    }

    /// Values in a vector.
    #[must_use]
    pub fn dim(&self) -> usize {
        self.manifest.dim
    }

    /// Names of the columns.
    #[must_use]
    pub fn columns(&self) -> &[String] {
        &self.manifest.columns
    }

    /// Number of segments.
    #[must_use]
    pub fn n_segments(&self) -> usize {
        self.segments.len()
    }

    /// The index of each segment, for what was measured of it. Its rows are counted from 0, those that are deleted too.
    pub fn segments(&self) -> impl ExactSizeIterator<Item = &VectorIndex> {
        self.segments.iter().map(|segment| &segment.index)
    }

    /// Bytes of its files.
    #[must_use]
    pub fn n_bytes(&self) -> u64 {
        self.manifest.n_bytes() + self.n_bytes
    }

    /// What was given with [`CollectionParams::metadata`].
    #[must_use]
    pub fn metadata(&self) -> &BTreeMap<String, String> {
        &self.manifest.metadata
    }

    /// What [`NewRows::count`] has added up under this name, also of rows that are deleted since.
    #[must_use]
    pub fn count(&self, name: &str) -> u64 {
        self.manifest.counts.get(name).copied().unwrap_or(0)
    }

    /// Number and count of the shard that it is ([`CollectionParams::shard`]); `None` for a collection by itself.
    #[must_use]
    pub fn shard(&self) -> Option<(u32, u32)> {
        self.manifest.shard.as_ref().map(|shard| (shard.number, shard.count))
    }

    /// The folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Digest of the model that the vectors are of; empty where it is not known.
    #[must_use]
    pub fn model(&self) -> &str {
        &self.manifest.model
    }

    /// How segments are indexed.
    #[must_use]
    pub fn params(&self) -> &IndexParams {
        &self.manifest.params
    }

    /// Refuses a model whose digest differs from that of the collection. An unknown (empty) digest is never refused.
    ///
    /// # Errors
    /// [`Error::OtherModel`].
    pub fn check_model(&self, digest: &str) -> Result<()> {
        let expected = &self.manifest.model;
        if expected.is_empty() || digest.is_empty() || expected == digest {
            return Ok(());
        }
        let (path, expected, found) = (self.folder.clone(), expected.clone(), digest.to_owned());
        Err(Error::OtherModel { path, expected, found })
    }

    /// The rows nearest to a query, the nearest first; equal cosines by ascending position.
    ///
    /// `keep` of the search hears positions.
    ///
    /// # Errors
    /// As [`VectorIndex::search`](crate::VectorIndex::search).
    pub fn search(&self, query: &[f32], search: &Search<'_>) -> Result<Vec<Found>> {
        Ok(self.search_batch(&[query], search)?.pop().unwrap_or_default())
    }

    /// The rows nearest to each of the queries, in the order of the queries; faster than one by one.
    ///
    /// # Errors
    /// As [`Collection::search`], for any of the queries.
    pub fn search_batch(&self, queries: &[&[f32]], search: &Search<'_>) -> Result<Vec<Vec<Found>>> {
        search.check()?;
        // Without a segment nothing else would look at the queries.
        for query in queries {
            crate::rows::unit(query, self.dim())?;
        }
        let mut found: Vec<Vec<(Scored, usize)>> = vec![Vec::new(); queries.len()];
        for (number, segment) in self.segments.iter().enumerate() {
            let start = self.starts[number];
            let keep = |query: usize, row: usize| {
                !segment.deleted.get(row) && search.keep.is_none_or(|keep| keep(query, start + row))
            };
            let many_deleted = segment.n_deleted as f64 > FEW_DELETED * segment.len() as f64;
            let keeps_all = search.keep.is_none() && segment.n_deleted == 0;
            let keep: Option<&Keep<'_>> = if keeps_all { None } else { Some(&keep) };
            let of_segment =
                segment.index.search_where(queries, search, keep, search.keep.is_some() || many_deleted)?;
            for (found, scored) in found.iter_mut().zip(of_segment) {
                found.extend(scored.into_iter().map(|scored| (scored, number)));
            }
        }
        let finish = |mut found: Vec<(Scored, usize)>| {
            // Within a segment they are in order already, by ascending row among equals.
            found.sort_by(|(a, _), (b, _)| b.score.total_cmp(&a.score));
            found.truncate(search.k);
            let of = |(scored, number): (Scored, usize)| {
                let row = scored.row as usize;
                let id = self.segments[number].id(row)?;
                Ok(Found { id, position: self.starts[number] + row, cosine: scored.score })
            };
            found.into_iter().map(of).collect()
        };
        found.into_iter().map(finish).collect()
    }

    /// Segment and row of a position; `None` if there is none, or it is deleted.
    fn place(&self, position: usize) -> Option<(&Segment, usize)> {
        let number = self.starts.partition_point(|&start| start <= position).checked_sub(1)?;
        let segment = self.segments.get(number)?;
        let row = position - self.starts[number];
        (!segment.deleted.get(row)).then_some((segment, row))
    }

    /// The position of an id; `None` if no row has it.
    ///
    /// # Errors
    /// [`Error::Damaged`] if the ids do not fit their checksums.
    pub fn position(&self, id: u64) -> Result<Option<usize>> {
        for (number, segment) in self.segments.iter().enumerate().rev() {
            if let Some(row) = segment.row_of(id)?.filter(|&row| !segment.deleted.get(row)) {
                return Ok(Some(self.starts[number] + row));
            }
        }
        Ok(None)
    }

    /// The id at a position; `None` if there is no row, or it is deleted.
    ///
    /// # Errors
    /// As [`Collection::position`].
    pub fn id(&self, position: usize) -> Result<Option<u64>> {
        self.place(position).map(|(segment, row)| segment.id(row)).transpose()
    }

    /// The text at a position in a column; empty if there is no row, or it is deleted.
    ///
    /// # Errors
    /// [`Error::UnknownColumn`]; [`Error::Damaged`] if the text does not fit its checksum.
    pub fn text(&self, position: usize, column: &str) -> Result<String> {
        let number = self.column(column)?;
        self.place(position).map_or(Ok(String::new()), |(segment, row)| segment.text(number, row))
    }

    /// For each position whether there is a row and `wanted` holds for its text in a column: what [`Search::keep`] can
    /// look up.
    ///
    /// # Errors
    /// As [`Collection::text`].
    pub fn positions_where(&self, column: &str, wanted: impl Fn(&str) -> bool + Sync) -> Result<Vec<bool>> {
        use rayon::prelude::*;
        let number = self.column(column)?;
        let holds = |position| match self.place(position) {
            Some((segment, row)) => Ok(wanted(&segment.text(number, row)?)),
            None => Ok(false),
        };
        (0..self.n_positions()).into_par_iter().with_min_len(1024).map(holds).collect()
    }

    /// The vector at a position as it is kept for rescoring; `None` if there is no row, it is deleted, or none are
    /// kept.
    ///
    /// # Errors
    /// [`Error::Damaged`] if it does not fit its checksum.
    pub fn vector(&self, position: usize) -> Result<Option<Vec<f32>>> {
        self.place(position).map_or(Ok(None), |(segment, row)| segment.index.row(row))
    }

    fn column(&self, name: &str) -> Result<usize> {
        let found = self.manifest.columns.iter().position(|column| column == name);
        found.ok_or_else(|| Error::UnknownColumn {
            path: self.folder.clone(),
            name: name.to_owned(),
            columns: self.manifest.columns.join(", "),
        })
    }

    /// Reads all of it and compares it with its checksums.
    ///
    /// # Errors
    /// [`Error::Damaged`] or [`senv_core::Error`] for a part that does not fit.
    pub fn verify(&self) -> Result<()> {
        self.segments.iter().try_for_each(Segment::verify)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_no_more_files_can_be_mapped_the_error_says_what_to_do() {
        let of = |kind: std::io::ErrorKind| {
            let error = senv_core::Error::io("map", Path::new("c/000001.segment"), kind.into());
            Collection::unmapped(error.into(), Path::new("c"), 70_000).to_string()
        };
        let many = of(std::io::ErrorKind::OutOfMemory);
        assert!(many.starts_with("c: the system cannot map all 70000 segments") && many.contains("vm.max_map_count"));
        assert!(of(std::io::ErrorKind::NotFound).contains("000001.segment"));
    }
}
