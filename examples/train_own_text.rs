//! Trains on your own text, saves, and opens again.
//!
//! ```text
//! cargo run --release -p senv-examples --example train_own_text [FILE ...]
//! ```
//!
//! The files have one sentence per line and a blank line between documents; they may be `.gz` or `.zst`.
#![allow(clippy::print_stdout)]
use std::path::PathBuf;

use senv::prelude::*;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut text: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    if text.is_empty() {
        text.push(concat!(env!("CARGO_MANIFEST_DIR"), "/data/quickstart.txt").into());
    }

    // The system and settings that fit the text. `fine_tune(&english()?, &text)` starts from the English model, and
    // passes its terms on.
    let model = train(&text)?;
    println!("{}, {} words, {} values per sentence", model.kind(), model.vocabulary().len(), model.dim());
    if let Some(terms) = model.terms() {
        println!("terms: {terms}");
    }

    // A system by name, with two settings changed; the others fit the text.
    let params = Sent2VecParams { dim: 50, min_count: Some(2), ..Sent2VecParams::default() };
    let sent2vec = params.train(&text)?;

    let folder = tempfile::tempdir()?;
    let path = folder.path().join("my.senv");
    sent2vec.save(&path)?; // replaces an existing file atomically
    let opened = open(&path)?; // memory-mapped: opens quickly at any size
    let sentence = "The train is late.";
    assert_eq!(opened.encode_one(sentence), sent2vec.encode_one(sentence));

    // A table of 4 bits per value, which `senv-core` can open without the rest of senv.
    let small = senv::CompressParams::default().compress(&opened)?;
    small.save(folder.path().join("small.senv"))?;
    let known = opened.known_words(["The train is late.", "Der Zug kam zu spät."]);
    println!("knows {} of {} words", known.known, known.words);
    Ok(())
}
