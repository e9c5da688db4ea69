//! Collections whose ids are texts, and collections of earlier programs, whose ids are numbers.

use std::{
    collections::BTreeMap,
    env, fs,
    path::Path,
    process::{Command, Stdio},
};

use proptest::prelude::*;
use senv_index::{Collection, CollectionParams, Error, Id, IdKind, NewRows, Search};

use crate::common::{table, vectors};

const DIM: usize = 24;

fn params() -> CollectionParams {
    CollectionParams::new(DIM).column("text")
}

/// Rows with these texts. The vector of a text is always the same.
fn rows(texts: &[String]) -> NewRows {
    let vector = |text: &String| vectors(1, DIM, text.bytes().map(u64::from).sum::<u64>() + 1).remove(0);
    NewRows::new(table(&texts.iter().map(vector).collect::<Vec<_>>(), DIM)).texts(vec![texts.to_vec()])
}

/// Rows with these ids, whose texts are `what` and the id.
fn named<I: Clone + ToString + Into<Id>>(what: &str, ids: &[I]) -> NewRows {
    let texts: Vec<String> = ids.iter().map(|id| format!("{what} {}", id.to_string())).collect();
    rows(&texts).ids(ids.to_vec())
}

/// Ids as people have them: ticket numbers, a UUID, other scripts, control characters, the longest, one that differs
/// from another in its last byte, and a number.
fn samples() -> Vec<String> {
    let mut ids: Vec<String> =
        ["T-1234", "T-1235", "t-1234", " T-1234", "a\tb\n\u{1b}[31m", "票-7", "17", "017"].map(String::from).to_vec();
    ids.push("550e8400-e29b-41d4-a716-446655440000".into());
    ids.push("550e8400-e29b-41d4-a716-446655440001".into());
    ids.push("x".repeat(Id::MAX_BYTES));
    ids
}

/// The id and text of every row, and what look-ups, a search and the files say of them.
fn content(collection: &Collection) -> BTreeMap<String, String> {
    collection.verify().unwrap();
    let mut content = BTreeMap::new();
    for position in 0..collection.n_positions() {
        let id = collection.id(position).unwrap();
        assert_eq!(collection.has_row(position), id.is_some());
        let Some(id) = id else { continue };
        assert_eq!(collection.position(&id).unwrap(), Some(position), "{id:?}");
        assert!(content.insert(id.to_string(), collection.text(position, "text").unwrap()).is_none(), "{id:?} twice");
    }
    let found = collection.search(&[1.0; DIM], &Search::new(10_000).recall(1.0)).unwrap();
    let mut found: Vec<String> = found.iter().map(|found| found.id.to_string()).collect();
    found.sort();
    assert_eq!(found, content.keys().cloned().collect::<Vec<_>>());
    assert_eq!(collection.len(), content.len());
    content
}

fn expected(pairs: impl IntoIterator<Item = (String, String)>) -> BTreeMap<String, String> {
    pairs.into_iter().collect()
}

#[test]
fn text_ids_are_added_replaced_deleted_found_and_kept_by_compaction() {
    let folder = tempfile::tempdir().unwrap();
    let mut collection = Collection::create(folder.path(), &params()).unwrap();
    assert_eq!((collection.id_kind(), collection.position("T-1234").unwrap()), (None, None));
    let ids = samples();
    assert_eq!(collection.add(named("first", &ids)).unwrap(), ids.iter().map(Id::from).collect::<Vec<_>>());
    assert_eq!(collection.id_kind(), Some(IdKind::Texts));
    collection.add(named("first", &["T-1", "T-2", "T-3"])).unwrap();
    collection.replace(named("second", &["T-2", "17", "T-9"])).unwrap();
    collection.delete(&["T-3", " T-1234"]).unwrap();
    // A number stands for its digits, and one with zeros in front is another text.
    collection.delete(&[17]).unwrap();
    let of = |id: &String| (id.clone(), format!("first {id}"));
    let mut wanted = expected(ids.iter().filter(|id| !["17", " T-1234"].contains(&id.as_str())).map(of));
    wanted.extend([("T-1".into(), "first T-1".into()), ("T-2".into(), "second T-2".into())]);
    wanted.insert("T-9".into(), "second T-9".into());
    assert_eq!(content(&collection), wanted);
    for id in ["", "T-3", "T-12345", "T-123", "17", "550e8400-e29b-41d4-a716-446655440002"] {
        assert_eq!(collection.position(id).unwrap(), None, "{id}");
    }
    assert!(collection.position("017").unwrap().is_some() && collection.position(17).unwrap().is_none());
    let query = vectors(1, DIM, 3).remove(0);
    let keep = |_: usize, position: usize| collection.text(position, "text").unwrap().starts_with("second");
    let kept = collection.search(&query, &Search::new(9).recall(1.0).keep(&keep)).unwrap();
    let mut kept: Vec<Id> = kept.into_iter().map(|found| found.id).collect();
    kept.sort();
    assert_eq!(kept, ["T-2", "T-9"]);
    collection.compact().unwrap();
    assert_eq!((collection.n_segments(), content(&collection)), (1, wanted.clone()));
    assert_eq!(content(&Collection::open(folder.path()).unwrap()), wanted);
    // Emptied, it still has texts.
    let all: Vec<String> = wanted.into_keys().collect();
    collection.delete(&all).unwrap();
    collection.compact().unwrap();
    assert_eq!((collection.n_segments(), collection.id_kind()), (0, Some(IdKind::Texts)));
    assert!(matches!(collection.add(rows(&["a".into()])).unwrap_err(), Error::NoIds { .. }));
    collection.add(named("again", &[3_u64])).unwrap();
    assert_eq!(collection.id(0).unwrap(), Some("3".into()));
}

#[test]
fn what_is_refused_says_the_id_in_quotes_and_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut collection = Collection::create(folder.path(), &params()).unwrap();
    collection.add(named("first", &["T-1", "T\t2"])).unwrap();
    let before = fs::read(folder.path().join("manifest")).unwrap();
    let long = "é".repeat(513);
    let is = |error: Error, says: &str| assert!(error.to_string().contains(says), "{error}");
    is(collection.add(named("x", &["a", "T\t2"])).unwrap_err(), r#"id "T\t2" already exists"#);
    is(
        collection.add(named("x", &["a", "b", "a"])).unwrap_err(),
        "rows 0 and 2 (counted from 0) have the same id \"a\"",
    );
    is(collection.replace(named("x", &["T-1", "T-1"])).unwrap_err(), "have the same id \"T-1\"");
    is(collection.delete(&["T-1", "T-3"]).unwrap_err(), "no row has the id \"T-3\"");
    is(collection.delete(&["T-1", "T-1"]).unwrap_err(), "no row has the id \"T-1\"");
    is(
        collection.add(named("x", &["a", ""])).unwrap_err(),
        "row 1 (counted from 0) has an id of 0 bytes, expected 1 to 1024",
    );
    is(collection.add(named("x", &[long.as_str()])).unwrap_err(), "row 0 (counted from 0) has an id of 1026 bytes");
    is(collection.add(rows(&["a".into()])).unwrap_err(), "give each row its own id");
    is(collection.add(rows(&["a".into()]).first_id(7)).unwrap_err(), "give each row its own id");
    let mut parts = vec![named("x", &["c", "a"]), named("x", &["a", "b"])];
    is(collection.add_parts(|| Ok(parts.pop())).unwrap_err(), "rows 0 and 3 (counted from 0) have the same id \"a\"");
    assert_eq!((fs::read(folder.path().join("manifest")).unwrap(), collection.len()), (before, 2));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "the manifest and a segment");

    // Where ids are numbers, a text that is one stands for it.
    let numbers = tempfile::tempdir().unwrap();
    let mut collection = Collection::create(numbers.path(), &params()).unwrap();
    collection.add(rows(&["a".into(), "b".into()])).unwrap();
    assert_eq!(collection.id_kind(), Some(IdKind::Numbers));
    is(collection.add(named("x", &["7", "T-1"])).unwrap_err(), "\"T-1\" is not one");
    is(collection.delete(&["T-1"]).unwrap_err(), "no row has the id \"T-1\"");
    collection.add(named("x", &["7"])).unwrap();
    collection.replace(named("y", &["1"])).unwrap();
    collection.delete(&["0"]).unwrap();
    assert_eq!(content(&collection), expected([("1".into(), "y 1".into()), ("7".into(), "x 7".into())]));
    assert_eq!((collection.position("7").unwrap(), collection.position("x").unwrap()), (Some(2), None));
    assert_eq!(collection.id(2).unwrap(), Some(7.into()));
    // Texts that look like numbers are texts where that was asked for.
    let texts = tempfile::tempdir().unwrap();
    let mut collection = Collection::create(texts.path(), &params().text_ids()).unwrap();
    assert_eq!(collection.id_kind(), Some(IdKind::Texts));
    collection.add(named("x", &[7_u64, 8])).unwrap();
    assert_eq!(collection.id(1).unwrap(), Some("8".into()));
}

#[test]
fn ids_that_are_texts_have_a_version_that_earlier_programs_refuse_and_numbers_have_theirs() {
    let folder = tempfile::tempdir().unwrap();
    let manifest = || fs::read_to_string(folder.path().join("manifest")).unwrap();
    let mut collection = Collection::create(folder.path(), &params()).unwrap();
    // Until there are ids, it is like any other.
    assert!(manifest().starts_with("{\"version\":2,") && !manifest().contains("\"ids\""));
    collection.add(named("x", &["T-1"])).unwrap();
    assert!(manifest().starts_with("{\"version\":3,") && manifest().contains("\"ids\":\"texts\""));
    let mut part = Some(rows(&["a".into()]));
    Collection::rebuild::<Error>(folder.path(), &params(), || Ok(part.take())).unwrap();
    assert!(manifest().starts_with("{\"version\":2,") && !manifest().contains("\"ids\""));
    // A version after that is refused as one of a newer program.
    let newer = manifest().lines().next().unwrap().replacen("\"version\":2", "\"version\":5", 1);
    let sum = crc32fast::hash(newer.as_bytes());
    fs::write(folder.path().join("manifest"), format!("{newer}\n{sum:08x}\n")).unwrap();
    let error = Collection::open(folder.path()).unwrap_err();
    assert!(matches!(error, Error::Core(senv_core::Error::NewerVersion { supported: 4, .. })), "{error}");
}

#[test]
fn a_collection_that_an_earlier_program_made_opens_and_is_changed() {
    // Made by `senv index` of the commit before ids could be texts: three lines; then two with ids of their own; id 1
    // deleted.
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/number-ids");
    let folder = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(data).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), folder.path().join(entry.file_name())).unwrap();
    }
    let mut collection = Collection::open(folder.path()).unwrap();
    collection.verify().unwrap();
    assert_eq!((collection.len(), collection.n_segments(), collection.id_kind()), (4, 2, Some(IdKind::Numbers)));
    let text = |collection: &Collection, id: u64| {
        collection.position(id).unwrap().map(|position| collection.text(position, "text").unwrap())
    };
    let texts = [0, 1, 2, 70, 50].map(|id| text(&collection, id));
    let is = ["The train is late.", "", "A storm brings rain.", "The soup burnt.", "He paid by card."];
    for (text, is) in texts.iter().zip(is) {
        assert_eq!(text.as_deref(), (!is.is_empty()).then_some(is));
    }
    let vector = collection.vector(0).unwrap().unwrap();
    assert_eq!(collection.search(&vector, &Search::new(1)).unwrap()[0].id, 0);
    let columns = collection.columns().len();
    let more = NewRows::new(table(&[vector], collection.dim())).texts(vec![vec!["new".into()]; columns]);
    assert_eq!(collection.add(more).unwrap(), [71]);
    collection.compact().unwrap();
    assert_eq!((collection.len(), text(&collection, 71), text(&collection, 1)), (5, Some("new".into()), None));
    let manifest = fs::read_to_string(folder.path().join("manifest")).unwrap();
    assert!(manifest.starts_with("{\"version\":2,") && !manifest.contains("\"ids\""));
}

#[test]
fn every_changed_byte_of_text_ids_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let mut collection = Collection::create(folder.path(), &params()).unwrap();
    collection.add(named("x", &samples()[..9])).unwrap();
    drop(collection);
    let path = folder.path().join("000001.segment");
    let whole = fs::read(&path).unwrap();
    for i in (0..whole.len()).step_by(3) {
        let mut changed = whole.clone();
        changed[i] ^= 0x81;
        fs::remove_file(&path).unwrap();
        fs::write(&path, changed).unwrap();
        let result = Collection::open(folder.path()).and_then(|collection| {
            samples().iter().for_each(|id| drop(collection.position(id)));
            (0..9).for_each(|position| drop(collection.id(position)));
            collection.verify()
        });
        assert!(result.is_err(), "byte {i}");
    }
}

#[test]
fn shards_with_text_ids_join_to_the_bytes_of_the_whole_and_refuse_an_id_of_two() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let build = |name: &str, n: u64, count: u64, mine: &dyn Fn(u64) -> bool| {
        let params = match count {
            0 => params(),
            count => params().shard(name.parse().unwrap(), count as u32, true),
        };
        let mut parts = (0..n).filter(|&part| mine(part));
        let next = || {
            let Some(part) = parts.next() else { return Ok(None) };
            let ids: Vec<String> = (0..3).map(|i| format!("T-{}", 1000 - part * 3 - i)).collect();
            Ok::<_, Error>(Some(named("row", &ids)))
        };
        Collection::rebuild(at(name), &params, next).unwrap()
    };
    let files = |name: &str| {
        let read = |entry: fs::DirEntry| (entry.file_name(), fs::read(entry.path()).unwrap());
        let mut files: Vec<_> = fs::read_dir(at(name)).unwrap().map(|entry| read(entry.unwrap())).collect();
        files.sort();
        files
    };
    // The second has a shard without a part, which does not know that ids are texts.
    for (n, count) in [(5, 2), (2, 3)] {
        build("0", n, 0, &|_| true);
        let shards: Vec<_> = (1..=count)
            .map(|number| {
                build(&number.to_string(), n, count, &|part| part % count == number - 1);
                at(&number.to_string())
            })
            .collect();
        let joined = Collection::rejoin(at("joined"), &shards).unwrap();
        assert_eq!((content(&joined).len() as u64, joined.id_kind()), (3 * n, Some(IdKind::Texts)));
        fs::remove_dir_all(at("joined")).unwrap();
        Collection::join(at("joined"), &shards).unwrap();
        fs::remove_dir_all(at("0")).unwrap();
        build("0", n, 0, &|_| true);
        assert!(files("joined") == files("0"), "{n} parts in {count}");
    }
    fs::remove_dir_all(at("joined")).unwrap();
    for number in ["1", "2"] {
        build(number, 1, 2, &|_| true);
    }
    let error = Collection::join(at("joined"), &[at("1"), at("2")]).unwrap_err();
    assert!(error.to_string().contains("rows 0 and 3 (counted from 0) have the same id \"T-1000\""), "{error}");
}

/// The writer of the next test: another process, which is killed.
#[test]
fn writes_text_ids_without_an_end_if_it_is_told_where() {
    let Ok(folder) = env::var("SENV_INDEX_TEST_TEXT_IDS") else { return };
    let mut collection = Collection::open(folder).unwrap();
    for round in 0.. {
        let ids: Vec<String> = (0..30).map(|i| format!("T-{}", (i * 7 + round) % 50)).collect();
        // Each change has all of its rows; half of them are deleted again.
        collection.replace(named(&format!("{round}"), &ids)).unwrap();
        collection.delete(&ids[..15]).unwrap();
        if collection.n_segments() > 6 {
            collection.compact().unwrap();
        }
    }
}

#[test]
fn a_writer_of_text_ids_that_is_killed_leaves_a_complete_state() {
    let folder = tempfile::tempdir().unwrap();
    drop(Collection::create(folder.path(), &params().text_ids()).unwrap());
    for round in 0..8 {
        let before = fs::read(folder.path().join("manifest")).unwrap();
        let mut writer = Command::new(env::current_exe().unwrap())
            .args(["--exact", "text_ids::writes_text_ids_without_an_end_if_it_is_told_where", "--nocapture"])
            .env("SENV_INDEX_TEST_TEXT_IDS", folder.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        while fs::read(folder.path().join("manifest")).unwrap() == before {
            assert!(writer.try_wait().unwrap().is_none(), "the writer has ended");
            std::thread::yield_now();
        }
        // Meanwhile, whatever is read is a whole state.
        for _ in 0..2 * round {
            content(&Collection::open(folder.path()).unwrap());
        }
        writer.kill().unwrap();
        writer.wait().unwrap();
        let mut collection = Collection::open(folder.path()).unwrap();
        let texts = content(&collection);
        assert!(texts.iter().all(|(id, text)| text.ends_with(&format!(" {id}"))), "{texts:?}");
        collection.replace(named("mine", &["mine"])).unwrap();
        assert!(fs::read_dir(folder.path()).unwrap().count() <= collection.n_segments() + 2);
    }
}

/// A change of a collection.
#[derive(Debug, Clone)]
enum Change {
    Add(Vec<String>),
    Replace(Vec<String>),
    Delete(Vec<String>),
    Compact,
    Refresh,
}

/// Few ids, so that they meet, some of them with equal beginnings.
fn an_id() -> impl Strategy<Value = String> {
    let few = ["T-1", "T-10", "T-11", "1", "01", "é", "e\u{301}", "\n", "a", "ab", "b", "ba"];
    proptest::sample::select(few.map(String::from).to_vec())
}

fn a_change() -> impl Strategy<Value = Change> {
    let ids = || proptest::collection::vec(an_id(), 1..5);
    prop_oneof![
        4 => ids().prop_map(Change::Add),
        4 => ids().prop_map(Change::Replace),
        3 => ids().prop_map(Change::Delete),
        1 => Just(Change::Compact),
        1 => Just(Change::Refresh),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(40) })]

    #[test]
    fn any_changes_have_the_outcome_of_a_map(changes in proptest::collection::vec(a_change(), 1..24)) {
        let folder = tempfile::tempdir().unwrap();
        let mut writer = Collection::create(folder.path(), &params().text_ids()).unwrap();
        let mut reader = Collection::open(folder.path()).unwrap();
        let mut map: BTreeMap<String, String> = BTreeMap::new();
        for (number, change) in changes.into_iter().enumerate() {
            let is_once = |ids: &[String]| (1..ids.len()).all(|i| !ids[..i].contains(&ids[i]));
            let texts = |ids: &[String]| {
                ids.iter().map(|id| (id.clone(), format!("{number} {id}"))).collect::<Vec<_>>()
            };
            match change {
                Change::Add(ids) => {
                    let fits = is_once(&ids) && ids.iter().all(|id| !map.contains_key(id));
                    prop_assert_eq!(writer.add(named(&number.to_string(), &ids)).is_ok(), fits);
                    if fits { map.extend(texts(&ids)); }
                }
                Change::Replace(ids) => {
                    let fits = is_once(&ids);
                    prop_assert_eq!(writer.replace(named(&number.to_string(), &ids)).is_ok(), fits);
                    if fits { map.extend(texts(&ids)); }
                }
                Change::Delete(ids) => {
                    let fits = is_once(&ids) && ids.iter().all(|id| map.contains_key(id));
                    prop_assert_eq!(writer.delete(&ids).is_ok(), fits);
                    if fits { map.retain(|id, _| !ids.contains(id)); }
                }
                Change::Compact => writer.compact().unwrap(),
                Change::Refresh => {
                    reader.refresh().unwrap();
                    prop_assert_eq!(&content(&reader), &map);
                }
            }
            for id in ["T-1", "01", "a", "\n"] {
                prop_assert_eq!(writer.position(id).unwrap().is_some(), map.contains_key(id));
            }
        }
        prop_assert_eq!(content(&writer), map);
    }
}
