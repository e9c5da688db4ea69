//! Searches the text that ships with senv: first with the built-in English model, then with a model trained on the
//! text, without naming a system. It takes a few seconds on one core.
//!
//! ```text
//! cargo run --release -p senv-examples --example quickstart
//! ```
//!
//! The text (`examples/data`, 2,557 sentences) is enough for a first look. For your own text, change only the path:
//! [`senv::train`] chooses settings that fit it.

#![allow(clippy::print_stdout)]

use std::{error::Error, fs, time::Instant};

use senv_core::{SentenceEncoder, SentenceEncoderExt, Table};
use senv_store::NearestIndex;

const TEXT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/data/quickstart.txt");

/// None of these is in the text.
const QUERIES: &[&str] = &[
    "The bank asks for high interest on a loan.",
    "Mix flour and warm water and bake the bread.",
    "A thunderstorm with heavy rain is coming tonight.",
    "Sow lettuce and water the young tomatoes.",
    "Astronomers found a planet near a distant star.",
    "The goalkeeper could not stop the penalty.",
    "My train was delayed, so I missed the connection.",
    "The nurse gave the sick child some medicine.",
];

const PAIRS: &[(&str, &str)] = &[
    ("The sailors left the harbour before dawn.", "Early in the morning the crew sailed out of the port."),
    ("The pupils were nervous before the exam.", "The class was afraid of the mathematics test."),
    ("The sailors left the harbour before dawn.", "The class was afraid of the mathematics test."),
];

fn main() -> Result<(), Box<dyn Error>> {
    let text = fs::read_to_string(TEXT)?;
    let sentences: Vec<&str> = text.lines().filter(|line| !line.is_empty()).collect();
    println!("Without training, by the English model that is part of senv: nearest of {} sentences\n", sentences.len());
    search(&senv_english::model()?, &sentences, &QUERIES[..3], 3)?;

    println!("\nTraining on {TEXT}, from the English model if its terms are permissive and a trial finds that better");
    let start = Instant::now();
    let model = senv::train(TEXT)?;
    let (words, dim, seconds) = (model.vocabulary().len(), model.dim(), start.elapsed().as_secs_f64());
    println!("{words} words known, vectors of {dim} dimensions; trained in {seconds:.1} s");
    println!("Terms: {}\n", model.terms().unwrap_or("yours"));

    println!("The sentences of the text that are nearest to a new one, by cosine:\n");
    search(&model, &sentences, QUERIES, 3)?;

    println!("\nHow similar are two sentences?\n");
    for (a, b) in PAIRS {
        println!("   {:.2}  {a}\n         {b}", model.similarity(a, b));
    }

    println!(
        "\nNow with your own text, one sentence per line, a million lines or more:\n\n   \
         cargo run --release -p senv-cli -- train --input TEXT --output my.senv\n   \
         cargo run --release -p senv-cli -- nearest --model my.senv --input TEXT --query \"a sentence\""
    );
    Ok(())
}

/// Prints the `k` sentences nearest to each query.
fn search(model: &dyn SentenceEncoder, sentences: &[&str], queries: &[&str], k: usize) -> Result<(), Box<dyn Error>> {
    let vectors = table(model, sentences)?;
    let index = NearestIndex::new(&vectors);
    for (query, vector) in queries.iter().zip(table(model, queries)?.iter()) {
        println!("{query}");
        for neighbour in index.nearest(vector, k)? {
            println!("   {:.2}  {}", neighbour.cosine, sentences[neighbour.row]);
        }
    }
    Ok(())
}

/// The embeddings of the sentences, one per row.
fn table(model: &dyn SentenceEncoder, sentences: &[&str]) -> senv_core::Result<Table> {
    Ok(model.encode(sentences)?.into())
}

#[cfg(test)]
mod tests {
    use senv::Model;

    use super::*;

    /// The subject of each sentence; `examples/data/README.md` gives the order of the documents.
    fn subjects(text: &str) -> Vec<usize> {
        let documents = text.trim_end().split("\n\n").enumerate();
        documents.flat_map(|(d, document)| document.lines().map(move |_| (d + 5 * (d / 14)) % 14)).collect()
    }

    /// The share of sentences whose nearest sentence has the same subject.
    fn share(model: &dyn SentenceEncoder) -> f64 {
        let text = fs::read_to_string(TEXT).unwrap();
        let sentences: Vec<&str> = text.lines().filter(|line| !line.is_empty()).collect();
        let subjects = subjects(&text);
        assert_eq!((sentences.len(), subjects.len()), (2557, 2557));
        let vectors = table(model, &sentences).unwrap();
        let queries: Vec<&[f32]> = vectors.iter().collect();
        let nearest = NearestIndex::new(&vectors).nearest_batch(&queries, 2).unwrap();
        let same = (0..sentences.len()).filter(|&i| {
            let other = nearest[i].iter().find(|n| n.row != i).expect("two neighbours");
            subjects[other.row] == subjects[i]
        });
        same.count() as f64 / sentences.len() as f64
    }

    #[test]
    fn the_nearest_sentence_is_about_the_same_thing() {
        let model: Model = senv::train(TEXT).unwrap();
        let (trained, english) = (share(&model), share(&senv_english::model().unwrap()));
        println!("nearest sentence of the same subject: trained {trained:.3}, English {english:.3}");
        // Chance is one in fourteen.
        assert!(trained > 0.6 && english > 0.6, "{trained} {english}");

        let [paraphrase, reworded, unrelated] = [0, 1, 2].map(|i| model.similarity(PAIRS[i].0, PAIRS[i].1));
        assert!(paraphrase.min(reworded) > unrelated + 0.1, "{paraphrase} {reworded} {unrelated}");
        let text = fs::read_to_string(TEXT).unwrap();
        let sentences: Vec<&str> = text.lines().collect();
        for query in QUERIES {
            assert!(!sentences.contains(query), "{query} stands in the text");
        }
    }
}
