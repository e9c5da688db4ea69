//! Opens a model from bytes and writes it to a writer. The bytes may come from the program itself, a database or an
//! archive.
//!
//! ```text
//! cargo run --release -p senv-examples --example model_from_bytes
//! ```
#![allow(clippy::print_stdout)]
use std::collections::HashMap;

use senv::{Model, StaticEncoder, prelude::*};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // From a build script or `senv train`: static MODEL: &[u8] = include_bytes!("my.senv");
    let sentences: Vec<String> = (0..200).map(|i| format!("train {} is {}", i % 7, ["late", "early"][i % 2])).collect();
    let trained = Sent2VecParams { dim: 16, ..Sent2VecParams::default() }.train_sentences(&sentences)?;

    // To any writer.
    let mut database: HashMap<&str, Vec<u8>> = HashMap::new();
    Model::from(trained.clone()).write_to(database.entry("trains").or_default())?;

    // Back from bytes: any kind of model, at any alignment.
    let model = Model::from_bytes(database["trains"].clone())?;
    let sentence = "train 3 is late";
    assert_eq!(model.encode_one(sentence), trained.encode_one(sentence));

    // `senv-core` is enough to serve a small table, without the code of the systems.
    let mut bytes = Vec::new();
    senv::CompressParams::default().compress(&model)?.write_to(&mut bytes)?;
    println!("{} bytes instead of {}", bytes.len(), database["trains"].len());
    let small = StaticEncoder::from_bytes(bytes)?;
    assert!(small.similarity(sentence, sentence) > 0.99);

    // Bytes that are not a model return an error without a file name.
    let error = Model::from_bytes(&b"no model"[..]).expect_err("eight bytes of text");
    println!("{error}");
    Ok(())
}
