//! The definition, window by window in f64: the scalar reference for the fast implementations.

use ndarray::{Array2, ArrayView2};
use senv_core::arrays::{Parameters, TokenBatch};

use super::{Activation, Padding, SumPooledCnn};

/// One window and one filter.
struct FilterWindow {
    /// The index of the filter among the parameters.
    filter: usize,
    /// The filter's row.
    k: usize,
    /// The filter's column in the sentence vector.
    column: usize,
    /// The first word.
    i: usize,
    activation: f64,
    slope: f64,
}

/// Every filter at every window of one sentence of vectors.
fn windows(cnn: &SumPooledCnn, parameters: &Parameters<f64>, x: &[Vec<f64>]) -> Vec<FilterWindow> {
    let mut seen = Vec::new();
    if x.is_empty() {
        return seen;
    }
    let mut column = 0;
    for (number, window) in cnn.windows().iter().enumerate() {
        let needed = match cnn.padding() {
            Padding::PerFilter => window.width,
            Padding::WholeSentence => cnn.windows().iter().map(|window| window.width).max().unwrap(),
        };
        let mut x = x.to_vec();
        while x.len() < needed {
            x.push(vec![0.0; cnn.word_dim()]);
        }
        let (w, b) = (parameters[2 * number].view(), parameters[2 * number + 1].view());
        for i in 0..=x.len() - window.width {
            for k in 0..window.n_filters {
                let under: Vec<f64> = x[i..i + window.width].concat();
                let a: f64 = under.iter().zip(w.row(k)).map(|(x, w)| x * w).sum::<f64>() + b[(0, k)];
                let (activation, slope) = match cnn.activation() {
                    Activation::Linear => (a, 1.0),
                    Activation::Tanh => (a.tanh(), 1.0 - a.tanh().powi(2)),
                };
                seen.push(FilterWindow { filter: 2 * number, k, column: column + k, i, activation, slope });
            }
        }
        column += window.n_filters;
    }
    seen
}

fn vectors(batch: &TokenBatch, words: ArrayView2<'_, f64>, i: usize) -> Vec<Vec<f64>> {
    batch.sentence(i).iter().map(|&u| words.row(u as usize).to_vec()).collect()
}

pub(super) fn forward(
    cnn: &SumPooledCnn,
    parameters: &Parameters<f64>,
    batch: &TokenBatch,
    words: ArrayView2<'_, f64>,
) -> Array2<f64> {
    let n_filters = cnn.windows().iter().map(|window| window.n_filters).sum();
    let mut out = Array2::zeros((batch.len(), n_filters));
    for i in 0..batch.len() {
        for seen in windows(cnn, parameters, &vectors(batch, words, i)) {
            out[(i, seen.column)] += seen.activation;
        }
    }
    out
}

pub(super) fn backward(
    cnn: &SumPooledCnn,
    parameters: &Parameters<f64>,
    batch: &TokenBatch,
    words: ArrayView2<'_, f64>,
    d_out: ArrayView2<'_, f64>,
) -> (Array2<f64>, Parameters<f64>) {
    let dim = cnn.word_dim();
    let (mut d_words, mut d_parameters) = (Array2::zeros(words.raw_dim()), parameters.zeros_like());
    for s in 0..batch.len() {
        let sentence = batch.sentence(s);
        for seen in windows(cnn, parameters, &vectors(batch, words, s)) {
            let d = d_out[(s, seen.column)] * seen.slope;
            d_parameters[seen.filter + 1].values_mut()[seen.k] += d;
            let width = parameters[seen.filter].shape()[1] / dim;
            for (j, &u) in sentence.iter().skip(seen.i).take(width).enumerate() {
                for l in 0..dim {
                    let w = (seen.k, j * dim + l);
                    d_parameters[seen.filter].view_mut()[w] += d * words[(u as usize, l)];
                    d_words[(u as usize, l)] += d * parameters[seen.filter].view()[w];
                }
            }
        }
    }
    (d_words, d_parameters)
}
