//! Compares PV-DM with gensim. Bits differ, but the same documents must be similar.

#![allow(clippy::print_stdout)] // --nocapture shows how well the programs agree

use senv::{PvDmParams, TextSystem, Tokenizer, TrainOptions, forms::Composition};
use senv_core::{Rows, kernels};
use serde_json::Value;

/// The ranks of values. The few ties are ranked by position.
fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut ranks = vec![0.0; values.len()];
    order.into_iter().enumerate().for_each(|(rank, i)| ranks[i] = rank as f64);
    ranks
}

fn spearman(a: &[f64], b: &[f64]) -> f64 {
    let (a, b) = (ranks(a), ranks(b));
    let mean = (a.len() - 1) as f64 / 2.0;
    let covariance = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| (x - mean) * (y - mean)).sum::<f64>();
    covariance(&a, &b) / (covariance(&a, &a) * covariance(&b, &b)).sqrt()
}

fn cosines(documents: &[String], combine: Composition, window: usize, seed: u64) -> Vec<f64> {
    let mut params = PvDmParams {
        dim: 24,
        combine,
        window,
        whole_gradient: true,
        min_count: Some(1),
        subsample: Some(f64::INFINITY),
        tokenizer: Tokenizer::whitespace(),
        ..PvDmParams::default()
    };
    (params.training.epochs, params.training.lr, params.training.seed) = (Some(80), Some(0.05), seed);
    let options = TrainOptions { document_vectors: true, ..TrainOptions::default() };
    let model = params.fit_sentences(documents, &options).unwrap().model;
    let rows = model.document_vectors().unwrap();
    let n = documents.len();
    let pairs = (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j)));
    pairs.map(|(i, j)| f64::from(kernels::cosine(rows.row(i), rows.row(j)))).collect()
}

#[test]
fn documents_are_alike_as_they_are_for_gensim() {
    let file: Value = serde_json::from_str(include_str!("../data/pv_dm_gensim.json")).unwrap();
    let documents: Vec<String> = serde_json::from_value(file["documents"].clone()).unwrap();
    for (form, combine, window) in [("mean", Composition::Mean, 3), ("concat", Composition::Concatenation, 2)] {
        let theirs: [Vec<f64>; 2] = serde_json::from_value(file["cosines"][form].clone()).unwrap();
        let ours = [1, 2].map(|seed| cosines(&documents, combine, window, seed));
        let between_seeds = spearman(&theirs[0], &theirs[1]);
        let beside = ours.iter().flat_map(|ours| theirs.iter().map(|theirs| spearman(ours, theirs)));
        let beside: Vec<f64> = beside.collect();
        println!(
            "{form}: gensim's seeds {between_seeds:.3}, ours {:.3}, both {beside:.3?}",
            spearman(&ours[0], &ours[1])
        );
        // The two programs agree about as well as two seeds of one.
        assert!(beside.iter().all(|rho| *rho > between_seeds - 0.1), "{form}: {beside:?} of {between_seeds}");
        assert!(between_seeds > 0.5, "{form}: {between_seeds}");
    }
}
