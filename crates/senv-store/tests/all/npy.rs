//! NumPy matrices, against headers written by hand as NumPy writes them.

use crate::common::*;
use senv_core::{Rows, Table};
use senv_store::{Error, NpyReader, NpyWriter, Result, read_npy, read_npy_marked, write_npy};

/// A file of version 1.0 with this dict and these data.
fn npy(dict: &str, data: &[u8]) -> Vec<u8> {
    npy_as(&[1, 0], dict, data)
}

fn npy_as(version: &[u8; 2], dict: &str, data: &[u8]) -> Vec<u8> {
    let prefix = if version[0] == 1 { 10 } else { 12 };
    let padded = (prefix + dict.len() + 1).next_multiple_of(64) - prefix - 1;
    let text = format!("{dict:padded$}\n");
    let len = (text.len() as u32).to_le_bytes();
    [b"\x93NUMPY", version.as_slice(), &len[..prefix - 8], text.as_bytes(), data].concat()
}

fn read(bytes: &[u8]) -> Result<Table> {
    let folder = Folder::new();
    let path = folder.file(bytes);
    let whole = read_npy(&path);
    // Piece by piece it is the same.
    match (&whole, NpyReader::open(&path)) {
        (Ok(table), Ok(mut reader)) => {
            assert_eq!((reader.n_rows(), reader.dim()), (table.n_rows(), table.dim()));
            let mut values = Vec::new();
            for n in [1, 2, 5, usize::MAX] {
                values.extend(reader.read_rows(n).unwrap().values().iter().map(|x| x.to_bits()));
            }
            assert_eq!(values, table.iter().flatten().map(|x| x.to_bits()).collect::<Vec<_>>());
        }
        (Err(_), reader) => assert!(reader.is_err()),
        (Ok(_), Err(error)) => panic!("{error}"),
    }
    whole
}

fn rows(table: &Table) -> Vec<Vec<f32>> {
    table.iter().map(<[f32]>::to_vec).collect()
}

fn le(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|x| x.to_le_bytes()).collect()
}

#[test]
fn what_is_written_has_the_bytes_of_numpy_and_comes_back() {
    let folder = Folder::new();
    let path = folder.path("m.npy");
    let mut table = Table::zeros(2, 3).unwrap(); // rows with gaps between them
    table.row_mut(0).copy_from_slice(&[1.0, -0.0, f32::NAN]);
    table.row_mut(1).copy_from_slice(&[f32::MAX, f32::from_bits(1), f32::INFINITY]);
    write_npy(&path, &table).unwrap();
    let dict = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
    let values: Vec<f32> = table.iter().flatten().copied().collect();
    assert_eq!(std::fs::read(&path).unwrap(), npy(dict, &le(&values)));
    let again = read_npy(&path).unwrap();
    let bits = |t: &Table| t.iter().flatten().map(|x| x.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(&again), bits(&table));
    for (n, dim) in [(0, 0), (0, 4), (1, 1), (5, 1)] {
        write_npy(&path, &Table::zeros(n, dim).unwrap()).unwrap();
        let again = read_npy(&path).unwrap();
        assert_eq!((again.n_rows(), again.dim()), (n, dim));
        assert_eq!((std::fs::metadata(&path).unwrap().len() - 4 * (n * dim) as u64) % 64, 0);
    }
}

#[test]
fn a_number_in_the_padding_comes_back_and_is_padding_to_others() {
    let folder = Folder::new();
    let table = Table::from_vec(1, 2, vec![1.0, 2.0]).unwrap();
    for mark in [1, 0x8000_0000, 0xdead_beef, u32::MAX] {
        let mut writer = NpyWriter::marked(Vec::new(), "-", 1, 2, mark).unwrap();
        writer.write_row(table.row(0)).unwrap();
        let bytes = writer.finish().unwrap();
        let path = folder.file(&bytes);
        let (read, found) = read_npy_marked(&path).unwrap();
        assert_eq!((rows(&read), found), (vec![vec![1.0, 2.0]], Some(mark)));
        // With spaces instead of the mark, the file equals that of NumPy, except for the length of the padding.
        let plain: Vec<u8> = bytes.iter().map(|&byte| if byte == b'\t' { b' ' } else { byte }).collect();
        let dict = "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), }";
        assert_eq!(plain, npy(&(dict.to_owned() + &" ".repeat(32)), &le(&[1.0, 2.0])));
        assert_eq!(read_npy_marked(folder.file(&plain)).unwrap().1, None);
    }
}

/// Like numpy.memmap, and like a writer that starts over: a matrix in memory does not change with its file.
#[test]
fn a_matrix_that_is_written_into_or_cut_after_it_was_read_stays_as_it_was() {
    let folder = Folder::new();
    let path = folder.path("m.npy");
    write_npy(&path, &Table::from_vec(2, 2, vec![1.0, 2.0, 3.0, 4.0]).unwrap()).unwrap();
    let table = read_npy(&path).unwrap();
    let file = std::fs::File::options().write(true).open(&path).unwrap();
    file.set_len(1).unwrap();
    assert_eq!(rows(&table), [[1.0, 2.0], [3.0, 4.0]]);
}

#[test]
fn the_writer_keeps_to_the_shape_that_was_promised() {
    let mut bytes = Vec::new();
    let mut writer = NpyWriter::new(&mut bytes, "-", 1, 2).unwrap();
    assert!(matches!(writer.write_row(&[1.0]), Err(Error::Core(senv_core::Error::BadWrite { .. }))));
    writer.write_row(&[1.0, 2.0]).unwrap();
    assert!(matches!(writer.write_row(&[1.0, 2.0]), Err(Error::Core(senv_core::Error::BadWrite { .. }))));
    writer.finish().unwrap();
    assert_eq!(rows(&read(&bytes).unwrap()), [[1.0, 2.0]]);
    assert!(matches!(
        NpyWriter::new(Vec::new(), "-", 1, 2).unwrap().finish(),
        Err(Error::Core(senv_core::Error::BadWrite { .. }))
    ));
}

#[test]
fn other_types_orders_versions_and_shapes_are_converted() {
    let dict = |descr: &str, order: &str, shape: &str| {
        format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}")
    };
    let expected = [[1.0, 2.0, 3.0], [-4.0, 5.0, 6.5]];
    let flat = [1.0f32, 2.0, 3.0, -4.0, 5.0, 6.5];
    let by_columns = [1.0f32, -4.0, 2.0, 5.0, 3.0, 6.5];
    let big: Vec<u8> = flat.iter().flat_map(|x| x.to_be_bytes()).collect();
    let doubles: Vec<u8> = flat.iter().flat_map(|&x| f64::from(x).to_le_bytes()).collect();
    let halves: Vec<u8> =
        [0x3c00u16, 0x4000, 0x4200, 0xc400, 0x4500, 0x4680].iter().flat_map(|x| x.to_le_bytes()).collect();
    for (descr, order, data) in [
        ("<f4", "False", le(&flat)),
        (">f4", "False", big),
        ("<f8", "False", doubles),
        ("<f2", "False", halves),
        ("<f4", "True", le(&by_columns)),
    ] {
        for version in [[1, 0], [2, 0], [3, 0]] {
            let table = read(&npy_as(&version, &dict(descr, order, "(2, 3)"), &data)).unwrap();
            assert_eq!(rows(&table), expected, "{descr} {order} {version:?}");
        }
    }
    assert_eq!(rows(&read(&npy(&dict("|i1", "False", "(1, 2)"), &[0xff, 3])).unwrap()), [[-1.0, 3.0]]);
    assert_eq!(rows(&read(&npy(&dict("|u1", "True", "(1, 2)"), &[0xff, 3])).unwrap()), [[255.0, 3.0]]);
    // A vector is one column; Python 2 wrote `2L`; keys in a different order, without the last comma, no padding.
    assert_eq!(rows(&read(&npy(&dict("<f4", "False", "(2L,)"), &le(&[1.0, 2.0]))).unwrap()), [[1.0], [2.0]]);
    let odd = "{\"shape\":(1,1),\"fortran_order\":False,\"descr\":\"<f4\"}\n";
    let bytes =
        [b"\x93NUMPY\x01\x00".as_slice(), &(odd.len() as u16).to_le_bytes(), odd.as_bytes(), &le(&[7.0])].concat();
    assert_eq!(rows(&read(&bytes).unwrap()), [[7.0]]);
}

#[test]
fn headers_that_are_no_matrix_of_numbers_are_refused() {
    let refused = |dict: &str, data: &[u8]| {
        let result = read(&npy(dict, data));
        assert!(matches!(result, Err(Error::BadNpy { .. })), "{dict}: {result:?}");
    };
    let with = |descr: &str, shape: &str| format!("{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}");
    for descr in ["'|O'", "'<i4'", "'<U5'", "'<c8'", "''", "'f'", "[('a', '<f4')]", "'é4'", "'f4<'", "4"] {
        refused(&with(descr, "(1,)"), &[0; 4]);
    }
    for shape in ["()", "(1, 1, 1)", "(-1,)", "(1.0,)", "1", "(1 1)", "(,)", "(1,", "(18446744073709551616,)", "(0x1,)"]
    {
        refused(&with("'<f4'", shape), &[0; 4]);
    }
    for big in [1u64 << 31, 1 << 32, 1 << 62, 1 << 63, u64::MAX] {
        refused(&with("'<f4'", &format!("({big}, 1)")), &[0; 4]);
        refused(&with("'<f4'", &format!("(1, {big})")), &[0; 4]);
        refused(&with("'<f4'", &format!("({big}, {big})")), &[0; 4]);
    }
    // The product wraps to one value.
    refused(&with("'<f4'", "(4294967297, 4294967297)"), &[0; 4]);
    refused(&with("'<f4'", "(3, 0)"), &[]);
    refused(&with("'<f4'", "(1, 65537)"), &[0; 4 * 65_537]);
    refused(&with("'<f4'", "(2,)"), &[0; 7]);
    refused(&with("'<f4'", "(2,)"), &[0; 9]);
    refused("{'descr': '<f4', 'fortran_order': False, }", &[0; 4]);
    refused("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,), }", &[0; 4]);
    refused("{'descr': '<f4', 'fortran_order': 0, 'shape': (1,), }", &[0; 4]);
    refused("{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'more': (1,)}", &[0; 4]);
    refused("{'descr': '<f4', 'fortran_order': False, 'shape': (1,), } + 1", &[0; 4]);
    refused("__import__('os')", &[0; 4]);
    refused("", &[0; 4]);
    for version in [[0, 0], [4, 0], [255, 255]] {
        assert!(matches!(read(&npy_as(&version, &with("'<f4'", "(1,)"), &[0; 4])), Err(Error::BadNpy { .. })));
    }
    let mut long = b"\x93NUMPY\x02\x00".to_vec();
    long.extend_from_slice(&u32::MAX.to_le_bytes());
    assert!(matches!(read(&long), Err(Error::BadNpy { .. })));
    assert!(matches!(read(b""), Err(Error::BadNpy { .. })));
}

#[test]
fn every_cut_is_an_error_and_no_flipped_bit_a_crash() {
    let folder = Folder::new();
    let path = folder.path("m.npy");
    write_npy(&path, &Table::from_vec(2, 2, vec![1.0, 2.0, 3.0, 4.0]).unwrap()).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    for end in 0..bytes.len() {
        assert!(matches!(read(&bytes[..end]), Err(Error::BadNpy { .. })), "the first {end} bytes");
    }
    for byte in 0..bytes.len() {
        for bit in 0..8 {
            let mut flipped = bytes.clone();
            flipped[byte] ^= 1 << bit;
            if let Ok(table) = read(&flipped) {
                assert!(table.iter().flatten().count() <= 16);
            }
        }
    }
}
