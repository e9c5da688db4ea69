//! The order encoder against explicit sums over pairs of words (`data/order.py`).

use ndarray::{Array2, ArrayView2};
use senv_core::{
    TokenId,
    arrays::{Parameters, TokenBatch},
};
use senv_encoders::{Encoder, OrderEncoder};
use serde_json::Value;

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().expect("a list").iter().map(|number| number.as_f64().expect("a number")).collect()
}

fn close(got: &[f64], expected: &[f64], what: &str) {
    assert_eq!(got.len(), expected.len(), "{what}");
    for (g, e) in got.iter().zip(expected) {
        // The closed form of the mean share in the script loses some digits.
        assert!((g - e).abs() <= 1e-10 + 1e-9 * e.abs(), "{what}: {g} for {e}");
    }
}

#[test]
fn vectors_and_gradients_are_those_of_explicit_sums() {
    let file: Value = serde_json::from_str(include_str!("../data/order.json")).expect("JSON");
    let size = |name: &str| file[name].as_u64().expect("a size") as usize;
    let encoder = OrderEncoder { features: size("features"), dim: size("dim") };
    let sentences: Vec<Vec<TokenId>> = file["sentences"]
        .as_array()
        .expect("sentences")
        .iter()
        .map(|sentence| numbers(sentence).into_iter().map(|token| TokenId(token as u32)).collect())
        .collect();
    let mut batch = TokenBatch::new();
    batch.assign(sentences.iter().map(Vec::as_slice)).expect("a batch");
    let mut parameters = Parameters::<f64>::new();
    for tensor in file["parameters"].as_array().expect("tensors") {
        let shape = numbers(&tensor[1]);
        let shape = [shape[0] as usize, shape[1] as usize];
        parameters.push(tensor[0].as_str().expect("a name"), shape, numbers(&tensor[2])).expect("a tensor");
    }
    let words = numbers(&file["words"]);
    let words = ArrayView2::from_shape((size("n_words"), encoder.features), &words).expect("words");
    let (out, saved) = encoder.forward(&parameters, &batch, words).expect("vectors");
    close(out.as_slice().expect("row-major"), &numbers(&file["out"]), "out");
    let d_out = numbers(&file["d_out"]);
    let d_out = ArrayView2::from_shape(out.raw_dim(), &d_out).expect("gradients");
    let (mut d_words, mut d) = (Array2::zeros(words.raw_dim()), parameters.zeros_like());
    let result = encoder.backward(&parameters, &batch, words, &saved, d_out, Some(d_words.view_mut()), &mut d);
    result.expect("gradients");
    close(d_words.as_slice().expect("row-major"), &numbers(&file["d_words"]), "words");
    for (tensor, expected) in d.iter().zip(file["d_parameters"].as_array().expect("gradients")) {
        close(tensor.values(), &numbers(expected), tensor.name());
    }
}
