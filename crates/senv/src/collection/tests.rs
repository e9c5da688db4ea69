//! Tests collections of sentences.

use std::{fs, path::PathBuf};

use senv_core::{SentenceEncoder, Table, text::Shard};
use senv_index::{IndexParams, Rescoring};

use super::*;
use crate::{Sent2Vec, system::text_system::TextSystem};

/// A folder with a small model.
struct ModelFolder(tempfile::TempDir);

impl ModelFolder {
    fn new() -> Self {
        let models = Self(tempfile::tempdir().unwrap());
        models.train("my.senv", 24);
        models
    }

    fn train(&self, name: &str, dim: usize) {
        let text = self.path("text.txt");
        let lines =
            "the cat sat on the mat\nthe dog lay on the rug\nrain falls on the hill\na storm brings wind and rain\n";
        fs::write(&text, lines.repeat(30)).unwrap();
        let params = crate::Sent2VecParams { dim, ..Default::default() };
        params.train(&text).unwrap().save(self.path(name)).unwrap();
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn collection(&self, sentences: &[&str]) -> SentenceCollection {
        let mut collection = SentenceCollection::create(self.path("c"), self.path("my.senv")).unwrap();
        collection.add(sentences).unwrap();
        collection
    }
}

fn texts(hits: &[SentenceHit]) -> Vec<&str> {
    hits.iter().map(|hit| hit.text.as_str()).collect()
}

#[test]
fn the_model_is_found_again_where_it_lies_and_another_is_refused() {
    let models = ModelFolder::new();
    let sentences = ["the cat sat on the mat", "a storm brings wind and rain"];
    drop(models.collection(&sentences));
    let find = |collection: SentenceCollection| collection.search("the cat", 1).unwrap()[0].text.clone();
    assert_eq!(find(SentenceCollection::open(models.path("c")).unwrap()), sentences[0]);

    // Both have moved, only the model has moved, the model was replaced, the model is gone.
    fs::create_dir(models.path("new")).unwrap();
    fs::rename(models.path("c"), models.path("new/c")).unwrap();
    fs::rename(models.path("my.senv"), models.path("new/my.senv")).unwrap();
    assert_eq!(find(SentenceCollection::open(models.path("new/c")).unwrap()), sentences[0]);
    fs::rename(models.path("new/my.senv"), models.path("other.senv")).unwrap();
    let folder = models.path("new/c");
    let gone = SentenceCollection::open(&folder).unwrap_err();
    assert!(matches!(&gone, Error::ModelGone { model, .. } if *model == models.path("my.senv")), "{gone}");
    assert_eq!(find(SentenceCollection::open_with_model(&folder, models.path("other.senv")).unwrap()), sentences[0]);
    models.train("my.senv", 25);
    for result in
        [SentenceCollection::open(&folder), SentenceCollection::open_with_model(&folder, models.path("my.senv"))]
    {
        let error = result.unwrap_err();
        assert!(
            matches!(error, Error::OtherModel { .. }) && error.remedies() == [crate::Remedy::ModelPlace],
            "{error}"
        );
    }
    // A collection of vectors only.
    let vectors = senv_index::CollectionParams::new(3);
    drop(Collection::create(models.path("vectors"), &vectors).unwrap());
    assert!(matches!(SentenceCollection::open(models.path("vectors")).unwrap_err(), Error::NoSentences { .. }));
}

#[cfg(feature = "english")]
#[test]
fn the_english_model_needs_no_file() {
    let models = ModelFolder::new();
    let mut collection = SentenceCollection::create(models.path("e"), "english").unwrap();
    collection.add(&["The train is late.", "He paid by card."]).unwrap();
    let collection = SentenceCollection::open(models.path("e")).unwrap();
    assert_eq!(texts(&collection.search("The bus was delayed.", 1).unwrap()), ["The train is late."]);
    assert!(SentenceCollection::open_with_model(models.path("e"), models.path("my.senv")).is_err());
}

/// Another digest stands for the built-in model of another release.
#[cfg(feature = "english")]
#[test]
fn a_collection_of_another_built_in_model_says_what_to_do() {
    let models = ModelFolder::new();
    let (old, folder) = (models.path("my.senv"), models.path("old"));
    let digest = crate::model::model_digest(&old).unwrap();
    // The name of the built-in model, and the digest of the file.
    let params = senv_index::CollectionParams::new(24).model(&digest).metadata(MODEL_PATH, "english");
    drop(Collection::create(&folder, &params.column(TEXT)).unwrap());
    for opened in [SentenceCollection::open(&folder), SentenceCollection::open_with_model(&folder, "english")] {
        let error = opened.unwrap_err();
        assert!(matches!(&error, Error::OtherEnglish { expected, found, .. }
            if *expected == digest && found == senv_english::DIGEST));
        assert_eq!(error.remedies(), [crate::Remedy::ModelPlace]);
        let said = error.to_string();
        assert!(said.contains("index its sentences again") && said.contains("give the path of the model"), "{said}");
    }
    // With the file of the earlier model the collection goes on, and remembers where the file is.
    let mut collection = SentenceCollection::open_with_model(&folder, &old).unwrap();
    collection.add(&["rain falls on the hill"]).unwrap();
    assert!(matches!(collection.move_model("english"), Err(Error::OtherEnglish { .. })));
    collection.move_model(&old).unwrap();
    let collection = SentenceCollection::open(&folder).unwrap();
    assert_eq!(texts(&collection.search("rain", 1).unwrap()), ["rain falls on the hill"]);
    // The collection now has a file, and the built-in model is any other model.
    let other = SentenceCollection::open_with_model(&folder, "english").unwrap_err();
    assert!(matches!(other, Error::OtherModel { .. }), "{other}");
}

#[cfg(feature = "english")]
#[test]
fn a_collection_keeps_the_terms_of_its_model() {
    let models = ModelFolder::new();
    let terms = |collection: SentenceCollection| {
        let rows = Collection::open(collection.rows().folder()).unwrap();
        SentenceCollection::model_terms(&rows).map(str::to_owned)
    };
    let english = crate::english().unwrap();
    for (name, source) in [("named", ModelSource::from("english")), ("given", ModelSource::from(&english))] {
        let collection = SentenceCollection::create(models.path(name), source).unwrap();
        assert_eq!(terms(collection).as_deref(), Some(senv_english::TERMS), "{name}");
    }
    assert_eq!(terms(models.collection(&["rain falls on the hill"])), None);
}

#[test]
fn equal_sentences_are_one_hit_however_many_there_are() {
    let models = ModelFolder::new();
    let mut sentences = vec!["the cat sat on the mat"; 5_000];
    sentences[7] = "the dog lay on the rug";
    sentences[4_000] = "the dog lay on the rug";
    sentences[4_999] = "a storm brings wind and rain";
    let mut collection = models.collection(&sentences);
    for _ in 0..2 {
        let hits = collection.search("the cat sat", 10).unwrap();
        assert_eq!(texts(&hits)[0], "the cat sat on the mat");
        assert_eq!(hits.iter().map(|hit| hit.positions.len()).sum::<usize>(), collection.len());
        let dog = hits.iter().find(|hit| hit.text.contains("dog")).unwrap();
        assert!(dog.id == 7 && dog.positions.len() == 2);
        assert!(hits.windows(2).all(|pair| pair[0].cosine >= pair[1].cosine));
        // A search for one hit also returns all its copies.
        assert_eq!(collection.search("the cat sat", 1).unwrap()[0], hits[0]);
        let keep = |_: usize, position: usize| position % 2 == 1;
        let some = SentenceSearch { keep: Some(&keep), ..SentenceSearch::new(2) };
        let some = collection.search_batch(&["the cat sat"], &some).unwrap().remove(0);
        assert!(some.iter().all(|hit| hit.positions.iter().all(|position| position % 2 == 1)));
        assert!(some[0].positions.len() > 2_000);
        collection.compact().unwrap();
    }
    let all = vec!["rain falls on the hill"; 300];
    let mut equal = SentenceCollection::create(models.path("equal"), models.path("my.senv")).unwrap();
    equal.add(&all).unwrap();
    let hits = equal.search("rain", 10).unwrap();
    assert_eq!((hits.len(), hits[0].positions.len()), (1, 300));
}

#[test]
fn few_sentences_and_sentences_without_a_vector_have_a_result() {
    let models = ModelFolder::new();
    let mut collection = models.collection(&[]);
    assert!(collection.is_empty() && collection.search("rain", 3).unwrap().is_empty());
    collection.add(&["rain falls on the hill"]).unwrap();
    assert_eq!(collection.search("rain", 3).unwrap().len(), 1);
    assert!(collection.search("rain", 0).unwrap().is_empty());
    // A space outside ASCII: not a blank sentence, but without a token.
    let zero = collection.add(&["\u{2003}"]).unwrap();
    assert_eq!(SentenceCollection::zero_vectors(collection.rows()), 1);
    assert_eq!(collection.search("rain", 3).unwrap().len(), 1);
    assert!(collection.search("", 3).unwrap().is_empty());
    collection.delete(&zero).unwrap();
    let lowest = SentenceSearch { min_cosine: 1.1, ..SentenceSearch::new(3) };
    assert!(collection.search_batch(&["rain"], &lowest).unwrap()[0].is_empty());
    collection.add(&["zyx falls"]).unwrap();
    let known = SentenceCollection::known_words(collection.rows());
    assert_eq!((known.sentences, known.words, known.known), (2, 7, 6));
}

#[test]
fn vectors_that_are_there_are_taken_if_they_are_of_the_model() {
    let models = ModelFolder::new();
    let mut collection = models.collection(&["the dog lay on the rug"]);
    let sentences = ["the cat sat on the mat", "a storm brings wind and rain", "\u{2003}", "rain falls on the hill"];
    let owned: Vec<String> = sentences.iter().map(|&text| text.to_owned()).collect();
    let (vectors, _) = collection.model().encode_batch(&sentences).unwrap();
    let values = vectors.into_raw_vec_and_offset().0;
    let table = |values: &[f32], rows| Table::from_vec(rows, values.len() / rows, values.to_vec()).unwrap();
    let new = |table| NewSentences::new(owned.clone()).vectors(table);
    let mut swapped = values.clone();
    swapped.rotate_left(24);
    let foreign = collection.add_sentences(new(table(&swapped, 4))).unwrap_err();
    assert!(matches!(foreign, Error::ForeignVector { .. }), "{foreign}");
    let mut bad = values.clone();
    bad[30] = f32::NAN;
    let nan = collection.add_sentences(new(table(&bad, 4))).unwrap_err();
    assert!(matches!(nan, Error::Index(senv_index::Error::NonFinite { row: 1 })), "{nan}");
    assert!(collection.add_sentences(new(table(&values[..72], 3))).is_err());
    assert!(collection.add_sentences(new(table(&values[..92], 4))).is_err());
    assert_eq!(collection.len(), 1);
    assert_eq!(collection.add_sentences(new(table(&values, 4))).unwrap(), [1, 2, 3, 4]);
    assert_eq!(texts(&collection.search("the cat sat on the mat", 1).unwrap()), ["the cat sat on the mat"]);
    assert_eq!(SentenceCollection::zero_vectors(collection.rows()), 1);
    // So short or so long that it has no direction: counted with those that are never found. Only sixteen are compared,
    // and with many sentences these are not among them.
    let many: Vec<String> = (0..400).map(|i| format!("the cat sat on the mat {i}")).collect();
    let texts: Vec<&str> = many.iter().map(String::as_str).collect();
    let (vectors, _) = collection.model().encode_batch(&texts).unwrap();
    let mut values = vectors.into_raw_vec_and_offset().0;
    values[24..48].iter_mut().for_each(|x| *x *= 1e-16);
    values[48..72].fill(3e38);
    let ids = collection.add_sentences(NewSentences::new(many).vectors(table(&values, 400))).unwrap();
    let counts = [SentenceCollection::zero_vectors, SentenceCollection::directionless_vectors];
    assert_eq!(counts.map(|count| count(collection.rows())), [1, 2]);
    let found = collection.search_batch(&["the cat sat on the mat"], &SentenceSearch::new(1000)).unwrap().remove(0);
    let is_found = |i: usize| found.iter().any(|hit| hit.id == ids[i]);
    assert_eq!([0, 1, 2, 3].map(is_found), [true, false, false, true]);
}

#[test]
fn a_blank_sentence_is_refused_by_its_number() {
    let models = ModelFolder::new();
    let mut collection = models.collection(&["the dog lay on the rug"]);
    for blank in ["", " \t", "\u{b}\n"] {
        let added = collection.add(&["rain falls on the hill", blank]).unwrap_err();
        assert!(matches!(added, Error::BlankSentence { number: 1 }), "{added}");
        assert!(matches!(collection.replace(&[(0, blank)]).unwrap_err(), Error::BlankSentence { number: 0 }));
    }
    assert_eq!((collection.len(), collection.search("the dog", 2).unwrap().len()), (1, 1));
}

#[test]
fn the_path_of_the_model_is_that_of_the_file_itself() {
    let models = ModelFolder::new();
    let kept = |name: &str, model: &Path| {
        let collection = SentenceCollection::create(models.path(name), model).unwrap();
        SentenceCollection::model_path(collection.rows()).unwrap().to_owned()
    };
    let real = fs::canonicalize(models.path("my.senv")).unwrap();
    fs::create_dir(models.path("sub")).unwrap();
    assert_eq!(kept("dots", &models.path("sub/.././my.senv")), real);
    // A folder that the given path went through can be removed.
    fs::remove_dir(models.path("sub")).unwrap();
    SentenceCollection::open(models.path("dots")).unwrap();
    #[cfg(unix)]
    {
        use std::{
            ffi::OsStr,
            os::unix::{ffi::OsStrExt, fs::symlink},
        };
        symlink("my.senv", models.path("latest.senv")).unwrap();
        assert_eq!(kept("link", &models.path("latest.senv")), real);
        // The link now points to another model, or is gone.
        models.train("other.senv", 25);
        fs::remove_file(models.path("latest.senv")).unwrap();
        symlink("other.senv", models.path("latest.senv")).unwrap();
        SentenceCollection::open(models.path("link")).unwrap();
        assert!(SentenceCollection::open_with_model(models.path("link"), models.path("latest.senv")).is_err());
        // Next to the folder, which is opened through a link.
        fs::create_dir_all(models.path("deep/down")).unwrap();
        fs::rename(models.path("link"), models.path("deep/down/link")).unwrap();
        fs::rename(models.path("my.senv"), models.path("deep/down/my.senv")).unwrap();
        symlink("deep/down/link", models.path("shortcut")).unwrap();
        SentenceCollection::open(models.path("shortcut")).unwrap();
        // A name that is not UTF-8 cannot be recorded.
        let strange = models.0.path().join(OsStr::from_bytes(b"caf\xe9.senv"));
        fs::copy(models.path("other.senv"), &strange).unwrap();
        let error = SentenceCollection::create(models.path("strange"), &strange).unwrap_err();
        assert!(matches!(error, Error::ModelPath { .. }), "{error}");
        assert!(!models.path("strange").exists());
    }
}

#[test]
fn a_model_that_was_moved_is_looked_for_where_it_is_now() {
    let models = ModelFolder::new();
    drop(models.collection(&["rain falls on the hill"]));
    fs::rename(models.path("my.senv"), models.path("moved.senv")).unwrap();
    let gone = SentenceCollection::open(models.path("c")).unwrap_err();
    assert_eq!(gone.remedies(), [crate::Remedy::ModelPlace]);
    assert!(gone.to_string().contains(&crate::Remedy::ModelPlace.to_string()), "{gone}");
    let mut collection = SentenceCollection::open_with_model(models.path("c"), models.path("moved.senv")).unwrap();
    assert!(SentenceCollection::open(models.path("c")).is_err(), "opening changes nothing");
    models.train("other.senv", 25);
    assert!(matches!(collection.move_model(models.path("other.senv")).unwrap_err(), Error::OtherModel { .. }));
    collection.move_model(models.path("moved.senv")).unwrap();
    assert_eq!(SentenceCollection::open(models.path("c")).unwrap().len(), 1);
}

#[test]
fn a_collection_is_replaced_only_when_that_is_asked_for() {
    let models = ModelFolder::new();
    drop(models.collection(&["rain falls on the hill"]));
    let params = SentenceCollectionParams::default();
    let two = || {
        let mut parts = vec![NewSentences::new(vec!["the cat sat".into(), "the dog lay".into()])];
        move |_: usize| Ok::<_, Error>(parts.pop())
    };
    let refused = SentenceCollection::build(models.path("c"), models.path("my.senv"), &params, two()).unwrap_err();
    assert!(matches!(refused, Error::Index(senv_index::Error::Exists { .. })), "{refused}");
    assert_eq!(SentenceCollection::open(models.path("c")).unwrap().len(), 1);
    let new = SentenceCollection::rebuild(models.path("c"), models.path("my.senv"), &params, two()).unwrap();
    assert_eq!(new.len(), 2);
}

#[test]
fn columns_are_kept_in_the_order_of_the_collection_and_must_all_be_there() {
    let models = ModelFolder::new();
    let params = SentenceCollectionParams { columns: vec!["author".into(), "year".into()], ..Default::default() };
    let mut given = vec![
        NewSentences::new(vec!["the cat sat".into()])
            .column("year", vec!["1987".into()])
            .column("author", vec!["Ada".into()]),
        NewSentences::new(vec!["rain falls".into()])
            .column("author", vec!["Bob".into()])
            .column("year", vec!["1990".into()]),
    ];
    let next = |len: usize| {
        assert!(len > 1000);
        Ok::<_, Error>(given.pop())
    };
    let mut collection = SentenceCollection::build(models.path("c"), models.path("my.senv"), &params, next).unwrap();
    assert_eq!(collection.rows().columns(), ["text", "author", "year"]);
    assert_eq!(
        (collection.rows().text(1, "author").unwrap(), collection.rows().text(0, "year").unwrap()),
        ("Ada".into(), "1990".into())
    );
    let add = |collection: &mut SentenceCollection, names: &[&str]| {
        let sentences = NewSentences::new(vec!["a".into()]);
        let with = |sentences: NewSentences, name: &&str| sentences.column(name, vec!["x".into()]);
        collection.add_sentences(names.iter().fold(sentences, with))
    };
    for names in [&["author"][..], &["author", "month"], &["author", "author"], &["author", "year", "month"]] {
        let error = add(&mut collection, names).unwrap_err();
        assert!(matches!(error, Error::Index(senv_index::Error::WrongColumns { .. })), "{error}");
    }
    assert!(add(&mut collection, &["year", "author"]).is_ok());
    for bad in [f32::NAN, 0.0, -0.1, 1.01, f32::INFINITY] {
        let params = SentenceCollectionParams { recall: bad, ..Default::default() };
        assert!(SentenceCollection::create_with(models.path("bad"), models.path("my.senv"), &params).is_err(), "{bad}");
    }
    assert!(!models.path("bad").exists());
}

#[test]
fn sentences_that_come_from_no_file_are_added_where_there_are_columns_for_file_and_line() {
    let models = ModelFolder::new();
    let columns = ["file", "year", "line"].map(String::from).to_vec();
    let params = SentenceCollectionParams { columns, ..Default::default() };
    let mut collection = SentenceCollection::create_with(models.path("c"), models.path("my.senv"), &params).unwrap();
    let year = |text: &str| NewSentences::new(vec![text.into()]).column("year", vec!["1987".into()]);
    collection.add_sentences(year("the cat sat").column("line", vec!["7".into()])).unwrap();
    collection.add_sentences(year("rain falls").read_from(vec!["a.txt".into()], vec!["1".into()])).unwrap();
    let texts = |position| ["file", "year", "line"].map(|name| collection.rows().text(position, name).unwrap());
    assert_eq!([texts(0), texts(1)], [["", "1987", "7"], ["a.txt", "1987", "1"]]);
    // As lines of text, they are those of their file, or of the folder and their ids.
    let lines = read_sentences(&[models.path("c")], &Default::default()).unwrap();
    assert_eq!((lines.place(0), lines.place(1)), ((&*models.path("c"), 7), (Path::new("a.txt"), 1)));
    let added = |collection: &mut SentenceCollection, sentences: NewSentences| {
        collection.add_sentences(sentences).unwrap_err().to_string()
    };
    let none = || NewSentences::new(vec!["a storm".into()]);
    assert_eq!(added(&mut collection, none()), "the columns given are none, expected year");
    let line = none().column("line", vec!["1".into()]);
    assert_eq!(added(&mut collection, line), "the columns given are line, expected year, line");
    let many = year("a storm").column("place", vec!["x".into()]);
    assert_eq!(added(&mut collection, many), "the columns given are year, place, expected year");
}

#[test]
fn text_ids_are_searched_filtered_and_refused_where_ids_are_numbers() {
    let models = ModelFolder::new();
    let mut collection = models.collection(&[]);
    let two = || NewSentences::new(vec!["the cat sat on the mat".into(), "rain falls on the hill".into()]);
    assert_eq!(collection.add_sentences(two().ids(vec!["T-1", "T\t2"])).unwrap(), ["T-1", "T\t2"]);
    let refused = collection.add_sentences(two().ids(vec!["T-3", "T\t2"])).unwrap_err().to_string();
    assert!(refused.starts_with(r#"id "T\t2" already exists"#), "{refused}");
    assert!(matches!(collection.add(&["rain"]).unwrap_err(), Error::Index(senv_index::Error::NoIds { .. })));
    let hit = collection.search("the cat on the mat", 1).unwrap().remove(0);
    assert_eq!((hit.id.text(), serde_json::to_value(&hit).unwrap()["id"].as_str()), (Some("T-1"), Some("T-1")));
    for (condition, meets) in [("id = T-1", [true, false]), ("id != T-1", [false, true]), ("id = T-9", [false, false])]
    {
        let condition: Filter = condition.parse().unwrap();
        assert_eq!(condition.positions(collection.rows()).unwrap(), meets, "{condition}");
    }
    let memory = crate::Index::open(models.path("c"), collection.model().clone()).unwrap();
    assert_eq!(
        (memory.sentence("T\t2"), memory.search("the cat", 1).unwrap()[0].id.text()),
        (Some("rain falls on the hill"), Some("T-1"))
    );
    // As lines of text, they have their positions.
    let lines = read_sentences(&[models.path("c")], &Default::default()).unwrap();
    assert_eq!((lines.len(), lines.place(1)), (2, (&*models.path("c"), 2)));
    collection.delete(&["T-1"]).unwrap();
    collection.replace(&[("T\t2", "a storm brings wind")]).unwrap();
    assert_eq!((collection.len(), collection.search("a storm", 1).unwrap()[0].id.clone()), (1, "T\t2".into()));
    // Texts of numbers, where that is asked for.
    let params = SentenceCollectionParams { text_ids: true, ..Default::default() };
    let mut texts = SentenceCollection::create_with(models.path("t"), models.path("my.senv"), &params).unwrap();
    texts.add_sentences(two().ids(vec![7, 8])).unwrap();
    assert_eq!(texts.search("rain", 1).unwrap()[0].id, "8");
}

#[cfg(feature = "english")]
#[test]
fn a_collection_that_was_made_anew_with_another_weight_of_order_is_taken_over_with_it() {
    let models = ModelFolder::new();
    let path = models.path("c");
    let sentences = ["The dog bites the man.", "The man bites the dog."];
    let mut service = SentenceCollection::create(&path, "english").unwrap();
    service.add(&sentences).unwrap();
    let before = service.search(sentences[0], 2).unwrap()[1].cosine;
    let params = SentenceCollectionParams { order_weight: 1.0, ..Default::default() };
    let mut part = Some(NewSentences::new(owned(&sentences)));
    let anew = SentenceCollection::rebuild::<Error>(&path, "english", &params, |_| Ok(part.take())).unwrap();
    assert!(service.refresh().unwrap());
    let [after, of_anew] = [&service, &anew].map(|one| one.search(sentences[0], 2).unwrap()[1].cosine);
    assert!(after == of_anew && after < before - 0.05, "{before} {after} {of_anew}");
    // Also by a change, which loads what others have done.
    let mut part = Some(NewSentences::new(owned(&sentences[..1])));
    let plain = SentenceCollectionParams::default();
    SentenceCollection::rebuild::<Error>(&path, "english", &plain, |_| Ok(part.take())).unwrap();
    service.add(&sentences[1..]).unwrap();
    assert_eq!(service.search(sentences[0], 2).unwrap()[1].cosine, before);
}

#[test]
fn estimates_are_told_from_cosines() {
    let models = ModelFolder::new();
    let index = IndexParams { rescoring: Rescoring::None, ..Default::default() };
    let params = SentenceCollectionParams { index, recall: 0.9, ..Default::default() };
    let mut collection = SentenceCollection::create_with(models.path("n"), models.path("my.senv"), &params).unwrap();
    collection.add(&["the cat sat on the mat", "rain falls on the hill"]).unwrap();
    assert!(collection.estimates_cosines() && !models.collection(&[]).estimates_cosines());
    let hits = collection.search("the cat sat on the mat", 2).unwrap();
    assert_eq!(hits[0].text, "the cat sat on the mat");
    assert!((hits[0].cosine - 1.0).abs() < 0.05, "{}", hits[0].cosine);
    assert!(matches!(collection.compact().unwrap_err(), Error::Index(senv_index::Error::Core(_))));
    assert_eq!(SentenceCollection::recall(collection.rows()), 0.9);
    assert_eq!(Sent2Vec::open(models.path("my.senv")).unwrap().dim(), collection.model().dim());
}

#[test]
fn shards_of_given_parts_join_to_the_bytes_of_the_whole() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let files = |name: &str| {
        let mut files: Vec<_> = std::fs::read_dir(at(name)).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        files
            .iter()
            .map(|path| (path.file_name().unwrap().to_owned(), std::fs::read(path).unwrap()))
            .collect::<Vec<_>>()
    };
    for has_ids in [false, true] {
        let build = |name: &str, shard: Option<CollectionShard>| {
            let params = SentenceCollectionParams { shard, ..Default::default() };
            let mut parts = 0..5_u64;
            let next = |_| {
                let Some(part) = parts.next() else { return Ok(None) };
                let sentences =
                    NewSentences::new((0..part + 2).map(|i| format!("train {part} is {i} minutes late")).collect());
                let ids = (0..part + 2).map(|i| 1000 - part * 10 - i).collect();
                Ok::<_, Error>(Some(if has_ids { sentences.ids(ids) } else { sentences }))
            };
            SentenceCollection::rebuild(at(name), "english", &params, next).unwrap()
        };
        let whole = build("whole", None);
        let shards: Vec<_> = (1..=3)
            .map(|number| {
                let shard = CollectionShard { shard: Shard::new(number, 3).unwrap(), has_ids };
                let collection = build(&number.to_string(), Some(shard));
                // A shard is searched like any collection, with the ids of the whole.
                let hit = &collection.search("the train is late", 1).unwrap()[0];
                let position = whole.rows().position(&hit.id).unwrap().unwrap();
                assert_eq!(whole.rows().text(position, "text").unwrap(), hit.text);
                at(&number.to_string())
            })
            .collect();
        let joined = Collection::rejoin(at("joined"), &shards).unwrap();
        assert_eq!(joined.len(), 2 + 3 + 4 + 5 + 6);
        let made: Vec<Vec<u8>> = files("joined").into_iter().map(|(_, bytes)| bytes).collect();
        if !has_ids {
            assert!(files("joined") == files("whole"));
        }
        assert_eq!(made.len(), files("whole").len());
    }
}

#[test]
fn shards_have_the_words_that_the_first_part_of_the_whole_decides() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let build = |name: &str, shard: Option<CollectionShard>, words: bool| {
        let params = SentenceCollectionParams { shard, words, ..Default::default() };
        let mut parts =
            ["Der Zug ist spät, und das Haus ist leer.", "The trains are late.", "It is the rain."].into_iter();
        let next = |_| Ok::<_, Error>(parts.next().map(|text| NewSentences::new(vec![text.into()])));
        SentenceCollection::rebuild(at(name), "english", &params, next).unwrap()
    };
    let whole = build("whole", None, true);
    assert_eq!(whole.rows().stemming(), Some(senv_index::documents::Stemming::None));
    let shard = |number| Some(CollectionShard { shard: Shard::new(number, 4).unwrap(), has_ids: false });
    let shards: Vec<_> = (1..=4).map(|number| build(&number.to_string(), shard(number), true)).collect();
    let folders: Vec<_> = shards.iter().rev().map(|shard| shard.rows().folder()).collect();
    // The last shard has no part.
    assert!(shards[3].is_empty());
    let joined = Collection::join(at("joined"), &folders).unwrap();
    for name in ["manifest", "000001.segment", "000002.segment", "000003.segment"] {
        let read = |folder: &str| std::fs::read(at(folder).join(name)).unwrap();
        assert!(read("joined") == read("whole"), "{name}");
    }
    assert!(joined.ranker(|_| true).unwrap().has_word_of(&joined, "trains").unwrap());
    assert!(!joined.ranker(|_| true).unwrap().has_word_of(&joined, "train").unwrap());
    // A shard without words is made otherwise.
    build("2", shard(2), false);
    let error = Collection::rejoin(at("joined"), &folders).unwrap_err();
    assert!(error.to_string().contains("settings or columns differ"), "{error}");
}
