//! Files that a change writes before the manifest names them, and files that it no longer names.

use std::{
    collections::HashSet,
    fs::{self, File},
    io::Read,
    path::Path,
};

use senv_core::{
    ModelFile, ModelWriter,
    files::{LastStep, Unfinished, sync_folder},
};

use super::{
    Collection, NewRows,
    bits::Bits,
    manifest::{Manifest, SegmentEntry},
    row_ids::{IdRef, RowIds},
    segment::{Segment, SegmentContent, header_checksum},
};
use crate::{Error, Result, documents::Stemming, file::KIND};

/// The maximum number of segments. By default a Linux process can map 65,530 files and needs some of them itself.
/// During a change both old and new segments are mapped. Beyond this limit a segment could be written but not opened.
const MOST_SEGMENTS: usize = 32_000;

/// The maximum size of a header in bytes, as in safetensors.
const MOST_HEADER: u64 = 100_000_000;

/// The kind of a file of deletions.
const DELETIONS: &str = "index-deletions";

/// The files that a change has written so far. A signal that ends the program removes them until the manifest names
/// them.
#[derive(Debug, Default)]
pub(super) struct NewFiles {
    /// The opened segments.
    segments: Vec<Segment>,
    unfinished: Vec<Unfinished>,
}

impl NewFiles {
    /// Marks the last step: when the next file gets its name, these files belong to the collection.
    pub(super) fn with_last_step(self) -> LastStep {
        LastStep::with(self.unfinished)
    }

    /// Adds an opened segment.
    pub(super) fn push(&mut self, segment: Segment) {
        self.segments.push(segment);
    }

    /// The row of an id, counted over all segments.
    pub(super) fn row_of(&self, id: IdRef<'_>) -> Result<Option<usize>> {
        let mut start = 0;
        for segment in &self.segments {
            if let Some(row) = segment.row_of(id)? {
                return Ok(Some(start + row));
            }
            start += segment.len();
        }
        Ok(None)
    }
}

impl Collection {
    /// Writes, opens and checks a segment, and adds it to the manifest; does nothing without rows.
    pub(super) fn append(
        &self,
        manifest: &mut Manifest,
        new: &mut NewFiles,
        rows: NewRows,
        ids: &RowIds,
    ) -> Result<()> {
        let n = rows.vectors.n_rows();
        for (name, n) in &rows.counts {
            let count = manifest.counts.entry(name.clone()).or_default();
            *count = count.saturating_add(*n);
        }
        if n == 0 {
            return Ok(());
        }
        if manifest.segments.len() >= MOST_SEGMENTS {
            return Err(Error::SegmentLimit { path: self.folder.clone(), segments: manifest.segments.len() });
        }
        manifest.set_id_kind(ids.kind());
        self.decide_stemming(manifest, &rows)?;
        let file = self.new_file(manifest, new, "segment");
        let content = SegmentContent::new(ids, &rows.texts, manifest);
        Segment::write(&self.folder.join(&file), rows.vectors, &manifest.params, &content).map_err(Error::of_step)?;
        #[cfg(test)]
        tests::damage(&self.folder.join(&file));
        let mut entry = SegmentEntry { file, rows: n, deleted: 0, header: None };
        let opened = Segment::open(&self.folder, &entry, manifest, None);
        let segment = opened.and_then(|segment| segment.verify().map(|()| segment)).inspect_err(|_| {
            // With a damaged header, later changes would not recognize it as the collection's and remove it.
            let _ = fs::remove_file(self.folder.join(&entry.file));
        })?;
        entry.header = segment.header().map(str::to_owned);
        manifest.next_id = manifest.next_id.max(ids.behind());
        manifest.segments.push(entry);
        new.segments.push(segment);
        Ok(())
    }

    /// The first rows decide whether words are stems, if nothing else has.
    fn decide_stemming(&self, manifest: &mut Manifest, rows: &NewRows) -> Result<()> {
        let Some(words) = manifest.words.as_mut().filter(|words| words.stemming == Stemming::Automatic) else {
            return Ok(());
        };
        let column = self.column(&words.column)?;
        let texts = rows.texts.get(column).map(Vec::as_slice).unwrap_or_default();
        words.stemming = rows.stemming.for_texts(texts);
        Ok(())
    }

    /// Writes the deletions of a manifest's segments.
    pub(super) fn write_deletions(&self, manifest: &mut Manifest, new: &mut NewFiles, deleted: &[Bits]) -> Result<()> {
        (manifest.deletions, manifest.deletions_header) = (None, None);
        let mut writer = ModelWriter::new(DELETIONS);
        let mut is_empty = true;
        for (entry, deleted) in manifest.segments.iter_mut().zip(deleted) {
            entry.deleted = deleted.count();
            if entry.deleted > 0 {
                writer = writer.bytes(&entry.file, deleted.bytes());
                is_empty = false;
            }
        }
        if !is_empty {
            let file = self.new_file(manifest, new, "deletions");
            let path = self.folder.join(&file);
            writer.save(&path).map_err(senv_core::Error::of_step)?;
            manifest.deletions_header = header_checksum(&ModelFile::open(&path)?).map(str::to_owned);
            manifest.deletions = Some(file);
        }
        Ok(())
    }

    /// A new file name that no existing file has, even one that does not belong to the collection.
    pub(super) fn new_file(&self, manifest: &mut Manifest, new: &mut NewFiles, kind: &str) -> String {
        loop {
            let file = format!("{:06}.{kind}", manifest.next_file);
            manifest.next_file += 1;
            let path = self.folder.join(&file);
            if path.symlink_metadata().is_err() {
                new.unfinished.push(Unfinished::new(&path));
                return file;
            }
        }
    }

    /// Removes segments and deletions that no state needs; readers that have them open keep them. A file that only has
    /// a matching name stays. If the current manifest might not survive a power cut, nothing is removed, as the older
    /// manifest could name these files.
    pub(super) fn remove_others(&self) {
        let Ok(entries) = fs::read_dir(&self.folder) else { return };
        let named: HashSet<&str> = self.manifest.files().collect();
        let mut others = Vec::new();
        for entry in entries.flatten() {
            let name = entry.file_name();
            let Some(name) = name.to_str() else { continue };
            // An unfinished file is named `.NAME.XXXXXX.tmp`; no other writer can be using it.
            let unfinished = name.strip_prefix('.').and_then(|name| name.strip_suffix(".tmp")?.rsplit_once('.'));
            let (stem, kind) = unfinished.map_or(name, |(name, _)| name).split_once('.').unwrap_or_default();
            let is_number = stem.len() >= 6 && stem.bytes().all(|b| b.is_ascii_digit());
            let of_kind = |kind| match ModelFile::open(entry.path()) {
                Ok(file) => file.kind() == kind,
                Err(_) => is_cut(&entry.path(), kind),
            };
            let is_other = is_number
                && !named.contains(name)
                && match kind {
                    "segment" => unfinished.is_some() || of_kind(KIND),
                    "deletions" => unfinished.is_some() || of_kind(DELETIONS),
                    _ => false,
                };
            if is_other {
                others.push(entry.path());
            }
        }
        if others.is_empty() || sync_folder(Manifest::path(&self.folder)).is_err() {
            return;
        }
        for path in others {
            // If the system cannot remove an open file, the next change tries again.
            let _ = fs::remove_file(path);
        }
    }
}

/// The first bytes of a header's text, after its length.
const HEADER_BEGINS: &[u8] = b"{\"__metadata__\":{";
/// Bytes of a header to search; its kind is among the first.
const HEAD: u64 = 1 << 16;

/// Whether a file is a truncated or empty file of this kind, left by a copy that was killed.
fn is_cut(path: &Path, kind: &str) -> bool {
    let Ok(metadata) = path.symlink_metadata() else { return false };
    let mut head = Vec::new();
    // Never wait for a pipe.
    if !metadata.is_file() || File::open(path).and_then(|file| file.take(HEAD).read_to_end(&mut head)).is_err() {
        return false;
    }
    let Some((length, text)) = head.split_first_chunk::<8>() else { return head.is_empty() };
    let (length, n) = (u64::from_le_bytes(*length), text.len().min(HEADER_BEGINS.len()));
    // Truncated within the header or after it: the file does not open.
    let is_header = length <= MOST_HEADER && text[..n] == HEADER_BEGINS[..n];
    let says = format!("\"senv.kind\":\"{kind}\"");
    is_header && (metadata.len() < 8 + length || text.windows(says.len()).any(|part| part == says.as_bytes()))
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use senv_core::Table;

    use super::*;
    use crate::{CollectionParams, Error};

    thread_local! {
        /// The byte to change in each segment as it is written.
        static DAMAGE: Cell<Option<usize>> = const { Cell::new(None) };
    }

    /// Damages a segment as a failing disk would.
    pub(super) fn damage(path: &Path) {
        let Some(at) = DAMAGE.get() else { return };
        let mut bytes = fs::read(path).unwrap();
        let at = at.min(bytes.len() - 1);
        bytes[at] ^= 1;
        fs::remove_file(path).unwrap();
        fs::write(path, bytes).unwrap();
    }

    #[test]
    fn a_segment_more_than_a_system_maps_is_not_written() {
        let folder = tempfile::tempdir().unwrap();
        let rows = || NewRows::new(Table::from_vec(1, 2, vec![1.0, 0.0]).unwrap());
        let collection = Collection::create(folder.path(), &CollectionParams::new(2)).unwrap();
        let entry = SegmentEntry { file: "000001.segment".into(), rows: 1, deleted: 0, header: None };
        let mut manifest = collection.manifest.clone();
        manifest.segments = vec![entry; MOST_SEGMENTS];
        let mut new = NewFiles::default();
        let refused = collection.append(&mut manifest, &mut new, rows(), &RowIds::Numbers(vec![7])).unwrap_err();
        assert!(matches!(refused, Error::SegmentLimit { segments: MOST_SEGMENTS, .. }), "{refused}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "the manifest alone");
        manifest.segments.pop();
        collection.append(&mut manifest, &mut new, rows(), &RowIds::Numbers(vec![7])).unwrap();
        assert_eq!(manifest.segments.len(), MOST_SEGMENTS);
    }

    #[test]
    fn what_is_left_of_a_copy_that_was_killed_goes_with_the_next_change_and_files_of_others_stay() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let rows = || NewRows::new(Table::from_vec(2, 2, vec![1.0, 0.0, 0.0, 1.0]).unwrap());
        let mut collection = Collection::create(folder.path(), &CollectionParams::new(2)).unwrap();
        collection.add(rows()).unwrap();
        let whole = fs::read(at("000001.segment")).unwrap();
        for (i, n) in [0, 8, 9, 100, whole.len() / 2, whole.len() - 1].into_iter().enumerate() {
            fs::write(at(&format!("0000{}.segment", 10 + i)), &whole[..n]).unwrap();
        }
        let others = ["mine", "mine, too", "{\"__metadata__\":{}}", "12345678", "\x10\0\0\0\0\0\0\0[1, 2"];
        for (i, text) in others.into_iter().enumerate() {
            fs::write(at(&format!("0000{}.segment", 20 + i)), text).unwrap();
        }
        collection.add(rows()).unwrap();
        let mut names: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        let expected = ["000001.segment", "000002.segment", "000020.segment", "000021.segment", "000022.segment"];
        assert_eq!(names[..5], expected);
        assert_eq!(names[5..], ["000023.segment", "000024.segment", "manifest"]);
    }

    #[test]
    fn a_segment_that_does_not_open_or_fit_its_checksums_is_never_named() {
        let folder = tempfile::tempdir().unwrap();
        let rows = || NewRows::new(Table::from_vec(2, 2, vec![1.0, 0.0, 0.0, 1.0]).unwrap());
        let mut collection = Collection::create(folder.path(), &CollectionParams::new(2)).unwrap();
        collection.add(rows()).unwrap();
        // In the header, and in the last value.
        for at in [20, usize::MAX] {
            DAMAGE.set(Some(at));
            let refused = collection.add(rows());
            let rebuilt = Collection::rebuild::<Error>(folder.path(), &CollectionParams::new(2), {
                let mut part = Some(rows());
                move || Ok(part.take())
            });
            DAMAGE.set(None);
            assert!(refused.is_err() && rebuilt.is_err());
            let opened = Collection::open(folder.path()).unwrap();
            opened.verify().unwrap();
            assert_eq!((opened.len(), collection.len()), (2, 2));
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "the manifest and a segment");
        }
    }
}
