//! GRAN and joined LSTMs against the numbers of PyTorch.

use ndarray::{Array2, ArrayView2};
use senv_core::{
    TokenId,
    arrays::{Parameters, TokenBatch},
};
use senv_encoders::{Encoder, GranEncoder, GranForm, GranGate, JoinedLstm, StatePooling};
use serde_json::Value;

fn file() -> Value {
    serde_json::from_str(include_str!("../data/gran.json")).expect("JSON")
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().expect("a list").iter().map(|number| number.as_f64().expect("a number")).collect()
}

fn size(value: &Value, name: &str) -> usize {
    value[name].as_u64().expect("a size") as usize
}

fn close(got: &[f64], expected: &[f64], what: &str) {
    assert_eq!(got.len(), expected.len(), "{what}");
    for (g, e) in got.iter().zip(expected) {
        assert!((g - e).abs() <= 1e-10 + 1e-10 * e.abs(), "{what}: {g} for {e}");
    }
}

fn pooling(case: &Value) -> StatePooling {
    match case["pooling"].as_str() {
        Some("last") => StatePooling::Last,
        Some("mean") => StatePooling::Mean,
        _ => StatePooling::Max,
    }
}

/// Compares vectors and all gradients of a case; tensors stand in the order of the file.
fn compare(file: &Value, case: &Value, encoder: &impl Encoder<f64>, name: &str) {
    let sentences = file["sentences"].as_array().expect("sentences").iter();
    let ids = |sentence| numbers(sentence).into_iter().map(|token| TokenId(token as u32)).collect::<Vec<_>>();
    let sentences: Vec<Vec<TokenId>> = sentences.map(ids).collect();
    let mut batch = TokenBatch::new();
    batch.assign(sentences.iter().map(Vec::as_slice)).expect("a batch");
    let mut parameters = Parameters::<f64>::new();
    for tensor in case["parameters"].as_array().expect("tensors") {
        let shape = numbers(&tensor[1]);
        let shape = if shape.len() == 1 { [1, shape[0] as usize] } else { [shape[0] as usize, shape[1] as usize] };
        parameters.push(tensor[0].as_str().expect("a name"), shape, numbers(&tensor[2])).expect("a tensor");
    }
    let words = numbers(&case["words"]);
    let words = ArrayView2::from_shape((5, size(file, "dim")), &words).expect("words");
    let (out, saved) = encoder.forward(&parameters, &batch, words).expect("vectors");
    close(out.as_slice().expect("row-major"), &numbers(&case["out"]), name);
    let d_out = numbers(&case["d_out"]);
    let d_out = ArrayView2::from_shape(out.raw_dim(), &d_out).expect("gradients");
    let (mut d_words, mut d) = (Array2::zeros(words.raw_dim()), parameters.zeros_like());
    let result = encoder.backward(&parameters, &batch, words, &saved, d_out, Some(d_words.view_mut()), &mut d);
    result.expect("gradients");
    close(d_words.as_slice().expect("row-major"), &numbers(&case["d_words"]), name);
    for (tensor, expected) in d.iter().zip(case["d_parameters"].as_array().expect("gradients")) {
        close(tensor.values(), &numbers(expected), &format!("{name}: {}", tensor.name()));
    }
}

#[test]
fn every_gate_gives_vectors_and_gradients_of_pytorch() {
    let file = file();
    let cases = file["gran"].as_array().expect("cases");
    assert_eq!(cases.len(), 14);
    for case in cases {
        let gate: GranGate = match size(case, "gate") {
            1 => GranGate::Word,
            2 => GranGate::State,
            3 => GranGate::Memory,
            4 => GranGate::WatchedMemory,
            5 => GranGate::WordAndState,
            6 => GranGate::Projection,
            7 => GranGate::Product,
            other => panic!("gate {other}"),
        };
        let form = GranForm { gate, pooling: Some(pooling(case)) };
        let encoder = GranEncoder::new(size(&file, "dim"), size(case, "hidden"), form).expect("an encoder");
        compare(&file, case, &encoder, &format!("{form:?}"));
    }
}

#[test]
fn both_directions_joined_give_vectors_and_gradients_of_pytorch() {
    let file = file();
    let cases = file["joined"].as_array().expect("cases");
    assert_eq!(cases.len(), 3);
    for case in cases {
        let (dim, hidden, out) = (size(&file, "dim"), size(&file, "hidden"), size(&file, "layer_dim"));
        let encoder = JoinedLstm::new(dim, hidden, out, pooling(case)).expect("an encoder");
        compare(&file, case, &encoder, &format!("{:?}", pooling(case)));
    }
}
