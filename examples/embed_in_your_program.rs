//! All that a program needs of senv: compare, search and encode with the English model that is part of it, then go on
//! from that model with text of your own.
//!
//! ```text
//! cargo run --release -p senv-examples --example embed_in_your_program
//! ```
#![allow(clippy::print_stdout)]
use senv::{StaticModel, prelude::*};

const PAIRS: [[&str; 2]; 2] = [
    ["The ship left the port.", "The boat sails to the island."],
    ["The ship left the port.", "Sow the lettuce in spring."],
];
const SENTENCES: [&str; 3] = ["Rain is coming.", "The bread is in the oven.", "The train is late."];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let english = english()?;
    for [first, second] in PAIRS {
        println!("similarity {:.2}  {first} {second}", english.similarity(first, second));
    }
    let vectors = english.encode(&SENTENCES)?; // an ndarray, one row a sentence
    println!("vectors    {} x {}", vectors.nrows(), vectors.ncols());
    for hit in Index::new(&english, &SENTENCES)?.search("A storm brings rain.", 1)? {
        println!("nearest    {:.2}  {}", hit.cosine, hit.text);
    }

    // Your text, one sentence a line: the model keeps what it knows and learns the words that it lacks.
    let own = own(&english, &[concat!(env!("CARGO_MANIFEST_DIR"), "/data/quickstart.txt")])?;
    let path = std::env::temp_dir().join("first.senv");
    own.save(&path)?;
    let own = open(&path)?; // memory-mapped: at once, whatever its size
    for [first, second] in PAIRS {
        println!("your model {:.2}  {first} {second}", own.similarity(first, second));
    }
    Ok(())
}

/// The model that is part of senv; [`open`] opens a file.
fn english() -> Result<Model, Box<dyn std::error::Error>> {
    Ok(StaticModel::from(senv_english::model()?).into())
}

/// A model of this text that goes on from another; [`train`] starts from nothing, which takes a million words and more.
fn own(start: &Model, text: &[&str]) -> Result<Model, Error> {
    let options = TrainOptions::default();
    let mut recipe = Recipe::choose(text, &[] as &[&str], &options)?;
    recipe.fine_tune_from(start, options.observer)?;
    recipe.fit(&options)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_that_mean_alike_are_nearer_in_both_models() {
        let english = english().unwrap();
        let own = own(&english, &[concat!(env!("CARGO_MANIFEST_DIR"), "/data/quickstart.txt")]).unwrap();
        for model in [&english, &own] {
            let [alike, unlike] = PAIRS.map(|[first, second]| model.similarity(first, second));
            assert!(alike > 0.2 && alike > unlike + 0.2, "{alike} {unlike}");
            let index = Index::new(model, &SENTENCES).unwrap();
            let hits = index.search("A storm brings rain.", 1).unwrap();
            assert_eq!(hits[0].text, SENTENCES[0]);
        }
    }
}
