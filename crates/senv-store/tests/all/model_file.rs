//! The model file: layout, round trip, and every way in which it can be bad.

use crate::common::*;
use senv_core::{Error, Rows, Table, TokenId};
use senv_store::{Embeddings, Error as StoreError, FORMAT_VERSION, ModelFile, ModelWriter, NonFinite, ReadOptions};

/// A safetensors file of this header and data.
fn tensors(header: &str, data: &[u8]) -> Vec<u8> {
    [&(header.len() as u64).to_le_bytes(), header.as_bytes(), data].concat()
}

/// The metadata that make a file a model.
const META: &str = r#""__metadata__":{"senv.format_version":"1","senv.kind":"k"}"#;

fn open(bytes: &[u8]) -> Result<ModelFile, Error> {
    let folder = Folder::new();
    ModelFile::open(folder.file(bytes))
}

#[test]
fn a_file_written_by_hand_opens() {
    let header = format!(
        r#"{{{META},"n":{{"dtype":"U32","shape":[2],"data_offsets":[0,8]}},"rows":{{"dtype":"F32","shape":[1,2],"data_offsets":[8,16]}},"t":{{"dtype":"U8","shape":[3],"data_offsets":[16,19]}}}}"#
    );
    // Shifting the data byte by byte covers tables that lie at any address.
    for shift in 0..8 {
        let header = format!("{header}{}", " ".repeat(shift));
        let data = [
            &1u32.to_le_bytes(),
            &7u32.to_le_bytes(),
            &1.5f32.to_le_bytes(),
            &(-2f32).to_le_bytes(),
            b"abc".as_slice(),
        ]
        .concat();
        let folder = Folder::new();
        let model = ModelFile::open(folder.file(&tensors(&header, &data))).unwrap();
        assert_eq!((model.kind(), model.config()), ("k", None));
        assert_eq!(model.u32s("n").unwrap(), [1, 7]);
        assert_eq!(model.bytes("t").unwrap(), b"abc");
        assert_eq!(model.f32s("rows").unwrap(), [1.5, -2.0]);
        let table = model.table("rows").unwrap();
        assert_eq!(table.row(0), [1.5, -2.0]);
        assert_eq!(table.is_mapped(), (8 + header.len()) % 4 == 0);
        let listed: Vec<_> =
            model.tensors().map(|(name, dtype, shape, len)| format!("{name} {dtype} {shape:?} {len}")).collect();
        assert_eq!(listed, ["n U32 [2] 8", "rows F32 [1, 2] 8", "t U8 [3] 3"]);
        model.verify().unwrap();
    }
}

#[test]
fn every_field_comes_back_and_the_same_model_gives_the_same_bytes() {
    let folder = Folder::new();
    let path = folder.path("model");
    let vocabulary = embeddings(&["b", "", "a b\n", "ä"], 1, &[0.0; 4]).into_parts().0;
    let mut source = Table::zeros(7, 5).unwrap();
    source.values_mut().fill(9.0); // also what lies between the rows, which must not be written
    for i in 0..7 {
        source.row_mut(i).copy_from_slice(&[i as f32, -0.0, f32::NAN, f32::MIN_POSITIVE / 2.0, -1.5]);
    }
    let target = Table::from_vec(3, 2, vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap();
    let save = || {
        ModelWriter::new("sent2vec")
            .table("target", &target)
            .config("{\"dim\": 5, \"text\": \"\\u00e4 \\\"quoted\\\" ä\"}")
            .metadata("note", "line\nend, \"quotes\", \\, \u{1}")
            .vocabulary(&vocabulary)
            .f64s("doubles", &[0.1, f64::MAX])
            .f32s("floats", &[0.5])
            .u64s("longs", &[u64::MAX])
            .u32s("ints", &[])
            .bytes("bytes", &[0, 255])
            .table("rows", &source)
            .save(&path)
            .unwrap();
        std::fs::read(&path).unwrap()
    };
    let bytes = save();
    assert_eq!(save(), bytes);

    let model = ModelFile::open(&path).unwrap();
    // The bits of all values come back, and a NaN is still told of.
    let Err(Error::NonFinite { name, row, word, .. }) = model.verify() else { panic!("there is a NaN") };
    assert_eq!((name.as_str(), row, word.as_deref()), ("rows", 0, Some("b")));
    model.expect_kind("sent2vec").unwrap();
    assert_eq!(model.config(), Some("{\"dim\": 5, \"text\": \"\\u00e4 \\\"quoted\\\" ä\"}"));
    assert_eq!(model.required("note").unwrap(), "line\nend, \"quotes\", \\, \u{1}");
    assert_eq!(model.metadata()["senv.format_version"], "1", "a model without normalization");
    assert_eq!((model.f64s("doubles").unwrap(), model.f32s("floats").unwrap()), (vec![0.1, f64::MAX], vec![0.5]));
    assert_eq!((model.u64s("longs").unwrap(), model.u32s("ints").unwrap()), (vec![u64::MAX], vec![]));
    assert_eq!(model.bytes("bytes").unwrap(), [0, 255]);
    let again = model.vocabulary().unwrap();
    assert_eq!(
        (again.text(), again.offsets(), again.counts()),
        (vocabulary.text(), vocabulary.offsets(), vocabulary.counts())
    );
    assert_eq!(again.corpus_tokens(), 12_345);
    assert_eq!((again.token(TokenId(2)), again.id("ä")), ("a b\n", Some(TokenId(3))));
    let (rows, other) = (model.table("rows").unwrap(), model.table("target").unwrap());
    drop(model); // the tables keep the map alive
    assert!(rows.is_mapped() && other.is_mapped());
    assert_eq!(other.values(), target.values());
    for i in 0..7 {
        let bits = |row: &[f32]| row.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(rows.row(i)), bits(source.row(i)));
    }
}

#[test]
fn the_layout_is_the_one_that_is_written_down() {
    let folder = Folder::new();
    let path = folder.path("model");
    for n in 1..20 {
        let names: Vec<String> = (0..n).map(|i| format!("w{i}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        embeddings(&names, 3, &vec![0.5; 3 * n]).save(&path).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        // Another reader of safetensors agrees.
        let theirs = safetensors::SafeTensors::deserialize(&bytes).unwrap();
        let start = |name: &str| theirs.tensor(name).unwrap().data().as_ptr() as usize - bytes.as_ptr() as usize;
        assert!(start("vocabulary.counts") < start("rows") && start("rows") < start("vocabulary.offsets"));
        assert!(start("vocabulary.offsets") < start("vocabulary.text"));
        assert_eq!((start("rows") % 64, start("vocabulary.counts") % 8), (0, 0), "{n} rows");
        assert_eq!(theirs.tensor("rows").unwrap().shape(), [n, 3]);
        let header = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
        let text = std::str::from_utf8(&bytes[8..8 + header]).unwrap();
        let keys: Vec<usize> = [
            "senv.corpus_tokens",
            "senv.crc32.rows",
            "senv.crc32.vocabulary.counts",
            "senv.format_version",
            "senv.header_crc32",
            "senv.kind",
        ]
        .map(|key| text.find(&format!("\"{key}\":")).unwrap())
        .to_vec();
        assert!(keys.is_sorted() && text.starts_with("{\"__metadata__\":{"));
        let end = text.rfind('}').unwrap();
        assert!(text[end + 1..].bytes().all(|b| b == b' '));
    }
}

#[test]
fn embeddings_are_mapped_with_counts_and_report() {
    let folder = Folder::new();
    let path = folder.path("vectors.safetensors");
    let original = embeddings(&["x", "y z", ""], 2, &[1.0, f32::MAX, -0.0, f32::from_bits(1), 0.1, 7.0]);
    original.save(&path).unwrap();
    let (again, report) = Embeddings::read(&path, &ReadOptions::default()).unwrap();
    assert!(again.table().is_mapped());
    assert_eq!((words(&again), bits(&again)), (words(&original), bits(&original)));
    assert_eq!(
        (again.vocabulary().counts(), again.vocabulary().corpus_tokens()),
        ([1000, 999, 998].as_slice(), 12_345)
    );
    assert_eq!((report.rows, report.duplicates), (3, 0));
    let small = ReadOptions::default().max_rows(2);
    assert!(matches!(Embeddings::read(&path, &small), Err(StoreError::AboveLimit { found: 3, limit: 2, .. })));
    // A memory-mapped file is replaced while it is in use.
    embeddings(&["other"], 2, &[0.0; 2]).save(&path).unwrap();
    assert_eq!(again.get("x"), Some([1.0, f32::MAX].as_slice()));
    // No words at all.
    embeddings(&[], 4, &[]).save(&path).unwrap();
    assert_eq!((Embeddings::open(&path).unwrap().len(), Embeddings::open(&path).unwrap().dim()), (0, 4));
}

#[test]
fn every_cut_and_every_flipped_bit_is_found() {
    let folder = Folder::new();
    let path = folder.path("model");
    let original = embeddings(&["cat", "naïve"], 3, &[0.5, 1.0, -2.0, 0.25, 3.0, 1e-9]);
    original.save(&path).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    let whole = |bytes: &[u8]| -> Result<(), Error> {
        let model = ModelFile::open(folder.file(bytes))?;
        model.expect_kind("embeddings")?;
        model.vocabulary()?;
        model.table("rows")?;
        model.verify().map(|_| ())
    };
    whole(&bytes).unwrap();
    for end in 0..bytes.len() {
        assert!(whole(&bytes[..end]).is_err(), "the first {end} bytes");
    }
    assert!(whole(&[bytes.as_slice(), b"\n"].concat()).is_err());
    let rows = ModelFile::open(folder.file(&bytes)).unwrap().table("rows").unwrap().values().len() * 4;
    let mut only_by_verify = 0;
    for byte in 0..bytes.len() {
        for bit in 0..8 {
            let mut flipped = bytes.clone();
            flipped[byte] ^= 1 << bit;
            assert!(whole(&flipped).is_err(), "byte {byte} bit {bit}");
            // Damage outside the rows is also found without reading the rows.
            only_by_verify += usize::from(Embeddings::open(folder.file(&flipped)).is_ok());
        }
    }
    assert_eq!(only_by_verify, rows * 8);
}

#[test]
fn headers_that_break_a_rule_are_refused() {
    let t = |name: &str, dtype: &str, shape: &str, range: &str| {
        format!(r#""{name}":{{"dtype":"{dtype}","shape":{shape},"data_offsets":{range}}}"#)
    };
    let refused = |what: &str, header: String, data: &[u8]| {
        let result = open(&tensors(&header, data));
        assert!(matches!(result, Err(Error::BadTensors { .. })), "{what}: {result:?}");
    };
    let good = t("a", "U8", "[2]", "[0,2]");
    open(&tensors(&format!("{{{META},{good}}}"), b"xy")).unwrap();
    open(&tensors(&format!("{{{META},{}}}", t("a", "U8", "[]", "[0,1]")), b"x")).unwrap();
    open(&tensors(&format!("{{{META},{}}}", t("a", "F32", "[0,3]", "[0,0]")), b"")).unwrap();
    refused("a gap", format!("{{{META},{good},{}}}", t("b", "U8", "[1]", "[3,4]")), b"xyzz");
    refused("an overlap", format!("{{{META},{good},{}}}", t("b", "U8", "[2]", "[1,3]")), b"xyz");
    refused("bytes left over", format!("{{{META},{good}}}"), b"xyz");
    refused("bytes missing", format!("{{{META},{good}}}"), b"x");
    refused("a range backwards", format!("{{{META},{}}}", t("a", "U8", "[2]", "[2,0]")), b"xy");
    refused("a shape that does not fit", format!("{{{META},{}}}", t("a", "U8", "[3]", "[0,2]")), b"xy");
    refused("a shape that overflows", format!("{{{META},{}}}", t("a", "F32", "[4294967296,4294967296]", "[0,0]")), b"");
    refused("a negative size", format!("{{{META},{}}}", t("a", "U8", "[-2]", "[0,2]")), b"xy");
    refused("an unknown type", format!("{{{META},{}}}", t("a", "F31", "[2]", "[0,2]")), b"xy");
    refused("a name twice", format!("{{{META},{good},{good}}}"), b"xy");
    refused("metadata twice", format!("{{{META},{META},{good}}}"), b"xy");
    refused(
        "a field twice",
        format!(r#"{{{META},"a":{{"dtype":"U8","dtype":"U8","shape":[2],"data_offsets":[0,2]}}}}"#),
        b"xy",
    );
    refused("a metadata key twice", format!(r#"{{"__metadata__":{{"senv.kind":"a","senv.kind":"b"}},{good}}}"#), b"xy");
    refused("metadata that are no text", format!(r#"{{"__metadata__":{{"senv.kind":1}},{good}}}"#), b"xy");
    refused("no table", "[]".into(), b"");
    refused("a blank before the brace", format!(" {{{META},{good}}}"), b"xy");
    refused("no JSON", "{".into(), b"");
    refused("text behind", format!("{{{META},{good}}}x"), b"xy");
    // Ranges whose ends add up to more than 2^64 with the header.
    let eight = (0..8).map(|i: u64| {
        let (start, end) = (i << 61, if i == 7 { u64::MAX } else { (i + 1) << 61 });
        t(&format!("t{i}"), "U8", &format!("[{}]", end - start), &format!("[{start},{end}]"))
    });
    refused("sizes near 2^64", format!("{{{META},{}}}", eight.collect::<Vec<_>>().join(",")), b"");
    for length in [0, 1, 100_000_001, 1 << 32, u64::MAX] {
        let mut bytes = tensors(&format!("{{{META},{good}}}"), b"xy");
        bytes[..8].copy_from_slice(&length.to_le_bytes());
        assert!(matches!(open(&bytes), Err(Error::BadTensors { .. })), "header of {length} bytes");
    }
    let many = (0..65_537).map(|i| t(&format!("{i}"), "U8", "[0]", "[0,0]")).collect::<Vec<_>>().join(",");
    refused("too many tensors", format!("{{{META},{many}}}"), b"");
    assert!(open(b"").is_err() && open(b"\x01").is_err());
}

#[test]
fn models_of_other_programs_kinds_and_times_are_told_apart() {
    let with = |metadata: &str| tensors(&format!(r#"{{"__metadata__":{{{metadata}}}}}"#), b"");
    let version = |version: &str| open(&with(&format!(r#""senv.format_version":"{version}","senv.kind":"k""#)));
    assert!(matches!(open(&tensors("{}", b"")), Err(Error::NotAModel { key, .. }) if key == "senv.format_version"));
    assert!(matches!(open(&with(r#""format":"pt""#)), Err(Error::NotAModel { .. })));
    assert!(
        matches!(open(&with(r#""senv.format_version":"1""#)), Err(Error::NotAModel { key, .. }) if key == "senv.kind")
    );
    for newer in ["3", "10", "4294967296", "99999999999999999999999"] {
        let Err(error) = version(newer) else { panic!("{newer} opened") };
        assert!(
            matches!(&error, Error::NewerVersion { found, supported: FORMAT_VERSION, .. } if found == newer),
            "{error}"
        );
        assert!(error.to_string().contains("update senv"));
    }
    for bad in ["0", "-1", "1.0", "one", "", " 1"] {
        assert!(matches!(version(bad), Err(Error::BadTensors { .. })), "{bad:?}");
    }
    let model = version("1").unwrap();
    assert!(version("2").is_ok(), "a model with a normalization");
    assert!(matches!(model.expect_kind("embeddings"), Err(Error::WrongKind { found, .. }) if found == "k"));
    assert!(matches!(model.table("rows"), Err(Error::MissingTensor { name, .. }) if name == "rows"));
    assert!(!model.contains("rows"));
    assert!(matches!(model.vocabulary(), Err(Error::MissingTensor { .. })));
    let folder = Folder::new();
    let path = folder.path("m");
    ModelWriter::new("embeddings").bytes("rows", b"x").f32s("v", &[1.0]).save(&path).unwrap();
    let model = ModelFile::open(&path).unwrap();
    for result in [model.table("rows").err(), model.table("v").err(), model.u32s("v").err(), model.f32s("rows").err()] {
        assert!(matches!(result, Some(Error::WrongTensor { .. })), "{result:?}");
    }
    // Checksums may be missing, but not be nonsense.
    let nonsense = with(r#""senv.format_version":"1","senv.kind":"k","senv.header_crc32":"+0000000""#);
    assert!(matches!(open(&nonsense), Err(Error::BadTensors { .. })));
}

#[test]
fn vocabularies_that_do_not_fit_together_or_to_the_rows_are_refused() {
    let folder = Folder::new();
    let path = folder.path("m");
    let rows = Table::from_vec(2, 1, vec![1.0, 2.0]).unwrap();
    let open = |text: &[u8], offsets: &[u32], counts: &[u64], tokens: &str| {
        ModelWriter::new("embeddings")
            .bytes("vocabulary.text", text)
            .u32s("vocabulary.offsets", offsets)
            .u64s("vocabulary.counts", counts)
            .metadata("senv.corpus_tokens", tokens)
            .table("rows", &rows)
            .save(&path)
            .unwrap();
        Embeddings::open(&path)
    };
    open(b"ab", &[0, 1, 2], &[1, 2], "3").unwrap();
    let bad = |result: Result<Embeddings, StoreError>| matches!(result, Err(StoreError::Core(_)));
    assert!(bad(open(b"a\xff", &[0, 1, 2], &[1, 2], "3")), "no UTF-8");
    assert!(bad(open(b"ab", &[0, 2, 1], &[1, 2], "3")), "falls back");
    assert!(bad(open(b"aa", &[0, 1, 2], &[1, 2], "3")), "twice");
    assert!(bad(open(b"ab", &[0, 1, 2], &[1], "3")), "counts");
    assert!(bad(open(b"ab", &[], &[], "3")), "nothing");
    assert!(bad(open(b"ab", &[0, 1, 2], &[1, 2], "-3")), "tokens");
    assert!(bad(open(b"a", &[0, 1], &[1], "3")), "fewer words than rows");
}

#[test]
fn what_cannot_be_written_is_refused_and_the_old_file_stays() {
    let folder = Folder::new();
    let path = folder.path("m");
    let original = embeddings(&["a"], 1, &[1.0]);
    original.save(&path).unwrap();
    let twice = ModelWriter::new("k").bytes("x", b"").f32s("x", &[]).save(&path);
    assert!(matches!(twice, Err(Error::BadWrite { what, .. }) if what == "x"));
    assert!(ModelWriter::new("k").bytes("__metadata__", b"").save(&path).is_err());
    assert!(embeddings(&["a"], 1, &[f32::NAN]).save(&path).is_err());
    assert_eq!(words(&Embeddings::open(&path).unwrap()), ["a"]);
    let long = "x".repeat(100_000_000);
    assert!(matches!(ModelWriter::new("k").config(&long).save(&path), Err(Error::BadWrite { .. })));
    let missing = original.save(folder.path("no/such/folder"));
    assert!(matches!(missing, Err(StoreError::Core(Error::Io { .. }))));
    if cfg!(target_os = "linux") {
        for format in
            [senv_store::Format::Safetensors, senv_store::Format::GloveText, senv_store::Format::Word2vecBinary]
        {
            let full = original.write("/dev/full", format, NonFinite::Error);
            assert!(matches!(full, Err(StoreError::Core(Error::Io { .. }))), "{format}: {full:?}");
        }
    }
    assert_eq!(words(&Embeddings::open(&path).unwrap()), ["a"]);
}
