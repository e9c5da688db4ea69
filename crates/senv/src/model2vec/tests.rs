//! Folders as read by Model2Vec 0.10.0 and tokenizers 0.23.3, which produced the ids and vectors below for the same
//! vocabulary and rows.

use std::{fs, path::Path};

use super::*;
use crate::Model;

const VOCABULARY: &[&str] = &[
    "[PAD]", "[UNK]", "the", "cat", "##s", "sat", "on", "mat", "un", "##believ", "##able", "!", ",", "cafe", "naive",
    "[", "]", "unk", "日", "本", "##本", "3", "##5", "$", "don", "'", "t", "x",
];

const TEXTS: &[&str] = &[
    "The cats sat on the mat!",
    "Unbelievable, CAFÉ naïve",
    "日本 cat日本",
    "35$ x3 don't",
    "the [UNK] cat [PAD]",
    "cats\u{a0}sat\ton\u{200b}mat\0the",
    "unbelievablecat",
    "zebra the zebra",
    "",
    "  ",
    "Ⅷ the «cat»",
    "the\u{fffd}cat",
    "cat cat cat cat cat cat cat cat cat mat",
];

fn tokenizer(normalizer: Value, cut: &str, kind: &str) -> Value {
    let vocabulary: serde_json::Map<String, Value> =
        VOCABULARY.iter().zip(0..).map(|(word, id)| ((*word).to_owned(), Value::from(id))).collect();
    let added = |id: u32, content: &str| {
        json!({ "id": id, "content": content, "single_word": false, "lstrip": false, "rstrip": false, "normalized": false,
                "special": true })
    };
    json!({
        "version": "1.0", "added_tokens": [added(0, "[PAD]"), added(1, "[UNK]")], "normalizer": normalizer,
        "pre_tokenizer": { "type": cut },
        "model": { "type": kind, "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 12,
                   "vocab": vocabulary },
    })
}

fn bert() -> Value {
    let normalizer = json!({
        "type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "strip_accents": null,
        "lowercase": true,
    });
    tokenizer(normalizer, "BertPreTokenizer", "WordPiece")
}

pub(super) fn rows(n: usize) -> Vec<f32> {
    (0..n).flat_map(|i| [(i % 5) as f32 - 2.0, (i * 7 % 11) as f32 / 4.0, 1.0 / (i as f32 + 1.0)]).collect()
}

/// Writes a folder with these tensors: name, type, shape, bytes.
pub(super) fn write(folder: &Path, tokenizer: &Value, config: &Value, tensors: &[(&str, &str, &[usize], Vec<u8>)]) {
    let (mut header, mut data) = (serde_json::Map::new(), Vec::new());
    for (name, dtype, shape, bytes) in tensors {
        let offsets = [data.len(), data.len() + bytes.len()];
        header.insert((*name).to_owned(), json!({ "dtype": dtype, "shape": shape, "data_offsets": offsets }));
        data.extend_from_slice(bytes);
    }
    let header = Value::from(header).to_string();
    let file = [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &data].concat();
    fs::create_dir_all(folder).unwrap();
    fs::write(folder.join("model.safetensors"), file).unwrap();
    fs::write(folder.join("tokenizer.json"), tokenizer.to_string()).unwrap();
    fs::write(folder.join("config.json"), config.to_string()).unwrap();
}

pub(super) fn f32s(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|x| x.to_le_bytes()).collect()
}

pub(super) fn ids(model: &Model2Vec, text: &str) -> Vec<u32> {
    let mut ids = Vec::new();
    model.tokens.for_each(text, &mut String::new(), |id| ids.push(id.unwrap_or(1)));
    ids
}

#[test]
fn tokens_are_those_of_the_reference() {
    let folder = tempfile::tempdir().unwrap();
    let sequence = json!({ "type": "Sequence", "normalizers": [{ "type": "NFKC" }, { "type": "Lowercase" }] });
    let tensors = [("embeddings", "F32", &[28, 3][..], f32s(&rows(28)))];
    let all: [(Value, [&[u32]; 13]); 3] = [
        (
            bert(),
            [
                &[2, 3, 4, 5, 6, 2, 7, 11],
                &[8, 9, 10, 12, 13, 14],
                &[18, 19, 3, 18, 19],
                &[21, 22, 23, 1, 24, 25, 26],
                &[2, 1, 3, 0],
                &[3, 4, 5, 1],
                &[1],
                &[1, 2, 1],
                &[],
                &[],
                &[1, 2, 1, 3, 1],
                &[1],
                &[3, 3, 3, 3, 3, 3, 3, 3, 3, 7],
            ],
        ),
        (
            tokenizer(sequence, "Whitespace", "WordLevel"),
            [
                &[2, 1, 5, 6, 2, 7, 11],
                &[1, 12, 1, 1],
                &[1, 1],
                &[1, 23, 1, 24, 25, 26],
                &[2, 1, 3, 0],
                &[1, 5, 6, 1, 7, 1, 2],
                &[1],
                &[1, 2, 1],
                &[],
                &[],
                &[1, 2, 1, 3, 1],
                &[2, 1, 3],
                &[3, 3, 3, 3, 3, 3, 3, 3, 3, 7],
            ],
        ),
        (
            tokenizer(Value::Null, "WhitespaceSplit", "WordLevel"),
            [
                &[1, 1, 5, 6, 2, 1],
                &[1, 1, 1],
                &[1, 1],
                &[1, 1, 1],
                &[2, 1, 3, 0],
                &[1, 5, 1],
                &[1],
                &[1, 2, 1],
                &[],
                &[],
                &[1, 2, 1],
                &[1],
                &[3, 3, 3, 3, 3, 3, 3, 3, 3, 7],
            ],
        ),
    ];
    for (tokenizer, expected) in all {
        write(folder.path(), &tokenizer, &json!({}), &tensors);
        let model = Model2Vec::open(folder.path()).unwrap();
        for (text, expected) in TEXTS.iter().zip(expected) {
            assert_eq!(ids(&model, text), expected, "{text:?} {}", tokenizer["pre_tokenizer"]);
        }
    }
}

#[test]
fn vectors_are_those_of_the_reference() {
    let folder = tempfile::tempdir().unwrap();
    let check = |expected: [[f32; 3]; 13]| {
        let model = Model::open(folder.path()).unwrap();
        let vectors = model.encode_batch(TEXTS).unwrap().0;
        for ((text, vector), expected) in TEXTS.iter().zip(vectors.rows()).zip(expected) {
            let is_near = vector.iter().zip(expected).all(|(x, y)| (x - y).abs() < 2e-6);
            assert!(is_near, "{text:?}: {vector} {expected:?}");
        }
    };
    let tensors = [("embeddings", "F32", &[28, 3][..], f32s(&rows(28)))];
    // Cut to four tokens, after a cut to twelve characters.
    write(folder.path(), &bert(), &json!({ "normalize": false, "max_length": 4 }), &tensors);
    check([
        [0.25, 1.3125, 0.2375],
        [0.333333, 1.083333, 0.100673],
        [1.25, 1.3125, 0.101316],
        [0.0, 0.916667, 0.043533],
        [0.0, 0.75, 0.333333],
        [0.0, 1.6875, 0.189881],
        [0.333333, 1.083333, 0.100673],
        [0.0, 0.75, 0.333333],
        [0.0, 0.0, 0.0],
        [0.0, 0.0, 0.0],
        [0.5, 1.625, 0.291667],
        [0.0, 0.0, 0.0],
        [1.0, 2.5, 0.25],
    ]);
    let weights: Vec<u8> = (0..28).flat_map(|i| (0.5 + f64::from(i) / 10.0).to_le_bytes()).collect();
    let mapping: Vec<u8> = (0..28).flat_map(|i| i64::from(i % 6).to_le_bytes()).collect();
    let tensors = [
        ("embeddings", "F32", &[6, 3][..], f32s(&rows(6))),
        ("weights", "F64", &[28][..], weights),
        ("mapping", "I64", &[28][..], mapping),
    ];
    write(folder.path(), &bert(), &json!({ "normalize": false }), &tensors);
    check([
        [-0.75, 0.975, 0.3725],
        [-0.133333, 1.883333, 0.719444],
        [-2.64, 2.08, 1.44],
        [-1.066667, 3.254167, 1.181667],
        [-0.066667, 0.841667, 0.311111],
        [0.2, 1.283333, 0.182222],
        [0.0, 0.0, 0.0],
        [0.0, 0.525, 0.233333],
        [0.0, 0.0, 0.0],
        [0.0, 0.0, 0.0],
        [0.4, 1.2625, 0.216667],
        [0.0, 0.0, 0.0],
        [0.6, 2.01, 0.24],
    ]);
}

#[test]
fn layouts_types_and_lengths_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let halves: Vec<u8> = rows(28).iter().flat_map(|&x| half::f16::from_f32(x).to_le_bytes()).collect();
    let tensors = [("embeddings", "F16", &[28, 3][..], halves)];
    write(folder.path(), &bert(), &json!({ "normalize": true, "max_length": null }), &tensors);
    let first = crate::model::model_digest(folder.path()).unwrap();
    let model = Model2Vec::open(folder.path()).unwrap();
    let vector = model.encode_one("the cats");
    assert!((kernels::norm(vector.as_slice().unwrap()) - 1.0).abs() < 1e-6 && model.max_length.is_none());
    // In the layout of Sentence Transformers.
    let other = folder.path().join("other");
    let tensors = [("embedding.weight", "F32", &[28, 3][..], f32s(&rows(28)))];
    write(&other.join("0_StaticEmbedding"), &bert(), &json!({}), &tensors);
    assert!(!Model2Vec::is_one(&other));
    fs::write(other.join("config_sentence_transformers.json"), "{}").unwrap();
    fs::write(other.join("modules.json"), r#"[{"type":"sentence_transformers.models.Normalize"}]"#).unwrap();
    let same = Model2Vec::open(&other).unwrap().encode_one("the cats");
    assert!(same.iter().zip(&vector).all(|(x, y)| (x - y).abs() < 1e-3), "{same} {vector}");
    let second = crate::model::model_digest(&other).unwrap();
    assert!(first != second && crate::model::model_digest(folder.path()).unwrap() == first);
}

#[test]
fn what_is_not_understood_is_refused_by_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let tensors = || vec![("embeddings", "F32", &[28, 3][..], f32s(&rows(28)))];
    let refused = |tokenizer: &Value, config: &Value, tensors: &[(&str, &str, &[usize], Vec<u8>)], says: &str| {
        write(folder.path(), tokenizer, config, tensors);
        let error = Model2Vec::open(folder.path()).unwrap_err().to_string();
        assert!(error.contains(says), "{says}: {error}");
    };
    let none = json!({});
    let with = |key: &str, part: Value| {
        let mut tokenizer = bert();
        tokenizer[key] = part;
        tokenizer
    };
    if cfg!(not(feature = "tokenizers")) {
        let metaspace = with("pre_tokenizer", json!({ "type": "Metaspace" }));
        refused(&metaspace, &none, &tensors(), "the pre-tokenizer \"Metaspace\"");
        let precompiled = json!({ "type": "Sequence", "normalizers": [{ "type": "Precompiled" }] });
        refused(&with("normalizer", precompiled), &none, &tensors(), "\"Sequence\" (\"Precompiled\")");
        let bpe = with("model", json!({ "type": "BPE", "vocab": {} }));
        refused(&bpe, &none, &tensors(), "a model \"BPE\"");
    }
    refused(&bert(), &json!({ "model_type": "bert" }), &tensors(), "of type \"bert\"");
    refused(&bert(), &none, &[("embeddings", "F32", &[27, 3], f32s(&rows(27)))], "do not fit");
    refused(&bert(), &none, &[("rows", "F32", &[28, 3], f32s(&rows(28)))], "no tensor embeddings");
    refused(&bert(), &none, &[("embeddings", "F32", &[28, 4], f32s(&rows(28)))], "not a safetensors file");
    let mut bad = rows(28);
    bad[7] = f32::NAN;
    refused(&bert(), &none, &[("embeddings", "F32", &[28, 3], f32s(&bad))], "row 2 contains NaN");
    let mapping: Vec<u8> = (0..28).flat_map(|i: i32| (i + 1).to_le_bytes()).collect();
    let tensors = [tensors().remove(0), ("mapping", "I32", &[28][..], mapping)];
    refused(&bert(), &none, &tensors, "do not fit");
    fs::write(folder.path().join("tokenizer.json"), "{").unwrap();
    assert!(Model2Vec::open(folder.path()).unwrap_err().to_string().contains("not JSON"));
    fs::remove_file(folder.path().join("tokenizer.json")).unwrap();
    assert!(Model2Vec::open(folder.path()).unwrap_err().to_string().contains("tokenizer.json"));
    assert!(Model::open(folder.path()).is_err());
}
