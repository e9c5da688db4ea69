//! The files of a collection: which belong to it, how many there are, what others do with them.

use std::{fs, path::Path};

use crate::common::{table, vectors};
use senv_index::{Collection, CollectionParams, Error, IndexParams, NewRows, Rescoring, Search, documents::RankBy};

const DIM: usize = 24;

fn params() -> CollectionParams {
    CollectionParams::new(DIM).column("text").words("text")
}

/// Rows with texts that name them.
fn new_rows(rows: &[Vec<f32>], first: usize) -> NewRows {
    let texts = (first..first + rows.len()).map(|i| format!("text {i}")).collect();
    NewRows::new(table(rows, DIM)).texts(vec![texts])
}

fn collection(folder: &Path, rows: &[Vec<f32>]) -> Collection {
    let mut collection = Collection::create(folder, &params()).unwrap();
    collection.add(new_rows(rows, 0)).unwrap();
    collection
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_segment_or_deletions_of_another_collection_do_not_pass_for_its_own() {
    let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    // As many rows, the same columns.
    for (folder, seed) in [(&one, 1), (&other, 2)] {
        let mut collection = collection(folder.path(), &vectors(20, DIM, seed));
        collection.delete(&[seed]).unwrap();
    }
    assert_eq!(names(one.path()), names(other.path()));
    for name in ["000001.segment", "000002.deletions"] {
        let own = fs::read(one.path().join(name)).unwrap();
        fs::copy(other.path().join(name), one.path().join(name)).unwrap();
        let error = Collection::open(one.path()).unwrap_err();
        assert!(error.to_string().contains("it is not the file of the manifest"), "{name}: {error}");
        fs::write(one.path().join(name), own).unwrap();
        Collection::open(one.path()).unwrap().verify().unwrap();
    }
}

#[test]
fn a_manifest_that_names_files_alone_opens_and_is_changed() {
    let folder = tempfile::tempdir().unwrap();
    let rows = vectors(6, DIM, 1);
    collection(folder.path(), &rows[..4]).delete(&[1]).unwrap();
    let path = folder.path().join("manifest");
    let text = fs::read_to_string(&path).unwrap();
    let mut json: serde_json::Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    assert!(json.as_object_mut().unwrap().remove("deletions_header").is_some());
    assert!(json["segments"][0].as_object_mut().unwrap().remove("header").is_some());
    let json = json.to_string();
    fs::write(&path, format!("{json}\n{:08x}\n", crc32fast::hash(json.as_bytes()))).unwrap();
    let mut collection = Collection::open(folder.path()).unwrap();
    collection.add(new_rows(&rows[4..], 4)).unwrap();
    assert_eq!((collection.len(), Collection::open(folder.path()).unwrap().len()), (5, 5));
}

#[test]
fn a_reader_counts_and_verifies_what_it_has_open_whatever_a_writer_removes() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = collection(folder.path(), &vectors(20, DIM, 1));
    let reader = Collection::open(folder.path()).unwrap();
    let before = reader.n_bytes();
    writer.delete(&[3]).unwrap();
    writer.compact().unwrap();
    assert!(!folder.path().join("000001.segment").exists());
    reader.verify().unwrap();
    assert_eq!(reader.n_bytes(), before);
    let on_disk: u64 =
        names(folder.path()).iter().map(|name| fs::metadata(folder.path().join(name)).unwrap().len()).sum();
    assert_eq!(writer.n_bytes(), on_disk);
}

#[test]
fn a_file_of_the_users_is_neither_removed_nor_written_over() {
    let folder = tempfile::tempdir().unwrap();
    let mine = ["000002.segment", "000003.deletions", "123456.segment"];
    fs::create_dir(folder.path().join("c")).unwrap();
    let folder = folder.path().join("c");
    let write = |name: &str| fs::write(folder.join(name), "mine").unwrap();
    mine.iter().for_each(|name| write(name));
    let rows = vectors(8, DIM, 1);
    let mut collection = collection(&folder, &rows[..4]);
    collection.add(new_rows(&rows[4..], 4)).unwrap();
    collection.delete(&[2]).unwrap();
    // The leftovers of a killed writer are not files of the user.
    fs::copy(folder.join("000001.segment"), folder.join("000077.segment")).unwrap();
    fs::write(folder.join(".000078.segment.aB3dEf.tmp"), "unfinished").unwrap();
    collection.compact().unwrap();
    collection.verify().unwrap();
    let of_collection: Vec<String> = names(&folder).into_iter().filter(|name| !mine.contains(&name.as_str())).collect();
    assert_eq!(of_collection, ["000005.segment", "manifest"]);
    assert!(mine.iter().all(|name| fs::read(folder.join(name)).unwrap() == b"mine"));
}

#[test]
fn many_small_additions_do_not_become_as_many_segments() {
    for rescoring in [Rescoring::F32, Rescoring::Int8] {
        let folder = tempfile::tempdir().unwrap();
        let params = params().index(IndexParams { rescoring, ..Default::default() });
        let mut collection = Collection::create(folder.path(), &params).unwrap();
        let rows = vectors(400, DIM, 1);
        let mut sizes = vec![16; 14];
        sizes.extend([1; 34]);
        // The row of each id, and its text; what was deleted is gone.
        let mut expected = std::collections::BTreeMap::new();
        let (mut n, mut next_id, mut segments) = (0, 0_u64, Vec::new());
        for (i, size) in sizes.into_iter().enumerate() {
            let ids = collection.add(new_rows(&rows[n..n + size], n)).unwrap();
            assert_eq!(ids[0], next_id);
            expected.extend(ids.iter().map(|id| id.number().unwrap()).zip(n..n + size));
            (n, next_id) = (n + size, next_id + size as u64);
            if i % 9 == 3 {
                // In place of a row of a segment that will be joined, and one deleted.
                collection.replace(new_rows(&rows[n..=n], n).ids(vec![next_id - 1])).unwrap();
                expected.insert(next_id - 1, n);
                n += 1;
                collection.delete(&[next_id - 3]).unwrap();
                expected.remove(&(next_id - 3));
            }
            segments.push(collection.n_segments());
        }
        // Those of a row are joined by sixteen, these with those of sixteen rows.
        let joined = segments.windows(2).filter(|pair| pair[1] < pair[0]).count();
        assert!(joined >= 2 && *segments.iter().max().unwrap() <= 32, "{segments:?}");
        assert!(names(folder.path()).len() <= collection.n_segments() + 2);
        collection.verify().unwrap();
        let opened = Collection::open(folder.path()).unwrap();
        assert_eq!((opened.len(), opened.n_segments()), (expected.len(), collection.n_segments()));
        let ranker = opened.ranker(|_| true).unwrap();
        for (row, vector) in rows[..n].iter().enumerate() {
            let found = opened.search(vector, &Search::new(1)).unwrap().remove(0);
            let id = expected.iter().find(|(_, other)| **other == row).map(|(&id, _)| id);
            let near = (found.cosine > 0.999).then(|| found.id.number().unwrap());
            assert_eq!(near, id, "{rescoring:?} row {row}");
            // Its number is a word of its text alone.
            let by_words = ranker.rank(&opened, &row.to_string(), vector, RankBy::Words).unwrap().best(2).unwrap();
            let found: Vec<_> = by_words.iter().filter_map(|row| opened.id(row.position).unwrap()?.number()).collect();
            assert_eq!(found, Vec::from_iter(id), "{rescoring:?} row {row}");
            if let Some(id) = id {
                assert_eq!(opened.text(opened.position(id).unwrap().unwrap(), "text").unwrap(), format!("text {row}"));
            }
        }
    }
}

#[test]
fn where_no_vectors_are_kept_segments_stay_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let params = params().index(IndexParams { rescoring: Rescoring::None, ..Default::default() });
    let mut collection = Collection::create(folder.path(), &params).unwrap();
    for (i, row) in vectors(20, DIM, 1).iter().enumerate() {
        collection.add(new_rows(std::slice::from_ref(row), i)).unwrap();
    }
    assert_eq!((collection.n_segments(), collection.len()), (20, 20));
}

#[test]
fn metadata_are_changed_without_anything_else() {
    let folder = tempfile::tempdir().unwrap();
    let mut collection = collection(folder.path(), &vectors(4, DIM, 1));
    collection.delete(&[1]).unwrap();
    let before = names(folder.path());
    collection.set_metadata("model.path", "/there").unwrap();
    let opened = Collection::open(folder.path()).unwrap();
    assert_eq!(opened.metadata()["model.path"], "/there");
    assert_eq!((opened.len(), names(folder.path())), (3, before));
    let error = Collection::build(folder.path(), &params(), || Ok::<_, Error>(None)).unwrap_err();
    assert!(matches!(error, Error::Exists { .. }), "{error}");
}
