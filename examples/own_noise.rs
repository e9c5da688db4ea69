//! Your own negative sampler, in the trainer of word2vec and related systems.
//!
//! ```text
//! cargo run --release -p senv-examples --example own_noise
//! ```
#![allow(clippy::print_stdout)]
use senv::{
    CorpusOptions, Model, NoObserver,
    data::MemoryText,
    parts::{
        core::{
            Corpus, RunOptions, Table, init,
            rng::{RngExt, Stream},
        },
        negative_sampling::{NegativeSamplingParams, NoiseSource, SkipGram, Subsampling, Tables, fit},
        store::Embeddings,
    },
};

const TEXT: [&str; 4] = [
    "the ship left the port at noon",
    "the ship and the boat sail from port to port",
    "the rain and the storm come at night",
    "a storm brings rain and more rain",
];
/// Words with little meaning, which are poor negatives too.
const STOP_WORDS: [&str; 7] = ["the", "a", "and", "at", "to", "from", "more"];
const DIM: usize = 16;

/// Draws all other rows with the same probability.
struct ContentWords {
    rows: Vec<u32>,
}

impl NoiseSource for ContentWords {
    fn draw(&self, rng: &mut Stream) -> u32 {
        // Use only `rng`: then the run depends only on its seed.
        self.rows[rng.random_range(0..self.rows.len())]
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let options = CorpusOptions { min_count: 1, ..CorpusOptions::default() };
    let text = MemoryText::new(TEXT.repeat(50))?;
    let (vocabulary, corpus) = Corpus::read(&[text.as_ref().to_owned()], &options, &NoObserver)?;
    let n = vocabulary.len();

    let content = vocabulary.iter().filter(|(_, word, _)| !STOP_WORDS.contains(word));
    let noise = ContentWords { rows: content.map(|(id, ..)| id.0).collect() };
    let subsampling = Subsampling::new(vocabulary.counts(), vocabulary.corpus_tokens(), f64::INFINITY, 1)?;
    let examples = SkipGram::new(3, subsampling, n);
    let params = NegativeSamplingParams { epochs: Some(20), ..NegativeSamplingParams::default() };
    let tables = || {
        let mut source = Table::zeros(n, DIM)?;
        init::uniform_rows(&mut source, 0..n, 1.0 / DIM as f32, 1)?;
        Ok(Tables { source, target: Table::zeros(n, DIM)? })
    };
    // Checkpoints store "content words", which names what the rows depend on besides the text.
    let trained = fit(&corpus, &examples, &noise, &params, "content words", tables, &RunOptions::default())?;

    println!("mean loss {:.3}", trained.loss);
    let model = Model::from_embeddings(Embeddings::new(vocabulary, trained.tables.source)?)?;
    let (near, far) = (model.similarity("ship", "port"), model.similarity("ship", "rain"));
    println!("ship and port {near:.2}, ship and rain {far:.2}");
    assert!(near > far);
    Ok(())
}
