//! Rankings by the words that a collection stores.

use std::collections::BTreeMap;

use crate::common::{table, vectors};
use rand::Rng;
use senv_core::rng::stream;
use senv_index::{
    Collection, CollectionParams, CollectionRanker, Error, IndexParams, NewRows, RankedRow, Rescoring,
    documents::{Bm25, Bm25Params, DocumentRanker, Join, JoinMethod, RankBy, Stemming, best},
};

const DIM: usize = 24;

fn params() -> CollectionParams {
    CollectionParams::new(DIM).column("text").column("of").words("text").documents("of")
}

/// Sentences of frequent and rare words.
fn texts(n: usize, seed: u64) -> Vec<String> {
    let words = [
        "train",
        "trains",
        "rain",
        "the",
        "of",
        "a",
        "late",
        "C++",
        "don't",
        "news",
        "naïve",
        "x-ray",
        "4711",
        "boxes",
        "猫",
        "example.org",
    ];
    let mut stream = stream(seed, "test.words", &[]);
    let mut below = |n: usize| (stream.next_u64() % n as u64) as usize;
    (0..n)
        .map(|_| {
            let length = below(9);
            let mut word = || words[below(words.len()).min(below(words.len()))];
            (0..length).map(|_| word()).collect::<Vec<_>>().join(" ")
        })
        .collect()
}

fn rows(texts: &[String], names: &[String], vectors: &[Vec<f32>]) -> NewRows {
    NewRows::new(table(vectors, DIM)).texts(vec![texts.to_vec(), names.to_vec()])
}

/// A collection of several segments, some rows of which are deleted, and what is left: its positions, texts, names and
/// vectors.
struct Example {
    collection: Collection,
    positions: Vec<usize>,
    texts: Vec<String>,
    names: Vec<String>,
    vectors: Vec<Vec<f32>>,
}

fn example(folder: &std::path::Path, params: &CollectionParams) -> Example {
    let all = texts(400, 1);
    // Documents of neighboring rows, some of which are in two segments.
    let names: Vec<String> = (0..400).map(|i| format!("document {}", i / 3 % 120)).collect();
    let vectors = vectors(400, DIM, 1);
    let mut collection = Collection::create(folder, params).unwrap();
    for part in [0..200, 200..390, 390..400] {
        collection.add(rows(&all[part.clone()], &names[part.clone()], &vectors[part])).unwrap();
    }
    let deleted: Vec<u64> = (0..400).filter(|i| i % 7 == 3).collect();
    collection.delete(&deleted).unwrap();
    let positions: Vec<usize> = (0..400).filter(|i| i % 7 != 3).collect();
    let of = |all: &[String]| positions.iter().map(|&i| all[i].clone()).collect();
    let (texts, names) = (of(&all), of(&names));
    let vectors = positions.iter().map(|&i| vectors[i].clone()).collect();
    Example { collection, positions, texts, names, vectors }
}

const QUERIES: [&str; 8] = [
    "a late train",
    "rain rain C++ train rain",
    "the news of the boxes",
    "unknown words",
    "",
    "don't x-ray 4711 naïve",
    "猫 example.org",
    "the the the",
];

#[test]
fn scores_by_stored_words_are_those_of_the_texts_to_the_bit() {
    for stemming in [Stemming::Automatic, Stemming::English, Stemming::None] {
        let folder = tempfile::tempdir().unwrap();
        let Example { mut collection, positions, texts, names, .. } =
            example(folder.path(), &params().stemming(stemming));
        let compared = if stemming == Stemming::Automatic { Stemming::English } else { stemming };
        assert_eq!(collection.stemming(), Some(compared));
        let bm25 = |texts: &[String]| {
            let params = Bm25Params { stemming: compared, ..Bm25Params::default() };
            Bm25::new(texts.iter().map(String::as_str), &params)
        };
        let of_texts = bm25(&texts);
        // Those that a filter keeps.
        let some: Vec<String> =
            texts.iter().zip(&positions).filter(|(_, i)| *i % 2 == 0).map(|(text, _)| text.clone()).collect();
        let of_some = bm25(&some);
        let mut of_names: BTreeMap<usize, String> = BTreeMap::new();
        let first = |name: &String| names.iter().position(|other| other == name).unwrap();
        for (text, name) in texts.iter().zip(&names) {
            of_names.entry(first(name)).or_default().push_str(&format!("{text}\n"));
        }
        let of_documents = bm25(&of_names.into_values().collect::<Vec<_>>());
        for is_compacted in [false, true] {
            if is_compacted {
                collection.compact().unwrap();
                collection.verify().unwrap();
            }
            let ranker = collection.ranker(|_| true).unwrap();
            let documents = collection.document_ranker(|_| true).unwrap();
            assert_eq!((ranker.len(), documents.len()), (texts.len(), 120));
            let mut listed: Vec<String> = collection
                .document_positions()
                .unwrap()
                .into_iter()
                .map(|position| collection.text(position, "of").unwrap())
                .collect();
            // Some are in two segments, until they are joined.
            assert_eq!(listed.len() == 120, is_compacted);
            listed.sort();
            listed.dedup();
            assert!(listed.len() == 120 && listed.iter().all(|name| name.starts_with("document ")));
            for query in QUERIES {
                assert_eq!(ranker.word_scores(&collection, query).unwrap(), of_texts.scores(query), "{query}");
                assert_eq!(documents.word_scores(&collection, query).unwrap(), of_documents.scores(query), "{query}");
                assert_eq!(ranker.has_word_of(&collection, query).unwrap(), of_texts.has_word_of(query));
            }
            if !is_compacted {
                let ranker = collection.ranker(|position| position % 2 == 0).unwrap();
                for query in QUERIES {
                    assert_eq!(ranker.word_scores(&collection, query).unwrap(), of_some.scores(query), "{query}");
                }
            }
        }
    }
}

/// The sums of the vectors of documents, and the ends of their rows, with the rows document by document.
fn sums(names: &[String], vectors: &[Vec<f32>]) -> (Vec<usize>, Vec<Vec<f32>>, Vec<usize>) {
    let mut order: Vec<usize> = (0..names.len()).collect();
    let first = |name: &String| names.iter().position(|other| other == name).unwrap();
    order.sort_by_key(|&i| (first(&names[i]), i));
    let (mut all, mut ends) = (Vec::new(), Vec::new());
    for rows in order.chunk_by(|&a, &b| names[a] == names[b]) {
        let sum = |j: usize| rows.iter().map(|&i| vectors[i][j]).sum::<f32>();
        all.push((0..DIM).map(sum).collect());
        ends.push(ends.last().copied().unwrap_or(0) + rows.len());
    }
    (order, all, ends)
}

#[test]
fn rankings_by_words_and_meaning_are_those_of_all_texts_and_vectors() {
    let none = |rows: &[Vec<f32>]| ndarray::Array2::from_shape_vec((rows.len(), DIM), rows.concat()).unwrap();
    for (rescoring, tolerance) in [(Rescoring::F32, 1e-5), (Rescoring::F16, 1e-3), (Rescoring::None, 0.2)] {
        let folder = tempfile::tempdir().unwrap();
        let params = params().index(IndexParams { rescoring, ..IndexParams::default() });
        let Example { collection, positions, texts, names, vectors: of_rows } = example(folder.path(), &params);
        let whole = DocumentRanker::from_vectors(&texts, none(&of_rows), none(&[]), vec![0; texts.len()]).unwrap();
        let (order, sums, ends) = sums(&names, &of_rows);
        let joined = |rows: &[usize]| rows.iter().map(|&i| texts[i].clone()).collect::<Vec<_>>().join("\n");
        let of_documents: Vec<String> = order.chunk_by(|&a, &b| names[a] == names[b]).map(joined).collect();
        let sentences: Vec<Vec<f32>> = order.iter().map(|&i| of_rows[i].clone()).collect();
        let documents =
            DocumentRanker::from_vectors(&of_documents, none(&sums), none(&sentences), ends.clone()).unwrap();
        let rows_ranker = collection.ranker(|_| true).unwrap();
        let document_ranker = collection.document_ranker(|_| true).unwrap();
        for (query, vector) in QUERIES.into_iter().zip(vectors(8, DIM, 2)) {
            let check = |ranker: &DocumentRanker, found: &[RankedRow], by, positions: &[usize], sentences: &[usize]| {
                let expected = ranker.scores(query, &vector, by).unwrap();
                let n_found = expected.iter().flatten().count();
                assert_eq!(found.len(), n_found.min(40), "{query} {by:?}");
                let of_sentences = ranker.sentence_cosines(&vector).unwrap();
                for (RankedRow { score, position, cosine }, best) in found.iter().zip(best(&expected, 40)) {
                    // Without vectors, scores are sums of estimates.
                    let near = if by == RankBy::Hybrid { 10.0 * tolerance } else { tolerance };
                    let expected = expected[best].unwrap();
                    let is_near = (score - expected).abs() < near * expected.abs().max(1.0);
                    assert!(is_near || rescoring == Rescoring::None, "{query} {by:?} {score} {expected}");
                    assert!(positions.contains(position));
                    if !of_sentences.is_empty() {
                        let at = sentences.iter().position(|sentence| sentence == position).unwrap();
                        assert!(f64::from((of_sentences[at] - cosine).abs()) < tolerance.max(1e-4));
                    }
                }
            };
            for by in [RankBy::Words, RankBy::Document, RankBy::Hybrid] {
                let found = rows_ranker.rank(&collection, query, &vector, by).unwrap().best(40).unwrap();
                check(&whole, &found, by, &positions, &[]);
            }
            let sentences: Vec<usize> = order.iter().map(|&i| positions[i]).collect();
            for by in [RankBy::Words, RankBy::Document, RankBy::BestSentence, RankBy::Hybrid] {
                let found = document_ranker.rank(&collection, query, &vector, by).unwrap().best(40).unwrap();
                check(&documents, &found, by, &positions, &sentences);
            }
            // Ranks are as they would be by all vectors.
            if rescoring == Rescoring::F32 {
                let join = Join { method: JoinMethod::ReciprocalRanks, words: 1.0, meaning: 1.0 };
                let ranker = document_ranker.clone().joined_by(join).unwrap();
                let found = ranker.rank(&collection, query, &vector, RankBy::Hybrid).unwrap().best(40).unwrap();
                let all = documents.clone().joined_by(join).unwrap();
                let expected = all.scores(query, &vector, RankBy::Hybrid).unwrap();
                for (found, best) in found.iter().zip(best(&expected, 40)) {
                    assert!((found.score - expected[best].unwrap()).abs() < 1e-9, "{query}");
                }
            }
        }
    }
}

#[test]
fn among_many_rows_the_best_are_those_of_all_vectors_though_most_are_estimated() {
    let folder = tempfile::tempdir().unwrap();
    let n = 6000;
    let (texts, of_rows) = (texts(n, 5), vectors(n, DIM, 5));
    let names: Vec<String> = (0..n).map(|i| format!("{}", i / 3)).collect();
    let mut collection = Collection::create(folder.path(), &params()).unwrap();
    for part in [0..4000, 4000..n] {
        collection.add(rows(&texts[part.clone()], &names[part.clone()], &of_rows[part])).unwrap();
    }
    let matrix = |rows: &[Vec<f32>]| ndarray::Array2::from_shape_vec((rows.len(), DIM), rows.concat()).unwrap();
    let whole = DocumentRanker::from_vectors(&texts, matrix(&of_rows), matrix(&[]), vec![0; n]).unwrap();
    let (_, sums, ends) = sums(&names, &of_rows);
    let joined: Vec<String> = texts.chunks(3).map(|texts| texts.join("\n")).collect();
    let documents = DocumentRanker::from_vectors(&joined, matrix(&sums), matrix(&of_rows), ends).unwrap();
    let ranker = collection.ranker(|_| true).unwrap();
    let document_ranker = collection.document_ranker(|_| true).unwrap();
    let (mut n_same, mut n_all) = (0, 0);
    for (query, vector) in QUERIES.into_iter().zip(vectors(8, DIM, 2)) {
        for by in [RankBy::Document, RankBy::BestSentence, RankBy::Hybrid] {
            let mut check = |ranker: &CollectionRanker, all: &DocumentRanker, rows: usize| {
                let expected = all.scores(query, &vector, by).unwrap();
                let found = ranker.rank(&collection, query, &vector, by).unwrap().best(10).unwrap();
                let best = best(&expected, 10);
                assert_eq!(found.len(), best.len());
                for (found, best) in found.iter().zip(best) {
                    (n_same, n_all) = (n_same + usize::from(found.position / rows == best), n_all + 1);
                    let expected = expected[best].unwrap();
                    assert!((found.score - expected).abs() < 0.03 * expected.abs().max(1.0), "{query} {by:?}");
                }
            };
            if by != RankBy::BestSentence {
                check(&ranker, &whole, 1);
            }
            check(&document_ranker, &documents, 3);
        }
        // Only near ones, however few.
        let all = ranker.rank(&collection, query, &vector, RankBy::Document).unwrap().best(n).unwrap();
        let least = all[4].cosine;
        for by in [RankBy::Document, RankBy::Hybrid] {
            let ranking = ranker.rank(&collection, query, &vector, by).unwrap();
            let near = ranking.min_cosine(least).unwrap().best(n).unwrap();
            assert_eq!(near.len(), all.iter().filter(|row| row.cosine >= least).count(), "{query} {by:?}");
        }
    }
    assert!(n_same as f64 > 0.95 * n_all as f64, "{n_same} of {n_all}");
}

#[test]
fn odd_collections_have_defined_rankings() {
    let folder = tempfile::tempdir().unwrap();
    let mut collection = Collection::create(folder.path(), &params()).unwrap();
    assert_eq!((collection.has_words(), collection.stemming()), (true, Some(Stemming::Automatic)));
    let vector = vec![1.0; DIM];
    let empty = collection.ranker(|_| true).unwrap();
    assert!(
        empty.is_empty() && empty.rank(&collection, "a", &vector, RankBy::Hybrid).unwrap().best(3).unwrap().is_empty()
    );
    let texts = vec!["Regen und Wind".to_owned(), String::new(), "und der Zug".into()];
    let names = vec![String::new(), String::new(), "b".into()];
    collection.add(rows(&texts, &names, &[vector.clone(), vec![0.0; DIM], vector.clone()])).unwrap();
    assert_eq!(collection.stemming(), Some(Stemming::None));
    // A state that is no more.
    assert!(empty.rank(&collection, "a", &vector, RankBy::Hybrid).is_err());
    assert!(empty.word_scores(&collection, "a").is_err());
    let ranker = collection.document_ranker(|_| true).unwrap();
    assert_eq!(ranker.len(), 2);
    let found =
        |query: &str, vector: &[f32], by, n| ranker.rank(&collection, query, vector, by).unwrap().best(n).unwrap();
    // Equal cosines, no words: the sums of both cosines, in order.
    let both = found("zebra", &vector, RankBy::Hybrid, 5);
    assert_eq!((both.len(), both[0].position, both[1].position), (2, 0, 2));
    assert!((both[0].score - 2.0).abs() < 1e-5 && both[0].score >= both[1].score, "{both:?}");
    assert_eq!(found("zebra", &[0.0; DIM], RankBy::Hybrid, 5), []);
    assert_eq!(found("zebra", &vector, RankBy::Words, 5), []);
    assert_eq!(found("zug", &[0.0; DIM], RankBy::Words, 5).len(), 1);
    assert_eq!(found("zug und", &vector, RankBy::Words, 1)[0].position, 2);
    assert!(ranker.rank(&collection, "x", &vector[1..], RankBy::Words).is_err());
    assert!(ranker.rank(&collection, "x", &[f32::NAN; DIM], RankBy::Words).is_err());
    // A long document: the rows of the highest estimates are computed.
    let many = vectors(300, DIM, 3);
    collection.add(rows(&vec!["long".to_owned(); 300], &vec!["long".to_owned(); 300], &many)).unwrap();
    let ranker = collection.document_ranker(|_| true).unwrap();
    for by in [RankBy::Words, RankBy::Hybrid, RankBy::BestSentence] {
        let best = ranker.rank(&collection, "long", &many[77], by).unwrap().best(1).unwrap()[0];
        assert!((best.position, best.cosine > 0.999) == (80, true), "{by:?} {best:?}");
    }
}

#[test]
fn a_collection_without_words_or_documents_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let params = CollectionParams::new(DIM).column("text");
    let collection = Collection::create(folder.path().join("a"), &params).unwrap();
    assert!(!collection.has_words() && collection.stemming().is_none() && collection.n_word_bytes() == 0);
    assert!(matches!(collection.ranker(|_| true), Err(Error::NoWords { what: "words", .. })));
    let collection = Collection::create(folder.path().join("b"), &params.clone().words("text")).unwrap();
    assert!(matches!(collection.document_ranker(|_| true), Err(Error::NoWords { what: "documents", .. })));
    for params in [params.clone().words("title"), params.clone().documents("text"), params.words("text").documents("x")]
    {
        assert!(Collection::create(folder.path().join("c"), &params).is_err());
    }
}

#[test]
fn an_open_reader_ranks_its_state_and_then_the_next() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = Collection::create(folder.path(), &params()).unwrap();
    let add = |writer: &mut Collection, text: &str| {
        writer.add(rows(&[text.to_owned()], &["x".to_owned()], &[vec![1.0; DIM]])).unwrap()
    };
    let first = add(&mut writer, "rain");
    let mut reader = Collection::open(folder.path()).unwrap();
    let before = reader.ranker(|_| true).unwrap();
    add(&mut writer, "late rain");
    writer.delete(&first).unwrap();
    writer.compact().unwrap();
    assert_eq!(before.word_scores(&reader, "rain").unwrap().len(), 1);
    assert!(!before.has_word_of(&reader, "late").unwrap());
    assert!(reader.refresh().unwrap());
    let after = reader.ranker(|_| true).unwrap();
    assert!(after.len() == 1 && after.has_word_of(&reader, "late").unwrap());
    assert!(before.has_word_of(&reader, "late").is_err());
}
