//! Tests of the index in memory.

use senv_core::{Coverage, Scratch};

use super::{memory_rows::CODES_FROM, *};

/// Counts the letters a and b.
struct Letters;

impl SentenceEncoder for Letters {
    fn dim(&self) -> usize {
        2
    }

    fn encode_sentence(&self, sentence: &str, _: &mut Scratch, out: &mut [f32]) -> Coverage {
        out[0] = sentence.matches('a').count() as f32;
        out[1] = sentence.matches('b').count() as f32;
        Coverage::default()
    }
}

#[test]
fn the_most_similar_come_first_and_empty_vectors_never() {
    let index = Index::new(&Letters, &["ab", "b", "a", "c"]).unwrap();
    let positions =
        |query, k| index.search(query, k).unwrap().iter().filter_map(|hit| hit.id.number()).collect::<Vec<_>>();
    assert_eq!(positions("aaab", 9), [2, 0, 1]);
    assert_eq!(positions("b", 1), [1]);
    assert!(positions("xyz", 3).is_empty());
    assert_eq!((index.len(), index.search("aa", 1).unwrap()[0].text.as_str()), (4, "a"));
}

/// A vector of 16 values for each number.
struct Numbers;

impl SentenceEncoder for Numbers {
    fn dim(&self) -> usize {
        16
    }

    fn encode_sentence(&self, sentence: &str, _: &mut Scratch, out: &mut [f32]) -> Coverage {
        let mut state: u64 = sentence.parse().unwrap_or(0);
        out.fill_with(|| {
            state = (state ^ 0x9E37_79B9_7F4A_7C15).wrapping_mul(0xD6E8_FEB8_6659_FD93);
            state ^= state >> 32;
            (state >> 40) as f32 / (1 << 23) as f32 - 1.0
        });
        Coverage::default()
    }
}

#[test]
fn many_sentences_are_found_by_codes_as_exactly() {
    let sentences: Vec<String> = (0..CODES_FROM).map(|i| i.to_string()).collect();
    let index = Index::new(&Numbers, &sentences).unwrap();
    let few = Index::new(&Numbers, &sentences[1..]).unwrap();
    let mut found = 0;
    for query in (200_000..200_040).map(|i| i.to_string()) {
        let (hits, exact) = (index.search(&query, 10).unwrap(), few.search(&query, 10).unwrap());
        found += exact.iter().filter(|near| hits.iter().any(|hit| hit.text == near.text)).count();
        for hit in hits {
            let cosine = Numbers.similarity(&query, &hit.text);
            assert!((hit.cosine - cosine).abs() < 1e-5, "{} {cosine}", hit.cosine);
        }
    }
    assert!(found >= 390, "{found} of 400");
}

#[test]
fn an_index_without_sentences_finds_nothing() {
    let none: [&str; 0] = [];
    let index = Index::new(&Letters, &none).unwrap();
    assert!(index.is_empty() && index.search("a", 5).unwrap().is_empty());
}

#[test]
fn any_encoder_behind_a_pointer_will_do() {
    let encoder: Box<dyn SentenceEncoder> = Box::new(Letters);
    assert_eq!(Index::new(&*encoder, &["a"]).unwrap().search("a", 1).unwrap()[0].cosine, 1.0);
    let owned: Index<Box<dyn SentenceEncoder>> = Index::new(encoder, &["a"]).unwrap();
    assert_eq!(owned.search("a", 1).unwrap()[0].id, 0);
}

#[test]
fn what_is_added_replaced_and_deleted_is_found_or_not_and_comes_back_from_a_folder() {
    let mut index = Index::new(&Letters, &["a", "ab", "a"]).unwrap();
    let ids = |index: &Index<&Letters>, query: &str| {
        index.search(query, 9).unwrap().iter().filter_map(|hit| hit.id.number()).collect::<Vec<_>>()
    };
    assert_eq!(index.search("a", 9).unwrap()[0].positions, [0, 2], "equal sentences are one hit");
    assert_eq!(index.add(&["b", "abb"]).unwrap(), [3, 4]);
    assert_eq!((index.sentence(4), index.sentence(5)), (Some("abb"), None));
    index.delete(&[0, 2]).unwrap();
    assert_eq!((ids(&index, "a"), index.len()), (vec![1, 4, 3], 3));
    assert!(index.delete(&[1, 0]).is_err() && index.len() == 3, "all or none");
    index.replace(&[(1, "bbb"), (7, "aab")]).unwrap();
    assert!(index.replace(&[(8, "a"), (8, "b")]).is_err());
    assert_eq!((ids(&index, "a")[0], index.len(), index.add(&["a"]).unwrap()), (7, 4, vec![8]));
    let first = |query: usize, position: usize| query == 0 || index.id(position) == Some(3.into());
    let search = SentenceSearch { keep: Some(&first), ..SentenceSearch::new(1) };
    let found = index.search_vectors(&[&[1.0, 0.0], &[1.0, 1.0]], &search).unwrap();
    assert!(found[0][0].id == 8 && found[1][0].id == 3);
    assert!(index.search_vectors(&[&[1.0]], &SentenceSearch::new(1)).is_err());

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index");
    index.save(&path).unwrap();
    index.save(&path).unwrap();
    let again = Index::open(&path, &Letters).unwrap();
    index.compact().unwrap();
    for index in [&index, &again] {
        assert_eq!((ids(index, "abb"), index.len()), (vec![4, 3, 1, 7, 8], 5));
        assert_eq!(index.id(5), None);
        let sentences = [(1, "bbb"), (3, "b"), (4, "abb"), (7, "aab"), (8, "a")];
        let sentences = sentences.map(|(id, text)| (Id::Number(id), text));
        assert_eq!(index.iter().collect::<std::collections::BTreeMap<_, _>>(), sentences.into());
    }
    assert!(matches!(Index::open(&path, Numbers), Err(Error::Core(senv_core::Error::ShapeMismatch { .. }))));
    let model = crate::Model::from_encoder("letters", Letters).unwrap();
    let collection = SentenceCollection::open_with_model(&path, &model).unwrap();
    assert_eq!(collection.search("abb", 1).unwrap(), again.search("abb", 1).unwrap());
    let error = SentenceCollection::open(&path).unwrap_err();
    assert!(matches!(error, Error::ModelInMemory { .. }), "{error}");
}

#[test]
fn many_small_additions_are_searched_as_one() {
    let sentences: Vec<String> = (0..1000).map(|i| i.to_string()).collect();
    let whole = Index::new(&Numbers, &sentences).unwrap();
    let mut parts = Index::new(&Numbers, &sentences[..3]).unwrap();
    sentences[3..].chunks(7).for_each(|part| assert!(parts.add(part).is_ok()));
    for query in ["5000", "70000", "12"] {
        assert_eq!(parts.search(query, 20).unwrap(), whole.search(query, 20).unwrap());
    }
}

#[test]
fn texts_are_ids_for_adding_replacing_deleting_and_searching_and_come_back_from_a_folder() {
    let uuid = "550e8400-e29b-41d4-a716-446655440000";
    let mut index = Index::with_ids(&Letters, &[("T-1", "a"), (uuid, "ab")]).unwrap();
    index.add_with_ids(&[("007", "bbb")]).unwrap();
    let first = |index: &Index<&Letters>, query: &str| index.search(query, 1).unwrap()[0].id.to_string();
    assert_eq!(
        (first(&index, "a"), first(&index, "ab"), first(&index, "b")),
        ("T-1".into(), uuid.into(), "007".into())
    );
    // What cannot be changes nothing.
    let before: Vec<(Id, String)> = index.iter().map(|(id, text)| (id, text.to_owned())).collect();
    let refused = index.add_with_ids(&[("T-2", "a"), ("T-1", "b")]).unwrap_err().to_string();
    assert!(refused.starts_with(r#"id "T-1" already exists"#), "{refused}");
    let refused = index.replace(&[("T-2", "a"), ("T-2", "b")]).unwrap_err().to_string();
    assert!(refused.contains(r#"rows 0 and 1 (counted from 0) have the same id "T-2""#), "{refused}");
    assert!(index.replace(&[("", "a")]).is_err() && index.delete(&["T-1", "T-9"]).is_err());
    let refused = index.add(&["a"]).unwrap_err();
    assert!(matches!(refused, Error::NoNextId), "{refused}");
    assert_eq!(index.iter().map(|(id, text)| (id, text.to_owned())).collect::<Vec<_>>(), before);

    index.replace(&[(uuid, "bbbb"), ("17", "aab")]).unwrap();
    index.delete(&["T-1"]).unwrap();
    assert_eq!((index.len(), index.sentence(17), index.sentence("T-1")), (3, Some("aab"), None));
    assert_eq!((index.position(uuid), index.id(1), index.id(3)), (Some(3), None, Some(uuid.into())));
    assert_eq!(index.search("b", 9).unwrap()[0].id, "007", "of equal directions the first");

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index");
    index.save(&path).unwrap();
    let mut again = Index::open(&path, &Letters).unwrap();
    index.compact().unwrap();
    assert!(index.iter().eq(again.iter()) && index.iter().count() == 3);
    // The kind stays, though nothing is left to tell it.
    again.delete(&["007", "17", uuid]).unwrap();
    again.compact().unwrap();
    again.save(&path).unwrap();
    let mut empty = Index::open(&path, &Letters).unwrap();
    assert!(empty.is_empty() && matches!(empty.add(&["a"]), Err(Error::NoNextId)));
    empty.add_with_ids(&[(5, "a")]).unwrap();
    assert_eq!(empty.search("a", 1).unwrap()[0].id, "5");

    let mut numbers = Index::new(&Letters, &["a", "b"]).unwrap();
    assert!(numbers.replace(&[("T-1", "a")]).is_err() && numbers.delete(&["T-1"]).is_err());
    numbers.replace(&[("1", "ab")]).unwrap();
    assert_eq!((numbers.sentence(1), numbers.len(), numbers.sentence("x")), (Some("ab"), 2, None));
}
