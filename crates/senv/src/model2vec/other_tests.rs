//! Tokenizers of the crate `tokenizers`. The expected ids and vectors were computed from the same files in Python, by
//! Model2Vec 0.10.0 and tokenizers 0.23.3.

use super::{
    tests::{f32s, ids, rows, write},
    *,
};

const TEXTS: [&str; 8] = [
    "The cats sat on the mat!",
    "Unbelievable, CAFÉ naïve",
    "日本 cat日本",
    "",
    "  ",
    "the<unk>cat",
    "ﬁsh  and\tchips",
    "don't!! <s>the cat",
];

/// Subwords by probability, as in folders built from multilingual models.
fn unigram() -> Value {
    let parts = json!([
        ["<unk>", 0.0],
        ["<s>", 0.0],
        ["▁the", -2.0],
        ["▁cat", -3.0],
        ["s", -3.5],
        ["▁s", -4.0],
        ["at", -3.25],
        ["▁on", -3.0],
        ["▁", -5.0],
        ["m", -5.5],
        ["a", -5.25],
        ["t", -5.0],
        ["un", -4.5],
        ["▁un", -4.0],
        ["belie", -5.0],
        ["vable", -6.0],
        ["f", -6.0],
        ["i", -6.0],
        ["sh", -5.0],
        ["日本", -4.0],
        ["!", -5.0],
        ["c", -6.5],
        ["e", -5.0]
    ]);
    let added = |id: u32, content: &str| {
        json!({ "id": id, "content": content, "single_word": false, "lstrip": false, "rstrip": false, "normalized": false,
                "special": true })
    };
    json!({
        "version": "1.0", "added_tokens": [added(0, "<unk>"), added(1, "<s>")],
        // For other models: Model2Vec has its own limit.
        "truncation": { "max_length": 3, "strategy": "LongestFirst", "stride": 0, "direction": "Right" },
        "normalizer": { "type": "Sequence", "normalizers": [{ "type": "NFKC" }, { "type": "Lowercase" }] },
        "pre_tokenizer": { "type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": true },
        "model": { "type": "Unigram", "unk_id": 0, "vocab": parts, "byte_fallback": false },
    })
}

/// Byte pairs that are merged, as in folders built from GPT and similar models.
fn bpe() -> Value {
    // Printable bytes represent themselves; all others are characters starting at U+0100.
    let is_printable = |byte: &u8| matches!(byte, 33..=126 | 161..=172 | 174..=255);
    let mut others = 256..;
    let names: Vec<char> = (0..=255_u8)
        .map(
            |byte| if is_printable(&byte) { char::from(byte) } else { char::from_u32(others.next().unwrap()).unwrap() },
        )
        .collect();
    let merges = ["h e", "Ġ t", "Ġt he", "a t", "Ġ c", "Ġc at", "T h", "Th e", "Ġ s", "Ġs at"];
    let tokens = names.iter().map(char::to_string).chain(merges.iter().map(|pair| pair.replace(' ', "")));
    let vocabulary: serde_json::Map<String, Value> =
        tokens.zip(0..).map(|(token, id)| (token, Value::from(id))).collect();
    json!({
        "version": "1.0", "added_tokens": [], "normalizer": null,
        "pre_tokenizer": { "type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true },
        "model": { "type": "BPE", "vocab": vocabulary, "merges": merges },
    })
}

#[test]
fn ids_and_vectors_are_those_of_the_reference() {
    let folder = tempfile::tempdir().unwrap();
    let of_unigram: [(&[u32], [f32; 3]); 8] = [
        (&[2, 3, 4, 5, 6, 7, 2, 8, 9, 6, 20], [0.0, 1.454545, 0.177525]),
        (&[13, 14, 15, 0, 8, 21, 10, 16, 0, 8, 0, 10, 0, 22], [-0.3, 0.875, 0.075239]),
        (&[8, 19, 3, 19], [1.5, 0.8125, 0.115278]),
        (&[], [0.0, 0.0, 0.0]),
        (&[8, 8], [1.0, 0.25, 0.111111]),
        (&[2, 0, 3], [0.5, 1.625, 0.291667]),
        (&[8, 16, 17, 18, 8, 8, 10, 0, 21, 0, 17, 0, 4], [0.2, 1.05, 0.089226]),
        (&[8, 0, 11, 20, 20, 8, 1, 2, 3], [-0.375, 1.1875, 0.185516]),
    ];
    let of_bpe: [(&[u32], [f32; 3]); 8] = [
        (&[84, 256, 261, 115, 265, 32, 111, 110, 258, 32, 109, 259, 33], [-0.076923, 1.057692, 0.012047]),
        (
            &[
                85, 110, 98, 101, 108, 105, 101, 118, 97, 98, 108, 101, 44, 32, 67, 65, 70, 195, 137, 32, 110, 97, 195,
                175, 118, 101,
            ],
            [-0.538462, 0.932692, 0.011691],
        ),
        (&[230, 151, 165, 230, 156, 172, 261, 230, 151, 165, 230, 156, 172], [-1.307692, 0.673077, 0.005434]),
        (&[], [0.0, 0.0, 0.0]),
        (&[32, 32], [0.0, 1.0, 0.030303]),
        (&[116, 256, 60, 117, 110, 107, 62, 99, 259], [-0.222222, 1.138889, 0.009477]),
        (&[239, 172, 129, 115, 104, 32, 32, 97, 110, 100, 9, 99, 104, 105, 112, 115], [0.125, 0.90625, 0.016996]),
        (&[100, 111, 110, 39, 116, 33, 33, 32, 60, 115, 62, 116, 256, 261], [-0.642857, 1.160714, 0.014832]),
    ];
    for (tokenizer, n, unknown, expected) in [(unigram(), 23, 0, of_unigram), (bpe(), 266, u32::MAX, of_bpe)] {
        write(folder.path(), &tokenizer, &json!({}), &[("embeddings", "F32", &[n, 3], f32s(&rows(n)))]);
        let model = Model2Vec::open(folder.path()).unwrap();
        assert_eq!(model.tokens.unknown().unwrap_or(u32::MAX), unknown);
        for (text, (tokens, vector)) in TEXTS.iter().zip(expected) {
            assert_eq!(ids(&model, text), tokens, "{text:?}");
            let found = model.encode_one(text);
            assert!(found.iter().zip(vector).all(|(x, y)| (x - y).abs() < 2e-6), "{text:?}: {found} {vector:?}");
        }
    }
}

#[test]
fn what_neither_understands_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |tokenizer: &Value, says: &[&str]| {
        write(folder.path(), tokenizer, &json!({}), &[("embeddings", "F32", &[23, 3], f32s(&rows(23)))]);
        let error = Model2Vec::open(folder.path()).unwrap_err().to_string();
        assert!(says.iter().all(|part| error.contains(part)), "{error}");
    };
    let mut unknown = unigram();
    unknown["pre_tokenizer"]["type"] = "Moon".into();
    refused(
        &unknown,
        &[
            "the pre-tokenizer \"Moon\", which senv does not read",
            "and the tokenizers crate does not \
        either",
        ],
    );
    refused(&bpe(), &["do not fit together"]);
    // Without a token for unknown pieces the tokenizer fails, and nothing of the text is known.
    let mut without = unigram();
    without["model"]["unk_id"] = Value::Null;
    write(folder.path(), &without, &json!({}), &[("embeddings", "F32", &[23, 3], f32s(&rows(23)))]);
    let model = Model2Vec::open(folder.path()).unwrap();
    let (mut scratch, mut vector) = (Scratch::default(), [1.0; 3]);
    assert_eq!(model.encode_into("ψ", &mut scratch, &mut vector), Coverage::new(1, 0));
    assert_eq!(vector, [0.0; 3]);
}
