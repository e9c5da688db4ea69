//! Train once, then open, encode, compare and search: all that a program needs of senv.
#![allow(clippy::print_stdout)]
use senv_core::{NoObserver, SentenceEncoder, Table};
use senv_models::{Model, Params, Sent2VecParams};
use senv_store::NearestIndex;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let text = concat!(env!("CARGO_MANIFEST_DIR"), "/data/quickstart.txt");
    let path = std::env::temp_dir().join("first.senv");
    // Settings for a very small text; on a large one begin with `Sent2VecParams::default()`.
    let mut params = Sent2VecParams { min_count: 2, min_target_count: 2, subsample: 1e-4, ..Default::default() };
    params.training = Params { epochs: 60, lr: 0.5, ..params.training };
    params.fit_files(&[text], &Default::default(), &NoObserver)?.model.save(&path)?;

    let model = Model::open(&path)?;
    println!("similarity {:.2}", model.similarity("The ship left the port.", "The boat sails to the island."));

    let sentences = ["Rain is coming.", "The bread is in the oven.", "The train is late."];
    let vectors = model.encode(&sentences)?; // an ndarray, one row a sentence
    let table = Table::from_vec(sentences.len(), model.dim(), vectors.into_iter().collect())?;
    let query = model.encode(&["A storm brings rain."])?;
    for near in NearestIndex::new(&table).nearest(query.as_slice().unwrap_or(&[]), 1)? {
        println!("nearest    {:.2}  {}", near.cosine, sentences[near.row]);
    }
    Ok(())
}
