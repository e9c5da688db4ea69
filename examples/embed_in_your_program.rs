//! Train once, then open, encode, compare and search: all that a program needs of senv.
#![allow(clippy::print_stdout)]
use senv_models::prelude::*;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let text = concat!(env!("CARGO_MANIFEST_DIR"), "/data/quickstart.txt");
    let path = std::env::temp_dir().join("first.senv");
    let model = Sent2Vec::train(text)?; // or Sent2VecParams { dim: 300, ..Sent2VecParams::for_text(size) }.train(text)
    model.save(&path)?;

    let model = open(&path)?;
    println!("similarity {:.2}", model.similarity("The ship left the port.", "The boat sails to the island."));

    let sentences = ["Rain is coming.", "The bread is in the oven.", "The train is late."];
    let vectors = model.encode(&sentences)?; // an ndarray, one row a sentence
    println!("vectors    {} x {}", vectors.nrows(), vectors.ncols());
    for hit in Index::new(&model, &sentences)?.search("A storm brings rain.", 1)? {
        println!("nearest    {:.2}  {}", hit.similarity, hit.sentence);
    }
    Ok(())
}
