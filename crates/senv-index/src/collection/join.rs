//! Joins the collections of shards into the collection of the whole.

use std::{fs, io, path::Path};

use super::{
    Collection,
    manifest::{Manifest, SegmentEntry, Shard},
    new_files::NewFiles,
    row_ids::IdRef,
    segment::Segment,
    write::TakenIds,
};
use crate::{Error, Result};

impl Collection {
    /// Builds the collection of the whole from those of all its shards
    /// ([`CollectionParams::shard`](super::CollectionParams::shard)), in any order. It copies segment i of the whole
    /// from shard i modulo N. The files are byte for byte those of a collection built from the whole input. The shards
    /// stay.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let at = |name: &str| folder.path().join(name);
    /// use senv_core::Table;
    /// use senv_index::{Collection, CollectionParams, NewRows};
    /// // Two shards of four parts of one row each.
    /// for number in 1..=2 {
    ///     let params = CollectionParams::new(1).shard(number, 2, false);
    ///     let mut mine = (0..4_u64).filter(|i| i % 2 == u64::from(number) - 1);
    ///     Collection::build(at(&number.to_string()), &params, || {
    ///         let Some(i) = mine.next() else { return Ok(None) };
    ///         Ok::<_, senv_index::Error>(Some(NewRows::new(Table::from_vec(1, 1, vec![1.0 + i as f32])?).first_id(i)))
    ///     })?;
    /// }
    /// let whole = Collection::join(at("whole"), &[at("1"), at("2")])?;
    /// assert_eq!((whole.len(), whole.id(3)?), (4, Some(3.into())));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::ShardsDoNotFit`] if a collection is not a shard, or a shard is missing, repeated, or changed since it
    /// was built. The same if shards differ in model, settings or input. [`Error::GivenTwice`]; the errors of
    /// [`Collection::build`] and [`Collection::open`].
    pub fn join(folder: impl AsRef<Path>, shards: &[impl AsRef<Path>]) -> Result<Self> {
        Self::join_in(folder.as_ref(), shards, false)
    }

    /// Joins shards and replaces the existing collection, if there is one.
    ///
    /// # Errors
    /// The errors of [`Collection::join`].
    pub fn rejoin(folder: impl AsRef<Path>, shards: &[impl AsRef<Path>]) -> Result<Self> {
        Self::join_in(folder.as_ref(), shards, true)
    }

    fn join_in(folder: &Path, shards: &[impl AsRef<Path>], replace: bool) -> Result<Self> {
        let shards = shards.iter().map(|path| Self::open(path.as_ref())).collect::<Result<Vec<_>>>()?;
        let shards = in_order(folder, &shards)?;
        let mut whole = shards[0].manifest.clone();
        (whole.shard, whole.segments) = (None, Vec::new());
        Self::make(folder, whole, replace, |collection, manifest, new| collection.take_over(manifest, new, &shards))
    }

    /// Copies the segments of shards in the order of the whole.
    fn take_over(&self, manifest: &mut Manifest, new: &mut NewFiles, shards: &[&Self]) -> Result<()> {
        manifest.counts.clear();
        for (name, n) in shards.iter().flat_map(|shard| &shard.manifest.counts) {
            let count = manifest.counts.entry(name.clone()).or_default();
            *count = count.saturating_add(*n);
        }
        manifest.next_id = shards.iter().map(|shard| shard.manifest.next_id).max().unwrap_or(0);
        let mut given = TakenIds::default();
        let mut n_rows = 0_usize;
        let most = shards.first().map_or(0, |shard| shard.segments.len());
        for (turn, shard) in (0..most).flat_map(|turn| shards.iter().map(move |shard| (turn, shard))) {
            let (Some(segment), Some(entry)) = (shard.segments.get(turn), shard.manifest.segments.get(turn)) else {
                continue;
            };
            let has_ids = shard.manifest.shard.as_ref().is_some_and(|shard| shard.has_ids);
            if has_ids {
                for row in 0..segment.len() {
                    let id = segment.id(row)?;
                    if !given.claim(IdRef::from(&id))
                        && let Some(first) = new.row_of(IdRef::from(&id))?
                    {
                        return Err(Error::GivenTwice { id, first, second: n_rows + row });
                    }
                }
            } else if segment.id(0)? != n_rows as u64 {
                let reason = format!(
                    "its part {turn} starts at row {} of the input, but the parts before it end at row {n_rows}; make \
                    all shards from the same input",
                    segment.id(0)?
                );
                return Err(Error::ShardsDoNotFit { path: shard.folder.clone(), reason });
            }
            n_rows += segment.len();
            self.copy(manifest, new, &shard.folder, entry)?;
        }
        Ok(())
    }

    /// Copies a segment of another collection and checks the copy against its checksums.
    fn copy(&self, manifest: &mut Manifest, new: &mut NewFiles, from: &Path, entry: &SegmentEntry) -> Result<()> {
        let file = self.new_file(manifest, new, "segment");
        let path = self.folder.join(&file);
        let copy = || {
            // Never follow a link that was created here in the meantime.
            let mut to = fs::File::create_new(&path)?;
            io::copy(&mut fs::File::open(from.join(&entry.file))?, &mut to)?;
            to.sync_all()
        };
        let copied = copy().map_err(|e| Error::from(senv_core::Error::io("write", &path, e)));
        let entry = SegmentEntry { file, ..entry.clone() };
        let opened = copied.and_then(|()| Segment::open(&self.folder, &entry, manifest, None));
        let segment = opened.and_then(|segment| segment.verify().map(|()| segment)).inspect_err(|_| {
            // Later changes would not recognize a partial or damaged segment as the collection's and remove it.
            let _ = fs::remove_file(&path);
        })?;
        manifest.segments.push(entry);
        new.push(segment);
        Ok(())
    }
}

/// The shards from first to last, if they fit together.
fn in_order<'a>(folder: &Path, shards: &'a [Collection]) -> Result<Vec<&'a Collection>> {
    let unfit = |path: &Path, reason: String| Err(Error::ShardsDoNotFit { path: path.to_owned(), reason });
    // A shard that got no part knows less than others.
    let has_rows = |shard: &&Collection| !shard.manifest.segments.is_empty();
    let Some(first) = shards.iter().find(has_rows).or(shards.first()) else {
        return unfit(folder, "no shard given; name all of them".into());
    };
    let mut ordered: Vec<Option<&Collection>> = Vec::new();
    for collection in shards {
        let (path, manifest) = (&collection.folder, &collection.manifest);
        let Some(Shard { number, count, generation, ref input, .. }) = manifest.shard else {
            return unfit(path, "it is not a shard but a whole collection".into());
        };
        if manifest.generation != generation {
            return unfit(path, "it was changed after it was made; join shards first, then change the result".into());
        }
        let mut one = Manifest { shard: None, ..without_rows(manifest) };
        let other = Manifest { shard: None, ..without_rows(&first.manifest) };
        // What the first rows decide.
        if manifest.segments.is_empty() {
            one.set_id_kind(other.ids);
            if let Some((one, other)) = one.words.as_mut().zip(other.words.as_ref()) {
                one.stemming = other.stemming;
            }
        }
        let rule = |manifest: &Manifest| manifest.shard.as_ref().map(|shard| (shard.count, shard.has_ids));
        if one != other || rule(manifest) != rule(&first.manifest) {
            let reason = format!(
                "its model, settings or columns differ from those of {}; make both shards the same way",
                first.folder.display()
            );
            return unfit(path, reason);
        }
        if first.manifest.shard.as_ref().is_some_and(|first| first.input != *input) {
            let reason = format!(
                "it was made from a different input than {}; make all shards from the same input",
                first.folder.display()
            );
            return unfit(path, reason);
        }
        ordered.resize(count as usize, None);
        let place = &mut ordered[number as usize - 1];
        if let Some(other) = place.replace(collection) {
            return unfit(
                path,
                format!("it is shard {number}/{count}, and so is {}; give each shard once", other.folder.display()),
            );
        }
    }
    if let Some(missing) = ordered.iter().position(Option::is_none) {
        let reason = format!("shard {}/{} is missing; give all shards", missing + 1, ordered.len());
        return unfit(folder, reason);
    }
    let ordered: Vec<&Collection> = ordered.into_iter().flatten().collect();
    let total: usize = ordered.iter().map(|shard| shard.segments.len()).sum();
    for (i, shard) in ordered.iter().enumerate() {
        let expected = (total + ordered.len() - 1 - i) / ordered.len();
        if shard.segments.len() != expected {
            let n = shard.segments.len();
            let reason =
                format!("it has {n} of {total} parts, expected {expected}; make all shards from the same input");
            return unfit(&shard.folder, reason);
        }
    }
    Ok(ordered)
}

/// The manifest fields that all shards of one whole share.
fn without_rows(manifest: &Manifest) -> Manifest {
    let (counts, segments) = Default::default();
    Manifest { generation: 0, next_id: 0, next_file: 0, counts, segments, ..manifest.clone() }
}

#[cfg(test)]
mod tests {
    use std::{
        path::PathBuf,
        sync::{Arc, OnceLock},
    };

    use senv_core::Table;

    use super::*;
    use crate::{CollectionParams, Id, NewRows};

    #[test]
    fn shards_of_equal_size_and_of_another_input_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for (name, number, input) in
            [("1", 1, Some("a")), ("2", 2, Some("a")), ("other", 2, Some("b")), ("none", 2, None)]
        {
            let params = CollectionParams::new(2).column("text").shard(number, 2, false);
            let params = match input {
                Some(digest) => params.shard_input(Arc::new(OnceLock::from(digest.to_owned()))),
                None => params,
            };
            build(&at(name), &params, 4, |part| part % 2 == u64::from(number) - 1, None);
        }
        for other in ["other", "none"] {
            let error = Collection::join(at("joined"), &[at("1"), at(other)]).unwrap_err();
            assert!(error.to_string().contains("a different input than"), "{error}");
            assert!(!at("joined").exists());
        }
        let joined = Collection::join(at("joined"), &[at("1"), at("2")]).unwrap();
        assert_eq!((joined.len(), joined.shard()), (12, None));
    }

    /// Parts of three rows: those of a shard, or all.
    fn build(folder: &Path, params: &CollectionParams, n: u64, mine: impl Fn(u64) -> bool, ids: Option<u64>) {
        let mut parts = (0..n).filter(|&part| mine(part));
        let made = Collection::rebuild(folder, params, || {
            let Some(part) = parts.next() else { return Ok(None) };
            let values = (0..6).map(|i| ((part * 6 + i) as f32).sin()).collect();
            let texts = (0..3).map(|i| format!("row {}", part * 3 + i)).collect();
            let rows = NewRows::new(Table::from_vec(3, 2, values)?).texts(vec![texts]).count("n", 3);
            Ok::<_, Error>(Some(match ids {
                Some(step) => rows.ids((0..3).map(|i| 1000 - (part * 3 + i) * step).collect()),
                None => rows.first_id(part * 3),
            }))
        });
        made.unwrap();
    }

    fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
        let read = |entry: fs::DirEntry| (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap());
        let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| read(entry.unwrap())).collect();
        files.sort();
        files
    }

    #[test]
    fn joined_shards_are_the_whole_byte_for_byte() {
        let folder = tempfile::tempdir().unwrap();
        let params = CollectionParams::new(2).column("text").model("m").words("text").documents("text");
        for (case, (n, count, ids)) in
            [(7, 3, None), (7, 3, Some(2)), (2, 5, None), (0, 2, None), (4, 1, None)].into_iter().enumerate()
        {
            let at = |name: &str| folder.path().join(format!("{case}{name}"));
            build(&at("whole"), &params, n, |_| true, ids);
            let mut shards: Vec<PathBuf> = Vec::new();
            for number in 1..=count {
                let path = at(&format!("s{number}"));
                let params = params.clone().shard(number, count, ids.is_some());
                build(&path, &params, n, |part| part % u64::from(count) == u64::from(number) - 1, ids);
                shards.push(path);
            }
            // A shard that was rebuilt.
            let (path, again) = (at("s1"), params.clone().shard(1, count, ids.is_some()));
            let parts: Vec<u64> = (0..n).filter(|part| part % u64::from(count) == 0).collect();
            build(&path, &again, n, |part| parts.contains(&part), ids);
            shards.reverse();
            let joined = Collection::join(at("joined"), &shards).unwrap();
            joined.verify().unwrap();
            assert_eq!((joined.len(), joined.count("n")), (n as usize * 3, n * 3));
            assert!(files(&at("joined")) == files(&at("whole")), "case {case}");
            assert!(matches!(Collection::join(at("joined"), &shards), Err(Error::Exists { .. })));
            assert_eq!(Collection::rejoin(at("joined"), &shards).unwrap().len(), joined.len());
        }
    }

    #[test]
    fn shards_that_do_not_fit_are_refused_and_nothing_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let params = CollectionParams::new(2).column("text");
        let shard = |name: &str, number: u32, n: u64, params: &CollectionParams, first: u64| {
            build(&at(name), &params.clone().shard(number, 2, false), n, |part| part % 2 == first, None);
        };
        shard("1", 1, 4, &params, 0);
        shard("2", 2, 4, &params, 1);
        shard("short", 2, 1, &params, 1);
        shard("shifted", 2, 3, &params, 0);
        shard("other", 2, 4, &params.clone().model("other"), 1);
        build(&at("whole"), &params, 2, |_| true, None);
        shard("changed", 2, 4, &params, 1);
        Collection::open(at("changed")).unwrap().delete(&[3]).unwrap();
        for (names, says) in [
            (&[][..], "no shard"),
            (&["1"], "2/2 is missing"),
            (&["1", "1"], "give each shard once"),
            (&["1", "whole"], "not a shard"),
            (&["1", "other"], "its model, settings or columns differ"),
            (&["1", "changed"], "was changed"),
            (&["1", "short"], "parts, expected"),
            (&["1", "shifted"], "same input"),
        ] {
            let error =
                Collection::join(at("joined"), &names.iter().map(|name| at(name)).collect::<Vec<_>>()).unwrap_err();
            assert!(matches!(error, Error::ShardsDoNotFit { .. }) && error.to_string().contains(says), "{error}");
            assert!(!at("joined").exists());
        }
        for number in 1..=2 {
            // The same part twice, so the same ids.
            build(&at(&format!("ids{number}")), &params.clone().shard(number, 2, true), 1, |_| true, Some(1));
        }
        let error = Collection::join(at("joined"), &[at("ids1"), at("ids2")]).unwrap_err();
        assert!(matches!(error, Error::GivenTwice { id: Id::Number(1000), first: 0, second: 3 }), "{error}");
        assert!(!at("joined").exists());
    }
}
