//! Seconds of nested cross-validation of logistic regression: 10 x 10 folds, nine values of C.
//!
//! `probe-speed MODEL LABELED_FILE [VECTORS.tsv]` encodes the sentences, prints accuracy and seconds of
//! `evaluate_classification` without the encoding, on as many threads as `RAYON_NUM_THREADS` says, and writes outer
//! folds, classes and vectors for `benches/probe_speed.py`, which does the same in scikit-learn.

#![allow(clippy::print_stdout)]

use std::{env, error::Error, io::Write, time::Instant};

use senv_core::AtomicFile;
use senv_eval::{Embeddings, LabeledSet, ProbeOptions, evaluate_classification};
use senv_models::Model;

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = env::args().skip(1).collect();
    let [model, file, more @ ..] = &args[..] else {
        return Err("usage: probe-speed MODEL LABELED_FILE [VECTORS.tsv]".into());
    };
    let (model, set) = (Model::open(model)?, LabeledSet::read(file)?);
    let embeddings = Embeddings::encode(&model, set.sentences.iter().map(|sentence| &sentence.text[..]))?;
    let started = Instant::now();
    let result = evaluate_classification(&embeddings, &set, &ProbeOptions::default())?;
    let seconds = started.elapsed().as_secs_f64();
    println!("{}{seconds:.1} s", result.to_text());
    if let [path, ..] = more {
        AtomicFile::write_with(path, |out| {
            for (sentence, fold) in set.sentences.iter().zip(&result.fold_of) {
                let Ok(number) = embeddings.number(&sentence.text) else { continue };
                write!(out, "{fold}\t{}", sentence.class)?;
                embeddings.vector(number).iter().try_for_each(|x| write!(out, "\t{x}"))?;
                writeln!(out)?;
            }
            Ok(())
        })?;
    }
    Ok(())
}
