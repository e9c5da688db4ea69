//! Calls the C ABI as a page does. Each test is a thread with its own session.
#![allow(unsafe_code)] // a page writes into the memory of the module and reads from it

use senv_core::{
    Scratch, SentenceEncoder,
    files::{WebCollectionWriter, WebSentence},
};
use senv_web::exports::*;
use serde_json::{Value, json};

fn put(text: &[u8]) {
    let at = senv_input(text.len());
    // SAFETY: `senv_input` returns the start of `text.len()` bytes, which nothing else uses until the next call.
    unsafe { std::slice::from_raw_parts_mut(at, text.len()) }.copy_from_slice(text);
}

fn answer(n: usize) -> Value {
    // SAFETY: the answer has `n` bytes, and does not change until the next call.
    let bytes = unsafe { std::slice::from_raw_parts(senv_answer(), n) };
    serde_json::from_slice(bytes).unwrap()
}

#[test]
fn a_call_before_the_start_says_what_is_missing() {
    put(b"A cat.");
    for n in [senv_embed(), senv_compare(0), senv_search(1), senv_hits(), senv_vectors()] {
        assert!(answer(n)["error"].as_str().unwrap().contains("senv_start"));
    }
}

#[test]
fn a_cosine_comes_back_as_it_is() {
    let about = answer(senv_start());
    assert_eq!((about["dim"].as_u64(), about["line_dim"].as_u64()), (Some(514), Some(256)));
    let (first, second) = ("He bought a new car.", "He purchased an automobile. 😀");
    put(format!("{first}{second}").as_bytes());
    let pair = answer(senv_compare(first.len()));
    let expected = senv_english::model().unwrap().similarity(first, second);
    assert_eq!(pair["cosine"].as_f64().unwrap() as f32, expected);
    // More bytes than there are, and no bytes.
    assert_eq!(answer(senv_compare(usize::MAX))["cosine"], json!(0.0));
    put(b"");
    assert_eq!(answer(senv_compare(0))["sides"][1]["counts"], json!({ "tokens": 0, "known": 0, "hashed": 0 }));
    put(b"A \xff cat");
    assert_eq!(answer(senv_embed())["counts"]["tokens"], 3);
}

#[test]
fn a_text_is_read_and_searched_in_steps() {
    senv_start();
    put(b"The train is late.\n\nA storm brings rain.\n");
    assert_eq!(answer(senv_open_text()), Value::Null);
    assert_eq!(answer(senv_read_lines(1)), json!({ "lines": 1, "done": false }));
    assert_eq!(answer(senv_read_lines(9)), json!({ "lines": 2, "done": true }));
    put(b"rain");
    assert_eq!(answer(senv_ask(1)), json!({ "tokens": 1, "known": 1, "hashed": 0 }));
    assert_eq!(answer(senv_search(1)), json!({ "compared": 1, "done": false }));
    assert_eq!(answer(senv_search(9)), json!({ "compared": 2, "done": true }));
    let hits = answer(senv_hits());
    assert_eq!((&hits[0]["line"], &hits[0]["text"]), (&json!(3), &json!("A storm brings rain.")));
    let blocks = answer(senv_vectors());
    assert_eq!((blocks.as_array().unwrap().len(), &blocks[0][1]), (1, &json!(512)));
    // Values beyond the text, and zero, do nothing.
    assert_eq!(answer(senv_search(usize::MAX)), json!({ "compared": 2, "done": true }));
    assert_eq!(answer(senv_read_lines(0)), json!({ "lines": 2, "done": true }));
}

#[test]
fn an_input_that_no_memory_holds_is_null() {
    senv_start();
    assert!(senv_input(usize::MAX).is_null() && senv_input(isize::MAX as usize).is_null());
    put(b"A cat.");
    assert_eq!(answer(senv_embed())["counts"]["known"], 3);
}

#[test]
fn a_collection_is_opened_checked_and_searched() {
    senv_start();
    let mut writer = WebCollectionWriter::new(256, senv_english::DIGEST).unwrap();
    let english = senv_english::model().unwrap().without_order();
    for (id, text) in [(u64::MAX, "The train is late."), (1, "A storm brings rain."), (2, "A storm brings rain.")] {
        let mut vector = vec![0.0; english.dim()];
        english.encode_into(text, &mut Scratch::default(), &mut vector);
        writer.push(&WebSentence { text, vector: &vector, id: id.into(), line: 0 }).unwrap();
    }
    let folder = tempfile::tempdir().unwrap();
    writer.save(folder.path().join("c.web")).unwrap();
    let file = std::fs::read(folder.path().join("c.web")).unwrap();
    put(&file);
    assert_eq!(answer(senv_open_collection()), json!({ "sentences": 3, "distinct": 2 }));
    while answer(senv_read_lines(1))["done"] == json!(false) {}
    put(b"a late train");
    answer(senv_ask(2));
    assert_eq!(answer(senv_search(usize::MAX)), json!({ "compared": 2, "done": true }));
    let hits = answer(senv_hits());
    assert_eq!(
        (&hits[0]["id"], &hits[0]["count"], &hits[0]["line"]),
        (&json!("18446744073709551615"), &json!(1), &json!(0))
    );
    assert_eq!((&hits[1]["id"], &hits[1]["count"]), (&json!("1"), &json!(2)));
    assert_eq!(answer(senv_vectors()), json!([]));
    put(&file[..file.len() - 1]);
    assert!(answer(senv_open_collection())["error"].as_str().unwrap().contains("the collection"));
    assert_eq!(answer(senv_hits()), json!([]));
}
