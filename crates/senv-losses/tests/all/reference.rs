//! Reference numbers of tests/data, made with PyTorch's automatic differentiation in f64 by the project's generator
//! make_golden.py.

use ndarray::{Array2, ArrayView2};
use senv_core::{arrays::Parameters, rng::stream};
use senv_losses::{
    CandidateCounts, Combine, L2, LinearRelatedness, MarginLoss, NegativeCandidates, Predictions, RelatednessHead,
    RelatednessLoss, ScoreGrid, SoftmaxCosine,
};
use serde_json::Value;

const TOLERANCE: f64 = 1e-10; // As the files say.

fn cases(text: &str) -> Vec<Value> {
    let file: Value = serde_json::from_str(text).unwrap();
    assert_eq!((file["tolerance_abs"].as_f64(), file["tolerance_rel"].as_f64()), (Some(TOLERANCE), Some(TOLERANCE)));
    file["cases"].as_array().unwrap().clone()
}

fn list(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
}

/// A list of rows, or of numbers as one row.
fn matrix(value: &Value) -> Array2<f64> {
    let rows = value.as_array().unwrap();
    let rows: Vec<Vec<f64>> = if rows[0].is_array() { rows.iter().map(list).collect() } else { vec![list(value)] };
    Array2::from_shape_vec((rows.len(), rows[0].len()), rows.concat()).unwrap()
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
fn margin_losses() {
    let (mut losses, mut regularizers) = (0, 0);
    for case in cases(include_str!("../data/margin_loss.json")) {
        if case["kind"] == "regulariser" {
            regularizers += 1;
            check_regularizer(&case);
            continue;
        }
        losses += 1;
        let candidates = match case["negatives_from"].as_str().unwrap() {
            "both_sides" => NegativeCandidates::BothSides,
            "same_side" => NegativeCandidates::SameSide,
            "first_elements" => NegativeCandidates::FirstElements,
            other => panic!("{other}"),
        };
        let (a, b) = (matrix(&case["g1"]), matrix(&case["g2"]));
        let exclude_equal_text = case["exclude_equal_text"].as_bool().unwrap_or(true);
        let distinct: Vec<u32> = (0..2 * a.nrows() as u32).collect();
        let texts = match &case["text_ids"] {
            Value::Null => distinct,
            texts => list(texts).iter().map(|&text| text as u32).collect(),
        };
        let loss = MarginLoss {
            margin: case["delta"].as_f64().unwrap(),
            candidates,
            exclude_equal_text,
            ..Default::default()
        };
        let (value, saved) = loss.forward(a.view(), b.view(), &texts, &mut stream(1, "", &[])).unwrap();
        assert_number(value, &case["loss"]);
        let chosen = saved.negatives().iter().map(|negative| negative.map_or(-1.0, f64::from)).collect();
        assert_eq!(Array2::from_shape_vec((a.nrows(), 2), chosen).unwrap(), matrix(&case["negative_index"]));
        let hinges = [list(&case["hinge1"]), list(&case["hinge2"])].concat();
        assert_eq!(saved.n_active(), hinges.iter().filter(|&&hinge| hinge > 0.0).count());
        let (d_a, d_b) = loss.backward(&saved, 1.0);
        assert_matrix(d_a.view(), &case["grads"]["g1"]);
        assert_matrix(d_b.view(), &case["grads"]["g2"]);
    }
    assert_eq!((losses, regularizers), (9, 2));
}

fn check_regularizer(case: &Value) {
    let half = case["half"].as_bool().unwrap();
    let mut value = 0.0;
    for (name, initial, lambda) in [("W", Some(matrix(&case["W_initial"])), "lambda_w"), ("C", None, "lambda_c")] {
        let w = matrix(&case[name]);
        let l2 = L2 { lambda: case[lambda].as_f64().unwrap(), half };
        let w0 = initial.as_ref().map(|w0| w0.as_slice().unwrap());
        value += l2.forward(w.as_slice().unwrap(), w0).unwrap();
        let mut d = Array2::zeros(w.raw_dim());
        l2.backward(w.as_slice().unwrap(), w0, 1.0, d.as_slice_mut().unwrap()).unwrap();
        assert_matrix(d.view(), &case["grads"][name]);
    }
    assert_number(value, &case["loss"]);
}

#[test]
fn softmax_over_cosines() {
    let (mut sentences, mut words) = (0, 0);
    let loss = SoftmaxCosine::default();
    for case in cases(include_str!("../data/softmax_cosine.json")) {
        if case["level"] == "words" {
            words += 1;
            check_words(&case);
            continue;
        }
        sentences += 1;
        let count = |name: &str| case[name].as_u64().unwrap() as u32;
        let counts = [CandidateCounts { positives: count("positives"), negatives: count("negatives") }];
        let (s, v) = (matrix(&case["s"]), matrix(&case["candidates"]));
        let (value, saved) = loss.forward(s.view(), v.view(), &counts).unwrap();
        assert_number(value, &case["loss"]);
        let (d_s, d_v) = loss.backward(&saved, 1.0);
        assert_matrix(d_s.view(), &case["grads"]["s"]);
        assert_matrix(d_v.view(), &case["grads"]["candidates"]);
    }
    assert_eq!((sentences, words), (3, 1));
}

/// Averages of word vectors, forward through the loss and backward to the words.
fn check_words(case: &Value) {
    let w = matrix(&case["W"]);
    let batch: Vec<Vec<Vec<usize>>> = serde_json::from_value(case["batch"].clone()).unwrap();
    let average = |ids: &Vec<usize>| {
        let sum = ids.iter().fold(ndarray::Array1::<f64>::zeros(w.ncols()), |sum, &id| sum + w.row(id));
        sum / ids.len() as f64
    };
    let stack = |sentences: &[&Vec<usize>]| {
        let rows: Vec<_> = sentences.iter().flat_map(|ids| average(ids).to_vec()).collect();
        Array2::from_shape_vec((sentences.len(), w.ncols()), rows).unwrap()
    };
    let inputs: Vec<_> = batch.iter().map(|example| &example[0]).collect();
    let candidates: Vec<_> = batch.iter().flat_map(|example| &example[1..]).collect();
    let loss = SoftmaxCosine::default();
    let counts = [CandidateCounts { positives: 2, negatives: 2 }; 2];
    let (value, saved) = loss.forward(stack(&inputs).view(), stack(&candidates).view(), &counts).unwrap();
    assert_number(value, &case["loss"]);
    let (d_s, d_v) = loss.backward(&saved, 1.0);
    let mut d_w = Array2::<f64>::zeros(w.raw_dim());
    for (ids, d) in inputs.iter().zip(d_s.rows()).chain(candidates.iter().zip(d_v.rows())) {
        ids.iter().for_each(|&id| d_w.row_mut(id).scaled_add(1.0 / ids.len() as f64, &d));
    }
    assert_matrix(d_w.view(), &case["grads"]["W"]);
}

fn parameters(case: &Value, names: &[(&str, &str)]) -> Parameters<f64> {
    let mut parameters = Parameters::new();
    for (name, golden) in names {
        let tensor = matrix(&case[golden]);
        parameters.push(*name, tensor.dim().into(), tensor.into_raw_vec_and_offset().0).unwrap();
    }
    parameters
}

const HEAD: [(&str, &str); 5] =
    [("head.w_mul", "W_mul"), ("head.w_abs", "W_abs"), ("head.b_h", "b_h"), ("head.w_p", "W_p"), ("head.b_p", "b_p")];

#[test]
fn targets_and_heads_of_relatedness() {
    let mut seen = [0; 3];
    for case in cases(include_str!("../data/kl_relatedness.json")) {
        let kind = case["kind"].as_str().unwrap();
        if kind == "target" {
            seen[0] += 1;
            let grid = if case["grid_start"] == 0 { ScoreGrid::ZeroTo(5) } else { ScoreGrid::OneTo(5) };
            assert_matrix(grid.targets(&list(&case["y"])).unwrap().view(), &case["p"]);
        } else if kind == "head" {
            seen[1] += 1;
            check_head(&case);
        } else {
            seen[2] += 1;
            check_linear(&case);
        }
    }
    assert_eq!(seen, [2, 2, 2]);
}

fn check_head(case: &Value) {
    let combine = if case["combine"] == "product" { Combine::Product } else { Combine::Concat };
    let head = RelatednessHead { hidden: 4, combine, ..RelatednessHead::new(3) };
    let theta = parameters(&case["params"], &HEAD);
    theta.expect_form_of(&head.init::<f64>(&mut stream(1, "", &[])).unwrap()).unwrap();
    let (u, v) = (matrix(&case["h1"]), matrix(&case["h2"]));
    let (predictions, saved) = head.forward(&theta, u.view(), v.view()).unwrap();
    assert_matrix(predictions.p.view(), &case["p_hat"]);
    let scores = predictions.scores(head.grid);
    assert_matrix(ArrayView2::from_shape((1, scores.len()), &scores).unwrap(), &case["y_hat"]);
    let targets = head.grid.targets(&list(&case["y"])).unwrap();
    assert_matrix(targets.view(), &case["p"]);
    let loss = RelatednessLoss::default();
    let value = loss.forward(&predictions, targets.view()).unwrap();
    assert_number(value, &case["loss"]);
    let mean = RelatednessLoss::Kl { mean_over_classes: true }.forward(&predictions, targets.view()).unwrap();
    assert!((mean * 5.0 - value).abs() < 1e-12);
    let d_logits = loss.backward(&predictions, targets.view(), 1.0);
    assert_matrix(d_logits.view(), &case["d_logits"]);
    let mut d = theta.zeros_like();
    let (d_u, d_v) = head.backward(&theta, &saved, u.view(), v.view(), d_logits.view(), &mut d).unwrap();
    assert_matrix(d_u.view(), &case["grads"]["h1"]);
    assert_matrix(d_v.view(), &case["grads"]["h2"]);
    HEAD.iter().enumerate().for_each(|(place, (_, name))| assert_matrix(d[place].view(), &case["grads"][name]));
    let l2 = L2 { lambda: case["lam"].as_f64().unwrap(), half: true };
    assert_number(value + l2.forward_all(&theta, None).unwrap(), &case["loss_with_l2"]);
    l2.backward_all(&theta, None, 1.0, &mut d).unwrap();
    for (place, (_, name)) in HEAD.iter().enumerate() {
        assert_matrix(d[place].view(), &case["grads_with_l2"][name]);
    }
}

/// The file has features of width 3, which no pair of vectors has.
fn check_linear(case: &Value) {
    let loss = match case["kind"].as_str().unwrap() {
        "linear_softmax_mse" => RelatednessLoss::SquaredError,
        "linear_softmax_cross_entropy" => RelatednessLoss::CrossEntropy,
        other => panic!("{other}"),
    };
    let (x, w, b) = (matrix(&case["X"]), matrix(&case["W"]), matrix(&case["b"]));
    // A fourth feature of 0 makes the width even, and changes nothing.
    let widen = |m: &Array2<f64>| ndarray::concatenate![ndarray::Axis(1), *m, Array2::zeros((m.nrows(), 1))];
    let (x, w) = (widen(&x), widen(&w));
    let head = LinearRelatedness { dim: 2, grid: ScoreGrid::OneTo(5) };
    let mut theta = Parameters::new();
    theta.push("head.w", [5, 4], w.iter().copied().collect()).unwrap();
    theta.push("head.b", [1, 5], b.iter().copied().collect()).unwrap();
    let predictions: Predictions<f64> = head.forward_features(&theta, x.view()).unwrap();
    assert_matrix(predictions.p.view(), &case["p_hat"]);
    let targets = head.grid.targets(&list(&case["y"])).unwrap();
    assert_number(loss.forward(&predictions, targets.view()).unwrap(), &case["loss"]);
    let d_logits = loss.backward(&predictions, targets.view(), 1.0);
    let mut d = theta.zeros_like();
    head.backward_features(x.view(), d_logits.view(), &mut d).unwrap();
    assert_matrix(d[0].view().slice(ndarray::s![.., ..3]), &case["grads"]["W"]);
    assert_matrix(d[1].view(), &case["grads"]["b"]);
}
