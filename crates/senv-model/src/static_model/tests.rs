use super::*;
use crate::{Coverage, ModelFile, Scratch, SentenceEncoder, Vocabulary, files::RawTensor, writing::ModelWriter};
use senv_base::Error;
use senv_kernels::Table;
use senv_text::Tokenizer;

/// Values from N(0, 1).
fn gaussian(n_rows: usize, dim: usize) -> Table {
    let mut values = vec![0.0; n_rows * dim];
    senv_core::init::normal(&mut senv_core::rng::stream(7, "rows", &[dim as u64]), &mut values, 1.0).unwrap();
    Table::from_vec(n_rows, dim, values).unwrap()
}

/// The root mean square of the error, relative to that of the values.
fn relative_error(table: &Table, rows: &CompressedRows) -> f64 {
    let mut row = vec![0.0; rows.dim()];
    let (mut errors, mut squares) = (0.0, 0.0);
    for (i, exact) in table.iter().enumerate() {
        rows.row_into(i, &mut row);
        for (&x, &exact) in row.iter().zip(exact) {
            errors += (f64::from(x) - f64::from(exact)).powi(2);
            squares += f64::from(exact).powi(2);
        }
    }
    (errors / squares).sqrt()
}

fn error_of(dim: usize, encoding: RowEncoding) -> f64 {
    let table = gaussian(20_000 / dim, dim);
    relative_error(&table, &CompressedRows::compress(&table, encoding).unwrap())
}

#[test]
fn compression_loses_little_of_gaussian_rows() {
    for dim in [32, 64, 127, 256, 300] {
        let error = |encoding| error_of(dim, encoding);
        assert_eq!(error(RowEncoding::F32), 0.0);
        // 11 bits: an error of up to half a unit of the last, 2⁻¹¹, uniformly distributed.
        assert!(error(RowEncoding::F16) < 2e-4 + 2e-5, "{}", error(RowEncoding::F16));
        // A step is max|x| / 127, and the largest of more values is larger.
        let int8 = if dim <= 64 { 0.006 } else { 0.0072 };
        assert!(error(RowEncoding::Int8) < int8, "{dim}: {}", error(RowEncoding::Int8));
        assert!(error(RowEncoding::Int4) < 0.13, "{dim}: {}", error(RowEncoding::Int4));
    }
}

#[test]
fn the_search_beats_the_scale_of_the_largest_value() {
    let table = gaussian(200, 256);
    let rows = CompressedRows::compress(&table, RowEncoding::Int4).unwrap();
    let (mut plain, mut found, mut row) = (0.0, 0.0, vec![0.0; 256]);
    for (i, exact) in table.iter().enumerate() {
        let scale = exact.iter().fold(0.0_f32, |a, x| a.max(x.abs())) / 7.0;
        rows.row_into(i, &mut row);
        for (x, exact) in row.iter().zip(exact) {
            plain += ((exact / scale).round() * scale - exact).powi(2);
            found += (x - exact).powi(2);
        }
    }
    assert!(found < 0.9 * plain, "{found} {plain}");
}

#[test]
fn rows_of_any_size_survive() {
    for scale in [1e-44_f32, 1e-38, 1.0, 1e38] {
        let values = [-3.0, 1.0, 0.0, -0.0, 2.5].map(|x| x * scale);
        let table = Table::from_vec(2, 5, [values, [0.0; 5]].concat()).unwrap();
        for encoding in RowEncoding::ALL {
            let rows = CompressedRows::compress(&table, encoding).unwrap();
            let mut row = [7.0; 5];
            rows.row_into(0, &mut row);
            // The smallest values have only a few bits themselves.
            let allowed = if scale < 1e-40 { 3.0 } else { 0.22 };
            assert!(row.iter().zip(values).all(|(x, y)| (x - y).abs() <= allowed * scale), "{encoding:?} {row:?}");
            rows.row_into(1, &mut row);
            assert_eq!(row, [0.0; 5]);
        }
    }
    let codes = |encoding| {
        let rows = CompressedRows::compress(&Table::from_vec(1, 3, vec![7.0, -7.0, 1.0]).unwrap(), encoding).unwrap();
        (rows.packed().unwrap().to_vec(), rows.scales().to_vec())
    };
    assert_eq!(codes(RowEncoding::Int4), (vec![0x97, 0x01], vec![1.0]));
    assert_eq!(codes(RowEncoding::F16), (vec![0, 0x3f, 0, 0xbf, 0, 0x34], vec![4.0]));
    for bad in [f32::NAN, f32::INFINITY] {
        let table = Table::from_vec(2, 1, vec![0.0, bad]).unwrap();
        let error = CompressedRows::compress(&table, RowEncoding::Int8).unwrap_err();
        assert!(matches!(error, Error::InvalidParameter { name: "rows", .. }) && error.to_string().contains("row 1"));
    }
    assert!(CompressedRows::compress(&Table::zeros(3, 0).unwrap(), RowEncoding::Int8).is_err());
    assert_eq!(CompressedRows::compress(&Table::zeros(0, 3).unwrap(), RowEncoding::Int4).unwrap().n_rows(), 0);
}

#[test]
fn a_row_is_added_with_its_weight_and_may_be_cut() {
    let table = gaussian(5, 33);
    for encoding in RowEncoding::ALL {
        let rows = CompressedRows::compress(&table, encoding).unwrap();
        let (mut row, mut sum) = (vec![0.0; 33], vec![1.0; 33]);
        rows.row_into(3, &mut row);
        rows.add_row(3, 2.0, &mut sum);
        assert!(sum.iter().zip(&row).all(|(sum, x)| (sum - (1.0 + 2.0 * x)).abs() < 1e-5));
        for dim in 1..=33 {
            let cut = rows.clone().truncate_dim(dim).unwrap().first_rows(4);
            let mut short = vec![0.0; dim];
            cut.row_into(3, &mut short);
            assert_eq!((short.as_slice(), cut.n_rows()), (&row[..dim], 4));
            let packed = cut.packed().unwrap();
            let scales = cut.scales().to_vec();
            let packed = CompressedRows::from_parts("cut".as_ref(), encoding, dim, packed, scales).unwrap();
            packed.row_into(3, &mut short);
            assert_eq!(short, row[..dim]);
        }
        assert!(rows.clone().truncate_dim(0).is_err() && rows.clone().truncate_dim(34).is_err());
    }
}

/// Words of 16 letters `a`, `b`, ... with Gaussian rows; unknown words have vectors.
fn encoder(encoding: RowEncoding, unknown: bool) -> StaticEncoder {
    let words: Vec<String> = ('a'..='z').map(|c| c.to_string().repeat(if c == 'z' { 20 } else { 1 })).collect();
    let vocabulary = Vocabulary::from_counts(words.iter().zip((1..=26).rev()), 400).unwrap();
    let rows = CompressedRows::compress(&gaussian(26, 49), encoding).unwrap();
    let length = unknown.then(|| rows.mean_length());
    StaticEncoder::new(Tokenizer::whitespace(), vocabulary, rows, length).unwrap().with_source("made by a test, \"ä\"")
}

fn encode(encoder: &StaticEncoder, text: &str) -> (Vec<f32>, Coverage) {
    let mut out = vec![9.0; encoder.dim()];
    let coverage = encoder.encode_into(text, &mut Scratch::default(), &mut out);
    (out, coverage)
}

#[test]
fn the_vector_is_the_mean_of_known_and_hashed_words() {
    for encoding in RowEncoding::ALL {
        let (skips, hashes) = (encoder(encoding, false), encoder(encoding, true));
        let mut sum = vec![0.0; 49];
        for (i, times) in [(0, 2.0), (3, 1.0)] {
            skips.rows().add_row(i, times, &mut sum);
        }
        let close = |got: &[f32], n: f32| got.iter().zip(&sum).all(|(x, sum)| (x - sum / n).abs() < 1e-5);
        let text = "a d ? a !";
        let (got, coverage) = encode(&skips, text);
        assert!(close(&got, 3.0));
        assert_eq!(coverage, Coverage::new(5, 3));
        let value = hashes.unknown_word_length().unwrap() / 7.0;
        crate::add_signs("?", value, &mut sum);
        crate::add_signs("!", value, &mut sum);
        let (got, coverage) = encode(&hashes, text);
        let close = |got: &[f32], n: f32| got.iter().zip(&sum).all(|(x, sum)| (x - sum / n).abs() < 1e-5);
        assert!(close(&got, 5.0));
        assert_eq!(coverage, Coverage { hashed: 2, ..Coverage::new(5, 3) });
        assert!(hashes.similarity("a ?", "? b") > skips.similarity("a ?", "? b") + 0.2);
    }
}

#[test]
fn text_of_every_kind_is_encoded() {
    let (skips, hashes) = (encoder(RowEncoding::Int8, false), encoder(RowEncoding::Int8, true));
    for text in ["", " ", "\0", "\0\0 \t\r\n"] {
        assert_eq!(encode(&hashes, text), (vec![0.0; 49], Coverage::new(0, 0)), "{text:?}");
    }
    assert_eq!(encode(&skips, "unknown"), (vec![0.0; 49], Coverage::new(1, 0)));
    assert_eq!(encode(&skips, "a\0b").1, Coverage::new(2, 2));
    let long = "a ".repeat(5 << 20);
    let (got, coverage) = encode(&hashes, &long);
    assert_eq!(coverage, Coverage::new(5 << 20, 5 << 20));
    // Five million equal terms lose some bits in f32.
    assert!(senv_kernels::kernels::cosine(&got, &encode(&hashes, "a").0) > 0.99);
    let (got, coverage) = encode(&hashes, &"x".repeat(10 << 20));
    assert_eq!((coverage.hashed, got.iter().all(|x| x.is_finite())), (1, true));
    assert!(encode(&hashes, &"\u{1F600}\u{0301} ".repeat(1000)).1.hashed > 0);
}

/// The bytes of a saved model, which stay in memory as long as the program runs.
fn saved(encoder: &StaticEncoder) -> &'static [u8] {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    encoder.save(&path).unwrap();
    std::fs::read(path).unwrap().leak()
}

#[test]
fn a_model_comes_back_from_a_file_and_from_the_program() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    for (encoding, unknown) in RowEncoding::ALL.into_iter().flat_map(|e| [(e, false), (e, true)]) {
        let whole = encoder(encoding, unknown);
        let cut = whole.clone().truncate_dim(31).unwrap().truncate_vocabulary(9).unwrap();
        for original in [whole, cut] {
            original.save(&path).unwrap();
            ModelFile::open(&path).unwrap().verify().unwrap();
            let file = StaticEncoder::open(&path).unwrap();
            let bytes: &'static [u8] = std::fs::read(&path).unwrap().leak();
            let program = StaticEncoder::from_static(bytes).unwrap();
            for again in [&file, &program] {
                assert_eq!(
                    (again.dim(), again.encoding(), again.source()),
                    (original.dim(), encoding, original.source())
                );
                assert_eq!(again.vocabulary().counts(), original.vocabulary().counts());
                assert_eq!(again.unknown_word_length(), original.unknown_word_length());
                assert_eq!(again.tokenizer(), original.tokenizer());
                let text = format!("a b q e f who {}", "z".repeat(20));
                assert_eq!(encode(again, &text), encode(&original, &text));
            }
            drop(file);
            let n_bytes = original.rows().packed().unwrap().len();
            assert_eq!(n_bytes, original.vocabulary().len() * encoding.row_bytes(original.dim()).unwrap());
            assert_eq!(saved(&original), bytes);
        }
    }
}

#[test]
fn cutting_words_and_dimensions_keeps_what_is_left() {
    let whole = encoder(RowEncoding::Int4, true);
    let cut = whole.clone().truncate_dim(13).unwrap().truncate_vocabulary(3).unwrap();
    assert_eq!((cut.dim(), cut.vocabulary().len(), cut.vocabulary().corpus_tokens()), (13, 3, 400));
    let before = encode(&whole, "a b c").0;
    assert_eq!(encode(&cut, "a b c").0, before[..13]);
    assert_eq!(encode(&cut, "a d").1, Coverage { hashed: 1, ..Coverage::new(2, 1) });
    // 13 of 49 Gaussian values are about √(13/49) as long.
    let ratio = cut.unknown_word_length().unwrap() / whole.unknown_word_length().unwrap();
    assert!((ratio - (13.0_f32 / 49.0).sqrt()).abs() < 0.05, "{ratio}");
    assert_eq!(whole.clone().truncate_vocabulary(1000).unwrap().vocabulary().len(), 26);
    assert!(whole.clone().truncate_vocabulary(0).is_err() && whole.truncate_dim(50).is_err());
}

#[test]
fn every_cut_and_flipped_bit_of_a_file_is_an_error_or_only_in_the_rows() {
    let words = Vocabulary::from_counts([("a", 2), ("ä", 1)], 3).unwrap();
    let rows = CompressedRows::compress(&gaussian(2, 5), RowEncoding::Int8).unwrap();
    let bytes = saved(&StaticEncoder::new(Tokenizer::words(), words, rows, Some(1.0)).unwrap());
    let open = |bytes: Vec<u8>| StaticEncoder::from_static(bytes.leak());
    for end in 0..bytes.len() {
        assert!(open(bytes[..end].to_vec()).is_err(), "the first {end} bytes");
    }
    let mut unseen = 0;
    for byte in 0..bytes.len() {
        let mut damaged = bytes.to_vec();
        damaged[byte] ^= 4;
        unseen += usize::from(open(damaged).is_ok());
    }
    assert_eq!(unseen, 10, "the two rows of five bytes, which verify() reads");
}

#[test]
fn parts_that_do_not_fit_are_errors_that_name_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bad-model");
    let words = Vocabulary::from_counts([("a", 2), ("b", 1)], 3).unwrap();
    let good = r#"{"dim":3,"encoding":"int4","tokenizer":{"rule":"whitespace","lowercase":false}}"#;
    let tensor = |dtype: &str, shape: &[usize]| {
        let n = shape.iter().product();
        RawTensor { dtype: dtype.into(), shape: shape.to_vec(), bytes: vec![0; n].into() }
    };
    let open = |config: &str, rows: &RawTensor, scales: &[f32], length: &[f32]| {
        let writer = ModelWriter::new("static").config(config).vocabulary(&words).raw("rows", rows);
        writer.f32s("row_scales", scales).f32s("unknown_word_length", length).save(&path).unwrap();
        StaticEncoder::open(&path).map(|encoder| encoder.dim()).map_err(|error| {
            assert!(error.to_string().contains("bad-model"), "{error}");
            error
        })
    };
    let rows = tensor("U8", &[2, 2]);
    assert_eq!(open(good, &rows, &[1.0, 0.0], &[0.5]).unwrap(), 3);
    for (dtype, shape) in [("U8", [2, 3].as_slice()), ("I8", &[2, 2]), ("U8", &[3, 2]), ("U8", &[4]), ("U8", &[1, 2])] {
        let result = open(good, &tensor(dtype, shape), &[1.0, 0.0], &[0.5]);
        assert!(matches!(result, Err(Error::WrongTensor { .. })), "{dtype} {shape:?}: {result:?}");
    }
    for scales in [[1.0, f32::NAN], [f32::INFINITY, 1.0], [1.0, -1.0]] {
        assert!(matches!(open(good, &rows, &scales, &[0.5]), Err(Error::BadFile { .. })), "{scales:?}");
    }
    assert!(open(good, &rows, &[1.0], &[0.5]).is_err());
    for length in [&[][..], &[1.0, 1.0], &[f32::NAN], &[-1.0]] {
        assert!(open(good, &rows, &[1.0, 1.0], length).is_err(), "{length:?}");
    }
    for config in ["", "{}", &good.replace("int4", "int3"), &good.replace('3', "-3"), &good.replace("whitespace", "?")]
    {
        assert!(matches!(open(config, &rows, &[1.0, 1.0], &[1.0]), Err(Error::BadFile { .. })), "{config}");
    }
    for dim in ["0", "5", "18446744073709551615"] {
        assert!(open(&good.replace('3', dim), &rows, &[1.0, 1.0], &[1.0]).is_err(), "{dim}");
    }
    let no_rows = open(&good.replace('3', "0"), &tensor("U8", &[2, 0]), &[1.0, 1.0], &[1.0]);
    assert!(matches!(no_rows, Err(Error::BadFile { .. })), "{no_rows:?}");
    ModelWriter::new("static").config(good).raw("rows", &rows).save(&path).unwrap();
    assert!(matches!(StaticEncoder::open(&path), Err(Error::MissingTensor { .. })));
    ModelWriter::new("embeddings").config(good).raw("rows", &rows).save(&path).unwrap();
    assert!(matches!(StaticEncoder::open(&path), Err(Error::NotStatic { .. })));
    assert!(matches!(StaticEncoder::open(folder.path().join("nowhere")), Err(Error::Io { .. })));

    for (dtype, shape, n) in [("I16", vec![1], 2), ("U8", vec![2], 3), ("F16", vec![usize::MAX, 2], 4)] {
        let tensor = RawTensor { dtype: dtype.into(), shape, bytes: vec![0; n].into() };
        assert!(matches!(ModelWriter::new("k").raw("x", &tensor).save(&path), Err(Error::BadWrite { .. })), "{dtype}");
    }
    let rows = |n| CompressedRows::compress(&gaussian(n, 3), RowEncoding::Int8).unwrap();
    let new = |n, length| StaticEncoder::new(Tokenizer::whitespace(), words.clone(), rows(n), length);
    assert!(matches!(new(3, None), Err(Error::ShapeMismatch { expected: 2, got: 3, .. })));
    assert!(matches!(new(2, Some(f32::NAN)), Err(Error::InvalidParameter { .. })) && new(2, Some(0.0)).is_ok());
}
