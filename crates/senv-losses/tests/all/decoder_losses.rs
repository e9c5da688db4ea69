//! Reference numbers of tests/data/decoder_losses.json, made with PyTorch's automatic differentiation in f64.

use ndarray::{Array2, ArrayView2, Axis};
use senv_core::{Sentences, TokenId, arrays::Parameters};
use senv_losses::{DualObjective, MultiLabelLoss, NliHead, Reduction, SampledSoftmax, SampledWords, TokenNll};
use serde_json::Value;

const TOLERANCE: f64 = 1e-9; // As the file says.

/// The cases of a kind.
fn cases(kind: &str) -> Vec<Value> {
    let file: Value = serde_json::from_str(include_str!("../data/decoder_losses.json")).unwrap();
    assert_eq!((file["tolerance_abs"].as_f64(), file["tolerance_rel"].as_f64()), (Some(TOLERANCE), Some(TOLERANCE)));
    let cases =
        file["cases"].as_array().unwrap().iter().filter(|case| case["kind"] == kind).cloned().collect::<Vec<_>>();
    assert!(!cases.is_empty(), "{kind}");
    cases
}

fn list(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
}

fn ids(value: &Value) -> Vec<u32> {
    list(value).iter().map(|&x| x as u32).collect()
}

/// A list of rows, or of numbers as one row.
fn matrix(value: &Value) -> Array2<f64> {
    let rows = value.as_array().unwrap();
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

#[track_caller]
fn assert_number(got: f64, expected: &Value) {
    let expected = expected.as_f64().unwrap();
    assert!((got - expected).abs() <= TOLERANCE * (1.0 + expected.abs()), "{got} instead of {expected}");
}

#[track_caller]
fn assert_matrix(got: ArrayView2<'_, f64>, expected: &Value) {
    let expected = matrix(expected);
    assert_eq!(got.dim(), expected.dim());
    for (got, expected) in got.iter().zip(&expected) {
        assert!((got - expected).abs() <= TOLERANCE * (1.0 + expected.abs()), "{got} instead of {expected}");
    }
}

#[test]
fn token_nll_of_decoders() {
    for case in cases("token_nll") {
        // The file has a row of steps for every sentence; only those of real tokens are given to the loss.
        let (mut hidden, mut targets, mut expected) = (Vec::new(), Vec::new(), Vec::new());
        for (sentence, length) in ids(&case["lengths"]).into_iter().enumerate() {
            for step in 0..length as usize {
                hidden.extend(list(&case["hidden"][sentence][step]));
                targets.push(case["targets"][sentence][step].as_u64().unwrap() as u32);
                expected.push(case["token_nll"][sentence][step].clone());
            }
        }
        let hidden = Array2::from_shape_vec((targets.len(), 4), hidden).unwrap();
        let p = parameters(&[("output.w", &case["O"]), ("output.b", &case["o_bias"])]);
        let output = TokenNll { reduction: Reduction::Sum, block: 12, ..TokenNll::new(4, 6) };
        let each = output.forward(&p, hidden.view(), &targets).unwrap();
        each.iter().zip(&expected).for_each(|(&got, expected)| assert_number(got, expected));
        let mut d = p.zeros_like();
        let (loss, _) = output.loss_and_gradients(&p, hidden.view(), &targets, 1.0, &mut d).unwrap();
        assert_number(loss, &case["loss"]);
        assert_matrix(d[0].view(), &case["grads"]["O"]);
        assert_matrix(d[1].view(), &case["grads"]["ob"]);
    }
}

#[test]
fn sampled_softmax() {
    for case in cases("sampled_softmax_log_uniform") {
        let (x, targets) = (matrix(&case["x"]), ids(&case["targets"]));
        let p = parameters(&[("output.w", &case["W"]), ("output.b", &case["b"])]);
        let n_words = p[0].shape()[0];
        let words = SampledWords::new(n_words, ids(&case["sampled"]), case["num_tries"].as_u64().unwrap()).unwrap();
        for (id, expected) in case["expected_count"].as_object().unwrap() {
            assert_number(words.expected_count(id.parse().unwrap()), expected);
        }
        let (loss, d_x, rows) =
            SampledSoftmax::default().loss_and_gradients(&p, x.view(), &targets, &words, 1.0).unwrap();
        assert_number(loss, &case["loss"]);
        assert_matrix(d_x.view(), &case["grads"]["x"]);
        let mut d = p.zeros_like();
        rows.add_to(&mut d, 0).unwrap();
        assert_matrix(d[0].view(), &case["grads"]["W"]);
        assert_matrix(d[1].view(), &case["grads"]["b"]);
        for (i, expected) in case["per_token"].as_array().unwrap().iter().enumerate() {
            let x = x.select(Axis(0), &[i]);
            let one = SampledSoftmax::default().loss_and_gradients(&p, x.view(), &targets[i..=i], &words, 1.0).unwrap();
            assert_number(one.0, expected);
        }
    }
}

#[test]
fn pair_classifier() {
    for case in cases("pair_classifier_tanh") {
        const TENSORS: [&str; 4] = ["W_h", "b_h", "W_o", "b_o"];
        let (u, v, labels) = (matrix(&case["u"]), matrix(&case["v"]), ids(&case["y"]));
        let p = parameters(&TENSORS.map(|name| (name, &case[name])));
        let head = NliHead { hidden: p[0].shape()[0], ..NliHead::new(u.ncols()) };
        let saved = head.forward(&p, u.view(), v.view()).unwrap();
        assert_number(saved.loss(&labels).unwrap(), &case["loss"]);
        let mut d = p.zeros_like();
        let (d_u, d_v) = head.backward(&p, &saved, &labels, 1.0, &mut d).unwrap();
        assert_matrix(d_u.view(), &case["grads"]["u"]);
        assert_matrix(d_v.view(), &case["grads"]["v"]);
        TENSORS.iter().enumerate().for_each(|(place, name)| assert_matrix(d[place].view(), &case["grads"][name]));
    }
}

#[test]
fn bag_of_words_autoencoder() {
    for case in cases("bow_autoencoder_binary") {
        let mut sentences = Sentences::new();
        for row in matrix(&case["v"]).rows() {
            sentences.push((0..row.len()).filter(|&w| row[w] == 1.0).map(|w| TokenId(w as u32)));
        }
        // The encoder, tanh of the rows of the words present, as simple as possible.
        let mut h = Array2::zeros((sentences.len(), list(&case["c"]).len()));
        let (w, c) = (matrix(&case["W"]), matrix(&case["c"]));
        for (mut h, words) in h.rows_mut().into_iter().zip(sentences.iter()) {
            h += &c.row(0);
            words.iter().for_each(|word| h += &w.row(word.index()));
            h.mapv_inplace(f64::tanh);
        }
        assert_matrix(h.view(), &case["h"]);
        let p = parameters(&[("output.w", &case["O"]), ("output.b", &case["b"])]);
        let output = MultiLabelLoss::new(h.ncols(), p[0].shape()[0]);
        let mut d = p.zeros_like();
        let (loss, mut d_h) = output.loss_and_gradients(&p, h.view(), &sentences, 1.0, &mut d).unwrap();
        assert_number(loss, &case["loss"]);
        assert_matrix(d[0].view(), &case["grads"]["O"]);
        assert_matrix(d[1].view(), &case["grads"]["b"]);
        d_h.zip_mut_with(&h, |d, h| *d *= 1.0 - h * h);
        let mut d_w = Array2::zeros(w.raw_dim());
        for (d, words) in d_h.rows().into_iter().zip(sentences.iter()) {
            words.iter().for_each(|word| d_w.row_mut(word.index()).scaled_add(1.0, &d));
        }
        assert_matrix(d_w.view(), &case["grads"]["W"]);
        assert_matrix(d_h.sum_axis(Axis(0)).insert_axis(Axis(0)).view(), &case["grads"]["c"]);
    }
}

#[test]
fn weight_of_the_paraphrase() {
    for case in cases("alpha") {
        for (lambda, alpha) in list(&case["lam"]).into_iter().zip(case["alpha"].as_array().unwrap()) {
            assert_number(DualObjective::from_lambda(lambda).unwrap().alpha(), alpha);
        }
    }
}
