//! The encoder that is built in: its bits, what it finds near, and odd input.

use senv_core::{Coverage, Scratch, SentenceEncoder, StaticEncoder};
use sha2::{Digest, Sha256};

fn english() -> StaticEncoder {
    senv_english::model().unwrap()
}

/// A hundred sentences of the subjects, verbs and places below.
fn hundred_sentences() -> Vec<String> {
    let subjects = ["A child", "The old sailor", "My neighbour's dog", "Dr. Smith", "The twenty-first guest"];
    let verbs = ["is eating", "doesn't want", "wrote about", "quickly sold"];
    let objects = ["fresh bread", "a red bicycle", "the weather in Paris", "3.5 litres of oil", "low-cost Zyzzogeton"];
    let of = |s: usize, v: usize, o: usize| format!("{} {} {}.", subjects[s], verbs[v], objects[o]);
    (0..100).map(|i| of(i % 5, i / 5 % 4, i / 20)).collect()
}

/// SHA-256 of the vectors of the sentences, f32 in little-endian.
#[test]
fn vectors_are_the_same_bits_everywhere() {
    let hash = |encoder: StaticEncoder| -> String {
        let vectors = encoder.encode(&hundred_sentences()).unwrap();
        let bytes: Vec<u8> = vectors.iter().flat_map(|x| x.to_le_bytes()).collect();
        Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect()
    };
    assert_eq!(hash(english()), "06833615356f549084348d8807f674fbee4dd37242d31e3ce744c3cef2ac2730");
    let fewer_words = english().truncate_vocabulary(20_000).unwrap();
    assert_eq!(hash(fewer_words), "8e1be7e41652f6714a470f63755875655415679d67aa22031003f010544896dd");
}

#[test]
fn a_paraphrase_is_nearer_than_another_subject() {
    let english = english();
    for (sentence, paraphrase, other) in [
        ("The cat is sleeping on the sofa.", "A kitten naps on the couch.", "The parliament voted on the budget."),
        ("How can I change my password?", "Where do I choose a new password?", "What time does the museum open?"),
        ("The company fired two hundred employees.", "A firm laid off its staff.", "The team won the final match."),
        ("He bought a new car.", "He purchased an automobile.", "She sings in a choir."),
        ("Heavy rain flooded the streets.", "The roads are under water after a storm.", "The soup needs more salt."),
        ("The surgeon operated on the patient.", "A doctor performed surgery.", "The pilot landed the plane."),
    ] {
        let (near, far) = (english.similarity(sentence, paraphrase), english.similarity(sentence, other));
        assert!(near > far + 0.15, "{sentence} {paraphrase} {near}, {other} {far}");
    }
}

#[test]
fn odd_input_has_defined_results() {
    let english = english();
    let (mut scratch, mut vector) = (Scratch::default(), vec![f32::NAN; english.dim()]);
    let mut encode = |text: &str| {
        let coverage = english.encode_into(text, &mut scratch, &mut vector);
        assert!(vector.iter().all(|x| x.is_finite()), "{:?}", &text[..text.len().min(40)]);
        (coverage, vector.iter().all(|&x| x == 0.0))
    };
    assert_eq!(encode(""), (Coverage::default(), true));
    assert_eq!(encode(" \t\r\n "), (Coverage::default(), true));
    let (coverage, is_zero) = encode("qzxjk wvvbz");
    assert_eq!((coverage, is_zero), (Coverage { hashed: 2, ..Coverage::new(2, 0) }, false));
    let (coverage, is_zero) = encode("nul\0byte \0");
    assert!(coverage.tokens > 0 && !is_zero);
    let (coverage, _) = encode(&"the cat sat on a zyzzogeton ".repeat(370_000));
    assert_eq!((coverage.tokens, coverage.hashed), (6 * 370_000, 370_000), "10 MB in one line");
    let (coverage, _) = encode(&"x".repeat(10_000_000));
    assert_eq!((coverage.tokens, coverage.known), (1, 0), "one word of 10 MB");
    assert_eq!(english.similarity("", "the cat"), 0.0);
}

#[test]
fn rows_start_on_cache_lines() {
    let file = senv_core::ModelFile::from_bytes(senv_english::BYTES).unwrap();
    assert_eq!(file.raw("rows").unwrap().bytes.as_ptr().addr() % 64, 0);
}

#[test]
fn the_package_stays_small() {
    assert!(senv_english::BYTES.len() < 8_000_000, "{} bytes", senv_english::BYTES.len());
}
