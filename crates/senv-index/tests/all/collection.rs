//! A collection on disk.

use std::{
    env, fs,
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use crate::common::{exact, table, vectors};
use senv_core::files::FileLock;
use senv_index::{
    Collection, CollectionParams, Error, Found, Id, IndexParams, NewRows, Rescoring, Search, documents::RankBy,
};

const DIM: usize = 24;

fn params() -> CollectionParams {
    CollectionParams::new(DIM).column("text").column("language").model("abc").words("text").documents("language")
}

/// Rows with texts that name them.
fn new_rows(rows: &[Vec<f32>], first: usize) -> NewRows {
    let texts = |what: &str| (first..first + rows.len()).map(|i| format!("{what} {i}")).collect();
    NewRows::new(table(rows, DIM)).texts(vec![texts("text"), texts("lingua è")])
}

fn ids(found: &[Found]) -> Vec<u64> {
    found.iter().map(|found| found.id.number().unwrap()).collect()
}

/// Every file of a folder with its content.
fn content(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap())
        .map(|entry| (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap()))
        .collect();
    files.sort();
    files
}

#[test]
fn rows_of_several_segments_are_found_with_ids_and_texts() {
    let folder = tempfile::tempdir().unwrap();
    let rows = vectors(900, DIM, 1);
    let mut collection = Collection::create(folder.path(), &params()).unwrap();
    for first in [0, 300, 600] {
        let added = collection.add(new_rows(&rows[first..first + 300], first)).unwrap();
        assert_eq!(added, (first as u64..first as u64 + 300).collect::<Vec<_>>());
    }
    let opened = Collection::open(folder.path()).unwrap();
    for collection in [&collection, &opened] {
        assert_eq!((collection.len(), collection.n_positions(), collection.n_segments()), (900, 900, 3));
        assert_eq!(
            (collection.columns(), collection.model(), collection.dim()),
            (&["text".to_owned(), "language".into()][..], "abc", DIM)
        );
        let queries = vectors(10, DIM, 2);
        for query in &queries {
            let found = collection.search(query, &Search::new(10)).unwrap();
            let expected = exact(&rows, query, 10, |_| true);
            assert_eq!(ids(&found), expected.iter().map(|&row| row as u64).collect::<Vec<_>>());
            let keep = |_: usize, position: usize| position % 3 == 1;
            let found = collection.search(query, &Search::new(5).keep(&keep)).unwrap();
            assert_eq!(
                ids(&found),
                exact(&rows, query, 5, |row| row % 3 == 1).iter().map(|&row| row as u64).collect::<Vec<_>>()
            );
        }
        for position in [0, 299, 300, 899] {
            assert_eq!(collection.text(position, "text").unwrap(), format!("text {position}"));
            assert_eq!(collection.text(position, "language").unwrap(), format!("lingua è {position}"));
            assert_eq!(collection.vector(position).unwrap().unwrap(), rows[position]);
            assert_eq!(
                (collection.id(position).unwrap(), collection.position(position as u64).unwrap()),
                (Some(Id::Number(position as u64)), Some(position))
            );
        }
        assert_eq!(
            (collection.id(900).unwrap(), collection.position(900).unwrap(), collection.vector(900).unwrap()),
            (None, None, None)
        );
        assert_eq!(collection.text(900, "text").unwrap(), "");
        collection.verify().unwrap();
    }
}

#[test]
fn deleted_rows_are_not_found_replaced_ones_are_new_and_compaction_changes_no_result() {
    for rescoring in [Rescoring::F32, Rescoring::F16] {
        let folder = tempfile::tempdir().unwrap();
        let mut rows = vectors(400, DIM, 1);
        let params = params().index(IndexParams { rescoring, ..Default::default() });
        let mut collection = Collection::create(folder.path(), &params).unwrap();
        // Ids that are not consecutive.
        let id = |row: usize| (row as u64 * 7919) % 1009 + 5;
        collection.add(new_rows(&rows[..200], 0).ids((0..200).map(id).collect())).unwrap();
        collection.add(new_rows(&rows[200..], 200).ids((200..400).map(id).collect())).unwrap();
        let gone = |row: usize| row % 4 == 2;
        collection.delete(&(0..400).filter(|&row| gone(row)).map(id).collect::<Vec<_>>()).unwrap();
        // An existing id and a deleted one.
        let new = vectors(2, DIM, 77);
        collection.replace(new_rows(&new, 1000).ids(vec![id(8), id(10)])).unwrap();
        (rows[8], rows[10]) = (new[0].clone(), new[1].clone());
        let gone = |row: usize| gone(row) && row != 10;
        let query = vectors(1, DIM, 3).remove(0);
        let near = |rows: &[Vec<f32>], query: &[f32]| {
            exact(rows, query, 25, |row| !gone(row)).into_iter().map(id).collect::<Vec<_>>()
        };
        let before = collection.search(&query, &Search::new(25)).unwrap();
        for compacted in [false, true] {
            if compacted {
                collection.compact().unwrap();
                assert_eq!(collection.n_segments(), 1);
                assert_eq!(content(folder.path()).len(), 2, "the manifest and a segment");
            }
            for collection in [&collection, &Collection::open(folder.path()).unwrap()] {
                assert_eq!(collection.len(), 301);
                assert_eq!(collection.n_positions(), if compacted { 301 } else { 402 });
                let found = collection.search(&query, &Search::new(25)).unwrap();
                assert_eq!(ids(&found), ids(&before));
                if rescoring == Rescoring::F32 {
                    assert_eq!(ids(&found), near(&rows, &query));
                    let own = collection.search(&new[1], &Search::new(1)).unwrap().remove(0);
                    assert_eq!(own.id, id(10));
                    assert_eq!(collection.text(own.position, "text").unwrap(), "text 1001");
                }
                for row in 0..400 {
                    let position = collection.position(id(row)).unwrap();
                    assert_eq!(position.is_none(), gone(row), "row {row}");
                    let expected = match row {
                        8 => 1000,
                        10 => 1001,
                        row => row,
                    };
                    if let Some(position) = position {
                        assert_eq!(collection.text(position, "text").unwrap(), format!("text {expected}"));
                        assert_eq!(collection.id(position).unwrap(), Some(id(row).into()));
                    }
                }
                collection.verify().unwrap();
            }
        }
    }
}

#[test]
fn what_is_refused_leaves_the_collection_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let mut collection = Collection::create(folder.path(), &params()).unwrap();
    let rows = vectors(10, DIM, 1);
    collection.add(new_rows(&rows, 0)).unwrap();
    let before = content(folder.path());
    let core = |error: &Error| matches!(error, Error::Core(senv_core::Error::ShapeMismatch { .. }));
    let mut bad = rows.clone();
    bad[4][2] = f32::NAN;
    let few = vec![vec!["a".to_owned()]; 2];
    assert!(matches!(collection.add(new_rows(&bad, 0)).unwrap_err(), Error::NonFinite { row: 4 }));
    assert!(matches!(
        collection.add(new_rows(&rows, 0).ids((9..19).collect())).unwrap_err(),
        Error::RepeatedId { id: Id::Number(9), row: 0 }
    ));
    assert!(matches!(
        collection.add(new_rows(&rows[..3], 0).ids(vec![60, 50, 50])).unwrap_err(),
        Error::GivenTwice { id: Id::Number(50), first: 1, second: 2 }
    ));
    assert!(matches!(
        collection.replace(new_rows(&rows[..2], 0).ids(vec![1, 1])).unwrap_err(),
        Error::GivenTwice { id: Id::Number(1), first: 0, second: 1 }
    ));
    assert!(matches!(collection.add(NewRows::new(table(&rows, DIM))).unwrap_err(), Error::WrongColumns { .. }));
    assert!(core(&collection.add(new_rows(&rows, 0).texts(few)).unwrap_err()));
    assert!(core(&collection.add(new_rows(&rows, 0).ids(vec![70])).unwrap_err()));
    assert!(core(&collection.add(NewRows::new(table(&vectors(3, 5, 1), 5))).unwrap_err()));
    assert!(matches!(collection.delete(&[3, 10]).unwrap_err(), Error::UnknownId { id: Id::Number(10) }));
    assert!(matches!(collection.delete(&[3, 3]).unwrap_err(), Error::UnknownId { id: Id::Number(3) }));
    assert!(
        matches!(collection.text(0, "author").unwrap_err(), Error::UnknownColumn { columns, .. } if columns == "text, language")
    );
    assert!(core(&collection.search(&[1.0; 3], &Search::new(1)).unwrap_err()));
    assert!(matches!(collection.check_model("xyz").unwrap_err(), Error::OtherModel { .. }));
    assert!(collection.check_model("abc").is_ok() && collection.check_model("").is_ok());
    assert!(matches!(Collection::create(folder.path(), &params()).unwrap_err(), Error::Exists { .. }));
    assert!(matches!(Collection::open(folder.path().join("none")).unwrap_err(), Error::NotACollection { .. }));
    assert!(matches!(
        Collection::create(folder.path().join("twice"), &params().column("text")).unwrap_err(),
        Error::Core(_)
    ));
    assert_eq!((collection.len(), content(folder.path())), (10, before));
}

#[test]
fn an_empty_collection_is_searched_and_filled_and_emptied() {
    let folder = tempfile::tempdir().unwrap();
    let mut collection = Collection::create(folder.path().join("deep/down"), &CollectionParams::new(DIM)).unwrap();
    let query = vec![1.0; DIM];
    assert!(collection.is_empty() && collection.search(&query, &Search::new(3)).unwrap().is_empty());
    assert!(matches!(collection.search(&query[1..], &Search::new(3)), Err(Error::Core(_))));
    collection.compact().unwrap();
    assert_eq!(collection.add(NewRows::new(table(&[], DIM))).unwrap(), [0_u64; 0]);
    assert_eq!(collection.n_segments(), 0);
    assert_eq!(collection.add(NewRows::new(table(&[query.clone(), vec![0.0; DIM]], DIM))).unwrap(), [0, 1]);
    // The zero vector is stored, but is never a result.
    assert_eq!((collection.len(), ids(&collection.search(&query, &Search::new(3)).unwrap())), (2, vec![0]));
    collection.delete(&[0, 1]).unwrap();
    assert!(collection.is_empty() && collection.search(&query, &Search::new(3)).unwrap().is_empty());
    collection.compact().unwrap();
    assert_eq!((collection.n_segments(), collection.n_positions()), (0, 0));
    // Ids are not reused.
    assert_eq!(collection.add(NewRows::new(table(std::slice::from_ref(&query), DIM))).unwrap(), [2]);
}

#[test]
fn readers_go_on_while_a_writer_works_and_take_over_its_work_when_they_want() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = Collection::create(folder.path(), &params()).unwrap();
    let rows = vectors(60, DIM, 1);
    writer.add(new_rows(&rows[..30], 0)).unwrap();
    let mut reader = Collection::open(folder.path()).unwrap();
    writer.add(new_rows(&rows[30..], 30)).unwrap();
    writer.delete(&[0, 1, 2]).unwrap();
    writer.compact().unwrap();
    let search = Search::new(100);
    let all = reader.search(&rows[0], &search).unwrap();
    assert_eq!((all.len(), ids(&all)[0], reader.text(0, "text").unwrap().as_str()), (30, 0, "text 0"));
    reader.verify().unwrap();
    assert!(reader.refresh().unwrap() && !reader.refresh().unwrap());
    assert_eq!((reader.len(), reader.search(&rows[0], &search).unwrap().len()), (57, 57));
    // A writer that has not seen the work of another takes it over too.
    let mut late = Collection::open(folder.path()).unwrap();
    writer.delete(&[3]).unwrap();
    late.delete(&[4]).unwrap();
    assert_eq!((late.len(), Collection::open(folder.path()).unwrap().len()), (55, 55));
}

#[test]
fn a_second_writer_is_told_who_writes() {
    let folder = tempfile::tempdir().unwrap();
    let mut collection = Collection::create(folder.path(), &CollectionParams::new(DIM)).unwrap();
    let lock = FileLock::acquire(folder.path().join("manifest")).unwrap();
    let error = collection.add(NewRows::new(table(&vectors(2, DIM, 1), DIM))).unwrap_err();
    let own = std::process::id();
    assert!(
        matches!(&error, Error::Core(senv_core::Error::InUse { holder: Some(holder), .. }) if *holder == own),
        "{error}"
    );
    drop(lock);
    assert!(collection.add(NewRows::new(table(&vectors(2, DIM, 1), DIM))).is_ok());
}

#[test]
fn every_changed_byte_and_every_cut_of_every_file_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let mut collection = Collection::create(folder.path(), &params()).unwrap();
    let rows = vectors(12, DIM, 1);
    collection.add(new_rows(&rows[..6], 0)).unwrap();
    collection.add(new_rows(&rows[6..], 6).ids(vec![90, 80, 70, 60, 95, 85])).unwrap();
    collection.delete(&[2, 95]).unwrap();
    drop(collection);
    let copy = tempfile::tempdir().unwrap();
    let files = content(folder.path());
    assert_eq!(files.len(), 4);
    let check = |damaged: &str, bytes: Option<&[u8]>, what: String| {
        for (name, whole) in &files {
            let _ = fs::remove_file(copy.path().join(name));
            match (name == damaged, bytes) {
                (true, None) => {}
                (true, Some(bytes)) => fs::write(copy.path().join(name), bytes).unwrap(),
                (false, _) => fs::write(copy.path().join(name), whole).unwrap(),
            }
        }
        let result = Collection::open(copy.path()).and_then(|collection| {
            let _ = collection.search(&rows[0], &Search::new(5).candidates(3.0));
            for ranker in [collection.ranker(|_| true), collection.document_ranker(|_| true)].into_iter().flatten() {
                let _ = ranker.rank(&collection, "text 7", &rows[0], RankBy::Hybrid).and_then(|mut all| all.best(5));
            }
            (0..12).for_each(|position| {
                _ = (collection.text(position, "text"), collection.position(position as u64 * 5 + 60))
            });
            collection.verify()
        });
        assert!(result.is_err(), "{what}");
    };
    for (name, bytes) in &files {
        check(name, None, format!("{name} is missing"));
        for i in (0..bytes.len()).step_by(3) {
            let mut changed = bytes.clone();
            changed[i] ^= 0x81;
            check(name, Some(&changed), format!("byte {i} of {name}"));
        }
        for end in (0..bytes.len()).step_by(31) {
            check(name, Some(&bytes[..end]), format!("{name} cut at {end}"));
        }
    }
}

/// Parts that are handed out one after another, then an error if there is to be one.
fn parts(mut rows: Vec<NewRows>, fails: bool) -> impl FnMut() -> Result<Option<NewRows>, Error> {
    rows.reverse();
    move || match rows.pop() {
        Some(rows) => Ok(Some(rows)),
        None if fails => Err(Error::NonFinite { row: 77 }),
        None => Ok(None),
    }
}

#[test]
fn a_collection_is_built_of_parts_as_a_whole_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new");
    let rows = vectors(50, DIM, 1);
    let both = || vec![new_rows(&rows[..30], 0).count("tokens", 7), new_rows(&rows[30..], 30).count("tokens", 5)];
    let error = Collection::build(&path, &params(), parts(both(), true)).unwrap_err();
    assert!(matches!(error, Error::NonFinite { row: 77 }) && !path.exists());

    let params = params().metadata("recall", ".95");
    let built = Collection::build(&path, &params, parts(both(), false)).unwrap();
    assert_eq!((built.len(), built.n_segments(), built.count("tokens"), built.count("other")), (50, 2, 12, 0));
    assert_eq!(built.metadata().get("recall").map(String::as_str), Some(".95"));
    assert_eq!(built.segments().map(senv_index::VectorIndex::len).collect::<Vec<_>>(), [30, 20]);
    let on_disk: usize = content(&path).iter().map(|(_, bytes)| bytes.len()).sum();
    assert_eq!(built.n_bytes(), on_disk as u64);
    let even = built.positions_where("text", |text| text.ends_with('8')).unwrap();
    assert_eq!(
        even.iter().enumerate().filter(|(_, holds)| **holds).map(|(i, _)| i).collect::<Vec<_>>(),
        [8, 18, 28, 38, 48]
    );
    assert!(matches!(built.positions_where("author", |_| true).unwrap_err(), Error::UnknownColumn { .. }));

    // The old collection stays until the new one is complete: after an error, and for a reader that has it open.
    let before = content(&path);
    let refused = Collection::build(&path, &params, parts(both(), false)).unwrap_err();
    assert!(matches!(refused, Error::Exists { .. }), "{refused}");
    assert!(Collection::rebuild(&path, &params, parts(both(), true)).is_err());
    assert_eq!(content(&path), before);
    let smaller = Collection::rebuild(&path, &params, parts(vec![new_rows(&rows[..4], 100)], false)).unwrap();
    assert_eq!(
        (smaller.len(), smaller.text(0, "text").unwrap().as_str(), built.text(0, "text").unwrap().as_str()),
        (4, "text 100", "text 0")
    );
    assert_eq!(content(&path).len(), 2);
    // Also in place of one that is damaged.
    fs::write(path.join("manifest"), "{").unwrap();
    assert!(Collection::open(&path).is_err());
    let anew = Collection::rebuild(&path, &params, parts(both(), false)).unwrap();
    anew.verify().unwrap();
    assert_eq!((anew.len(), content(&path).len()), (50, 3));
    // Without a part it is empty.
    assert!(Collection::build(folder.path().join("empty"), &params, parts(vec![], false)).unwrap().is_empty());
}

#[test]
fn parts_are_added_or_replaced_together_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let mut collection = Collection::create(folder.path(), &params()).unwrap();
    let rows = vectors(60, DIM, 1);
    let part = |range: std::ops::Range<usize>| new_rows(&rows[range.clone()], range.start);
    let with_ids = |range: std::ops::Range<usize>, first: u64| {
        let n = range.len() as u64;
        part(range).ids((first..first + n).collect())
    };
    assert_eq!(collection.add_parts(parts(vec![part(0..10), with_ids(10..20, 500), part(20..30)], false)).unwrap(), 30);
    assert_eq!(
        (collection.id(9).unwrap(), collection.id(10).unwrap(), collection.id(29).unwrap()),
        (Some(9.into()), Some(500.into()), Some(519.into()))
    );
    let before = content(folder.path());
    // 520 to 529 are those of the part without ids.
    for (refused, says) in [
        (parts(vec![part(30..40)], true), "row 77 contains NaN"),
        (
            parts(vec![with_ids(30..40, 600), with_ids(40..50, 609)], false),
            "rows 9 and 10 (counted from 0) have the same id 609",
        ),
        (
            parts(vec![part(30..40), with_ids(40..41, 529)], false),
            "rows 9 and 10 (counted from 0) have the same id 529",
        ),
        (parts(vec![with_ids(30..31, 505)], false), "id 505 already exists"),
    ] {
        let error = collection.add_parts(refused).unwrap_err().to_string();
        assert!(error.starts_with(says), "{error}");
        assert_eq!((collection.len(), content(folder.path())), (30, before.clone()));
    }
    let refused = parts(vec![with_ids(30..40, 0), with_ids(40..41, 3)], false);
    let error = collection.replace_parts(refused).unwrap_err();
    assert!(matches!(error, Error::GivenTwice { id: Id::Number(3), first: 3, second: 10 }), "{error}");
    assert_eq!((collection.len(), content(folder.path())), (30, before));
    let new = parts(vec![with_ids(30..35, 0), with_ids(35..45, 515)], false);
    assert_eq!(collection.replace_parts(new).unwrap(), 15);
    // Ten that were there, 515 to 519 of them, and five new ones.
    assert_eq!((collection.len(), collection.n_positions()), (35, 45));
    let at = |id| collection.text(collection.position(id).unwrap().unwrap(), "text").unwrap();
    assert_eq!([at(4), at(5), at(514), at(519), at(524)], ["text 34", "text 5", "text 24", "text 39", "text 44"]);
    collection.verify().unwrap();
}

/// The writer of the next test: another process, which is killed.
#[test]
fn writes_without_an_end_if_it_is_told_where() {
    let Ok(folder) = env::var("SENV_INDEX_TEST_FOLDER") else { return };
    let mut collection = Collection::open(folder).unwrap();
    let rows = vectors(40, DIM, 9);
    loop {
        let added = collection.add(new_rows(&rows, 0)).unwrap();
        // Half of each addition stays.
        collection.delete(&added[..20]).unwrap();
        if collection.n_segments() > 6 {
            collection.compact().unwrap();
        }
    }
}

#[test]
fn a_writer_that_is_killed_leaves_a_complete_state() {
    let folder = tempfile::tempdir().unwrap();
    drop(Collection::create(folder.path(), &params()).unwrap());
    for round in 0..12 {
        let mut writer = Command::new(env::current_exe().unwrap())
            .args(["--exact", "collection::writes_without_an_end_if_it_is_told_where", "--nocapture"])
            .env("SENV_INDEX_TEST_FOLDER", folder.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // Once it writes, and after as many searches as there were rounds, four times over.
        let before = Collection::open(folder.path()).unwrap().n_positions();
        let began = Instant::now();
        while Collection::open(folder.path()).unwrap().n_positions() == before {
            assert!(writer.try_wait().unwrap().is_none(), "the writer has ended");
            assert!(began.elapsed() < Duration::from_secs(600), "the writer wrote nothing");
            std::thread::yield_now();
        }
        for _ in 0..4 * round {
            let collection = Collection::open(folder.path()).unwrap();
            let found = collection.search(&[1.0; DIM], &Search::new(collection.len())).unwrap();
            assert_eq!(found.len(), collection.len());
            // Words and documents are those of the same state.
            let ranker = collection.ranker(|_| true).unwrap();
            let by_words = ranker.rank(&collection, "text", &[1.0; DIM], RankBy::Words).unwrap().best(100_000).unwrap();
            assert_eq!((ranker.len(), by_words.len()), (collection.len(), collection.len()));
            collection.document_ranker(|_| true).unwrap();
        }
        writer.kill().unwrap();
        writer.wait().unwrap();
        let mut collection = Collection::open(folder.path()).unwrap();
        collection.verify().unwrap();
        // Each addition of twenty rows is complete or absent.
        assert_eq!(collection.len() % 20, 0);
        // The next writer removes the leftovers.
        collection.add(new_rows(&vectors(20, DIM, 10), 0)).unwrap();
        let files = content(folder.path()).len();
        assert!(files <= collection.n_segments() + 2, "{files} files, {} segments", collection.n_segments());
    }
}

#[test]
fn the_largest_id_is_an_id_like_others() {
    let folder = tempfile::tempdir().unwrap();
    let rows = vectors(3, DIM, 1);
    let mut collection = Collection::create(folder.path(), &params()).unwrap();
    collection.add(new_rows(&rows[..2], 0).ids(vec![u64::MAX, 5])).unwrap();
    collection.delete(&[5]).unwrap();
    // The one id that is left is that of the first row and of the last.
    collection.compact().unwrap();
    assert!(matches!(collection.add(new_rows(&rows[2..], 2)).unwrap_err(), Error::NoIdLeft { next_id: u64::MAX }));
    for collection in [&collection, &Collection::open(folder.path()).unwrap()] {
        assert_eq!(collection.position(u64::MAX).unwrap(), Some(0));
        assert_eq!(ids(&collection.search(&rows[0], &Search::new(3)).unwrap()), [u64::MAX]);
    }
}

#[test]
fn a_collection_that_was_made_anew_with_another_model_is_not_taken_over() {
    let folder = tempfile::tempdir().unwrap();
    let rows = vectors(4, DIM, 1);
    let mut old = Collection::create(folder.path(), &params()).unwrap();
    old.add(new_rows(&rows[..2], 0)).unwrap();
    let mut part = Some(new_rows(&rows[2..], 2));
    Collection::rebuild::<Error>(folder.path(), &params().model("other"), || Ok(part.take())).unwrap();
    let before = content(folder.path());
    for refused in [old.refresh().map(|_| ()), old.add(new_rows(&rows[..1], 0)).map(|_| ())] {
        assert!(matches!(refused.unwrap_err(), Error::OtherModel { .. }));
    }
    assert_eq!(content(folder.path()), before);
}

#[test]
fn of_many_that_make_one_collection_at_once_one_does_and_none_replaces_it() {
    let rows = vectors(4, DIM, 1);
    for round in 0..10 {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("c");
        let build = |number: usize| {
            let mut part = Some(new_rows(&rows[..1 + number % 4], 100 * number));
            (number, Collection::build::<Error>(&folder, &params(), || Ok(part.take())).map(|made| made.len()))
        };
        let results: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|number| scope.spawn(move || build(number))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let made: Vec<usize> = results.iter().filter(|(_, made)| made.is_ok()).map(|(number, _)| *number).collect();
        assert_eq!(made.len(), 1, "round {round}: {results:?}");
        for (number, refused) in results.iter().filter(|(_, made)| made.is_err()) {
            let error = refused.as_ref().unwrap_err();
            let is_told = matches!(error, Error::Exists { .. } | Error::Core(senv_core::Error::InUse { .. }));
            assert!(is_told, "{number}: {error}");
        }
        let opened = Collection::open(&folder).unwrap();
        opened.verify().unwrap();
        assert_eq!(opened.len(), 1 + made[0] % 4);
        assert_eq!(opened.text(0, "text").unwrap(), format!("text {}", 100 * made[0]));
    }
}
