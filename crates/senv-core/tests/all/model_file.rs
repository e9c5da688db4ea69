//! Tests of model files that are part of the program, and of tensors that outlive their file. `senv-store` tests the
//! layout and the ways in which a file can be bad.
#![cfg(feature = "write")]

use senv_core::{Error, ModelFile, ModelWriter, Rows, Table, Vocabulary};

/// The bytes of a model file, which stay in memory as long as the program runs, `shift` bytes after a multiple of
/// eight.
fn in_memory(writer: ModelWriter<'_>, shift: usize) -> &'static [u8] {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    writer.save(&path).unwrap();
    let bytes = std::fs::read(path).unwrap();
    let words: &'static mut [u64] = vec![0_u64; bytes.len().div_ceil(8) + 1].leak();
    let place = &mut bytemuck::cast_slice_mut(words)[shift..][..bytes.len()];
    place.copy_from_slice(&bytes);
    place
}

#[test]
fn a_model_in_the_program_is_read_in_place_at_any_address() {
    let vocabulary = Vocabulary::from_counts([("a", 2), ("b c", 1)], 3).unwrap();
    let rows = Table::from_vec(2, 3, vec![1.0, -2.0, 3.0, 4.0, 5.0, -0.0]).unwrap();
    for shift in 0..8 {
        let writer = ModelWriter::new("k").vocabulary(&vocabulary).table("rows", &rows).f64s("x", &[0.1]);
        let model = ModelFile::from_bytes(in_memory(writer, shift)).unwrap();
        assert_eq!((model.kind(), model.path().to_str()), ("k", Some("<in memory>")));
        assert_eq!(model.vocabulary().unwrap().text(), "ab c");
        assert_eq!(model.f64s("x").unwrap(), [0.1]);
        let table = model.table("rows").unwrap();
        assert_eq!(table.is_mapped(), shift % 4 == 0);
        model.verify().unwrap();
        drop(model);
        assert_eq!(table.row(1), [4.0, 5.0, -0.0]);
    }
}

#[test]
fn errors_of_a_model_in_the_program_name_it_so() {
    let error = ModelFile::from_bytes(b"no model").unwrap_err();
    assert!(matches!(error, Error::BadTensors { .. }) && error.to_string().starts_with("<in memory>: bad"), "{error}");
    let bytes = in_memory(ModelWriter::new("k").bytes("b", b"xyz"), 0);
    let mut damaged = bytes.to_vec();
    *damaged.last_mut().unwrap() ^= 1;
    let model = ModelFile::from_bytes(damaged).unwrap();
    assert!(matches!(model.bytes("b"), Err(Error::Checksum { .. })));
    assert_eq!(ModelFile::from_bytes(bytes).unwrap().bytes("b").unwrap(), b"xyz");
}

#[test]
fn raw_tensors_of_any_type_outlive_their_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    ModelWriter::new("k").u32s("n", &[7, 1 << 24]).bytes("b", b"").save(&path).unwrap();
    let model = ModelFile::open(&path).unwrap();
    let (n, b) = (model.raw("n").unwrap(), model.raw("b").unwrap());
    assert!(matches!(model.raw("m"), Err(Error::MissingTensor { .. })));
    drop(model);
    assert_eq!(
        (n.dtype.as_str(), n.shape.as_slice(), &n.bytes[..]),
        ("U32", [2].as_slice(), &[7, 0, 0, 0, 0, 0, 0, 1][..])
    );
    assert_eq!((b.dtype.as_str(), b.shape.as_slice(), b.bytes.len()), ("U8", [0].as_slice(), 0));
    assert_eq!(n.bytes.slice(4..8)[..], [0, 0, 0, 1]);
}

/// Another program writes into the file in place, which senv never does; data read into memory must not change.
#[test]
fn a_model_read_into_memory_does_not_follow_its_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    let rows = Table::from_vec(2, 2, vec![1.0, 2.0, 3.0, 4.0]).unwrap();
    ModelWriter::new("k").table("rows", &rows).save(&path).unwrap();
    let table = ModelFile::read(&path).unwrap().table("rows").unwrap();
    std::fs::File::options().write(true).open(&path).unwrap().set_len(1).unwrap();
    assert_eq!(table.row(1), [3.0, 4.0]);
    assert!(matches!(ModelFile::read(&path), Err(Error::BadTensors { .. })));
    assert!(matches!(ModelFile::read(folder.path()), Err(Error::Io { .. })));
}

/// Every float type with each kind of bad value; large enough for several pieces, each on its own thread.
#[test]
fn values_that_are_no_numbers_are_found_with_their_row_and_word() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    let vocabulary = Vocabulary::from_counts([("a", 2), ("b", 1)], 3).unwrap();
    let found = |writer: ModelWriter<'_>| {
        writer.save(&path).unwrap();
        match ModelFile::open(&path).unwrap().verify() {
            Err(Error::NonFinite { name, row, word, found, .. }) => Some((name, row, word, found)),
            Err(error) => panic!("{error}"),
            Ok(_) => None,
        }
    };
    let dim = 1 << 17;
    for (value, what) in [(f32::NAN, "NaN"), (-f32::NAN, "NaN"), (f32::NEG_INFINITY, "an infinite value")] {
        for (place, row, word) in [(0, 0, Some("a")), (dim + 5, 1, Some("b")), (6 * dim - 1, 5, None)] {
            let mut rows = Table::from_vec(6, dim, vec![f32::MAX; 6 * dim]).unwrap();
            rows.values_mut()[place] = value;
            let of_tokens = found(ModelWriter::new("k").vocabulary(&vocabulary).table("rows", &rows));
            assert_eq!(of_tokens, Some(("rows".into(), row, word.map(str::to_owned), what)));
            let of_others = found(ModelWriter::new("k").vocabulary(&vocabulary).table("output.w", &rows));
            assert_eq!(of_others, Some(("output.w".into(), row, None, what)));
        }
    }
    let weights = found(ModelWriter::new("k").vocabulary(&vocabulary).f32s("word_weights", &[1.0, f32::INFINITY]));
    assert_eq!(weights, Some(("word_weights".into(), 1, Some("b".into()), "an infinite value")));
    assert_eq!(found(ModelWriter::new("k").f64s("x", &[0.0, f64::NAN])), Some(("x".into(), 1, None, "NaN")));
    let mut halves =
        senv_core::files::RawTensor { dtype: "F16".into(), shape: vec![2], bytes: vec![0, 0x7b, 1, 0x7c].into() };
    assert_eq!(found(ModelWriter::new("k").raw("h", &halves)), Some(("h".into(), 1, None, "NaN")));
    halves.bytes = vec![0, 0x7b, 0, 0xfc].into();
    assert_eq!(found(ModelWriter::new("k").raw("h", &halves)), Some(("h".into(), 1, None, "an infinite value")));
    assert_eq!(
        found(ModelWriter::new("k").u32s("n", &[u32::MAX]).f64s("x", &[f64::MAX]).bytes("b", b"\xff\xff")),
        None
    );
    let verified = ModelFile::open(&path).unwrap().verify().unwrap();
    assert_eq!(verified, senv_core::files::Verification { tensors: 3, checksums: 3 });
}
