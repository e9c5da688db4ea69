//! Collections with a damaged file return an error or the right answer, and never a wrong one silently.

use std::{fs, path::Path};

use senv_core::Table;
use senv_index::{
    Collection, CollectionParams, Id, IndexParams, NewRows, Rescoring, Result, Search, documents::RankBy,
};

use super::{
    Target,
    formats::{forget_checksums_of_model, keep, mend_manifest},
};

const DIM: usize = 8;

/// A collection of two segments and with deletions. One segment has explicit ids; both, if ids are texts.
fn collection(folder: &Path, has_text_ids: bool) -> Vec<Answer> {
    let index = IndexParams { rescoring: Rescoring::F16, ..IndexParams::default() };
    let params = CollectionParams::new(DIM).column("text").column("line").index(index).model("abc");
    let params = params.words("text").documents("line");
    let params = if has_text_ids { params.text_ids() } else { params };
    let mut collection = Collection::create(folder, &params).unwrap();
    let from_0 = has_text_ids.then(|| (0..20).collect());
    for (first, ids) in [(0, from_0), (20, Some((0..20).map(|i| 900 - 7 * i).collect::<Vec<u64>>()))] {
        let values = (0..20 * DIM).map(|i| ((first * 31 + i * 17) % 23) as f32 - 11.0).collect();
        let column = |name: &str| (first..first + 20).map(|i| format!("{name} {i}")).collect::<Vec<_>>();
        let rows = NewRows::new(Table::from_vec(20, DIM, values).unwrap()).texts(vec![column("text"), column("line")]);
        let rows = match ids {
            Some(ids) => rows.ids(ids),
            None => rows,
        };
        collection.add(rows.count("tokens", 3)).unwrap();
    }
    collection.delete(&[3, 900]).unwrap();
    look(folder).unwrap()
}

/// Id, cosine and text of a result.
type Answer = (Id, f32, String);

/// The results of searches by vector and by id.
fn look(folder: &Path) -> Result<Vec<Answer>> {
    let collection = Collection::open(folder)?;
    let mut answers = Vec::new();
    for query in [[1.0; DIM], [-1.0, 2.0, 0.5, 0.0, 0.0, 3.0, -2.0, 1.0]] {
        for search in [Search::new(5), Search::new(50).recall(1.0)] {
            for found in collection.search(&query, &search)? {
                answers.push((found.id, found.cosine, collection.text(found.position, "text")?));
            }
        }
    }
    for ranker in [collection.ranker(|_| true)?, collection.document_ranker(|position| position > 4)?] {
        for by in [RankBy::Words, RankBy::Hybrid] {
            let found = ranker.rank(&collection, "text 17 and 23", &[1.0; DIM], by)?.best(5)?;
            answers
                .extend(found.into_iter().map(|row| ((row.position as u64).into(), row.cosine, row.score.to_string())));
        }
    }
    // Where ids are texts, these are their digits.
    for id in [0_u64, 3, 893, 900] {
        if let Some(position) = collection.position(id)? {
            answers.push((id.into(), 0.0, collection.text(position, "line")?));
        }
    }
    Ok(answers)
}

/// The same, and everything else that reads a file, with any result.
fn look_everywhere(folder: &Path) {
    let _ = look(folder).is_ok();
    if let Ok(collection) = Collection::open(folder) {
        let _ = (collection.verify().is_ok(), collection.len(), collection.n_bytes());
        let _ = collection.positions_where("text", |text| text.len() > 3).is_ok();
    }
    if let Ok(mut collection) = Collection::open(folder) {
        let _ = (collection.delete(&[0]).is_ok(), collection.compact().is_ok(), collection.refresh().is_ok());
    }
}

/// Replaces a file in a copy of the collection, because mapped files must not change, and examines the copy.
fn with_file<T>(original: &Path, name: &str, damaged: &Path, look: impl FnOnce(&Path) -> T) -> T {
    let copy = tempfile::tempdir().unwrap();
    for file in fs::read_dir(original).unwrap() {
        let file = file.unwrap();
        let from = if file.file_name() == name { damaged.to_owned() } else { file.path() };
        fs::copy(from, copy.path().join(file.file_name())).unwrap();
    }
    look(copy.path())
}

fn files(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

/// A manifest with only the names of files, as the first version of the program wrote it.
fn without_headers(manifest: &[u8]) -> Vec<u8> {
    let end = manifest.iter().position(|&byte| byte == b'\n').unwrap();
    let mut json: serde_json::Value = serde_json::from_slice(&manifest[..end]).unwrap();
    json.as_object_mut().unwrap().remove("deletions_header");
    for segment in json["segments"].as_array_mut().unwrap() {
        segment.as_object_mut().unwrap().remove("header");
    }
    let mut bytes = format!("{json}\n00000000\n").into_bytes();
    mend_manifest(&mut bytes);
    bytes
}

#[test]
fn damage_is_an_error_and_never_another_answer() {
    [false, true].into_iter().for_each(damage);
}

fn damage(has_text_ids: bool) {
    let folder = tempfile::tempdir().unwrap();
    let expected = collection(folder.path(), has_text_ids);
    for name in files(folder.path()) {
        let seed = fs::read(folder.path().join(&name)).unwrap();
        let (target_name, rounds) =
            if name == "manifest" { ("collection-manifest", 500) } else { ("collection-file", 300) };
        let target = Target { name: target_name, seeds: vec![seed.clone()], mend: keep, file: "file", rounds };
        target.run(|path, _| {
            let is_same = fs::read(path).unwrap() == seed;
            with_file(folder.path(), &name, path, |copy| {
                match look(copy) {
                    Ok(answers) => assert_eq!(answers, expected, "{name}"),
                    Err(error) => assert!(!is_same, "{error}"),
                }
                let verified = Collection::open(copy).and_then(|collection| collection.verify());
                assert_eq!(verified.is_ok(), is_same, "{name}");
                look_everywhere(copy);
            });
        });
    }
}

#[test]
fn files_whose_checksums_were_made_to_fit_are_read_without_a_panic() {
    [false, true].into_iter().for_each(mend);
}

fn mend(has_text_ids: bool) {
    let folder = tempfile::tempdir().unwrap();
    let expected = collection(folder.path(), has_text_ids);
    let manifest = fs::read(folder.path().join("manifest")).unwrap();
    let old = without_headers(&manifest);
    let seeds = vec![manifest, old.clone()];
    let target = Target { name: "collection-manifest-mended", seeds, mend: mend_manifest, file: "file", rounds: 600 };
    target.run(|path, is_seed| {
        with_file(folder.path(), "manifest", path, |copy| {
            assert!(!is_seed || look(copy).is_ok_and(|answers| answers == expected));
            look_everywhere(copy);
        });
    });
    // This manifest does not record the headers of the files.
    fs::write(folder.path().join("manifest"), old).unwrap();
    for name in files(folder.path()).into_iter().filter(|name| name != "manifest") {
        let seeds = vec![fs::read(folder.path().join(&name)).unwrap()];
        let target = Target {
            name: "collection-file-mended",
            seeds,
            mend: forget_checksums_of_model,
            file: "file",
            rounds: 400,
        };
        target.run(|path, _| with_file(folder.path(), &name, path, look_everywhere));
    }
}
