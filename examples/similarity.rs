//! Compares two sentences and finds the nearest of several, with the built-in English model: no download, no training.
//!
//! ```text
//! cargo run --release -p senv-examples --example similarity
//! ```
#![allow(clippy::print_stdout)]
use std::sync::Arc;

use senv::prelude::*;

const SENTENCES: [&str; 4] =
    ["The ship left the port.", "Sow the lettuce in spring.", "Rain is coming.", "The train is late."];

/// Works with any encoder: a model, a pointer to a model, or your own.
fn nearest<E: SentenceEncoder + ?Sized>(encoder: &E, query: &str) -> Result<&'static str, senv::Error> {
    let unit = encoder.normalized(); // vectors of length 1, whose product is the cosine
    let (query, vectors) = (unit.encode_one(query), unit.encode(&SENTENCES)?);
    let cosines = vectors.dot(&query);
    let best = cosines.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1));
    Ok(best.map_or("", |(i, _)| SENTENCES[i]))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let english = english()?;
    let [alike, unlike] = [0, 1].map(|i| english.similarity("The boat sails to the island.", SENTENCES[i]));
    println!("{alike:.2}  {}\n{unlike:.2}  {}", SENTENCES[0], SENTENCES[1]);
    assert!(alike > unlike + 0.2);

    assert_eq!(nearest(&english, "A storm brings rain.")?, "Rain is coming.");
    let shared: Arc<dyn SentenceEncoder> = Arc::new(english); // for the threads of a server
    assert_eq!(nearest(&shared, "The railway has delays.")?, "The train is late.");

    let english = senv::english()?;
    let known = english.known_words(["Der Zug kam zu spät.", "Wir gingen im Regen nach Hause."]);
    println!("it knows {} of the {} German words", known.known, known.words);
    Ok(())
}
