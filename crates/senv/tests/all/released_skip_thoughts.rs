//! The weights released by the authors of Skip-thoughts, in small files of their layout.

use std::{
    fs,
    io::{Cursor, Write},
    path::{Path, PathBuf},
};

use senv::{Error, Model, SkipThought, model::DecodeParams};
use senv_core::Tokenizer;
use tempfile::TempDir;
use zip::{ZipWriter, write::SimpleFileOptions};

use crate::write_anew;

const FILES: [&str; 5] = ["dictionary.txt", "utable.npy", "btable.npy", "uni_skip.npz", "bi_skip.npz"];

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/released_skip_thoughts")
}

fn tokenizer() -> Tokenizer {
    Tokenizer::words().lowercase(true)
}

/// A copy of the files, to damage.
fn copy() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for file in FILES {
        fs::copy(data().join(file), folder.path().join(file)).unwrap();
    }
    folder
}

fn message(folder: &TempDir) -> String {
    SkipThought::open_release(folder.path(), tokenizer()).unwrap_err().to_string()
}

#[test]
fn sentences_are_encoded_as_by_the_release() {
    let model = SkipThought::open_release(data(), tokenizer()).unwrap();
    assert_eq!((model.dim(), model.n_decoders()), (8, 0));
    let expected: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(data().join("expected.json")).unwrap()).unwrap();
    let cases = expected["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 8);
    let folder = tempfile::tempdir().unwrap();
    model.save(folder.path().join("model.senv")).unwrap();
    let opened = Model::open(folder.path().join("model.senv")).unwrap();
    let opened: &SkipThought = opened.downcast_ref().unwrap();
    for case in cases {
        let text = case["text"].as_str().unwrap();
        for model in [&model, opened] {
            let model = model.clone().with_end_token(case["eos"].as_bool().unwrap());
            let got = model.encode(&[text]).unwrap();
            for (got, expected) in got.iter().zip(case["vector"].as_array().unwrap()) {
                assert!((f64::from(*got) - expected.as_f64().unwrap()).abs() < 1e-6, "{case} {got}");
            }
        }
    }
    assert!(matches!(model.decode("cat", &DecodeParams::default()), Err(Error::NoDecoder { n: 0, asked: 0 })));
    // Only one of the encoders.
    let folder = copy();
    fs::remove_file(folder.path().join("uni_skip.npz")).unwrap();
    let bi = SkipThought::open_release(folder.path(), tokenizer()).unwrap();
    assert!(bi.encode(&["cat"]).unwrap().iter().eq(model.encode(&["cat"]).unwrap().iter().skip(4)));
    fs::remove_file(folder.path().join("bi_skip.npz")).unwrap();
    assert!(message(&folder).contains("uni_skip.npz"));
}

/// An archive of stored arrays.
fn archive(arrays: &[(&str, &str, &[usize], usize)]) -> Vec<u8> {
    let mut out = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, kind, shape, bytes) in arrays {
        let shape: Vec<String> = shape.iter().map(|axis| format!("{axis},")).collect();
        let header = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': ({}), }}\n", shape.concat());
        let mut npy = b"\x93NUMPY\x01\0".to_vec();
        npy.extend((header.len() as u16).to_le_bytes());
        npy.extend(header.bytes());
        npy.extend(std::iter::repeat_n(0u8, *bytes));
        out.start_file(format!("{name}.npy"), SimpleFileOptions::default()).unwrap();
        out.write_all(&npy).unwrap();
    }
    out.finish().unwrap().into_inner()
}

/// Name, type, shape and bytes of each.
type Arrays<'a> = Vec<(&'a str, &'a str, &'a [usize], usize)>;

/// A fault in the arrays.
type Change = fn(&mut Arrays<'static>);

fn good() -> Arrays<'static> {
    vec![
        ("encoder_W", "<f4", &[3, 8], 96),
        ("encoder_U", "<f4", &[4, 8], 128),
        ("encoder_b", "<f4", &[8], 32),
        ("encoder_Wx", "<f4", &[3, 4], 48),
        ("encoder_Ux", "<f8", &[4, 4], 128),
        ("encoder_bx", "<f4", &[4], 16),
    ]
}

#[test]
fn arrays_missing_misshapen_or_of_a_wrong_type_are_named() {
    let folder = copy();
    let with = |change: Change| {
        let mut arrays = good();
        change(&mut arrays);
        fs::write(folder.path().join("uni_skip.npz"), archive(&arrays)).unwrap();
        SkipThought::open_release(folder.path(), tokenizer()).map(drop).map_err(|error| error.to_string())
    };
    assert_eq!(with(|_| ()), Ok(()));
    let wrong: [(Change, &str); 7] = [
        (|arrays| arrays.truncate(5), "\"encoder_bx\": not found; the arrays are encoder_W, encoder_U"),
        (|arrays| arrays[0].2 = &[8, 3], "\"encoder_W\": the shape (8, 3) (a vector is one column), expected (3, 8)"),
        (|arrays| arrays[2].2 = &[2, 4], "\"encoder_b\": the shape (2, 4) (a vector is one column), expected (8, 1)"),
        (|arrays| arrays[1].1 = "<i4", "\"encoder_U\": numbers of type \"<i4\", expected f4"),
        (|arrays| arrays[1].1 = "|O", "\"encoder_U\": numbers of type \"|O\", expected f4"),
        (|arrays| arrays[5].3 = 12, "the shape (4, 1) needs 16 bytes of data, but the file has 12"),
        (|arrays| arrays[5].2 = &[1 << 62, 4], "the shape (4611686018427387904, 4) overflows"),
    ];
    for (change, expected) in wrong {
        let error = with(change).unwrap_err();
        assert!(error.contains(expected) && error.contains("uni_skip.npz"), "{error}");
    }
}

#[test]
fn sizes_beyond_the_file_are_refused_before_memory_is_taken() {
    let folder = copy();
    let mut bytes = archive(&good());
    // The first entry of the directory, with its compressed and uncompressed sizes.
    let entry = bytes.windows(4).position(|window| window == b"PK\x01\x02").unwrap();
    bytes[entry + 20..entry + 28].copy_from_slice(&[0xff, 0xff, 0xff, 0x3f, 0xff, 0xff, 0xff, 0x3f]);
    fs::write(folder.path().join("uni_skip.npz"), bytes).unwrap();
    let error = message(&folder);
    assert!(error.contains("\"encoder_W\": 1073741823 bytes") && error.contains("the file is damaged"), "{error}");
}

#[test]
fn dictionary_and_vectors_must_agree() {
    let folder = copy();
    let dictionary = folder.path().join("dictionary.txt");
    assert!(SkipThought::is_release(folder.path()) && !SkipThought::is_release(&dictionary));
    let text = fs::read_to_string(&dictionary).unwrap();
    for (text, expected) in [
        (format!("{text}more\n"), "7 word vectors, but the dictionary has 8 words"),
        (text.replace("UNK", "unk"), "does not have"),
        (text.replace("mat", "cat"), "\"cat\""),
    ] {
        fs::write(&dictionary, text).unwrap();
        let error = message(&folder);
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn damaged_archives_are_errors_wherever_they_are_cut_or_changed() {
    let folder = copy();
    let encoded = |model: SkipThought| model.encode(&["the cat sat on the mat"]).unwrap();
    let expected = encoded(SkipThought::open_release(folder.path(), tokenizer()).unwrap());
    for name in ["uni_skip.npz", "bi_skip.npz"] {
        let whole = fs::read(data().join(name)).unwrap();
        for cut in (0..whole.len()).step_by(37) {
            write_anew(&folder.path().join(name), &whole[..cut]);
            assert!(SkipThought::open_release(folder.path(), tokenizer()).is_err(), "{name} cut at {cut}");
        }
        for place in (0..whole.len()).step_by(3) {
            let mut changed = whole.clone();
            changed[place] ^= 0x41;
            write_anew(&folder.path().join(name), &changed);
            // Some bytes have no meaning. Changing another one must not give a model, and no change may panic.
            if let Ok(model) = SkipThought::open_release(folder.path(), tokenizer()) {
                assert_eq!(encoded(model), expected, "{name} changed at {place}");
            }
        }
        fs::write(folder.path().join(name), whole).unwrap();
    }
}
