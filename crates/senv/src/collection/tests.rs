//! Collections of sentences.

use std::{fs, path::PathBuf};

use senv_core::{SentenceEncoder, Table};
use senv_index::{IndexParams, Rescoring};

use super::*;
use crate::{Sent2Vec, system::text_system::TextSystem};

/// A folder with a small model.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        place.train("my.senv", 24);
        place
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
    let place = Place::new();
    let sentences = ["the cat sat on the mat", "a storm brings wind and rain"];
    drop(place.collection(&sentences));
    let find = |collection: SentenceCollection| collection.search("the cat", 1).unwrap()[0].text.clone();
    assert_eq!(find(SentenceCollection::open(place.path("c")).unwrap()), sentences[0]);

    // Both have moved; only the model; the model is another one; it is gone.
    fs::create_dir(place.path("new")).unwrap();
    fs::rename(place.path("c"), place.path("new/c")).unwrap();
    fs::rename(place.path("my.senv"), place.path("new/my.senv")).unwrap();
    assert_eq!(find(SentenceCollection::open(place.path("new/c")).unwrap()), sentences[0]);
    fs::rename(place.path("new/my.senv"), place.path("other.senv")).unwrap();
    let folder = place.path("new/c");
    let gone = SentenceCollection::open(&folder).unwrap_err();
    assert!(matches!(&gone, Error::ModelGone { model, .. } if *model == place.path("my.senv")), "{gone}");
    assert_eq!(find(SentenceCollection::open_with_model(&folder, place.path("other.senv")).unwrap()), sentences[0]);
    place.train("my.senv", 25);
    for result in
        [SentenceCollection::open(&folder), SentenceCollection::open_with_model(&folder, place.path("my.senv"))]
    {
        assert!(matches!(result.unwrap_err(), Error::OtherModel { .. }));
    }
    // A collection of vectors alone.
    let vectors = senv_index::CollectionParams::new(3);
    drop(Collection::create(place.path("vectors"), &vectors).unwrap());
    assert!(matches!(SentenceCollection::open(place.path("vectors")).unwrap_err(), Error::NoSentences { .. }));
}

#[cfg(feature = "english")]
#[test]
fn the_english_model_needs_no_file() {
    let place = Place::new();
    let mut collection = SentenceCollection::create(place.path("e"), "english").unwrap();
    collection.add(&["The train is late.", "He paid by card."]).unwrap();
    let collection = SentenceCollection::open(place.path("e")).unwrap();
    assert_eq!(texts(&collection.search("The bus was delayed.", 1).unwrap()), ["The train is late."]);
    assert!(SentenceCollection::open_with_model(place.path("e"), place.path("my.senv")).is_err());
}

#[test]
fn equal_sentences_are_one_hit_however_many_there_are() {
    let place = Place::new();
    let mut sentences = vec!["the cat sat on the mat"; 5_000];
    sentences[7] = "the dog lay on the rug";
    sentences[4_000] = "the dog lay on the rug";
    sentences[4_999] = "a storm brings wind and rain";
    let mut collection = place.collection(&sentences);
    for _ in 0..2 {
        let hits = collection.search("the cat sat", 10).unwrap();
        assert_eq!(texts(&hits)[0], "the cat sat on the mat");
        assert_eq!(hits.iter().map(|hit| hit.positions.len()).sum::<usize>(), collection.len());
        let dog = hits.iter().find(|hit| hit.text.contains("dog")).unwrap();
        assert_eq!((dog.id, dog.positions.len()), (7, 2));
        assert!(hits.windows(2).all(|pair| pair[0].cosine >= pair[1].cosine));
        // The nearest alone has all its copies too.
        assert_eq!(collection.search("the cat sat", 1).unwrap()[0], hits[0]);
        let keep = |_: usize, position: usize| position % 2 == 1;
        let some = SentenceSearch { keep: Some(&keep), ..SentenceSearch::new(2) };
        let some = collection.search_batch(&["the cat sat"], &some).unwrap().remove(0);
        assert!(some.iter().all(|hit| hit.positions.iter().all(|position| position % 2 == 1)));
        assert!(some[0].positions.len() > 2_000);
        collection.compact().unwrap();
    }
    let all = vec!["rain falls on the hill"; 300];
    let mut equal = SentenceCollection::create(place.path("equal"), place.path("my.senv")).unwrap();
    equal.add(&all).unwrap();
    let hits = equal.search("rain", 10).unwrap();
    assert_eq!((hits.len(), hits[0].positions.len()), (1, 300));
}

#[test]
fn few_sentences_and_sentences_without_a_vector_have_a_result() {
    let place = Place::new();
    let mut collection = place.collection(&[]);
    assert!(collection.is_empty() && collection.search("rain", 3).unwrap().is_empty());
    collection.add(&["rain falls on the hill"]).unwrap();
    assert_eq!(collection.search("rain", 3).unwrap().len(), 1);
    assert!(collection.search("rain", 0).unwrap().is_empty());
    // No known word, in a model that has no vectors for others.
    let zero = collection.add(&[""]).unwrap();
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
    let place = Place::new();
    let mut collection = place.collection(&["the dog lay on the rug"]);
    let sentences = ["the cat sat on the mat", "a storm brings wind and rain", "", "rain falls on the hill"];
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
}

#[test]
fn columns_are_kept_in_the_order_of_the_collection_and_must_all_be_there() {
    let place = Place::new();
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
    let mut collection = SentenceCollection::build(place.path("c"), place.path("my.senv"), &params, next).unwrap();
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
        assert!(SentenceCollection::create_with(place.path("bad"), place.path("my.senv"), &params).is_err(), "{bad}");
    }
    assert!(!place.path("bad").exists());
}

#[test]
fn estimates_are_told_from_cosines() {
    let place = Place::new();
    let index = IndexParams { rescoring: Rescoring::None, ..Default::default() };
    let params = SentenceCollectionParams { index, recall: 0.9, ..Default::default() };
    let mut collection = SentenceCollection::create_with(place.path("n"), place.path("my.senv"), &params).unwrap();
    collection.add(&["the cat sat on the mat", "rain falls on the hill"]).unwrap();
    assert!(collection.estimates_cosines() && !place.collection(&[]).estimates_cosines());
    let hits = collection.search("the cat sat on the mat", 2).unwrap();
    assert_eq!(hits[0].text, "the cat sat on the mat");
    assert!((hits[0].cosine - 1.0).abs() < 0.05, "{}", hits[0].cosine);
    assert!(matches!(collection.compact().unwrap_err(), Error::Index(senv_index::Error::Core(_))));
    assert_eq!(SentenceCollection::recall(collection.rows()), 0.9);
    assert_eq!(Sent2Vec::open(place.path("my.senv")).unwrap().dim(), collection.model().dim());
}
