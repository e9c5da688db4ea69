//! Model files that are part of the program, and tensors that outlive their file. The layout and the ways in which a file
//! can be bad are tested in `senv-store`.
#![cfg(feature = "write")]

use senv_core::{Error, ModelFile, ModelWriter, Rows, Table, Vocabulary};

/// The bytes of a model file, which live as long as the program, `shift` bytes behind a multiple of eight.
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
        let model = ModelFile::from_static(in_memory(writer, shift)).unwrap();
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
    let error = ModelFile::from_static(b"no model").unwrap_err();
    assert!(matches!(error, Error::BadTensors { .. }) && error.to_string().starts_with("<in memory>: bad"), "{error}");
    let bytes = in_memory(ModelWriter::new("k").bytes("b", b"xyz"), 0);
    let mut damaged = bytes.to_vec();
    *damaged.last_mut().unwrap() ^= 1;
    let model = ModelFile::from_static(damaged.leak()).unwrap();
    assert!(matches!(model.bytes("b"), Err(Error::Checksum { .. })));
    assert_eq!(ModelFile::from_static(bytes).unwrap().bytes("b").unwrap(), b"xyz");
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
