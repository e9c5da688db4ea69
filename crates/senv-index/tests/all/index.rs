//! Searching an index in memory.

use crate::common::{exact, recall, table, vectors};
use senv_core::kernels;
use senv_index::{CellCount, Error, IndexParams, Neighbour, Rescoring, Search, VectorIndex};

fn params(rescoring: Rescoring, cells: u32) -> IndexParams {
    IndexParams { rescoring, cells: CellCount::Exactly(cells), ..Default::default() }
}

fn batch(index: &VectorIndex, queries: &[Vec<f32>], search: &Search<'_>) -> Vec<Vec<Neighbour>> {
    let queries: Vec<&[f32]> = queries.iter().map(Vec::as_slice).collect();
    index.search_batch(&queries, search).unwrap()
}

fn singly(index: &VectorIndex, queries: &[Vec<f32>], search: &Search<'_>) -> Vec<Vec<Neighbour>> {
    queries.iter().map(|query| index.search(query, search).unwrap()).collect()
}

#[test]
fn the_wanted_recall_is_reached_and_cosines_are_exact() {
    for (dim, cells) in [(96, 0), (96, 40), (300, 0)] {
        let rows = vectors(4000, dim, 1);
        let queries = vectors(100, dim, 2);
        let truth: Vec<Vec<usize>> = queries.iter().map(|query| exact(&rows, query, 10, |_| true)).collect();
        for rescoring in [Rescoring::F32, Rescoring::F16] {
            let index = VectorIndex::build(table(&rows, dim), &params(rescoring, cells)).unwrap();
            assert_eq!((index.len(), index.dim(), index.n_cells()), (4000, dim, cells as usize));
            for wanted in [0.9, 0.99] {
                // So many queries have cells in common, and find what each finds alone.
                let search = Search::new(10).recall(wanted);
                assert_eq!(batch(&index, &queries, &search), singly(&index, &queries, &search));
                for found in [
                    batch(&index, &queries, &Search::new(10).recall(wanted)),
                    singly(&index, &queries, &Search::new(10).recall(wanted)),
                ] {
                    let reached = recall(&found, &truth);
                    // A hundred queries are a sample, as the rows are that it was measured on.
                    assert!(
                        reached > f64::from(wanted) - 0.02,
                        "{dim}, {cells} cells, {rescoring:?}: {reached} of {wanted}"
                    );
                    for (query, found) in queries.iter().zip(&found) {
                        for near in found {
                            let cosine = kernels::cosine(query, &rows[near.row]);
                            let tolerance = if rescoring == Rescoring::F32 { 2e-6 } else { 1e-3 };
                            assert!((near.cosine - cosine).abs() < tolerance, "{} {cosine}", near.cosine);
                        }
                        assert!(found.windows(2).all(|pair| pair[0].cosine >= pair[1].cosine));
                    }
                }
            }
        }
    }
}

#[test]
fn a_recall_of_one_is_the_exact_search() {
    let (rows, queries) = (vectors(3000, 64, 3), vectors(20, 64, 4));
    let index = VectorIndex::build(table(&rows, 64), &params(Rescoring::F32, 20)).unwrap();
    for (query, found) in queries.iter().zip(batch(&index, &queries, &Search::new(25).recall(1.0))) {
        let found: Vec<usize> = found.iter().map(|near| near.row).collect();
        assert_eq!(found, exact(&rows, query, 25, |_| true));
    }
}

#[test]
fn int8_rows_and_codes_alone_come_near() {
    let (rows, queries) = (vectors(3000, 128, 3), vectors(50, 128, 4));
    let truth: Vec<Vec<usize>> = queries.iter().map(|query| exact(&rows, query, 10, |_| true)).collect();
    for (rescoring, least, tolerance) in [(Rescoring::Int8, 0.97, 4e-3), (Rescoring::None, 0.85, 0.05)] {
        for cells in [0, 20] {
            let index = VectorIndex::build(table(&rows, 128), &params(rescoring, cells)).unwrap();
            let found = batch(&index, &queries, &Search::new(10).candidates(4.0));
            let reached = recall(&found, &truth);
            assert!(reached > least, "{rescoring:?}: {reached}");
            for (query, found) in queries.iter().zip(&found) {
                for near in found {
                    assert!((near.cosine - kernels::cosine(query, &rows[near.row])).abs() < tolerance);
                }
            }
            assert_eq!(index.row(7).unwrap().is_some(), rescoring == Rescoring::Int8);
        }
    }
}

#[test]
fn results_are_the_same_at_any_number_of_threads() {
    let (rows, queries) = (vectors(5000, 100, 5), vectors(30, 100, 6));
    for cells in [0, 32] {
        let found = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let index = VectorIndex::build(table(&rows, 100), &params(Rescoring::F32, cells)).unwrap();
                let search = Search::new(10).recall(0.9);
                (index.recall().clone(), batch(&index, &queries, &search), singly(&index, &queries, &search))
            })
        };
        let one = found(1);
        for threads in [2, 3, 8] {
            assert!(found(threads) == one, "{threads} threads, {cells} cells");
        }
    }
}

#[test]
fn a_filter_keeps_the_recall_however_few_rows_it_leaves() {
    let (rows, queries) = (vectors(6000, 96, 7), vectors(40, 96, 8));
    for cells in [0, 50] {
        let index = VectorIndex::build(table(&rows, 96), &params(Rescoring::F32, cells)).unwrap();
        for modulus in [2, 100, 2000, 7000] {
            let keep = |_: usize, row: usize| row % modulus == 1;
            let truth: Vec<Vec<usize>> =
                queries.iter().map(|query| exact(&rows, query, 10, |row| row % modulus == 1)).collect();
            let search = Search::new(10).keep(&keep);
            for found in [batch(&index, &queries, &search), singly(&index, &queries, &search)] {
                assert!(found.iter().flatten().all(|near| near.row % modulus == 1));
                let reached = recall(&found, &truth);
                assert!(reached > 0.98, "every {modulus}th, {cells} cells: {reached}");
            }
        }
        // The filter hears which query it is.
        let keep = |query: usize, row: usize| row % 40 == query;
        let found = batch(&index, &queries, &Search::new(3).keep(&keep));
        assert!(
            found.iter().enumerate().all(|(q, found)| found.len() == 3 && found.iter().all(|near| near.row % 40 == q))
        );
    }
}

#[test]
fn equal_rows_come_by_ascending_row_and_zero_rows_never() {
    let mut rows = vec![vec![1.0, 2.0, -1.0]; 3000];
    (rows[0], rows[17]) = (vec![0.0; 3], vec![0.0; 3]);
    rows[2999] = vec![-1.0, -2.0, 1.0];
    for (rescoring, cells) in
        [(Rescoring::F32, 0), (Rescoring::F32, 10), (Rescoring::Int8, 0), (Rescoring::F16, 4), (Rescoring::None, 0)]
    {
        let index = VectorIndex::build(table(&rows, 3), &params(rescoring, cells)).unwrap();
        for search in [Search::new(20), Search::new(20).candidates(1.0)] {
            let found = index.search(&[1.0, 2.0, -1.0], &search).unwrap();
            let order: Vec<usize> = found.iter().map(|near| near.row).collect();
            assert_eq!(order, [(1..17).collect(), vec![18, 19, 20, 21]].concat(), "{rescoring:?}, {cells} cells");
            assert!(found.iter().all(|near| (near.cosine - 1.0).abs() < 0.05));
        }
        // All but the zero rows, the opposite one last.
        let all = index.search(&[1.0, 2.0, -1.0], &Search::new(5000).candidates(1.0)).unwrap();
        assert_eq!((all.len(), all[2997].row), (2998, 2999));
        assert!(index.search(&[0.0; 3], &search_all()).unwrap().is_empty());
    }
}

fn search_all() -> Search<'static> {
    Search::new(5000)
}

#[test]
fn indices_of_no_row_and_of_one_row_are_searched() {
    for rescoring in [Rescoring::F32, Rescoring::F16, Rescoring::Int8, Rescoring::None] {
        let empty = VectorIndex::build(table(&[], 4), &params(rescoring, 5)).unwrap();
        assert!(empty.is_empty() && empty.search(&[1.0; 4], &Search::new(3)).unwrap().is_empty());
        let one = VectorIndex::build(table(&[vec![1.0, 0.0, 0.0, 1.0]], 4), &params(rescoring, 5)).unwrap();
        let found = one.search(&[1.0, 0.0, 0.0, 0.9], &Search::new(3)).unwrap();
        assert_eq!((found.len(), found[0].row), (1, 0));
        assert!(one.search(&[1.0; 4], &Search::new(0)).unwrap().is_empty());
        assert!(one.search_batch(&[], &Search::new(1)).unwrap().is_empty());
        let pair = one.search_batch(&[&[0.0; 4], &[1.0; 4]], &Search::new(1)).unwrap();
        assert_eq!((pair[0].len(), pair[1].len()), (0, 1));
    }
}

#[test]
fn what_is_no_number_is_refused() {
    let mut rows = vectors(50, 8, 1);
    rows[31][3] = f32::NAN;
    rows[40][0] = f32::INFINITY;
    let error = VectorIndex::build(table(&rows, 8), &IndexParams::default()).unwrap_err();
    assert!(matches!(error, Error::NonFinite { row: 31 }), "{error}");
    let index = VectorIndex::build(table(&rows[..20], 8), &IndexParams::default()).unwrap();
    let mut query = [1.0; 8];
    query[2] = f32::NAN;
    let error = index.search(&query, &Search::new(1)).unwrap_err();
    assert!(matches!(error, Error::Core(senv_core::Error::InvalidParameter { name: "query", .. })), "{error}");
    let error = index.search(&[1.0; 7], &Search::new(1)).unwrap_err();
    assert!(matches!(error, Error::Core(senv_core::Error::ShapeMismatch { expected: 8, got: 7, .. })), "{error}");
    let error = index.search(&[1.0; 8], &Search::new(1).recall(0.0)).unwrap_err();
    assert!(matches!(error, Error::Core(senv_core::Error::InvalidParameter { name: "recall", .. })), "{error}");
    let error = VectorIndex::build(table(&[], 0), &IndexParams::default()).unwrap_err();
    assert!(matches!(error, Error::TooManyRows { dim: 0, .. }), "{error}");
}

#[test]
fn blocks_of_dimensions_of_different_weight_are_rotated_by_themselves() {
    // The second block is a tenth of the first in length.
    let rows: Vec<Vec<f32>> = vectors(3000, 100, 9)
        .into_iter()
        .map(|row| row.iter().enumerate().map(|(j, x)| if j < 64 { *x } else { x * 0.1 }).collect())
        .collect();
    let params = IndexParams { blocks: vec![64, 36], ..params(Rescoring::None, 0) };
    let index = VectorIndex::build(table(&rows, 100), &params).unwrap();
    assert_eq!(index.params().blocks, [64, 36]);
    let queries = &rows[..30];
    let truth: Vec<Vec<usize>> = queries.iter().map(|query| exact(&rows, query, 10, |_| true)).collect();
    let reached = recall(&batch(&index, queries, &Search::new(10).candidates(1.0)), &truth);
    assert!(reached > 0.8, "{reached}");
}
