//! Compares near-duplicates found by cells with the exact join.

use std::{collections::HashSet, sync::Arc};

use datafusion::{
    arrow::{
        array::{Array, AsArray, Int64Array, RecordBatch, StringArray},
        datatypes::{Float32Type, Int64Type},
    },
    datasource::MemTable,
    prelude::SessionContext,
};
use senv_datafusion::{Centroids, Models, register};

use crate::{
    processes::{failure, stdout},
    support::{rows, sentences, write_parquet},
};

/// All pairs, each once. Every row is in its two nearest cells, and pairs found in both common cells are merged.
const PAIRS: &str = "
    SELECT pair['first'], pair['second'], max(pair['cosine'])
    FROM (SELECT unnest(near_pairs(id, v, 0.9)) AS pair
          FROM (SELECT id, v, unnest(cells(v, 'cells', 2)) AS cell FROM (SELECT id, embed(text) AS v FROM t))
          GROUP BY cell)
    GROUP BY 1, 2";
const EXACT: &str = "
    SELECT pair['first'], pair['second'], pair['cosine']
    FROM (SELECT unnest(near_pairs(id, v, 0.9)) AS pair FROM (SELECT id, embed(text) AS v FROM t))";

fn pairs(rows: &RecordBatch) -> HashSet<(i64, i64, u32)> {
    let id = |column: usize| rows.column(column).as_primitive::<Int64Type>().values();
    let cosine = rows.column(2).as_primitive::<Float32Type>();
    assert_eq!(cosine.null_count(), 0);
    id(0).iter().zip(id(1)).zip(cosine.values()).map(|((&a, &b), cosine)| (a, b, cosine.to_bits())).collect()
}

#[tokio::test]
async fn pairs_of_cells_are_nearly_all_pairs_of_the_exact_join() {
    // Removes the number at the end, which makes each sentence unique.
    let texts = sentences(2000).into_iter().map(|text| text.rsplit_once(' ').unwrap().0.to_owned());
    let texts: Vec<String> = texts.collect();
    let english = senv::english().unwrap();
    let vectors = english.encode(&texts).unwrap();
    let centroids = Centroids::train("cells", english.dim(), vectors.into_raw_vec_and_offset().0, 12, 1).unwrap();
    let models = Models::english().unwrap().with_centroids(centroids).unwrap();
    let context = SessionContext::new();
    register(&context, &models).unwrap();
    // Two partitions, so that groups are built in parts and merged.
    let part = |range: std::ops::Range<usize>| {
        let ids: Int64Array = range.clone().map(|id| id as i64).collect();
        let texts: StringArray = texts[range].iter().map(Some).collect();
        RecordBatch::try_from_iter([("id", Arc::new(ids) as Arc<dyn Array>), ("text", Arc::new(texts))]).unwrap()
    };
    let parts = vec![vec![part(0..700)], vec![part(700..1300), part(1300..2000)]];
    context.register_table("t", Arc::new(MemTable::try_new(parts[0][0].schema(), parts).unwrap())).unwrap();
    let found = pairs(&rows(&context, PAIRS).await.unwrap());
    let exact = pairs(&rows(&context, EXACT).await.unwrap());
    assert!(exact.len() > 1000 && exact.iter().all(|&(a, b, _)| a < b), "{}", exact.len());
    assert!(found.is_subset(&exact));
    assert!(found.len() * 100 >= exact.len() * 98, "{} of {}", found.len(), exact.len());
}

#[test]
fn centroids_do_not_depend_on_the_order_of_the_rows() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    let texts = sentences(500);
    let texts: Vec<_> = texts.iter().map(|text| Some(text.as_str())).collect();
    write_parquet(&folder.path().join("t.parquet"), 0, &texts, 100);
    let table = format!("t={}", path("t.parquet"));
    let output = path("c.centroids");
    let made = |order: &str| {
        let query = format!("SELECT embed(text) FROM t ORDER BY {order}");
        stdout(&["centroids", &query, "--table", &table, "--cells", "7", "--output", &output, "--force"]);
        std::fs::read(&output).unwrap()
    };
    assert_eq!(made("id"), made("id DESC"));
    let query = "SELECT embed(text) FROM t";
    let message = failure(&["centroids", query, "--table", &table, "--cells", "7", "--output", &output]);
    assert!(message.contains("use --force to overwrite it"), "{message}");
}
