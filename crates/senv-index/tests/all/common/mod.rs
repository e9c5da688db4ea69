//! Vectors that look like embeddings: around some topics, of different lengths.
#![allow(dead_code, unreachable_pub)]

use rand::Rng;
use senv_core::{Table, kernels, rng::stream};
use senv_index::Neighbour;

/// `n` rows of `dim` values. The topics are the same for every seed.
pub fn vectors(n: usize, dim: usize, seed: u64) -> Vec<Vec<f32>> {
    let random = |seed| {
        let mut stream = stream(seed, "test.vectors", &[]);
        move || (0..4).map(|_| (stream.next_u64() >> 40) as f32 / (1 << 24) as f32 - 0.5).sum::<f32>()
    };
    let (mut topic_value, mut value) = (random(0), random(seed));
    let topics: Vec<Vec<f32>> = (0..50).map(|_| (0..dim).map(|_| topic_value()).collect()).collect();
    (0..n)
        .map(|i| {
            let length = 0.5 + (i % 5) as f32;
            topics[i * 7 % 50].iter().map(|topic| length * (0.7 * topic + value())).collect()
        })
        .collect()
}

pub fn table(rows: &[Vec<f32>], dim: usize) -> Table {
    Table::from_vec(rows.len(), dim, rows.concat()).expect("a table")
}

/// The `k` rows of highest cosine, one after another in f64.
pub fn exact(rows: &[Vec<f32>], query: &[f32], k: usize, keep: impl Fn(usize) -> bool) -> Vec<usize> {
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(&a, &b)| f64::from(a) * f64::from(b)).sum::<f64>();
    let mut all: Vec<(f64, usize)> = rows
        .iter()
        .enumerate()
        .filter(|&(i, row)| keep(i) && kernels::norm(row) >= 1e-12)
        .map(|(i, row)| (dot(row, query) / dot(row, row).sqrt(), i))
        .collect();
    all.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    all.into_iter().take(k).map(|(_, i)| i).collect()
}

/// The share of the true ones that were found.
pub fn recall(found: &[Vec<Neighbour>], truth: &[Vec<usize>]) -> f64 {
    let hits = |(found, truth): (&Vec<Neighbour>, &Vec<usize>)| {
        truth.iter().filter(|&&row| found.iter().any(|near| near.row == row)).count()
    };
    let total: usize = truth.iter().map(Vec::len).sum();
    found.iter().zip(truth).map(hits).sum::<usize>() as f64 / total as f64
}
