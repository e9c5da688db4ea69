//! An index in a file.

use std::fs;

use crate::common::{table, vectors};
use senv_core::{ModelFile, ModelWriter, files::RawTensor};
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
    assert!(matches!(&error, Error::Damaged { what, .. } if what.contains("tensor \"codes.top\"")), "{error}");
    assert!(index.verify().is_err());
    // What is not looked at is not in the way.
    assert_eq!(index.search(&[1.0; 33], &Search::new(5).recall(1.0)).unwrap().len(), 5);
}

#[test]
fn a_file_of_another_version_is_refused_with_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows.index");
    let open_with = |from: &str, to: &str| {
        example(Rescoring::F32, 0, 100).save(&path).unwrap();
        let change = |config: String| {
            assert!(config.contains(from), "{config}");
            config.replacen(from, to, 1)
        };
        forge(&path, &change, &|_, _| {});
        VectorIndex::open(&path).unwrap_err()
    };
    // The first version did not say which it was.
    for to in ["\"version\":1,", ""] {
        let error = open_with("\"version\":2,", to);
        assert!(matches!(error, Error::OldVersion { found: 1, supported: 2, .. }), "{error}");
        assert!(error.to_string().contains("rebuild the index"), "{error}");
    }
    let error = open_with("\"version\":2,", "\"version\":3,");
    assert!(matches!(error, Error::Core(senv_core::Error::NewerVersion { .. })), "{error}");
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

/// Rewrites the tensors of a file, some of them changed, with valid checksums.
fn forge(path: &std::path::Path, config: &dyn Fn(String) -> String, change: &dyn Fn(&str, &mut RawTensor)) {
    let file = ModelFile::open(path).unwrap();
    let names: Vec<String> = file.tensors().map(|(name, ..)| name.to_owned()).collect();
    let mut tensors: Vec<(String, RawTensor)> = Vec::new();
    for name in names.iter().filter(|name| !name.starts_with("checks.")) {
        let mut tensor = file.raw(name).unwrap();
        change(name, &mut tensor);
        if names.contains(&format!("checks.{name}")) {
            let row = (tensor.bytes.len() / tensor.shape[0].max(1)).max(1);
            let sums = tensor.bytes.chunks((65_536 / row).max(1) * row).map(crc32fast::hash);
            let bytes: Vec<u8> = sums.flat_map(u32::to_le_bytes).collect();
            let sums = RawTensor { dtype: "U32".into(), shape: vec![bytes.len() / 4], bytes: bytes.into() };
            tensors.push((format!("checks.{name}"), sums));
        }
        tensors.push((name.clone(), tensor));
    }
    let config = config(file.config().unwrap().to_owned());
    let writer = tensors
        .iter()
        .fold(ModelWriter::new("index").config(&config), |writer, (name, tensor)| writer.raw(name, tensor));
    writer.save(path).unwrap();
}

#[test]
fn a_file_that_fits_its_checksums_but_not_itself_is_an_error_and_no_panic() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows.index");
    let same = |config: String| config;
    let verify = || {
        VectorIndex::open(&path).and_then(|index| {
            for search in
                [Search::new(50).candidates(3.0), Search::new(50).candidates(3.0).cells(2), Search::new(5).recall(1.0)]
            {
                let _ = index.search(&[1.0; 33], &search);
            }
            index.verify()
        })
    };
    let write = || example(Rescoring::Int8, 3, 100).save(&path).unwrap();
    write();
    forge(&path, &same, &|_, _| {});
    verify().unwrap();
    let bytes = |tensor: &mut RawTensor, at: usize, new: &[u8]| {
        let mut bytes = tensor.bytes.to_vec();
        bytes[at..at + new.len()].copy_from_slice(new);
        tensor.bytes = bytes.into();
    };
    type Change<'a> = (&'a str, &'a dyn Fn(&mut RawTensor));
    let changes: [Change<'_>; 8] = [
        ("cells.rows", &|tensor| bytes(tensor, 0, &100_u32.to_le_bytes())),
        ("cells.rows", &|tensor| bytes(tensor, 20, &u32::MAX.to_le_bytes())),
        ("cells.starts", &|tensor| bytes(tensor, 4, &u32::MAX.to_le_bytes())),
        ("code_factors", &|tensor| bytes(tensor, 8, &0x7fc0_u16.to_le_bytes())),
        ("code_factors.top", &|tensor| bytes(tensor, 8, &0x7f80_u16.to_le_bytes())),
        ("code_factors", &|tensor| {
            tensor.shape = vec![99];
            tensor.bytes = tensor.bytes.slice(0..99 * 2);
        }),
        ("codes.top", &|tensor| tensor.shape.reverse()),
        ("codes.low", &|tensor| tensor.shape.reverse()),
    ];
    for (number, (changed, change)) in changes.into_iter().enumerate() {
        write();
        forge(&path, &same, &|name, tensor| {
            if name == changed {
                change(tensor)
            }
        });
        assert!(verify().is_err(), "change {number}");
    }
    for (from, to) in [
        ("\"rows\":100", "\"rows\":1000000000000000000"),
        ("\"rows\":100", "\"rows\":101"),
        ("\"dim\":33", "\"dim\":34"),
        ("\"dim\":33", "\"dim\":0"),
        ("\"n_cells\":3", "\"n_cells\":0"),
        ("\"n_cells\":3", "\"n_cells\":1000000000000000000"),
        ("[20,13]", "[20,14]"),
        ("\"shares\":[", "\"shares\":[1.0,"),
        ("\"int8\"", "\"f32\""),
        ("{", "["),
    ] {
        write();
        forge(
            &path,
            &|config| {
                assert!(config.contains(from), "{config}");
                config.replacen(from, to, 1)
            },
            &|_, _| {},
        );
        assert!(verify().is_err(), "{from} to {to}");
    }
}
