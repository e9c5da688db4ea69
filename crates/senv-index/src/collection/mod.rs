//! A collection: a folder of vectors with ids and texts, to which rows are added and from which they are deleted.

mod bits;
mod compact;
mod join;
mod manifest;
mod new_files;
mod params;
mod ranker;
mod ranking;
mod row_ids;
mod segment;
mod segment_documents;
mod segment_ids;
mod texts;
mod words;
mod write;

use std::{
    collections::{BTreeMap, HashMap},
    fs,
    path::{Path, PathBuf},
};

use senv_core::ModelFile;

use self::{
    bits::Bits,
    manifest::Manifest,
    row_ids::IdRef,
    segment::{Segment, check_header},
};
use crate::{
    Error, Id, IdKind, IndexParams, Result, Search, VectorIndex, best::Scored, documents::Stemming, scan::Keep,
};

pub use self::{
    params::{CollectionParams, NewRows, PART_VALUES},
    ranker::CollectionRanker,
    ranking::{RankedRow, Ranking},
};

/// The maximum number of times a reader restarts because a writer replaced what it was about to open.
const TRIES: usize = 20;
/// If more than this share of a segment is deleted, all its cells are searched, to preserve recall.
const FEW_DELETED: f64 = 0.25;

/// Vectors with ids and texts in a folder.
///
/// The folder contains segments and a manifest. A segment is a memory-mapped index of rows that were added together;
/// the manifest lists the segments and deletions of the collection. A change writes new files and then replaces the
/// manifest. So readers see the state before or after the change, even if the writer was killed. An open collection
/// does not change until [`Collection::refresh`]. One process writes at a time; another gets an error that names it.
///
/// A row has a position and an id. Positions count from 0 in the order of adding, and change when the collection is
/// compacted or small additions are joined ([`Collection::add`]). Ids never change, and no two rows share an id. They
/// are numbers or texts ([`Id`]). They are looked up in the mapped files: an open collection has no copy of them.
///
/// Other programs must not write to the files of an open collection or truncate them, as with
/// [`ModelFile::open`](senv_core::ModelFile::open). If a file gets shorter, reading the missing part ends the program
/// (SIGBUS). Each block of a file is checked against its checksum when it is first used. Later damage is not detected
/// until the collection is opened again. senv itself replaces and removes files, and never writes into an existing one.
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
/// assert!(found[0].id == 1 && collection.text(found[0].position, "text")? == "north");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Collection {
    folder: PathBuf,
    manifest: Manifest,
    segments: Vec<Segment>,
    /// The position of each segment's first row, then the number of positions.
    starts: Vec<usize>,
    /// The size of all files except the manifest, in bytes.
    n_bytes: u64,
}

/// A row found by a search of a collection.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// Its id.
    pub id: Id,
    /// Its position.
    pub position: usize,
    /// Its cosine with the query, in `[-1, 1]`.
    pub cosine: f32,
}

impl Collection {
    /// Opens the collection in a folder and memory-maps its files.
    ///
    /// # Errors
    /// [`Error::NotACollection`]; [`Error::Damaged`] or [`senv_core::Error`] if a file is damaged or missing.
    pub fn open(folder: impl AsRef<Path>) -> Result<Self> {
        let folder = folder.as_ref();
        Self::open_again(folder, Manifest::read(folder)?, &[])
    }

    /// Opens the collection with this manifest, or a later one. Files that are open already are not opened again.
    fn open_again(folder: &Path, mut manifest: Manifest, open: &[Segment]) -> Result<Self> {
        for _ in 0..TRIES {
            let error = match Self::of(folder, manifest.clone(), open) {
                Ok(collection) => return Ok(collection),
                Err(error) => error,
            };
            // A writer may have removed the files of an outdated manifest.
            let present = Manifest::read(folder)?;
            if present == manifest {
                return Err(Self::missing(folder, &manifest).unwrap_or(error));
            }
            manifest = present;
        }
        Self::of(folder, manifest, open)
    }

    /// The error for files that the manifest names but that are missing.
    fn missing(folder: &Path, manifest: &Manifest) -> Option<Error> {
        let is_gone = |name: &&str| matches!(folder.join(name).symlink_metadata(), Err(e) if e.kind() == std::io::ErrorKind::NotFound);
        let gone: Vec<&str> = manifest.files().filter(is_gone).collect();
        let (first, more) = (gone.first()?, gone.len() - 1);
        let missing = if more == 0 { (*first).to_owned() } else { format!("{first} and {more} more") };
        Some(Error::FilesMissing { path: folder.to_owned(), missing })
    }

    fn of(folder: &Path, manifest: Manifest, open: &[Segment]) -> Result<Self> {
        let open: HashMap<&Path, &Segment> = open.iter().map(|segment| (segment.path(), segment)).collect();
        let mut n_bytes = 0;
        // Counted on opening: a writer can remove them later.
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
            let segment = match open.get(&*path).and_then(|open| open.again(entry, &manifest, deleted.as_ref())) {
                Some(segment) => segment,
                None => Segment::open(folder, entry, &manifest, deleted)
                    .map_err(|error| Self::unmapped(error, folder, manifest.segments.len()))?,
            };
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

    /// Explains the failure if the system cannot map more files.
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

    /// Loads what writers have changed since; returns whether anything changed. Files that are still part of the
    /// collection stay open, and what was checked of them is not checked again.
    ///
    /// # Errors
    /// The errors of [`Collection::open`]; [`Error::OtherModel`] if the collection was rebuilt with vectors of another
    /// model. After an error the state is unchanged.
    pub fn refresh(&mut self) -> Result<bool> {
        let manifest = Manifest::read(&self.folder)?;
        if manifest == self.manifest {
            return Ok(false);
        }
        if manifest.model != self.manifest.model {
            let (expected, found) = (manifest.model, self.manifest.model.clone());
            return Err(Error::OtherModel { path: self.folder.clone(), expected, found });
        }
        *self = Self::open_again(&self.folder, manifest, &self.segments)?;
        Ok(true)
    }

    /// The number of rows that are not deleted.
    #[must_use]
    pub fn len(&self) -> usize {
        self.segments.iter().map(|segment| segment.len() - segment.n_deleted).sum()
    }

    /// Whether all rows are deleted, or there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of positions. Deleted rows keep theirs until the collection is compacted.
    #[must_use]
    pub fn n_positions(&self) -> usize {
        self.starts[self.segments.len()]
    }

    /// The number of values in a vector.
    #[must_use]
    pub fn dim(&self) -> usize {
        self.manifest.dim
    }

    /// The names of the columns.
    #[must_use]
    pub fn columns(&self) -> &[String] {
        &self.manifest.columns
    }

    /// The number of segments.
    #[must_use]
    pub fn n_segments(&self) -> usize {
        self.segments.len()
    }

    /// The index of each segment, to read what was measured for it. Its rows count from 0 and include deleted ones.
    pub fn segments(&self) -> impl ExactSizeIterator<Item = &VectorIndex> {
        self.segments.iter().map(Segment::index)
    }

    /// The size of its files in bytes.
    #[must_use]
    pub fn n_bytes(&self) -> u64 {
        self.manifest.n_bytes() + self.n_bytes
    }

    /// The values given with [`CollectionParams::metadata`].
    #[must_use]
    pub fn metadata(&self) -> &BTreeMap<String, String> {
        &self.manifest.metadata
    }

    /// The sum of all [`NewRows::count`] calls with this name, including rows deleted since.
    #[must_use]
    pub fn count(&self, name: &str) -> u64 {
        self.manifest.counts.get(name).copied().unwrap_or(0)
    }

    /// The number of the shard and the count of shards ([`CollectionParams::shard`]); `None` if it is not a shard.
    #[must_use]
    pub fn shard(&self) -> Option<(u32, u32)> {
        self.manifest.shard.as_ref().map(|shard| (shard.number, shard.count))
    }

    /// The path of the folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The digest of the model that made the vectors; empty if unknown.
    #[must_use]
    pub fn model(&self) -> &str {
        &self.manifest.model
    }

    /// The index parameters of its segments.
    #[must_use]
    pub fn params(&self) -> &IndexParams {
        &self.manifest.params
    }

    /// Whether the words of its texts are stored ([`CollectionParams::words`]).
    #[must_use]
    pub fn has_words(&self) -> bool {
        self.manifest.words.is_some()
    }

    /// Whether the words are reduced to English stems; `None` without words. `Automatic` before the first row.
    #[must_use]
    pub fn stemming(&self) -> Option<Stemming> {
        self.manifest.words.as_ref().map(|words| words.stemming)
    }

    /// The column of the names of documents ([`CollectionParams::documents`]).
    #[must_use]
    pub fn document_column(&self) -> Option<&str> {
        self.manifest.words.as_ref()?.documents.as_deref()
    }

    /// The bytes that words and documents take in its files, those of deleted rows included.
    #[must_use]
    pub fn n_word_bytes(&self) -> u64 {
        self.segments.iter().map(Segment::n_word_bytes).sum()
    }

    /// Rejects a model whose digest differs from that of the collection. Unknown (empty) digests always pass.
    ///
    /// # Errors
    /// [`Error::OtherModel`] if both digests are known and differ.
    pub fn check_model(&self, digest: &str) -> Result<()> {
        let expected = &self.manifest.model;
        if expected.is_empty() || digest.is_empty() || expected == digest {
            return Ok(());
        }
        let (path, expected, found) = (self.folder.clone(), expected.clone(), digest.to_owned());
        Err(Error::OtherModel { path, expected, found })
    }

    /// The rows nearest to a query, nearest first; equal cosines by ascending position.
    ///
    /// [`Search::keep`] receives positions.
    ///
    /// # Errors
    /// The errors of [`VectorIndex::search`](crate::VectorIndex::search).
    pub fn search(&self, query: &[f32], search: &Search<'_>) -> Result<Vec<Found>> {
        Ok(self.search_batch(&[query], search)?.pop().unwrap_or_default())
    }

    /// The rows nearest to each query, in query order; faster than separate searches.
    ///
    /// # Errors
    /// The errors of [`Collection::search`], for any query.
    pub fn search_batch(&self, queries: &[&[f32]], search: &Search<'_>) -> Result<Vec<Vec<Found>>> {
        search.check()?;
        // Without a segment, nothing else would check the queries.
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
                segment.index().search_where(queries, search, keep, search.keep.is_some() || many_deleted)?;
            for (found, scored) in found.iter_mut().zip(of_segment) {
                found.extend(scored.into_iter().map(|scored| (scored, number)));
            }
        }
        let finish = |mut found: Vec<(Scored, usize)>| {
            // Each segment's rows are in order already, ties by ascending row.
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

    /// The segment and row of a position; `None` if it does not exist or is deleted.
    fn place(&self, position: usize) -> Option<(&Segment, usize)> {
        let number = self.starts.partition_point(|&start| start <= position).checked_sub(1)?;
        let segment = self.segments.get(number)?;
        let row = position - self.starts[number];
        (!segment.deleted.get(row)).then_some((segment, row))
    }

    /// What its ids are; `None` if it never had a row, so that the first rows decide.
    #[must_use]
    pub fn id_kind(&self) -> Option<IdKind> {
        self.manifest.id_kind()
    }

    /// The position of an id; `None` if no row has it.
    ///
    /// # Errors
    /// [`Error::Damaged`] if the ids do not match their checksums.
    pub fn position(&self, id: impl Into<Id>) -> Result<Option<usize>> {
        match id.into().of_kind(self.manifest.ids) {
            Some(id) => self.position_of(IdRef::from(&id)),
            None => Ok(None),
        }
    }

    fn position_of(&self, id: IdRef<'_>) -> Result<Option<usize>> {
        for (number, segment) in self.segments.iter().enumerate().rev() {
            if let Some(row) = segment.row_of(id)?.filter(|&row| !segment.deleted.get(row)) {
                return Ok(Some(self.starts[number] + row));
            }
        }
        Ok(None)
    }

    /// The id at a position; `None` if it does not exist or is deleted.
    ///
    /// # Errors
    /// The errors of [`Collection::position`].
    pub fn id(&self, position: usize) -> Result<Option<Id>> {
        self.place(position).map(|(segment, row)| segment.id(row)).transpose()
    }

    /// Whether a position exists and is not deleted.
    #[must_use]
    pub fn has_row(&self, position: usize) -> bool {
        self.place(position).is_some()
    }

    /// The text at a position in a column; empty if the position does not exist or is deleted.
    ///
    /// # Errors
    /// [`Error::UnknownColumn`]; [`Error::Damaged`] if the text does not match its checksum.
    pub fn text(&self, position: usize, column: &str) -> Result<String> {
        let number = self.column(column)?;
        self.place(position).map_or(Ok(String::new()), |(segment, row)| segment.text(number, row))
    }

    /// Returns for each position whether its row exists and `wanted` accepts its text in a column. [`Search::keep`] can
    /// look up the result.
    ///
    /// # Errors
    /// The errors of [`Collection::text`].
    pub fn positions_where(&self, column: &str, wanted: impl Fn(&str) -> bool + Sync) -> Result<Vec<bool>> {
        use rayon::prelude::*;
        let number = self.column(column)?;
        let holds = |position| match self.place(position) {
            Some((segment, row)) => Ok(wanted(&segment.text(number, row)?)),
            None => Ok(false),
        };
        (0..self.n_positions()).into_par_iter().with_min_len(1024).map(holds).collect()
    }

    /// The vector at a position as stored for rescoring; `None` if the position does not exist or is deleted, or if no
    /// vectors are stored.
    ///
    /// # Errors
    /// [`Error::Damaged`] if the vector does not match its checksum.
    pub fn vector(&self, position: usize) -> Result<Option<Vec<f32>>> {
        self.place(position).map_or(Ok(None), |(segment, row)| segment.index().row(row))
    }

    fn column(&self, name: &str) -> Result<usize> {
        let found = self.manifest.columns.iter().position(|column| column == name);
        found.ok_or_else(|| Error::UnknownColumn {
            path: self.folder.clone(),
            name: name.to_owned(),
            columns: self.manifest.columns.join(", "),
        })
    }

    /// Reads the whole collection and checks it against its checksums.
    ///
    /// # Errors
    /// [`Error::Damaged`] or [`senv_core::Error`] for a damaged part.
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
