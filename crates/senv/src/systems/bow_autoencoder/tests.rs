//! Compares with the reference numbers of tests/data/bow_autoencoder.json, made with PyTorch's automatic
//! differentiation in f64.

use ndarray::{Array2, ArrayView2};
use senv_core::{
    Sentences, Table, TokenId,
    arrays::{Parameters, TokenBatch},
};
use senv_encoders::Encoder;
use senv_losses::MultiLabelLoss;
use serde_json::Value;

use super::{
    BowAutoencoderParams,
    objective::{Autoencoding, Output},
};
use crate::gradient::{GradientStep, Gradients, Objective, Weights, WordUpdates, present_words::PresentWords};

fn case() -> Value {
    let file: Value = serde_json::from_str(include_str!("../../../tests/data/bow_autoencoder.json")).unwrap();
    file["cases"][0].clone()
}

/// Reads a matrix from a list of rows, or from a list of numbers as one row.
fn matrix(value: &Value) -> Array2<f64> {
    let rows = value.as_array().unwrap();
    let list = |row: &Value| row.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect::<Vec<_>>();
    let rows: Vec<Vec<f64>> = if rows[0].is_array() { rows.iter().map(list).collect() } else { vec![list(value)] };
    Array2::from_shape_vec((rows.len(), rows[0].len()), rows.concat()).unwrap()
}

fn parameters(tensors: &[(&str, &Value)]) -> Parameters<f64> {
    let mut parameters = Parameters::new();
    for (name, value) in tensors {
        let values = matrix(value);
        parameters.push(*name, [values.nrows(), values.ncols()], values.iter().copied().collect()).unwrap();
    }
    parameters
}

/// The words present in each sentence of the case.
fn sentences(case: &Value) -> Sentences {
    let mut sentences = Sentences::new();
    for row in matrix(&case["v"]).rows() {
        sentences.push((0..row.len()).filter(|&w| row[w] == 1.0).map(|w| TokenId(w as u32)));
    }
    sentences
}

#[track_caller]
fn close<T: Into<f64> + Copy>(got: &[T], expected: &Value, tolerance: f64) {
    let expected = matrix(expected);
    assert_eq!(got.len(), expected.len());
    for (&got, expected) in got.iter().zip(&expected) {
        let got: f64 = got.into();
        assert!((got - expected).abs() <= tolerance * (1.0 + expected.abs()), "{got} instead of {expected}");
    }
}

/// Places the gradients of the words present in a matrix with a row for every word.
fn spread<T: Copy + Default>(tokens: &[TokenId], d_words: ArrayView2<'_, T>, n_words: usize) -> Vec<T> {
    let mut all = vec![T::default(); n_words * d_words.ncols()];
    for (token, row) in tokens.iter().zip(d_words.rows()) {
        row.iter().enumerate().for_each(|(j, &d)| all[token.index() * d_words.ncols() + j] = d);
    }
    all
}

#[test]
fn the_encoder_gives_the_reference_numbers() {
    let case = case();
    let (w, sentences) = (matrix(&case["W"]), sentences(&case));
    let encoder = PresentWords::new(w.ncols());
    let bias = parameters(&[("encoder.bias", &case["c"])]);
    let mut batch = TokenBatch::new();
    batch.assign(sentences.iter()).unwrap();
    let rows: Vec<usize> = batch.distinct().iter().map(|token| token.index()).collect();
    let words = w.select(ndarray::Axis(0), &rows);
    let (h, saved) = encoder.forward(&bias, &batch, words.view()).unwrap();
    close(h.as_slice().unwrap(), &case["h"], 1e-9);

    let output = parameters(&[("output.w", &case["O"]), ("output.b", &case["b"])]);
    let output_layer = MultiLabelLoss::new(w.ncols(), w.nrows());
    let (mut d_output, mut d_bias) = (output.zeros_like(), bias.zeros_like());
    let (loss, d_h) = output_layer.loss_and_gradients(&output, h.view(), &sentences, 1.0, &mut d_output).unwrap();
    close(&[loss], &Value::from(vec![case["loss"].clone()]), 1e-9);
    let mut d_words = Array2::zeros(words.raw_dim());
    let to = Some(d_words.view_mut());
    encoder.backward(&bias, &batch, words.view(), &saved, d_h.view(), to, &mut d_bias).unwrap();
    let d = &case["grads"];
    close(&spread(batch.distinct(), d_words.view(), w.nrows()), &d["W"], 1e-9);
    close(d_bias[0].values(), &d["c"], 1e-9);
    close(d_output[0].values(), &d["O"], 1e-9);
    close(d_output[1].values(), &d["b"], 1e-9);
}

#[test]
fn a_step_of_the_trainer_gives_the_reference_numbers_in_single_precision() {
    let case = case();
    let (w, sentences) = (matrix(&case["W"]), sentences(&case));
    let (n_words, dim) = w.dim();
    let words = Table::from_vec(n_words, dim, w.iter().map(|&x| x as f32).collect()).unwrap();
    let bias = parameters(&[("encoder.bias", &case["c"])]).cast();
    let output = parameters(&[("output.w", &case["O"]), ("output.b", &case["b"])]).cast();
    let weights = Weights { words, parameters: vec![bias, output] };
    let objective = Autoencoding {
        encoder: PresentWords::new(dim),
        output: Output::new(&BowAutoencoderParams { dim, ..BowAutoencoderParams::default() }, n_words),
        n: sentences.len() as u32,
        sentences,
        dev: None,
        updates: WordUpdates::Sparse,
        identity: String::new(),
    };
    // In a different order.
    let (mut batch, step) = (Default::default(), GradientStep { seed: 1, number: 0, source: 0, examples: &[1, 0] });
    objective.prepare(&step, &mut batch).unwrap();
    let d_parameters = weights.parameters.iter().map(Parameters::zeros_like).collect();
    let mut gradients = Gradients { d_parameters, ..Gradients::default() };
    let report = objective.gradients(&weights, &step, &batch, &mut gradients).unwrap();

    let (d, tolerance) = (&case["grads"], 2e-6);
    close(&[report.loss], &Value::from(vec![case["loss"].clone()]), tolerance);
    close(&spread(&gradients.tokens, gradients.d_words.view(), n_words), &d["W"], tolerance);
    close(gradients.d_parameters[0][0].values(), &d["c"], tolerance);
    close(gradients.d_parameters[1][0].values(), &d["O"], tolerance);
    close(gradients.d_parameters[1][1].values(), &d["b"], tolerance);
}
