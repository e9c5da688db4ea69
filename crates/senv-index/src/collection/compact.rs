//! Compaction: joins small segments and drops deleted rows. On request it covers all segments; adding rows joins only
//! small segments at the end.

use senv_core::{Table, memory::check_memory};

use super::{
    Collection, NewRows, PART_VALUES, bits::Bits, manifest::Manifest, new_files::NewFiles, row_ids::RowIds,
    segment::Segment,
};
use crate::{Rescoring, Result};

/// The number of similarly sized segments at the end that triggers a join.
const JOINED: usize = 16;
/// Segments with fewer rows are joined when rows are added. So an addition writes at most 65,536 other rows, and each
/// row is rewritten at most three times.
const MOST_JOINED: usize = 4096;

impl Collection {
    /// Joins small segments and drops deleted rows. Afterwards segments have about [`PART_VALUES`] values. One segment
    /// at a time is read into memory. Segments of this size without deleted rows stay unchanged.
    ///
    /// # Errors
    /// [`senv_core::Error::InvalidParameter`] if no vectors are stored ([`Rescoring::None`](crate::Rescoring::None));
    /// [`Damaged`](crate::Error::Damaged) if a part does not match its checksum; the errors of [`Collection::add`].
    pub fn compact(&mut self) -> Result<()> {
        self.compact_to((PART_VALUES / self.dim()).max(1))
    }

    /// Compacts to segments of `part_rows`.
    pub(super) fn compact_to(&mut self, part_rows: usize) -> Result<()> {
        let stays = |segment: &Segment| segment.n_deleted == 0 && segment.len() >= part_rows.div_ceil(2);
        self.change(|collection, new| {
            collection.rewritten(new, part_rows, |number| stays(&collection.segments[number]))
        })
    }

    /// Joins small segments at the end once there are many, so many small additions do not leave many segments. The
    /// rows were added already. If joining fails (a damaged segment, a full disk, another writer), the next addition
    /// tries again.
    pub(super) fn join_small(&mut self) {
        if self.params().rescoring == Rescoring::None || self.small_at_end().is_none() {
            return;
        }
        let _: Result<()> = self.change(|collection, new| {
            let first = collection.small_at_end().unwrap_or(collection.segments.len());
            collection.rewritten(new, MOST_JOINED * JOINED, |number| number < first)
        });
    }

    /// The first of the small segments at the end to join, if enough have about the same size.
    fn small_at_end(&self) -> Option<usize> {
        let sizes = std::iter::successors(Some(JOINED), |size| Some(size * JOINED));
        let first = |size: usize| {
            let small = self.segments.iter().rev().take_while(|segment| segment.len() < size).count();
            (small >= JOINED).then(|| self.segments.len() - small)
        };
        sizes.take_while(|&size| size <= MOST_JOINED).find_map(first)
    }

    /// The manifest after rewriting all segments for which `stays` is false, without their deleted rows and with
    /// `part_rows` each. It also has the deletions of the segments that stay.
    fn rewritten(
        &self,
        new: &mut NewFiles,
        part_rows: usize,
        stays: impl Fn(usize) -> bool,
    ) -> Result<(Manifest, Option<Vec<Bits>>, ())> {
        let mut manifest = self.manifest.clone();
        manifest.segments = Vec::new();
        let mut deleted = Vec::new();
        let mut gathered = Gathered::new(self, part_rows);
        for (number, (segment, entry)) in self.segments.iter().zip(&self.manifest.segments).enumerate() {
            if stays(number) {
                gathered.write(&mut manifest, new)?;
                deleted.resize(manifest.segments.len(), Bits::default());
                manifest.segments.push(entry.clone());
                deleted.push(segment.deleted.clone());
                continue;
            }
            for row in (0..segment.len()).filter(|&row| !segment.deleted.get(row)) {
                gathered.push(segment, row)?;
                if gathered.ids.len() == part_rows {
                    gathered.write(&mut manifest, new)?;
                }
            }
        }
        gathered.write(&mut manifest, new)?;
        deleted.resize(manifest.segments.len(), Bits::default());
        Ok((manifest, Some(deleted), ()))
    }
}

/// Rows of several segments, to be written as one.
struct Gathered<'a> {
    collection: &'a Collection,
    part_rows: usize,
    values: Vec<f32>,
    ids: RowIds,
    texts: Vec<Vec<String>>,
}

impl<'a> Gathered<'a> {
    fn new(collection: &'a Collection, part_rows: usize) -> Self {
        let texts = vec![Vec::new(); collection.columns().len()];
        Self { collection, part_rows, values: Vec::new(), ids: RowIds::new(collection.manifest.ids), texts }
    }

    fn push(&mut self, segment: &Segment, row: usize) -> Result<()> {
        let Some(vector) = segment.index().row(row)? else {
            let (name, requirement) = ("rescoring", "f32, f16 or int8 to compact a collection");
            return Err(senv_core::Error::InvalidParameter { name, requirement, got: "none".into() }.into());
        };
        if self.values.is_empty() {
            let (rows, dim) = (self.part_rows.min(self.collection.len()), vector.len());
            let too_large = |_| senv_core::Error::TooLarge { rows, dim };
            self.values.try_reserve_exact(check_memory::<f32>(rows, dim)?).map_err(too_large)?;
        }
        self.values.extend_from_slice(&vector);
        self.ids.push(segment.id(row)?);
        for (column, texts) in self.texts.iter_mut().enumerate() {
            texts.push(segment.text(column, row)?);
        }
        Ok(())
    }

    /// Writes the gathered rows as a segment, then clears them.
    fn write(&mut self, manifest: &mut Manifest, new: &mut NewFiles) -> Result<()> {
        let empty = Self::new(self.collection, self.part_rows);
        let Self { collection, values, ids, texts, .. } = std::mem::replace(self, empty);
        let rows = NewRows::new(Table::from_vec(ids.len(), collection.dim(), values)?).texts(texts);
        collection.append(manifest, new, rows, &ids)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CollectionParams, Search};

    #[test]
    fn segments_are_joined_up_to_a_size_and_whole_ones_stay() {
        let folder = tempfile::tempdir().unwrap();
        let mut collection = Collection::create(folder.path(), &CollectionParams::new(2).column("text")).unwrap();
        for (start, n) in [(0_u16, 3_u16), (3, 8), (11, 9), (20, 2)] {
            let values = (start..start + n).flat_map(|i| [1.0, f32::from(i)]).collect();
            let texts = (start..start + n).map(|i| i.to_string()).collect();
            let rows = NewRows::new(Table::from_vec(n.into(), 2, values).unwrap()).texts(vec![texts]);
            collection.add(rows).unwrap();
        }
        collection.delete(&[1, 12, 13]).unwrap();
        let search = Search::new(30);
        let before = collection.search(&[0.3, 1.0], &search).unwrap();
        let whole = collection.manifest.segments[1].clone();
        collection.compact_to(8).unwrap();
        // 2 from the first; the second stays; 7 and 2 more make 9.
        let rows: Vec<usize> = collection.manifest.segments.iter().map(|entry| entry.rows).collect();
        assert_eq!((rows, &collection.manifest.segments[1]), (vec![2, 8, 8, 1], &whole));
        let after = collection.search(&[0.3, 1.0], &search).unwrap();
        assert_eq!(after.len(), 19);
        for (before, after) in before.iter().zip(&after) {
            assert_eq!((&before.id, before.cosine), (&after.id, after.cosine));
            assert_eq!(collection.text(after.position, "text").unwrap(), after.id.to_string());
        }
        collection.verify().unwrap();
        let opened = Collection::open(folder.path()).unwrap();
        assert_eq!(opened.search(&[0.3, 1.0], &search).unwrap(), after);
    }
}
