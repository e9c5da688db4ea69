//! Functions of constants and of vectors, plans, and the table function.

use std::sync::Arc;

use datafusion::arrow::{
    array::{Array, ArrayRef, AsArray, FixedSizeListArray, ListArray},
    datatypes::{Float32Type, Float64Type, UInt64Type},
};
use senv::SentenceCollection;
use senv_datafusion::{Models, NamedModel, register};

use crate::support::{column, error, rows, session, session_with, vectors};

#[tokio::test]
async fn constants_give_what_senv_gives() {
    let (english, context) = (senv::english().unwrap(), session());
    let found = rows(
        &context,
        "SELECT embed('The train is late.'), similarity('Rain is coming.', 'A storm brings rain.'), embed(NULL), similarity('a', NULL),
                coverage('zxqv rain'), tokens('Rain!')",
    )
    .await
    .unwrap();
    assert_eq!(vectors(found.column(0)), [Some(english.encode_one("The train is late.").to_vec())]);
    let cosine = english.similarity("Rain is coming.", "A storm brings rain.");
    assert_eq!(found.column(1).as_primitive::<Float32Type>().value(0), cosine);
    assert!(found.column(2).is_null(0) && found.column(3).is_null(0));
    assert_eq!(found.column(4).as_primitive::<Float32Type>().value(0), 0.5);
    assert_eq!(found.column(5).as_list::<i32>().value(0).len(), 2);
}

#[tokio::test]
async fn a_plan_carries_the_digest_of_its_model() {
    let context = session();
    let plan = context.sql("SELECT embed(text) FROM (VALUES ('a'), ('b')) AS t(text)").await.unwrap();
    let plan = plan.into_optimized_plan().unwrap().display_indent().to_string();
    let NamedModel { name, digest, .. } = Models::english().unwrap().all()[0].clone();
    assert!(plan.contains(&format!("{name}@{digest}")), "{plan}");
}

#[tokio::test]
async fn a_query_for_another_model_is_refused() {
    let message = error(&session(), "SELECT embed('a', 'english@0123456789abcdef')").await;
    let parts = ["embed: argument model", "the query needs english@0123456789abcdef", "has digest"];
    assert!(parts.iter().all(|part| message.contains(part)), "{message}");
}

#[tokio::test]
async fn a_folder_has_models_by_name_and_by_digest() {
    let folder = tempfile::tempdir().unwrap();
    let english = senv::english().unwrap().without_order().unwrap();
    english.save(folder.path().join("plain.senv")).unwrap();
    std::fs::write(folder.path().join("README.md"), "no model").unwrap();
    let models = Models::open(folder.path()).unwrap();
    let context = datafusion::prelude::SessionContext::new();
    register(&context, &models).unwrap();
    let digest = senv::model::model_digest(folder.path().join("plain.senv")).unwrap();
    for name in ["plain", &digest[..10]] {
        let found = column(&context, &format!("SELECT embed('The train is late.', '{name}')")).await.unwrap();
        assert_eq!(vectors(&found), [Some(english.encode_one("The train is late.").to_vec())]);
    }
    // Without a name, the built-in English model is used.
    let found = column(&context, "SELECT embed('The train is late.')").await.unwrap();
    assert_ne!(vectors(&found)[0].as_ref().unwrap().len(), english.dim());
}

/// Vectors of three values in several types of list.
fn lists() -> Vec<(&'static str, ArrayRef)> {
    let v = [Some([1.0, 2.0, 3.0]), Some([0.0; 3]), None, Some([1e-3, -4.0, 0.5])];
    let w = [Some([1.0, 2.5, -3.0]), Some([1.0; 3]), Some([1.0; 3]), Some([2e-3, 4.0, 0.5])];
    let values = |of: [Option<[f64; 3]>; 4]| of.map(|vector| vector.map(|vector| vector.map(|x| Some(x as f32))));
    let wide = |of: [Option<[f64; 3]>; 4]| of.map(|vector| vector.map(|vector| vector.map(Some)));
    let fixed = |of| Arc::new(FixedSizeListArray::from_iter_primitive::<Float32Type, _, _>(values(of), 3)) as ArrayRef;
    let list = |of| Arc::new(ListArray::from_iter_primitive::<Float64Type, _, _>(wide(of))) as ArrayRef;
    vec![("v", fixed(v)), ("w", fixed(w)), ("v_list", list(v)), ("w_list", list(w))]
}

#[tokio::test]
async fn cosine_agrees_with_the_cosine_distance_of_datafusion() {
    let context = session_with(lists());
    for (v, w) in [
        ("v", "w"),
        ("v_list", "w_list"),
        ("v", "w_list"),
        ("v", "[1, 2.5, -3]"),
        ("arrow_cast([1, 2, 3], 'LargeList(Float64)')", "w"),
    ] {
        let found =
            rows(&context, &format!("SELECT cosine({v}, {w}), 1 - cosine_distance({v}, {w}) FROM t")).await.unwrap();
        let (cosine, expected) =
            (found.column(0).as_primitive::<Float32Type>(), found.column(1).as_primitive::<Float64Type>());
        for row in 0..4 {
            assert_eq!(cosine.is_null(row), expected.is_null(row), "{v} {w} {row}");
            if cosine.is_valid(row) {
                // Products of three values are rounded to 24 bits.
                assert!((f64::from(cosine.value(row)) - expected.value(row)).abs() < 3e-7, "{v} {w} {row}");
            }
        }
    }
}

#[tokio::test]
async fn cosine_of_embeddings_agrees_on_real_vectors() {
    let texts: datafusion::arrow::array::StringArray = crate::support::sentences(500).into_iter().map(Some).collect();
    let context = session_with(vec![("text", Arc::new(texts))]);
    let query = "SELECT max(abs(cosine(v, w) - (1 - cosine_distance(v, w)))), count(cosine(v, w))
                 FROM (SELECT embed(text) AS v, embed(concat('No ', text)) AS w FROM t)";
    let found = rows(&context, query).await.unwrap();
    let difference = found.column(0).as_primitive::<Float64Type>().value(0);
    assert!(difference < 1e-6, "{difference}");
    assert_eq!(found.column(1).as_primitive::<datafusion::arrow::datatypes::Int64Type>().value(0), 500);
}

#[tokio::test]
async fn vectors_that_do_not_fit_are_errors() {
    let context = session_with(lists());
    for (query, parts) in [
        (
            "SELECT cosine(v, arrow_cast([1, 2], 'FixedSizeList(2, Float32)')) FROM t",
            ["cosine: argument w", "2 values"],
        ),
        ("SELECT cosine(v, [1.0, 2.0]) FROM t", ["cosine: argument w", "2 values"]),
        ("SELECT cosine(v, 'text') FROM t", ["cosine: argument w", "list of numbers"]),
        ("SELECT cosine(v) FROM t", ["cosine: argument list", "1 arguments"]),
        ("SELECT cell(v, 'none') FROM t", ["cell: argument centroids", "no centroids"]),
        ("SELECT near_pairs('a', v, 0.9) FROM t", ["near_pairs: argument id", "integer"]),
        ("SELECT near_pairs(1, v, 2.0) FROM t", ["near_pairs: argument threshold", "from -1 to 1"]),
    ] {
        let message = error(&context, query).await;
        assert!(parts.iter().all(|part| message.contains(part)), "{query}: {message}");
    }
}

#[tokio::test]
async fn nearest_is_a_table_of_the_hits_of_a_collection() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("my.index");
    let mut collection = SentenceCollection::create(&path, "english").unwrap();
    collection.add(&crate::support::sentences(300)).unwrap();
    let hits = collection.search("the doctor hears music", 5).unwrap();
    let (context, path) = (session(), path.display());
    let query =
        format!("SELECT id, cosine, text FROM nearest('{path}', 'the doctor hears music', 5) ORDER BY cosine DESC, id");
    let found = rows(&context, &query).await.unwrap();
    assert_eq!(found.num_rows(), hits.len());
    for (row, hit) in hits.iter().enumerate() {
        assert_eq!(found.column(1).as_primitive::<Float32Type>().value(row), hit.cosine);
        assert!(hits.iter().any(|hit| hit.id == found.column(0).as_primitive::<UInt64Type>().value(row)));
    }
    let query = format!("SELECT count(*) FROM nearest('{path}', '', 5) WHERE cosine > 0");
    let none = column(&context, &query).await.unwrap();
    assert_eq!(none.as_primitive::<datafusion::arrow::datatypes::Int64Type>().value(0), 0);
    for (query, part) in [
        ("SELECT * FROM nearest('/absent', 'a', 5)", "nearest: argument index"),
        ("SELECT * FROM nearest('/absent', 'a', -5)", "nearest: argument k"),
        ("SELECT * FROM nearest('/absent', 'a')", "nearest: argument list"),
        ("SELECT * FROM nearest('/absent', 3, 5)", "nearest: argument text"),
    ] {
        let message = error(&context, query).await;
        assert!(message.contains(part), "{query}: {message}");
    }
}
