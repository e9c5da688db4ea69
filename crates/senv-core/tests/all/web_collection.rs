//! Tests of a collection for the web page: round trip and damage.
#![cfg(feature = "write")]

use senv_core::{
    ModelWriter, Result,
    files::{RawTensor, WebCollection, WebCollectionWriter, WebId, WebQuery, WebSentence},
    kernels,
};

/// A vector of sentence `i` that differs from the others.
fn vector(i: usize, dim: usize) -> Vec<f32> {
    (0..dim).map(|j| ((i * 37 + j * 11) as f32 * 0.7).sin() * (1.0 + i as f32)).collect()
}

/// A file with numbers from the highest down as ids.
fn file(sentences: &[(&str, Vec<f32>)]) -> Vec<u8> {
    file_of(sentences, |i| (u64::MAX - i as u64).into())
}

fn file_of<'a>(sentences: &[(&str, Vec<f32>)], id: impl Fn(usize) -> WebId<'a>) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.web");
    let mut writer = WebCollectionWriter::new(sentences.first().map_or(3, |(_, v)| v.len()), "d1ge57").unwrap();
    for (i, (text, vector)) in sentences.iter().enumerate() {
        writer.push(&WebSentence { text, vector, id: id(i), line: i as u32 + 1 }).unwrap();
    }
    writer.save(&path).unwrap();
    std::fs::read(&path).unwrap()
}

fn opened(bytes: Vec<u8>) -> Result<WebCollection> {
    let mut opened = WebCollection::from_bytes("a.web", bytes)?;
    while !opened.check(1000)? {}
    Ok(opened)
}

#[test]
fn cosines_are_those_of_the_vectors_up_to_rounding() {
    for dim in [1, 3, 64, 300, 2000] {
        let sentences: Vec<_> = ["a", "b c", "", "😀 d"].into_iter().zip((0..).map(|i| vector(i, dim))).collect();
        let opened = opened(file(&sentences)).unwrap();
        assert_eq!((opened.len(), opened.dim(), opened.model()), (4, dim, "d1ge57"));
        for query in (0..6).map(|i| vector(i * 3 + 1, dim)) {
            let rounded = WebQuery::new(&query, dim);
            for (row, (text, vector)) in sentences.iter().enumerate() {
                let exact = kernels::cosine(&query, vector);
                let cosine = opened.cosine(row, &rounded);
                assert!((cosine - exact).abs() < 0.005, "{dim}: {cosine} {exact}");
                assert_eq!((opened.text(row).as_str(), opened.count(row)), (*text, 1));
                assert_eq!((opened.id(row), opened.line(row)), ((u64::MAX - row as u64).to_string(), row as u32 + 1));
            }
        }
    }
}

#[test]
fn the_terms_of_the_model_are_in_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.web");
    for terms in [Some("CC BY 4.0: by a test"), None] {
        let mut writer = WebCollectionWriter::new(3, "d1ge57").unwrap().with_terms(terms);
        writer.push(&WebSentence { text: "a", vector: &vector(1, 3), id: 7.into(), line: 0 }).unwrap();
        writer.save(&path).unwrap();
        assert_eq!(opened(std::fs::read(&path).unwrap()).unwrap().terms(), terms);
    }
}

#[test]
fn what_has_no_direction_is_near_nothing() {
    let sentences = [("a", vec![0.0; 3]), ("b", vec![f32::MAX; 3]), ("c", vec![1e-30; 3]), ("d", vec![1.0, 0.0, 0.0])];
    let opened = opened(file(&sentences)).unwrap();
    let query = WebQuery::new(&[1.0, 1.0, 0.0], 3);
    let found: Vec<bool> = (0..4).map(|row| opened.has_direction(row)).collect();
    assert_eq!(found, [false, true, false, true]);
    assert_eq!((opened.cosine(0, &query), opened.cosine(2, &query)), (0.0, 0.0));
    assert!((opened.cosine(1, &query) - (2.0_f32 / 3.0).sqrt()).abs() < 1e-3);
    for none in [WebQuery::new(&[0.0; 3], 3), WebQuery::new(&[1.0; 2], 3), WebQuery::new(&[f32::NAN; 3], 3)] {
        assert!(!none.has_direction() && opened.cosine(3, &none) == 0.0);
    }
}

#[test]
fn equal_sentences_share_a_row_and_an_empty_collection_has_none() {
    let sentences = [("a", vec![1.0]), ("b", vec![1.0]), ("a", vec![-1.0]), ("a", vec![1.0])];
    let same = opened(file(&sentences)).unwrap();
    assert_eq!((same.len(), same.sentences(), same.count(0), same.count(1)), (2, 4, 3, 1));
    let none = opened(file(&[])).unwrap();
    assert!(none.is_empty() && none.sentences() == 0);
}

#[test]
fn every_changed_byte_and_every_cut_is_seen_or_changes_nothing() {
    let sentences: Vec<_> = ["a cat", "the dog"].into_iter().zip((0..).map(|i| vector(i, 5))).collect();
    for bytes in [file(&sentences), file_of(&sentences, |i| ["T-1", "é"][i].into())] {
        let n_seen = (0..bytes.len())
            .filter(|&at| {
                let mut changed = bytes.clone();
                changed[at] ^= 1;
                opened(changed).is_err()
            })
            .count();
        // The checksum of the header also covers padding between the header and the tensors.
        assert_eq!(n_seen, bytes.len());
        for end in 0..bytes.len() {
            assert!(opened(bytes[..end].to_vec()).is_err(), "{end}");
        }
    }
}

#[test]
fn ids_are_all_numbers_or_all_texts_and_texts_are_kept_as_they_are() {
    let sentences = [("a", vec![1.0]), ("b", vec![1.0]), ("a", vec![1.0]), ("c", vec![1.0])];
    let texts = ["007", "a\tb\u{1b}\0", "x", "é😀"];
    let opened = opened(file_of(&sentences, |i| texts[i].into())).unwrap();
    assert_eq!([0, 1, 2].map(|row| opened.id(row)), ["007", "a\tb\u{1b}\0", "é😀"], "that of the first of equal ones");
    for [first, second] in [[WebId::Number(7), WebId::Text("7")], [WebId::Text("7"), WebId::Number(7)]] {
        let mut writer = WebCollectionWriter::new(1, "").unwrap();
        writer.push(&WebSentence { text: "a", vector: &[1.0], id: first, line: 0 }).unwrap();
        let bytes = writer.n_bytes();
        let refused = writer.push(&WebSentence { text: "b", vector: &[1.0], id: second, line: 0 }).unwrap_err();
        assert!(refused.to_string().contains("all numbers or all texts"), "{refused}");
        assert_eq!((writer.len(), writer.n_bytes()), (1, bytes));
    }
}

#[test]
fn files_of_another_kind_and_shape_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("other");
    let message = |writer: ModelWriter<'_>| {
        writer.save(&path).unwrap();
        opened(std::fs::read(&path).unwrap()).unwrap_err().to_string()
    };
    assert!(message(ModelWriter::new("static")).contains("kind \"static\""));
    assert!(message(ModelWriter::new(WebCollection::KIND)).contains("configuration"));
    let config = r#"{"model":"d","sentences":1}"#;
    let rows = |shape: &[usize]| {
        let bytes = vec![1; shape.iter().product::<usize>()].into();
        RawTensor { dtype: "I8".into(), shape: shape.to_vec(), bytes }
    };
    let with = |rows: &RawTensor| message(ModelWriter::new(WebCollection::KIND).config(config).raw("rows", rows));
    assert!(with(&rows(&[3])).contains("axes") && with(&rows(&[3, 2])).contains("factors"));
    let short = rows(&[2, 2]);
    let wrong = ModelWriter::new(WebCollection::KIND).config(config).raw("rows", &short).f32s("factors", &[1.0]);
    assert!(message(wrong).contains("[2]"));
    assert!(WebCollectionWriter::new(0, "").is_err() && WebCollectionWriter::new(8193, "").is_err());
    let one = WebSentence { text: "a", vector: &[1.0], id: 0.into(), line: 0 };
    assert!(WebCollectionWriter::new(2, "").unwrap().push(&one).is_err());
}
