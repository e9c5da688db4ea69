//! An index in a file.

mod common;

use std::fs;

use common::{table, vectors};
use senv_index::{CellCount, Error, IndexParams, Rescoring, Search, VectorIndex};

fn example(rescoring: Rescoring, cells: u32, n: usize) -> VectorIndex {
    let params =
        IndexParams { rescoring, cells: CellCount::Exactly(cells), seed: 5, blocks: vec![20, 13], recall_queries: 16 };
    VectorIndex::build(table(&vectors(n, 33, 1), 33), &params).unwrap()
}

#[test]
fn a_file_gives_the_results_of_the_index_that_was_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows.index");
    let queries = vectors(20, 33, 2);
    let queries: Vec<&[f32]> = queries.iter().map(Vec::as_slice).collect();
    for rescoring in [Rescoring::F32, Rescoring::F16, Rescoring::Int8, Rescoring::None] {
        for (cells, n) in [(0, 2500), (30, 2500), (0, 1), (0, 0)] {
            let index = example(rescoring, cells, n);
            index.save(&path).unwrap();
            let opened = VectorIndex::open(&path).unwrap();
            opened.verify().unwrap();
            assert_eq!(
                (opened.params(), opened.recall(), opened.n_cells()),
                (index.params(), index.recall(), index.n_cells())
            );
            for search in [
                Search::new(10),
                Search::new(7).recall(0.8),
                Search::new(3).candidates(2.0).cells(4),
                Search::new(4).recall(1.0),
            ] {
                assert_eq!(
                    opened.search_batch(&queries, &search).unwrap(),
                    index.search_batch(&queries, &search).unwrap()
                );
                assert_eq!(opened.search(queries[0], &search).unwrap(), index.search(queries[0], &search).unwrap());
            }
            for row in [0, n / 2, n] {
                assert_eq!(opened.row(row).unwrap(), index.row(row).unwrap());
            }
        }
    }
}

#[test]
fn every_changed_byte_and_every_cut_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let (path, copy) = (folder.path().join("rows.index"), folder.path().join("copy.index"));
    for (rescoring, cells, n) in [(Rescoring::F32, 2, 40), (Rescoring::Int8, 0, 20), (Rescoring::None, 0, 20)] {
        example(rescoring, cells, n).save(&path).unwrap();
        let bytes = fs::read(&path).unwrap();
        let check = |bytes: &[u8], what: String| {
            // A new file each time: an old one may still be mapped.
            let _ = fs::remove_file(&copy);
            fs::write(&copy, bytes).unwrap();
            let result = VectorIndex::open(&copy).and_then(|index| {
                // A search may or may not see the damage, but it must not panic.
                let _ = index.search(&[1.0; 33], &Search::new(5).candidates(9.0));
                let _ = index.search(&[1.0; 33], &Search::new(5).recall(1.0));
                index.verify()
            });
            assert!(result.is_err(), "{what}");
        };
        for i in (0..bytes.len()).step_by(if n == 40 { 1 } else { 7 }) {
            let mut changed = bytes.clone();
            changed[i] ^= 0x81;
            check(&changed, format!("{rescoring:?}: byte {i} of {}", bytes.len()));
        }
        for end in (0..bytes.len()).step_by(13) {
            check(&bytes[..end], format!("{rescoring:?}: cut at {end}"));
        }
    }
}

#[test]
fn a_search_names_the_block_that_is_damaged() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows.index");
    example(Rescoring::F32, 0, 3000).save(&path).unwrap();
    let mut bytes = fs::read(&path).unwrap();
    // Codes are U8, the last of the tensors.
    let at = bytes.len() - 100;
    bytes[at] ^= 1;
    fs::write(&path, &bytes).unwrap();
    let index = VectorIndex::open(&path).unwrap();
    let error = index.search(&[1.0; 33], &Search::new(5).candidates(2.0)).unwrap_err();
    assert!(matches!(&error, Error::Damaged { what, .. } if what.contains("tensor \"codes\"")), "{error}");
    assert!(index.verify().is_err());
    // What is not looked at is not in the way.
    assert_eq!(index.search(&[1.0; 33], &Search::new(5).recall(1.0)).unwrap().len(), 5);
}

#[test]
fn a_file_of_another_kind_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    senv_core::ModelWriter::new("embeddings").save(&path).unwrap();
    assert!(matches!(VectorIndex::open(&path), Err(Error::Core(senv_core::Error::WrongKind { .. }))));
    let error = VectorIndex::open(folder.path().join("none")).unwrap_err();
    assert!(matches!(error, Error::Core(senv_core::Error::Io { .. })), "{error}");
}
