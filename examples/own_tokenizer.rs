//! Your own tokenizer: used in training, stored in the model file by its name, and used again when the file is opened.
//!
//! ```text
//! cargo run --release -p senv-examples --example own_tokenizer
//! ```
#![allow(clippy::print_stdout)]
use std::sync::Arc;

use senv::{Tokenizer, parts::core::text::Tokenize, prelude::*};

const TEXT: [&str; 6] = [
    "The ship sailed into the port.",
    "Boats are sailing from port to port.",
    "A ship and two boats sail at night.",
    "",
    "The gardener planted lettuces in the garden.",
    "Plant one lettuce in every bed of your gardens.",
];

/// Words without their endings. A tokenizer may have state, such as a dictionary or another library's segmenter.
#[derive(Debug)]
struct Stems {
    endings: [&'static str; 4],
}

impl Tokenize for Stems {
    fn for_each(&self, text: &str, token: &mut dyn FnMut(&str)) {
        for word in text.split(|c: char| !c.is_alphanumeric()) {
            let stem = self.endings.iter().find_map(|ending| word.strip_suffix(ending));
            token(stem.filter(|stem| stem.len() > 2).unwrap_or(word)); // an empty token is left out
        }
    }
}

/// Call this once, at the start of every program that trains with the tokenizer or opens its models.
fn stems() -> senv::Result<Tokenizer> {
    let stems = Stems { endings: ["ing", "ed", "er", "s"] };
    Ok(Tokenizer::custom("stems", Arc::new(stems))?.lowercase(true))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let params = Sent2VecParams { dim: 16, tokenizer: stems()?, min_count: Some(1), ..Sent2VecParams::default() };
    let model = params.train_sentences(TEXT.repeat(20))?;
    let path = std::env::temp_dir().join("own-tokenizer.senv");
    model.save(&path)?;

    let opened = open(&path)?; // Another program gets an error with the name, unless it has called `stems` as well.
    std::fs::remove_file(&path)?;
    println!("{:?}: {}", opened.tokenizer().name(), opened.tokenizer().tokens("Ships were sailing").join(" "));
    assert_eq!(opened.tokenizer().tokens("Ships were sailing"), ["ship", "were", "sail"]);
    assert_eq!(opened.encode_one("ships sailed"), opened.encode_one("Ship, sailing!"));
    assert_eq!(opened.encode_one("ships sailed"), model.encode_one("ship sail"));
    Ok(())
}
